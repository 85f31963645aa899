-- bench_links.sql - held-out links by gnngp and by plain SQL, for one seed.
--
-- Variables: set (the data set), seed, folder (where the pairs go as text).  Lines
-- of name, AUC, average precision, seconds; those of gnngp are of fit and scores.
-- Node ids are 0 .. n - 1.

\ir ../quality/link_split.sql
CREATE TEMP TABLE pair AS
    SELECT row_number() OVER () AS k, src, dst, hit
    FROM (SELECT src, dst, true AS hit FROM link WHERE held
          UNION ALL SELECT src, dst, false FROM random_pair) AS p;
ANALYZE pair;
CREATE TEMP TABLE degree AS SELECT src AS node, count(*) AS d FROM arc GROUP BY src;
ANALYZE degree;

\setenv LINKS_FOLDER :folder
\copy link_train TO PROGRAM 'cat >"$LINKS_FOLDER/edges.csv"' CSV
\copy (SELECT src, dst, hit::integer FROM pair ORDER BY k) TO PROGRAM 'cat >"$LINKS_FOLDER/pairs.csv"' CSV

SELECT clock_timestamp() AS start \gset
SELECT FROM gp_fit_links('links_' || :'set', seed => :seed) \g /dev/null
SELECT clock_timestamp() AS fitted \gset
CREATE TEMP TABLE ours AS
    SELECT p.score, pair.hit
    FROM gp_score_links('links_' || :'set', (SELECT array_agg(src ORDER BY k) FROM pair),
                        (SELECT array_agg(dst ORDER BY k) FROM pair))
            WITH ORDINALITY AS p(src, dst, score, variance, probability, k)
        JOIN pair USING (k);
SELECT clock_timestamp() AS scored \gset
SELECT 'gnngp', auc, ap, extract(epoch FROM :'scored'::timestamptz - :'start')
FROM (SELECT array_agg(score) AS s, array_agg(hit) AS h FROM ours) AS a, pg_temp.link_figures(s, h);

SELECT clock_timestamp() AS start \gset
CREATE TEMP TABLE common AS
    SELECT hit, (SELECT count(*) FROM arc AS a JOIN arc AS b ON b.src = a.dst
                 WHERE a.src = pair.src AND b.dst = pair.dst)::double precision AS score
    FROM pair;
SELECT clock_timestamp() AS scored \gset
SELECT 'common', auc, ap, extract(epoch FROM :'scored'::timestamptz - :'start')
FROM (SELECT array_agg(score) AS s, array_agg(hit) AS h FROM common) AS a, pg_temp.link_figures(s, h);

SELECT clock_timestamp() AS start \gset
CREATE TEMP TABLE allocation AS
    SELECT hit, coalesce((SELECT sum(1.0 / d) FROM arc AS a JOIN arc AS b ON b.src = a.dst JOIN degree ON node = a.dst
                          WHERE a.src = pair.src AND b.dst = pair.dst), 0)::double precision AS score
    FROM pair;
SELECT clock_timestamp() AS scored \gset
SELECT 'allocation', auc, ap, extract(epoch FROM :'scored'::timestamptz - :'start')
FROM (SELECT array_agg(score) AS s, array_agg(hit) AS h FROM allocation) AS a, pg_temp.link_figures(s, h);

\ir bench_ranks.sql
