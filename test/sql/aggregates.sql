-- Graphs, features and factors as values, and the aggregates that make them
SET search_path = public, gnngp_internal;
\pset format unaligned
\pset tuples_only on
SET max_parallel_workers_per_gather = 0;

CREATE TABLE edges (src bigint, dst bigint, weight float8);
INSERT INTO edges VALUES (1, 2, 1), (2, 3, 0.5), (3, 1, 2), (3, 4, 1), (4, 5, 0.25), (6, 6, 3);

-- gp_graph: repeated edges count once, loops go, their nodes stay
SELECT gp_nodes(g), gp_edges(g), g FROM (SELECT gp_graph(src, dst) AS g FROM edges) AS x;
SELECT gp_graph(src, dst) = (SELECT gp_graph(src, dst) FROM edges) AS same
FROM (SELECT dst AS src, src AS dst FROM edges UNION ALL SELECT src, dst FROM edges ORDER BY 1 DESC) AS x;
-- Weights add up, in an order that rows do not decide
SELECT gp_nodes(g), gp_edges(g), g FROM (SELECT gp_graph(src, dst, weight) AS g FROM edges) AS x;
SELECT gp_graph(src, dst, w) = (SELECT gp_graph(1, 2, 1.75) FROM (SELECT) AS y) AS added
FROM (VALUES (1, 2, 1.0), (2, 1, 0.5), (1, 2, 0.25)) AS v(src, dst, w);
CREATE TABLE w AS SELECT (1.0 / i)::float8 AS w FROM generate_series(1, 1000) AS i;
SELECT (SELECT gp_graph(1, 2, w ORDER BY w) FROM w) = (SELECT gp_graph(2, 1, w ORDER BY w DESC) FROM w) AS same;
-- Integer and numeric columns serve; sparse and negative ids, too
SELECT gp_nodes(g), gp_edges(g) FROM (SELECT gp_graph(a::int, b::smallint, c::numeric) AS g FROM (VALUES (1, 2, 0.5)) AS v(a, b, c)) AS x;
SELECT gp_nodes(g), gp_edges(g), g::text::gp_graph = g AS round_trip
FROM (SELECT gp_graph(a, b) AS g FROM (VALUES ('-9223372036854775808'::bigint, 9223372036854775807::bigint), (-5, 0), (0, 5000000000)) AS v(a, b)) AS x;
SELECT gp_nodes(g), gp_edges(g), g::text::gp_graph = g AS round_trip
FROM (SELECT gp_graph(i * 1000003, i * i * 7919) AS g FROM generate_series(1::bigint, 5000) AS i) AS x;
-- No row, and FILTER
SELECT gp_graph(src, dst) IS NULL AS nothing FROM edges WHERE false;
SELECT gp_edges(gp_graph(src, dst) FILTER (WHERE src IS NOT NULL)) FROM (SELECT src, dst FROM edges UNION ALL SELECT NULL, 1) AS x;
-- What is refused
SELECT gp_graph(NULL, 1);
SELECT gp_graph(1, NULL);
SELECT gp_graph(1, 2, NULL);
SELECT gp_graph(1, 2, -1);
SELECT gp_graph(1, 2, 'NaN');
SELECT gp_graph(1, 2, 'Infinity');
SELECT gp_graph(1, 2, w) FROM (VALUES (1e308), (1e308)) AS v(w);
SELECT gp_graph_accum(NULL, 1, 2);
SELECT gp_graph_combine(gp_graph_accum(NULL, 1, 2), NULL);

-- gp_features
CREATE TABLE nodes AS SELECT i AS id, ARRAY[i % 2, 1, i / 4.0]::real[] AS x FROM generate_series(1, 7) AS i;
SELECT gp_nodes(f), f FROM (SELECT gp_features(id, x) AS f FROM nodes) AS x;
SELECT gp_features(id, x) = (SELECT gp_features(id, x ORDER BY id DESC) FROM nodes) AS same FROM nodes;
SELECT gp_features(id, x::float8[]) = gp_features(id, x) AS double, gp_features(id, x::numeric[]) = gp_features(id, x) AS numeric,
    gp_features(id, ARRAY[id, 1]) = gp_features(id, ARRAY[id, 1]::real[]) AS integer FROM nodes;
