-- gp_alter_graph, tables that were replaced, and features of unlike scales
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA alter;
SET search_path = alter, public;
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include
CREATE TABLE people AS SELECT i AS id, 'p' || i AS name, i % 7 AS a, i * 1000.0 AS b, 5 AS c, ARRAY[i % 7, i % 3]::real[] AS x,
    CASE WHEN i % 3 > 0 THEN i % 2 END AS kind, CASE WHEN i % 3 > 0 THEN i * 1.5 END AS worth FROM generate_series(1, 60) i;
CREATE TABLE knows AS SELECT i AS src, i % 60 + 1 AS dst, 1.0 AS w, 'p' || i AS a, 'p' || (i % 60 + 1) AS b FROM generate_series(1, 60) i;
SELECT gp_create_graph('g', 'people', 'knows', target => 'kind', features => '{x}');
SELECT model, features, task FROM gp_fit('g', nugget => 0.1);
CREATE ROLE alter_reader;
SELECT gp_grant('g', 'alter_reader');

-- What is given changes, the rest stays; models and grants stay and go on answering
SELECT gp_alter_graph('g', features => '{a,b}', weight => 'w', scale => 'none');
SELECT nodes, edges, id, features, target, src, dst, weight, directed, sparse_features, scale, problem FROM gp_graphs;
SELECT count(*) FROM gp_predict('g');
CALL gp_refresh('g');
SELECT model, features, task FROM gp_models;
SELECT gp_alter_graph('g', features => '{}', weight => '', directed => true);
SELECT features, weight, directed FROM gp_graphs;
SELECT gp_alter_graph('g', directed => false);
SELECT count(*) FROM gnngp_internal.gp_grant_catalog;

-- Two changes in one statement, whose snapshot the second is not bound to
SELECT gp_alter_graph('g', weight => 'w'), gp_alter_graph('g', directed => true);
SELECT features, weight, directed FROM gp_graphs;
SELECT gp_alter_graph('g', weight => '', directed => false);

-- Ids of another type: the next refresh takes them
SELECT gp_alter_graph('g', id => 'name', src => 'a', dst => 'b');
SELECT count(*) FROM gp_predict('g', 5);
CALL gp_refresh('g');
SELECT try($$SELECT * FROM gp_predict('g', 5)$$);
SELECT count(*) FROM gp_predict('g', 'p5');

-- Another graph's model is not ended by mistake, and a kernel does not stand where the model's name does
SELECT gp_create_graph('other', 'people', 'knows', target => 'kind');
SELECT try($$SELECT gp_fit('other', 'g')$$);
SELECT try($$SELECT gp_fit('other', 'SAGE')$$);
SELECT try($$SELECT gp_fit('other', 'mlp(layers=3)')$$);
SELECT try($$SELECT gp_fit_links('other', 'laplacian')$$);
BEGIN;
SELECT model, kernel FROM gp_fit('other', 'sage', kernel => 'sage', nugget => 0.1);
SELECT model FROM gp_fit('other', 'g', nugget => 0.1, replace => true);
SELECT model FROM gp_fit('other', 'g', nugget => 0.1);
SELECT try($$SELECT gp_fit('g')$$);
SELECT model, graph FROM gp_models ORDER BY model;
SET client_min_messages = notice;
SELECT gp_drop_graph('other');
SET client_min_messages = warning;
ROLLBACK;
SELECT gp_drop_graph('other');

-- What cannot be is refused, and nothing changes
SELECT try($$SELECT gp_alter_graph('g', id => 'nothing')$$);
SELECT try($$SELECT gp_alter_graph('g', src => 'w')$$);
SELECT try($$SELECT gp_alter_graph('g', edges => 'people')$$);
SELECT try($$SELECT gp_alter_graph('g', features => '{a}', sparse_features => 'knows')$$);
SELECT try($$SELECT gp_alter_graph('g', scale => 'large')$$);
SELECT try($$SELECT gp_alter_graph('g', scale => 'standard', sparse_features => 'knows')$$);
SELECT try($$SELECT gp_alter_graph('nowhere', scale => 'none')$$);
SELECT try($$SELECT gp_alter_graph(NULL)$$);
GRANT USAGE ON SCHEMA alter TO alter_reader;
SET ROLE alter_reader;
SELECT try($$SELECT gp_alter_graph('g', scale => 'none')$$);
RESET ROLE;
BEGIN READ ONLY; SELECT try($$SELECT gp_alter_graph('g', scale => 'none')$$); ROLLBACK;
SELECT id, src, dst FROM gp_graphs;

-- A table that was replaced under its name, by a migration
SELECT gp_alter_graph('g', id => 'id', src => 'src', dst => 'dst', features => '{x}', scale => 'auto');
CREATE TABLE people_new AS SELECT id, kind, x FROM people UNION ALL SELECT 61, NULL, '{1,2}';
ALTER TABLE people RENAME TO people_old;
SELECT nodes, problem FROM gp_graphs;
SELECT try($$CALL gp_refresh('g')$$);
ALTER TABLE people_new RENAME TO people;
SELECT nodes, problem FROM gp_graphs;
SELECT try($$SELECT gp_fit('g')$$);
SELECT count(*) FROM gp_predict('g', 'p5'::text);
SELECT gp_alter_graph('g', nodes => 'people');
SELECT nodes, problem FROM gp_graphs;
CALL gp_refresh('g');
SELECT count(*) FROM gp_predict('g');
DROP TABLE knows;
SELECT edges, problem FROM gp_graphs;
SELECT try($$SELECT gp_fit('g')$$);
CREATE TABLE knows AS SELECT i AS src, i % 60 + 1 AS dst FROM generate_series(1, 60) i;
SELECT edges, problem FROM gp_graphs;
SELECT try($$SELECT gp_fit('g')$$);
SELECT gp_alter_graph('g', edges => 'knows');
SELECT model FROM gp_fit('g', nugget => 0.1);
SELECT gp_drop_graph('g');

