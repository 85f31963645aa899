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

/* What a number is told from others by: its bits. */
extern uint64_t gp_category_of_number(double number);

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
