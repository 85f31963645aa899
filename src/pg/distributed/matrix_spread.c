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
emit_parts(ReturnSetInfo *result, const gnngp_value_ids *ids, gp_matrix m, const int64 *bound,
		   int n)
{
	int64		first = 0;

	for (int k = 0; k <= n; k++)
	{
		int64		rows = gnngp_rows_of_chunk(ids, first, bound, n, k);
		gnngp_value_ids part;
		Datum		matrix;

		if (rows == 0)
			continue;
		part = gnngp_value_ids_part(ids, first, rows);
		matrix = gnngp_matrix_write(&part, gp_matrix_rows(m, first, rows));
		gnngp_emit(result, gnngp_cell(Int32GetDatum(k)), gnngp_cell(matrix));
		pfree(DatumGetPointer(matrix));
		first += rows;
	}
}

typedef struct whole_graph
{
	gp_env	   *env;
	ArrayType  *values;			/* a copy of what it was made from */
	gnngp_value_ids ids;
	gp_graph   *graph;
	gp_csr	   *a;				/* NULL: not asked for */
	gp_norm		norm;			/* of a */
} whole_graph;

static const char kind_of_kept = 0; /* its address tells whole graphs from others */

/* Builds a graph of its values. */
static void
build_whole(whole_graph *w, const gnngp_value_ids *rows)
{
	Datum	   *value;
	bool	   *null;
	int			n = gnngp_array_elements(w->values, &value, &null);
	bool		weighted = false;
	gp_edges   *edges = NULL;

	for (int k = 0; k < n; k++)
	{
		MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gnngp graph",
												   ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(work);
		gnngp_graph_value g;
		int64		missing;

		if (null[k])
			gnngp_matrix_refuse("A graph is NULL.");
		gnngp_graph_read(value[k], "gp_graph", &g);
		if (edges == NULL)
			edges = gp_edges_create(w->env, rows->n, false, g.weight != NULL);
		if (k > 0 && (g.weight != NULL) != weighted)
			gnngp_matrix_refuse("Some graphs have weights, and others have none.");
		weighted = g.weight != NULL;
		if (!gnngp_graph_add_edges(edges, &g, rows, &missing))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("node " INT64_FORMAT " of the graph has no row in the matrix", missing)));
		MemoryContextSwitchTo(old);
		MemoryContextDelete(work);
	}
	if (edges == NULL)
		edges = gp_edges_create(w->env, rows->n, false, false);
	w->graph = gp_graph_build(edges);
}

/* The graph of a call over the rows of its nodes: the one that was kept, or a new one. */
static whole_graph *
find_whole_graph(ArrayType *values, const gnngp_value_ids *rows)
{
	whole_graph *w = gnngp_env_kept(&kind_of_kept);
	gp_env	   *env;

	if (w && VARSIZE(w->values) == VARSIZE(values) &&
		memcmp(w->values, values, VARSIZE(values)) == 0 && gnngp_value_ids_equal(&w->ids, rows))
	{
		gnngp_env_resume(w->env, CurrentMemoryContext);
		return w;
	}
	gnngp_account_give_up(0);
	env = gnngp_env_create(CurrentMemoryContext);
	w = gp_alloc_zero(env, 1, sizeof(whole_graph));
	w->env = env;
	w->values = gp_alloc_array(env, VARSIZE(values), 1);
	memcpy(w->values, values, VARSIZE(values));
	w->ids = *rows;
	if (rows->id)
	{
		w->ids.id = gp_alloc_array(env, rows->n, sizeof(int64));
		memcpy(w->ids.id, rows->id, rows->n * sizeof(int64));
	}
	build_whole(w, rows);
	return w;
}

/* gp_spread(columns, graph, kernel, bounds): S columns, in parts of rows. */
PG_FUNCTION_INFO_V1(gnngp_matrix_spread);
Datum
gnngp_matrix_spread(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = gnngp_rows_start(fcinfo);
	gnngp_table_value table;
	ArrayType  *bounds = PG_GETARG_ARRAYTYPE_P(3);
	const int64 *bound = gnngp_array_data(bounds);
	int			n = ArrayGetNItems(ARR_NDIM(bounds), ARR_DIMS(bounds));
	gp_env	   *env;
	gp_device  *dev;
	whole_graph *whole;
	const gp_program *program;
	gp_matrix	m;

	if (array_contains_nulls(bounds))
		gnngp_matrix_refuse("A bound is NULL.");
	for (int k = 1; k < n; k++)
		if (bound[k] <= bound[k - 1])
			gnngp_matrix_refuse("The bounds do not ascend.");
	table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (table.wide)
		gnngp_matrix_refuse("Columns are of single precision.");
	whole = find_whole_graph(PG_GETARG_ARRAYTYPE_P(1), &table.ids);
	env = gnngp_env_create(CurrentMemoryContext);
	m = gnngp_matrix_numbers(env, &table);
	dev = gnngp_device_open(env, gnngp_factor_threads(16.0 * whole->graph->edges * m.cols));
	program = gnngp_compile_kernel(env, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	/* The graph's matrix A in the kernel's norm, in float */
	if (whole->a && whole->norm != program->norm)
	{
		gp_csr_free(whole->env, whole->a);
		whole->a = NULL;
	}
	if (whole->a == NULL)
		whole->a = gp_graph_normalise(whole->env, whole->graph, program->norm, GP_FLOAT);
	whole->norm = program->norm;
	gp_block_operate(dev, program, whole->graph, whole->a, m);
	dev->close(dev);
	emit_parts(result, &table.ids, m, bound, n);
	gnngp_env_destroy(env);
	gnngp_env_keep(whole->env, TopTransactionContext, &kind_of_kept, whole);
	return (Datum) 0;
}
