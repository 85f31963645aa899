/*
 * encoding_internal.h - what the files of this folder share.
 */
#ifndef GP_ENCODING_INTERNAL_H
#define GP_ENCODING_INTERNAL_H

#include "encoding.h"

/* True for a kind that is told apart by a hash. */
static inline bool
gp_cell_is_word(gp_cell_kind kind)
{
	return kind == GP_CELL_WORD || kind >= GP_CELL_KEY;
}

/* A value of a row that an encoder keeps. */
typedef struct gp_kept_value
{
	/* NaN: NULL; of times their age in years, negative where they are later */
	double		number;
	uint64_t	category;
} gp_kept_value;

/* A category and how often it is there. */
typedef struct gp_tallied
{
	uint64_t	value;
	int64_t		count;
} gp_tallied;

/* ---- categories.c ---- */

/* What a number is told from others by: its bits. */
extern uint64_t gp_category_of_number(double number);

/* The different values, NULL one of them, the most frequent first; returns their number. */
extern int64_t gp_tally(gp_env *env, int64_t n, const gp_kept_value *value, gp_tallied *out);

/* ---- written_later.c: by_time has the n rows in the order of their times ---- */

/* Makes times that are later than their row unknown; true where they are too many of all. */
extern bool gp_hide_later(int64_t n, gp_kept_value *value);

/*
 * True for a column whose NULLs are in the newest rows: its values are written a while after their
 * rows.
 */
extern bool gp_is_filled_later(int64_t n, const gp_kept_value *value, const gp_timed *by_time);

/*
 * True for a column whose newest rows have values that old ones lack, such as a status that is
 * written again, once or twice.  Where values come and go, as versions and seasons do, old
 * stretches say so.  room has place for n.
 */
extern bool gp_is_rewritten(gp_env *env, int64_t n, const gp_kept_value *value,
							const gp_timed *by_time, gp_tallied *room);

/* ---- encode.c ---- */

/* All of its numbers. */
extern int32_t gp_encoded_width(const gp_encoded *encoded);

/* A number, winsorised. */
static inline double
gp_encoded_clip(const gp_encoded *encoded, double z)
{
	return fmin(fmax(z, encoded->low), encoded->high);
}

/* A number as it is standardised: winsorised and, where that is so, its logarithm. */
static inline double
gp_encoded_winsorise(const gp_encoded *encoded, double z)
{
	z = gp_encoded_clip(encoded, z);
	return encoded->logarithm ? log1p(z) : z;
}

#endif							/* GP_ENCODING_INTERNAL_H */
