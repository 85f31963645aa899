/*
 * feature.c - features: what a layer computes, in a normal form.
 *
 * Operators left of a feature, numbers and weights right of it all act on its
 * covariance alone and commute, so that a product is one node: a number, an
 * operator, a feature, a sorted list of weights.  The sign of a number never
 * matters, because the terms of a sum are independent.  Zero is NULL.
 */
#include "base/sort.h"
#include "formula_internal.h"

#define HINT_SOURCE \
	"Write (A + I)*relu(X), or give a term a weight of its own: relu(X)*W1 + A*relu(X)*W2."
#define HINT_MEAN \
	"relu has a mean that is not zero: give a term a weight of its own, " \
	"as in relu(X)*W1 + relu(X0)*W2."

/* Makes a node with room for n arguments. */
static gp_feature *
make(gp_maker *m, gp_feature_kind kind, int n)
{
	gp_feature *f = gp_arena_alloc(m->arena, sizeof(gp_feature));

	f->kind = kind;
	f->position = m->position;
	f->n = n;
	if (n > 0)
		f->arg = gp_arena_alloc(m->arena, n * sizeof(gp_feature *));
	return f;
}

/* X, X0 or N */
const gp_feature *
gp_feature_source(gp_maker *m, gp_feature_kind kind)
{
	gp_feature *f = make(m, kind, 0);

	f->sources = kind == GP_FEATURE_X ? GP_SOURCE_X : kind == GP_FEATURE_X0 ? GP_SOURCE_X0 : GP_SOURCE_N;
	return f;
}

/* b */
const gp_feature *
gp_feature_bias(gp_maker *m, const gp_scalar *sigma)
{
	gp_feature *f;

	if (gp_scalar_is(sigma, 0.0))
		return NULL;
	f = make(m, GP_FEATURE_BIAS, 0);
	f->sigma = sigma;
	return f;
}

/* relu(arg) */
const gp_feature *
gp_feature_relu(gp_maker *m, const gp_feature *arg)
{
	gp_feature *f;

	if (arg == NULL)
		return NULL;
	f = make(m, GP_FEATURE_RELU, 1);
	f->arg[0] = arg;
	f->sources = arg->sources;
	f->mean = true;
	return f;
}

/* unit(arg): a number before the argument, and a second unit, change nothing. */
const gp_feature *
gp_feature_unit(gp_maker *m, const gp_feature *arg)
{
	gp_feature *f;

	if (arg != NULL && arg->kind == GP_FEATURE_TERM && arg->coef->kind == GP_SCALAR_NUMBER)
		arg = gp_feature_term(m, gp_scalar_number(m, 1.0), arg->op, arg->arg[0], arg->weight);
	if (arg == NULL || arg->kind == GP_FEATURE_UNIT)
		return arg;
	f = make(m, GP_FEATURE_UNIT, 1);
	f->arg[0] = arg;
	f->sources = arg->sources;
	f->mean = arg->mean;
	return f;
}

/* ---- weights ---- */

/* Makes a weight with room for n mixes. */
static gp_weight *
make_weight(gp_maker *m, const gp_scalar *coef, int n)
{
	gp_weight  *w = gp_arena_alloc(m->arena, sizeof(gp_weight));

	w->coef = coef;
	w->n = n;
	if (n > 0)
		w->mix = gp_arena_alloc(m->arena, n * sizeof(gp_mix *));
	return w;
}

/* Makes a mix with room for n weights. */
static gp_mix *
make_mix(gp_maker *m, int n)
{
	gp_mix	   *mix = gp_arena_alloc(m->arena, sizeof(gp_mix));

	mix->n = n;
	if (n > 0)
	{
		mix->coef = gp_arena_alloc(m->arena, n * sizeof(gp_scalar *));
		mix->sigma = gp_arena_alloc(m->arena, n * sizeof(gp_scalar *));
	}
	return mix;
}

/* A fresh W of this sigma, or id * I where sigma is NULL. */
const gp_weight *
gp_weight_make(gp_maker *m, const gp_scalar *id, const gp_scalar *sigma)
{
	gp_weight  *w;
	gp_mix	   *mix;

	if (sigma == NULL)
		return make_weight(m, id, 0);
	w = make_weight(m, gp_scalar_number(m, 1.0), 1);
	mix = make_mix(m, 1);
	mix->coef[0] = w->coef;
	mix->sigma[0] = sigma;
	w->mix[0] = mix;
	return w;
}

