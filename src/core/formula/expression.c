/*
 * expression.c - features as steps of the program, and weights that act on them.
 */
#include "expression.h"

#include "base/sort.h"

const char *
gp_value_name(const gp_value *v)
{
	static const char *const names[] = {
		"a number", "a multiple of I", "an operator", "a weight", "a feature"
	};

	return names[v->kind];
}

void
gp_value_refuse(gp_layer *t, int position, const char *hint, const char *message)
{
	gp_raise_at(t->env, GP_ERR_SYNTAX, position, hint, "%s", message);
}

gp_value *
gp_value_copy(gp_layer *t, const gp_value *from)
{
	gp_value   *v = gp_arena_alloc(t->arena, sizeof(gp_value));

	*v = *from;
	return v;
}

gp_value *
gp_value_make(gp_layer *t, gp_value_kind kind, int position)
{
	gp_value	v = {.kind = kind,.position = position,.number = gp_number_make(1.0),
	.id = kind == VALUE_IDENTITY,.variance = kind == VALUE_FEATURE};

	return gp_value_copy(t, &v);
}

const gp_value *
gp_value_number(gp_layer *t, gp_number number, int position, const char *message)
{
	if (!isfinite(number.value) && number.varies)
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s in layer %d", message, t->layer);
	if (!isfinite(number.value))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL, "%s", message);
	gp_value   *v = gp_value_make(t, VALUE_SCALAR, position);
	v->number = number;
	return v;
}

gp_value *
gp_value_feature(gp_layer *t, int position, int atom, unsigned sources, bool mean)
{
	gp_value   *v = gp_value_make(t, VALUE_FEATURE, position);

	v->atom = atom;
	v->sources = atom == GP_ZERO ? 0 : sources;
	v->mean = mean && atom != GP_ZERO;
	return v;
}

/* ---- features as steps ---- */

double
gp_value_finite(gp_layer *t, double value, int position)
{
	if (!isfinite(value))
		gp_raise_at(t->env, GP_ERR_VALUE, position, NULL,
					"variance of kernel is not finite in layer %d", t->layer);
	return value;
}

/*
 * The step of one term.  The number of a single monomial stands outside of its operator, that of
 * several inside, whose sign does not matter.
 */
static int
term_step(gp_layer *t, const gp_value *f)
{
	const gp_operator *op = f->op;
	double		factor = f->number.value;

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
	int			step = gp_step_scale(t->steps,
									 gp_value_finite(t, factor * factor * f->variance, f->position),
									 op != NULL ? gp_step_op(t->steps, op, f->atom) : f->atom);
	gp_value_finite(t, gp_step_value(t->steps, step), f->position);
	return step;
}

static int
compare_terms(const void *x, const void *y, void *steps)
{
	return gp_steps_compare(steps, *(const int *) x, *(const int *) y);
}

int
gp_value_step(gp_layer *t, const gp_value *f)
{
	int			n = f->nterms > 0 ? f->nterms : f->atom != GP_ZERO;
	int		   *terms = gp_arena_alloc(t->arena, (n + 1) * sizeof(int));
	int			kept = 0;
	int			sum = GP_ZERO;

	for (int i = 0; i < n; i++)
	{
		terms[kept] = term_step(t, f->nterms > 0 ? f->term[i] : f);
		kept += terms[kept] != GP_ZERO;
	}
	gp_sort(t->env, terms, kept, sizeof(int), compare_terms, t->steps);
	for (int i = 0; i < kept; i++)
	{
		sum = gp_step_sum(t->steps, sum, terms[i]);
		gp_value_finite(t, gp_step_value(t->steps, sum), f->position);
	}
	return sum;
}

gp_value *
gp_value_factor(gp_layer *t, const gp_value *f)
{
	if (f->nterms == 0)
		return gp_value_copy(t, f);
	return gp_value_feature(t, f->position, gp_value_step(t, f), f->sources, f->mean);
}

/* ---- weights ---- */

const gp_value *
gp_value_weight(gp_layer *t, double sigma, int position)
{
	gp_value   *v = gp_value_make(t, VALUE_WEIGHT, position);

	v->variance = sigma * sigma;
	v->fresh = sigma > 0.0;
	return v;
}

const gp_value *
gp_value_add_weights(gp_layer *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value   *v = gp_value_make(t, VALUE_WEIGHT, position);

	if (a->weighted || b->weighted)
		gp_value_refuse(t, position, "Write (0.5*I + 0.5*W).",
			"a mixed weight in kernel must be a sum of multiples of I and W");
	v->id = a->number.value * a->id + b->number.value * b->id;
	v->variance = a->number.value * a->number.value * a->variance +
		b->number.value * b->number.value * b->variance;
	v->fresh = v->id == 0.0 && v->variance > 0.0;
	return v;
}

void
gp_value_apply_weight(gp_value *v, const gp_value *w)
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
