-- tables.sql - the package graph as ordinary tables.
--
-- Staged are raw_packages (name, section, description) and raw_needs
-- (package, needed, suggested).  What comes out is a database such as anybody may have:
--
--   packages      one row a package; section is NULL where it is to be found out
--   depends       src needs dst
--   suggests      src suggests dst, which no graph sees: to judge links by
--   package_words the words of each package's description, rows of length one
--   answers       the sections that were hidden, to judge the predictions by

BEGIN;

-- Statistics first: plans must not depend on when autovacuum comes by.
ANALYZE raw_packages, raw_needs;

-- Nine names in ten lose their section: those whose hash does not end in 0.
CREATE TABLE packages AS
    SELECT row_number() OVER (ORDER BY name COLLATE "C") AS id,
           name,
           CASE WHEN ('x' || left(md5(name), 6))::bit(24)::integer % 10 = 0 THEN section END AS section,
           description
    FROM raw_packages;
ALTER TABLE packages ADD PRIMARY KEY (id);
ALTER TABLE packages ADD UNIQUE (name);
ANALYZE packages;

CREATE TABLE answers AS
    SELECT p.id, r.section
    FROM packages p JOIN raw_packages r USING (name)
    WHERE p.section IS NULL;
ALTER TABLE answers ADD PRIMARY KEY (id);

-- Names that no package bears (virtual packages) lead nowhere.
CREATE TABLE depends AS
    SELECT DISTINCT p.id AS src, d.id AS dst
    FROM raw_needs n
        JOIN packages p ON p.name = n.package
        JOIN packages d ON d.name = n.needed
    WHERE p.id <> d.id AND NOT n.suggested;
ALTER TABLE depends ADD PRIMARY KEY (src, dst);
ANALYZE depends;

CREATE TABLE suggests AS
    SELECT p.id AS src, d.id AS dst
    FROM raw_needs n
        JOIN packages p ON p.name = n.package
        JOIN packages d ON d.name = n.needed
    WHERE p.id <> d.id AND n.suggested
    EXCEPT SELECT src, dst FROM depends;
ALTER TABLE suggests ADD PRIMARY KEY (src, dst);

-- The 1,000 commonest words, each row scaled to length one.
CREATE TABLE package_words AS
    WITH words AS (
        SELECT DISTINCT id, w[1] AS word
        FROM packages, regexp_matches(lower(description), '[a-z0-9]+', 'g') AS w
    ), vocabulary AS (
        SELECT word, row_number() OVER (ORDER BY count(*) DESC, word COLLATE "C") - 1 AS number
        FROM words GROUP BY word
        ORDER BY number LIMIT 1000
    )
    SELECT id AS package, number AS word, (1 / sqrt(count(*) OVER (PARTITION BY id)))::real AS value
    FROM words JOIN vocabulary USING (word);
ALTER TABLE package_words ADD PRIMARY KEY (package, word);

DROP TABLE raw_packages, raw_needs;
COMMIT;
ANALYZE;
