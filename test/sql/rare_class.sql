-- A class of every node, sets that promise by class, and how well a class is ranked: each against statements over gp_loo and gp_predict
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA rare;
SET search_path = rare, public;
CREATE TABLE node AS
SELECT 'n' || i AS id, i % 16 = 0 AS truth, CASE WHEN i % 4 > 0 OR i % 64 < 16 THEN i % 16 = 0 END AS fraud, hashint4(i) / 4e9 + (i % 16 = 0)::integer * 0.4 AS amount
FROM generate_series(1, 1600) i;
CREATE TABLE edge AS SELECT 'n' || i AS src, 'n' || 1 + (i * 7 + hashint4(i) & 15) % 1600 AS dst FROM generate_series(1, 1600) i;
SELECT labels, classes FROM gp_create_graph('g', 'node', 'edge', features => '{amount}', target => 'fraud');
SELECT labelled FROM gp_fit('g', kernel => 'unit(X0*W)');

-- Best first, one row for each node, the rows of top => NULL
CREATE TEMP TABLE ranked AS SELECT row_number() OVER () AS place, r.* FROM gp_predict('g', NULL::text, class => 'true', unlabelled_only => true) AS r;
SELECT count(*) = count(DISTINCT node) AS once, bool_and(class = 'true') AS of_class,
       bool_and(NOT EXISTS (SELECT FROM ranked s WHERE s.place < r.place AND s.probability < r.probability)) AS sorted
FROM ranked r;
SELECT count(*) AS others
FROM (SELECT node, score, variance, probability FROM ranked
      EXCEPT SELECT node, score, variance, probability FROM gp_predict('g', NULL::text, top => NULL, unlabelled_only => true) WHERE class = 'true') d;
SELECT node, class FROM gp_predict('g', ARRAY['n1', 'n16', 'unknown'], class => 'true');
SELECT count(*) FROM gp_predict('g', NULL::text, class => 'false', top => 3);
-- A class may be named by a value of a type that targets have: all these rows are the same.
SELECT count(*) FROM (
    SELECT * FROM gp_predict('g', 'n16', class => true)
    UNION SELECT * FROM gp_predict('g', 'n16', class => 'true'::varchar)
    UNION SELECT * FROM gp_predict('g', 'n16', class => 'true'::character(9))
    UNION SELECT * FROM gp_predict('g', 'n16', class => 'true'::name)
    UNION SELECT * FROM gp_predict('g', 'n16', class => 'TRUE')
    UNION SELECT * FROM gp_predict('g', 'n16', class => 't')) AS u;
SELECT gp_predict('g', NULL::text, class => 2);
SELECT gp_predict('g', NULL::text, class => 'maybe');
EXPLAIN (COSTS OFF) SELECT FROM gp_predict('g', NULL::text, class => 'true');

-- The ranking, over gp_loo
CREATE TEMP TABLE label AS
SELECT target = 'true' AS hit, CASE WHEN target = 'true' THEN probability ELSE 1 - probability END AS p FROM gp_loo('g', NULL::text);
CREATE FUNCTION measured(k bigint, share float8) RETURNS TABLE (metric text, value float8) LANGUAGE sql AS $$
    WITH first AS (SELECT hit FROM label ORDER BY p DESC LIMIT k),
         cut AS (SELECT min(t.p) AS p FROM (SELECT DISTINCT p FROM label) t
                 WHERE (SELECT count(*) FROM label WHERE NOT hit AND label.p >= t.p) <= share * (SELECT count(*) FROM label WHERE NOT hit))
    SELECT 'recall_at_k', count(*) FILTER (WHERE hit)::float8 / (SELECT count(*) FROM label WHERE hit) FROM first
    UNION ALL SELECT 'precision_at_k', avg(hit::integer) FROM first
    UNION ALL SELECT 'threshold', p FROM cut
    UNION ALL SELECT 'recall_at_threshold', avg((label.p >= cut.p)::integer) FROM label, cut WHERE hit
    UNION ALL SELECT 'precision_at_threshold', avg(hit::integer) FROM label, cut WHERE label.p >= cut.p
$$;
SELECT asked, metric, abs(e.value - m.value) < 1e-6 AS equal
FROM (SELECT 'as many' AS asked, * FROM gp_evaluate('g') UNION ALL SELECT '20, .1', * FROM gp_evaluate('g', k => 20, false_alarms => 0.1)) AS e
    JOIN (SELECT 'as many' AS asked, * FROM measured((SELECT count(*) FROM label WHERE hit), 0.01) UNION ALL SELECT '20, .1', * FROM measured(20, 0.1)) AS m
        USING (asked, metric);
SELECT sum(value) FROM gp_evaluate('g', class => 'false', k => 1, false_alarms => 0) WHERE metric LIKE '%_at_k';
SELECT * FROM gp_evaluate('g', class => 'maybe');
SELECT * FROM gp_evaluate('g', k => 0);
SELECT * FROM gp_evaluate('g', false_alarms => 1.5);

-- Sets: the marginal promise may miss the rare class, that by class does not; of nodes without a label alone
CREATE FUNCTION covered(by_class boolean) RETURNS TABLE (truth boolean, kept boolean, nodes bigint) LANGUAGE sql AS $$
    SELECT n.truth, avg((n.truth::text = ANY (s.classes))::integer) >= 0.85, count(*)
    FROM gp_predict_sets('g', NULL::text, unlabelled_only => true, by_class => $1) AS s JOIN node AS n ON n.id = s.node GROUP BY 1 ORDER BY 1
$$;
SELECT * FROM covered(false);
SELECT * FROM covered(true);
SELECT bool_and(s.classes = b.classes) FROM gp_predict_sets('g', NULL::text) AS s JOIN gp_predict_sets('g', NULL::text, by_class => false) AS b USING (node);
-- A class with too few labels for the promise is in every set
SELECT bool_and('true' = ANY (classes)) FROM gp_predict_sets('g', NULL::text, coverage => 0.999, by_class => true);

-- Who was granted a model sees no ranking: it shows labels
CREATE ROLE rare_reader;
GRANT USAGE ON SCHEMA rare TO rare_reader;
SELECT gp_grant('g', 'rare_reader');
SET ROLE rare_reader;
SELECT count(*) FROM gp_evaluate('g') WHERE metric = 'threshold';
SELECT * FROM gp_evaluate('g', class => 'true');
SELECT count(*) FROM gp_predict('g', NULL::text, class => 'true');
RESET ROLE;

-- Values have no classes
SELECT gp_alter_graph('g', target => 'amount', features => '{truth}');
SELECT labelled FROM gp_fit('g', 'values', kernel => 'mlp');
SELECT * FROM gp_predict('values', NULL::text, class => 'true');
SELECT * FROM gp_predict_sets('values', NULL::text, by_class => true);

SET client_min_messages = error;
SELECT gp_drop_graph('g');
DROP SCHEMA rare CASCADE;
DROP ROLE rare_reader;
