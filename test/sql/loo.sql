-- What a model says of its own labels, and sets that keep a promise.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA loo;
SET search_path = loo, public;

-- Three groups of a hundred on rings, with shortcuts inside; every third node is labelled,
-- one in ten of these wrongly.
CREATE TABLE node AS
    SELECT i AS id, 'n' || i AS name,
           CASE WHEN i % 3 = 0 THEN (ARRAY['red', 'green', 'blue'])[1 + (i / 100 + (i % 30 = 0)::integer) % 3] END AS colour,
           CASE WHEN i % 3 = 0 THEN (i / 100) * 10 + sin(i) END::double precision AS size,
           CASE WHEN i % 3 = 0 THEN i < 100 END AS rare
    FROM generate_series(0, 299) AS i;
CREATE TABLE edge AS
    SELECT i AS src, (i / 100) * 100 + (i + step) % 100 AS dst
    FROM generate_series(0, 299) AS i, unnest(ARRAY[1, 7, 19]) AS step;
CREATE TABLE name_edge AS SELECT 'n' || src AS src, 'n' || dst AS dst FROM edge;
SELECT gp_create_graph('colours', 'node', 'edge', target => 'colour');
SELECT gp_create_graph('sizes', 'node', 'edge', target => 'size');
SELECT gp_create_graph('rare', 'node', 'edge', target => 'rare');
SELECT gp_create_graph('names', 'node', 'name_edge', id => 'name', target => 'colour');
SELECT count(*) FROM unnest(ARRAY['colours', 'sizes', 'rare', 'names']) AS g, gp_fit(g);

-- One row for each labelled node, in the order of the ids; what gp_evaluate sums up.
SELECT count(*), bool_and(n.colour = l.target), bool_and(l.probability BETWEEN 0 AND 1), bool_and(l.variance >= 0)
FROM gp_loo('colours') AS l JOIN node AS n ON n.id = l.node;
SELECT abs(avg((l.target = l.predicted)::integer) - max(e.value)) < 1e-9 AS accuracy,
       abs(avg(-ln(l.probability)) - max(f.value)) < 1e-5 AS nll
FROM gp_loo('colours') AS l, gp_evaluate('colours') AS e, gp_evaluate('colours') AS f
WHERE e.metric = 'accuracy' AND f.metric = 'nll';
SELECT target, predicted, count(*) FROM gp_loo('colours') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT metric, value BETWEEN 0 AND 1 AS sensible FROM gp_evaluate('rare') ORDER BY metric COLLATE "C";
-- A node's own label does not speak in its own row: the wrong ones look wrong.
SELECT count(*) AS wrong, avg(probability) < 0.3 AS doubted
FROM gp_loo('colours') WHERE node % 30 = 0;
SELECT bool_and(l.target::double precision = n.size) AS target, bool_and(l.predicted::double precision = l.score) AS predicted,
       bool_and(l.probability IS NULL) AS no_class,
       abs(sqrt(avg((n.size - l.score) ^ 2)) - max(e.value)) < 1e-9 AS rmse
FROM gp_loo('sizes') AS l JOIN node AS n ON n.id = l.node, gp_evaluate('sizes') AS e WHERE e.metric = 'rmse';

-- The forms: one node, some, by text; a node without a label has no row.
SELECT node, target FROM gp_loo('colours', 3);
SELECT node, pg_typeof(node), target FROM gp_loo('colours', '3'::text);
SELECT node, pg_typeof(node) FROM gp_loo('colours', ARRAY[3, 4, 6]) ORDER BY node;
SELECT node, target FROM gp_loo('names', 'n3');
SELECT count(*) FROM gp_loo('names', NULL::text);
SELECT count(*) FROM gp_loo('names', nodes => ARRAY['n3', 'n6']);
SELECT * FROM gp_loo('names');
SELECT * FROM gp_loo('nothing');
SELECT * FROM gp_loo(NULL);

-- Sets: nine in ten of the labels are in the set that the others make, by the rank of their scores.
SELECT count(*), bool_and(cardinality(classes) BETWEEN 1 AND 3), bool_and(probability BETWEEN 0 AND 1),
       bool_and(lower IS NULL AND upper IS NULL) FROM gp_predict_sets('colours');
SELECT bool_and(s.classes[1] = p.class) AS first_is_best
FROM gp_predict_sets('colours') AS s JOIN gp_predict('colours') AS p USING (node);
SELECT bool_and(wide.classes @> narrow.classes) AS nested, sum(cardinality(wide.classes)) > sum(cardinality(narrow.classes)) AS wider
FROM gp_predict_sets('colours', coverage => 0.99) AS wide JOIN gp_predict_sets('colours', coverage => 0.6) AS narrow USING (node);
-- A promise that so few labels cannot keep: all classes, and no bounds.
SELECT min(cardinality(classes)) FROM gp_predict_sets('colours', coverage => 0.999);
SELECT lower, upper FROM gp_predict_sets('sizes', 5, coverage => 0.999);
-- Intervals: as wide as the labels' own distances say.
SELECT bool_and(s.classes IS NULL AND s.probability IS NULL AND s.lower < s.upper) AS intervals,
       bool_and(abs((s.lower + s.upper) / 2 - p.score) < 1e-9) AS centred,
       max((s.upper - s.lower) / sqrt(p.variance)) - min((s.upper - s.lower) / sqrt(p.variance)) < 1e-9 AS in_deviations
