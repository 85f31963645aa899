\echo Use "ALTER EXTENSION gnngp UPDATE" to load this file. \quit

-- Operators are looked for by their types: one that somebody made in this schema
-- before must not get into a view or a policy.
SET LOCAL search_path TO pg_catalog, pg_temp;

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
-- The type of a model's own tables in the table of models.
--
-- A value is a table's oid, as a regclass is, so that one that is renamed stays the model's.  Its text is the
-- table's name, and never a number: what a dump says of a table that it leaves out, or that
-- is gone, names none when it is restored, and no other one.

CREATE TYPE @extschema@.gp_table;

CREATE FUNCTION @extschema@.gp_table_in(cstring)
RETURNS @extschema@.gp_table
AS 'MODULE_PATHNAME', 'gnngp_table_in'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_table_in(cstring) IS
    'the table of a name with its schema; none where there is none';

CREATE FUNCTION @extschema@.gp_table_out(@extschema@.gp_table)
RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_table_out'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_table_out(@extschema@.gp_table) IS
    'the name of a table with its schema, or - for none';

CREATE TYPE @extschema@.gp_table (
    INPUT = @extschema@.gp_table_in,
    OUTPUT = @extschema@.gp_table_out,
    LIKE = pg_catalog.oid
);

COMMENT ON TYPE @extschema@.gp_table IS
    'table that belongs to a model: its oid, shown as its name';

CREATE CAST (@extschema@.gp_table AS pg_catalog.regclass) WITHOUT FUNCTION;
COMMENT ON CAST (@extschema@.gp_table AS pg_catalog.regclass) IS 'the table';

CREATE CAST (pg_catalog.regclass AS @extschema@.gp_table) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (pg_catalog.regclass AS @extschema@.gp_table) IS 'the same table';

--
-- From 0.1.0 to 0.2.0: what cannot be replaced in place.  The parts that follow
-- replace functions and views; the whole equals what the script of 0.2.0 makes,
-- object by object: test/t/010_upgrade.pl tells what does not.

-- What shows progress has one more column.
CREATE OR REPLACE VIEW @extschema@.gp_progress WITH (security_invoker = true) AS
    SELECT NULL::pg_catalog.int4 AS pid, NULL::pg_catalog.text AS model, NULL::pg_catalog.text AS phase, NULL::pg_catalog.int8 AS done,
           NULL::pg_catalog.int8 AS total, NULL::pg_catalog.timestamptz AS started;

-- Functions whose arguments changed.  What views of users stand on stays under
-- another name, and is the user's from then on: a dump then has it, too.
DO $update$
DECLARE
    old text;
BEGIN
    FOREACH old IN ARRAY ARRAY[
        'gp_create_graph(text, regclass, regclass, name, text[], name, name, name, name, boolean, regclass)',
        'gp_fit(text, text, @extschema@.gp_kernel, text, text, integer, double precision, bigint)',
        'gp_fit_links(text, text, @extschema@.gp_kernel, text, bigint)',
        'gp_predict(text, integer, boolean, bigint[])',
        'gp_predict(text, anyelement, integer, boolean)',
        'gp_predict_links(text, integer, bigint[], text)',
        'gp_predict_links(text, anyarray, integer, text)',
        'gp_predict_links(text, integer[], integer, text)',
        'gp_predict_links(text, smallint[], integer, text)',
        'gp_predict_links(text, text, integer, text)',
        'gp_score_links(text, anyarray, anyarray)',
        'gp_tune(text, @extschema@.gp_kernel[], text)',
        'gp_estimate(text, @extschema@.gp_kernel, text, integer)',
        'gp_cluster(text, integer, @extschema@.gp_kernel, bigint)',
        'gp_cluster(text, anyelement, integer, @extschema@.gp_kernel, bigint)',
        'gp_progress_rows()']
    LOOP
        BEGIN
            EXECUTE 'DROP FUNCTION @extschema@.' || old;
        EXCEPTION WHEN dependent_objects_still_exist THEN
            EXECUTE 'ALTER FUNCTION @extschema@.' || old || ' RENAME TO ' || split_part(old, '(', 1) || '_0_1';
            EXECUTE 'ALTER EXTENSION gnngp DROP FUNCTION @extschema@.' || split_part(old, '(', 1) || '_0_1('
                || split_part(old, '(', 2);
        END;
    END LOOP;
END $update$;

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
DROP POLICY visible ON @extschema@.gp_block;
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

-- "loo" tells the owner's labels one by one, "link_loo" his links, and labels can be worked out
-- from "live": no grantee sees them.
CREATE POLICY visible ON @extschema@.gp_block FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM @extschema@.gp_model_catalog m
                   WHERE m.id = gp_block.model
                     AND (gp_block.part NOT IN ('loo', 'link_loo', 'live', 'warm', 'link_warm')
                          OR pg_catalog.pg_has_role(@extschema@.gp_role_oid(m.owner), 'USAGE'))));

-- The messages of errors quote the owner's data: no grantee sees them.
CREATE POLICY visible ON @extschema@.gp_refresh_log FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM @extschema@.gp_model_catalog m
                   WHERE m.id = gp_refresh_log.model
                     AND pg_catalog.pg_has_role(@extschema@.gp_role_oid(m.owner), 'USAGE')));

-- The kernel of a model of 0.1.0 is the one that was asked for.
ALTER TABLE @extschema@.gp_model_catalog
    ADD COLUMN kernel text,
    ADD COLUMN alternatives jsonb,
    ADD COLUMN asked_method text DEFAULT 'gp',
    ADD COLUMN link_asked_keep integer,
    ADD COLUMN link_asked_min_probability double precision DEFAULT 0,
    ADD COLUMN link_kept_bytes bigint,
    ADD COLUMN asked_live boolean DEFAULT false,
    ADD COLUMN live_bytes bigint DEFAULT 0,
    ADD COLUMN predictions @extschema@.gp_table,
    ADD COLUMN predictions_past @extschema@.gp_table[],
    ADD COLUMN edges_kept @extschema@.gp_table,
    ADD COLUMN power double precision;
UPDATE @extschema@.gp_model_catalog SET kernel = asked_kernel;

-- Graphs of 0.1.0 keep the scale that they had.
ALTER TABLE @extschema@.gp_graph_catalog
    ADD COLUMN scale text NOT NULL DEFAULT 'none',
    ADD COLUMN nodes_name name[],
    ADD COLUMN edges_name name[],
    ADD COLUMN sparse_features_name name[];
ALTER TABLE @extschema@.gp_graph_catalog ALTER COLUMN scale SET DEFAULT 'auto';
UPDATE @extschema@.gp_graph_catalog g
SET nodes_name = (SELECT ARRAY[n.nspname, c.relname] FROM pg_catalog.pg_class c
                  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = g.nodes),
    edges_name = (SELECT ARRAY[n.nspname, c.relname] FROM pg_catalog.pg_class c
                  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = g.edges),
    sparse_features_name = (SELECT ARRAY[n.nspname, c.relname] FROM pg_catalog.pg_class c
                            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = g.sparse_features);

ALTER TABLE @extschema@.gp_refresh_log
    DROP CONSTRAINT gp_refresh_log_outcome_check,
    ADD CHECK (outcome IN ('running', 'succeeded', 'failed', 'refused', 'interrupted'));

DROP FUNCTION @extschema@.gp_is_refreshing(name, text);
-- Calls that name nodes have four forms: ids of any type, arrays of them, a text that
-- serves ids of every type (a literal or a parameter whose type is left open becomes
-- one), and none at all, or a literal that lists integers.  The last has a type of its
-- own: with text as well, PostgreSQL could not tell one id from a list of them.

CREATE DOMAIN @extschema@.gp_node_list AS text;

COMMENT ON DOMAIN @extschema@.gp_node_list IS
    'a literal that lists nodes with integer ids, such as ''{1,2}''';

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
    'the binary form of gp_graph';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_send(@extschema@.gp_features)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_send(@extschema@.gp_features) IS
    'the binary form of gp_features';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_send(@extschema@.gp_factor)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_send(@extschema@.gp_factor) IS
    'the binary form of gp_factor';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_state_send(@extschema@.gp_graph_state)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_state_send(@extschema@.gp_graph_state) IS
    'the binary form of gp_graph_state';


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
    'hash gp_graph';

CREATE OR REPLACE FUNCTION @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_graph_hash_extended(@extschema@.gp_graph, bigint) IS
    'hash gp_graph with a seed';

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
    'hash gp_features';

CREATE OR REPLACE FUNCTION @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_features_hash_extended(@extschema@.gp_features, bigint) IS
    'hash gp_features with a seed';

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
    'hash gp_factor';

CREATE OR REPLACE FUNCTION @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint)
RETURNS bigint
AS 'hashvarlenaextended'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_factor_hash_extended(@extschema@.gp_factor, bigint) IS
    'hash gp_factor with a seed';


