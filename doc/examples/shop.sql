-- shop.sql - which customers will not come back within 30 days: \i shop.sql
--
-- Makes the schema example_shop, fits, predicts, backtests, explains.  At the end:
--   SELECT gp_drop_graph('example_shop'); DROP SCHEMA example_shop CASCADE;
\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS gnngp;
CREATE SCHEMA example_shop;
SET search_path = example_shop, public;
SELECT setseed(0.3) \g (format=unaligned tuples_only=on) /dev/null

CREATE TABLE customers (id integer PRIMARY KEY, city text, joined date NOT NULL);
CREATE TABLE products (id integer PRIMARY KEY, kind text, price numeric);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer REFERENCES customers, at timestamptz NOT NULL, channel text);
CREATE TABLE items (order_id integer REFERENCES orders, product_id integer REFERENCES products, quantity integer);

-- A customer has a habit, the mean number of days between two orders, and leaves one day: sooner with an order of toys.
INSERT INTO products SELECT i, (ARRAY['books', 'food', 'tools', 'toys'])[1 + i % 4], 5 + i % 40 FROM generate_series(1, 200) AS i;
INSERT INTO customers
SELECT i, (ARRAY['Bonn', 'Lyon', 'Oslo', 'Pisa'])[1 + (4 * random() ^ 2)::integer % 4], date '2024-01-01' + (500 * random())::integer
FROM generate_series(1, 1500) AS i;
CREATE TEMP TABLE habits AS
SELECT id, 5 + 25 * random() AS days, 60 + 400 * -ln(random()) AS stays, (random() < 0.3)::integer AS toys FROM customers;
INSERT INTO orders
SELECT row_number() OVER (ORDER BY at), id, at, (ARRAY['app', 'web', 'phone'])[1 + (2.5 * random())::integer]
FROM (SELECT id, joined + days * interval '1 day' * sum(-ln(random())) OVER (PARTITION BY id ORDER BY k) AS at,
             joined + stays * interval '1 day' / (1 + toys) AS until
      FROM customers JOIN habits USING (id), generate_series(1, 150) AS k) AS o
WHERE at < least(until, timestamptz '2026-01-01');
INSERT INTO items
SELECT o.id, CASE WHEN h.toys = 1 AND random() < 0.6 THEN 3 + 4 * (49 * random())::integer ELSE 1 + (199 * random())::integer END,
       1 + (3 * random() ^ 2)::integer
FROM orders AS o JOIN habits AS h ON h.id = o.customer_id, generate_series(1, 2);
CREATE INDEX ON orders (customer_id, at);
CREATE INDEX ON items (order_id);
ANALYZE;

\echo 'Name the tables: foreign keys and times come from the catalog.  Look at what was understood.'
SELECT gp_create_graph('example_shop', ARRAY['customers', 'orders', 'items', 'products']::regclass[]);
SELECT relation, child, parent, child_time FROM gp_relations('example_shop');

\echo 'Ask: no order within 30 days?  e is the customer, t the time as of which.'
SELECT gp_create_task('example_leaves', 'example_shop', 'customers',
    $$NOT EXISTS (SELECT FROM example_shop.orders AS o
                  WHERE o.customer_id = e.id AND o.at > t AND o.at <= t + horizon)$$,
    horizon => '30 days',
    filter => $$EXISTS (SELECT FROM example_shop.orders AS o
                        WHERE o.customer_id = e.id AND o.at > t - interval '90 days' AND o.at < t)$$);
SELECT target, count(*) FROM gp_task_rows('example_leaves') GROUP BY target;

\echo 'Fit, judge on other times, predict.'
SELECT kernel, labelled, round(loo_score::numeric, 3) AS loo_score, round(seconds::numeric, 1) AS seconds FROM gp_fit('example_leaves');
SELECT since::date, until::date, labelled, round(value::numeric, 3) AS roc_auc
FROM gp_backtest('example_leaves') WHERE metric = 'roc_auc';
SELECT node, round(probability::numeric, 2) AS leaves FROM gp_predict('example_leaves', class => 'true') LIMIT 5;

\echo 'Why the first one?  The facts that made its score.'
SELECT relation, aggregate, round(share::numeric, 3) AS share
FROM gp_explain('example_leaves', (SELECT node FROM gp_predict('example_leaves', class => 'true') LIMIT 1), 'true', k => 5);
RESET search_path;
