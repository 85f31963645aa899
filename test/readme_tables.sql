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

-- A role to share with.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') THEN CREATE ROLE analyst; END IF;
END $$;
