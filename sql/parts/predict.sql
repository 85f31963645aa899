-- Fitting, predicting and comparing kernels

CREATE OR REPLACE FUNCTION @extschema@.gp_fit(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT 'auto',
    task text DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    nugget double precision DEFAULT NULL,
    seed bigint DEFAULT 0,
    replace boolean DEFAULT false,
    method text DEFAULT 'gp',
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
    OUT method text)
AS 'MODULE_PATHNAME', 'gnngp_fit'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_fit(text, text, @extschema@.gp_kernel, text, text, integer, double precision, bigint, boolean, text, boolean) IS
    'fit a Gaussian process, or another method, on a graph and store the posterior of every node as a model; then SELECT * FROM gp_predict(model)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_predict_support'
LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_predict_support(internal) IS
    'planner support: the rows of gp_predict';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, @extschema@.gp_node_list, integer, boolean) IS
    'the best classes, or the value, of all nodes of a model with integer ids; gp_evaluate(model) tells how good they are';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes anyarray,
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

COMMENT ON FUNCTION @extschema@.gp_predict(text, anyarray, integer, boolean) IS
    'the same for these nodes, of any type: gp_predict(''m'', ARRAY[1, 2])';

-- Spelled out for integers, for which named arguments then come in any order: where a
-- type is found out from an argument, PostgreSQL takes it by its place in the call.
CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes bigint[],
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, bigint[], integer, boolean) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes integer[],
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node integer,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, integer[], integer, boolean) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes smallint[],
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node smallint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, smallint[], integer, boolean) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    id anynonarray,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node anynonarray,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, anynonarray, integer, boolean) IS
    'the same for one node, or for all where id is NULL of a type: gp_predict(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    id text,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node text,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, text, integer, boolean) IS
    'the same for one node by the text of its id, whatever its type: gp_predict(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_evaluate(model text)
RETURNS TABLE (metric text, value double precision)
AS 'MODULE_PATHNAME', 'gnngp_evaluate'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 3;

COMMENT ON FUNCTION @extschema@.gp_evaluate(text) IS
    'how good a model is on its own labels, each left out in turn; gp_tune(graph) compares kernels';

CREATE OR REPLACE FUNCTION @extschema@.gp_tune(
    graph text,
    kernels @extschema@.gp_kernel[] DEFAULT NULL,
    criterion text DEFAULT 'loo',
    methods text[] DEFAULT NULL)
RETURNS TABLE (
    kernel @extschema@.gp_kernel,
    nugget double precision,
    loo_score double precision,
    log_marginal_likelihood double precision,
    seconds double precision,
    method text)
AS 'MODULE_PATHNAME', 'gnngp_tune'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 6;

COMMENT ON FUNCTION @extschema@.gp_tune(text, @extschema@.gp_kernel[], text, text[]) IS
    'fit several kernels, and methods, on one reading of a graph and compare them, best first; stores nothing: then gp_fit(graph, kernel => ...)';

CREATE OR REPLACE FUNCTION @extschema@.gp_estimate(
    graph text,
    kernel @extschema@.gp_kernel DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    method text DEFAULT 'gp',
    live boolean DEFAULT false,
    OUT strategy text,
    OUT bytes bigint,
    OUT flops double precision,
    OUT reason text)
AS 'MODULE_PATHNAME', 'gnngp_estimate'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;

COMMENT ON FUNCTION @extschema@.gp_estimate(text, @extschema@.gp_kernel, text, integer, text, boolean) IS
    'what gp_fit(graph, kernel => ...), or gp_fit_links(graph, method => ...), would cost: the strategy that the planner chooses, its memory and operations, and why';
