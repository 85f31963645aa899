/*
 * text.c - text that grows in an arena.
 */
#include "formula_internal.h"

#include <stdio.h>
#include <stdlib.h>

void
gp_text_add(gp_text *text, const char *format,...)
{
	va_list		args;
	size_t		length;
	size_t		room = text->room > 0 ? text->room : 128;

	va_start(args, format);
	length = (size_t) vsnprintf(NULL, 0, format, args);
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
