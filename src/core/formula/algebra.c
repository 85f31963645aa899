/*
 * algebra.c - typed values: what a product or a sum of two of them is.
 *
 * A value is a number, a multiple of I, a linear operator, a weight or a feature.
 * Products read left to right: operators, one feature, weights; numbers anywhere.
 * Numbers are carried twice: in normal form, and evaluated in every layer just as
 * they are written, so that an error points at the character that makes it.
 */
#include "formula_internal.h"

#include <math.h>

/* What errors call a value. */
const char *
gp_value_name(const gp_value *v)
{
	static const char *const names[] = {
		"a number", "a multiple of I", "an operator", "a weight", "a feature"
	};

	return names[v->kind];
}

/* Raises a syntax error at a place. */
void
gp_typing_bad(gp_typing *t, int position, const char *hint, const char *message)
{
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, position, hint, "%s", message);
}

/* ---- making values ---- */

/* Keeps a value in the arena. */
const gp_value *
gp_value_keep(gp_typing *t, gp_value value)
{
	gp_value   *v = gp_arena_alloc(t->m.arena, sizeof(gp_value));

	*v = value;
	return v;
}

/* Room for a value in every layer. */
double *
gp_value_room(gp_typing *t)
{
	return gp_arena_alloc(t->m.arena, (t->last - t->first + 1) * sizeof(double));
}

/* Refuses a value that is not finite. */
void
gp_value_check(gp_typing *t, const double *at, const gp_scalar *s, int position, const char *message)
{
	for (int i = 0; i <= t->last - t->first; i++)
	{
		if (isfinite(at[i]))
			continue;
		if (s != NULL && s->kind == GP_SCALAR_NUMBER)
			gp_raise_at(t->m.env, GP_ERR_VALUE, position, NULL, "%s", message);
		gp_raise_at(t->m.env, GP_ERR_VALUE, position, NULL, "%s in layer %d", message,
					t->first + i);
	}
}

/* A number, its value in every layer. */
const gp_value *
gp_value_plain(gp_typing *t, double number)
{
	return gp_value_fixed(t, gp_scalar_number(&t->m, number));
}

/* A scalar that is already canonical. */
const gp_value *
gp_value_fixed(gp_typing *t, const gp_scalar *s)
{
	double	   *at = gp_value_room(t);

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = gp_scalar_eval(s, t->first + i);
	return GP_VALUE(t, SCALAR, .s = s, .at = at);
}

/* ---- products ---- */

/* a * b of two numbers as written, or a / b. */
static const gp_value *
scalar_product(gp_typing *t, const gp_value *a, const gp_value *b, bool divide, int position)
{
	double	   *at = gp_value_room(t);
	const gp_scalar *s;

	for (int i = 0; i <= t->last - t->first; i++)
	{
		if (divide && b->at[i] == 0.0)
			at[i] = NAN;
		else
			at[i] = divide ? a->at[i] / b->at[i] : a->at[i] * b->at[i];
	}
	gp_value_check(t, at, b->s, position,
				 divide ? "division by zero or value out of range in kernel" :
				 "value out of range in kernel");
	t->m.position = position;
	s = divide ? gp_scalar_divide(&t->m, a->s, b->s) : gp_scalar_mul(&t->m, a->s, b->s);
	return GP_VALUE(t, SCALAR, .s = s, .at = at);
}

/* A number times what is no number. */
static const gp_value *
scale_value(gp_typing *t, const gp_scalar *s, const gp_value *v)
{
	switch (v->kind)
	{
		case GP_VALUE_SCALAR:
		case GP_VALUE_IDENTITY:
			return GP_VALUE(t, IDENTITY, .s = gp_scalar_mul(&t->m, s, v->s));
		case GP_VALUE_OPERATOR:
			return GP_VALUE(t, OPERATOR, .op = gp_poly_scale(&t->m, v->op, s));
		case GP_VALUE_WEIGHT:
			return GP_VALUE(t, WEIGHT, .weight = gp_weight_scale(&t->m, v->weight, s));
		case GP_VALUE_FEATURE:
			return GP_VALUE(t, FEATURE, .feature = gp_feature_term(&t->m, s, NULL, v->feature, NULL));
	}
	return v;
}

/* Refuses what stands on the wrong side of a feature. */
static void __attribute__((noreturn))
bad_product(gp_typing *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	if (a->kind == GP_VALUE_FEATURE && b->kind == GP_VALUE_FEATURE)
		gp_typing_bad(t, b_position, "Features are added: A*relu(X)*W + X0.",
			"a product in kernel holds two features");
	if (b->kind == GP_VALUE_OPERATOR)
		gp_typing_bad(t, b_position, "Write A*relu(X)*W.",
			"an operator in kernel must stand left of the feature");
	gp_typing_bad(t, a->kind == GP_VALUE_WEIGHT ? a_position : b_position, "Write A*relu(X)*W.",
		"a weight in kernel must stand right of the feature");
}

