/*
 * layer_value.c - the arithmetic of values: products, sums, powers, and features as steps.
 */
#include "base/sort.h"
#include "layer_value.h"

#define MAX_EXPONENT 1000000	/* of a power that is made of products */

/* ---- values ---- */

const char *
gp_value_name(const gp_value *v)
{
	static const char *const names[] = {
		"a number", "a multiple of I", "an operator", "a weight", "a feature"
	};

	return names[v->kind];
}

void __attribute__((noreturn))
gp_value_refuse(gp_layer *t, int position, const char *hint, const char *message)
{
	gp_raise_at(t->env, GP_ERR_SYNTAX, position, hint, "%s", message);
}

/* A copy in the arena, to be changed. */
static gp_value *
copy_value(gp_layer *t, const gp_value *from)
{
	gp_value   *v = gp_arena_alloc(t->arena, sizeof(gp_value));

	*v = *from;
	return v;
}

gp_value *
gp_value_make(gp_layer *t, gp_value_kind kind, int position)
{
	gp_value	v = {.kind = kind,.position = position,.number = 1.0,
	.id = kind == GP_VALUE_IDENTITY,.variance = kind == GP_VALUE_FEATURE};

	return copy_value(t, &v);
}

double
gp_value_finite(gp_layer *t, double number, int position, const char *message)
{
	if (!isfinite(number) && t->layer > 1 && t->plain == NULL)
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s in layer %d", message, t->layer);
	if (!isfinite(number))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s", message);
	return number + 0.0;
}

const gp_value *
gp_value_number(gp_layer *t, double number, int position, const char *message)
{
	gp_value   *v = gp_value_make(t, GP_VALUE_SCALAR, position);

	v->number = gp_value_finite(t, number, position, message);
	return v;
}

gp_value *
gp_value_feature(gp_layer *t, int position, int atom, unsigned sources, bool mean)
{
	gp_value   *v = gp_value_make(t, GP_VALUE_FEATURE, position);

	v->atom = atom;
	v->sources = atom == GP_ZERO ? 0 : sources;
	v->mean = mean && atom != GP_ZERO;
	return v;
}

/* ---- features as steps ---- */

int
gp_value_step(gp_layer *t, const gp_value *f)
{
	const gp_operator *op = f->op;
	double		factor = f->number;

	t->position = f->position;
	if (op != NULL && op->nterms > 1)
	{
		factor = op->term[0].coef < 0.0 ? -fabs(factor) : fabs(factor);
		op = factor == 1.0 ? op : gp_operator_multiply(t, factor, op, NULL);
		factor = 1.0;
	}
	if (op != NULL && op->nterms == 0)
		return GP_ZERO;
	if (op != NULL && op->nterms == 1)
	{
		double		coef = op->term[0].coef;

		factor *= coef;
		if (op->term[0].power_a == 0 && op->np == 0)
			op = NULL;
		else if (coef != 1.0)
		{
			gp_operator *plain = gp_arena_alloc(t->arena, sizeof(gp_operator));

			memcpy(plain, op, sizeof(gp_operator));
			plain->term[0].coef = 1.0;
			op = plain;
		}
	}
	double		value = gp_value_finite(t, factor * factor * f->variance, f->position,
										GP_VARIANCE_NOT_FINITE);
	int			step = gp_step_scale(t->steps, value,
									 op != NULL ? gp_step_op(t->steps, op, f->atom) : f->atom);
	gp_value_finite(t, gp_step_value(t->steps, step), f->position, GP_VARIANCE_NOT_FINITE);
	return step;
}

static int
compare_terms(const void *x, const void *y, void *steps)
{
	return gp_steps_compare(steps, *(const int *) x, *(const int *) y);
}

/* ---- weights ---- */

const gp_value *
gp_value_weight(gp_layer *t, double sigma, int position)
{
	gp_value   *v = gp_value_make(t, GP_VALUE_WEIGHT, position);

	v->variance = sigma * sigma;
	v->fresh = sigma > 0.0;
	return v;
}

/* a + b of weights and multiples of I, none of which is a product of several. */
static const gp_value *
add_weights(gp_layer *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value   *v = gp_value_make(t, GP_VALUE_WEIGHT, position);

	if (a->weighted || b->weighted)
		gp_value_refuse(t, position, "Write (0.5*I + 0.5*W).",
			"a mixed weight in kernel must be a sum of multiples of I and W");
	v->id = a->number * a->id + b->number * b->id;
	v->variance = a->number * a->number * a->variance + b->number * b->number * b->variance;
	v->fresh = v->id == 0.0 && v->variance > 0.0;
	return v;
}

