-- Why, and what to label next; gp_predict_live is in nodes.sql

DO $forms$
DECLARE
    form text[];
BEGIN
    -- The node of an explanation: its type, and what the comments say of it
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['anynonarray', '', '5'], ['text', ', by the text of its id', '''alice''']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION %2$s.gp_explain(
                model text, node %1$s, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10,
                as_of timestamp with time zone DEFAULT NULL)
            RETURNS TABLE (labelled %1$s, class text, share double precision, relation text, aggregate text)
            AS 'MODULE_PATHNAME', 'gnngp_explain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;
            COMMENT ON FUNCTION %2$s.gp_explain(text, %1$s, gnngp_internal.gp_class, integer, timestamp with time zone) IS %3$L;
            CREATE FUNCTION %2$s.gp_explain_edges(
                model text, node %1$s, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10)
            RETURNS TABLE (src %1$s, dst %1$s, effect double precision)
            AS 'MODULE_PATHNAME', 'gnngp_explain_edges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;
            COMMENT ON FUNCTION %2$s.gp_explain_edges(text, %1$s, gnngp_internal.gp_class, integer) IS %4$L
        $sql$, form[1], '@extschema@',
        format('which labels make the score of a node%s: the largest shares first, the rest in one row: gp_explain(''m'', %s)', form[2], form[3]),
        format('the edges whose removal changes the score of a node%s most, each with the change: gp_explain_edges(''m'', %s)', form[2], form[3]));
    END LOOP;
    -- The nodes to label may be chosen for the error of some: the forms are those of nodes.sql.
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['k integer DEFAULT 20, among gnngp_internal.gp_node_list DEFAULT NULL', 'bigint',
         'the k nodes to label next, best first, each with the share of the remaining variance that its label removes: gp_next_labels(''m'')'],
        ['k integer, among gnngp_internal.gp_integers', 'bigint', 'the same for the variance of these nodes, named by integers'],
        ['among gnngp_internal.gp_integers', 'bigint', 'the same, twenty nodes: gp_next_labels(''m'', ARRAY[1, 2])'],
        ['k integer, among anyarray', 'anyelement', 'the same for the variance of these nodes, of any type: gp_next_labels(''m'', 5, NULL::uuid[])'],
        ['among anyarray', 'anyelement', 'the same, twenty nodes: gp_next_labels(''m'', NULL::uuid[])'],
        ['k integer, among text', 'text',
         'the same for the variance of nodes by the text of their ids, whatever their type: gp_next_labels(''m'', 5, ''{alice,bob}'')'],
        ['among text', 'text', 'the same, twenty nodes: gp_next_labels(''m'', ''{alice,bob}'')']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION %2$s.gp_next_labels(model text, %1$s) RETURNS TABLE (node %3$s, gain double precision)
            AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
            COMMENT ON FUNCTION %2$s.gp_next_labels(model text, %4$s) IS %5$L
        $sql$, form[1], '@extschema@', form[2], regexp_replace(form[1], ' DEFAULT \w+', '', 'g'), form[3]);
    END LOOP;
END $forms$;

-- psycopg sends a small integer as smallint, which cannot name all nodes in the rows.
CREATE FUNCTION @extschema@.gp_explain(
    model text, node smallint, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10,
    as_of timestamp with time zone DEFAULT NULL)
RETURNS TABLE (labelled bigint, class text, share double precision, relation text, aggregate text)
LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100000 ROWS 10
BEGIN ATOMIC SELECT * FROM @extschema@.gp_explain(model, node::bigint, class, k, as_of); END;
COMMENT ON FUNCTION @extschema@.gp_explain(text, smallint, gnngp_internal.gp_class, integer, timestamp with time zone) IS
    'which labels make the score of a node, a small integer beside nodes that may be larger';
CREATE FUNCTION @extschema@.gp_explain_edges(
    model text, node smallint, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10)
RETURNS TABLE (src bigint, dst bigint, effect double precision)
LANGUAGE sql STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10
BEGIN ATOMIC SELECT * FROM @extschema@.gp_explain_edges(model, node::bigint, class, k); END;
COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, smallint, gnngp_internal.gp_class, integer) IS
    'the edges whose removal changes the score of a node most, a small integer beside nodes that may be larger';
