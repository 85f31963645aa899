/*
 * schema.c - graphs of tables, and tasks on them: making, altering, looking.
 */
#include "postgres.h"

#include "catalog/partition.h"
#include "pg/catalog/catalog_internal.h"
#include "pg/ids/given_ids.h"
#include "pg/reader/reader.h"
#include "pg/schema/schema.h"

/* The arguments of gp_create_graph and gp_alter_graph for tables. */
enum tables_argument
{
	ARG_GRAPH, ARG_TABLES, ARG_TIMES, ARG_KEYS, ARG_EXCLUDE
};

/* True for an element that came before, or a partition of one. */
static bool
is_among(Oid oid, const Datum *element, const bool *null, int n, int place)
{
	ListCell   *cell;
	List	   *above = get_rel_relispartition(oid) ? get_partition_ancestors(oid) : NIL;

	for (int k = 0; k < n; k++)
	{
		if (!null[k] && k < place && DatumGetObjectId(element[k]) == oid)
			return true;
		foreach(cell, above)
			if (!null[k] && DatumGetObjectId(element[k]) == lfirst_oid(cell))
				return true;
	}
	return false;
}

/*
 * Reads the list of tables, their names and kinds; a table that is named twice, or with the table
 * that it is a partition of, counts once.
 */
static void
read_tables(FunctionCallInfo fcinfo, gnngp_tables_def *def)
{
	Datum	   *element;
	bool	   *null;
	int			n = gnngp_array_elements(PG_GETARG_ARRAYTYPE_P(ARG_TABLES), &element, &null);

	gnngp_require_list(PG_GETARG_ARRAYTYPE_P(ARG_TABLES), "tables");
	def->tables = (gnngp_oids) {0, palloc(sizeof(Oid) * Max(n, 1))};
	def->names = (gnngp_texts) {0, palloc(sizeof(char *) * Max(2 * n, 1))};
	def->kinds = palloc0(n + 1);
	for (int i = 0; i < n; i++)
	{
		Oid			oid = null[i] ? InvalidOid : DatumGetObjectId(element[i]);

		if (null[i])
			gnngp_raise(NULL_VALUE_NOT_ALLOWED, NULL, "tables must not contain NULL");
		gnngp_require_table(oid, "tables");
		if (is_among(oid, element, null, n, i))
			continue;
		def->kinds[def->tables.n] = get_rel_relkind(oid);
		def->tables.oid[def->tables.n++] = oid;
		def->names.text[def->names.n++] = get_namespace_name(get_rel_namespace(oid));
		def->names.text[def->names.n++] = get_rel_name(oid);
	}
	if (def->tables.n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Name the tables: tables => '{customers,orders}'.",
					"\"tables\" names no table");
}

static char *
json_argument(FunctionCallInfo fcinfo, int argno)
{
	return DatumGetCString(DirectFunctionCall1(jsonb_out, PG_GETARG_DATUM(argno)));
}

/*
 * Which tables had which time before; of others that is not known.  With other keys a table may
 * have a time that it had not.
 */
static void
keep_times(gnngp_tables_def *def, const gnngp_tables_def *former, bool other_keys)
{
	int			n = def->tables.n;
	char	   *timed = palloc0(n + 1);

	def->time = (gnngp_texts) {n, palloc(sizeof(char *) * n)};
	for (int i = 0; i < n; i++)
	{
		timed[i] = GNNGP_TIME_UNREAD;
		def->time.text[i] = "";
		for (int k = 0; k < former->tables.n; k++)
			if (former->tables.oid[k] == def->tables.oid[i] &&
				!(other_keys && former->timed[k] == '-'))
			{
				timed[i] = former->timed[k];
				def->time.text[i] = former->time.text[k];
			}
	}
	def->timed = timed;
}

/* Notes the time of each table that could be read. */
static void
note_times(gnngp_tables_def *def, const gnngp_schema *s, MemoryContext context)
{
	for (int i = 0; i < def->tables.n; i++)
	{
		int			place = gnngp_schema_find(s, def->tables.oid[i]);
		const gnngp_schema_table *t = &s->table[Max(place, 0)];

		def->timed[i] = place < 0 ? GNNGP_TIME_UNREAD : t->time < 0 ? '-' : 't';
		def->time.text[i] = place < 0 || t->time < 0 ? "" :
			MemoryContextStrdup(context, t->column[t->time].column.name);
	}
}

