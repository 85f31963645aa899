/*
 * edge_blocks.c - gp_take_edge and gp_taken_edges: edges are packed where they lie.
 *
 * Citus runs no GROUP BY on its workers but by the column that a table is distributed by.  So each
 * session takes the edges of the rows that it is asked to look at, and hands them over in blocks
 * when the next statement asks for these.  An edge may be taken in several sessions; that it is one
 * is seen where blocks become a graph.
 */
#include "postgres.h"

#include "distributed_internal.h"
#include "pg/types/edge_list.h"
#include "utils/float.h"

/* What this session has taken, in memory of the subtransaction; NULL: nothing. */
static struct taken_edges
{
	MemoryContext context;
	int			n;
	gnngp_edge_list *list;		/* by chunks of their smaller ends */
}		   *taken;

static void
forget_taken(void *arg)
{
	taken = NULL;
}

static void
start_taking(int n, bool weighted)
{
	MemoryContext context = AllocSetContextCreate(CurTransactionContext, "gnngp edges",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContextCallback *end = MemoryContextAllocZero(context, sizeof(MemoryContextCallback));

	end->func = forget_taken;
	MemoryContextRegisterResetCallback(context, end);
	taken = MemoryContextAllocZero(context, sizeof(*taken));
	taken->context = context;
	taken->n = n;
	taken->list = MemoryContextAllocZero(context, n * sizeof(gnngp_edge_list));
	for (int k = 0; k < n; k++)
	{
		taken->list[k].context = context;
		taken->list[k].weighted = weighted;
	}
}

bool
gnngp_edges_are_taken(void)
{
	return taken != NULL;
}

/*
 * gp_take_edge(bounds, src, dst [, weight]): 1, or 0 for a loop, which is left; NaN where the row
 * is no edge.  All rows have the same bounds.
 */
GNNGP_FUNCTION(gnngp_take_edge)
{
	ArrayType  *bounds = PG_ARGISNULL(0) ? NULL : PG_GETARG_ARRAYTYPE_P(0);
	bool		weighted = PG_NARGS() > 3;
	int64		src = PG_GETARG_INT64(1);
	int64		dst = PG_GETARG_INT64(2);
	double		weight = weighted ? PG_GETARG_FLOAT8(3) : 0.0;
	int			low = 0;

	if (bounds == NULL || array_contains_nulls(bounds))
		gnngp_matrix_refuse("A bound is NULL.");
	const int64 *bound = gnngp_array_data(bounds);
	int			n = ArrayGetNItems(ARR_NDIM(bounds), ARR_DIMS(bounds));
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || (weighted && PG_ARGISNULL(3)) ||
		!(weight >= 0.0) || isinf(weight))
		PG_RETURN_FLOAT8(get_float8_nan());
	if (src == dst)
		PG_RETURN_FLOAT8(0.0);
	if (taken == NULL)
		start_taking(n + 1, weighted);
	if (taken->n != n + 1 || taken->list[0].weighted != weighted)
		gnngp_matrix_refuse("Edges are taken by the same bounds.");
	/* The chunk whose bound is the last one that is not above the smaller end */
	GP_BISECT(low, n, at, bound[at] <= Min(src, dst));
	gnngp_edge_list_add(&taken->list[low], src, dst, weight);
	PG_RETURN_FLOAT8(1.0);
}

/* gp_taken_edges(asked, keys): blocks of what this session has taken, for each key, and forgotten
 * then; asked is what has it asked where that row lies. */
GNNGP_FUNCTION(gnngp_taken_edges)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	ArrayType  *keys = PG_GETARG_ARRAYTYPE_P(1);
	const int32 *key = gnngp_array_data(keys);
	int			n = ArrayGetNItems(ARR_NDIM(keys), ARR_DIMS(keys));

	if (array_contains_nulls(keys))
		gnngp_matrix_refuse("A key is NULL.");
	for (int k = 0; taken && k < taken->n; k++)
	{
		gnngp_edge_list *list = &taken->list[k];

		if (list->n == 0)
			continue;
		Datum		graph = gnngp_graph_of_edges(list);
		for (int i = 0; i < n; i++)
			gnngp_emit(result, gnngp_out(Int32GetDatum(key[i])), gnngp_out(Int32GetDatum(k)),
					   gnngp_out(graph), gnngp_out_float((double) list->n));
		pfree(DatumGetPointer(graph));
		pfree(list->end);
		if (list->weight)
			pfree(list->weight);
		/* The next chunk may fail in a subtransaction, and the list outlive that. */
		list->n = list->room = 0;
		list->end = NULL;
		list->weight = NULL;
	}
	if (taken)
		MemoryContextDelete(taken->context);
	return (Datum) 0;
}
