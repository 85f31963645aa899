-- Views

CREATE FUNCTION gnngp_internal.gp_progress_rows(
    OUT pid integer,
    OUT model text,
    OUT phase text,
    OUT done bigint,
    OUT total bigint,
    OUT started timestamp with time zone,
    OUT objective double precision,
    OUT seconds_left double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_progress_rows' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION gnngp_internal.gp_progress_rows() IS 'for the view gp_progress';

CREATE FUNCTION gnngp_internal.gp_is_refreshing(model bigint) RETURNS boolean
AS 'MODULE_PATHNAME', 'gnngp_model_is_refreshing' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gnngp_internal.gp_is_refreshing(bigint) IS
    'for the view gp_refreshes: whether some session refreshes this model; false for one that the caller may not read';

CREATE FUNCTION gnngp_internal.gp_graph_problem(graph bigint) RETURNS text
AS 'MODULE_PATHNAME', 'gnngp_graph_problem' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION gnngp_internal.gp_graph_problem(bigint) IS
    'for the view gp_graphs: the error of a look at a graph of tables or a task as a fit would take it; NULL for none';

-- The arguments of gp_create_graph or gp_create_task that make a graph or a task; of columns the names of today.
CREATE FUNCTION gnngp_internal.gp_definition(g gnngp_internal.gp_graph_now) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format('SELECT %s(%s)', CASE WHEN g.form IS NULL THEN 'gp_create_graph' ELSE 'gp_create_task' END,
                  string_agg(format('%s => %L', a.name, a.value), ', ' ORDER BY a.place))
    FROM (VALUES (1, 'task', CASE WHEN g.form IS NOT NULL THEN g.name END),
                 (2, 'graph', CASE WHEN g.form IS NULL THEN g.name ELSE
                              (SELECT o.name FROM gnngp_internal.gp_graph_catalog AS o WHERE o.id = g.of_graph) END),
                 (3, 'tables', g.tables::text), (3, 'nodes', g.nodes::text), (4, 'edges', g.edges::text),
                 (5, 'id', CASE WHEN g.nodes IS NOT NULL THEN g.id_column::text END), (6, 'features', g.features::text),
                 (7, CASE g.form WHEN 'labels' THEN 'labels' ELSE 'entity' END, CASE WHEN g.form <> 'column' THEN g.entity::text END),
                 (8, 'entity', g.entity_column::text),
                 (9, 'target', CASE g.form WHEN 'column' THEN g.asks ELSE coalesce(g.task_target, g.target::text) END),
                 (10, 'filter', g.task_filter), (11, 'horizon', g.horizon::text), (12, 'every', g.every::text),
                 (13, 'since', CASE g.form WHEN 'expression' THEN nullif(g.since, '-infinity')::text END),
                 (14, 'rows', CASE g.form WHEN 'expression' THEN nullif(g.label_rows, 100000)::text END),
                 (15, 'times', g.times::text), (16, 'keys', g.keys::text), (17, 'exclude', g.exclude::text),
                 (18, 'src', g.src::text), (19, 'dst', g.dst::text), (20, 'weight', g.weight::text),
                 (21, 'directed', nullif(g.directed, false)::text), (22, 'sparse_features', g.sparse_features::text),
                 (23, 'scale', nullif(g.scale, 'auto')), (24, 'time_column', coalesce(g.edge_time, g.time_column)::text),
                 (25, 'edge_features', g.edge_features::text)) AS a (place, name, value)
    WHERE a.value IS NOT NULL
$sql$;
COMMENT ON FUNCTION gnngp_internal.gp_definition(gnngp_internal.gp_graph_now) IS 'for the view gp_graphs: the call that makes a graph or a task';

-- A table that was renamed is still the graph's; one whose name another table has
-- now was most likely replaced by it.
CREATE VIEW @extschema@.gp_graphs WITH (security_invoker = true) AS
    SELECT g.name AS graph,
           g.owner::text::name AS owner,
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
           coalesce(nullif(pg_catalog.concat_ws('; ', s.problem, c.problem, d.problem), ''), gnngp_internal.gp_graph_problem(g.id)) AS problem,
           g.scale,
           g.edge_time AS time_column,
           g.edge_features,
           g.asks,
           g.horizon,
           gnngp_internal.gp_definition(g) AS definition
    FROM gnngp_internal.gp_graph_now g
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
                               (3, 'the table of sparse features', g.sparse_features, g.sparse_features_name)
                        UNION ALL
                        SELECT 3 + k.k, 'table', f.tables[k.k], f.tables_name[2 * k.k - 1 : 2 * k.k]::name[]
                        FROM gnngp_internal.gp_graph_catalog f, pg_catalog.generate_subscripts(f.tables, 1) AS k (k)
                        WHERE f.id = coalesce(nullif(g.of_graph, 0), g.id))
                           u (place, what, source, given)
                      LEFT JOIN pg_catalog.pg_class r ON r.oid = u.source
                      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
                  WHERE u.source IS NOT NULL) t) s
        CROSS JOIN LATERAL (
            SELECT pg_catalog.string_agg(pg_catalog.format('column %I of %s is missing', u.name, u.source::pg_catalog.text),
                                         '; ' ORDER BY u.place) AS problem
            FROM (VALUES (1, g.nodes, g.id_column), (2, g.nodes, g.target), (3, g.edges, g.src),
                         (4, g.edges, g.dst), (5, g.edges, g.weight), (6, g.edges, g.edge_time)
                  UNION ALL
                  SELECT 6 + f.place, f.source, f.name
                  FROM (SELECT g.nodes, f.name, f.place FROM pg_catalog.unnest(g.features) WITH ORDINALITY AS f (name, place)
                        UNION ALL
                        SELECT g.edges, e.name, 100000 + e.place
                        FROM pg_catalog.unnest(g.edge_features) WITH ORDINALITY AS e (name, place)) f (source, name, place)) u (place, source, name)
            WHERE u.name IS NOT NULL
              AND EXISTS (SELECT FROM pg_catalog.pg_class r WHERE r.oid = u.source)
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                              WHERE a.attrelid = u.source AND a.attname = u.name
                                AND a.attnum > 0 AND NOT a.attisdropped)) c
        CROSS JOIN LATERAL (
            SELECT pg_catalog.string_agg(pg_catalog.format('column %I of %s has type %s, not %s', u.name, g.edges::pg_catalog.text,
                                                           pg_catalog.format_type(e.atttypid, e.atttypmod), pg_catalog.format_type(i.atttypid, i.atttypmod)),
                                         '; ' ORDER BY u.place) AS problem
            FROM (VALUES (1, g.src), (2, g.dst)) u (place, name)
                JOIN pg_catalog.pg_attribute i ON i.attrelid = g.nodes AND i.attname = g.id_column AND NOT i.attisdropped
                JOIN pg_catalog.pg_attribute e ON e.attrelid = g.edges AND e.attname = u.name AND NOT e.attisdropped
                CROSS JOIN LATERAL (
                    WITH RECURSIVE b AS (
                        SELECT y.oid AS type, y.oid, y.typbasetype FROM pg_catalog.pg_type y WHERE y.oid IN (i.atttypid, e.atttypid)
                        UNION ALL
                        SELECT b.type, y.oid, y.typbasetype FROM b JOIN pg_catalog.pg_type y ON y.oid = b.typbasetype)
                    SELECT pg_catalog.max(b.oid) FILTER (WHERE b.type = i.atttypid) AS id, pg_catalog.max(b.oid) FILTER (WHERE b.type = e.atttypid) AS edge
                    FROM b WHERE b.typbasetype = 0) t
            WHERE t.id <> t.edge
              AND NOT (t.id IN (20, 21, 23) AND t.edge IN (20, 21, 23))
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_cast k WHERE k.castsource = t.edge AND k.casttarget = t.id AND k.castcontext = 'i' AND k.castmethod IN ('b', 'f'))) d;
COMMENT ON VIEW @extschema@.gp_graphs IS
    'graphs that you may use; a table that was dropped shows as missing, one whose name another has as replaced; problem says what keeps a fit from reading';

