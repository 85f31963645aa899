-- Missing links that a fit keeps: the rows are those that computing gives.
\set VERBOSITY terse
CREATE SCHEMA links_kept;
SET search_path = links_kept, public;
-- So small a graph has nothing to share among processors
SET gnngp.threads = 1;
\pset format unaligned
\pset tuples_only on
\pset null NULL

\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include

-- 15 groups of 8 nodes, no two alike: some blocks; ids that are numbers, and texts
CREATE TABLE n AS SELECT i AS id FROM generate_series(0, 119) i;
CREATE TABLE e AS
    SELECT a.id AS src, b.id AS dst FROM n a JOIN n b ON a.id < b.id
    WHERE CASE WHEN a.id / 8 = b.id / 8 THEN (a.id * b.id * 7919 + b.id * 31) % 1009 % 3 > 0 ELSE (a.id * b.id * 7919 + a.id * 31) % 10007 < 90 END;
CREATE TABLE names AS SELECT 'n' || id || repeat('ä', id % 7) AS id FROM n;
CREATE TABLE ties AS SELECT s.id AS src, d.id AS dst FROM e JOIN names s ON s.id ~ ('^n' || src || '(ä)*$') JOIN names d ON d.id ~ ('^n' || dst || '(ä)*$');
SELECT gp_create_graph('numbers', 'n', 'e'), gp_create_graph('names', 'names', 'ties'), gp_create_graph('arcs', 'n', 'e', directed => true);

SELECT try($$SELECT gp_fit_links('numbers', keep => -1)$$);
SELECT try($$SELECT gp_fit_links('numbers', keep => 101)$$);
SELECT try($$SELECT gp_fit_links('numbers', keep => 3, min_probability => 1.5)$$), try($$SELECT gp_fit_links('numbers', keep => 3, min_probability => 'NaN')$$),
       try($$SELECT gp_fit_links('numbers', min_probability => 0.9)$$);
SELECT model FROM gp_fit_links('numbers', keep => NULL, min_probability => NULL);
SELECT link_keep, link_kept_bytes, (SELECT count(*) FROM gnngp_internal.gp_block WHERE part = 'link_best') FROM gp_models;
SELECT g, (gp_fit_links(g, keep => 10)).model, (gp_fit_links(g, g || '_0')).model FROM unnest('{numbers,names,arcs}'::text[]) g;
SELECT model, link_keep, link_kept_bytes > 40000 AS bytes, (SELECT count(*) > 1 FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.name = v.model AND part = 'link_best') AS blocks
FROM gp_models v ORDER BY model COLLATE "C";
SELECT link_kept_bytes = (SELECT sum(length(data)) FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.name = 'names' AND part = 'link_best') FROM gp_models WHERE model = 'names';
-- What is planned for it: the bytes, except the heads of blocks, and more memory and work than without
SELECT g, abs(v.link_kept_bytes / 1048576.0 - substring(with_pairs.reason from '10 pairs of each node are kept in ([0-9.]+) MB')::numeric) < 0.06 AS near,
    with_pairs.bytes >= without.bytes, with_pairs.flops > without.flops, without.reason ~ 'kept'
FROM unnest('{numbers,names}'::text[]) g, gp_estimate(g, kernel => 'scores', keep => 10) AS with_pairs, gp_estimate(g, kernel => 'scores') AS without, gp_models v
WHERE v.model = g ORDER BY g;
SELECT f.peak_bytes <= e.bytes AS enough
FROM gp_estimate('numbers', kernel => 'scores', keep => 10) e, gp_fit_links('numbers', 'numbers_peak', keep => 10) f;
SELECT gp_drop_model('numbers_peak');
SELECT try($$SELECT gp_estimate('numbers', keep => 3)$$), try($$SELECT gp_estimate('numbers', kernel => 'scores', keep => 101)$$);

