-- link_split.sql - a tenth of the links of a data set held out, for one seed.
--
-- Variables: set (the data set), seed.  Every draw is the order of a hash of the
-- seed, so each run sees the same pairs.  Fills link_train, and makes in this
-- session: link (held: what is held out), arc (what is learnt from, in both
-- directions), random_pair (as many pairs without a link), and the function
-- link_figures, which gives AUC and average precision in per cent.

SELECT :'set' || '_edges' AS edges, :'set' || '_nodes' AS nodes \gset

CREATE TEMP TABLE link AS
    SELECT least(src, dst) AS src, greatest(src, dst) AS dst,
           row_number() OVER (ORDER BY md5(:'seed' || ' link ' || least(src, dst) || ' ' || greatest(src, dst)))
           <= round(0.1 * count(*) OVER ()) AS held
    FROM :edges;
CREATE UNIQUE INDEX ON link (src, dst);
SELECT count(*) FILTER (WHERE held) AS held FROM link \gset

TRUNCATE link_train;
INSERT INTO link_train SELECT src, dst FROM link WHERE NOT held;
CREATE TEMP TABLE arc AS
    SELECT src, dst FROM link_train UNION ALL SELECT dst, src FROM link_train;
CREATE INDEX ON arc (src);

CREATE TEMP TABLE random_pair AS
    WITH node AS (
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM :nodes
    ), hash AS (
        SELECT k, ('x' || left(md5(:'seed' || ' src ' || k), 7))::bit(28)::integer AS a,
               ('x' || left(md5(:'seed' || ' dst ' || k), 7))::bit(28)::integer AS b, n
        FROM generate_series(1, 3 * :held) AS k, (SELECT count(*) AS n FROM :nodes) AS c
    ), pair AS (
        SELECT min(k) AS k, least(i.id, j.id) AS src, greatest(i.id, j.id) AS dst
        FROM hash
            JOIN node AS i ON i.number = a % n
            JOIN node AS j ON j.number = b % n
        WHERE i.id <> j.id
        GROUP BY 2, 3
    )
    SELECT src, dst FROM pair
    WHERE NOT EXISTS (SELECT FROM link WHERE link.src = pair.src AND link.dst = pair.dst)
    ORDER BY k LIMIT :held;
ANALYZE link;
ANALYZE arc;
ANALYZE random_pair;

-- Pairs of equal score are one step of the curves.
CREATE FUNCTION pg_temp.link_figures(score double precision[], hit boolean[], OUT auc numeric, OUT ap numeric)
LANGUAGE sql AS $$
    WITH step AS (
        SELECT s, count(*) FILTER (WHERE h) AS hits, count(*) AS n
        FROM unnest(score, hit) AS p(s, h) GROUP BY s
    ), curve AS (
        SELECT hits, n, sum(hits) OVER best AS hits_so_far, sum(n) OVER best AS n_so_far,
               sum(hits) OVER () AS links, sum(n) OVER () AS pairs
        FROM step WINDOW best AS (ORDER BY s DESC)
    )
    SELECT round(100 * sum((n - hits) * (hits_so_far - hits / 2.0)) / min(links * (pairs - links)), 3),
           round(100 * sum(hits * hits_so_far / n_so_far) / min(links), 3)
    FROM curve
$$;
