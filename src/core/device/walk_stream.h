/*
 * walk_stream.h - one random walk: its generator and its steps, on the host and on a card.
 *
 * A walk's numbers are a hash of (seed, copy, node, walk) and a counter, so that
 * they do not depend on which walks run before or beside it.  A step is written
 * without a product that is added to something: a compiler that fuses the two
 * could change its bits.
 */
#ifndef GP_WALK_STREAM_H
#define GP_WALK_STREAM_H

#include "base/base.h"

#define GP_LONGEST_WALK 10000	/* of no practical effect; bounds the work for tiny p_term */
#define GP_WALKS_ABREAST 16		/* walks of a node that take each step together */

/*
 * Walks that do not know of each other.  Walk number w of a node leaves loads at
 * the places that it comes to; those of GP_WALKS_ABREAST walks are added step by
 * step and in the order of their numbers, one such group after the other.
 */
typedef struct gp_walk_task
{
	const gp_csr *u;			/* double */
	const double *cumulated;	/* row sums of u up to each entry, to choose by; NULL: uniformly */
	const int32_t *anchor;		/* each node's column, -1 without one; NULL: all nodes take loads */
	int64_t		columns;		/* that loads are left in */
	uint64_t	seed;
	int			copy;
	int			walks;			/* for each node */
	int			d;
	int			first;			/* f of the walk's start: 1 where the first step is exact, else 0 */
	double		p_term;
} gp_walk_task;

/* A stream of random numbers. */
typedef struct gp_stream
{
	uint64_t	state;
} gp_stream;

GP_ON_CARD static inline gp_stream
gp_stream_start(uint64_t seed, int copy, int64_t node, int64_t walk)
{
	gp_stream	s;

	s.state = gp_mix64(gp_mix64(gp_mix64(seed + GP_GOLDEN * (uint64_t) (copy + 1)) +
					  (uint64_t) node) + (uint64_t) walk);
	return s;
}

/* A uniform number in [0, 1). */
GP_ON_CARD static inline double
gp_uniform(gp_stream *s)
{
	s->state += GP_GOLDEN;
	return (double) (gp_mix64(s->state) >> 11) * (1.0 / 9007199254740992.0);
}

/* Chooses an entry of a row in proportion to its value: a bisection of the cumulated row. */
GP_ON_CARD static inline int64_t
gp_choose_weighted(const double *value, const double *cumulated, int64_t begin, int64_t end,
				   double x, double *probability)
{
	double		total = cumulated[end - 1];
	double		goal = x * total;
	int64_t		low = begin;

	GP_BISECT(low, end - 1, at, !(cumulated[at] > goal));
	*probability = value[low] / total;
	return low;
}

/* Chooses an entry of a row, all alike. */
GP_ON_CARD static inline int64_t
gp_choose_uniform(int64_t begin, int64_t end, double x, double *probability)
{
	*probability = 1.0 / (double) (end - begin);
	return begin + (int64_t) (x * (double) (end - begin));
}

/* The load behind a step: the product of u over the probability of going on that way. */
GP_ON_CARD static inline double
gp_walk_load(double load, double value, double probability, double p_term)
{
	return load * (value / (probability * (1.0 - p_term)));
}

/* f_(k + 1) of f_k: Gamma(k + d/2) / (Gamma(d/2) k!). */
GP_ON_CARD static inline double
gp_walk_next(double f, int k, int d)
{
	return f * ((k + 0.5 * d) / (k + 1));
}

#endif							/* GP_WALK_STREAM_H */