SELECT gp_features(1, ARRAY[0.5, 1]) = gp_features(1, ARRAY[0.5, 1]::real[]) AS same;
SELECT gp_features(id, NULL::real[]) FROM nodes;
SELECT gp_features(id, ARRAY[1, NULL]) FROM nodes;
SELECT gp_features(id, ARRAY[1, 'NaN']::real[]) FROM nodes;
SELECT gp_features(id, ARRAY[1, 1e300]::float8[]) FROM nodes;
SELECT gp_features(id, '{}'::real[]) FROM nodes;
SELECT gp_features(id, '{{1,2},{3,4}}'::real[]) FROM nodes;
SELECT gp_features(id, array_fill(1::real, ARRAY[id])) FROM nodes;
SELECT gp_features(id % 3, x) FROM nodes;

-- gp_factor: Q Q' against the formulas, in SQL.  A is normalised with self-loops.
CREATE TABLE a AS
    WITH s AS (SELECT src, dst FROM edges WHERE src <> dst UNION SELECT dst, src FROM edges WHERE src <> dst
               UNION SELECT i, i FROM generate_series(1, 6) AS i),
         d AS (SELECT src AS i, count(*) AS d FROM s GROUP BY 1)
    SELECT s.src AS i, s.dst AS j, 1 / sqrt(x.d * y.d) AS v FROM s JOIN d AS x ON x.i = s.src JOIN d AS y ON y.i = s.dst;
WITH k AS (SELECT x.i, y.i AS j, sum(x.v * y.v) AS v FROM a AS x JOIN a AS y USING (j) GROUP BY 1, 2),
     q AS (SELECT gp_factor(src, dst, 'A*X0') AS q FROM edges)
SELECT max(abs(gp_kernel_value(q, i, j) - v)) < 1e-6 AS linear, count(*) FROM k, q;
WITH c AS (SELECT i, j, CASE WHEN i = j THEN 0.5 ELSE 1 / (2 * pi()) END AS v FROM generate_series(1, 6) AS i, generate_series(1, 6) AS j),
     k AS (SELECT x.i, y.i AS j, sum(x.v * c.v * y.v) AS v FROM a AS x JOIN c ON c.i = x.j JOIN a AS y ON y.j = c.j GROUP BY 1, 2),
     q AS (SELECT gp_factor(src, dst, 'A*relu(X0*W)*W') AS q FROM edges)
SELECT max(abs(gp_kernel_value(q, i, j) - v)) < 1e-5 AS relu, count(*) FROM k, q;
-- The aggregate is short for the function
SELECT gp_factor(src, dst, 'gcn') = gp_factor(gp_graph(src, dst), NULL, 'gcn') AS same,
    gp_factor(src, dst, 'gcn', 3) = gp_factor(gp_graph(src, dst), NULL, 'gcn', 3) AS same_3,
    gp_factor(src, dst, weight, 'gcn') = gp_factor(gp_graph(src, dst, weight), NULL, 'gcn') AS weighted,
    gp_factor(src, dst, weight, 'gcn', 3) = gp_factor(gp_graph(src, dst, weight), NULL, 'gcn', 3) AS weighted_3,
    gp_factor(src, dst, 'gcn(input=laplacian)') IS NOT NULL AS laplacian
FROM edges;
SELECT gp_nodes(q), gp_rank(q), gp_rank(r) FROM (SELECT gp_factor(src, dst, 'gcn') AS q, gp_factor(src, dst, 'gcn', 2) AS r FROM edges) AS x;
-- Rows are those of the kernel
SELECT count(*), bool_and(array_length(q, 1) = gp_rank(f)),
    max(abs((SELECT sum(v * v) FROM unnest(q) AS v) - gp_kernel_value(f, node, node))) < 1e-6 AS same
