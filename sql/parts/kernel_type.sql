-- The type of kernels: a value is the kernel's canonical text.  Kernels are compared by
-- their programs: spellings of one kernel are equal.

CREATE TYPE @extschema@.gp_kernel;

CREATE FUNCTION gnngp_internal.gp_kernel_in(cstring) RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_in(cstring) IS
    'read a kernel: a preset such as gcn(layers=3), or a layer such as A*relu(X)*W + b';

CREATE FUNCTION gnngp_internal.gp_kernel_out(@extschema@.gp_kernel) RETURNS cstring
AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_out(@extschema@.gp_kernel) IS 'the canonical text of a kernel';

CREATE FUNCTION gnngp_internal.gp_kernel_recv(internal) RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_recv(internal) IS 'read a kernel from its binary form, which is text';

CREATE FUNCTION gnngp_internal.gp_kernel_send(@extschema@.gp_kernel) RETURNS bytea
AS 'textsend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_send(@extschema@.gp_kernel) IS 'the binary form of a kernel, which is text';

CREATE TYPE @extschema@.gp_kernel (
    INPUT = gnngp_internal.gp_kernel_in, OUTPUT = gnngp_internal.gp_kernel_out,
    RECEIVE = gnngp_internal.gp_kernel_recv, SEND = gnngp_internal.gp_kernel_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE @extschema@.gp_kernel IS
    'covariance kernel of an infinitely wide graph neural network: a preset, or the formula of a layer';

CREATE CAST (text AS @extschema@.gp_kernel) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (text AS @extschema@.gp_kernel) IS 'read a kernel from text';

CREATE CAST (varchar AS @extschema@.gp_kernel) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (varchar AS @extschema@.gp_kernel) IS 'read a kernel from text';

-- A canonical text as a kernel, which has no blanks at its end.  It is not read, so that one row
-- which cannot be does not keep everybody from listing models.
CREATE FUNCTION gnngp_internal.gp_kernel_as_stored(text) RETURNS @extschema@.gp_kernel
AS 'rtrim1' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_as_stored(text) IS
    'for the view gp_models: the kernel of a model as it was stored, without parsing it again';

CREATE FUNCTION gnngp_internal.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel) RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_kernel_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'order two kernels by their programs';

CREATE FUNCTION gnngp_internal.gp_kernel_hash(@extschema@.gp_kernel) RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_kernel_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_hash(@extschema@.gp_kernel) IS 'hash a kernel';

CREATE FUNCTION gnngp_internal.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_kernel_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint) IS 'hash a kernel with a seed';

-- The six operators: name, symbol, commutator, negator, selectivity.
DO $operators$
DECLARE
    o text[];
BEGIN
    FOREACH o SLICE 1 IN ARRAY ARRAY[
        ['eq', '=', '=', '<>', 'eq'], ['ne', '<>', '<>', '=', 'neq'], ['lt', '<', '>', '>=', 'scalarlt'],
        ['le', '<=', '>=', '>', 'scalarle'], ['gt', '>', '<', '<=', 'scalargt'], ['ge', '>=', '<=', '<', 'scalarge']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION gnngp_internal.gp_kernel_%1$s(%7$s.gp_kernel, %7$s.gp_kernel)
            RETURNS boolean AS 'MODULE_PATHNAME', 'gnngp_kernel_%1$s' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION gnngp_internal.gp_kernel_%1$s(%7$s.gp_kernel, %7$s.gp_kernel) IS
                'implementation of the operator %2$s';
            CREATE OPERATOR %7$s.%2$s (
                LEFTARG = %7$s.gp_kernel, RIGHTARG = %7$s.gp_kernel,
                FUNCTION = gnngp_internal.gp_kernel_%1$s,
                COMMUTATOR = OPERATOR(%7$s.%3$s), NEGATOR = OPERATOR(%7$s.%4$s),
                RESTRICT = %5$ssel, JOIN = %5$sjoinsel%6$s);
            COMMENT ON OPERATOR %7$s.%2$s (%7$s.gp_kernel, %7$s.gp_kernel) IS
                'compare the programs of two kernels'
        $sql$, o[1], o[2], o[3], o[4], o[5], CASE o[1] WHEN 'eq' THEN ', HASHES, MERGES' END, '@extschema@');
    END LOOP;
END $operators$;

CREATE OPERATOR CLASS @extschema@.gp_kernel_ops
DEFAULT FOR TYPE @extschema@.gp_kernel USING btree AS
    OPERATOR 1 @extschema@.<,
    OPERATOR 2 @extschema@.<=,
    OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=,
    OPERATOR 5 @extschema@.>,
    FUNCTION 1 gnngp_internal.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel);
COMMENT ON OPERATOR CLASS @extschema@.gp_kernel_ops USING btree IS
    'kernels by their programs';

CREATE OPERATOR CLASS @extschema@.gp_kernel_ops
DEFAULT FOR TYPE @extschema@.gp_kernel USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 gnngp_internal.gp_kernel_hash(@extschema@.gp_kernel),
    FUNCTION 2 gnngp_internal.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint);
COMMENT ON OPERATOR CLASS @extschema@.gp_kernel_ops USING hash IS 'kernels by their programs';
