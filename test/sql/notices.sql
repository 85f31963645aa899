-- What a fit reports in NOTICEs, and what it does not
CREATE SCHEMA notices;
SET search_path = notices, public;
\pset format unaligned
\pset tuples_only on

-- Five blocks, each a class: edges say all, a feature nothing
CREATE TABLE n AS SELECT i AS id, ARRAY[i * 7919 % 104729 % 97 + 1, i * 6007 % 101]::real[] AS x,
    CASE WHEN i % 5 = 0 THEN 'c' || i / 200 END AS y FROM generate_series(0, 999) i;
CREATE TABLE e AS SELECT i AS src, i / 200 * 200 + (i * 37 + k * 101 + 13) % 200 AS dst
    FROM generate_series(0, 999) i, generate_series(1, 5) k;
SELECT gp_create_graph('g', 'n', 'e', target => 'y');

-- A large nugget is no flaw where the model is right
SELECT strategy, nugget, loo_score > 0.99 AS right FROM gp_fit('g', kernel => 'laplacian(sigma2=10)');
-- A good model, too, is held against label propagation
SELECT value FROM gp_evaluate('g') WHERE metric = 'accuracy_label_propagation';
SELECT gp_report('g') LIKE '%Ten rounds of label propagation find 100.0\% of those hidden from it.%' AS told;

-- Landmarks that are none
SELECT strategy FROM gp_fit('g', kernel => 'gcn', nugget => 0.1, landmarks => 10);
SELECT strategy FROM gp_fit('g', kernel => 'laplacian', strategy => 'precision', nugget => 0.1, landmarks => 10);
SELECT strategy FROM gp_fit('g', kernel => 'gcn', strategy => 'nystrom', nugget => 0.1, landmarks => 100);

-- Labels that the kernel takes for noise; comparing kernels is advised once
SELECT gp_alter_graph('g', features => '{x}');
SELECT loo_score < 0.02 AS worthless FROM gp_fit('g', kernel => 'mlp');
CREATE TABLE blurred AS SELECT id, CASE WHEN id % 5 = 0 THEN 'c' || CASE WHEN id % 3 = 0 THEN id / 200 ELSE id * 7919 % 104729 % 5 END END AS y FROM n;
SELECT gp_create_graph('blurred', 'blurred', 'e', target => 'y');
SELECT nugget, loo_score < 0.5 AS low FROM gp_fit('blurred', kernel => 'laplacian(sigma2=10)');

-- A target that is linear in own columns and neighbours' means: the regression is as good as any kernel
CREATE TABLE straight AS SELECT n.id, n.x, CASE WHEN n.id % 5 = 0 THEN n.x[1] + 0.3 * n.x[2] + sin(n.id) + 0.5 * (
    SELECT avg(m.x[1]) FROM n AS m JOIN e ON n.id IN (e.src, e.dst) AND m.id = e.src + e.dst - n.id) END AS y FROM n;
SELECT gp_create_graph('straight', 'straight', 'e', target => 'y', features => '{x}');
SELECT kernel FROM gp_fit('straight');

-- Few labels do not keep a model of no worth from saying so
CREATE TABLE ring AS SELECT i AS id, CASE WHEN i < 7 THEN i % 2 END AS y, CASE WHEN i < 7 THEN i % 2 + 0.5 END AS v FROM generate_series(1, 34) i;
CREATE TABLE ring_e AS SELECT i AS src, i % 34 + 1 AS dst FROM generate_series(1, 34) i;
SELECT gp_create_graph('ring', 'ring', 'ring_e', target => 'y');
SELECT loo_score < 0.02 AS worthless FROM gp_fit('ring', kernel => 'mlp');
SELECT gp_alter_graph('ring', target => 'v');
SELECT loo_score < 0.02 AS worthless FROM gp_fit('ring', kernel => 'mlp');

-- A rare class explains little of the variance however well it is ranked
CREATE TABLE rare AS SELECT i AS id, x, CASE WHEN random() < 0.1 * x ^ 2 THEN 'yes' ELSE 'no' END AS y
    FROM (SELECT i, random() AS x FROM generate_series(1, 1000) i, setseed(0.5)) q;
CREATE TABLE rare_e (src int, dst int);
SELECT gp_create_graph('rare', 'rare', 'rare_e', target => 'y', features => '{x}');
SELECT loo_score < 0.02 AS low FROM gp_fit('rare', kernel => 'linear');
SELECT value > 0.7 AS ranked FROM gp_evaluate('rare') WHERE metric = 'roc_auc';

-- Each part of a model has what its fit told, not what those said that were compared; a refresh tells what is new
ALTER TABLE n ADD z real DEFAULT 0;
SELECT gp_create_graph('flat', 'n', 'e', target => 'y', features => '{z}');
SELECT kernel FROM gp_fit('flat');
SELECT method FROM gp_fit_links('flat', keep => 1, min_probability => 1);
SELECT unnest(notices) FROM gnngp_internal.gp_model_catalog WHERE name = 'flat';
SELECT unnest(link_notices) FROM gnngp_internal.gp_model_catalog WHERE name = 'flat';
CALL gp_refresh('ring');
UPDATE ring SET v = 3 WHERE v IS NOT NULL;
CALL gp_refresh('ring');
CALL gp_refresh('ring');
SELECT gp_report('ring') ~ '<th>notices</th><td>all targets are equal' AS reported;

SELECT gp_drop_graph(graph) FROM gp_graphs ORDER BY graph;
SET client_min_messages = warning;
DROP SCHEMA notices CASCADE;
