-- Answers from the tables as they are now

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    top integer DEFAULT 1,
    given_nodes bigint[] DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, @extschema@.gp_node_list, integer, bigint[], "any", double precision[]) IS
    'the best classes, or the value, of nodes from the tables as they are now, and as if some nodes were given labels; the model was fitted with live => true';
--forms-named gp_predict_live('m', %)

-- Why

CREATE OR REPLACE FUNCTION @extschema@.gp_explain(
    model text,
    node anynonarray,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    labelled anynonarray,
    class text,
    share double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain(text, anynonarray, text, integer) IS
    'the labelled nodes that make the score of a class of a node, the largest shares first, then the rest in one row: gp_explain(''m'', 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_explain(
    model text,
    node text,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    labelled text,
    class text,
    share double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain(text, text, text, integer) IS
    'the same by the text of the id, whatever its type: gp_explain(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_explain_edges(
    model text,
    node anynonarray,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    src anynonarray,
    dst anynonarray,
    effect double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain_edges'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, anynonarray, text, integer) IS
    'the edges near a node whose removal moves the score of a class most, each with the change that its removal makes: gp_explain_edges(''m'', 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_explain_edges(
    model text,
    node text,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    src text,
    dst text,
    effect double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain_edges'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, text, text, integer) IS
    'the same by the text of the id, whatever its type: gp_explain_edges(''m'', ''alice'')';

-- What to label next

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer DEFAULT 20,
    among @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, @extschema@.gp_node_list) IS
    'the k nodes whose labels would tell most of all nodes, or of those among, best first, each with the share of what is left that it takes: gp_next_labels(''m'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    among anyarray)
RETURNS TABLE (
    node anyelement,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, anyarray) IS
    'the same with ids of any type, twenty nodes: gp_next_labels(''m'', NULL::uuid[])';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among anyarray)
RETURNS TABLE (
    node anyelement,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, anyarray) IS
    'the same with ids of any type: gp_next_labels(''m'', 5, NULL::uuid[])';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among bigint[])
RETURNS TABLE (
    node bigint,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among integer[])
RETURNS TABLE (
    node integer,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among smallint[])
RETURNS TABLE (
    node smallint,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, smallint[]) IS
    'the form for any type, spelled out for smallint';
