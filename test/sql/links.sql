-- Missing links: what is fitted, predicted, kept, refused.  Scores depend on the
-- processor in their last bits, so what holds of them is printed.
\set VERBOSITY terse
CREATE SCHEMA links;
SET search_path = links, public;
\pset format unaligned
\pset tuples_only on
\pset null NULL

-- Runs a statement, and says how it fails.
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include

-- A ring of 20 groups of 8 nodes; within a group most pairs are linked
CREATE TABLE n AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'c' || i / 8 % 2 END AS y FROM generate_series(0, 159) i;
CREATE TABLE e AS
    SELECT a.id AS src, b.id AS dst FROM n a JOIN n b ON a.id < b.id AND a.id / 8 = b.id / 8 WHERE (a.id * 31 + b.id * 17) % 5 <> 0
    UNION ALL SELECT 8 * g, (8 * g + 8) % 160 FROM generate_series(0, 19) g;
SELECT count(*) FROM e;
SELECT gp_create_graph('g', 'n', 'e');

-- A graph without a target has a link part, and no node part
SELECT model, method, nodes, edges, pairs > 100 AS pairs, auc > 0.8 AS auc, average_precision > 0.8 AS ap, seconds > 0 AS seconds, peak_bytes > 10000 AS peak
FROM gp_fit_links('g');
SELECT model, graph, task, kernel, nodes, edges, seconds, fitted, variances, link_method, link_kernel, link_pairs > 100, link_auc > 0.8,
       link_average_precision > 0.8, link_fitted <= clock_timestamp() FROM gp_models;
SELECT version, link_version FROM gnngp_internal.gp_model_catalog;
SELECT try($$SELECT * FROM gp_predict('g')$$);
SELECT try($$SELECT * FROM gp_evaluate('g')$$);

-- Every row is a pair that is not linked, told once; the best come first
CREATE VIEW linked AS SELECT src, dst FROM e UNION SELECT dst, src FROM e;
SELECT count(*) > 150 AS some, bool_and(src <> dst) AS no_loops, count(*) = count(DISTINCT (least(src, dst), greatest(src, dst))) AS once,
       bool_and(NOT EXISTS (SELECT FROM linked l WHERE l.src = p.src AND l.dst = p.dst)) AS missing,
       bool_and(variance >= 0) AS variances, bool_and(probability BETWEEN 0 AND 1) AS probabilities,
       max(count) <= 10 AS at_most_ten
FROM (SELECT *, count(*) OVER (PARTITION BY src) FROM gp_predict_links('g')) p;
SELECT bool_and(score <= before) AS best_first FROM (SELECT src, score, lag(score) OVER (PARTITION BY src ORDER BY number) AS before
    FROM gp_predict_links('g') WITH ORDINALITY AS p (src, dst, score, variance, probability, number)) p;
SELECT avg((src / 8 = dst / 8)::int) > 0.5 AS within_groups FROM gp_predict_links('g', k => 1);

-- Among some nodes: the best of these that are not linked, of one node and of several
CREATE VIEW among AS SELECT s.src, s.dst, s.score, row_number() OVER (PARTITION BY s.src ORDER BY s.score DESC, s.dst) AS place
    FROM gp_score_links('g', ARRAY(SELECT unnest(array_fill(p, ARRAY[159])) FROM unnest(ARRAY[17, 3]) p),
                        ARRAY(SELECT o FROM unnest(ARRAY[17, 3]) p, generate_series(0, 159) o WHERE o <> p)) s
    WHERE NOT EXISTS (SELECT FROM linked l WHERE l.src = s.src AND l.dst = s.dst) AND s.dst % 7 = 1;
SELECT count(*), bool_and(p.dst % 7 = 1 AND abs(a.score - p.score) < 1e-3) AS the_best
FROM (SELECT *, row_number() OVER (PARTITION BY src ORDER BY number) AS place
      FROM gp_predict_links('g', ARRAY[17, 3], k => 6, among => ARRAY(SELECT o FROM generate_series(1, 159, 7) o))
          WITH ORDINALITY AS p (src, dst, score, variance, probability, number)) p LEFT JOIN among a USING (src, place);
