-- Links by a deep Gaussian process: its method text, what it predicts, its embedding, and what is refused.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA deep_links;
SET search_path = deep_links, public;
\pset format unaligned
\pset tuples_only on
\pset null NULL

\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try.sql'
\i :include

-- Groups of 12 nodes, most of whose pairs are linked, with and without features
CREATE TABLE n AS SELECT i AS id, 'n' || i AS name, ARRAY[i / 12 % 3, i % 5, 1]::real[] AS x FROM generate_series(0, 95) i;
CREATE TABLE e AS
    SELECT a.id AS src, b.id AS dst FROM n a JOIN n b ON a.id < b.id AND a.id / 12 = b.id / 12 WHERE (a.id * 31 + b.id * 17) % 4 <> 0;
CREATE TABLE named AS SELECT 'n' || src AS src, 'n' || dst AS dst FROM e;
SELECT gp_create_graph('g', 'n', 'e'), gp_create_graph('f', 'n', 'e', features => '{x}'),
       gp_create_graph('names', 'n', 'named', id => 'name'), gp_create_graph('arcs', 'n', 'e', directed => true);
SELECT g, f.model, f.method, f.nodes, f.pairs = f.edges AS all_links, f.auc > 0.8 AS good
FROM unnest('{g,f,names,arcs}'::text[]) AS g, gp_fit_links(g, method => 'DGP( units = 12, Steps=120)') AS f;

-- Pairs of one group come first, and are told with what deviation
SELECT g, count(*), avg((src / 12 = dst / 12)::integer) > 0.8 AS within, bool_and(variance >= 0) AS variances,
       bool_and(probability BETWEEN 0 AND 1) AS probabilities
FROM unnest('{g,f,arcs}'::text[]) AS g, gp_predict_links(g, '{5,50,90}'::integer[], k => 2, candidates => 'all') GROUP BY g ORDER BY g;
SELECT count(*) FROM gp_predict_links('names', 'n7', k => 3);
-- Directions are not told apart: what is linked in one is not suggested in the other
SELECT count(*) > 100 AS many, bool_and(e.src IS NULL) AS unlinked
FROM gp_predict_links('arcs', k => 3) AS l LEFT JOIN e ON least(l.src, l.dst) = e.src AND greatest(l.src, l.dst) = e.dst;
SELECT a.score = b.score AND a.variance = b.variance AS unordered
FROM gp_score_links('g', 1, 40) AS a, gp_score_links('g', 40, 1) AS b;
SELECT count(*) = 2 * count(*) FILTER (WHERE linked) AS halves FROM gp_heldout_links('g');
SELECT metric FROM gp_evaluate('g');
SELECT model, link_method, link_kernel, link_steps FROM gp_models ORDER BY model;

-- The embedding: inner products rank pairs as scores of small variance do
SELECT count(*), min(cardinality(embedding)), max(cardinality(embedding)) FROM gp_embedding('g');
SELECT corr(a.embedding[1] * b.embedding[1] + a.embedding[2] * b.embedding[2] + a.embedding[3] * b.embedding[3] +
            a.embedding[4] * b.embedding[4] + a.embedding[5] * b.embedding[5] + a.embedding[6] * b.embedding[6] +
            a.embedding[7] * b.embedding[7] + a.embedding[8] * b.embedding[8] + a.embedding[9] * b.embedding[9] +
            a.embedding[10] * b.embedding[10] + a.embedding[11] * b.embedding[11] + a.embedding[12] * b.embedding[12],
            s.score) > 0.98 AS ranks
FROM gp_embedding('g', 3) AS a, gp_embedding('g') AS b, gp_score_links('g', 3, b.node::integer) AS s WHERE b.node <> 3;
SELECT a.node, a.embedding = b.embedding AS same FROM gp_embedding('g', '{9,2,9,1000}'::integer[]) AS a JOIN gp_embedding('g') AS b USING (node);
SELECT node, cardinality(embedding) FROM gp_embedding('names', 'n3');
SELECT count(*) FROM gp_embedding('names', NULL::text);
SELECT a.embedding = b.embedding AS same FROM gp_embedding('g', '3') AS a, gp_embedding('g', 3::smallint) AS b;

