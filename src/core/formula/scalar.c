/*
 * scalar.c - expressions of the layer l, in a normal form.
 *
 * A sum is a number and sorted terms, a product a number and sorted factors with
 * whole exponents; like terms are merged, numbers folded, nothing is multiplied
 * out.  The normal form of what is printed is the same tree again, so that equal
 * kernels have equal bits however they were spelled.  Where a short decimal is what
 * was meant, a folded number is that: 0.7 * 0.7 is 0.49.  A number of the text is
 * never changed.
 */
#include "formula_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 4096			/* no larger expression can be printed */
#define MAX_DEPTH 256			/* nor one that is nested deeper */
#define MAX_EXPONENT 1000000
#define DIGITS 15				/* of a folded number that mean something */
#define SPARE 2					/* of them that are zeros where a short decimal was meant */

/* A scalar seen as number * factors. */
typedef struct product_view
{
	double		number;
	int			n;
	const gp_scalar *const *arg;
	const int  *exponent;
	const gp_scalar *self;		/* storage for a single factor */
	int			one;
} product_view;

/* Makes a node with room for n arguments. */
static gp_scalar *
make(gp_maker *m, gp_scalar_kind kind, int n)
{
	gp_scalar  *s = gp_arena_alloc(m->arena, sizeof(gp_scalar));

	s->kind = kind;
	s->size = 1;
	s->depth = 1;
	s->n = n;
	if (n > 0)
	{
		s->arg = gp_arena_alloc(m->arena, n * sizeof(gp_scalar *));
		s->exponent = gp_arena_alloc(m->arena, n * sizeof(int));
	}
	return s;
}

/* Counts the nodes and levels, and refuses an expression that could not be printed. */
static const gp_scalar *
finish(gp_maker *m, gp_scalar *s)
{
	int			size = 1;
	int			depth = 0;

	for (int i = 0; i < s->n; i++)
	{
		size += s->arg[i]->size;
		depth = s->arg[i]->depth > depth ? s->arg[i]->depth : depth;
	}
	if (size > MAX_SIZE || depth >= MAX_DEPTH)
		gp_raise_at(m->env, GP_ERR_SYNTAX, m->position, "Write a simpler kernel.",
					"kernel is too complex");
	s->size = size;
	s->depth = depth + 1;
	return s;
}

/* A number, which must be finite; there is no negative zero. */
const gp_scalar *
gp_scalar_number(gp_maker *m, double number)
{
	gp_scalar  *s = make(m, GP_SCALAR_NUMBER, 0);

	if (!isfinite(number))
		gp_raise_at(m->env, GP_ERR_VALUE, m->position, NULL,
					"value in kernel is not a finite number");
	s->number = number + 0.0;
	return s;
}

/* The layer l. */
const gp_scalar *
gp_scalar_layer(gp_maker *m)
{
	return make(m, GP_SCALAR_LAYER, 0);
}

/* True for this number. */
bool
gp_scalar_is(const gp_scalar *a, double number)
{
	return a->kind == GP_SCALAR_NUMBER && a->number == number;
}

/* The number with some digits, and its power of ten. */
static double
rounded(double number, int digits, int *exponent)
{
	char		buffer[64];

	snprintf(buffer, sizeof(buffer), "%.*e", digits - 1, number);
	*exponent = atoi(strchr(buffer, 'e') + 1);
	return strtod(buffer, NULL);
}

/* A folded number without the noise of binary fractions; largest is the largest number that went into it. */
static double
folded(double number, double largest)
{
	int			digits = DIGITS;
	int			exponent;
	int			highest;
	double		decimal;

	if (!isfinite(number) || !isfinite(largest) || number == rint(number))
		return number;
	decimal = rounded(number, digits, &exponent);
	if (fabs(largest) > fabs(number))
	{
		rounded(largest, digits, &highest);
		digits -= highest - exponent;
		if (digits <= SPARE)
			return number;
		decimal = rounded(number, digits, &exponent);
	}
	return rounded(number, digits - SPARE, &exponent) == decimal ? decimal : number;
}

/* a * b */
static double
times(double a, double b)
{
	return fabs(a) == 1.0 || fabs(b) == 1.0 ? a * b : folded(a * b, a * b);
}

