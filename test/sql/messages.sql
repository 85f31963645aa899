-- Errors, hints and notices that say what is meant, by the names that users know
CREATE SCHEMA messages;
SET search_path = messages, public;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE DOMAIN kid AS integer;
CREATE TABLE k AS SELECT i AS id, i % 2 AS y, ARRAY[i, i % 3]::real[] AS x FROM generate_series(1, 20) i;
CREATE TABLE e AS SELECT i AS src, i % 20 + 1 AS dst FROM generate_series(1, 20) i;
SELECT gp_create_graph('k', 'k', 'e', target => 'y');
SELECT model FROM gp_fit('k', kernel => 'gcn', nugget => 1);

-- A text that is no id: of the type that the column has
SELECT gp_predict('k', 'x');

-- Integers are ids of type numeric, one of which they may be; not all of them are integers
CREATE TABLE kq AS SELECT CASE WHEN id = 20 THEN 2.5 ELSE -id END::numeric AS id, y FROM k;
CREATE TABLE eq AS SELECT CASE WHEN src = 20 THEN 2.5 ELSE -src END::numeric AS src, CASE WHEN dst = 20 THEN 2.5 ELSE -dst END::numeric AS dst FROM e;
SELECT gp_create_graph('kq', 'kq', 'eq', target => 'y');
SELECT model FROM gp_fit('kq', kernel => 'gcn', nugget => 1);
SELECT node, pg_typeof(node) FROM gp_predict('kq', -5);
SELECT node, pg_typeof(node) FROM gp_predict('kq', ARRAY[-5, -6, 7]) ORDER BY node;
SELECT node, pg_typeof(node) FROM gp_predict('kq', nodes => '{-5}');
SELECT node, pg_typeof(node) FROM gp_predict('kq', 2.5);
SELECT node, pg_typeof(node) FROM gp_predict('kq', '2.5');
SELECT gp_predict('kq', NULL::integer);
SELECT model FROM gp_fit_links('kq');
SELECT gp_predict_links('kq', -18, k => NULL);
SELECT gp_predict('kq', 5::real);

-- Arrays of a domain over an integer type need no cast, and may have one
CREATE TABLE kd AS SELECT id::kid AS id, y FROM k;
SELECT gp_create_graph('kd', 'kd', 'e', target => 'y');
SELECT model FROM gp_fit('kd', kernel => 'gcn', nugget => 1);
SELECT count(*) FROM gp_predict('kd', ARRAY(SELECT id FROM kd));
SELECT count(*), min(pg_typeof(node)::text) FROM gp_predict('kd', ARRAY(SELECT id FROM kd)::bigint[]);
SELECT count(*), min(pg_typeof(node)::text) FROM gp_loo('kd', ARRAY(SELECT id::integer FROM kd));
SELECT count(*), min(pg_typeof(node)::text) FROM gp_predict('kd', 5::kid);

-- PUBLIC in any case, as in GRANT, unless a role has that name
SELECT gp_grant('k', 'PUBLIC'), gp_grant('k', 'public');
SELECT grantee::text::name AS role FROM gnngp_internal.gp_grant_catalog;
SELECT gp_revoke('k', 'Public');
SELECT count(*) FROM gnngp_internal.gp_grant_catalog;
CREATE ROLE "PUBLIC";
SELECT gp_grant('k', 'PUBLIC');
SELECT grantee::text::name AS role FROM gnngp_internal.gp_grant_catalog;
SELECT gp_revoke('k', 'PUBLIC');
DROP ROLE "PUBLIC";

-- Tables by schema and name, each quoted where one needs it
SELECT gp_create_graph('bad', 'k', 'e', target => 'z');
CREATE SCHEMA "My App";
CREATE TABLE "My App"."Nodes ""Tab" AS TABLE k;
SELECT gp_create_graph('app', '"My App"."Nodes ""Tab"', 'e', target => 'z');
CREATE TABLE "Nodes" AS TABLE k;
SELECT gp_create_graph('app', 'Nodes', 'e', target => 'y');
SELECT gp_create_graph('app', '"My App"."Nodes ""Tab"', 'e', target => 'y');
INSERT INTO e VALUES (1, 99);
SELECT gp_fit('app');
DELETE FROM e WHERE dst = 99;

