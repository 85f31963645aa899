/*
 * arena.h - memory that was allocated before, given out in pieces.
 *
 * For threads that may not call the host.  There are few blocks at a time, so that a walk over
 * all of them finds one that is free.
 */
#ifndef GP_ARENA_H
#define GP_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gp_arena
{
	char	   *base;			/* on a multiple of 64 bytes */
	size_t		bytes;
} gp_arena;

/* Makes the whole of it one free block. */
extern void gp_arena_clear(gp_arena *arena);

/* A block of so many bytes, or NULL where none is left. */
extern void *gp_arena_take(gp_arena *arena, size_t bytes);

/* Gives a block back. */
extern void gp_arena_give(gp_arena *arena, void *p);

#endif							/* GP_ARENA_H */
