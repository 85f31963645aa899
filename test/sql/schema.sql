-- Graphs of tables: what is understood, tasks of three forms, and nothing that comes later
SET client_min_messages = warning;
CREATE SCHEMA schema_test;
SET search_path = schema_test, public;
SET timezone = 'UTC';
SELECT setseed(0.5) IS NULL;
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include
CREATE TABLE customers (id integer PRIMARY KEY, joined_at timestamptz NOT NULL, region text, birthday date);
CREATE TABLE products (id integer PRIMARY KEY, price numeric NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers,
    referred_by integer REFERENCES orders, ordered_at timestamptz NOT NULL, channel text, returned boolean, updated_at timestamptz);
CREATE TABLE items (order_id integer NOT NULL REFERENCES orders, product_id integer REFERENCES products, quantity integer);
INSERT INTO products SELECT i, i * 1.5 FROM generate_series(1, 20) i;
INSERT INTO customers SELECT i, '2024-01-01'::timestamptz + i * interval '1 hour', (ARRAY['north','south'])[1 + i % 2], date '1980-01-01' + i
FROM generate_series(1, 60) i;
-- The more often a customer orders, the more he will
INSERT INTO orders SELECT row_number() OVER (ORDER BY at, c), c, NULL, at, (ARRAY['web','shop'])[1 + c % 2], c % 3 = 0
FROM generate_series(1, 60) c, LATERAL (SELECT '2024-01-05'::timestamptz + c * interval '7 minutes' + k * (2 + c % 10 * 4) * interval '1 day' AS at
    FROM generate_series(0, 200) k) o WHERE at < '2024-12-01';
INSERT INTO items SELECT id, 1 + id % 20, 1 + id % 3 FROM orders;
CREATE INDEX ON orders (customer_id, ordered_at);
CREATE INDEX ON items (order_id);
UPDATE orders SET returned = NULL WHERE ordered_at > '2024-11-20';
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
SELECT gp_create_graph('shop', tables => '{customers,orders,items,products}');
SELECT * FROM gp_relations('shop');
SELECT * FROM gp_columns('shop');

-- An expression
SELECT gp_create_task('orders30', 'shop', entity => 'customers', horizon => '30 days',
    target => $$ EXISTS (SELECT FROM orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t AND o.ordered_at <= t + interval '10 days') -- a comment $$,
    filter => 'e.id <> 7');
SELECT count(*), count(DISTINCT as_of), max(as_of), count(*) FILTER (WHERE node = 7) FROM gp_task_rows('orders30');
SELECT task, nodes, labelled, relations, facts > 1000 AS facts, loo_score > 0.3 AS well, forward_score > 0.2 AS forward FROM gp_fit('orders30');
SELECT count(*), count(DISTINCT class) FROM gp_predict('orders30');
-- Live answers as of just after the newest fact are the stored ones
SELECT count(*) FROM gp_predict('orders30') AS s JOIN gp_predict_live('orders30', ARRAY(SELECT id FROM customers WHERE id <> 7),
    as_of => (SELECT max(ordered_at) + interval '1 microsecond' FROM orders)) AS l USING (node, class)
