-- Users and items: the method ease suggests from side to side, never what a user has, and refuses other graphs.
\set VERBOSITY terse
CREATE SCHEMA items;
SET search_path = items, public;
\pset format unaligned
\pset tuples_only on

-- Users like items of their own kind, and the popular ones; users are 1 to 60, items 101 to 140
CREATE TABLE likes AS
    SELECT u, 100 + i AS i FROM generate_series(1, 60) u, generate_series(1, 40) i
    WHERE CASE WHEN u % 4 = i % 4 THEN (u * 7 + i * 13) % 10 < 6 ELSE i < 4 AND (u + i) % 3 = 0 END;
CREATE TABLE node AS SELECT u AS id FROM likes UNION SELECT i FROM likes;
SELECT gp_create_graph('item_likes', 'node', 'likes', src => 'u', dst => 'i');
SELECT gp_create_graph('item_arcs', 'node', 'likes', src => 'u', dst => 'i', directed => true);

SELECT model, method, nodes, edges, auc > 0.9 FROM gp_fit_links('item_likes', method => 'ease');
SELECT method, auc > 0.9 FROM gp_fit_links('item_arcs', kernel => 'ease');
SELECT method IN ('scores', 'ease') FROM gp_fit_links('item_likes', 'either');
SELECT strategy, split_part(reason, ':', 1) FROM gp_estimate('item_likes', kernel => 'ease');

-- What is suggested is of the other side, no pair is linked, and users like their own kind
SELECT count(*), bool_and((p.src > 100) <> (p.dst > 100)), count(l.u), bool_and(variance >= 0)
FROM gp_predict_links('item_likes', k => 5) p LEFT JOIN likes l ON (l.u, l.i) IN ((p.src, p.dst), (p.dst, p.src));
SELECT avg((src % 4 = dst % 4)::int) > 0.9 FROM gp_predict_links('item_likes', ARRAY(SELECT generate_series(1, 60)), k => 2);
SELECT bool_and(p.src <= 100 AND p.dst > 100) FROM gp_predict_links('item_arcs', k => 5) p;
SELECT DISTINCT dst FROM gp_predict_links('item_likes', ARRAY[1, 2], k => 9, among => ARRAY[106, 107]) ORDER BY dst;

-- One row says the same as many; a pair has no order, and one of a side no evidence
SELECT abs(a.score - b.score) < 1e-6, abs(a.score - c.score) < 1e-6, d.score < a.score
FROM gp_predict_links('item_likes', 7, k => 1) p, gp_score_links('item_likes', p.src, p.dst) a, gp_score_links('item_likes', p.dst, p.src) b,
    gp_predict_links('item_likes', k => 40) c, gp_score_links('item_likes', 7, 11) d
WHERE (c.src, c.dst) IN ((p.src, p.dst), (p.dst, p.src));

-- Kept pairs, a refresh, held-out links, figures
SELECT method FROM gp_fit_links('item_likes', 'kept', method => 'ease', keep => 5);
SELECT count(*) FROM (SELECT src, dst FROM gp_predict_links('kept', 7, k => 5) EXCEPT SELECT src, dst FROM gp_predict_links('item_likes', 7, k => 5)) d;
INSERT INTO likes VALUES (7, 108);
CALL gp_refresh('kept');
SELECT link_method FROM gp_models WHERE model = 'kept';
SELECT count(*) FROM gp_predict_links('kept', 7, k => 5) WHERE dst = 108;
SELECT count(*) > 50, bool_and(probability BETWEEN 0 AND 1) FROM gp_heldout_links('item_likes');
SELECT metric FROM gp_evaluate('item_likes') ORDER BY metric;

-- A graph without sides
CREATE TABLE ring AS SELECT i AS id FROM generate_series(0, 29) i;
CREATE TABLE step AS SELECT i AS src, (i + d) % 30 AS dst FROM generate_series(0, 29) i, generate_series(1, 3) d;
SELECT gp_create_graph('item_ring', 'ring', 'step');
SELECT gp_fit_links('item_ring', method => 'ease');
-- Items that nothing but their popularity tells apart: a NOTICE says that it ranks them better
CREATE TABLE buys AS SELECT u, 100 + i AS i FROM generate_series(1, 100) u, generate_series(1, 40) i WHERE abs(hashint4(u * 1009 + i)) % 1000 < 900.0 / i;
CREATE TABLE side AS SELECT id, hashint4(id) % 100 / 100.0 AS x FROM generate_series(1, 140) AS id;
SELECT gp_create_graph('item_buys', 'side', 'buys', src => 'u', dst => 'i', features => '{x}', directed => true);
SELECT method FROM gp_fit_links('item_buys', method => 'pairs');
SELECT gp_drop_graph(g) FROM unnest('{item_likes,item_arcs,item_ring,item_buys}'::text[]) g;
DROP SCHEMA items CASCADE;
