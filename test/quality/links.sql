-- links.sql - links held out and found again: one row of figures for one seed.
--
-- Variables: set (the data set), seed, features (the rest of gp_create_graph's
-- arguments).  Every draw is the order of a hash of the seed, so each run sees
-- the same pairs.  The row: AUC and average precision of a tenth of the links
-- against as many random pairs without one; the same of the pairs whose ends
-- both keep a link; the same links against pairs at distance two; and the
-- expected calibration error of the probability.

SELECT :'set' || '_edges' AS edges, :'set' || '_nodes' AS nodes \gset

BEGIN;
CREATE TEMP TABLE link AS
    SELECT least(src, dst) AS src, greatest(src, dst) AS dst,
           row_number() OVER (ORDER BY md5(:'seed' || ' link ' || least(src, dst) || ' ' || greatest(src, dst)))
           <= round(0.1 * count(*) OVER ()) AS held
    FROM :edges;
CREATE UNIQUE INDEX ON link (src, dst);
SELECT count(*) FILTER (WHERE held) AS held FROM link \gset

-- What is learnt from, and both directions of it.
TRUNCATE link_train;
INSERT INTO link_train SELECT src, dst FROM link WHERE NOT held;
CREATE TEMP TABLE arc AS
    SELECT src, dst FROM link_train UNION ALL SELECT dst, src FROM link_train;
CREATE INDEX ON arc (src);

-- Random pairs without a link.
CREATE TEMP TABLE random_pair AS
    WITH node AS (
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS number, count(*) OVER () AS n FROM :nodes
    ), hash AS (
        SELECT k, ('x' || left(md5(:'seed' || ' src ' || k), 7))::bit(28)::integer AS a,
               ('x' || left(md5(:'seed' || ' dst ' || k), 7))::bit(28)::integer AS b
        FROM generate_series(1, 3 * :held) AS k
    ), pair AS (
        SELECT min(k) AS k, least(i.id, j.id) AS src, greatest(i.id, j.id) AS dst
        FROM hash
            JOIN node AS i ON i.number = a % i.n
            JOIN node AS j ON j.number = b % j.n
        WHERE i.id <> j.id
        GROUP BY 2, 3
    )
    SELECT src, dst FROM pair
    WHERE NOT EXISTS (SELECT FROM link WHERE link.src = pair.src AND link.dst = pair.dst)
    ORDER BY k LIMIT :held;

-- Pairs without a link that have a common neighbour.
CREATE TEMP TABLE near_pair AS
    WITH pair AS (
        SELECT DISTINCT a.src, b.dst FROM arc AS a JOIN arc AS b ON b.src = a.dst WHERE a.src < b.dst
    )
    SELECT src, dst FROM pair
    WHERE NOT EXISTS (SELECT FROM link WHERE link.src = pair.src AND link.dst = pair.dst)
    ORDER BY md5(:'seed' || ' near ' || src || ' ' || dst) LIMIT :held;

SELECT FROM gp_fit_links('links_' || :'set', seed => :seed) \g /dev/null

CREATE TEMP TABLE pair AS
    SELECT row_number() OVER () AS k, * FROM (
        SELECT 'link' AS kind, src, dst FROM link WHERE held
        UNION ALL SELECT 'random', src, dst FROM random_pair
        UNION ALL SELECT 'near', src, dst FROM near_pair) AS p;
CREATE TEMP TABLE scored AS
    SELECT pair.kind, pair.src, pair.dst, p.score, p.probability,
           EXISTS (SELECT FROM arc WHERE arc.src = pair.src) AND
           EXISTS (SELECT FROM arc WHERE arc.src = pair.dst) AS keeps
    FROM gp_score_links('links_' || :'set', (SELECT array_agg(src ORDER BY k) FROM pair),
                        (SELECT array_agg(dst ORDER BY k) FROM pair))
            WITH ORDINALITY AS p(src, dst, score, variance, probability, k)
        JOIN pair USING (k);

-- Pairs of equal score are one step of the curves.
CREATE TEMP TABLE judged AS
    SELECT problem, score, count(*) FILTER (WHERE kind = 'link') AS hits, count(*) AS n
    FROM scored CROSS JOIN LATERAL (VALUES ('all', kind <> 'near'), ('keeps', kind <> 'near' AND keeps),
                                           ('near', kind <> 'random')) AS v(problem, belongs)
    WHERE belongs
    GROUP BY problem, score;
CREATE TEMP TABLE figure AS
    WITH curve AS (
        SELECT *, sum(hits) OVER best AS hits_so_far, sum(n) OVER best AS n_so_far,
               sum(hits) OVER (PARTITION BY problem) AS links, sum(n) OVER (PARTITION BY problem) AS pairs
        FROM judged
        WINDOW best AS (PARTITION BY problem ORDER BY score DESC)
    )
    SELECT problem, min(pairs) AS pairs,
           100 * sum((n - hits) * (hits_so_far - hits / 2.0)) / min(links * (pairs - links)) AS auc,
           100 * sum(hits * hits_so_far / n_so_far) / min(links) AS ap
    FROM curve GROUP BY problem;

SELECT round(a.auc, 3), round(a.ap, 3), k.pairs, round(k.auc, 3), round(k.ap, 3),
       round(h.auc, 3), round(h.ap, 3),
       (SELECT round(sum(gap)::numeric, 4) FROM (
            SELECT abs(sum(probability - (kind = 'link')::integer)) / (SELECT pairs FROM figure WHERE problem = 'all') AS gap
            FROM scored WHERE kind <> 'near'
            GROUP BY least(floor(probability * 15), 14)) AS bin)
FROM figure AS a, figure AS k, figure AS h
WHERE a.problem = 'all' AND k.problem = 'keeps' AND h.problem = 'near';
DROP TABLE link, arc, random_pair, near_pair, pair, scored, judged, figure;
COMMIT;
