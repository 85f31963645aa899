-- One split of a graph by the defaults: its figure on the test nodes, and the seconds of the fit.
-- Variables: set, split (a number of the set's splits, or default), figure (accuracy, auc or r2).
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph = :'set' \g /dev/null
DROP TABLE IF EXISTS role, asked CASCADE;
SELECT :'figure' = 'r2' AS values, :'split' = 'default' AS standard, :'figure' = 'auc' AS dense,
       :'set' || '_nodes' AS nodes, :'set' || '_edges' AS edges, :'set' || '_splits' AS splits \gset
\if :standard
CREATE TABLE role AS SELECT id AS node_id, split AS role FROM :nodes;
\else
CREATE TABLE role AS SELECT node_id, role FROM :splits WHERE split_no = :'split';
\endif
\if :values
CREATE TABLE asked AS SELECT n.id, n.features, n.target AS truth, CASE WHEN r.role = 'train' THEN n.target END AS target
FROM :nodes AS n LEFT JOIN role AS r ON r.node_id = n.id;
\else
CREATE TABLE asked AS SELECT n.id, n.features, n.label AS truth, CASE WHEN r.role = 'train' THEN n.label END AS target
FROM :nodes AS n LEFT JOIN role AS r ON r.node_id = n.id;
\endif
SELECT gp_create_graph(:'set', nodes => 'asked', edges => :'edges', target => 'target',
    features => CASE WHEN :'dense' THEN '{features}' END::name[], sparse_features => CASE WHEN NOT :'dense' THEN :'set' || '_features' END) \g /dev/null
SELECT seconds FROM gp_fit(:'set') \gset
WITH told AS (
    SELECT a.truth, p.class, CASE WHEN p.class = '0' THEN 1 - p.probability ELSE p.probability END AS probability, p.score AS mean
    FROM gp_predict(:'set') AS p JOIN asked AS a ON a.id = p.node JOIN role AS r ON r.node_id = p.node
    WHERE r.role = 'test'
), ranked AS (
    SELECT *, rank() OVER (ORDER BY probability) + (count(*) OVER (PARTITION BY probability) - 1) / 2.0 AS place FROM told
)
SELECT CASE :'figure'
       WHEN 'accuracy' THEN avg((class = truth::text)::integer)
       WHEN 'r2' THEN 1 - sum((truth - mean) ^ 2) / (var_pop(truth) * count(*))
       ELSE (sum(place) FILTER (WHERE truth = 1) - count(*) FILTER (WHERE truth = 1) * (count(*) FILTER (WHERE truth = 1) + 1) / 2.0)
            / (count(*) FILTER (WHERE truth = 1) * count(*) FILTER (WHERE truth = 0)) END, :seconds
FROM ranked;