CREATE VIEW @extschema@.gp_models WITH (security_invoker = true) AS
    SELECT m.name AS model,
           m.owner::text::name AS owner,
           g.name AS graph,
           m.task,
           gnngp_internal.gp_kernel_as_stored(m.kernel) AS kernel,
           m.strategy,
           m.device,
           coalesce(m.nodes, m.link_nodes) AS nodes,
           coalesce(m.edges, m.link_edges) AS edges,
           m.features,
           m.classes,
           m.labelled,
           m.landmarks,
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
           CASE WHEN m.link_method NOT LIKE 'dgp%' THEN gnngp_internal.gp_kernel_as_stored(m.link_asked_kernel) END AS link_kernel,
           m.link_pairs,
           m.link_auc,
           m.link_average_precision,
           nullif(m.link_steps, 0) AS link_steps,
           m.link_fitted,
           m.alternatives,
           nullif(m.link_asked_keep, 0) AS link_keep,
           nullif(m.link_kept_bytes, 0) AS link_kept_bytes,
           nullif(m.live_bytes, 0) AS live_bytes,
           nullif(m.link_asked_min_probability, 0) AS link_min_probability,
           m.power,
           m.forward_score
    FROM gnngp_internal.gp_model_catalog m
        LEFT JOIN gnngp_internal.gp_graph_catalog g ON g.id = m.graph;
