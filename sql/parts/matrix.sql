-- Matrices in pieces, which low-rank fits over many tables or servers are made of

CREATE TYPE @extschema@.gp_matrix;

CREATE FUNCTION @extschema@.gp_matrix_in(cstring)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_matrix_in(cstring) IS
    'read a matrix from text, which is base64';

CREATE FUNCTION @extschema@.gp_matrix_out(@extschema@.gp_matrix)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_value_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_matrix_out(@extschema@.gp_matrix) IS
    'a matrix as text, which is base64';

CREATE FUNCTION @extschema@.gp_matrix_recv(internal)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_matrix_recv(internal) IS
    'read a matrix from its binary form';

CREATE FUNCTION @extschema@.gp_matrix_send(@extschema@.gp_matrix)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_matrix_send(@extschema@.gp_matrix) IS
    'the binary form of a matrix';

CREATE TYPE @extschema@.gp_matrix (
    INPUT = @extschema@.gp_matrix_in,
    OUTPUT = @extschema@.gp_matrix_out,
    RECEIVE = @extschema@.gp_matrix_recv,
    SEND = @extschema@.gp_matrix_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);

COMMENT ON TYPE @extschema@.gp_matrix IS
    'a matrix as a value: a row of numbers for each id, in single or double precision';

CREATE CAST (@extschema@.gp_features AS @extschema@.gp_matrix) WITHOUT FUNCTION;
COMMENT ON CAST (@extschema@.gp_features AS @extschema@.gp_matrix) IS 'features are a matrix';

CREATE CAST (@extschema@.gp_factor AS @extschema@.gp_matrix) WITHOUT FUNCTION;
COMMENT ON CAST (@extschema@.gp_factor AS @extschema@.gp_matrix) IS 'a factor is a matrix';

CREATE FUNCTION @extschema@.gp_rows(
    matrix @extschema@.gp_matrix,
    ids bigint[])
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION @extschema@.gp_rows(@extschema@.gp_matrix, bigint[]) IS
    'the rows of a matrix that have these ids, which ascend';

CREATE FUNCTION @extschema@.gp_split(
    matrix @extschema@.gp_matrix,
    width integer)
RETURNS TABLE (
    place integer,
    columns @extschema@.gp_matrix)
AS 'MODULE_PATHNAME', 'gnngp_matrix_split'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_split(@extschema@.gp_matrix, integer) IS
    'a matrix in groups of so many columns';

CREATE FUNCTION @extschema@.gp_step(
    rows @extschema@.gp_matrix,
    kernel @extschema@.gp_kernel,
    landmarks @extschema@.gp_matrix,
    root @extschema@.gp_matrix DEFAULT NULL)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_step'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_step(@extschema@.gp_matrix, @extschema@.gp_kernel, @extschema@.gp_matrix, @extschema@.gp_matrix) IS
    'the covariances of rows with landmarks by a kernel without sums over neighbours; rows are divided by a triangular root first';

CREATE FUNCTION @extschema@.gp_spread(
    columns @extschema@.gp_matrix,
    graph @extschema@.gp_graph[],
    kernel @extschema@.gp_kernel,
    bounds bigint[])
RETURNS TABLE (
    part integer,
    rows @extschema@.gp_matrix)
AS 'MODULE_PATHNAME', 'gnngp_matrix_spread'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_spread(@extschema@.gp_matrix, @extschema@.gp_graph[], @extschema@.gp_kernel, bigint[]) IS
    'a linear operator of the kernel language, such as A*X0, times columns that have a row for each node; in parts of rows by bounds of their ids';

CREATE FUNCTION @extschema@.gp_apply(
    rows @extschema@.gp_matrix,
    weights @extschema@.gp_matrix,
    root @extschema@.gp_matrix DEFAULT NULL)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_matrix_apply'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_apply(@extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix) IS
    'rows times weights; with a triangular root also the squared lengths of rows divided by it, and of the rows';

CREATE FUNCTION @extschema@.gp_stack_accum(internal, @extschema@.gp_matrix)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_stack_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_stack_accum(internal, @extschema@.gp_matrix) IS
    'implementation of the aggregate gp_stack';

