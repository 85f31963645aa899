-- CALL gp_refresh: what is replaced, logged and refused
\set VERBOSITY terse
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
\pset null NULL
CREATE TABLE n AS
    SELECT i AS id, ARRAY[i % 13, i % 10, 3]::real[] AS x,
           CASE WHEN i % 3 = 0 THEN 'class ' || i % 2 END AS y
    FROM generate_series(1, 120) i;
CREATE TABLE e AS
    SELECT i AS src, (i * 7 + 3) % 120 + 1 AS dst FROM generate_series(1, 120) i
    UNION ALL SELECT i, i % 120 + 1 FROM generate_series(1, 120) i;
SELECT gp_create_graph('g', 'n', 'e', features => '{x}', target => 'y');
SELECT model, nodes, classes, labelled FROM gp_fit('g', kernel => 'gcn(layers=1)', strategy => 'exact', nugget => 0.5);

CREATE VIEW log AS SELECT model, ended >= started AS ended, outcome, message FROM gp_refreshes ORDER BY started;
CREATE VIEW stored AS
    SELECT m.name, m.version, m.nodes, m.asked_kernel, m.asked_strategy, m.asked_nugget,
           (SELECT string_agg(DISTINCT b.version::text, ',') FROM gnngp_internal.gp_block b WHERE b.model = m.id) AS blocks,
           (SELECT count(*) FROM gp_predict(m.name)) AS predictions
    FROM gnngp_internal.gp_model_catalog m;
SELECT * FROM stored;

-- The same data again: the same predictions
CREATE TABLE before AS SELECT * FROM gp_predict('g');
CALL gp_refresh('g');
SELECT * FROM log;
SELECT * FROM stored;
SELECT count(*) FROM (TABLE before EXCEPT SELECT * FROM gp_predict('g')) d;

-- New nodes, edges, labels and classes
INSERT INTO n VALUES (200, '{1,2,3}', NULL), (201, '{3,2,1}', 'class 2');
INSERT INTO e VALUES (200, 201), (201, 3);
CALL gp_refresh('g');
SELECT * FROM log;
SELECT * FROM stored;
SELECT node, class IS NULL FROM gp_predict('g', nodes => '{200,201}');

-- Equal numbers are told as numbers: all ids and edges, and the place of a label, may be others
CREATE TABLE moves AS SELECT id, y FROM n;
CREATE TABLE moved AS SELECT src, dst FROM e;
SELECT gp_create_graph('moves', 'moves', 'moved', target => 'y');
SELECT nodes, edges, labelled FROM gp_fit('moves', nugget => 0.1);
UPDATE moves SET id = id + 1000;
UPDATE moved SET src = src + 1000, dst = dst + 1000;
CALL gp_refresh('moves');
UPDATE moves SET y = CASE id WHEN 1001 THEN 'class 0' END WHERE id IN (1001, 1003);
DELETE FROM moved WHERE ctid = (SELECT min(ctid) FROM moved);
CALL gp_refresh('moves');
SELECT outcome, message FROM log WHERE model = 'moves';
SELECT gp_drop_graph('moves');
DROP TABLE moves, moved;

-- A failure is logged and raised, and leaves the model as it was
INSERT INTO e VALUES (1, 999);
CALL gp_refresh('g');
SELECT * FROM log;
SELECT * FROM stored;
SELECT count(*) FROM gp_predict('g');

-- In a transaction block it leaves no trace
BEGIN;
CALL gp_refresh('g');
ROLLBACK;
BEGIN;
SAVEPOINT s;
CALL gp_refresh('g');
ROLLBACK TO s;
SELECT count(*) FROM gp_predict('g');
COMMIT;
SELECT count(*) FROM log;
DELETE FROM e WHERE dst = 999;
BEGIN;
CALL gp_refresh('g');
SELECT count(*) FROM log;
ROLLBACK;
SELECT count(*) FROM log;
BEGIN;
CALL gp_refresh('g');
COMMIT;
SELECT * FROM log;
SELECT * FROM stored;

-- In PL/pgSQL: with commits, and where it must not commit
DO $$ BEGIN CALL gp_refresh('g'); END $$;
DO $$ BEGIN CALL gp_refresh('g'); EXCEPTION WHEN division_by_zero THEN NULL; END $$;
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL gp_refresh('g'); END $$;
SELECT f();
DROP FUNCTION f;
CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..2 LOOP CALL gp_refresh('g'); END LOOP; END $$;
CALL p();
DROP PROCEDURE p;
SELECT outcome, count(*) FROM log GROUP BY 1 ORDER BY 1;

