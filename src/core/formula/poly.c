/*
 * poly.c - linear operators on the nodes: polynomials in A and P(alpha).
 *
 * All of them commute, being functions of one matrix, so that a sum of monomials
 * by falling powers is a normal form.  Coefficients and alphas may depend on l.
 */
#include "formula_internal.h"

#include <string.h>

/* Makes a polynomial of nothing. */
static gp_poly *
make_zero(gp_maker *m)
{
	return gp_arena_alloc(m->arena, sizeof(gp_poly));
}

/* coef * I, to be changed. */
static gp_poly *
make_identity(gp_maker *m, const gp_scalar *coef)
{
	gp_poly    *p = make_zero(m);

	if (!gp_scalar_is(coef, 0.0))
	{
		p->n = 1;
		p->term[0].coef = coef;
	}
	return p;
}

/* coef * I */
const gp_poly *
gp_poly_identity(gp_maker *m, const gp_scalar *coef)
{
	return make_identity(m, coef);
}

/* A */
const gp_poly *
gp_poly_a(gp_maker *m)
{
	gp_poly    *p = make_identity(m, gp_scalar_number(m, 1.0));

	p->term[0].power_a = 1;
	return p;
}

/* P(alpha); P(1) is I. */
const gp_poly *
gp_poly_p(gp_maker *m, const gp_scalar *alpha)
{
	gp_poly    *p = make_identity(m, gp_scalar_number(m, 1.0));

	if (gp_scalar_is(alpha, 1.0))
		return p;
	p->np = 1;
	p->alpha[0] = alpha;
	p->term[0].power_p[0] = 1;
	return p;
}

/* True for a term that is a number times I. */
bool
gp_poly_term_is_identity(const gp_poly_term *term)
{
	for (int i = 0; i < GP_MAX_P; i++)
		if (term->power_p[i] > 0)
			return false;
	return term->power_a == 0;
}

/* Orders the powers of two monomials: higher ones first. */
int
gp_poly_compare_powers(int a, const int *a_p, int b, const int *b_p)
{
	for (int i = 0; a == b && i < GP_MAX_P; i++)
		if (a_p[i] != b_p[i])
			return b_p[i] - a_p[i];
	return b - a;
}

/* Orders two monomials. */
static int
compare_powers(const gp_poly_term *a, const gp_poly_term *b)
{
	return gp_poly_compare_powers(a->power_a, a->power_p, b->power_a, b->power_p);
}

/* Puts a monomial into its place, or adds it to the one with the same powers. */
static void
insert_term(gp_maker *m, gp_poly *p, const gp_poly_term *term)
{
	int			at = 0;
	int			order = -1;

	if (gp_scalar_is(term->coef, 0.0))
		return;
	while (at < p->n && (order = compare_powers(term, &p->term[at])) > 0)
		at++;
	if (at < p->n && order == 0)
	{
		p->term[at].coef = gp_scalar_add(m, p->term[at].coef, term->coef);
		if (gp_scalar_is(p->term[at].coef, 0.0))
		{
			p->n--;
			memmove(&p->term[at], &p->term[at + 1], (p->n - at) * sizeof(gp_poly_term));
		}
		return;
	}
	if (p->n == GP_MAX_TERMS)
		gp_raise_at(m->env, GP_ERR_VALUE, m->position, NULL,
					"operator in kernel has more than %d terms", GP_MAX_TERMS);
	memmove(&p->term[at + 1], &p->term[at], (p->n - at) * sizeof(gp_poly_term));
	p->term[at] = *term;
	p->n++;
}

/* Adds the alphas of b to those of p, in order. */
static void
merge_alphas(gp_maker *m, gp_poly *p, const gp_poly *b)
{
	for (int i = 0; i < b->np; i++)
	{
		int			at = 0;
		int			order = -1;

		while (at < p->np && (order = gp_scalar_compare(b->alpha[i], p->alpha[at])) > 0)
			at++;
		if (at < p->np && order == 0)
			continue;
		if (p->np == GP_MAX_P)
			gp_raise_at(m->env, GP_ERR_VALUE, m->position, NULL,
						"operator in kernel has more than %d different P(a)", GP_MAX_P);
		memmove(&p->alpha[at + 1], &p->alpha[at], (p->np - at) * sizeof(p->alpha[0]));
		p->alpha[at] = b->alpha[i];
		p->np++;
	}
}

