\echo Use "ALTER EXTENSION gnngp UPDATE" to load this file. \quit
--
-- From 0.1.0 to 0.2.0.  What this makes equals what the script of 0.2.0 makes,
-- object by object: test/t/010_upgrade.pl tells what does not.
--
-- Views are replaced, not dropped: others may stand on them.

-- 1. Roles by oid instead of by name

-- The type of roles in the tables of graphs and models.
--
-- A value is a role's oid, so that a role which is renamed keeps what it has and
-- a new role of an old name inherits nothing.  Its text is the role's name of
-- today, so that a dump can be restored where roles have other oids.

CREATE TYPE @extschema@.gp_role;

CREATE FUNCTION @extschema@.gp_role_in(cstring)
RETURNS @extschema@.gp_role
AS 'MODULE_PATHNAME', 'gnngp_role_in'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_in(cstring) IS
    'the role of a name, or public; a name without a role is kept as that of a role that is gone';

CREATE FUNCTION @extschema@.gp_role_out(@extschema@.gp_role)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_role_out'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_out(@extschema@.gp_role) IS
    'the name that a role has now, or pg_gone: and the last known name of a role that is gone';

CREATE FUNCTION @extschema@.gp_role_recv(internal)
RETURNS @extschema@.gp_role
AS 'MODULE_PATHNAME', 'gnngp_role_recv'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_recv(internal) IS
    'read a role from its binary form, which is text';

CREATE FUNCTION @extschema@.gp_role_send(@extschema@.gp_role)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_role_send'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_send(@extschema@.gp_role) IS
    'the binary form of a role, which is text';

-- Plain storage: the functions look into values without unpacking them.
CREATE TYPE @extschema@.gp_role (
    INPUT = @extschema@.gp_role_in,
    OUTPUT = @extschema@.gp_role_out,
    RECEIVE = @extschema@.gp_role_recv,
    SEND = @extschema@.gp_role_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = plain
);

COMMENT ON TYPE @extschema@.gp_role IS
    'role that owns a graph or model or may read one: its oid, shown as its name';

CREATE FUNCTION @extschema@.gp_role_oid(@extschema@.gp_role)
RETURNS oid
AS 'MODULE_PATHNAME', 'gnngp_role_oid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_oid(@extschema@.gp_role) IS
    'for indexes and policies: the oid of a role as it was stored; 0 for public, NULL for a name that had no role';

CREATE FUNCTION @extschema@.gp_role_name(@extschema@.gp_role)
RETURNS name
AS 'MODULE_PATHNAME', 'gnngp_role_name'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_name(@extschema@.gp_role) IS
    'for views: the text of a role as a name';

CREATE FUNCTION @extschema@.gp_role_exists(@extschema@.gp_role)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_role_exists'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_role_exists(@extschema@.gp_role) IS
    'for policies: whether a role exists, as public always does';

-- A column in use by a view or a policy keeps its type.
CREATE OR REPLACE VIEW @extschema@.gp_graphs WITH (security_invoker = true) AS
    SELECT g.name AS graph,
           NULL::pg_catalog.name AS owner,
           CASE WHEN n.oid IS NULL THEN 'missing' ELSE g.nodes::pg_catalog.text END AS nodes,
           CASE WHEN e.oid IS NULL THEN 'missing' ELSE g.edges::pg_catalog.text END AS edges,
           g.id_column AS id,
           g.features,
           g.target,
           g.src,
           g.dst,
           g.weight,
           g.directed,
           CASE WHEN g.sparse_features IS NOT NULL AND s.oid IS NULL THEN 'missing'
                ELSE g.sparse_features::pg_catalog.text END AS sparse_features,
           g.created
    FROM @extschema@.gp_graph_catalog g
        LEFT JOIN pg_catalog.pg_class n ON n.oid = g.nodes
        LEFT JOIN pg_catalog.pg_class e ON e.oid = g.edges
        LEFT JOIN pg_catalog.pg_class s ON s.oid = g.sparse_features;

