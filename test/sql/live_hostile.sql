-- Live models whose tables are no longer what they were: an error each, and the session goes on.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA live_hostile;
SET search_path = live_hostile, public;
\pset format unaligned
\pset tuples_only on

\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try.sql'
\i :include

CREATE TABLE node AS SELECT i AS id, ARRAY[i % 3, i % 7, 1.0]::real[] AS shape, i % 5 AS a, i % 2 * 0.5 AS b,
                            CASE WHEN i % 4 = 0 THEN CASE WHEN i % 3 = 0 THEN 'red' ELSE 'green' END END AS colour
FROM generate_series(1, 80) i;
CREATE TABLE edge AS SELECT i AS src, i % 80 + 1 AS dst FROM generate_series(1, 80) i UNION ALL SELECT i, (i * 3) % 80 + 1 FROM generate_series(1, 80) i;
CREATE TABLE word AS SELECT n AS node, w AS word, sin(n * w)::float8 AS value FROM generate_series(1, 80) n, generate_series(1, 6) w;
CREATE INDEX ON node (id);
CREATE INDEX ON edge (src);
CREATE INDEX ON edge (dst);
CREATE INDEX ON word (node);
SELECT gp_create_graph('arr', 'node', 'edge', target => 'colour', features => '{shape}'),
       gp_create_graph('std', 'node', 'edge', target => 'colour', features => '{shape}', scale => 'standard'),
       gp_create_graph('cols', 'node', 'edge', target => 'colour', features => '{a,b}'),
       gp_create_graph('words', 'node', 'edge', target => 'colour', sparse_features => 'word');
SELECT count(gp_fit(g, kernel => 'gcn', live => true)) FROM unnest('{arr,std,cols}'::text[]) AS g;
SELECT count(gp_fit('words', m, kernel => k::gp_kernel, strategy => s, live => true))
FROM (VALUES ('wl', 'gcn', 'exact'), ('wr', 'gcn(input=rbf)', 'exact'), ('wn', 'gcn(input=rbf)', 'nystrom')) AS v(m, k, s);

-- A live state that is kept does not serve a model whose row was given other classes
SELECT count(*) FROM gp_predict_live('arr', 1);
BEGIN;
UPDATE gnngp_internal.gp_model_catalog SET classes = 1, class_labels = class_labels[1:1] WHERE name = 'arr';
SELECT try($$SELECT * FROM gp_predict_live('arr', ARRAY[1, 2, 3, 4], top => 9)$$);
ROLLBACK;

-- A state says that it has the exact diagonal, which its kernel cannot give
\set include :sources '/sql/include/seal.sql'
\i :include
BEGIN;
UPDATE gnngp_internal.gp_block AS b SET data = seal(overlay(b.data PLACING '\x000000000000f03f' FROM 93))
FROM gnngp_internal.gp_model_catalog AS m WHERE m.id = b.model AND m.name = 'wn' AND b.part = 'live' AND get_byte(b.data, 36) = 15;
SELECT try($$SELECT * FROM gp_predict_live('wn', 1)$$);
ROLLBACK;

-- A longer or a shorter array, where features are standardised and where they are not
INSERT INTO node (id, shape) VALUES (1000, array_fill(0.5::real, ARRAY[3000])), (1001, '{1,2}');
SELECT m, i, try(format('SELECT * FROM gp_predict_live(%L, %s)', m, i)) FROM unnest('{arr,std}'::text[]) AS m, unnest('{1000,1001}'::integer[]) AS i;
DELETE FROM node WHERE id >= 1000;

-- A feature that nobody had: it counts for nothing
CREATE TABLE was AS SELECT m, p.* FROM unnest('{wl,wr,wn}'::text[]) AS m, gp_predict_live(m, 1) AS p;
INSERT INTO word VALUES (3, 9, 0.0), (1, 400, 1e-6);
SELECT m, bool_and(abs(p.score - was.score) < 1e-4) AS near FROM was, LATERAL gp_predict_live(was.m, 1) AS p GROUP BY m ORDER BY m COLLATE "C";

-- Features of another type
CREATE TABLE shapes AS SELECT id, shape FROM node;
ALTER TABLE node DROP shape;
ALTER TABLE node ADD shape float8 DEFAULT 1;
SELECT m, try(format('SELECT * FROM gp_predict_live(%L, 1)', m)) FROM unnest('{arr,std}'::text[]) AS m;
ALTER TABLE node DROP shape;
ALTER TABLE node ADD shape real[];
UPDATE node SET shape = s.shape FROM shapes AS s WHERE s.id = node.id;

-- Labels that leave nothing, or no ordinary number
SELECT left(try($$SELECT * FROM gp_predict_live('cols', 1, given_nodes => (SELECT array_agg(id) FROM node WHERE colour IS NOT NULL),
    given_classes => (SELECT array_agg(NULL::text) FROM node WHERE colour IS NOT NULL))$$), 90);
CREATE VIEW number AS SELECT id, a, b, CASE WHEN id % 4 = 0 THEN a * 1.5 END AS y FROM node;
SELECT gp_create_graph('number', 'number', 'edge', target => 'y', features => '{a,b}');
SELECT count(gp_fit('number', kernel => 'gcn', live => true));
SELECT try($$SELECT * FROM gp_predict_live('number', 1, given_nodes => ARRAY[2], given_values => ARRAY[-1.7e308])$$);

-- Ids of another type
ALTER TABLE edge ALTER src TYPE text, ALTER dst TYPE text;
SELECT left(try($$SELECT * FROM gp_predict_live('cols', 1)$$), 60);
ALTER TABLE word ALTER node TYPE text;
DROP VIEW number CASCADE;
ALTER TABLE node ALTER id TYPE text;
SELECT m, try(format('SELECT * FROM gp_predict_live(%L, 1)', m)) FROM unnest('{cols,wl}'::text[]) AS m;

-- Nobody's view runs with the rights of a superuser
CREATE ROLE live_mallory;
GRANT CREATE, USAGE ON SCHEMA live_hostile TO live_mallory;
SET ROLE live_mallory;
CREATE TABLE mine AS SELECT i AS id, i % 3 AS a, CASE WHEN i % 2 = 0 THEN 'c' || i % 3 END AS y FROM generate_series(1, 30) i;
CREATE TABLE ends AS SELECT i AS src, i % 30 + 1 AS dst FROM generate_series(1, 30) i;
SELECT gp_create_graph('trap', 'mine', 'ends', target => 'y', features => '{a}');
SELECT gp_fit('trap', kernel => 'gcn', live => true) IS NOT NULL;
SELECT count(*) FROM gp_predict_live('trap', 1);
RESET ROLE;
SELECT try($$SELECT * FROM gp_predict_live('trap', 1)$$);
SELECT try($$SELECT * FROM gp_explain('trap', 1)$$);
SELECT current_setting('transaction_read_only');
SET ROLE live_mallory;
SELECT gp_drop_graph('trap');
RESET ROLE;
SELECT gp_drop_graph(g) FROM unnest('{arr,std,cols,words,number}'::text[]) AS g;
DROP OWNED BY live_mallory;
DROP ROLE live_mallory;
DROP SCHEMA live_hostile CASCADE;
