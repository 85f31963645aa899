-- So many random labels a class, all other nodes asked for: accuracy, negative log
-- likelihood, expected calibration error, and the coverage and size of sets that
-- promise nine in ten.  The draw is numbered by seed.
UPDATE few_draw SET seed = :seed, per = :per;
SELECT FROM gp_fit(:'set' || '_few', kernel => :'kernel') \g /dev/null
WITH answer AS (
    SELECT p.node, p.class, p.probability, n.label::text AS label
    FROM gp_predict(:'set' || '_few', top => NULL, unlabelled_only => true) AS p JOIN :nodes AS n ON n.id = p.node
), best AS (
    SELECT DISTINCT ON (node) node, probability, (class = label)::integer AS hit FROM answer ORDER BY node, probability DESC
), bin AS (
    SELECT count(*) AS n, abs(sum(probability) - sum(hit)) AS gap FROM best GROUP BY least(floor(probability * 15), 14)
)
SELECT round((SELECT avg(hit) FROM best), 4),
       round((SELECT avg(-ln(greatest(probability, 1e-12))) FROM answer WHERE class = label)::numeric, 4),
       round((SELECT sum(gap) / sum(n) FROM bin)::numeric, 4),
       round(avg((n.label::text = ANY (s.classes))::integer), 4), round(avg(cardinality(s.classes)), 3)
FROM gp_predict_sets(:'set' || '_few') AS s JOIN :nodes AS n ON n.id = s.node JOIN best ON best.node = s.node;
