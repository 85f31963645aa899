/*
 * layer.c - the value of a formula in one layer.
 *
 * A value is a number times nothing, I, an operator, a weight or a feature.  Products read left
 * to right: operators, one feature, weights; numbers anywhere.  Operators left of a feature and
 * numbers and weights right of it act on its covariance alone and commute, so that a feature is
 * a number, an operator, a step of the program and a variance, until a sum or a
 * function needs it as a step.  The sign of a feature's number never matters, because the terms
 * of a sum are independent; so that sums of sums are sums of all their terms.
 *
 * Names of options get their value where the text first needs them.
 */
#include "base/sort.h"
#include "formula_internal.h"

#include <stdio.h>

#define MAX_EXPONENT 1000000	/* of a power that is made of products */
#define MAX_DEPTH 600			/* 64 levels of the text, of 5 nodes at most, and constants */

#define SOURCE_X 1u				/* what a feature shares with others */
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
	unsigned	sources;		/* what it shares with others, of SOURCE_* */
	bool		mean;			/* an activation without a fresh weight: its mean is not zero */
};

static const gp_value *evaluate(gp_layer *t, const gp_ast *ast);
static double number_of(gp_layer *t, const gp_ast *ast, const char *name);

/* ---- values ---- */

/* What errors call a value. */
static const char *
value_name(const gp_value *v)
{
	static const char *const names[] = {
		"a number", "a multiple of I", "an operator", "a weight", "a feature"
	};

	return names[v->kind];
}

/* Raises a syntax error at a place. */
static void __attribute__((noreturn))
refuse(gp_layer *t, int position, const char *hint, const char *message)
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

/* A value of a kind, 1 times it. */
static gp_value *
make_value(gp_layer *t, gp_value_kind kind, int position)
{
	gp_value	v = {.kind = kind,.position = position,.number = 1.0,
	.id = kind == VALUE_IDENTITY,.variance = kind == VALUE_FEATURE};

	return copy_value(t, &v);
}

/* A number that must be finite, without a sign of 0; the message names a layer that is not the
 * first. */
static double
require_finite(gp_layer *t, double number, int position, const char *message)
{
	if (!isfinite(number) && t->layer > 1)
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s in layer %d", message, t->layer);
	if (!isfinite(number))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s", message);
	return number + 0.0;
}

/* The same as a value. */
static const gp_value *
number_value(gp_layer *t, double number, int position, const char *message)
{
	gp_value   *v = make_value(t, VALUE_SCALAR, position);

	v->number = require_finite(t, number, position, message);
	return v;
}

/* A feature of one step. */
static gp_value *
feature_value(gp_layer *t, int position, int atom, unsigned sources, bool mean)
{
	gp_value   *v = make_value(t, VALUE_FEATURE, position);

	v->atom = atom;
	v->sources = atom == GP_ZERO ? 0 : sources;
	v->mean = mean && atom != GP_ZERO;
	return v;
}

/* ---- features as steps ---- */

#define NOT_FINITE "variance of kernel is not finite"

/*
 * The step of a feature.  The number of a single monomial stands outside of its operator, that of
 * several inside, whose sign does not matter.
 */
static int
step_of(gp_layer *t, const gp_value *f)
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
	double		value = require_finite(t, factor * factor * f->variance, f->position, NOT_FINITE);
	int			step = gp_step_scale(t->steps, value,
									 op != NULL ? gp_step_op(t->steps, op, f->atom) : f->atom);
	require_finite(t, gp_step_value(t->steps, step), f->position, NOT_FINITE);
	return step;
}

static int
compare_terms(const void *x, const void *y, void *steps)
{
	return gp_steps_compare(steps, *(const int *) x, *(const int *) y);
}

/* ---- weights ---- */

/* A fresh W of this sigma. */
static const gp_value *
weight_value(gp_layer *t, double sigma, int position)
{
	gp_value   *v = make_value(t, VALUE_WEIGHT, position);

	v->variance = sigma * sigma;
	v->fresh = sigma > 0.0;
	return v;
}

