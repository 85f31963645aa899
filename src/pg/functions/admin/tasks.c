/*
 * tasks.c - tasks on graphs of tables: making, altering, their rows.
 */
#include "postgres.h"

#include "pg/catalog/catalog_internal.h"
#include "pg/ids/given_ids.h"
#include "pg/schema/schema.h"

/* The graph of a new task, and what all tasks have. */
static gnngp_graph_def
start_task(FunctionCallInfo fcinfo, gnngp_task_form form, char *form_name)
{
	gnngp_graph_def task = {.scale = "auto"};
	gnngp_graph_def *graph;

	gnngp_prevent_read_only("gp_create_task");
	task.name = gnngp_text_argument(fcinfo, 0, "task");
	gnngp_check_name("task", task.name);
	graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 1, "graph"));
	gnngp_require_tables(graph);
	task.owner_role = graph->owner_role;
	task.owner = graph->owner;
	task.task.graph = graph->id;
	task.task.form = form;
	task.task.form_name = form_name;
	task.task.since = DT_NOBEGIN;
	return task;
}

static void
set_table(gnngp_task_def *task, Oid oid, const char *argument)
{
	gnngp_require_table(oid, argument);
	task->table = oid;
	task->table_name = gnngp_source_name_of(oid);
	task->table_kind = psprintf("%c", get_rel_relkind(oid));
}

/* The text of an interval argument, NULL where it is; 22023 unless it leads forward. */
static char *
interval_argument(FunctionCallInfo fcinfo, int argno, const char *name, bool zero_allowed)
{
	if (PG_ARGISNULL(argno))
		return NULL;
	const Interval *i = PG_GETARG_INTERVAL_P(argno);
	/* Of months less days no sum says whether it leads forward. */
	bool		zero = i->month == 0 && i->day == 0 && i->time == 0;
	if (i->month < 0 || i->day < 0 || i->time < 0 || (zero && !zero_allowed))
		gnngp_raise(INVALID_PARAMETER_VALUE, psprintf("Write %s => '30 days'.", name),
					"%s must be positive in all of its parts", name);
	char	   *text = DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(argno)));
	if (!zero && gnngp_interval_length(text) < USECS_PER_MINUTE)
		gnngp_notice(psprintf("Write %s => '30 days' for days.", name),
					 "%s is %s, less than a minute", name, text);
	return text;
}

/* Looks at a task as a fit would; tells what its expressions read that is written later. */
static void
check_task(const gnngp_graph_def *task)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	gnngp_task_check(env, task, true);
	gnngp_env_destroy(env);
}

/*
 * Takes target, horizon, every, filter, since and rows, as far as they are given, from an argument
 * on, and checks the question.  Returns what the target lacks.
 */
static const char *
read_question(FunctionCallInfo fcinfo, int first, gnngp_graph_def *def)
{
	gnngp_task_def *task = &def->task;

	/* Expressions that stay are looked up as before, by the path that they were written under. */
	if (!PG_ARGISNULL(first) || !PG_ARGISNULL(first + 3))
		task->path = NULL;
	if (!PG_ARGISNULL(first))
		task->target = gnngp_text_argument(fcinfo, first, "target");
	if (!PG_ARGISNULL(first + 1))
		task->horizon = interval_argument(fcinfo, first + 1, "horizon", false);
	if (!PG_ARGISNULL(first + 2))
		task->every = interval_argument(fcinfo, first + 2, "every", false);
	if (!PG_ARGISNULL(first + 3))
		task->filter = gnngp_text_argument(fcinfo, first + 3, "filter");
	if (!PG_ARGISNULL(first + 4))
		task->since = PG_GETARG_TIMESTAMPTZ(first + 4);
	if (TIMESTAMP_IS_NOEND(task->since))
		gnngp_raise(INVALID_PARAMETER_VALUE, "since is the first as-of time: since => '2024-01-01'.",
					"since must not be infinity");
	if (!PG_ARGISNULL(first + 5))
		task->rows = PG_GETARG_INT64(first + 5);
	if (task->rows < 1)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "rows must be at least 1");
	const char *lacking = gnngp_check_expressions(def);
	check_task(def);
	return lacking;
}

/*
 * 22004 for a target expression without a horizon.  A target that is the name of a column is no
 * question about a time: it is meant for one of the other forms.
 */
static void
refuse_no_horizon(const gnngp_graph_def *task, const char *target)
{
	const char *table = get_rel_name(task->task.table);
	const char *call = psprintf("gp_create_task(%s, %s", quote_literal_cstr(task->name),
								quote_literal_cstr(gnngp_graph_of_task(task)->name));

	if (get_attnum(task->task.table, target) == InvalidAttrNumber)
		gnngp_raise(NULL_VALUE_NOT_ALLOWED,
					psprintf("Say how far beyond t the target looks: %s, entity => %s, target => ..., horizon => '30 days').",
							 call, quote_literal_cstr(table)),
					"a task with a target expression needs a horizon");
	gnngp_raise(NULL_VALUE_NOT_ALLOWED,
				psprintf("To predict a column where it is NULL: %s, target => %s). From a table of labels: %s, labels => %s, entity => ..., target => %s).",
						 call, quote_literal_cstr(psprintf("%s.%s", table, target)),
						 call, quote_literal_cstr(table), quote_literal_cstr(target)),
				"\"%s\" is a column of table \"%s\", not a target expression with a horizon", target,
				table);
}

