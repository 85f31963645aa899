/*
 * sort.h - the one sort for what users choose the size of, and the one heap.
 *
 * The C library's qsort cannot be interrupted, some take memory that nobody
 * counts, and some become quadratic for an order that is made for it.
 */
#ifndef GP_SORT_H
#define GP_SORT_H

#include "env.h"

/* ---- sorting ---- */

/* So few items are sorted in place: env is not used, and may be NULL. */
#define GP_SORT_FEW 8
#define GP_SORT_LARGEST 64		/* bytes of an item */

/* Below, at or above zero when a comes before, with or after b. */
typedef int (*gp_compare) (const void *a, const void *b, void *arg);

/* Compare items by the number that they begin with. */
extern int	gp_compare_int32(const void *a, const void *b, void *unused);
extern int	gp_compare_int64(const void *a, const void *b, void *unused);
extern int	gp_compare_double(const void *a, const void *b, void *unused);

/* A node that is ranked by a score, and what else is known by its place in a list. */
typedef struct gp_scored
{
	double		score;			/* no NaN */
	int32_t		node;
	int64_t		place;
} gp_scored;

/* The largest score first, ties by node. */
extern int	gp_compare_scored(const void *a, const void *b, void *unused);

/* A node and its draw. */
typedef struct gp_drawn
{
	uint64_t	draw;
	int32_t		node;
} gp_drawn;

/* By draw; nodes of one draw in no order of their numbers, which may be places. */
extern int	gp_compare_drawn(const void *a, const void *b, void *unused);

/*
 * Sorts n items of size bytes in place; equal ones keep their order.  Takes the
 * memory of n / 2 items on the way, and looks at interrupts.
 */
extern void gp_sort(gp_env *env, void *base, int64_t n, size_t size, gp_compare compare, void *arg);

/* ---- the first of many, in memory that the caller has ---- */

/* A heap of items no two of which are equal, with the last of them on top. */
typedef struct gp_heap
{
	gp_env	   *env;
	void	   *item;			/* the first so many of those offered */
	int64_t		room;
	size_t		size;			/* of an item, at most GP_SORT_LARGEST */
	gp_compare	compare;
	int64_t		n;
	int64_t		work;			/* items offered or sorted */
	int64_t		next;			/* work at which interrupts are looked at */
} gp_heap;

/* Offers an item, which may be that at place n of the heap's own memory. */
extern void gp_heap_offer(gp_heap *heap, const void *item);

/* Puts the items in order, which ends the heap. */
extern void gp_heap_sort(gp_heap *heap);

/* The place of a number among n ascending ones, none of which comes twice; -1: it is not there. */
static inline int64_t
gp_sorted_find(const int32_t *list, int64_t n, int32_t number)
{
	int64_t		low = 0;

	GP_BISECT(low, n, at, list[at] < number);
	return low < n && list[low] == number ? low : -1;
}

#endif							/* GP_SORT_H */
