-- What a model says of its own labels, each left out, and sets that keep a promise

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, @extschema@.gp_node_list) IS
    'what a model says of each labelled node without its label, and the probability of that label; gp_evaluate(model) sums it up';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes anyarray)
RETURNS TABLE (
    node anyelement,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, anyarray) IS
    'the same for these nodes, of any type: gp_loo(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes bigint[])
RETURNS TABLE (
    node bigint,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes integer[])
RETURNS TABLE (
    node integer,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes smallint[])
RETURNS TABLE (
    node smallint,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, smallint[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    id anynonarray)
RETURNS TABLE (
    node anynonarray,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, anynonarray) IS
    'the same for one node, or for all where id is NULL of a type: gp_loo(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    id text)
RETURNS TABLE (
    node text,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, text) IS
    'the same for one node by the text of its id, whatever its type: gp_loo(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    src bigint,
    dst bigint,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, @extschema@.gp_node_list) IS
    'what a link model says of the pairs that it held out: links, and as many pairs without one; gp_evaluate(model) sums it up';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes anyarray)
RETURNS TABLE (
    src anyelement,
    dst anyelement,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, anyarray) IS
    'the same for the pairs of these nodes, of any type: gp_loo_links(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes bigint[])
RETURNS TABLE (
    src bigint,
    dst bigint,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes integer[])
RETURNS TABLE (
    src integer,
    dst integer,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes smallint[])
RETURNS TABLE (
    src smallint,
    dst smallint,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, smallint[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    id anynonarray)
RETURNS TABLE (
    src anynonarray,
    dst anynonarray,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, anynonarray) IS
    'the same for the pairs of one node, or for all where id is NULL of a type: gp_loo_links(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    id text)
RETURNS TABLE (
    src text,
    dst text,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, text) IS
    'the same for the pairs of one node by the text of its id, whatever its type: gp_loo_links(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node bigint,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, @extschema@.gp_node_list, double precision) IS
    'sets of classes, or intervals, that hold what is true as often as coverage says; gp_predict(model) has the classes one by one';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes anyarray,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node anyelement,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, anyarray, double precision) IS
    'the same for these nodes, of any type: gp_predict_sets(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes bigint[],
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node bigint,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, bigint[], double precision) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes integer[],
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node integer,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, integer[], double precision) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes smallint[],
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node smallint,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, smallint[], double precision) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    id anynonarray,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node anynonarray,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, anynonarray, double precision) IS
    'the same for one node, or for all where id is NULL of a type: gp_predict_sets(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    id text,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node text,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, text, double precision) IS
    'the same for one node by the text of its id, whatever its type: gp_predict_sets(''m'', ''alice'')';
