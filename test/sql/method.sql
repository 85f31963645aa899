-- Methods beside the Gaussian process: gp_fit(kernel => 'gckm') and its like.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA methods;
SET search_path = methods, public;

-- Three rings of forty; every fifth node's features are those of another ring.
CREATE TABLE nodes AS
    SELECT i AS id, (ARRAY['one', 'two', 'three'])[1 + i % 3] AS class,
           ARRAY[(like_ring = 0)::integer, (like_ring = 1)::integer, sin(i), cos(i * 3)]::real[] AS x,
           i::float8 AS value
    FROM generate_series(1, 120) AS i, LATERAL (SELECT (i + (i % 5 = 0)::integer) % 3 AS like_ring) AS l;
ALTER TABLE nodes ADD label text;
UPDATE nodes SET label = class WHERE id % 4 = 0;
CREATE TABLE edges AS
    SELECT i AS src, 1 + (i - 1 + 3 * k) % 120 AS dst
    FROM generate_series(1, 120) AS i, unnest(ARRAY[1, 2, 5]) AS k;
SELECT gp_create_graph('rings', 'nodes', 'edges', target => 'label', features => '{x}');

-- A fit: it has no nugget, no likelihood, and its kernel is the canonical text.
SELECT model, task, kernel, strategy, nodes, edges, classes, labelled, landmarks, nugget, log_marginal_likelihood,
       loo_score BETWEEN -1 AND 1 AS judged, alternatives
FROM gp_fit('rings', kernel => ' GCKM ( own = TRUE , layers=2 )');
SELECT landmarks, kernel FROM gp_fit('rings', 'plain', kernel => 'gckm', landmarks => 60);
SELECT kernel FROM gp_fit('rings', 'usual', kernel => 'gcn', nugget => 0.1);
SELECT model, kernel, landmarks, variances FROM gp_models ORDER BY model;
SELECT asked_kernel, asked_method, asked_landmarks FROM gnngp_internal.gp_model_catalog ORDER BY name;

-- What is stored answers as for every model.
SELECT count(*) AS nodes, avg((p.class = n.class)::integer) > 0.8 AS right,
       bool_and(p.probability BETWEEN 0 AND 1) AS chances, bool_and(p.variance BETWEEN 0 AND 2) AS cosines
FROM gp_predict('rings') AS p JOIN nodes AS n ON n.id = p.node;
SELECT avg((p.class = n.class)::integer) > 0.95 AS plain_right FROM gp_predict('plain') AS p JOIN nodes AS n ON n.id = p.node;
SELECT count(*) AS pairs, count(DISTINCT node) AS nodes FROM gp_predict('rings', top => NULL);
SELECT count(*) AS some FROM gp_predict('rings', '{1,2}', unlabelled_only => true);
SELECT count(*) AS sets, avg((n.class = ANY (s.classes))::integer) > 0.8 AS cover
FROM gp_predict_sets('rings') AS s JOIN nodes AS n ON n.id = s.node;
SELECT count(*) AS left_out FROM gp_loo('rings');
SELECT metric, value IS NOT NULL AS told FROM gp_evaluate('rings');
SELECT gp_report('rings') LIKE '%<th>kernel</th><td>gckm(own=true)</td>%' AS kernel;
SELECT gp_report('usual') LIKE '%<th>kernel</th><td>gcn</td>%' AS kernel;

-- The same seed gives the same bits, and so does a refresh, which fits by the method again.
CREATE TEMP TABLE before AS SELECT * FROM gp_predict('plain', top => NULL);
CALL gp_refresh('plain');
SELECT kernel, landmarks FROM gp_models WHERE model = 'plain';
SELECT count(*) AS nodes, bool_and(a.score = b.score AND a.variance = b.variance AND a.probability = b.probability) AS same
FROM before AS a JOIN gp_predict('plain', top => NULL) AS b USING (node, class);
SELECT FROM gp_fit('rings', 'seeded', kernel => 'gckm(landmarks=60)', seed => 9);
SELECT bool_and(a.score = b.score) AS same
FROM before AS a JOIN gp_predict('seeded', top => NULL) AS b USING (node, class);

