-- bench_blocks.sql - a stochastic block graph without features: blocks_node and blocks_edge.
--
-- :nodes nodes in five classes, five edges for each, four in five of them within the class and
-- the others between any two nodes; the target is known of one node in a hundred.
SELECT setseed(0.5);
CREATE TABLE blocks_node AS
SELECT i AS id, i % 5 AS class, CASE WHEN random() < 0.01 THEN i % 5 END AS target
FROM generate_series(0, :nodes - 1) AS i;
CREATE TABLE blocks_edge AS
SELECT src, CASE WHEN kind < 0.8 THEN 5 * floor(place * (:nodes / 5))::integer + src % 5
                 ELSE floor(place * :nodes)::integer END AS dst
FROM (SELECT floor(random() * :nodes)::integer AS src, random() AS place, random() AS kind
      FROM generate_series(1, 5 * :nodes)) AS drawn;
VACUUM ANALYZE blocks_node, blocks_edge;
