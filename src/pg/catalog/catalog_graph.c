/*
 * catalog_graph.c - rows of gp_graph_catalog.
 *
 * One table says which column holds which member of gnngp_graph_def.
 */
#include "postgres.h"

#include <stddef.h>

#include "catalog_internal.h"

#define COLUMN(name, type, member) {name, type, offsetof(gnngp_graph_def, member), 0, false}

/* What is written, the owner first, */
static const gnngp_member columns[] = {
	COLUMN("owner", REGROLEOID, owner_role),
	COLUMN("name", TEXTOID, name),
	COLUMN("nodes", REGCLASSOID, nodes),
	COLUMN("edges", REGCLASSOID, edges),
	COLUMN("id_column", TEXTOID, id_column),
	COLUMN("features", TEXTARRAYOID, features),
	COLUMN("target", TEXTOID, target),
	COLUMN("src", TEXTOID, src),
	COLUMN("dst", TEXTOID, dst),
	COLUMN("weight", TEXTOID, weight),
	COLUMN("directed", BOOLOID, directed),
	COLUMN("sparse_features", REGCLASSOID, sparse_features),
	COLUMN("scale", TEXTOID, scale),
	COLUMN("edge_time", TEXTOID, time),
	COLUMN("edge_features", TEXTARRAYOID, edge_features),
	COLUMN("nodes_name", NAMEARRAYOID, nodes_name),
	COLUMN("edges_name", NAMEARRAYOID, edges_name),
	COLUMN("sparse_features_name", NAMEARRAYOID, sparse_name),
	COLUMN("kinds", TEXTOID, kinds),
	COLUMN("tables", REGCLASSARRAYOID, tables.tables),
	COLUMN("tables_name", TEXTARRAYOID, tables.names),
	COLUMN("tables_kind", TEXTOID, tables.kinds),
	COLUMN("tables_timed", TEXTOID, tables.timed),
	COLUMN("tables_time", TEXTARRAYOID, tables.time),
	COLUMN("times", JSONBOID, tables.times),
	COLUMN("keys", JSONBOID, tables.keys),
	COLUMN("exclude", TEXTARRAYOID, tables.exclude),
	COLUMN("time_zone", TEXTOID, tables.time_zone),
	COLUMN("of_graph", INT8OID, task.graph),
	COLUMN("form", TEXTOID, task.form_name),
	COLUMN("entity", REGCLASSOID, task.table),
	COLUMN("entity_name", NAMEARRAYOID, task.table_name),
	COLUMN("entity_kind", TEXTOID, task.table_kind),
	COLUMN("entity_column", TEXTOID, task.entity_column),
	COLUMN("task_target", TEXTOID, task.target),
	COLUMN("task_filter", TEXTOID, task.filter),
	COLUMN("task_path", TEXTOID, task.path),
	COLUMN("time_column", TEXTOID, task.time_column),
	COLUMN("horizon", INTERVALOID, task.horizon),
	COLUMN("every", INTERVALOID, task.every),
	COLUMN("since", TIMESTAMPTZOID, task.since),
	COLUMN("label_rows", INT8OID, task.rows),
	/* and what else is read. */
	COLUMN("id", INT8OID, id),
	COLUMN("owner", TEXTOID, owner),
	COLUMN("shape", TEXTOID, shape),
	COLUMN("entity_given", TEXTOID, task.entity_given),
};

#define NCOLUMNS ((int) lengthof(columns) - 4)	/* that are written */

/* The graph that a name means, or without one an id. */
static gnngp_graph_def *
find_graph(const char *name, int64 id)
{
	static const char *const forms[] = {
		[GNNGP_TASK_EXPRESSION] = "expression",[GNNGP_TASK_LABELS] = "labels",
		[GNNGP_TASK_COLUMN] = "column"
	};
	gnngp_graph_def *def = palloc0(sizeof(gnngp_graph_def));

	(void) gnngp_find_record(&gnngp_graph_kind, name, id, false, columns, lengthof(columns), def);
	int			form = def->task.form_name ? lengthof(forms) - 1 : 0;
	while (form > 0 && strcmp(forms[form], def->task.form_name) != 0)
		form--;
	def->task.form = form;
	return def;
}

gnngp_graph_def *
gnngp_own_graph(const char *name)
{
	gnngp_graph_def *def = find_graph(name, 0);

	gnngp_require_owner(def->owner_role, "graph", def->name);
	return def;
}

gnngp_graph_def *
gnngp_graph_by_id(int64 id)
{
	return find_graph(NULL, id);
}

