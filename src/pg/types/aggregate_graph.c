/*
 * aggregate_graph.c - gp_graph(src, dst [, weight]) and gp_factor(src, dst [, weight], kernel
 * [, landmarks]).
 *
 * The state is a type of its own, gp_graph_state, which lives expanded in the
 * aggregate's memory as a list of edges: a row costs no copy.  Where it travels,
 * to the leader of a parallel query or as text to another server, it is sorted
 * and written in the bytes of value_graph.c.  That of gp_factor has the kernel beside the edges.
 */
#include "postgres.h"

#include "aggregate_state.h"

/* What both collect: a gp_graph_state. */
typedef struct gnngp_graph_state
{
	gnngp_state_head head;
	gnngp_edge_list list;
	char	   *kernel;			/* of gp_factor; NULL for gp_graph */
	Size		kernel_length;
	int64		landmarks;		/* 0: as many as are good */
} gnngp_graph_state;

static Datum
write_state(gnngp_state_head *head)
{
	gnngp_graph_state *state = (gnngp_graph_state *) head;
	gnngp_listed_graph g = gnngp_edge_list_graph(&state->list, state->list.weighted);
	Datum		value = gnngp_graph_write(&g, state->kernel, state->landmarks);

	gnngp_env_destroy(g.env);
	return value;
}

static gnngp_graph_state *
create_state(MemoryContext parent, bool weighted)
{
	gnngp_graph_state *state = gnngp_state_create(parent, "gnngp graph state",
												  sizeof(gnngp_graph_state), write_state);

	state->list.context = state->head.header.eoh_context;
	state->list.weighted = weighted;
	return state;
}

/* 22023 for a state that holds what another aggregate collects. */
static void
refuse_state(void)
{
	gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "states of different aggregates cannot be combined");
}

/* Adds the edges of a flat state, and its nodes without any as loops. */
static void
add_flat(gnngp_graph_state *state, Datum value)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gnngp edges",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	gnngp_graph_value g;

	gnngp_graph_read(value, "gp_graph_state", &g);
	if ((g.weight != NULL) != state->list.weighted ||
		(g.kernel == NULL) != (state->kernel == NULL) || g.landmarks != state->landmarks ||
		(g.kernel && strcmp(g.kernel, state->kernel) != 0))
		refuse_state();
	bool	   *seen = MemoryContextAllocExtended(work, g.ids.n, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	gnngp_edge_list_grow(&state->list, g.edges);
	for (int64 i = 0; i < g.edges; i++)
	{
		seen[g.src[i]] = seen[g.dst[i]] = true;
		gnngp_edge_list_add(&state->list, gnngp_value_id(&g.ids, g.src[i]),
							gnngp_value_id(&g.ids, g.dst[i]), g.weight ? g.weight[i] : 0.0);
		gnngp_poll(i);
	}
	gnngp_edge_list_add_lone(&state->list, &g.ids, seen);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

static gnngp_graph_state *
expand_state(MemoryContext parent, Datum value)
{
	bool		weighted;
	gnngp_graph_value g = gnngp_graph_head(value, "gp_graph_state", &weighted);
	gnngp_graph_state *state = create_state(parent, weighted);

	if (g.kernel)
	{
		state->kernel = MemoryContextStrdup(state->head.header.eoh_context, g.kernel);
		state->kernel_length = strlen(g.kernel);
	}
	state->landmarks = g.landmarks;
	add_flat(state, value);
	return state;
}

/* The expanded state that rows may be added to, or NULL. */
static inline gnngp_graph_state *
writable(Datum value)
{
	return VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)) ?
		gnngp_expanded_state(value, write_state) : NULL;
}

/* The state for one more row: the one there is, or a new one. */
static inline gnngp_graph_state *
state_argument(FunctionCallInfo fcinfo, const char *aggregate, bool weighted)
{
	gnngp_graph_state *state = PG_ARGISNULL(0) ? NULL : writable(PG_GETARG_DATUM(0));

	if (unlikely(state == NULL))
	{
		MemoryContext context = gnngp_aggregate_context(fcinfo, aggregate);

		/* An aggregate of somebody's own may start from any state. */
		state = PG_ARGISNULL(0) ? create_state(context, weighted)
			: expand_state(context, PG_GETARG_DATUM(0));
	}
	if (unlikely(state->list.weighted != weighted))
		refuse_state();
	return state;
}

