-- The pairs that a link model held out: what is kept of them, who sees them, and what is refused.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA loo_links;
SET search_path = loo_links, public;
\pset format unaligned
\pset tuples_only on
\pset null NULL

\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try.sql'
\i :include

-- Groups of 8 nodes, most of whose pairs are linked, and chains that any missing link cuts in two
CREATE TABLE n AS SELECT i AS id, 'n' || i AS name, CASE WHEN i % 3 = 0 THEN 'c' || i / 8 % 2 END AS y FROM generate_series(0, 199) i;
CREATE TABLE e AS
    SELECT a.id AS src, b.id AS dst FROM n a JOIN n b ON a.id < b.id AND a.id / 8 = b.id / 8 WHERE b.id < 120 AND (a.id * 31 + b.id * 17) % 5 <> 0
    UNION ALL SELECT i, i + 1 FROM generate_series(120, 198) i WHERE i % 10 <> 9;
CREATE TABLE named AS SELECT 'n' || src AS src, 'n' || dst AS dst FROM e;
SELECT gp_create_graph('g', 'n', 'e', target => 'y'), gp_create_graph('names', 'n', 'named', id => 'name'), gp_create_graph('arcs', 'n', 'e', directed => true);
SELECT count(*), bool_and(auc > 0.7) FROM unnest('{g,names,arcs}'::text[]) AS g, gp_fit_links(g);
-- Pairs take the cube of their number
CREATE VIEW n_some AS SELECT * FROM n WHERE id >= 64;
CREATE VIEW e_some AS SELECT * FROM e WHERE src >= 64;
SELECT gp_create_graph('some', 'n_some', 'e_some');
SELECT gp_fit_links('some', model => 'pairs', method => 'pairs') IS NOT NULL;

-- Links and as many pairs without one; a link stands once, and of an undirected pair the lower id first
SELECT m, count(*) = 2 * count(*) FILTER (WHERE linked) AS halves, bool_and(linked = (e.src IS NOT NULL)) AS right,
       count(*) FILTER (WHERE linked) = count(DISTINCT (l.src, l.dst)) FILTER (WHERE linked) AS once,
       count(*) < max(c.link_pairs) OR m = 'pairs' AS learnt_from,
       bool_and(l.src < l.dst) OR m = 'arcs' AS ordered, bool_and(l.variance >= 0 AND l.variance < 10) AS variances,
       bool_and(l.probability BETWEEN 0 AND 1) AS probabilities
FROM unnest('{g,arcs,pairs}'::text[]) AS m JOIN gnngp_internal.gp_model_catalog c ON c.name = m, gp_heldout_links(m) l LEFT JOIN e USING (src, dst)
GROUP BY m ORDER BY m COLLATE "C";

-- What gp_evaluate says is what they say: the area is the share of pairs in the right order, within a fold
SELECT m, metric, value BETWEEN 0 AND 1 AS sensible FROM unnest('{g,arcs,pairs,names}'::text[]) AS m, gp_evaluate(m)
WHERE metric IN ('auc', 'average_precision', 'auc_component', 'mrr', 'hits_at_1', 'hits_at_10', 'hits_at_20', 'mrr_common_neighbours', 'mrr_resource_allocation') ORDER BY m COLLATE "C", metric COLLATE "C";
SELECT m, abs(avg(CASE WHEN a.score > b.score THEN 1 WHEN a.score = b.score THEN 0.5 ELSE 0 END) - max(e.value)) < 0.05 AS auc
FROM unnest('{g,arcs,pairs}'::text[]) AS m, gp_heldout_links(m) AS a, gp_heldout_links(m) AS b, gp_evaluate(m) AS e
WHERE a.linked AND NOT b.linked AND e.metric = 'auc' GROUP BY m ORDER BY m COLLATE "C";
-- A model of both parts has the figures of both
SELECT model FROM gp_fit('g');
SELECT string_agg(metric, ' ') FROM gp_evaluate('g');
SELECT try($$SELECT gp_evaluate('nothing')$$);

-- The forms: pairs of one node, of some, by text; ids of the asked type
CREATE TABLE one AS SELECT * FROM gp_heldout_links('g') WHERE 17 IN (src, dst);
SELECT count(*) > 0 FROM one;
SELECT count(*) FROM (SELECT * FROM gp_heldout_links('g', 17) EXCEPT TABLE one) AS d;
SELECT count(*) = (SELECT count(*) FROM one) FROM gp_heldout_links('g', '17'::text);
SELECT pg_typeof(src), count(*) = (SELECT count(*) FROM gp_heldout_links('g') WHERE src IN (17, 3) OR dst IN (17, 3)) FROM gp_heldout_links('g', ARRAY[17, 3, 17]) GROUP BY 1;
SELECT pg_typeof(dst), count(*) > 0 FROM gp_heldout_links('g', nodes => ARRAY[17, 3]::smallint[]) GROUP BY 1;
SELECT pg_typeof(dst), count(*) > 0 FROM gp_heldout_links('g', nodes => ARRAY[17, 3]::bigint[]) GROUP BY 1;
SELECT pg_typeof(src), count(*) > 0 FROM gp_heldout_links('g', '{17,3}') GROUP BY 1;
SELECT count(*) FROM gp_heldout_links('g', 1000);
SELECT bool_and('n17' IN (src, dst)), count(*) > 0 FROM gp_heldout_links('names', 'n17');
SELECT bool_and(src ~ '^n' AND dst ~ '^n'), count(*) > 100 FROM gp_heldout_links('names', NULL::text[]);
SELECT try($$SELECT * FROM gp_heldout_links('names')$$);
SELECT try($$SELECT * FROM gp_heldout_links('names', 5)$$);
SELECT try($$SELECT * FROM gp_heldout_links('nothing')$$);
SELECT try($$SELECT * FROM gp_heldout_links(NULL)$$);
SELECT model FROM gp_fit('g', model => 'nodes');
SELECT try($$SELECT * FROM gp_heldout_links('nodes')$$);

