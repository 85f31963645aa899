-- link_recall.sql - of the ten best links of all candidates, how many in a hundred gp_predict_links gives.
--
-- Variables: set (the data set), seed.  Every pair of some nodes is scored by itself, and the ten best of them that are
-- not links are looked for among those that are predicted from the same candidates: all other nodes.

BEGIN;
\ir link_split.sql
SELECT FROM gp_fit_links('links_' || :'set', seed => :seed) \g /dev/null

CREATE TEMP TABLE asked AS
    SELECT id FROM :nodes ORDER BY md5(:'seed' || ' asked ' || id) LIMIT 50;
CREATE TEMP TABLE pair AS
    SELECT row_number() OVER () AS k, a.id AS src, n.id AS dst
    FROM asked AS a JOIN :nodes AS n ON n.id <> a.id
    WHERE NOT EXISTS (SELECT FROM arc WHERE arc.src = a.id AND arc.dst = n.id);
CREATE TEMP TABLE best AS
    SELECT src, dst
    FROM (SELECT src, dst, row_number() OVER (PARTITION BY src ORDER BY score DESC) AS place
          FROM gp_score_links('links_' || :'set', (SELECT array_agg(src ORDER BY k) FROM pair),
                              (SELECT array_agg(dst ORDER BY k) FROM pair))) AS p
    WHERE place <= 10;
-- One node at a time: a pair of two of them is told once.
SELECT round(100.0 * count(*) FILTER (WHERE (src, dst) IN (TABLE best)) / (SELECT count(*) FROM best), 2)
FROM asked, gp_predict_links('links_' || :'set', ARRAY[id], k => 10, candidates => 'all');
ROLLBACK;
