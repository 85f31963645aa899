-- What the calls work on: small graphs of many kinds, models, and values of the extension's types.  Each part
-- of a run gets a copy of this database.
CREATE SCHEMA "odd gp";
CREATE EXTENSION gnngp SCHEMA "odd gp";
GRANT USAGE ON SCHEMA "odd gp" TO PUBLIC;
CREATE SCHEMA stage AUTHORIZATION calls_ann;
GRANT USAGE, CREATE ON SCHEMA stage, public TO calls_ann, calls_bob;
SET search_path = stage, public, "odd gp";
SET SESSION AUTHORIZATION calls_ann;
ALTER DEFAULT PRIVILEGES IN SCHEMA stage GRANT SELECT ON TABLES TO calls_bob;

CREATE DOMAIN positive AS bigint CHECK (VALUE > 0);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a bigint, b text);

-- Ids of several types, features of several kinds, classes and values
CREATE TABLE n_int AS
    SELECT i::bigint AS id, ARRAY[i % 7, sin(i), 1]::real[] AS x, i % 5 AS a, cos(i)::float8 AS b, (i * 0.37)::numeric AS c,
           CASE WHEN i % 3 > 0 THEN (ARRAY['red', 'gr"een', 'blü''e'])[1 + i / 3 % 3] END AS y,
           CASE WHEN i % 2 = 0 THEN i % 4 END AS z, CASE WHEN i % 3 > 0 THEN sin(i * 0.3) * 5 END AS v,
           CASE WHEN i % 4 > 0 THEN i % 8 > 3 END AS u, (ARRAY['sad', 'ok', 'happy', NULL])[1 + i % 4]::mood AS m,
           i::positive AS d, ARRAY[ARRAY[i, 1], ARRAY[2, i]]::real[] AS xx
    FROM generate_series(1, 40) i;
CREATE TABLE e_int AS
    SELECT i::bigint AS src, (1 + (i * k * 7 + k) % 40)::bigint AS dst, (1 + i % 3)::float8 / 2 AS w
    FROM generate_series(1, 40) i, generate_series(1, 3) k;
CREATE TABLE s_int AS
    SELECT i::bigint AS node, (i * k) % 25 AS feature, (k + i % 2)::real AS value
    FROM generate_series(1, 40) i, generate_series(1, 3) k WHERE (i * k) % 25 <> (i * (k - 1)) % 25 AND (i * k) % 25 <> (i * (k - 2)) % 25;
ALTER TABLE n_int ADD PRIMARY KEY (id);
CREATE INDEX ix_int ON e_int (src);
CREATE TABLE n_text AS SELECT 'n''' || id || CASE WHEN id % 9 = 0 THEN 'é"\ ' ELSE '' END AS id, x::float8[] AS x, a, y, z, v, u FROM n_int WHERE id <= 30;
CREATE TABLE e_text AS
    SELECT s.id AS src, t.id AS dst, w::numeric AS w FROM e_int, n_text s, n_text t
    WHERE s.id ~ ('^n''' || src || '\M') AND t.id ~ ('^n''' || dst || '\M');
CREATE TABLE n_uuid AS SELECT ('00000000-0000-0000-0000-' || lpad(id::text, 12, '0'))::uuid AS id, a, b, y, u, v FROM n_int WHERE id <= 24;
CREATE TABLE e_uuid AS
    SELECT ('00000000-0000-0000-0000-' || lpad(src::text, 12, '0'))::uuid AS src,
           ('00000000-0000-0000-0000-' || lpad(dst::text, 12, '0'))::uuid AS dst, w FROM e_int WHERE src <= 24 AND dst <= 24;
CREATE TABLE n_num AS SELECT id::numeric / 2 AS id, a, b, c, y, v FROM n_int WHERE id <= 20;
CREATE TABLE e_num AS SELECT src::numeric / 2 AS src, dst::numeric / 2 AS dst, w::real AS w FROM e_int WHERE src <= 20 AND dst <= 20;
CREATE TABLE n_empty (LIKE n_int);
CREATE TABLE e_empty (LIKE e_int);
CREATE TABLE n_one AS SELECT * FROM n_int WHERE id = 1;
CREATE TABLE n_big AS
    SELECT i AS id, (SELECT array_agg(sin(i * k * 0.37)::real + 1) FROM generate_series(1, 8) k) AS x,
           CASE WHEN i % 2 = 0 THEN i % 7 END AS z, CASE WHEN i % 2 = 0 THEN 'k' || i % 3 END AS y, CASE WHEN i % 3 = 0 THEN cos(i * 0.01) END AS v
    FROM generate_series(1, 400) i;
CREATE TABLE e_big AS SELECT i AS src, (i * k * 31 + 7 * k) % 400 + 1 AS dst, k::float8 AS w FROM generate_series(1, 400) i, generate_series(1, 4) k;

