/*
 * number.c - arithmetic of the numbers in a kernel's text.
 *
 * Where a short decimal is what was meant, a computed number is that: 0.7 * 0.7 is 0.49, so
 * that a kernel is the same however its numbers are spelled.  A number of the text is never
 * changed, and a logarithm or root that depends on the layer is what the C library makes it.
 */
#include "formula_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_EXPONENT 1000000
#define DIGITS 15				/* of a computed number that mean something */
#define SPARE 2					/* of them that are zeros where a short decimal was meant */

/* The number with some digits, and its power of ten. */
static double
rounded(double number, int digits, int *exponent)
{
	char		buffer[64];

	snprintf(buffer, sizeof(buffer), "%.*e", digits - 1, number);
	*exponent = atoi(strchr(buffer, 'e') + 1);
	return strtod(buffer, NULL);
}

/* The short decimal that a computed number stands for, or itself; largest went into it. */
static double
fold(double number, double largest)
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

gp_number
gp_number_make(double value)
{
	return (gp_number) {.value = value + 0.0,.rational = true};
}

/* What an operation makes of a and b; largest is the largest number that went into it. */
static gp_number
result(gp_number a, gp_number b, double value, double largest)
{
	gp_number	n = {.varies = a.varies || b.varies,.rational = a.rational && b.rational};

	n.value = (n.varies && !n.rational ? value : fold(value, largest)) + 0.0;
	return n;
}

gp_number
gp_number_add(gp_number a, gp_number b)
{
	double		sum = a.value + b.value;
	bool		plain = a.value == 0.0 || b.value == 0.0;

	return result(a, b, sum, plain ? NAN : fmax(fabs(sum), fmax(fabs(a.value), fabs(b.value))));
}

gp_number
gp_number_multiply(gp_number a, gp_number b)
{
	double		product = a.value * b.value;
	bool		plain = fabs(a.value) == 1.0 || fabs(b.value) == 1.0;

	return result(a, b, product, plain ? NAN : product);
}

gp_number
gp_number_divide(gp_number a, gp_number b)
{
	double		quotient = b.value == 0.0 ? NAN : a.value / b.value;

	return result(a, b, quotient, fabs(b.value) == 1.0 ? NAN : quotient);
}

/* A number to a whole power, by squaring: the same bits with every C library. */
static double
whole_power(double base, int exponent)
{
	double		power = 1.0;

	for (unsigned e = (unsigned) abs(exponent); e > 0; e >>= 1)
	{
		if (e & 1)
			power *= base;
		base *= base;
	}
	return exponent < 0 ? 1.0 / power : power;
}

gp_number
gp_number_power(gp_number base, gp_number exponent)
{
	bool		whole = exponent.value == floor(exponent.value) &&
		fabs(exponent.value) <= MAX_EXPONENT;
	double		power = whole ? whole_power(base.value, (int) exponent.value) :
		pow(base.value, exponent.value);

	base.rational = base.rational && whole;
	return result(base, exponent, power, exponent.value == 1.0 ? NAN : power);
}

gp_number
gp_number_function(gp_number arg, double (*function) (double))
{
	double		value = function(arg.value);

	arg.rational = false;
	return result(arg, arg, value, value);
}
