/*
 * matrix_spread.c - gp_spread: a linear operator of the kernel language on whole columns.
 *
 * A task holds all rows of some columns and the whole graph, so that any power of A, and
 * P(a), is a few products there and no message.  The graph comes as one or several values, whose edges are put
 * together once for all calls that a query makes with the same ones.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "core/infer/landmarks.h"
#include "factor_make.h"
#include "funcapi.h"
#include "matrix_spread.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"
#include "value.h"

/* A graph that was put together. */
typedef struct whole_graph
{
	MemoryContext context;
	MemoryContextCallback callback;
	gp_env	   *env;
	ArrayType  *values;			/* a copy of what it was made from */
	gnngp_value_ids ids;
	gp_graph   *graph;
} whole_graph;

/* The place of each node of a graph among the rows' ids; 22023 for one that has none. */
static int32 *
place_nodes(const gnngp_value_ids *nodes, const gnngp_value_ids *rows)
{
	int32	   *place = MemoryContextAllocHuge(CurrentMemoryContext, Max(nodes->n, 1) * sizeof(int32));
	int64		at = 0;

	for (int64 i = 0; i < nodes->n; i++)
	{
		int64		id = gnngp_value_id(nodes, i);

		gnngp_look(i);
		while (at < rows->n && gnngp_value_id(rows, at) < id)
			at++;
		if (at == rows->n || gnngp_value_id(rows, at) != id)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("node " INT64_FORMAT " of the graph has no row in the matrix", id)));
		place[i] = (int32) at;
	}
	return place;
}

/* Adds the edges of one value. */
static void
add_edges(gp_edges *edges, const gnngp_graph_value *g, const gnngp_value_ids *rows)
{
	int32	   *place = place_nodes(&g->ids, rows);

	for (int64 i = 0; i < g->edges; i++)
	{
		gnngp_look(i);
		gp_edges_add(edges, 1, &place[g->src[i]], &place[g->dst[i]], g->weight ? &g->weight[i] : NULL);
	}
	pfree(place);
}

