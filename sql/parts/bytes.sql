
-- Output, equality and hashes of values that are bytes: functions of bytea and text do

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

--each TYPE: graph features factor graph_state
CREATE OR REPLACE FUNCTION @extschema@.gp_{TYPE}_send(@extschema@.gp_{TYPE})
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_{TYPE}_send(@extschema@.gp_{TYPE}) IS
    'the binary form of gp_{TYPE}';

--end

--each TYPE: graph features factor
CREATE OR REPLACE FUNCTION @extschema@.gp_{TYPE}_eq(@extschema@.gp_{TYPE}, @extschema@.gp_{TYPE})
RETURNS boolean
AS 'byteaeq'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_{TYPE}_eq(@extschema@.gp_{TYPE}, @extschema@.gp_{TYPE}) IS
    'implementation of the operator =';

CREATE OR REPLACE FUNCTION @extschema@.gp_{TYPE}_ne(@extschema@.gp_{TYPE}, @extschema@.gp_{TYPE})
RETURNS boolean
AS 'byteane'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_{TYPE}_ne(@extschema@.gp_{TYPE}, @extschema@.gp_{TYPE}) IS
    'implementation of the operator <>';

CREATE OR REPLACE FUNCTION @extschema@.gp_{TYPE}_hash(@extschema@.gp_{TYPE})
RETURNS integer
AS 'hashvarlena'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_{TYPE}_hash(@extschema@.gp_{TYPE}) IS
    'hash gp_{TYPE}';

CREATE OR REPLACE FUNCTION @extschema@.gp_{TYPE}_hash_extended(@extschema@.gp_{TYPE}, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_{TYPE}_hash_extended(@extschema@.gp_{TYPE}, bigint) IS
    'hash gp_{TYPE} with a seed';

--end

-- The edges of a graph, for whoever reads them from a value

CREATE OR REPLACE FUNCTION @extschema@.gp_ends(graph @extschema@.gp_graph)
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'gnngp_graph_ends'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_ends(@extschema@.gp_graph) IS
    'the nodes that each edge of a graph joins, two by two; a node without any edge comes twice';