-- The same pairs in the same order.  Products of a few rows are rounded otherwise than those of all on some
-- processors: numbers of some nodes agree to the digits of single precision, and pairs that are as likely may change places
CREATE FUNCTION same(m text, nodes text, k int, candidates text DEFAULT 'auto') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text; near float8 := CASE WHEN nodes IS NULL THEN 1e-9 ELSE 1e-3 END; ids text := coalesce(quote_literal(nodes), 'NULL') || CASE WHEN m = 'names' THEN '::text[]' ELSE '::int[]' END;
BEGIN
    EXECUTE format($f$SELECT concat_ws(' ', count(a.src) > %5$s, coalesce(bool_and(a.src = b.src AND (a.dst = b.dst OR %7$s > 1e-9) AND abs(a.score - b.score) < %7$s
        AND abs(a.variance - b.variance) < 1e-3 AND abs(a.probability - b.probability) < %7$s), true), count(*) = count(b.src))
        FROM (SELECT *, row_number() OVER () FROM gp_predict_links(%1$L, %3$s, k => %4$s, candidates => %6$L) p) a
        FULL JOIN (SELECT *, row_number() OVER () FROM gp_predict_links(%2$L, %3$s, k => %4$s, candidates => %6$L) p) b USING (row_number)$f$,
        m, m || '_0', ids, coalesce(k::text, 'NULL'), CASE WHEN nodes IS NULL THEN 50 ELSE 2 END, candidates, near) INTO result;
    RETURN result;
END $$;
SELECT m, k, same(m, NULL, k) FROM unnest('{numbers,names,arcs}'::text[]) m, unnest('{1,3,10,11}'::int[]) k;
SELECT k, same('numbers', '{17,3,3,0,1,NULL,9999,-5,16,119}', k), same('arcs', '{17,3,3,0,1,NULL,9999,-5,16}', k), same('names', '{n17äää,n1ä,n0,NULL,zz,n16ää,n1ä}', k)
FROM unnest('{1,4,10,11}'::int[]) k;
SELECT same('numbers', '{17,3}', 5, 'three_hops'), same('numbers', '{17,3}', NULL);
SELECT count(*) FROM gp_predict_links('numbers', ARRAY[9999, -5], k => 3);
SELECT count(*) FROM gp_predict_links('names', ARRAY['', NULL, 'zz'], k => 3);
SELECT count(*) FROM gp_predict_links('numbers', ARRAY[]::int[], k => 3);
SELECT try($$SELECT * FROM gp_predict_links('numbers', k => 0)$$), try($$SELECT * FROM gp_predict_links('names', 3, k => 2)$$);
-- A pair of two nodes that are asked for is told under the first
CREATE TABLE pair AS SELECT src, dst FROM gp_predict_links('numbers', 3, k => 1);
SELECT count(*) FROM pair p, gp_predict_links('numbers', ARRAY[p.src, p.dst], k => 10) l WHERE (l.src, l.dst) IN ((p.src, p.dst), (p.dst, p.src));
SELECT bool_and(l.src = p.dst) FROM pair p, gp_predict_links('numbers', ARRAY[p.dst, p.src], k => 10) l WHERE (l.src, l.dst) IN ((p.src, p.dst), (p.dst, p.src));

-- A refresh keeps as many; a fit without it, none.  Nobody but who may read the model reads them
DELETE FROM e WHERE src = 0;
CALL gp_refresh('numbers');
SELECT link_keep, link_kept_bytes > 40000 FROM gp_models WHERE model = 'numbers';
SELECT model FROM gp_fit_links('numbers', 'numbers_0');
SELECT same('numbers', NULL, 5);
SELECT count(DISTINCT b.version) FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.name = 'numbers' AND part = 'link_best';
CREATE ROLE gnngp_kept_reader;
GRANT USAGE ON SCHEMA links_kept TO gnngp_kept_reader;
SET ROLE gnngp_kept_reader;
SELECT count(*) FROM gnngp_internal.gp_block;
SELECT try($$SELECT * FROM gp_predict_links('numbers', 3, k => 3)$$);
RESET ROLE;
SELECT gp_grant('numbers', 'gnngp_kept_reader');
SET ROLE gnngp_kept_reader;
SELECT count(*) FROM gp_predict_links('numbers', 3, k => 3);
RESET ROLE;

