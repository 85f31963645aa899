-- Groups of nodes

CREATE FUNCTION @extschema@.gp_cluster(
    graph text,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0)
RETURNS TABLE (node bigint, cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, integer, @extschema@.gp_kernel, bigint) IS
    'group the nodes of a graph with integer ids by kernel k-means; stores nothing';

CREATE FUNCTION @extschema@.gp_cluster(
    graph text,
    id anyelement,
    clusters integer,
    kernel @extschema@.gp_kernel DEFAULT 'laplacian(d=2)',
    seed bigint DEFAULT 0)
RETURNS TABLE (node anyelement, cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster_typed'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_cluster(text, anyelement, integer, @extschema@.gp_kernel, bigint) IS
    'group the nodes of a graph by kernel k-means, with ids of the type of id; stores nothing';
