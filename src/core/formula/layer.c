/*
 * layer.c - the value of a formula in one layer.
 *
 * A value is a number times nothing, I, an operator, a weight or a feature.  Products read left
 * to right: operators, one feature, weights; numbers anywhere.  Operators left of a feature and
 * numbers and weights right of it act on its covariance alone and commute, so that a feature is
 * a number, an operator, a step of the program and a list of variances, until a sum or a
 * function needs it as a step.  The sign of a feature's number never matters, because the terms
 * of a sum are independent.
 *
 * Names of options get their value where the text first needs them.
 */
#include "base/sort.h"
#include "formula_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 600			/* 64 levels of the text, of 5 nodes at most, and constants */

#define SOURCE_X 1u
#define SOURCE_X0 2u
#define SOURCE_N 4u

/* What a tree stands for. */
typedef enum value_kind
{
	VALUE_SCALAR,
	VALUE_IDENTITY,			/* a multiple of I, of the nodes or of the width */
	VALUE_OPERATOR,
	VALUE_WEIGHT,
	VALUE_FEATURE
} value_kind;

/* What a feature is made of, in the order that a sum's terms stand in. */
typedef enum atom_kind
{
	ATOM_RELU,
	ATOM_UNIT,
	ATOM_X,
	ATOM_X0,
	ATOM_LISTS,
	ATOM_SUM,
	ATOM_BIAS
} atom_kind;

/* W in id*I + coef*W + ... */
typedef struct weight_part
{
	gp_number	coef;
	double		sigma;
} weight_part;

/* What stands right of a feature: id*I + coef[0]*W + ..., each W of its own sigma. */
typedef struct weight
{
	bool		has_id;
	gp_number	id;
	int			n;
	const weight_part *part;
} weight;

/* What a weight multiplies a covariance with. */
typedef struct variance
{
	bool		mixed;			/* by (aI + bW), which is no fresh draw */
	double		value;
} variance;

typedef struct value value;

struct value
{
	value_kind kind;
	int			position;
	gp_number	number;			/* what the rest is multiplied with */
	const gp_operator *op;		/* of an operator, of a feature; NULL: I */
	int			nweights;		/* of a weight: factors of a product */
	const weight *weight;
	/* of a feature */
	atom_kind	kind_of_atom;
	int			atom;			/* a step; GP_ZERO: the feature is zero */
	unsigned	sources;		/* what it shares with others, of SOURCE_* */
	bool		mean;			/* an activation without a fresh weight: its mean is not zero */
	int			nvariances;
	const variance *variance;
	int			nterms;			/* of a sum, which is no step yet; 0: none */
	const value **term;
};

static const value *evaluate(gp_layer *t, const gp_ast *ast);

/* ---- making values ---- */

/* What errors call a value. */
static const char *
value_name(const value *v)
{
	static const char *const names[] = {
		"a number", "a multiple of I", "an operator", "a weight", "a feature"
	};

	return names[v->kind];
}

/* Raises a syntax error at a place. */
static void __attribute__((noreturn))
bad(gp_layer *t, int position, const char *hint, const char *message)
{
	gp_raise_at(t->env, GP_ERR_SYNTAX, position, hint, "%s", message);
}

/* A copy in the arena, to be changed. */
static value *
copy_value(gp_layer *t, const value *from)
{
	value   *v = gp_arena_alloc(t->arena, sizeof(value));

	*v = *from;
	return v;
}

/* A value of a kind, 1 times it. */
static value *
make_value(gp_layer *t, value_kind kind, int position)
{
	value	v = {.kind = kind,.position = position,.number = gp_number_make(1.0)};

	return copy_value(t, &v);
}

/* A number, which must be finite; the message names the layer where it depends on it. */
static const value *
make_number(gp_layer *t, gp_number number, int position, const char *message)
{
	value   *v;

	if (!isfinite(number.value) && number.varies)
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s in layer %d", message, t->layer);
	if (!isfinite(number.value))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s", message);
	v = make_value(t, VALUE_SCALAR, position);
	v->number = number;
	return v;
}