-- The edges of a graph, for whoever reads them from a value

CREATE OR REPLACE FUNCTION @extschema@.gp_ends(graph @extschema@.gp_graph)
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'gnngp_graph_ends'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.gp_ends(@extschema@.gp_graph) IS
    'the nodes that each edge of a graph joins, two by two; a node without any edge comes twice';
-- Graphs

CREATE OR REPLACE FUNCTION @extschema@.gp_create_graph(
    graph text,
    nodes regclass,
    edges regclass,
    id name DEFAULT 'id',
    features text[] DEFAULT NULL,
    target name DEFAULT NULL,
    src name DEFAULT 'src',
    dst name DEFAULT 'dst',
    weight name DEFAULT NULL,
    directed boolean DEFAULT false,
    sparse_features regclass DEFAULT NULL,
    scale text DEFAULT 'auto')
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_create_graph'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_create_graph(text, regclass, regclass, name, text[], name, name, name, name, boolean, regclass, text) IS
    'name a node table and an edge table as a graph; nothing is copied; then gp_fit(graph)';

CREATE OR REPLACE FUNCTION @extschema@.gp_alter_graph(
    graph text,
    nodes regclass DEFAULT NULL,
    edges regclass DEFAULT NULL,
    id name DEFAULT NULL,
    features text[] DEFAULT NULL,
    target name DEFAULT NULL,
    src name DEFAULT NULL,
    dst name DEFAULT NULL,
    weight name DEFAULT NULL,
    directed boolean DEFAULT NULL,
    sparse_features regclass DEFAULT NULL,
    scale text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_alter_graph'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_alter_graph(text, regclass, regclass, name, text[], name, name, name, name, boolean, regclass, text) IS
    'change which tables and columns a graph is read from, what is NULL stays; models and grants stay, and the next gp_refresh reads the new tables';

CREATE OR REPLACE FUNCTION @extschema@.gp_drop_graph(graph text)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_drop_graph'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_drop_graph(text) IS
    'forget a graph and drop its models; the tables stay; the view gp_graphs lists what there is';

CREATE OR REPLACE FUNCTION @extschema@.gp_set_owner(graph text, new_owner name)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_set_owner'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_set_owner(text, name) IS
    'give a graph with its models, their grants and logs to another role';
-- Fitting, predicting and comparing kernels

CREATE OR REPLACE FUNCTION @extschema@.gp_fit(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT 'auto',
    task text DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    nugget double precision DEFAULT NULL,
    seed bigint DEFAULT 0,
    replace boolean DEFAULT false,
    method text DEFAULT 'gp',
    live boolean DEFAULT false,
    OUT model text,
    OUT task text,
    OUT kernel @extschema@.gp_kernel,
    OUT strategy text,
    OUT device text,
    OUT nodes bigint,
    OUT edges bigint,
    OUT features bigint,
    OUT classes integer,
    OUT labelled bigint,
    OUT landmarks bigint,
    OUT nugget double precision,
    OUT log_marginal_likelihood double precision,
    OUT loo_score double precision,
    OUT seconds double precision,
    OUT peak_bytes bigint,
    OUT alternatives jsonb,
    OUT method text)
AS 'MODULE_PATHNAME', 'gnngp_fit'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_fit(text, text, @extschema@.gp_kernel, text, text, integer, double precision, bigint, boolean, text, boolean) IS
    'fit a Gaussian process, or another method, on a graph and store the posterior of every node as a model; then SELECT * FROM gp_predict(model)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_predict_support'
LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_predict_support(internal) IS
    'planner support: the rows of gp_predict';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, @extschema@.gp_node_list, integer, boolean) IS
    'the best classes, or the value, of all nodes of a model with integer ids; gp_evaluate(model) tells how good they are';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes anyarray,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node anyelement,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, anyarray, integer, boolean) IS
    'the same for these nodes, of any type: gp_predict(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes bigint[],
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, bigint[], integer, boolean) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes integer[],
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node integer,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, integer[], integer, boolean) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    nodes smallint[],
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node smallint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, smallint[], integer, boolean) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    id anynonarray,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node anynonarray,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, anynonarray, integer, boolean) IS
    'the same for one node, or for all where id is NULL of a type: gp_predict(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict(
    model text,
    id text,
    top integer DEFAULT 1,
    unlabelled_only boolean DEFAULT false)
RETURNS TABLE (
    node text,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000
SUPPORT @extschema@.gp_predict_support;

COMMENT ON FUNCTION @extschema@.gp_predict(text, text, integer, boolean) IS
    'the same for one node by the text of its id, whatever its type: gp_predict(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_evaluate(model text)
RETURNS TABLE (metric text, value double precision)
AS 'MODULE_PATHNAME', 'gnngp_evaluate'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 3;

COMMENT ON FUNCTION @extschema@.gp_evaluate(text) IS
    'how good a model is on its own labels, each left out in turn; gp_tune(graph) compares kernels';

CREATE OR REPLACE FUNCTION @extschema@.gp_tune(
    graph text,
    kernels @extschema@.gp_kernel[] DEFAULT NULL,
    criterion text DEFAULT 'loo',
    methods text[] DEFAULT NULL)
RETURNS TABLE (
    kernel @extschema@.gp_kernel,
    nugget double precision,
    loo_score double precision,
    log_marginal_likelihood double precision,
    seconds double precision,
    method text)
AS 'MODULE_PATHNAME', 'gnngp_tune'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 6;

COMMENT ON FUNCTION @extschema@.gp_tune(text, @extschema@.gp_kernel[], text, text[]) IS
    'fit several kernels, and methods, on one reading of a graph and compare them, best first; stores nothing: then gp_fit(graph, kernel => ...)';

CREATE OR REPLACE FUNCTION @extschema@.gp_estimate(
    graph text,
    kernel @extschema@.gp_kernel DEFAULT 'auto',
    strategy text DEFAULT 'auto',
    landmarks integer DEFAULT NULL,
    method text DEFAULT 'gp',
    live boolean DEFAULT false,
    keep integer DEFAULT 0,
    OUT strategy text,
    OUT bytes bigint,
    OUT flops double precision,
    OUT reason text)
AS 'MODULE_PATHNAME', 'gnngp_estimate'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;

COMMENT ON FUNCTION @extschema@.gp_estimate(text, @extschema@.gp_kernel, text, integer, text, boolean, integer) IS
    'what gp_fit(graph, kernel => ...), or gp_fit_links(graph, method => ..., keep => ...), would cost: the strategy that the planner chooses, its memory and operations, and why';
-- Answers from the tables as they are now

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    top integer DEFAULT 1,
    given_nodes bigint[] DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, @extschema@.gp_node_list, integer, bigint[], "any", double precision[]) IS
    'the best classes, or the value, of nodes from the tables as they are now, and as if some nodes were given labels; the model was fitted with live => true';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    nodes anyarray,
    top integer DEFAULT 1,
    given_nodes "any" DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node anyelement,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, anyarray, integer, "any", "any", double precision[]) IS
    'the same for these nodes, of any type: gp_predict_live(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    nodes bigint[],
    top integer DEFAULT 1,
    given_nodes bigint[] DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, bigint[], integer, bigint[], "any", double precision[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    nodes integer[],
    top integer DEFAULT 1,
    given_nodes integer[] DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node integer,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, integer[], integer, integer[], "any", double precision[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    nodes smallint[],
    top integer DEFAULT 1,
    given_nodes smallint[] DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node smallint,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, smallint[], integer, smallint[], "any", double precision[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    id anynonarray,
    top integer DEFAULT 1,
    given_nodes "any" DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node anynonarray,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, anynonarray, integer, "any", "any", double precision[]) IS
    'the same for one node: gp_predict_live(''m'', 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_live(
    model text,
    id text,
    top integer DEFAULT 1,
    given_nodes "any" DEFAULT NULL,
    given_classes "any" DEFAULT NULL,
    given_values double precision[] DEFAULT NULL)
RETURNS TABLE (
    node text,
    class text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_live'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_predict_live(text, text, integer, "any", "any", double precision[]) IS
    'the same for one node by the text of its id, whatever its type: gp_predict_live(''m'', ''alice'')';

-- Why

CREATE OR REPLACE FUNCTION @extschema@.gp_explain(
    model text,
    node anynonarray,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    labelled anynonarray,
    class text,
    share double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain(text, anynonarray, text, integer) IS
    'the labelled nodes that make the score of a class of a node, the largest shares first, then the rest in one row: gp_explain(''m'', 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_explain(
    model text,
    node text,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    labelled text,
    class text,
    share double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain(text, text, text, integer) IS
    'the same by the text of the id, whatever its type: gp_explain(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_explain_edges(
    model text,
    node anynonarray,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    src anynonarray,
    dst anynonarray,
    effect double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain_edges'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, anynonarray, text, integer) IS
    'the edges near a node whose removal moves the score of a class most, each with the change that its removal makes: gp_explain_edges(''m'', 5)';

CREATE OR REPLACE FUNCTION @extschema@.gp_explain_edges(
    model text,
    node text,
    class text DEFAULT NULL,
    k integer DEFAULT 10)
RETURNS TABLE (
    src text,
    dst text,
    effect double precision)
AS 'MODULE_PATHNAME', 'gnngp_explain_edges'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_explain_edges(text, text, text, integer) IS
    'the same by the text of the id, whatever its type: gp_explain_edges(''m'', ''alice'')';

-- What to label next

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer DEFAULT 20,
    among @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, @extschema@.gp_node_list) IS
    'the k nodes whose labels would tell most of all nodes, or of those among, best first, each with the share of what is left that it takes: gp_next_labels(''m'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    among anyarray)
RETURNS TABLE (
    node anyelement,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, anyarray) IS
    'the same with ids of any type, twenty nodes: gp_next_labels(''m'', NULL::uuid[])';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among anyarray)