WHERE abs(s.probability - l.probability) < 1e-4;
-- Rows of the same transaction count
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE TEMP TABLE before AS SELECT * FROM gp_predict_live('orders30', ARRAY[9], top => NULL);
INSERT INTO orders SELECT 100000 + i, 9, NULL, clock_timestamp() - i * interval '1 hour', 'web', NULL FROM generate_series(1, 5) i;
SELECT abs(l.score - b.score) > 1e-3 FROM gp_predict_live('orders30', ARRAY[9], top => NULL) AS l JOIN before AS b USING (class) WHERE class = 'true';
ROLLBACK;
-- An entity that is not there yet, or not at all
SELECT count(*) FROM gp_predict_live('orders30', ARRAY[1, 60], as_of => '2024-01-02');
SELECT try($$SELECT * FROM gp_predict_live('orders30', ARRAY[1000])$$);
-- Or came after the fit
BEGIN;
INSERT INTO customers (id, joined_at) VALUES (2000, clock_timestamp());
SELECT try($$SELECT * FROM gp_explain('orders30', 2000)$$);
SET LOCAL client_min_messages = warning;
SELECT count(*) > 1 FROM gp_explain('orders30', 2000, as_of => clock_timestamp());
ROLLBACK;
-- One that the filter leaves out
SELECT count(*) FROM gp_predict_live('orders30', ARRAY[7, 9], as_of => '2024-11-25');
-- Shares add up to the score
SELECT abs((SELECT sum(share) FROM gp_explain('orders30', 9, class => 'true')) - score) < 1e-4
FROM gp_predict_live('orders30', ARRAY[9], class => 'true', as_of => (SELECT max(ordered_at) + interval '1 microsecond' FROM orders));
SELECT array_agg(probability) = array_agg(probability ORDER BY probability DESC), count(*) FROM gp_predict_live('orders30', ARRAY[9, 2, 4, 3], class => 'true', as_of => '2024-11-01');
SELECT count(DISTINCT since) > 2, count(*) FILTER (WHERE metric = 'roc_auc' AND value > 0.6) > 2 FROM gp_backtest('orders30');
SELECT count(*) = (SELECT labelled FROM gp_models WHERE model = 'orders30' AND forward_score > 0.2), count(DISTINCT as_of) FROM gp_loo('orders30');
SELECT strategy, bytes > 0 FROM gp_estimate('orders30');
SELECT gp_report('orders30') LIKE '%orders30%';
CALL gp_refresh('orders30');
SELECT message ~ '^nodes \d+, labelled \d+, facts \d+, as before$' AS told FROM gp_refreshes WHERE model = 'orders30';
-- One that finds less than half of the facts can be refused
BEGIN;
DELETE FROM items;
DELETE FROM orders WHERE id % 3 > 0;
SET LOCAL gnngp.refresh_guard = on;
CALL gp_refresh('orders30');
ROLLBACK;

-- A column, whose own value is not shown
SELECT gp_create_task('returned', 'shop', target => 'orders.returned');
SELECT nodes = (SELECT count(*) FROM orders WHERE returned IS NULL), relations, loo_score > 0.8 AS told_by_earlier_orders FROM gp_fit('returned');
UPDATE orders SET returned = random() < 0.5 WHERE returned IS NOT NULL;
SELECT abs(loo_score) < 0.2 AS chance FROM gp_fit('returned', landmarks => 100);
SELECT count(*) FROM gp_predict('returned') AS s JOIN gp_predict_live('returned', ARRAY(SELECT id FROM orders WHERE returned IS NULL)) AS l USING (node)
WHERE abs(s.score - l.score) > 1e-3;

-- Labels that the future gives away, and nothing else: a fact at t itself, a parent that is later than its child,
-- a label whose window is open, a time that is NULL, a column that is written when the answer is known
CREATE TABLE people (id integer PRIMARY KEY);
CREATE TABLE verdicts (id integer PRIMARY KEY, decided_at timestamp NOT NULL, verdict integer);
CREATE TABLE visits (id integer PRIMARY KEY, person integer NOT NULL REFERENCES people, at timestamp NOT NULL, verdict integer REFERENCES verdicts, closed_at timestamp);
CREATE TABLE ends (id integer PRIMARY KEY, person integer NOT NULL REFERENCES people, at timestamp, answer integer);
CREATE TABLE asked (person integer NOT NULL REFERENCES people, at timestamp NOT NULL, y integer);
INSERT INTO people SELECT generate_series(1, 80);
SELECT setseed(0.3) IS NULL;
INSERT INTO asked SELECT p, timestamp '2024-01-01' + m * interval '7 days', (random() < 0.5)::integer FROM generate_series(1, 80) p, generate_series(1, 20) m;
INSERT INTO verdicts SELECT row_number() OVER (ORDER BY person, at), at + interval '1 day', y FROM asked;
INSERT INTO visits SELECT v.id, a.person, a.at - interval '1 hour', v.id, CASE WHEN a.y = 1 THEN a.at + interval '3 days' END
FROM (SELECT *, row_number() OVER (ORDER BY person, at) AS n FROM asked) AS a JOIN verdicts AS v ON v.id = a.n;
INSERT INTO ends SELECT row_number() OVER (), person, at, y FROM asked;
INSERT INTO ends SELECT 10000 + row_number() OVER (), person, NULL, y FROM asked;
SELECT try($$SELECT gp_create_graph('leaks', tables => '{people,verdicts,visits,ends}', times => '{"visits": "at", "ends": "nowhere"}')$$);
SELECT gp_create_graph('leaks', tables => '{people,verdicts,visits,ends}', times => '{"visits": "at", "ends": "at"}');
SELECT gp_create_task('guess', 'leaks', labels => 'asked', entity => 'person', target => 'y', horizon => '10 days');
SELECT labelled, loo_score < 0.1 AS chance, forward_score < 0.1 AS chance FROM gp_fit('guess', landmarks => 100);
SELECT round(value::numeric, 1) FROM gp_evaluate('guess') WHERE metric = 'roc_auc';
-- The same facts a moment before are seen
UPDATE ends SET at = at - interval '1 microsecond' WHERE at IS NOT NULL;
SELECT loo_score > 0.5 AS told FROM gp_fit('guess', landmarks => 100);
-- A time zone is that of the graph, whoever fits
SET timezone = 'Asia/Tokyo';
SELECT loo_score > 0.5 AS told FROM gp_fit('guess', landmarks => 100);
SELECT min(as_of) FROM gp_task_rows('guess');
SET timezone = 'UTC';

