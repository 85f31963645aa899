/*
 * number.c - arithmetic of the numbers in a kernel's text.
 */
#include "formula_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_EXPONENT 1000000
#define DIGITS 13				/* that the spelling of a number does not change */

double
gp_number_rounded(double number)
{
	char		buffer[64];

	snprintf(buffer, sizeof(buffer), "%.*e", DIGITS - 1, number);
	return strtod(buffer, NULL);
}

int
gp_number_compare(double a, double b)
{
	if (a == b)
		return 0;
	a = gp_number_rounded(a);
	b = gp_number_rounded(b);
	return (a > b) - (a < b);
}

/* What is made of two numbers; there is no -0. */
static gp_number
result(gp_number a, gp_number b, double value)
{
	return (gp_number) {value + 0.0, a.varies || b.varies};
}

gp_number
gp_number_make(double value)
{
	return (gp_number) {value, false};
}

gp_number
gp_number_add(gp_number a, gp_number b)
{
	return result(a, b, a.value + b.value);
}

gp_number
gp_number_multiply(gp_number a, gp_number b)
{
	return result(a, b, a.value * b.value);
}

gp_number
gp_number_divide(gp_number a, gp_number b)
{
	return result(a, b, b.value == 0.0 ? NAN : a.value / b.value);
}

gp_number
gp_number_power(gp_number base, gp_number exponent)
{
	bool		whole = exponent.value == floor(exponent.value) &&
		fabs(exponent.value) <= MAX_EXPONENT;

	double		power = whole ? gp_whole_power(base.value, (int64_t) fabs(exponent.value)) : 0.0;

	return result(base, exponent, !whole ? pow(base.value, exponent.value) :
				  exponent.value < 0.0 ? 1.0 / power : power);
}

gp_number
gp_number_function(gp_number arg, double (*function) (double))
{
	return result(arg, arg, function(arg.value));
}
