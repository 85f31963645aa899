-- Users and items with a tenth of the links held out: the links that the probabilities of the first 20 suggestions
-- of each user promise over those that are found, and the expected calibration error of ten bins.  Users like items of
-- their own kind, and popular ones.  Variables: seed, users, items, likes (of a user, about), skew (of popularity).
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS items_quality CASCADE;
CREATE SCHEMA items_quality;
SET search_path = items_quality, public;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph = 'items_quality';
CREATE FUNCTION draw(i bigint, what text) RETURNS float8 LANGUAGE sql IMMUTABLE AS
    'SELECT ((hashint8extended(i, 0) # hashtextextended(what, 0)) % 1000003 + 1000003) % 1000003 / 1000003.0';
CREATE TABLE pair AS
SELECT u, 1000000 + i AS i, draw(u * 1000000::bigint + i, 'pair' || :seed) AS luck,
    draw(u * 1000000::bigint + i, 'held' || :seed) < 0.1 AS held,
    power(5 + floor(draw(i, 'place' || :seed) * :items), -:skew) * exp(1.5 * draw(u, 'active' || :seed))
    * CASE WHEN floor(draw(u, 'kind' || :seed) * 6) = floor(draw(i, 'kind' || :seed) * 6) THEN 8 ELSE 1 END AS appeal
FROM generate_series(1, :users) AS u, generate_series(1, :items) AS i;
CREATE TABLE likes AS
SELECT u, i, held FROM pair, (SELECT avg(appeal) AS mean FROM pair) AS p
WHERE luck < least(0.8, appeal / mean * :likes / :items);
CREATE TABLE node AS SELECT u AS id FROM generate_series(1, :users) AS u
    UNION ALL SELECT 1000000 + i FROM generate_series(1, :items) AS i;
CREATE VIEW known AS SELECT u, i FROM likes WHERE NOT held;
SELECT gp_create_graph('items_quality', 'node', 'known', src => 'u', dst => 'i');
SELECT method FROM gp_fit_links('items_quality', method => 'ease', seed => :seed);
WITH told AS (
    SELECT p.probability, (l.u IS NOT NULL)::integer AS hit, ntile(10) OVER (ORDER BY p.probability) AS bin
    FROM gp_predict_links('items_quality', ARRAY(SELECT generate_series(1, :users)), k => 20) AS p
        LEFT JOIN likes AS l ON l.u = p.src AND l.i = p.dst),
bins AS (SELECT sum(probability) AS said, sum(hit) AS found, count(*) AS n FROM told GROUP BY bin)
SELECT round((sum(said) / sum(found))::numeric, 3), round((sum(abs(said - found)) / sum(n))::numeric, 4), sum(found) FROM bins;
