/*
 * accumulator.h - a sparse row whose columns come in any order, and again and again.
 *
 * A row of few columns among many has a small table of its own, which stays in the cache; other
 * rows have a place for each column.
 */
#ifndef GP_ACCUMULATOR_H
#define GP_ACCUMULATOR_H

#include "base/hash_table.h"

#define GP_ACCUMULATOR_TABLE 16384	/* columns from which a table is worth it */

typedef struct gp_accumulator
{
	int64_t		cols;
	int64_t		row;			/* counts the rows */
	int64_t    *mark;			/* the row that last used each place */
	int32_t    *column;			/* that it used it for, in a table */
	double	   *sum;			/* of each place */
	int64_t		n;				/* columns of the row */
	int32_t    *touched;		/* these, as they came */
	gp_places	places;			/* of the table; the mask is 0 without one */
} gp_accumulator;

static inline gp_accumulator
gp_accumulator_open(gp_env *env, int64_t cols)
{
	gp_accumulator a = {.cols = cols, .places = gp_places_open(env, 1)};

	a.mark = gp_alloc_zero(env, cols, sizeof(int64_t));
	a.column = gp_alloc_array(env, cols, sizeof(int32_t));
	a.sum = gp_alloc_array(env, cols, sizeof(double));
	a.touched = gp_alloc_array(env, cols, sizeof(int32_t));
	return a;
}

static inline void
gp_accumulator_close(gp_accumulator *a)
{
	gp_free_all(a->places.env, a->mark, a->column, a->sum, a->touched);
}

/* Begins a row that touches at most so many columns. */
static inline void
gp_accumulator_begin(gp_accumulator *a, int64_t most)
{
	int64_t		places = 64;

	while (places < 2 * most && places <= a->cols)
		places *= 2;
	a->row++;
	a->n = 0;
	a->places.mask = a->cols >= GP_ACCUMULATOR_TABLE && places <= a->cols
		? (uint64_t) places - 1 : 0;
}

/* The sum of a column, which begins at 0 when the row has not touched it. */
static inline double *
gp_accumulator_at(gp_accumulator *a, int32_t column)
{
	uint64_t	at = (uint64_t) column;

	if (a->places.mask)
	{
		at = gp_first_place(&a->places, at);
		while (a->mark[at] == a->row && a->column[at] != column)
			at = gp_next_place(&a->places, at);
		a->column[at] = column;
	}
	if (a->mark[at] != a->row)
	{
		a->mark[at] = a->row;
		a->sum[at] = 0.0;
		a->touched[a->n++] = column;
	}
	return &a->sum[at];
}

#endif							/* GP_ACCUMULATOR_H */
