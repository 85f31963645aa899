/*
 * aggregate_moments.c - gp_moments: what decides how features are scaled, in one pass over arrays.
 *
 * The state is an array of double precision, which servers can send each other: rows, the lowest
 * squared length above 0, the highest one, 1 where all numbers are 0 or 1, then means, then sums of
 * squared differences from them, which are updated as of Welford (1962) and Chan et al. (1979).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "distributed_internal.h"
#include "pg/types/aggregate_state.h"

/* The numbers of an array of float8, n of them; NULL where one is NULL. */
static double *
numbers(Datum value, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return array_contains_nulls(array) ? NULL : unconstify(void *, gnngp_array_data(array));
}

/* gp_moments_accum(state, x): a row with another length, or with NULL, is refused elsewhere. */
GNNGP_FUNCTION(gnngp_moments_accum)
{
	MemoryContext context = gnngp_aggregate_context(fcinfo, "gp_moments");
	Datum		state = PG_ARGISNULL(0) ? 0 : PG_GETARG_DATUM(0);
	double	   *s = NULL;
	double	   *x = NULL;
	double		square = 0.0;
	int			n = 0;
	int			columns = 0;

	if (!PG_ARGISNULL(1))
		x = numbers(PG_GETARG_DATUM(1), &columns);
	if (PG_ARGISNULL(0) && x && columns > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		Datum	   *zero = palloc0((GNNGP_MOMENTS + 2 * columns) * sizeof(Datum));

		zero[1] = Float8GetDatum(INFINITY);
		zero[3] = Float8GetDatum(1.0);
		state = gnngp_make_array(zero, GNNGP_MOMENTS + 2 * columns, FLOAT8OID);
		pfree(zero);
		MemoryContextSwitchTo(old);
	}
	if (state)
		s = numbers(state, &n);
	if (s == NULL || x == NULL || n != GNNGP_MOMENTS + 2 * columns)
	{
		if (state == 0)
			PG_RETURN_NULL();
		PG_RETURN_DATUM(state);
	}
	double	   *mean = s + GNNGP_MOMENTS;
	s[0]++;
	for (int j = 0; j < columns; j++)
	{
		double		off = x[j] - mean[j];

		mean[j] += off / s[0];
		mean[columns + j] += off * (x[j] - mean[j]);
		square += x[j] * x[j];
		if (x[j] != 0.0 && x[j] != 1.0)
			s[3] = 0.0;
	}
	if (square > 0.0)
		s[1] = fmin(s[1], square);
	s[2] = fmax(s[2], square);
	PG_RETURN_DATUM(state);
}

/* gp_moments_combine(state, state) */
GNNGP_FUNCTION(gnngp_moments_combine)
{
	MemoryContext old = MemoryContextSwitchTo(gnngp_aggregate_context(fcinfo, "gp_moments"));
	Datum		state = PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0)));
	int			n;
	int			m;

	MemoryContextSwitchTo(old);
	double	   *s = numbers(state, &n);
	double	   *more = numbers(PG_GETARG_DATUM(1), &m);
	if (s == NULL || more == NULL || n != m || n < GNNGP_MOMENTS)
		PG_RETURN_DATUM(state);
	int			columns = (n - GNNGP_MOMENTS) / 2;
	double		rows = s[0] + more[0];
	double	   *mean = s + GNNGP_MOMENTS;
	for (int j = 0; j < columns && more[0] > 0.0; j++)
	{
		double		off = more[GNNGP_MOMENTS + j] - mean[j];

		mean[j] += off * (more[0] / rows);
		mean[columns + j] += more[GNNGP_MOMENTS + columns + j] +
			off * off * (s[0] * more[0] / rows);
	}
	s[0] = rows;
	s[1] = fmin(s[1], more[1]);
	s[2] = fmax(s[2], more[2]);
	s[3] = fmin(s[3], more[3]);
	PG_RETURN_DATUM(state);
}
