-- links.sql - what should 2,000 readers borrow next: \i links.sql
--
-- Makes the schema example_links, fits, predicts.  At the end:
--   SELECT gp_drop_graph('example_links'); DROP SCHEMA example_links CASCADE;
\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS gnngp;
CREATE SCHEMA example_links;
SET search_path = example_links, public;
SELECT setseed(0.2) \g (format=unaligned tuples_only=on) /dev/null

-- Readers and books have ids of their own kind: r1, r2, ... and b1, b2, ...
CREATE TABLE things AS
SELECT 'r' || i AS id FROM generate_series(1, 2000) AS i UNION ALL SELECT 'b' || i FROM generate_series(1, 500) AS i;
ALTER TABLE things ADD PRIMARY KEY (id);

-- A reader borrows ten books: seven of one of ten genres, popular ones more often.
CREATE TABLE borrowed AS
SELECT DISTINCT 'r' || r AS reader,
       'b' || 1 + CASE WHEN random() < 0.7 THEN r % 10 + 10 * floor(50 * random() ^ 2)::integer
                       ELSE floor(500 * random())::integer END AS book
FROM generate_series(1, 2000) AS r, generate_series(1, 10);
ALTER TABLE borrowed ADD PRIMARY KEY (reader, book);

-- Hide one loan of one reader in five, to see whether it is found.
CREATE TABLE hidden AS
SELECT DISTINCT ON (reader) reader, book FROM borrowed WHERE substr(reader, 2)::integer % 5 = 0 ORDER BY reader, random();
DELETE FROM borrowed USING hidden WHERE borrowed = hidden;
ANALYZE;

\echo 'Learn which links are there.'
SELECT * FROM gp_create_graph('example_links', nodes => 'things', edges => 'borrowed', src => 'reader', dst => 'book',
                       directed => true);
SELECT pairs, round(auc::numeric, 3) AS auc, round(seconds::numeric, 1) AS seconds FROM gp_fit_links('example_links');

\echo 'Suggestions for a reader; and how often the hidden loan is among twenty.'
SELECT dst AS book, round(probability::numeric, 3) AS probability FROM gp_predict_links('example_links', 'r5', k => 5);
SELECT count(*) AS hidden, round(avg((l.dst IS NOT NULL)::integer), 3) AS among_twenty
FROM hidden LEFT JOIN gp_predict_links('example_links', (SELECT array_agg(reader) FROM hidden), k => 20) AS l
    ON l.src = reader AND l.dst = book;
RESET search_path;