/* Makes v, a weight or a feature, one times a weight. */
static void
apply_weight(gp_value *v, const gp_value *w)
{
	v->variance = (v->id * v->id + v->variance) * (w->id * w->id + w->variance);
	v->id = 0.0;
	v->weighted = true;
	v->fresh |= w->fresh;
	if (w->fresh)
	{
		v->sources = 0;
		v->mean = false;
	}
}

/* ---- products ---- */

/* Refuses what stands on the wrong side of a feature. */
static void __attribute__((noreturn))
bad_product(gp_layer *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	if (a->kind == GP_VALUE_FEATURE && b->kind == GP_VALUE_FEATURE)
		gp_value_refuse(t, b_position, "Features are added: A*relu(X)*W + X0.",
			"a product in kernel holds two features");
	if (b->kind == GP_VALUE_OPERATOR)
		gp_value_refuse(t, b_position, "Write A*relu(X)*W.",
			"an operator in kernel must stand left of the feature");
	gp_value_refuse(t, a->kind == GP_VALUE_WEIGHT ? a_position : b_position, "Write A*relu(X)*W.",
		"a weight in kernel must stand right of the feature");
}

const gp_value *
gp_value_multiply(gp_layer *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	double		number = a->number * b->number;
	const gp_value *high = a->kind >= b->kind ? a : b;
	const gp_value *low = high == a ? b : a;

	if (high->kind == GP_VALUE_SCALAR)
		return gp_value_number(t, number, b_position, "value out of range in kernel");
	gp_value   *v = copy_value(t, high);
	v->position = t->position = a_position;
	v->number = gp_value_finite(t, number, a_position, "value in kernel is not a finite number");
	if (low->kind <= GP_VALUE_IDENTITY)
		;						/* the number says it all */
	else if (a->kind == GP_VALUE_OPERATOR && b->kind == GP_VALUE_OPERATOR)
		v->op = gp_operator_multiply(t, 1.0, a->op, b->op);
	else if (a->kind == GP_VALUE_OPERATOR && b->kind == GP_VALUE_FEATURE)
		v->op = v->op == NULL ? a->op : gp_operator_multiply(t, 1.0, a->op, v->op);
	else if (a->kind >= GP_VALUE_WEIGHT && b->kind == GP_VALUE_WEIGHT)
		apply_weight(v, b);
	else
		bad_product(t, a, a_position, b, b_position);
	if (v->kind == GP_VALUE_FEATURE &&
		(v->number == 0.0 || v->variance == 0.0 || (v->op != NULL && v->op->nterms == 0)))
		return gp_value_feature(t, a_position, GP_ZERO, 0, false);
	return v;
}

/* ---- sums ---- */

/* Refuses a term of a sum that is not independent of those before it. */
static void
check_independent(gp_layer *t, const gp_value *sum, const gp_value *f)
{
	unsigned	shared = sum->sources & f->sources;

	if (shared)
		gp_raise_at(t->env, GP_ERR_SYNTAX, f->position,
					"Write (A + I)*relu(X), or give a term a weight of its own: "
					"relu(X)*W1 + A*relu(X)*W2.",
					"terms of a sum in kernel are not independent: \"%s\" is in two of them",
					shared & GP_SOURCE_X ? "X" : shared & GP_SOURCE_X0 ? "X0" : "N");
	if (sum->mean && f->mean)
		gp_raise_at(t->env, GP_ERR_SYNTAX, f->position,
					"relu has a mean that is not zero: give a term a weight of its own, "
					"as in relu(X)*W1 + relu(X0)*W2.",
					"terms of a sum in kernel are not independent: two are activations");
}