/* One weight after the other. */
const gp_weight *
gp_weight_mul(gp_maker *m, const gp_weight *a, const gp_weight *b)
{
	gp_weight  *w = make_weight(m, gp_scalar_mul(m, a->coef, b->coef), a->n + b->n);

	for (int i = 0; i < a->n; i++)
		w->mix[i] = a->mix[i];
	for (int i = 0; i < b->n; i++)
		w->mix[a->n + i] = b->mix[i];
	return w;
}

/* A scalar times a weight. */
const gp_weight *
gp_weight_scale(gp_maker *m, const gp_weight *a, const gp_scalar *factor)
{
	return gp_weight_mul(m, make_weight(m, factor, 0), a);
}

/* Adds one weight to a mix that has the room. */
static void
mix_add(gp_maker *m, gp_mix *mix, const gp_weight *w)
{
	const gp_mix *from = w->n > 0 ? w->mix[0] : NULL;
	const gp_scalar *id = from == NULL ? w->coef : from->id;

	if (id != NULL && from != NULL)
		id = gp_scalar_mul(m, w->coef, id);
	if (id != NULL)
		mix->id = mix->id == NULL ? id : gp_scalar_add(m, mix->id, id);
	for (int i = 0; from != NULL && i < from->n; i++)
	{
		mix->coef[mix->n] = gp_scalar_mul(m, w->coef, from->coef[i]);
		mix->sigma[mix->n++] = from->sigma[i];
	}
}

/* The sum of two weights; NULL when one of the two is a product. */
const gp_weight *
gp_weight_add(gp_maker *m, const gp_weight *a, const gp_weight *b)
{
	gp_weight  *w = make_weight(m, gp_scalar_number(m, 1.0), 1);
	gp_mix	   *mix;

	if (a->n > 1 || b->n > 1)
		return NULL;
	mix = make_mix(m, (a->n > 0 ? a->mix[0]->n : 0) + (b->n > 0 ? b->mix[0]->n : 0));
	mix->n = 0;
	mix_add(m, mix, a);
	mix_add(m, mix, b);
	w->mix[0] = mix;
	return w;
}

/* Orders two parts of a mix by sigma, then by their numbers. */
static int
compare_parts(const gp_mix *a, int i, const gp_mix *b, int j)
{
	int			order = gp_scalar_compare(a->sigma[i], b->sigma[j]);

	return order != 0 ? order : gp_scalar_compare(a->coef[i], b->coef[j]);
}

/* Orders two mixes: a plain W first. */
static int
compare_mixes(const gp_mix *a, const gp_mix *b)
{
	int			order;

	if ((a->id == NULL) != (b->id == NULL))
		return a->id == NULL ? -1 : 1;
	if (a->id != NULL && (order = gp_scalar_compare(a->id, b->id)) != 0)
		return order;
	if (a->n != b->n)
		return a->n - b->n;
	for (int i = 0; i < a->n; i++)
		if ((order = compare_parts(a, i, b, i)) != 0)
			return order;
	return 0;
}

/* The normal form of a mix: no zeros, no signs, sorted.  Its coefficient goes to *coef. */
static gp_mix *
normal_mix(gp_maker *m, const gp_mix *mix, const gp_scalar **coef)
{
	gp_mix	   *out = make_mix(m, mix->n);

	out->n = 0;
	if (mix->id != NULL && !gp_scalar_is(mix->id, 0.0))
		out->id = gp_scalar_abs(m, mix->id);
	for (int i = 0; i < mix->n; i++)
	{
		int			at = out->n;
		gp_mix		part = {NULL, 1, &mix->coef[i], &mix->sigma[i]};
		const gp_scalar *positive = gp_scalar_abs(m, mix->coef[i]);

		if (gp_scalar_is(mix->coef[i], 0.0) || gp_scalar_is(mix->sigma[i], 0.0))
			continue;
		part.coef = &positive;
		for (; at > 0 && compare_parts(&part, 0, out, at - 1) < 0; at--)
		{
			out->coef[at] = out->coef[at - 1];
			out->sigma[at] = out->sigma[at - 1];
		}
		out->coef[at] = positive;
		out->sigma[at] = mix->sigma[i];
		out->n++;
	}
	if (out->n == 0)
	{
		*coef = out->id != NULL ? gp_scalar_mul(m, *coef, out->id) : gp_scalar_number(m, 0.0);
		return NULL;
	}
	if (out->n == 1 && out->id == NULL)
	{
		*coef = gp_scalar_mul(m, *coef, out->coef[0]);
		out->coef[0] = gp_scalar_number(m, 1.0);
	}
	return out;
}

