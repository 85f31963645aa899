/*
 * aggregate_factor.c - gp_factor(src, dst [, weight], kernel [, landmarks]).
 *
 * The state is that of gp_graph with the kernel beside it; kernel and landmarks
 * are the same in all rows of a group.
 */
#include "postgres.h"

#include "aggregate_state.h"
#include "pg/server/server.h"

/* 22023 for an argument that changes from row to row. */
static void
refuse_change(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s must be the same in all rows of a group", argument),
			 errhint("Group by it.")));
}

/* Adds a row.  Kernel and landmarks are those of the first row, which the others are held against. */
static Datum
accumulate(FunctionCallInfo fcinfo, bool weighted)
{
	gnngp_graph_state *state = gnngp_graph_state_argument(fcinfo, "gp_factor", weighted);
	int			argno = weighted ? 4 : 3;
	text	   *kernel;
	int64		landmarks = 0;

	gnngp_require_argument(fcinfo, argno, "kernel");
	kernel = PG_GETARG_TEXT_PP(argno);
	if (PG_NARGS() > argno + 1)
		landmarks = gnngp_landmarks_argument(fcinfo, argno + 1);
	if (state->kernel == NULL)
	{
		Size		n = VARSIZE_ANY_EXHDR(kernel);

		state->kernel = MemoryContextAllocZero(state->head.header.eoh_context, n + 1);
		memcpy(state->kernel, VARDATA_ANY(kernel), n);
		state->kernel_length = n;
		state->landmarks = landmarks;
	}
	if (state->kernel_length != VARSIZE_ANY_EXHDR(kernel) ||
		memcmp(state->kernel, VARDATA_ANY(kernel), state->kernel_length) != 0)
		refuse_change("kernel");
	if (state->landmarks != landmarks)
		refuse_change("landmarks");
	PG_FREE_IF_COPY(kernel, argno);
	gnngp_graph_state_add(fcinfo, state);
	return EOHPGetRWDatum(&state->head.header);
}

/* gp_factor_accum(state, src, dst, kernel [, landmarks]) */
PG_FUNCTION_INFO_V1(gnngp_factor_accum);
Datum
gnngp_factor_accum(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, false);
}

/* gp_factor_accum(state, src, dst, weight, kernel [, landmarks]) */
PG_FUNCTION_INFO_V1(gnngp_factor_accum_weighted);
Datum
gnngp_factor_accum_weighted(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, true);
}

static void *
allocate(int64 n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

static void
split_keys(const gnngp_sorted_edges *s, gnngp_graph_value *out)
{
	uint64		mask = (UINT64CONST(1) << s->shift) - 1;

	memset(out, 0, sizeof(*out));
	out->ids = s->ids;
	out->edges = s->edges;
	out->src = allocate(s->edges, sizeof(int32));
	out->dst = allocate(s->edges, sizeof(int32));
	if (s->edge)
		out->weight = allocate(s->edges, sizeof(double));
	for (int64 i = 0; i < s->edges; i++)
	{
		uint64		key = gnngp_sorted_key(s, i);

		gnngp_poll(i);
		out->src[i] = (int32) (key >> s->shift);
		out->dst[i] = (int32) (key & mask);
		if (s->edge)
			out->weight[i] = s->edge[i].weight;
	}
}

/* The factor of a state; NULL where there was no row. */
PG_FUNCTION_INFO_V1(gnngp_factor_final);
Datum
gnngp_factor_final(PG_FUNCTION_ARGS)
{
	MemoryContext work;
	MemoryContext old;
	gnngp_graph_state *state;
	gnngp_sorted_edges s;
	gnngp_graph_value graph;
	gnngp_factor_task task = {.graph = &graph};
	Datum		value;
	bytea	   *copy;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = gnngp_graph_state_final(fcinfo);
	if (state->kernel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the state has no kernel")));
	work = AllocSetContextCreate(CurrentMemoryContext, "gnngp factor", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(work);
	gnngp_edge_sort(&state->list, &s);
	gnngp_sorted_edges_merge(&s);
	split_keys(&s, &graph);
	task.kernel = state->kernel;
	task.landmarks = state->landmarks;
	value = gnngp_factor_make(&task);
	MemoryContextSwitchTo(old);
	copy = DatumGetByteaPCopy(value);
	MemoryContextDelete(work);
	PG_RETURN_BYTEA_P(copy);
}