/* A feature of one step. */
static value *
make_feature(gp_layer *t, int position, atom_kind kind, int atom, unsigned sources, bool mean)
{
	value   *v = make_value(t, VALUE_FEATURE, position);

	v->kind_of_atom = kind;
	v->atom = atom;
	v->sources = atom == GP_ZERO ? 0 : sources;
	v->mean = mean && atom != GP_ZERO;
	return v;
}

/* ---- features as steps ---- */

/* A number of a variance, which must be finite. */
static double
check_finite(gp_layer *t, double value, int position)
{
	if (isfinite(value))
		return value;
	if (!t->quiet)
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL,
					"variance of kernel is not finite in layer %d", t->layer);
	t->overflow = true;
	return 1.0;
}

/* A term with all its numbers put together, for sums. */
typedef struct term
{
	const gp_steps *steps;
	atom_kind	kind;
	int			atom;
	const gp_operator *op;
	double		value;
	int			position;
} term;

/*
 * The number of a single monomial stands outside of its operator, that of several inside, whose
 * sign does not matter.
 */
static term
normal_term(gp_layer *t, const value *f)
{
	term		out = {t->steps, f->kind_of_atom, f->atom, f->op, 0.0, f->position};
	gp_number	factor = f->number;

	t->position = f->position;
	if (f->op != NULL && f->op->nterms > 1)
	{
		factor.value = f->op->term[0].coef < 0.0 ? -fabs(factor.value) : fabs(factor.value);
		out.op = factor.value == 1.0 ? f->op : gp_operator_multiply(t, factor, f->op, NULL);
		factor = gp_number_make(1.0);
	}
	if (out.op != NULL && out.op->nterms == 0)
		out.atom = GP_ZERO;
	if (out.op != NULL && out.op->nterms == 1)
	{
		gp_number	coef = {out.op->term[0].coef, factor.varies, factor.rational};

		factor = gp_number_multiply(factor, coef);
		if (out.op->term[0].power_a == 0 && out.op->np == 0)
			out.op = NULL;
		else if (coef.value != 1.0)
		{
			gp_operator *plain = gp_arena_alloc(t->arena, sizeof(gp_operator));

			memcpy(plain, out.op, sizeof(gp_operator));
			plain->term[0].coef = 1.0;
			out.op = plain;
		}
	}
	out.value = factor.value * factor.value;
	for (int i = 0; i < f->nvariances; i++)
		out.value *= f->variance[i].value;
	out.value = check_finite(t, out.value, f->position);
	return out;
}

/* The step of a term. */
static int
term_step(gp_layer *t, const term *f)
{
	int			step = f->op != NULL ? gp_step_op(t->steps, f->op, f->atom) : f->atom;

	step = gp_step_scale(t->steps, f->value, step);
	check_finite(t, gp_step_value(t->steps, step), f->position);
	return step;
}

