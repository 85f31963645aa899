-- Graphs, features and factors as values, the state of the aggregates that make them,
-- and matrices.  All are packed bytes; their text is base64, and one value has one encoding.

DO $types$
DECLARE
    type text;
BEGIN
    FOREACH type IN ARRAY ARRAY['@extschema@.gp_graph', '@extschema@.gp_features', '@extschema@.gp_factor',
                                'gnngp_internal.gp_graph_state', 'gnngp_internal.gp_matrix']
    LOOP
        EXECUTE format($sql$
            CREATE TYPE %1$s;
            CREATE FUNCTION gnngp_internal.gp_%2$s_in(cstring) RETURNS %1$s
            AS 'MODULE_PATHNAME', 'gnngp_%2$s_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%2$s_in(cstring) IS 'read gp_%2$s from text, which is base64';
            CREATE FUNCTION gnngp_internal.gp_%2$s_out(%1$s) RETURNS cstring
            AS 'MODULE_PATHNAME', 'gnngp_value_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%2$s_out(%1$s) IS 'gp_%2$s as text, which is base64';
            CREATE FUNCTION gnngp_internal.gp_%2$s_recv(internal) RETURNS %1$s
            AS 'MODULE_PATHNAME', 'gnngp_%2$s_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%2$s_recv(internal) IS 'read gp_%2$s from its binary form';
            CREATE FUNCTION gnngp_internal.gp_%2$s_send(%1$s) RETURNS bytea
            AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%2$s_send(%1$s) IS 'the binary form of gp_%2$s';
            CREATE TYPE %1$s (
                INPUT = gnngp_internal.gp_%2$s_in, OUTPUT = gnngp_internal.gp_%2$s_out,
                RECEIVE = gnngp_internal.gp_%2$s_recv, SEND = gnngp_internal.gp_%2$s_send,
                INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external)
        $sql$, type, split_part(type, '.gp_', 2));
    END LOOP;
END $types$;
COMMENT ON TYPE @extschema@.gp_graph IS 'an undirected graph as a value: node ids, edges, weights';
COMMENT ON TYPE @extschema@.gp_features IS
    'features of the nodes of a graph as a value: a row of numbers for each node id';
COMMENT ON TYPE @extschema@.gp_factor IS
    'factor of a kernel as a value: a row q of numbers for each node id; the covariance of two nodes is the product of their rows';
COMMENT ON TYPE gnngp_internal.gp_graph_state IS
    'what gp_graph and gp_factor have collected so far; its text form lets other engines combine them';
COMMENT ON TYPE gnngp_internal.gp_matrix IS
    'a matrix as a value: a row of numbers for each id, in single or double precision';

-- Values are equal where their bytes are.
DO $operators$
DECLARE
    type text;
BEGIN
    FOREACH type IN ARRAY ARRAY['graph', 'features', 'factor']
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_%1$s_eq(%2$s.gp_%1$s, %2$s.gp_%1$s) RETURNS boolean
            AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%1$s_eq(%2$s.gp_%1$s, %2$s.gp_%1$s) IS
                'implementation of the operator =';
            CREATE FUNCTION gnngp_internal.gp_%1$s_ne(%2$s.gp_%1$s, %2$s.gp_%1$s) RETURNS boolean
            AS 'byteane' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%1$s_ne(%2$s.gp_%1$s, %2$s.gp_%1$s) IS
                'implementation of the operator <>';
            CREATE FUNCTION gnngp_internal.gp_%1$s_hash(%2$s.gp_%1$s) RETURNS integer
            AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%1$s_hash(%2$s.gp_%1$s) IS 'hash gp_%1$s';
            CREATE FUNCTION gnngp_internal.gp_%1$s_hash_extended(%2$s.gp_%1$s, bigint) RETURNS bigint
            AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_%1$s_hash_extended(%2$s.gp_%1$s, bigint) IS
                'hash gp_%1$s with a seed';
            CREATE OPERATOR %2$s.= (
                LEFTARG = %2$s.gp_%1$s, RIGHTARG = %2$s.gp_%1$s,
                FUNCTION = gnngp_internal.gp_%1$s_eq, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES,
                COMMUTATOR = OPERATOR(%2$s.=), NEGATOR = OPERATOR(%2$s.<>));
            COMMENT ON OPERATOR %2$s.= (%2$s.gp_%1$s, %2$s.gp_%1$s) IS 'equal';
            CREATE OPERATOR %2$s.<> (
                LEFTARG = %2$s.gp_%1$s, RIGHTARG = %2$s.gp_%1$s,
                FUNCTION = gnngp_internal.gp_%1$s_ne, RESTRICT = neqsel, JOIN = neqjoinsel,
                COMMUTATOR = OPERATOR(%2$s.<>), NEGATOR = OPERATOR(%2$s.=));
            COMMENT ON OPERATOR %2$s.<> (%2$s.gp_%1$s, %2$s.gp_%1$s) IS 'not equal';
            CREATE OPERATOR CLASS %2$s.gp_%1$s_ops DEFAULT FOR TYPE %2$s.gp_%1$s USING hash AS
                OPERATOR 1 %2$s.=,
                FUNCTION 1 gnngp_internal.gp_%1$s_hash(%2$s.gp_%1$s),
                FUNCTION 2 gnngp_internal.gp_%1$s_hash_extended(%2$s.gp_%1$s, bigint);
            COMMENT ON OPERATOR CLASS %2$s.gp_%1$s_ops USING hash IS 'gp_%1$s by their bytes'
        $sql$, type, '@extschema@');
    END LOOP;
