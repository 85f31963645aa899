\echo Use "CREATE EXTENSION gnngp" to load this file. \quit
-- Graphs and models
--
-- Everybody may read these tables, and row-level security shows everybody their
-- own rows and those that were granted to them.  Only the extension's functions
-- write here, and they keep the tables consistent: a foreign key between tables
-- of an extension would stop pg_restore --jobs, which loads them in any order.
-- Owners and grantees are stored as names: a dump then restores where a role is
-- missing.

CREATE TABLE @extschema@.gp_graph_catalog (
    id bigserial PRIMARY KEY,
    name text NOT NULL,
    owner name NOT NULL,
    nodes regclass NOT NULL,
    edges regclass NOT NULL,
    id_column name NOT NULL,
    features name[],
    target name,
    src name NOT NULL,
    dst name NOT NULL,
    weight name,
    directed boolean NOT NULL,
    sparse_features regclass,
    created timestamp with time zone NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    UNIQUE (name, owner)
);

CREATE TABLE @extschema@.gp_model_catalog (
    id bigserial PRIMARY KEY,
    version bigint NOT NULL,
    name text NOT NULL,
    owner name NOT NULL,
    graph bigint NOT NULL,
    fitted timestamp with time zone,
    -- what was asked for
    asked_kernel text,
    asked_task text,
    asked_strategy text,
    asked_landmarks integer,
    asked_nugget double precision,
    asked_seed bigint,
    -- what came out
    task text,
    strategy text,
    device text,
    nodes bigint,
    edges bigint,
    features bigint,
    classes integer,
    labelled bigint,
    landmarks bigint,
    nugget double precision,
    log_marginal_likelihood double precision,
    loo_score double precision,
    seconds double precision,
    peak_bytes bigint,
    -- what predictions need
    id_type text,
    integer_ids boolean,
    class_labels text[],
    temperature double precision,
    target_offset double precision,
    scale double precision,
    mean_diag double precision,
    jitter double precision,
    exact_diagonal boolean,
    -- leave-one-out figures
    accuracy double precision,
    nll double precision,
    ece double precision,
    r2 double precision,
    rmse double precision,
    coverage90 double precision,
    -- the link part; its method is NULL where there is none, as the task is without a node part
    link_version bigint NOT NULL DEFAULT 0,
    link_fitted timestamp with time zone,
    link_asked_kernel text,
    link_asked_method text,
    link_asked_seed bigint,
    link_method text,
    link_nodes bigint,
    link_edges bigint,
    link_pairs bigint,
    link_auc double precision,
    link_average_precision double precision,
    link_steps integer,
    link_cut boolean,
    link_seconds double precision,
    link_peak_bytes bigint,
    link_id_type text,
    link_integer_ids boolean,
    UNIQUE (name, owner)
);

CREATE INDEX ON @extschema@.gp_model_catalog (graph);

CREATE TABLE @extschema@.gp_block (
    model bigint,
    version bigint,
    part text,
    block integer,
    first_key bigint,
    nrows integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (model, version, part, block)
);

-- Compressing a block could not be interrupted, and numbers hardly shrink.
ALTER TABLE @extschema@.gp_block ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE @extschema@.gp_grant_catalog (
    model bigint,
    owner name NOT NULL,
    grantee name,
    PRIMARY KEY (model, grantee)
);

CREATE TABLE @extschema@.gp_refresh_log (
    id bigserial PRIMARY KEY,
    model bigint NOT NULL,
    started timestamp with time zone NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    ended timestamp with time zone,
    outcome text NOT NULL CHECK (outcome IN ('running', 'succeeded', 'failed', 'interrupted')),
    message text
);

CREATE INDEX ON @extschema@.gp_refresh_log (model);

COMMENT ON TABLE @extschema@.gp_graph_catalog IS 'graphs: which tables and columns they are read from';
COMMENT ON TABLE @extschema@.gp_model_catalog IS 'models: how they were fitted and what came out';
COMMENT ON TABLE @extschema@.gp_block IS 'what is stored for the nodes and the links of a model, in packed blocks';
COMMENT ON TABLE @extschema@.gp_grant_catalog IS 'roles that may read a model besides its owner';
COMMENT ON TABLE @extschema@.gp_refresh_log IS 'runs of gp_refresh';

-- Who sees what

ALTER TABLE @extschema@.gp_graph_catalog ENABLE ROW LEVEL SECURITY;
ALTER TABLE @extschema@.gp_model_catalog ENABLE ROW LEVEL SECURITY;
ALTER TABLE @extschema@.gp_block ENABLE ROW LEVEL SECURITY;
ALTER TABLE @extschema@.gp_grant_catalog ENABLE ROW LEVEL SECURITY;
ALTER TABLE @extschema@.gp_refresh_log ENABLE ROW LEVEL SECURITY;