-- All remarks come in one notice
SET client_min_messages = notice;
\set VERBOSITY default
CREATE TABLE few AS SELECT id, CASE WHEN id < 3 THEN 'only' END AS kind, a, b FROM people_old;
SELECT gp_create_graph('few', 'few', 'knows', target => 'kind', features => '{a,b}', scale => 'none');
SELECT model FROM gp_fit('few');
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT gp_drop_graph('few');

-- Several columns are standardised, whatever their units; constants do not count
CREATE TABLE scaled AS SELECT id, kind, (a - avg(a) OVER ()) / stddev_pop(a) OVER () AS a, (b - avg(b) OVER ()) / stddev_pop(b) OVER () AS b, 0 AS c,
    a / sqrt(a * a + b * b) AS la, b / sqrt(a * a + b * b) AS lb FROM people_old;
CREATE FUNCTION differ(graph text, other text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN max(abs(p.score - q.score)) < 1e-4 AND count(*) = 60 THEN 'the same' ELSE 'others' END
    FROM gp_predict(graph) p JOIN gp_predict(other) q USING (node, class)
$$;
SELECT gp_create_graph('auto', 'people_old', 'knows', target => 'kind', features => '{a,b,c}'),
       gp_create_graph('standard', 'people_old', 'knows', target => 'kind', features => '{a,b,c}', scale => 'standard'),
       gp_create_graph('hand', 'scaled', 'knows', target => 'kind', features => '{a,b,c}', scale => 'none'),
       gp_create_graph('none', 'people_old', 'knows', target => 'kind', features => '{a,b}', scale => 'none'),
       gp_create_graph('length', 'people_old', 'knows', target => 'kind', features => '{a,b}', scale => 'length'),
       gp_create_graph('hand length', 'scaled', 'knows', target => 'kind', features => '{la,lb}', scale => 'none'),
       gp_create_graph('array', 'people_old', 'knows', target => 'kind', features => '{x}'),
       gp_create_graph('plain array', 'people_old', 'knows', target => 'kind', features => '{x}', scale => 'none'),
       gp_create_graph('standard array', 'people_old', 'knows', target => 'kind', features => '{x}', scale => 'STANDARD');
SET client_min_messages = notice;
SELECT model FROM unnest('{auto,standard,hand,none,length,hand length,array,plain array,standard array}'::text[]) g, gp_fit(g, kernel => 'rbf(gamma=0.2)', nugget => 0.1);
-- An array is taken as it is, but a NOTICE names what all nodes share.
CREATE VIEW shifted AS SELECT id, kind, ARRAY(SELECT v + 100 FROM unnest(x) AS v) AS x FROM people_old;
SELECT gp_create_graph('shifted', 'shifted', 'knows', target => 'kind', features => '{x}');
SELECT model FROM gp_fit('shifted', kernel => 'gcn', nugget => 0.1);
SELECT gp_alter_graph('shifted', scale => 'none');
SELECT model FROM gp_fit('shifted', kernel => 'gcn', nugget => 0.1, replace => true);
SELECT gp_drop_graph('shifted');
DROP VIEW shifted;
-- Not where the first of them are alike, as in a table that was filled group by group.
CREATE TABLE grouped AS SELECT i AS id, CASE WHEN i % 9 = 0 THEN i % 2 END AS kind, ARRAY[CASE WHEN i <= 1000 THEN 100 + i % 2 ELSE 500 * sin(i) END, i % 3]::real[] AS x FROM generate_series(1, 3000) AS i;
CREATE TABLE grouped_edges AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 2999) AS i;
SELECT gp_create_graph('grouped', 'grouped', 'grouped_edges', target => 'kind', features => '{x}');
SELECT model FROM gp_fit('grouped', kernel => 'mlp', nugget => 0.1, landmarks => 30);
DROP TABLE grouped_edges;
-- A table that is gone is named as it was.
SELECT gp_alter_graph('grouped', scale => 'none');
SELECT gp_drop_graph('grouped');
DROP TABLE grouped;
SET client_min_messages = warning;
SELECT differ('auto', 'standard'), differ('auto', 'hand'), differ('auto', 'none'), differ('length', 'hand length'),
       differ('array', 'plain array'), differ('array', 'standard array');
-- Large numbers with small differences keep them
CREATE TABLE stamped AS SELECT id, kind, 1.7e9 + a AS a, 1.7e9 + b / 1000 AS b FROM people_old;
SELECT gp_create_graph('stamped', 'stamped', 'knows', target => 'kind', features => '{a,b}');
SELECT model FROM gp_fit('stamped', kernel => 'rbf(gamma=0.2)', nugget => 0.1);
SELECT gp_alter_graph('auto', features => '{a,b}');
SELECT model FROM gp_fit('auto', kernel => 'rbf(gamma=0.2)', nugget => 0.1);
SELECT differ('stamped', 'auto');

SELECT count(gp_drop_graph(graph)::text) FROM gp_graphs;
DROP SCHEMA alter CASCADE;
DROP ROLE alter_reader;
