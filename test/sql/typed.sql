-- Tables without time: a column is told by what rows refer to, and by the rows beside them
SET client_min_messages = warning;
CREATE SCHEMA typed_test;
SET search_path = typed_test, public;
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try.sql'
\i :include
CREATE TABLE venues (name text PRIMARY KEY);
CREATE TABLE authors (id integer PRIMARY KEY);
CREATE TABLE papers (id text PRIMARY KEY, venue text REFERENCES venues, pages integer, topic text);
CREATE TABLE writes (paper text REFERENCES papers, author integer REFERENCES authors);
INSERT INTO venues SELECT 'venue ' || i FROM generate_series(0, 9) i;
INSERT INTO authors SELECT i FROM generate_series(0, 29) i;
-- Authors keep to a topic, mostly, and half of the venues do
CREATE FUNCTION draw(i bigint, seed bigint, n bigint) RETURNS bigint LANGUAGE sql AS 'SELECT (hashint8extended(i, seed) & 1048575) % n';
INSERT INTO papers SELECT 'p' || i, 'venue ' || CASE WHEN draw(i, 1, 2) = 0 THEN draw(i, 2, 10) ELSE draw(i, 0, 3) + 3 * draw(i, 3, 3) END,
    draw(i, 4, 7), (ARRAY['a', 'b', 'c'])[1 + draw(i, 0, 3)]
FROM generate_series(1, 300) i;
INSERT INTO writes SELECT DISTINCT 'p' || i, CASE WHEN draw(i, 10 + k, 5) = 0 THEN draw(i, 20 + k, 30) ELSE draw(i, 0, 3) + 3 * draw(i, 30 + k, 10) END
FROM generate_series(1, 300) i, generate_series(1, 2) k;
CREATE TABLE truth AS SELECT id, topic FROM papers;
UPDATE papers SET topic = NULL WHERE substr(id, 2)::integer % 5 = 0;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
SELECT gp_create_graph('library', tables => '{papers,authors,venues,writes}');
SELECT gp_create_task('topic', 'library', 'papers.topic');
SELECT task, nodes, features > 0 AS columns, classes, labelled, landmarks, facts, rows, loo_score > 0.6 AS well, alternatives FROM gp_fit('topic');
SELECT avg((class = topic)::integer) > 0.8 FROM gp_predict('topic', NULL::text) JOIN truth ON id = node;
SELECT count(*), sum((predicted = target)::integer) > 210 FROM gp_loo('topic', NULL::text);
SELECT metric FROM gp_evaluate('topic') WHERE value IS NOT NULL ORDER BY metric;
SELECT count(*) FROM gp_predict_sets('topic', NULL::text);
SELECT gp_report('topic') LIKE '%topic%';
SELECT count(*) FROM gp_backtest('topic');
-- Two texts of one hash that is not a digest are two things to it
BEGIN;
INSERT INTO venues VALUES ('Journal of Tests'), ('qdyfqmlpERTtr(NM'), ('qdyfqmlpERTtr(NN');
INSERT INTO papers SELECT 'j' || i, 'Journal of Tests', 3, 'c' FROM generate_series(1, 40) i;
INSERT INTO papers VALUES ('forged', 'qdyfqmlpERTtr(NM', 3), ('honest', 'qdyfqmlpERTtr(NN', 3);
CALL gp_refresh('topic');
SELECT abs(max(score) - min(score)) < 1e-5 FROM gp_predict('topic', ARRAY['forged', 'honest']);
SELECT abs(max(score) - min(score)) < 1e-5 FROM gp_predict_live('topic', ARRAY['forged', 'honest']);
ROLLBACK;
-- Live answers are those of the fit; terms of the kernel add up to the score
SELECT count(*), max(abs(l.score - p.score)) < 1e-5 AND max(abs(l.variance - p.variance)) < 1e-5 AS same
FROM gp_predict_live('topic', ARRAY(SELECT id FROM papers WHERE topic IS NULL), top => NULL) AS l
    JOIN gp_predict('topic', NULL::text, top => NULL) AS p USING (node, class);