FROM (SELECT gp_factor(src, dst, 'gcn') AS f FROM edges) AS x, gp_factor_rows(f);
-- Features: nodes without an edge are nodes, too
CREATE TABLE kept AS
    SELECT (SELECT gp_graph(src, dst) FROM edges) AS g, (SELECT gp_features(id, x) FROM nodes) AS f;
SELECT gp_nodes(q), gp_rank(q), gp_kernel_value(q, 7, 7) > 0 AS has_kernel FROM kept, gp_factor(g, f, 'gcn') AS q;
SELECT gp_factor(g, f, 'gcn', landmarks => 3, seed => 1) IS NOT NULL AS named FROM kept;
-- What is refused
SELECT gp_factor(g, (SELECT gp_features(id, x) FROM nodes WHERE id <> 3), 'gcn') FROM kept;
SELECT gp_factor(g, f, 'gcn', 0) FROM kept;
SELECT gp_factor(g, f, NULL) FROM kept;
SELECT gp_factor(NULL, f, 'gcn') IS NULL AS nothing FROM kept;
SELECT gp_kernel_value(q, 1, 99) FROM kept, gp_factor(g, f, 'gcn') AS q;
SELECT gp_factor(src, dst, CASE src WHEN 1 THEN 'gcn' ELSE 'gin' END) FROM edges;
SELECT gp_factor(src, dst, 'gcn', src::int) FROM edges;
SELECT gp_factor(src, dst, 'gcn', 0) FROM edges;
SELECT gp_factor(src, dst, NULL) FROM edges;
SELECT gp_factor(gp_graph(i, i + 1), NULL, 'gcn', 100000) FROM generate_series(1, 100000) AS i;
SELECT gp_features(i, array_fill(1::real, ARRAY[15000])) FROM generate_series(1, 5000) AS i;

-- gp_predict from a factor: as gp_fit on the same nodes and landmarks
CREATE TABLE points AS
    SELECT i AS id, ARRAY[sin(i), cos(i * i), 1]::real[] AS x, CASE WHEN i % 3 > 0 THEN 'class ' || i % 2 END AS class
    FROM generate_series(1, 60) AS i;
CREATE TABLE lines AS SELECT i AS src, 1 + (i * 7 + k) % 60 AS dst FROM generate_series(1, 60) AS i, generate_series(1, 2) AS k;
SELECT gp_create_graph('points', 'points', 'lines', features => '{x}', target => 'class');
SELECT count(*) FROM gp_fit('points', kernel => 'gcn', strategy => 'nystrom', landmarks => 60, nugget => 0.1);
CREATE TABLE factor AS
    SELECT gp_factor((SELECT gp_graph(src, dst) FROM lines), gp_features(id, x), 'gcn', 60) AS q FROM points;
SELECT count(*), bool_and(a.class = b.class) AS classes, max(abs(a.score - b.score)) < 1e-3 AS scores,
    max(abs(a.probability - b.probability)) < 1e-2 AS probabilities
FROM factor, LATERAL (SELECT array_agg(id) AS ids, array_agg(class) AS classes FROM points) AS l,
    gp_factor_predict(q, ids, classes, nugget => 0.1) AS a JOIN gp_predict('points') AS b USING (node);