/* Orders terms: biases come last, operators first. */
static int
compare_terms(const void *x, const void *y, void *unused)
{
	const term *a = x;
	const term *b = y;
	int			order = (a->kind == ATOM_BIAS) - (b->kind == ATOM_BIAS);

	if (order == 0)
		order = gp_operator_compare(a->op, b->op);
	if (order == 0)
		order = (int) a->kind - (int) b->kind;
	if (order == 0)
		order = gp_steps_compare(a->steps, a->atom, b->atom);
	return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

/* The step of a feature: the terms of a sum are added in an order that the text does not change. */
static int
feature_step(gp_layer *t, const value *f)
{
	int			n = f->nterms > 0 ? f->nterms : 1;
	term	   *terms;
	int			kept = 0;
	int			sum = GP_ZERO;

	if (f->atom == GP_ZERO && f->nterms == 0)
		return GP_ZERO;
	terms = gp_arena_alloc(t->arena, n * sizeof(term));
	for (int i = 0; i < n; i++)
	{
		terms[kept] = normal_term(t, f->nterms > 0 ? f->term[i] : f);
		kept += terms[kept].atom != GP_ZERO;
	}
	gp_sort(t->env, terms, kept, sizeof(term), compare_terms, NULL);
	for (int i = 0; i < kept; i++)
	{
		sum = gp_step_sum(t->steps, sum, term_step(t, &terms[i]));
		check_finite(t, gp_step_value(t->steps, sum), f->position);
	}
	return sum;
}

/* A feature as one that can be multiplied: a sum becomes a step. */
static value *
factor_feature(gp_layer *t, const value *f)
{
	if (f->nterms == 0)
		return copy_value(t, f);
	return make_feature(t, f->position, ATOM_SUM, feature_step(t, f), f->sources, f->mean);
}

/* ---- weights ---- */

/* A fresh W of this sigma. */
static const value *
make_weight(gp_layer *t, double sigma, int position)
{
	value   *v = make_value(t, VALUE_WEIGHT, position);
	weight	   *w = gp_arena_alloc(t->arena, sizeof(weight));
	weight_part *part = gp_arena_alloc(t->arena, sizeof(weight_part));

	*part = (weight_part) {gp_number_make(1.0), sigma};
	*w = (weight) {.n = 1,.part = part};
	v->nweights = 1;
	v->weight = w;
	return v;
}

/* a + b of weights and multiples of I, none of which is a product of several. */
static const value *
add_weights(gp_layer *t, const value *a, const value *b, int position)
{
	const value *side[2] = {a, b};
	value   *v = make_value(t, VALUE_WEIGHT, position);
	weight	   *w = gp_arena_alloc(t->arena, sizeof(weight));
	weight_part *part;
	int			room = 0;

	if (a->nweights > 1 || b->nweights > 1)
		bad(t, position, "Write (0.5*I + 0.5*W).",
			"a mixed weight in kernel must be a sum of multiples of I and W");
	for (int i = 0; i < 2; i++)
		room += side[i]->nweights > 0 ? side[i]->weight->n : 0;
	part = gp_arena_alloc(t->arena, room * sizeof(weight_part));
	for (int i = 0; i < 2; i++)
	{
		const weight *from = side[i]->nweights > 0 ? side[i]->weight : NULL;
		gp_number	number = side[i]->number;

		if (from == NULL || from->has_id)
		{
			gp_number	id = from != NULL ? gp_number_multiply(number, from->id) : number;

			w->id = w->has_id ? gp_number_add(w->id, id) : id;
			w->has_id = true;
		}
		for (int k = 0; from != NULL && k < from->n; k++)
			part[w->n++] = (weight_part) {gp_number_multiply(number, from->part[k].coef),
			from->part[k].sigma};
	}
	w->part = part;
	v->nweights = 1;
	v->weight = w;
	return v;
}

/* Plain weights before mixed ones, by their values. */
static bool
goes_before(variance a, variance b)
{
	return a.mixed != b.mixed ? b.mixed : a.value < b.value;
}

/* A feature times id*I + coef*W + ...: its covariance times id^2 + coef^2 sigma^2 + ... */
static void
apply_weight(gp_layer *t, value *f, const weight *w)
{
	double	   *part = gp_arena_alloc(t->arena, (w->n + 1) * sizeof(double));
	variance   *list = gp_arena_alloc(t->arena, (f->nvariances + 1) * sizeof(variance));
	bool		mixed = w->has_id && w->id.value != 0.0;
	variance	v = {mixed, mixed ? w->id.value * w->id.value : 0.0};
	const weight_part *last = NULL;
	int			n = 0;
	int			at;

	for (int i = 0; i < w->n; i++)
	{
		double		coef = w->part[i].coef.value;
		double		value = coef * coef * (w->part[i].sigma * w->part[i].sigma);

		if (coef == 0.0 || w->part[i].sigma == 0.0)
			continue;
		last = &w->part[i];
		for (at = n++; at > 0 && part[at - 1] > value; at--)
			part[at] = part[at - 1];
		part[at] = value;
	}
	if (n == 0)
	{
		f->number = gp_number_multiply(f->number, mixed ? w->id : gp_number_make(0.0));
		return;
	}
	for (int i = 0; i < n; i++)
		v.value += part[i];
	if (n == 1 && !mixed)
	{
		f->number = gp_number_multiply(f->number, last->coef);
		v.value = last->sigma * last->sigma;
	}
	for (at = f->nvariances; at > 0 && goes_before(v, f->variance[at - 1]); at--)
		list[at] = f->variance[at - 1];
	for (int i = 0; i < at; i++)
		list[i] = f->variance[i];
	list[at] = v;
	f->variance = list;
	f->nvariances++;
	if (!mixed)
	{
		/* A fresh draw shares nothing. */
		f->sources = 0;
		f->mean = false;
	}
}

/* ---- products ---- */

/* Refuses what stands on the wrong side of a feature. */
static void __attribute__((noreturn))
bad_product(gp_layer *t, const value *a, int a_position, const value *b, int b_position)
{
	if (a->kind == VALUE_FEATURE && b->kind == VALUE_FEATURE)
		bad(t, b_position, "Features are added: A*relu(X)*W + X0.",
			"a product in kernel holds two features");
	if (b->kind == VALUE_OPERATOR)
		bad(t, b_position, "Write A*relu(X)*W.",
			"an operator in kernel must stand left of the feature");
	bad(t, a->kind == VALUE_WEIGHT ? a_position : b_position, "Write A*relu(X)*W.",
		"a weight in kernel must stand right of the feature");
}

/* a * b in the order of the text. */
static const value *
multiply(gp_layer *t, const value *a, int a_position, const value *b, int b_position)
{
	gp_number	number = gp_number_multiply(a->number, b->number);
	const value *high = a->kind >= b->kind ? a : b;
	const value *low = high == a ? b : a;
	value   *v;

	if (high->kind == VALUE_SCALAR)
		return make_number(t, number, b_position, "value out of range in kernel");
	if (!isfinite(number.value))
		gp_raise_at(t->env, GP_ERR_VALUE, a_position, NULL,
					"value in kernel is not a finite number");
	if (b->kind == VALUE_FEATURE && a->kind <= VALUE_OPERATOR && a->op == NULL &&
		fabs(a->number.value) == 1.0)
		return b;
	v = high->kind == VALUE_FEATURE ? factor_feature(t, high) : copy_value(t, high);
	v->position = t->position = a_position;
	v->number = number;
	if (low->kind <= VALUE_IDENTITY)
		;						/* the number says it all */
	else if (a->kind == VALUE_OPERATOR && b->kind == VALUE_OPERATOR)
		v->op = gp_operator_multiply(t, (gp_number) {1.0, number.varies, number.rational},
									 a->op, b->op);
	else if (a->kind == VALUE_WEIGHT && b->kind == VALUE_WEIGHT)
	{
		weight	   *w = gp_arena_alloc(t->arena, (a->nweights + b->nweights) * sizeof(weight));

		memcpy(w, a->weight, a->nweights * sizeof(weight));
		memcpy(w + a->nweights, b->weight, b->nweights * sizeof(weight));
		v->weight = w;
		v->nweights = a->nweights + b->nweights;
	}
	else if (a->kind == VALUE_OPERATOR && b->kind == VALUE_FEATURE)
		v->op = v->op == NULL ? a->op :
			gp_operator_multiply(t, (gp_number) {1.0, number.varies, number.rational}, a->op,
								 v->op);
	else if (a->kind == VALUE_FEATURE && b->kind == VALUE_WEIGHT)
		for (int i = 0; i < b->nweights; i++)
			apply_weight(t, v, &b->weight[i]);
	else
		bad_product(t, a, a_position, b, b_position);
	if (v->kind == VALUE_FEATURE &&
		(v->number.value == 0.0 || (v->op != NULL && v->op->nterms == 0)))
		return make_feature(t, a_position, ATOM_SUM, GP_ZERO, 0, false);
	return v;
}

/* A product: left to right. */
static const value *
evaluate_product(gp_layer *t, const gp_ast *ast)
{
	const value *v = evaluate(t, ast->arg[0]);
	int			position = ast->arg[0]->position;

	for (int i = 1; i < ast->n; i++)
	{
		const gp_ast *arg = ast->arg[i];
		const value *b = evaluate(t, arg);

		if (!ast->flip[i])
		{
			v = multiply(t, v, position, b, arg->position);
			continue;
		}
		if (b->kind != VALUE_SCALAR)
			bad(t, arg->position, NULL, "only a number can divide in kernel");
		b = make_number(t, gp_number_divide(v->kind == VALUE_SCALAR ? v->number :
											gp_number_make(1.0), b->number),
						arg->position, "division by zero or value out of range in kernel");
		v = v->kind == VALUE_SCALAR ? b : multiply(t, v, position, b, arg->position);
	}
	return v;
}

/* ---- sums ---- */

/* Refuses terms that are not independent of the ones before them; they stand as in the text. */
static void
check_independent(gp_layer *t, const value *sum)
{
	unsigned	seen = 0;
	bool		mean = false;

	for (int i = 0; i < sum->nterms; i++)
	{
		const value *f = sum->term[i];
		unsigned	shared = seen & f->sources;

		if (shared)
			gp_raise_at(t->env, GP_ERR_SYNTAX, f->position,
						"Write (A + I)*relu(X), or give a term a weight of its own: "
						"relu(X)*W1 + A*relu(X)*W2.",
						"terms of a sum in kernel are not independent: \"%s\" is in two of them",
						shared & SOURCE_X ? "X" : shared & SOURCE_X0 ? "X0" : "N");
		if (mean && f->mean)
			gp_raise_at(t->env, GP_ERR_SYNTAX, f->position,
						"relu has a mean that is not zero: give a term a weight of its own, "
						"as in relu(X)*W1 + relu(X0)*W2.",
						"terms of a sum in kernel are not independent: two are activations");
		seen |= f->sources;
		mean |= f->mean;
	}
}

/* A sum of features, whose independence is checked as a whole. */
static const value *
add_features(gp_layer *t, const gp_ast *ast, const value *const *v)
{
	value   *sum = make_feature(t, ast->position, ATOM_SUM, GP_ZERO, 0, false);
	int			total = 0;

	for (int i = 0; i < ast->n; i++)
	{
		if (v[i]->kind != VALUE_FEATURE)
			gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[i]->position, NULL,
						"%s cannot be added to a feature in kernel", value_name(v[i]));
		total += v[i]->nterms > 0 ? v[i]->nterms : v[i]->atom != GP_ZERO;
	}
	sum->term = gp_arena_alloc(t->arena, (total + 1) * sizeof(value *));
	for (int i = 0; i < ast->n; i++)
	{
		for (int k = 0; k < v[i]->nterms; k++)
			sum->term[sum->nterms++] = v[i]->term[k];
		if (v[i]->nterms == 0 && v[i]->atom != GP_ZERO)
			sum->term[sum->nterms++] = v[i];
	}
	if (total == 1)
		return sum->term[0];
	check_independent(t, sum);
	for (int i = 0; i < total; i++)
	{
		sum->sources |= sum->term[i]->sources;
		sum->mean |= sum->term[i]->mean;
	}
	return sum;
}

