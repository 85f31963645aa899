/*
 * written_later.c - columns that are written after their rows, as a sample of rows gives them away.
 */
#include "encoding_internal.h"

#define LATER 0.01				/* least share of times that lie later than their row's */

/* A column is filled in later if it has few NULLs, and most of them stand in its newest rows. */
#define FILLED_MOST 0.2			/* largest share of NULLs in all rows */
#define FILLED_NEWEST 0.6		/* least share in the newest rows, as many as there are NULLs */
#define FILLED_FEWEST 20		/* NULLs that there must be */

/*
 * A column is rewritten if one or two values are those of the newest rows and hardly of old ones,
 * and no stretch of old rows ever had values of its own as much.
 */
#define NEW_ROWS 20				/* newest rows, whose most frequent values are tried */
#define NEW_VALUES 2			/* most values that are tried together */
#define NEWEST_VALUE 0.8		/* least share of these that they have */
#define NEW_VALUE 0.5			/* least share of the newest 20, or 40, or 80, ... rows */
#define NEW_MOST 0.1			/* these are at most that share of all rows */
#define OLD_VALUE 0.05			/* their largest share of the old rows */
#define OLD_ROWS 0.8			/* the oldest rows, as a share of all */
#define OLD_CHANGE 0.4			/* most that a stretch of old rows changed, as a share of it */
#define AT_ONCE 0.97			/* of the newest rows, when they came for good */

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
