-- Groups of nodes: both forms of gp_cluster, ids of any type, errors.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA clusters;
SET search_path = clusters, public;

-- Three rings with chords, of 40, 30 and 20 nodes, and a bridge between each two.
CREATE TABLE nodes AS
    SELECT i AS id, CASE WHEN i <= 20 THEN 'small' WHEN i <= 50 THEN 'middle' ELSE 'large' END AS ring,
           CASE WHEN i <= 20 THEN 1 WHEN i <= 50 THEN 21 ELSE 51 END AS first,
           CASE WHEN i <= 20 THEN 20 WHEN i <= 50 THEN 30 ELSE 40 END AS size
    FROM generate_series(1, 90) AS i;
CREATE TABLE links AS
    SELECT id AS src, first + (id - first + k) % size AS dst FROM nodes, unnest('{1,2,5}'::int[]) AS k;
INSERT INTO links VALUES (1, 21), (25, 51), (60, 10);
SELECT gp_create_graph('rings', 'nodes', 'links');

-- The rings come out, the largest first.
SELECT cluster, ring, count(*) FROM gp_cluster('rings', 3, 'laplacian(sigma2=10)') JOIN nodes ON id = node
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT cluster, ring, count(*) FROM gp_cluster('rings', 3, 'gcn(layers=4)') JOIN nodes ON id = node
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT cluster, ring, count(*)
FROM gp_cluster('rings', 3, 'laplacian(sigma2=10, dims=90, walks=500)') JOIN nodes ON id = node
GROUP BY 1, 2 ORDER BY 1, 2;

-- Every way to call it.
SELECT count(*), min(node), max(node), min(cluster), max(cluster), count(DISTINCT cluster) FROM gp_cluster('rings', 3);
SELECT count(*) FROM gp_cluster('rings', clusters => 3);
SELECT count(*) FROM gp_cluster('rings', 3, 'gcn');
SELECT count(*) FROM gp_cluster('rings', 3, 'gcn', 5);
\set VERBOSITY default
SELECT gp_cluster('rings', 3, NULL);
\set VERBOSITY terse
SELECT count(*) FROM gp_cluster('rings', 3, kernel => 'laplacian(d=2, sigma2=0.5)', seed => 7);
SELECT count(*) FROM gp_cluster(graph => 'rings', clusters => 3, kernel => 'gcn'::text);
SELECT count(*), pg_typeof(min(node)) FROM gp_cluster('rings', NULL::integer, 3);
SELECT count(*), pg_typeof(min(node)) FROM gp_cluster('rings', NULL::bigint, 3);
SELECT count(*), pg_typeof(min(node)) FROM gp_cluster('rings', NULL::smallint, 3);
SELECT count(*) FROM gp_cluster('rings', NULL::bigint, clusters => 3, kernel => 'gcn');
SELECT node, pg_typeof(node) FROM gp_cluster('rings', 17::bigint, 3, 'laplacian(sigma2=10)');
SELECT count(*) FROM gp_cluster('rings', 1000, 3, kernel => 'gcn');

-- As many clusters as nodes: each its own, numbered as the nodes are.
SELECT count(*), bool_and(node = cluster) FROM gp_cluster('rings', 90);
SELECT count(*), max(cluster) FROM gp_cluster('rings', 1);

-- The same for the same seed, with any number of threads.
CREATE TABLE once AS SELECT * FROM gp_cluster('rings', 7, seed => 3);
SET gnngp.threads = 1;
SELECT count(*) FROM (SELECT * FROM once EXCEPT SELECT * FROM gp_cluster('rings', 7, seed => 3)) AS d;
SET gnngp.threads = 2;
SELECT count(*) FROM (SELECT * FROM once EXCEPT SELECT * FROM gp_cluster('rings', 7, seed => 3)) AS d;
RESET gnngp.threads;

