/*
 * sorted_edges.c - from pairs of ids in any order, as rows bring them, to sorted, numbered edges.
 *
 * The ids become node numbers, two numbers make one key, and keys are sorted; many are first dealt
 * out by their high bits.  The result is the same for every order of arrival.
 */
#include "postgres.h"

#include "pg/ids/idmap.h"
#include "sorted_edges.h"

#define MANY 65536				/* keys that are dealt out first */
#define HIGH_BITS 11
#define DIRECT_MIN 4096			/* a range of ids up to this has a bit for each of them, */
#define DIRECT_SHARE 32			/* and so has one of so many ids an edge */

#define FIRST_ROOM 32
#define COMPACT_FROM ((int64) 1 << 24)	/* edges from which a full list is rid of repeats first */

/* Edges of one key by weight. */
#define ST_SORT sort_edges
#define ST_ELEMENT_TYPE gnngp_sorted_edge
#define ST_COMPARE(a, b) \
	((a)->key != (b)->key ? ((a)->key < (b)->key ? -1 : 1) : \
	 (a)->weight < (b)->weight ? -1 : (a)->weight > (b)->weight)
#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#include "lib/sort_template.h"

/* Memory for n items; n may be large. */
static void *
allocate(int64 n, Size size)
{
	void	   *p = MemoryContextAllocHuge(CurrentMemoryContext, (Size) Max(n, 1) * size);

	gp_use_large_pages(p, (Size) Max(n, 1) * size);
	return p;
}

/* The high bits of the key that an item begins with. */
static inline uint64
high_bits(const char *item, int shift)
{
	uint64		key;

	memcpy(&key, item, sizeof(key));
	return key >> shift;
}

/*
 * Deals items out by the high bits of their keys; where each heap ends, palloc'd.  In line, so that
 * the compiler knows their size.
 */
static pg_attribute_always_inline int64 *
deal_out(const char *from, char *to, int64 n, Size size, int shift)
{
	int64	   *end = palloc0(sizeof(int64) << HIGH_BITS);
	int64		first = 0;

	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i);
		end[high_bits(from + i * size, shift)]++;
	}
	for (int h = 0; h < 1 << HIGH_BITS; h++)
	{
		int64		count = end[h];

		end[h] = first;
		first += count;
	}
	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i);
		memcpy(to + end[high_bits(from + i * size, shift)]++ * size, from + i * size, size);
	}
	return end;
}

/* Sorts edges with weights, or keys alone; heaps of many fit the cache. */
static void
sort_all(gnngp_sorted_edges *s)
{
	int			shift = Max(2 * s->shift - HIGH_BITS, 0);
	int64	   *end;
	void	   *dealt;
	int64		start = 0;

	if (s->edges < MANY)
	{
		if (s->edge)
			sort_edges(s->edge, s->edges);
		else
			gnngp_sort_keys(s->key, s->edges);
		return;
	}
	dealt = allocate(s->edges, s->edge ? sizeof(gnngp_sorted_edge) : sizeof(uint64));
	if (s->edge)
	{
		end = deal_out((char *) s->edge, dealt, s->edges, sizeof(gnngp_sorted_edge), shift);
		pfree(s->edge);
		s->edge = dealt;
	}
	else
	{
		end = deal_out((char *) s->key, dealt, s->edges, sizeof(uint64), shift);
		pfree(s->key);
		s->key = dealt;
	}
	for (int h = 0; h < 1 << HIGH_BITS; start = end[h++])
		if (s->edge)
			sort_edges(s->edge + start, end[h] - start);
		else
			gnngp_sort_keys(s->key + start, end[h] - start);
	pfree(end);
}

/* The ids of a range in order: a bit for each id stays in the processor's cache. */
static void
find_ids_by_bits(const gnngp_edge_list *list, uint64 range, gnngp_value_ids *ids)
{
	int64		words = (int64) (range >> 6) + 1;
	uint64	   *bits = allocate(words, sizeof(uint64));
	int64		n = 0;

	memset(bits, 0, words * sizeof(uint64));
	for (int64 i = 0; i < 2 * list->n; i++)
	{
		uint64		at = (uint64) list->end[i] - (uint64) ids->first;

		gnngp_poll(i);
		bits[at >> 6] |= UINT64CONST(1) << (at & 63);
	}
	for (int64 k = 0; k < words; k++)
		ids->n += pg_popcount64(bits[k]);
	if ((uint64) ids->n != range + 1)
		ids->id = allocate(ids->n, sizeof(int64));
	for (int64 k = 0; ids->id && k < words; k++)
	{
		gnngp_poll(k);
		for (uint64 left = bits[k]; left; left &= left - 1)
			ids->id[n++] = (int64) ((uint64) ids->first + (k << 6) + pg_rightmost_one_pos64(left));
	}
	pfree(bits);
}

