/*
 * hash_table.h - the places of a hash table over keys that users choose.
 *
 * A seed that they cannot know keeps them from choosing keys of one place.  Should
 * many keys meet all the same, the way from place to place looks at interrupts.
 * What a table finds does not depend on the seed.
 */
#ifndef GP_HASH_TABLE_H
#define GP_HASH_TABLE_H

#include "env.h"
#include "hash.h"

/* ---- places, for tables of any making ---- */

typedef struct gp_places
{
	gp_env	   *env;
	uint64_t	seed;
	uint64_t	factor;			/* odd, follows from the seed */
	uint64_t	mask;			/* the number of places, a power of two, less 1 */
	int64_t		taken;			/* taken places that were looked at */
	int64_t		next_look;		/* taken, at which interrupts are looked at */
} gp_places;

/* So many places; their number is a power of two. */
static inline gp_places
gp_places_open(gp_env *env, uint64_t places)
{
	return (gp_places) {.env = env, .seed = env->hash_seed,
		.factor = gp_hash(env->hash_seed) | 1, .mask = places - 1};
}

/* The place where a key is looked for first. */
static inline uint64_t
gp_first_place(const gp_places *p, uint64_t key)
{
	unsigned __int128 product = (unsigned __int128) (key ^ p->seed) * p->factor;

	return ((uint64_t) product ^ (uint64_t) (product >> 64)) & p->mask;
}

/* The place after one that another key has taken. */
static inline uint64_t
gp_next_place(gp_places *p, uint64_t place)
{
	gp_poll(p->env, ++p->taken, &p->next_look);
	return (place + 1) & p->mask;
}

/* ---- a set of numbers other than 0 ---- */

typedef struct gp_set
{
	gp_places	places;
	uint64_t   *key;			/* 0 where free */
	uint64_t	n;
} gp_set;

/* An empty set with room for n; with more it grows. */
extern gp_set gp_set_open(gp_env *env, int64_t n);
extern bool gp_set_has(gp_set *set, uint64_t key);

/* Adds a key; false when it was there. */
extern bool gp_set_add(gp_set *set, uint64_t key);
extern void gp_set_close(gp_set *set);

#endif							/* GP_HASH_TABLE_H */
