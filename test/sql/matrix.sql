-- Matrices in pieces: the functions that fits with strategy sql are made of, against plain SQL
SET search_path = public, gnngp_internal;
\pset format unaligned
\pset tuples_only on
SET max_parallel_workers_per_gather = 0;

CREATE TABLE nodes AS SELECT i * 3 + 7 AS id, ARRAY[sin(i), cos(2 * i), sin(i * i), 0.5]::real[] AS x FROM generate_series(1, 200) AS i;
CREATE TABLE edges AS SELECT a * 3 + 7 AS src, (1 + (a * a * 17 + k * 31) % 200) * 3 + 7 AS dst FROM generate_series(1, 200) AS a, generate_series(1, 3) AS k;
CREATE TABLE parts AS SELECT width_bucket(id, ARRAY[150, 151, 400]) AS part, gp_features(id, x)::gp_matrix AS m FROM nodes GROUP BY 1;
CREATE TABLE graphs AS SELECT width_bucket(least(src, dst), ARRAY[150, 400]) AS chunk, gp_graph(src, dst) AS g FROM edges WHERE src <> dst GROUP BY 1;
CREATE TABLE a AS
    WITH s AS (SELECT src, dst FROM edges WHERE src <> dst UNION SELECT dst, src FROM edges WHERE src <> dst UNION SELECT id, id FROM nodes),
         d AS (SELECT src AS i, count(*) AS d FROM s GROUP BY 1)
    SELECT s.src AS i, s.dst AS j, 1 / sqrt(x.d * y.d) AS v, 1.0 / x.d AS r FROM s JOIN d AS x ON x.i = s.src JOIN d AS y ON y.i = s.dst;

-- A matrix of floats is bytes as features and factors are: its rows can be read
CREATE FUNCTION cells(m gp_matrix) RETURNS TABLE (id bigint, j bigint, v float8) LANGUAGE sql AS
    $$ SELECT r.node, c.j, c.v FROM gp_factor_rows(m::text::gp_factor) AS r, unnest(r.q) WITH ORDINALITY AS c(v, j) $$;
SELECT count(*), sum(abs(c.v - x.v)) < 1e-5 AS same FROM (SELECT (cells(m)).* FROM parts) AS c
    JOIN (SELECT id, j, v FROM nodes, unnest(x) WITH ORDINALITY AS u(v, j)) AS x USING (id, j);
SELECT m::text::gp_matrix::text = m::text AS round_trip FROM parts ORDER BY part LIMIT 1;

-- gp_split and gp_glue undo each other
CREATE TABLE whole AS SELECT gp_features(id, x)::gp_matrix AS m FROM nodes;
SELECT gp_glue(s.place, s.columns)::text = m::text AS glued FROM whole, gp_split(m, 3) AS s GROUP BY m::text;
SELECT gp_glue(s.place, s.columns ORDER BY s.place DESC)::text = m::text AS in_any_order FROM whole, gp_split(m, 3) AS s GROUP BY m::text;
SELECT gp_glue(part, m) IS NULL AS nothing FROM parts WHERE false;

-- gp_rows
SELECT count(*), min(id), max(id) FROM (SELECT (cells(gp_rows(m, '{10, 11, 13, 607}'))).* FROM whole) AS c;
SELECT gp_rows(m, '{11}') IS NULL AS none, gp_rows(m, '{}') IS NULL AS nothing FROM whole;

-- gp_operate: columns by themselves, in chunks of rows; any operator of the language
CREATE TABLE spread AS
    SELECT k.kernel, s.chunk, gp_glue(c.place, s.rows) AS m
    FROM (VALUES ('A*X0'), ('A*X0, norm=row'), ('(0.7*A^2 + 0.3*I)*X0'), ('P(0.25)*X0')) AS k(kernel),
        LATERAL (SELECT c.place, gp_operate(c.columns, 'graphs'::regclass, k.kernel::gp_kernel, ARRAY[150, 151, 400], NULL) AS p
                 FROM parts, gp_split(m, 3) AS c GROUP BY c.place) AS c,
        unnest(c.p) WITH ORDINALITY AS s(rows, chunk)
    WHERE s.rows IS NOT NULL GROUP BY 1, 2;