-- Damaged blocks
\set include :sources '/sql/include/seal.sql'
\i :include
CREATE VIEW few AS SELECT id FROM names WHERE id ~ '^n[1-4]?[0-9](ä)*$';
CREATE VIEW few_ties AS SELECT t.* FROM ties t JOIN few s ON s.id = src JOIN few d ON d.id = dst;
SELECT gp_create_graph('few', 'few', 'few_ties');
SELECT model FROM gp_fit_links('few', keep => 2);
CREATE VIEW part AS SELECT b.* FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model AND m.name = 'few' WHERE b.part = 'link_best';
CREATE FUNCTION damage(place integer, bytes bytea, sealed boolean DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    UPDATE gnngp_internal.gp_block b SET data = CASE WHEN sealed THEN seal(overlay(b.data PLACING bytes FROM place + 1)) ELSE overlay(b.data PLACING bytes FROM place + 1) END
    FROM part p WHERE b.model = p.model AND b.part = p.part AND b.version = p.version AND b.block = p.block AND b.block = 0;
    result := try('SELECT * FROM gp_predict_links(''few'', NULL::text, k => 2)');
    RAISE EXCEPTION 'undo %', result;
EXCEPTION WHEN raise_exception THEN RETURN substr(SQLERRM, 6);
END $$;
-- Where the pairs begin
SELECT 36 + 16 * nrows AS pairs FROM part WHERE block = 0 \gset
SELECT field, damage(place, bytes) FROM (VALUES ('mark', 0, '\x00'::bytea), ('format', 4, '\x09'), ('length', 8, '\xff'), ('flags', 20, '\x00'), ('first', 32, '\xffffffff'), ('first', 32, '\x01000000'), ('rows', 24, '\x00000000'),
    ('rows', 24, '\xffffffff'), ('pairs', 28, '\xffffffff'), ('end of pairs', 48, '\xffff0000'), ('end of a text', 44, '\xffffff00'), ('end of the last', 44, '\xffffffff'),
    ('score', :pairs + 16, '\x000000000000f87f'), ('variance', :pairs + 24, '\x000000000000f0bf'), ('probability', :pairs + 32, '\x0000000000000040'),
    ('other end', :pairs + 12, '\xffffff7f'), ('other end', :pairs + 12, '\xffffffff'), ('its text', :pairs + 8, '\x00000000'), ('its text', :pairs + 8, '\xffffffff')) AS f (field, place, bytes);
SELECT damage(60, '\x7f', false);
BEGIN;
DELETE FROM gnngp_internal.gp_block b USING gnngp_internal.gp_model_catalog m WHERE m.name = 'names' AND b.model = m.id AND b.part = 'link_best' AND b.block = 1;
SELECT try($$SELECT * FROM gp_predict_links('names', NULL::text)$$);
DELETE FROM gnngp_internal.gp_block b USING gnngp_internal.gp_model_catalog m WHERE m.name = 'names' AND b.model = m.id AND b.part = 'link_best';
SELECT try($$SELECT * FROM gp_predict_links('names', NULL::text)$$);
SELECT try($$SELECT * FROM gp_predict_links('names', 'n1ä')$$);
ROLLBACK;
SELECT count(*) > 3 FROM gp_predict_links('names', 'n1ä');
SELECT src, dst FROM gp_predict_links('names', 'n1ä', among => '{n8ä,n15ä,n22ä}') ORDER BY dst;

-- Pairs that are not likely enough are left out, of a refresh as well
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY probability) AS least, count(*) AS n FROM gp_predict_links('numbers', k => 5) \gset
SELECT model FROM gp_fit_links('numbers', keep => 5, min_probability => :least);
SELECT bool_and(probability >= :least), count(*) > 20, count(*) < :n FROM gp_predict_links('numbers', k => 5);
CALL gp_refresh('numbers');
SELECT link_keep, link_min_probability = :least, bool_and(probability >= :least), count(*) > 20, count(*) < :n FROM gp_models, gp_predict_links('numbers', k => 5) WHERE model = 'numbers' GROUP BY 1, 2;
-- What was not kept is computed
SELECT count(*) > :n, min(probability) < :least FROM gp_predict_links('numbers', k => 6);
-- Where none is, that is told
SELECT model FROM gp_fit_links('numbers', keep => 5, min_probability => 1);
SELECT count(*) FROM gp_predict_links('numbers', k => 5);

SELECT gp_drop_graph(g) FROM unnest('{numbers,names,arcs,few}'::text[]) AS g;
SELECT count(*) FROM gnngp_internal.gp_block;
DROP SCHEMA links_kept CASCADE;
DROP ROLE gnngp_kept_reader;