/* a + b of weights and multiples of I, none of which is a product of several. */
static const gp_value *
add_weights(gp_layer *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value   *v = make_value(t, VALUE_WEIGHT, position);

	if (a->weighted || b->weighted)
		refuse(t, position, "Write (0.5*I + 0.5*W).",
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
	if (a->kind == VALUE_FEATURE && b->kind == VALUE_FEATURE)
		refuse(t, b_position, "Features are added: A*relu(X)*W + X0.",
			"a product in kernel holds two features");
	if (b->kind == VALUE_OPERATOR)
		refuse(t, b_position, "Write A*relu(X)*W.",
			"an operator in kernel must stand left of the feature");
	refuse(t, a->kind == VALUE_WEIGHT ? a_position : b_position, "Write A*relu(X)*W.",
		"a weight in kernel must stand right of the feature");
}

/* a * b in the order of the text. */
static const gp_value *
multiply(gp_layer *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	double		number = a->number * b->number;
	const gp_value *high = a->kind >= b->kind ? a : b;
	const gp_value *low = high == a ? b : a;

	if (high->kind == VALUE_SCALAR)
		return number_value(t, number, b_position, "value out of range in kernel");
	gp_value   *v = copy_value(t, high);
	v->position = t->position = a_position;
	v->number = require_finite(t, number, a_position, "value in kernel is not a finite number");
	if (low->kind <= VALUE_IDENTITY)
		;						/* the number says it all */
	else if (a->kind == VALUE_OPERATOR && b->kind == VALUE_OPERATOR)
		v->op = gp_operator_multiply(t, 1.0, a->op, b->op);
	else if (a->kind == VALUE_OPERATOR && b->kind == VALUE_FEATURE)
		v->op = v->op == NULL ? a->op : gp_operator_multiply(t, 1.0, a->op, v->op);
	else if (a->kind >= VALUE_WEIGHT && b->kind == VALUE_WEIGHT)
		apply_weight(v, b);
	else
		bad_product(t, a, a_position, b, b_position);
	if (v->kind == VALUE_FEATURE &&
		(v->number == 0.0 || v->variance == 0.0 || (v->op != NULL && v->op->nterms == 0)))
		return feature_value(t, a_position, GP_ZERO, 0, false);
	return v;
}

/* A product: left to right. */
static const gp_value *
evaluate_product(gp_layer *t, const gp_ast *ast)
{
	const gp_value *v = evaluate(t, ast->arg[0]);
	int			position = ast->arg[0]->position;

	for (int i = 1; i < ast->n; i++)
	{
		const gp_ast *arg = ast->arg[i];
		const gp_value *b = evaluate(t, arg);

		if (!ast->flip[i])
		{
			v = multiply(t, v, position, b, arg->position);
			continue;
		}
		if (b->kind != VALUE_SCALAR)
			refuse(t, arg->position, NULL, "only a number can divide in kernel");
		b = number_value(t, b->number == 0.0 ? NAN :
						(v->kind == VALUE_SCALAR ? v->number : 1.0) / b->number, arg->position,
						 "division by zero or value out of range in kernel");
		v = v->kind == VALUE_SCALAR ? b : multiply(t, v, position, b, arg->position);
	}
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
					shared & SOURCE_X ? "X" : shared & SOURCE_X0 ? "X0" : "N");
	if (sum->mean && f->mean)
		gp_raise_at(t->env, GP_ERR_SYNTAX, f->position,
					"relu has a mean that is not zero: give a term a weight of its own, "
					"as in relu(X)*W1 + relu(X0)*W2.",
					"terms of a sum in kernel are not independent: two are activations");
}

/*
 * A sum of features: all terms are added in an order that the text does not change.  The layer
 * before is one of them, for its own would be kept, and added again, in every layer to come.
 */
