
-- Output, equality, order and hashes of values that are bytes: functions of bytea and text do

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_out(@extschema@.gp_kernel)
RETURNS cstring
AS 'textout'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_out(@extschema@.gp_kernel) IS
    'the canonical text of a kernel';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_send(@extschema@.gp_kernel)
RETURNS bytea
AS 'textsend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_send(@extschema@.gp_kernel) IS
    'the binary form of a kernel, which is text';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_eq(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'byteaeq'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_eq(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator =';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_ne(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'byteane'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_ne(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator <>';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_lt(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'bytealt'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_lt(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator <';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_le(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'byteale'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_le(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator <=';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_gt(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'byteagt'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_gt(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator >';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_ge(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS boolean
AS 'byteage'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_ge(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'implementation of the operator >=';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel)
RETURNS integer
AS 'byteacmp'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_cmp(@extschema@.gp_kernel, @extschema@.gp_kernel) IS
    'order two kernels by the bytes of their canonical texts';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_hash(@extschema@.gp_kernel)
RETURNS integer
AS 'hashvarlena'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_hash(@extschema@.gp_kernel) IS
    'hash a kernel';

CREATE OR REPLACE FUNCTION @extschema@.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_kernel_hash_extended(@extschema@.gp_kernel, bigint) IS
    'hash a kernel with a seed';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_send(@extschema@.gp_graph)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_send(@extschema@.gp_graph) IS
    'the binary form of a graph';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_send(@extschema@.gp_features)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_send(@extschema@.gp_features) IS
    'the binary form of features';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_send(@extschema@.gp_factor)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_send(@extschema@.gp_factor) IS
    'the binary form of a factor';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_state_send(@extschema@.gp_graph_state)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_state_send(@extschema@.gp_graph_state) IS
    'the binary form of a state';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_eq(@extschema@.gp_graph, @extschema@.gp_graph)
RETURNS boolean
AS 'byteaeq'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_eq(@extschema@.gp_graph, @extschema@.gp_graph) IS
    'implementation of the operator =';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_ne(@extschema@.gp_graph, @extschema@.gp_graph)
RETURNS boolean
AS 'byteane'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_ne(@extschema@.gp_graph, @extschema@.gp_graph) IS
    'implementation of the operator <>';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_hash(@extschema@.gp_graph)
RETURNS integer
AS 'hashvarlena'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_hash(@extschema@.gp_graph) IS
    'hash a graph';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint) IS
    'hash a graph with a seed';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_eq(@extschema@.gp_features, @extschema@.gp_features)
RETURNS boolean
AS 'byteaeq'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_eq(@extschema@.gp_features, @extschema@.gp_features) IS
    'implementation of the operator =';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_ne(@extschema@.gp_features, @extschema@.gp_features)
RETURNS boolean
AS 'byteane'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_ne(@extschema@.gp_features, @extschema@.gp_features) IS
    'implementation of the operator <>';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_hash(@extschema@.gp_features)
RETURNS integer
AS 'hashvarlena'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_hash(@extschema@.gp_features) IS
    'hash features';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint) IS
    'hash features with a seed';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_eq(@extschema@.gp_factor, @extschema@.gp_factor)
RETURNS boolean
AS 'byteaeq'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_eq(@extschema@.gp_factor, @extschema@.gp_factor) IS
    'implementation of the operator =';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_ne(@extschema@.gp_factor, @extschema@.gp_factor)
RETURNS boolean
AS 'byteane'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_ne(@extschema@.gp_factor, @extschema@.gp_factor) IS
    'implementation of the operator <>';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_hash(@extschema@.gp_factor)
RETURNS integer
AS 'hashvarlena'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_hash(@extschema@.gp_factor) IS
    'hash a factor';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint) IS
    'hash a factor with a seed';

-- The edges of a graph, for whoever reads them from a value

CREATE OR REPLACE FUNCTION @extschema@.gp_ends(graph @extschema@.gp_graph)
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'gnngp_graph_ends'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_ends(@extschema@.gp_graph) IS
    'the nodes that each edge of a graph joins, two by two; a node without any edge comes twice';
