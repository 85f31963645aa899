/*
 * matrix_spread.c - gp_spread: a linear operator of the kernel language on whole columns.
 *
 * A task holds all rows of some columns and the whole graph, so that any power of A, and
 * P(a), is a few products there and no message.  A fit asks several times in each of several
 * statements, and what takes long is reading the graph's values, sorting edges and normalising.
 * One graph is kept from call to call until another one is asked for, its memory is needed or the
 * transaction ends; it is told by all of the bytes that it was made of.
 */
#include "postgres.h"

#include "core/fit/landmarks.h"
#include "core/graph/graph.h"
#include "pg/types/types.h"

int64
gnngp_rows_of_chunk(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n, int k)
{
	int64		last = first;

	if (k == n)
		return ids->n - first;
	while (last < ids->n && gnngp_value_id(ids, last) < bound[k])
		last++;
	return last - first;
}

static void
put_parts(ReturnSetInfo *result, const gnngp_value_ids *ids, gp_matrix m, const int64 *bound, int n)
{
	Datum		values[2];
	bool		nulls[2] = {false, false};
	int64		first = 0;

	for (int k = 0; k <= n; k++)
	{
		int64		rows = gnngp_rows_of_chunk(ids, first, bound, n, k);
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

typedef struct whole_graph
{
	MemoryContext context;
	MemoryContextCallback callback;
	gp_env	   *env;
	bool		kept;			/* no call has it, and it is in no account */
	ArrayType  *values;			/* a copy of what it was made from */
	gnngp_value_ids ids;
	gp_graph   *graph;
	gp_csr	   *a;				/* NULL: not asked for */
	gp_norm		norm;			/* of a */
} whole_graph;

/* The one of this process: a query calls from several places, by partitions, and one graph for each
 * of them would be too much. */
static whole_graph *whole;

/* Puts a graph together from its values. */
static void
build_whole(whole_graph *w, const gnngp_value_ids *rows)
{
	Datum	   *value;
	bool	   *null;
	int			n;
	bool		weighted = false;
	gp_edges   *edges = NULL;

	deconstruct_array(w->values, ARR_ELEMTYPE(w->values), -1, false, TYPALIGN_INT, &value, &null,
					  &n);
	for (int k = 0; k < n; k++)
	{
		MemoryContext work = AllocSetContextCreate(w->context, "gnngp graph",
												   ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(work);
		gnngp_graph_value g;
		int64		missing;
		int32	   *place;

		if (null[k])
			gnngp_matrix_refuse("A graph is NULL.");
		gnngp_graph_read(value[k], "gp_graph", &g);
		if (edges == NULL)
			edges = gp_edges_create(w->env, rows->n, false, g.weight != NULL);
		if (k > 0 && (g.weight != NULL) != weighted)
			gnngp_matrix_refuse("Some graphs have weights, and others have none.");
		weighted = g.weight != NULL;
		/* Adds the edges of one value */
		place = gnngp_value_places(&g.ids, rows, &missing);
		if (place == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("node " INT64_FORMAT " of the graph has no row in the matrix", missing)));

		for (int64 i = 0; i < g.edges; i++)
		{
			gnngp_poll(i);
			gp_edges_add(edges, 1, &place[g.src[i]], &place[g.dst[i]], g.weight ? &g.weight[i]
						 : NULL);
		}
		pfree(place);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(work);
	}
	if (edges == NULL)
		edges = gp_edges_create(w->env, rows->n, false, false);
	w->graph = gp_graph_build(edges);
}

/* Forgets a graph whose memory goes. */
static void
forget(void *arg)
{
	whole_graph *w = arg;

	if (w->kept)
		gnngp_account_keep(0, NULL);
	if (whole == w)
		whole = NULL;
}

static void
give_up(void)
{
	MemoryContextDelete(whole->context);
}

/* The graph of a call over the rows of its nodes: the one that was kept, or a new one. */
static gp_graph *
find_whole_graph(ArrayType *values, const gnngp_value_ids *rows)
{
	MemoryContext context;
	MemoryContext old;

	if (whole && whole->kept && VARSIZE(whole->values) == VARSIZE(values) &&
		memcmp(whole->values, values, VARSIZE(values)) == 0 &&
		gnngp_value_ids_equal(&whole->ids, rows))
	{
		whole->kept = false;
		gnngp_env_resume(whole->env, whole->context);
		MemoryContextSetParent(whole->context, CurrentMemoryContext);
		return whole->graph;
	}
	/* One that a call has not given back ended in an error, and its memory may outlive that. */
	if (whole)
		give_up();
	/* Puts a graph together; an error in it, or before it is kept, takes it along */
	context = AllocSetContextCreate(CurrentMemoryContext, "gnngp whole graph", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	whole = palloc0(sizeof(whole_graph));
	whole->context = context;
	whole->callback.func = forget;
	whole->callback.arg = whole;
	MemoryContextRegisterResetCallback(context, &whole->callback);
	whole->env = gnngp_env_create(context);
	whole->values = gp_alloc_array(whole->env, VARSIZE(values), 1);
	memcpy(whole->values, values, VARSIZE(values));
	whole->ids = *rows;
	if (rows->id)
	{
		whole->ids.id = gp_alloc_array(whole->env, rows->n, sizeof(int64));
		memcpy(whole->ids.id, rows->id, rows->n * sizeof(int64));
	}
	build_whole(whole, rows);
	MemoryContextSwitchTo(old);
	return whole->graph;
}

/* gp_spread(columns, graph, kernel, bounds): S columns, in parts of rows. */
PG_FUNCTION_INFO_V1(gnngp_matrix_spread);
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
	const gp_program *program;
	gp_matrix	m;

	InitMaterializedSRF(fcinfo, 0);
	if (array_contains_nulls(bounds))
		gnngp_matrix_refuse("A bound is NULL.");
	for (int k = 1; k < n; k++)
		if (bound[k] <= bound[k - 1])
			gnngp_matrix_refuse("The bounds do not ascend.");
	table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (table.wide)
		gnngp_matrix_refuse("Columns are of single precision.");
	graph = find_whole_graph(PG_GETARG_ARRAYTYPE_P(1), &table.ids);
	env = gnngp_env_create(CurrentMemoryContext);
	m = gnngp_matrix_numbers(env, &table);
	dev = gnngp_device_open(env, gnngp_factor_threads(16.0 * graph->edges * m.cols));
	program = gnngp_compile_kernel(env, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	/* The graph's matrix A in the kernel's norm, in float */
	if (whole->a && whole->norm != program->norm)
	{
		gp_csr_free(whole->env, whole->a);
		whole->a = NULL;
	}
	if (whole->a == NULL)
		whole->a = gp_graph_normalise(whole->env, graph, program->norm, GP_FLOAT);
	whole->norm = program->norm;
	gp_block_operate(dev, program, graph, whole->a, m);
	dev->close(dev);
	put_parts(result, &table.ids, m, bound, n);
	gnngp_env_destroy(env);
	gnngp_account_give_up(0);
	gnngp_env_keep(whole->env, whole->context, give_up);
	whole->kept = true;
	MemoryContextSetParent(whole->context, TopTransactionContext);
	return (Datum) 0;
}