static const gp_value *
add_features(gp_layer *t, const gp_ast *ast, const gp_value *const *v)
{
	gp_value   *sum = feature_value(t, ast->position, GP_ZERO, 0, false);
	int		   *step = gp_arena_alloc(t->arena, ast->n * sizeof(int));
	int			total = 0;

	for (int i = 0; i < ast->n; i++)
	{
		if (v[i]->kind != VALUE_FEATURE)
			gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[i]->position, NULL,
						"%s cannot be added to a feature in kernel", value_name(v[i]));
		check_independent(t, sum, v[i]);
		sum->sources |= v[i]->sources;
		sum->mean |= v[i]->mean;
		step[i] = step_of(t, v[i]);
		total += gp_step_terms(t->steps, step[i], t->previous, NULL);
	}
	int		   *term = gp_arena_alloc(t->arena, (total + 1) * sizeof(int));
	for (int i = 0, at = 0; i < ast->n; i++)
		at += gp_step_terms(t->steps, step[i], t->previous, term + at);
	gp_sort(t->env, term, total, sizeof(int), compare_terms, t->steps);
	for (int i = 0; i < total; i++)
	{
		sum->atom = gp_step_sum(t->steps, sum->atom, term[i]);
		require_finite(t, gp_step_value(t->steps, sum->atom), ast->position, NOT_FINITE);
	}
	return sum;
}

/* a + b of anything but features. */
static const gp_value *
add(gp_layer *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value_kind high = a->kind > b->kind ? a->kind : b->kind;
	gp_value_kind low = a->kind > b->kind ? b->kind : a->kind;
	double		sum = a->number + b->number;

	t->position = position;
	if (high == VALUE_SCALAR)
		return number_value(t, sum, position, "value out of range in kernel");
	if (high == VALUE_WEIGHT && (low == VALUE_IDENTITY || low == high))
		return add_weights(t, a, b, position);
	if (low == VALUE_SCALAR || high > VALUE_OPERATOR)
		gp_raise_at(t->env, GP_ERR_SYNTAX, position, low == VALUE_SCALAR && high < VALUE_FEATURE ?
					"Write 2*I for a multiple of the identity." : NULL,
					"%s cannot be added to %s in kernel", value_name(b), value_name(a));
	gp_value   *v = make_value(t, high, position);
	if (high == VALUE_OPERATOR)
		v->op = gp_operator_add(t, a->number, a->op, b->number, b->op);
	else
		v->number = require_finite(t, sum, position, "value in kernel is not a finite number");
	return v;
}

/* The negative of a value; the sign of a feature does not matter. */
static const gp_value *
negate(gp_layer *t, const gp_value *v)
{
	if (v->kind == VALUE_FEATURE)
		return v;
	gp_value   *negative = copy_value(t, v);
	negative->number = -v->number + 0.0;
	return negative;
}

static const gp_value *
evaluate_sum(gp_layer *t, const gp_ast *ast)
{
	const gp_value **v = gp_arena_alloc(t->arena, ast->n * sizeof(gp_value *));

	for (int i = 0; i < ast->n; i++)
	{
		v[i] = evaluate(t, ast->arg[i]);
		if (ast->flip[i])
			v[i] = negate(t, v[i]);
	}
	if (v[0]->kind == VALUE_FEATURE)
		return add_features(t, ast, v);
	const gp_value *sum = v[0];
	for (int i = 1; i < ast->n; i++)
		sum = add(t, sum, v[i], ast->arg[i]->position);
	return sum;
}

/* ---- powers and functions ---- */

/* Whole powers are products, of the same bits everywhere. */
static double
number_power(double base, double exponent)
{
	if (exponent != floor(exponent) || fabs(exponent) > MAX_EXPONENT)
		return pow(base, exponent);
	double		power = gp_whole_power(base, (int64_t) fabs(exponent));
	return exponent < 0.0 ? 1.0 / power : power;
}