SELECT count(*) FROM gp_predict_links('g', among => '{}');
-- The model stays open between calls: what one was among says nothing of the next
SELECT count(*) > 23 FROM (SELECT DISTINCT dst FROM gp_predict_links('g', NULL::bigint[], k => 6)) d;
SELECT try($$SELECT gp_predict_links('g', 3, among => 5)$$), try($$SELECT gp_predict_links('g', 3, among => ARRAY['a'])$$);

-- The odds of a probability go by the share of links that is missing
CREATE TABLE share AS SELECT 0.1 AS share, src, dst, ln(probability / (1 - probability)) AS odds FROM gp_predict_links('g', k => 3);
SELECT model FROM gp_fit_links('g', model => 'more', missing_share => 0.3);
SELECT bool_and(abs(ln(p.probability / (1 - p.probability)) - odds - ln(0.3 / 0.7 * 9)) < 1e-6) AS by_share
FROM gp_predict_links('more', k => 3) p JOIN share USING (src, dst);
SELECT gp_drop_model('more');
SELECT try($$SELECT gp_fit_links('g', missing_share => 1)$$), try($$SELECT gp_fit_links('g', missing_share => 'NaN')$$);

-- Links with times: recent ones say more of the next ones. Groups of eight move on by one node each day
CREATE TABLE days AS SELECT DISTINCT ON (least(a, b), greatest(a, b)) a AS src, b AS dst, date '2026-01-01' + day AS at
    FROM generate_series(0, 59) day, generate_series(0, 7) p, generate_series(0, 7) q, LATERAL (SELECT (day + 20 * (p / 4) + p) % 160 AS a, (day + 20 * (q / 4) + q) % 160 AS b) e
    WHERE a <> b AND (p * 31 + q * 17 + day) % 7 < 2 ORDER BY least(a, b), greatest(a, b), day;
SELECT gp_create_graph('days', 'n', 'days', time_column => 'at');
SELECT time_column FROM gp_graphs WHERE graph = 'days';
SELECT method, nodes, auc > 0.7 AS auc FROM gp_fit_links('days');
-- What is found is near what was linked last, not near what was linked first
SELECT avg(((dst - 59 + 160) % 160 < 40)::integer) > 0.5 AS recent FROM (SELECT * FROM gp_predict_links('days') ORDER BY score DESC LIMIT 40) p;
CREATE TABLE scored AS SELECT * FROM gp_score_links('days', ARRAY[60, 1], ARRAY[63, 85]);
UPDATE days SET at = at + 1000;
CALL gp_refresh('days');
SELECT bool_and(abs(s.score - t.score) < 1e-6) AS times_are_relative
FROM scored s JOIN gp_score_links('days', ARRAY[60, 1], ARRAY[63, 85]) t USING (src, dst);
ALTER TABLE days ADD note text;
SELECT try($$SELECT gp_alter_graph('days', time_column => 'id')$$), try($$SELECT gp_alter_graph('days', time_column => 'note')$$);
UPDATE days SET at = NULL WHERE src = (SELECT min(src) FROM days);
SELECT try($$SELECT gp_fit_links('days')$$);
SELECT gp_alter_graph('days', time_column => '');
SELECT time_column FROM gp_graphs WHERE graph = 'days';
SELECT method FROM gp_fit_links('days');
SELECT gp_drop_graph('days');

-- How calls resolve
CREATE TABLE ten AS SELECT * FROM gp_predict_links('g', k => 4, nodes => ARRAY[17, 3]::bigint[]);
SELECT count(*), array_agg(DISTINCT src) FROM ten;
SELECT pg_typeof(src), count(*) BETWEEN 250 AND 640 FROM gp_predict_links('g', k => 4) p GROUP BY 1;
SELECT 'int[]', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', nodes => ARRAY[17, 3], k => 4);
SELECT 'bigint[]', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', nodes => ARRAY[17, 3]::bigint[], k => 4);
SELECT 'smallint[]', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', nodes => ARRAY[17, 3]::smallint[], k => 4);
SELECT 'literal', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', nodes => '{17,3}', k => 4);
SELECT 'NULL', pg_typeof(min(src)), count(*) > 150 FROM gp_predict_links('g', nodes => NULL, k => 4);
SELECT 'in place', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', '{17,3}', 4);
SELECT 'in place', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', ARRAY[17, 3], 4);
SELECT 'in place', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', 17, 4, 'auto');
SELECT 'second', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', ARRAY[17, 3], 4);
SELECT 'second', pg_typeof(min(src)), count(*) FROM gp_predict_links('g', ARRAY[17, 3]::bigint[], 4, 'auto');
SELECT 'second', pg_typeof(min(src)), count(*) > 150 FROM gp_predict_links('g', NULL::int[], 4);
SELECT count(*) FROM ((SELECT * FROM gp_predict_links('g', nodes => ARRAY[17, 3], k => 4)) EXCEPT TABLE ten) d;
PREPARE few AS SELECT count(*) FROM gp_predict_links('g', k => 4, nodes => $1);
EXECUTE few('{17,3}');
DEALLOCATE few;

