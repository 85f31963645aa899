/*
 * text.c - text that grows in an arena, numbers as text, and the names that formulas reserve.
 */
#include "formula_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define DIGITS 13				/* that the spelling of a number does not change */

void
gp_text_add(gp_text *text, const char *format,...)
{
	va_list		args;
	size_t		room = text->room > 0 ? text->room : 128;

	va_start(args, format);
	size_t		length = (size_t) vsnprintf(NULL, 0, format, args);
	va_end(args);
	while (room < text->length + length + 1)
		room *= 2;
	if (room != text->room)
	{
		text->data = gp_arena_grow(text->arena, text->data, (int) text->length, (int) room, 1);
		text->room = room;
	}
	va_start(args, format);
	vsnprintf(text->data + text->length, length + 1, format, args);
	va_end(args);
	text->length += length;
}

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

void
gp_text_key(gp_text *text, double number)
{
	gp_text_add(text, " %.*e", DIGITS - 1, number + 0.0);
}

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

const char *
gp_meant_hint(gp_arena *arena, const gp_meant *meant, const char *hint)
{
	gp_text		text = {.arena = arena};

	if (meant->name == NULL)
		return hint;
	gp_text_add(&text, GP_MEANT "%s", meant->name, hint);
	return text.data;
}

/* ---- names ---- */

int
gp_name_number(const char *name, size_t length, char letter)
{
	int			number = 0;

	if (length < 1 || length > 4 || name[0] != letter || (length > 1 && name[1] == '0'))
		return -1;
	for (size_t i = 1; i < length; i++)
	{
		if (!(name[i] >= '0' && name[i] <= '9'))
			return -1;
		number = 10 * number + (name[i] - '0');
	}
	return number;
}

bool
gp_keyword_is(const char *name, int length)
{
	static const char *const exact[] = {"X", "X0", "N", "A", "I", "P"};
	static const char *const any_case[] = {"l", "ln", "sqrt", "relu", "unit"};

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if ((size_t) length == strlen(exact[i]) && memcmp(name, exact[i], length) == 0)
			return true;
	for (size_t i = 0; i < sizeof(any_case) / sizeof(any_case[0]); i++)
		if (gp_is_word(name, length, any_case[i]))
			return true;
	return gp_name_number(name, length, 'W') >= 0 || gp_name_number(name, length, 'b') >= 0;
}
