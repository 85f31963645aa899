-- The second argument of every function on nodes is the node, or the nodes
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA calls;
SET search_path = calls, public;

-- One graph by ids of four types
CREATE TABLE n AS
    SELECT i AS id, 'user ' || i AS name, md5(i::text)::uuid AS key, ('code ' || i)::varchar(20) AS code,
           CASE WHEN i % 3 > 0 THEN CASE WHEN i <= 30 THEN 'low' ELSE 'high' END END AS y
    FROM generate_series(1, 60) i;
CREATE TABLE e AS
    SELECT a.id AS src, b.id AS dst, a.name AS names, b.name AS named, a.key AS keys, b.key AS keyd, a.code AS codes, b.code AS coded
    FROM n a JOIN n b ON b.id IN (a.id + 1, a.id + 2, a.id + 5) AND (a.id <= 30) = (b.id <= 30);
SELECT gp_create_graph('i', 'n', 'e', target => 'y'),
       gp_create_graph('t', 'n', 'e', id => 'name', src => 'names', dst => 'named', target => 'y'),
       gp_create_graph('u', 'n', 'e', id => 'key', src => 'keys', dst => 'keyd', target => 'y'),
       gp_create_graph('v', 'n', 'e', id => 'code', src => 'codes', dst => 'coded', target => 'y');
SELECT model FROM unnest('{i,t,u,v}'::text[]) g, gp_fit(g, kernel => 'gcn', nugget => 0.1, live => true);
SELECT model, pairs > 0 FROM unnest('{i,t,u,v}'::text[]) g, gp_fit_links(g);