CREATE FUNCTION @extschema@.gp_stack_final(internal)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_stack_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_stack_final(internal) IS
    'implementation of the aggregate gp_stack';

CREATE AGGREGATE @extschema@.gp_stack(@extschema@.gp_matrix) (
    SFUNC = @extschema@.gp_stack_accum,
    STYPE = internal,
    SSPACE = 16777216,
    FINALFUNC = @extschema@.gp_stack_final,
    PARALLEL = safe
);

COMMENT ON AGGREGATE @extschema@.gp_stack(@extschema@.gp_matrix) IS
    'the rows of all matrices as one, in the order of their ids';

CREATE FUNCTION @extschema@.gp_glue_accum(internal, integer, @extschema@.gp_matrix)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_glue_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_glue_accum(internal, integer, @extschema@.gp_matrix) IS
    'implementation of the aggregate gp_glue';

CREATE FUNCTION @extschema@.gp_glue_final(internal)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_glue_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_glue_final(internal) IS
    'implementation of the aggregate gp_glue';

CREATE AGGREGATE @extschema@.gp_glue(integer, @extschema@.gp_matrix) (
    SFUNC = @extschema@.gp_glue_accum,
    STYPE = internal,
    SSPACE = 1048576,
    FINALFUNC = @extschema@.gp_glue_final,
    PARALLEL = safe
);

COMMENT ON AGGREGATE @extschema@.gp_glue(integer, @extschema@.gp_matrix) IS
    'the columns of matrices with the same ids side by side, in the order of their places';

CREATE FUNCTION @extschema@.gp_gram_accum(@extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_gram_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_gram_accum(@extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix) IS
    'implementation of the aggregate gp_gram';

CREATE FUNCTION @extschema@.gp_gram_combine(@extschema@.gp_matrix, @extschema@.gp_matrix)
RETURNS @extschema@.gp_matrix
AS 'MODULE_PATHNAME', 'gnngp_gram_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION @extschema@.gp_gram_combine(@extschema@.gp_matrix, @extschema@.gp_matrix) IS
    'implementation of the aggregate gp_gram';

CREATE AGGREGATE @extschema@.gp_gram(@extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix) (
    SFUNC = @extschema@.gp_gram_accum,
    STYPE = @extschema@.gp_matrix,
    COMBINEFUNC = @extschema@.gp_gram_combine,
    PARALLEL = safe
);

COMMENT ON AGGREGATE @extschema@.gp_gram(@extschema@.gp_matrix, @extschema@.gp_matrix, @extschema@.gp_matrix) IS
    'Q''Q beside Q''y of the rows that y has, in double precision; rows are divided by a triangular root first, NULL for none';

CREATE FUNCTION @extschema@.gp_solve(
    nodes @extschema@.gp_matrix[],
    graph @extschema@.gp_graph[],
    kernel @extschema@.gp_kernel,
    classes integer,
    nugget double precision,
    mean_diagonal double precision,
    seed bigint,
    first integer,
    last integer,
    bounds bigint[])
RETURNS TABLE (
    what text,
    part integer,
    rows @extschema@.gp_matrix)
AS 'MODULE_PATHNAME', 'gnngp_matrix_solve'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_solve(@extschema@.gp_matrix[], @extschema@.gp_graph[], @extschema@.gp_kernel, integer, double precision, double precision, bigint, integer, integer, bigint[]) IS
    'a share of the posterior of a Laplacian kernel by conjugate gradients: some bands of its right sides';

CREATE FUNCTION @extschema@.gp_answers(
    rows @extschema@.gp_matrix[],
    labelled @extschema@.gp_matrix,
    layout integer[],
    figures double precision[],
    classes text[])
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision,
    packed bytea)
AS 'MODULE_PATHNAME', 'gnngp_matrix_answers'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_answers(@extschema@.gp_matrix[], @extschema@.gp_matrix, integer[], double precision[], text[]) IS
    'the predictions of some nodes, as a table of predictions has them, from what a regression says of their rows';
