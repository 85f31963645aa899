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
