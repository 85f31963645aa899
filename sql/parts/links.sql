-- Missing links

CREATE FUNCTION @extschema@.gp_fit_links(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT 'gcn',
    method text DEFAULT 'auto',
    seed bigint DEFAULT 0,
    OUT model text,
    OUT method text,
    OUT nodes bigint,
    OUT edges bigint,
    OUT pairs bigint,
    OUT auc double precision,
    OUT average_precision double precision,
    OUT seconds double precision,
    OUT peak_bytes bigint)
AS 'MODULE_PATHNAME', 'gnngp_fit_links'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_fit_links(text, text, @extschema@.gp_kernel, text, bigint) IS
    'learn which pairs of nodes are linked and store it as the link part of a model';

CREATE FUNCTION @extschema@.gp_links_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_links_support'
LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_links_support(internal) IS
    'planner support: the rows of gp_predict_links and gp_score_links';

CREATE FUNCTION @extschema@.gp_predict_links(
    model text,
    k integer DEFAULT 10,
    nodes bigint[] DEFAULT NULL,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src bigint,
    dst bigint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, integer, bigint[], text) IS
    'the likeliest missing links of each node of a model with integer ids';

CREATE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes anyarray,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src anyelement,
    dst anyelement,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, anyarray, integer, text) IS
    'the likeliest missing links of each node, or of all nodes when the array is NULL, with ids of any type';

-- With the two forms alone, PostgreSQL would find nodes => ARRAY[1, 2] and
-- nodes => '{1,2}' not unique: neither form fits better than the other.
CREATE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes integer[],
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src integer,
    dst integer,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, integer[], integer, text) IS
    'the form for any type, spelled out for integer';

CREATE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes smallint[],
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src smallint,
    dst smallint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, smallint[], integer, text) IS
    'the form for any type, spelled out for smallint';

CREATE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes text,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src bigint,
    dst bigint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_text'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, text, integer, text) IS
    'the form for integer ids, for an array that is written as a literal without a type';

CREATE FUNCTION @extschema@.gp_score_links(model text, src anyarray, dst anyarray)
RETURNS TABLE (
    src anyelement,
    dst anyelement,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, anyarray, anyarray) IS
    'how likely given pairs of nodes are linked, existing links or not, in the order given';