/* A power: of a number, or a whole one of an operator. */
static const gp_value *
evaluate_power(gp_layer *t, const gp_ast *ast)
{
	const gp_value *base = evaluate(t, ast->arg[0]);
	const gp_value *e = evaluate(t, ast->arg[1]);
	int			position = ast->arg[1]->position;
	double		number = number_power(base->number, e->number);

	if (e->kind != VALUE_SCALAR)
		refuse(t, position, NULL, "an exponent in kernel must be a number");
	if (base->kind == VALUE_SCALAR)
		return number_value(t, number, ast->arg[0]->position, "power out of range in kernel");
	if (base->kind != VALUE_OPERATOR && base->kind != VALUE_IDENTITY)
		refuse(t, ast->arg[0]->position, NULL,
						"only numbers and operators have powers in kernel");
	if (!(e->number >= 0.0 && e->number <= GP_MAX_POWER && e->number == floor(e->number)))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL,
					"power of an operator in kernel must be a whole number from 0 to %d",
					GP_MAX_POWER);
	t->position = ast->position;
	gp_value   *v = make_value(t, e->number == 0.0 ? VALUE_IDENTITY : base->kind, ast->position);
	v->number = require_finite(t, number, ast->position, "value in kernel is not a finite number");
	for (int i = 0; base->op != NULL && i < (int) e->number; i++)
		v->op = gp_operator_multiply(t, 1.0, v->op, base->op);
	return v;
}

const char *const gp_functions[] = {"relu", "unit", "P", "ln", "sqrt", NULL};

static void __attribute__((noreturn))
unknown_function(gp_layer *t, const gp_ast *ast)
{
	gp_meant	meant = gp_meant_start(ast->name, (int) strlen(ast->name));

	for (int i = 0; gp_functions[i] != NULL; i++)
		gp_meant_consider(&meant, gp_functions[i]);
	gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position,
				gp_meant_hint(t->arena, &meant, "Functions are relu, unit, P, ln and sqrt; "
							  "a product is written with *."),
				"unknown function \"%.40s\" in kernel", ast->name);
}

/* relu(X), unit(X), P(alpha), ln(2), sqrt(2) */
static const gp_value *
evaluate_call(gp_layer *t, const gp_ast *ast)
{
	bool		p = strcmp(ast->name, "P") == 0;
	bool		unit = strcmp(ast->lower, "unit") == 0;
	bool		relu = strcmp(ast->lower, "relu") == 0;
	bool		ln = strcmp(ast->lower, "ln") == 0;

	if (!relu && !unit && !ln && !p && strcmp(ast->lower, "sqrt") != 0)
		unknown_function(t, ast);
	if (ast->n != 1 || ast->key[0] != NULL)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, NULL,
					"function \"%.40s\" in kernel takes one argument", ast->name);
	if (p)
	{
		double		alpha = number_of(t, ast->arg[0], "P");

		if (!(alpha >= GP_MIN_P && alpha <= 1.0))
			gp_raise_at(t->env, GP_ERR_VALUE, ast->arg[0]->position, "P(a) is a*(I - (1-a)*A)^-1.",
						"teleport probability %g of P is not between %g and 1", alpha, GP_MIN_P);
		gp_value   *v = make_value(t, VALUE_OPERATOR, ast->position);
		v->op = gp_operator_p(t, alpha);
		return v;
	}
	if (!relu && !unit)
	{
		double		number = number_of(t, ast->arg[0], ast->lower);

		return ln ? number_value(t, log(number), ast->position,
								 "logarithm of a number that is not positive in kernel") :
			number_value(t, sqrt(number), ast->position,
						 "square root of a negative number in kernel");
	}
	const gp_value *arg = evaluate(t, ast->arg[0]);
	if (arg->kind != VALUE_FEATURE)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[0]->position,
					relu ? "Write relu(X)." : "Write unit(X0).",
					"%s in kernel takes a feature, not %s", relu ? "relu" : "unit",
					value_name(arg));
	int			step = step_of(t, arg);
	if (unit)
		return feature_value(t, ast->position, gp_step_unit(t->steps, step), arg->sources,
								arg->mean);
	/* The input is no pre-activation: in the first layer relu(X) is X0. */
	if (t->layer != 1 || arg->sources != SOURCE_X || arg->weighted ||
		step != gp_step_source(t->steps, GP_STEP_INPUT))
		step = gp_step_relu(t->steps, step);
	return feature_value(t, ast->position, step, arg->sources, true);
}

