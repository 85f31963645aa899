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
	gp_value	v = {.kind = kind,.position = position,.number = gp_number_make(1.0)};

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
gp_value_feature(gp_layer *t, int position, gp_atom_kind kind, int atom, unsigned sources,
				 bool mean)
{
	gp_value   *v = gp_value_make(t, VALUE_FEATURE, position);

	v->kind_of_atom = kind;
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

/* A term with all its numbers put together, for sums. */
typedef struct term
{
	const gp_steps *steps;
	gp_atom_kind	kind;
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
normal_term(gp_layer *t, const gp_value *f)
{
	term		out = {t->steps, f->kind_of_atom, f->atom, f->op, 0.0, f->position};
	gp_number	factor = f->number;

	t->position = f->position;
	if (f->op != NULL && f->op->nterms > 1)
	{
		factor.value = f->op->term[0].coef < 0.0 ? -fabs(factor.value) : fabs(factor.value);
		out.op = factor.value == 1.0 ? f->op : gp_operator_multiply(t, factor.value, f->op, NULL);
		factor = gp_number_make(1.0);
	}
	if (out.op != NULL && out.op->nterms == 0)
		out.atom = GP_ZERO;
	if (out.op != NULL && out.op->nterms == 1)
	{
		double		coef = out.op->term[0].coef;

		factor.value *= coef;
		if (out.op->term[0].power_a == 0 && out.op->np == 0)
			out.op = NULL;
		else if (coef != 1.0)
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
	out.value = gp_value_finite(t, out.value, f->position);
	return out;
}

/* Orders terms: biases come last, operators first. */
static int
compare_terms(const void *x, const void *y, void *unused)
{
	const term *a = x;
	const term *b = y;
	int			order = (a->kind == ATOM_BIAS) - (b->kind == ATOM_BIAS);

	order = order != 0 ? order : gp_operator_compare(a->op, b->op);
	order = order != 0 ? order : (int) a->kind - (int) b->kind;
	order = order != 0 ? order : gp_steps_compare(a->steps, a->atom, b->atom);
	return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

int
gp_value_step(gp_layer *t, const gp_value *f)
{
	int			n = f->nterms > 0 ? f->nterms : 1;
	int			kept = 0;
	int			sum = GP_ZERO;

	if (f->atom == GP_ZERO && f->nterms == 0)
		return GP_ZERO;
	term	   *terms = gp_arena_alloc(t->arena, n * sizeof(term));
	for (int i = 0; i < n; i++)
	{
		terms[kept] = normal_term(t, f->nterms > 0 ? f->term[i] : f);
		kept += terms[kept].atom != GP_ZERO;
	}
	gp_sort(t->env, terms, kept, sizeof(term), compare_terms, NULL);
	for (int i = 0; i < kept; i++)
	{
		int			step = terms[i].op != NULL ? gp_step_op(t->steps, terms[i].op, terms[i].atom) :
			terms[i].atom;

		step = gp_step_scale(t->steps, terms[i].value, step);
		gp_value_finite(t, gp_step_value(t->steps, step), terms[i].position);
		sum = gp_step_sum(t->steps, sum, step);
		gp_value_finite(t, gp_step_value(t->steps, sum), f->position);
	}
	return sum;
}

gp_value *
gp_value_factor(gp_layer *t, const gp_value *f)
{
	if (f->nterms == 0)
		return gp_value_copy(t, f);
	return gp_value_feature(t, f->position, ATOM_SUM, gp_value_step(t, f), f->sources, f->mean);
}

/* ---- weights ---- */

const gp_value *
gp_value_weight(gp_layer *t, double sigma, int position)
{
	gp_value   *v = gp_value_make(t, VALUE_WEIGHT, position);
	gp_weight   *w = gp_arena_alloc(t->arena, sizeof(gp_weight));
	gp_weight_part *part = gp_arena_alloc(t->arena, sizeof(gp_weight_part));

	*part = (gp_weight_part) {gp_number_make(1.0), sigma};
	*w = (gp_weight) {.n = 1,.part = part};
	v->nweights = 1;
	v->weight = w;
	return v;
}

const gp_value *
gp_value_add_weights(gp_layer *t, const gp_value *a, const gp_value *b, int position)
{
	const gp_value *side[2] = {a, b};
	gp_value   *v = gp_value_make(t, VALUE_WEIGHT, position);
	gp_weight   *w = gp_arena_alloc(t->arena, sizeof(gp_weight));
	int			room = 0;

	if (a->nweights > 1 || b->nweights > 1)
		gp_value_refuse(t, position, "Write (0.5*I + 0.5*W).",
			"a mixed weight in kernel must be a sum of multiples of I and W");
	for (int i = 0; i < 2; i++)
		room += side[i]->nweights > 0 ? side[i]->weight->n : 0;
	gp_weight_part *part = gp_arena_alloc(t->arena, room * sizeof(gp_weight_part));
	for (int i = 0; i < 2; i++)
	{
		const gp_weight *from = side[i]->nweights > 0 ? side[i]->weight : NULL;
		gp_number	number = side[i]->number;

		if (from == NULL || from->has_id)
		{
			gp_number	id = from != NULL ? gp_number_multiply(number, from->id) : number;

			w->id = w->has_id ? gp_number_add(w->id, id) : id;
			w->has_id = true;
		}
		for (int k = 0; from != NULL && k < from->n; k++)
			part[w->n++] = (gp_weight_part) {gp_number_multiply(number, from->part[k].coef),
			from->part[k].sigma};
	}
	w->part = part;
	v->nweights = 1;
	v->weight = w;
	return v;
}

void
gp_value_apply_weight(gp_layer *t, gp_value *f, const gp_weight *w)
{
	double	   *part = gp_arena_alloc(t->arena, (w->n + 1) * sizeof(double));
	gp_variance *list = gp_arena_alloc(t->arena, (f->nvariances + 1) * sizeof(gp_variance));
	bool		mixed = w->has_id && w->id.value != 0.0;
	gp_variance	v = {mixed, mixed ? w->id.value * w->id.value : 0.0};
	const gp_weight_part *last = NULL;
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
	/* Plain weights stand before mixed ones, by their values. */
	for (at = f->nvariances; at > 0; at--)
	{
		const gp_variance *before = &f->variance[at - 1];

		if (v.mixed != before->mixed ? v.mixed : v.value >= before->value)
			break;
		list[at] = *before;
	}
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
