-- Graphs

-- Names of tables as text, too: of literals, which could else be a list of tables, and expressions.
DO $forms$
DECLARE
    form text[];
BEGIN
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['regclass', 'name a node table and an edge table as a graph, and count what they hold; copies nothing; then call gp_fit(graph)'],
        ['text', 'the same with the tables named by text']]
    LOOP
        EXECUTE format($sql$
            CREATE FUNCTION %3$s.gp_create_graph(
                graph text,
                nodes %1$s,
                edges %1$s,
                id name DEFAULT 'id',
                features text[] DEFAULT NULL,
                target name DEFAULT NULL,
                src name DEFAULT 'src',
                dst name DEFAULT 'dst',
                weight name DEFAULT NULL,
                directed boolean DEFAULT false,
                sparse_features regclass DEFAULT NULL,
                scale text DEFAULT 'auto',
                time_column name DEFAULT NULL,
                edge_features text[] DEFAULT NULL,
                OUT nodes bigint,
                OUT labels bigint,
                OUT classes bigint,
                OUT edges bigint,
                OUT edges_without_node bigint,
                OUT self_loops bigint,
                OUT duplicates bigint,
                OUT null_features bigint,
                OUT unlabelled_components bigint)
            AS 'MODULE_PATHNAME', 'gnngp_create_graph' LANGUAGE C VOLATILE PARALLEL UNSAFE;
            COMMENT ON FUNCTION %3$s.gp_create_graph(text, %1$s, %1$s, name, text[], name, name, name, name, boolean, regclass, text, name, text[]) IS %2$L
        $sql$, form[1], form[2], '@extschema@');
    END LOOP;
END $forms$;

CREATE FUNCTION @extschema@.gp_create_graph(
    graph text,
    tables regclass[],
    times jsonb DEFAULT NULL,
    keys jsonb DEFAULT NULL,
    exclude text[] DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_create_tables_graph' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_create_graph(text, regclass[], jsonb, jsonb, text[]) IS
    'name many tables, with their foreign keys and times, as a graph; nothing is copied; look with gp_relations and gp_columns, then gp_create_task';

CREATE FUNCTION @extschema@.gp_alter_graph(
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
    scale text DEFAULT NULL,
    time_column name DEFAULT NULL,
    edge_features text[] DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_alter_graph' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_alter_graph(text, regclass, regclass, name, text[], name, name, name, name, boolean, regclass, text, name, text[]) IS
    'change which tables and columns a graph is read from; NULL keeps a setting, models and grants stay; the next gp_refresh reads the new tables';

CREATE FUNCTION @extschema@.gp_alter_graph(
    graph text,
    tables regclass[] DEFAULT NULL,
    times jsonb DEFAULT NULL,
    keys jsonb DEFAULT NULL,
    exclude text[] DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_alter_tables_graph' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_alter_graph(text, regclass[], jsonb, jsonb, text[]) IS
    'change the tables, times and keys of a graph of tables; NULL keeps a setting, tasks and models stay';

CREATE FUNCTION @extschema@.gp_drop_graph(graph text) RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_drop_graph' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_drop_graph(text) IS
    'drop a graph with its tasks and models, or a task with its models; the tables stay; the view gp_graphs lists the graphs';

CREATE FUNCTION @extschema@.gp_set_owner(graph text, new_owner name) RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_set_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_set_owner(text, name) IS
    'give a graph with its models, their grants and logs to another role';