CREATE VIEW spread_cells AS SELECT s.kernel, c.* FROM spread AS s, cells(s.m) AS c;
CREATE VIEW x AS SELECT id, j, v FROM nodes, unnest(x) WITH ORDINALITY AS u(v, j);
CREATE TABLE ax AS SELECT a.i AS id, x.j, sum(a.v * x.v) AS v, sum(a.r * x.v) AS r FROM a JOIN x ON x.id = a.j GROUP BY 1, 2;
SELECT kernel, count(*), max(abs(s.v - CASE WHEN kernel = 'A*X0' THEN ax.v ELSE ax.r END)) < 1e-6 AS right FROM spread_cells AS s JOIN ax USING (id, j)
WHERE kernel IN ('A*X0', 'A*X0, norm=row') GROUP BY 1 ORDER BY 1;
SELECT max(abs(s.v - 0.7 * y.v - 0.3 * x.v)) < 1e-6 AS square FROM spread_cells AS s
    JOIN (SELECT a.i AS id, ax.j, sum(a.v * ax.v) AS v FROM a JOIN ax ON ax.id = a.j GROUP BY 1, 2) AS y USING (id, j) JOIN x USING (id, j)
WHERE kernel LIKE '(0.7%';
-- P(a) = a (I - (1-a) A)^-1
SELECT max(abs(y.v / 0.25 - x.v)) < 1e-5 AS personalised FROM x
    JOIN (SELECT p.id, p.j, p.v - 0.75 * q.v AS v FROM spread_cells AS p
              JOIN (SELECT a.i AS id, s.j, sum(a.v * s.v) AS v FROM a JOIN spread_cells AS s ON s.id = a.j WHERE kernel LIKE 'P%' GROUP BY 1, 2) AS q USING (id, j)
          WHERE kernel LIKE 'P%') AS y USING (id, j);

-- Some rows alone
CREATE FUNCTION spread(edges regclass, kernel text, wanted bigint[] DEFAULT NULL) RETURNS gp_matrix[] LANGUAGE sql AS
    $$ SELECT gp_operate(m, edges, kernel::gp_kernel, '{400}', wanted ORDER BY part DESC) FROM parts $$;
SELECT k, spread('graphs', k, '{10,13,400,607}')::text = (SELECT array_agg(gp_rows(s, '{10,13,400,607}'))::text FROM unnest(spread('graphs', k)) AS s) AS wanted
FROM (VALUES ('A*X0'), ('(0.7*A^2 + 0.3*I)*X0')) AS v(k);

-- gp_take_edge and gp_taken_edges: blocks of what a session has taken; an edge may be in several
BEGIN;
SELECT sum(gp_take_edge('{150,400}', src, dst)) = count(*) FILTER (WHERE src <> dst) AS taken FROM edges;
SELECT count(*), bool_and(t.g::text = g.g::text) AS same, sum(t.edges) FROM gp_taken_edges(0, '{7}') AS t JOIN graphs AS g USING (chunk);
SELECT gp_take_edge('{5}', 1, NULL) AS bad, gp_take_edge('{5}', 1, 2, -1) AS negative, gp_take_edge('{5}', 3, 3) AS loop;
SELECT count(*) FROM gp_taken_edges(0, '{7,8}');
CREATE TABLE twice AS SELECT chunk, g FROM graphs UNION ALL SELECT 0, gp_graph(dst, src) FROM edges WHERE src <> dst;
SELECT spread('graphs', 'A*X0')::text = spread('twice', 'A*X0')::text AS once;
SAVEPOINT s;
SELECT gp_take_edge('{5}', 1, 2);
SELECT gp_take_edge('{5,6}', 1, 2);
ROLLBACK TO s;
SELECT count(*) FROM gp_taken_edges(0, '{7,8}');
COMMIT;
SELECT gp_take_edge(NULL, 1, 2);
SELECT gp_take_edge('{5,NULL}', 1, 2);
SELECT count(*) FROM gp_taken_edges(0, '{7,NULL}');

-- gp_degrees: neighbours, and those of them that are labelled
CREATE TABLE labelled AS SELECT gp_features(id, ARRAY[(id % 2)::real])::gp_matrix AS m FROM nodes;
SELECT count(*), bool_and(d.v = CASE d.j WHEN 1 THEN a.degree ELSE a.labelled END) AS right
FROM (SELECT (cells(unnest(gp_degrees(m, 'graphs'::regclass, 'A*X0', ARRAY[150, 151, 400])))).* FROM labelled) AS d
    JOIN (SELECT i AS id, count(*) - 1 AS degree, count(*) FILTER (WHERE j % 2 = 1 AND j <> i) AS labelled FROM a GROUP BY 1) AS a USING (id);
SELECT count(*), sum(abs(c.v)) AS no_edges FROM (SELECT (cells(unnest(gp_degrees(m, NULL, 'A*X0', '{}')))).* FROM labelled) AS c;

