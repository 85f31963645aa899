-- Aggregates that make graphs, features and kernel factors, and functions on these values

-- The steps
CREATE FUNCTION gnngp_internal.gp_graph_combine(gnngp_internal.gp_graph_state, gnngp_internal.gp_graph_state)
RETURNS gnngp_internal.gp_graph_state
AS 'MODULE_PATHNAME', 'gnngp_graph_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_graph_combine(gnngp_internal.gp_graph_state, gnngp_internal.gp_graph_state) IS
    'a step of the aggregates gp_graph and gp_factor: two states become one';

CREATE FUNCTION gnngp_internal.gp_graph_final(gnngp_internal.gp_graph_state) RETURNS @extschema@.gp_graph
AS 'MODULE_PATHNAME', 'gnngp_graph_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_graph_final(gnngp_internal.gp_graph_state) IS
    'the last step of the aggregate gp_graph';

CREATE FUNCTION gnngp_internal.gp_factor_final(gnngp_internal.gp_graph_state) RETURNS @extschema@.gp_factor
AS 'MODULE_PATHNAME', 'gnngp_factor_final' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION gnngp_internal.gp_factor_final(gnngp_internal.gp_graph_state) IS
    'the last step of the aggregate gp_factor';

CREATE FUNCTION gnngp_internal.gp_features_combine(@extschema@.gp_features, @extschema@.gp_features)
RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_features_combine(@extschema@.gp_features, @extschema@.gp_features) IS
    'a step of the aggregate gp_features: two states become one';

CREATE FUNCTION gnngp_internal.gp_features_final(@extschema@.gp_features) RETURNS @extschema@.gp_features
AS 'MODULE_PATHNAME', 'gnngp_features_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_features_final(@extschema@.gp_features) IS
    'the last step of the aggregate gp_features';

-- The aggregates
DO $graphs$
DECLARE
    form text[];
BEGIN
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['', '', ''], [', weight double precision', ' with a weight', '; weights of a repeated edge add up']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_graph_accum(gnngp_internal.gp_graph_state, src bigint, dst bigint%1$s)
            RETURNS gnngp_internal.gp_graph_state
            AS 'MODULE_PATHNAME', 'gnngp_graph_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_graph_accum(gnngp_internal.gp_graph_state, src bigint, dst bigint%1$s) IS
                'a step of the aggregate gp_graph: one more edge%2$s';
            CREATE AGGREGATE %4$s.gp_graph(src bigint, dst bigint%1$s) (
                SFUNC = gnngp_internal.gp_graph_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
                FINALFUNC = gnngp_internal.gp_graph_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE);
            COMMENT ON AGGREGATE %4$s.gp_graph(src bigint, dst bigint%1$s) IS 'the undirected graph of these edges%3$s'
        $sql$, form[1], form[2], form[3], '@extschema@');
    END LOOP;
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['', '', '', '', ''], ['', ', landmarks integer', '', '', ', on so many landmarks'],
        [' weight double precision,', '', '_weighted', ' with a weight', ' with weights'],
        [' weight double precision,', ', landmarks integer', '_weighted', ' with a weight', ' with weights, on so many landmarks']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_factor_accum(
                gnngp_internal.gp_graph_state, src bigint, dst bigint,%1$s kernel %6$s.gp_kernel%2$s)
            RETURNS gnngp_internal.gp_graph_state
            AS 'MODULE_PATHNAME', 'gnngp_factor_accum%3$s' LANGUAGE C IMMUTABLE PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_factor_accum(
                gnngp_internal.gp_graph_state, src bigint, dst bigint,%1$s kernel %6$s.gp_kernel%2$s) IS
                'a step of the aggregate gp_factor: one more edge%4$s';
            CREATE AGGREGATE %6$s.gp_factor(src bigint, dst bigint,%1$s kernel %6$s.gp_kernel%2$s) (
                SFUNC = gnngp_internal.gp_factor_accum, STYPE = gnngp_internal.gp_graph_state, SSPACE = 4096,
                FINALFUNC = gnngp_internal.gp_factor_final, COMBINEFUNC = gnngp_internal.gp_graph_combine, PARALLEL = SAFE);
            COMMENT ON AGGREGATE %6$s.gp_factor(src bigint, dst bigint,%1$s kernel %6$s.gp_kernel%2$s) IS
                'the factor of a kernel on the graph of these edges%5$s'
        $sql$, form[1], form[2], form[3], form[4], form[5], '@extschema@');
    END LOOP;
END $graphs$;

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

DO $numbers$
DECLARE
    n text[];
BEGIN
    FOREACH n SLICE 1 IN ARRAY ARRAY[
        ['rank', 'factor', 'the length of the rows of a factor'], ['nodes', 'graph', 'how many nodes a graph has'],
        ['nodes', 'features', 'how many nodes have features'], ['nodes', 'factor', 'how many nodes a factor has'],
        ['edges', 'graph', 'how many edges a graph has']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION %4$s.gp_%1$s(%2$s %4$s.gp_%2$s) RETURNS bigint
            AS 'MODULE_PATHNAME', 'gnngp_%2$s_%1$s' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION %4$s.gp_%1$s(%4$s.gp_%2$s) IS %3$L
        $sql$, n[1], n[2], n[3], '@extschema@');
    END LOOP;
END $numbers$;
