-- bench_ranks.sql - the hard question: a held-out link among a hundred other candidates of one of its ends.
--
-- After bench_links.sql, in its session.  Candidates are what two and three steps lead to in what is learnt from, and no
-- links; the rank of a link among them counts ties half.  Lines of name, mean reciprocal rank and the share of the links
-- at the first twenty places, both in per cent, and 0.

CREATE TEMP TABLE asked AS
    SELECT q, CASE WHEN q % 2 = 0 THEN src ELSE dst END AS node, CASE WHEN q % 2 = 0 THEN dst ELSE src END AS other
    FROM (SELECT row_number() OVER (ORDER BY md5(:'seed' || ' asked ' || src || ' ' || dst)) AS q, src, dst
          FROM link WHERE held) AS l
    WHERE q <= 200;
CREATE TEMP TABLE ranked AS
    SELECT row_number() OVER (ORDER BY q, NOT hit, dst) AS k, q, src, dst, hit
    FROM (SELECT q, node AS src, other AS dst, true AS hit FROM asked
          UNION ALL
          SELECT q, node, rival.dst, false
          FROM asked CROSS JOIN LATERAL (
              WITH two AS (
                  SELECT DISTINCT b.dst FROM arc AS a JOIN arc AS b ON b.src = a.dst WHERE a.src = node
              )
              SELECT dst FROM (SELECT dst FROM two UNION SELECT c.dst FROM two JOIN arc AS c ON c.src = two.dst) AS near
              WHERE dst <> node AND NOT EXISTS (
                  SELECT FROM link WHERE src = least(node, near.dst) AND link.dst = greatest(node, near.dst))
              ORDER BY md5(:'seed' || ' rival ' || q || ' ' || dst) LIMIT 100) AS rival) AS p;
ANALYZE ranked;
\copy (SELECT q, src, dst, hit::integer FROM ranked ORDER BY k) TO PROGRAM 'cat >"$LINKS_FOLDER/ranks.csv"' CSV

CREATE FUNCTION pg_temp.rank_figures(score double precision[], OUT mrr numeric, OUT hits numeric)
LANGUAGE sql AS $$
    WITH p AS (
        SELECT r.q, r.hit, u.s FROM unnest(score) WITH ORDINALITY AS u(s, k) JOIN ranked AS r USING (k)
    ), rank AS (
        SELECT l.q, 1 + count(*) FILTER (WHERE p.s > l.s) + 0.5 * count(*) FILTER (WHERE p.s = l.s) AS r
        FROM p AS l LEFT JOIN p ON p.q = l.q AND NOT p.hit WHERE l.hit GROUP BY l.q
    )
    SELECT round(100 * avg(1 / r), 3), round(100 * avg((r <= 20)::integer), 3) FROM rank
$$;

SELECT 'gnngp.ranks', f.*, 0
FROM (SELECT array_agg(score ORDER BY k) AS s
      FROM gp_score_links('links_' || :'set', (SELECT array_agg(src ORDER BY k) FROM ranked), (SELECT array_agg(dst ORDER BY k) FROM ranked))
          WITH ORDINALITY AS p(src, dst, score, variance, probability, k)) AS a, pg_temp.rank_figures(s) AS f;
SELECT 'common.ranks', f.*, 0
FROM (SELECT array_agg((SELECT count(*) FROM arc AS a JOIN arc AS b ON b.src = a.dst
                        WHERE a.src = ranked.src AND b.dst = ranked.dst)::double precision ORDER BY k) AS s
      FROM ranked) AS a, pg_temp.rank_figures(s) AS f;
SELECT 'allocation.ranks', f.*, 0
FROM (SELECT array_agg(coalesce((SELECT sum(1.0 / d) FROM arc AS a JOIN arc AS b ON b.src = a.dst JOIN degree ON node = a.dst
                                 WHERE a.src = ranked.src AND b.dst = ranked.dst), 0)::double precision ORDER BY k) AS s
      FROM ranked) AS a, pg_temp.rank_figures(s) AS f;
