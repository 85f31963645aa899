/*
 * sort.h - the one sort for what users choose the size of.
 *
 * The C library's qsort cannot be interrupted, some take memory that nobody
 * counts, and some become quadratic for an order that is made for it.
 */
#ifndef GP_SORT_H
#define GP_SORT_H

#include "env.h"

/* So few items are sorted in place: env is not used, and may be NULL. */
#define GP_SORT_FEW 8
#define GP_SORT_LARGEST 64		/* bytes of an item */

/* Below, at or above zero when a comes before, with or after b. */
typedef int (*gp_compare) (const void *a, const void *b, void *arg);

/*
 * Sorts n items of size bytes in place; equal ones keep their order.  Takes the
 * memory of n / 2 items on the way, and looks at interrupts.
 */
extern void gp_sort(gp_env *env, void *base, int64_t n, size_t size, gp_compare compare, void *arg);

#endif							/* GP_SORT_H */