/* Looks at a graph as it is made, with NOTICEs; notes the times of its tables in a context. */
static void
look_anew(gnngp_graph_def *def, MemoryContext context)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_identity saved = gnngp_become(GetUserId());

	gnngp_pin("search_path", "pg_catalog, pg_temp");
	gnngp_spi_connect();
	const gnngp_schema *s = gnngp_schema_open(env, def, true);
	if (context)
		note_times(&def->tables, s, context);
	gnngp_spi_finish();
	gnngp_become_again(&saved);
	gnngp_env_destroy(env);
}

/* For gnngp_attempt. */
static void
look_in_silence(void *arg)
{
	gnngp_pin("client_min_messages", "error");
	look_anew(arg, NULL);
}

/* From here on until the call ends, NOTICEs that the graph gives as it is are not repeated. */
static void
know_notices(gnngp_graph_def *def)
{
	int			level = NewGUCNestLevel();
	int			n;

	gnngp_notices_begin(CurrentMemoryContext);
	/* An error ends that look: a table may have been dropped, and the graph is to be mended. */
	(void) gnngp_attempt_but_cancel(look_in_silence, def);
	AtEOXact_GUC(false, level);
	char	  **given = gnngp_notices_given(&n);
	for (int i = 0; i < n; i++)
		gnngp_notices_add_former(given[i]);
}

/* Takes the arguments that are given, and looks at the graph that they make. */
static void
read_arguments(FunctionCallInfo fcinfo, gnngp_graph_def *def)
{
	gnngp_tables_def former = def->tables;

	if (!PG_ARGISNULL(ARG_TABLES))
		read_tables(fcinfo, &def->tables);
	def->tables.anew = !PG_ARGISNULL(ARG_TIMES);
	if (def->tables.anew)
		def->tables.times = json_argument(fcinfo, ARG_TIMES);
	if (!PG_ARGISNULL(ARG_KEYS))
		def->tables.keys = json_argument(fcinfo, ARG_KEYS);
	if (!PG_ARGISNULL(ARG_EXCLUDE))
		def->tables.exclude = gnngp_texts_argument(fcinfo, ARG_EXCLUDE, "exclude");
	keep_times(&def->tables, &former, !PG_ARGISNULL(ARG_KEYS));
	look_anew(def, CurrentMemoryContext);
}

/* gp_create_graph(graph, tables, times, keys, exclude) */
GNNGP_FUNCTION(gnngp_create_tables_graph)
{
	gnngp_graph_def def = {.scale = "auto"};

	gnngp_prevent_read_only("gp_create_graph");
	def.name = gnngp_text_argument(fcinfo, ARG_GRAPH, "graph");
	gnngp_check_name("graph", def.name);
	gnngp_require_argument(fcinfo, ARG_TABLES, "tables");
	def.owner_role = GetUserId();
	def.owner = GetUserNameFromId(def.owner_role, false);
	def.tables.time_zone = pstrdup(GetConfigOption("TimeZone", false, false));
	read_arguments(fcinfo, &def);
	gnngp_graph_insert(&def);
	PG_RETURN_VOID();
}

/* gp_alter_graph(graph, tables, times, keys, exclude); what is NULL stays. */
GNNGP_FUNCTION(gnngp_alter_tables_graph)
{
	gnngp_prevent_read_only("gp_alter_graph");
	gnngp_graph_def *def = gnngp_graph_to_change(gnngp_text_argument(fcinfo, ARG_GRAPH, "graph"));
	gnngp_require_tables(def);
	know_notices(def);
	read_arguments(fcinfo, def);
	gnngp_graph_update(def);
	PG_RETURN_VOID();
}

/* ---- tasks ---- */

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

/* Looks at a task as a fit would. */
static void
check_task(const gnngp_graph_def *task)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	gnngp_task_check(env, task);
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
					"Pass two columns of the table of labels: entity, the key of the row that a label is about, and target, the label. To ask what will happen to the rows of this table, pass horizon => interval '30 days' as well.",
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

/* ---- looking ---- */

/* A graph of tables, or a task's graph. */
static gnngp_graph_def *
tables_argument(FunctionCallInfo fcinfo)
{
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));

	if (graph->task.form)
		return gnngp_graph_of_task(graph);
	gnngp_require_tables(graph);
	return graph;
}

/* A name, NULL where there is none. */
static NullableDatum
name_cell(const char *name)
{
	return name ? gnngp_out(DirectFunctionCall1(namein, CStringGetDatum(name))) : GNNGP_OUT_NULL;
}