-- What a vector is not
SELECT gp_create_graph('vector', 'k', 'e', target => 'x');

-- Ends that are no ids any more, and a column that is gone
CREATE TABLE cn AS SELECT id, y FROM k;
SELECT gp_create_graph('cn', 'cn', 'e', target => 'y');
SELECT problem FROM gp_graphs WHERE graph IN ('cn', 'k', 'kd', 'kq');
-- A domain over a domain is its base type
CREATE DOMAIN small AS int CHECK (VALUE >= 0);
CREATE DOMAIN smaller AS small CHECK (VALUE < 1000);
CREATE TABLE dn (id smaller PRIMARY KEY, y text);
CREATE TABLE de (src int, dst bigint);
SELECT gp_create_graph('dn', 'dn', 'de', target => 'y');
SELECT problem IS NULL AS sound FROM gp_graphs WHERE graph = 'dn';
ALTER TABLE de ALTER dst TYPE text;
SELECT problem FROM gp_graphs WHERE graph = 'dn';
SELECT gp_drop_graph('dn');
DROP TABLE dn, de;
DROP DOMAIN smaller, small;
ALTER TABLE cn ALTER id TYPE text;
SELECT problem FROM gp_graphs WHERE graph = 'cn';
SELECT gp_fit('cn');
ALTER TABLE cn ALTER id TYPE bigint USING id::bigint;
SELECT problem FROM gp_graphs WHERE graph = 'cn';
ALTER TABLE cn DROP COLUMN y;
SELECT gp_fit('cn');

-- A fit of links that ends a model of another graph takes its predictions of nodes along
SET client_min_messages = notice;
SELECT model FROM gp_fit_links('kd', 'k', replace => true);
SELECT model FROM gp_fit('k', kernel => 'gcn', nugget => 1, replace => true);
SELECT model FROM gp_fit('kd', 'k', kernel => 'gcn', nugget => 1, replace => true);
SET client_min_messages = warning;

-- Kernels in a literal that is cut at commas; a text that is too long for any is not repeated
SELECT gp_tune('k', kernels => '{gcn(layers=2,sigma_b=.1),mlp}');
SELECT (repeat('A*', 3000) || 'X0')::gp_kernel;

-- Memory is told in megabytes everywhere
SET gnngp.memory_limit = '1MB';
CREATE TABLE many AS SELECT i AS id, i % 2 AS y FROM generate_series(1, 200000) i;
SET client_min_messages = error;
SELECT gp_create_graph('many', 'many', 'e', target => 'y');
SET client_min_messages = warning;
DO $$ BEGIN
    PERFORM gp_fit('many');
EXCEPTION WHEN configuration_limit_exceeded THEN
    RAISE WARNING '%', regexp_replace(sqlerrm, '[0-9.]+ MB', 'n MB', 'g');
END $$;
RESET gnngp.memory_limit;

-- One node that nothing reaches
CREATE TABLE island AS SELECT id, CASE WHEN id < 20 THEN y END AS y FROM k;
CREATE TABLE bridge AS SELECT * FROM e WHERE src < 19;
SELECT gp_create_graph('island', 'island', 'bridge', target => 'y');
SET client_min_messages = notice;
SELECT model FROM gp_fit('island', kernel => 'laplacian(sigma2=1)', nugget => 1);
SET client_min_messages = warning;

-- Names that are nearly right; a graph without a model, and one of tables
SELECT gp_fit('islands');
SELECT gp_predict('islnad');
SELECT gp_create_graph('whole', '{k,e}', keys => '{"e.src": "k.id"}');
SELECT gp_predict('whole');
CREATE TABLE half AS SELECT src, nullif(dst, 3) AS dst FROM e;
SELECT gp_create_graph('half', NULL, 'half');
SELECT gp_fit_links('half');
SELECT gp_predict('half');
CREATE VIEW whole AS SELECT * FROM half WHERE dst IS NOT NULL;
SELECT gp_alter_graph('half', edges => 'whole');
SELECT model FROM gp_fit_links('half', model => 'chance');
SELECT gp_predict('half');

