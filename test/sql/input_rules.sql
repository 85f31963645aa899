-- Every kind of bad input: its SQLSTATE, its message, and that nothing is stored.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA input_rules;
SET search_path = input_rules, public;

\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_detail.sql'
\i :include

CREATE TABLE n (id integer, f real[], f8 float8[], a integer, b numeric, label text, y float8, u uuid);
CREATE TABLE e (src integer, dst bigint, w numeric, tsrc text, tdst text);
CREATE TABLE s (node integer, k bigint, v float8);
INSERT INTO n SELECT i, array[i, 1, 0]::real[], array[i, 2], i, i * 2.5,
                     CASE WHEN i % 3 = 0 THEN 'c' || i % 2 END, CASE WHEN i < 5 THEN i * 1.5 END,
                     md5(i::text)::uuid
              FROM generate_series(10, 1, -1) i;
INSERT INTO e SELECT i, i + 1, i, 'n' || i, 'n' || (i + 1) FROM generate_series(1, 9) i;
INSERT INTO s SELECT i, i * 3, 1.5 FROM generate_series(1, 10) i;

SELECT gp_create_graph('plain', 'n', 'e', target => 'label');
SELECT gp_create_graph('arrays', 'n', 'e', features => '{f}', target => 'label');
SELECT gp_create_graph('arrays8', 'n', 'e', features => '{f8}', target => 'label');
SELECT gp_create_graph('columns', 'n', 'e', features => '{a,b}', target => 'label');
SELECT gp_create_graph('weighted', 'n', 'e', target => 'label', weight => 'w');
SELECT gp_create_graph('sparse', 'n', 'e', target => 'label', sparse_features => 's');
SELECT gp_create_graph('values', 'n', 'e', target => 'y');
SELECT gp_create_graph('uuids', 'n', 'e', target => 'u');
SELECT gp_create_graph('untargeted', 'n', 'e');

-- ids
BEGIN; INSERT INTO n (id) VALUES (NULL); SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; INSERT INTO n (id) VALUES (7), (3), (9); SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; DELETE FROM n; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;

-- ends of edges
BEGIN; UPDATE e SET src = NULL WHERE src IN (4, 5); SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; UPDATE e SET dst = NULL WHERE src = 4; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; UPDATE e SET src = 100 - src WHERE src > 6; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; UPDATE e SET dst = 10000000000 WHERE src > 6; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;

-- ids as text
CREATE VIEW tn AS SELECT 'n' || id AS id, label FROM n;
CREATE VIEW te AS SELECT tsrc AS src, tdst AS dst FROM e;
SELECT gp_create_graph('texts', 'tn', 'te', target => 'label');
BEGIN; INSERT INTO n (id) VALUES (7), (3), (7); SELECT try($$SELECT gp_fit('texts')$$); ROLLBACK;
BEGIN; UPDATE e SET tdst = 'm' || tdst WHERE src > 6; SELECT try($$SELECT gp_fit('texts')$$); ROLLBACK;
BEGIN; UPDATE e SET tdst = NULL WHERE src > 6; SELECT try($$SELECT gp_fit('texts')$$); ROLLBACK;

-- weights
BEGIN; UPDATE e SET w = -1 WHERE src > 6; SELECT try($$SELECT gp_fit('weighted')$$); ROLLBACK;
BEGIN; UPDATE e SET w = NULL WHERE src > 6; SELECT try($$SELECT gp_fit('weighted')$$); ROLLBACK;
BEGIN; UPDATE e SET w = 'NaN' WHERE src > 6; SELECT try($$SELECT gp_fit('weighted')$$); ROLLBACK;
BEGIN; ALTER TABLE e ALTER w TYPE float8; UPDATE e SET w = 'Infinity' WHERE src > 6; SELECT try($$SELECT gp_fit('weighted')$$); ROLLBACK;

BEGIN; UPDATE e SET w = 1e400 WHERE src > 6; SELECT try($$SELECT gp_fit('weighted')$$); ROLLBACK;

-- features in an array
BEGIN; UPDATE n SET f = NULL WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; UPDATE n SET f = '{1,NULL,2}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; UPDATE n SET f = '{1,NaN,2}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; UPDATE n SET f = '{1,2,-Infinity}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; UPDATE n SET f8 = '{1,1e300}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays8')$$); ROLLBACK;
BEGIN; UPDATE n SET f = '{1,2,3,4}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; UPDATE n SET f = '{}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; UPDATE n SET f = '{{1,2},{3,4}}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;

BEGIN; ALTER TABLE n ALTER f8 TYPE numeric[]; UPDATE n SET f8 = '{1,-1e400}' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('arrays8')$$); ROLLBACK;

-- features in several columns
BEGIN; UPDATE n SET b = 'NaN' WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('columns')$$); ROLLBACK;
BEGIN; UPDATE n SET b = 1e100 WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('columns')$$); ROLLBACK;
BEGIN; UPDATE n SET b = -1e400 WHERE id IN (8, 4); SELECT try($$SELECT gp_fit('columns')$$); ROLLBACK;

-- sparse features
BEGIN; INSERT INTO s VALUES (8, 24, 1), (4, 12, 2); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET k = -k WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; ALTER TABLE s ALTER k TYPE numeric; UPDATE s SET k = 1.5 WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET k = 1e12 WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET k = NULL WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET v = NULL WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET v = 'NaN' WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET v = 1e39 WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET node = node + 50 WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; UPDATE s SET node = NULL WHERE node IN (8, 4); SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; DELETE FROM s; SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;

