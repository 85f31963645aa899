/*
 * schema.c - graphs of tables: making, altering, looking.
 */
#include "postgres.h"

#include "catalog/partition.h"
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
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_schema_use use;

	/* Who looks at all graphs does not wait for a table that is rewritten. */
	gnngp_pin("lock_timeout", "10ms");
	if (graph->task.form)
		gnngp_task_check(env, graph, false);
	else
	{
		gnngp_schema_begin(&use, env, graph, true);
		gnngp_schema_end(&use);
	}
	gnngp_env_destroy(env);
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
