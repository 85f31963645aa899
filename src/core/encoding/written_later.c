/*
 * written_later.c - columns that are written after their rows, as a sample of rows gives them away.
 */
#include "encoding_internal.h"

#define LATER 0.01				/* share of times later than their row's */
#define FILLED_MOST 0.2			/* a column is filled in later if at most so much of it is NULL, */
#define FILLED_NEWEST 0.6		/* and so much of the newest rows, of a number equal to its NULLs */
#define FILLED_FEWEST 20		/* NULLs that say so */
#define NEW_ROWS 20				/* newest rows: values that are written again later have */
#define NEW_VALUES 2			/* up to so many of them */
#define NEWEST_VALUE 0.8		/* so much of these, */
#define NEW_VALUE 0.5			/* so much of these or of 40, 80, ... of the newest, */
#define NEW_MOST 0.1			/* of up to this share of all rows, */
#define OLD_VALUE 0.05			/* and at most so much */
#define OLD_ROWS 0.8			/* of the oldest, that share of all; */
#define OLD_CHANGE 0.4			/* stretches of these differ by at most so much of the change, */
#define AT_ONCE 0.97			/* and it did not come to be the only value from one row on */

bool
gp_hide_later(int64_t n, gp_kept_value *value)
{
	int64_t		later = 0;
	int64_t		present = 0;

	for (int64_t i = 0; i < n; i++)
	{
		present += !isnan(value[i].number);
		if (!(value[i].number < 0.0))
			continue;
		later++;
		value[i] = (gp_kept_value) {NAN, GP_CATEGORY_NULL};
	}
	return present > 0 && (double) later / (double) present > LATER;
}

bool
gp_is_filled_later(int64_t n, const gp_kept_value *value, const gp_timed *by_time)
{
	int64_t		nulls = 0;
	int64_t		newest = 0;

	for (int64_t i = 0; i < n; i++)
		nulls += value[i].category == GP_CATEGORY_NULL;
	if (nulls < FILLED_FEWEST || (double) nulls > FILLED_MOST * (double) n ||
		by_time[0].as_of == by_time[n - 1].as_of)
		return false;
	for (int64_t i = n - nulls; i < n; i++)
		newest += value[by_time[i].row].category == GP_CATEGORY_NULL;
	return (double) newest >= FILLED_NEWEST * (double) nulls;
}

/* The share of n values that are one of some categories. */
static double
share_of(int64_t n, const gp_kept_value *value, const gp_tallied *of, int32_t values)
{
	int64_t		count = 0;

	for (int64_t i = 0; i < n; i++)
		for (int32_t v = 0; v < values; v++)
			count += value[i].category == of[v].value;
	return (double) count / (double) n;
}

/*
 * By how much the most frequent of n values are more frequent there than among the old rows; of
 * those that are not, nothing.
 */
static double
excess(gp_env *env, int64_t n, const gp_kept_value *value, int64_t nold, const gp_kept_value *old,
	   int32_t values, gp_tallied *room)
{
	int64_t		different = gp_tally(env, n, value, room);
	double		sum = 0.0;

	for (int32_t v = 0; v < values && v < different; v++)
		sum += fmax(0.0, (double) room[v].count / (double) n - share_of(nold, old, &room[v], 1));
	return sum;
}

/* True where the newest n of rows in order of time have values that no stretch of the old had. */
static bool
are_new(gp_env *env, int64_t rows, const gp_kept_value *value, int64_t n, const gp_tallied *newest,
		int32_t values, int64_t nold, gp_tallied *room)
{
	double		share = share_of(n, value + rows - n, newest, values);
	double		change = share - share_of(nold, value, newest, values);
	bool		new = share >= NEW_VALUE;

	for (int64_t at = 0; new && at + n <= nold; at += n)
		new = excess(env, n, value + at, nold, value, values, room) <= OLD_CHANGE * change;
	return new;
}

/* True where so many of the most frequent newest values are written again later. */
static bool
change_later(gp_env *env, int64_t rows, const gp_kept_value *ordered, const gp_tallied *newest,
			 int32_t values, gp_tallied *room)
{
	int64_t		nold = (int64_t) (OLD_ROWS * (double) rows);
	int64_t		holders = (int64_t) ((double) rows * share_of(rows, ordered, newest, values) + 0.5);
	bool		found = false;

	if (share_of(NEW_ROWS, ordered + rows - NEW_ROWS, newest, values) < NEWEST_VALUE ||
		share_of(nold, ordered, newest, values) > OLD_VALUE ||
		share_of(holders, ordered + rows - holders, newest, values) > AT_ONCE)
		return false;
	for (int64_t n = NEW_ROWS; !found && (double) n <= NEW_MOST * (double) rows; n *= 2)
		found = are_new(env, rows, ordered, n, newest, values, nold, room);
	return found;
}

bool
gp_is_rewritten(gp_env *env, int64_t n, const gp_kept_value *value, const gp_timed *by_time,
				gp_tallied *room)
{
	gp_tallied	newest[NEW_VALUES];
	bool		found = false;

	if (NEW_MOST * (double) n < NEW_ROWS || by_time[0].as_of == by_time[n - 1].as_of)
		return false;
	gp_kept_value *ordered = gp_alloc_array(env, n, sizeof(gp_kept_value));
	for (int64_t i = 0; i < n; i++)
		ordered[i] = value[by_time[i].row];
	int64_t		different = gp_tally(env, NEW_ROWS, ordered + n - NEW_ROWS, room);
	memcpy(newest, room, sizeof(newest));
	for (int32_t values = 1; !found && values <= NEW_VALUES && values <= different; values++)
		found = change_later(env, n, ordered, newest, values, room);
	gp_free(env, ordered);
	return found;
}