FROM gp_predict_sets('sizes') AS s JOIN gp_predict('sizes') AS p USING (node);
SELECT abs((max((s.upper - s.lower) / sqrt(p.variance)) / 2 -
            (SELECT percentile_disc(ceil(101 * 0.9) / 100) WITHIN GROUP (ORDER BY abs(n.size - l.score) / sqrt(l.variance))
             FROM gp_loo('sizes') AS l JOIN node AS n ON n.id = l.node))) < 1e-6 AS quantile
FROM gp_predict_sets('sizes') AS s JOIN gp_predict('sizes') AS p USING (node);
SELECT node, cardinality(classes) > 0 AS some FROM gp_predict_sets('names', ARRAY['n1', 'n2']) ORDER BY node;
-- The smallest promise is that of the label that is least strange.
SELECT bool_and(lower <= upper) AS ordered FROM gp_predict_sets('sizes', coverage => 1e-12);
SELECT * FROM gp_predict_sets('colours', coverage => 1);
SELECT * FROM gp_predict_sets('colours', coverage => 'NaN');
SELECT * FROM gp_predict_sets('colours', coverage => NULL);

-- The labels are the owner's: a grant of the model does not show them, sets it does.
CREATE ROLE gnngp_loo_reader;
GRANT USAGE ON SCHEMA loo TO gnngp_loo_reader;
SELECT gp_grant('colours', 'gnngp_loo_reader');
SET ROLE gnngp_loo_reader;
SELECT count(*) FROM gp_predict_sets('colours');
SELECT count(*) FROM gp_evaluate('colours');
SELECT part, count(*) FROM gnngp_internal.gp_block GROUP BY part ORDER BY part COLLATE "C";
SELECT * FROM gp_loo('colours');
RESET ROLE;

-- Blocks that are gone.
DELETE FROM gnngp_internal.gp_block WHERE part IN ('loo', 'figure') AND model = (SELECT id FROM gnngp_internal.gp_model_catalog WHERE name = 'colours');
SELECT * FROM gp_loo('colours');
SELECT * FROM gp_loo('colours', 3);
SELECT * FROM gp_predict_sets('colours');
SELECT metric FROM gp_evaluate('colours');
CALL gp_refresh('colours');
SELECT count(*) FROM gp_loo('colours');
-- A refresh leaves nothing of the version before.
SELECT part, count(DISTINCT version) FROM gnngp_internal.gp_block WHERE model = (SELECT id FROM gnngp_internal.gp_model_catalog WHERE name = 'colours')
GROUP BY part ORDER BY part COLLATE "C";
-- Damage is told.
UPDATE gnngp_internal.gp_block SET data = substr(data, 1, 40) WHERE part = 'figure' AND model = (SELECT id FROM gnngp_internal.gp_model_catalog WHERE name = 'colours');
SELECT * FROM gp_predict_sets('colours');


-- Half of the nodes have no features and no neighbours: they are told, and judged, by the prior.
CREATE TABLE half AS
    SELECT i AS id, CASE WHEN i % 2 = 0 THEN ARRAY[(i % 4)::real, 1] ELSE ARRAY[0, 0] END AS features,
           CASE WHEN i % 5 = 0 THEN i % 3 = 0 END AS class,
           CASE WHEN i % 5 = 0 THEN (i % 4)::double precision + sin(i) END AS value
    FROM generate_series(1, 400) AS i;
SELECT gp_create_graph('half', 'half', 'edge', features => '{features}', target => 'class');
UPDATE edge SET src = src * 2, dst = dst * 2;
DELETE FROM edge WHERE src > 400 OR dst > 400 OR src = 0 OR dst = 0;
SELECT gp_create_graph('halves', 'half', 'edge', features => '{features}', target => 'value');
SELECT count(*) FROM gp_fit('half', kernel => 'gcn') AS a, gp_fit('halves', kernel => 'gin') AS b;
SELECT abs(avg(-ln(l.probability)) - max(e.value)) < 1e-5 AS nll FROM gp_loo('half') AS l, gp_evaluate('half') AS e WHERE e.metric = 'nll';
SELECT bool_and(abs(l.variance - p.variance) < 1e-9 * p.variance) AS as_any_other, count(DISTINCT l.probability) = 2 AS by_shares
FROM gp_loo('half') AS l JOIN gp_predict('half') AS p USING (node) WHERE l.node % 2 = 1;
SELECT bool_and(abs(l.variance - p.variance) < 1e-9 * p.variance) AS as_any_other
FROM gp_loo('halves') AS l JOIN gp_predict('halves') AS p USING (node) WHERE l.node % 2 = 1;
-- The page of a model, of equal values too.
UPDATE half SET value = 1e9 WHERE value IS NOT NULL;
CALL gp_refresh('halves');
SELECT gp_report('halves') LIKE '<!DOCTYPE html>%', gp_report('half') LIKE '<!DOCTYPE html>%';

SELECT gp_drop_graph(g) FROM unnest(ARRAY['colours', 'sizes', 'rare', 'names', 'half', 'halves']) AS g;
DROP SCHEMA loo CASCADE;
DROP ROLE gnngp_loo_reader;
