-- Fitting, predicting and comparing kernels

CREATE FUNCTION @extschema@.gp_fit(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT 'auto',
    task text DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    nugget double precision DEFAULT NULL,
    seed bigint DEFAULT 0,
    replace boolean DEFAULT false,
    live boolean DEFAULT false,
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
    OUT peak_bytes bigint,
    OUT alternatives jsonb,
    OUT relations integer,
    OUT facts bigint,
    OUT rows bigint,
    OUT forward_score double precision)
AS 'MODULE_PATHNAME', 'gnngp_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION @extschema@.gp_fit(text, text, @extschema@.gp_kernel, text, text, integer, double precision, bigint, boolean, boolean) IS
    'fit a model on a graph and store the posterior of every node; then SELECT * FROM gp_predict(model)';

CREATE FUNCTION @extschema@.gp_evaluate(
    model text,
    class gnngp_internal.gp_class DEFAULT NULL,
    k integer DEFAULT NULL,
    false_alarms double precision DEFAULT 0.01)
RETURNS TABLE (metric text, value double precision)
AS 'MODULE_PATHNAME', 'gnngp_evaluate' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 3;
COMMENT ON FUNCTION @extschema@.gp_evaluate(text, gnngp_internal.gp_class, integer, double precision) IS
    'the quality of a model on its own labels, each left out in turn, and how well a class is ranked; gp_tune(graph) compares kernels';

CREATE FUNCTION @extschema@.gp_tune(
    graph text,
    kernels @extschema@.gp_kernel[] DEFAULT NULL,
    criterion text DEFAULT 'loo',
    task text DEFAULT 'auto')
RETURNS TABLE (
    kernel @extschema@.gp_kernel,
    nugget double precision,
    nll double precision,
    loo_score double precision,
    log_marginal_likelihood double precision,
    seconds double precision)
AS 'MODULE_PATHNAME', 'gnngp_tune' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 6;
COMMENT ON FUNCTION @extschema@.gp_tune(text, @extschema@.gp_kernel[], text, text) IS
    'compare kernels on one reading of a graph, best first; stores nothing; then gp_fit(graph, kernel => ...)';

CREATE FUNCTION @extschema@.gp_estimate(
    graph text,
    kernel @extschema@.gp_kernel DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    live boolean DEFAULT false,
    keep integer DEFAULT 0,
    task text DEFAULT 'auto',
    OUT strategy text,
    OUT bytes bigint,
    OUT flops double precision,
    OUT reason text)
AS 'MODULE_PATHNAME', 'gnngp_estimate' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION @extschema@.gp_estimate(text, @extschema@.gp_kernel, text, integer, boolean, integer, text) IS
    'what gp_fit or gp_fit_links would cost: the strategy, its memory and operations, and why';