-- In the order given, each node once; unknown ids and NULL give no row
SELECT array_agg(src ORDER BY number) FROM (SELECT src, min(number) AS number FROM gp_predict_links('g', nodes => '{17,3,17,NULL,999}', k => 4)
    WITH ORDINALITY AS p (src, dst, score, variance, probability, number) GROUP BY 1) p;
SELECT count(*) FROM gp_predict_links('g', nodes => '{}');
SELECT count(*) FROM gp_predict_links('g', nodes => '{999}');

-- A pair of two given nodes is told under the first of them
SELECT count(*), count(*) FILTER (WHERE src = 3) FROM gp_predict_links('g', nodes => (SELECT ARRAY[src, dst] FROM ten WHERE src = 3 LIMIT 1), k => NULL) p
WHERE LEAST(src, dst) = (SELECT LEAST(src, dst) FROM ten WHERE src = 3 LIMIT 1) AND GREATEST(src, dst) = (SELECT GREATEST(src, dst) FROM ten WHERE src = 3 LIMIT 1);

-- Candidates
SELECT count(*) > 150 FROM gp_predict_links('g', candidates => 'two_hops');
SELECT count(*) > 150 FROM gp_predict_links('g', candidates => 'Three_Hops');
SELECT count(*) > 150 FROM gp_predict_links('g', candidates => 'all');
SELECT (SELECT count(*) FROM gp_predict_links('g', k => NULL)) > (SELECT count(*) FROM gp_predict_links('g', k => 2)) AS more;

-- Scores of given pairs: in the order given, existing or not, undirected ones alike
SELECT count(*), bool_and(abs(s.score - t.score) < 1e-4 AND abs(s.variance - t.variance) < 1e-4 AND abs(s.probability - t.probability) < 1e-4) AS same
FROM gp_score_links('g', (SELECT array_agg(src ORDER BY src, dst) FROM ten), (SELECT array_agg(dst ORDER BY src, dst) FROM ten)) s JOIN ten t USING (src, dst);
SELECT array_agg(src), array_agg(dst) FROM gp_score_links('g', ARRAY[5, 3, 0, 5], ARRAY[2, 150, 1, 2]);
SELECT count(DISTINCT round(score::numeric, 6)), pg_typeof(min(src)) FROM gp_score_links('g', ARRAY[5, 2]::smallint[], ARRAY[2, 5]::smallint[]);
SELECT pg_typeof(min(src)), count(*) FROM gp_score_links('g', ARRAY[5, 2]::bigint[], ARRAY[2, 5]::bigint[]);
SELECT count(*) FROM gp_score_links('g', '{}'::int[], '{}'::int[]);
SELECT (SELECT avg(probability) FROM gp_score_links('g', (SELECT array_agg(src) FROM e), (SELECT array_agg(dst) FROM e))) >
       (SELECT avg(probability) + 0.2 FROM gp_score_links('g', (SELECT array_agg(src) FROM e), (SELECT array_agg((dst + 80) % 160) FROM e))) AS tells_links;
SELECT src, dst FROM n, gp_score_links('g', ARRAY[n.id], ARRAY[n.id + 1]) WHERE n.id < 3 ORDER BY 1;