RETURNS TABLE (
    node anyelement,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, anyarray) IS
    'the same with ids of any type: gp_next_labels(''m'', 5, NULL::uuid[])';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among bigint[])
RETURNS TABLE (
    node bigint,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among integer[])
RETURNS TABLE (
    node integer,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_next_labels(
    model text,
    k integer,
    among smallint[])
RETURNS TABLE (
    node smallint,
    gain double precision)
AS 'MODULE_PATHNAME', 'gnngp_next_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000000 ROWS 20;

COMMENT ON FUNCTION @extschema@.gp_next_labels(text, integer, smallint[]) IS
    'the form for any type, spelled out for smallint';
-- What a model says of its own labels, each left out, and sets that keep a promise

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, @extschema@.gp_node_list) IS
    'what a model says of each labelled node without its label, and the probability of that label; gp_evaluate(model) sums it up';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes anyarray)
RETURNS TABLE (
    node anyelement,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, anyarray) IS
    'the same for these nodes, of any type: gp_loo(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes bigint[])
RETURNS TABLE (
    node bigint,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes integer[])
RETURNS TABLE (
    node integer,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    nodes smallint[])
RETURNS TABLE (
    node smallint,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, smallint[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    id anynonarray)
RETURNS TABLE (
    node anynonarray,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, anynonarray) IS
    'the same for one node, or for all where id is NULL of a type: gp_loo(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo(
    model text,
    id text)
RETURNS TABLE (
    node text,
    target text,
    predicted text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo(text, text) IS
    'the same for one node by the text of its id, whatever its type: gp_loo(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    src bigint,
    dst bigint,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, @extschema@.gp_node_list) IS
    'what a link model says of the pairs that it held out: links, and as many pairs without one; gp_evaluate(model) sums it up';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes anyarray)
RETURNS TABLE (
    src anyelement,
    dst anyelement,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, anyarray) IS
    'the same for the pairs of these nodes, of any type: gp_loo_links(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes bigint[])
RETURNS TABLE (
    src bigint,
    dst bigint,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes integer[])
RETURNS TABLE (
    src integer,
    dst integer,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    nodes smallint[])
RETURNS TABLE (
    src smallint,
    dst smallint,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, smallint[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    id anynonarray)
RETURNS TABLE (
    src anynonarray,
    dst anynonarray,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, anynonarray) IS
    'the same for the pairs of one node, or for all where id is NULL of a type: gp_loo_links(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_loo_links(
    model text,
    id text)
RETURNS TABLE (
    src text,
    dst text,
    linked boolean,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_loo_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_loo_links(text, text) IS
    'the same for the pairs of one node by the text of its id, whatever its type: gp_loo_links(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node bigint,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, @extschema@.gp_node_list, double precision) IS
    'sets of classes, or intervals, that hold what is true as often as coverage says; gp_predict(model) has the classes one by one';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes anyarray,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node anyelement,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, anyarray, double precision) IS
    'the same for these nodes, of any type: gp_predict_sets(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes bigint[],
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node bigint,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, bigint[], double precision) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes integer[],
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node integer,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, integer[], double precision) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    nodes smallint[],
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node smallint,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, smallint[], double precision) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    id anynonarray,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node anynonarray,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, anynonarray, double precision) IS
    'the same for one node, or for all where id is NULL of a type: gp_predict_sets(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_sets(
    model text,
    id text,
    coverage double precision DEFAULT 0.9)
RETURNS TABLE (
    node text,
    classes text[],
    probability double precision,
    lower double precision,
    upper double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_sets'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_predict_sets(text, text, double precision) IS
    'the same for one node by the text of its id, whatever its type: gp_predict_sets(''m'', ''alice'')';
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
    'the same for the rows of these nodes, of any type: gp_cluster(''g'', ARRAY[1, 2], 5)';

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
    'the same for the rows of one node, or for all where id is NULL of a type: gp_cluster(''g'', NULL::uuid, 5)';

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
    'the same for the rows of one node by the text of its id, whatever its type: gp_cluster(''g'', ''alice'', 5)';
-- Models

CREATE OR REPLACE FUNCTION @extschema@.gp_drop_model(model text)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_drop_model'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_drop_model(text) IS 'drop a model with all that is stored for it; its graph stays';

CREATE OR REPLACE FUNCTION @extschema@.gp_grant(model text, grantee name)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_grant'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_grant(text, name) IS 'let a role, or public, read a model; gp_revoke(model, grantee) takes it back';

CREATE OR REPLACE FUNCTION @extschema@.gp_revoke(model text, grantee name)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_revoke'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.gp_revoke(text, name) IS 'take back what gp_grant gave';

CREATE OR REPLACE PROCEDURE @extschema@.gp_refresh(model text)
AS 'MODULE_PATHNAME', 'gnngp_refresh'
LANGUAGE C;

COMMENT ON PROCEDURE @extschema@.gp_refresh(text) IS
    'fit a model anew with the same settings and swap the result in; the view gp_refreshes tells how it went';
-- Missing links

CREATE OR REPLACE FUNCTION @extschema@.gp_fit_links(
    graph text,
    model text DEFAULT NULL,
    kernel @extschema@.gp_kernel DEFAULT NULL,
    method text DEFAULT 'auto',
    seed bigint DEFAULT 0,
    replace boolean DEFAULT false,
    keep integer DEFAULT 0,
    min_probability double precision DEFAULT 0,
    OUT model text,
    OUT method text,
    OUT nodes bigint,
    OUT edges bigint,
    OUT pairs bigint,
    OUT auc double precision,
    OUT average_precision double precision,
    OUT seconds double precision,
    OUT peak_bytes bigint)
AS 'MODULE_PATHNAME', 'gnngp_fit_links'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;

COMMENT ON FUNCTION @extschema@.gp_fit_links(text, text, @extschema@.gp_kernel, text, bigint, boolean, integer, double precision) IS
    'learn which pairs of nodes are linked and store it as the link part of a model; then SELECT * FROM gp_predict_links(model)';

CREATE OR REPLACE FUNCTION @extschema@.gp_links_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_links_support'
LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_links_support(internal) IS
    'planner support: the rows of gp_predict_links and gp_score_links';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src bigint,
    dst bigint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, @extschema@.gp_node_list, integer, text) IS
    'the likeliest missing links of each node of a model with integer ids; gp_score_links(model, src, dst) scores given pairs';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes anyarray,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src anyelement,
    dst anyelement,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, anyarray, integer, text) IS
    'the same for these nodes, of any type: gp_predict_links(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes bigint[],
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src bigint,
    dst bigint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, bigint[], integer, text) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes integer[],
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src integer,
    dst integer,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, integer[], integer, text) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    nodes smallint[],
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src smallint,
    dst smallint,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, smallint[], integer, text) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    id anynonarray,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src anynonarray,
    dst anynonarray,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, anynonarray, integer, text) IS
    'the same for one node, or for all where id is NULL of a type: gp_predict_links(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_predict_links(
    model text,
    id text,
    k integer DEFAULT 10,
    candidates text DEFAULT 'auto')
