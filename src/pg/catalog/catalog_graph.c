/*
 * catalog_graph.c - rows of gp_graph_catalog.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "catalog_int.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define COLUMNS "owner, id, name, nodes, edges, id_column, features, target, src, dst, weight, " \
	"directed, sparse_features, "

/* What a catalog of version 0.1.0 does not have. */
#define LATER_COLUMNS "scale, nodes_name, edges_name, sparse_features_name"
#define NO_LATER_COLUMNS "'none', NULL::name[], NULL::name[], NULL::name[]"

/* The columns to read. */
static const char *
column_list(void)
{
	Oid			table = get_relname_relid(gnngp_graph_kind.table, gnngp_schema_oid());

	return get_attnum(table, "scale") == InvalidAttrNumber ? COLUMNS NO_LATER_COLUMNS : COLUMNS LATER_COLUMNS;
}

/* A column of the row in hand as a string in the context that is current, or NULL. */
static char *
get_text(int row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/* A column of the row in hand; 0 when it is NULL. */
static Datum
get_datum(int row, int column)
{
	bool		null;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &null);

	return null ? (Datum) 0 : value;
}

/* The names of the feature columns. */
static void
get_features(int row, gnngp_graph_def *def)
{
	Datum		value = get_datum(row, 7);
	Datum	   *names;
	bool	   *nulls;

	if (value == (Datum) 0)
		return;
	deconstruct_array(DatumGetArrayTypePCopy(value), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, &nulls, &def->nfeatures);
	def->features = palloc(sizeof(char *) * Max(def->nfeatures, 1));
	for (int i = 0; i < def->nfeatures; i++)
		def->features[i] = nulls[i] ? "" : pstrdup(NameStr(*DatumGetName(names[i])));
}

/* The name that a table had. */
static gnngp_source_name
get_source_name(int row, int column)
{
	Datum		value = get_datum(row, column);
	Datum	   *names;
	bool	   *nulls;
	int			n;

	if (value == (Datum) 0)
		return (gnngp_source_name) {NULL, NULL};
	deconstruct_array(DatumGetArrayTypePCopy(value), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, &nulls, &n);
	if (n != 2 || nulls[0] || nulls[1])
		return (gnngp_source_name) {NULL, NULL};
	return (gnngp_source_name) {pstrdup(NameStr(*DatumGetName(names[0]))),
		pstrdup(NameStr(*DatumGetName(names[1])))};
}

/* Turns the row in hand into a definition in context. */
static gnngp_graph_def *
get_graph(int row, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	gnngp_graph_def *def = palloc0(sizeof(gnngp_graph_def));

	def->owner_role = gnngp_role_read(get_datum(row, 1), SPI_gettypeid(SPI_tuptable->tupdesc, 1),
									  &def->owner);
	def->id = DatumGetInt64(get_datum(row, 2));
	def->name = get_text(row, 3);
	def->nodes = DatumGetObjectId(get_datum(row, 4));
	def->edges = DatumGetObjectId(get_datum(row, 5));
	def->id_column = get_text(row, 6);
	get_features(row, def);
	def->target = get_text(row, 8);
	def->src = get_text(row, 9);
	def->dst = get_text(row, 10);
	def->weight = get_text(row, 11);
	def->directed = DatumGetBool(get_datum(row, 12));
	def->sparse_features = DatumGetObjectId(get_datum(row, 13));
	def->scale = get_text(row, 14);
	def->nodes_name = get_source_name(row, 15);
	def->edges_name = get_source_name(row, 16);
	def->sparse_name = get_source_name(row, 17);
	MemoryContextSwitchTo(old);
	return def;
}

/* Looks up a graph ('name' or 'owner.name') that the caller may see. */
gnngp_graph_def *
gnngp_graph_lookup(const char *name)
{
	MemoryContext context = CurrentMemoryContext;
	gnngp_graph_def *def;

	gnngp_spi_connect();
	def = get_graph(gnngp_find_named(&gnngp_graph_kind, column_list(), name, false), context);
	gnngp_spi_finish();
	return def;
}

/* Looks up a graph of the caller's. */
gnngp_graph_def *
gnngp_own_graph(const char *name)
{
	gnngp_graph_def *graph = gnngp_graph_lookup(name);

	gnngp_require_owner(graph->owner_role, "graph", graph->name);
	return graph;
}

/* Looks up a graph by id. */
gnngp_graph_def *
gnngp_graph_by_id(int64 id)
{
	MemoryContext context = CurrentMemoryContext;
	gnngp_graph_def *def;

	gnngp_spi_connect();
	gnngp_find_id(&gnngp_graph_kind, column_list(), id);
	def = get_graph(0, context);
	gnngp_spi_finish();
	return def;
}
