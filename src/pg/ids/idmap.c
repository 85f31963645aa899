/*
 * idmap.c - building the map from ids to nodes, looking up texts, and numbering ids as they come.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "idmap.h"

/* A direct table may have this many entries for each node. */
#define DIRECT_FACTOR 4

static int32 *
empty_table(gp_env *env, uint64 size)
{
	int32	   *table = gp_alloc_array(env, (int64) size, sizeof(int32));

	gp_use_large_pages(table, size * sizeof(int32));
	memset(table, 0xff, size * sizeof(int32));
	return table;
}

void
gnngp_idmap_build(gp_env *env, gnngp_idmap *map, const gnngp_ids *ids)
{
	memset(map, 0, sizeof(*map));
	map->ids = ids;
	map->key = ids->key;
	map->first = ids->n > 0 ? ids->key[0] : 0;
	uint64		range = ids->n > 0 ? (uint64) ids->key[ids->n - 1] - (uint64) map->first : 0;
	if (ids->integer && range < (uint64) ids->n)
	{
		map->kind = GNNGP_IDMAP_SHIFT;
		map->range = (uint64) ids->n;
	}
	else if (ids->integer && range / DIRECT_FACTOR < (uint64) ids->n)
	{
		map->kind = GNNGP_IDMAP_DIRECT;
		map->range = range + 1;
		map->table = empty_table(env, map->range);
		for (int64 i = 0; i < ids->n; i++)
			map->table[(uint64) ids->key[i] - (uint64) map->first] = (int32) i;
	}
	else
	{
		/* Fills an open-addressing table at most half full; the first node of a key wins */
		uint64		size = 16;
		int64		next = 0;

		while (size < 2 * (uint64) map->ids->n)
			size *= 2;
		map->kind = GNNGP_IDMAP_HASH;
		map->places = gp_places_open(env, size);
		map->table = empty_table(env, size);
		for (int64 i = 0; i < map->ids->n; i++)
		{
			uint64		slot = gp_first_place(&map->places, map->key[i]);

			gp_poll(env, i, &next);
			while (map->table[slot] >= 0 && map->key[map->table[slot]] != map->key[i])
				slot = gp_next_place(&map->places, slot);
			if (map->table[slot] < 0)
				map->table[slot] = (int32) i;
		}
	}
}

void
gnngp_idmap_free(gp_env *env, gnngp_idmap *map)
{
	gp_free(env, map->table);
	map->table = NULL;
}

static int
compare_at(const gnngp_ids *ids, int64 node, const gnngp_id *id)
{
	gnngp_id	there = gnngp_ids_at(ids, node);

	return gnngp_id_compare(&there, id, NULL);
}

int32
gnngp_ids_find(const gnngp_ids *ids, const gnngp_id *id)
{
	int64		low = 0;

	GP_BISECT(low, ids->n, at, compare_at(ids, at, id) < 0);
	return low < ids->n && compare_at(ids, low, id) == 0 ? (int32) low : -1;
}

int32
gnngp_idmap_find_text(gnngp_idmap *map, const char *text, int length)
{
	gnngp_id	id = {.key = gnngp_text_key(text, length),.text = text,.length = length};
	int32		node = gnngp_idmap_find(map, id.key);

	/* Mostly the first one of its key is it. */
	return node < 0 || compare_at(map->ids, node, &id) == 0 ? node :
		gnngp_ids_find(map->ids, &id);
}

/*
 * Where the number of an id stands, or the free place where it belongs.  Texts are hashed with the
 * session's seed: their keys, whose hash everybody knows, could be chosen to be equal.
 */
static int32 *
find_place(gnngp_numbered *ids, const gnngp_id *id)
{
	uint64		key = id->text == NULL ? (uint64) id->key :
		hash_bytes_extended((const unsigned char *) id->text, id->length, ids->env->hash_seed);
	uint64		place = gp_first_place(&ids->places, key);

	while (ids->table[place] >= 0 && !gnngp_number_is(ids, ids->table[place], id))
		place = gp_next_place(&ids->places, place);
	return &ids->table[place];
}

int32
gnngp_number_find(gnngp_numbered *ids, const gnngp_id *id)
{
	return ids->n > 0 ? *find_place(ids, id) : -1;
}

int32
gnngp_number_add(gnngp_numbered *ids, const gnngp_id *id)
{
	gp_env	   *env = ids->env;

	if (ids->n == ids->room)
	{
		/* The table stays at most half full. */
		ids->room = ids->room ? 2 * ids->room : 64;
		ids->key = gp_realloc_array(env, ids->key, ids->room, sizeof(int64));
		ids->text = gp_realloc_array(env, ids->text, ids->room, sizeof(char *));
		gp_free(env, ids->table);
		ids->places = gp_places_open(env, 2 * (uint64) ids->room);
		ids->table = empty_table(env, 2 * (uint64) ids->room);
		for (int32 i = 0; i < ids->n; i++)
		{
			gnngp_id	former = gnngp_number_id(ids, i);

			gnngp_poll(i);
			*find_place(ids, &former) = i;
		}
	}
	int32	   *number = find_place(ids, id);
	if (*number < 0)
	{
		ids->key[ids->n] = id->key;
		ids->text[ids->n] = id->text ? gnngp_copy_text(env, id->text, id->length) : NULL;
		*number = ids->n++;
	}
	return *number;
}