-- The rows that the planner expects
CREATE FUNCTION expected(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    EXECUTE 'EXPLAIN ' || query INTO line;
    RETURN substring(line FROM 'rows=(\d+)');
END $$;
SELECT expected($$SELECT * FROM gp_predict_links('g')$$), expected($$SELECT * FROM gp_predict_links('g', k => 3)$$),
       expected($$SELECT * FROM gp_predict_links('g', nodes => ARRAY[1,2,3], k => 5)$$), expected($$SELECT * FROM gp_predict_links('g', nodes => '{1}')$$),
       expected($$SELECT * FROM gp_score_links('g', ARRAY[1,2,3], ARRAY[2,3,4])$$), expected($$SELECT * FROM gp_predict_links('nowhere')$$);

-- The same input and seed: the same rows; another seed: another sample of pairs
CREATE TABLE before AS SELECT * FROM gp_predict_links('g');
SELECT model FROM gp_fit_links('g', seed => 0);
SELECT count(*) FROM ((TABLE before) EXCEPT SELECT * FROM gp_predict_links('g')) d;
SET gnngp.threads = 1;
SELECT model FROM gp_fit_links('g');
SELECT count(*) FROM ((TABLE before) EXCEPT SELECT * FROM gp_predict_links('g')) d;
RESET gnngp.threads;
CREATE VIEW n_some AS SELECT * FROM n WHERE id < 64;
CREATE VIEW e_some AS SELECT * FROM e WHERE src < 64 AND dst < 64;
SELECT gp_create_graph('some', 'n_some', 'e_some');
SELECT method, auc > 0.8 FROM gp_fit_links('some', model => 'pairs', kernel => 'laplacian(d=2)', method => 'Pairs', seed => 7);
SELECT link_method, link_kernel, link_steps FROM gp_models WHERE model = 'pairs';
SELECT count(*) > 50, bool_and(probability BETWEEN 0 AND 1) FROM gp_predict_links('pairs');
SELECT gp_drop_graph('some');

-- Four components whose links are drawn evenly: nothing within one tells links from other pairs
CREATE TABLE even AS SELECT i AS id FROM generate_series(0, 119) i;
CREATE TABLE drawn AS SELECT a.id AS src, b.id AS dst FROM even a JOIN even b ON a.id < b.id AND a.id / 30 = b.id / 30
WHERE hashint8(a.id * 1000 + b.id) % 100 BETWEEN -14 AND 14;
SELECT gp_create_graph('even', 'even', 'drawn');
SELECT method, auc > 0.8 FROM gp_fit_links('even');
SELECT gp_drop_graph('even');

-- Two parts in one model: each fit replaces its own
SELECT gp_create_graph('h', 'n', 'e', target => 'y');
CREATE VIEW parts AS
    SELECT name, task, link_method, version, link_version,
           (SELECT string_agg(DISTINCT part || ' ' || b.version, ', ' ORDER BY part || ' ' || b.version) FROM gnngp_internal.gp_block b WHERE b.model = m.id) AS blocks
    FROM gnngp_internal.gp_model_catalog m ORDER BY name;
SELECT model FROM gp_fit('h', nugget => 0.1);
SELECT try($$SELECT * FROM gp_predict_links('h')$$);
SELECT try($$SELECT * FROM gp_score_links('h', ARRAY[1], ARRAY[2])$$);
TABLE parts;
SELECT model FROM gp_fit_links('h');
TABLE parts;
SELECT model FROM gp_fit('h', nugget => 0.1);
SELECT model FROM gp_fit_links('h');
TABLE parts;
SELECT count(*) FROM gp_predict('h');
SELECT count(*) FROM ((TABLE before) EXCEPT SELECT * FROM gp_predict_links('h')) d;

-- A refresh does every part at once, and says what has changed
CALL gp_refresh('h');
TABLE parts;
INSERT INTO n VALUES (160, NULL), (161, 'c0');
INSERT INTO e SELECT i, 161 FROM generate_series(120, 160) i;
UPDATE gnngp_internal.gp_model_catalog SET link_auc = 0.5, link_average_precision = 0.4;
CALL gp_refresh('h');
CALL gp_refresh('g');
TABLE parts;
SELECT model, outcome, regexp_replace(message, 'to [01]\.\d\d\d', 'to #', 'g') FROM gp_refreshes ORDER BY started;
SELECT count(*) FROM gp_predict('h', nodes => '{161}');
SELECT count(*) FROM gp_predict_links('h', nodes => '{161}');
SELECT count(*) FROM gp_predict_links('g', nodes => '{161}');
INSERT INTO e VALUES (1, 999);
CALL gp_refresh('h');
SELECT outcome, message FROM gp_refreshes WHERE model = 'h' ORDER BY started DESC LIMIT 1;
TABLE parts;
DELETE FROM e WHERE dst = 999;
BEGIN;
CALL gp_refresh('h');
SELECT count(*) FROM gp_predict_links('h', nodes => '{161}');
ROLLBACK;
TABLE parts;

-- A fit of another graph under the name of a model takes the other part along
SELECT try($$SELECT gp_fit_links('g', model => 'h')$$);
SELECT model FROM gp_fit_links('g', model => 'h', replace => true);
TABLE parts;
SELECT model FROM gp_fit('h', nugget => 0.1, replace => true);
TABLE parts;
SELECT model FROM gp_fit_links('h', replace => true);
TABLE parts;
DELETE FROM e WHERE dst = 161;
DELETE FROM n WHERE id >= 160;

-- Ids of other types
CREATE TABLE un AS SELECT md5(id::text)::uuid AS id FROM n;
CREATE TABLE ue AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM e;
SELECT gp_create_graph('u', 'un', 'ue');
SELECT nodes, edges, auc > 0.8 FROM gp_fit_links('u');
SELECT pg_typeof(min(src::text)::uuid), count(*) > 150, bool_and(EXISTS (SELECT FROM un WHERE id = dst)) FROM gp_predict_links('u', NULL::uuid[]);
SELECT count(*), count(*) FILTER (WHERE src = md5('3')::uuid) FROM gp_predict_links('u', nodes => ARRAY[md5('17'), md5('3')]::uuid[], k => 4);
SELECT src = md5('5')::uuid AND dst = md5('2')::uuid FROM gp_score_links('u', ARRAY[md5('5')]::uuid[], ARRAY[md5('2')]::uuid[]);
SELECT try($$SELECT * FROM gp_predict_links('u')$$);
SELECT try($$SELECT * FROM gp_predict_links('u', nodes => '{}')$$);
SELECT try($$SELECT * FROM gp_predict_links('u', ARRAY[1])$$);
SELECT try($$SELECT * FROM gp_score_links('u', ARRAY[1], ARRAY[2])$$);
CREATE DOMAIN label AS varchar(20);
CREATE TABLE tn AS SELECT ('node ' || id)::label AS id FROM n;
CREATE TABLE te AS SELECT 'node ' || src AS src, 'node ' || dst AS dst FROM e;
SELECT gp_create_graph('t', 'tn', 'te');
SELECT nodes, edges, auc > 0.8 FROM gp_fit_links('t');
SELECT src, count(*) FROM gp_predict_links('t', ARRAY['node 17', 'node 3']::text[], 4) GROUP BY src ORDER BY src;
SELECT src, count(*) FROM gp_predict_links('t', nodes => ARRAY['node 17', 'node 3'], k => 4) GROUP BY src ORDER BY src;
SELECT src, dst FROM gp_score_links('t', ARRAY['node 17', 'node 3']::label[], ARRAY['node 3', 'node 4']::label[]);
SELECT try($$SELECT * FROM gp_predict_links('g', ARRAY['node 17'])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY['1'], ARRAY['2'])$$);
SELECT try($$SELECT * FROM gp_score_links('t', ARRAY['node 17', 'node 3'], ARRAY['node 3', 'nowhere'])$$);