-- a graph that is put together serves all statements of a transaction on the same table, and goes with it
CREATE VIEW kept AS SELECT count(*) FROM pg_backend_memory_contexts
  WHERE name = 'gnngp environment' AND
    level = 1 + (SELECT level FROM pg_backend_memory_contexts WHERE name = 'TopTransactionContext');
CREATE TABLE one AS SELECT 1 AS chunk, gp_graph(10, 13) AS g;
CREATE TABLE other AS SELECT 1 AS chunk, gp_graph(10, 16) AS g;
CREATE TABLE unknown AS SELECT 1 AS chunk, gp_graph(1, 2) AS g;
CREATE TABLE mixed AS SELECT 1 AS chunk, gp_graph(10, 13) AS g UNION ALL SELECT 2, gp_graph(13, 16, 2);
CREATE TABLE apart AS SELECT g.name, k AS kernel, spread(g.name::regclass, k)::text AS want
    FROM (VALUES ('graphs'), ('one'), ('other')) AS g(name), (VALUES ('A*X0'), ('A*X0, norm=row')) AS k(k);
BEGIN;
TABLE kept;
SELECT bool_and(spread(name::regclass, kernel)::text = want) AS same FROM apart;
TABLE kept;
SELECT name, kernel, spread(name::regclass, kernel)::text = want AS same FROM apart ORDER BY name, kernel;
SELECT name, kernel, spread(name::regclass, kernel)::text = want AS same FROM apart ORDER BY kernel, name;
SAVEPOINT s;
SELECT spread('unknown', 'A*X0');
ROLLBACK TO s;
TABLE kept;
SELECT bool_and(spread(name::regclass, kernel)::text = want) AS same FROM apart;
COMMIT;
TABLE kept;
-- A call that fails behind it leaves none to the next one, whoever called it
CREATE FUNCTION fails(edges regclass) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    RETURN spread(edges, 'relu(X0)');
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
BEGIN;
SELECT fails(name::regclass), (SELECT fails(name::regclass)) FROM apart LIMIT 1;
SELECT bool_and(spread(name::regclass, kernel)::text = want) AS same FROM apart;
TABLE kept;
COMMIT;
DROP FUNCTION fails;
DROP VIEW kept;
DROP TABLE apart;

-- gp_step: covariances with landmarks, in pieces as in one; a root divides first
CREATE TABLE landmarks AS SELECT gp_rows(m, '{10, 13, 199, 499, 607}') AS m FROM whole;
SELECT k, NOT EXISTS (SELECT cells(gp_step(p.m, k::gp_kernel, l.m)) FROM parts AS p, landmarks AS l EXCEPT
                      SELECT cells(gp_step(w.m, k::gp_kernel, l.m)) FROM whole AS w, landmarks AS l) AS pieces
FROM (VALUES ('X0'), ('relu(X0*W)'), ('2*relu(X0*W)*W'), ('X0, input=poly(c=1, d=2)')) AS v(k);
SELECT max(abs(s.v - y.v)) < 1e-5 AS products FROM (SELECT (cells(gp_step(w.m, 'X0', l.m))).* FROM whole AS w, landmarks AS l) AS s
    JOIN (SELECT p.id, l.j, sum(p.v * q.v) AS v FROM x AS p, unnest('{10, 13, 199, 499, 607}'::bigint[]) WITH ORDINALITY AS l(id, j)
              JOIN x AS q ON q.id = l.id WHERE p.j = q.j GROUP BY 1, 2) AS y USING (id, j);
SELECT max(abs(s.v - exp(-0.5 * y.v))) < 1e-5 AS gaussian FROM (SELECT (cells(gp_step(w.m, 'X0, input=rbf(gamma=0.5)', l.m))).* FROM whole AS w, landmarks AS l) AS s
    JOIN (SELECT p.id, l.j, sum((p.v - q.v)^2) AS v FROM x AS p, unnest('{10, 13, 199, 499, 607}'::bigint[]) WITH ORDINALITY AS l(id, j)
              JOIN x AS q ON q.id = l.id WHERE p.j = q.j GROUP BY 1, 2) AS y USING (id, j);
CREATE TABLE two AS SELECT gp_features(i, x)::gp_matrix AS m FROM (VALUES (0, '{2,0,0,0}'::real[]), (1, '{1,4,0,0}'), (2, '{0,0,1,0}'), (3, '{0,0,0,1}')) AS v(i, x);
SELECT max(abs(s.v - CASE j WHEN 1 THEN a1 / 2 ELSE (a2 - a1 / 2) / 4 END)) < 1e-6 AS divided
FROM (SELECT (cells(gp_step(w.m, 'X0', (SELECT gp_features(i, x)::gp_matrix FROM (VALUES (-2, '{1,0,0,0}'::real[]), (-1, '{0,1,0,0}')) AS v(i, x)), two.m))).* FROM whole AS w, two) AS s
    JOIN (SELECT id, x[1]::float8 AS a1, x[2]::float8 AS a2 FROM nodes) AS n USING (id);