-- The log keeps the last 100 runs of a model
INSERT INTO gnngp_internal.gp_refresh_log (model, outcome, message) SELECT id, 'succeeded', 'old ' || i FROM gnngp_internal.gp_model_catalog, generate_series(1, 200) i;
CALL gp_refresh('g');
SELECT count(*), count(*) FILTER (WHERE message LIKE 'old %') AS old, min(message) FILTER (WHERE message LIKE 'old %') AS first FROM gp_refreshes;
DELETE FROM gnngp_internal.gp_refresh_log WHERE message LIKE 'old %';

-- A row that was left says interrupted, also while the model is fitted
UPDATE gnngp_internal.gp_refresh_log SET outcome = 'running' WHERE id = (SELECT max(id) FROM gnngp_internal.gp_refresh_log);
BEGIN;
SELECT model FROM gp_fit('g', kernel => 'sage', nugget => 0.1);
SELECT outcome FROM gp_refreshes ORDER BY started DESC LIMIT 1;
ROLLBACK;

-- Code in the user's tables cannot release the lock
CREATE VIEW en AS SELECT src, CASE WHEN pg_advisory_unlock_all()::text = '' THEN dst END AS dst FROM e;
SELECT gp_create_graph('en', 'n', 'en', target => 'y');
SELECT model FROM gp_fit('en', nugget => 0.1);
CALL gp_refresh('en');
SELECT gp_drop_graph('en');
DROP VIEW en;

-- A refresh that loses more than half says so, and with the guard it keeps the model
CREATE TABLE shrinks AS TABLE e;
SELECT gp_create_graph('shrinks', 'n', 'shrinks', target => 'y');
SELECT nodes, edges, labelled FROM gp_fit('shrinks', nugget => 0.1);
CREATE VIEW last AS SELECT outcome, message, edges FROM gp_refreshes JOIN gp_models USING (model) WHERE model = 'shrinks' ORDER BY started DESC LIMIT 1;
DELETE FROM shrinks WHERE src % 2 = 0;
CALL gp_refresh('shrinks');
TABLE last;
DELETE FROM shrinks WHERE src % 4 <> 1;
DELETE FROM shrinks WHERE src = 1;
\set VERBOSITY default
SET gnngp.refresh_guard = on;
CALL gp_refresh('shrinks');
TABLE last;
RESET gnngp.refresh_guard;
CALL gp_refresh('shrinks');
\set VERBOSITY terse
TABLE last;
SELECT gp_drop_graph('shrinks');
DROP VIEW last;
DROP TABLE shrinks;

-- A refresh reads in REPEATABLE READ, whatever the session's default is, and a view once
CREATE VIEW isolated AS
    SELECT id, x, y FROM n
    WHERE current_setting('transaction_isolation') = 'repeatable read' AND (id <= 100 OR random() < 0.5);
CREATE VIEW inside AS SELECT * FROM e WHERE src <= 100 AND dst <= 100;
SELECT gp_create_graph('isolated', 'isolated', 'inside', features => '{x}', target => 'y');
SELECT gp_fit('isolated');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT nodes BETWEEN 100 AND 122 FROM gp_fit('isolated', kernel => 'gcn(layers=1)');
COMMIT;
CALL gp_refresh('isolated');
SET default_transaction_isolation = serializable;
CALL gp_refresh('isolated');
RESET default_transaction_isolation;
SELECT outcome FROM gp_refreshes WHERE model = 'isolated';
SELECT gp_drop_graph('isolated');
DROP VIEW isolated, inside;

-- What is refused
\set VERBOSITY default
CALL gp_refresh('nothing');
CALL gp_refresh(NULL);
BEGIN READ ONLY;
CALL gp_refresh('g');
ROLLBACK;
DROP TABLE e CASCADE;
CALL gp_refresh('g');
\set VERBOSITY terse
SELECT outcome, message FROM gp_refreshes ORDER BY started DESC LIMIT 1;
SELECT count(*) FROM gp_predict('g');

-- Locks and progress entries are gone
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND (classid = 'pg_extension'::regclass OR locktype = 'advisory');
SELECT count(*) FROM gp_progress;

-- The log goes with the model
SELECT gp_drop_model('g');
SELECT count(*) FROM log;
SELECT count(*) FROM gnngp_internal.gp_block;
SELECT gp_drop_graph('g');
DROP TABLE n, before;
DROP VIEW log, stored;