-- Directed graphs: from src to dst
CREATE TABLE de AS SELECT a.id AS src, b.id AS dst FROM n a JOIN n b ON a.id < b.id AND b.id <= a.id + 4 WHERE (a.id * 31 + b.id * 17) % 5 <> 0;
SELECT gp_create_graph('d', 'n', 'de', directed => true);
SELECT edges = (SELECT count(*) FROM de), auc > 0.8 FROM gp_fit_links('d');
SELECT count(*) > 150, bool_and(NOT EXISTS (SELECT FROM de WHERE de.src = p.src AND de.dst = p.dst)),
       count(*) = count(DISTINCT (src, dst)) FROM gp_predict_links('d') p;
SELECT count(DISTINCT round(score::numeric, 6)) FROM gp_score_links('d', ARRAY[50, 53], ARRAY[53, 50]);

-- Two-sided graphs: no candidate is of the node's own side, and every user and item has some
CREATE TABLE users_items AS SELECT i AS id, i <= 30 AS is_user FROM generate_series(1, 44) i;
CREATE TABLE likes AS SELECT u.id AS src, i.id AS dst FROM users_items u JOIN users_items i ON u.is_user AND NOT i.is_user
    WHERE (u.id % 2 = i.id % 2 AND (u.id * 5 + i.id * 3 + u.id * i.id) % 5 <> 0) OR (u.id * 7 + i.id * 11) % 9 = 0;