-- gp_apply: a product; one more row of weights is a constant
CREATE TABLE weights AS SELECT gp_features(i, x)::gp_matrix AS m FROM (VALUES (0, '{1}'::real[]), (1, '{0}'), (2, '{-2}'), (3, '{0}'), (4, '{10}')) AS v(i, x);
SELECT count(*), max(abs(s.v - (x[1] - 2 * x[3] + 10))) < 1e-5 AS affine
FROM (SELECT (cells(gp_apply(p.m, w.m))).* FROM parts AS p, weights AS w) AS s JOIN nodes USING (id);

SELECT gp_apply(gp_step(p.m, 'relu(X0*W)', p.m), w.m)::text = gp_step(p.m, 'relu(X0*W)', p.m, NULL, w.m)::text AS at_once
FROM (SELECT gp_rows(m, '{10, 13, 16, 19}') AS m FROM whole) AS p, weights AS w;

-- gp_squares: the first columns as one
SELECT n, count(*), max(abs(s.v - CASE WHEN s.j > 1 OR n <= 0 THEN x[s.j + greatest(n - 1, 0)]
                                 ELSE (SELECT sum(v ^ 2) FROM unnest(x) WITH ORDINALITY AS u(v, k) WHERE k <= n) END)) < 1e-6 AS right
FROM (SELECT n, (cells(gp_squares(p.m, n))).* FROM parts AS p, (VALUES (-1), (0), (2), (4), (9)) AS v(n)) AS s JOIN nodes USING (id) GROUP BY n ORDER BY n;

-- gp_moments
SELECT m[1], m[4], abs(m[5] - a) < 1e-9 AS mean, abs(m[10] - s) < 1e-6 AS squares, m[8] AS same
FROM (SELECT gp_moments(x::float8[]) AS m, avg(x[1]::float8) AS a,
             count(*) AS n, var_pop(x[2]::float8) * count(*) AS s FROM nodes) AS q;
SELECT gp_moments(NULL::float8[]) IS NULL AS none FROM nodes;

-- gp_gram: the sums of parts are those of the whole, whoever adds them
CREATE TABLE y AS SELECT p.part, gp_rows(gp_apply(p.m, w.m), '{10, 13, 16, 151, 154, 400, 607}') AS m FROM parts AS p, weights AS w;
SELECT gp_gram(p.m, y.m, NULL)::text = (SELECT gp_gram(w.m, gp_rows(gp_apply(w.m, v.m), '{10, 13, 16, 151, 154, 400, 607}'), NULL)::text FROM whole AS w, weights AS v) AS same,
    length(gp_gram(p.m, y.m, NULL)::text) > 4 * 5 * 8 AS doubles FROM parts AS p JOIN y USING (part) WHERE y.m IS NOT NULL;
SELECT gp_gram(p.m, y.m, two.m) IS NULL AS none FROM parts AS p JOIN y USING (part), two WHERE false;