-- The same seed gives the same bits
CREATE TABLE was AS SELECT * FROM gp_embedding('g');
CALL gp_refresh('g');
SELECT count(*) FILTER (WHERE was.embedding = now.embedding) AS same, count(*) AS nodes FROM was FULL JOIN gp_embedding('g') AS now USING (node);
SELECT method FROM gp_fit_links('g', method => 'dgp(units=12, layers=1, convolutions=1, features=8, steps=20, rate=0.05)', seed => 4);

-- The published form, by inducing pairs: a model like the others, except the embedding
SELECT method, auc > 0.7 AS good FROM gp_fit_links('f', 'published', method => 'dgp( Inducing = 12, units=9, steps=120)');
SELECT bool_and(variance >= 0) AS variances, bool_and(probability BETWEEN 0 AND 1) AS probabilities, count(*) > 50 AS many
FROM gp_predict_links('published', k => 1, candidates => 'all');
SELECT abs(a.score - b.score) < 1e-9 AND a.variance > 0 AS unordered
FROM gp_score_links('published', 1, 40) AS a, gp_score_links('published', 40, 1) AS b;
SELECT count(*) > 0 AS figures FROM gp_evaluate('published');
SELECT try($$SELECT gp_embedding('published')$$);
CALL gp_refresh('published');
SELECT link_method, link_auc > 0.7 AS good FROM gp_models WHERE model = 'published';

-- Another model of the same graph
SELECT method FROM gp_fit_links('g', 'both');

-- What a fit would take; a fit takes that
SELECT m, strategy, bytes > 0 AS bytes, flops > 0 AS flops, split_part(reason, ':', 1)
FROM unnest('{scores,pairs,dgp(steps=20)}'::text[]) AS m, gp_estimate('f', kernel => m);
SELECT l.method, peak_bytes <= bytes AND bytes <= 1.1 * peak_bytes AS near
FROM unnest('{scores,dgp(steps=20),"dgp(inducing=20, steps=20)"}'::text[]) AS m, gp_estimate('f', kernel => m) AS e, gp_fit_links('f', 'taken', method => m, replace => true) AS l;
SELECT gp_drop_model('taken');
SELECT try($$SELECT gp_estimate('f', kernel => 'scores', live => true)$$);

-- What is refused
SELECT try($$SELECT gp_fit('f', kernel => 'dgp')$$);
SELECT try($$SELECT gp_fit_links('g', method => 'dgp(unit=3)')$$);
SELECT try($$SELECT gp_fit_links('g', method => 'dgp(units=0)')$$);
SELECT try($$SELECT gp_fit_links('g', method => 'dgp(inducing=82, features=64)')$$);
SELECT try($$SELECT gp_fit_links('g', method => 'dgp(steps=20')$$);
SELECT try($$SELECT gp_fit_links('g', method => 'dpg')$$);
SELECT try($$SELECT gp_fit_links('g', method => 'scores(steps=20)')$$);
SELECT try($$SELECT gp_fit_links('g', kernel => 'gin', method => 'dgp')$$);
SELECT try($$SELECT gp_fit_links('g', kernel => 'gcn', method => 'dgp')$$);
SELECT try($$SELECT gp_fit_links('g', kernel => 'auto', method => 'dgp')$$);
SELECT try($$SELECT gp_embedding('names')$$);
SELECT try($$SELECT gp_embedding('both')$$);
SELECT try($$SELECT gp_embedding('nobody')$$);
SET gnngp.memory_limit = '2MB';
SELECT left(try($$SELECT gp_fit_links('f', method => 'dgp(features=20000)')$$), 26);
RESET gnngp.memory_limit;

-- A reader to whom a model was granted sees its embedding, or scores, and no other's
CREATE ROLE deep_reader;
GRANT USAGE ON SCHEMA deep_links TO deep_reader;
SELECT gp_grant(m, 'deep_reader') IS NOT NULL FROM unnest('{g,published,both}'::text[]) AS m;
SET ROLE deep_reader;
SELECT count(*) FROM gp_embedding('g');
SELECT try($$SELECT gp_embedding('f')$$);
SELECT count(*) FROM gp_score_links('published', 1, 40) AS p, gp_score_links('both', 1, 40) AS b;
RESET ROLE;
SELECT gp_drop_model(m) FROM unnest('{g,f,names,arcs,published,both}'::text[]) AS m;
SELECT gp_drop_graph(g) FROM unnest('{g,f,names,arcs}'::text[]) AS g;
DROP OWNED BY deep_reader;
DROP ROLE deep_reader;
DROP SCHEMA deep_links CASCADE;