-- An option of the text and the argument: the argument is taken.
SELECT kernel FROM gp_fit('rings', 'seeded', kernel => 'gckm(landmarks=60)', landmarks => 40);

-- A model changes its method; a link part stays, and has none.
SELECT kernel FROM gp_fit('rings', 'plain', kernel => 'gcn', strategy => 'exact', nugget => 0.1);
SELECT FROM gp_fit_links('rings', 'linked');
SELECT model, kernel FROM gp_models WHERE model IN ('plain', 'linked') ORDER BY model;
SELECT FROM gp_fit('rings', 'linked', kernel => 'gckm');
SELECT kernel, link_method FROM gp_models WHERE model = 'linked';

-- Estimates and comparisons.
SELECT strategy, bytes > 0 AS bytes, flops > 0 AS flops, reason LIKE 'graph convolutional kernel machine of 3 layers on 40 landmarks%' AS why
FROM gp_estimate('rings', kernel => 'gckm(layers=3)', landmarks => 40);
SELECT kernel, nugget IS NULL AS no_nugget, log_marginal_likelihood IS NULL AS no_likelihood, loo_score IS NOT NULL AS judged
FROM gp_tune('rings', kernels => '{gcn,gckm(layers = 1),gckm}') ORDER BY kernel::text;
SELECT kernel FROM gp_tune('rings', '{gcn,gckm}', 'marginal_likelihood');
SET client_min_messages = warning;
SELECT count(*) AS usual FROM gp_tune('rings', kernels => '{mlp,gckm}');
RESET client_min_messages;
SELECT count(*) AS clusters, sum(n) AS nodes FROM (
    SELECT cluster, count(*) AS n FROM gp_cluster('rings', 3, kernel => 'gckm') GROUP BY 1) AS c;
SELECT count(*) AS some FROM gp_cluster('rings', '{1,2,3}'::integer[], 3, kernel => 'gckm(components2=5)');
SELECT count(*) AS one FROM gp_cluster('rings', 7::bigint, 3, kernel => 'gckm', seed => 4);
SELECT count(*) FILTER (WHERE a.cluster = b.cluster) AS same
FROM gp_cluster('rings', 3) AS a JOIN gp_cluster('rings', 3, kernel => 'laplacian(d=2)') AS b USING (node);

-- More clusters than components that there can be, and nodes without features.
SELECT gp_create_graph('bare', 'nodes', 'edges', target => 'label');
SELECT count(*) AS nodes FROM gp_cluster('bare', 120, kernel => 'gckm');
SELECT features, kernel FROM gp_fit('bare', kernel => 'gckm');

-- What is refused.
\set VERBOSITY default
SELECT gp_fit('rings', 'no', kernel => 'scores');
SELECT gp_factor(1, 2, 'gckm');
SELECT gp_fit('rings', 'no', kernel => NULL);
SELECT gp_fit('rings', 'no', kernel => 'gckm(layer=2)');
SELECT gp_fit('rings', 'no', kernel => 'gckm(layers=9)');
SELECT gp_fit('rings', 'no', strategy => 'exact', kernel => 'gckm');
SELECT gp_fit('rings', 'no', nugget => 1, kernel => 'gckm');
SELECT gp_fit('rings', 'no', landmarks => 513, kernel => 'gckm');
SELECT gp_fit('bare', 'no', kernel => 'gckm(own=true)');
SELECT gp_estimate('bare', kernel => 'gckm(own=true)');
SELECT gp_tune('rings', kernels => '{gckm,NULL}');
SELECT gp_tune('rings', kernels => '{pairs}');
SELECT gp_create_graph('values', 'nodes', 'edges', target => 'value', features => '{x}');
SELECT gp_fit('values', 'no', kernel => 'gckm');
SELECT gp_tune('values', kernels => '{gcn,gckm}');
\set VERBOSITY terse

