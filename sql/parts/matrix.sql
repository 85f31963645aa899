-- Matrices in pieces, which low-rank fits over many tables or servers are made of

CREATE CAST (@extschema@.gp_features AS gnngp_internal.gp_matrix) WITHOUT FUNCTION;
COMMENT ON CAST (@extschema@.gp_features AS gnngp_internal.gp_matrix) IS 'features are a matrix';

CREATE CAST (@extschema@.gp_factor AS gnngp_internal.gp_matrix) WITHOUT FUNCTION;
COMMENT ON CAST (@extschema@.gp_factor AS gnngp_internal.gp_matrix) IS 'a factor is a matrix';

CREATE FUNCTION gnngp_internal.gp_rows(
    matrix gnngp_internal.gp_matrix,
    ids bigint[])
RETURNS gnngp_internal.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_rows' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION gnngp_internal.gp_rows(gnngp_internal.gp_matrix, bigint[]) IS
    'the rows of a matrix that have these ids, which ascend';

CREATE FUNCTION gnngp_internal.gp_split(
    matrix gnngp_internal.gp_matrix,
    width integer)
RETURNS TABLE (
    place integer,
    columns gnngp_internal.gp_matrix)
AS 'MODULE_PATHNAME', 'gnngp_matrix_split' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION gnngp_internal.gp_split(gnngp_internal.gp_matrix, integer) IS
    'a matrix in groups of so many columns';

CREATE FUNCTION gnngp_internal.gp_step(
    rows gnngp_internal.gp_matrix,
    kernel @extschema@.gp_kernel,
    landmarks gnngp_internal.gp_matrix,
    root gnngp_internal.gp_matrix DEFAULT NULL,
    weights gnngp_internal.gp_matrix DEFAULT NULL)
RETURNS gnngp_internal.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION gnngp_internal.gp_step(gnngp_internal.gp_matrix, @extschema@.gp_kernel, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix) IS
    'the covariances of rows with landmarks by a kernel without sums over neighbours; rows are divided by a triangular root first, and covariances multiplied by weights last';

CREATE FUNCTION gnngp_internal.gp_operate_accum(internal, gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[], bigint[])
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_operate_accum' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_operate_accum(internal, gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[], bigint[]) IS
    'implementation of the aggregate gp_operate';

CREATE FUNCTION gnngp_internal.gp_operate_final(internal) RETURNS gnngp_internal.gp_matrix[]
AS 'MODULE_PATHNAME', 'gnngp_operate_final' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION gnngp_internal.gp_operate_final(internal) IS
    'implementation of the aggregate gp_operate';

CREATE AGGREGATE gnngp_internal.gp_operate(gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[], bigint[]) (
    SFUNC = gnngp_internal.gp_operate_accum,
    STYPE = internal,
    SSPACE = 16777216,
    FINALFUNC = gnngp_internal.gp_operate_final, FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = safe
);
COMMENT ON AGGREGATE gnngp_internal.gp_operate(gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[], bigint[]) IS
    'a linear operator of the kernel language, such as A*X0, times columns that have a row for each node, in pieces of rows; edges are the blocks g of a table (chunk, g); a matrix for each chunk of rows by bounds of their ids, of all rows (NULL) or those that are wanted';

CREATE FUNCTION gnngp_internal.gp_degrees_accum(internal, gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[])
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_operate_accum' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_degrees_accum(internal, gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[]) IS
    'implementation of the aggregate gp_degrees';

CREATE FUNCTION gnngp_internal.gp_degrees_final(internal) RETURNS gnngp_internal.gp_matrix[]
AS 'MODULE_PATHNAME', 'gnngp_degrees_final' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION gnngp_internal.gp_degrees_final(internal) IS
    'implementation of the aggregate gp_degrees';

CREATE AGGREGATE gnngp_internal.gp_degrees(gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[]) (
    SFUNC = gnngp_internal.gp_degrees_accum,
    STYPE = internal,
    FINALFUNC = gnngp_internal.gp_degrees_final, FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = safe
);
COMMENT ON AGGREGATE gnngp_internal.gp_degrees(gnngp_internal.gp_matrix, oid, @extschema@.gp_kernel, bigint[]) IS
    'how many neighbours each node has, and how many of them are labelled, which a column of ones and zeros says, in pieces of rows; a matrix for each chunk, or NULL where edges lead to other nodes; the graph is kept for operators of the kernel';

CREATE FUNCTION gnngp_internal.gp_take_edge(bounds bigint[], src bigint, dst bigint)
RETURNS double precision
AS 'MODULE_PATHNAME', 'gnngp_take_edge' LANGUAGE C PARALLEL UNSAFE COST 1;
COMMENT ON FUNCTION gnngp_internal.gp_take_edge(bigint[], bigint, bigint) IS
    'takes an edge into the session, for a chunk by bounds of smaller ends: 1, or 0 for a loop; NaN where the row is no edge';