-- What a call gives: the type and number of its rows, and the smallest of its nodes
CREATE FUNCTION gives(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE 'SELECT concat_ws('' '', min(pg_typeof(r.' || CASE WHEN call LIKE '%links%' THEN 'src' ELSE 'node' END
        || ')::text), count(*), min(r.' || CASE WHEN call LIKE '%links%' THEN 'src' ELSE 'node' END || '::text)) FROM '
        || call || ' r' INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- One node, several, all
SELECT call, gives(call) FROM unnest(ARRAY[
    $$gp_predict('i')$$,
    $$gp_predict('i', 5)$$,
    $$gp_predict('i', 5::bigint)$$,
    $$gp_predict('i', 5::smallint)$$,
    $$gp_predict('i', '5')$$,
    $$gp_predict('i', '{5,6}')$$,
    $$gp_predict('i', ARRAY[5, 6, 5, NULL, 99])$$,
    $$gp_predict('i', ARRAY[5, 6]::bigint[])$$,
    $$gp_predict('i', ARRAY[5, 6]::smallint[])$$,
    $$gp_predict('i', ARRAY(SELECT id FROM n WHERE id < 4))$$,
    $$gp_predict('i', nodes => '{5,6}')$$,
    $$gp_predict('i', nodes => NULL)$$,
    $$gp_predict('i', id => 5)$$,
    $$gp_predict('i', id => '5')$$,
    $$gp_predict('i', NULL)$$,
    $$gp_predict('i', NULL::integer)$$,
    $$gp_predict('i', NULL::bigint[])$$,
    $$gp_predict('t', 'user 5')$$,
    $$gp_predict('t', 'nobody')$$,
    $$gp_predict('t', ARRAY['user 5', 'user 6'])$$,
    $$gp_predict('t', ARRAY['user 5', 'user 6']::varchar[])$$,
    $$gp_predict('t', ARRAY['user 5', 'user 6']::name[])$$,
    $$gp_predict('t', NULL::text)$$,
    $$gp_predict('t', '{5,6}')$$,
    $$gp_predict('v', 'code 5')$$,
    $$gp_predict('v', 'code 5'::varchar)$$,
    $$gp_predict('v', ARRAY['code 5', 'code 6']::varchar[])$$,
    $$gp_predict('v', ARRAY['code 5', 'code 6'])$$,
    $$gp_predict('u', md5('5')::uuid)$$,
    $$gp_predict('u', upper(md5('5')))$$,
    $$gp_predict('u', ARRAY(SELECT key FROM n WHERE id < 4))$$,
    $$gp_predict('u', ARRAY[md5('5'), upper(md5('6'))])$$,
    $$gp_predict('i', ARRAY['5', '6'])$$,
    $$gp_predict('u', NULL::uuid[])$$,
    $$gp_predict('u', NULL)$$]) call;
SELECT replace(call, 'predict(', 'predict_links('), gives(replace(call, 'predict(', 'predict_links(')) FROM unnest(ARRAY[
    $$gp_predict('i', 5, k => 2)$$,
    $$gp_predict('i', '5', k => 2)$$,
    $$gp_predict('i', ARRAY[5, 6], k => 2)$$,
    $$gp_predict('i', '{5,6}', k => 2)$$,
    $$gp_predict('i', nodes => '{5,6}', k => 2)$$,
    $$gp_predict('t', 'user 5', k => 2)$$,
    $$gp_predict('t', ARRAY['user 5', 'user 6'], k => 2)$$,
    $$gp_predict('u', md5('5')::uuid, k => 2)$$,
    $$gp_predict('u', md5('5'), k => 2)$$,
    $$gp_predict('u', ARRAY(SELECT key FROM n WHERE id < 4), k => 2)$$]) call;
SELECT call, gives(call) FROM unnest(ARRAY[
    $$gp_score_links('i', 5, 40)$$,
    $$gp_score_links('i', 5, 40::bigint)$$,
    $$gp_score_links('i', '5', '40')$$,
    $$gp_score_links('i', '{5,6}', '{40,41}')$$,
    $$gp_score_links('i', ARRAY[5, 6], ARRAY[40, 41]::bigint[])$$,
    $$gp_score_links('t', 'user 5', 'user 40')$$,
    $$gp_score_links('t', ARRAY['user 5'], ARRAY['user 40'])$$,
    $$gp_score_links('u', md5('5'), md5('40'))$$,
    $$gp_score_links('u', md5('5')::uuid, md5('40')::uuid)$$,
    $$gp_score_links(dst => 5, src => 40, model => 'i')$$,
    $$gp_score_links('i', 5, 5)$$,
    $$gp_score_links('i', 5, 999)$$,
    $$gp_score_links('i', NULL::int, 5)$$]) call;
SELECT call, gives(call) FROM unnest(ARRAY[
    $$gp_cluster('i', 2)$$,
    $$gp_cluster('i', 5, 2)$$,
    $$gp_cluster('i', ARRAY[5, 6], 2)$$,
    $$gp_cluster('i', nodes => '{5,6}', clusters => 2)$$,
    $$gp_cluster('i', clusters => 2, id => 5)$$,
    $$gp_cluster('t', 'user 5', 2)$$,
    $$gp_cluster('t', ARRAY['user 5', 'user 6'], 2)$$,
    $$gp_cluster('u', md5('5'), 2)$$,
    $$gp_cluster('u', NULL::uuid, 2)$$]) call;

-- Names in any order
SELECT call, gives(call) FROM unnest(ARRAY[
    $$gp_predict(top => 2, nodes => ARRAY[5, 6], model => 'i')$$,
    $$gp_predict('i', top => NULL, nodes => ARRAY[5, 6]::bigint[])$$,
    $$gp_predict('i', unlabelled_only => true, top => 1)$$,
    $$gp_predict('i', top => 2, id => '5')$$,
    $$gp_predict_links(nodes => ARRAY[5, 6], k => 2, model => 'i')$$,
    $$gp_predict_links('i', k => 2, candidates => 'all', nodes => '{5}')$$,
    $$gp_predict_links(k => 2, model => 't', id => 'user 5')$$]) call;

-- What drivers send: parameters of an open type, and of their own
CREATE FUNCTION prepared(parameters text, call text, argument text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    DEALLOCATE ALL;
    EXECUTE format('PREPARE p%1$s AS SELECT concat_ws('' '', min(pg_typeof(r.%3$s)::text), count(*), min(r.%3$s::text)) FROM %2$s r', parameters, call,
        CASE WHEN call ~ 'links|edges' THEN 'dst' WHEN call ~ 'explain' THEN 'labelled' ELSE 'node' END);
    EXECUTE 'EXECUTE p(' || argument || ')' INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
SELECT parameters, call, prepared(parameters, call, argument)
FROM (VALUES ('(unknown)', $$gp_predict('i', $1)$$, $$'5'$$),
             ('(unknown)', $$gp_predict('i', nodes => $1)$$, $$'{5,6}'$$),
             ('(unknown)', $$gp_predict('t', $1)$$, $$'user 5'$$),
             ('(unknown)', $$gp_predict('u', id => $1)$$, $$md5('5')$$),
             ('(text)', $$gp_predict('i', $1)$$, $$'5'$$),
             ('(text)', $$gp_predict('t', $1)$$, $$'user 5'$$),
             ('(varchar)', $$gp_predict('t', $1)$$, $$'user 5'$$),
             ('(text)', $$gp_predict('u', $1)$$, $$md5('5')$$),
             ('(int4)', $$gp_predict('i', $1)$$, '5'),
             ('(int8)', $$gp_predict('i', $1)$$, '5'),
             ('(uuid)', $$gp_predict('u', $1)$$, $$md5('5')::uuid$$),
             ('(int4[])', $$gp_predict('i', $1)$$, $$'{5,6}'$$),
             ('(int8[])', $$gp_predict('i', nodes => $1)$$, $$'{5,6}'$$),
             ('(text[])', $$gp_predict('t', $1)$$, $$'{user 5,user 6}'$$),
             ('(varchar[])', $$gp_predict('t', $1)$$, $$'{user 5,user 6}'$$),
             ('(uuid[])', $$gp_predict('u', $1)$$, $$ARRAY[md5('5')::uuid]$$),
             ('(text, int4)', $$gp_predict($1, $2)$$, $$'i', 5$$),
             ('(unknown, unknown)', $$gp_predict($1, $2)$$, $$'t', 'user 5'$$)) t (parameters, call, argument);

-- psycopg sends a small integer as smallint: rows name nodes whose ids are larger, too
CREATE TABLE wide AS SELECT 1000 * id AS id, y FROM n;
CREATE TABLE wide_links AS SELECT 1000 * src AS src, 1000 * dst AS dst FROM e;
SELECT gp_create_graph('w', 'wide', 'wide_links', target => 'y');
SELECT model FROM gp_fit('w', kernel => 'gcn', nugget => 0.1, live => true);
SELECT model FROM gp_fit_links('w');
SELECT call, prepared('(int2)', call, '32000') FROM unnest(ARRAY[
    $$gp_predict('w', $1)$$,
    $$gp_predict_sets('w', $1)$$,
    $$gp_predict_live('w', $1)$$,
    $$gp_predict_live('w', $1, given_nodes => ARRAY[$1], given_classes => ARRAY['low'])$$,
    $$gp_loo('w', $1)$$,
    $$gp_predict_links('w', $1, k => 3)$$,
    $$gp_predict_links(k => 3, model => 'w', id => $1)$$,
    $$gp_predict_links('w', $1, among => ARRAY[1000, 60000])$$,
    $$gp_heldout_links('w', $1)$$,
    $$gp_score_links('w', $1, 60000)$$,
    $$gp_cluster('w', $1, 2)$$,
    $$gp_explain('w', $1)$$,
    $$gp_explain_edges('w', $1, k => 3)$$]) call;
SELECT call, prepared('(int2[])', call, $$'{32000}'$$) FROM unnest(ARRAY[
    $$gp_predict('w', $1)$$,
    $$gp_predict_links('w', $1, k => 3)$$,
    $$gp_predict_links('w', 5000, among => $1)$$,
    $$gp_heldout_links('w', $1)$$,
    $$gp_next_labels('w', $1)$$,
    $$gp_next_labels('w', 5, $1)$$,
    $$gp_next_labels('w', among => $1)$$,
    $$gp_next_labels('w', among => $1, k => 5)$$]) call;
-- Lists of no type beside the node; one that is none says so
SELECT parameters, call, prepared(parameters, call, argument)
FROM (VALUES ('(unknown, unknown)', $$gp_predict_links('t', $1, among => $2)$$, $$'user 5', '{user 9,user 40}'$$),
             ('(unknown, unknown)', $$gp_predict_links('w', $1, among => $2)$$, $$'32000', '{1000,60000}'$$),
             ('(unknown, unknown)', $$gp_predict_links('w', nodes => $1, among => $2)$$, $$'{32000}', '{1000,60000}'$$),
             ('(text, text)', $$gp_predict_links('t', $1, among => $2)$$, $$'user 5', '{user 9,user 40}'$$),
             ('(text, text)', $$gp_predict_links('t', $1, among => $2)$$, $$'user 5', 'user 9'$$),
             ('(text, int4)', $$gp_predict_links('w', $1, among => $2)$$, $$'32000', 7$$),
             ('(unknown, unknown, unknown)', $$gp_predict_live('w', $1, given_nodes => $2, given_classes => $3)$$, $$'32000', '{33000}', '{low}'$$),
             ('(unknown, unknown)', $$gp_cluster('w', nodes => $1, clusters => $2)$$, $$'{32000}', '2'$$),
             ('(unknown, unknown)', $$gp_cluster('w', $1, clusters => $2)$$, $$'32000', '2'$$),
             ('(unknown)', $$gp_next_labels('w', $1)$$, $$'{32000}'$$),
             ('(unknown)', $$gp_next_labels('w', 5, $1)$$, $$'{32000}'$$),
             ('(unknown)', $$gp_next_labels('w', 5, among => $1)$$, 'NULL'),
             ('(text)', $$gp_next_labels($1)$$, $$'w'$$),
             ('(uuid[])', $$gp_next_labels('u', $1)$$, 'NULL'),
             ('(uuid[])', $$gp_next_labels('u', 5, $1)$$, 'NULL'),
             ('(unknown)', $$gp_explain_edges('w', $1)$$, $$'32000'$$),
             ('(unknown)', $$gp_explain('w', $1)$$, $$'32000'$$)) t (parameters, call, argument);

-- Each form of each function
SELECT model FROM unnest('{i,t,u}'::text[]) g, gp_fit_links(g, method => 'dgp', replace => true);
SELECT format(call, function), gives(format(call, function))
FROM unnest('{gp_predict_sets,gp_predict_live,gp_loo,gp_heldout_links,gp_embedding}'::text[]) function,
     unnest(ARRAY[$$%s(nodes => '{5,6}', model => 'i')$$,
                  $$%s(nodes => ARRAY[5, 6], model => 'i')$$,
                  $$%s('u', ARRAY[md5('5')::uuid])$$,
                  $$%s('u', md5('5')::uuid)$$,
                  $$%s('t', 'user 8')$$]) call;
-- What does not fit says what to write; a text never runs a type's code that the caller did not name
SELECT call, gives(call) FROM unnest(ARRAY[
    $$gp_predict('i', 'alice')$$,
    $$gp_predict('i', '{5,alice}')$$,
    $$gp_predict('i', nodes => '5')$$,
    $$gp_predict('u', 'alice')$$,
    $$gp_predict('t', 5)$$,
    $$gp_predict('t')$$,
    $$gp_predict('t', nodes => '{5}')$$,
    $$gp_predict('i', md5('5')::uuid)$$,
    $$gp_predict_links('t', 5)$$]) call;
CREATE DOMAIN checked AS integer CHECK (VALUE > 0);
CREATE TYPE pair AS (a checked, b text);
CREATE TABLE pairs AS SELECT ROW(id, name)::pair AS id, y FROM n;
CREATE TABLE pair_links AS SELECT ROW(src, names)::pair AS src, ROW(dst, named)::pair AS dst FROM e;
SELECT gp_create_graph('p', 'pairs', 'pair_links', target => 'y');
SELECT model FROM gp_fit('p', kernel => 'appnp', nugget => 0.1);
SELECT call, gives(call) FROM unnest(ARRAY[
    $$gp_predict('p', '(5,"user 5")')$$,
    $$gp_predict('p', '(5,"user 5")'::pair)$$]) call;

SELECT count(gp_drop_graph(graph)::text) FROM gp_graphs;
DROP SCHEMA calls CASCADE;
