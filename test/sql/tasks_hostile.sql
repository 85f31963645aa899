-- Tasks of somebody who means harm: expressions, names, targets that are facts, grantees
\set VERBOSITY sqlstate
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA tasks_hostile;
SET search_path = tasks_hostile, public;
SELECT setseed(0.1);
CREATE TABLE customer (id int PRIMARY KEY, joined timestamptz NOT NULL, vip boolean);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customer, at timestamptz NOT NULL, amount float8, returned boolean);
CREATE TABLE "it""em; --" ("order's" int REFERENCES orders, "n()" int);
INSERT INTO customer SELECT i, '2024-01-01', i % 2 = 0 FROM generate_series(1, 40) i;
INSERT INTO orders SELECT i, 1 + i % 40, '2024-02-01'::timestamptz + i * interval '5 hours', i % 7, CASE WHEN i <= 780 THEN random() < 0.4 END FROM generate_series(1, 800) i;
INSERT INTO "it""em; --" SELECT 1 + i % 800, i % 5 FROM generate_series(1, 2000) i;
SELECT gp_create_graph('shop', ARRAY['customer', 'orders', '"it""em; --"']::regclass[]);
SELECT relation, child FROM gp_relations('shop');

-- One expression that gives one value of each row, and nothing else; the same for a filter
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN '00000';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT e, state_of(format('SELECT gp_create_task(%L, %L, %L, %L, horizon => %L)', 't' || i, 'shop', 'customer', e, '30 days')),
       state_of(format('SELECT gp_create_task(%L, %L, %L, %L, horizon => %L, filter => %L)', 'f' || i, 'shop', 'customer', 'e.vip', '30 days', e))
FROM unnest(ARRAY['true) FROM pg_authid --', 'true; DROP TABLE orders', 'true /*', '(true', 'true, true', 'true UNION SELECT false', 'true AS x', 'true --',
    'e.*', 'e', 'count(*) > 1', 'generate_series(1, 3) > 1', 'lag(true) OVER ()', 'random() < .5', 'nextval(''orders'') > 1', '$1', '$3 IS NULL',
    '(WITH d AS (DELETE FROM orders RETURNING id) SELECT true FROM d)', 'E''\'' --''', 'e."vip"', 'horizon > interval ''1 day''']) WITH ORDINALITY AS u(e, i);
SELECT count(*) FROM orders;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph ~ '^[tf]\d';

-- What is asked for is not shown of the row that is asked about: a target of dice cannot be told
SELECT gp_create_task('returned', 'shop', 'orders.returned');
SELECT classes, loo_score < 0.1 AS honest FROM gp_fit('returned', live => true);
-- In a parallel query, too
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT (SELECT count(*) FROM gp_columns('returned')) > 0 AS known, count(*) > 0 AS rows FROM pg_proc;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- Nodes of its rows are of the type that is asked for, and of no other
SELECT state_of($$SELECT * FROM gp_task_rows('returned', NULL::int[])$$);
BEGIN;
INSERT INTO orders VALUES (40000, 1, '2024-03-01', 1, true);
SELECT state_of($$SELECT * FROM gp_task_rows('returned', NULL::smallint)$$);
ROLLBACK;