SELECT count(*), count(DISTINCT src), count(DISTINCT dst) FROM likes;
SELECT gp_create_graph('likes', 'users_items', 'likes'), gp_create_graph('likes to', 'users_items', 'likes', directed => true);
CREATE FUNCTION suggested(model text, candidates text DEFAULT 'auto', OUT same_side boolean, OUT from_items boolean, OUT users bigint, OUT items bigint)
LANGUAGE sql AS $$
    WITH p AS (SELECT s.is_user AS s, d.is_user AS d, src, dst FROM gp_predict_links(model, k => NULL, candidates => candidates)
               JOIN users_items s ON s.id = src JOIN users_items d ON d.id = dst)
    SELECT bool_or(s = d), bool_or(NOT s), count(DISTINCT src) FILTER (WHERE s), count(DISTINCT dst) FILTER (WHERE NOT d) FROM p
$$;
SELECT auc > 0.6 FROM gp_fit_links('likes');
SELECT * FROM suggested('likes');
SELECT same_side FROM suggested('likes', 'two_hops');
SELECT bool_and(NOT d.is_user) FROM gp_predict_links('likes', nodes => (SELECT array_agg(id) FROM users_items WHERE is_user)) JOIN users_items d ON d.id = dst;
SELECT auc > 0.6 FROM gp_fit_links('likes to');
SELECT * FROM suggested('likes to');
SELECT count(*) FROM gp_predict_links('likes to', nodes => (SELECT array_agg(id) FROM users_items WHERE NOT is_user));
SELECT auc > 0.6 FROM gp_fit_links('likes', model => 'pairs', method => 'pairs');
SELECT * FROM suggested('pairs');

SELECT gp_drop_graph('likes'), gp_drop_graph('likes to');

-- Features, and a weight
CREATE TABLE xn AS SELECT id, ARRAY[id / 8 % 5, id / 8 % 7, id % 3 + 1]::real[] AS x FROM n;
CREATE TABLE we AS SELECT src, dst, 1 + (src + dst) % 3 AS w FROM e;
SELECT gp_create_graph('x', 'xn', 'we', features => '{x}', weight => 'w');
SELECT nodes, edges, auc > 0.8 FROM gp_fit_links('x', kernel => 'sage');
SELECT count(*) > 150 FROM gp_predict_links('x');

-- Tiny graphs
CREATE TABLE small AS SELECT 1 AS id UNION SELECT 2;
CREATE TABLE one AS SELECT 1 AS src, 2 AS dst;
SELECT gp_create_graph('tiny', 'small', 'one');
SELECT left(try($$SELECT gp_fit_links('tiny')$$), 5);
DELETE FROM one;
SELECT left(try($$SELECT gp_fit_links('tiny')$$), 5);
CREATE TABLE all_pairs AS SELECT a.id AS src, b.id AS dst FROM n a, n b WHERE a.id < b.id AND b.id < 10;
CREATE VIEW tens AS SELECT id FROM n WHERE id < 10;
SELECT gp_create_graph('complete', 'tens', 'all_pairs');
SELECT left(try($$SELECT gp_fit_links('complete')$$), 5);
SELECT count(*) FROM gnngp_internal.gp_model_catalog WHERE name IN ('tiny', 'complete');