-- Too little memory is told; what is compared goes on without.
CREATE TABLE many AS SELECT i AS id, CASE WHEN i <= 40 THEN i % 2 END AS label FROM generate_series(1, 1000) AS i;
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 999) AS i;
SELECT gp_create_graph('chain', 'many', 'chain', target => 'label');
SET gnngp.memory_limit = '1MB';
\set VERBOSITY sqlstate
SELECT gp_fit('chain', 'no', kernel => 'gckm');
SELECT gp_cluster('chain', 3, kernel => 'gckm');
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT kernel, loo_score IS NULL AS skipped FROM gp_tune('chain', kernels => '{laplacian,"gckm(landmarks=10)",gckm}');
SELECT reason LIKE '%does not fit in gnngp.memory_limit%' AS told FROM gp_estimate('chain', kernel => 'gckm');
RESET client_min_messages;
RESET gnngp.memory_limit;
SELECT count(*) AS stored FROM gp_models WHERE model = 'no';

-- The trained method: folds are held out, the same seed gives the same bits, and what it does not serve says so.
SELECT kernel, landmarks, nugget, loo_score BETWEEN -1 AND 1 AS judged
FROM gp_fit('rings', 'trained', kernel => ' GPSRF ( steps = 16, units = 8, hidden=16,features=32 )');
SELECT count(*) AS nodes, bool_and(probability BETWEEN 0 AND 1) AS chances, bool_and(variance >= 0) AS variances FROM gp_predict('trained');
SELECT count(*) AS left_out FROM gp_loo('trained');
CREATE TEMP TABLE trained AS SELECT * FROM gp_predict('trained', top => NULL);

-- A refresh trains again, and gives the bits of a first fit.
CALL gp_refresh('trained');
SELECT bool_and(a.score = b.score AND a.probability = b.probability) AS same
FROM trained AS a JOIN gp_predict('trained', top => NULL) AS b USING (node, class);
SELECT part, count(*) AS blocks FROM gnngp_internal.gp_block JOIN gnngp_internal.gp_model_catalog AS m ON m.id = model WHERE m.name = 'trained' GROUP BY 1 ORDER BY 1;
SELECT model, kernel, variances FROM gp_models WHERE model = 'trained';
SELECT bytes > 0 AS bytes, flops > 0 AS flops FROM gp_estimate('rings', kernel => 'gpsrf(steps=16)');
SELECT gp_fit('rings', 'trained', kernel => 'gpsrf(steps=0)');
SELECT gp_fit('rings', 'trained', kernel => 'gpsrf', landmarks => 10);
SELECT task, strategy, labelled, nugget, loo_score < 1 AS scored FROM gp_fit('values', 'no', kernel => 'gpsrf(steps=16, features=64)');
SELECT count(*), bool_and(variance > 0) AS variances FROM gp_predict('no');
SELECT gp_drop_model('no');
SELECT gp_cluster('rings', 3, kernel => 'gpsrf');

-- A grantee reads the model and fits none; a stored model that is damaged says so and harms nobody.
CREATE ROLE regress_method_reader;
GRANT USAGE ON SCHEMA methods TO regress_method_reader;
SELECT gp_grant('rings', 'regress_method_reader');
SELECT gp_grant('trained', 'regress_method_reader');
SET ROLE regress_method_reader;
SELECT model, kernel FROM gp_models ORDER BY model;
SELECT DISTINCT part FROM gnngp_internal.gp_block ORDER BY 1;
SELECT count(*) AS nodes FROM gp_predict('rings');
SELECT gp_fit('rings', kernel => 'gckm');
SELECT gp_cluster('rings', 3, kernel => 'gckm');
RESET ROLE;
UPDATE gnngp_internal.gp_model_catalog SET asked_method = 'gckm(layers=99)' WHERE name = 'rings';
CALL gp_refresh('rings');
UPDATE gnngp_internal.gp_model_catalog SET asked_method = 'gckm', asked_kernel = 'gcn' WHERE name = 'rings';
CALL gp_refresh('rings');
SELECT kernel FROM gp_models WHERE model = 'rings';
SELECT count(*) AS nodes FROM gp_predict('rings');

SELECT gp_drop_graph('rings'), gp_drop_graph('bare'), gp_drop_graph('values'), gp_drop_graph('chain');
RESET search_path;
\set VERBOSITY sqlstate
DROP SCHEMA methods CASCADE;
DROP ROLE regress_method_reader;