-- Hostile names
CREATE TABLE "a""b; DROP TABLE x" ("i'd"" --" integer PRIMARY KEY, "x(y" real, "at" timestamptz NOT NULL);
CREATE TABLE "select" ("from" integer NOT NULL REFERENCES "a""b; DROP TABLE x", "at""" timestamptz NOT NULL, "v'" text, "w,." integer);
CREATE FUNCTION bad(timestamptz, timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run'; END $$;
CREATE OPERATOR <= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = bad);
INSERT INTO "a""b; DROP TABLE x" SELECT i, i % 5, '2024-01-01' FROM generate_series(1, 50) i;
INSERT INTO "select" SELECT 1 + k % 50, timestamptz '2024-02-01' + k * interval '1 hour', 'v' || k % 3, k % 7 FROM generate_series(1, 2000) k;
SELECT gp_create_graph('a "graph''', tables => ARRAY['"a""b; DROP TABLE x"', '"select"']::regclass[], exclude => '{"select.w,."}');
SELECT * FROM gp_relations('a "graph''');
SELECT gp_create_task('t''"', 'a "graph''', '"a""b; DROP TABLE x"'::regclass, target => '(SELECT max(s."v''") FROM "select" AS s WHERE s."from" = e."i''d"" --" AND s."at""" > t)',
    horizon => '7 days', every => '3 days');
SELECT labelled > 100, relations FROM gp_fit('t''"');
DROP OPERATOR schema_test.<= (timestamptz, timestamptz);

-- What cannot be asked
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers'::regclass, target => '1) FROM customers; DROP TABLE items; --', horizon => '1 day')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers'::regclass, target => 'e.id, e.id', horizon => '1 day')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers'::regclass, target => 'random() < 0.5', horizon => '1 day')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers'::regclass, target => 'e.nothing', horizon => '1 day')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers'::regclass, target => 'true', horizon => '1 day', filter => '1')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers'::regclass, target => 'true', horizon => '-1 day')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'orders.nothing')$$);
SELECT try($$SELECT gp_create_task('x', 'nowhere', 'orders.returned')$$);
SELECT try($$SELECT gp_create_task('returned', 'shop', 'orders.returned')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'items.quantity'); SELECT gp_fit('x')$$);
CREATE TABLE parcels (id integer PRIMARY KEY, sent_at timestamp NOT NULL, due_at timestamp NOT NULL);
SELECT try($$SELECT gp_create_graph('two', tables => '{parcels}')$$);
SELECT try($$SELECT gp_create_graph('two', tables => '{customers,orders}', times => '{"orders": "id"}')$$);
SELECT try($$SELECT gp_create_graph('two', tables => '{people}', keys => '{"people.id": "nowhere.id"}')$$);
SELECT try($$SELECT gp_create_graph('two', tables => '{people}', exclude => '{people.nothing}')$$);
SELECT try($$SELECT gp_fit('shop')$$);
SELECT try($$SELECT gp_fit('orders30', kernel => 'gcn')$$);
SELECT try($$SELECT gp_fit_links('orders30')$$);
SELECT try($$SELECT gp_backtest('nothing')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'customers', target => 'true')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', 'orders', 'returned')$$);
SELECT try(format($$SELECT gp_create_task('x', 'shop', entity => 'customers', target => %L, horizon => '1 day')$$, e))
FROM unnest(ARRAY['now() > t', '(SELECT current_date > t)', 'age(t) > horizon', 't < date ''Today''', $$t < '2020-01-01' OR 'now' > t + horizon$$]) AS e;
SELECT try($$SELECT gp_create_task('x', 'shop', labels => 'orders', entity => 'custmer_id', target => 'returned')$$);
SELECT try($$SELECT gp_set_owner('orders30', 'postgres')$$);
SELECT try($$SELECT gp_predict_live('orders30', ARRAY[1], given_nodes => ARRAY[2], given_classes => ARRAY['true'])$$);

