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
--forms gp_cluster('g', %, 5): the rows of