/* a * b in the order of the text. */
const gp_value *
gp_value_multiply(gp_typing *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	const gp_scalar *one;

	if (a->kind == GP_VALUE_SCALAR && b->kind == GP_VALUE_SCALAR)
		return scalar_product(t, a, b, false, b_position);
	t->m.position = a_position;
	if (a->kind == GP_VALUE_SCALAR || a->kind == GP_VALUE_IDENTITY)
		return scale_value(t, a->s, b);
	if (b->kind == GP_VALUE_SCALAR || b->kind == GP_VALUE_IDENTITY)
		return scale_value(t, b->s, a);
	one = gp_scalar_number(&t->m, 1.0);
	if (a->kind == GP_VALUE_OPERATOR && b->kind == GP_VALUE_OPERATOR)
		return GP_VALUE(t, OPERATOR, .op = gp_poly_mul(&t->m, a->op, b->op));
	if (a->kind == GP_VALUE_WEIGHT && b->kind == GP_VALUE_WEIGHT)
		return GP_VALUE(t, WEIGHT, .weight = gp_weight_mul(&t->m, a->weight, b->weight));
	if (a->kind == GP_VALUE_OPERATOR && b->kind == GP_VALUE_FEATURE)
		return GP_VALUE(t, FEATURE, .feature = gp_feature_term(&t->m, one, a->op, b->feature, NULL));
	if (a->kind == GP_VALUE_FEATURE && b->kind == GP_VALUE_WEIGHT)
		return GP_VALUE(t, FEATURE, .feature = gp_feature_term(&t->m, one, NULL, a->feature, b->weight));
	bad_product(t, a, a_position, b, b_position);
}

/* a / b */
const gp_value *
gp_value_divide(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	if (b->kind != GP_VALUE_SCALAR)
		gp_typing_bad(t, position, NULL, "only a number can divide in kernel");
	if (a->kind == GP_VALUE_SCALAR)
		return scalar_product(t, a, b, true, position);
	return scale_value(t, scalar_product(t, gp_value_plain(t, 1.0), b, true, position)->s, a);
}

/* ---- sums ---- */

/* The negative of a value; the sign of a feature does not matter. */
const gp_value *
gp_value_negate(gp_typing *t, const gp_value *v, int position)
{
	if (v->kind == GP_VALUE_FEATURE)
		return v;
	return gp_value_multiply(t, gp_value_plain(t, -1.0), position, v, position);
}

/* a + b as operators. */
static const gp_value *
add_operators(gp_typing *t, const gp_value *a, const gp_value *b)
{
	const gp_poly *x = a->kind == GP_VALUE_OPERATOR ? a->op : gp_poly_identity(&t->m, a->s);
	const gp_poly *y = b->kind == GP_VALUE_OPERATOR ? b->op : gp_poly_identity(&t->m, b->s);

	return GP_VALUE(t, OPERATOR, .op = gp_poly_add(&t->m, x, y));
}

/* a + b as weights. */
static const gp_value *
add_weights(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	const gp_weight *x = a->kind == GP_VALUE_WEIGHT ? a->weight :
		gp_weight_make(&t->m, a->s, NULL);
	const gp_weight *y = b->kind == GP_VALUE_WEIGHT ? b->weight :
		gp_weight_make(&t->m, b->s, NULL);
	const gp_weight *sum = gp_weight_add(&t->m, x, y);

	if (sum == NULL)
		gp_typing_bad(t, position, "Write (0.5*I + 0.5*W).",
			"a mixed weight in kernel must be a sum of multiples of I and W");
	return GP_VALUE(t, WEIGHT, .weight = sum);
}

/* a + b of two numbers as written. */
static const gp_value *
add_scalars(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	double	   *at = gp_value_room(t);
	const gp_scalar *s;

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = a->at[i] + b->at[i];
	gp_value_check(t, at, b->s, position, "value out of range in kernel");
	s = gp_scalar_add(&t->m, a->s, b->s);
	return GP_VALUE(t, SCALAR, .s = s, .at = at);
}

/* a + b of anything but features. */
const gp_value *
gp_value_add(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value_kind high = a->kind > b->kind ? a->kind : b->kind;
	gp_value_kind low = a->kind > b->kind ? b->kind : a->kind;

	t->m.position = position;
	if (high == GP_VALUE_SCALAR)
		return add_scalars(t, a, b, position);
	if (high == GP_VALUE_IDENTITY && low == high)
		return GP_VALUE(t, IDENTITY, .s = gp_scalar_add(&t->m, a->s, b->s));
	if (high == GP_VALUE_OPERATOR && low != GP_VALUE_SCALAR)
		return add_operators(t, a, b);
	if (high == GP_VALUE_WEIGHT && (low == GP_VALUE_IDENTITY || low == high))
		return add_weights(t, a, b, position);
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, position,
				low == GP_VALUE_SCALAR && high < GP_VALUE_FEATURE ?
				"Write 2*I for a multiple of the identity." : NULL,
				"%s cannot be added to %s in kernel", gp_value_name(b), gp_value_name(a));
}