-- A value is the same number whatever its type
SELECT gp_create_task('n_' || x, 'shop', entity => 'customers', horizon => '30 days', target =>
    '(SELECT count(*) - 3 FROM orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t AND o.ordered_at <= t + horizon)::' || x)
FROM unnest('{smallint,integer,bigint,real,float8,numeric}'::text[]) AS x;
SELECT count(DISTINCT round((SELECT loo_score FROM gp_fit('n_' || x, task => 'regression', landmarks => 50))::numeric, 6))
FROM unnest('{smallint,integer,bigint,real,float8,numeric}'::text[]) AS x;
SELECT min(target::float8) < 0 AS negative FROM gp_task_rows('n_bigint');
-- What no label is, no prediction is: below 0
SELECT gp_create_task('cubes', 'shop', entity => 'customers', horizon => '30 days', target =>
    '(SELECT count(*) ^ 3 FROM orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t AND o.ordered_at <= t + horizon)');
SELECT loo_score > 0 AS told FROM gp_fit('cubes', task => 'regression');
SELECT min(score) AS least, min(lower) AS lowest, (SELECT min(score) FROM gp_loo('cubes')) AS loo,
       (SELECT min(score) FROM gp_predict_live('cubes', ARRAY(SELECT id FROM customers), as_of => '2024-12-01')) AS live,
       (SELECT min(lower) < 0 FROM gp_predict_sets('n_bigint')) AS negative
FROM gp_predict('cubes') JOIN gp_predict_sets('cubes') USING (node);
SELECT gp_drop_graph('cubes');
SELECT gp_drop_graph('n_' || x) FROM unnest('{smallint,integer,bigint,real,float8,numeric}'::text[]) AS x;
-- Sums of amounts, NULLs among them, take part in a value and in no class; live answers know them
CREATE TABLE payments AS SELECT customer_id, ordered_at AS at, CASE WHEN id % 7 > 0 THEN round((9 * exp(id * 37 % 101 / 40.0))::numeric, 2) END AS amount FROM orders;
ALTER TABLE payments ALTER at SET NOT NULL, ADD FOREIGN KEY (customer_id) REFERENCES customers;
SELECT gp_create_graph('paid', '{customers,payments}');
SELECT gp_create_task(name, 'paid', 'customers', target, horizon => '30 days') FROM (VALUES
    ('spends', '(SELECT coalesce(sum(p.amount), 0) FROM payments AS p WHERE p.customer_id = e.id AND p.at > t AND p.at <= t + horizon)'),
    ('pays', '(SELECT sum(p.amount) > 300 FROM payments AS p WHERE p.customer_id = e.id AND p.at > t AND p.at <= t + horizon)')) AS x (name, target);
SELECT name, (SELECT loo_score > 0 FROM gp_fit(name)) AS told FROM unnest('{spends,pays}'::text[]) AS name;
SELECT name, (SELECT count(*) FROM gp_explain(name, 9, k => 100) WHERE relation = 'payments.customer_id' AND aggregate = 'decayed sum') AS sums
FROM unnest('{spends,pays}'::text[]) AS name;
SELECT count(*), max(abs(l.score - p.score) / sqrt(p.variance)) < 1e-4 AS same FROM gp_predict('spends') AS p
    JOIN gp_predict_live('spends', ARRAY(SELECT id FROM customers), as_of => (SELECT max(at) + interval '1 microsecond' FROM payments)) AS l USING (node);
SELECT gp_drop_graph(name) FROM unnest('{spends,pays,paid}'::text[]) AS name;

