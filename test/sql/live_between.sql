-- What may change between two live answers of a session: roles, rights, the model, the tables.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA live_between;
SET search_path = live_between, public;
CREATE FUNCTION try(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (%s) AS x', q) INTO n;
    RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- A ring with a hub, large enough that few nodes are looked up by index and the hub's by a scan.
CREATE TABLE node AS
    SELECT i::bigint AS id, (ARRAY['red', 'green'])[1 + (i / 1500)] AS tint,
           CASE WHEN i % 10 = 0 THEN (ARRAY['red', 'green'])[1 + (i / 1500)] END AS colour
    FROM generate_series(0, 2999) AS i;
CREATE TABLE edge AS
    SELECT i::bigint AS src, (i + 1) % 3000 AS dst FROM generate_series(0, 2999) AS i
    UNION ALL SELECT i, 0 FROM generate_series(2, 2998, 3) AS i
    UNION ALL SELECT 0, i FROM generate_series(2, 2998, 9) AS i
    UNION ALL SELECT i, (i + 1) % 3000 FROM generate_series(0, 2999, 7) AS i;
CREATE TABLE word AS
    SELECT i::bigint AS node, (i * k + i / 1500 * 3) % 25 AS number, 1.0::real AS value
    FROM generate_series(0, 2999) AS i, generate_series(1, 3) AS k GROUP BY 1, 2;
ALTER TABLE node ADD PRIMARY KEY (id);
CREATE INDEX ON edge (src);
CREATE INDEX ON edge (dst);
CREATE INDEX ON word (node);
ANALYZE node, edge, word;
SELECT gp_create_graph('between', 'node', 'edge', target => 'colour', sparse_features => 'word');
CREATE FUNCTION apart(k text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    most double precision;
BEGIN
    PERFORM gp_fit('between', 'm', kernel => k, strategy => 'nystrom', landmarks => 100, live => true, replace => true);
    SELECT max(abs(a.score - b.score)) INTO STRICT most
    FROM gp_predict('m', top => NULL) AS a
        JOIN (SELECT p.* FROM unnest(ARRAY[0, 1, 2, 3, 1499, 2999]) AS n, gp_predict_live('m', n, top => NULL) AS p
              UNION ALL SELECT * FROM gp_predict_live('m', ARRAY(SELECT id FROM node WHERE id % 5 = 4), top => NULL)) AS b USING (node, class);
    RETURN CASE WHEN most < 1e-5 THEN 'the same' ELSE 'apart by ' || coalesce(most::text, 'NULL') END;
END $$;
SELECT k AS kernel, apart(k) FROM unnest(ARRAY['sage', 'gin', 'profile', 'gcnii', 'gcn(layers=3)', 'gcn']) AS k;

-- Around the hub the edges are read once a round for both ends, where an index would be looked into thousands of times.
SELECT FROM pg_stat_force_next_flush();
BEGIN;
SELECT count(*) FROM gp_predict_live('m', 0);
SELECT pg_stat_get_xact_numscans('edge'::regclass) AS scans,
    pg_stat_get_xact_numscans('edge_src_idx'::regclass) + pg_stat_get_xact_numscans('edge_dst_idx'::regclass) AS looks;
COMMIT;

-- At the hub too the effect of an edge is what deleting it does.
CREATE TABLE told AS SELECT * FROM gp_explain_edges('m', 0, 'red', k => 3);
CREATE FUNCTION without(s bigint, d bigint) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    then_score double precision;
BEGIN
    DELETE FROM edge WHERE (src = s AND dst = d) OR (src = d AND dst = s);
    SELECT score INTO STRICT then_score FROM gp_predict_live('m', 0, top => NULL) WHERE class = 'red';
    RAISE SQLSTATE 'ZZ001' USING MESSAGE = then_score::text;
EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
    RETURN SQLERRM::double precision;
END $$;
SELECT count(*), max(abs(without(t.src, t.dst) - p.score - t.effect)) < 1e-7 AS same
FROM told AS t, gp_predict_live('m', 0, top => NULL) AS p WHERE p.class = 'red';

-- Another role sees by its own rights and policies, whatever was answered before.
CREATE ROLE live_reader;
GRANT USAGE ON SCHEMA live_between TO live_reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA live_between TO live_reader;
SELECT gp_grant('m', 'live_reader');
SELECT try('SELECT * FROM gp_predict_live(''m'', 5)');
SET ROLE live_reader;
SELECT try('SELECT * FROM gp_predict_live(''m'', 5)');
RESET ROLE;
GRANT SELECT ON node, edge, word TO live_reader;
CREATE TABLE seen AS SELECT * FROM gp_predict_live('m', ARRAY[5, 6, 2000], top => NULL);
GRANT SELECT ON seen TO live_reader;
SET ROLE live_reader;
SELECT count(*), max(abs(a.score - b.score)) AS apart FROM seen AS a JOIN gp_predict_live('m', ARRAY[5, 6, 2000], top => NULL) AS b USING (node, class);
SELECT try('SELECT * FROM gp_explain(''m'', 5)');
RESET ROLE;
CREATE POLICY half ON node TO live_reader USING (id < 1500);
CREATE POLICY half ON edge TO live_reader USING (src < 1500);
ALTER TABLE node ENABLE ROW LEVEL SECURITY;
ALTER TABLE edge ENABLE ROW LEVEL SECURITY;
SET ROLE live_reader;
SELECT try('SELECT * FROM gp_predict_live(''m'', 2000)');
SELECT count(*), max(abs(a.score - b.score)) > 1e-6 AS apart FROM seen AS a JOIN gp_predict_live('m', ARRAY[5, 6], top => NULL) AS b USING (node, class);
SELECT count(*) FROM gp_explain_edges('m', 5, k => NULL) WHERE src >= 1500;
RESET ROLE;
SELECT count(*), max(abs(a.score - b.score)) AS apart FROM seen AS a JOIN gp_predict_live('m', ARRAY[5, 6, 2000], top => NULL) AS b USING (node, class);
REVOKE SELECT ON word FROM live_reader;
SET ROLE live_reader;
SELECT try('SELECT * FROM gp_predict_live(''m'', 5)');
RESET ROLE;
GRANT SELECT ON word TO live_reader;
SELECT gp_revoke('m', 'live_reader');
SET ROLE live_reader;
SELECT try('SELECT * FROM gp_predict_live(''m'', 5)');
RESET ROLE;
ALTER TABLE node DISABLE ROW LEVEL SECURITY;
ALTER TABLE edge DISABLE ROW LEVEL SECURITY;

-- A refresh, another model of the name, an abort in between.
UPDATE node SET colour = CASE colour WHEN 'red' THEN 'green' WHEN 'green' THEN 'red' END;
CALL gp_refresh('m');
SELECT a.class AS then_class, b.class AS now_class FROM gp_predict('m', 5) AS p, gp_predict_live('m', 5) AS b,
    (SELECT class FROM seen WHERE node = 5 ORDER BY score DESC LIMIT 1) AS a WHERE p.class = b.class;
BEGIN;
SAVEPOINT s;
UPDATE node SET colour = 'blue' WHERE id % 20 = 0;
SELECT count(*) FROM gp_fit('between', 'm', kernel => 'gcn', strategy => 'nystrom', landmarks => 100, live => true);
SELECT count(*) FROM gp_predict_live('m', 5, top => NULL);
ROLLBACK TO s;
SELECT count(*) FROM gp_predict_live('m', 5, top => NULL);
SAVEPOINT t;
SELECT try('SELECT * FROM gp_predict_live(''m'', 99999)');
ROLLBACK TO t;
SELECT count(*) FROM gp_predict_live('m', 5, top => NULL);
COMMIT;
SELECT gp_drop_model('m');
SELECT try('SELECT * FROM gp_predict_live(''m'', 5)');
SELECT count(*) FROM gp_fit('between', 'm', kernel => 'gcn', strategy => 'nystrom', landmarks => 50, live => true);
SELECT max(abs(a.score - b.score)) < 1e-5 AS same FROM gp_predict('m', 5) AS a JOIN gp_predict_live('m', 5) AS b USING (node, class);

-- Tables altered, indexes gone, rows added.
DROP INDEX edge_src_idx;
SELECT max(abs(a.score - b.score)) < 1e-5 AS same FROM gp_predict('m', 5) AS a JOIN gp_predict_live('m', 5) AS b USING (node, class);
ALTER TABLE edge ADD COLUMN since date DEFAULT now(), ALTER COLUMN dst TYPE integer;
SELECT max(abs(a.score - b.score)) < 1e-5 AS same FROM gp_predict('m', 5) AS a JOIN gp_predict_live('m', 5) AS b USING (node, class);
INSERT INTO edge (src, dst) SELECT 5, i FROM generate_series(2000, 2300) AS i;
SELECT max(abs(a.score - b.score)) > 1e-4 AS moved FROM gp_predict('m', 5, top => NULL) AS a JOIN gp_predict_live('m', 5, top => NULL) AS b USING (node, class);
ALTER TABLE edge RENAME COLUMN src TO source;
SELECT try('SELECT * FROM gp_predict_live(''m'', 5)');
ALTER TABLE edge RENAME COLUMN source TO src;

-- Classes of any type, as the target has them.
ALTER TABLE node ADD COLUMN number integer, ADD COLUMN sure boolean;
UPDATE node SET number = CASE WHEN colour = 'red' THEN 1 WHEN colour = 'green' THEN 2 END, sure = colour = 'red';
SELECT gp_create_graph('numbers', 'node', 'edge', target => 'number', sparse_features => 'word');
SELECT gp_create_graph('booleans', 'node', 'edge', target => 'sure', sparse_features => 'word');
SELECT count(*) FROM gp_fit('numbers', kernel => 'gcn', strategy => 'nystrom', landmarks => 50, live => true);
SELECT count(*) FROM gp_fit('booleans', kernel => 'gcn', strategy => 'nystrom', landmarks => 50, live => true);
SELECT n.class, n.score = t.score AS same, n.score = l.score AS literal, n.score > p.score AS more
FROM gp_predict_live('numbers', 501, top => NULL, given_nodes => ARRAY[501, 502], given_classes => ARRAY[1, 1]) AS n
    JOIN gp_predict_live('numbers', ARRAY[501], top => NULL, given_nodes => ARRAY[501, 502], given_classes => ARRAY['1', '1']) AS t USING (class)
    JOIN gp_predict_live('numbers', 501, top => NULL, given_nodes => ARRAY[501, 502], given_classes => '{1,1}') AS l USING (class)
    JOIN gp_predict_live('numbers', 501, top => NULL) AS p USING (class)
WHERE class = '1';
SELECT a.score > b.score AS more
FROM gp_predict_live('booleans', 501, top => NULL, given_nodes => ARRAY[501], given_classes => ARRAY[true]) AS a
    JOIN gp_predict_live('booleans', 501, top => NULL) AS b USING (class)
WHERE class = 'true';
SELECT try('SELECT * FROM gp_predict_live(''numbers'', 501, given_nodes => ARRAY[501], given_classes => ARRAY[7])');
SELECT try('SELECT * FROM gp_predict_live(''numbers'', 501, given_nodes => ARRAY[501], given_classes => 7)');
SELECT try('SELECT * FROM gp_predict_live(''numbers'', 501, given_nodes => ARRAY[501], given_classes => ARRAY[1, 2])');
SELECT try('SELECT * FROM gp_predict_live(''numbers'', 501, given_nodes => ARRAY[501], given_classes => NULL)');
SELECT try('SELECT * FROM gp_predict_live(''numbers'', 500, given_nodes => ARRAY[500], given_classes => ARRAY[NULL])');

-- What a user is told: whose rights are missing, that a live state goes, that exact answers take long.
\set VERBOSITY default
SET client_min_messages = notice;
REVOKE SELECT ON node, word FROM live_reader;
SELECT gp_grant('numbers', 'live_reader');
SET ROLE live_reader;
SELECT * FROM gp_predict_live('numbers', 5);
RESET ROLE;
SELECT count(*) FROM gp_fit('numbers', kernel => 'gcn', strategy => 'exact', nugget => 0.1);
SELECT count(*) FROM gp_fit('numbers', kernel => 'gcn', strategy => 'exact', nugget => 0.1);
-- What the fit has to say besides stands apart from what goes.
SELECT count(*) FROM gp_fit('numbers', kernel => 'gcn', strategy => 'exact', nugget => 0.1, live => true);
SELECT count(*) FROM gp_fit('numbers', kernel => 'gcn(power=1.5)', nugget => 0.1);
SELECT gp_create_graph('tints', 'node', 'edge', target => 'tint', sparse_features => 'word');
SELECT count(*) FROM gp_fit('tints', kernel => 'gcn', strategy => 'exact', nugget => 0.1, live => true);
SET client_min_messages = warning;
\set VERBOSITY terse

-- gp_progress shows answers about many nodes, and of none when they are given.
CREATE FUNCTION tell(value real) RETURNS real LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'gp_progress: %', (SELECT p.model || ', ' || p.phase FROM public.gp_progress AS p WHERE p.pid = pg_backend_pid());
    RETURN value;
END $$;
CREATE VIEW telling AS SELECT node, number, CASE WHEN node = 5 AND number = 5 THEN live_between.tell(value) ELSE value END AS value FROM live_between.word;
SELECT gp_create_graph('tells', 'node', 'edge', target => 'colour', sparse_features => 'telling');
SELECT count(*) FROM gp_fit('tells', kernel => 'gcn', strategy => 'nystrom', landmarks => 50, live => true);
SELECT count(*) FROM gp_predict_live('tells', 5);
SELECT count(*) FROM gp_predict_live('tells', ARRAY(SELECT generate_series(1, 20)));
SELECT count(*) FROM gp_progress WHERE pid = pg_backend_pid();
SELECT count(*) FROM gp_next_labels('tells', k => 3);
SELECT count(*) FROM gp_progress WHERE pid = pg_backend_pid();
SELECT gp_drop_graph(g) FROM unnest(ARRAY['between', 'numbers', 'booleans', 'tints', 'tells']) AS g;
DROP OWNED BY live_reader;
DROP ROLE live_reader;
DROP SCHEMA live_between CASCADE;