-- Ids of other types.
CREATE TABLE named AS SELECT 'node ' || id AS id, ring, md5(id::text)::uuid AS key FROM nodes;
CREATE TABLE named_links AS SELECT 'node ' || src AS src, 'node ' || dst AS dst FROM links;
CREATE TABLE key_links AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM links;
SELECT gp_create_graph('named', 'named', 'named_links');
SELECT gp_create_graph('keys', 'named', 'key_links', id => 'key');
SELECT cluster, ring, count(*) FROM gp_cluster('named', NULL::text, 3, 'laplacian(sigma2=10)') JOIN named ON id = node
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT cluster, ring, count(*) FROM gp_cluster('keys', NULL::uuid, 3, 'laplacian(sigma2=10)') JOIN named ON key = node
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT node FROM gp_cluster('named', 'node 7'::text, 3);
SELECT node FROM gp_cluster('keys', md5('7')::uuid, 3);
SELECT count(*) FROM gp_cluster('keys', md5('700')::uuid, 3);

-- Features, where the kernel has use for them.
ALTER TABLE nodes ADD COLUMN x real;
UPDATE nodes SET x = CASE WHEN id % 2 = 0 THEN 1 ELSE -1 END;
SELECT gp_create_graph('features', 'nodes', 'links', features => '{x}');
SELECT cluster, min(x), max(x) FROM gp_cluster('features', 2, 'rbf(gamma=1)') JOIN nodes ON id = node
GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM gp_cluster('features', 2, 'A^2*X0');

-- Errors.
\set VERBOSITY default
SELECT * FROM gp_cluster('rings', 0);
SELECT * FROM gp_cluster('rings', -3, 'gcn');
SELECT * FROM gp_cluster('rings', 91);
SELECT * FROM gp_cluster('named', 3);
SELECT * FROM gp_cluster('keys', NULL::date, 3);
SELECT * FROM gp_cluster('rings', NULL::uuid, 3);
\set VERBOSITY sqlstate
SELECT * FROM gp_cluster('rings', 0);
SELECT * FROM gp_cluster('rings', 91);
SELECT * FROM gp_cluster('nowhere', 3);
SELECT * FROM gp_cluster(NULL, 3);
SELECT * FROM gp_cluster('rings', NULL::integer);
SELECT * FROM gp_cluster('rings', 3, NULL);
SELECT * FROM gp_cluster('rings', 3, seed => NULL);
SELECT * FROM gp_cluster('rings', 3, 'nonsense');
SELECT * FROM gp_cluster('named', 3);
SELECT * FROM gp_cluster('keys', NULL::date, 3);
UPDATE nodes SET id = 40000 WHERE id = 90;
DELETE FROM links WHERE src = 90 OR dst = 90;
SELECT * FROM gp_cluster('rings', NULL::smallint, 3);
SELECT count(*) FROM gp_cluster('rings', 3);

-- A limit; others' graphs; nothing stored, nothing left in gp_progress.
CREATE TABLE many AS SELECT i AS id FROM generate_series(1, 6000) AS i;
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 5999) AS i;
SELECT gp_create_graph('chain', 'many', 'chain');
SET gnngp.memory_limit = '4MB';
SELECT * FROM gp_cluster('chain', 3);
SELECT * FROM gp_cluster('chain', 3000, 'gcn');
SET gnngp.memory_limit = '20MB';
SELECT count(*), count(DISTINCT cluster) FROM gp_cluster('chain', 3, 'laplacian(walks=10)');
SELECT count(*), count(DISTINCT cluster) FROM gp_cluster('chain', 3, 'gcn');
RESET gnngp.memory_limit;
CREATE ROLE regress_cluster_stranger;
GRANT USAGE ON SCHEMA clusters TO regress_cluster_stranger;
GRANT SELECT ON ALL TABLES IN SCHEMA clusters TO regress_cluster_stranger;
SET ROLE regress_cluster_stranger;
SELECT * FROM gp_cluster('rings', 3);
SELECT * FROM gp_cluster('postgres.rings', 3);
RESET ROLE;
BEGIN READ ONLY;
SELECT count(*) FROM gp_cluster('rings', 3);
COMMIT;
SELECT count(*) FROM gp_models;
SELECT count(*) FROM gp_progress;

-- a power of the kernel is for fits
SELECT count(*) FROM gp_cluster('rings', 3, kernel => 'gcn(power=1.5)');
SELECT gp_fit_links('rings', kernel => 'gcn(power=1.5)');

SELECT count(gp_drop_graph(graph)) FROM gp_graphs WHERE graph IN ('rings', 'named', 'keys', 'features', 'chain');
RESET search_path;
DROP SCHEMA clusters CASCADE;
DROP ROLE regress_cluster_stranger;