/* a + b of anything but features. */
static const value *
add(gp_layer *t, const value *a, const value *b, int position)
{
	value_kind high = a->kind > b->kind ? a->kind : b->kind;
	value_kind low = a->kind > b->kind ? b->kind : a->kind;
	gp_number	sum = gp_number_add(a->number, b->number);
	value   *v;

	t->position = position;
	if (high == VALUE_SCALAR)
		return make_number(t, sum, position, "value out of range in kernel");
	if (high == VALUE_WEIGHT && (low == VALUE_IDENTITY || low == high))
		return add_weights(t, a, b, position);
	if (low == VALUE_SCALAR || high > VALUE_OPERATOR)
		gp_raise_at(t->env, GP_ERR_SYNTAX, position,
					low == VALUE_SCALAR && high < VALUE_FEATURE ?
					"Write 2*I for a multiple of the identity." : NULL,
					"%s cannot be added to %s in kernel", value_name(b), value_name(a));
	v = make_value(t, high, position);
	v->number = high == VALUE_IDENTITY ? sum :
		(gp_number) {1.0, sum.varies, sum.rational};
	if (high == VALUE_OPERATOR)
		v->op = gp_operator_add(t, a->number, a->op, b->number, b->op);
	if (!isfinite(v->number.value))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL,
					"value in kernel is not a finite number");
	return v;
}

