-- Graphs and models
--
-- Everybody may read these tables, and row-level security shows everybody their
-- own rows and those that were granted to them.  Only the extension's functions
-- write here, and they keep the tables consistent: a foreign key between tables
-- of an extension would stop pg_restore --jobs, which loads them in any order.
-- Owners and grantees are of the type gp_role: neither a rename nor a new role of
-- an old name changes who has what, and a dump restores where a role is missing.

CREATE TABLE gnngp_internal.gp_graph_catalog (
    id bigserial PRIMARY KEY,
    name text NOT NULL,
    owner gnngp_internal.gp_role NOT NULL,
    -- of a graph of nodes and edges
    nodes regclass,
    edges regclass,
    id_column name,
    features name[],
    target name,
    src name,
    dst name,
    weight name,
    directed boolean NOT NULL,
    sparse_features regclass,
    scale text NOT NULL,
    edge_time name,
    edge_features name[],
    created timestamp with time zone NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    -- schema and name that the tables had when they were given
    nodes_name name[],
    edges_name name[],
    sparse_features_name name[],
    -- and their kinds (relkind), nodes, edges, and sparse_features or -
    kinds text,
    -- of a graph of tables: their schemas and names in turn, and a kind of each, as they were given
    tables regclass[],
    tables_name text[],
    tables_kind text,
    -- and whether each had a time then: t or -, ? of one that its owner could not read
    tables_timed text,
    -- and which column that was, or the empty name
    tables_time name[],
    times jsonb,
    keys jsonb,
    exclude text[],
    -- in which dates and timestamps without a zone are meant
    time_zone text,
    -- of a task: its graph, what it asks (expression, labels or column), and of which table
    of_graph bigint,
    form text,
    entity regclass,
    entity_name text[],
    entity_kind text,
    entity_column name,
    task_target text,
    task_filter text,
    task_path text,
    time_column name,
    horizon interval,
    every interval,
    since timestamp with time zone NOT NULL DEFAULT '-infinity',
    label_rows bigint,
    -- number of each column, by "oid of its table.name": a column that is renamed is found by it
    numbers jsonb NOT NULL CHECK (jsonb_typeof(numbers) = 'object' AND NOT jsonb_path_exists(numbers, '$.* ? (@.type() != "number")')),
    CONSTRAINT whole_lists CHECK (array_position(features, NULL) IS NULL AND array_position(edge_features, NULL) IS NULL
           AND array_position(tables, NULL) IS NULL AND array_position(tables_name, NULL) IS NULL
           AND array_position(tables_time, NULL) IS NULL AND array_position(exclude, NULL) IS NULL),
    CONSTRAINT one_kind CHECK (num_nonnulls(edges, tables, form) = 1),
    CONSTRAINT graph_of_edges CHECK (edges IS NULL OR num_nulls(id_column, src, dst) = 0),
    CONSTRAINT graph_of_tables CHECK (tables IS NULL OR (array_ndims(tables), array_ndims(tables_name), array_ndims(tables_time), 2 * cardinality(tables), cardinality(tables),
                              cardinality(tables), cardinality(tables), time_zone IS NULL)
           IS NOT DISTINCT FROM (1, 1, 1, cardinality(tables_name), length(tables_kind), length(tables_timed), cardinality(tables_time), false)),
    CONSTRAINT task CHECK (form IS NULL OR form IN ('expression', 'labels', 'column') AND num_nulls(of_graph, entity, task_target, entity_kind) = 0
           AND length(entity_kind) = 1),
    CONSTRAINT labels_task CHECK (form <> 'labels' OR entity_column IS NOT NULL),
    CONSTRAINT expression_task CHECK (form <> 'expression' OR num_nulls(horizon, task_path, label_rows) = 0 AND label_rows > 0)
);