-- What is refused
SELECT try($$SELECT gp_fit_links('nowhere')$$);
SELECT try($$SELECT gp_fit_links(NULL)$$);
SELECT try($$SELECT gp_fit_links('g', method => NULL)$$);
SELECT try($$SELECT gp_fit_links('g', method => 'score')$$);
SELECT try($$SELECT gp_fit_links('g', seed => NULL)$$);
SELECT try($$SELECT gp_fit_links('g', model => '')$$);
SELECT try($$SELECT * FROM gp_predict_links('nowhere')$$);
SELECT try($$SELECT * FROM gp_predict_links(NULL)$$);
SELECT try($$SELECT * FROM gp_predict_links('g', k => 0)$$);
SELECT try($$SELECT * FROM gp_predict_links('g', k => -3)$$);
SELECT try($$SELECT * FROM gp_predict_links('g', candidates => 'four_hops')$$);
SELECT try($$SELECT * FROM gp_predict_links('g', candidates => NULL)$$);
SELECT try($$SELECT * FROM gp_predict_links('g', nodes => 'all')$$);
SELECT try($$SELECT * FROM gp_score_links('nowhere', ARRAY[1], ARRAY[2])$$);
SELECT try($$SELECT * FROM gp_score_links('g', NULL::int[], ARRAY[2])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1], NULL::int[])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1], ARRAY[2, 3])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1, NULL], ARRAY[2, 3])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1, 3], ARRAY[2, NULL])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1, 3], ARRAY[2, 3])$$);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1, 3], ARRAY[2, 999])$$);
BEGIN READ ONLY;
SELECT gp_fit_links('g');
ROLLBACK;
BEGIN READ ONLY;
SELECT count(*) > 0 FROM gp_predict_links('g');
ROLLBACK;
SET gnngp.memory_limit = '1MB';
SELECT left(try($$SELECT gp_fit_links('g')$$), 5);
SELECT left(try($$SELECT * FROM gp_predict_links('g')$$), 5) IN ('53400', 'ok');
RESET gnngp.memory_limit;

-- A backend keeps the model that it opened last, but never answers from another one
CREATE TEMP TABLE before AS SELECT * FROM gp_predict_links('g', ARRAY[1, 2, 3], 3);
BEGIN;
SELECT model FROM gp_fit_links('g', seed => 7);
CREATE TEMP TABLE within AS SELECT * FROM gp_predict_links('g', ARRAY[1, 2, 3], 3);
SAVEPOINT s;
SELECT model FROM gp_fit_links('g', seed => 8);
SELECT count(*) > 0 AS another FROM (SELECT * FROM gp_predict_links('g', ARRAY[1, 2, 3], 3) EXCEPT TABLE within) d;
ROLLBACK TO s;
SELECT count(*) AS differences FROM (SELECT * FROM gp_predict_links('g', ARRAY[1, 2, 3], 3) EXCEPT TABLE within) d;
SELECT count(*) > 0 AS another FROM (TABLE before EXCEPT TABLE within) d;
ROLLBACK;
SELECT count(*) AS differences FROM (SELECT * FROM gp_predict_links('g', ARRAY[1, 2, 3], 3) EXCEPT TABLE before) d;
SELECT count(*) = (current_setting('gnngp.device') <> 'cuda')::integer AS kept FROM pg_backend_memory_contexts
WHERE name = 'gnngp environment';
SET gnngp.link_cache_size = 0;
SELECT count(*) AS kept FROM pg_backend_memory_contexts
WHERE name = 'gnngp environment';
SELECT count(*) AS differences FROM (SELECT * FROM gp_predict_links('g', ARRAY[1, 2, 3], 3) EXCEPT TABLE before) d;
SELECT count(*) AS kept FROM pg_backend_memory_contexts
WHERE name = 'gnngp environment';
RESET gnngp.link_cache_size;
-- A call for some hundred nodes keeps it, too
SELECT count(DISTINCT src) > 64 AS many FROM gp_predict_links('g', (SELECT array_agg(DISTINCT id) FROM (SELECT src AS id FROM e UNION SELECT dst FROM e LIMIT 120) n), 3);
SELECT count(*) = (current_setting('gnngp.device') <> 'cuda')::integer AS kept FROM pg_backend_memory_contexts
WHERE name = 'gnngp environment';
SELECT count(*) FROM gp_score_links('g', ARRAY[1], ARRAY[3]);
SELECT try($$SELECT * FROM gp_score_links('g', ARRAY[1], ARRAY[1])$$);
SELECT count(*) AS kept FROM pg_backend_memory_contexts
WHERE name = 'gnngp environment';
BEGIN;
SELECT count(*) > 0 FROM gp_predict_links('g', ARRAY[1], 3);
UPDATE gnngp_internal.gp_model_catalog SET link_integer_ids = false, link_id_type = 'text';
SELECT try($$SELECT * FROM gp_predict_links('g', ARRAY['1']::text[])$$);
ROLLBACK;