/* The same of ids that lie far apart. */
static void
find_ids_by_sorting(const gnngp_edge_list *list, gnngp_value_ids *ids)
{
	uint64	   *key = allocate(2 * list->n, sizeof(uint64));

	for (int64 i = 0; i < 2 * list->n; i++)
	{
		gnngp_poll(i);
		key[i] = (uint64) list->end[i] - (uint64) ids->first;
	}
	gnngp_sort_keys(key, 2 * list->n);
	ids->id = (int64 *) key;
	for (int64 i = 0; i < 2 * list->n; i++)
	{
		int64		id = (int64) ((uint64) ids->first + key[i]);

		gnngp_poll(i);
		if (ids->n == 0 || ids->id[ids->n - 1] != id)
			ids->id[ids->n++] = id;
	}
}

/* The ids of all edges in order, each once; 54000 where they are too many: nodes have 31 bits. */
static void
find_ids(const gnngp_edge_list *list, gnngp_value_ids *ids)
{
	int64		high = list->end[0];
	uint64		range;

	ids->first = list->end[0];
	for (int64 i = 0; i < 2 * list->n; i++)
	{
		gnngp_poll(i);
		ids->first = Min(ids->first, list->end[i]);
		high = Max(high, list->end[i]);
	}
	range = (uint64) high - (uint64) ids->first;
	if (range < (uint64) DIRECT_MIN || range < (uint64) list->n * DIRECT_SHARE)
		find_ids_by_bits(list, range, ids);
	else
		find_ids_by_sorting(list, ids);
	if (ids->n > PG_INT32_MAX)
		gnngp_raise(PROGRAM_LIMIT_EXCEEDED, NULL, "the graph has " INT64_FORMAT " nodes, but a value may have %d",
					ids->n, PG_INT32_MAX);
}

/* Writes the keys of all edges but self-loops; true when they are in order. */
static bool
make_keys(const gnngp_edge_list *list, gnngp_idmap *map, gnngp_sorted_edges *out)
{
	const int	shift = out->shift;
	const uint64 first = (uint64) out->ids.first;
	uint64		last = 0;
	bool		sorted = true;
	int64		m = 0;

	for (int64 i = 0; i < list->n; i++)
	{
		const int64 *end = list->end + 2 * i;
		uint64		key;
		int64		low;
		int64		high;

		gnngp_poll(i);
		if (end[0] == end[1])
			continue;
		low = Min(end[0], end[1]);
		high = Max(end[0], end[1]);
		low = map ? gnngp_idmap_find(map, low) : (int64) ((uint64) low - first);
		high = map ? gnngp_idmap_find(map, high) : (int64) ((uint64) high - first);
		key = (uint64) low << shift | (uint64) high;
		sorted = sorted && key >= last;
		last = key;
		if (out->key)
			out->key[m++] = key;
		else
		{
			out->edge[m].key = key;
			out->edge[m++].weight = list->weight[i];
		}
	}
	out->edges = m;
	return sorted;
}

void
gnngp_edge_sort(const gnngp_edge_list *list, gnngp_sorted_edges *out)
{
	gp_env	   *env = NULL;
	gnngp_ids	ids;
	gnngp_idmap map;
	bool		sorted;
	int64		m = 0;

	memset(out, 0, sizeof(*out));
	find_ids(list, &out->ids);
	if (out->ids.id)
	{
		/* Outside of the memory limit: the list counted the map. */
		env = gnngp_env_create(CurrentMemoryContext);
		env->limit = 0;
		ids = (gnngp_ids) {.n = out->ids.n, .integer = true, .key = out->ids.id};
		gnngp_idmap_build(env, &map, &ids);
	}
	out->shift = out->ids.n < 3 ? 1 : pg_leftmost_one_pos64(out->ids.n - 1) + 1;
	if (list->weighted)
		out->edge = allocate(list->n, sizeof(gnngp_sorted_edge));
	else
		out->key = allocate(list->n, sizeof(uint64));
	sorted = make_keys(list, env ? &map : NULL, out);
	if (env)
		gnngp_env_destroy(env);
	if (!sorted || list->weighted)
		sort_all(out);
	for (int64 i = 0; out->key && i < out->edges; i++)
	{
		gnngp_poll(i);
		if (i == 0 || out->key[i] != out->key[m - 1])
			out->key[m++] = out->key[i];
	}
	if (out->key)
		out->edges = m;
}

