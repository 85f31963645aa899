-- Answers from the tables as they are now.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA live;
SET search_path = live, public;

-- Four blocks of fifty on rings, with shortcuts; every fourth node is labelled.
CREATE TABLE node AS
    SELECT i::bigint AS id, 'n' || i AS name, md5(i::text)::uuid AS uid,
           ARRAY[sin(i), cos(i * 7), (i / 50)::real / 2 + sin(i * i)]::real[] AS shape,
           100 + i / 50 * 10 + sin(i) AS weight, cos(i) AS height,
           CASE WHEN i % 4 = 0 THEN (ARRAY['red', 'green', 'blue', 'grey'])[1 + i / 50] END AS colour,
           CASE WHEN i % 4 = 0 THEN i / 50 * 10 + sin(i) END::double precision AS size
    FROM generate_series(0, 199) AS i;
CREATE TABLE edge AS
    SELECT i::bigint AS src, (i / 50 * 50 + (i + step) % 50)::bigint AS dst, (1 + i % 3)::double precision AS weight
    FROM generate_series(0, 199) AS i, unnest(ARRAY[1, 9, 20]) AS step WHERE (i + step) % 5 > 0;
INSERT INTO edge SELECT i, (i * 77) % 200, 0.5 FROM generate_series(0, 199, 9) AS i;
CREATE TABLE word AS
    SELECT i::bigint AS node, (i * k * k + i / 50 * 7) % 40 AS number, 1 + sin(i * k)::real AS value
    FROM generate_series(0, 199) AS i, generate_series(1, 4) AS k;
DELETE FROM word a USING word b WHERE a.node = b.node AND a.number = b.number AND a.ctid > b.ctid;
CREATE TABLE name_edge AS SELECT 'n' || src AS src, 'n' || dst AS dst FROM edge;
CREATE TABLE uid_edge AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM edge;
ALTER TABLE node ADD PRIMARY KEY (id), ADD UNIQUE (name), ADD UNIQUE (uid);
CREATE INDEX ON edge (src);
CREATE INDEX ON edge (dst);
CREATE INDEX ON name_edge (src);
CREATE INDEX ON name_edge (dst);
CREATE INDEX ON word (node);

SELECT gp_create_graph('bare', 'node', 'edge', target => 'colour');
SELECT gp_create_graph('arrays', 'node', 'edge', target => 'colour', features => '{shape}');
SELECT gp_create_graph('columns', 'node', 'edge', target => 'colour', features => '{weight,height}');
SELECT gp_create_graph('words', 'node', 'edge', target => 'colour', sparse_features => 'word');
SELECT gp_create_graph('lengths', 'node', 'edge', target => 'colour', sparse_features => 'word', scale => 'length');
SELECT gp_create_graph('directed', 'node', 'edge', target => 'colour', features => '{shape}', weight => 'weight', directed => true);
SELECT gp_create_graph('sizes', 'node', 'edge', target => 'size', features => '{shape}');
SELECT gp_create_graph('names', 'node', 'name_edge', id => 'name', target => 'colour', features => '{shape}');
SELECT gp_create_graph('uids', 'node', 'uid_edge', id => 'uid', target => 'colour', features => '{shape}');