static NullableDatum
time_cell(const gnngp_schema_table *t)
{
	return name_cell(t->time < 0 ? NULL : t->column[t->time].column.name);
}

/* gp_relations(graph) */
GNNGP_FUNCTION(gnngp_relations)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	gnngp_graph_def *graph = tables_argument(fcinfo);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_schema_use use;

	gnngp_schema_begin(&use, env, graph, true);
	for (int i = 0; i < use.schema->nrelations + use.schema->naside; i++)
	{
		const gnngp_schema_relation *r = &use.schema->relation[i];
		const gnngp_schema_table *child = &use.schema->table[r->child];
		const gnngp_schema_table *parent = &use.schema->table[r->parent];

		gnngp_emit(result, gnngp_out_text(r->name), gnngp_out(ObjectIdGetDatum(child->table.oid)),
				   gnngp_out(ObjectIdGetDatum(parent->table.oid)), time_cell(child),
				   time_cell(parent), gnngp_out_text(gnngp_relation_note(use.schema, i)));
	}
	gnngp_schema_end(&use);
	gnngp_env_destroy(env);
	return (Datum) 0;
}

/* A graph of tables, or a task, that is looked at for its problem. */
static void
look_at_graph(void *arg)
{
	const gnngp_graph_def *graph = arg;
	gp_env	   *env;
	gnngp_schema_use use;

	/* Who looks at all graphs does not wait for a table that is rewritten. */
	gnngp_pin("lock_timeout", "10ms");
	if (graph->task.form)
		check_task(graph);
	else
	{
		env = gnngp_env_create(CurrentMemoryContext);
		gnngp_schema_begin(&use, env, graph, true);
		gnngp_schema_end(&use);
		gnngp_env_destroy(env);
	}
}

/* gp_graph_problem(id): why a graph of tables or a task cannot be read, for its owner. */
GNNGP_FUNCTION(gnngp_graph_problem)
{
	gnngp_graph_def *graph = gnngp_graph_by_id(PG_GETARG_INT64(0));
	int			level = NewGUCNestLevel();
	ErrorData  *error;

	gnngp_require_owner(graph->owner_role, "graph", graph->name);
	error = OidIsValid(graph->edges) ? NULL : gnngp_attempt_but_cancel(look_at_graph, graph);
	AtEOXact_GUC(false, level);
	if (error == NULL || error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(error->message));
}

static void
emit_column(void *result, Oid table, const char *column, const char *encoding, int width,
			const char *note)
{
	gnngp_emit((gnngp_result *) result, gnngp_out(ObjectIdGetDatum(table)), name_cell(column),
			   gnngp_out_text(encoding), gnngp_out(Int32GetDatum(width)),
			   gnngp_out_text(note && note[0] != '\0' ? note : NULL));
}

/* The columns of a graph of nodes and edges. */
static void
emit_graph_columns(void *result, const gnngp_graph_def *graph, const gnngp_data *data)
{
	int			nedges = graph->edge_features.n;
	int			own = data->features ? (int) data->features->dims : 0;

	for (int i = 0; i <= nedges && data->edge_numbers; i++)
		own -= data->edge_numbers[i];
	for (int i = 0; i < graph->features.n; i++)
	{
		char		way[100] = "number";
		char		note[200] = "";
		/* One column alone that is not encoded may be an array. */
		int			width = graph->features.n == 1 ? own : 1;

		if (data->encoding)
			width = gp_encoding_describe(data->encoding, i, way, sizeof(way), note, sizeof(note));
		emit_column(result, graph->nodes, graph->features.text[i], way, width, note);
	}
	for (int i = 0; i < nedges; i++)
	{
		AttrNumber	column = get_attnum(graph->edges, graph->edge_features.text[i]);
		bool		time = gnngp_is_time_type(getBaseType(get_atttype(graph->edges, column)));

		emit_column(result, graph->edges, graph->edge_features.text[i],
					time ? "age of the newest" : "sum, mean, maximum", data->edge_numbers[i], NULL);
	}
	if (nedges > 0)
		emit_column(result, graph->edges, NULL, "number of edges", data->edge_numbers[nedges], NULL);
}

/* gp_columns(graph) */
GNNGP_FUNCTION(gnngp_columns)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	if (OidIsValid(graph->edges))
		emit_graph_columns(result, graph, gnngp_read(env, graph, "auto", false, false));
	else
	{
		(void) tables_argument(fcinfo);
		gnngp_read_columns(env, graph, emit_column, result);
	}
	gnngp_env_destroy(env);
	return (Datum) 0;
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