-- Damage is found before anything is made of it
CREATE FUNCTION damage(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE 'UPDATE gnngp_internal.gp_block SET ' || change;
    result := try('SELECT * FROM gp_predict_links(''g'')');
    RAISE EXCEPTION 'undo %', result;
EXCEPTION WHEN raise_exception THEN RETURN substr(SQLERRM, 6);
END $$;
SELECT damage($$data = set_byte(data, length(data) - 1, get_byte(data, length(data) - 1) # 1) WHERE part = 'link' AND block = 1$$);
SELECT damage($$data = set_byte(data, 0, 0) WHERE part = 'link'$$);
SELECT damage($$data = substr(data, 1, 60) WHERE part = 'link' AND block = 0$$);
SELECT damage($$data = '' WHERE part = 'link'$$);
SELECT damage($$data = set_byte(data, 4, 9) WHERE part = 'link'$$);
SELECT damage($$block = -1 WHERE part = 'link' AND block = (SELECT max(b.block) FROM gnngp_internal.gp_block b WHERE b.part = 'link' AND b.model = gnngp_internal.gp_block.model)$$);
SELECT damage($$block = block + 1000 WHERE part = 'link' AND block = 0$$);
SELECT damage($$version = 77 WHERE part = 'link'$$);
BEGIN;
UPDATE gnngp_internal.gp_model_catalog SET link_nodes = link_nodes + 1;
SELECT try($$SELECT * FROM gp_predict_links('g')$$);
ROLLBACK;
BEGIN;
UPDATE gnngp_internal.gp_model_catalog SET link_integer_ids = false, link_id_type = 'text';
SELECT try($$SELECT * FROM gp_predict_links('g', NULL::text[])$$);
ROLLBACK;
SELECT try($$UPDATE gnngp_internal.gp_model_catalog SET link_id_type = NULL$$);
UPDATE gnngp_internal.gp_model_catalog SET link_asked_method = NULL WHERE name = 'g';
CALL gp_refresh('g');
SELECT model FROM gp_fit_links('g');

-- A grant covers the link part
SET client_min_messages = warning;
CREATE ROLE gnngp_linker;
CREATE ROLE gnngp_reader;
GRANT USAGE ON SCHEMA links TO gnngp_linker, gnngp_reader;
GRANT CREATE ON SCHEMA links TO gnngp_linker;
GRANT SELECT ON n, e TO gnngp_linker;
SET ROLE gnngp_linker;
SELECT gp_create_graph('own', 'n', 'e');
SELECT try($$SELECT gp_fit_links('g')$$);
SELECT model FROM gp_fit_links('own');
SELECT count(*) > 150 FROM gp_predict_links('own');
SET ROLE gnngp_reader;
SELECT try($$SELECT * FROM gp_predict_links('own')$$);
SELECT try($$SELECT * FROM gp_score_links('own', ARRAY[1], ARRAY[2])$$);
SET ROLE gnngp_linker;
SELECT gp_grant('own', 'gnngp_reader');
SET ROLE gnngp_reader;
SELECT count(*) > 150 FROM gp_predict_links('own');
SELECT count(*) FROM gp_score_links('own', ARRAY[1], ARRAY[2]);
SELECT try($$SELECT gp_fit_links('own')$$);
SELECT try($$CALL gp_refresh('own')$$);
SET ROLE gnngp_linker;
SELECT gp_revoke('own', 'gnngp_reader');
SET ROLE gnngp_reader;
SELECT try($$SELECT * FROM gp_predict_links('own')$$);
RESET ROLE;

-- Dropping takes the blocks along
SELECT gp_drop_model('g'), gp_drop_model('u');
SELECT count(*) FROM gnngp_internal.gp_block b WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model);
SET ROLE gnngp_linker;
SELECT gp_drop_graph('own');
RESET ROLE;
DO $$ DECLARE g text; BEGIN FOR g IN SELECT graph FROM gp_graphs LOOP PERFORM gp_drop_graph(g); END LOOP; END $$;
SELECT (SELECT count(*) FROM gnngp_internal.gp_block), (SELECT count(*) FROM gnngp_internal.gp_model_catalog), (SELECT count(*) FROM gp_progress);
SET client_min_messages = error;
DROP SCHEMA links CASCADE;
DROP ROLE gnngp_linker, gnngp_reader;