-- Whatever a fit should refuse
CREATE TABLE n_dirty AS
    SELECT CASE WHEN i = 7 THEN NULL WHEN i = 9 THEN 8 ELSE i END::bigint AS id,
           CASE WHEN i = 3 THEN '{NaN,1}'::real[] WHEN i = 4 THEN '{1}' WHEN i = 5 THEN '{NULL,2}' WHEN i = 6 THEN NULL ELSE '{1,2}' END AS x,
           CASE WHEN i % 2 = 0 THEN 'Infinity'::float8 ELSE 'NaN' END AS v, 'the same'::text AS y, NULL::integer AS z, i % 2 AS a
    FROM generate_series(1, 12) i;
CREATE TABLE e_dirty AS
    SELECT src::bigint, dst::bigint, w::float8 FROM (VALUES (1, 99, '-1'), (NULL, 1, '1'), (2, 2, NULL), (3, 4, 'NaN')) AS e (src, dst, w);
CREATE VIEW v_n AS SELECT * FROM n_int WHERE id % 2 = 0 OR id < 20;
CREATE VIEW v_e AS SELECT * FROM e_int WHERE (src % 2 = 0 OR src < 20) AND (dst % 2 = 0 OR dst < 20);
CREATE VIEW v_broken AS SELECT id / (id - id) AS id, x, y, v FROM n_int;
CREATE MATERIALIZED VIEW mv_n AS SELECT * FROM n_int;
CREATE TABLE p_n (LIKE n_int) PARTITION BY RANGE (id);
CREATE TABLE p_n1 PARTITION OF p_n FOR VALUES FROM (1) TO (20);
CREATE TABLE p_n2 PARTITION OF p_n DEFAULT;
INSERT INTO p_n SELECT * FROM n_int;
CREATE SEQUENCE sq;
CREATE TABLE "Quoted ""table" AS SELECT id AS "I d", y AS "ta""rget", x AS "é" FROM n_int;

SELECT gp_create_graph('int', 'n_int', 'e_int', features => '{x}', target => 'y');
SELECT gp_create_graph('val', 'n_int', 'e_int', features => '{a,b,c}', target => 'v', weight => 'w');
SELECT gp_create_graph('text', 'n_text', 'e_text', features => '{x}', target => 'z', weight => 'w');
SELECT gp_create_graph('uuid', 'n_uuid', 'e_uuid', target => 'u', directed => true);
SELECT gp_create_graph('num', 'n_num', 'e_num', features => '{a,b}', target => 'v');
SELECT gp_create_graph('sparse', 'n_int', 'e_int', target => 'm', sparse_features => 's_int');
SELECT gp_create_graph('empty', 'n_empty', 'e_empty', target => 'y');
SELECT gp_create_graph('one', 'n_one', 'e_empty', target => 'v');
SELECT gp_create_graph('edgeless', 'n_int', 'e_empty', features => '{x}', target => 'y');
SELECT gp_create_graph('view', 'v_n', 'v_e', features => '{x}', target => 'u');
SELECT gp_create_graph('part', 'p_n', 'e_int', features => '{x}', target => 'y');
SELECT gp_create_graph('big', 'n_big', 'e_big', features => '{x}', target => 'z');
SELECT gp_create_graph('plain', 'n_int', 'e_int');
SELECT gp_create_graph('dirty', 'n_dirty', 'e_dirty', features => '{x}', target => 'v');
SELECT gp_create_graph('labels', 'n_dirty', 'e_empty', target => 'z');
SELECT gp_create_graph('broken', 'v_broken', 'e_int', target => 'v');
SELECT gp_create_graph('q''u"o.te', '"Quoted ""table"', 'e_int', id => 'I d', features => '{é}', target => 'ta"rget');
SELECT count(gp_fit(g)) FROM unnest('{int,val,text,uuid,num,sparse,view,part,big,edgeless}'::text[]) g;
SELECT gp_fit('q''u"o.te', 'q''u"o.te');
SELECT gp_fit('int', 'rbf', 'rbf'), gp_fit('val', 'nys', strategy => 'nystrom', landmarks => 8);
SELECT gp_fit('int', 'live', 'gcn', live => true);
SELECT count(gp_fit_links(g)) FROM unnest('{int,val,text,uuid,num,sparse,big}'::text[]) g;
SELECT gp_fit_links('plain', method => 'pairs');
SELECT gp_grant('int', 'calls_bob'), gp_grant('text', 'public');
-- Edges with times and columns, links from users to items, and methods that learn
CREATE TABLE e_timed AS SELECT src, dst, '2024-01-01'::timestamptz + src * interval '1 day' AS at, w * 3 AS amount, src % 2 = 0 AS ok FROM e_int;
CREATE TABLE e_items AS SELECT i AS src, 100 + (i * k * 7) % 9 AS dst FROM generate_series(1, 30) i, generate_series(1, 4) k;
SELECT gp_create_graph('timed', 'n_int', 'e_timed', target => 'v', time_column => 'at');
SELECT gp_create_graph('paid', 'n_int', 'e_timed', features => '{a}', target => 'y', edge_features => '{amount,at,ok}');
SELECT gp_create_graph('items', NULL::regclass, 'e_items', directed => true);
SELECT gp_fit('paid'), gp_fit('int', 'learnt', 'gckm'), gp_fit('timed', 'timed', live => true);
SELECT gp_fit_links('timed'), gp_fit_links('items', keep => 3, method => 'ease'), gp_fit_links('int', 'deep', 'dgp(steps=10)');

