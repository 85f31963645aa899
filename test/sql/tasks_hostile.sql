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

-- A grantee gets answers from the tables that it may read, and neither labels nor what the fit keeps of them
CREATE ROLE tasks_stranger;
GRANT USAGE ON SCHEMA tasks_hostile TO tasks_stranger;
SELECT gp_grant('returned', 'tasks_stranger');
SET ROLE tasks_stranger;
SELECT count(*) FROM gp_predict('returned');
SELECT * FROM gp_task_rows('returned');
SELECT * FROM gp_relations('shop');
SELECT count(*) FROM gnngp_internal.gp_block WHERE part IN ('facts', 'live', 'loo');
SELECT * FROM gp_predict_live('returned', 3);
SELECT * FROM gp_loo('returned');
RESET ROLE;
SELECT gp_drop_graph('shop');
DROP OWNED BY tasks_stranger;
DROP ROLE tasks_stranger;
SET client_min_messages = error;
DROP SCHEMA tasks_hostile CASCADE;
