-- Laplacian kernels as inputs: fits of graphs without features.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA laplacian;
SET search_path = laplacian, public;

-- Two rings of 30 with chords, and one bridge; four labels tell the rings apart.
CREATE TABLE nodes (id integer PRIMARY KEY, side text, label text);
INSERT INTO nodes SELECT i, CASE WHEN i < 30 THEN 'left' ELSE 'right' END FROM generate_series(0, 59) i;
UPDATE nodes SET label = side WHERE id IN (4, 17, 40, 52);
CREATE TABLE links (src integer, dst integer);
INSERT INTO links SELECT i, i / 30 * 30 + (i + k) % 30 FROM generate_series(0, 59) i, unnest('{1,5}'::int[]) k;
INSERT INTO links VALUES (0, 30);

SELECT gp_create_graph('rings', 'nodes', 'links', target => 'label');
SELECT model, kernel, strategy, nodes, edges, features
FROM gp_fit('rings', kernel => 'gcn(input=laplacian(d=2))', nugget => 0.1);
SELECT count(*) AS nodes, count(*) FILTER (WHERE p.class = n.side) >= 55 AS mostly_right
FROM gp_predict('rings') p JOIN nodes n ON n.id = p.node;

-- By itself, low rank, and walked with the same bits for the same seed.
SELECT kernel, strategy FROM gp_fit('rings', 'alone', kernel => 'laplacian(d=2, sigma2=5)', nugget => 0.1);
SELECT kernel, strategy
FROM gp_fit('rings', 'low', kernel => 'laplacian(sigma2=5)', strategy => 'nystrom', landmarks => 20,
    nugget => 0.1);
SELECT p.model, count(*) FILTER (WHERE p.class = n.side) >= 50 AS mostly_right
FROM (SELECT 'alone' AS model, * FROM gp_predict('alone')
      UNION ALL SELECT 'low', * FROM gp_predict('low')) p
JOIN nodes n ON n.id = p.node GROUP BY p.model ORDER BY p.model;
SELECT kernel
FROM gp_fit('rings', 'walk1', kernel => 'gcn(input=laplacian(walks=9, dims=40))', nugget => 0.1, seed => 5);
SELECT kernel
FROM gp_fit('rings', 'walk2', kernel => 'gcn(input=laplacian(walks=9, dims=40))', nugget => 0.1, seed => 5);
SELECT kernel
FROM gp_fit('rings', 'walk3', kernel => 'gcn(input=laplacian(walks=9, dims=40))', nugget => 0.1, seed => 6);
SELECT bool_and(a.score = b.score AND a.variance = b.variance) AS same,
    bool_and(a.score = c.score) AS same_with_another_seed
FROM gp_predict('walk1', top => NULL) a
JOIN gp_predict('walk2', top => NULL) b USING (node, class)
JOIN gp_predict('walk3', top => NULL) c USING (node, class);

-- Nodes that no label tells anything of have the shares of the classes, whatever the factor has kept of them
CREATE TABLE apart AS SELECT i AS id, CASE WHEN i <= 300 AND i % 8 = 0 THEN CASE WHEN i % 3 = 0 THEN 'a' WHEN i % 5 = 0 THEN 'b' ELSE 'c' END END AS y FROM generate_series(1, 430) AS i;
CREATE TABLE apart_edges AS SELECT i AS src, i + 3 * j AS dst FROM generate_series(1, 300) AS i, generate_series(1, 3) AS j WHERE i + 3 * j <= 300;
SET client_min_messages = warning;
SELECT gp_create_graph('apart', 'apart', 'apart_edges', target => 'y');
SELECT model FROM gp_fit('apart');
SELECT power > 1 AS power FROM gp_models WHERE model = 'apart';
SELECT count(*), bool_and(p.score = 0) AS scores, max(abs(p.probability - s.share)) < 1e-12 AS shares
FROM gp_predict('apart', top => NULL) AS p JOIN (SELECT y, count(*) / sum(count(*)) OVER () AS share FROM apart WHERE y IS NOT NULL GROUP BY y) AS s ON s.y = p.class
WHERE p.node > 300;
RESET client_min_messages;
SELECT gp_drop_graph('apart');

-- An estimate is of the strategy that the fit takes under the same limit, and takes nothing of the size of the kernel itself.
CREATE TABLE blocks_node AS SELECT i AS id, CASE WHEN i % 20 = 0 THEN 'team ' || i / 500 END AS team FROM generate_series(0, 3999) AS i;
CREATE TABLE blocks_edge AS SELECT i AS src, (i / 500) * 500 + (i * k * 31 + k * k) % 500 AS dst
FROM generate_series(0, 3999) AS i, generate_series(1, 12) AS k;
SELECT gp_create_graph('teams', 'blocks_node', 'blocks_edge', target => 'team');
SET client_min_messages = warning;
SET gnngp.memory_limit = '30MB';
SELECT e.strategy AS estimated, f.strategy AS fitted, e.bytes < 30e6 AS estimate_fits, f.peak_bytes < 30e6 AS fits
FROM gp_estimate('teams', 'laplacian') AS e, gp_fit('teams', kernel => 'laplacian') AS f;
RESET gnngp.memory_limit;
SELECT strategy, bytes > 2e8 AS large FROM gp_estimate('teams', kernel => 'laplacian');
SELECT gp_drop_graph('teams');
RESET client_min_messages;

SELECT gp_drop_graph('rings');
RESET search_path;
\set VERBOSITY sqlstate
DROP SCHEMA laplacian CASCADE;