-- A grantee gets answers from the tables that it may read, and neither labels nor what the fit keeps of them
CREATE ROLE tasks_stranger;
GRANT USAGE ON SCHEMA tasks_hostile TO tasks_stranger;
SELECT gp_grant('returned', 'tasks_stranger');
SELECT quote_ident(current_user) || '.returned' AS owned \gset
SET ROLE tasks_stranger;
SELECT count(*) FROM gp_predict('returned');
SELECT * FROM gp_task_rows('returned');
SELECT * FROM gp_task_rows(:'owned');
SELECT * FROM gp_relations('shop');
SELECT count(*) FROM gnngp_internal.gp_block WHERE part IN ('facts', 'live', 'loo');
SELECT * FROM gp_predict_live('returned', 3);
SELECT * FROM gp_loo('returned');
RESET ROLE;
-- Nor does a grantee look up the owner's expression, here over a schema that it may not use, nor a view that the fit leaves out; ids are texts
CREATE SCHEMA tasks_closed;
CREATE TABLE member (id char(5) PRIMARY KEY, joined timestamptz NOT NULL, deleted_at timestamptz, phone text);
CREATE TABLE visit (member char(5) REFERENCES member, at timestamptz NOT NULL, page text);
CREATE TABLE page (name text, words int);
INSERT INTO member SELECT 'm' || i, '2024-01-01', NULL, i % 3 FROM generate_series(1, 30) i;
INSERT INTO visit SELECT 'm' || 1 + i * i % 30, '2024-02-01'::timestamptz + i * interval '5 hours', 'p' || i % 4 FROM generate_series(1, 400) i;
INSERT INTO page SELECT 'p' || i, i FROM generate_series(0, 3) i;
CREATE TABLE tasks_closed.sale AS SELECT member, at FROM visit;
CREATE INDEX ON visit (member, at);
CREATE VIEW habit AS SELECT member, count(*) FROM visit GROUP BY member;
SELECT gp_create_graph('club', '{member,visit,page,habit}', keys => '{"visit.page": "page.name", "habit.member": "member.id"}', exclude => '{member.phone}');
SELECT gp_create_task('sales', 'club', 'member', $$EXISTS (SELECT FROM tasks_closed.sale s WHERE s.member = e.id AND s.at > t AND s.at <= t + horizon)$$, horizon => '10 days');
SELECT facts FROM gp_fit('sales');
SELECT gp_grant('sales', 'tasks_stranger');
GRANT SELECT (joined) ON member TO tasks_stranger;
GRANT SELECT (at) ON visit TO tasks_stranger;
SET ROLE tasks_stranger;
\set VERBOSITY default
SELECT gp_predict_live('sales', ARRAY['m1']);
\set VERBOSITY sqlstate
RESET ROLE;
-- What the hint says is enough, without columns that are excluded or written later
GRANT SELECT (id) ON member TO tasks_stranger;
GRANT SELECT (member, page) ON visit TO tasks_stranger;
GRANT SELECT ON page TO tasks_stranger;
SET ROLE tasks_stranger;
SELECT count(*) FROM gp_predict_live('sales', ARRAY['m1', 'm17'], top => 1);
RESET ROLE;
-- A key that two rows have would count each fact twice
INSERT INTO page VALUES ('p1', 7);
SELECT state_of($$SELECT gp_fit('sales')$$);
-- Integers refer to numbers, whose zeros behind the point do not tell them apart: live answers are the stored ones
CREATE TABLE lot (id numeric PRIMARY KEY, made timestamptz NOT NULL, good boolean);
CREATE TABLE bid (lot int REFERENCES lot, at timestamptz NOT NULL, price int);
INSERT INTO lot SELECT i::numeric(9, 2), '2024-01-01'::timestamptz + i * interval '1 day', CASE WHEN i <= 80 THEN i % 2 = 0 END FROM generate_series(1, 100) i;
INSERT INTO bid SELECT 1 + i % 100, '2023-12-30', i % 2 + i % 3 FROM generate_series(1, 500) i;
SELECT gp_create_graph('auction', '{lot,bid}', times => '{"lot": "made"}');
SELECT gp_create_task('quality', 'auction', 'lot.good');
SELECT labelled, facts, loo_score > 0.5 AS told FROM gp_fit('quality');
SELECT count(*), max(abs(l.score - p.score)) < 1e-4 FROM gp_predict('quality', NULL::numeric) AS p JOIN gp_predict_live('quality', ARRAY(SELECT id FROM lot WHERE good IS NULL)) AS l USING (node, class);
-- Times of labels are known to the model, where they are later than all facts, too
SET client_min_messages = notice;
SELECT count(*) FROM gp_predict_live('quality', ARRAY[40, 85]);
SET client_min_messages = warning;
-- Nor does the sign of a zero
BEGIN;
ALTER TABLE lot ALTER id TYPE float8;
INSERT INTO lot SELECT '-0', made, good FROM lot WHERE id = 100;
UPDATE bid SET lot = 0 WHERE lot = 100;
DELETE FROM lot WHERE id = 100;
SELECT labelled, facts FROM gp_fit('quality', replace => true);
ROLLBACK;
-- Where all rows are of one time, what they are is there as of then
BEGIN;
ALTER TABLE lot ADD kind int;
UPDATE lot SET kind = id % 2, made = '2024-01-01';
DELETE FROM bid;
SELECT labelled, loo_score > 0.9 AS told FROM gp_fit('quality', replace => true);
ROLLBACK;
-- A live state that somebody put beside the columns of another fit
ALTER TABLE bid ADD COLUMN more int;
UPDATE bid SET more = price * lot % 7;
SELECT labelled FROM gp_fit('quality', model => 'wider');
DELETE FROM gnngp_internal.gp_block b USING gnngp_internal.gp_model_catalog m WHERE m.id = b.model AND m.name = 'wider' AND b.part = 'live';
INSERT INTO gnngp_internal.gp_block SELECT w.id, w.version, b.part, b.block, b.first_key, b.nrows, b.data FROM gnngp_internal.gp_block b
JOIN gnngp_internal.gp_model_catalog q ON q.id = b.model AND q.name = 'quality', gnngp_internal.gp_model_catalog w WHERE w.name = 'wider' AND b.part = 'live';
SELECT state_of($$SELECT * FROM gp_predict_live('wider', 90.0)$$);
-- Names of columns without an end
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/seal.sql'
\i :include
BEGIN;
UPDATE gnngp_internal.gp_block b SET data = seal(substr(data, 1, 52) || decode(repeat('61', length(data) - 52), 'hex'))
    FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model AND m.name = 'quality' AND b.part = 'facts' AND get_byte(b.data, 28) = 4;