-- targets
BEGIN; UPDATE n SET label = NULL; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; UPDATE n SET y = 'NaN' WHERE id IN (3, 2); SELECT try($$SELECT gp_fit('values')$$); ROLLBACK;
BEGIN; UPDATE n SET y = '-Infinity' WHERE id IN (3, 2); SELECT try($$SELECT gp_fit('values')$$); ROLLBACK;
BEGIN; ALTER TABLE n ALTER y TYPE numeric; UPDATE n SET y = 1e400 WHERE id IN (3, 2); SELECT try($$SELECT gp_fit('values')$$); ROLLBACK;
SELECT try($$SELECT gp_fit('plain', task => 'regression')$$);
SELECT try($$SELECT gp_fit('uuids')$$);
SELECT try($$SELECT gp_fit('untargeted')$$);
BEGIN;
INSERT INTO n (id, label) SELECT i, 'x' || i FROM generate_series(11, 65550) i;
SELECT try($$SELECT gp_fit('plain')$$);
ROLLBACK;

-- tables and columns that are gone
BEGIN; ALTER TABLE n DROP label CASCADE; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; DROP TABLE s; SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;

-- columns that were given another type
BEGIN; ALTER TABLE e ALTER src TYPE numeric; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; DROP VIEW tn; ALTER TABLE n ALTER id TYPE text; SELECT try($$SELECT gp_fit('plain')$$); ROLLBACK;
BEGIN; ALTER TABLE e ALTER w TYPE text; SELECT try($$SELECT gp_fit('weighted')$$); ROLLBACK;
BEGIN; ALTER TABLE n ALTER f TYPE text; SELECT try($$SELECT gp_fit('arrays')$$); ROLLBACK;
BEGIN; ALTER TABLE n ALTER a TYPE text; SELECT try($$SELECT gp_fit('columns')$$); ROLLBACK;
BEGIN; ALTER TABLE s ALTER v TYPE text; SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; ALTER TABLE s ALTER node TYPE text; SELECT try($$SELECT gp_fit('sparse')$$); ROLLBACK;
BEGIN; DROP VIEW tn; ALTER TABLE n ALTER id TYPE bigint; ALTER TABLE e ALTER src TYPE smallint;
SET LOCAL client_min_messages = warning; SELECT nodes, edges FROM gp_fit('plain', nugget => 0.1); ROLLBACK;

-- arguments
SELECT try($$SELECT gp_fit(NULL)$$);
SELECT try($$SELECT gp_fit('nowhere')$$);
SELECT try($$SELECT gp_fit('plain', task => 'ranking')$$);
SELECT try($$SELECT gp_fit('plain', task => NULL)$$);
SELECT try($$SELECT gp_fit('plain', strategy => 'fast')$$);
SELECT try($$SELECT gp_fit('plain', landmarks => 0)$$);
SELECT try($$SELECT gp_fit('plain', nugget => 0)$$);
SELECT try($$SELECT gp_fit('plain', nugget => 'NaN')$$);
SELECT try($$SELECT gp_fit('plain', nugget => 'Infinity')$$);
SELECT try($$SELECT gp_fit('plain', kernel => NULL)$$);
SELECT try($$SELECT gp_fit('plain', seed => NULL)$$);
SELECT try($$SELECT * FROM gp_tune('plain', criterion => 'luck')$$);
SELECT try($$SELECT * FROM gp_tune('plain', kernels => '{}')$$);
SELECT try($$SELECT * FROM gp_tune('plain', kernels => '{NULL}')$$);
SELECT try($$SELECT * FROM gp_estimate('plain', strategy => 'fast')$$);
SELECT try($$SELECT * FROM gp_predict('nowhere')$$);
SELECT try($$SELECT * FROM gp_predict(NULL)$$);
SELECT try($$SELECT * FROM gp_evaluate('nowhere')$$);
BEGIN READ ONLY; SELECT gp_fit('plain'); ROLLBACK;

-- A target in which most labelled rows have a class of their own is no class, unless it is said to be; names are quoted once
CREATE TABLE "Products" AS SELECT i AS id, i * 7 AS price, 'product ' || i AS name, i % 3 AS kind FROM generate_series(1, 30) i;
CREATE TABLE "Bought" AS SELECT i AS src, i % 30 + 1 AS dst FROM generate_series(1, 30) i;
SELECT gp_create_graph('prices', '"Products"', '"Bought"', target => 'price');
SELECT try($$SELECT gp_fit('prices')$$);
SELECT try($$SELECT gp_tune('prices')$$);
SELECT kernel, loo_score IS NOT NULL AS judged, strategy FROM gp_tune('prices', '{gcn}', task => 'regression'), gp_estimate('prices', task => 'regression');
BEGIN; SELECT task, classes FROM gp_fit('prices', task => 'classification', nugget => 0.1); ROLLBACK;
BEGIN; SELECT task, classes FROM gp_fit('prices', task => 'regression', nugget => 0.1); ROLLBACK;
SELECT gp_create_graph('names', '"Products"', '"Bought"', target => 'name'), gp_create_graph('kinds', '"Products"', '"Bought"', target => 'kind');
SELECT try($$SELECT gp_fit('names')$$);
BEGIN; SELECT task, classes FROM gp_fit('kinds', nugget => 0.1); ROLLBACK;
SELECT gp_drop_graph('prices'), gp_drop_graph('names'), gp_drop_graph('kinds');

-- The same tables without these faults are fine, and nothing was stored before.
SELECT count(*) FROM gp_models;
SELECT count(*) FROM gnngp_internal.gp_block;
SET client_min_messages = warning;
SELECT task, nodes, edges, features, classes, labelled FROM gp_fit('arrays');
SELECT count(*) FROM gp_models;

SELECT gp_drop_graph(graph) FROM gp_graphs ORDER BY graph;
DROP SCHEMA input_rules CASCADE;