/* The normal forms of a weight's mixes, sorted; numbers go to *coef. */
static const gp_weight *
normal_weight(gp_maker *m, const gp_weight *weight, const gp_scalar **coef)
{
	gp_weight  *out = make_weight(m, gp_scalar_number(m, 1.0), weight->n);

	*coef = gp_scalar_mul(m, *coef, weight->coef);
	out->n = 0;
	for (int i = 0; i < weight->n; i++)
	{
		const gp_mix *mix = normal_mix(m, weight->mix[i], coef);
		int			at = out->n;

		if (mix == NULL)
			continue;
		for (; at > 0 && compare_mixes(mix, out->mix[at - 1]) < 0; at--)
			out->mix[at] = out->mix[at - 1];
		out->mix[at] = mix;
		out->n++;
	}
	return out;
}

/* True when a fresh, plain weight is among them: nothing is shared then. */
static bool
is_fresh(const gp_weight *weight)
{
	for (int i = 0; i < weight->n; i++)
		if (weight->mix[i]->id == NULL)
			return true;
	return false;
}

/* ---- terms ---- */

/*
 * The normal form of number and operator: the number of a single monomial stands
 * outside, that of several inside.  NULL for I; *coef is 0 when all is zero.
 */
static const gp_poly *
normal_operator(gp_maker *m, const gp_poly *op, const gp_scalar **coef)
{
	if (op == NULL || op->n == 0)
	{
		if (op != NULL)
			*coef = gp_scalar_number(m, 0.0);
		return NULL;
	}
	if (op->n > 1)
	{
		op = gp_poly_scale(m, op, *coef);
		*coef = gp_scalar_number(m, op->n > 0 ? 1.0 : 0.0);
		if (op->n > 0 && gp_scalar_factor(op->term[0].coef) < 0.0)
			op = gp_poly_scale(m, op, gp_scalar_number(m, -1.0));
		return op;
	}
	*coef = gp_scalar_mul(m, *coef, op->term[0].coef);
	if (gp_poly_term_is_identity(&op->term[0]))
		return NULL;
	if (!gp_scalar_is(op->term[0].coef, 1.0))
	{
		gp_poly    *copy = gp_arena_alloc(m->arena, sizeof(gp_poly));

		*copy = *op;
		copy->term[0].coef = gp_scalar_number(m, 1.0);
		op = copy;
	}
	return op;
}

/* coef * op * arg * weight; op may be NULL for I, weight for none. */
const gp_feature *
gp_feature_term(gp_maker *m, const gp_scalar *coef, const gp_poly *op,
				const gp_feature *arg, const gp_weight *weight)
{
	gp_feature *f;

	if (arg == NULL)
		return NULL;
	if (weight == NULL)
		weight = make_weight(m, gp_scalar_number(m, 1.0), 0);
	if (arg->kind == GP_FEATURE_TERM)
	{
		coef = gp_scalar_mul(m, coef, arg->coef);
		weight = gp_weight_mul(m, arg->weight, weight);
		if (arg->op != NULL)
			op = op == NULL ? arg->op : gp_poly_mul(m, op, arg->op);
		arg = arg->arg[0];
	}
	weight = normal_weight(m, weight, &coef);
	op = normal_operator(m, op, &coef);
	coef = gp_scalar_abs(m, coef);
	if (gp_scalar_is(coef, 0.0))
		return NULL;
	if (op == NULL && weight->n == 0 && gp_scalar_is(coef, 1.0))
		return arg;
	f = make(m, GP_FEATURE_TERM, 1);
	f->coef = coef;
	f->op = op;
	f->weight = weight;
	f->arg[0] = arg;
	if (!is_fresh(weight))
	{
		f->sources = arg->sources;
		f->mean = arg->mean;
	}
	return f;
}

/* ---- order ---- */

/* The feature that a term is of. */
static const gp_feature *
atom(const gp_feature *f)
{
	return f->kind == GP_FEATURE_TERM ? f->arg[0] : f;
}

/* Orders two operators, NULL being I: the larger first. */
static int
compare_operators(const gp_poly *a, const gp_poly *b)
{
	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	return gp_poly_compare(a, b);
}

/* Orders two lists of mixes. */
static int
compare_weights(const gp_weight *a, const gp_weight *b)
{
	int			na = a == NULL ? 0 : a->n;
	int			nb = b == NULL ? 0 : b->n;

	for (int i = 0; i < na && i < nb; i++)
	{
		int			order = compare_mixes(a->mix[i], b->mix[i]);

		if (order != 0)
			return order;
	}
	return nb - na;
}

