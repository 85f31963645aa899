/*
 * graph.c - gp_create_graph, gp_alter_graph and gp_drop_graph.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "graph_counts.h"
#include "parser/scansup.h"
#include "pg/catalog/catalog_internal.h"
#include "pg/reader/reader.h"
#include "utils/builtins.h"

/* The arguments of gp_create_graph and gp_alter_graph. */
enum graph_argument
{
	ARG_GRAPH, ARG_NODES, ARG_EDGES, ARG_ID, ARG_FEATURES, ARG_TARGET, ARG_SRC, ARG_DST,
	ARG_WEIGHT, ARG_DIRECTED, ARG_SPARSE, ARG_SCALE, ARG_TIME, ARG_EDGE_FEATURES
};

/* The table that a text names as SQL would: in lower case, unless quoted. */
static Oid
table_of_text(const char *text)
{
	const char *lower = downcase_identifier(text, strlen(text), false, false);

	if (OidIsValid(RelnameGetRelid(text)) && !OidIsValid(RelnameGetRelid(lower)))
		gnngp_raise(UNDEFINED_TABLE,
					psprintf("A name with capitals needs quotes: %s.",
							 quote_literal_cstr(quote_identifier(text))),
					"relation \"%s\" does not exist", lower);
	return DatumGetObjectId(DirectFunctionCall1(regclassin, CStringGetDatum(text)));
}

/* Takes a table, which a text may name, when it is given; it has no former name. */
static void
read_table(FunctionCallInfo fcinfo, int argno, Oid *table, gnngp_source_name *former)
{
	if (PG_ARGISNULL(argno))
		return;
	*table = get_fn_expr_argtype(fcinfo->flinfo, argno) != TEXTOID ? PG_GETARG_OID(argno) :
		table_of_text(text_to_cstring(PG_GETARG_TEXT_PP(argno)));
	*former = (gnngp_source_name) {NULL, NULL};
}

/* Takes a column when it is given; an empty name takes an optional one away. */
static void
read_column(FunctionCallInfo fcinfo, int argno, bool optional, char **column)
{
	if (PG_ARGISNULL(argno))
		return;
	char	   *name = pstrdup(NameStr(*PG_GETARG_NAME(argno)));
	*column = optional && name[0] == '\0' ? NULL : name;
}

/* A list of columns; an empty one takes away those that there are. */
static gnngp_texts
columns_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	gnngp_texts list = gnngp_texts_argument(fcinfo, argno, name);

	return list.n > 0 ? list : (gnngp_texts) {0, NULL};
}

/* Takes where the features are: one place takes the other's. */
static void
read_feature_source(FunctionCallInfo fcinfo, gnngp_graph_def *def)
{
	bool		columns = !PG_ARGISNULL(ARG_FEATURES);
	bool		sparse = !PG_ARGISNULL(ARG_SPARSE);

	if (columns && sparse)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Put all features into one of them.",
					"\"features\" and \"sparse_features\" cannot be given together");
	if (columns)
	{
		def->features = columns_argument(fcinfo, ARG_FEATURES, "features");
		def->sparse_features = InvalidOid;
	}
	if (sparse)
	{
		read_table(fcinfo, ARG_SPARSE, &def->sparse_features, &def->sparse_name);
		def->features = (gnngp_texts) {0, NULL};
	}
}

/* Notes names and kinds of the tables.  The kind of one that is not given stays what it was: its
 * owner may have made a view of it, which only a call that names it accepts. */
static void
note_tables(FunctionCallInfo fcinfo, gnngp_graph_def *def)
{
	const struct
	{
		int			argument;
		Oid		   *oid;
		gnngp_source_name *name;
	}			tables[] = {
		{ARG_NODES, &def->nodes, &def->nodes_name}, {ARG_EDGES, &def->edges, &def->edges_name},
		{ARG_SPARSE, &def->sparse_features, &def->sparse_name}
	};
	char	   *kinds = pstrdup(def->kinds ? def->kinds : "---");

	for (int i = 0; i < (int) lengthof(tables); i++)
	{
		Oid			table = *tables[i].oid;

		if (!OidIsValid(table))
			kinds[i] = '-';
		else if (!PG_ARGISNULL(tables[i].argument))
			kinds[i] = get_rel_relkind(table);
		*tables[i].name = gnngp_source_name_of(table);
	}
	def->kinds = kinds;
}