/* Puts a graph together from its values. */
static void
build_whole(whole_graph *w, const gnngp_value_ids *rows)
{
	Datum	   *value;
	bool	   *null;
	int			n;
	bool		weighted = false;
	gp_edges   *edges = NULL;

	deconstruct_array(w->values, ARR_ELEMTYPE(w->values), -1, false, TYPALIGN_INT, &value, &null, &n);
	for (int k = 0; k < n; k++)
	{
		MemoryContext work = AllocSetContextCreate(w->context, "gnngp graph", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(work);
		gnngp_graph_value g;

		if (null[k])
			gnngp_matrix_refuse("A graph is NULL.");
		gnngp_graph_read(value[k], "gp_graph", &g);
		if (edges == NULL)
			edges = gp_edges_create(w->env, rows->n, false, g.weight != NULL);
		if (k > 0 && (g.weight != NULL) != weighted)
			gnngp_matrix_refuse("Some graphs have weights, and others have none.");
		weighted = g.weight != NULL;
		add_edges(edges, &g, rows);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(work);
	}
	if (edges == NULL)
		edges = gp_edges_create(w->env, rows->n, false, false);
	w->graph = gp_graph_build(edges);
}

/* True when a graph was made of these values, over these rows. */
static bool
is_made_of(const whole_graph *w, const ArrayType *values, const gnngp_value_ids *rows)
{
	return VARSIZE(w->values) == VARSIZE(values) && memcmp(w->values, values, VARSIZE(values)) == 0 &&
		w->ids.n == rows->n && w->ids.first == rows->first && (w->ids.id == NULL) == (rows->id == NULL) &&
		(rows->id == NULL || memcmp(w->ids.id, rows->id, rows->n * sizeof(int64)) == 0);
}

/*
 * The one that this process has kept: a query calls from several places, by partitions, and one
 * graph for each of them would be too much.  It ends with the query that it was made in.
 */
static whole_graph *kept_graph;

/* Forgets it when its memory goes. */
static void
forget_graph(void *arg)
{
	if (kept_graph == arg)
		kept_graph = NULL;
}

/* A copy of ids. */
static gnngp_value_ids
copy_ids(MemoryContext context, const gnngp_value_ids *ids)
{
	gnngp_value_ids copy = *ids;

	if (ids->id == NULL)
		return copy;
	copy.id = MemoryContextAllocHuge(context, ids->n * sizeof(int64));
	memcpy(copy.id, ids->id, ids->n * sizeof(int64));
	return copy;
}

/* The graph of a call, which is kept until another one is asked for or the query ends. */
gp_graph *
gnngp_whole_graph(FmgrInfo *call, ArrayType *values, const gnngp_value_ids *rows)
{
	whole_graph *w = kept_graph;
	MemoryContext context;
	MemoryContext old;

	if (w && is_made_of(w, values, rows))
		return w->graph;
	if (w)
		MemoryContextDelete(w->context);
	context = AllocSetContextCreate(call->fn_mcxt, "gnngp whole graph", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	w = palloc0(sizeof(whole_graph));
	w->context = context;
	w->callback.func = forget_graph;
	w->callback.arg = w;
	MemoryContextRegisterResetCallback(context, &w->callback);
	w->env = gnngp_env_create(context);
	w->values = (ArrayType *) MemoryContextAllocHuge(context, VARSIZE(values));
	memcpy(w->values, values, VARSIZE(values));
	w->ids = copy_ids(context, rows);
	build_whole(w, rows);
	MemoryContextSwitchTo(old);
	kept_graph = w;
	return w->graph;
}

/* The rows of part k: up to the first id that is not below its bound. */
int64
gnngp_rows_of_part(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n, int k)
{
	int64		last = first;

	if (k == n)
		return ids->n - first;
	while (last < ids->n && gnngp_value_id(ids, last) < bound[k])
		last++;
	return last - first;
}

/* 22023 for bounds that do not ascend. */
void
gnngp_check_bounds(ArrayType *array)
{
	const int64 *bound = gnngp_array_data(array);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (array_contains_nulls(array))
		gnngp_matrix_refuse("A bound is NULL.");
	for (int k = 1; k < n; k++)
		if (bound[k] <= bound[k - 1])
			gnngp_matrix_refuse("The bounds do not ascend.");
}

/* Puts the parts of a matrix into the result. */
static void
put_parts(ReturnSetInfo *result, const gnngp_value_ids *ids, gp_matrix m, const int64 *bound, int n)
{
	Datum		values[2];
	bool		nulls[2] = {false, false};
	int64		first = 0;

	for (int k = 0; k <= n; k++)
	{
		int64		rows = gnngp_rows_of_part(ids, first, bound, n, k);
		gnngp_value_ids part;

		if (rows == 0)
			continue;
		part = gnngp_value_ids_part(ids, first, rows);
		values[0] = Int32GetDatum(k);
		values[1] = gnngp_matrix_write(&part, gp_matrix_rows(m, first, rows));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(DatumGetPointer(values[1]));
		first += rows;
	}
}

PG_FUNCTION_INFO_V1(gnngp_matrix_spread);

/* gp_spread(columns, graph, kernel, bounds): S columns, in parts of rows. */
Datum
gnngp_matrix_spread(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	gnngp_table_value table;
	ArrayType  *bounds = PG_GETARG_ARRAYTYPE_P(3);
	const int64 *bound = gnngp_array_data(bounds);
	int			n = ArrayGetNItems(ARR_NDIM(bounds), ARR_DIMS(bounds));
	gp_env	   *env;
	gp_device  *dev;
	gp_graph   *graph;
	gp_matrix	m;

	InitMaterializedSRF(fcinfo, 0);
	gnngp_check_bounds(bounds);
	table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (table.wide)
		gnngp_matrix_refuse("Columns are of single precision.");
	graph = gnngp_whole_graph(fcinfo->flinfo, PG_GETARG_ARRAYTYPE_P(1), &table.ids);
	env = gnngp_env_create(CurrentMemoryContext);
	m = gnngp_matrix_numbers(env, &table);
	dev = gnngp_device_open(env, gnngp_factor_threads(16.0 * graph->edges * m.cols));
	gp_block_operate(dev, gnngp_compile_kernel(env, text_to_cstring(PG_GETARG_TEXT_PP(2))), graph, m);
	dev->close(dev);
	put_parts(result, &table.ids, m, bound, n);
	gnngp_env_destroy(env);
	return (Datum) 0;
}
