-- What clusters say about the classes: mutual information over the mean of the entropies; seed is one of several.
WITH pair AS (
    SELECT c.cluster, n.label, count(*)::float8 / sum(count(*)) OVER ()::float8 AS p
    FROM gp_cluster(:'set', :clusters, kernel => :'method', seed => :seed) AS c JOIN :nodes AS n ON n.id = c.node
    GROUP BY 1, 2
), entropy AS (
    SELECT (SELECT -sum(p * ln(p)) FROM pair) AS together,
           (SELECT -sum(p * ln(p)) FROM (SELECT sum(p) AS p FROM pair GROUP BY cluster) AS c) AS clusters,
           (SELECT -sum(p * ln(p)) FROM (SELECT sum(p) AS p FROM pair GROUP BY label) AS l) AS classes
)
SELECT 2 * (clusters + classes - together) / (clusters + classes) FROM entropy;
