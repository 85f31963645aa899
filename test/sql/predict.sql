-- gp_predict in both forms, gp_evaluate, gp_tune and gp_estimate.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA predict;
SET search_path = predict, public;
CREATE TABLE n (id integer PRIMARY KEY, name text, key uuid, label text, y float8);
INSERT INTO n SELECT i, 'node ' || i, md5(i::text)::uuid,
                     CASE WHEN i % 4 < 2 THEN (array['low', 'middle', 'high'])[1 + i / 20] END,
                     CASE WHEN i % 4 < 3 THEN i / 10.0 END
              FROM generate_series(0, 59) i;
CREATE TABLE e AS SELECT i AS src, i + d AS dst FROM generate_series(0, 59) i, generate_series(1, 3) d WHERE i + d < 60;
SELECT gp_create_graph('g', 'n', 'e', target => 'label');
SELECT gp_create_graph('v', 'n', 'e', target => 'y');
CREATE VIEW named_e AS SELECT 'node ' || src AS src, 'node ' || dst AS dst FROM e;
CREATE VIEW keyed_e AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM e;
SELECT gp_create_graph('t', 'n', 'named_e', id => 'name', target => 'label');
SELECT gp_create_graph('u', 'n', 'keyed_e', id => 'key', target => 'label');
SELECT model, nodes, edges, classes, labelled FROM gp_fit('g', nugget => 0.1);
SELECT model, nodes, edges, classes, labelled FROM gp_fit('v', nugget => 0.1);
SELECT model, nodes, edges, classes, labelled FROM gp_fit('t', nugget => 0.1);
SELECT model, nodes, edges, classes, labelled FROM gp_fit('u', nugget => 0.1);

-- The first form
SELECT node, class, probability > 0.5 AS sure, variance > 0 AS doubt FROM gp_predict('g', nodes => '{30,2,58,2,NULL,999}');
SELECT count(*) AS rows, count(DISTINCT node) AS nodes FROM gp_predict('g');
SELECT count(*) AS rows, count(DISTINCT node) AS nodes FROM gp_predict('g', top => 2);
SELECT count(*) AS rows, count(DISTINCT node) AS nodes FROM gp_predict('g', top => NULL);
-- A list that is computed and comes out as NULL means all nodes, which nobody may have meant.
SELECT count(*) FROM gp_predict('g', (SELECT array_agg(id) FROM n WHERE id < 0));
SELECT count(*) FROM gp_predict('g', ARRAY(SELECT id FROM n WHERE id < 0));
SELECT count(*) AS rows FROM gp_predict('g', top => 100);
SELECT count(*) AS rows, bool_or(node % 4 < 2) AS labelled FROM gp_predict('g', unlabelled_only => true);
SELECT count(*) AS rows FROM gp_predict('g', nodes => '{}');
SELECT count(*) AS rows FROM gp_predict('g', unlabelled_only => true, nodes => '{0,1,2,3}');
SELECT bool_and(abs(total - 1) < 1e-6) AS one, bool_and(n = 3) AS all_classes
FROM (SELECT node, sum(probability) AS total, count(*) AS n FROM gp_predict('g', top => NULL) GROUP BY node) s;
SELECT bool_and(best) AS best_first
FROM (SELECT score >= lead(score, 1, '-Infinity') OVER (PARTITION BY node) AS best FROM gp_predict('g', top => NULL)) s;
SELECT string_agg(node::text, ',' ORDER BY i) AS in_key_order
FROM gp_predict('g', nodes => '{5,3,4}') WITH ORDINALITY p (node, class, score, variance, probability, i);

-- Nodes join without a cast
SELECT n.name, p.class FROM n JOIN gp_predict('g') p ON p.node = n.id WHERE n.id IN (1, 31) ORDER BY n.id;
SELECT n.id, p.class FROM n JOIN gp_predict('t', NULL::text) p ON p.node = n.name WHERE n.id IN (1, 31) ORDER BY n.id;
SELECT n.id, p.class FROM n JOIN gp_predict('u', NULL::uuid) p ON p.node = n.key WHERE n.id IN (1, 31) ORDER BY n.id;

