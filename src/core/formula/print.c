/*
 * print.c - canonical trees as text.
 *
 * What is printed reads back as the same tree: numbers with as many digits as
 * that takes, products and sums in the order of the normal forms.
 */
#include "formula_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for more bytes and a terminator. */
static void
reserve(gp_text *text, size_t more)
{
	size_t		room = text->room > 0 ? text->room : 128;

	while (room < text->length + more + 1)
		room *= 2;
	if (room == text->room)
		return;
	text->data = gp_arena_grow(text->arena, text->data, (int) text->length, (int) room, 1);
	text->room = room;
}

/* Adds formatted text. */
void
gp_text_add(gp_text *text, const char *format,...)
{
	va_list		args;
	int			length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	reserve(text, (size_t) length);
	va_start(args, format);
	vsnprintf(text->data + text->length, (size_t) length + 1, format, args);
	va_end(args);
	text->length += (size_t) length;
}

/* The shortest of 15, 16 and 17 digits that reads back as the same number. */
void
gp_text_number(gp_text *text, double number)
{
	char		buffer[64];

	for (int digits = 15; digits <= 17; digits++)
	{
		snprintf(buffer, sizeof(buffer), "%.*g", digits, number);
		if (strtod(buffer, NULL) == number)
			break;
	}
	gp_text_add(text, "%s", buffer);
}

/* ---- scalars ---- */

/* True where no parentheses are needed around a base or an exponent. */
static bool
is_simple(const gp_scalar *a)
{
	return a->kind == GP_SCALAR_LAYER || a->kind == GP_SCALAR_LN || a->kind == GP_SCALAR_SQRT ||
		(a->kind == GP_SCALAR_NUMBER && a->number >= 0.0);
}

/* A scalar, in parentheses unless it is simple. */
static void
print_simple(gp_text *text, const gp_scalar *a)
{
	if (!is_simple(a))
		gp_text_add(text, "(");
	gp_text_scalar(text, a);
	if (!is_simple(a))
		gp_text_add(text, ")");
}

/* A factor of a product, with a whole exponent >= 1. */
static void
print_factor(gp_text *text, const gp_scalar *a, int exponent)
{
	if (a->kind == GP_SCALAR_POWER && exponent == 1)
		gp_text_scalar(text, a);
	else
		print_simple(text, a);
	if (exponent != 1)
		gp_text_add(text, "^%d", exponent);
}

/* The factors of a product after a number, which may be 1. */
static void
print_factors(gp_text *text, double number, int n, const gp_scalar *const *arg, const int *exponent)
{
	bool		first = true;

	if (number != 1.0)
	{
		gp_text_number(text, number);
		first = false;
	}
	for (int i = 0; i < n; i++)
		if (exponent[i] > 0)
		{
			gp_text_add(text, first ? "" : "*");
			print_factor(text, arg[i], exponent[i]);
			first = false;
		}
	if (first)
		gp_text_add(text, "1");
	for (int i = 0; i < n; i++)
		if (exponent[i] < 0)
		{
			gp_text_add(text, "/");
			print_factor(text, arg[i], -exponent[i]);
		}
}

/* |a|, as a factor of a longer product. */
static void
print_magnitude(gp_text *text, const gp_scalar *a)
{
	int			one = 1;

	if (a->kind == GP_SCALAR_PRODUCT)
		print_factors(text, fabs(a->number), a->n, a->arg, a->exponent);
	else if (a->kind == GP_SCALAR_NUMBER)
		gp_text_number(text, fabs(a->number));
	else
		print_factors(text, 1.0, 1, &a, &one);
}

/* |a|, as a term of a sum: a sum there never stands alone. */
static void
print_signed(gp_text *text, const gp_scalar *a, bool first)
{
	bool		minus = gp_scalar_factor(a) < 0.0;

	if (first)
		gp_text_add(text, minus ? "-" : "");
	else
		gp_text_add(text, minus ? " - " : " + ");
	print_magnitude(text, a);
}

/* A sum: the number comes last, unless that would begin with a minus. */
static void
print_sum(gp_text *text, const gp_scalar *a)
{
	bool		ahead = a->number > 0.0 && gp_scalar_factor(a->arg[0]) < 0.0;

	if (ahead)
		gp_text_number(text, a->number);
	for (int i = 0; i < a->n; i++)
		print_signed(text, a->arg[i], i == 0 && !ahead);
	if (ahead || a->number == 0.0)
		return;
	gp_text_add(text, a->number < 0.0 ? " - " : " + ");
	gp_text_number(text, fabs(a->number));
}

