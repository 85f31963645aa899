-- Values from outside are not trusted: text and bytes that are wrong anywhere are refused, or are a value
SET search_path = public, gnngp_internal;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY verbose
CREATE FUNCTION b64(v bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT translate(encode(v, 'base64'), E'\n', '')$$;
CREATE FUNCTION outcome(type text, v bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE reason text; ok boolean;
BEGIN
    EXECUTE format('SELECT $1::%s::text = $1', type) USING b64(v) INTO ok;
    RETURN CASE WHEN ok THEN 'taken' ELSE 'taken, but changed' END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
    RETURN SQLSTATE || ' ' || SQLERRM || ': ' || reason;
END $$;

-- Not base64, and too short
\set VERBOSITY terse
SELECT ''::gp_graph;
SELECT 'AQE'::gp_graph;
SELECT 'A Q E'::gp_features;
SELECT '{1,2}'::gp_factor;
SELECT '=AAA'::gp_graph_state;
\set VERBOSITY default

-- A graph byte by byte.  Version, flags (1 dense, 2 weighted), nodes, first id, edges, and of each node how many and the gaps
SELECT what, outcome('gp_graph', v) FROM (VALUES
    ('two nodes, one edge', '\x0101020201010000'::bytea),
    ('unknown version', '\x0201020201010000'),
    ('unknown flags', '\x0181020201010000'),
    ('a kernel in a graph', '\x0105020201010000'),
    ('no nodes', '\x0101000200'),
    ('more nodes than bytes', '\x0101ffffffff070201'),
    ('nodes over 31 bits', '\x01018080808080018080'),
    ('a number that never ends', '\x0101ffffffffffffffffffffff'),
    ('a number over 64 bits', '\x010102ffffffffffffffffff0200'),
    ('a number longer than it need be', '\x010182000201010000'),
    ('ids over 64 bits', '\x010102feffffffffffffffff0101010000'),
    ('gaps over 64 bits', '\x01000202feffffffffffffffff01010000'),
    ('gaps that are none', '\x0100020200010000'),
    ('gaps of one node', '\x010001020000'),
    ('more edges than it says', '\x010102020001000000'),
    ('fewer edges than it says', '\x010103020301000000'),
    ('edges over all bounds', '\x01010302ffffffffffffffffff01010000'),
    ('an edge to an unknown node', '\x0101020201010100'),
    ('a repeated edge, as a gap too large', '\x010102020202000000'),
    ('bytes left over', '\x010102020101000000'),
    ('weights', '\x0103020201010000000000000000f03f'),
    ('weights that end early', '\x0103020201010000000000000000f0'),
    ('a weight that is NaN', '\x0103020201010000000000000000f87f'),
    ('a weight that is infinite', '\x0103020201010000000000000000f07f'),
    ('a negative weight', '\x0103020201010000000000000000f0bf'),
    ('a weight of negative zero', '\x01030202010100000000000000000080')) AS v(what, v);
-- Features and factors: version, flags, length of rows, nodes, first id, numbers
SELECT what, outcome('gp_features', v), outcome('gp_factor', v) = replace(outcome('gp_features', v), 'gp_features', 'gp_factor') AS alike
FROM (VALUES
    ('one number', '\x0101010102'::bytea || '\x0000803f'),
    ('no numbers', '\x0101000102'),
    ('rows over all bounds', '\x0101ffffffffffffffffff010102'),
    ('nodes over all bounds', '\x010101ffffffff0702'),
    ('nodes times numbers over 64 bits', '\x0101808080208080808008020000803f'),
    ('a number too few', '\x010102010200'),
    ('half a number', '\x0101010102000080'),
    ('NaN', '\x01010101020000c07f'),
    ('infinity', '\x01010101020000807f'),
    ('negative zero', '\x010101010200000080'),
    ('bytes left over', '\x01010101020000803f0000803f')) AS v(what, v);
-- A state may hold a kernel and repeat weighted edges
SELECT what, outcome('gp_graph_state', v) FROM (VALUES
    ('a kernel', '\x01050367636e08020201010000'::bytea),
    ('a kernel longer than the value', '\x0105ff67636e08020201010000'),
    ('a kernel that is no text', '\x010503ff00fe08020201010000'),
    ('a kernel that is unknown', '\x010503666f6f08020201010000'),
    ('landmarks over 31 bits', '\x01050367636e8080808010020201010000'),
    ('repeated edges with weights', '\x010302020202000000000000000000f03f000000000000f03f')) AS v(what, v);
CREATE AGGREGATE combine_graph(gp_graph_state) (SFUNC = gp_graph_combine, STYPE = gp_graph_state, FINALFUNC = gp_graph_final);
CREATE AGGREGATE combine_factor(gp_graph_state) (SFUNC = gp_graph_combine, STYPE = gp_graph_state, FINALFUNC = gp_factor_final);
SELECT combine_graph(s) FROM (VALUES (b64('\x010302020202000000000000000000f03f000000000000f03f')::gp_graph_state)) AS v(s);
SELECT combine_graph(s) FROM (VALUES (b64('\x010302020202000000000000000000f03f000000000000f03f')::gp_graph_state),
    (b64('\x0101020201010000')::gp_graph_state)) AS v(s);
SELECT combine_factor(s) FROM (VALUES (b64('\x0101020201010000')::gp_graph_state)) AS v(s);
-- An aggregate without weights cannot start from a state that has them
CREATE AGGREGATE from_weights(bigint, bigint) (SFUNC = gp_graph_accum, STYPE = gp_graph_state, FINALFUNC = gp_graph_final,
    INITCOND = 'AQMCAgICAAAAAAAAAAAA8D8AAAAAAADwPw==');
CREATE AGGREGATE from_weights(bigint, bigint, gp_kernel) (SFUNC = gp_factor_accum, STYPE = gp_graph_state, FINALFUNC = gp_graph_final,
    INITCOND = 'AQMCAgICAAAAAAAAAAAA8D8AAAAAAADwPw==');
SELECT from_weights(1, 2);
SELECT from_weights(1, 2, 'gcn');
DROP AGGREGATE from_weights(bigint, bigint), from_weights(bigint, bigint, gp_kernel);

-- The same checks for binary input
CREATE TABLE received (g gp_graph);
COPY received FROM PROGRAM $$printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\10\1\1\2\2\1\1\0\0\377\377'$$ (FORMAT binary);
SELECT gp_nodes(g), gp_edges(g) FROM received;
\set VERBOSITY sqlstate
SELECT combine_factor(s) FROM (VALUES (b64('\x010503666f6f08020201010000')::gp_graph_state)) AS v(s);
COPY received FROM PROGRAM $$printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\10\1\1\2\2\1\1\1\0\377\377'$$ (FORMAT binary);
COPY received FROM PROGRAM $$printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\377\377'$$ (FORMAT binary);
\set VERBOSITY default
DROP TABLE received;

-- Every byte of real values changed in eight ways, and cut off everywhere: refused as invalid, or a value that
-- reads back as itself and that functions take
CREATE FUNCTION try_out(type text, v bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE o text := outcome(type, v);
BEGIN
    IF o <> 'taken' THEN
        RETURN CASE WHEN o LIKE '22P02 invalid value of type %' THEN 'refused' ELSE o END;
    END IF;
    CASE type
        WHEN 'gp_graph' THEN
            PERFORM gp_factor(b64(v)::gp_graph, NULL, 'gcn', 4) WHERE gp_nodes(b64(v)::gp_graph) < 1000;
        WHEN 'gp_graph_state' THEN
            PERFORM combine_graph(s) FROM (SELECT b64(v)::gp_graph_state AS s FROM generate_series(1, 2)) AS x;
        WHEN 'gp_factor' THEN
            PERFORM count(*) FROM gp_factor_rows(b64(v)::gp_factor);
        ELSE
            PERFORM gp_nodes(b64(v)::gp_features);
    END CASE;
    RETURN 'taken';
EXCEPTION WHEN SQLSTATE '22003' THEN
    RETURN 'taken';         -- weights whose sum overflows
END $$;
CREATE TABLE value AS
    SELECT 'gp_graph' AS type, decode(gp_graph(a, b)::text, 'base64') AS v FROM (VALUES (-3, 1), (1, 2), (2, 900), (900, 901), (5, 5)) AS e(a, b)
    UNION ALL SELECT 'gp_graph', decode(gp_graph(a, b)::text, 'base64') FROM (VALUES (1, 2), (2, 3), (3, 1), (3, 4)) AS e(a, b)
    UNION ALL SELECT 'gp_graph', decode(gp_graph(a, b, 0.5)::text, 'base64') FROM (VALUES (1, 2), (2, 3), (3, 1), (3, 4)) AS e(a, b)
    UNION ALL SELECT 'gp_features', decode(gp_features(i * i, ARRAY[i, 0.5])::text, 'base64') FROM generate_series(1, 4) AS i
    UNION ALL SELECT 'gp_factor', decode(gp_factor(i, i + 1, 'gcn', 2)::text, 'base64') FROM generate_series(1, 4) AS i
    UNION ALL SELECT 'gp_graph_state', '\x01050367636e08020201010000'
    UNION ALL SELECT 'gp_graph_state', '\x010302020202000000000000000000f03f000000000000f03f';
SELECT type, try_out(type, CASE way WHEN 8 THEN substr(v, 1, place) ELSE set_byte(v, place, get_byte(v, place) # (1 << way)) END) AS result,
    count(*) > 0 AS some
FROM value, generate_series(0, 8) AS way, generate_series(0, length(v) - 1) AS place
GROUP BY 1, 2 ORDER BY 1, 2;
-- Random bytes behind a good start
SELECT type, array_agg(DISTINCT result) AS results FROM (
    SELECT type, try_out(type, substr(v, 1, 2 + i % 5) || decode(md5(i::text), 'hex')) AS result FROM value, generate_series(1, 300) AS i) AS x
GROUP BY 1 ORDER BY 1;

DROP TABLE value;
DROP AGGREGATE combine_graph(gp_graph_state), combine_factor(gp_graph_state);
DROP FUNCTION b64, outcome, try_out;
