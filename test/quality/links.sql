-- links.sql - links held out and found again: one row of figures for one seed.
--
-- Variables: set (the data set), seed, method (auto where it is not set).  The row: AUC and average precision of a
-- tenth of the links against as many random pairs without one; how many of these
-- pairs have ends that both keep a link, and the same figures of those; the same
-- links against pairs at distance two; and the expected calibration error of the
-- probability.

\if :{?method}
\else
\set method auto
\endif
BEGIN;
\ir link_split.sql

-- Pairs without a link that have a common neighbour.
CREATE TEMP TABLE near_pair AS
    WITH pair AS (
        SELECT DISTINCT a.src, b.dst FROM arc AS a JOIN arc AS b ON b.src = a.dst WHERE a.src < b.dst
    )
    SELECT src, dst FROM pair
    WHERE NOT EXISTS (SELECT FROM link WHERE link.src = pair.src AND link.dst = pair.dst)
    ORDER BY md5(:'seed' || ' near ' || src || ' ' || dst) LIMIT :held;

SELECT FROM gp_fit_links('links_' || :'set', seed => :seed, method => :'method') \g /dev/null

CREATE TEMP TABLE pair AS
    SELECT row_number() OVER () AS k, * FROM (
        SELECT 'link' AS kind, src, dst FROM link WHERE held
        UNION ALL SELECT 'random', src, dst FROM random_pair
        UNION ALL SELECT 'near', src, dst FROM near_pair) AS p;
CREATE TEMP TABLE scored AS
    SELECT pair.kind, kind = 'link' AS hit, p.score, p.probability,
           EXISTS (SELECT FROM arc WHERE arc.src = pair.src) AND
           EXISTS (SELECT FROM arc WHERE arc.src = pair.dst) AS keeps
    FROM gp_score_links('links_' || :'set', (SELECT array_agg(src ORDER BY k) FROM pair),
                        (SELECT array_agg(dst ORDER BY k) FROM pair))
            WITH ORDINALITY AS p(src, dst, score, variance, probability, k)
        JOIN pair USING (k);

SELECT a.auc, a.ap, kept.pairs, k.auc, k.ap, n.auc, n.ap, round(bins.ece::numeric, 4)
FROM (SELECT array_agg(score) AS score, array_agg(hit) AS hit FROM scored WHERE kind <> 'near') AS every,
    (SELECT array_agg(score) AS score, array_agg(hit) AS hit, count(*) AS pairs
     FROM scored WHERE kind <> 'near' AND keeps) AS kept,
    (SELECT array_agg(score) AS score, array_agg(hit) AS hit FROM scored WHERE kind <> 'random') AS near,
    pg_temp.link_figures(every.score, every.hit) AS a,
    pg_temp.link_figures(kept.score, kept.hit) AS k,
    pg_temp.link_figures(near.score, near.hit) AS n,
    (SELECT sum(gap) / sum(n) AS ece
     FROM (SELECT abs(sum(probability - hit::integer)) AS gap, count(*) AS n
           FROM scored WHERE kind <> 'near' GROUP BY least(floor(probability * 15), 14)) AS bin) AS bins;
ROLLBACK;