-- What a task asks: errors point into the expression, and say what a time, a horizon or an integer is taken for
CREATE TABLE patient (id text PRIMARY KEY, plan text, pain int);
CREATE TABLE visit (id int PRIMARY KEY, patient text NOT NULL REFERENCES patient, at timestamptz NOT NULL, drugs int);
INSERT INTO patient SELECT i, 'plan ' || i % 2, i % 3 FROM generate_series(1, 30) i;
INSERT INTO visit SELECT i, 1 + i * 7 % 30, '2024-01-01'::timestamptz + i * interval '1 hour' + CASE WHEN i = 900 THEN interval '2 days' ELSE '0' END,
    CASE WHEN i < 800 THEN i % 5 END FROM generate_series(1, 900) i;
SELECT gp_create_graph('clinic', '{patient,visit}', exclude => '{pain}');
CREATE TABLE pains (id int PRIMARY KEY);
SELECT gp_create_graph('clinic', '{patient,visit,pains}', times => '{"pain": "at"}');
SELECT gp_create_graph('clinic', '{patient,visit}');
-- A view of labels has no foreign key: its column is named after the table
CREATE VIEW told AS SELECT id, id AS visits, id AS visit_id, at, drugs FROM visit;
SELECT gp_create_task('told', 'clinic', labels => 'told', entity => 'visits', target => 'drugs');
SELECT gp_create_task('told', 'clinic', labels => 'told', entity => 'id', target => 'drugs');
SELECT gp_create_task('told', 'clinic', labels => 'told', entity => 'visit_id', target => 'drugs');
SELECT gp_drop_graph('told');
\set SHOW_CONTEXT errors
SELECT gp_create_task('wrong', 'clinic', 'patient', 'SELECT count(*) FROM visit', horizon => '10 days');
SELECT gp_create_task('wrong', 'clinic', 'patient', 't > ''2024-01-02''', horizon => '10 days', filter => $$'no' <> e.plan AND e.plan = pro$$);
\set SHOW_CONTEXT never
SELECT gp_create_task('wrong', 'clinic', 'patient', '(SELECT min(at) FROM visit WHERE at > t)', horizon => '10 days');
SET client_min_messages = notice;
SELECT gp_create_task('short', 'clinic', 'patient', '(SELECT count(*) FROM visit WHERE at > t)', horizon => '30');
SELECT gp_fit('short');
SELECT gp_create_task('none', 'clinic', 'patient', '(SELECT max(drugs) FROM visit WHERE at < t AND at > t)', horizon => '10 days');
SELECT gp_fit('none');
-- A table that is read again for each label, for want of an index
CREATE TABLE bill AS SELECT i AS pain, timestamptz '2024-12-31' AS at, 'yes' AS paid FROM generate_series(0, 20000) i;
ANALYZE bill;
SELECT gp_create_task('bills', 'clinic', 'patient', 'EXISTS (SELECT FROM bill b WHERE b.pain = e.pain AND b.at > t AND b.paid <> t::text)', horizon => '1 day', every => '1 hour');
SELECT count(*) > 10000 FROM gp_task_rows('bills', NULL);
SELECT gp_create_task('once', 'clinic', 'patient', 'e.pain > (SELECT count(*) FROM bill WHERE pain = (SELECT min(pain) FROM patient))', horizon => '1 day', every => '1 hour');
SELECT count(*) > 10000 FROM gp_task_rows('once', NULL);
SELECT gp_drop_graph('once');
CREATE INDEX ON bill (pain, at);
SELECT count(*) > 10000 FROM gp_task_rows('bills', NULL);
SELECT gp_drop_graph('bills');
SELECT gp_create_task('drugs', 'clinic', 'visit.drgs');
SELECT gp_create_task('drugs', 'clinic', 'vist.drugs');
SELECT gp_create_task('drugs', 'clinic', 'visit.drugs');
SELECT labelled FROM gp_fit('drugs');
SET client_min_messages = warning;
SELECT gp_drop_graph('clinic');

