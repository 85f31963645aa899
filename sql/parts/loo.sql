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
--forms gp_loo('m', %)

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
--forms gp_loo_links('m', %): the pairs of

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
--forms gp_predict_sets('m', %)