/* ---- names ---- */

gp_constant *
gp_layer_find(const gp_layer *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->constant[i].option->name, name) == 0)
			return &t->constant[i];
	return NULL;
}

/* The value of a constant, computed once; it must not need itself. */
static const gp_value *
constant_value(gp_layer *t, gp_constant *c, int position)
{
	gp_value   *v = make_value(t, VALUE_SCALAR, position);

	c->used = true;
	c->needed |= t->steps != NULL;
	if (c->busy)
		gp_raise_at(t->env, GP_ERR_SYNTAX, position, NULL,
					"option \"%.40s\" of kernel refers to itself", c->option->spelled);
	c->busy = true;
	if (!c->known)
		c->number = number_of(t, c->option->value, c->option->spelled);
	c->known = true;
	c->busy = false;
	v->number = c->number;
	return v;
}

double
gp_layer_sigma(gp_layer *t, char letter, int number, int position)
{
	char		name[32];
	gp_constant *c = NULL;

	snprintf(name, sizeof(name), "sigma_%c%d", letter, number);
	if (number > 0)
		c = gp_layer_find(t, name);
	snprintf(name, sizeof(name), "sigma_%c", letter);
	if (c == NULL)
		c = gp_layer_find(t, name);
	if (c == NULL)
		return letter == 'w' ? 1.0 : 0.0;
	double		sigma = constant_value(t, c, position)->number;
	if (sigma < 0.0)
		gp_raise_at(t->env, GP_ERR_VALUE, c->option->value->position, NULL,
					"option \"%s\" of kernel must not be negative", c->option->name);
	return sigma;
}

static void __attribute__((noreturn))
unknown_name(gp_layer *t, const gp_ast *ast)
{
	const char *hint = "Names are X, X0, N, A, I, P(a), W, b, relu, unit, l and constants given "
		"as options.";
	gp_meant	meant = gp_meant_start(ast->name, (int) strlen(ast->name));

	for (int i = 0; i < t->n; i++)
		gp_meant_consider(&meant, t->constant[i].option->spelled);
	gp_meant_consider(&meant, "X0");
	if (strcmp(ast->name, "P") == 0)
		hint = "Write P(0.1).";
	else if (gp_keyword_is(ast->name, (int) strlen(ast->name)))
		hint = "Functions take an argument in parentheses, as in relu(X).";
	else if (ast->name[1] == '\0' && strchr("xnaiwB", ast->name[0]) != NULL)
		hint = "X, X0, N, A, I, P and W are upper case, b and l lower case.";
	else
		hint = gp_meant_hint(t->arena, &meant, hint);
	gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, hint,
				"unknown name \"%.40s\" in kernel", ast->name);
}