/* A scalar by itself. */
void
gp_text_scalar(gp_text *text, const gp_scalar *a)
{
	gp_check_stack(gp_arena_env(text->arena));
	switch (a->kind)
	{
		case GP_SCALAR_NUMBER:
			gp_text_number(text, a->number);
			break;
		case GP_SCALAR_LAYER:
			gp_text_add(text, "l");
			break;
		case GP_SCALAR_LN:
		case GP_SCALAR_SQRT:
			gp_text_add(text, a->kind == GP_SCALAR_LN ? "ln(" : "sqrt(");
			gp_text_scalar(text, a->arg[0]);
			gp_text_add(text, ")");
			break;
		case GP_SCALAR_POWER:
			print_simple(text, a->arg[0]);
			gp_text_add(text, "^");
			print_simple(text, a->arg[1]);
			break;
		case GP_SCALAR_PRODUCT:
			print_signed(text, a, true);
			break;
		case GP_SCALAR_SUM:
			print_sum(text, a);
			break;
	}
}

/* "a*", or nothing for 1. */
static void
print_coef(gp_text *text, const gp_scalar *a)
{
	if (gp_scalar_is(a, 1.0) || gp_scalar_is(a, -1.0))
		return;
	print_magnitude(text, a);
	gp_text_add(text, "*");
}

/* ---- operators ---- */

/* A power, or nothing for the first. */
static void
print_power(gp_text *text, int power)
{
	if (power > 1)
		gp_text_add(text, "^%d", power);
}

/* A monomial without its number. */
static void
print_monomial(gp_text *text, const gp_poly *op, const gp_poly_term *term)
{
	bool		first = true;

	if (gp_poly_term_is_identity(term))
		gp_text_add(text, "I");
	if (term->power_a > 0)
	{
		gp_text_add(text, "A");
		print_power(text, term->power_a);
		first = false;
	}
	for (int i = 0; i < op->np; i++)
		if (term->power_p[i] > 0)
		{
			gp_text_add(text, first ? "P(" : "*P(");
			gp_text_scalar(text, op->alpha[i]);
			gp_text_add(text, ")");
			print_power(text, term->power_p[i]);
			first = false;
		}
}

/* An operator, in parentheses when it is a sum. */
static void
print_operator(gp_text *text, const gp_poly *op)
{
	if (op->n > 1)
		gp_text_add(text, "(");
	for (int i = 0; i < op->n; i++)
	{
		bool		minus = gp_scalar_factor(op->term[i].coef) < 0.0;

		if (i == 0)
			gp_text_add(text, minus ? "-" : "");
		else
			gp_text_add(text, minus ? " - " : " + ");
		print_coef(text, op->term[i].coef);
		print_monomial(text, op, &op->term[i]);
	}
	if (op->n > 1)
		gp_text_add(text, ")");
}

/* ---- names of weights and biases ---- */

/* Adds a sigma to a sorted list, unless it is there. */
static void
add_sigma(gp_sigmas *list, const gp_scalar *sigma)
{
	int			at = 0;
	int			order = -1;

	while (at < list->n && (order = gp_scalar_compare(sigma, list->sigma[at])) > 0)
		at++;
	if ((at < list->n && order == 0) || list->n == GP_MAX_SIGMAS)
		return;
	memmove(&list->sigma[at + 1], &list->sigma[at], (list->n - at) * sizeof(list->sigma[0]));
	list->sigma[at] = sigma;
	list->n++;
}

/* Collects the distinct sigmas of a tree; names starts empty. */
void
gp_names_collect(gp_names *names, const gp_feature *f)
{
	if (f->kind == GP_FEATURE_BIAS)
		add_sigma(&names->b, f->sigma);
	for (int i = 0; f->weight != NULL && i < f->weight->n; i++)
		for (int j = 0; j < f->weight->mix[i]->n; j++)
			add_sigma(&names->w, f->weight->mix[i]->sigma[j]);
	for (int i = 0; i < f->n; i++)
		gp_names_collect(names, f->arg[i]);
}

