/*
 * elementwise.h - element-wise steps of a training, on the host and on a card.
 *
 * What is dropped depends on the seed and on the place of the element alone, so that it
 * can be drawn again, by any number of threads and in any panel.
 */
#ifndef GP_ELEMENTWISE_H
#define GP_ELEMENTWISE_H

#include "base/base.h"

#include <math.h>

/* What becomes of y; a of one row stands for all rows. */
typedef enum gp_element_op
{
	GP_ELEMENT_RELU,				/* y = max(y, 0) */
	GP_ELEMENT_GATE,				/* y where a > 0, else 0 */
	GP_ELEMENT_TIMES,				/* y = a y */
	GP_ELEMENT_ADD,				/* y = y + factor a b */
	GP_ELEMENT_OVER,				/* y = factor a / y, 0 where y is 0 */
	GP_ELEMENT_ROOT,				/* the root of y, 0 below 0 */
	GP_ELEMENT_EXP,				/* y = exp(factor a) */
	GP_ELEMENT_COS,				/* y = factor cos(y + a) */
	GP_ELEMENT_SIN,				/* y = factor sin(y + a) */
	GP_ELEMENT_DROP,				/* y / (1 - rate) with the probability 1 - rate, else 0 */
	GP_ELEMENT_NORMAL,				/* y = factor times a standard normal number */
	GP_ELEMENT_ADAM				/* y -= a step by the gradient a, whose moments are b and c */
} gp_element_op;

/* A step of Adam (Kingma and Ba 2015), its corrections of the moments' start worked in. */
typedef struct gp_adam
{
	double		rate;			/* over 1 - beta1^t */
	double		root;			/* 1 over the root of 1 - beta2^t */
	double		decay;			/* the gradient of decay w^2 / 2 is added */
	double		clip;			/* a gradient is at most so large */
} gp_adam;

typedef struct gp_elementwise
{
	gp_element_op op;
	double		factor;
	double		rate;			/* of what is dropped */
	uint64_t	seed;			/* of what is drawn */
	gp_adam		adam;
} gp_elementwise;

#define GP_ADAM_BETA1 0.9
#define GP_ADAM_BETA2 0.999
#define GP_ADAM_EPSILON 1e-8

/* The 53 bits that are drawn for one element. */
GP_ON_CARD static inline uint64_t
gp_element_draw(uint64_t seed, uint64_t element)
{
	return gp_mix64(seed + GP_GOLDEN * (element + 1)) >> 11;
}

/* Draws below this are dropped. */
GP_ON_CARD static inline uint64_t
gp_element_bound(double rate)
{
	return (uint64_t) (rate * 9007199254740992.0);
}

/* A uniform number in [0, 1) of one element. */
GP_ON_CARD static inline double
gp_element_uniform(uint64_t seed, uint64_t element)
{
	return (double) gp_element_draw(seed, element) * (1.0 / 9007199254740992.0);
}

/* A standard normal number of one element (Box and Muller 1958). */
GP_ON_CARD static inline double
gp_element_normal(uint64_t seed, uint64_t element)
{
	double		radius = sqrt(-2.0 * log(1.0 - gp_element_uniform(seed, 2 * element)));

	return radius * cos(6.283185307179586 * gp_element_uniform(seed, 2 * element + 1));
}

/* How many of the operands a, b and c an operation reads, in their order. */
static inline int
gp_element_reads(gp_element_op op)
{
	if (op == GP_ELEMENT_RELU || op == GP_ELEMENT_ROOT || op == GP_ELEMENT_DROP ||
		op == GP_ELEMENT_NORMAL)
		return 0;
	return op == GP_ELEMENT_ADAM ? 3 : op == GP_ELEMENT_ADD ? 2 : 1;
}

#endif							/* GP_ELEMENTWISE_H */