RETURNS TABLE (
    src text,
    dst text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_predict_links_typed'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_predict_links(text, text, integer, text) IS
    'the same for one node by the text of its id, whatever its type: gp_predict_links(''m'', ''alice'')';

CREATE OR REPLACE FUNCTION @extschema@.gp_score_links(model text, src anycompatiblearray, dst anycompatiblearray)
RETURNS TABLE (
    src anycompatible,
    dst anycompatible,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, anycompatiblearray, anycompatiblearray) IS
    'how likely given pairs of nodes are linked, existing links or not, in the order given';

CREATE OR REPLACE FUNCTION @extschema@.gp_score_links(model text, src anycompatiblenonarray, dst anycompatiblenonarray)
RETURNS TABLE (
    src anycompatiblenonarray,
    dst anycompatiblenonarray,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, anycompatiblenonarray, anycompatiblenonarray) IS
    'the same for one pair: gp_score_links(''m'', 1, 2)';

CREATE OR REPLACE FUNCTION @extschema@.gp_score_links(model text, src text, dst text)
RETURNS TABLE (
    src text,
    dst text,
    score double precision,
    variance double precision,
    probability double precision)
AS 'MODULE_PATHNAME', 'gnngp_score_links'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100
SUPPORT @extschema@.gp_links_support;

COMMENT ON FUNCTION @extschema@.gp_score_links(text, text, text) IS
    'the same for one pair by the text of its ids, whatever their type: gp_score_links(''m'', ''alice'', ''bob'')';

-- Where a deep model puts nodes

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes @extschema@.gp_node_list DEFAULT NULL)
RETURNS TABLE (
    node bigint,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, @extschema@.gp_node_list) IS
    'where a deep model of links has put each node: likely links are nodes with a large inner product, so that a vector index finds them';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes anyarray)
RETURNS TABLE (
    node anyelement,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, anyarray) IS
    'the same for these nodes, of any type: gp_embedding(''m'', ARRAY[1, 2])';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes bigint[])
RETURNS TABLE (
    node bigint,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, bigint[]) IS
    'the form for any type, spelled out for bigint';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes integer[])
RETURNS TABLE (
    node integer,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, integer[]) IS
    'the form for any type, spelled out for integer';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    nodes smallint[])
RETURNS TABLE (
    node smallint,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, smallint[]) IS
    'the form for any type, spelled out for smallint';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    id anynonarray)
RETURNS TABLE (
    node anynonarray,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, anynonarray) IS
    'the same for one node, or for all where id is NULL of a type: gp_embedding(''m'', NULL::uuid)';

CREATE OR REPLACE FUNCTION @extschema@.gp_embedding(
    model text,
    id text)
RETURNS TABLE (
    node text,
    embedding real[])
AS 'MODULE_PATHNAME', 'gnngp_embedding'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gp_embedding(text, text) IS
    'the same for one node by the text of its id, whatever its type: gp_embedding(''m'', ''alice'')';
-- Devices

-- It looks at hardware, and parallel workers would each look for themselves.
CREATE OR REPLACE FUNCTION @extschema@.gp_device()
RETURNS TABLE (
    device text,
    name text,
    memory bigint,
    compute_capability text,
    driver text,
    runtime text,
    libraries text,
    status text)
AS 'MODULE_PATHNAME', 'gnngp_device'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;

COMMENT ON FUNCTION @extschema@.gp_device() IS
    'what there is to compute on: the CPU, and each GPU or why there is none';

-- A missing OpenBLAS is told now, not by the first fit.  The function is for this moment alone.
CREATE OR REPLACE FUNCTION @extschema@.gp_check_blas()
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_check_blas'
LANGUAGE C VOLATILE;

SELECT @extschema@.gp_check_blas();

DROP FUNCTION @extschema@.gp_check_blas();
-- One page that shows a model: plain HTML and SVG, which need nothing from anywhere.
-- The functions whose names begin with gnngp_ are its parts.

