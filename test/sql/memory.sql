-- gnngp.memory_limit is one account for all that a backend computes at a time.
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE TABLE node AS SELECT i AS id, CASE WHEN i % 40 = 0 THEN i % 80 END AS class FROM generate_series(1, 20000) AS i;
CREATE TABLE edge AS SELECT i AS src, 1 + (i * 7919) % 20000 AS dst FROM generate_series(1, 20000) AS i;
SELECT gp_create_graph('plain', 'node', 'edge', target => 'class');
SELECT task FROM gp_fit('plain', kernel => 'gcn', strategy => 'nystrom', landmarks => 20);

-- A fit that reads a view that fits: allowed, within one limit.
CREATE FUNCTION fit_within(graph text) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM public.gp_fit(graph, kernel => 'gcn', strategy => 'nystrom', landmarks => 20);
	RETURN 0;
END $$;
CREATE VIEW nesting AS SELECT id, class FROM node UNION ALL SELECT fit_within('plain'), NULL;
SELECT gp_create_graph('nested', 'nesting', 'edge', target => 'class');
SELECT nodes FROM gp_fit('nested', kernel => 'gcn', strategy => 'nystrom', landmarks => 20);
SELECT model, nodes FROM gp_models ORDER BY model;

-- What a fit fails with.
CREATE FUNCTION failure(statement text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	EXECUTE statement;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

-- The limit that the fit within needs, and a little more, is too little beside what is read already; its peak is its own.
CREATE VIEW wide AS SELECT id, class FROM node UNION ALL SELECT i, NULL FROM generate_series(20001, 80000) AS i
	UNION ALL SELECT fit_within('plain'), NULL;
SELECT gp_create_graph('wide', 'wide', 'edge', target => 'class');
SELECT failure($$SELECT gp_fit('wide', kernel => 'gcn', strategy => 'nystrom', landmarks => 20, replace => true)$$) AS wide;
SELECT peak_bytes AS peak FROM gp_fit('plain', kernel => 'gcn', strategy => 'nystrom', landmarks => 20) \gset
SELECT set_config('gnngp.memory_limit', (:peak * 1.02)::bigint / 1024 || 'kB', false) = '' AS limited;
SELECT failure($$SELECT gp_fit('plain', kernel => 'gcn', strategy => 'nystrom', landmarks => 20)$$) AS alone;
-- Whatever failed, the account is right again: the fit alone still has its room.
SELECT failure($$SELECT gp_fit('wide', kernel => 'gcn', strategy => 'nystrom', landmarks => 20, replace => true)$$) AS wide,
	failure($$SELECT gp_fit('plain', kernel => 'gcn', strategy => 'nystrom', landmarks => 20)$$) AS alone
FROM generate_series(1, 5);
BEGIN;
SAVEPOINT before;
\set VERBOSITY sqlstate
SELECT gp_fit('wide', kernel => 'gcn', strategy => 'nystrom', landmarks => 20, replace => true);
\set VERBOSITY default
ROLLBACK TO before;
SELECT peak_bytes = :peak AS same FROM gp_fit('plain', kernel => 'gcn', strategy => 'nystrom', landmarks => 20);
COMMIT;
-- An estimate answers where the tables cannot be read.
SET gnngp.memory_limit = '1MB';
SELECT strategy, bytes, flops, split_part(reason, ':', 1) FROM gp_estimate('wide');
-- Fewer landmarks for want of memory are told.
SET gnngp.memory_limit = '16MB';
\set VERBOSITY terse
SET client_min_messages = notice;
SELECT landmarks FROM gp_fit('plain', kernel => 'gcn', strategy => 'nystrom');
SET client_min_messages = warning;
\set VERBOSITY default
RESET gnngp.memory_limit;

-- An array is kept in one form where memory is scarce: the other is worth no error, and no landmark.
-- A seventh of the labels is one class, or the winner would leave nothing to choose by.
CREATE VIEW broad AS SELECT id, class * (id % 7 > 0)::integer AS class, (ARRAY[id % 80] || ARRAY(SELECT id * k % 11 FROM generate_series(1, 59) AS k))::real[] AS f FROM node WHERE id <= 8000;
CREATE VIEW near AS SELECT src, dst FROM edge WHERE src <= 8000 AND dst <= 8000;
SELECT gp_create_graph('broad', 'broad', 'near', target => 'class', features => '{f}');
SET gnngp.memory_limit = '10500kB';
SELECT nodes, alternatives::text LIKE '% with scale %' AS both FROM gp_fit('broad');
RESET gnngp.memory_limit;
SELECT nodes, alternatives::text LIKE '% with scale %' AS both FROM gp_fit('broad');

-- A fit that fits itself without end.
CREATE FUNCTION fit_again() RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM public.gp_fit('endless', kernel => 'gcn', strategy => 'nystrom', landmarks => 20);
	RETURN 0;
END $$;
CREATE VIEW recursion AS SELECT id, class FROM node UNION ALL SELECT fit_again(), NULL;
SET client_min_messages = error;
SELECT gp_create_graph('endless', 'recursion', 'edge', target => 'class');
SET client_min_messages = warning;
SET gnngp.memory_limit = '10MB';
SELECT failure($$SELECT gp_fit('endless', kernel => 'gcn', strategy => 'nystrom', landmarks => 20)$$) AS endless;
SELECT failure($$SELECT gp_fit('plain', kernel => 'gcn', strategy => 'nystrom', landmarks => 20)$$) AS alone;

-- The states of an aggregate, each of them small.
SET gnngp.memory_limit = '2MB';
SELECT failure($$SELECT gp_graph(src, dst) FROM edge$$) AS one,
	failure($$SELECT max(length(g::text)) FROM (SELECT gp_graph(src, dst) AS g FROM edge, generate_series(1, 5) AS k GROUP BY k) AS s$$) AS five,
	failure($$SELECT gp_graph(src, dst) FROM edge$$) AS again;
SELECT failure($$SELECT gp_features(id, ARRAY[1, 2, id]::real[]) FROM node$$) AS one,
	failure($$SELECT max(length(f::text)) FROM (SELECT gp_features(id, ARRAY[1, 2, id]::real[]) AS f FROM node, generate_series(1, 5) AS k GROUP BY k) AS s$$) AS five,
	failure($$SELECT gp_features(id, ARRAY[1, 2, id]::real[]) FROM node$$) AS again;
RESET gnngp.memory_limit;

-- The ids that a call names.
SET gnngp.memory_limit = '2MB';
SELECT failure($$SELECT gp_predict('plain', array_fill(1, ARRAY[1000]))$$) AS few,
	failure($$SELECT gp_predict('plain', array_fill(1, ARRAY[100000]))$$) AS many,
	failure($$SELECT gp_predict('plain', array_fill(1, ARRAY[1000])) FROM generate_series(1, 200)$$) AS often;
RESET gnngp.memory_limit;

-- A link model that is kept for the next call gives way to everything else.
DELETE FROM edge WHERE src > 5000 OR dst > 5000;
DELETE FROM node WHERE id > 5000;
SELECT count(gp_fit_links('plain')) FROM gp_models WHERE model = 'plain';
SELECT count(*) > 0 AS some FROM gp_predict_links('plain', ARRAY[1, 2], k => 1);
CREATE VIEW kept AS SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'gnngp environment';
SELECT 'gcn'::gp_kernel, kept.* FROM kept;
SET gnngp.memory_limit = '1MB';
SELECT 'gin'::gp_kernel, kept.* FROM kept;
RESET gnngp.memory_limit;
SELECT count(*) > 0 AS some FROM gp_predict_links('plain', ARRAY[1, 2], k => 1);
-- An estimate within a parallel query
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT (gp_estimate('plain', 'gcn')).bytes > 0 AS known, count(*) > 0 AS rows FROM pg_catalog.pg_proc;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

DROP VIEW nesting, wide, recursion, kept, broad, near;
SELECT gp_drop_graph(graph) FROM gp_graphs ORDER BY graph;
DROP TABLE node, edge;
DROP FUNCTION fit_within, fit_again, failure;
