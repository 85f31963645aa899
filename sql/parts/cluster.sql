-- Groups of nodes

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (node bigint, cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, integer, @extschema@.gp_kernel, bigint, text) IS
    'group the nodes of a graph with integer ids by kernel k-means, of a kernel or of what a method learns; stores nothing';

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    nodes anyarray,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node anyelement,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, anyarray, integer, @extschema@.gp_kernel, bigint, text) IS
    'the same, with the rows of these nodes, of any type: gp_cluster(''g'', ARRAY[1, 2], 5)';

-- Spelled out for integers, for which named arguments then come in any order: where a
-- type is found out from an argument, PostgreSQL takes it by its place in the call.
CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    nodes bigint[],
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node bigint,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, bigint[], integer, @extschema@.gp_kernel, bigint, text) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    nodes integer[],
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node integer,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, integer[], integer, @extschema@.gp_kernel, bigint, text) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    nodes smallint[],
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node smallint,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, smallint[], integer, @extschema@.gp_kernel, bigint, text) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    id anynonarray,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node anynonarray,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, anynonarray, integer, @extschema@.gp_kernel, bigint, text) IS
    'the same, with the row of one node, or of all where id is NULL of a type: gp_cluster(''g'', NULL::uuid, 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    id text,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node text,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, text, integer, @extschema@.gp_kernel, bigint, text) IS
    'the same, with the row of one node by the text of its id: gp_cluster(''g'', ''alice'', 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_cluster(
    graph text,
    nodes @extschema@.gp_node_list,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0,
    method text DEFAULT 'gp')
RETURNS TABLE (
    node bigint,
    cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, @extschema@.gp_node_list, integer, @extschema@.gp_kernel, bigint, text) IS
    'the same, with the rows of nodes that a literal lists: gp_cluster(''g'', nodes => ''{1,2}'', clusters => 5)';
