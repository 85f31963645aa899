-- Views

CREATE FUNCTION @extschema@.gp_progress_rows(
    OUT pid integer,
    OUT model text,
    OUT phase text,
    OUT done bigint,
    OUT total bigint,
    OUT started timestamp with time zone)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_progress_rows'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 10;

COMMENT ON FUNCTION @extschema@.gp_progress_rows() IS 'for the view gp_progress';

CREATE FUNCTION @extschema@.gp_is_refreshing(owner name, model text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_is_refreshing'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.gp_is_refreshing(name, text) IS
    'for the view gp_refreshes: whether some session is fitting this model';

CREATE VIEW @extschema@.gp_graphs WITH (security_invoker = true) AS
    SELECT g.name AS graph,
           g.owner,
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
           g.created,
           p.problem
    FROM @extschema@.gp_graph_catalog g
        LEFT JOIN pg_catalog.pg_class n ON n.oid = g.nodes
        LEFT JOIN pg_catalog.pg_class e ON e.oid = g.edges
        LEFT JOIN pg_catalog.pg_class s ON s.oid = g.sparse_features
        CROSS JOIN LATERAL (
            SELECT pg_catalog.string_agg(c.what || ' is missing', '; ' ORDER BY c.place) AS problem
            FROM (SELECT 0, 'the node table'
                  WHERE n.oid IS NULL
                  UNION ALL
                  SELECT 1, 'the edge table'
                  WHERE e.oid IS NULL
                  UNION ALL
                  SELECT 2, 'the table of sparse features'
                  WHERE g.sparse_features IS NOT NULL AND s.oid IS NULL
                  UNION ALL
                  SELECT 2 + u.place, pg_catalog.format('column %I of %s', u.name, u.source::pg_catalog.text)
                  FROM (VALUES (1, g.nodes, g.id_column), (2, g.nodes, g.target), (3, g.edges, g.src),
                               (4, g.edges, g.dst), (5, g.edges, g.weight)
                        UNION ALL
                        SELECT 5 + f.place, g.nodes, f.name
                        FROM pg_catalog.unnest(g.features) WITH ORDINALITY AS f (name, place)) u (place, source, name)
                  WHERE u.name IS NOT NULL
                    AND EXISTS (SELECT FROM pg_catalog.pg_class r WHERE r.oid = u.source)
                    AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                                    WHERE a.attrelid = u.source AND a.attname = u.name
                                      AND a.attnum > 0 AND NOT a.attisdropped)) c (place, what)) p;

COMMENT ON VIEW @extschema@.gp_graphs IS
    'graphs that you may use; a table that was dropped shows as missing, and problem says what keeps a fit from reading';

CREATE VIEW @extschema@.gp_models WITH (security_invoker = true) AS
    SELECT m.name AS model,
           m.owner,
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

COMMENT ON VIEW @extschema@.gp_models IS 'models that you may read, with what their fit gave';

CREATE VIEW @extschema@.gp_progress WITH (security_invoker = true) AS
    SELECT p.pid, p.model, p.phase, p.done, p.total, p.started
    FROM @extschema@.gp_progress_rows() p;

COMMENT ON VIEW @extschema@.gp_progress IS
    'computations that run now: your own, or all of this database for members of pg_read_all_stats';

CREATE VIEW @extschema@.gp_refreshes WITH (security_invoker = true) AS
    SELECT m.name AS model,
           l.started,
           l.ended,
           CASE WHEN l.outcome = 'running' AND NOT @extschema@.gp_is_refreshing(m.owner, m.name)
                THEN 'interrupted' ELSE l.outcome END AS outcome,
           l.message,
           m.owner
    FROM @extschema@.gp_refresh_log l
        JOIN @extschema@.gp_model_catalog m ON m.id = l.model;

COMMENT ON VIEW @extschema@.gp_refreshes IS
    'runs of gp_refresh; interrupted means that the session ended before the refresh did';

GRANT SELECT ON @extschema@.gp_graphs, @extschema@.gp_models, @extschema@.gp_progress,
    @extschema@.gp_refreshes TO PUBLIC;