SELECT e.class, e.relation, e.aggregate FROM gp_explain('topic', 'p10', k => NULL) AS e ORDER BY e.relation, e.aggregate;
SELECT abs(sum(e.share) - max(p.score)) < 1e-5 FROM gp_explain('topic', 'p10', k => 2) AS e, gp_predict('topic', 'p10') AS p;
SELECT count(*) FROM gp_predict_live('topic', ARRAY['p10'], as_of => now());
SELECT try($$SELECT * FROM gp_predict_live('topic', ARRAY['nobody'])$$);
-- The order of rows is the same to it
CREATE TEMP TABLE before AS SELECT * FROM gp_predict('topic', NULL::text, top => NULL);
CREATE TEMP TABLE again AS SELECT * FROM writes ORDER BY author DESC, paper;
TRUNCATE writes;
INSERT INTO writes SELECT * FROM again;
-- Builds with assertions refuse a refresh whose snapshot is taken early, for parallel workers of a query of the catalog
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CALL gp_refresh('topic');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT count(*) FROM before AS b JOIN gp_predict('topic', NULL::text, top => NULL) AS p USING (node, class) WHERE p.score <> b.score;
-- A row that is new is told by what it refers to, also where landmarks are gone; its own label does not show
BEGIN;
INSERT INTO papers VALUES ('new', 'venue 3', 4, 'b');
INSERT INTO writes VALUES ('new', 0), ('new', 3), ('new', 27);
SELECT class, score BETWEEN 0.5 AND 1.2, variance BETWEEN 0 AND 0.2 FROM gp_predict_live('topic', 'new');
CREATE TEMP TABLE shown AS SELECT * FROM gp_predict_live('topic', 'new', top => NULL);
UPDATE papers SET topic = 'c';
SELECT count(*) FROM shown AS s JOIN gp_predict_live('topic', 'new', top => NULL) AS l USING (node, class) WHERE l.score <> s.score;
DELETE FROM writes WHERE paper IN ('p1', 'p2', 'p3');
DELETE FROM papers WHERE id IN ('p1', 'p2', 'p3');
SELECT class, score BETWEEN 0.5 AND 1.2, variance BETWEEN 0 AND 0.2 FROM gp_predict_live('topic', 'new');
ROLLBACK;
-- A row's own label says nothing of it: where nobody shares anything, no label is told
BEGIN;
CREATE TABLE alone (id integer PRIMARY KEY, author integer REFERENCES authors, topic text);
INSERT INTO authors SELECT i FROM generate_series(1000, 1099) i;
INSERT INTO alone SELECT i, 999 + i, CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END FROM generate_series(1, 100) i;
SELECT gp_create_graph('lonely', tables => '{alone,authors}');
SELECT gp_create_task('lonely_topic', 'lonely', 'alone.topic');
SELECT loo_score < 0.05 AS nothing FROM gp_fit('lonely_topic');
-- Where every row has its label, there is none to predict
SELECT count(*) FROM gp_predict('lonely_topic', 1);
SELECT count(*) FROM gp_predict_sets('lonely_topic', ARRAY[1, 2]);
-- A column that is a foreign key is the answer, and so are the columns of what it refers to
ALTER TABLE authors ADD flag boolean;
UPDATE authors SET flag = id % 2 = 0;
UPDATE alone SET author = 1000 + id % 2;
SELECT gp_create_task('lonely_author', 'lonely', 'alone.author');
SELECT gp_alter_graph('lonely', exclude => '{alone.topic}');
SELECT try($$SELECT * FROM gp_fit('lonely_author')$$);
ROLLBACK;
-- Of a row that refers to nothing and has no columns, what all labels say: in the fit and live
CREATE TABLE apart (id integer PRIMARY KEY, author integer REFERENCES authors, topic text, price real);
INSERT INTO apart SELECT i, i % 10, CASE WHEN i % 10 < 6 THEN 'x' WHEN i % 10 < 9 THEN 'y' ELSE 'z' END, i % 10 FROM generate_series(1, 100) i;
INSERT INTO apart VALUES (101);
SELECT gp_create_graph('apart', tables => '{apart,authors}', exclude => '{apart.price}');
SELECT gp_create_task('apart_topic', 'apart', 'apart.topic');
SELECT loo_score > 0.9 AS well FROM gp_fit('apart_topic');
SELECT class, round(probability::numeric, 6) AS share FROM gp_predict('apart_topic', 101, top => 3) JOIN gp_predict_live('apart_topic', 101, top => 3) AS l USING (class, probability, variance) ORDER BY class;
SELECT gp_alter_graph('apart', exclude => '{apart.topic}');
SELECT gp_create_task('apart_price', 'apart', 'apart.price');
SELECT loo_score > 0.9 AS well FROM gp_fit('apart_price');
SELECT score::real AS mean, variance::real BETWEEN 8 AND 9 AS spread FROM gp_predict('apart_price', 101) JOIN gp_predict_live('apart_price', 101) AS l USING (score, variance);
SELECT gp_drop_graph('apart');
-- Values, and columns of the rows beside a row
CREATE TABLE houses (id integer PRIMARY KEY, street integer, size real, price real);
CREATE TABLE streets (id integer PRIMARY KEY, town integer);
INSERT INTO streets SELECT i, i % 4 FROM generate_series(0, 39) i;
INSERT INTO houses SELECT i, i % 40, i % 17, i % 40 * 10 + i % 17 * 3 FROM generate_series(1, 400) i;
UPDATE houses SET price = NULL WHERE id % 7 = 0;
SELECT gp_create_graph('town', tables => '{houses,streets}', keys => '{"houses.street": "streets.id"}');
SELECT gp_create_task('price', 'town', 'houses.price');
SELECT task, labelled, nodes, loo_score > 0.9 AS well FROM gp_fit('price');
-- Of rows with times, none of the future is seen: neither by the fit nor as of an earlier time
CREATE TABLE goods (id integer PRIMARY KEY);
CREATE TABLE customers (id integer PRIMARY KEY, kind text, born date);
CREATE TABLE orders (customer integer NOT NULL REFERENCES customers, good integer NOT NULL REFERENCES goods, at timestamptz NOT NULL);
INSERT INTO goods SELECT generate_series(0, 19);
INSERT INTO customers SELECT i, CASE WHEN i % 4 > 0 THEN (ARRAY['u', 'v'])[1 + i % 2] END, date '2023-01-01' + i FROM generate_series(1, 200) i;
INSERT INTO orders SELECT 1 + i % 200, (1 + i % 200) % 2 * 10 + draw(i, 40, 10), timestamptz '2024-01-01 UTC' + i * interval '3 hours' FROM generate_series(1, 1000) i;
INSERT INTO customers VALUES (201, NULL);
INSERT INTO orders SELECT 201, g, '2031-01-01 UTC' FROM generate_series(10, 19) g;
SELECT gp_create_graph('shop', tables => '{customers,goods,orders}', times => '{"customers": null}');
SELECT gp_create_task('kind', 'shop', 'customers.kind');
SELECT task, loo_score > 0.9 AS well FROM gp_fit('kind');
SELECT sum((class = 'u')::integer) BETWEEN 45 AND 50, max(score) FILTER (WHERE node = 201) < 0.6 FROM gp_predict('kind', NULL::integer);
SELECT min(probability) > 0.4 AND max(probability) < 0.6 FROM gp_predict_live('kind', ARRAY(SELECT id FROM customers WHERE kind IS NULL), as_of => '2020-01-01 UTC');
CREATE TEMP TABLE former AS SELECT * FROM gp_predict_live('kind', 8, as_of => '2025-01-01 UTC');
INSERT INTO orders SELECT 8, g, '2031-01-01 UTC' FROM generate_series(10, 19) g;
SELECT count(*) FROM former AS f JOIN gp_predict_live('kind', 8, as_of => '2025-01-01 UTC') AS l USING (node, class) WHERE l.score = f.score;
-- Ages stay those of the fit unless a time is asked for, and what has come since is seen
SELECT count(*), max(abs(l.score - p.score)) < 1e-5 FROM gp_predict_live('kind', ARRAY(SELECT id FROM customers WHERE kind IS NULL)) AS l JOIN gp_predict('kind', NULL::integer) AS p USING (node, class);
INSERT INTO customers VALUES (202, NULL);
INSERT INTO orders SELECT 202, g, '2024-06-01 UTC' FROM generate_series(10, 19) g;
SELECT class, score > 0.7 FROM gp_predict_live('kind', 202);
-- A view whose rows change from one reading to the next: there is a row while a lock is held, which reading it ends
CREATE VIEW seen AS SELECT * FROM houses WHERE id <> 7 OR pg_advisory_unlock(34);
SELECT gp_create_graph('views', tables => '{seen,streets}', keys => '{"seen.street": "streets.id"}');
SELECT gp_create_task('seen', 'views', 'seen.price');
SET client_min_messages = error;
SELECT labelled FROM gp_fit('seen');
SELECT pg_advisory_lock(34) IS NULL;
SELECT try($$SELECT * FROM gp_predict_live('seen', 7)$$);
RESET client_min_messages;
-- Nothing to tell rows apart
CREATE TABLE bare (id integer PRIMARY KEY, label boolean);
INSERT INTO bare SELECT i, i % 2 = 0 FROM generate_series(1, 20) i;
SELECT gp_create_graph('bare', tables => '{bare}');
SELECT gp_create_task('label', 'bare', 'bare.label');
SELECT try($$SELECT * FROM gp_fit('label')$$);
SELECT gp_drop_graph('library'), gp_drop_graph('town'), gp_drop_graph('bare'), gp_drop_graph('shop'), gp_drop_graph('views');
SET client_min_messages = warning;
DROP SCHEMA typed_test CASCADE;