-- Tables and columns that need quotes; types without an encoding, and how to ask for what they hold
CREATE TABLE "My App"."Room" (code text PRIMARY KEY, opened timestamptz NOT NULL, facts jsonb);
CREATE TABLE "My App"."Desk" (room text REFERENCES "My App"."Room", nr int, moved_at timestamp NOT NULL, paid_at timestamp, PRIMARY KEY (room, nr));
INSERT INTO "My App"."Room" SELECT i, timestamptz '2024-01-01' + i * interval '1 day' FROM generate_series(1, 20) i;
SET client_min_messages = notice;
SELECT gp_create_graph('rooms', ARRAY['"My App"."Room"', '"My App"."Desk"']::regclass[]);
SET client_min_messages = warning;
SELECT gp_create_task('paid', 'rooms', 'Desk.nr');
SELECT gp_create_task('paid', 'rooms', 'Room.facts');
ALTER TABLE "My App"."Desk" ADD id bigint GENERATED ALWAYS AS IDENTITY;
SELECT gp_create_task('paid', 'rooms', 'Desk.paid_at');
ALTER TABLE "My App"."Desk" ADD COLUMN paid_at_days float8 GENERATED ALWAYS AS (extract(epoch FROM paid_at - moved_at) / 86400) STORED;
SELECT gp_create_task('paid', 'rooms', 'Desk.paid_at_days');
SELECT gp_create_task('paid', 'rooms', 'Desk.paid_at_days');
SELECT gp_create_task('new', 'rooms', '"My App"."Room"', 'e.code > t::text', horizon => '1 day');
SELECT gp_create_task('new', 'rooms', '"My App"."Room"', 'e.code > t::text', horizon => '1 day');
SELECT gp_create_task('odd', 'rooms', 'Room.opened');
SELECT gp_create_task('odd', 'rooms', '"My App"."Room"', 'to_jsonb(e.code || t)', horizon => '1 day');
SELECT gp_alter_task('new', since => '2030-01-01');
SELECT gp_fit('new');
-- Rows that are asked about before nearly all of their facts; not where their time is named, or some come before, or at once
CREATE TABLE holder (id int PRIMARY KEY, since timestamptz NOT NULL, kind boolean);
CREATE TABLE move (holder int NOT NULL REFERENCES holder, at timestamptz NOT NULL);
INSERT INTO holder SELECT i, timestamptz '2024-01-01' + i * interval '1 day', CASE WHEN i % 3 > 0 THEN i % 2 = 0 END FROM generate_series(1, 60) i;
INSERT INTO move SELECT id, since + k * interval '1 hour' FROM holder, generate_series(1, 10) k;
SELECT gp_create_graph('holders', tables => '{holder,move}');
SELECT gp_create_task('kind', 'holders', 'holder.kind');
SET client_min_messages = notice;
SELECT labelled FROM gp_fit('kind');
SELECT FROM gp_alter_graph('holders', times => '{"holder": "since"}');
SELECT labelled FROM gp_fit('kind');
SELECT FROM gp_alter_graph('holders', times => '{}');
UPDATE move SET at = at - interval '2 hours';
SELECT labelled FROM gp_fit('kind');
UPDATE move SET at = (SELECT since FROM holder WHERE id = holder);
SELECT labelled FROM gp_fit('kind');
SET client_min_messages = warning;
SELECT gp_drop_graph('holders');
-- Names that are wrong, or cut short
SELECT gp_create_task('told', 'rooms', labels => '"My App"."Desk"', entity => 'rom', target => 'nr');
SELECT gp_create_task('told', 'rooms', labels => '"My App"."Desk"', entity => 'room', target => 'nr', time_column => 'mooved');
SELECT gp_alter_graph('rooms', keys => '{"Desk.room": "Room.co"}');

-- A query that is cancelled stands in the context with its beginning alone
CREATE TABLE worn (id integer PRIMARY KEY, described_by_somebody_who_likes_very_long_names_of_columns integer);
INSERT INTO worn VALUES (1, 1);
CREATE FUNCTION tired(integer) RETURNS integer LANGUAGE plpgsql AS $$BEGIN RAISE 'tired' USING ERRCODE = 'query_canceled'; END$$;
CREATE VIEW weary AS SELECT id, tired(described_by_somebody_who_likes_very_long_names_of_columns) AS described_by_somebody_who_likes_very_long_names_of_columns FROM worn;
SELECT gp_create_graph('weary', tables => '{weary}');
\set SHOW_CONTEXT errors
SELECT * FROM gp_columns('weary');
\set SHOW_CONTEXT never

SELECT gp_drop_graph(graph) FROM gp_graphs ORDER BY graph;
DROP SCHEMA messages, "My App" CASCADE;
