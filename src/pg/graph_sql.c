/*
 * graph_sql.c - gp_create_graph and gp_drop_graph.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "catalog_int.h"
#include "executor/spi.h"
#include "graph_check.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

/* The arguments of gp_create_graph. */
enum graph_argument
{
	ARG_GRAPH, ARG_NODES, ARG_EDGES, ARG_ID, ARG_FEATURES, ARG_TARGET, ARG_SRC, ARG_DST,
	ARG_WEIGHT, ARG_DIRECTED, ARG_SPARSE
};

/* 22004 when an argument that must be given is NULL. */
static void
require_given(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be NULL", name)));
}

/* A column argument, or NULL. */
static char *
column_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(argno)));
}

/* The feature columns: 22023 for none, 22004 for NULL among them. */
static void
get_features(ArrayType *array, gnngp_graph_def *def)
{
	Datum	   *elements;
	bool	   *nulls;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &def->nfeatures);
	if (def->nfeatures == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"features\" names no column"),
				 errhint("Leave it out for a graph without features.")));
	def->features = palloc(sizeof(char *) * def->nfeatures);
	for (int i = 0; i < def->nfeatures; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("features must not contain NULL")));
		def->features[i] = TextDatumGetCString(elements[i]);
	}
}

/* Collects the arguments. */
static gnngp_graph_def
get_arguments(FunctionCallInfo fcinfo)
{
	gnngp_graph_def def = {0};

	def.name = gnngp_name_argument(fcinfo, ARG_GRAPH, "graph");
	gnngp_check_name("graph", def.name);
	require_given(fcinfo, ARG_NODES, "nodes");
	require_given(fcinfo, ARG_EDGES, "edges");
	require_given(fcinfo, ARG_ID, "id");
	require_given(fcinfo, ARG_SRC, "src");
	require_given(fcinfo, ARG_DST, "dst");
	require_given(fcinfo, ARG_DIRECTED, "directed");
	def.owner_role = GetUserId();
	def.owner = GetUserNameFromId(def.owner_role, false);
	def.nodes = PG_GETARG_OID(ARG_NODES);
	def.edges = PG_GETARG_OID(ARG_EDGES);
	def.id_column = column_argument(fcinfo, ARG_ID);
	def.target = column_argument(fcinfo, ARG_TARGET);
	def.src = column_argument(fcinfo, ARG_SRC);
	def.dst = column_argument(fcinfo, ARG_DST);
	def.weight = column_argument(fcinfo, ARG_WEIGHT);
	def.directed = PG_GETARG_BOOL(ARG_DIRECTED);
	def.sparse_features = PG_ARGISNULL(ARG_SPARSE) ? InvalidOid : PG_GETARG_OID(ARG_SPARSE);
	if (!PG_ARGISNULL(ARG_FEATURES))
		get_features(PG_GETARG_ARRAYTYPE_P(ARG_FEATURES), &def);
	if (def.nfeatures > 0 && OidIsValid(def.sparse_features))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"features\" and \"sparse_features\" cannot be given together"),
				 errhint("Put all features into one of them.")));
	return def;
}

/* The feature columns as name[]. */
static Datum
features_datum(const gnngp_graph_def *def)
{
	Datum	   *elements = palloc(sizeof(Datum) * Max(def->nfeatures, 1));

	for (int i = 0; i < def->nfeatures; i++)
		elements[i] = DirectFunctionCall1(namein, CStringGetDatum(def->features[i]));
	return PointerGetDatum(construct_array(elements, def->nfeatures, NAMEOID, NAMEDATALEN, false,
										   TYPALIGN_CHAR));
}

/* Writes the row; false when the owner has a graph of this name. */
static bool
insert_graph(const gnngp_graph_def *def)
{
	const char *texts[] = {def->name, NULL, def->id_column, def->target, def->src, def->dst,
	def->weight};
	const char *schema = gnngp_schema();
	Oid			types[12];
	Datum		values[12];
	char		nulls[12];
	bool		inserted;

	types[1] = gnngp_role_type();
	values[1] = gnngp_role_datum(def->owner_role);
	nulls[1] = ' ';
	for (int i = 0; i < 7; i++)
	{
		if (i == 1)
			continue;
		types[i] = TEXTOID;
		values[i] = texts[i] ? CStringGetTextDatum(texts[i]) : (Datum) 0;
		nulls[i] = texts[i] ? ' ' : 'n';
	}
	for (int i = 7; i < 10; i++)
	{
		Oid			oid = i == 7 ? def->nodes : i == 8 ? def->edges : def->sparse_features;

		types[i] = REGCLASSOID;
		values[i] = ObjectIdGetDatum(oid);
		nulls[i] = OidIsValid(oid) ? ' ' : 'n';
	}
	types[10] = BOOLOID;
	values[10] = BoolGetDatum(def->directed);
	nulls[10] = ' ';
	types[11] = NAMEARRAYOID;
	values[11] = features_datum(def);
	nulls[11] = def->nfeatures > 0 ? ' ' : 'n';

	gnngp_spi_connect();
	(void) gnngp_execute_as_extension(psprintf("INSERT INTO %s.%s (name, owner, id_column, target, src, dst, weight,"
											   " nodes, edges, sparse_features, directed, features)"
											   " VALUES ($1, $2, $3::name, $4::name, $5::name, $6::name, $7::name,"
											   " $8, $9, $10, $11, $12) ON CONFLICT (name, %s.gp_role_oid(owner)) DO NOTHING",
											   schema, gnngp_graph_kind.table, schema),
									  12, types, values, nulls);
	inserted = SPI_processed == 1;
	gnngp_spi_finish();
	return inserted;
}

PG_FUNCTION_INFO_V1(gnngp_create_graph);

/* gp_create_graph(graph, nodes, edges, id, features, target, src, dst, weight, directed, sparse_features) */
Datum
gnngp_create_graph(PG_FUNCTION_ARGS)
{
	gnngp_graph_def def;

	gnngp_prevent_read_only("gp_create_graph");
	def = get_arguments(fcinfo);
	gnngp_check_graph(&def);
	if (!insert_graph(&def))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("graph \"%s\" already exists", def.name),
				 errhint("Choose another name, or drop it with gp_drop_graph.")));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(gnngp_drop_graph);

/* gp_drop_graph(graph); it is locked first, so that no fit can add a model. */
Datum
gnngp_drop_graph(PG_FUNCTION_ARGS)
{
	char	   *name = gnngp_name_argument(fcinfo, 0, "graph");
	gnngp_graph_def *def;
	Oid			types[] = {INT8OID};
	Datum		values[1];

	gnngp_prevent_read_only("gp_drop_graph");
	def = gnngp_graph_lookup(name);
	gnngp_require_owner(def->owner_role, "graph", def->name);
	values[0] = Int64GetDatum(def->id);
	gnngp_spi_connect();
	(void) gnngp_lock_whole_graph(def);
	gnngp_delete_models("graph", def->id);
	(void) gnngp_execute_as_extension(psprintf("DELETE FROM %s.%s WHERE id = $1", gnngp_schema(),
											   gnngp_graph_kind.table), 1, types, values, NULL);
	gnngp_spi_finish();
	PG_RETURN_VOID();
}
