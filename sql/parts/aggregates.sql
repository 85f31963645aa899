-- Aggregates that make graphs, features and kernel factors, and functions on these values

-- The steps
CREATE FUNCTION gnngp_internal.gp_graph_accum(gnngp_internal.gp_graph_state, bigint, bigint)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_graph_accum(gnngp_internal.gp_graph_state, bigint, bigint) IS
    'a step of the aggregate gp_graph: one more edge';

CREATE FUNCTION gnngp_internal.gp_graph_accum(gnngp_internal.gp_graph_state, bigint, bigint, double precision)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_graph_accum(gnngp_internal.gp_graph_state, bigint, bigint, double precision) IS
    'a step of the aggregate gp_graph: one more edge with a weight';

CREATE FUNCTION gnngp_internal.gp_graph_combine(gnngp_internal.gp_graph_state, gnngp_internal.gp_graph_state)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_graph_combine(gnngp_internal.gp_graph_state, gnngp_internal.gp_graph_state) IS
    'a step of the aggregates gp_graph and gp_factor: two states become one';

CREATE FUNCTION gnngp_internal.gp_graph_final(gnngp_internal.gp_graph_state) RETURNS @extschema@.gp_graph
AS 'MODULE_PATHNAME', 'gnngp_graph_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_graph_final(gnngp_internal.gp_graph_state) IS
    'the last step of the aggregate gp_graph';

CREATE FUNCTION gnngp_internal.gp_factor_accum(
    gnngp_internal.gp_graph_state, bigint, bigint, @extschema@.gp_kernel)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_factor_accum(gnngp_internal.gp_graph_state, bigint, bigint, @extschema@.gp_kernel) IS
    'a step of the aggregate gp_factor: one more edge';

CREATE FUNCTION gnngp_internal.gp_factor_accum(
    gnngp_internal.gp_graph_state, bigint, bigint, @extschema@.gp_kernel, integer)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_factor_accum(gnngp_internal.gp_graph_state, bigint, bigint, @extschema@.gp_kernel, integer) IS
    'a step of the aggregate gp_factor: one more edge';