/* Takes the arguments that are given, and checks the graph that they make. */
static void
read_arguments(FunctionCallInfo fcinfo, gnngp_graph_def *def)
{
	static const char *const scales[] = {"auto", "none", "standard", "length"};

	read_table(fcinfo, ARG_NODES, &def->nodes, &def->nodes_name);
	read_table(fcinfo, ARG_EDGES, &def->edges, &def->edges_name);
	read_column(fcinfo, ARG_ID, false, &def->id_column);
	read_column(fcinfo, ARG_TARGET, true, &def->target);
	read_column(fcinfo, ARG_SRC, false, &def->src);
	read_column(fcinfo, ARG_DST, false, &def->dst);
	read_column(fcinfo, ARG_WEIGHT, true, &def->weight);
	read_column(fcinfo, ARG_TIME, true, &def->time);
	if (!PG_ARGISNULL(ARG_EDGE_FEATURES))
		def->edge_features = columns_argument(fcinfo, ARG_EDGE_FEATURES, "edge_features");
	if (!PG_ARGISNULL(ARG_DIRECTED))
		def->directed = PG_GETARG_BOOL(ARG_DIRECTED);
	read_feature_source(fcinfo, def);
	if (!OidIsValid(def->nodes))
	{
		/* The ends of the edges are the nodes, named as sources are. */
		if (def->features.n > 0 || def->target)
			gnngp_raise(INVALID_PARAMETER_VALUE,
						"Name the table that has the column with nodes => '...'.",
						"a graph without a node table has no %s",
						def->target ? "target" : "features");
		def->id_column = def->src;
	}
	if (!PG_ARGISNULL(ARG_FEATURES) && def->features.n == 1 &&
		strcmp(def->features.text[0], "*") == 0)
		def->features = gnngp_all_features(def);
	if (!PG_ARGISNULL(ARG_SCALE))
	{
		int			scale = gnngp_require_word("scale", gnngp_text_argument(fcinfo, ARG_SCALE, "scale"),
											   lengthof(scales), scales,
											   "A scale is auto, none, standard or length.");

		def->scale = pstrdup(scales[scale]);
	}
	gnngp_check_graph(def);
	note_tables(fcinfo, def);
}

/* gp_create_graph(graph, nodes, edges, id, features, target, src, dst, weight, directed,
 * sparse_features, scale, time_column, edge_features) */
GNNGP_FUNCTION(gnngp_create_graph)
{
	gnngp_graph_def def = {.scale = "auto"};
	NullableDatum count[GNNGP_GRAPH_COUNTS];

	gnngp_prevent_read_only("gp_create_graph");
	def.name = gnngp_text_argument(fcinfo, ARG_GRAPH, "graph");
	gnngp_check_name("graph", def.name);
	gnngp_require_argument(fcinfo, ARG_EDGES, "edges");
	gnngp_require_argument(fcinfo, ARG_ID, "id");
	gnngp_require_argument(fcinfo, ARG_SRC, "src");
	gnngp_require_argument(fcinfo, ARG_DST, "dst");
	gnngp_require_argument(fcinfo, ARG_DIRECTED, "directed");
	def.owner_role = GetUserId();
	def.owner = GetUserNameFromId(def.owner_role, false);
	if (!PG_ARGISNULL(ARG_FEATURES) && ArrayGetNItems(ARR_NDIM(PG_GETARG_ARRAYTYPE_P(ARG_FEATURES)),
													  ARR_DIMS(PG_GETARG_ARRAYTYPE_P(ARG_FEATURES)))
													  == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Leave it out for a graph without features.",
					"\"features\" names no column");
	read_arguments(fcinfo, &def);
	gnngp_graph_insert(&def);
	gnngp_count_graph(&def, count);
	PG_RETURN_DATUM(gnngp_make_row(fcinfo, GNNGP_GRAPH_COUNTS, count));
}

/* gp_alter_graph(graph, ...), with the arguments of gp_create_graph; what is NULL stays as it is
 * now, once it is locked. */
GNNGP_FUNCTION(gnngp_alter_graph)
{
	gnngp_prevent_read_only("gp_alter_graph");
	gnngp_graph_def *def = gnngp_graph_to_change(gnngp_text_argument(fcinfo, ARG_GRAPH, "graph"));
	gnngp_require_edges(def);
	read_arguments(fcinfo, def);
	gnngp_graph_update(def);
	PG_RETURN_VOID();
}

/* Drops a graph or a task with its models, inside SPI. */
static void
drop(const gnngp_graph_def *def)
{
	List	   *models = gnngp_lock_whole_graph(def);
	StringInfoData names;
	ListCell   *cell;

	initStringInfo(&names);
	foreach(cell, models)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", (char *) lfirst(cell));
	if (models != NIL)
		ereport(NOTICE,
				(errmsg_plural("%s \"%s\" is dropped with its model %s",
							   "%s \"%s\" is dropped with its models %s", list_length(models),
							   def->task.form ? "task" : "graph", def->name, names.data)));
	gnngp_delete_models("graph", def->id);
	gnngp_execute(GNNGP_WRITE, "DELETE FROM gnngp_internal.gp_graph_catalog WHERE id = $1",
				  gnngp_param_int8(def->id));
}

/* gp_drop_graph(graph); it is locked first, so that no fit can add a model. */
GNNGP_FUNCTION(gnngp_drop_graph)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "graph");
	ListCell   *cell;

	gnngp_prevent_read_only("gp_drop_graph");
	gnngp_graph_def *def = gnngp_own_graph(name);
	gnngp_spi_connect();
	foreach(cell, def->tables.tables.oid ? gnngp_graph_tasks(def->id) : NIL)
	{
		const gnngp_graph_def *task = lfirst(cell);

		gnngp_notice(NULL, "graph \"%s\" goes with its task \"%s\"", def->name, task->name);
		drop(task);
	}
	drop(def);
	gnngp_spi_finish();
	PG_RETURN_VOID();
}