const gp_value *
gp_value_add_features(gp_layer *t, const gp_ast *ast, const gp_value *const *v)
{
	gp_value   *sum = gp_value_feature(t, ast->position, GP_ZERO, 0, false);
	int		   *step = gp_arena_alloc(t->arena, ast->n * sizeof(int));
	int			total = 0;

	for (int i = 0; i < ast->n; i++)
	{
		if (v[i]->kind != GP_VALUE_FEATURE)
			gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[i]->position, NULL,
						"%s cannot be added to a feature in kernel", gp_value_name(v[i]));
		check_independent(t, sum, v[i]);
		sum->sources |= v[i]->sources;
		sum->mean |= v[i]->mean;
		step[i] = gp_value_step(t, v[i]);
		total += gp_step_terms(t->steps, step[i], t->previous, NULL);
	}
	int		   *term = gp_arena_alloc(t->arena, (total + 1) * sizeof(int));
	for (int i = 0, at = 0; i < ast->n; i++)
		at += gp_step_terms(t->steps, step[i], t->previous, term + at);
	gp_sort(t->env, term, total, sizeof(int), compare_terms, t->steps);
	for (int i = 0; i < total; i++)
	{
		sum->atom = gp_step_sum(t->steps, sum->atom, term[i]);
		gp_value_finite(t, gp_step_value(t->steps, sum->atom), ast->position,
						GP_VARIANCE_NOT_FINITE);
	}
	return sum;
}

const gp_value *
gp_value_add(gp_layer *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value_kind high = a->kind > b->kind ? a->kind : b->kind;
	gp_value_kind low = a->kind > b->kind ? b->kind : a->kind;
	double		sum = a->number + b->number;

	t->position = position;
	if (high == GP_VALUE_SCALAR)
		return gp_value_number(t, sum, position, "value out of range in kernel");
	if (high == GP_VALUE_WEIGHT && (low == GP_VALUE_IDENTITY || low == high))
		return add_weights(t, a, b, position);
	if (low == GP_VALUE_SCALAR || high > GP_VALUE_OPERATOR)
		gp_raise_at(t->env, GP_ERR_SYNTAX, position,
					low == GP_VALUE_SCALAR && high < GP_VALUE_FEATURE ?
					"Write 2*I for a multiple of the identity." : NULL,
					"%s cannot be added to %s in kernel", gp_value_name(b), gp_value_name(a));
	gp_value   *v = gp_value_make(t, high, position);
	if (high == GP_VALUE_OPERATOR)
		v->op = gp_operator_add(t, a->number, a->op, b->number, b->op);
	else
		v->number = gp_value_finite(t, sum, position, "value in kernel is not a finite number");
	return v;
}

const gp_value *
gp_value_negate(gp_layer *t, const gp_value *v)
{
	if (v->kind == GP_VALUE_FEATURE)
		return v;
	gp_value   *negative = copy_value(t, v);
	negative->number = -v->number + 0.0;
	return negative;
}

/* ---- powers ---- */

/* Whole powers are products, of the same bits everywhere. */
static double
number_power(double base, double exponent)
{
	if (exponent != floor(exponent) || fabs(exponent) > MAX_EXPONENT)
		return pow(base, exponent);
	double		power = gp_whole_power(base, (int64_t) fabs(exponent));
	return exponent < 0.0 ? 1.0 / power : power;
}

const gp_value *
gp_value_power(gp_layer *t, const gp_ast *ast, const gp_value *base, const gp_value *e)
{
	int			position = ast->arg[1]->position;
	double		number = number_power(base->number, e->number);

	if (e->kind != GP_VALUE_SCALAR)
		gp_value_refuse(t, position, NULL, "an exponent in kernel must be a number");
	if (base->kind == GP_VALUE_SCALAR)
		return gp_value_number(t, number, ast->arg[0]->position, "power out of range in kernel");
	if (base->kind != GP_VALUE_OPERATOR && base->kind != GP_VALUE_IDENTITY)
		gp_value_refuse(t, ast->arg[0]->position, NULL,
						"only numbers and operators have powers in kernel");
	if (!(e->number >= 0.0 && e->number <= GP_MAX_POWER && e->number == floor(e->number)))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL,
					"power of an operator in kernel must be a whole number from 0 to %d",
					GP_MAX_POWER);
	t->position = ast->position;
	gp_value   *v = gp_value_make(t, e->number == 0.0 ? GP_VALUE_IDENTITY : base->kind,
								  ast->position);
	v->number = gp_value_finite(t, number, ast->position, "value in kernel is not a finite number");
	for (int i = 0; base->op != NULL && i < (int) e->number; i++)
		v->op = gp_operator_multiply(t, 1.0, v->op, base->op);
	return v;
}