SELECT state_of($$SELECT * FROM gp_explain('quality', 90.0)$$);
ROLLBACK;
-- A foreign key that the owner may not read is left out
GRANT SELECT (id, made, good) ON lot TO tasks_stranger;
GRANT SELECT (at, price) ON bid TO tasks_stranger;
SET ROLE tasks_stranger;
SELECT gp_create_graph('part', '{lot,bid}', times => '{"lot": "made"}');
SELECT relation, note FROM gp_relations('part');
SELECT gp_create_task('quality', 'part', 'lot.good');
SET client_min_messages = notice;
\set VERBOSITY terse
SELECT labelled, relations FROM gp_fit('quality');
-- A refresh tells what is new: a column that its owner may not read any more
CALL gp_refresh('quality');
RESET ROLE;
REVOKE SELECT (price) ON bid FROM tasks_stranger;
CALL gp_refresh('tasks_stranger.quality');
SET client_min_messages = warning;
\set VERBOSITY sqlstate
SELECT strpos(gp_report('tasks_stranger.quality'), 'may not read lot, price') > 0 AS reported;
-- An expression may use the columns that its owner may read, and no other
ALTER TABLE lot ADD secret int;
UPDATE bid SET at = at + price * interval '50 days';
SET ROLE tasks_stranger;
SELECT gp_create_task('sound', 'part', 'lot', 'e.good', horizon => '9 days');
SELECT count(*) > 80 AS labelled FROM gp_task_rows('sound', NULL::numeric);
\set VERBOSITY terse
SELECT gp_create_task('told', 'part', 'lot', 'e.secret > 1', horizon => '9 days');
SELECT gp_create_task('told', 'part', 'lot', 'e.good', horizon => '9 days', filter => 'e.secret > 1');
\set VERBOSITY sqlstate
RESET ROLE;
ALTER TABLE lot DROP secret;
-- Callers who may read more get the owner's columns
CREATE ROLE tasks_reader;
GRANT USAGE ON SCHEMA tasks_hostile TO tasks_reader;
GRANT SELECT ON lot, bid TO tasks_reader;
SET ROLE tasks_stranger;
SELECT gp_grant('quality', 'tasks_reader');
SET ROLE tasks_reader;
SELECT count(*) FROM gp_predict_live('quality', 90.0);
SET ROLE tasks_stranger;
SELECT gp_drop_graph('part');
RESET ROLE;
DROP OWNED BY tasks_reader;
DROP ROLE tasks_reader;
-- A key that alone says since when rows are known
CREATE TABLE remark (lot int REFERENCES lot, words int);
GRANT SELECT (words) ON remark TO tasks_stranger;
SET ROLE tasks_stranger;
SELECT state_of($$SELECT gp_create_graph('part', '{lot,remark}', times => '{"lot": "made"}')$$);
RESET ROLE;
-- Entities whose id is NULL: nothing asks about them
CREATE TABLE patron (id int PRIMARY KEY, card text UNIQUE);
CREATE TABLE loan (id int PRIMARY KEY, card text NOT NULL REFERENCES patron (card), at timestamptz NOT NULL, days int);
CREATE TABLE late (card text NOT NULL REFERENCES patron (card), at timestamptz NOT NULL, late boolean);
INSERT INTO patron SELECT i, CASE WHEN i <= 30 THEN 'card ' || i END FROM generate_series(1, 33) i;
INSERT INTO loan SELECT i, 'card ' || 1 + i * 7 % 30, '2024-01-01'::timestamptz + i * interval '9 hours', i * 13 % 17 FROM generate_series(1, 400) i;
INSERT INTO late SELECT 'card ' || 1 + i % 30, '2024-03-01'::timestamptz + i * interval '7 hours', i * 7 % 3 = 0 FROM generate_series(1, 200) i;
SELECT gp_create_graph('library', ARRAY['patron', 'loan']::regclass[]);
SELECT gp_create_task('lateness', 'library', labels => 'late', entity => 'card', target => 'late', time_column => 'at', horizon => '1 day');
SELECT labelled, relations FROM gp_fit('lateness');
SELECT count(*) FROM gp_predict('lateness', NULL::text);
-- Rows that only the labels, which are known later, give a time
CREATE TABLE fine (id int PRIMARY KEY, card text NOT NULL REFERENCES patron (card), at timestamptz NOT NULL, late boolean);
CREATE TABLE reminder (fine int NOT NULL REFERENCES fine, card text REFERENCES patron (card));
INSERT INTO fine SELECT row_number() OVER (ORDER BY at), card, at, late FROM late;
INSERT INTO reminder SELECT id, card FROM fine WHERE late;
SELECT gp_create_graph('fines', '{patron,loan,fine,reminder}');
SELECT gp_create_task('fined', 'fines', labels => 'fine', entity => 'card', target => 'late', time_column => 'at', horizon => '1 day');
SET client_min_messages = notice;
\set VERBOSITY terse
SELECT labelled, relations FROM gp_fit('fined');
SET client_min_messages = warning;
\set VERBOSITY sqlstate
SELECT gp_drop_graph('fines');
-- Stored labels that are not in the order of their times
BEGIN;
UPDATE gnngp_internal.gp_block AS b SET data = seal(overlay(b.data PLACING '\xffffffffffffff3f' FROM 53))
FROM gnngp_internal.gp_model_catalog AS m WHERE m.id = b.model AND m.name = 'lateness' AND b.part = 'facts' AND get_byte(b.data, 28) = 6;
SELECT state_of($$SELECT * FROM gp_predict_live('lateness', 'card 1')$$);
ROLLBACK;
SELECT count(*) FROM gp_predict_live('lateness', ARRAY['card 1', 'card 2']);
SELECT gp_drop_graph('library');
SELECT gp_drop_graph('auction');
SELECT gp_drop_graph('club');
DROP SCHEMA tasks_closed CASCADE;
SELECT gp_drop_graph('shop');
DROP OWNED BY tasks_stranger;
DROP ROLE tasks_stranger;
SET client_min_messages = error;
DROP SCHEMA tasks_hostile CASCADE;