-- A row that a dump brings says in place of numbers which names the columns had when it was made.
CREATE FUNCTION gnngp_internal.gp_number_columns() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    NEW.numbers := coalesce((SELECT jsonb_object_agg(a.attrelid || '.' || n.given, a.attnum)
                  FROM unnest(ARRAY[NEW.nodes, NEW.edges, NEW.entity] || NEW.tables) AS t (source)
                      CROSS JOIN unnest(ARRAY[NEW.id_column, NEW.target, NEW.src, NEW.dst, NEW.weight, NEW.edge_time,
                                              NEW.entity_column, NEW.time_column, NEW.task_target]
                                        || NEW.features || NEW.edge_features || NEW.tables_time) AS n (given)
                      JOIN pg_attribute AS a ON a.attrelid = t.source AND a.attnum > 0 AND NOT a.attisdropped
                          AND a.attname = coalesce(NEW.numbers ->> (t.source || '.' || n.given), n.given)), '{}');
    RETURN NEW;
END
$plpgsql$;
COMMENT ON FUNCTION gnngp_internal.gp_number_columns() IS 'notes the numbers of the columns that a graph names';

CREATE FUNCTION gnngp_internal.gp_dumped_numbers(numbers jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT coalesce(jsonb_object_agg(a.attrelid::regclass || substr(n.key, strpos(n.key, '.')), a.attname), '{}')
    FROM jsonb_each_text(numbers) AS n
        JOIN pg_attribute AS a ON a.attrelid = split_part(n.key, '.', 1)::oid AND a.attnum = n.value::smallint
            AND NOT a.attisdropped
$sql$;
COMMENT ON FUNCTION gnngp_internal.gp_dumped_numbers(jsonb) IS
    'the columns of a graph for a dump: the name of today, by "table.name given"';

CREATE TRIGGER gp_number_columns BEFORE INSERT OR UPDATE OF nodes, edges, entity, tables, id_column, target, src, dst, weight,
    edge_time, entity_column, time_column, task_target, features, edge_features, tables_time ON gnngp_internal.gp_graph_catalog
    FOR EACH ROW EXECUTE FUNCTION gnngp_internal.gp_number_columns();

CREATE FUNCTION gnngp_internal.gp_column_now(source regclass, name text, numbers jsonb) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT coalesce((SELECT a.attname::text FROM pg_attribute AS a
                     WHERE a.attrelid = source AND a.attnum::text = numbers ->> (source::oid || '.' || name)
                       AND NOT a.attisdropped), name)
$sql$;
COMMENT ON FUNCTION gnngp_internal.gp_column_now(regclass, text, jsonb) IS
    'the name of today of a column that may have been renamed since a graph named it';

-- In one query: a live answer waits for it.
CREATE FUNCTION gnngp_internal.gp_column_now(sources regclass[], names name[], numbers jsonb) RETURNS name[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT ARRAY(SELECT coalesce(a.attname, n.name)
                 FROM unnest(sources, names) WITH ORDINALITY AS n (source, name, place)
                     LEFT JOIN pg_attribute AS a ON a.attrelid = n.source AND NOT a.attisdropped
                         AND a.attnum::text = numbers ->> (n.source::oid || '.' || n.name)
                 ORDER BY n.place)
$sql$;
COMMENT ON FUNCTION gnngp_internal.gp_column_now(regclass[], name[], jsonb) IS 'the same of a column of each table';

CREATE FUNCTION gnngp_internal.gp_column_now(source regclass, names name[], numbers jsonb) RETURNS name[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT gnngp_internal.gp_column_now(array_fill(source, ARRAY[cardinality(names)]), names, numbers)
$sql$;
COMMENT ON FUNCTION gnngp_internal.gp_column_now(regclass, name[], jsonb) IS 'the same of several columns of a table';

CREATE FUNCTION gnngp_internal.gp_asks(task gnngp_internal.gp_graph_catalog) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT CASE task.form WHEN 'expression' THEN task.task_target ELSE
        task.entity::regclass || '.' || quote_ident(gnngp_internal.gp_column_now(task.entity, task.task_target, task.numbers)) END
$sql$;
COMMENT ON FUNCTION gnngp_internal.gp_asks(gnngp_internal.gp_graph_catalog) IS
    'what a task asks: its expression, or the column that holds the labels; NULL for a graph';

-- A graph as it is now: columns that were renamed have their names of today.
CREATE VIEW gnngp_internal.gp_graph_now WITH (security_invoker = true) AS
    SELECT g.id, g.name, g.owner, g.created, g.nodes, g.edges,
           gnngp_internal.gp_column_now(coalesce(g.nodes, g.edges), g.id_column, g.numbers)::name AS id_column,
           gnngp_internal.gp_column_now(coalesce(g.nodes, g.edges), g.features, g.numbers) AS features,
           gnngp_internal.gp_column_now(coalesce(g.nodes, g.edges), g.target, g.numbers)::name AS target,
           gnngp_internal.gp_column_now(g.edges, g.src, g.numbers)::name AS src,
           gnngp_internal.gp_column_now(g.edges, g.dst, g.numbers)::name AS dst,
           gnngp_internal.gp_column_now(g.edges, g.weight, g.numbers)::name AS weight,
           gnngp_internal.gp_column_now(g.edges, g.edge_time, g.numbers)::name AS edge_time,
           gnngp_internal.gp_column_now(g.edges, g.edge_features, g.numbers) AS edge_features,
           g.directed, g.sparse_features, g.scale, g.nodes_name, g.edges_name, g.sparse_features_name, g.kinds,
           g.tables, g.tables_name, g.tables_kind, g.tables_timed,
           gnngp_internal.gp_column_now(g.tables, g.tables_time, g.numbers) AS tables_time,
           g.times, g.keys, g.exclude, g.time_zone, g.of_graph, g.form, g.entity, g.entity_name, g.entity_kind,
           gnngp_internal.gp_column_now(g.entity, g.entity_column, g.numbers)::name AS entity_column,
           g.entity_column AS entity_given,
           gnngp_internal.gp_column_now(g.entity, g.task_target, g.numbers) AS task_target,
           g.task_filter, g.task_path,
           gnngp_internal.gp_column_now(g.entity, g.time_column, g.numbers)::name AS time_column,
           g.horizon, g.every, g.since, g.label_rows,
           gnngp_internal.gp_asks(g) AS asks,
           -- what says whether a live state is of the graph: names as they are stored, which a dump keeps
           concat_ws(E'\n', g.form, g.entity_name, g.entity_column, g.task_target, g.horizon, g.id_column, g.src, g.dst,
                     coalesce(g.weight, ''), g.directed, g.sparse_features IS NOT NULL, g.scale, g.features,
                     g.edge_features) AS shape
    FROM gnngp_internal.gp_graph_catalog g;
COMMENT ON VIEW gnngp_internal.gp_graph_now IS 'graphs, with the names that their columns have today';

CREATE UNIQUE INDEX gp_graph_catalog_owner_name
    ON gnngp_internal.gp_graph_catalog (name, gnngp_internal.gp_role_oid(owner));
CREATE INDEX ON gnngp_internal.gp_graph_catalog (of_graph);

CREATE TABLE gnngp_internal.gp_model_catalog (
    id bigserial PRIMARY KEY,
    version bigint NOT NULL,
    name text NOT NULL,
    owner gnngp_internal.gp_role NOT NULL,
    graph bigint NOT NULL,
    fitted timestamp with time zone,
    -- what was asked for
    asked_kernel text,
    asked_task text,
    asked_strategy text,
    asked_landmarks integer,
    asked_nugget double precision,
    asked_seed bigint,
    asked_method text,
    asked_live boolean,
    -- what came out
    task text,
    kernel text,
    alternatives jsonb,
    power double precision,
    strategy text,
    device text,
    nodes bigint,
    edges bigint,
    features bigint,
    classes integer,
    labelled bigint,
    landmarks bigint,
    nugget double precision,
    log_marginal_likelihood double precision,
    loo_score double precision,
    seconds double precision,
    peak_bytes bigint,
    -- what predictions need
    id_type text,
    integer_ids boolean,
    class_labels text[],
    scale double precision,
    mean_diag double precision,
    jitter double precision,
    exact_diagonal boolean,
    live_bytes bigint,
    notices text[],
    -- of a task
    relations integer,
    facts bigint,
    rows bigint,
    forward_score double precision,
    -- the link part; its method is NULL where there is none, as the task is without a node part
    link_version bigint NOT NULL DEFAULT 0,
    link_fitted timestamp with time zone,
    link_asked_kernel text,
    link_asked_method text,
    link_asked_seed bigint,
    link_asked_keep integer,
    link_asked_min_probability double precision,
    link_asked_missing_share double precision,
    link_method text,
    link_nodes bigint,
    link_edges bigint,
    link_pairs bigint,
    link_auc double precision,
    link_average_precision double precision,
    link_steps integer,
    link_seconds double precision,
    link_peak_bytes bigint,
    link_id_type text,
    link_integer_ids boolean,
    link_kept_bytes bigint,
    link_notices text[],
    CONSTRAINT notices CHECK (array_position(notices || link_notices, NULL) IS NULL),
    CONSTRAINT node_part CHECK (task IS NULL OR task IN ('classification', 'regression') AND num_nulls(asked_method, strategy, id_type, nodes, labelled, integer_ids) = 0
           AND labelled BETWEEN 1 AND coalesce(rows, nodes) AND nodes BETWEEN CASE WHEN rows > 0 THEN 0 ELSE 1 END AND 2147483647
           AND (kernel IS NOT NULL OR coalesce(live_bytes, 0) = 0)),
    CONSTRAINT node_classes CHECK (task IS NULL OR coalesce(classes, 0) = coalesce(cardinality(class_labels), 0) AND coalesce(classes, 0) BETWEEN 0 AND 65535
           AND (coalesce(classes, 0) > 0) = (task = 'classification') AND array_position(class_labels, NULL) IS NULL),
    CONSTRAINT link_part CHECK (link_method IS NULL OR num_nulls(link_id_type, link_nodes, link_asked_keep) = 0 AND link_nodes BETWEEN 1 AND 2147483647
           AND link_asked_keep >= 0)
);

CREATE UNIQUE INDEX gp_model_catalog_owner_name
    ON gnngp_internal.gp_model_catalog (name, gnngp_internal.gp_role_oid(owner));
CREATE INDEX ON gnngp_internal.gp_model_catalog (graph);

CREATE TABLE gnngp_internal.gp_block (
    model bigint,
    version bigint,
    part text,
    block integer,
    first_key bigint,
    nrows integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (model, version, part, block)
);

-- Compressing a block could not be interrupted, and numbers hardly shrink.
ALTER TABLE gnngp_internal.gp_block ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE gnngp_internal.gp_grant_catalog (
    model bigint NOT NULL,
    owner gnngp_internal.gp_role NOT NULL,
    grantee gnngp_internal.gp_role NOT NULL,
    -- a name that the grantee looks up must not mean a model of somebody else instead
    revoked boolean NOT NULL DEFAULT false,
    id bigserial PRIMARY KEY
);

CREATE UNIQUE INDEX gp_grant_catalog_model_grantee
    ON gnngp_internal.gp_grant_catalog (model, gnngp_internal.gp_role_oid(grantee));

CREATE TABLE gnngp_internal.gp_refresh_log (
    id bigserial PRIMARY KEY,
    model bigint NOT NULL,
    started timestamp with time zone NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    ended timestamp with time zone,
    outcome text NOT NULL CHECK (outcome IN ('running', 'succeeded', 'failed', 'refused', 'interrupted')),
    message text
);

CREATE INDEX ON gnngp_internal.gp_refresh_log (model);
COMMENT ON TABLE gnngp_internal.gp_graph_catalog IS 'graphs: which tables and columns they are read from';
COMMENT ON TABLE gnngp_internal.gp_model_catalog IS 'models: how they were fitted and what came out';
COMMENT ON TABLE gnngp_internal.gp_block IS 'what is stored for the nodes and the links of a model, in packed blocks';
COMMENT ON TABLE gnngp_internal.gp_grant_catalog IS 'roles that may read a model besides its owner';
COMMENT ON TABLE gnngp_internal.gp_refresh_log IS 'runs of gp_refresh';

-- Who sees what

ALTER TABLE gnngp_internal.gp_graph_catalog ENABLE ROW LEVEL SECURITY;
ALTER TABLE gnngp_internal.gp_model_catalog ENABLE ROW LEVEL SECURITY;
ALTER TABLE gnngp_internal.gp_block ENABLE ROW LEVEL SECURITY;
ALTER TABLE gnngp_internal.gp_grant_catalog ENABLE ROW LEVEL SECURITY;
ALTER TABLE gnngp_internal.gp_refresh_log ENABLE ROW LEVEL SECURITY;

-- The oid of a role that is gone is nobody's: superusers alone, for whom policies
-- do not count, see its rows.
CREATE POLICY visible ON gnngp_internal.gp_graph_catalog FOR SELECT TO PUBLIC
    USING (pg_catalog.pg_has_role(gnngp_internal.gp_role_oid(owner), 'USAGE'));

CREATE POLICY visible ON gnngp_internal.gp_grant_catalog FOR SELECT TO PUBLIC
    USING (pg_catalog.pg_has_role(gnngp_internal.gp_role_oid(owner), 'USAGE')
           OR NOT revoked
              AND (gnngp_internal.gp_role_oid(grantee) = 0
               OR pg_catalog.pg_has_role(gnngp_internal.gp_role_oid(grantee), 'USAGE'))
              AND owner::text NOT LIKE 'pg_gone:%');

-- A grant is visible to its grantee and to the owner: so is the model.  Questions
-- about one row are asked of indexes: who sees thousands of models must not wait
-- for all of them to be listed.
CREATE POLICY visible ON gnngp_internal.gp_model_catalog FOR SELECT TO PUBLIC
    USING (pg_catalog.pg_has_role(gnngp_internal.gp_role_oid(owner), 'USAGE')
           OR EXISTS (SELECT FROM gnngp_internal.gp_grant_catalog g
                      WHERE g.model = gp_model_catalog.id AND NOT g.revoked));

-- "loo" tells the owner's labels one by one, "link_loo" his links, and labels can be worked out
-- from "live": no grantee sees them.
CREATE POLICY visible ON gnngp_internal.gp_block FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m
                   WHERE m.id = gp_block.model
                     AND (gp_block.part NOT IN ('loo', 'link_loo', 'live', 'facts')
                          OR pg_catalog.pg_has_role(gnngp_internal.gp_role_oid(m.owner), 'USAGE'))));

-- The messages of errors quote the owner's data: no grantee sees them.
CREATE POLICY visible ON gnngp_internal.gp_refresh_log FOR SELECT TO PUBLIC
    USING (EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m
                   WHERE m.id = gp_refresh_log.model
                     AND pg_catalog.pg_has_role(gnngp_internal.gp_role_oid(m.owner), 'USAGE')));