-- Every node from today's tables is what the fit says, whatever the graph, the kernel and the strategy.
CREATE FUNCTION apart(g text, k text, s text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    most double precision;
BEGIN
    PERFORM gp_fit(g, 'm', kernel => k, strategy => s, live => true, replace => true);
    SELECT greatest(max(abs(a.score - b.score)), max(abs(a.variance - b.variance)), max(abs(coalesce(a.probability - b.probability, 0))))
    INTO STRICT most
    FROM gp_predict('m', top => NULL) AS a
        FULL JOIN gp_predict_live('m', ARRAY(SELECT id FROM node), top => NULL) AS b
            ON b.node = a.node AND b.class IS NOT DISTINCT FROM a.class;
    RETURN CASE WHEN most < 1e-5 THEN 'the same' ELSE 'apart by ' || coalesce(most::text, 'NULL') END;
EXCEPTION WHEN feature_not_supported THEN
    RETURN SQLERRM;
END $$;
SELECT k AS kernel, s AS strategy, string_agg(g || ': ' || apart(g, k, s), ', ' ORDER BY g)
FROM unnest(ARRAY['gcn', 'sage', 'gin', 'profile', 'gcnii', 'mlp', 'gcn(input=rbf)', 'gcn(norm=row, layers=3)', 'appnp', 'laplacian']) AS k,
     unnest(ARRAY['exact', 'nystrom']) AS s,
     unnest(ARRAY['arrays', 'bare', 'columns', 'words']) AS g
GROUP BY k, s ORDER BY k, s;
SELECT g AS graph, s AS strategy, apart(g, 'gcn', s)
FROM unnest(ARRAY['directed', 'lengths', 'sizes']) AS g, unnest(ARRAY['exact', 'nystrom', 'auto']) AS s ORDER BY g, s;

-- A weight that is none is named by its edge, as a fit names it.
SELECT count(*) FROM gp_fit('directed', kernel => 'gcn', live => true);
BEGIN;
UPDATE edge SET weight = -1 WHERE (src, dst) = (0, 1);
SELECT * FROM gp_predict_live('directed', 0);
ROLLBACK;

-- Ids of other types, as gp_predict takes them.
SELECT kernel IS NOT NULL AS kernel FROM gp_fit('names', live => true);
SELECT count(*) FROM gp_fit('uids', kernel => 'gcn', live => true);
SELECT live_bytes > 0 AS has_state FROM gp_models WHERE model = 'names';
SELECT count(*), max(abs(a.score - b.score)) < 1e-5 AS same
FROM gp_predict('names', NULL::text[]) AS a JOIN gp_predict_live('names', ARRAY(SELECT name FROM node)) AS b USING (node, class);
SELECT a.class = b.class AS same, pg_typeof(b.node)
FROM gp_predict('names', 'n7') AS a, gp_predict_live('names', 'n7') AS b;
SELECT count(*), max(abs(a.score - b.score)) < 1e-5 AS same
FROM gp_predict('uids', NULL::uuid) AS a JOIN gp_predict_live('uids', ARRAY(SELECT uid FROM node)) AS b USING (node, class);
SELECT pg_typeof(node), class FROM gp_predict_live('uids', md5('7')::uuid);
SELECT count(*) FROM gp_fit('arrays', kernel => 'gcn', strategy => 'exact', live => true);
SELECT node FROM gp_predict_live('arrays', '{3,1}');
SELECT node, pg_typeof(node) FROM gp_predict_live('arrays', ARRAY[3, 1]);
SELECT node, pg_typeof(node) FROM gp_predict_live('arrays', ARRAY[3, 1]::smallint[]);
SELECT node, pg_typeof(node) FROM gp_predict_live('arrays', 3);
SELECT count(*) FROM gp_predict_live('arrays', ARRAY[3, NULL], top => NULL);
SELECT count(*) FROM gp_predict_live('arrays', ARRAY[]::bigint[]);

-- What changed since counts: a new node, an edge, features.  A fit of today on the same landmarks says the same of it.
SELECT count(*) FROM gp_fit('arrays', 'low', kernel => 'gcn', strategy => 'nystrom', landmarks => 60, live => true);
CREATE TABLE before AS SELECT * FROM gp_predict_live('arrays', 7, top => NULL);
BEGIN;
INSERT INTO node (id, name, uid, shape) VALUES (1000, 'new', md5('new')::uuid, '{0.5,0.5,2}');
INSERT INTO edge VALUES (1000, 160, 1), (7, 1000, 1), (170, 1000, 1);
SELECT class FROM gp_predict_live('arrays', 1000);
SELECT class FROM gp_predict_live('low', 1000);
SELECT max(abs(a.score - b.score)) > 1e-4 AS moved FROM before AS a JOIN gp_predict_live('arrays', 7, top => NULL) AS b USING (node, class);
SELECT count(*) FROM gp_fit('arrays', 'today', kernel => 'gcn', strategy => 'exact', live => true);
SELECT max(abs(a.score - b.score)) < 1e-5 AS same
FROM gp_predict('today', 1000, top => NULL) AS a JOIN gp_predict_live('today', 1000, top => NULL) AS b USING (node, class);
DELETE FROM edge WHERE dst = 1000 OR src = 1000;
DELETE FROM node WHERE id = 1000;
SELECT max(abs(a.score - b.score)) AS back FROM before AS a JOIN gp_predict_live('arrays', 7, top => NULL) AS b USING (node, class);
ROLLBACK;

-- Labels that are given and taken, against a fit with them.
CREATE FUNCTION relabelled(g text, s text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    most double precision;
BEGIN
    CREATE TEMP TABLE now_live ON COMMIT DROP AS
        SELECT * FROM gp_predict_live('m', ARRAY(SELECT id FROM node), top => NULL, given_nodes => ARRAY[1, 80, 44]::bigint[],
                                      given_classes => ARRAY['grey', NULL, 'blue']);
    UPDATE node SET colour = CASE id WHEN 1 THEN 'grey' WHEN 44 THEN 'blue' END WHERE id IN (1, 80, 44);
    PERFORM gp_fit(g, 'again', kernel => 'gcn', strategy => s, replace => true, live => true, nugget => m.nugget, landmarks => m.landmarks::integer)
    FROM gp_models AS m WHERE m.model = 'm';
    SELECT max(abs(a.score - b.score)) INTO STRICT most
    FROM gp_predict('again', top => NULL) AS a JOIN now_live AS b USING (node, class);
    UPDATE node SET colour = CASE id WHEN 80 THEN 'green' WHEN 44 THEN 'red' END WHERE id IN (1, 80, 44);
    DROP TABLE now_live;
    RETURN CASE WHEN most < 1e-4 THEN 'the same' ELSE 'apart by ' || coalesce(most::text, 'NULL') END;
END $$;
SELECT apart('arrays', 'gcn', 'exact'), relabelled('arrays', 'exact');
SELECT apart('words', 'gcn', 'exact'), relabelled('words', 'exact');
SELECT apart('bare', 'gcn', 'exact'), relabelled('bare', 'exact');
SELECT a.score > b.score AS more
FROM gp_predict_live('names', 'n3', top => NULL, given_nodes => ARRAY['n3', 'n4'], given_classes => ARRAY['grey', 'grey']) AS a
    JOIN gp_predict_live('names', 'n3', top => NULL) AS b USING (class) WHERE class = 'grey';
-- literals stand for parameters without a type
SELECT t.score = a.score AS same FROM gp_predict_live('names', 'n3', top => 1, given_nodes => ARRAY['n3', 'n4'], given_classes => ARRAY['grey', 'grey']) AS a,
    gp_predict_live('names', 'n3', given_nodes => '{n3,n4}', given_classes => '{grey,grey}') AS t;
SELECT count(*) FROM gp_fit('sizes', kernel => 'gcn', live => true);
SELECT abs(a.score - 40) < abs(b.score - 40) AS nearer
FROM gp_predict_live('sizes', 3, given_nodes => ARRAY[3], given_values => ARRAY[40]) AS a, gp_predict_live('sizes', 3) AS b;

-- Which labels make a score: the parts add up to it.
SELECT count(*), count(e.labelled), count(*) FILTER (WHERE e.class = p.class) AS own, bool_and(n.colour IS NOT DISTINCT FROM e.class) AS theirs,
       abs(sum(e.share) - max(p.score)) < 1e-9 AS whole
FROM gp_predict_live('arrays', 7) AS p, gp_explain('arrays', 7, k => 5) AS e LEFT JOIN node AS n ON n.id = e.labelled;
SELECT abs(sum(e.share) - max(p.score)) < 1e-9 AS whole
FROM gp_predict_live('low', 7, top => NULL) AS p, gp_explain('low', 7, 'blue', k => NULL) AS e WHERE p.class = 'blue';
SELECT abs(sum(e.share) - max(p.score)) < 1e-9 AS whole, count(e.class) AS classes
FROM gp_predict_live('sizes', 7) AS p, gp_explain('sizes', 7) AS e;
SELECT pg_typeof(labelled), labelled ~ '^n\d+$' AS name FROM gp_explain('names', 'n7', k => 1);
SELECT pg_typeof(labelled) FROM gp_explain('uids', md5('7')::uuid, k => 1);
SELECT * FROM gp_explain('arrays', 7, 'pink');
SELECT * FROM gp_explain('sizes', 7, 'red');
SELECT * FROM gp_explain('arrays', '{7,8}');
SELECT * FROM gp_explain('arrays', 999);
SELECT * FROM gp_explain('arrays', 7, k => 0);
SELECT * FROM gp_explain('arrays', NULL::bigint);

-- Which edges: the effect is what deleting the edge does.
CREATE FUNCTION deleted(m text, n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    same boolean;
BEGIN
    CREATE TEMP TABLE told ON COMMIT DROP AS SELECT * FROM gp_explain_edges(m, n, k => 3);
    CREATE TEMP TABLE before_it ON COMMIT DROP AS SELECT * FROM gp_predict_live(m, n);
    DELETE FROM edge USING (SELECT * FROM told ORDER BY abs(effect) DESC LIMIT 1) AS t
    WHERE (edge.src, edge.dst) IN ((t.src, t.dst), (t.dst, t.src));
    SELECT count(*) = 1 AND bool_and(abs(a.score - b.score - t.effect) < 1e-8 AND t.effect <> 0) INTO STRICT same
    FROM before_it AS b JOIN gp_predict_live(m, n, top => NULL) AS a ON a.class IS NOT DISTINCT FROM b.class,
        (SELECT effect FROM told ORDER BY abs(effect) DESC LIMIT 1) AS t;
    RAISE 'same: %', same;
EXCEPTION WHEN raise_exception THEN
    RETURN SQLERRM = 'same: t';
END $$;
SELECT deleted('arrays', 7) AS exact, deleted('low', 7) AS low_rank, deleted('sizes', 7) AS values;
-- Of directed edges, and of kernels that read lists of neighbours behind operators: all effects of a node.
CREATE TABLE spot AS SELECT i AS id, ARRAY[cos(i), sin(i * 2), 1]::real[] AS x,
    CASE WHEN i % 3 > 0 THEN CASE WHEN i * i % 7 < 3 THEN 'red' ELSE 'blue' END END AS class FROM generate_series(1, 40) AS i;
CREATE TABLE arc AS SELECT DISTINCT i AS src, (i * i * 3 + k * k * 7 + i * k) % 40 + 1 AS dst
    FROM generate_series(1, 40) AS i, generate_series(1, 9) AS k;
DELETE FROM arc WHERE src = dst OR EXISTS (SELECT FROM arc AS b WHERE b.src = arc.dst AND b.dst = arc.src AND b.src < arc.src);
SELECT gp_create_graph('spots ' || d, 'spot', 'arc', features => '{x}', target => 'class', directed => d = 'directed')
FROM unnest('{directed,undirected}'::text[]) AS d;
CREATE FUNCTION wrong(m text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    worst float8 := 0;
    told record;
    off float8;
BEGIN
    FOR told IN SELECT n, e.*, p.class, p.score FROM (VALUES (13)) AS v (n), gp_predict_live(m, n) AS p,
                    gp_explain_edges(m, n, p.class, k => 200) AS e LOOP
        BEGIN
            DELETE FROM arc WHERE (src, dst) = (told.src, told.dst) OR m ~ 'undirected' AND (dst, src) = (told.src, told.dst);
            SELECT abs(a.score - told.score - told.effect) INTO STRICT off
            FROM gp_predict_live(m, told.n, top => NULL) AS a WHERE a.class = told.class;
            RAISE 'back';
        EXCEPTION WHEN raise_exception THEN
            worst := greatest(worst, off);
        END;
    END LOOP;
    RETURN worst;
END $$;
SET client_min_messages = error;
SELECT count(*) FROM unnest('{gcn,gin,A*relu(A*N*W)*W,A*A*N*W}'::text[]) AS k, unnest('{directed,undirected}'::text[]) AS d,
    gp_fit('spots ' || d, k || ' ' || d, kernel => k::gp_kernel, live => true, nugget => 0.1);
SELECT k, d, wrong(k || ' ' || d) < 1e-6 AS right
FROM unnest('{gcn,gin,A*relu(A*N*W)*W,A*A*N*W}'::text[]) AS k, unnest('{directed,undirected}'::text[]) AS d ORDER BY k, d;
SET client_min_messages = warning;
SELECT count(*), count(DISTINCT (src, dst)) FROM gp_explain_edges('low', 7, 'blue', k => 5);
SELECT pg_typeof(src), pg_typeof(dst), src ~ '^n\d+$' AS name FROM gp_explain_edges('names', 'n7', k => 1);
SELECT pg_typeof(src) FROM gp_explain_edges('uids', md5('7')::uuid, k => 1);
SELECT * FROM gp_explain_edges('arrays', '{7,8}');
SELECT * FROM gp_explain_edges('arrays', 7, 'pink');

-- What to label next: the share is that by which the variances shrink.
CREATE FUNCTION shrinks(m text, nodes bigint[]) RETURNS boolean LANGUAGE sql AS $$
    SELECT count(*) = 3 AND max(abs(1 - now.left / before.left - c.gain)) < 1e-6
    FROM (SELECT node, gain, row_number() OVER () AS position FROM gp_next_labels(m, 3, nodes)) AS c,
        (SELECT array_agg(node) AS chosen FROM gp_next_labels(m, 3, nodes)) AS all_chosen,
        LATERAL (SELECT sum(variance) AS left FROM gp_predict_live(m, coalesce(nodes, ARRAY(SELECT id FROM node)),
                     given_nodes => chosen[:position - 1], given_classes => array_fill('red'::text, ARRAY[position::integer - 1]))) AS before,
        LATERAL (SELECT sum(variance) AS left FROM gp_predict_live(m, coalesce(nodes, ARRAY(SELECT id FROM node)),
                     given_nodes => chosen[:position], given_classes => array_fill('red'::text, ARRAY[position::integer]))) AS now $$;
SELECT shrinks('arrays', NULL) AS exact, shrinks('low', NULL) AS low_rank, shrinks('arrays', ARRAY[7, 8, 9]) AS among;
SELECT count(*), count(DISTINCT node), bool_and(n.colour IS NULL) AS unlabelled, bool_and(gain >= 0 AND gain <= 1) AS shares
FROM gp_next_labels('arrays') AS c JOIN node AS n ON n.id = c.node;
SELECT count(*) FROM gp_next_labels('sizes', k => NULL);
SELECT pg_typeof(node), count(*) FROM gp_next_labels('names', NULL::text[]) GROUP BY 1;
SELECT pg_typeof(node), count(*) FROM gp_next_labels('uids', 2, NULL::uuid[]) GROUP BY 1;
SELECT pg_typeof(node), count(*) FROM gp_next_labels('arrays', among => ARRAY[3, 5], k => 2) GROUP BY 1;
SELECT pg_typeof(node), count(*) FROM gp_next_labels('arrays', among => '{3,5}', k => 2) GROUP BY 1;
SELECT count(*) FROM gp_next_labels('arrays', 3, ARRAY[]::bigint[]);
SELECT * FROM gp_next_labels('names');
SELECT * FROM gp_next_labels('arrays', 0);
SELECT * FROM gp_next_labels('arrays', 2, ARRAY[3, 999]);
SELECT * FROM gp_next_labels('arrays', 2, ARRAY[3, 3]);
BEGIN;
CREATE ROLE live_colleague;
GRANT USAGE ON SCHEMA live TO live_colleague;
GRANT SELECT ON node, edge TO live_colleague;
SELECT gp_grant('arrays', 'live_colleague');
ALTER TABLE node ENABLE ROW LEVEL SECURITY;
CREATE POLICY first ON node FOR SELECT TO live_colleague USING (id < 60);
SET ROLE live_colleague;
SELECT * FROM gp_next_labels('arrays', 1);
ROLLBACK;

-- Power, and kernels by themselves.
SELECT apart('arrays', 'gcn(power=1.5)', 'auto') AS power, apart('words', 'auto', 'auto') AS by_itself, apart('bare', 'auto', 'auto') AS structure;

-- A refresh keeps the state, a fit without it ends it.
CALL gp_refresh('arrays');
SELECT live_bytes > 0 AS has_state FROM gp_models WHERE model = 'arrays';
SELECT count(*) FROM gp_predict_live('arrays', 3);
SELECT reason ~ 'a live state of' AS told FROM gp_estimate('arrays', 'gcn', live => true);
SELECT count(*) FROM gp_fit('bare', kernel => 'gcn');
SELECT live_bytes FROM gp_models WHERE model = 'bare';
\set VERBOSITY default
SELECT * FROM gp_predict_live('bare', 3);

-- Bad input.
SELECT * FROM gp_predict_live('nothing', 3);
SELECT * FROM gp_predict_live('arrays', 999);
SELECT * FROM gp_predict_live('arrays', ARRAY[3, 3]);
SELECT * FROM gp_predict_live('arrays', NULL::bigint);
SELECT * FROM gp_predict_live('arrays');
SELECT * FROM gp_predict_live('names');
SELECT * FROM gp_predict_live('arrays', 'x');
SELECT * FROM gp_predict_live('arrays', 3, top => 0);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[4], given_classes => ARRAY['pink']);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[4, 4], given_classes => ARRAY['red', 'red']);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[4], given_classes => ARRAY['red', 'red']);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[NULL::integer], given_classes => ARRAY['red']);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[999], given_classes => ARRAY['red']);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[4], given_values => ARRAY[1]);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => '{4}', given_classes => ARRAY['red']);
SELECT * FROM gp_predict_live('sizes', 3, given_nodes => ARRAY[4], given_values => ARRAY['NaN'::float8]);
SELECT gp_fit('arrays', 'x', kernel => 'appnp', live => true);
SELECT gp_fit('bare', 'x', kernel => 'laplacian', strategy => 'precision', live => true);
SELECT gp_fit('arrays', 'x', kernel => 'gckm', live => true);
SELECT gp_fit('arrays', 'x', live => NULL);
SELECT gp_alter_graph('arrays', scale => 'length');
SELECT * FROM gp_predict_live('arrays', 3);
SELECT gp_alter_graph('arrays', scale => 'auto');
-- A column that is renamed is followed.
ALTER TABLE node RENAME COLUMN shape TO form;
SELECT count(*) FROM gp_predict_live('arrays', 3);
ALTER TABLE node RENAME COLUMN form TO shape;
BEGIN;
UPDATE node SET shape = '{1,2}' WHERE id IN (3, 4);
SELECT * FROM gp_predict_live('arrays', 3);
ROLLBACK;
BEGIN;
DROP TABLE edge;
SELECT * FROM gp_predict_live('arrays', 3);
ROLLBACK;

