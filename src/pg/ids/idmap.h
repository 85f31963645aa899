/*
 * idmap.h - from the id of a node to its number.
 *
 * Integer ids that are dense need a subtraction or one table look-up; others go
 * through an open-addressing hash.  Ids of other types are found by the hash of
 * their text.  Where the ids are not known before, they are numbered as they come.
 */
#ifndef GNNGP_IDMAP_H
#define GNNGP_IDMAP_H

#include "core/base/hash_table.h"
#include "core/base/base.h"
#include "ids.h"

typedef enum gnngp_idmap_kind
{
	GNNGP_IDMAP_SHIFT,			/* ids are first, first + 1, ... */
	GNNGP_IDMAP_DIRECT,			/* table[id - first] */
	GNNGP_IDMAP_HASH			/* open addressing, seeded */
} gnngp_idmap_kind;

typedef struct gnngp_idmap
{
	gnngp_idmap_kind kind;
	const gnngp_ids *ids;
	const int64 *key;
	int64		first;
	uint64		range;			/* entries of the direct table, or nodes */
	gp_places	places;			/* of the hash table */
	int32	   *table;			/* -1 where there is no node */
} gnngp_idmap;

/* Makes the map of ids, whose keys ascend; it keeps a pointer to them. */
extern void gnngp_idmap_build(gp_env *env, gnngp_idmap *map, const gnngp_ids *ids);

extern void gnngp_idmap_free(gp_env *env, gnngp_idmap *map);

/* The node of an id as text, or -1. */
extern int32 gnngp_idmap_find_text(gnngp_idmap *map, const char *text, int length);

/* The first node of a key, or -1. */
static inline int32
gnngp_idmap_find(gnngp_idmap *map, int64 key)
{
	uint64		d = (uint64) key - (uint64) map->first;
	uint64		slot;

	if (map->kind == GNNGP_IDMAP_SHIFT)
		return d < map->range ? (int32) d : -1;
	if (map->kind == GNNGP_IDMAP_DIRECT)
		return d < map->range ? map->table[d] : -1;
	for (slot = gp_first_place(&map->places, key);; slot = gp_next_place(&map->places, slot))
	{
		int32		node = map->table[slot];

		if (node < 0 || map->key[node] == key)
			return node;
	}
}

/* ---- ids, or words, that are numbered as they come ---- */

/* Begins zeroed, except env. */
typedef struct gnngp_numbered
{
	gp_env	   *env;
	int32		n;
	int32		room;
	int64	   *key;
	char	  **text;			/* 0-terminated copies; NULL for integers */
	gp_places	places;
	int32	   *table;			/* the number at each place; -1: free */
} gnngp_numbered;

/* The number of an id, or -1. */
extern int32 gnngp_number_find(gnngp_numbered *ids, const gnngp_id *id);

/* The same; an id that has none gets the next one. */
extern int32 gnngp_number_add(gnngp_numbered *ids, const gnngp_id *id);

static inline gnngp_id
gnngp_number_id(const gnngp_numbered *ids, int32 number)
{
	const char *text = ids->text[number];

	return (gnngp_id) {ids->key[number], text, text ? (int) strlen(text) : 0, false};
}

static inline bool
gnngp_number_is(const gnngp_numbered *ids, int32 number, const gnngp_id *id)
{
	return ids->key[number] == id->key &&
		(id->text == NULL || (strncmp(ids->text[number], id->text, id->length) == 0 &&
							  ids->text[number][id->length] == '\0'));
}

#endif							/* GNNGP_IDMAP_H */