END $operators$;

-- What an argument for nodes can be besides arrays and single ids: nodes.sql says why.
CREATE DOMAIN gnngp_internal.gp_node_list AS text;
COMMENT ON DOMAIN gnngp_internal.gp_node_list IS
    'a literal that lists nodes with integer ids, such as ''{1,2}''';

CREATE TYPE gnngp_internal.gp_integers;

CREATE FUNCTION gnngp_internal.gp_integers_in(cstring) RETURNS gnngp_internal.gp_integers
AS 'MODULE_PATHNAME', 'gnngp_integers_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_integers_in(cstring) IS 'read an array of bigint';

CREATE FUNCTION gnngp_internal.gp_integers_out(gnngp_internal.gp_integers) RETURNS cstring
AS 'array_out' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_integers_out(gnngp_internal.gp_integers) IS 'an array of bigint as text';

CREATE TYPE gnngp_internal.gp_integers (
    INPUT = gnngp_internal.gp_integers_in, OUTPUT = gnngp_internal.gp_integers_out,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended, CATEGORY = 'A', PREFERRED = true
);
COMMENT ON TYPE gnngp_internal.gp_integers IS 'an array of integers of any size: ids of nodes, as bigint';

DO $casts$
DECLARE
    type text;
BEGIN
    FOREACH type IN ARRAY ARRAY['bigint[]', 'integer[]', 'smallint[]']
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_integers(%1$s) RETURNS gnngp_internal.gp_integers
            AS 'MODULE_PATHNAME', 'gnngp_integers' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_integers(%1$s) IS 'integers as ids of nodes';
            CREATE CAST (%1$s AS gnngp_internal.gp_integers)
                WITH FUNCTION gnngp_internal.gp_integers(%1$s) AS IMPLICIT;
            COMMENT ON CAST (%1$s AS gnngp_internal.gp_integers) IS 'integers as ids of nodes'
        $sql$, type);
    END LOOP;
END $casts$;

-- The name of a class, with the bytes of a text.  Booleans and integers name classes too,
-- because targets may be of these types.
CREATE TYPE gnngp_internal.gp_class;

CREATE FUNCTION gnngp_internal.gp_class_in(cstring) RETURNS gnngp_internal.gp_class
AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_class_in(cstring) IS 'read the name of a class';

CREATE FUNCTION gnngp_internal.gp_class_out(gnngp_internal.gp_class) RETURNS cstring
AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_class_out(gnngp_internal.gp_class) IS 'the name of a class as text';

CREATE FUNCTION gnngp_internal.gp_class_recv(internal) RETURNS gnngp_internal.gp_class
AS 'textrecv' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_class_recv(internal) IS 'read the name of a class from its binary form, which is text';

CREATE FUNCTION gnngp_internal.gp_class_send(gnngp_internal.gp_class) RETURNS bytea
AS 'textsend' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_class_send(gnngp_internal.gp_class) IS 'the binary form of the name of a class, which is text';

CREATE TYPE gnngp_internal.gp_class (
    INPUT = gnngp_internal.gp_class_in, OUTPUT = gnngp_internal.gp_class_out,
    RECEIVE = gnngp_internal.gp_class_recv, SEND = gnngp_internal.gp_class_send, LIKE = text
);
COMMENT ON TYPE gnngp_internal.gp_class IS 'the name of a class: a text, a boolean or an integer';

DO $casts$
DECLARE
    form text[];
BEGIN
    FOREACH form SLICE 1 IN ARRAY ARRAY[['boolean', 'booltext'], ['character', 'rtrim1']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_class(%1$s) RETURNS gnngp_internal.gp_class
            AS %2$L LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_class(%1$s) IS 'the class that a value of the target names'
        $sql$, form[1], form[2]);
    END LOOP;
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['text', 'WITHOUT FUNCTION'], ['varchar', 'WITHOUT FUNCTION'], ['name', 'WITH INOUT'],
        ['bigint', 'WITH INOUT'], ['integer', 'WITH INOUT'], ['smallint', 'WITH INOUT'],
        ['boolean', 'WITH FUNCTION gnngp_internal.gp_class(boolean)'],
        ['character', 'WITH FUNCTION gnngp_internal.gp_class(character)']]
    LOOP
        EXECUTE format($sql$
            CREATE CAST (%1$s AS gnngp_internal.gp_class) %2$s AS IMPLICIT;
            COMMENT ON CAST (%1$s AS gnngp_internal.gp_class) IS 'the class that a value of the target names'
        $sql$, form[1], form[2]);
    END LOOP;
END $casts$;