/* The negative of a value; the sign of a feature does not matter. */
static const value *
negate(gp_layer *t, const value *v)
{
	value   *negative;

	if (v->kind == VALUE_FEATURE)
		return v;
	negative = copy_value(t, v);
	negative->number = gp_number_multiply(gp_number_make(-1.0), v->number);
	return negative;
}

/* A sum */
static const value *
evaluate_sum(gp_layer *t, const gp_ast *ast)
{
	const value **v = gp_arena_alloc(t->arena, ast->n * sizeof(value *));
	const value *sum;

	for (int i = 0; i < ast->n; i++)
	{
		v[i] = evaluate(t, ast->arg[i]);
		if (ast->flip[i])
			v[i] = negate(t, v[i]);
	}
	if (v[0]->kind == VALUE_FEATURE)
		return add_features(t, ast, v);
	sum = v[0];
	for (int i = 1; i < ast->n; i++)
		sum = add(t, sum, v[i], ast->arg[i]->position);
	return sum;
}

/* ---- powers and functions ---- */

/* A power: of a number, or a whole one of an operator. */
static const value *
evaluate_power(gp_layer *t, const gp_ast *ast)
{
	const value *base = evaluate(t, ast->arg[0]);
	const value *e = evaluate(t, ast->arg[1]);
	int			position = ast->arg[1]->position;
	gp_number	number = gp_number_power(base->number, e->number);
	value   *v;

	if (e->kind != VALUE_SCALAR)
		bad(t, position, NULL, "an exponent in kernel must be a number");
	if (base->kind == VALUE_SCALAR)
		return make_number(t, number, ast->arg[0]->position, "power out of range in kernel");
	if (base->kind != VALUE_OPERATOR && base->kind != VALUE_IDENTITY)
		bad(t, ast->arg[0]->position, NULL, "only numbers and operators have powers in kernel");
	if (e->number.varies || e->number.value != floor(e->number.value) ||
		e->number.value < 0.0 || e->number.value > GP_MAX_POWER)
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL,
					"power of an operator in kernel must be a whole number from 0 to %d",
					GP_MAX_POWER);
	t->position = ast->position;
	if (!isfinite(number.value))
		gp_raise_at(t->env, GP_ERR_VALUE, ast->position, NULL,
					"value in kernel is not a finite number");
	v = make_value(t, e->number.value == 0.0 ? VALUE_IDENTITY : base->kind, ast->position);
	v->number = number;
	for (int i = 0; base->op != NULL && i < (int) e->number.value; i++)
		v->op = gp_operator_multiply(t, (gp_number) {1.0, number.varies, number.rational},
									 v->op, base->op);
	return v;
}