static gnngp_graph_state *
final_state(FunctionCallInfo fcinfo)
{
	gnngp_graph_state *state = gnngp_expanded_state(PG_GETARG_DATUM(0), write_state);

	return state ? state : expand_state(CurrentMemoryContext, PG_GETARG_DATUM(0));
}

/* Adds a row of arguments src, dst and, where the state has weights, weight; in line, for there may
 * be millions of them. */
static inline void
add_row(FunctionCallInfo fcinfo, gnngp_graph_state *state)
{
	double		weight = 0.0;

	if (PG_ARGISNULL(1))
		gnngp_aggregate_null("src");
	if (PG_ARGISNULL(2))
		gnngp_aggregate_null("dst");
	if (state->list.weighted)
	{
		if (PG_ARGISNULL(3))
			gnngp_aggregate_null("weight");
		weight = PG_GETARG_FLOAT8(3);
		if (!(weight >= 0.0) || isinf(weight))
		{
			/* Refuses a weight that is none */
			if (!isfinite(weight))
				gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Weights are finite and not negative.",
							"the weight of the edge from " INT64_FORMAT " to " INT64_FORMAT " is not finite",
							PG_GETARG_INT64(1), PG_GETARG_INT64(2));
			gnngp_raise(INVALID_PARAMETER_VALUE, "Weights are finite and not negative.",
						"the weight of the edge from " INT64_FORMAT " to " INT64_FORMAT " is negative: %g",
						PG_GETARG_INT64(1), PG_GETARG_INT64(2), weight);
		}
	}
	gnngp_edge_list_add(&state->list, PG_GETARG_INT64(1), PG_GETARG_INT64(2), weight);
}

/* gp_graph_accum(state, src, dst [, weight]) */
GNNGP_FUNCTION(gnngp_graph_accum)
{
	gnngp_graph_state *state = state_argument(fcinfo, "gp_graph", PG_NARGS() > 3);

	add_row(fcinfo, state);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->head.header));
}

/* gp_graph_combine(state, state) */
GNNGP_FUNCTION(gnngp_graph_combine)
{
	gnngp_graph_state *state = writable(PG_GETARG_DATUM(0));

	if (state == NULL)
		state = expand_state(gnngp_aggregate_context(fcinfo, "gp_graph"), PG_GETARG_DATUM(0));
	add_flat(state, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->head.header));
}

/* The graph of a state. */
GNNGP_FUNCTION(gnngp_graph_final)
{
	PG_RETURN_DATUM(gnngp_graph_of_edges(&final_state(fcinfo)->list));
}

/* ---- gp_factor ---- */

/* 22023 for an argument that changes from row to row. */
static void
refuse_change(const char *argument)
{
	gnngp_raise(INVALID_PARAMETER_VALUE, "Group by it.",
				"%s must be the same in all rows of a group", argument);
}

/* Adds a row, whose kernel and landmarks must be those of the first one. */
static Datum
accumulate(FunctionCallInfo fcinfo, bool weighted)
{
	gnngp_graph_state *state = state_argument(fcinfo, "gp_factor", weighted);
	int			argno = weighted ? 4 : 3;
	int64		landmarks = 0;

	gnngp_require_argument(fcinfo, argno, "kernel");
	text	   *kernel = PG_GETARG_TEXT_PP(argno);
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
	add_row(fcinfo, state);
	return EOHPGetRWDatum(&state->head.header);
}

/* gp_factor_accum(state, src, dst, kernel [, landmarks]) */
GNNGP_FUNCTION(gnngp_factor_accum)
{
	return accumulate(fcinfo, false);
}

/* gp_factor_accum(state, src, dst, weight, kernel [, landmarks]) */
GNNGP_FUNCTION(gnngp_factor_accum_weighted)
{
	return accumulate(fcinfo, true);
}

/* The factor of a state. */
GNNGP_FUNCTION(gnngp_factor_final)
{
	gnngp_graph_value graph;
	gnngp_graph_state *state = final_state(fcinfo);
	gnngp_factor_task task = {
		.graph = &graph,.kernel = state->kernel,.landmarks = state->landmarks
	};

	if (state->kernel == NULL)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "the state has no kernel");
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gnngp factor", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	gnngp_graph_read(gnngp_graph_of_edges(&state->list), "gp_graph", &graph);
	Datum		value = gnngp_factor_make(&task);
	MemoryContextSwitchTo(old);
	bytea	   *copy = DatumGetByteaPCopy(value);
	MemoryContextDelete(work);
	PG_RETURN_BYTEA_P(copy);
}
