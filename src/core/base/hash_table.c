/*
 * hash_table.c - a set of numbers, at most half full.
 */
#include "hash_table.h"

#define LEAST_PLACES 64

gp_set
gp_set_open(gp_env *env, int64_t n)
{
	gp_set		set = {.n = 0};
	uint64_t	places = LEAST_PLACES;

	while (places < 2 * (uint64_t) n)
		places *= 2;
	set.places = gp_places_open(env, places);
	set.key = gp_alloc_zero(env, (int64_t) places, sizeof(uint64_t));
	return set;
}

/* The place of a key, or the free one where it belongs. */
static uint64_t *
find(gp_set *set, uint64_t key)
{
	uint64_t	at = gp_first_place(&set->places, key);

	while (set->key[at] != 0 && set->key[at] != key)
		at = gp_next_place(&set->places, at);
	return &set->key[at];
}

bool
gp_set_has(gp_set *set, uint64_t key)
{
	return *find(set, key) != 0;
}

bool
gp_set_add(gp_set *set, uint64_t key)
{
	uint64_t   *place = find(set, key);

	if (*place != 0)
		return false;
	*place = key;
	if (2 * ++set->n > set->places.mask)
	{
		/* Doubles the places. */
		gp_set		larger = gp_set_open(set->places.env, (int64_t) set->places.mask + 1);
		int64_t		next = 0;

		for (uint64_t k = 0; k <= set->places.mask; k++)
		{
			gp_poll(set->places.env, (int64_t) k, &next);
			if (set->key[k] != 0)
				*find(&larger, set->key[k]) = set->key[k];
		}
		larger.n = set->n;
		gp_set_close(set);
		*set = larger;
	}
	return true;
}

void
gp_set_close(gp_set *set)
{
	gp_free(set->places.env, set->key);
}