const char *const gp_functions[] = {"relu", "unit", "P", "ln", "sqrt", NULL};

/* Refuses a function that there is not. */
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
static const value *
evaluate_call(gp_layer *t, const gp_ast *ast)
{
	bool		p = strcmp(ast->name, "P") == 0;
	bool		unit = strcmp(ast->folded, "unit") == 0;
	bool		relu = strcmp(ast->folded, "relu") == 0;
	bool		ln = strcmp(ast->folded, "ln") == 0;
	const value *arg;
	value   *v;
	bool		plain_x;
	int			step;

	if (!relu && !unit && !ln && !p && strcmp(ast->folded, "sqrt") != 0)
		unknown_function(t, ast);
	if (ast->n != 1 || ast->key[0] != NULL)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, NULL,
					"function \"%.40s\" in kernel takes one argument", ast->name);
	if (p)
	{
		gp_number	alpha = gp_layer_number(t, ast->arg[0], "P");

		if (!(alpha.value >= GP_MIN_P && alpha.value <= 1.0))
			gp_raise_at(t->env, GP_ERR_VALUE, ast->arg[0]->position, "P(a) is a*(I - (1-a)*A)^-1.",
						"teleport probability %g of P is not between %g and 1", alpha.value,
						GP_MIN_P);
		v = make_value(t, VALUE_OPERATOR, ast->position);
		v->number.varies = alpha.varies;
		v->op = gp_operator_p(t, alpha.value);
		return v;
	}
	if (!relu && !unit)
		return make_number(t, gp_number_function(gp_layer_number(t, ast->arg[0], ast->folded),
												 ln ? log : sqrt), ast->position,
						   ln ? "logarithm of a number that is not positive in kernel" :
						   "square root of a negative number in kernel");
	arg = evaluate(t, ast->arg[0]);
	if (arg->kind != VALUE_FEATURE)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[0]->position,
					relu ? "Write relu(X)." : "Write unit(X0).",
					"%s in kernel takes a feature, not %s", relu ? "relu" : "unit",
					value_name(arg));
	step = feature_step(t, arg);
	if (unit)
		return make_feature(t, ast->position, ATOM_UNIT, gp_step_unit(t->steps, step),
							arg->sources, arg->mean);
	/* The input is no pre-activation: in the first layer relu(X) is X0. */
	plain_x = arg->kind_of_atom == ATOM_X && arg->op == NULL && arg->nvariances == 0 &&
		fabs(arg->number.value) == 1.0;
	if (t->layer != 1 || !plain_x)
		step = gp_step_relu(t->steps, step);
	return make_feature(t, ast->position, ATOM_RELU, step, arg->sources, true);
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
static const value *
constant_value(gp_layer *t, gp_constant *c, int position)
{
	value   *v = make_value(t, VALUE_SCALAR, position);

	c->used = true;
	if (c->busy)
		gp_raise_at(t->env, GP_ERR_SYNTAX, position, NULL,
					"option \"%.40s\" of kernel refers to itself", c->option->spelled);
	c->busy = true;
	if (!c->known)
		c->number = gp_layer_number(t, c->option->value, c->option->spelled);
	c->known = true;
	c->busy = false;
	v->number = c->number;
	return v;
}