/* The number behind a letter: 0 for the only one, and for a W of sigma 1. */
static int
sigma_index(const gp_sigmas *list, const gp_scalar *sigma, bool weight)
{
	int			index = 0;

	if (list->n == 1 || (weight && gp_scalar_is(sigma, 1.0)))
		return 0;
	for (int i = 0; i < list->n; i++)
	{
		index += !(weight && gp_scalar_is(list->sigma[i], 1.0));
		if (gp_scalar_compare(list->sigma[i], sigma) == 0)
			break;
	}
	return index;
}

/* W, W1, b, b2 ... */
static void
print_name(gp_text *text, const gp_sigmas *list, const gp_scalar *sigma, char letter)
{
	int			index = sigma_index(list, sigma, letter == 'W');

	if (index == 0)
		gp_text_add(text, "%c", letter);
	else
		gp_text_add(text, "%c%d", letter, index);
}

/* The options that give one letter's sigmas. */
static void
print_sigmas(gp_text *text, const gp_sigmas *list, bool weight)
{
	for (int i = 0; i < list->n; i++)
	{
		int			index = sigma_index(list, list->sigma[i], weight);

		if (weight && gp_scalar_is(list->sigma[i], 1.0))
			continue;
		gp_text_add(text, ", sigma_%c", weight ? 'w' : 'b');
		if (index > 0)
			gp_text_add(text, "%d", index);
		gp_text_add(text, "=");
		gp_text_scalar(text, list->sigma[i]);
	}
}

/* The options sigma_w, sigma_w1, sigma_b ... */
void
gp_text_sigmas(gp_text *text, const gp_names *names)
{
	print_sigmas(text, &names->w, true);
	print_sigmas(text, &names->b, false);
}

/* ---- features ---- */

/* W, or (a*I + b*W). */
static void
print_mix(gp_text *text, const gp_names *names, const gp_mix *mix)
{
	bool		first = mix->id == NULL;
	bool		plain = first && mix->n == 1;

	gp_text_add(text, plain ? "" : "(");
	if (mix->id != NULL)
	{
		print_coef(text, mix->id);
		gp_text_add(text, "I");
	}
	for (int i = 0; i < mix->n; i++)
	{
		gp_text_add(text, first ? "" : " + ");
		print_coef(text, mix->coef[i]);
		print_name(text, &names->w, mix->sigma[i], 'W');
		first = false;
	}
	gp_text_add(text, plain ? "" : ")");
}

/* A term: number, operator, feature, weights. */
static void
print_term(gp_text *text, const gp_names *names, const gp_feature *f)
{
	bool		sum = f->arg[0]->kind == GP_FEATURE_SUM;

	print_coef(text, f->coef);
	if (f->op != NULL)
	{
		print_operator(text, f->op);
		gp_text_add(text, "*");
	}
	gp_text_add(text, sum ? "(" : "");
	gp_text_feature(text, names, f->arg[0]);
	gp_text_add(text, sum ? ")" : "");
	for (int i = 0; i < f->weight->n; i++)
	{
		gp_text_add(text, "*");
		print_mix(text, names, f->weight->mix[i]);
	}
}

/* A feature. */
void
gp_text_feature(gp_text *text, const gp_names *names, const gp_feature *f)
{
	gp_check_stack(gp_arena_env(text->arena));
	switch (f->kind)
	{
		case GP_FEATURE_X:
			gp_text_add(text, "X");
			break;
		case GP_FEATURE_X0:
			gp_text_add(text, "X0");
			break;
		case GP_FEATURE_N:
			gp_text_add(text, "N");
			break;
		case GP_FEATURE_BIAS:
			print_name(text, &names->b, f->sigma, 'b');
			break;
		case GP_FEATURE_RELU:
		case GP_FEATURE_UNIT:
			gp_text_add(text, f->kind == GP_FEATURE_RELU ? "relu(" : "unit(");
			gp_text_feature(text, names, f->arg[0]);
			gp_text_add(text, ")");
			break;
		case GP_FEATURE_TERM:
			print_term(text, names, f);
			break;
		case GP_FEATURE_SUM:
			for (int i = 0; i < f->n; i++)
			{
				gp_text_add(text, i > 0 ? " + " : "");
				gp_text_feature(text, names, f->arg[i]);
			}
			break;
	}
}