-- A role that is missing hides its rows and raises no error, hence pg_roles.
CREATE POLICY visible ON @extschema@.gp_graph_catalog FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM pg_catalog.pg_roles r
                   WHERE r.rolname = gp_graph_catalog.owner
                     AND pg_catalog.pg_has_role(r.oid, 'USAGE')));

CREATE POLICY visible ON @extschema@.gp_grant_catalog FOR SELECT TO PUBLIC
    USING (gp_grant_catalog.grantee = 'public'
           OR EXISTS (SELECT FROM pg_catalog.pg_roles r
                      WHERE r.rolname IN (gp_grant_catalog.owner, gp_grant_catalog.grantee)
                        AND pg_catalog.pg_has_role(r.oid, 'USAGE')));

-- A grant is visible to its grantee and to the owner: so is the model.  Questions
-- about one row are asked of indexes: who sees thousands of models must not wait
-- for all of them to be listed.
CREATE POLICY visible ON @extschema@.gp_model_catalog FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM pg_catalog.pg_roles r
                   WHERE r.rolname = gp_model_catalog.owner
                     AND pg_catalog.pg_has_role(r.oid, 'USAGE'))
           OR EXISTS (SELECT FROM @extschema@.gp_grant_catalog g
                      WHERE g.model = gp_model_catalog.id));

CREATE POLICY visible ON @extschema@.gp_block FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM @extschema@.gp_model_catalog m
                   WHERE m.id = gp_block.model));

-- The messages of errors quote the owner's data: no grantee sees them.
CREATE POLICY visible ON @extschema@.gp_refresh_log FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM @extschema@.gp_model_catalog m, pg_catalog.pg_roles r
                   WHERE m.id = gp_refresh_log.model AND r.rolname = m.owner
                     AND pg_catalog.pg_has_role(r.oid, 'USAGE')));

GRANT SELECT ON @extschema@.gp_graph_catalog, @extschema@.gp_model_catalog, @extschema@.gp_block,
    @extschema@.gp_grant_catalog, @extschema@.gp_refresh_log TO PUBLIC;
GRANT SELECT ON SEQUENCE @extschema@.gp_graph_catalog_id_seq, @extschema@.gp_model_catalog_id_seq,
    @extschema@.gp_refresh_log_id_seq TO PUBLIC;

-- Graphs and models are part of a dump
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_graph_catalog', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_graph_catalog_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_model_catalog', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_model_catalog_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_block', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_grant_catalog', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_refresh_log', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_refresh_log_id_seq', '');
-- The type of kernels: a value is the kernel's canonical text.

CREATE TYPE @extschema@.gp_kernel;

CREATE FUNCTION @extschema@.gp_kernel_in(cstring)
RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_in(cstring) IS
    'read a kernel: a preset such as gcn(layers=3), or a layer such as A*relu(X)*W + b';

CREATE FUNCTION @extschema@.gp_kernel_out(@extschema@.gp_kernel)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_kernel_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_out(@extschema@.gp_kernel) IS
    'the canonical text of a kernel';

CREATE FUNCTION @extschema@.gp_kernel_recv(internal)
RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_recv(internal) IS
    'read a kernel from its binary form, which is text';

CREATE FUNCTION @extschema@.gp_kernel_send(@extschema@.gp_kernel)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_kernel_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_send(@extschema@.gp_kernel) IS
    'the binary form of a kernel, which is text';

CREATE TYPE @extschema@.gp_kernel (
    INPUT = @extschema@.gp_kernel_in,
    OUTPUT = @extschema@.gp_kernel_out,
    RECEIVE = @extschema@.gp_kernel_recv,
    SEND = @extschema@.gp_kernel_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);

COMMENT ON TYPE @extschema@.gp_kernel IS
    'covariance kernel of an infinitely wide graph neural network: a preset, or the formula of a layer';

CREATE FUNCTION @extschema@.gp_kernel_from_text(text)
RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_from_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_from_text(text) IS
    'read a kernel from text';

CREATE CAST (text AS @extschema@.gp_kernel) WITH FUNCTION @extschema@.gp_kernel_from_text(text) AS IMPLICIT;

COMMENT ON CAST (text AS @extschema@.gp_kernel) IS
    'read a kernel from text';

CREATE CAST (varchar AS @extschema@.gp_kernel) WITH FUNCTION @extschema@.gp_kernel_from_text(text) AS IMPLICIT;

COMMENT ON CAST (varchar AS @extschema@.gp_kernel) IS
    'read a kernel from text';

CREATE FUNCTION @extschema@.gp_kernel_as_stored(text)
RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_as_stored'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_as_stored(text) IS
    'for the view gp_models: the kernel of a model as it was stored, without reading it anew';