-- What is refused
SELECT gp_split(m, 0) FROM whole;
SELECT gp_rows(m, '{13, 10}') FROM whole;
SELECT gp_rows(m, '{NULL}') FROM whole;
SELECT gp_step(m, 'gcn', (SELECT m FROM landmarks)) FROM whole;
SELECT gp_step(m, 'auto', (SELECT m FROM landmarks)) FROM whole;
SELECT gp_step(m, 'relu(X0*W)', (SELECT m FROM weights)) FROM whole;
SELECT gp_step(m, 'relu(X0*W)', (SELECT m FROM landmarks), m) FROM whole;
SELECT gp_step(m, 'relu(X0*W)', NULL) IS NULL AS none FROM whole;
SELECT gp_apply(m, m) FROM whole;
SELECT gp_step(m, 'relu(X0*W)', (SELECT m FROM landmarks), (SELECT gp_features(i, '{0,0,0,0}'::real[])::gp_matrix FROM generate_series(0, 3) AS i)) FROM whole;
SELECT gp_operate(m, 'graphs'::regclass, 'relu(X0*W)', '{}', NULL) FROM whole;
SELECT gp_operate(m, 'graphs'::regclass, 'A*X0 + b, sigma_b=1', '{}', NULL) FROM whole;
SELECT gp_operate(m, 'graphs'::regclass, 'A*X0', '{3, 3}', NULL) FROM whole;
SELECT gp_operate(m, 'graphs'::regclass, NULL, '{}', NULL) FROM whole;
SELECT gp_operate(m, 'graphs'::regclass, 'A*X0', NULL, NULL) FROM whole;
SELECT gp_operate(NULL, 'graphs'::regclass, 'A*X0', '{}', NULL) FROM whole;
SELECT gp_operate(m, 'unknown'::regclass, 'A*X0', '{}', NULL) FROM whole;
SELECT gp_operate(m, 'mixed'::regclass, 'A*X0', '{}', NULL) FROM whole;
SELECT gp_operate(m, 1, 'A*X0', '{}', NULL) FROM whole;
SELECT cardinality(gp_operate(m, NULL, 'A*X0', '{}', NULL)) FROM whole;
SELECT gp_degrees(m, 'unknown'::regclass, 'A*X0', '{}') IS NULL AS unknown FROM labelled;
SELECT gp_degrees(m, 'graphs'::regclass, 'A*X0', '{}') FROM whole;
SELECT gp_operate(m, NULL, 'A*X0', '{}', NULL) FROM (SELECT m FROM parts UNION ALL SELECT m FROM landmarks) AS u;
SELECT gp_operate(m, NULL, 'A*X0', '{}', NULL) FROM (SELECT gp_rows(m, '{10}') AS m FROM whole UNION ALL SELECT gp_rows(m, '{13}') FROM labelled) AS u;
SELECT gp_glue(part, m) OVER (ORDER BY part) FROM parts;
SELECT gp_glue(part, m) FROM parts;
SELECT gp_glue(NULL, m) FROM parts;
SELECT gp_gram(p.m, y.m, NULL) FROM parts AS p, y WHERE p.part = 0 AND y.part = 3;
SELECT gp_gram(p.m, y.m, w.m) FROM parts AS p JOIN y USING (part), weights AS w WHERE part = 0;
SELECT 'AQ'::gp_matrix;
SELECT 'AQEBAQA'::gp_matrix;
SELECT 'AQgBAQA='::gp_matrix;
SELECT 'AQkBAQAAAAAAAADwfw=='::gp_matrix;
SELECT 'AQkBAQAAAAAAAAAAgA=='::gp_matrix;
SELECT 'AQkBAQAAAAAAAADwPw=='::gp_matrix AS one;
SELECT 'AQkBAQAAAAAAAADwPw=='::gp_factor;

-- The graph that is kept is that of the rows that its table has now
BEGIN;
CREATE TEMPORARY TABLE before AS SELECT gp_operate(m, 'graphs'::regclass, 'A*X0', '{}', NULL) AS m FROM whole;
DELETE FROM graphs;
SELECT gp_operate(m, 'graphs'::regclass, 'A*X0', '{}', NULL)::text = (SELECT m::text FROM before) AS stale FROM whole;
ROLLBACK;

-- and nobody's who may not read it
CREATE ROLE matrix_stranger;
GRANT SELECT ON whole TO matrix_stranger;
BEGIN;
SELECT cardinality(gp_operate(m, 'graphs'::regclass, 'A*X0', '{}', NULL)) FROM whole;
SET LOCAL ROLE matrix_stranger;
SELECT cardinality(gp_operate(m, 'graphs'::regclass, 'A*X0', '{}', NULL)) FROM whole;
ROLLBACK;
DROP OWNED BY matrix_stranger;
DROP ROLE matrix_stranger;

-- Edges that a session has taken are handed over once, also where that failed half way
BEGIN;
SET LOCAL work_mem = '64kB';
SELECT sum(gnngp_internal.gp_take_edge('{1000}', i, i + 1)) FROM generate_series(1, 9) AS i;
SELECT sum(gnngp_internal.gp_take_edge('{1000}', 1000 + i, 50000 - 7 * i % 40000)) FROM generate_series(1, 60000) AS i;
SAVEPOINT handing;
SET LOCAL temp_file_limit = 0;
\set VERBOSITY sqlstate
SELECT chunk FROM gnngp_internal.gp_taken_edges(0, '{1}');
\set VERBOSITY default
ROLLBACK TO handing;
SELECT chunk, edges FROM gnngp_internal.gp_taken_edges(0, '{1}');
SELECT count(*) FROM gnngp_internal.gp_taken_edges(0, '{1}');
ROLLBACK;

DROP VIEW spread_cells, x;
DROP FUNCTION cells, spread;
DROP TABLE nodes, edges, parts, graphs, labelled, one, other, unknown, mixed, a, whole, spread, ax, landmarks, two, weights, y;