gp_constant *
gp_layer_find_sigma(const gp_layer *t, char letter, int number)
{
	char		name[32];
	gp_constant *c = NULL;

	if (number > 0)
	{
		snprintf(name, sizeof(name), "sigma_%c%d", letter, number);
		c = gp_layer_find(t, name);
	}
	snprintf(name, sizeof(name), "sigma_%c", letter);
	return c != NULL ? c : gp_layer_find(t, name);
}

double
gp_layer_sigma(gp_layer *t, char letter, int number, int position)
{
	gp_constant *c = gp_layer_find_sigma(t, letter, number);
	double		sigma;

	if (c == NULL)
		return letter == 'w' ? 1.0 : 0.0;
	sigma = constant_value(t, c, position)->number.value;
	if (sigma < 0.0)
		gp_raise_at(t->env, GP_ERR_VALUE, c->option->value->position, NULL,
					"option \"%s\" of kernel must not be negative", c->option->name);
	return sigma;
}

/* Refuses a name that stands for nothing. */
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

/* A name */
static const value *
evaluate_name(gp_layer *t, const gp_ast *ast)
{
	size_t		length = strlen(ast->name);
	int			at = ast->position;
	int			number;
	value   *v;

	if (strcmp(ast->name, "X") == 0)
		return make_feature(t, at, ATOM_X, t->layer == 1 ?
							gp_step_source(t->steps, GP_STEP_INPUT) : t->previous, SOURCE_X, false);
	if (strcmp(ast->name, "X0") == 0)
		return make_feature(t, at, ATOM_X0, gp_step_source(t->steps, GP_STEP_INPUT), SOURCE_X0,
							false);
	if (strcmp(ast->name, "N") == 0)
		return make_feature(t, at, ATOM_LISTS, gp_step_source(t->steps, GP_STEP_LISTS), SOURCE_N,
							false);
	if (strcmp(ast->name, "I") == 0)
		return make_value(t, VALUE_IDENTITY, at);
	if (strcmp(ast->name, "A") == 0)
	{
		v = make_value(t, VALUE_OPERATOR, at);
		v->op = gp_operator_a(t);
		return v;
	}
	if ((number = gp_name_number(ast->name, length, 'W')) >= 0)
		return make_weight(t, gp_layer_sigma(t, 'w', number, at), at);
	if ((number = gp_name_number(ast->name, length, 'b')) >= 0)
	{
		double		sigma = gp_layer_sigma(t, 'b', number, at);

		return make_feature(t, at, ATOM_BIAS,
							gp_step_bias(t->steps, check_finite(t, sigma * sigma, at)), 0, false);
	}
	v = make_value(t, VALUE_SCALAR, at);
	if (strcmp(ast->folded, "l") == 0)
	{
		v->number = gp_number_make(t->layer);
		v->number.varies = !t->one;
	}
	else if (strcmp(ast->folded, "layers") == 0)
	{
		if (t->layers == 0)
			gp_raise_at(t->env, GP_ERR_SYNTAX, at, NULL,
						"option \"layers\" of kernel refers to itself");
		v->number = gp_number_make(t->layers);
	}
	else if (gp_layer_find(t, ast->folded) != NULL)
		return constant_value(t, gp_layer_find(t, ast->folded), at);
	else if (strcmp(ast->folded, "sigma_b") == 0)
		v->number = gp_number_make(0.0);
	else if (strcmp(ast->folded, "sigma_w") != 0)
		unknown_name(t, ast);
	return v;
}

