-- Ids whose texts depend on their type's length, on settings, or on how they were written.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA id_types;
SET search_path = id_types, public;
SET client_min_messages = warning;

-- Fits a path of ten nodes whose ids are made by an expression of i, reached
-- by edges of another type, and says how many edges came and who is found.
CREATE FUNCTION path(node_id text, edge_id text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    edges bigint; found bigint; same boolean; type_name text;
BEGIN
    EXECUTE format('CREATE TABLE n AS SELECT %s AS id, CASE WHEN i %% 2 = 0 THEN i / 5 END AS y FROM generate_series(1, 10) i', node_id);
    EXECUTE format('CREATE TABLE e AS SELECT a.id AS src, b.id AS dst FROM (SELECT i, %1$s AS id FROM generate_series(1, 9) i) a,
                    (SELECT i, %1$s AS id FROM generate_series(1, 10) i) b WHERE b.i = a.i + 1', edge_id);
    PERFORM gp_create_graph('path', 'n', 'e', target => 'y');
    SELECT f.edges INTO edges FROM gp_fit('path', nugget => 0.1) f;
    EXECUTE format('SELECT count(*), bool_and(p.node = n.id) FROM n, gp_predict(''path'', n.id::%s) p', type) INTO found, same;
    SELECT id_type INTO type_name FROM gnngp_internal.gp_model_catalog WHERE name = 'path';
    PERFORM gp_drop_graph('path');
    DROP TABLE n, e;
    RETURN format('%s: %s edges, %s found, %s', type_name, edges, found, CASE WHEN same THEN 'same' ELSE 'others' END);
END $$;

-- Types with a length
SELECT path($$('key ' || i)::char(8)$$, $$('key ' || i)::char(8)$$, 'char(8)');
SELECT path($$('key ' || i)::char(8)$$, $$'key ' || i$$, 'char(8)');
SELECT path($$('key ' || i)::char(8)$$, $$('key ' || i)::varchar$$, 'char(12)');
SELECT path($$('key ' || i)::varchar(8)$$, $$('key ' || i)::char(12)$$, 'varchar(8)');
SELECT path($$'key ' || i$$, $$('key ' || i)::char(8)$$, 'text');
SELECT path($$i::bit(8)$$, $$i::bit(8)$$, 'bit(8)');
SELECT path($$i::bit(8)$$, $$i::bit(8)::varbit$$, 'bit(8)');
CREATE DOMAIN short AS char(3);
SELECT path($$i::text::short$$, $$i::text$$, 'short');

-- Numbers that are equal are one id, however they are written
SELECT path($$i::numeric$$, $$i + 0.000$$, 'numeric');
SELECT path($$i * 1.50$$, $$i * 1.5$$, 'numeric(5,3)');
SELECT path($$i::numeric$$, $$i$$, 'numeric');
SELECT path($$(i - 5)::float8$$, $$-(5 - i)::float8$$, 'float8');
CREATE TABLE n (id numeric, y text);
CREATE TABLE e (src numeric, dst numeric);
INSERT INTO n VALUES (1, 'a'), (2, 'b'), (1.0, NULL);
SELECT gp_create_graph('numbers', 'n', 'e', target => 'y');
SELECT gp_fit('numbers');
SELECT gp_drop_graph('numbers');
DROP TABLE n, e;

-- Settings of the session change nothing
CREATE TABLE n AS SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '5 hours' AS id, (i * 1.25)::text::money AS price,
                         CASE WHEN i % 2 = 0 THEN i / 5 END AS y FROM generate_series(1, 10) i;
CREATE TABLE e AS SELECT id AS src, id + interval '5 hours' AS dst FROM n ORDER BY id LIMIT 9;
CREATE TABLE paid AS SELECT price AS src, price + 1.25::text::money AS dst FROM n ORDER BY id LIMIT 9;
SELECT gp_create_graph('times', 'n', 'e', target => 'y');
SELECT gp_create_graph('prices', 'n', 'paid', id => 'price', target => 'y');
SET timezone = 'Asia/Kathmandu';
SELECT nodes, edges FROM gp_fit('times', nugget => 0.1);
SELECT nodes, edges FROM gp_fit('prices', nugget => 0.1);
SET timezone = 'America/St_Johns';
SET datestyle = 'SQL, DMY';
SELECT count(*), bool_and(p.node = n.id) AS same FROM n, gp_predict('times', n.id) p;
SELECT count(*), count(n.id) AS joined FROM gp_predict('times', NULL::timestamptz) p LEFT JOIN n ON n.id = p.node;
SELECT count(*), bool_and(p.node = n.price) AS same FROM n, gp_predict('prices', n.price) p;
SHOW timezone;
RESET timezone;
RESET datestyle;

-- A domain's checks hold for the ids that come out, of any kind
CREATE DOMAIN small AS bigint CHECK (VALUE < 9);
CREATE DOMAIN day AS date CHECK (VALUE <> '2026-01-09');
CREATE DOMAIN workday AS day CHECK (VALUE <> '2026-01-08');
CREATE TABLE numbered AS SELECT i::bigint AS id, '2026-01-01'::date + (i - 1) AS day, CASE WHEN i % 2 = 0 THEN i / 5 END AS y FROM generate_series(1, 9) i;
CREATE TABLE next AS SELECT id AS src, id + 1 AS dst, day AS a, day + 1 AS b FROM numbered WHERE id < 9;
SELECT gp_create_graph('numbered', 'numbered', 'next', target => 'y'),
       gp_create_graph('dated', 'numbered', 'next', id => 'day', src => 'a', dst => 'b', target => 'y');
SELECT model FROM (VALUES ('numbered'), ('dated')) g (name), gp_fit(g.name, nugget => 0.1) ORDER BY 1;
SELECT count(*) FROM gp_predict('numbered', 8::small);
SELECT count(*) FROM gp_predict('numbered', NULL::small);
SELECT count(*) FROM gp_predict('dated', '2026-01-07'::workday);
SELECT count(*) FROM gp_predict('dated', NULL::workday);
SELECT count(*) FROM gp_cluster('dated', NULL::workday, 2);

-- A text that is written as an array is a list, as drivers send one, unless the model has it as an id
CREATE TABLE named AS SELECT CASE i WHEN 1 THEN '{b,c}' ELSE chr(96 + i) END AS id, (i % 2)::text AS y FROM generate_series(1, 8) i;
CREATE TABLE knows AS SELECT '{b,c}' AS src, id AS dst FROM named WHERE id <> '{b,c}';
SELECT gp_create_graph('named', 'named', 'knows', target => 'y');
SELECT model FROM gp_fit('named', kernel => 'gcn', nugget => 0.1);
SELECT array_agg(node ORDER BY node) FROM gp_predict('named', '{b,c}');
SELECT array_agg(node ORDER BY node) FROM gp_predict('named', '{c,d}');
SELECT array_agg(node ORDER BY node) FROM gp_loo('named', ' {d,"e",NULL} ');
SELECT array_agg(node ORDER BY node) FROM gp_predict('named', '{d,nobody}');
SELECT array_agg(node ORDER BY node) FROM gp_predict('dated', '{2026-01-02,2026-01-03}');

-- Texts of ranges, arrays and rows are compared as they are stored: the domain within is not asked, by a report neither
CREATE FUNCTION asked() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN IF current_setting('id_types.fitted', true) = 'yes' THEN RAISE 'asked'; END IF; RETURN true; END $$;
CREATE DOMAIN told AS int CHECK (asked());
CREATE TYPE pair AS (a told, b text);
CREATE TABLE kinds AS SELECT i, int4range(i, i + 1) AS span, ARRAY[i, i + 1]::told[] AS list, ROW(i, 'x y')::pair AS pair, (i % 2)::text AS y FROM generate_series(1, 8) i;
CREATE TABLE kin AS SELECT a.span, a.list, a.pair, b.span AS span2, b.list AS list2, b.pair AS pair2 FROM kinds a JOIN kinds b ON b.i = a.i + 1;
SELECT gp_create_graph(c, 'kinds', 'kin', id => c, target => 'y', src => c, dst => c || '2') FROM unnest('{span,list,pair}'::name[]) AS c;
SELECT model, edges FROM unnest('{span,list,pair}'::text[]) AS c, gp_fit(c, nugget => 0.1, kernel => 'gcn', live => true);
SET id_types.fitted = 'yes';
SELECT array_agg(node) FROM unnest('{span,list,pair}'::text[]) AS c, gp_predict(c, NULL::text);
SELECT node FROM (VALUES ('span', '[3,4)'), ('list', '{3,4}'), ('pair', '(3,"x y")'), ('span', '[3,3]')) AS v (c, id), gp_loo(c, id);
SELECT c, gp_report(c) LIKE '%<html%' FROM unnest('{span,list,pair}'::text[]) AS c;
SELECT gp_predict_live('span', '[3,4)');
SELECT gp_predict_live('pair', '(3,"x y")');
-- Rows of a task are found where the cast to text of their ids gives another text than the output does
CREATE TABLE hosts AS SELECT ('10.0.0.' || i)::inet AS ip, '2024-03-01'::timestamptz + i * interval '3 hours' AS since, CASE WHEN i % 4 > 0 THEN i % 2 = 0 END AS y FROM generate_series(1, 40) i;
CREATE TABLE hits AS SELECT ip AS host, since - k * interval '1 day' AS at, k + (y IS NOT DISTINCT FROM true)::int * 10 AS size FROM hosts, generate_series(1, 5) k;
ALTER TABLE hosts ADD PRIMARY KEY (ip), ALTER since SET NOT NULL;
ALTER TABLE hits ADD FOREIGN KEY (host) REFERENCES hosts, ALTER at SET NOT NULL;
SELECT gp_create_graph('net', '{hosts,hits}');
SELECT gp_create_task('hosted', 'net', 'hosts.y');
SELECT labelled, facts FROM gp_fit('hosted', live => true);
SELECT count(*) FROM gp_predict('hosted', NULL::inet) AS p JOIN gp_predict_live('hosted', ARRAY(SELECT ip FROM hosts WHERE y IS NULL)) AS l USING (node, class) WHERE abs(p.score - l.score) < 1e-4;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE asks IS NULL ORDER BY graph;
DROP SCHEMA id_types CASCADE;