COMMENT ON VIEW @extschema@.gp_models IS 'models that you may read, with the figures of their last fit';

CREATE VIEW @extschema@.gp_progress WITH (security_invoker = true) AS
    SELECT p.pid, p.model, p.phase, p.done, p.total, p.started, p.objective, p.seconds_left
    FROM gnngp_internal.gp_progress_rows() p;
COMMENT ON VIEW @extschema@.gp_progress IS
    'computations that run now: your own, or all of this database for members of pg_read_all_stats';

CREATE VIEW @extschema@.gp_refreshes WITH (security_invoker = true) AS
    SELECT m.name AS model,
           l.started,
           l.ended,
           CASE WHEN l.outcome = 'running' AND NOT gnngp_internal.gp_is_refreshing(m.id)
                THEN 'interrupted' ELSE l.outcome END AS outcome,
           l.message,
           m.owner::text::name AS owner
    FROM gnngp_internal.gp_refresh_log l
        JOIN gnngp_internal.gp_model_catalog m ON m.id = l.model;
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
COMMENT ON COLUMN @extschema@.gp_graphs.time_column IS 'column of the edge table that says when an edge was made';
COMMENT ON COLUMN @extschema@.gp_graphs.edge_features IS 'columns of the edge table that are features of the nodes at both ends';
COMMENT ON COLUMN @extschema@.gp_graphs.asks IS 'what a task asks: an expression, or the column of its table or of its labels';
COMMENT ON COLUMN @extschema@.gp_graphs.horizon IS 'how far the question of a task reaches; NULL: it does not say';
COMMENT ON COLUMN @extschema@.gp_graphs.definition IS 'the call that makes this graph or task: its tables, times and keys, or what it asks of whom';
COMMENT ON COLUMN @extschema@.gp_models.model IS 'name of the model, as the calls take it';
COMMENT ON COLUMN @extschema@.gp_models.owner IS 'role that the model belongs to';
COMMENT ON COLUMN @extschema@.gp_models.graph IS 'graph that it was fitted on';
COMMENT ON COLUMN @extschema@.gp_models.task IS 'classification or regression; NULL without a node part';
COMMENT ON COLUMN @extschema@.gp_models.kernel IS 'kernel that was asked for or chosen';
COMMENT ON COLUMN @extschema@.gp_models.strategy IS 'how the covariance was computed: exact, nystrom or precision';
COMMENT ON COLUMN @extschema@.gp_models.device IS 'where it was computed: cpu or cuda';
COMMENT ON COLUMN @extschema@.gp_models.nodes IS 'nodes of the graph when it was fitted';
COMMENT ON COLUMN @extschema@.gp_models.edges IS 'edges of the graph when it was fitted';
COMMENT ON COLUMN @extschema@.gp_models.features IS 'features of a node; 0 where only the structure of the graph is used';
COMMENT ON COLUMN @extschema@.gp_models.classes IS 'classes among the labels; NULL for regression';
COMMENT ON COLUMN @extschema@.gp_models.labelled IS 'nodes that had a target';
COMMENT ON COLUMN @extschema@.gp_models.landmarks IS 'landmarks of the low-rank kernel; NULL when it is exact';
COMMENT ON COLUMN @extschema@.gp_models.nugget IS 'noise variance relative to the mean of the diagonal of the kernel';
COMMENT ON COLUMN @extschema@.gp_models.log_marginal_likelihood IS 'of the labels, at the scale of the prior that was estimated; of kernel gpsrf the bound that was trained';
COMMENT ON COLUMN @extschema@.gp_models.loo_score IS 'leave-one-out R2: 1 is perfect, 0 is no better than class frequencies or the mean';
COMMENT ON COLUMN @extschema@.gp_models.seconds IS 'seconds of the last fit';
COMMENT ON COLUMN @extschema@.gp_models.peak_bytes IS 'most memory that the last fit held at one time';
COMMENT ON COLUMN @extschema@.gp_models.fitted IS 'when the node part was last fitted';
COMMENT ON COLUMN @extschema@.gp_models.mean_diagonal IS 'mean of the diagonal of the kernel';
COMMENT ON COLUMN @extschema@.gp_models.scale IS 'estimated scale of the prior, with which variances are multiplied';
COMMENT ON COLUMN @extschema@.gp_models.jitter IS 'largest number added to a diagonal to make it positive definite, relative to its mean';
COMMENT ON COLUMN @extschema@.gp_models.variances IS 'whose diagonal variances start from: exact, probed or low rank; cosine where they only rank, logits where they are those of the classes'' logits, held out where they are scaled to errors of labels that were held out';
COMMENT ON COLUMN @extschema@.gp_models.link_method IS 'how links are scored: scores, pairs, or dgp with its options; NULL without a link part';
COMMENT ON COLUMN @extschema@.gp_models.link_kernel IS 'kernel that was asked for with the link part; NULL where the method is dgp';
COMMENT ON COLUMN @extschema@.gp_models.link_pairs IS 'pairs that the link part learnt from';
COMMENT ON COLUMN @extschema@.gp_models.link_auc IS 'area under the ROC curve for held-out links';
COMMENT ON COLUMN @extschema@.gp_models.link_average_precision IS 'average precision for held-out links';
COMMENT ON COLUMN @extschema@.gp_models.link_steps IS 'steps of the Laplacian scores';
COMMENT ON COLUMN @extschema@.gp_models.alternatives IS 'where the kernel was chosen: all that were compared, each with nll, loo_score, seconds and landmarks, or why it was skipped';
COMMENT ON COLUMN @extschema@.gp_models.live_bytes IS 'bytes of the live state, with which gp_predict_live answers; NULL without one';
COMMENT ON COLUMN @extschema@.gp_models.link_fitted IS 'when the link part was last fitted';
COMMENT ON COLUMN @extschema@.gp_models.link_keep IS 'best pairs of each node that are kept; NULL where none are';
COMMENT ON COLUMN @extschema@.gp_models.link_kept_bytes IS 'bytes of the kept pairs';
COMMENT ON COLUMN @extschema@.gp_models.link_min_probability IS 'least probability of a pair that is kept; NULL where any may be';
COMMENT ON COLUMN @extschema@.gp_models.power IS 'power of the kernel that was fitted: given with the kernel, or chosen by leave-one-out; NULL with a kernel that is learnt';
COMMENT ON COLUMN @extschema@.gp_models.forward_score IS 'of a task: loo_score with each block of times predicted from earlier ones only';
COMMENT ON COLUMN @extschema@.gp_progress.pid IS 'process of the backend that computes';
COMMENT ON COLUMN @extschema@.gp_progress.model IS 'model, or graph, that it computes';
COMMENT ON COLUMN @extschema@.gp_progress.phase IS 'what it does now';
COMMENT ON COLUMN @extschema@.gp_progress.done IS 'units of the phase that are done';
COMMENT ON COLUMN @extschema@.gp_progress.total IS 'units of the phase; 0 when the end is not known';
COMMENT ON COLUMN @extschema@.gp_progress.started IS 'when the computation began';
COMMENT ON COLUMN @extschema@.gp_progress.objective IS 'phase training: mean log likelihood of what the last step learnt from';
COMMENT ON COLUMN @extschema@.gp_progress.seconds_left IS 'estimate of what the whole computation still takes; NULL where nothing is known of it';
COMMENT ON COLUMN @extschema@.gp_refreshes.model IS 'model that was refreshed';
COMMENT ON COLUMN @extschema@.gp_refreshes.started IS 'when the run began';
COMMENT ON COLUMN @extschema@.gp_refreshes.ended IS 'when it ended; NULL while it runs and when it was interrupted';
COMMENT ON COLUMN @extschema@.gp_refreshes.outcome IS 'running, succeeded, failed, refused (by gnngp.refresh_guard) or interrupted (the session ended)';
COMMENT ON COLUMN @extschema@.gp_refreshes.message IS 'what changed, or why the run failed';
COMMENT ON COLUMN @extschema@.gp_refreshes.owner IS 'role that the model belongs to';

GRANT SELECT ON @extschema@.gp_graphs, @extschema@.gp_models, @extschema@.gp_progress,
    @extschema@.gp_refreshes TO PUBLIC;
