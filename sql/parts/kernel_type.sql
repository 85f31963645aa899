-- The type of kernels: a value is the kernel's canonical text.

CREATE FUNCTION @extschema@.gp_kernel_in(cstring)
RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_in(cstring) IS
    'read a kernel: a preset such as gcn(layers=3), or a layer such as A*relu(X)*W + b';

CREATE FUNCTION @extschema@.gp_kernel_recv(internal)
RETURNS @extschema@.gp_kernel
AS 'MODULE_PATHNAME', 'gnngp_kernel_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_recv(internal) IS
    'read a kernel from its binary form, which is text';

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

-- Kernels are compared by their programs: spellings of one kernel are equal

--each NAME/OPERATOR: eq/= ne/<> lt/< le/<= gt/> ge/>=
CREATE FUNCTION @extschema@.gp_kernel_{NAME}(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_kernel_{NAME}'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_{NAME}(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator {OPERATOR}';

--end

CREATE FUNCTION @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS integer
AS 'MODULE_PATHNAME', 'gnngp_kernel_cmp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'order two kernels by their programs';

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
    'kernels by their programs';

CREATE OPERATOR CLASS @extschema@.gp_kernel_ops
DEFAULT FOR TYPE @extschema@.gp_kernel USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 @extschema@.gp_kernel_hash(@extschema@.gp_kernel),
    FUNCTION 2 @extschema@.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint);

COMMENT ON OPERATOR CLASS @extschema@.gp_kernel_ops USING hash IS
    'kernels by their programs';
