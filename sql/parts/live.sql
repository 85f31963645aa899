-- Why, and what to label next; gp_predict_live is in nodes.sql

CREATE FUNCTION @extschema@.gp_explain(
    model text, node anynonarray, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10,
    as_of timestamp with time zone DEFAULT NULL)
RETURNS TABLE (labelled anynonarray, class text, share double precision, relation text, aggregate text)
AS 'MODULE_PATHNAME', 'gnngp_explain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;
COMMENT ON FUNCTION @extschema@.gp_explain(text, anynonarray, gnngp_internal.gp_class, integer, timestamp with time zone) IS
    'which labels make the score of a node: the largest shares first, the rest in one row: gp_explain(''m'', 5)';

CREATE FUNCTION @extschema@.gp_explain(
    model text, node text, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10,
    as_of timestamp with time zone DEFAULT NULL)
RETURNS TABLE (labelled text, class text, share double precision, relation text, aggregate text)
AS 'MODULE_PATHNAME', 'gnngp_explain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;
COMMENT ON FUNCTION @extschema@.gp_explain(text, text, gnngp_internal.gp_class, integer, timestamp with time zone) IS
    'the same by the text of the id, whatever its type: gp_explain(''m'', ''alice'')';

CREATE FUNCTION @extschema@.gp_explain_edges(
    model text, node anynonarray, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10)
RETURNS TABLE (src anynonarray, dst anynonarray, effect double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain_edges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;
COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, anynonarray, gnngp_internal.gp_class, integer) IS
    'the edges whose removal changes the score of a node most, each with the change: gp_explain_edges(''m'', 5)';

CREATE FUNCTION @extschema@.gp_explain_edges(
    model text, node text, class gnngp_internal.gp_class DEFAULT NULL, k integer DEFAULT 10)
RETURNS TABLE (src text, dst text, effect double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain_edges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;
COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, text, gnngp_internal.gp_class, integer) IS
    'the same by the text of the id, whatever its type: gp_explain_edges(''m'', ''alice'')';

-- The nodes are chosen, and may be chosen among some: the forms are those of nodes.sql.
CREATE FUNCTION @extschema@.gp_next_labels(
    model text, k integer DEFAULT 20, among gnngp_internal.gp_node_list DEFAULT NULL)
RETURNS TABLE (node bigint, gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, gnngp_internal.gp_node_list) IS
    'the k nodes to label next, best first, each with the share of the remaining variance that its label removes: gp_next_labels(''m'')';

CREATE FUNCTION @extschema@.gp_next_labels(model text, k integer, among gnngp_internal.gp_integers)
RETURNS TABLE (node bigint, gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, gnngp_internal.gp_integers) IS
    'the same of these nodes, named by integers';

CREATE FUNCTION @extschema@.gp_next_labels(model text, k integer, among anyarray)
RETURNS TABLE (node anyelement, gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, anyarray) IS
    'the same of these nodes, of any type: gp_next_labels(''m'', 5, NULL::uuid[])';

CREATE FUNCTION @extschema@.gp_next_labels(model text, among anyarray)
RETURNS TABLE (node anyelement, gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_next_labels(text, anyarray) IS
    'the same, twenty nodes: gp_next_labels(''m'', NULL::uuid[])';

CREATE FUNCTION @extschema@.gp_next_labels(model text, k integer, among text)
RETURNS TABLE (node text, gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, text) IS
    'the same of nodes by the text of their ids, whatever their type: gp_next_labels(''m'', 5, ''{alice,bob}'')';

CREATE FUNCTION @extschema@.gp_next_labels(model text, among text)
RETURNS TABLE (node text, gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_next_labels(text, text) IS
    'the same, twenty nodes: gp_next_labels(''m'', ''{alice,bob}'')';