/* a + b */
static double
plus(double a, double b)
{
	return a == 0.0 || b == 0.0 ? a + b : folded(a + b, fmax(fabs(a + b), fmax(fabs(a), fabs(b))));
}

/* ln or sqrt */
const gp_scalar *
gp_scalar_function(gp_maker *m, gp_scalar_kind kind, const gp_scalar *arg)
{
	gp_scalar  *s;

	if (arg->kind == GP_SCALAR_NUMBER)
	{
		double		value = kind == GP_SCALAR_LN ? log(arg->number) : sqrt(arg->number);

		return gp_scalar_number(m, folded(value, value));
	}
	s = make(m, kind, 1);
	s->arg[0] = arg;
	return finish(m, s);
}

/* Sees any scalar as a product. */
static void
view(const gp_scalar *a, product_view *v)
{
	v->self = a;
	v->one = 1;
	v->number = 1.0;
	v->n = 1;
	v->arg = &v->self;
	v->exponent = &v->one;
	if (a->kind == GP_SCALAR_NUMBER)
	{
		v->number = a->number;
		v->n = 0;
	}
	else if (a->kind == GP_SCALAR_PRODUCT)
	{
		v->number = a->number;
		v->n = a->n;
		v->arg = a->arg;
		v->exponent = a->exponent;
	}
}

/* The number that decides the sign as printed: of a product, or its own. */
double
gp_scalar_factor(const gp_scalar *a)
{
	return a->kind == GP_SCALAR_NUMBER || a->kind == GP_SCALAR_PRODUCT ? a->number : 1.0;
}

/* Orders what stands beside the numbers of two products. */
static int
compare_factors(const product_view *a, const product_view *b)
{
	for (int i = 0; i < a->n && i < b->n; i++)
	{
		int			order = gp_scalar_compare(a->arg[i], b->arg[i]);

		if (order != 0)
			return order;
		if (a->exponent[i] != b->exponent[i])
			return a->exponent[i] > b->exponent[i] ? -1 : 1;
	}
	return b->n - a->n;
}