CREATE FUNCTION gnngp_internal.gp_factor_accum(
    gnngp_internal.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum_weighted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_factor_accum(gnngp_internal.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel) IS
    'a step of the aggregate gp_factor: one more edge with a weight';

CREATE FUNCTION gnngp_internal.gp_factor_accum(
    gnngp_internal.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel, integer)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_factor_accum_weighted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_factor_accum(gnngp_internal.gp_graph_state, bigint, bigint, double precision, @extschema@.gp_kernel, integer) IS
    'a step of the aggregate gp_factor: one more edge with a weight';

CREATE FUNCTION gnngp_internal.gp_factor_final(gnngp_internal.gp_graph_state) RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor_final' LANGUAGE C STABLE PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION gnngp_internal.gp_factor_final(gnngp_internal.gp_graph_state) IS
    'the last step of the aggregate gp_factor';

CREATE FUNCTION gnngp_internal.gp_features_combine(@extschema@.gp_features, @extschema@.gp_features)
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_features_combine(@extschema@.gp_features, @extschema@.gp_features) IS
    'a step of the aggregate gp_features: two states become one';

CREATE FUNCTION gnngp_internal.gp_features_final(@extschema@.gp_features) RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_features_final(@extschema@.gp_features) IS
    'the last step of the aggregate gp_features';

-- The aggregates
CREATE AGGREGATE @extschema@.gp_graph(src bigint, dst bigint) (
    SFUNC = gnngp_internal.gp_graph_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
    FINALFUNC = gnngp_internal.gp_graph_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.gp_graph(bigint, bigint) IS 'the undirected graph of these edges';

CREATE AGGREGATE @extschema@.gp_graph(src bigint, dst bigint, weight double precision) (
    SFUNC = gnngp_internal.gp_graph_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
    FINALFUNC = gnngp_internal.gp_graph_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.gp_graph(bigint, bigint, double precision) IS
    'the undirected graph of these edges; weights of a repeated edge add up';

-- With the types real[] and double precision[] alone, ARRAY[1, 0] and ARRAY[0.5, 1] would fit
-- neither better than the other.
DO $features$
DECLARE
    element text;
BEGIN
    FOREACH element IN ARRAY ARRAY['real', 'double precision', 'integer', 'numeric']
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_features_accum(%2$s.gp_features, bigint, %1$s[])
            RETURNS %2$s.gp_features
            AS 'MODULE_PATHNAME', 'gnngp_features_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_features_accum(%2$s.gp_features, bigint, %1$s[]) IS
                'a step of the aggregate gp_features: one more node';
            CREATE AGGREGATE %2$s.gp_features(node bigint, features %1$s[]) (
                SFUNC = gnngp_internal.gp_features_accum, STYPE = %2$s.gp_features, SSPACE = 4096,
                FINALFUNC = gnngp_internal.gp_features_final,
                COMBINEFUNC = gnngp_internal.gp_features_combine, PARALLEL = SAFE);
            COMMENT ON AGGREGATE %2$s.gp_features(bigint, %1$s[]) IS
                'the features of these nodes, in single precision'
        $sql$, element, '@extschema@');
    END LOOP;
END $features$;

CREATE AGGREGATE @extschema@.gp_factor(src bigint, dst bigint, kernel @extschema@.gp_kernel) (
    SFUNC = gnngp_internal.gp_factor_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
    FINALFUNC = gnngp_internal.gp_factor_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, @extschema@.gp_kernel) IS
    'the factor of a kernel on the graph of these edges';

CREATE AGGREGATE @extschema@.gp_factor(src bigint, dst bigint, kernel @extschema@.gp_kernel, landmarks integer) (
    SFUNC = gnngp_internal.gp_factor_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
    FINALFUNC = gnngp_internal.gp_factor_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, @extschema@.gp_kernel, integer) IS
    'the factor of a kernel on the graph of these edges, on so many landmarks';

CREATE AGGREGATE @extschema@.gp_factor(
    src bigint, dst bigint, weight double precision, kernel @extschema@.gp_kernel) (
    SFUNC = gnngp_internal.gp_factor_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
    FINALFUNC = gnngp_internal.gp_factor_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, double precision, @extschema@.gp_kernel) IS
    'the factor of a kernel on the graph of these edges with weights';

CREATE AGGREGATE @extschema@.gp_factor(
    src bigint, dst bigint, weight double precision, kernel @extschema@.gp_kernel, landmarks integer) (
    SFUNC = gnngp_internal.gp_factor_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
    FINALFUNC = gnngp_internal.gp_factor_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.gp_factor(bigint, bigint, double precision, @extschema@.gp_kernel, integer) IS
    'the factor of a kernel on the graph of these edges with weights, on so many landmarks';

-- Functions on values
CREATE FUNCTION @extschema@.gp_factor(
    graph @extschema@.gp_graph, features @extschema@.gp_features, kernel @extschema@.gp_kernel,
    landmarks integer DEFAULT NULL, seed bigint DEFAULT 0)
RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor' LANGUAGE C STABLE PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION @extschema@.gp_factor(@extschema@.gp_graph, @extschema@.gp_features, @extschema@.gp_kernel, integer, bigint) IS
    'the factor of a kernel on a graph and the features of its nodes; without features, on its structure';

CREATE FUNCTION @extschema@.gp_factor_predict(
    factor @extschema@.gp_factor, nodes bigint[], classes text[],
    top integer DEFAULT 1, nugget double precision DEFAULT NULL)
RETURNS TABLE (
    node bigint, class text, score double precision, variance double precision, probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_factor_predict' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.gp_factor_predict(@extschema@.gp_factor, bigint[], text[], integer, double precision) IS
    'the best classes of the nodes of a factor, some of which are labelled; nothing is stored';

CREATE FUNCTION @extschema@.gp_factor_rows(factor @extschema@.gp_factor) RETURNS TABLE (node bigint, q real[])
AS 'MODULE_PATHNAME', 'gnngp_factor_rows' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1000;
COMMENT ON FUNCTION @extschema@.gp_factor_rows(@extschema@.gp_factor) IS 'the rows of a factor, by node';

CREATE FUNCTION @extschema@.gp_kernel_value(factor @extschema@.gp_factor, a bigint, b bigint)
RETURNS double precision
AS 'MODULE_PATHNAME', 'gnngp_kernel_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION @extschema@.gp_kernel_value(@extschema@.gp_factor, bigint, bigint) IS
    'the covariance of two nodes by a factor';

CREATE FUNCTION @extschema@.gp_rank(factor @extschema@.gp_factor) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_factor_rank' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.gp_rank(@extschema@.gp_factor) IS 'the length of the rows of a factor';

CREATE FUNCTION @extschema@.gp_nodes(graph @extschema@.gp_graph) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_graph_nodes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.gp_nodes(@extschema@.gp_graph) IS 'how many nodes a graph has';

CREATE FUNCTION @extschema@.gp_nodes(features @extschema@.gp_features) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_features_nodes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.gp_nodes(@extschema@.gp_features) IS 'how many nodes have features';

CREATE FUNCTION @extschema@.gp_nodes(factor @extschema@.gp_factor) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_factor_nodes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.gp_nodes(@extschema@.gp_factor) IS 'how many nodes a factor has';

CREATE FUNCTION @extschema@.gp_edges(graph @extschema@.gp_graph) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_graph_edges' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.gp_edges(@extschema@.gp_graph) IS 'how many edges a graph has';