static const gp_value *
evaluate_name(gp_layer *t, const gp_ast *ast)
{
	size_t		length = strlen(ast->name);
	int			at = ast->position;
	int			number;
	gp_value   *v;

	if (strcmp(ast->name, "X") == 0)
		return feature_value(t, at, t->layer == 1 ? gp_step_source(t->steps, GP_STEP_INPUT) :
								t->previous, SOURCE_X, false);
	if (strcmp(ast->name, "X0") == 0)
		return feature_value(t, at, gp_step_source(t->steps, GP_STEP_INPUT), SOURCE_X0, false);
	if (strcmp(ast->name, "N") == 0)
		return feature_value(t, at, gp_step_source(t->steps, GP_STEP_LISTS), SOURCE_N, false);
	if (strcmp(ast->name, "I") == 0)
		return make_value(t, VALUE_IDENTITY, at);
	if (strcmp(ast->name, "A") == 0)
	{
		v = make_value(t, VALUE_OPERATOR, at);
		v->op = gp_operator_a(t);
		return v;
	}
	if ((number = gp_name_number(ast->name, length, 'W')) >= 0)
		return weight_value(t, gp_layer_sigma(t, 'w', number, at), at);
	if ((number = gp_name_number(ast->name, length, 'b')) >= 0)
	{
		double		sigma = gp_layer_sigma(t, 'b', number, at);
		double		variance = require_finite(t, sigma * sigma, at, NOT_FINITE);

		return feature_value(t, at, gp_step_bias(t->steps, variance), 0, false);
	}
	v = make_value(t, VALUE_SCALAR, at);
	if (strcmp(ast->lower, "l") == 0)
	{
		if (t->plain != NULL && !t->one)
			gp_raise_at(t->env, GP_ERR_VALUE, at, NULL,
						"\"%s\" of kernel must not depend on the layer", t->plain);
		v->number = t->layer;
	}
	else if (strcmp(ast->lower, "layers") == 0)
	{
		if (t->layers == 0)
			gp_raise_at(t->env, GP_ERR_SYNTAX, at, NULL,
						"option \"layers\" of kernel refers to itself");
		v->number = t->layers;
	}
	else if (gp_layer_find(t, ast->lower) != NULL)
		return constant_value(t, gp_layer_find(t, ast->lower), at);
	else if (strcmp(ast->lower, "sigma_b") == 0)
		v->number = 0.0;
	else if (strcmp(ast->lower, "sigma_w") != 0)
		unknown_name(t, ast);
	return v;
}

/* ---- trees ---- */

static const gp_value *
evaluate(gp_layer *t, const gp_ast *ast)
{
	const gp_value *v = NULL;

	gp_check_stack(t->env);
	if (++t->depth > MAX_DEPTH)
		refuse(t, ast->position, NULL, "kernel is nested too deeply");
	t->position = ast->position;
	switch (ast->kind)
	{
		case GP_AST_NUMBER:
			v = number_value(t, ast->number, ast->position, "");
			break;
		case GP_AST_NAME:
			v = evaluate_name(t, ast);
			break;
		case GP_AST_CALL:
			v = evaluate_call(t, ast);
			break;
		case GP_AST_SUM:
			v = evaluate_sum(t, ast);
			break;
		case GP_AST_PRODUCT:
			v = evaluate_product(t, ast);
			break;
		case GP_AST_POWER:
			v = evaluate_power(t, ast);
			break;
		case GP_AST_NEGATE:
			v = negate(t, evaluate(t, ast->arg[0]));
			break;
	}
	t->depth--;
	return v;
}

/* What must be a number; name says of what. */
static double
number_of(gp_layer *t, const gp_ast *ast, const char *name)
{
	const gp_value *v = evaluate(t, ast);

	if (v->kind != VALUE_SCALAR)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, NULL,
					"\"%.40s\" in kernel takes a number, not %s", name, value_name(v));
	return v->number;
}

double
gp_layer_plain_number(gp_layer *t, const gp_ast *ast, const char *name)
{
	t->plain = name;
	double		number = number_of(t, ast, name);
	t->plain = NULL;
	return number;
}

int
gp_layer_evaluate(gp_layer *t, const gp_ast *formula)
{
	const gp_value *v = evaluate(t, formula);

	if (v->kind != VALUE_FEATURE)
		gp_raise_at(t->env, GP_ERR_SYNTAX, formula->position,
					"Write a layer such as A*relu(X)*W + b.",
					"kernel has no feature such as X, X0 or N");
	return step_of(t, v);
}
