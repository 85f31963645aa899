/*
 * aggregate_features.c - gp_features(node, features), an array of numbers.
 *
 * The state is a gp_features that lives expanded, in the order of the rows;
 * flattening sorts it by node.  No value of this type holds a node twice, so
 * states combine in any order.
 */
#include "postgres.h"

#include "aggregate_state.h"

typedef struct features_state
{
	gnngp_state_head head;
	int64		n;
	int64		room;
	int64		cols;
	int64	   *id;
	float	   *value;			/* n x cols */
	gnngp_holding held;			/* counts the arrays */
} features_state;

/* A row's place and what it is sorted by. */
typedef struct placed_id
{
	int64		id;				/* first: it is sorted by */
	int64		row;
} placed_id;

/* The rows sorted by node as a value, in the current context. */
static Datum
write_features(const features_state *state)
{
	Size		n = state->n;
	placed_id  *p = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(placed_id));
	float	   *value = state->value;
	int64	   *id = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int64));
	bool		sorted = true;

	gnngp_value_check_size((double) n * state->cols * sizeof(float), "features");
	for (Size i = 0; i < n; i++)
	{
		p[i].id = state->id[i];
		p[i].row = i;
		sorted = sorted && (i == 0 || p[i - 1].id < p[i].id);
	}
	if (!sorted)
	{
		gnngp_sort(p, n, sizeof(placed_id), gp_compare_int64, NULL);
		for (Size i = 1; i < n; i++)
			if (p[i].id == p[i - 1].id)
				gnngp_raise(UNIQUE_VIOLATION, "Give each node one row of features.",
							"node " INT64_FORMAT " has features twice", p[i].id);
		value = MemoryContextAllocHuge(CurrentMemoryContext, n * state->cols * sizeof(float));
		for (Size i = 0; i < n; i++)
			memcpy(value + i * state->cols, state->value + p[i].row * state->cols,
				   state->cols * sizeof(float));
	}
	for (Size i = 0; i < n; i++)
		id[i] = p[i].id;
	gnngp_value_ids ids = gnngp_value_ids_part(&(gnngp_value_ids) {.n = n,.id = id}, 0, n);
	Datum		result = gnngp_table_write(&ids, gp_matrix_wrap(value, n, state->cols, GP_FLOAT),
										   "features");
	pfree(id);
	if (!sorted)
		pfree(value);
	pfree(p);
	return result;
}

static Datum
write_state(gnngp_state_head *head)
{
	return write_features((features_state *) head);
}

/* Room for one more row of so many numbers. */
static float *
add_row(features_state *state, int64 id, int64 cols)
{
	MemoryContext context = state->head.header.eoh_context;

	if (state->n == 0)
		state->cols = cols;
	else if (state->cols != cols)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR, NULL,
					"node %lld has %lld features, but node %lld has %lld", (long long) id,
					(long long) cols, (long long) state->id[0], (long long) state->cols);
	if (state->n == state->room)
	{
		int64		room = Max(state->room * 2, 8);

		/* Refuses a state that would be too large, or takes more memory than is allowed; counts
		 * another */
		double		bytes = (double) room * (state->cols * sizeof(float) + sizeof(int64));

		gnngp_value_check_size((double) state->n * state->cols * sizeof(float), "features");
		gnngp_value_hold(&state->held, state->head.header.eoh_context, bytes, 0.0,
						 psprintf("the features of " INT64_FORMAT " nodes", state->n));
		state->id = gnngp_value_grow(context, state->id, room * sizeof(int64));
		state->value = gnngp_value_grow(context, state->value, room * cols * sizeof(float));
		state->room = room;
	}
	state->id[state->n] = id;
	return state->value + state->n++ * cols;
}

static void
add_flat(features_state *state, Datum value)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gnngp features",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);

	gnngp_table_value table = gnngp_table_read(value, "gp_features");
	for (int64 i = 0; i < table.ids.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gnngp_value_row(table.value, i, table.cols,
						add_row(state, gnngp_value_id(&table.ids, i), table.cols));
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

static features_state *
state_argument(FunctionCallInfo fcinfo)
{
	features_state *state = NULL;

	if (!PG_ARGISNULL(0) && DatumIsReadWriteExpandedObject(PG_GETARG_DATUM(0), false, -1))
		state = gnngp_expanded_state(PG_GETARG_DATUM(0), write_state);
	if (state)
		return state;
	state = gnngp_state_create(gnngp_aggregate_context(fcinfo, "gp_features"),
							   "gnngp features state", sizeof(features_state), write_state);
	if (!PG_ARGISNULL(0))
		add_flat(state, PG_GETARG_DATUM(0));
	return state;
}

/* The row of features of one element type; NUMBER is element j of the array in double precision:
 * 22003 for one that is none, or none any more in single precision. */
#define TAKE_ROW(NUMBER) \
	for (int64 j = 0; j < cols; j++) \
	{ \
		double		given = (NUMBER); \
\
		row[j] = (float) given; \
		if (unlikely(!isfinite(row[j]))) \
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, \
						"Features must be finite and fit single precision.", \
						"feature " INT64_FORMAT " of node " INT64_FORMAT " is %g, which is not a finite single precision number", \
						j + 1, node, given); \
	}

/* gp_features_accum(state, node, features), an array of real, double precision, integer or
 * numeric */
GNNGP_FUNCTION(gnngp_features_accum)
{
	features_state *state = state_argument(fcinfo);
	int64		node = PG_GETARG_INT64(1);

	if (PG_ARGISNULL(1))
		gnngp_aggregate_null("node");
	if (PG_ARGISNULL(2))
		gnngp_aggregate_null("features");
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(2);
	if (ARR_NDIM(array) != 1)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR, NULL, "the features of node " INT64_FORMAT " must be an array of one dimension that is not empty",
					node);
	if (array_contains_nulls(array))
		gnngp_raise(NULL_VALUE_NOT_ALLOWED, "Replace NULL by a number.",
					"a feature of node " INT64_FORMAT " is NULL", node);
	const void *number = gnngp_array_data(array);
	int64		cols = ARR_DIMS(array)[0];
	float	   *row = add_row(state, node, cols);
	if (ARR_ELEMTYPE(array) == FLOAT4OID)
		TAKE_ROW(((const float4 *) number)[j])
	else if (ARR_ELEMTYPE(array) == FLOAT8OID)
		TAKE_ROW(((const float8 *) number)[j])
	else if (ARR_ELEMTYPE(array) == INT4OID)
		TAKE_ROW(((const int32 *) number)[j])
	else
	{
		/* Numerics, which have no fixed width */
		Datum	   *element;
		bool	   *nulls;

		(void) gnngp_array_elements(array, &element, &nulls);
		TAKE_ROW(DatumGetFloat8(DirectFunctionCall1(numeric_float8, element[j])));
		pfree(element);
		pfree(nulls);
	}
	PG_FREE_IF_COPY(array, 2);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->head.header));
}

/* gp_features_combine(state, state) */
GNNGP_FUNCTION(gnngp_features_combine)
{
	features_state *state = state_argument(fcinfo);

	add_flat(state, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->head.header));
}

/* The features of a state. */
GNNGP_FUNCTION(gnngp_features_final)
{
	features_state *state = gnngp_expanded_state(PG_GETARG_DATUM(0), write_state);

	PG_RETURN_DATUM(state ? write_features(state) : PG_GETARG_DATUM(0));
}