GRANT SELECT ON gnngp_internal.gp_graph_catalog, gnngp_internal.gp_graph_now, gnngp_internal.gp_model_catalog, gnngp_internal.gp_block,
    gnngp_internal.gp_grant_catalog, gnngp_internal.gp_refresh_log TO PUBLIC;
GRANT SELECT ON SEQUENCE gnngp_internal.gp_graph_catalog_id_seq, gnngp_internal.gp_model_catalog_id_seq,
    gnngp_internal.gp_grant_catalog_id_seq, gnngp_internal.gp_refresh_log_id_seq TO PUBLIC;

-- Graphs and models are part of a dump
-- pg_dump adds what stands here to its query: rows whose columns are named, not numbered.
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_graph_catalog',
    'WHERE false UNION ALL SELECT d.* FROM gnngp_internal.gp_graph_catalog AS g, pg_catalog.jsonb_populate_record(g,'
    ' pg_catalog.jsonb_build_object(''numbers'', gnngp_internal.gp_dumped_numbers(g.numbers))) AS d');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_graph_catalog_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_model_catalog', '');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_model_catalog_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_block',
    'WHERE part <> ''live'' OR coalesce(nullif(current_setting(''gnngp.dump_live_state'', true), '''')::boolean, true)');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_grant_catalog', '');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_grant_catalog_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_refresh_log', '');
SELECT pg_catalog.pg_extension_config_dump('gnngp_internal.gp_refresh_log_id_seq', '');