CREATE FUNCTION @extschema@.gp_kernel_eq(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_eq'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_eq(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator =';

CREATE FUNCTION @extschema@.gp_kernel_ne(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_ne'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_ne(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator <>';

CREATE FUNCTION @extschema@.gp_kernel_lt(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_lt'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_lt(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator <';

CREATE FUNCTION @extschema@.gp_kernel_le(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_le'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_le(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator <=';

CREATE FUNCTION @extschema@.gp_kernel_gt(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_gt'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_gt(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator >';

CREATE FUNCTION @extschema@.gp_kernel_ge(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_ge'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_ge(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator >=';

CREATE FUNCTION @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_kernel_cmp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'order two kernels by the bytes of their canonical texts';

CREATE FUNCTION @extschema@.gp_kernel_hash(@extschema@.gp_kernel)
RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_kernel_hash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_hash(@extschema@.gp_kernel) IS
    'hash a kernel';

CREATE FUNCTION @extschema@.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_kernel_hash_extended'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint) IS
    'hash a kernel with a seed';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.gp_kernel, RIGHTARG = @extschema@.gp_kernel, FUNCTION = @extschema@.gp_kernel_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel,
    HASHES, MERGES
);

COMMENT ON OPERATOR @extschema@.= (@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.gp_kernel, RIGHTARG = @extschema@.gp_kernel, FUNCTION = @extschema@.gp_kernel_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);

COMMENT ON OPERATOR @extschema@.<> (@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'not equal';

CREATE OPERATOR @extschema@.< (
    LEFTARG = @extschema@.gp_kernel, RIGHTARG = @extschema@.gp_kernel, FUNCTION = @extschema@.gp_kernel_lt,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);

COMMENT ON OPERATOR @extschema@.< (@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'less than';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = @extschema@.gp_kernel, RIGHTARG = @extschema@.gp_kernel, FUNCTION = @extschema@.gp_kernel_le,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);

COMMENT ON OPERATOR @extschema@.<= (@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'less than or equal';

CREATE OPERATOR @extschema@.> (
    LEFTARG = @extschema@.gp_kernel, RIGHTARG = @extschema@.gp_kernel, FUNCTION = @extschema@.gp_kernel_gt,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);

COMMENT ON OPERATOR @extschema@.> (@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'greater than';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = @extschema@.gp_kernel, RIGHTARG = @extschema@.gp_kernel, FUNCTION = @extschema@.gp_kernel_ge,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON OPERATOR @extschema@.>= (@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'greater than or equal';

CREATE OPERATOR CLASS @extschema@.gp_kernel_ops
DEFAULT FOR TYPE @extschema@.gp_kernel USING btree AS
    OPERATOR 1 @extschema@.<,
    OPERATOR 2 @extschema@.<=,
    OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=,
    OPERATOR 5 @extschema@.>,
    FUNCTION 1 @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel);

COMMENT ON OPERATOR CLASS @extschema@.gp_kernel_ops USING btree IS
    'kernels by the bytes of their canonical texts';

CREATE OPERATOR CLASS @extschema@.gp_kernel_ops
DEFAULT FOR TYPE @extschema@.gp_kernel USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 @extschema@.gp_kernel_hash(@extschema@.gp_kernel),
    FUNCTION 2 @extschema@.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint);

COMMENT ON OPERATOR CLASS @extschema@.gp_kernel_ops USING hash IS
    'kernels by their canonical texts';
-- Graphs

CREATE FUNCTION @extschema@.gp_create_graph(
    graph text,
    nodes regclass,
    edges regclass,
    id name DEFAULT 'id',
    features text[] DEFAULT NULL,
    target name DEFAULT NULL,
    src name DEFAULT 'src',
    dst name DEFAULT 'dst',
    weight name DEFAULT NULL,
    directed boolean DEFAULT false,
    sparse_features regclass DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_create_graph'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_create_graph(text, regclass, regclass, name, text[], name, name, name, name, boolean, regclass) IS
    'name a node table and an edge table as a graph; nothing is copied';

CREATE FUNCTION @extschema@.gp_drop_graph(graph text)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_drop_graph'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_drop_graph(text) IS
    'forget a graph and drop its models; the tables stay';
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
-- Groups of nodes

CREATE FUNCTION @extschema@.gp_cluster(
    graph text,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0)
RETURNS TABLE (node bigint, cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, integer, @extschema@.gp_kernel, bigint) IS
    'group the nodes of a graph with integer ids by kernel k-means; stores nothing';

CREATE FUNCTION @extschema@.gp_cluster(
    graph text,
    id anyelement,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0)
RETURNS TABLE (node anyelement, cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, anyelement, integer, @extschema@.gp_kernel, bigint) IS
    'group the nodes of a graph by kernel k-means, with ids of the type of id; stores nothing';
-- Models

CREATE FUNCTION @extschema@.gp_drop_model(model text)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_drop_model'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_drop_model(text) IS 'drop a model with all that is stored for it';

CREATE FUNCTION @extschema@.gp_grant(model text, grantee name)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_grant'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_grant(text, name) IS 'let a role read a model';

CREATE FUNCTION @extschema@.gp_revoke(model text, grantee name)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_revoke'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_revoke(text, name) IS 'take back what gp_grant gave';

CREATE PROCEDURE @extschema@.gp_refresh(model text)
AS 'MODULE_PATHNAME', 'gnngp_refresh'
LANGUAGE C;

COMMENT ON PROCEDURE @extschema@.gp_refresh(text) IS
    'fit a model anew with the same settings and swap the result in';
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
-- Graphs, features and kernel factors as values, and the aggregates that make them

CREATE TYPE @extschema@.gp_graph;

CREATE FUNCTION @extschema@.gp_graph_in(cstring)
RETURNS @extschema@.gp_graph
AS 'MODULE_PATHNAME', 'gnngp_graph_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_in(cstring) IS
    'read a graph from text, which is base64';

CREATE FUNCTION @extschema@.gp_graph_out(@extschema@.gp_graph)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_value_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_out(@extschema@.gp_graph) IS
    'a graph as text, which is base64';

CREATE FUNCTION @extschema@.gp_graph_recv(internal)
RETURNS @extschema@.gp_graph
AS 'MODULE_PATHNAME', 'gnngp_graph_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_recv(internal) IS
    'read a graph from its binary form';

CREATE FUNCTION @extschema@.gp_graph_send(@extschema@.gp_graph)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_value_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_send(@extschema@.gp_graph) IS
    'the binary form of a graph';

CREATE TYPE @extschema@.gp_graph (
    INPUT = @extschema@.gp_graph_in,
    OUTPUT = @extschema@.gp_graph_out,
    RECEIVE = @extschema@.gp_graph_recv,
    SEND = @extschema@.gp_graph_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);

COMMENT ON TYPE @extschema@.gp_graph IS
    'an undirected graph as a value: node ids, edges, weights';

CREATE TYPE @extschema@.gp_features;

CREATE FUNCTION @extschema@.gp_features_in(cstring)
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_in(cstring) IS
    'read features from text, which is base64';

CREATE FUNCTION @extschema@.gp_features_out(@extschema@.gp_features)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_value_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_out(@extschema@.gp_features) IS
    'features as text, which is base64';

CREATE FUNCTION @extschema@.gp_features_recv(internal)
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_recv(internal) IS
    'read features from its binary form';

CREATE FUNCTION @extschema@.gp_features_send(@extschema@.gp_features)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_value_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_send(@extschema@.gp_features) IS
    'the binary form of features';

CREATE TYPE @extschema@.gp_features (
    INPUT = @extschema@.gp_features_in,
    OUTPUT = @extschema@.gp_features_out,
    RECEIVE = @extschema@.gp_features_recv,
    SEND = @extschema@.gp_features_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);

COMMENT ON TYPE @extschema@.gp_features IS
    'features of the nodes of a graph as a value: a row of numbers for each node id';

CREATE TYPE @extschema@.gp_factor;

CREATE FUNCTION @extschema@.gp_factor_in(cstring)
RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_in(cstring) IS
    'read a factor from text, which is base64';

CREATE FUNCTION @extschema@.gp_factor_out(@extschema@.gp_factor)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_value_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_out(@extschema@.gp_factor) IS
    'a factor as text, which is base64';

CREATE FUNCTION @extschema@.gp_factor_recv(internal)
RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_recv(internal) IS
    'read a factor from its binary form';

CREATE FUNCTION @extschema@.gp_factor_send(@extschema@.gp_factor)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_value_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_send(@extschema@.gp_factor) IS
    'the binary form of a factor';

CREATE TYPE @extschema@.gp_factor (
    INPUT = @extschema@.gp_factor_in,
    OUTPUT = @extschema@.gp_factor_out,
    RECEIVE = @extschema@.gp_factor_recv,
    SEND = @extschema@.gp_factor_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);

COMMENT ON TYPE @extschema@.gp_factor IS
    'factor of a kernel as a value: a row q of numbers for each node id; the covariance of two nodes is the product of their rows';

CREATE TYPE @extschema@.gp_graph_state;

CREATE FUNCTION @extschema@.gp_graph_state_in(cstring)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_state_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_state_in(cstring) IS
    'read a state from text, which is base64';

CREATE FUNCTION @extschema@.gp_graph_state_out(@extschema@.gp_graph_state)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_value_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_state_out(@extschema@.gp_graph_state) IS
    'a state as text, which is base64';

CREATE FUNCTION @extschema@.gp_graph_state_recv(internal)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_state_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_state_recv(internal) IS
    'read a state from its binary form';

CREATE FUNCTION @extschema@.gp_graph_state_send(@extschema@.gp_graph_state)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_value_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_state_send(@extschema@.gp_graph_state) IS
    'the binary form of a state';

CREATE TYPE @extschema@.gp_graph_state (
    INPUT = @extschema@.gp_graph_state_in,
    OUTPUT = @extschema@.gp_graph_state_out,
    RECEIVE = @extschema@.gp_graph_state_recv,
    SEND = @extschema@.gp_graph_state_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);

COMMENT ON TYPE @extschema@.gp_graph_state IS
    'what gp_graph and gp_factor have collected so far; its text form lets other engines combine them';

CREATE FUNCTION @extschema@.gp_graph_eq(@extschema@.gp_graph, @extschema@.gp_graph)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_value_eq'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_eq(@extschema@.gp_graph, @extschema@.gp_graph) IS
    'implementation of the operator =';

CREATE FUNCTION @extschema@.gp_graph_ne(@extschema@.gp_graph, @extschema@.gp_graph)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_value_ne'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_ne(@extschema@.gp_graph, @extschema@.gp_graph) IS
    'implementation of the operator <>';

CREATE FUNCTION @extschema@.gp_graph_hash(@extschema@.gp_graph)
RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_value_hash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_hash(@extschema@.gp_graph) IS
    'hash a graph';

CREATE FUNCTION @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_value_hash_extended'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint) IS
    'hash a graph with a seed';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.gp_graph, RIGHTARG = @extschema@.gp_graph, FUNCTION = @extschema@.gp_graph_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel,
    HASHES
);

COMMENT ON OPERATOR @extschema@.= (@extschema@.gp_graph, @extschema@.gp_graph) IS
    'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.gp_graph, RIGHTARG = @extschema@.gp_graph, FUNCTION = @extschema@.gp_graph_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);

COMMENT ON OPERATOR @extschema@.<> (@extschema@.gp_graph, @extschema@.gp_graph) IS
    'not equal';

CREATE OPERATOR CLASS @extschema@.gp_graph_ops
DEFAULT FOR TYPE @extschema@.gp_graph USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 @extschema@.gp_graph_hash(@extschema@.gp_graph),
    FUNCTION 2 @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint);

COMMENT ON OPERATOR CLASS @extschema@.gp_graph_ops USING hash IS
    'graph by their bytes';

CREATE FUNCTION @extschema@.gp_features_eq(@extschema@.gp_features, @extschema@.gp_features)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_value_eq'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_eq(@extschema@.gp_features, @extschema@.gp_features) IS
    'implementation of the operator =';

CREATE FUNCTION @extschema@.gp_features_ne(@extschema@.gp_features, @extschema@.gp_features)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_value_ne'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_ne(@extschema@.gp_features, @extschema@.gp_features) IS
    'implementation of the operator <>';

CREATE FUNCTION @extschema@.gp_features_hash(@extschema@.gp_features)
RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_value_hash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_hash(@extschema@.gp_features) IS
    'hash features';

CREATE FUNCTION @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_value_hash_extended'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint) IS
    'hash features with a seed';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.gp_features, RIGHTARG = @extschema@.gp_features, FUNCTION = @extschema@.gp_features_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel,
    HASHES
);

COMMENT ON OPERATOR @extschema@.= (@extschema@.gp_features, @extschema@.gp_features) IS
    'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.gp_features, RIGHTARG = @extschema@.gp_features, FUNCTION = @extschema@.gp_features_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);

COMMENT ON OPERATOR @extschema@.<> (@extschema@.gp_features, @extschema@.gp_features) IS
    'not equal';

CREATE OPERATOR CLASS @extschema@.gp_features_ops
DEFAULT FOR TYPE @extschema@.gp_features USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 @extschema@.gp_features_hash(@extschema@.gp_features),
    FUNCTION 2 @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint);

COMMENT ON OPERATOR CLASS @extschema@.gp_features_ops USING hash IS
    'features by their bytes';

CREATE FUNCTION @extschema@.gp_factor_eq(@extschema@.gp_factor, @extschema@.gp_factor)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_value_eq'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_eq(@extschema@.gp_factor, @extschema@.gp_factor) IS
    'implementation of the operator =';

CREATE FUNCTION @extschema@.gp_factor_ne(@extschema@.gp_factor, @extschema@.gp_factor)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_value_ne'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_ne(@extschema@.gp_factor, @extschema@.gp_factor) IS
    'implementation of the operator <>';

CREATE FUNCTION @extschema@.gp_factor_hash(@extschema@.gp_factor)
RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_value_hash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_hash(@extschema@.gp_factor) IS
    'hash a factor';

CREATE FUNCTION @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_value_hash_extended'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint) IS
    'hash a factor with a seed';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.gp_factor, RIGHTARG = @extschema@.gp_factor, FUNCTION = @extschema@.gp_factor_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel,
    HASHES
);

COMMENT ON OPERATOR @extschema@.= (@extschema@.gp_factor, @extschema@.gp_factor) IS
    'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.gp_factor, RIGHTARG = @extschema@.gp_factor, FUNCTION = @extschema@.gp_factor_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);

COMMENT ON OPERATOR @extschema@.<> (@extschema@.gp_factor, @extschema@.gp_factor) IS
    'not equal';

CREATE OPERATOR CLASS @extschema@.gp_factor_ops
DEFAULT FOR TYPE @extschema@.gp_factor USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 @extschema@.gp_factor_hash(@extschema@.gp_factor),
    FUNCTION 2 @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint);

COMMENT ON OPERATOR CLASS @extschema@.gp_factor_ops USING hash IS
    'factor by their bytes';

-- Aggregates: the steps, then the aggregates themselves

CREATE FUNCTION @extschema@.gp_graph_accum(@extschema@.gp_graph_state, bigint, bigint)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_accum(@extschema@.gp_graph_state, bigint, bigint) IS
    'a step of the aggregate gp_graph: one more edge';

CREATE FUNCTION @extschema@.gp_graph_accum(@extschema@.gp_graph_state, bigint, bigint, double precision)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_accum_weighted'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_accum(@extschema@.gp_graph_state, bigint, bigint, double precision) IS
    'a step of the aggregate gp_graph: one more edge with a weight';

CREATE FUNCTION @extschema@.gp_graph_combine(@extschema@.gp_graph_state, @extschema@.gp_graph_state)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_combine(@extschema@.gp_graph_state, @extschema@.gp_graph_state) IS
    'a step of the aggregates gp_graph and gp_factor: two states become one';

CREATE FUNCTION @extschema@.gp_graph_final(@extschema@.gp_graph_state)
RETURNS @extschema@.gp_graph
AS 'MODULE_PATHNAME', 'gnngp_graph_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_final(@extschema@.gp_graph_state) IS
    'the last step of the aggregate gp_graph';

CREATE FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, @extschema@.gp_kernel)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, @extschema@.gp_kernel) IS
    'a step of the aggregate gp_factor: one more edge';