-- Where there is no index, a word once in a session.
SET client_min_messages = notice;
DROP INDEX edge_src_idx;
SELECT count(*) FROM gp_predict_live('arrays', 3);
SELECT count(*) FROM gp_predict_live('arrays', 3);
SET client_min_messages = warning;
CREATE INDEX ON edge (src);

-- Lists of neighbours stay sparse beside columns.
CREATE TABLE many AS SELECT i AS id, i % 7 AS size, CASE WHEN i % 9 = 0 THEN i % 2 END AS spot FROM generate_series(1, 3000) AS i;
CREATE VIEW many_edges AS SELECT id AS src, id + 1 AS dst FROM many WHERE id < 3000;
SELECT nodes FROM gp_create_graph('lists', 'many', 'many_edges', features => '{size}', target => 'spot');
SELECT strategy FROM gp_fit('lists', kernel => 'sage2', strategy => 'nystrom', landmarks => 50, live => true);
SET gnngp.memory_limit = '60MB';
SELECT count(*) FROM gp_next_labels('lists', 3);
RESET gnngp.memory_limit;

-- The tables are read as the caller.
CREATE ROLE regress_gnngp_live;
GRANT USAGE ON SCHEMA live TO regress_gnngp_live;
SELECT gp_grant('arrays', 'regress_gnngp_live');
SET ROLE regress_gnngp_live;
SELECT count(*) FROM gp_predict('arrays', 3);
SELECT count(*) FROM gp_predict_live('arrays', 3);
SELECT count(*) FROM gnngp_internal.gp_block WHERE part = 'live';
RESET ROLE;
GRANT SELECT ON node, edge TO regress_gnngp_live;
ALTER TABLE node ENABLE ROW LEVEL SECURITY;
CREATE POLICY partly ON node USING (id <> 7);
SET ROLE regress_gnngp_live;
SELECT count(*) FROM gp_predict_live('arrays', 3);
SELECT * FROM gp_predict_live('arrays', 7);
SELECT count(*) FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[5], given_classes => ARRAY['red']);
SELECT * FROM gp_predict_live('arrays', 3, given_nodes => ARRAY[4], given_classes => ARRAY[NULL]);
SELECT * FROM gp_explain('arrays', 3);
RESET ROLE;
-- Nothing is changed by a view that is read on the way.
CREATE TABLE trace (t text);
CREATE FUNCTION spy(id bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN INSERT INTO live.trace VALUES ('seen'); RETURN id; END $$;
CREATE VIEW spied AS SELECT spy(src) AS src, dst FROM edge;
SELECT gp_alter_graph('arrays', edges => 'spied');
SELECT * FROM gp_predict_live('arrays', 3);
SELECT count(*) FROM trace;

DROP OWNED BY regress_gnngp_live;
DROP ROLE regress_gnngp_live;
SELECT count(gp_drop_graph(graph)) FROM gp_graphs WHERE graph IN ('bare', 'arrays', 'columns', 'words', 'lengths', 'directed', 'sizes', 'names', 'uids', 'lists') OR graph LIKE 'spots %';
SET client_min_messages = error;
DROP SCHEMA live CASCADE;