CREATE FUNCTION gnngp_internal.gp_take_edge(bounds bigint[], src bigint, dst bigint, weight double precision)
RETURNS double precision
AS 'MODULE_PATHNAME', 'gnngp_take_edge' LANGUAGE C PARALLEL UNSAFE COST 1;
COMMENT ON FUNCTION gnngp_internal.gp_take_edge(bigint[], bigint, bigint, double precision) IS
    'takes an edge that has a weight';

CREATE FUNCTION gnngp_internal.gp_taken_edges(
    asked integer,
    keys integer[])
RETURNS TABLE (
    pk integer,
    chunk integer,
    g @extschema@.gp_graph,
    edges double precision)
AS 'MODULE_PATHNAME', 'gnngp_taken_edges' LANGUAGE C STRICT PARALLEL UNSAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION gnngp_internal.gp_taken_edges(integer, integer[]) IS
    'for each key the edges that the session has taken, in a graph for each chunk, and how many they were; they are taken no more';

CREATE FUNCTION gnngp_internal.gp_apply(
    rows gnngp_internal.gp_matrix,
    weights gnngp_internal.gp_matrix)
RETURNS gnngp_internal.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_apply' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION gnngp_internal.gp_apply(gnngp_internal.gp_matrix, gnngp_internal.gp_matrix) IS
    'rows times weights, whose last row may be a constant';

CREATE FUNCTION gnngp_internal.gp_squares(
    matrix gnngp_internal.gp_matrix,
    columns bigint)
RETURNS gnngp_internal.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_squares' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION gnngp_internal.gp_squares(gnngp_internal.gp_matrix, bigint) IS
    'the sum of squares of the first so many columns, before the others';

CREATE FUNCTION gnngp_internal.gp_glue_accum(internal, integer, gnngp_internal.gp_matrix)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_glue_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_glue_accum(internal, integer, gnngp_internal.gp_matrix) IS
    'implementation of the aggregate gp_glue';

CREATE FUNCTION gnngp_internal.gp_glue_final(internal) RETURNS gnngp_internal.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_glue_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_glue_final(internal) IS
    'implementation of the aggregate gp_glue';

CREATE AGGREGATE gnngp_internal.gp_glue(integer, gnngp_internal.gp_matrix) (
    SFUNC = gnngp_internal.gp_glue_accum,
    STYPE = internal,
    SSPACE = 1048576,
    FINALFUNC = gnngp_internal.gp_glue_final, FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = safe
);
COMMENT ON AGGREGATE gnngp_internal.gp_glue(integer, gnngp_internal.gp_matrix) IS
    'the columns of matrices with the same ids side by side, in the order of their places';

CREATE FUNCTION gnngp_internal.gp_gram_accum(internal, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_gram_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION gnngp_internal.gp_gram_accum(internal, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix) IS
    'implementation of the aggregate gp_gram';

CREATE FUNCTION gnngp_internal.gp_gram_final(internal) RETURNS gnngp_internal.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_gram_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_gram_final(internal) IS
    'implementation of the aggregate gp_gram';

CREATE AGGREGATE gnngp_internal.gp_gram(gnngp_internal.gp_matrix, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix) (
    SFUNC = gnngp_internal.gp_gram_accum,
    STYPE = internal,
    SSPACE = 1048576,
    FINALFUNC = gnngp_internal.gp_gram_final, FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = safe
);
COMMENT ON AGGREGATE gnngp_internal.gp_gram(gnngp_internal.gp_matrix, gnngp_internal.gp_matrix, gnngp_internal.gp_matrix) IS
    'Q''Q beside Q''y of the rows that y has, in double precision; rows are divided by a triangular root first, NULL for none';

CREATE FUNCTION gnngp_internal.gp_moments_accum(double precision[], double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'gnngp_moments_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION gnngp_internal.gp_moments_accum(double precision[], double precision[]) IS
    'implementation of the aggregate gp_moments';

CREATE FUNCTION gnngp_internal.gp_moments_combine(double precision[], double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'gnngp_moments_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION gnngp_internal.gp_moments_combine(double precision[], double precision[]) IS
    'implementation of the aggregate gp_moments';

CREATE AGGREGATE gnngp_internal.gp_moments(double precision[]) (
    SFUNC = gnngp_internal.gp_moments_accum,
    STYPE = double precision[],
    COMBINEFUNC = gnngp_internal.gp_moments_combine,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE gnngp_internal.gp_moments(double precision[]) IS
    'of arrays of one length: rows, the lowest squared length above 0, the highest, whether all numbers are 0 or 1, means, sums of squared differences';