CREATE FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, @extschema@.gp_kernel, integer)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, @extschema@.gp_kernel, integer) IS
    'a step of the aggregate gp_factor: one more edge';

CREATE FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum_weighted'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel) IS
    'a step of the aggregate gp_factor: one more edge with a weight';

CREATE FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel, integer)
RETURNS @extschema@.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum_weighted'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_accum(@extschema@.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel, integer) IS
    'a step of the aggregate gp_factor: one more edge with a weight';

CREATE FUNCTION @extschema@.gp_factor_final(@extschema@.gp_graph_state)
RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor_final'
LANGUAGE C STABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_factor_final(@extschema@.gp_graph_state) IS
    'the last step of the aggregate gp_factor';

CREATE FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, real[])
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, real[]) IS
    'a step of the aggregate gp_features: one more node';

CREATE FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, double precision[])
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, double precision[]) IS
    'a step of the aggregate gp_features: one more node';

CREATE FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, integer[])
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, integer[]) IS
    'a step of the aggregate gp_features: one more node';

CREATE FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, numeric[])
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_accum(@extschema@.gp_features, bigint, numeric[]) IS
    'a step of the aggregate gp_features: one more node';

CREATE FUNCTION @extschema@.gp_features_combine(@extschema@.gp_features, @extschema@.gp_features)
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_combine(@extschema@.gp_features, @extschema@.gp_features) IS
    'a step of the aggregate gp_features: two states become one';