void
gnngp_sorted_edges_merge(gnngp_sorted_edges *s)
{
	int64		m = 0;

	for (int64 i = 0; s->edge && i < s->edges; i++)
	{
		gnngp_poll(i);
		if (m > 0 && s->edge[m - 1].key == s->edge[i].key)
			s->edge[m - 1].weight += s->edge[i].weight;
		else
			s->edge[m++] = s->edge[i];
	}
	if (s->edge)
		s->edges = m;
}

void
gnngp_sorted_edges_free(gnngp_sorted_edges *s)
{
	if (s->ids.id)
		pfree(s->ids.id);
	if (s->key)
		pfree(s->key);
	if (s->edge)
		pfree(s->edge);
}

/*
 * ---- lists ----
 *
 * A list grows by doubling.  A long one without weights is first sorted and rid of what repeats, so
 * that its memory follows the distinct edges; and a graph that would be too large for a value is
 * refused then, not at the end.
 */

void
gnngp_edge_list_add_lone(gnngp_edge_list *list, const gnngp_value_ids *ids, const bool *seen)
{
	for (int64 i = 0; i < ids->n; i++)
		if (!seen[i])
			gnngp_edge_list_add(list, gnngp_value_id(ids, i), gnngp_value_id(ids, i), 0.0);
}

/*
 * The bytes of the edges of a graph without weights, ids left out: those that value_graph.c
 * writes.
 */
static double
graph_bytes(const gnngp_sorted_edges *s)
{
	uint64		mask = (UINT64CONST(1) << s->shift) - 1;
	double		bytes = s->ids.n;

	for (int64 i = 0; i < s->edges; i++)
	{
		uint64		key = s->key[i];
		bool		first = i == 0 || key >> s->shift != s->key[i - 1] >> s->shift;

		uint64		gap = first ? (key & mask) - (key >> s->shift) - 1 : key - s->key[i - 1] - 1;

		gnngp_poll(i);
		bytes += gap < 0x80 ? 1 : pg_leftmost_one_pos64(gap) / 7 + 1;
	}
	return bytes;
}

/* Rids the list of repeated edges; refuses more than any value holds. */
static void
compact(gnngp_edge_list *list)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gnngp edges",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	gnngp_sorted_edges s;
	double		smallest;

	gnngp_edge_sort(list, &s);
	/* An edge takes at least a byte, and so does a node. */
	smallest = (double) s.edges + (double) s.ids.n;
	if (s.edge)
	{
		gnngp_sorted_edges_merge(&s);
		smallest = 9.0 * s.edges + s.ids.n;
	}
	gnngp_value_check_size(smallest, "graph");
	if (s.key)
	{
		/* Rewrites the list as its distinct edges, and nodes without any as loops */
		bool	   *seen = MemoryContextAllocExtended(CurrentMemoryContext, s.ids.n,
													  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

		list->n = 0;
		for (int64 i = 0; i < s.edges; i++)
		{
			int64		a = (int64) (s.key[i] >> s.shift);
			int64		b = (int64) (s.key[i] & ((UINT64CONST(1) << s.shift) - 1));

			gnngp_poll(i);
			seen[a] = seen[b] = true;
			gnngp_edge_list_add(list, gnngp_value_id(&s.ids, a), gnngp_value_id(&s.ids, b), 0.0);
		}
		/* There is room: each of these nodes came with a loop of its own. */
		gnngp_edge_list_add_lone(list, &s.ids, seen);
		pfree(seen);
		gnngp_value_check_size(graph_bytes(&s), "graph");
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

void
gnngp_edge_list_grow(gnngp_edge_list *list, int64 more)
{
	int64		room = Max(list->room, FIRST_ROOM);
	int64		bytes = list->weighted ? 24 : 16;	/* of an edge */

	if (list->n + more > list->room && list->n >= COMPACT_FROM)
		compact(list);
	while (room < list->n + more || room / 2 < list->n)
		room *= 2;
	if (room <= list->room)
		return;
	gnngp_value_hold(&list->held, list->context, (double) room * bytes,
					 (double) room * (list->weighted ? 32 : 16), psprintf(INT64_FORMAT " edges", room));
	list->end = gnngp_value_grow(list->context, list->end, room * 2 * sizeof(int64));
	gp_use_large_pages(list->end, room * 2 * sizeof(int64));
	if (list->weighted)
	{
		list->weight = gnngp_value_grow(list->context, list->weight, room * sizeof(double));
		gp_use_large_pages(list->weight, room * sizeof(double));
	}
	list->room = room;
}