-- Tables with times, and tasks of three forms
CREATE TABLE people (id integer PRIMARY KEY, joined timestamptz NOT NULL, region text, age integer);
CREATE TABLE goods (id text PRIMARY KEY, price numeric, kind mood);
CREATE TABLE buys (id bigint PRIMARY KEY, person integer NOT NULL REFERENCES people, good text REFERENCES goods, at timestamptz NOT NULL, amount real, returned boolean);
CREATE TABLE asked (person integer REFERENCES people, at timestamptz NOT NULL, answer real);
INSERT INTO people SELECT i, '2024-01-01'::timestamptz + i * interval '1 hour', 'r' || i % 3, 20 + i FROM generate_series(1, 30) i;
INSERT INTO goods SELECT 'g' || i, i * 1.5, (ARRAY['sad', 'ok', 'happy', NULL])[1 + i % 4]::mood FROM generate_series(1, 12) i;
INSERT INTO buys SELECT i, 1 + i * i % 30, 'g' || 1 + i % 12, '2024-02-01'::timestamptz + i * interval '7 hours', i % 5, CASE WHEN i < 280 THEN i % 3 = 0 END FROM generate_series(1, 300) i;
INSERT INTO asked SELECT 1 + i % 30, '2024-03-01'::timestamptz + i * interval '9 hours', i % 7 FROM generate_series(1, 90) i;
CREATE INDEX ON buys (person, at);
SELECT gp_create_graph('shop', '{people,goods,buys}'::regclass[]);
SELECT gp_create_task('again', 'shop', 'people', 'EXISTS (SELECT FROM stage.buys b WHERE b.person = e.id AND b.at > t AND b.at <= t + horizon)', horizon => '5 days');
SELECT gp_create_task('returned', 'shop', 'buys.returned');
SELECT gp_create_task('answers', 'shop', labels => 'asked', entity => 'person', target => 'answer', time_column => 'at', horizon => '1 day');
SELECT gp_create_task('kind', 'shop', 'goods.kind');
SELECT gp_fit('again', live => true), gp_fit('returned', live => true), gp_fit('answers'), gp_fit('kind', live => true);
SELECT gp_grant('again', 'calls_bob'), gp_grant('live', 'calls_bob');

-- A graph whose nodes come from another model's predictions
CREATE VIEW v_nested AS SELECT p.node AS id, p.class AS y, p.score AS b FROM gp_predict('int') p;
SELECT gp_create_graph('nested', 'v_nested', 'e_int', features => '{b}', target => 'y');

-- A valid value of each of the extension's types in each row
CREATE TABLE vals (k integer, g gp_graph, f gp_features, q gp_factor, s gnngp_internal.gp_graph_state, kernel gp_kernel, m gnngp_internal.gp_matrix);
INSERT INTO vals SELECT 1, (SELECT gp_graph(src, dst) FROM e_int), (SELECT gp_features(id, x) FROM n_int);
INSERT INTO vals SELECT 2, (SELECT gp_graph(src, dst, w) FROM e_int), (SELECT gp_features(id, ARRAY[a, b]::float8[]) FROM n_int);
INSERT INTO vals SELECT 3, (SELECT gp_graph(src * 1000, dst * 1000) FROM e_int WHERE src < 8), (SELECT gp_features(id * 1000, ARRAY[a]) FROM n_int);
INSERT INTO vals SELECT 4, (SELECT gp_graph(i, i) FROM generate_series(-3, 3) i), (SELECT gp_features(i, '{}'::real[] || 1::real) FROM generate_series(-3, 3) i);
INSERT INTO vals SELECT 5, (SELECT gp_graph(src, dst) FROM e_big), (SELECT gp_features(id, x) FROM n_big);
UPDATE vals SET kernel = (ARRAY['gcn', 'gin(layers=3)', 'sage', 'laplacian', 'A*relu(X)*W + b, layers=1'])[k]::gp_kernel;
UPDATE vals SET q = gp_factor(g, f, CASE k WHEN 3 THEN 'rbf'::gp_kernel ELSE kernel END, 12) WHERE k <> 4;
UPDATE vals SET q = gp_factor(g, NULL, 'gcn') WHERE k = 4;
UPDATE vals SET s = (encode(CASE k WHEN 1 THEN '\x0101020201010000'::bytea WHEN 2 THEN '\x010302020202000000000000000000f03f000000000000f03f'
    WHEN 3 THEN '\x01050367636e08020201010000' ELSE '\x0103020201010000000000000000f03f' END, 'base64')::gnngp_internal.gp_graph_state);
UPDATE vals SET m = f::gnngp_internal.gp_matrix WHERE k < 4;
UPDATE vals SET m = q::gnngp_internal.gp_matrix WHERE k >= 4;
INSERT INTO vals (k) VALUES (6);

RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION calls_bob;
SELECT gp_create_graph('int', 'n_text', 'e_text', target => 'y');
SELECT gp_fit('int');
SELECT gp_create_graph('bobs', 'n_int', 'e_int', target => 'y');
SELECT gp_fit('bobs', 'bobs', 'gin');
