-- gp_fit(strategy => 'sql') with Laplacian kernels: conjugate gradients in shares of their columns
\pset format unaligned
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

-- Chains of three colours, with a shortcut here and there, nodes that are alone, and some labels; ids have gaps
CREATE TABLE nodes AS SELECT i * 3 + 7 AS id, CASE WHEN i % 4 = 0 THEN 'class ' || (i * 3 / 901) END AS y,
        CASE WHEN i % 3 = 0 THEN sin(i / 40.0) END AS v, ARRAY[i % 7, i % 5]::real[] AS x FROM generate_series(1, 900) AS i;
CREATE TABLE edges AS SELECT a * 3 + 7 AS src, (1 + (a + k * k) % 895) * 3 + 7 AS dst, 1 + (a + k) % 3 AS w
    FROM generate_series(1, 890) AS a, generate_series(1, 3) AS k WHERE a % 300 > 3 OR k = 1;
SELECT gp_create_graph('g', 'nodes', 'edges', target => 'y');
SELECT gp_create_graph('weighted', 'nodes', 'edges', target => 'v', weight => 'w');
SELECT gp_create_graph('featured', 'nodes', 'edges', features => '{x}', target => 'y');

-- The model of memory to the bit: scores, variances, probabilities, what each label's node would get without it, and the figures
CREATE FUNCTION compare(graph text, kernel gp_kernel DEFAULT 'auto', nugget float8 DEFAULT NULL, seed bigint DEFAULT 0)
RETURNS TABLE (strategies text, kernels boolean, nodes bigint, edges bigint, labelled bigint, landmarks int, figures boolean, predictions bigint, left_out bigint)
LANGUAGE plpgsql AS $$
DECLARE
    m record;
    s record;
BEGIN
    SELECT * INTO m FROM gp_fit(graph, graph || '_memory', kernel, strategy => 'precision', nugget => nugget, seed => seed);
    SELECT * INTO s FROM gp_fit(graph, graph || '_parts', kernel, strategy => 'sql', nugget => nugget, seed => seed);
    strategies := m.strategy || ' ' || s.strategy;
    SELECT s.kernel::text = m.kernel::text, s.nodes, s.edges, s.labelled, s.landmarks, s.nugget = m.nugget AND s.loo_score = m.loo_score
        INTO kernels, nodes, edges, labelled, landmarks, figures;
    SELECT count(*) INTO predictions FROM (SELECT * FROM gp_predict(graph || '_memory', top => NULL) EXCEPT SELECT * FROM gp_predict(graph || '_parts', top => NULL)) AS d;
    SELECT count(*) INTO left_out FROM (SELECT * FROM gp_loo(graph || '_memory') EXCEPT SELECT * FROM gp_loo(graph || '_parts')) AS d;
    RETURN NEXT;
END $$;
SELECT * FROM compare('g', 'laplacian(sigma2=10, d=2)');
SELECT * FROM compare('g', 'laplacian(sigma2=2, d=1)', 0.3, 7);
SELECT * FROM compare('g', 'laplacian(sigma2=3, d=3)');
SELECT * FROM compare('weighted', 'laplacian(sigma2=10, d=2)');
-- A prior that is left open is chosen as in memory, where there is nothing but structure
SELECT * FROM compare('g');
SELECT * FROM compare('weighted');
SELECT kernel FROM gp_models WHERE model = 'g_parts';
-- Features are not looked at, and a kernel is named
SELECT * FROM compare('featured', 'laplacian(sigma2=5)');

-- Parallel queries, any number of threads, and tables in any number of partitions give the same bits
CREATE TABLE nodes3 (LIKE nodes) PARTITION BY HASH (id);
CREATE TABLE edges8 (LIKE edges) PARTITION BY HASH (dst);
DO $$ BEGIN
    FOR k IN 0..7 LOOP
        IF k < 3 THEN EXECUTE format('CREATE TABLE nodes3_%s PARTITION OF nodes3 FOR VALUES WITH (MODULUS 3, REMAINDER %s)', k, k); END IF;
        EXECUTE format('CREATE TABLE edges8_%s PARTITION OF edges8 FOR VALUES WITH (MODULUS 8, REMAINDER %s)', k, k);
    END LOOP;