/* ---- trees ---- */

/* The value of a tree. */
static const value *
evaluate(gp_layer *t, const gp_ast *ast)
{
	const value *v = NULL;

	gp_check_stack(t->env);
	if (++t->depth > MAX_DEPTH)
		bad(t, ast->position, NULL, "kernel is nested too deeply");
	t->position = ast->position;
	switch (ast->kind)
	{
		case GP_AST_NUMBER:
			v = make_number(t, gp_number_make(ast->number), ast->position, "");
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

gp_number
gp_layer_number(gp_layer *t, const gp_ast *ast, const char *name)
{
	const value *v = evaluate(t, ast);

	if (v->kind != VALUE_SCALAR)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, NULL,
					"\"%.40s\" in kernel takes a number, not %s", name, value_name(v));
	return v->number;
}

double
gp_layer_plain_number(gp_layer *t, const gp_ast *ast, const char *name)
{
	gp_number	number = gp_layer_number(t, ast, name);

	if (number.varies)
		gp_raise_at(t->env, GP_ERR_VALUE, ast->position, NULL,
					"\"%s\" of kernel must not depend on the layer", name);
	return number.value;
}

int
gp_layer_evaluate(gp_layer *t, const gp_ast *formula)
{
	const value *v = evaluate(t, formula);

	if (v->kind != VALUE_FEATURE)
		gp_raise_at(t->env, GP_ERR_SYNTAX, formula->position,
					"Write a layer such as A*relu(X)*W + b.",
					"kernel has no feature such as X, X0 or N");
	return feature_step(t, v);
}