void
gnngp_require_tables(const gnngp_graph_def *graph)
{
	if (graph->tables.tables.oid)
		return;
	/* Looked up before the error begins: it is a query. */
	const char *of = graph->task.form ? quote_literal_cstr(gnngp_graph_of_task(graph)->name) : NULL;
	gnngp_raise(WRONG_OBJECT_TYPE,
				of ? psprintf("Name its graph: %s.", of) :
				"Make one with gp_create_graph(graph, tables => '{...}').",
				"\"%s\" is %s, not a graph of tables", graph->name,
				of ? "a task" : "a graph of nodes and edges");
}

void
gnngp_require_edges(const gnngp_graph_def *graph)
{
	if (graph->task.form)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"Tasks work with gp_fit, gp_estimate and the functions that read models. Links, groups and gp_tune need a graph of nodes and edges.",
					"\"%s\" is a task on a graph of tables, and has no edges", graph->name);
	if (graph->tables.tables.oid)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					psprintf("Create a task on it with gp_create_task(task, %s, ...), then call gp_fit(task). Links, groups and gp_tune need a graph of nodes and edges.",
							 quote_literal_cstr(graph->name)),
					"graph \"%s\" is a graph of tables, without a target or edges of its own",
					graph->name);
}

gnngp_graph_def *
gnngp_graph_of_task(const gnngp_graph_def *task)
{
	/* The caller of a live answer may not see it. */
	gnngp_identity saved = gnngp_become_extension();
	gnngp_graph_def *graph = gnngp_graph_by_id(task->task.graph);

	gnngp_become_again(&saved);
	return graph;
}

List *
gnngp_graph_tasks(int64 id)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *tasks = NIL;

	gnngp_spi_connect();
	gnngp_execute(GNNGP_LATEST,
				  "SELECT id FROM gnngp_internal.gp_graph_catalog WHERE of_graph = $1 ORDER BY id",
				  gnngp_param_int8(id));
	int			n = (int) SPI_processed;
	int64	   *task = MemoryContextAlloc(context, sizeof(int64) * Max(n, 1));
	for (int i = 0; i < n; i++)
		task[i] = gnngp_found_int64(i);
	gnngp_spi_finish();
	for (int i = 0; i < n; i++)
		tasks = lappend(tasks, gnngp_graph_by_id(task[i]));
	return tasks;
}

/*
 * Another session may have changed the row since the statement began, so that it is read again as
 * it is now: what is written back must not undo that.
 */
gnngp_graph_def *
gnngp_graph_to_change(const char *name)
{
	gnngp_graph_def *def = gnngp_own_graph(name);

	gnngp_spi_connect();
	(void) gnngp_lock_whole_graph(def);
	gnngp_spi_finish();
	PushActiveSnapshot(GetLatestSnapshot());
	def = gnngp_graph_by_id(def->id);
	PopActiveSnapshot();
	return def;
}

/* Writes the row of an id, or a new one; false where there is one of this name. */
static bool
write_row(const gnngp_graph_def *def, int64 id)
{
	gnngp_param param[NCOLUMNS] = {gnngp_param_text(NULL)};	/* the owner stays */

	for (int i = id == 0 ? 0 : 1; i < NCOLUMNS; i++)
		param[i] = gnngp_member_save(&columns[i], def);
	gnngp_spi_connect();
	bool		written = gnngp_members_write(&gnngp_graph_kind, columns, NCOLUMNS, param, id) != 0;
	gnngp_spi_finish();
	return written;
}

void
gnngp_graph_insert(const gnngp_graph_def *def)
{
	gnngp_graph_name_lock(def->owner_role, def->name);
	if (write_row(def, 0))
		return;
	gnngp_graph_def there = {0};
	(void) gnngp_find_record(&gnngp_graph_kind, def->name, 0, true, columns, lengthof(columns),
							 &there);
	const char *form = there.task.form_name;
	gnngp_raise(DUPLICATE_OBJECT,
				form && strcmp(form, "expression") != 0 ?
				"Choose another name, or drop it with gp_drop_graph." :
				psprintf("Choose another name, change it with %s, or drop it with gp_drop_graph.",
						 form ? "gp_alter_task" : "gp_alter_graph"),
				"a %s \"%s\" already exists", form ? "task" : there.id > 0 ? "graph" : "graph or task",
				def->name);
}

void
gnngp_graph_update(const gnngp_graph_def *def)
{
	(void) write_row(def, def->id);
}