END $$;
INSERT INTO nodes3 TABLE nodes;
INSERT INTO edges8 TABLE edges;
SELECT gp_create_graph('divided', 'nodes3', 'edges8', target => 'y');
SELECT model FROM gp_fit('g', 'serial', 'laplacian(sigma2=10)', strategy => 'sql');
SET max_parallel_workers_per_gather = 2;
SET gnngp.threads = 2;
SELECT model FROM gp_fit('divided', 'parallel', 'laplacian(sigma2=10)', strategy => 'sql');
RESET gnngp.threads;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM (SELECT * FROM gp_predict('serial', top => NULL) EXCEPT SELECT * FROM gp_predict('parallel', top => NULL)) AS d;

-- What is kept serves all that reads a model
SELECT count(*) > 3 FROM gp_evaluate('g_parts');
CALL gp_refresh('g_parts');
SELECT outcome FROM gp_refreshes WHERE model = 'g_parts';
SELECT count(*) FROM (SELECT * FROM gp_predict('g_memory', top => NULL) EXCEPT SELECT * FROM gp_predict('g_parts', top => NULL)) AS d;

-- Few nodes, few labels, and a label that is alone
CREATE TABLE few AS SELECT i AS id, CASE i WHEN 1 THEN 'p' WHEN 3 THEN 'q' WHEN 9 THEN 'q' END AS y FROM generate_series(1, 9) AS i;
CREATE TABLE few_edges AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 6) AS i;
SELECT gp_create_graph('few', 'few', 'few_edges', target => 'y');
SET client_min_messages = notice;
SELECT * FROM compare('few', 'laplacian(sigma2=10)');
-- What the search for a nugget has to say is said by either
CREATE TABLE chain AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN sin(i / 40.0) END AS y FROM generate_series(1, 300) AS i;
CREATE TABLE links AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 299) AS i;
SELECT gp_create_graph('chain', 'chain', 'links', target => 'y');
SELECT * FROM compare('chain', 'laplacian(sigma2=50, d=1)');
SET client_min_messages = warning;
SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gnngp%';

-- The plan
SELECT strategy, bytes > 0 AS bytes, flops > 0 AS flops, regexp_replace(reason, '[0-9.]+ MB', 'n MB', 'g') FROM gp_estimate('g', 'laplacian', 'sql');
SELECT strategy FROM gp_estimate('g', strategy => 'sql');

-- What is refused
\set VERBOSITY default
SELECT gp_fit('featured', strategy => 'sql');
SELECT gp_fit('g', kernel => 'laplacian(dims=16)', strategy => 'sql');
SELECT gp_fit('g', kernel => 'gcn', strategy => 'sql');
SELECT gp_fit('g', kernel => 'laplacian(sigma2=1e30, d=8)', strategy => 'sql', nugget => 0.1);
SELECT gp_alter_graph('g', directed => true);
SELECT gp_fit('g', kernel => 'laplacian', strategy => 'sql');
SELECT gp_alter_graph('g', directed => false);
INSERT INTO edges VALUES (10, 11, 1);
SELECT gp_fit('g', kernel => 'laplacian', strategy => 'sql');
DELETE FROM edges WHERE dst = 11;
\set VERBOSITY sqlstate
SET gnngp.memory_limit = '1MB';
SELECT gp_fit('g', kernel => 'laplacian', strategy => 'sql');
RESET gnngp.memory_limit;
\set VERBOSITY default
SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gnngp%';