-- The pairs are the owner's: a grant of the model does not show them
CREATE ROLE gnngp_pair_reader;
GRANT USAGE ON SCHEMA loo_links TO gnngp_pair_reader;
SELECT gp_grant('g', 'gnngp_pair_reader');
SET ROLE gnngp_pair_reader;
SELECT count(*) FROM gp_evaluate('g') WHERE metric = 'auc_component';
SELECT try($$SELECT * FROM gp_heldout_links('g')$$);
SELECT string_agg(DISTINCT part, ' ' ORDER BY part) FROM gnngp_internal.gp_block;
RESET ROLE;

-- Damage: a block with the right checksum is still no list of pairs
\set include :sources '/sql/include/seal.sql'
\i :include
CREATE VIEW part AS SELECT b.* FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model AND m.name = 'names' WHERE b.part = 'link_loo';
SELECT bool_and(data = seal(data)) AS sealed, count(*) FROM part;
-- Puts bytes at a place of one block, and asks
CREATE FUNCTION damage(number integer, place integer, bytes bytea, sealed boolean DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    UPDATE gnngp_internal.gp_block b SET data = CASE WHEN sealed THEN seal(overlay(b.data PLACING bytes FROM place + 1)) ELSE overlay(b.data PLACING bytes FROM place + 1) END
    FROM part p WHERE b.model = p.model AND b.part = p.part AND b.version = p.version AND b.block = p.block AND b.block = number;
    result := try('SELECT * FROM gp_heldout_links(''names'', NULL::text)');
    RAISE EXCEPTION 'undo %', result;
EXCEPTION WHEN raise_exception THEN RETURN substr(SQLERRM, 6);
END $$;
SELECT field, damage(0, place, bytes) FROM (VALUES ('mark', 0, '\x00'::bytea), ('format', 4, '\x09'), ('length', 8, '\xff'), ('block', 20, '\x01'), ('blocks', 24, '\x00'),
    ('tag', 28, '\x01'), ('element', 32, '\x01'), ('element', 32, '\x07'), ('count', 36, '\x01'), ('count', 36, '\xffffffffffffffff'), ('first', 44, '\x01'),
    ('no such end', 52, '\xffff0000'), ('no such end', 52, '\xffffffff')) AS f (field, place, bytes);
SELECT damage(0, 60, '\x7f', false);
SELECT 'a pair of one node', damage(0, 56, (SELECT substr(data, 53, 4) FROM part WHERE block = 0));
SELECT 'linked', damage(1, 52, '\x02');
SELECT 'score', damage(2, 52, '\x000000000000f87f'), damage(2, 52, '\x000000000000f07f');
SELECT 'variance', damage(2, 60, '\x000000000000f0bf'), damage(2, 60, '\x000000000000f87f');
SELECT 'probability', damage(2, 68, '\x0000000000000040'), damage(2, 68, '\x000000000000f87f');
SELECT 'keys', damage(3, 52, '\xffffffffffffff7f');
SELECT 'ends of texts', damage(4, 52, '\xffffffffffffff7f'), damage(4, 52, '\xffffffffffffffff');
-- Each array shorter than the others, and each block missing
SELECT a.number, damage(a.number, 36, set_byte(substr(p.data, 37, 8), 0, get_byte(p.data, 36) - 1)) FROM generate_series(0, 4) AS a (number) JOIN part p ON p.block = a.number ORDER BY 1;
CREATE FUNCTION lose(number integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    DELETE FROM gnngp_internal.gp_block b USING part p WHERE b.model = p.model AND b.part = p.part AND b.block = number;
    result := try('SELECT * FROM gp_heldout_links(''names'', NULL::text)');
    RAISE EXCEPTION 'undo %', result;
EXCEPTION WHEN raise_exception THEN RETURN substr(SQLERRM, 6);
END $$;
SELECT DISTINCT lose(number) FROM generate_series(0, 4) AS number;
BEGIN;
UPDATE gnngp_internal.gp_model_catalog SET link_integer_ids = true, link_id_type = 'bigint' WHERE name = 'names';
SELECT try($$SELECT * FROM gp_heldout_links('names')$$);
ROLLBACK;
SELECT count(*) > 100 FROM gp_heldout_links('names', NULL::text);
BEGIN;
UPDATE gnngp_internal.gp_block SET data = substr(data, 1, 40) WHERE part = 'link_figure';
SELECT try($$SELECT * FROM gp_evaluate('names')$$);
ROLLBACK;

-- Blocks that are gone
SELECT gp_report('names') ~ 'ROC curve of held-out links';
DELETE FROM gnngp_internal.gp_block b USING gnngp_internal.gp_model_catalog m WHERE b.model = m.id AND m.name = 'names' AND b.part IN ('link_loo', 'link_figure');
SELECT try($$SELECT * FROM gp_evaluate('names')$$);
SELECT try($$SELECT * FROM gp_heldout_links('names', NULL::text)$$);
SELECT try($$SELECT gp_report('names')$$);
CALL gp_refresh('names');
SELECT count(*) > 100 FROM gp_heldout_links('names', NULL::text);
SELECT part, count(DISTINCT b.version) FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.name = 'names' GROUP BY part ORDER BY part COLLATE "C";

SELECT gp_drop_graph(g) FROM unnest('{g,names,arcs,some}'::text[]) AS g;
SELECT count(*) FROM gnngp_internal.gp_block;
DROP SCHEMA loo_links CASCADE;
DROP ROLE gnngp_pair_reader;