-- The second form
SELECT node, pg_typeof(node), class FROM gp_predict('g', 30::bigint);
SELECT node, pg_typeof(node), class FROM gp_predict('g', id => 30);
SELECT node, pg_typeof(node), class FROM gp_predict('g', id => 30::smallint);
SELECT node, pg_typeof(node), class FROM gp_predict('t', 'node 30'::text);
SELECT node, pg_typeof(node), class FROM gp_predict('t', 'node 30'::varchar);
SELECT node = md5('30')::uuid AS same, pg_typeof(node), class FROM gp_predict('u', md5('30')::uuid);
SELECT count(*) FROM gp_predict('t', 'nobody'::text);
SELECT count(*) FROM gp_predict('u', md5('nobody')::uuid);
SELECT count(*) FROM gp_predict('g', 999::bigint);
SELECT count(*) FROM gp_predict('t', 'node 30'::text, NULL);
SELECT count(*) FROM gp_predict('t', 'node 30'::text, 2);
SELECT count(*) FROM gp_predict('t', 'node 30'::text, unlabelled_only => true);
SELECT count(*) FROM gp_predict('t', 'node 29'::text, unlabelled_only => true);
SELECT count(*) FROM gp_predict('u', NULL::uuid, unlabelled_only => true);
SELECT count(*) AS found, bool_and(p.node = n.name) AS same
FROM n, gp_predict('t', n.name) p;
SELECT count(*) AS found, bool_and(p.node = n.key) AS same
FROM n, gp_predict('u', n.key) p;

-- Values
SELECT count(*) AS rows, count(class) AS classes, count(probability) AS probabilities,
       corr(score, node) > 0.9 AS close, bool_and(variance > 0) AS doubt
FROM gp_predict('v');
SELECT count(*) FROM gp_predict('v', top => NULL, unlabelled_only => true);

-- Nodes without any kernel get the shares of the classes and the widest doubt.
CREATE TABLE f AS SELECT i AS node, i % 3 AS feature, 1.0 AS value FROM generate_series(0, 57) i;
CREATE VIEW lonely AS SELECT id, CASE WHEN id < 50 THEN label END AS label FROM n UNION ALL SELECT 100, NULL;
SELECT gp_create_graph('p', 'lonely', 'e', target => 'label', sparse_features => 'f');
SET client_min_messages = warning;
SELECT model, nodes, features FROM gp_fit('p', kernel => 'appnp', nugget => 0.1);
RESET client_min_messages;
SELECT class, score, round(probability::numeric, 4) AS probability FROM gp_predict('p', id => 100, top => NULL);
SELECT label, round(count(*) / sum(count(*)) OVER (), 4) AS share FROM lonely WHERE label IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1;
SELECT bool_and(lone.variance >= p.variance) AS widest
FROM gp_predict('p', id => 100) lone, gp_predict('p') p;

-- Many blocks: nodes are found in each of them, by number and by text.
CREATE TABLE path AS SELECT i AS id, 'stop ' || i AS name, CASE WHEN i % 1000 = 0 THEN i / 1000 END AS y
                     FROM generate_series(0, 29999) i;
CREATE TABLE hops AS SELECT i AS src, i + 1 AS dst FROM generate_series(0, 29998) i;
CREATE VIEW hops_by_name AS SELECT 'stop ' || src AS src, 'stop ' || dst AS dst FROM hops;
SELECT gp_create_graph('path', 'path', 'hops', target => 'y');
SELECT gp_create_graph('names', 'path', 'hops_by_name', id => 'name', target => 'y');
SELECT model, nodes, labelled FROM gp_fit('path', kernel => 'gcn', task => 'regression', nugget => 0.01);
SELECT model, nodes, labelled FROM gp_fit('names', kernel => 'gcn', task => 'regression', nugget => 0.01);
SELECT count(*) > 4 AS blocks, max(octet_length(data)) < 300000 AS small FROM gnngp_internal.gp_block WHERE first_key IS NOT NULL;
SELECT count(*), min(node), max(node) FROM gp_predict('path');
SELECT array_agg(node) FROM gp_predict('path', nodes => '{29999,0,15000,8191,8192,-1,30000,15000}');
SELECT count(*), bool_and(p.node = q.id) AS same FROM (SELECT id FROM path WHERE id % 1500 = 7) q, gp_predict('path', id => q.id) p;
SELECT count(*), bool_and(p.node = q.name) AS same FROM (SELECT name FROM path WHERE id % 1500 = 7) q, gp_predict('names', q.name) p;
SELECT count(*) FROM gp_predict('path', nodes => (SELECT array_agg(id) FROM path WHERE id % 7 = 0));
SELECT count(*), count(DISTINCT node) FROM gp_predict('names', NULL::text);

