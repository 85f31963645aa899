-- judge.sql - what the predictions are worth, held against the hidden sections.

-- The same with the words alone: mlp is gcn without the graph.
SELECT model, kernel, nugget, round(seconds::numeric, 1) AS seconds
FROM gp_fit('packages', model => 'words', kernel => 'mlp');

-- Accuracy on the sections that were hidden.
SELECT m AS model, count(*) AS hidden, round(avg((g.class = a.section)::integer), 4) AS accuracy
FROM unnest('{packages,words}'::text[]) AS m,
    gp_predict(m, unlabelled_only => true) AS g
    JOIN answers AS a ON a.id = g.node
GROUP BY m ORDER BY m;

-- What the model says of itself, by leave-one-out on the tenth that has a section.
SELECT metric, round(value::numeric, 3) AS value FROM gp_evaluate('packages');

-- Ten packages drawn by a hash, the two best sections of each with their
-- probability, and what was hidden.
WITH drawn AS (
    SELECT id, section FROM answers ORDER BY md5(id::text) LIMIT 10
)
SELECT p.name, d.section AS hidden,
       string_agg(g.class || ' ' || to_char(g.probability, '0.99'), ', ' ORDER BY g.probability DESC) AS predicted,
       to_char(max(g.variance), '0.0000') AS variance
FROM drawn AS d
    JOIN packages AS p USING (id)
    JOIN gp_predict('packages', ARRAY(SELECT id FROM drawn), top => 2) AS g ON g.node = d.id
GROUP BY p.name, d.section
ORDER BY max(g.probability) DESC;