/* Orders two expressions; 0 when they are the same. */
int
gp_scalar_compare(const gp_scalar *a, const gp_scalar *b)
{
	product_view x;
	product_view y;
	int			order;

	if (a == b)
		return 0;
	if (a->kind != b->kind)
		return (int) a->kind - (int) b->kind;
	x = (product_view) {.n = a->n, .arg = a->arg, .exponent = a->exponent};
	y = (product_view) {.n = b->n, .arg = b->arg, .exponent = b->exponent};
	order = compare_factors(&x, &y);
	return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* A product from sorted parts, as the simplest node that says it. */
static const gp_scalar *
make_product(gp_maker *m, double number, int n, const gp_scalar *const *arg, const int *exponent)
{
	gp_scalar  *s;

	number = gp_scalar_number(m, number)->number;
	if (n == 0 || number == 0.0)
		return gp_scalar_number(m, number);
	if (n == 1 && number == 1.0 && exponent[0] == 1)
		return arg[0];
	s = make(m, GP_SCALAR_PRODUCT, n);
	s->number = number;
	for (int i = 0; i < n; i++)
	{
		if (abs(exponent[i]) > MAX_EXPONENT)
			gp_raise_at(m->env, GP_ERR_VALUE, m->position, NULL, "exponent out of range in kernel");
		s->arg[i] = arg[i];
		s->exponent[i] = exponent[i];
	}
	return finish(m, s);
}

/* a * b: the factors of both, merged in order. */
const gp_scalar *
gp_scalar_mul(gp_maker *m, const gp_scalar *a, const gp_scalar *b)
{
	product_view x;
	product_view y;
	const gp_scalar **arg;
	int		   *exponent;
	int			n = 0;
	int			i = 0;
	int			j = 0;

	view(a, &x);
	view(b, &y);
	arg = gp_arena_alloc(m->arena, (x.n + y.n) * sizeof(gp_scalar *));
	exponent = gp_arena_alloc(m->arena, (x.n + y.n) * sizeof(int));
	while (i < x.n || j < y.n)
	{
		int			order = i == x.n ? 1 : j == y.n ? -1 :
			gp_scalar_compare(x.arg[i], y.arg[j]);

		arg[n] = order <= 0 ? x.arg[i] : y.arg[j];
		exponent[n] = (order <= 0 ? x.exponent[i] : 0) + (order >= 0 ? y.exponent[j] : 0);
		i += order <= 0;
		j += order >= 0;
		n += exponent[n] != 0;
	}
	return make_product(m, times(x.number, y.number), n, arg, exponent);
}

/* A number times a scalar. */
static const gp_scalar *
scale(gp_maker *m, const gp_scalar *a, double factor)
{
	product_view x;

	if (factor == 1.0)
		return a;
	view(a, &x);
	return make_product(m, times(x.number, factor), x.n, x.arg, x.exponent);
}

/* The same without the sign of its number, where only the square matters. */
const gp_scalar *
gp_scalar_abs(gp_maker *m, const gp_scalar *a)
{
	return gp_scalar_factor(a) < 0.0 ? scale(m, a, -1.0) : a;
}

/* A number to a whole power, by squaring: the same bits with every C library. */
static double
whole_power(double base, int exponent)
{
	double		result = 1.0;

	for (unsigned e = (unsigned) abs(exponent); e > 0; e >>= 1)
	{
		if (e & 1)
			result *= base;
		base *= base;
	}
	return result;
}

/* A number to any power. */
static double
number_power(double base, double exponent)
{
	if (exponent != floor(exponent) || fabs(exponent) > MAX_EXPONENT)
		return pow(base, exponent);
	return exponent < 0.0 ? 1.0 / whole_power(base, (int) exponent) :
		whole_power(base, (int) exponent);
}

/* The same where it is folded. */
static double
folded_power(double base, double exponent)
{
	double		power = number_power(base, exponent);

	return exponent == 1.0 ? base : folded(power, power);
}

/* A product to a whole power: every exponent is multiplied. */
static const gp_scalar *
pow_product(gp_maker *m, const gp_scalar *base, int power)
{
	product_view x;
	int		   *exponent;

	view(base, &x);
	exponent = gp_arena_alloc(m->arena, x.n * sizeof(int));
	for (int i = 0; i < x.n; i++)
	{
		int64_t		e = (int64_t) x.exponent[i] * power;

		if (e > MAX_EXPONENT || e < -MAX_EXPONENT)
			gp_raise_at(m->env, GP_ERR_VALUE, m->position, NULL, "exponent out of range in kernel");
		exponent[i] = (int) e;
	}
	return make_product(m, folded_power(x.number, power), x.n, x.arg, exponent);
}

/* base ^ e */
const gp_scalar *
gp_scalar_pow(gp_maker *m, const gp_scalar *base, const gp_scalar *e)
{
	gp_scalar  *s;

	if (e->kind == GP_SCALAR_NUMBER)
	{
		if (base->kind == GP_SCALAR_NUMBER)
			return gp_scalar_number(m, folded_power(base->number, e->number));
		if (e->number == 0.0)
			return gp_scalar_number(m, 1.0);
		if (e->number == floor(e->number) && fabs(e->number) <= MAX_EXPONENT)
			return pow_product(m, base, (int) e->number);
	}
	s = make(m, GP_SCALAR_POWER, 2);
	s->arg[0] = base;
	s->arg[1] = e;
	return finish(m, s);
}

/* a / b */
const gp_scalar *
gp_scalar_divide(gp_maker *m, const gp_scalar *a, const gp_scalar *b)
{
	double		quotient = a->number / b->number;

	if (a->kind == GP_SCALAR_NUMBER && b->kind == GP_SCALAR_NUMBER)
		return gp_scalar_number(m, fabs(b->number) == 1.0 ? quotient : folded(quotient, quotient));
	return gp_scalar_mul(m, a, gp_scalar_pow(m, b, gp_scalar_number(m, -1.0)));
}

/* A sum that is being put together. */
typedef struct sum_work
{
	double		number;
	int			n;
	int			room;
	const gp_scalar **term;
} sum_work;

static void sum_add(gp_maker *m, sum_work *w, const gp_scalar *a, double sign);

/* Puts a term into its place, or adds its number to that of a like term. */
static void
sum_insert(gp_maker *m, sum_work *w, const gp_scalar *a)
{
	product_view x;
	product_view y;
	int			at = 0;
	int			order = -1;

	view(a, &x);
	for (; at < w->n; at++)
	{
		view(w->term[at], &y);
		order = compare_factors(&x, &y);
		if (order <= 0)
			break;
	}
	if (at < w->n && order == 0)
	{
		const gp_scalar *merged = make_product(m, plus(y.number, x.number), x.n, x.arg, x.exponent);

		w->n--;
		memmove(&w->term[at], &w->term[at + 1], (w->n - at) * sizeof(w->term[0]));
		sum_add(m, w, merged, 1.0);
		return;
	}
	if (w->n == w->room)
	{
		w->room = 2 * w->room + 4;
		w->term = gp_arena_grow(m->arena, w->term, w->n, w->room, sizeof(gp_scalar *));
	}
	memmove(&w->term[at + 1], &w->term[at], (w->n - at) * sizeof(w->term[0]));
	w->term[at] = a;
	w->n++;
}

/* Adds sign * a; a sum within a sum, or its negative, is taken apart. */
static void
sum_add(gp_maker *m, sum_work *w, const gp_scalar *a, double sign)
{
	gp_check_stack(m->env);
	if (a->kind == GP_SCALAR_PRODUCT && a->n == 1 && a->exponent[0] == 1 &&
		fabs(a->number) == 1.0 && a->arg[0]->kind == GP_SCALAR_SUM)
	{
		sign *= a->number;
		a = a->arg[0];
	}
	if (a->kind == GP_SCALAR_NUMBER)
		w->number = plus(w->number, sign * a->number);
	else if (a->kind == GP_SCALAR_SUM)
	{
		w->number = plus(w->number, sign * a->number);
		for (int i = 0; i < a->n; i++)
			sum_add(m, w, a->arg[i], sign);
	}
	else
		sum_insert(m, w, scale(m, a, sign));
}

/* a + b */
const gp_scalar *
gp_scalar_add(gp_maker *m, const gp_scalar *a, const gp_scalar *b)
{
	sum_work	w = {0};
	gp_scalar  *s;

	sum_add(m, &w, a, 1.0);
	sum_add(m, &w, b, 1.0);
	w.number = gp_scalar_number(m, w.number)->number;
	if (w.n == 0)
		return gp_scalar_number(m, w.number);
	if (w.n == 1 && w.number == 0.0)
		return w.term[0];
	s = make(m, GP_SCALAR_SUM, w.n);
	s->number = w.number;
	for (int i = 0; i < w.n; i++)
	{
		s->arg[i] = w.term[i];
		s->exponent[i] = 1;
	}
	return finish(m, s);
}

/* A product's value: what stands above the line first, then what divides it. */
static double
eval_product(const gp_scalar *a, int layer)
{
	double		value = a->number;

	for (int i = 0; i < a->n; i++)
		if (a->exponent[i] > 0)
			value *= whole_power(gp_scalar_eval(a->arg[i], layer), a->exponent[i]);
	for (int i = 0; i < a->n; i++)
		if (a->exponent[i] < 0)
			value /= whole_power(gp_scalar_eval(a->arg[i], layer), a->exponent[i]);
	return value;
}

/* The value in a layer. */
double
gp_scalar_eval(const gp_scalar *a, int layer)
{
	double		value = a->number;

	switch (a->kind)
	{
		case GP_SCALAR_NUMBER:
			return a->number;
		case GP_SCALAR_LAYER:
			return layer;
		case GP_SCALAR_LN:
			return log(gp_scalar_eval(a->arg[0], layer));
		case GP_SCALAR_SQRT:
			return sqrt(gp_scalar_eval(a->arg[0], layer));
		case GP_SCALAR_POWER:
			return number_power(gp_scalar_eval(a->arg[0], layer),
								gp_scalar_eval(a->arg[1], layer));
		case GP_SCALAR_PRODUCT:
			return eval_product(a, layer);
		case GP_SCALAR_SUM:
			for (int i = 0; i < a->n; i++)
				value += gp_scalar_eval(a->arg[i], layer);
			return value;
	}
	return value;
}
