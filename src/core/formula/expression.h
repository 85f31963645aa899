/*
 * expression.h - what a tree stands for in one layer: a number times nothing, I, an operator, a
 * weight or a feature.
 */
#ifndef GP_EXPRESSION_H
#define GP_EXPRESSION_H

#include "formula_internal.h"

#define SOURCE_X 1u
#define SOURCE_X0 2u
#define SOURCE_N 4u

/* What a tree stands for. */
typedef enum gp_value_kind
{
	VALUE_SCALAR,
	VALUE_IDENTITY,			/* a multiple of I, of the nodes or of the width */
	VALUE_OPERATOR,
	VALUE_WEIGHT,
	VALUE_FEATURE
} gp_value_kind;

typedef struct gp_value gp_value;

struct gp_value
{
	gp_value_kind kind;
	int			position;
	gp_number	number;			/* what the rest is multiplied with */
	const gp_operator *op;		/* of an operator, of a feature; NULL: I */
	/* of a weight id*I + a*W1 + b*W2 ...: a^2 sigma1^2 + b^2 sigma2^2 ...; of a product of weights, and
	 * of a feature: what they multiply its covariance with */
	double		variance;
	double		id;
	bool		weighted;		/* a product of weights, or a feature that one acts on */
	bool		fresh;			/* of a weight: it has no I, so that its feature shares nothing */
	/* of a feature */
	int			atom;			/* a step; GP_ZERO: the feature is zero */
	unsigned	sources;		/* what it shares with others, of SOURCE_* */
	bool		mean;			/* an activation without a fresh weight: its mean is not zero */
	int			nterms;			/* of a sum, which is no step yet; 0: none */
	const gp_value **term;
};

/* What errors call a value. */
extern const char *gp_value_name(const gp_value *v);

/* Raises a syntax error at a place. */
extern void gp_value_refuse(gp_layer *t, int position, const char *hint, const char *message)
			__attribute__((noreturn));

/* A copy in the arena, to be changed. */
extern gp_value *gp_value_copy(gp_layer *t, const gp_value *from);

/* A value of a kind, 1 times it. */
extern gp_value *gp_value_make(gp_layer *t, gp_value_kind kind, int position);

/* A number, which must be finite; the message names the layer where it depends on it. */
extern const gp_value *gp_value_number(gp_layer *t, gp_number number, int position,
									   const char *message);

/* A feature of one step. */
extern gp_value *gp_value_feature(gp_layer *t, int position, int atom, unsigned sources, bool mean);

/* A number of a variance, which must be finite. */
extern double gp_value_finite(gp_layer *t, double value, int position);

/* The step of a feature: the terms of a sum are added in an order that the text does not change. */
extern int gp_value_step(gp_layer *t, const gp_value *f);

/* A feature as one that can be multiplied: a sum becomes a step. */
extern gp_value *gp_value_factor(gp_layer *t, const gp_value *f);

/* A fresh W of this sigma. */
extern const gp_value *gp_value_weight(gp_layer *t, double sigma, int position);

/* a + b of weights and multiples of I, none of which is a product of several. */
extern const gp_value *gp_value_add_weights(gp_layer *t, const gp_value *a, const gp_value *b,
											int position);

/* Makes v, a weight or a feature, one times a weight. */
extern void gp_value_apply_weight(gp_value *v, const gp_value *w);

#endif							/* GP_EXPRESSION_H */
