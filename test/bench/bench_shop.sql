-- bench_shop.sql - a question of a generated shop: the fit, the predictions of its customers, one live answer.
--
--   psql -v customers=1000000 -v labels=100000 -f test/bench/bench_shop.sql
--
-- Orders come at a rate of the customer's own until he leaves; each has 2 to 3 items, so that a million
-- customers have some 10 million facts.  Times are psql's; the sorts are those that PostgreSQL makes alone for the orders of two relations.
\set ON_ERROR_STOP on
\timing off
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bench_shop CASCADE;
CREATE SCHEMA bench_shop;
SET search_path = bench_shop, public;
SET timezone = 'UTC';
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph = 'bench_shop';
SELECT setseed(0.5) IS NULL AS seeded \gset
CREATE TABLE customers (id integer PRIMARY KEY, joined_at timestamptz NOT NULL, region text, age integer);
CREATE TABLE products (id integer PRIMARY KEY, price numeric NOT NULL, category text);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers,
    ordered_at timestamptz NOT NULL, channel text);
CREATE TABLE items (order_id integer NOT NULL REFERENCES orders, product_id integer NOT NULL REFERENCES products,
    quantity integer);
INSERT INTO customers SELECT i, '2022-01-01'::timestamptz + random() * interval '300 days', 'r' || i % 7, 18 + i % 60
FROM generate_series(1, :customers) AS i;
INSERT INTO products SELECT i, 1 + i % 97, 'c' || i % 12 FROM generate_series(1, 5000) AS i;
-- The k-th order of a customer: the first ones alone of those who leave early
INSERT INTO orders SELECT row_number() OVER (), id, at, CASE WHEN random() < 0.3 THEN 'shop' ELSE 'web' END
FROM (SELECT c.id, c.joined_at + (k + random()) * (60 + c.id % 300) * interval '1 day' AS at,
             c.joined_at + hashint4(c.id)::float8 / 2147483648.0 * interval '400 days' + interval '600 days' AS leaves
      FROM customers AS c CROSS JOIN generate_series(0, 17) AS k) AS o
WHERE at < least(leaves, '2025-01-01');
INSERT INTO items SELECT id, 1 + (id * 7 + k * 31) % 5000, 1 + id % 3 FROM orders CROSS JOIN generate_series(0, 2) AS k
WHERE k < 2 + id % 2;
CREATE INDEX ON orders (customer_id, ordered_at);
CREATE INDEX ON items (order_id);
ANALYZE;
SELECT (SELECT count(*) FROM customers) AS customers, (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM items) AS items;
SELECT gp_create_graph('bench_shop', tables => '{customers,products,orders,items}');
SELECT gp_create_task('bench_churn', 'bench_shop', entity => 'customers', horizon => '60 days', rows => :labels,
    target => $$ NOT EXISTS (SELECT FROM orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t AND o.ordered_at <= t + horizon) $$,
    filter => $$ EXISTS (SELECT FROM orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t - interval '180 days' AND o.ordered_at <= t) $$);
SELECT gp_create_task('bench_all', 'bench_shop', entity => 'customers', horizon => '60 days', rows => :labels,
    target => $$ NOT EXISTS (SELECT FROM orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t AND o.ordered_at <= t + horizon) $$);
\timing on
\echo sorts
SELECT count(*) FROM (SELECT customer_id, ordered_at FROM orders ORDER BY 1, 2 OFFSET 0) AS o;
SELECT count(*) FROM (SELECT i.order_id, o.ordered_at, i.product_id FROM items AS i JOIN orders AS o ON o.id = i.order_id ORDER BY 1, 2 OFFSET 0) AS i;
\echo fit
SELECT nodes, labelled, relations, facts, features, loo_score, forward_score, seconds, pg_size_pretty(peak_bytes) AS memory
FROM gp_fit('bench_churn');
\echo predictions
SELECT count(*) FROM gp_predict('bench_churn');
\echo fit, and all customers predicted
SELECT nodes, labelled, seconds, pg_size_pretty(peak_bytes) AS memory FROM gp_fit('bench_all');
\timing off
\echo live
DO $$
DECLARE began timestamptz;
BEGIN
    PERFORM gp_predict_live('bench_churn', ARRAY[1]);
    began := clock_timestamp();
    FOR i IN 1 .. 100 LOOP
        PERFORM gp_predict_live('bench_churn', ARRAY[i]);
    END LOOP;
    RAISE WARNING 'live: % ms a call', round(extract(epoch FROM clock_timestamp() - began)::numeric * 10, 1);
END $$;