CREATE OR REPLACE VIEW @extschema@.gp_models WITH (security_invoker = true) AS
    SELECT m.name AS model,
           NULL::pg_catalog.name AS owner,
           g.name AS graph,
           m.task,
           @extschema@.gp_kernel_as_stored(m.asked_kernel) AS kernel,
           m.strategy,
           m.device,
           coalesce(m.nodes, m.link_nodes) AS nodes,
           coalesce(m.edges, m.link_edges) AS edges,
           m.features,
           nullif(m.classes, 0) AS classes,
           m.labelled,
           nullif(m.landmarks, 0) AS landmarks,
           m.nugget,
           m.log_marginal_likelihood,
           m.loo_score,
           m.seconds,
           m.peak_bytes,
           m.fitted,
           m.mean_diag AS mean_diagonal,
           m.scale,
           nullif(m.jitter, 0) AS jitter,
           CASE WHEN m.exact_diagonal THEN 'exact' WHEN m.task IS NOT NULL THEN 'low rank' END AS variances,
           m.link_method,
           @extschema@.gp_kernel_as_stored(m.link_asked_kernel) AS link_kernel,
           m.link_pairs,
           m.link_auc,
           m.link_average_precision,
           nullif(m.link_steps, 0) AS link_steps,
           m.link_fitted
    FROM @extschema@.gp_model_catalog m
        LEFT JOIN @extschema@.gp_graph_catalog g ON g.id = m.graph;

CREATE OR REPLACE VIEW @extschema@.gp_refreshes WITH (security_invoker = true) AS
    SELECT m.name AS model,
           l.started,
           l.ended,
           l.outcome,
           l.message,
           NULL::pg_catalog.name AS owner
    FROM @extschema@.gp_refresh_log l
        JOIN @extschema@.gp_model_catalog m ON m.id = l.model;

DROP POLICY visible ON @extschema@.gp_graph_catalog;
DROP POLICY visible ON @extschema@.gp_grant_catalog;
DROP POLICY visible ON @extschema@.gp_model_catalog;
DROP POLICY visible ON @extschema@.gp_refresh_log;

ALTER TABLE @extschema@.gp_graph_catalog
    DROP CONSTRAINT gp_graph_catalog_name_owner_key,
    ALTER COLUMN owner TYPE @extschema@.gp_role USING owner::text::@extschema@.gp_role;
ALTER TABLE @extschema@.gp_model_catalog
    DROP CONSTRAINT gp_model_catalog_name_owner_key,
    ALTER COLUMN owner TYPE @extschema@.gp_role USING owner::text::@extschema@.gp_role;
ALTER TABLE @extschema@.gp_grant_catalog
    DROP CONSTRAINT gp_grant_catalog_pkey,
    ALTER COLUMN model SET NOT NULL,
    ALTER COLUMN owner TYPE @extschema@.gp_role USING owner::text::@extschema@.gp_role,
    ALTER COLUMN grantee TYPE @extschema@.gp_role USING grantee::text::@extschema@.gp_role,
    ALTER COLUMN grantee SET NOT NULL;
ALTER TABLE @extschema@.gp_grant_catalog ADD COLUMN id bigserial PRIMARY KEY;

CREATE UNIQUE INDEX gp_graph_catalog_owner_name
    ON @extschema@.gp_graph_catalog (name, @extschema@.gp_role_oid(owner));
CREATE UNIQUE INDEX gp_model_catalog_owner_name
    ON @extschema@.gp_model_catalog (name, @extschema@.gp_role_oid(owner));
CREATE UNIQUE INDEX gp_grant_catalog_model_grantee
    ON @extschema@.gp_grant_catalog (model, @extschema@.gp_role_oid(grantee));

GRANT SELECT ON SEQUENCE @extschema@.gp_grant_catalog_id_seq TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('@extschema@.gp_grant_catalog_id_seq', '');

CREATE POLICY visible ON @extschema@.gp_graph_catalog FOR SELECT TO PUBLIC
    USING (pg_catalog.pg_has_role(@extschema@.gp_role_oid(owner), 'USAGE'));

CREATE POLICY visible ON @extschema@.gp_grant_catalog FOR SELECT TO PUBLIC
    USING (pg_catalog.pg_has_role(@extschema@.gp_role_oid(owner), 'USAGE')
           OR (@extschema@.gp_role_oid(grantee) = 0
               OR pg_catalog.pg_has_role(@extschema@.gp_role_oid(grantee), 'USAGE'))
              AND @extschema@.gp_role_exists(owner));