-- What does not go
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include
SELECT try($$SELECT * FROM gp_predict('t')$$);
SELECT try($$SELECT * FROM gp_predict('u', nodes => '{1}')$$);
SELECT try($$SELECT * FROM gp_predict('u', NULL::text)$$);
SELECT try($$SELECT * FROM gp_predict('t', md5('1')::uuid)$$);
SELECT try($$SELECT * FROM gp_predict('g', 'node 1'::text)$$);
SELECT model FROM gp_fit('t', 'it''s', nugget => 0.1);
SELECT try($$SELECT * FROM gp_predict('it''s')$$);
SELECT try($$SELECT * FROM gp_predict('it''s', 1)$$);
SELECT gp_drop_model('it''s');
SELECT try($$SELECT * FROM gp_predict('g', top => 0)$$);
SELECT try($$SELECT * FROM gp_predict('g', 1::bigint, -1)$$);
SELECT try($$SELECT * FROM gp_predict('g', unlabelled_only => NULL)$$);

-- A stored block that was changed is noticed.
BEGIN;
UPDATE gnngp_internal.gp_block SET data = set_byte(data, 100, 255 - get_byte(data, 100));
SELECT try($$SELECT * FROM gp_predict('g')$$);
ROLLBACK;
BEGIN;
UPDATE gnngp_internal.gp_block SET data = substr(data, 1, 40);
SELECT try($$SELECT * FROM gp_predict('g')$$);
ROLLBACK;
BEGIN;
DELETE FROM gnngp_internal.gp_block;
SELECT try($$SELECT * FROM gp_predict('g')$$);
ROLLBACK;

BEGIN;
DELETE FROM gnngp_internal.gp_block WHERE block > 0;
SELECT try($$SELECT * FROM gp_predict('path')$$);
ROLLBACK;

-- So are ids that are not those of their keys, though the checksum of the block is right.
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/seal.sql'
\i :include
SELECT bool_and(data = seal(data)) AS sealed FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.name = 't';
BEGIN;
UPDATE gnngp_internal.gp_block b SET data = seal(set_byte(data, length(data) - 1, 255 - get_byte(data, length(data) - 1)))
    FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model AND m.name = 't';
SELECT try($$SELECT * FROM gp_predict('t', NULL::text)$$);
SELECT try($$CALL gp_refresh('t')$$);
SELECT count(*) FROM gp_predict('t', NULL::text);
ROLLBACK;

-- And classes of scores that the model does not have
BEGIN;
UPDATE gnngp_internal.gp_block b SET data = seal(overlay(data PLACING '\xffffff7f' FROM 53))
    FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model AND m.name = 'g' AND b.part = 'figure' AND b.block = 2;
SELECT try($$SELECT * FROM gp_predict_sets('g', by_class => true)$$);
ROLLBACK;

-- A row of the catalog without what a fit writes there
BEGIN;
UPDATE gnngp_internal.gp_model_catalog SET task = NULL;
SELECT try($$SELECT * FROM gp_predict('g')$$);
SELECT try($$SELECT * FROM gp_predict('t', 'node 30'::text)$$);
SELECT try($$SELECT * FROM gp_evaluate('g')$$);
ROLLBACK;
SELECT try($$UPDATE gnngp_internal.gp_model_catalog SET id_type = NULL WHERE name = 't'$$);
SELECT try($$UPDATE gnngp_internal.gp_model_catalog SET class_labels = NULL WHERE name = 'g'$$);
BEGIN;
UPDATE gnngp_internal.gp_model_catalog SET device = NULL, asked_kernel = 'no kernel', kernel = 'no kernel';
SELECT count(*), min(kernel::text) AS kernel FROM gp_models;
SELECT try($$CALL gp_refresh('t')$$);
SELECT gp_drop_model('t');
ROLLBACK;