CREATE FUNCTION refusal(graph text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$ BEGIN
    PERFORM gp_fit(graph, 'refused', 'laplacian', strategy => 'precision');
EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT; END $$;
-- Landmarks that are asked for are none, which is said; a fit in memory that is refused tells of sql where tables are divided
SET client_min_messages = notice;
SELECT model FROM gp_fit('g', 'unmarked', 'laplacian', strategy => 'sql', landmarks => 20);
SET client_min_messages = warning;
SET gnngp.memory_limit = '1MB';
SELECT regexp_replace(message, '[0-9.]+', 'n', 'g') AS message, hint FROM refusal('g') UNION ALL SELECT regexp_replace(message, '[0-9.]+', 'n', 'g'), hint FROM refusal('divided');
RESET gnngp.memory_limit;
-- Nothing is kept for live answers, by no fit of this kind
SELECT gp_predict_live('unmarked', 10);

-- gp_solve: a first share settles what is open, others go on; each tells of the nodes in parts
CREATE TABLE y AS SELECT gp_features(id, ARRAY[(y IS NOT NULL)::int, coalesce(right(y, 1)::int, 0)]::real[])::gp_matrix AS m FROM nodes;
CREATE TABLE graph AS SELECT gp_graph(src, dst) AS g FROM edges WHERE src <> dst;
CREATE FUNCTION solve(first int, last int, kernel gp_kernel DEFAULT 'laplacian', classes int DEFAULT 3, nugget float8 DEFAULT 0.1, mean float8 DEFAULT 0.5, bounds bigint[] DEFAULT '{1000}')
RETURNS TABLE (what text, part int, bytes int) LANGUAGE sql AS
    $$ SELECT s.what, s.part, pg_column_size(s.rows) FROM y, graph, gp_solve(ARRAY[m], ARRAY[g], kernel, classes, nugget, mean, 0, first, last, bounds) AS s $$;
SELECT * FROM solve(0, 1, mean => NULL);
SELECT * FROM solve(4, 6);
SELECT * FROM solve(0, 0, NULL, nugget => NULL, mean => NULL);
SELECT * FROM solve(0, NULL);
SELECT * FROM solve(0, 1000);
SELECT * FROM solve(2, 1);
SELECT * FROM solve(0, 1, 'gcn');
SELECT * FROM solve(0, 1, 'laplacian(dims=16)');
SELECT * FROM solve(0, 1, classes => 2);
SELECT * FROM solve(0, 1, classes => -1);
SELECT * FROM solve(0, 1, nugget => -1);
SELECT * FROM solve(0, 1, nugget => NULL);
SELECT * FROM solve(0, 1, mean => 2);
SELECT * FROM solve(0, 1, NULL);
SELECT * FROM solve(0, 1, bounds => '{5, 5}');
SELECT gp_solve(ARRAY[m, m], ARRAY[g], 'laplacian', 3, 0.1, 0.5, 0, 0, 1, '{}') FROM y, graph;
SELECT gp_solve('{}', ARRAY[g], 'laplacian', 3, 0.1, 0.5, 0, 0, 1, '{}') FROM graph;
SELECT gp_solve(ARRAY[NULL::gp_matrix], ARRAY[g], 'laplacian', 3, 0.1, 0.5, 0, 0, 1, '{}') FROM graph;
SELECT gp_solve(ARRAY[gp_rows(m, '{10, 13}')], ARRAY[g], 'laplacian', 3, 0.1, 0.5, 0, 0, 1, '{}') FROM y, graph;
SELECT gp_solve(ARRAY(SELECT gp_features(i, '{0,0}'::real[])::gp_matrix FROM generate_series(1, 3) AS i), ARRAY[gp_graph(1, 2)], 'laplacian', 3, 0.1, 0.5, 0, 0, 1, '{}');
SELECT gp_solve(ARRAY(SELECT gp_features(i, '{0}'::real[])::gp_matrix FROM generate_series(1, 3) AS i), ARRAY[gp_graph(1, 2)], 'laplacian', 3, 0.1, 0.5, 0, 0, 1, '{}');

SELECT gp_drop_graph(g) FROM unnest('{g,weighted,featured,divided,few,chain}'::text[]) AS g;
DROP FUNCTION compare, solve;
DROP TABLE nodes, edges, nodes3, edges8, few, few_edges, chain, links, y, graph;
