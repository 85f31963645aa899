/*
 * polynomial.c - linear operators on the nodes: polynomials in A and P(alpha).
 *
 * All of them commute, being functions of one matrix, so that a sum of monomials by falling
 * powers is a normal form.
 */
#include "formula_internal.h"

#define MAX_WORK 100000			/* products of two monomials in one kernel */

static const gp_operator one = {.nterms = 1,.term = {{.coef = 1.0}}};

/* A copy of I, to be made another operator of one term. */
static gp_operator *
copy_one(gp_layer *t)
{
	return memcpy(gp_arena_alloc(t->arena, sizeof(one)), &one, sizeof(one));
}

const gp_operator *
gp_operator_a(gp_layer *t)
{
	gp_operator *op = copy_one(t);

	op->term[0].power_a = 1;
	return op;
}

const gp_operator *
gp_operator_p(gp_layer *t, double alpha)
{
	if (alpha == 1.0)
		return NULL;
	gp_operator *op = copy_one(t);
	op->np = 1;
	op->p_alpha[0] = alpha;
	op->term[0].power_p[0] = 1;
	return op;
}

/* Orders the powers of two monomials: higher ones first. */
static int
compare_powers(const gp_monomial *a, const gp_monomial *b)
{
	if (a->power_a != b->power_a)
		return b->power_a - a->power_a;
	for (int i = 0; i < GP_MAX_P; i++)
		if (a->power_p[i] != b->power_p[i])
			return b->power_p[i] - a->power_p[i];
	return 0;
}

int
gp_operator_compare(const gp_operator *a, const gp_operator *b)
{
	int			order;

	if (a == b)
		return 0;
	if (a == NULL || b == NULL)
		return a == NULL ? 1 : -1;
	for (int i = 0; i < a->nterms && i < b->nterms; i++)
		if ((order = compare_powers(&a->term[i], &b->term[i])) != 0)
			return order;
	if (a->nterms != b->nterms)
		return b->nterms - a->nterms;
	if (a->np != b->np)
		return a->np - b->np;
	for (int i = 0; i < a->np; i++)
		if ((order = gp_number_compare(a->p_alpha[i], b->p_alpha[i])) != 0)
			return order;
	for (int i = 0; i < a->nterms; i++)
		if ((order = gp_number_compare(a->term[i].coef, b->term[i].coef)) != 0)
			return order;
	return 0;
}

/* Adds the alphas of an operator to those of op, in ascending order. */
static void
merge_alphas(gp_layer *t, gp_operator *op, const gp_operator *from)
{
	for (int i = 0; i < from->np; i++)
	{
		int			at = 0;

		while (at < op->np && op->p_alpha[at] < from->p_alpha[i])
			at++;
		if (at < op->np && op->p_alpha[at] == from->p_alpha[i])
			continue;
		if (op->np == GP_MAX_P)
			gp_raise_at(t->env, GP_ERR_VALUE, t->position, NULL,
						"operator in kernel has more than %d different P(a)", GP_MAX_P);
		memmove(&op->p_alpha[at + 1], &op->p_alpha[at], (op->np - at) * sizeof(double));
		op->p_alpha[at] = from->p_alpha[i];
		op->np++;
	}
}

/* Multiplies a monomial, in the alphas of op, by one of another operator. */
static void
multiply_powers(gp_layer *t, const gp_operator *op, gp_monomial *term, const gp_operator *from,
				const gp_monomial *by)
{
	int			most = term->power_a += by->power_a;
	for (int i = 0; i < from->np; i++)
		for (int at = 0; at < op->np; at++)
			if (op->p_alpha[at] == from->p_alpha[i])
			{
				term->power_p[at] += by->power_p[i];
				most = term->power_p[at] > most ? term->power_p[at] : most;
			}
	if (most > GP_MAX_POWER)
		gp_raise_at(t->env, GP_ERR_VALUE, t->position, NULL,
					"power of an operator in kernel is larger than %d", GP_MAX_POWER);
}

/* Adds a monomial, or its coefficient to the one with the same powers. */
static void
add_monomial(gp_layer *t, gp_operator *op, const gp_monomial *term)
{
	int			at = 0;
	int			order = -1;

	while (at < op->nterms && (order = compare_powers(term, &op->term[at])) > 0)
		at++;
	if (at < op->nterms && order == 0)
	{
		op->term[at].coef += term->coef;
		if (op->term[at].coef == 0.0)
			memmove(&op->term[at], &op->term[at + 1], (--op->nterms - at) * sizeof(gp_monomial));
		return;
	}
	if (term->coef == 0.0)
		return;
	if (op->nterms == GP_MAX_TERMS)
		gp_raise_at(t->env, GP_ERR_VALUE, t->position, NULL,
					"operator in kernel has more than %d terms", GP_MAX_TERMS);
	memmove(&op->term[at + 1], &op->term[at], (op->nterms - at) * sizeof(gp_monomial));
	op->term[at] = *term;
	op->nterms++;
}

/* Adds number * a * b to op, whose alphas include theirs. */
static void
add_product(gp_layer *t, gp_operator *op, double number, const gp_operator *a,
			const gp_operator *b)
{
	t->work += a->nterms * b->nterms;
	if (t->work > MAX_WORK)
		gp_raise_at(t->env, GP_ERR_SYNTAX, t->position, "Write a simpler kernel.",
					"kernel is too complex");
	for (int i = 0; i < a->nterms; i++)
		for (int j = 0; j < b->nterms; j++)
		{
			gp_monomial term = {.coef = number * (a->term[i].coef * b->term[j].coef) + 0.0};

			multiply_powers(t, op, &term, a, &a->term[i]);
			multiply_powers(t, op, &term, b, &b->term[j]);
			add_monomial(t, op, &term);
		}
}

/* Forgets alphas that no monomial has any more; NULL for I. */
static const gp_operator *
finish(gp_operator *op)
{
	for (int i = op->np - 1; i >= 0; i--)
	{
		int			uses = 0;

		for (int t = 0; t < op->nterms; t++)
			uses += op->term[t].power_p[i];
		if (uses > 0)
			continue;
		op->np--;
		memmove(&op->p_alpha[i], &op->p_alpha[i + 1], (op->np - i) * sizeof(double));
		op->p_alpha[op->np] = 0.0;
		for (int t = 0; t < op->nterms; t++)
		{
			memmove(&op->term[t].power_p[i], &op->term[t].power_p[i + 1],
					(GP_MAX_P - 1 - i) * sizeof(int));
			op->term[t].power_p[GP_MAX_P - 1] = 0;
		}
	}
	return gp_operator_compare(op, &one) == 0 ? NULL : op;
}

const gp_operator *
gp_operator_add(gp_layer *t, double x, const gp_operator *a, double y, const gp_operator *b)
{
	gp_operator *sum = gp_arena_alloc(t->arena, sizeof(gp_operator));

	a = a == NULL ? &one : a;
	b = b == NULL ? &one : b;
	merge_alphas(t, sum, a);
	merge_alphas(t, sum, b);
	add_product(t, sum, x, a, &one);
	add_product(t, sum, y, b, &one);
	return finish(sum);
}

const gp_operator *
gp_operator_multiply(gp_layer *t, double x, const gp_operator *a, const gp_operator *b)
{
	gp_operator *product = gp_arena_alloc(t->arena, sizeof(gp_operator));

	t->env->check_interrupts(t->env);
	a = a == NULL ? &one : a;
	b = b == NULL ? &one : b;
	merge_alphas(t, product, a);
	merge_alphas(t, product, b);
	add_product(t, product, x, a, b);
	return finish(product);
}
