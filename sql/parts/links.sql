-- Missing links

CREATE OR REPLACE FUNCTION @extschema@.gp_fit_links(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT 'gcn',
    method text DEFAULT 'auto',
    seed bigint DEFAULT 0,
    replace boolean DEFAULT false,
    keep integer DEFAULT 0,
    min_probability double precision DEFAULT 0,
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

COMMENT ON FUNCTION @extschema@.gp_fit_links(text, text, @extschema@.gp_kernel, text, bigint, boolean, integer, double precision) IS
    'learn which pairs of nodes are linked and store it as the link part of a model; then SELECT * FROM gp_predict_links(model)';

CREATE OR REPLACE FUNCTION @extschema@.gp_links_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_links_support'
LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_links_support(internal) IS
    'planner support: the rows of gp_predict_links and gp_score_links';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src bigint,
    dst bigint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, @extschema@.gp_node_list, integer, text) IS
    'the likeliest missing links of each node of a model with integer ids; gp_score_links(model, src, dst) scores given pairs';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
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
    'the same for these nodes, of any type: gp_predict_links(''m'', ARRAY[1, 2], k => 3)';

-- Spelled out for integers, for which named arguments then come in any order: where a
-- type is found out from an argument, PostgreSQL takes it by its place in the call.
CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes bigint[],
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src bigint,
    dst bigint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, bigint[], integer, text) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
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

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
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

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    id anynonarray,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src anynonarray,
    dst anynonarray,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, anynonarray, integer, text) IS
    'the same for one node, or for all where id is NULL of a type: gp_predict_links(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    id text,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src text,
    dst text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, text, integer, text) IS
    'the same for one node by the text of its id, whatever its type: gp_predict_links(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_score_links(model text, src anycompatiblearray, dst anycompatiblearray)
RETURNS TABLE (
    src anycompatible,
    dst anycompatible,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, anycompatiblearray, anycompatiblearray) IS
    'how likely given pairs of nodes are linked, existing links or not, in the order given';

CREATE OR REPLACE FUNCTION @extschema@.gp_score_links(model text, src anycompatiblenonarray, dst anycompatiblenonarray)
RETURNS TABLE (
    src anycompatiblenonarray,
    dst anycompatiblenonarray,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, anycompatiblenonarray, anycompatiblenonarray) IS
    'the same for one pair: gp_score_links(''m'', 1, 2)';

CREATE OR REPLACE FUNCTION @extschema@.gp_score_links(model text, src text, dst text)
RETURNS TABLE (
    src text,
    dst text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, text, text) IS
    'the same for one pair by the text of its ids, whatever their type: gp_score_links(''m'', ''alice'', ''bob'')';

-- Where a deep model puts nodes

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, @extschema@.gp_node_list) IS
    'where a deep model of links has put each node: likely links are nodes with a large inner product, so that a vector index finds them';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes anyarray)
RETURNS TABLE (
    node anyelement,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, anyarray) IS
    'the same for these nodes, of any type: gp_embedding(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes bigint[])
RETURNS TABLE (
    node bigint,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes integer[])
RETURNS TABLE (
    node integer,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes smallint[])
RETURNS TABLE (
    node smallint,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, smallint[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    id anynonarray)
RETURNS TABLE (
    node anynonarray,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, anynonarray) IS
    'the same for one node, or for all where id is NULL of a type: gp_embedding(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    id text)
RETURNS TABLE (
    node text,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, text) IS
    'the same for one node by the text of its id, whatever its type: gp_embedding(''m'', ''alice'')';