CREATE OR REPLACE FUNCTION @extschema@.gnngp_model_id(model text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_model_id'
LANGUAGE C STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gnngp_model_id(text) IS
    'the id in gp_model_catalog of the model that a name means';

CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_labels(
    model text,
    OUT target text,
    OUT predicted text,
    OUT probability double precision,
    OUT best double precision,
    OUT score double precision,
    OUT variance double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_report_labels'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gnngp_report_labels(text) IS
    'part of gp_report(model): gp_loo without ids, with the probability of the predicted class as best';

CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_pairs(
    model text,
    OUT linked boolean,
    OUT score double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_report_pairs'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;

COMMENT ON FUNCTION @extschema@.gnngp_report_pairs(text) IS
    'part of gp_report(model): gp_loo_links without ids; no rows where the version that fitted the model kept none';

CREATE OR REPLACE FUNCTION @extschema@.gnngp_html(value text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $sql$
    SELECT pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(
        coalesce(value, ''), '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;')
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_html(text) IS
    'part of gp_report(model): a text in which nothing is markup';

CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_number(value double precision)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT CASE WHEN abs(value) >= 1e7 OR abs(value) < 1e-3 AND value <> 0 THEN ltrim(to_char(value, '9.9EEEE'))
                WHEN abs(value) >= 1e6 THEN trim_scale(round(value::numeric / 1000000, 1)) || 'M'
                WHEN abs(value) >= 1e4 THEN round(value::numeric / 1000) || 'k'
                ELSE trim_scale(round(value::numeric, CASE WHEN abs(value) >= 100 THEN 0 ELSE 3 END))::text END
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_number(double precision) IS
    'part of gp_report(model): a number beside an axis';

-- A chart of 300 by 200 with three ticks on either axis; marks are in its coordinates.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_chart(title text, x text, x_low double precision,
    x_high double precision, y text, y_low double precision, y_high double precision, marks text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format('<figure><figcaption>%s</figcaption><svg viewBox="-70 -14 402 256" role="img" aria-label="%1$s">'
                  '<path class="axis" d="M0 0V200H300"/>%s%s<text class="x" x="150" y="238">%s</text>'
                  '<text class="x" x="-100" y="-56" transform="rotate(-90)">%s</text></svg></figure>',
                  @extschema@.gnngp_html(title), coalesce(marks, ''), ticks, @extschema@.gnngp_html(x), @extschema@.gnngp_html(y))
    FROM (SELECT string_agg(format('<text class="x" x="%s" y="217">%s</text><text class="y" x="-6" y="%s">%s</text>',
                                   t * 150, @extschema@.gnngp_report_number(x_low + (x_high - x_low) * t / 2),
                                   204 - t * 100, @extschema@.gnngp_report_number(y_low + (y_high - y_low) * t / 2)), '') AS ticks
          FROM generate_series(0, 2) AS t) AS axes
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_chart(text, text, double precision, double precision, text, double precision, double precision, text) IS
    'part of gp_report(model): one chart';

-- A table from rows whose cells have been made HTML.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_table(title text, head text[], body text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format('<figure><figcaption>%s</figcaption><table>%s%s</table></figure>',
                  @extschema@.gnngp_html(title),
                  (SELECT '<tr>' || string_agg('<th>' || @extschema@.gnngp_html(h) || '</th>', '') || '</tr>' FROM unnest(head) AS h), body)
    WHERE body IS NOT NULL
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_table(text, text[], text) IS
    'part of gp_report(model): one table';

-- What falling scores find: the ROC curve and the precision-recall curve, at no more than four hundred scores.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_curves(sought text, others text, roc_figures text, precision_figures text,
    score double precision[], hit boolean[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH level AS (
        SELECT s, count(*) FILTER (WHERE h) AS hits, count(*) FILTER (WHERE NOT h) AS misses
        FROM unnest(score, hit) AS pair (s, h) GROUP BY s
    ), run AS (
        SELECT row_number() OVER w AS n, sum(hits) OVER w AS found, sum(misses) OVER w AS wrong
        FROM level WINDOW w AS (ORDER BY s DESC)
    ), total AS (
        SELECT sum(hits) AS hits, sum(misses) AS misses, count(*) AS n FROM level
    ), point AS (
        SELECT run.n, (300 * wrong / misses)::numeric AS x, (200 - 200 * found / hits)::numeric AS y,
               (300 * found / hits)::numeric AS recall, (200 - 200 * found / (found + wrong))::numeric AS precision,
               round(200 - 200 * hits / (hits + misses), 1) AS share
        FROM run, total WHERE hits > 0 AND misses > 0 AND (run.n = 1 OR run.n = total.n OR run.n % (1 + total.n / 400) = 0)
    )
    SELECT @extschema@.gnngp_report_chart('ROC curve of ' || sought || roc_figures, others || ' that are taken for one', 0, 1, sought || ' that are found', 0, 1,
               '<path class="ideal" d="M0 200L300 0"/>' ||
               format('<path class="line" d="M0 200L%s"/>', string_agg(round(x, 1) || ' ' || round(y, 1), 'L' ORDER BY n))) ||
           @extschema@.gnngp_report_chart('Precision and recall of ' || sought || precision_figures, sought || ' that are found', 0, 1, 'share of what is found that is right', 0, 1,
               format('<path class="ideal" d="M0 %s H300"/><path class="line" d="M0 %s L%s"/>', min(share), (array_agg(round(precision, 1) ORDER BY n))[1],
                      string_agg(round(recall, 1) || ' ' || round(precision, 1), 'L' ORDER BY n)))
    FROM point HAVING count(*) > 0
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_curves(text, text, text, text, double precision[], boolean[]) IS
    'part of gp_report(model): the ROC curve and the precision-recall curve of some scores';

CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_figure(model text, metric text, label text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format(', %s %s', label, round(e.value::numeric, 3))
    FROM @extschema@.gp_evaluate(model) AS e WHERE e.metric = gnngp_report_figure.metric AND e.value IS NOT NULL
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_figure(text, text, text) IS
    'part of gp_report(model): a figure behind the title of a chart';

-- Two classes: how well the probability of the one with fewer labels finds it.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_two_classes(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS MATERIALIZED (
        SELECT target, probability FROM @extschema@.gnngp_report_labels(model)
    ), rare AS (
        SELECT label.target AS class
        FROM label, @extschema@.gp_model_catalog AS m WHERE m.id = @extschema@.gnngp_model_id(model) AND m.classes = 2
        GROUP BY label.target, m.class_labels ORDER BY count(*), array_position(m.class_labels, label.target) DESC LIMIT 1
    )
    SELECT @extschema@.gnngp_report_curves(format('labels "%s"', CASE WHEN length(rare.class) > 14 THEN left(rare.class, 13) || '...' ELSE rare.class END), 'others',
        @extschema@.gnngp_report_figure(model, 'roc_auc', 'AUC'), @extschema@.gnngp_report_figure(model, 'pr_auc', 'average precision'),
        array_agg(CASE WHEN label.target = rare.class THEN probability ELSE 1 - probability END), array_agg(label.target = rare.class))
    FROM label, rare GROUP BY rare.class
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_two_classes(text) IS
    'part of gp_report(model): the curves of two classes';

-- Links: the pairs that were held out.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_links(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT concat(
        @extschema@.gnngp_report_table('Links: how well held-out ones are found', '{figure,value}',
            format('<tr><td>method</td><td>%s</td></tr><tr><td>pairs learnt from</td><td>%s</td></tr>', m.link_method, m.link_pairs) ||
            (SELECT string_agg(format('<tr><td>%s</td><td>%s</td></tr>', f.label, round(e.value::numeric, 4)), '' ORDER BY f.n)
             FROM @extschema@.gp_evaluate(model) AS e
                 JOIN (VALUES (1, 'auc', 'AUC'), (2, 'average_precision', 'average precision'),
                              (3, 'auc_component', 'AUC within one component'),
                              (4, 'mrr', 'mean reciprocal rank among a hundred candidates near by'),
                              (5, 'hits_at_20', 'share at the first twenty places of these')) AS f (n, metric, label) USING (metric)
             WHERE e.value IS NOT NULL)),
        (SELECT @extschema@.gnngp_report_curves('held-out links', 'other pairs',
                    concat(@extschema@.gnngp_report_figure(model, 'auc', 'AUC'), @extschema@.gnngp_report_figure(model, 'auc_component', 'within one component')),
                    @extschema@.gnngp_report_figure(model, 'average_precision', 'average precision'), array_agg(score), array_agg(linked))
         FROM @extschema@.gnngp_report_pairs(model)))
    FROM @extschema@.gp_model_catalog AS m WHERE m.id = @extschema@.gnngp_model_id(model)
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_links(text) IS
    'part of gp_report(model): the table and the curves of links';

-- How often what was said came true, by what was said.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_reliability(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT @extschema@.gnngp_report_chart('Reliability: is what is said with .7 right seven times in ten?',
        'probability said', 0, 1, 'share that was right', 0, 1,
        '<path class="ideal" d="M0 200L300 0"/>' ||
        string_agg(format('<circle cx="%s" cy="%s" r="%s"><title>said %s, right %s, of %s labels</title></circle>',
                          round((said * 300)::numeric, 1), round(200 - hit * 200, 1), round((3 + 9 * sqrt(n / total))::numeric, 1),
                          round(said::numeric, 3), round(hit, 3), n), '' ORDER BY said))
    FROM (SELECT count(*) AS n, avg(l.best) AS said, avg((l.target = l.predicted)::integer) AS hit, sum(count(*)) OVER () AS total
          FROM @extschema@.gnngp_report_labels(model) AS l
          GROUP BY least(floor(l.best * 15), 14)) AS bins
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_reliability(text) IS
    'part of gp_report(model): the reliability diagram';

-- What is taken for what, for the twelve classes with most labels.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_confusion(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS (
        SELECT target, predicted FROM @extschema@.gnngp_report_labels(model)
    ), ranked AS (
        SELECT target AS class, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, target COLLATE "C") AS place
        FROM label GROUP BY target
    ), shown AS (
        SELECT place, class, n, CASE WHEN length(class) > 14 THEN @extschema@.gnngp_html(left(class, 13)) || '&#8230;'
                                 ELSE @extschema@.gnngp_html(class) END AS name
        FROM ranked WHERE place <= 12
    ), cell AS (
        SELECT t.place AS y, p.place AS x, count(l.target) AS n, count(l.target) / t.n::float8 AS share
        FROM shown AS t CROSS JOIN shown AS p LEFT JOIN label AS l ON l.target = t.class AND l.predicted = p.class
        GROUP BY t.place, t.n, p.place
    )
    SELECT format('<figure><figcaption>Confusion: the true class beside what it is taken for%s</figcaption>'
                  '<svg viewBox="0 0 %s %s" role="img" aria-label="confusion matrix">%s%s</svg></figure>',
                  CASE WHEN (SELECT count(*) FROM ranked) > 12 THEN ' (the twelve classes with most labels)' END,
                  175 + 30 * count(*), 100 + 22 * count(*),
                  (SELECT string_agg(format('<rect x="%s" y="%s" width="29" height="21" style="fill-opacity:%s"/><text class="x%s" x="%s" y="%s">%s</text>',
                                            80 + 30 * x, 68 + 22 * y, round(share::numeric, 3), CASE WHEN share > 0.55 THEN ' on' END, 94 + 30 * x, 83 + 22 * y, nullif(n, 0)), '' ORDER BY y, x)
                   FROM cell),
                  string_agg(format('<text class="y" x="104" y="%s">%s</text><text transform="translate(%s 86) rotate(-55)">%2$s</text>',
                                    83 + 22 * place, name, 98 + 30 * place), '' ORDER BY place))
    FROM shown
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_confusion(text) IS
    'part of gp_report(model): the confusion matrix';

-- Recall, precision and doubt of each class.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_by_class(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS (
        SELECT target, predicted, probability FROM @extschema@.gnngp_report_labels(model)
    ), own AS (
        SELECT target AS class, count(*) AS n, avg((target = predicted)::integer) AS recall, avg(probability) AS said
        FROM label GROUP BY target
    ), reported AS (
        SELECT predicted AS class, avg((target = predicted)::integer) AS hit FROM label GROUP BY predicted
    )
    SELECT @extschema@.gnngp_report_table('By class', '{class,labels,recall,precision,probability}',
        string_agg(format('<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>', @extschema@.gnngp_html(class), n,
                          round(recall, 3), coalesce(round(hit, 3)::text, '-'), round(said::numeric, 3)),
                   '' ORDER BY n DESC, class COLLATE "C"))
    FROM (SELECT own.*, reported.hit FROM own LEFT JOIN reported USING (class)
          ORDER BY n DESC, class COLLATE "C" LIMIT 24) AS rows
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_by_class(text) IS
    'part of gp_report(model): the table of classes';

-- How sure the model is of all nodes.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_sureness(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT @extschema@.gnngp_report_chart('All nodes, by the probability of their best class', 'probability', 0, 1,
        'nodes', 0, max(n), string_agg(format('<rect class="bar" x="%s" y="%s" width="13" height="%s"><title>%s nodes</title></rect>',
                                              bin * 15 + 1, round(200 - 200.0 * n / most, 1), round(200.0 * n / most, 1), n), ''))
    FROM (SELECT bin, count(*) AS n, max(count(*)) OVER () AS most
          FROM (SELECT least(floor(probability * 20), 19) AS bin FROM @extschema@.gp_predict(model, NULL::text)) AS node
          GROUP BY bin) AS bins
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_sureness(text) IS
    'part of gp_report(model): the histogram of probabilities';

-- What a promise costs: how many classes a set has, for two thousand nodes.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_sets(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH node AS MATERIALIZED (
        SELECT array_agg(node) AS some
        FROM (SELECT node FROM @extschema@.gp_predict(model, NULL::text) ORDER BY hashtext(node) LIMIT 2000) AS drawn
    ), size AS (
        SELECT c AS coverage, (SELECT avg(cardinality(s.classes)) FROM @extschema@.gp_predict_sets(model, node.some, c) AS s)::float8 AS classes
        FROM node, unnest('{0.5,0.6,0.7,0.8,0.85,0.9,0.95,0.98}'::float8[]) AS c
    )
    SELECT @extschema@.gnngp_report_chart('What a promise costs: classes in a set that holds the true one so often',
        'coverage promised', 0.5, 1, 'classes in a set, on average', 0, most,
        format('<path class="line" d="M%s"/>', string_agg(format('%s %s', round(((coverage - 0.5) * 600)::numeric, 1),
                                                                  round((200 - 200 * classes / most)::numeric, 1)), 'L' ORDER BY coverage)) ||
        string_agg(format('<circle cx="%s" cy="%s" r="4"><title>%s: %s classes</title></circle>', round(((coverage - 0.5) * 600)::numeric, 1),
                          round((200 - 200 * classes / most)::numeric, 1), coverage, round(classes::numeric, 2)), ''))
    FROM (SELECT size.*, ceil(max(classes) OVER ()) AS most FROM size) AS sizes
    GROUP BY most
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_sets(text) IS
    'part of gp_report(model): the curve of coverage and sizes';

-- Values: what was predicted beside what is true, and how often intervals hold it.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_values(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS MATERIALIZED (
        SELECT target::float8 AS y, score AS m, abs(target::float8 - score) / nullif(sqrt(variance), 0) AS far
        FROM @extschema@.gnngp_report_labels(model)
    ), range AS (
        SELECT least(min(y), min(m)) AS low, greatest(max(y), max(m), least(min(y), min(m)) + greatest(1e-9, 1e-9 * abs(least(min(y), min(m))))) AS high, count(*) AS n FROM label
    ), drawn AS (
        SELECT y, m FROM label ORDER BY hashfloat8(y) LIMIT 1500
    )
    SELECT @extschema@.gnngp_report_chart('Labels, each predicted without itself', 'true value', low, high, 'predicted', low, high,
               '<path class="ideal" d="M0 200L300 0"/>' ||
               (SELECT string_agg(format('<circle class="dot" cx="%s" cy="%s" r="2"/>', round((300 * (y - low) / (high - low))::numeric, 1),
                                         round((200 - 200 * (m - low) / (high - low))::numeric, 1)), '') FROM drawn)) ||
           @extschema@.gnngp_report_chart('How many labels lie within so many standard deviations', 'standard deviations', 0, 3, 'share of labels', 0, 1,
               (SELECT format('<path class="line" d="M%s"/>',
                              string_agg(format('%s %s', round((z * 100)::numeric, 1), round((200 - 200 * share)::numeric, 1)), 'L' ORDER BY z))
                FROM (SELECT z / 10.0 AS z, (SELECT count(*) FROM label WHERE far <= z / 10.0) / range.n::float8 AS share
                      FROM generate_series(0, 30) AS z) AS curve) ||
               -- The share of a normal distribution, of which erf(z / sqrt 2) is a table here.
               '<path class="ideal" d="M0 200L25 160.5L50 123.4L75 90.7L100 63.5L125 42.3L150 26.7L175 16L200 9.1L250 2.5L300 0.5"/>')
    FROM range
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_values(text) IS
    'part of gp_report(model): the charts of values';

-- What a model is: its row in gp_models, and its figures.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_summary(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT @extschema@.gnngp_report_table('What was fitted, and from what', '{}',
        string_agg(format('<tr><th>%s</th><td>%s</td></tr>', @extschema@.gnngp_html(replace(f.key, '_', ' ')), @extschema@.gnngp_html(f.value)), '' ORDER BY f.n))
    FROM @extschema@.gp_model_catalog AS m LEFT JOIN @extschema@.gp_graph_catalog AS g ON g.id = m.graph,
        LATERAL (VALUES (1, 'graph', g.name), (2, 'node table', g.nodes::text), (3, 'edge table', g.edges::text), (4, 'target', g.target::text),
                        (5, 'task', m.task),
                        (6, 'kernel', CASE WHEN coalesce(m.asked_method, 'gp') = 'gp' THEN coalesce(m.kernel, m.asked_kernel) END),
                        (6, 'power of the kernel', CASE WHEN m.power <> 1 THEN m.power::text END), (6, 'method', nullif(m.asked_method, 'gp')), (7, 'strategy', m.strategy), (8, 'device', m.device),
                        (9, 'nodes', coalesce(m.nodes, m.link_nodes)::text), (10, 'edges', coalesce(m.edges, m.link_edges)::text),
                        (11, 'features', nullif(m.features, 0)::text), (12, 'classes', nullif(m.classes, 0)::text), (13, 'labelled', m.labelled::text),
                        (14, 'landmarks', nullif(m.landmarks, 0)::text), (15, 'nugget', round(m.nugget::numeric, 6)::text),
                        (16, 'fitted', to_char(m.fitted, 'YYYY-MM-DD HH24:MI')), (17, 'seconds', round(m.seconds::numeric, 1)::text),
                        (18, 'other kernels, by score', (SELECT string_agg(a.key || ' ' || coalesce(round(a.value::numeric, 3)::text, '-'), ', ' ORDER BY a.value::numeric DESC NULLS LAST)
                                                         FROM jsonb_each_text(m.alternatives) AS a))) AS f (n, key, value)
    WHERE m.id = @extschema@.gnngp_model_id(model) AND f.value IS NOT NULL
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_summary(text) IS
    'part of gp_report(model): what was fitted';

-- The refreshes of the last month.
CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_refreshes(model text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT @extschema@.gnngp_report_table('Refreshes of the last month', '{started,seconds,outcome,message}',
        string_agg(format('<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>', to_char(started, 'YYYY-MM-DD HH24:MI'),
                          coalesce(round(extract(epoch FROM ended - started), 1)::text, ''), @extschema@.gnngp_html(outcome), @extschema@.gnngp_html(left(message, 300))),
                   '' ORDER BY started DESC))
    FROM (SELECT started, ended, message,
                 CASE WHEN outcome = 'running' AND NOT @extschema@.gp_is_refreshing(l.model) THEN 'interrupted' ELSE outcome END AS outcome
          FROM @extschema@.gp_refresh_log AS l
          WHERE l.model = @extschema@.gnngp_model_id(gnngp_report_refreshes.model) AND started > now() - interval '1 month'
          ORDER BY started DESC LIMIT 40) AS run
$sql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_refreshes(text) IS
    'part of gp_report(model): the table of refreshes';

CREATE OR REPLACE FUNCTION @extschema@.gnngp_report_page(model text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    named @extschema@.gp_model_catalog;
    page text;
    judged boolean;
    of_links CONSTANT text[] := '{auc,average_precision,auc_component,mrr,hits_at_20}';
BEGIN
    SELECT * INTO named FROM @extschema@.gp_model_catalog AS m WHERE m.id = @extschema@.gnngp_model_id(model);
    page := @extschema@.gnngp_report_summary(model);
    judged := EXISTS (SELECT FROM @extschema@.gp_evaluate(model) AS e
                      WHERE named.task IS NOT NULL AND e.value IS NOT NULL AND e.metric <> ALL (of_links));
    IF named.task IS NOT NULL AND NOT judged THEN
        page := page || '<figure><figcaption>Too few labels to judge</figcaption>'
            'Probabilities and intervals are rough guesses. Label at least two nodes of each of two classes, or three with a value.</figure>';
    ELSIF named.task IS NOT NULL THEN
        page := page || coalesce((SELECT @extschema@.gnngp_report_table('How good it is, each label left out in turn', '{figure,value}',
            string_agg(format('<tr><td>%s</td><td>%s</td></tr>', replace(e.metric, '_', ' '), round(e.value::numeric, 4)), ''))
            FROM @extschema@.gp_evaluate(model) AS e WHERE e.value IS NOT NULL AND e.metric <> ALL (of_links)), '');
    END IF;
    IF judged AND named.task = 'classification' THEN
        page := concat(page, @extschema@.gnngp_report_reliability(model), @extschema@.gnngp_report_confusion(model), @extschema@.gnngp_report_two_classes(model),
                       @extschema@.gnngp_report_sureness(model), @extschema@.gnngp_report_sets(model), @extschema@.gnngp_report_by_class(model));
    ELSIF judged AND named.task = 'regression' THEN
        page := concat(page, @extschema@.gnngp_report_values(model));
    END IF;
    IF named.link_method IS NOT NULL THEN
        page := concat(page, @extschema@.gnngp_report_links(model));
    END IF;
    RETURN format('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<title>%1$s</title><style>'
        'body{font:15px/1.45 system-ui,sans-serif;color:#1f2933;margin:24px auto;max-width:1240px;padding:0 20px}h1{font-size:24px;overflow-wrap:anywhere}'
        'main{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%%,360px),1fr));gap:20px;align-items:start}figure{margin:0;padding:14px;border:1px solid #e4e7eb;border-radius:6px;min-width:0}'
        'figcaption{font-weight:600;margin-bottom:8px;overflow-wrap:anywhere}svg{width:100%%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#52606d}.x{text-anchor:middle}.y{text-anchor:end}'
        'rect,circle{fill:#2b6cb0}svg .on{fill:#fff}.axis{fill:none;stroke:#9aa5b1}.ideal{fill:none;stroke:#9aa5b1;stroke-dasharray:4 4}.line{fill:none;stroke:#2b6cb0;stroke-width:2}.dot{opacity:.4}'
        'table{border-collapse:collapse;width:100%%}th,td{text-align:left;padding:3px 10px 3px 0;border-bottom:1px solid #e4e7eb;font-weight:400;white-space:nowrap}'
        'th{color:#52606d}td:first-child,th+td,td:last-child{white-space:normal;overflow-wrap:anywhere}'
        '</style></head><body><h1>%1$s</h1><main>%2$s</main></body></html>',
        @extschema@.gnngp_html(model), concat(page, @extschema@.gnngp_report_refreshes(model)));
END
$plpgsql$;

COMMENT ON FUNCTION @extschema@.gnngp_report_page(text) IS
    'part of gp_report(model): the page, where the model is the caller''s';

-- The errors of who may not ask, or misspells a name, are not of the parts.
CREATE OR REPLACE FUNCTION @extschema@.gp_report(model text)
RETURNS text
AS 'MODULE_PATHNAME', 'gnngp_report'
LANGUAGE C STABLE PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_report(text) IS
    'a model as one HTML page, to look at: psql -Atc "SELECT gp_report(''m'')" > report.html';
-- Views

CREATE OR REPLACE FUNCTION @extschema@.gp_progress_rows(
    OUT pid integer,
    OUT model text,
    OUT phase text,
    OUT done bigint,
    OUT total bigint,
    OUT started timestamp with time zone,
    OUT objective double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_progress_rows'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_progress_rows() IS 'for the view gp_progress';

CREATE OR REPLACE FUNCTION @extschema@.gp_is_refreshing(model bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_model_is_refreshing'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_is_refreshing(bigint) IS
    'for the view gp_refreshes: whether some session refreshes this model; false for one that the caller may not read';

-- A table that was renamed is still the graph's; one whose name another table has
-- now was most likely replaced by it.
CREATE OR REPLACE VIEW @extschema@.gp_graphs WITH (security_invoker = true) AS
    SELECT g.name AS graph,
           @extschema@.gp_role_name(g.owner) AS owner,
           coalesce(s.nodes, g.nodes::pg_catalog.text) AS nodes,
           coalesce(s.edges, g.edges::pg_catalog.text) AS edges,
           g.id_column AS id,
           g.features,
           g.target,
           g.src,
           g.dst,
           g.weight,
           g.directed,
           coalesce(s.sparse_features, g.sparse_features::pg_catalog.text) AS sparse_features,
           g.created,
           nullif(pg_catalog.concat_ws('; ', s.problem, c.problem, d.problem), '') AS problem,
           g.scale
    FROM @extschema@.gp_graph_catalog g
        CROSS JOIN LATERAL (
            SELECT max(t.state) FILTER (WHERE t.place = 1) AS nodes,
                   max(t.state) FILTER (WHERE t.place = 2) AS edges,
                   max(t.state) FILTER (WHERE t.place = 3) AS sparse_features,
                   pg_catalog.string_agg(t.what || CASE t.state WHEN 'missing' THEN ' is missing' ELSE ' was replaced' END,
                                         '; ' ORDER BY t.place) FILTER (WHERE t.state IS NOT NULL) AS problem
            FROM (SELECT u.place, u.what || coalesce(' ' || u.given[2], '') AS what,
                         CASE WHEN (n.nspname, r.relname) IS DISTINCT FROM (u.given[1], u.given[2])
                                  AND EXISTS (SELECT FROM pg_catalog.pg_class o
                                                  JOIN pg_catalog.pg_namespace p ON p.oid = o.relnamespace
                                              WHERE o.relname = u.given[2] AND p.nspname = u.given[1]) THEN 'replaced'
                              WHEN r.oid IS NULL THEN 'missing' END AS state
                  FROM (VALUES (1, 'the node table', g.nodes, g.nodes_name),
                               (2, 'the edge table', g.edges, g.edges_name),
                               (3, 'the table of sparse features', g.sparse_features, g.sparse_features_name))
                           u (place, what, source, given)
                      LEFT JOIN pg_catalog.pg_class r ON r.oid = u.source
                      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
                  WHERE u.source IS NOT NULL) t) s
        CROSS JOIN LATERAL (
            SELECT pg_catalog.string_agg(pg_catalog.format('column %I of %s is missing', u.name, u.source::pg_catalog.text),
                                         '; ' ORDER BY u.place) AS problem
            FROM (VALUES (1, g.nodes, g.id_column), (2, g.nodes, g.target), (3, g.edges, g.src),
                         (4, g.edges, g.dst), (5, g.edges, g.weight)
                  UNION ALL
                  SELECT 5 + f.place, g.nodes, f.name
                  FROM pg_catalog.unnest(g.features) WITH ORDINALITY AS f (name, place)) u (place, source, name)
            WHERE u.name IS NOT NULL
              AND EXISTS (SELECT FROM pg_catalog.pg_class r WHERE r.oid = u.source)
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                              WHERE a.attrelid = u.source AND a.attname = u.name
                                AND a.attnum > 0 AND NOT a.attisdropped)) c
        CROSS JOIN LATERAL (
            SELECT pg_catalog.string_agg(pg_catalog.format('column %I of %s has type %s, not %s', u.name, g.edges::pg_catalog.text,
                                                           pg_catalog.format_type(e.atttypid, e.atttypmod), pg_catalog.format_type(n.atttypid, n.atttypmod)),
                                         '; ' ORDER BY u.place) AS problem
            FROM (VALUES (1, g.src), (2, g.dst)) u (place, name)
                JOIN pg_catalog.pg_attribute n ON n.attrelid = g.nodes AND n.attname = g.id_column AND NOT n.attisdropped
                JOIN pg_catalog.pg_attribute e ON e.attrelid = g.edges AND e.attname = u.name AND NOT e.attisdropped
                CROSS JOIN LATERAL (
                    WITH RECURSIVE b AS (
                        SELECT y.oid AS type, y.oid, y.typbasetype FROM pg_catalog.pg_type y WHERE y.oid IN (n.atttypid, e.atttypid)
                        UNION ALL
                        SELECT b.type, y.oid, y.typbasetype FROM b JOIN pg_catalog.pg_type y ON y.oid = b.typbasetype)
                    SELECT pg_catalog.max(b.oid) FILTER (WHERE b.type = n.atttypid) AS id, pg_catalog.max(b.oid) FILTER (WHERE b.type = e.atttypid) AS edge
                    FROM b WHERE b.typbasetype = 0) t
            WHERE t.id <> t.edge
              AND NOT (t.id IN (20, 21, 23) AND t.edge IN (20, 21, 23))
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_cast k WHERE k.castsource = t.edge AND k.casttarget = t.id AND k.castcontext = 'i' AND k.castmethod IN ('b', 'f'))) d;

COMMENT ON VIEW @extschema@.gp_graphs IS
    'graphs that you may use; a table that was dropped shows as missing, one whose name another has as replaced; problem says what keeps a fit from reading';

CREATE OR REPLACE VIEW @extschema@.gp_models WITH (security_invoker = true) AS
    SELECT m.name AS model,
           @extschema@.gp_role_name(m.owner) AS owner,
           g.name AS graph,
           m.task,
           CASE WHEN m.asked_method = 'gp' OR m.asked_method IS NULL
                THEN @extschema@.gp_kernel_as_stored(coalesce(m.kernel, m.asked_kernel)) END AS kernel,
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
           CASE WHEN m.asked_method LIKE 'gckm%' THEN 'cosine' WHEN m.asked_method LIKE 'gpsrf%' AND m.task = 'regression' THEN 'held out'
                WHEN m.asked_method LIKE 'gpsrf%' THEN 'logits'
                WHEN m.exact_diagonal THEN 'exact' WHEN m.strategy = 'precision' THEN 'probed'
                WHEN m.task IS NOT NULL THEN 'low rank' END AS variances,
           m.link_method,
           CASE WHEN m.link_method NOT LIKE 'dgp%' THEN @extschema@.gp_kernel_as_stored(m.link_asked_kernel) END AS link_kernel,
           m.link_pairs,
           m.link_auc,
           m.link_average_precision,
           nullif(m.link_steps, 0) AS link_steps,
           m.link_fitted,
           m.alternatives,
           CASE WHEN m.task IS NOT NULL THEN m.asked_method END AS method,
           nullif(m.link_asked_keep, 0) AS link_keep,
           nullif(m.link_kept_bytes, 0) AS link_kept_bytes,
           nullif(m.live_bytes, 0) AS live_bytes,
           nullif(m.link_asked_min_probability, 0) AS link_min_probability,
           CASE WHEN m.predictions::regclass <> 0 THEN m.predictions::regclass END AS predictions,
           m.power
    FROM @extschema@.gp_model_catalog m
        LEFT JOIN @extschema@.gp_graph_catalog g ON g.id = m.graph;

COMMENT ON VIEW @extschema@.gp_models IS 'models that you may read, with what their fit gave';

CREATE OR REPLACE VIEW @extschema@.gp_progress WITH (security_invoker = true) AS
    SELECT p.pid, p.model, p.phase, p.done, p.total, p.started, p.objective
    FROM @extschema@.gp_progress_rows() p;

COMMENT ON VIEW @extschema@.gp_progress IS
    'computations that run now: your own, or all of this database for members of pg_read_all_stats';

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

COMMENT ON VIEW @extschema@.gp_refreshes IS
    'runs of gp_refresh; interrupted means that the session ended before the refresh did';

COMMENT ON COLUMN @extschema@.gp_graphs.graph IS 'name of the graph, as the calls take it';
COMMENT ON COLUMN @extschema@.gp_graphs.owner IS 'role that the graph belongs to';
COMMENT ON COLUMN @extschema@.gp_graphs.nodes IS 'table or view of the nodes; missing when it was dropped, replaced when another has its name';
COMMENT ON COLUMN @extschema@.gp_graphs.edges IS 'table or view of the edges; missing when it was dropped, replaced when another has its name';
COMMENT ON COLUMN @extschema@.gp_graphs.id IS 'column of the node table that identifies a node';
COMMENT ON COLUMN @extschema@.gp_graphs.features IS 'feature columns of the node table: one array, or several numbers';
COMMENT ON COLUMN @extschema@.gp_graphs.target IS 'column with the class or value of a node; NULL there marks the nodes to predict';
COMMENT ON COLUMN @extschema@.gp_graphs.src IS 'column of the edge table: where an edge begins';
COMMENT ON COLUMN @extschema@.gp_graphs.dst IS 'column of the edge table: where an edge ends';
COMMENT ON COLUMN @extschema@.gp_graphs.weight IS 'column of the edge table with the weight of an edge';
COMMENT ON COLUMN @extschema@.gp_graphs.directed IS 'whether edges have a direction';
COMMENT ON COLUMN @extschema@.gp_graphs.sparse_features IS 'table of node, feature number and value; missing when it was dropped, replaced when another has its name';
COMMENT ON COLUMN @extschema@.gp_graphs.created IS 'when gp_create_graph was called';
COMMENT ON COLUMN @extschema@.gp_graphs.problem IS 'what keeps a fit from reading the tables; NULL when nothing does';
COMMENT ON COLUMN @extschema@.gp_graphs.scale IS 'how features are scaled: auto, none, standard or length';

COMMENT ON COLUMN @extschema@.gp_models.model IS 'name of the model, as the calls take it';
COMMENT ON COLUMN @extschema@.gp_models.owner IS 'role that the model belongs to';
COMMENT ON COLUMN @extschema@.gp_models.graph IS 'graph that it was fitted on';
COMMENT ON COLUMN @extschema@.gp_models.task IS 'classification or regression; NULL without a node part';
COMMENT ON COLUMN @extschema@.gp_models.kernel IS 'kernel that was asked for or chosen; NULL with a method other than gp';
COMMENT ON COLUMN @extschema@.gp_models.strategy IS 'how the covariance was computed: exact, nystrom or precision';
COMMENT ON COLUMN @extschema@.gp_models.device IS 'where it was computed: cpu or cuda';
COMMENT ON COLUMN @extschema@.gp_models.nodes IS 'nodes of the graph when it was fitted';
COMMENT ON COLUMN @extschema@.gp_models.edges IS 'edges of the graph when it was fitted';
COMMENT ON COLUMN @extschema@.gp_models.features IS 'features of a node; 0 on structure alone';
COMMENT ON COLUMN @extschema@.gp_models.classes IS 'classes among the labels; NULL for regression';
COMMENT ON COLUMN @extschema@.gp_models.labelled IS 'nodes that had a target';
COMMENT ON COLUMN @extschema@.gp_models.landmarks IS 'landmarks of the low-rank kernel; NULL when it is exact';
COMMENT ON COLUMN @extschema@.gp_models.nugget IS 'noise variance relative to the mean of the kernels diagonal';
COMMENT ON COLUMN @extschema@.gp_models.log_marginal_likelihood IS 'of the labels, at the scale of the prior that was estimated; of method gpsrf the bound that was trained';
COMMENT ON COLUMN @extschema@.gp_models.loo_score IS '1 minus the leave-one-out error over that without a model: 1 is perfect';
COMMENT ON COLUMN @extschema@.gp_models.seconds IS 'that the last fit took';
COMMENT ON COLUMN @extschema@.gp_models.peak_bytes IS 'most memory that the last fit held at one time';
COMMENT ON COLUMN @extschema@.gp_models.fitted IS 'when the node part was last fitted';
COMMENT ON COLUMN @extschema@.gp_models.mean_diagonal IS 'mean of the kernels diagonal';
COMMENT ON COLUMN @extschema@.gp_models.scale IS 'estimated scale of the prior, with which variances are multiplied';
COMMENT ON COLUMN @extschema@.gp_models.jitter IS 'largest number added to a diagonal to make it positive definite, relative to its mean';
COMMENT ON COLUMN @extschema@.gp_models.variances IS 'whose diagonal variances start from: exact, probed or low rank; cosine where they only rank, logits where they are those of the classes'' logits, held out where they are scaled to errors of labels that were held out';
COMMENT ON COLUMN @extschema@.gp_models.link_method IS 'how links are scored: scores, pairs, or dgp with its options; NULL without a link part';
COMMENT ON COLUMN @extschema@.gp_models.link_kernel IS 'kernel that was asked for with the link part; NULL where the method is dgp';
COMMENT ON COLUMN @extschema@.gp_models.link_pairs IS 'pairs that the link part learnt from';
COMMENT ON COLUMN @extschema@.gp_models.link_auc IS 'area under the ROC curve for held-out links';
COMMENT ON COLUMN @extschema@.gp_models.link_average_precision IS 'average precision for held-out links';
COMMENT ON COLUMN @extschema@.gp_models.link_steps IS 'steps of the Laplacian scores';
COMMENT ON COLUMN @extschema@.gp_models.alternatives IS 'where the kernel was chosen: the others that were fitted, with their scores';
COMMENT ON COLUMN @extschema@.gp_models.live_bytes IS 'bytes of the live state, with which gp_predict_live answers; NULL without one';
COMMENT ON COLUMN @extschema@.gp_models.method IS 'method of the node part: gp, or another with its options';
COMMENT ON COLUMN @extschema@.gp_models.link_fitted IS 'when the link part was last fitted';
COMMENT ON COLUMN @extschema@.gp_models.link_keep IS 'best pairs of each node that are kept; NULL where none are';
COMMENT ON COLUMN @extschema@.gp_models.link_kept_bytes IS 'what they take';
COMMENT ON COLUMN @extschema@.gp_models.link_min_probability IS 'least probability of a pair that is kept; NULL where any may be';
COMMENT ON COLUMN @extschema@.gp_models.predictions IS 'table that has the predictions of all nodes, of strategy sql, for queries to join; NULL where gp_predict alone has them';
COMMENT ON COLUMN @extschema@.gp_models.power IS 'power of the kernel that was fitted: given with the kernel, or chosen by leave-one-out; NULL with a method other than gp';

COMMENT ON COLUMN @extschema@.gp_progress.pid IS 'process of the backend that computes';
COMMENT ON COLUMN @extschema@.gp_progress.model IS 'model, or graph, that it computes';
COMMENT ON COLUMN @extschema@.gp_progress.phase IS 'what it does now';
COMMENT ON COLUMN @extschema@.gp_progress.done IS 'units of the phase that are done';
COMMENT ON COLUMN @extschema@.gp_progress.total IS 'units of the phase; 0 when the end is not known';
COMMENT ON COLUMN @extschema@.gp_progress.started IS 'when the computation began';
COMMENT ON COLUMN @extschema@.gp_progress.objective IS 'phase training: mean log likelihood of what the last step learnt from';

COMMENT ON COLUMN @extschema@.gp_refreshes.model IS 'model that was refreshed';
COMMENT ON COLUMN @extschema@.gp_refreshes.started IS 'when the run began';
COMMENT ON COLUMN @extschema@.gp_refreshes.ended IS 'when it ended; NULL while it runs and when it was interrupted';
COMMENT ON COLUMN @extschema@.gp_refreshes.outcome IS 'running, succeeded, failed, refused (by gnngp.refresh_guard) or interrupted (the session ended)';
COMMENT ON COLUMN @extschema@.gp_refreshes.message IS 'what changed, or why the run failed';
COMMENT ON COLUMN @extschema@.gp_refreshes.owner IS 'role that the model belongs to';

GRANT SELECT ON @extschema@.gp_graphs, @extschema@.gp_models, @extschema@.gp_progress,
    @extschema@.gp_refreshes TO PUBLIC;
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