CREATE FUNCTION @extschema@.gp_features_final(@extschema@.gp_features)
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_final(@extschema@.gp_features) IS
    'the last step of the aggregate gp_features';

CREATE AGGREGATE @extschema@.gp_graph(src bigint, dst bigint) (
    SFUNC = @extschema@.gp_graph_accum,
    STYPE = @extschema@.gp_graph_state,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_graph_final,
    COMBINEFUNC = @extschema@.gp_graph_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_graph(bigint, bigint) IS
    'the undirected graph of these edges';

CREATE AGGREGATE @extschema@.gp_graph(src bigint, dst bigint, weight double precision) (
    SFUNC = @extschema@.gp_graph_accum,
    STYPE = @extschema@.gp_graph_state,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_graph_final,
    COMBINEFUNC = @extschema@.gp_graph_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_graph(bigint, bigint, double precision) IS
    'the undirected graph of these edges; weights of a repeated edge add up';

CREATE AGGREGATE @extschema@.gp_features(node bigint, features real[]) (
    SFUNC = @extschema@.gp_features_accum,
    STYPE = @extschema@.gp_features,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_features_final,
    COMBINEFUNC = @extschema@.gp_features_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_features(bigint, real[]) IS
    'the features of these nodes';

CREATE AGGREGATE @extschema@.gp_features(node bigint, features double precision[]) (
    SFUNC = @extschema@.gp_features_accum,
    STYPE = @extschema@.gp_features,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_features_final,
    COMBINEFUNC = @extschema@.gp_features_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_features(bigint, double precision[]) IS
    'the features of these nodes, in single precision';

-- With the two forms alone, ARRAY[1, 0] and ARRAY[0.5, 1] would fit neither better than the other.

CREATE AGGREGATE @extschema@.gp_features(node bigint, features integer[]) (
    SFUNC = @extschema@.gp_features_accum,
    STYPE = @extschema@.gp_features,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_features_final,
    COMBINEFUNC = @extschema@.gp_features_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_features(bigint, integer[]) IS
    'the features of these nodes, in single precision';

CREATE AGGREGATE @extschema@.gp_features(node bigint, features numeric[]) (
    SFUNC = @extschema@.gp_features_accum,
    STYPE = @extschema@.gp_features,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_features_final,
    COMBINEFUNC = @extschema@.gp_features_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_features(bigint, numeric[]) IS
    'the features of these nodes, in single precision';

CREATE AGGREGATE @extschema@.gp_factor(src bigint, dst bigint, kernel @extschema@.gp_kernel) (
    SFUNC = @extschema@.gp_factor_accum,
    STYPE = @extschema@.gp_graph_state,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_factor_final,
    COMBINEFUNC = @extschema@.gp_graph_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, @extschema@.gp_kernel) IS
    'the factor of a kernel on the graph of these edges';

CREATE AGGREGATE @extschema@.gp_factor(src bigint, dst bigint, kernel @extschema@.gp_kernel, landmarks integer) (
    SFUNC = @extschema@.gp_factor_accum,
    STYPE = @extschema@.gp_graph_state,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_factor_final,
    COMBINEFUNC = @extschema@.gp_graph_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, @extschema@.gp_kernel, integer) IS
    'the factor of a kernel on the graph of these edges, on so many landmarks';

CREATE AGGREGATE @extschema@.gp_factor(src bigint, dst bigint, weight double precision, kernel @extschema@.gp_kernel) (
    SFUNC = @extschema@.gp_factor_accum,
    STYPE = @extschema@.gp_graph_state,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_factor_final,
    COMBINEFUNC = @extschema@.gp_graph_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, double precision, @extschema@.gp_kernel) IS
    'the factor of a kernel on the graph of these edges with weights';

CREATE AGGREGATE @extschema@.gp_factor(src bigint, dst bigint, weight double precision, kernel @extschema@.gp_kernel, landmarks integer) (
    SFUNC = @extschema@.gp_factor_accum,
    STYPE = @extschema@.gp_graph_state,
    SSPACE = 4096,
    FINALFUNC = @extschema@.gp_factor_final,
    COMBINEFUNC = @extschema@.gp_graph_combine,
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, double precision, @extschema@.gp_kernel, integer) IS
    'the factor of a kernel on the graph of these edges with weights, on so many landmarks';

-- Functions on values

CREATE FUNCTION @extschema@.gp_factor(
    graph @extschema@.gp_graph,
    features @extschema@.gp_features,
    kernel @extschema@.gp_kernel,
    landmarks integer DEFAULT NULL,
    seed bigint DEFAULT 0)
RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor'
LANGUAGE C STABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_factor(@extschema@.gp_graph, @extschema@.gp_features, @extschema@.gp_kernel, integer, bigint) IS
    'the factor of a kernel on a graph and the features of its nodes; without features, on its structure';

CREATE FUNCTION @extschema@.gp_factor_rows(factor @extschema@.gp_factor)
RETURNS TABLE (node bigint, q real[])
AS 'MODULE_PATHNAME', 'gnngp_factor_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_factor_rows(@extschema@.gp_factor) IS
    'the rows of a factor, by node';

CREATE FUNCTION @extschema@.gp_kernel_value(factor @extschema@.gp_factor, a bigint, b bigint)
RETURNS double precision
AS 'MODULE_PATHNAME', 'gnngp_kernel_value'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION @extschema@.gp_kernel_value(@extschema@.gp_factor, bigint, bigint) IS
    'the covariance of two nodes by a factor';

CREATE FUNCTION @extschema@.gp_rank(factor @extschema@.gp_factor)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_factor_rank'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_rank(@extschema@.gp_factor) IS
    'the length of the rows of a factor';

CREATE FUNCTION @extschema@.gp_nodes(graph @extschema@.gp_graph)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_graph_nodes'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_nodes(@extschema@.gp_graph) IS
    'how many nodes a graph has';

CREATE FUNCTION @extschema@.gp_nodes(features @extschema@.gp_features)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_features_nodes'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_nodes(@extschema@.gp_features) IS
    'how many nodes have features';

CREATE FUNCTION @extschema@.gp_nodes(factor @extschema@.gp_factor)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_factor_nodes'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_nodes(@extschema@.gp_factor) IS
    'how many nodes a factor has';

CREATE FUNCTION @extschema@.gp_edges(graph @extschema@.gp_graph)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_graph_edges'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_edges(@extschema@.gp_graph) IS
    'how many edges a graph has';

CREATE FUNCTION @extschema@.gp_predict(
    factor @extschema@.gp_factor,
    nodes bigint[],
    classes text[],
    top integer DEFAULT 1,
    nugget double precision DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_factor_predict'
LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict(@extschema@.gp_factor, bigint[], text[], integer, double precision) IS
    'the best classes of the nodes of a factor, some of which are labelled; nothing is stored';
-- Devices

-- It looks at hardware, and parallel workers would each look for themselves.
CREATE FUNCTION @extschema@.gp_device()
RETURNS TABLE (
    device text,
    name text,
    memory bigint,
    compute_capability text,
    driver text,
    runtime text,
    libraries text,
    status text)
AS 'MODULE_PATHNAME', 'gnngp_device'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;

COMMENT ON FUNCTION @extschema@.gp_device() IS
    'what there is to compute on: the CPU, and each GPU or why there is none';
-- Views

CREATE FUNCTION @extschema@.gp_progress_rows(
    OUT pid integer,
    OUT model text,
    OUT phase text,
    OUT done bigint,
    OUT total bigint,
    OUT started timestamp with time zone)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_progress_rows'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_progress_rows() IS 'for the view gp_progress';

CREATE FUNCTION @extschema@.gp_is_refreshing(owner name, model text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_is_refreshing'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_is_refreshing(name, text) IS
    'for the view gp_refreshes: whether some session is fitting this model';

CREATE VIEW @extschema@.gp_graphs WITH (security_invoker = true) AS
    SELECT g.name AS graph,
           g.owner,
           CASE WHEN n.oid IS NULL THEN 'missing' ELSE g.nodes::pg_catalog.text END AS nodes,
           CASE WHEN e.oid IS NULL THEN 'missing' ELSE g.edges::pg_catalog.text END AS edges,
           g.id_column AS id,
           g.features,
           g.target,
           g.src,
           g.dst,
           g.weight,
           g.directed,
           CASE WHEN g.sparse_features IS NOT NULL AND s.oid IS NULL THEN 'missing'
                ELSE g.sparse_features::pg_catalog.text END AS sparse_features,
           g.created
    FROM @extschema@.gp_graph_catalog g
        LEFT JOIN pg_catalog.pg_class n ON n.oid = g.nodes
        LEFT JOIN pg_catalog.pg_class e ON e.oid = g.edges
        LEFT JOIN pg_catalog.pg_class s ON s.oid = g.sparse_features;

COMMENT ON VIEW @extschema@.gp_graphs IS 'graphs that you may use; a table that was dropped shows as missing';

CREATE VIEW @extschema@.gp_models WITH (security_invoker = true) AS
    SELECT m.name AS model,
           m.owner,
           g.name AS graph,
           m.task,
           @extschema@.gp_kernel_as_stored(m.asked_kernel) AS kernel,
           m.strategy,
           m.device,
           coalesce(m.nodes, m.link_nodes) AS nodes,
           coalesce(m.edges, m.link_edges) AS edges,
           m.features,
           nullif(m.classes, 0) AS classes,
           m.labelled,
           nullif(m.landmarks, 0) AS landmarks,
           m.nugget,
           m.log_marginal_likelihood,
           m.loo_score,
           m.seconds,
           m.peak_bytes,
           m.fitted,
           m.mean_diag AS mean_diagonal,
           m.scale,
           nullif(m.jitter, 0) AS jitter,
           CASE WHEN m.exact_diagonal THEN 'exact' WHEN m.task IS NOT NULL THEN 'low rank' END AS variances,
           m.link_method,
           @extschema@.gp_kernel_as_stored(m.link_asked_kernel) AS link_kernel,
           m.link_pairs,
           m.link_auc,
           m.link_average_precision,
           nullif(m.link_steps, 0) AS link_steps,
           m.link_fitted
    FROM @extschema@.gp_model_catalog m
        LEFT JOIN @extschema@.gp_graph_catalog g ON g.id = m.graph;

COMMENT ON VIEW @extschema@.gp_models IS 'models that you may read, with what their fit gave';

CREATE VIEW @extschema@.gp_progress WITH (security_invoker = true) AS
    SELECT p.pid, p.model, p.phase, p.done, p.total, p.started
    FROM @extschema@.gp_progress_rows() p;

COMMENT ON VIEW @extschema@.gp_progress IS
    'computations that run now: your own, or all of this database for members of pg_read_all_stats';

CREATE VIEW @extschema@.gp_refreshes WITH (security_invoker = true) AS
    SELECT m.name AS model,
           l.started,
           l.ended,
           CASE WHEN l.outcome = 'running' AND NOT @extschema@.gp_is_refreshing(m.owner, m.name)
                THEN 'interrupted' ELSE l.outcome END AS outcome,
           l.message,
           m.owner
    FROM @extschema@.gp_refresh_log l
        JOIN @extschema@.gp_model_catalog m ON m.id = l.model;

COMMENT ON VIEW @extschema@.gp_refreshes IS
    'runs of gp_refresh; interrupted means that the session ended before the refresh did';

GRANT SELECT ON @extschema@.gp_graphs, @extschema@.gp_models, @extschema@.gp_progress,
    @extschema@.gp_refreshes TO PUBLIC;