SELECT count(*), min(variance) >= 0 AS sure FROM factor, gp_factor_predict(q, ARRAY[1, 2, 4, 5], ARRAY['a', 'b', 'b', 'a'], top => NULL);
SELECT node, class FROM factor, gp_factor_predict(q, ARRAY[1, 2, 4, 5], ARRAY['a', 'b', 'b', 'a']) WHERE node IN (1, 2, 4, 5);
SELECT count(*) FROM gp_factor_predict(NULL::gp_factor, ARRAY[1], ARRAY['a']);
SELECT gp_factor_predict(q, ARRAY[1, 2], ARRAY['a']) FROM factor;
SELECT gp_factor_predict(q, ARRAY[1, 99], ARRAY['a', 'b']) FROM factor;
SELECT gp_factor_predict(q, ARRAY[1, 1], ARRAY['a', 'b']) FROM factor;
SELECT gp_factor_predict(q, ARRAY[1, NULL], ARRAY['a', 'b']) FROM factor;
SELECT gp_factor_predict(q, ARRAY[1, 2], ARRAY[NULL, NULL]) FROM factor;
SELECT gp_factor_predict(q, NULL, ARRAY['a']) FROM factor;
SELECT gp_factor_predict(q, ARRAY[1, 2], ARRAY['a', 'b'], top => 0) FROM factor;
SELECT gp_factor_predict(q, ARRAY[1, 2], ARRAY['a', 'b'], nugget => 0) FROM factor;

-- One graph per group
SELECT tenant, gp_nodes(g), gp_edges(g), gp_rank(q)
FROM (SELECT i % 3 AS tenant, gp_graph(i, i * i % 97) AS g, gp_factor(i, i * i % 97, 'gcn', 8) AS q
      FROM generate_series(1, 300) AS i GROUP BY 1) AS x ORDER BY 1;
-- The values are those of each group alone
SELECT bool_and(q = (SELECT gp_factor(i, i * i % 97, 'gcn', 8) FROM generate_series(1, 300) AS i WHERE i % 3 = tenant)) AS same
FROM (SELECT i % 3 AS tenant, gp_factor(i, i * i % 97, 'gcn', 8) AS q FROM generate_series(1, 300) AS i GROUP BY 1) AS x;
-- As a window function
SELECT i, gp_edges(gp_graph(i, i + 1) OVER (ORDER BY i)) FROM generate_series(1, 4) AS i;

-- Parallel plans: the same bits
CREATE TABLE many AS
    SELECT i, i % 1000 AS a, i * 31 % 997 AS b, (1.0 / i)::float8 AS w FROM generate_series(1, 50000) AS i;
ALTER TABLE many SET (parallel_workers = 2);
ANALYZE many;
CREATE TABLE serial AS
    SELECT gp_graph(a, b) AS g, gp_graph(a, b, w) AS gw, gp_factor(a, b, w, 'gcn', 16) AS q, gp_features(i, ARRAY[a, w]) AS f FROM many;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF)
SELECT gp_graph(a, b), gp_graph(a, b, w), gp_factor(a, b, w, 'gcn', 16), gp_features(i, ARRAY[a, w]) FROM many;
CREATE TABLE parallel AS
    SELECT gp_graph(a, b) AS g, gp_graph(a, b, w) AS gw, gp_factor(a, b, w, 'gcn', 16) AS q, gp_features(i, ARRAY[a, w]) AS f FROM many;
SELECT p.g = s.g AS g, p.gw = s.gw AS gw, p.q = s.q AS q, p.f = s.f AS f FROM parallel AS p, serial AS s;
SELECT bool_and(g = h) AS by_group FROM
    (SELECT i % 5 AS k, gp_graph(a, b) AS g FROM many GROUP BY 1) AS x
    JOIN (SELECT i % 5 AS k, gp_graph(a, b ORDER BY i DESC) AS h FROM many GROUP BY 1) AS y USING (k);
SET max_parallel_workers_per_gather = 0;

