-- readme_tables.sql - small tables under the names that README.md and
-- doc/tutorial.md use, so that their SQL can run.

CREATE TABLE packages AS
    SELECT i::bigint AS id, 'package-' || i AS name,
           CASE WHEN i % 4 = 0 THEN (ARRAY['games', 'libs', 'science'])[1 + i % 3] END AS section,
           'word' || i % 3 || ' thing' AS description
    FROM generate_series(1, 300) AS i;
ALTER TABLE packages ADD PRIMARY KEY (id);

CREATE TABLE answers AS
    SELECT id, (ARRAY['games', 'libs', 'science'])[1 + id % 3] AS section FROM packages WHERE section IS NULL;

CREATE TABLE depends AS
    SELECT id AS src, 1 + (id + 3 * k) % 300 AS dst FROM packages, generate_series(1, 3) AS k;

ALTER TABLE depends ADD PRIMARY KEY (src, dst);

CREATE TABLE suggests AS
    SELECT id AS src, 1 + (id + 2) % 300 AS dst FROM packages;

CREATE TABLE package_words AS
    SELECT id AS package, id % 3 + 3 * k AS word, 0.7::real AS value FROM packages, generate_series(0, 1) AS k;

\ir demo/people.sql

-- A shop: customers who order every few days, and leave one day.
CREATE TABLE customers AS
    SELECT i AS id, (ARRAY['Bonn', 'Lyon', 'Oslo'])[1 + i % 3] AS city, date '2025-01-01' + i % 90 AS joined
    FROM generate_series(1, 200) AS i;
CREATE TABLE products AS
    SELECT i AS id, (ARRAY['books', 'tools', 'toys'])[1 + i % 3] AS kind, 5.0 + i % 20 AS price FROM generate_series(1, 50) AS i;
CREATE TABLE orders AS
    SELECT row_number() OVER (ORDER BY c.id, k)::integer AS id, c.id AS customer_id,
           c.joined + (k * (4 + c.id % 20) + (k * c.id) % 5) * interval '1 day' AS at
    FROM customers AS c, generate_series(1, 20) AS k WHERE k * (4 + c.id % 20) < 60 + c.id * 37 % 240;
CREATE TABLE items AS
    SELECT id AS order_id, 1 + (id * 7 + k) % 50 AS product_id, 1 + id % 3 AS quantity FROM orders, generate_series(1, 2) AS k;
ALTER TABLE customers ADD PRIMARY KEY (id);
ALTER TABLE products ADD PRIMARY KEY (id);
ALTER TABLE orders ADD PRIMARY KEY (id), ADD FOREIGN KEY (customer_id) REFERENCES customers, ALTER at SET NOT NULL;
ALTER TABLE items ADD FOREIGN KEY (order_id) REFERENCES orders, ADD FOREIGN KEY (product_id) REFERENCES products;

-- A role to share with.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') THEN CREATE ROLE analyst; END IF;
END $$;
