-- Graphs, features and kernel factors as values, and the aggregates that make them

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

--each TYPE: graph features factor
CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.gp_{TYPE}, RIGHTARG = @extschema@.gp_{TYPE}, FUNCTION = @extschema@.gp_{TYPE}_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel,
    HASHES
);

COMMENT ON OPERATOR @extschema@.= (@extschema@.gp_{TYPE}, @extschema@.gp_{TYPE}) IS
    'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.gp_{TYPE}, RIGHTARG = @extschema@.gp_{TYPE}, FUNCTION = @extschema@.gp_{TYPE}_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);

COMMENT ON OPERATOR @extschema@.<> (@extschema@.gp_{TYPE}, @extschema@.gp_{TYPE}) IS
    'not equal';

CREATE OPERATOR CLASS @extschema@.gp_{TYPE}_ops
DEFAULT FOR TYPE @extschema@.gp_{TYPE} USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 @extschema@.gp_{TYPE}_hash(@extschema@.gp_{TYPE}),
    FUNCTION 2 @extschema@.gp_{TYPE}_hash_extended(@extschema@.gp_{TYPE}, bigint);

COMMENT ON OPERATOR CLASS @extschema@.gp_{TYPE}_ops USING hash IS
    '{TYPE} by their bytes';

--end

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