-- The planner knows how many rows to expect.
CREATE FUNCTION planned_rows(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT planned_rows($$SELECT * FROM gp_predict('g')$$) AS every_node,
       planned_rows($$SELECT * FROM gp_predict('g', top => NULL)$$) AS every_class,
       planned_rows($$SELECT * FROM gp_predict('g', top => 2, unlabelled_only => true)$$) AS unlabelled,
       planned_rows($$SELECT * FROM gp_predict('g', nodes => '{1,2,3}')$$) AS three,
       planned_rows($$SELECT * FROM gp_predict('u', NULL::uuid)$$) AS uuids,
       planned_rows($$SELECT * FROM gp_predict('u', md5('1')::uuid)$$) AS one,
       planned_rows($$SELECT * FROM gp_predict('nowhere')$$) AS unknown;

-- Leave-one-out figures
SELECT metric, value BETWEEN 0 AND 10 AS sensible FROM gp_evaluate('g');
SELECT metric, value BETWEEN 0 AND 10 AS sensible FROM gp_evaluate('v');

-- Comparing kernels
SET client_min_messages = warning;
SELECT count(*), bool_and(nugget > 0 AND seconds >= 0) AS figures, bool_and(ordered) AS best_first
FROM (SELECT *, row_number() OVER () = 1 OR nll <= lead(nll, 1, 'Infinity') OVER () AS ordered FROM gp_tune('g')) t;
SELECT bool_and(ordered) AS best_first
FROM (SELECT log_marginal_likelihood >= lead(log_marginal_likelihood, 1, '-Infinity') OVER () AS ordered
      FROM gp_tune('v', array['gcn', 'gcn(layers=1)', 'sage']::gp_kernel[], 'marginal_likelihood')) t;
SELECT kernel FROM gp_tune('g', array['gcn(layers=2)']::gp_kernel[]);
SELECT count(*) FROM gp_models;

RESET client_min_messages;

-- What a fit would cost
SELECT strategy, bytes > 0 AS bytes, flops > 0 AS flops, reason <> '' AS reason FROM gp_estimate('g');
SELECT strategy FROM gp_estimate('g', 'gcn', 'nystrom', 10);
CREATE TABLE large AS SELECT i AS id, CASE WHEN i % 10 = 0 THEN i % 3 END AS y FROM generate_series(0, 5999) i;
SELECT gp_create_graph('large', 'large', 'e', target => 'y');
-- on the CPU, for a GPU has room of its own
SELECT current_setting('gnngp.device') AS device \gset
SET gnngp.device = 'cpu';
SET gnngp.memory_limit = '2MB';
SELECT strategy, bytes > 2 * 2 ^ 20 AS more, flops > 0 AS flops, right(reason, 45) AS reason FROM gp_estimate('large', 'gcn', strategy => 'exact');
SELECT strategy, bytes > 2 * 2 ^ 20 AS more, flops > 0 AS flops, right(reason, 45) AS reason FROM gp_estimate('large', 'gcn');
SELECT try($$SELECT * FROM gp_fit('large', kernel => 'gcn')$$) LIKE '53400: the fit needs%' AS refused LIMIT 1;
RESET gnngp.memory_limit;
SET gnngp.device = :'device';
SELECT strategy, reason NOT LIKE '%not fit%' AS fits FROM gp_estimate('large', 'gcn');
-- with few labels the fit may choose among kernels that take unlike memory
ALTER TABLE large ADD few integer;
UPDATE large SET few = id % 3 WHERE id % 100 = 0;
SELECT gp_create_graph('few', 'large', 'e', target => 'few');
SELECT strategy, reason ~ 'at least, as the labels choose' AS open FROM gp_estimate('few');
SELECT strategy, reason ~ 'at least, as the labels choose' AS open FROM gp_estimate('few', 'gcn', 'exact');

SELECT gp_drop_graph(graph) FROM gp_graphs ORDER BY graph;
SET client_min_messages = warning;
DROP SCHEMA predict CASCADE;

-- Classes that are equally likely keep their scores, and so does the only one; a target that is constant is told to the last bit
CREATE TABLE tie_nodes (id int PRIMARY KEY, y text, one text, v float8);
INSERT INTO tie_nodes VALUES (0, 'a', 'a', 3.3), (1, 'b', 'a', 3.3), (2, NULL, NULL, NULL), (3, NULL, NULL, 3.3);
CREATE TABLE tie_edges AS SELECT * FROM (VALUES (0, 2), (2, 1), (0, 3), (1, 3)) AS e (src, dst);
SELECT gp_create_graph('tie', 'tie_nodes', 'tie_edges', target => 'y');
SELECT strategy FROM gp_fit('tie', kernel => 'gcn', nugget => 0.1, strategy => 'exact', live => true);
SELECT node, class, round(score::numeric, 4) AS score, round(probability::numeric, 6) AS probability FROM gp_predict('tie', ARRAY[2], top => 2);
SELECT node, class, round(score::numeric, 4) AS score, round(probability::numeric, 6) AS probability FROM gp_predict_live('tie', ARRAY[2], top => 2);
SELECT gp_alter_graph('tie', target => 'one');
SELECT strategy FROM gp_fit('tie', kernel => 'gcn', nugget => 0.1, strategy => 'exact', replace => true);
SELECT node, class, round(score::numeric, 4) AS score, probability FROM gp_predict('tie');
SELECT gp_alter_graph('tie', target => 'v');
SELECT strategy FROM gp_fit('tie', kernel => 'gcn', nugget => 0.1, strategy => 'exact', replace => true);
SELECT count(*), count(*) FILTER (WHERE score = 3.3) AS exact FROM gp_predict('tie');
SELECT gp_drop_graph('tie');
DROP TABLE tie_nodes, tie_edges;
