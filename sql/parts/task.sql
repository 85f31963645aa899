-- Graphs of tables, and the questions that are asked of them

CREATE FUNCTION @extschema@.gp_relations(graph text)
RETURNS TABLE (relation text, child regclass, parent regclass, child_time name, parent_time name, note text)
AS 'MODULE_PATHNAME', 'gnngp_relations' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 20;
COMMENT ON FUNCTION @extschema@.gp_relations(text) IS
    'the foreign keys of a graph of tables, and the times of both ends: what was understood';

CREATE FUNCTION @extschema@.gp_columns(graph text)
RETURNS TABLE (tab regclass, col name, encoding text, columns integer, note text)
AS 'MODULE_PATHNAME', 'gnngp_columns' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 50;
COMMENT ON FUNCTION @extschema@.gp_columns(text) IS
    'how each column of a graph of tables is encoded, and which are left out and why';

CREATE FUNCTION @extschema@.gp_create_task(
    task text,
    graph text,
    entity regclass,
    target text,
    horizon interval DEFAULT NULL,
    every interval DEFAULT NULL,
    filter text DEFAULT NULL,
    since timestamp with time zone DEFAULT NULL,
    rows bigint DEFAULT 100000)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_create_expression_task' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_create_task(text, text, regclass, text, interval, interval, text, timestamp with time zone, bigint) IS
    'predict what becomes true of the rows of a table within a horizon: SQL expressions over e (the row), t (the as-of time) and horizon; then gp_fit(task)';

CREATE FUNCTION @extschema@.gp_create_task(
    task text,
    graph text,
    labels regclass,
    entity name DEFAULT NULL,
    target name DEFAULT NULL,
    time_column name DEFAULT NULL,
    horizon interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_create_labels_task' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_create_task(text, text, regclass, name, name, name, interval) IS
    'predict the labels that are NULL in a table of labels, where a row has an entity and a time; then gp_fit(task)';

CREATE FUNCTION @extschema@.gp_create_task(task text, graph text, target text)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_create_column_task' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_create_task(text, text, text) IS
    'predict a column, given as ''table.column'', where it is NULL, each row as of its own time; then gp_fit(task)';

CREATE FUNCTION @extschema@.gp_alter_task(
    task text,
    target text DEFAULT NULL,
    horizon interval DEFAULT NULL,
    every interval DEFAULT NULL,
    filter text DEFAULT NULL,
    since timestamp with time zone DEFAULT NULL,
    rows bigint DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_alter_task' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_alter_task(text, text, interval, interval, text, timestamp with time zone, bigint) IS
    'change the expressions of a task; NULL keeps a setting, models and grants stay; the next gp_refresh asks the new question';

CREATE FUNCTION @extschema@.gp_task_rows(task text)
RETURNS TABLE (node bigint, as_of timestamp with time zone, target text)
AS 'MODULE_PATHNAME', 'gnngp_task_rows_sql' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.gp_task_rows(text) IS
    'the labels of a task, to look at before anything is fitted';

CREATE FUNCTION @extschema@.gp_task_rows(task text, id anyelement)
RETURNS TABLE (node anyelement, as_of timestamp with time zone, target text)
AS 'MODULE_PATHNAME', 'gnngp_task_rows_sql' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.gp_task_rows(text, anyelement) IS
    'the same with nodes of the type of a NULL: gp_task_rows(''t'', NULL::uuid)';

CREATE FUNCTION @extschema@.gp_task_rows(task text, id text)
RETURNS TABLE (node text, as_of timestamp with time zone, target text)
AS 'MODULE_PATHNAME', 'gnngp_task_rows_sql' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.gp_task_rows(text, text) IS
    'the same with nodes as texts, whatever the type of their ids: gp_task_rows(''t'', NULL)';

CREATE FUNCTION @extschema@.gp_backtest(task text)
RETURNS TABLE (since timestamp with time zone, until timestamp with time zone, labelled bigint, metric text, value double precision)
AS 'MODULE_PATHNAME', 'gnngp_backtest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 50;
COMMENT ON FUNCTION @extschema@.gp_backtest(text) IS
    'how good the model of a task would have been: each block of time predicted from earlier blocks only';