/* Orders the numbers before two terms, NULL being 1. */
static int
compare_coefs(const gp_scalar *a, const gp_scalar *b)
{
	if (a == NULL && b == NULL)
		return 0;
	if (a == NULL)
		return gp_scalar_is(b, 1.0) ? 0 : -1;
	if (b == NULL)
		return gp_scalar_is(a, 1.0) ? 0 : 1;
	return gp_scalar_compare(a, b);
}

/* Orders two features that are no terms. */
static int
compare_atoms(const gp_feature *a, const gp_feature *b)
{
	if (a->kind != b->kind)
		return (int) a->kind - (int) b->kind;
	if (a->kind == GP_FEATURE_BIAS)
		return gp_scalar_compare(a->sigma, b->sigma);
	if (a->n != b->n)
		return b->n - a->n;
	for (int i = 0; i < a->n; i++)
	{
		int			order = gp_feature_compare(a->arg[i], b->arg[i]);

		if (order != 0)
			return order;
	}
	return 0;
}

/* Orders two features; 0 when they are the same.  Biases come last, operators first. */
int
gp_feature_compare(const gp_feature *a, const gp_feature *b)
{
	const gp_feature *x;
	const gp_feature *y;
	int			order;

	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	x = atom(a);
	y = atom(b);
	order = (x->kind == GP_FEATURE_BIAS) - (y->kind == GP_FEATURE_BIAS);
	if (order == 0)
		order = compare_operators(a->op, b->op);
	if (order == 0)
		order = compare_atoms(x, y);
	if (order == 0)
		order = compare_weights(a->weight, b->weight);
	if (order == 0)
		order = compare_coefs(a->coef, b->coef);
	return order;
}

/* ---- sums ---- */

/* A source's name in messages. */
static const char *
source_name(unsigned shared)
{
	return shared & GP_SOURCE_X ? "X" : shared & GP_SOURCE_X0 ? "X0" : "N";
}

/* Refuses terms that are not independent of the ones before them. */
static void
check_independent(gp_maker *m, int n, const gp_feature *const *term)
{
	unsigned	seen = 0;
	bool		mean = false;

	for (int i = 0; i < n; i++)
	{
		if (seen & term[i]->sources)
			gp_raise_at(m->env, GP_ERR_SYNTAX, term[i]->position, HINT_SOURCE,
						"terms of a sum in kernel are not independent: \"%s\" is in two of them",
						source_name(seen & term[i]->sources));
		if (mean && term[i]->mean)
			gp_raise_at(m->env, GP_ERR_SYNTAX, term[i]->position, HINT_MEAN,
						"terms of a sum in kernel are not independent: two are activations");
		seen |= term[i]->sources;
		mean |= term[i]->mean;
	}
}

/* For gp_sort. */
static int
compare_for_sort(const void *a, const void *b, void *unused)
{
	return gp_feature_compare(*(const gp_feature *const *) a, *(const gp_feature *const *) b);
}

/* The sum of n features, some of which may be NULL or sums. */
const gp_feature *
gp_feature_sum(gp_maker *m, int n, const gp_feature **arg)
{
	gp_feature *f;
	int			total = 0;

	for (int i = 0; i < n; i++)
		if (arg[i] != NULL)
			total += arg[i]->kind == GP_FEATURE_SUM ? arg[i]->n : 1;
	if (total == 0)
		return NULL;
	f = make(m, GP_FEATURE_SUM, total);
	f->n = 0;
	for (int i = 0; i < n; i++)
	{
		if (arg[i] != NULL && arg[i]->kind == GP_FEATURE_SUM)
			for (int j = 0; j < arg[i]->n; j++)
				f->arg[f->n++] = arg[i]->arg[j];
		else if (arg[i] != NULL)
			f->arg[f->n++] = arg[i];
	}
	if (total == 1)
		return f->arg[0];
	check_independent(m, total, f->arg);
	for (int i = 0; i < total; i++)
	{
		f->sources |= f->arg[i]->sources;
		f->mean |= f->arg[i]->mean;
	}
	gp_sort(m->env, f->arg, total, sizeof(gp_feature *), compare_for_sort, NULL);
	return f;
}

/* What a walk over a tree tells. */
gp_feature_facts
gp_feature_look(const gp_feature *f)
{
	gp_feature_facts facts = {false, false, false};

	if (f == NULL)
		return facts;
	facts.has_x = f->kind == GP_FEATURE_X;
	facts.has_input = facts.has_x || f->kind == GP_FEATURE_X0;
	facts.has_op = f->op != NULL;
	for (int i = 0; i < f->n; i++)
	{
		gp_feature_facts inner = gp_feature_look(f->arg[i]);

		facts.has_x |= inner.has_x;
		facts.has_input |= inner.has_input;
		facts.has_op |= inner.has_op;
	}
	return facts;
}
