/*
 * idmap.h - from the id of a node to its number.
 *
 * Integer ids that are dense need a subtraction or one table look-up; others go
 * through an open-addressing hash.  Ids of other types are found by the hash of
 * their text.
 */
#ifndef GNNGP_IDMAP_H
#define GNNGP_IDMAP_H

#include "postgres.h"

#include "reader.h"

typedef enum gnngp_idmap_kind
{
	GNNGP_IDMAP_SHIFT,			/* ids are first, first + 1, ... */
	GNNGP_IDMAP_DIRECT,			/* table[id - first] */
	GNNGP_IDMAP_HASH			/* open addressing by a mix of the key */
} gnngp_idmap_kind;

typedef struct gnngp_idmap
{
	gnngp_idmap_kind kind;
	const gnngp_ids *ids;
	const int64 *key;
	int64		first;
	uint64		range;			/* entries of the direct table, or nodes */
	uint64		mask;			/* of the hash table */
	int32	   *table;			/* -1 where there is no node */
} gnngp_idmap;

/* Makes the map of ids, whose keys ascend; it keeps a pointer to them. */
extern void gnngp_idmap_build(gp_env *env, gnngp_idmap *map, const gnngp_ids *ids);

extern void gnngp_idmap_free(gp_env *env, gnngp_idmap *map);

/* The node of an id as text, or -1. */
extern int32 gnngp_idmap_find_text(const gnngp_idmap *map, const char *text, int length);

/* Spreads the bits of a key (the finaliser of MurmurHash3). */
static inline uint64
gnngp_idmap_mix(uint64 k)
{
	k ^= k >> 33;
	k *= UINT64CONST(0xff51afd7ed558ccd);
	k ^= k >> 33;
	k *= UINT64CONST(0xc4ceb9fe1a85ec53);
	k ^= k >> 33;
	return k;
}

/* The first node of a key, or -1. */
static inline int32
gnngp_idmap_find(const gnngp_idmap *map, int64 key)
{
	uint64		d = (uint64) key - (uint64) map->first;
	uint64		slot;

	if (map->kind == GNNGP_IDMAP_SHIFT)
		return d < map->range ? (int32) d : -1;
	if (map->kind == GNNGP_IDMAP_DIRECT)
		return d < map->range ? map->table[d] : -1;
	for (slot = gnngp_idmap_mix(key) & map->mask;; slot = (slot + 1) & map->mask)
	{
		int32		node = map->table[slot];

		if (node < 0 || map->key[node] == key)
			return node;
	}
}

#endif							/* GNNGP_IDMAP_H */
