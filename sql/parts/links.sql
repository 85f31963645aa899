-- Missing links; nodes.sql has what is asked of nodes

CREATE FUNCTION @extschema@.gp_fit_links(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT NULL,
    method text DEFAULT 'auto',
    seed bigint DEFAULT 0,
    replace boolean DEFAULT false,
    keep integer DEFAULT 0,
    min_probability double precision DEFAULT 0,
    missing_share double precision DEFAULT 0.1,
    OUT model text,
    OUT method text,
    OUT nodes bigint,
    OUT edges bigint,
    OUT pairs bigint,
    OUT auc double precision,
    OUT average_precision double precision,
    OUT seconds double precision,
    OUT peak_bytes bigint)
AS 'MODULE_PATHNAME', 'gnngp_fit_links' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION @extschema@.gp_fit_links(text, text, @extschema@.gp_kernel, text, bigint, boolean, integer, double precision, double precision) IS
    'learn which pairs of nodes are linked and store it as the link part of a model; then SELECT * FROM gp_predict_links(model)';

CREATE FUNCTION @extschema@.gp_score_links(model text, src anycompatiblearray, dst anycompatiblearray)
RETURNS TABLE (
    src anycompatible, dst anycompatible,
    score double precision, variance double precision, probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT gnngp_internal.gp_links_support;
COMMENT ON FUNCTION @extschema@.gp_score_links(text, anycompatiblearray, anycompatiblearray) IS
    'how likely given pairs of nodes are linked, existing links or not, in the order given';

CREATE FUNCTION @extschema@.gp_score_links(model text, src anycompatiblenonarray, dst anycompatiblenonarray)
RETURNS TABLE (
    src anycompatiblenonarray, dst anycompatiblenonarray,
    score double precision, variance double precision, probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT gnngp_internal.gp_links_support;
COMMENT ON FUNCTION @extschema@.gp_score_links(text, anycompatiblenonarray, anycompatiblenonarray) IS
    'the same for one pair: gp_score_links(''m'', 1, 2)';

CREATE FUNCTION @extschema@.gp_score_links(model text, src text, dst text)
RETURNS TABLE (
    src text, dst text, score double precision, variance double precision, probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT gnngp_internal.gp_links_support;
COMMENT ON FUNCTION @extschema@.gp_score_links(text, text, text) IS
    'the same for one pair by the text of its ids, whatever their type: gp_score_links(''m'', ''alice'', ''bob'')';
