-- Packed edges that stay from one refresh to the next
\pset format unaligned
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE nodes AS SELECT i * 3 + 7 AS id, ARRAY[sin(i * 1.7), cos(i * 0.9), sin(i * i), 1]::real[] AS x, CASE WHEN i % 3 = 0 THEN 'class ' || i * 3 / 601 END AS y
    FROM generate_series(1, 600) AS i;
CREATE TABLE edges AS SELECT a * 3 + 7 AS src, (1 + (a + (a * a * k) % (20 + a % 50)) % 600) * 3 + 7 AS dst, 1 + k % 2 AS w
    FROM generate_series(1, 600) AS a, generate_series(1, 4) AS k;
SELECT gp_create_graph('nodes', 'nodes', 'edges', features => '{x}', target => 'y');
SELECT edges FROM gp_fit('nodes', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
-- A fit keeps none, and the first refresh does
SELECT edges_kept FROM gp_model_catalog;
CREATE TEMP TABLE fitted AS SELECT * FROM gp_predict('nodes', top => NULL);
CALL gp_refresh('nodes');
SELECT edges_kept FROM gp_model_catalog;
CREATE FUNCTION written() RETURNS bigint LANGUAGE sql AS $$ SELECT max(xmin::text::bigint) FROM nodes_edges $$;
SELECT count(*) > 1 AS parts, sum(n) AS rows FROM nodes_edges;
CREATE FUNCTION mark() RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(':', sum(n), sum(a), sum(b)) FROM nodes_edges $$;
SELECT written() AS then \gset
-- Rows that are written anew are the same edges
CREATE TABLE again AS SELECT * FROM edges ORDER BY dst DESC;
TRUNCATE edges;
INSERT INTO edges TABLE again;
CALL gp_refresh('nodes');
SELECT written() = :then AS same_rows;
SELECT count(*) FROM (SELECT * FROM fitted EXCEPT SELECT * FROM gp_predict('nodes', top => NULL)) AS d;
-- They are those that the refresh takes: what is done to them shows
CREATE FUNCTION edges_now() RETURNS bigint LANGUAGE sql AS $$ SELECT edges FROM gp_models WHERE model = 'nodes' $$;
SELECT edges_now() AS edges \gset
BEGIN;
UPDATE nodes_edges SET g = NULL WHERE part > 2;
CALL gp_refresh('nodes');
SELECT edges_now() < :edges AS taken;
ROLLBACK;
-- But what the table lacks is missed: without its rows, or some of them, as a dump may have restored it
DELETE FROM nodes_edges WHERE part > 2;
CALL gp_refresh('nodes');
SELECT edges_now() - :edges AS more, split_part(mark(), ':', 1) AS rows;
TRUNCATE nodes_edges;
CALL gp_refresh('nodes');
SELECT edges_now() - :edges AS more, split_part(mark(), ':', 1) AS rows;
SELECT written() AS then \gset
-- Other nodes have the same edges
INSERT INTO nodes SELECT 1, x, y FROM nodes WHERE id = 10;
CALL gp_refresh('nodes');
SELECT written() = :then AS same_rows, edges_now() = :edges AS same_edges;
SELECT count(*) FROM gp_predict('nodes');
-- One edge more, one less, another one in its place, and one twice
INSERT INTO edges VALUES (10, 1, 1);
CALL gp_refresh('nodes');
SELECT written() = :then AS same_rows, edges_now() - :edges AS more;
DELETE FROM edges WHERE dst = 1;
CALL gp_refresh('nodes');
SELECT edges_now() - :edges AS more;
UPDATE edges SET dst = 1 WHERE ctid = (SELECT min(ctid) FROM edges);
CREATE TEMP TABLE before AS SELECT * FROM gp_predict('nodes', top => NULL);
CALL gp_refresh('nodes');
SELECT count(*) > 0 AS another FROM (TABLE before EXCEPT SELECT * FROM gp_predict('nodes', top => NULL)) AS d;
SELECT sum(n) AS rows FROM nodes_edges;
INSERT INTO edges SELECT * FROM edges LIMIT 1;
CALL gp_refresh('nodes');
SELECT sum(n) AS rows FROM nodes_edges;
-- Source and target change their places: the same edges for a graph without directions, but packed anew
UPDATE edges SET src = dst, dst = src;
SELECT mark() \gset
CALL gp_refresh('nodes');
SELECT mark() = :'mark' AS same_mark, edges_now() - :edges AS more;
-- Weights count
SELECT gp_alter_graph('nodes', weight => 'w');
CALL gp_refresh('nodes');
SELECT mark() = :'mark' AS same_mark;
SELECT mark() \gset
UPDATE edges SET w = 3 WHERE ctid = (SELECT min(ctid) FROM edges);
CALL gp_refresh('nodes');
SELECT mark() = :'mark' AS same_mark;
-- A bad row is told of as ever, and what was kept stays
SELECT mark() \gset
INSERT INTO edges VALUES (10, 11, 1);
CALL gp_refresh('nodes');
DELETE FROM edges WHERE dst = 11;
SELECT written() AS then \gset
CALL gp_refresh('nodes');
SELECT mark() = :'mark' AS same_mark, written() = :then AS same_rows;
-- A node that edges need, gone
DELETE FROM nodes WHERE id = 1;
CALL gp_refresh('nodes');
INSERT INTO nodes SELECT 1, x, y FROM nodes WHERE id = 10;
-- Views
CREATE VIEW seen AS SELECT * FROM edges;
SELECT gp_alter_graph('nodes', edges => 'seen');
CALL gp_refresh('nodes');
SELECT written() = :then AS same_rows;
-- A table that was dropped or altered
DROP TABLE nodes_edges;
CALL gp_refresh('nodes');
SELECT count(*) > 1 AS parts FROM nodes_edges;
BEGIN;
ALTER TABLE nodes_edges ALTER g TYPE text USING 'x';
CALL gp_refresh('nodes');
ROLLBACK;
BEGIN;
ALTER TABLE nodes_edges DROP n;
CALL gp_refresh('nodes');
ROLLBACK;
-- Nobody else may read it, also whom the model is granted to
CREATE ROLE kept_reader;
CREATE ROLE kept_owner;
SELECT gp_grant('nodes', 'kept_reader');
SELECT has_table_privilege('kept_reader', 'nodes_edges', 'SELECT') AS reads;
-- nor whom the owner lets read new tables by default
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO kept_reader;
DROP TABLE nodes_edges;
CALL gp_refresh('nodes');
SELECT has_table_privilege('kept_reader', 'nodes_edges', 'SELECT') AS reads;
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM kept_reader;
-- Nor learn of it from the row of the model, where the difference of two marks would tell which edge has come
SELECT attname FROM pg_attribute WHERE attrelid = 'gp_model_catalog'::regclass AND attname ~ '^edges_' ORDER BY 1;
GRANT CREATE ON SCHEMA public TO kept_owner;
SELECT gp_set_owner('nodes', 'kept_owner');
-- A new owner packs his own
SELECT to_regclass('nodes_edges'), edges_kept FROM gp_model_catalog;
REVOKE CREATE ON SCHEMA public FROM kept_owner;
GRANT SELECT ON nodes, seen TO kept_owner;
-- Where the owner may make none, there is none
CALL gp_refresh('kept_owner.nodes');
SELECT to_regclass('nodes_edges');
SELECT gp_set_owner('kept_owner.nodes', CURRENT_USER);
CALL gp_refresh('nodes');
SELECT to_regclass('nodes_edges');
SELECT gp_drop_graph('nodes');
SELECT relname FROM pg_class WHERE relname ~ '^nodes_';
DROP OWNED BY kept_reader, kept_owner;
DROP ROLE kept_reader, kept_owner;
DROP VIEW seen;
DROP TABLE nodes, edges, again;
DROP FUNCTION edges_now, mark, written;