-- A grant is visible to its grantee and to the owner: so is the model.  Questions
-- about one row are asked of indexes: who sees thousands of models must not wait
-- for all of them to be listed.
CREATE POLICY visible ON @extschema@.gp_model_catalog FOR SELECT TO PUBLIC
    USING (pg_catalog.pg_has_role(@extschema@.gp_role_oid(owner), 'USAGE')
           OR EXISTS (SELECT FROM @extschema@.gp_grant_catalog g
                      WHERE g.model = gp_model_catalog.id));

-- The messages of errors quote the owner's data: no grantee sees them.
CREATE POLICY visible ON @extschema@.gp_refresh_log FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM @extschema@.gp_model_catalog m
                   WHERE m.id = gp_refresh_log.model
                     AND pg_catalog.pg_has_role(@extschema@.gp_role_oid(m.owner), 'USAGE')));

DROP FUNCTION @extschema@.gp_is_refreshing(name, text);

CREATE FUNCTION @extschema@.gp_is_refreshing(model bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_model_is_refreshing'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_is_refreshing(bigint) IS
    'for the view gp_refreshes: whether some session refreshes this model; false for one that the caller may not read';

CREATE FUNCTION @extschema@.gp_set_owner(graph text, new_owner name)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_set_owner'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_set_owner(text, name) IS
    'give a graph with its models, their grants and logs to another role';

-- 2. Views as they are now

CREATE OR REPLACE VIEW @extschema@.gp_graphs WITH (security_invoker = true) AS
    SELECT g.name AS graph,
           @extschema@.gp_role_name(g.owner) AS owner,
           CASE WHEN n.oid IS NULL THEN 'missing' ELSE g.nodes::pg_catalog.text END AS nodes,
           CASE WHEN e.oid IS NULL THEN 'missing' ELSE g.edges::pg_catalog.text END AS edges,
           g.id_column AS id,
           g.features,
           g.target,
           g.src,
           g.dst,
           g.weight,
           g.directed,
           CASE WHEN g.sparse_features IS NOT NULL AND s.oid IS NULL THEN 'missing'
                ELSE g.sparse_features::pg_catalog.text END AS sparse_features,
           g.created
    FROM @extschema@.gp_graph_catalog g
        LEFT JOIN pg_catalog.pg_class n ON n.oid = g.nodes
        LEFT JOIN pg_catalog.pg_class e ON e.oid = g.edges
        LEFT JOIN pg_catalog.pg_class s ON s.oid = g.sparse_features;

CREATE OR REPLACE VIEW @extschema@.gp_models WITH (security_invoker = true) AS
    SELECT m.name AS model,
           @extschema@.gp_role_name(m.owner) AS owner,
           g.name AS graph,
           m.task,
           @extschema@.gp_kernel_as_stored(m.asked_kernel) AS kernel,
           m.strategy,
           m.device,
           coalesce(m.nodes, m.link_nodes) AS nodes,
           coalesce(m.edges, m.link_edges) AS edges,
           m.features,
           nullif(m.classes, 0) AS classes,
           m.labelled,
           nullif(m.landmarks, 0) AS landmarks,
           m.nugget,
           m.log_marginal_likelihood,
           m.loo_score,
           m.seconds,
           m.peak_bytes,
           m.fitted,
           m.mean_diag AS mean_diagonal,
           m.scale,
           nullif(m.jitter, 0) AS jitter,
           CASE WHEN m.exact_diagonal THEN 'exact' WHEN m.task IS NOT NULL THEN 'low rank' END AS variances,
           m.link_method,
           @extschema@.gp_kernel_as_stored(m.link_asked_kernel) AS link_kernel,
           m.link_pairs,
           m.link_auc,
           m.link_average_precision,
           nullif(m.link_steps, 0) AS link_steps,
           m.link_fitted
    FROM @extschema@.gp_model_catalog m
        LEFT JOIN @extschema@.gp_graph_catalog g ON g.id = m.graph;

CREATE OR REPLACE VIEW @extschema@.gp_refreshes WITH (security_invoker = true) AS
    SELECT m.name AS model,
           l.started,
           l.ended,
           CASE WHEN l.outcome = 'running' AND NOT @extschema@.gp_is_refreshing(m.id)
                THEN 'interrupted' ELSE l.outcome END AS outcome,
           l.message,
           @extschema@.gp_role_name(m.owner) AS owner
    FROM @extschema@.gp_refresh_log l
        JOIN @extschema@.gp_model_catalog m ON m.id = l.model;