-- States as text, the way another engine ships them
CREATE AGGREGATE collect_graph(bigint, bigint, float8) (SFUNC = gp_graph_accum, STYPE = gp_graph_state);
CREATE AGGREGATE combine_graph(gp_graph_state) (SFUNC = gp_graph_combine, STYPE = gp_graph_state, FINALFUNC = gp_graph_final);
CREATE AGGREGATE collect_factor(bigint, bigint, float8, gp_kernel, integer) (SFUNC = gp_factor_accum, STYPE = gp_graph_state);
CREATE AGGREGATE combine_factor(gp_graph_state) (SFUNC = gp_graph_combine, STYPE = gp_graph_state, FINALFUNC = gp_factor_final);
CREATE AGGREGATE combine_features(gp_features) (SFUNC = gp_features_combine, STYPE = gp_features, FINALFUNC = gp_features_final);
SELECT combine_graph(state::text::gp_graph_state) = (SELECT gw FROM serial) AS graph
FROM (SELECT collect_graph(a, b, w) AS state FROM many GROUP BY i % 7) AS x;
SELECT combine_factor(state::text::gp_graph_state) = (SELECT q FROM serial) AS factor
FROM (SELECT collect_factor(a, b, w, 'gcn', 16) AS state FROM many GROUP BY i % 7) AS x;
SELECT combine_features(state::text::gp_features) = (SELECT f FROM serial) AS features
FROM (SELECT gp_features(i, ARRAY[a, w]) AS state FROM many GROUP BY i % 7) AS x;
SELECT combine_graph(state) FROM (SELECT collect_factor(a, b, w, 'gcn', i) AS state FROM many WHERE i < 3 GROUP BY i) AS x;
SELECT combine_features(f) FROM (SELECT gp_features(1, ARRAY[i]) AS f FROM generate_series(1, 2) AS i GROUP BY i) AS x;
SELECT combine_features(f) FROM (SELECT gp_features(i, array_fill(1, ARRAY[i])) AS f FROM generate_series(1, 2) AS i GROUP BY i) AS x;

-- Less than 6 bytes an edge: mean degree 4, dense ids, random ends
SELECT gp_edges(g) > 190000 AS edges, pg_column_size(g) < 6 * gp_edges(g) AS small
FROM (SELECT gp_graph(hashint4(i)::bigint & 65535, hashint4(-i)::bigint & 65535) AS g FROM generate_series(1, 200000) AS i) AS x;

-- Columns, equality, dumps
CREATE TABLE stored AS SELECT g, f, gp_factor(g, f, 'gcn') AS q FROM kept;
SELECT g = g::text::gp_graph AS g, f = f::text::gp_features AS f, q = q::text::gp_factor AS q, g <> g AS ne_g, f <> f AS ne_f, q <> q AS ne_q FROM stored;
SELECT count(*) FROM (SELECT g, f, q FROM stored UNION SELECT g, f, q FROM stored) AS x;
CREATE INDEX ON stored USING hash (g);
CREATE TABLE copied (LIKE stored);
COPY stored TO PROGRAM 'cat >gnngp_stored.bin' (FORMAT binary);
COPY copied FROM PROGRAM 'cat gnngp_stored.bin && rm gnngp_stored.bin' (FORMAT binary);
SELECT count(*) FROM stored JOIN copied USING (g, f, q);

-- The memory limit holds for what is collected
SET gnngp.memory_limit = '4MB';
SELECT gp_graph(i, i + 1) FROM generate_series(1, 200000) AS i;
RESET gnngp.memory_limit;

-- A cancel ends it
SET statement_timeout = '300ms';
SELECT gp_graph(i, i % 1000) FROM generate_series(1, 1000000000) AS i;
SELECT gp_factor(i, (i * 7919) % 30000, 'gcn(layers=4)', 1500) FROM generate_series(1, 30000) AS i;
RESET statement_timeout;

DROP TABLE edges, w, nodes, a, kept, points, lines, factor, many, serial, parallel, stored, copied;
DROP AGGREGATE collect_graph(bigint, bigint, float8), combine_graph(gp_graph_state), combine_factor(gp_graph_state),
    collect_factor(bigint, bigint, float8, gp_kernel, integer), combine_features(gp_features);
SELECT gp_drop_graph('points');
