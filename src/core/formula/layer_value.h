/*
 * layer_value.h - what a part of a formula stands for, and the arithmetic of such values.
 *
 * A value is a number times nothing, I, an operator, a weight or a feature.  Products read left
 * to right: operators, one feature, weights; numbers anywhere.  Operators left of a feature and
 * numbers and weights right of it act on its covariance alone and commute, so that a feature is
 * a number, an operator, a step of the program and a variance, until a sum or a
 * function needs it as a step.  The sign of a feature's number never matters, because the terms
 * of a sum are independent; so that sums of sums are sums of all their terms.
 *
 * What cannot be computed is raised where it stands in the text.
 */
#ifndef GP_LAYER_VALUE_H
#define GP_LAYER_VALUE_H

#include "formula_internal.h"

#define GP_SOURCE_X 1u			/* what a feature shares with others */
#define GP_SOURCE_X0 2u
#define GP_SOURCE_N 4u

#define GP_VARIANCE_NOT_FINITE "variance of kernel is not finite"

/* What a tree stands for. */
typedef enum gp_value_kind
{
	GP_VALUE_SCALAR,
	GP_VALUE_IDENTITY,			/* a multiple of I, of the nodes or of the width */
	GP_VALUE_OPERATOR,
	GP_VALUE_WEIGHT,
	GP_VALUE_FEATURE
} gp_value_kind;

typedef struct gp_value gp_value;

struct gp_value
{
	gp_value_kind kind;
	int			position;
	double		number;			/* what the rest is multiplied with */
	const gp_operator *op;		/* of an operator, of a feature; NULL: I */
	/* of a weight id*I + a*W1 + b*W2 ...: a^2 sigma1^2 + b^2 sigma2^2 ...; of a product of weights,
	 * and of a feature: what they multiply its covariance with */
	double		variance;
	double		id;
	bool		weighted;		/* a product of weights, or a feature that one acts on */
	bool		fresh;			/* of a weight: it has no I, so that its feature shares nothing */
	/* of a feature */
	int			atom;			/* a step; GP_ZERO: the feature is zero */
	unsigned	sources;		/* what it shares with others, of GP_SOURCE_* */
	bool		mean;			/* an activation without a fresh weight: its mean is not zero */
};

/* What errors call a value. */
extern const char *gp_value_name(const gp_value *v);

/* Raises a syntax error at a place. */
extern void gp_value_refuse(gp_layer *t, int position, const char *hint, const char *message)
			__attribute__((noreturn));

/* A number that must be finite, without a sign of 0; the message names a layer that is not the
 * first. */
extern double gp_value_finite(gp_layer *t, double number, int position, const char *message);

/* A value of a kind, 1 times it; such a number; a fresh W of this sigma; a feature of one step. */
extern gp_value *gp_value_make(gp_layer *t, gp_value_kind kind, int position);
extern const gp_value *gp_value_number(gp_layer *t, double number, int position,
									   const char *message);
extern const gp_value *gp_value_weight(gp_layer *t, double sigma, int position);
extern gp_value *gp_value_feature(gp_layer *t, int position, int atom, unsigned sources,
								  bool mean);

/* a * b in the order of the text. */
extern const gp_value *gp_value_multiply(gp_layer *t, const gp_value *a, int a_position,
										 const gp_value *b, int b_position);

/* a + b of anything but features. */
extern const gp_value *gp_value_add(gp_layer *t, const gp_value *a, const gp_value *b,
									int position);

/*
 * A sum of features: all terms are added in an order that the text does not change.  The layer
 * before is one of them, for its own would be kept, and added again, in every layer to come.
 */
extern const gp_value *gp_value_add_features(gp_layer *t, const gp_ast *ast,
											 const gp_value *const *v);

/* The negative of a value; the sign of a feature does not matter. */
extern const gp_value *gp_value_negate(gp_layer *t, const gp_value *v);

/* A power: of a number, or a whole one of an operator. */
extern const gp_value *gp_value_power(gp_layer *t, const gp_ast *ast, const gp_value *base,
									  const gp_value *exponent);

/*
 * The step of a feature.  The number of a single monomial stands outside of its operator, that of
 * several inside, whose sign does not matter.
 */
extern int	gp_value_step(gp_layer *t, const gp_value *f);

#endif							/* GP_LAYER_VALUE_H */
