-- Fitting, predicting and comparing kernels

CREATE FUNCTION @extschema@.gp_fit(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT 'gcn',
    task text DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    nugget double precision DEFAULT NULL,
    seed bigint DEFAULT 0,
    OUT model text,
    OUT task text,
    OUT kernel @extschema@.gp_kernel,
    OUT strategy text,
    OUT device text,
    OUT nodes bigint,
    OUT edges bigint,
    OUT features bigint,
    OUT classes integer,
    OUT labelled bigint,
    OUT landmarks bigint,
    OUT nugget double precision,
    OUT log_marginal_likelihood double precision,
    OUT loo_score double precision,
    OUT seconds double precision,
    OUT peak_bytes bigint)
AS 'MODULE_PATHNAME', 'gnngp_fit'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_fit(text, text, @extschema@.gp_kernel, text, text, integer, double precision, bigint) IS
    'fit a Gaussian process on a graph and store the posterior of every node as a model';

CREATE FUNCTION @extschema@.gp_predict_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_predict_support'
LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_predict_support(internal) IS
    'planner support: the rows of gp_predict';

CREATE FUNCTION @extschema@.gp_predict(
    model text,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false,
    nodes bigint[] DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, integer, boolean, bigint[]) IS
    'the best classes, or the value, of the nodes of a model with integer ids';

CREATE FUNCTION @extschema@.gp_predict(
    model text,
    id anyelement,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node anyelement,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, anyelement, integer, boolean) IS
    'the best classes, or the value, of one node, or of all nodes when id is NULL, with ids of any type';

CREATE FUNCTION @extschema@.gp_evaluate(model text)
RETURNS TABLE (metric text, value double precision)
AS 'MODULE_PATHNAME', 'gnngp_evaluate'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 3;

COMMENT ON FUNCTION @extschema@.gp_evaluate(text) IS
    'the leave-one-out figures of a model';

CREATE FUNCTION @extschema@.gp_tune(
    graph text,
    kernels @extschema@.gp_kernel[] DEFAULT NULL,
    criterion text DEFAULT 'loo')
RETURNS TABLE (
    kernel @extschema@.gp_kernel,
    nugget double precision,
    loo_score double precision,
    log_marginal_likelihood double precision,
    seconds double precision)
AS 'MODULE_PATHNAME', 'gnngp_tune'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 6;

COMMENT ON FUNCTION @extschema@.gp_tune(text, @extschema@.gp_kernel[], text) IS
    'fit several kernels on one reading of a graph and compare them, best first; stores nothing';

CREATE FUNCTION @extschema@.gp_estimate(
    graph text,
    kernel @extschema@.gp_kernel DEFAULT 'gcn',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    OUT strategy text,
    OUT bytes bigint,
    OUT flops double precision,
    OUT reason text)
AS 'MODULE_PATHNAME', 'gnngp_estimate'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;

COMMENT ON FUNCTION @extschema@.gp_estimate(text, @extschema@.gp_kernel, text, integer) IS
    'what a fit would cost: the strategy that the planner chooses, its memory and operations, and why';
