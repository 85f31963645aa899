/*
 * names.h - words in any case, and the name that was perhaps meant.
 *
 * ASCII only: what a name is must not depend on the locale.
 */
#ifndef GP_NAMES_H
#define GP_NAMES_H

#include "env.h"

#include <string.h>

static inline char
gp_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
}

/* True when a piece of text is this word, in any case. */
static inline bool
gp_is_word(const char *text, size_t length, const char *word)
{
	size_t		i = 0;

	while (i < length && word[i] != '\0' && gp_lower(text[i]) == gp_lower(word[i]))
		i++;
	return i == length && word[i] == '\0';
}

/* True for a name of a list that ends with NULL. */
static inline bool
gp_is_among(const char *const *list, const char *name)
{
	while (*list != NULL && strcmp(*list, name) != 0)
		list++;
	return *list != NULL;
}

/* What was perhaps meant by a name that stands for nothing; name is NULL while nothing is near
 * (did_you_mean.c). */
typedef struct gp_meant
{
	const char *written;
	int			length;
	int			below;			/* what a nearer name's distance is */
	const char *name;
} gp_meant;

#define GP_MEANT "Perhaps you meant \"%s\". "	/* before what the hint says else */

/* Begins with the name as written, and goes on with each that could stand there. */
extern gp_meant gp_meant_start(const char *written, int length);
extern void gp_meant_consider(gp_meant *meant, const char *name);

#endif							/* GP_NAMES_H */
