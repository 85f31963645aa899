/*
 * arena.c - blocks one behind the other, each with its size; free neighbours become one.
 */
#include "arena.h"

#include <stdint.h>

#define UNIT 64					/* bytes: of a header, and what sizes are multiples of */

typedef struct block
{
	size_t		bytes;			/* with the header */
	bool		free;
} block;

/* The block behind one. */
static block *
behind(block *b)
{
	return (block *) ((char *) b + b->bytes);
}

void
gp_arena_clear(gp_arena *arena)
{
	arena->bytes = arena->bytes / UNIT * UNIT;
	if (arena->bytes >= UNIT)
		*(block *) arena->base = (block) {arena->bytes, true};
}

void *
gp_arena_take(gp_arena *arena, size_t bytes)
{
	const char *end = arena->base + arena->bytes;
	size_t		need;

	if (bytes > SIZE_MAX - 2 * UNIT)
		return NULL;
	need = (bytes + 2 * UNIT - 1) / UNIT * UNIT;
	for (block *b = (block *) arena->base; (char *) b < end; b = behind(b))
	{
		if (!b->free)
			continue;
		for (block *next = behind(b); (char *) next < end && next->free; next = behind(b))
			b->bytes += next->bytes;
		if (b->bytes < need)
			continue;
		if (b->bytes > need)
		{
			size_t		rest = b->bytes - need;

			b->bytes = need;
			*behind(b) = (block) {rest, true};
		}
		b->free = false;
		return (char *) b + UNIT;
	}
	return NULL;
}

void
gp_arena_give(gp_arena *arena, void *p)
{
	((block *) ((char *) p - UNIT))->free = true;
}