/* gp_create_task(task, graph, entity, target, horizon, every, filter, since, rows) */
GNNGP_FUNCTION(gnngp_create_expression_task)
{
	gnngp_graph_def task = start_task(fcinfo, GNNGP_TASK_EXPRESSION, "expression");

	gnngp_require_argument(fcinfo, 2, "entity");
	set_table(&task.task, PG_GETARG_OID(2), "entity");
	gnngp_require_argument(fcinfo, 3, "target");
	if (PG_ARGISNULL(4))
		refuse_no_horizon(&task, gnngp_text_argument(fcinfo, 3, "target"));
	gnngp_require_argument(fcinfo, 8, "rows");
	const char *lacking = read_question(fcinfo, 3, &task);
	gnngp_graph_insert(&task);
	gnngp_tell_target_lacks(&task, lacking);
	PG_RETURN_VOID();
}

/* gp_alter_task(task, target, horizon, every, filter, since, rows); what is NULL stays. */
GNNGP_FUNCTION(gnngp_alter_task)
{
	gnngp_graph_def *task;

	gnngp_prevent_read_only("gp_alter_task");
	task = gnngp_graph_to_change(gnngp_text_argument(fcinfo, 0, "task"));
	if (task->task.form != GNNGP_TASK_EXPRESSION)
		gnngp_raise(WRONG_OBJECT_TYPE,
					"gp_alter_graph changes a graph. A task on a column or on a table of labels follows renamed columns; to change it, drop it with gp_drop_graph and create it again.",
					"\"%s\" is not a task with a target expression", task->name);
	const char *lacking = read_question(fcinfo, 1, task);
	gnngp_graph_update(task);
	gnngp_tell_target_lacks(task, lacking);
	PG_RETURN_VOID();
}

/* gp_create_task(task, graph, labels, entity, target, time_column, horizon) */
GNNGP_FUNCTION(gnngp_create_labels_task)
{
	gnngp_graph_def task = start_task(fcinfo, GNNGP_TASK_LABELS, "labels");

	gnngp_require_argument(fcinfo, 2, "labels");
	set_table(&task.task, PG_GETARG_OID(2), "labels");
	if (PG_ARGISNULL(3) || PG_ARGISNULL(4))
		gnngp_raise(NULL_VALUE_NOT_ALLOWED,
					PG_ARGISNULL(5) && PG_ARGISNULL(6) ?
					"Pass two columns of the table of labels: entity, the key of the row that a label is about, and target, the label. To ask what will happen to the rows of this table, pass horizon => interval '30 days' as well." :
					"Pass two columns of the table of labels: entity, the key of the row that a label is about, and target, the label. To predict a column of the table's own rows, pass target => 'table.column' alone, without the table, horizon and time_column.",
					"%s must not be NULL", PG_ARGISNULL(3) ? "entity" : "target");
	task.task.entity_column = pstrdup(NameStr(*PG_GETARG_NAME(3)));
	task.task.target = pstrdup(NameStr(*PG_GETARG_NAME(4)));
	if (!PG_ARGISNULL(5))
		task.task.time_column = pstrdup(NameStr(*PG_GETARG_NAME(5)));
	task.task.horizon = interval_argument(fcinfo, 6, "horizon", true);
	check_task(&task);
	gnngp_graph_insert(&task);
	PG_RETURN_VOID();
}

/* gp_create_task(task, graph, target) */
GNNGP_FUNCTION(gnngp_create_column_task)
{
	gnngp_graph_def task = start_task(fcinfo, GNNGP_TASK_COLUMN, "column");
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	Oid			table = gnngp_task_column(env, &task, gnngp_text_argument(fcinfo, 2, "target"));

	set_table(&task.task, table, "target");
	check_task(&task);
	gnngp_graph_insert(&task);
	PG_RETURN_VOID();
}

/* gp_task_rows(task), or with a NULL of the type of the ids */
GNNGP_FUNCTION(gnngp_task_rows_sql)
{
	gnngp_graph_def *task = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "task"));
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_result *result = gnngp_result_start(fcinfo);
	gnngp_model model = {.name = task->name,.owner_role = task->owner_role};
	Oid			type = PG_NARGS() > 1 ? get_fn_expr_argtype(fcinfo->flinfo, 1) : INT8OID;
	gnngp_column id;
	gnngp_id_type ids;
	int64		n;

	if (!task->task.form)
		gnngp_raise(WRONG_OBJECT_TYPE, "Make a task on it with gp_create_task.",
					"\"%s\" is a graph, not a task", task->name);
	const gnngp_task_row *row = gnngp_read_task_rows(env, task, &id, &n);
	model.integer_ids = gnngp_is_integer_type(id.base);
	model.id_type = gnngp_type_name(id.type);
	if (type == TEXTOID)
		gnngp_id_type_open_argument(&ids, &model, fcinfo, 1);
	else						/* nodes are of this very type, be it smaller, or an array */
		gnngp_id_type_open(&ids, &model, type);
	for (int64 i = 0; i < n; i++)
		gnngp_emit(result, gnngp_out(gnngp_id_type_datum(&ids, &row[i].id)),
				   gnngp_out(TimestampTzGetDatum((TimestampTz) row[i].as_of)),
				   gnngp_out_text(row[i].target));
	gnngp_env_destroy(env);
	return (Datum) 0;
}