/* A monomial of b in the alphas of p, which has them all. */
static gp_poly_term
translate(const gp_poly *p, const gp_poly *b, int index)
{
	gp_poly_term term = b->term[index];

	memset(term.power_p, 0, sizeof(term.power_p));
	for (int i = 0; i < b->np; i++)
		for (int at = 0; at < p->np; at++)
			if (gp_scalar_compare(b->alpha[i], p->alpha[at]) == 0)
				term.power_p[at] = b->term[index].power_p[i];
	return term;
}

/* Forgets alphas that no term uses any more. */
static const gp_poly *
finish(gp_poly *p)
{
	for (int i = p->np - 1; i >= 0; i--)
	{
		int			uses = 0;

		for (int t = 0; t < p->n; t++)
			uses += p->term[t].power_p[i];
		if (uses > 0)
			continue;
		p->np--;
		memmove(&p->alpha[i], &p->alpha[i + 1], (p->np - i) * sizeof(p->alpha[0]));
		for (int t = 0; t < p->n; t++)
		{
			memmove(&p->term[t].power_p[i], &p->term[t].power_p[i + 1],
					(GP_MAX_P - 1 - i) * sizeof(int));
			p->term[t].power_p[GP_MAX_P - 1] = 0;
		}
	}
	return p;
}

/* a + b */
const gp_poly *
gp_poly_add(gp_maker *m, const gp_poly *a, const gp_poly *b)
{
	gp_poly    *p = make_zero(m);

	merge_alphas(m, p, a);
	merge_alphas(m, p, b);
	for (int side = 0; side < 2; side++)
	{
		const gp_poly *from = side == 0 ? a : b;

		for (int i = 0; i < from->n; i++)
		{
			gp_poly_term term = translate(p, from, i);

			insert_term(m, p, &term);
		}
	}
	return finish(p);
}

/* The sum of two powers, which must stay one that can be written. */
static int
add_powers(gp_maker *m, int a, int b)
{
	if (a + b > GP_MAX_POWER)
		gp_raise_at(m->env, GP_ERR_VALUE, m->position, NULL,
					"power of an operator in kernel is larger than %d", GP_MAX_POWER);
	return a + b;
}

/* a * b */
const gp_poly *
gp_poly_mul(gp_maker *m, const gp_poly *a, const gp_poly *b)
{
	gp_poly    *p = make_zero(m);

	m->env->check_interrupts(m->env);
	merge_alphas(m, p, a);
	merge_alphas(m, p, b);
	for (int i = 0; i < a->n; i++)
		for (int j = 0; j < b->n; j++)
		{
			gp_poly_term term = translate(p, a, i);
			gp_poly_term other = translate(p, b, j);

			term.power_a = add_powers(m, term.power_a, other.power_a);
			for (int k = 0; k < p->np; k++)
				term.power_p[k] = add_powers(m, term.power_p[k], other.power_p[k]);
			term.coef = gp_scalar_mul(m, term.coef, other.coef);
			insert_term(m, p, &term);
		}
	return finish(p);
}

/* A scalar times a polynomial. */
const gp_poly *
gp_poly_scale(gp_maker *m, const gp_poly *a, const gp_scalar *factor)
{
	return gp_scalar_is(factor, 1.0) ? a : gp_poly_mul(m, a, gp_poly_identity(m, factor));
}

/* a ^ power */
const gp_poly *
gp_poly_pow(gp_maker *m, const gp_poly *a, int power)
{
	const gp_poly *result = gp_poly_identity(m, gp_scalar_number(m, 1.0));

	for (int i = 0; i < power; i++)
		result = gp_poly_mul(m, result, a);
	return result;
}

/* Orders two operators, higher powers first; 0 when they are the same. */
int
gp_poly_compare(const gp_poly *a, const gp_poly *b)
{
	int			order;

	for (int i = 0; i < a->n && i < b->n; i++)
		if ((order = compare_powers(&a->term[i], &b->term[i])) != 0)
			return order;
	if (a->n != b->n)
		return b->n - a->n;
	if (a->np != b->np)
		return a->np - b->np;
	for (int i = 0; i < a->np; i++)
		if ((order = gp_scalar_compare(a->alpha[i], b->alpha[i])) != 0)
			return order;
	for (int i = 0; i < a->n; i++)
		if ((order = gp_scalar_compare(a->term[i].coef, b->term[i].coef)) != 0)
			return order;
	return 0;
}