-- A graph and its models follow what is renamed: live answers, and labels that find their entity by a column's name
SELECT gp_fit('orders30') IS NOT NULL;
CREATE TABLE marks AS SELECT id AS customer_id, timestamptz '2024-10-01' AS at, id % 2 AS mark FROM customers;
SELECT gp_create_task('marks', 'shop', labels => 'marks', entity => 'customer_id', target => 'mark', time_column => 'at', horizon => '30 days');
CREATE TABLE before AS SELECT * FROM gp_predict_live('orders30', ARRAY[1, 2, 3], as_of => '2024-11-01');
SELECT abs(sum(share) - (SELECT score FROM before WHERE node = 2)) < 1e-6 AS adds_up FROM gp_explain('orders30', 2, (SELECT class FROM before WHERE node = 2), as_of => '2024-11-01');
ALTER TABLE orders RENAME customer_id TO who;
ALTER TABLE marks RENAME customer_id TO who;
SELECT count(*) FROM before JOIN gp_predict_live('orders30', ARRAY[1, 2, 3], as_of => '2024-11-01') AS l USING (node) WHERE before.score = l.score;
-- A row without an entity is no row of one that is not there
INSERT INTO marks VALUES (NULL, '2024-10-01', 1);
SELECT labelled FROM gp_fit('marks');
-- Expressions do not: gp_graphs says so, and gp_alter_task takes the new names
SELECT graph, problem FROM gp_graphs WHERE problem IS NOT NULL;
SELECT try($$SELECT gp_fit('orders30')$$);
SELECT gp_alter_task('orders30', target => replace(asks, 'o.customer_id', 'o.who'), filter => 'e.id <> 8') FROM gp_graphs WHERE graph = 'orders30';
SELECT count(DISTINCT node), count(*) FILTER (WHERE node = 8) FROM gp_task_rows('orders30');
SELECT try($$SELECT gp_alter_task('marks', horizon => '10 days')$$);
ALTER TABLE orders RENAME who TO customer_id;
SELECT gp_alter_task('orders30', target => replace(asks, 'o.who', 'o.customer_id'), filter => '1 / (e.id - 7) > -9') FROM gp_graphs WHERE graph = 'orders30';
-- A filter that fails ends no answer, for which it does not count
SELECT count(*) FROM gp_predict_live('orders30', 7, as_of => '2024-11-01');
-- Nor does one beside parallel workers
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT p.node, o.n > 0 AS orders FROM (SELECT count(*) AS n FROM orders) AS o, gp_predict_live('orders30', 7, as_of => '2024-11-01') AS p;
COMMIT;
-- Expressions that stay keep the path that they were written under
SET search_path = public;
SELECT gp_alter_task('orders30', horizon => '30 days');
SET search_path = schema_test, public;
SELECT gp_alter_task('orders30', filter => 'e.id <> 7');
SELECT try($$SELECT gp_create_task('x', 'shop', labels => 'marks', target => 'mark')$$);
SELECT try($$SELECT gp_create_task('x', 'shop', labels => 'marks', target => 'mark', time_column => 'at', horizon => '30 days')$$);
SELECT gp_drop_graph('marks');

-- A new column that is left out changes no answer
ALTER TABLE orders ADD note text;
SELECT try($$SELECT * FROM gp_predict_live('orders30', ARRAY[1])$$);
SELECT gp_alter_graph('shop', exclude => '{orders.note}');
SELECT count(*) FROM before JOIN gp_predict_live('orders30', ARRAY[1, 2, 3], as_of => '2024-11-01') AS l USING (node) WHERE before.score = l.score;

-- Altering, dropping
SELECT gp_alter_graph('shop', exclude => '{orders.channel}');
SELECT try($$SELECT * FROM gp_predict_live('orders30', ARRAY[1])$$);
SELECT graph, asks FROM gp_graphs WHERE graph IN ('shop', 'orders30', 'returned') ORDER BY graph;
-- What was given makes the same again
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE TEMP TABLE made AS SELECT graph, definition FROM gp_graphs;
SELECT gp_drop_graph(graph) FROM made WHERE definition LIKE '%gp_create_graph%';
SELECT definition FROM made ORDER BY definition COLLATE "C" \gexec
SELECT count(*) = (SELECT count(*) FROM made) FROM gp_graphs JOIN made USING (graph, definition);
ROLLBACK;
SELECT gp_drop_graph('returned');
SELECT gp_drop_graph('shop');
SELECT gp_drop_graph('leaks');
SELECT gp_drop_graph('a "graph''');
SELECT count(*) FROM gp_graphs;
SET client_min_messages = warning;
DROP SCHEMA schema_test CASCADE;
