/*
 * edge_sort.c - from pairs of ids in any order, as rows bring them, to sorted, numbered edges.
 *
 * The ids become node numbers: where they are dense by a bit for each id, counted
 * up to it, which stays in the processor's cache; else by sorting them and the
 * reader's map.  Two numbers make one key, and keys are sorted by counting: many are dealt
 * out by their high bits, then a few bits at a time from the low end.  The result is
 * the same for every order of arrival.
 */
#include "postgres.h"

#include "pg/ids/idmap.h"
#include "sorted_edges.h"

#define MANY 65536				/* keys that are dealt out by their high bits first */
#define HIGH_BITS 11
#define FEWEST 64				/* keys of a heap that are sorted by insertion */
#define FEW 4096				/* keys that are sorted eight bits at a time */
#define DIRECT_MIN 4096			/* a range of ids up to this has bits anyway */
#define DIRECT_SHARE 32			/* so has one of so many ids an edge */

#define FIRST_ROOM 32
#define COMPACT_FROM ((int64) 1 << 24)	/* edges from which a full list is rid of repeats first */

/* How ids become node numbers. */
typedef struct numbering
{
	int64		first;			/* the smallest id */
	uint64		range;			/* the largest less the smallest */
	bool		dense;			/* every id of the range is a node */
	uint64	   *bits;			/* a bit for each id of the range that is a node, or NULL */
	uint32	   *before;			/* the nodes before each word of bits */
	gp_env	   *env;			/* else a map, which this holds */
	gnngp_ids	ids;
	gnngp_idmap map;
} numbering;

/* Memory for n items; n may be large. */
static void *
allocate(int64 n, Size size)
{
	void	   *p = MemoryContextAllocHuge(CurrentMemoryContext, (Size) Max(n, 1) * size);

	gp_use_large_pages(p, (Size) Max(n, 1) * size);
	return p;
}

static int
bits_of(uint64 v)
{
	return v == 0 ? 0 : pg_leftmost_one_pos64(v) + 1;
}

/* What an item is sorted by: the number that it begins with. */
static inline uint64
key_at(const char *item, int64 i, Size size)
{
	uint64		key;

	memcpy(&key, item + i * size, sizeof(key));
	return key;
}

/*
 * Moves items to their places by the bits of their keys from shift on; count has the
 * places.  In line, as all that sorts, so that their size is known to the compiler.
 */
static pg_attribute_always_inline void
scatter(const char *from, char *to, int64 n, Size size, int shift, int places, int64 *count)
{
	memset(count, 0, places * sizeof(int64));
	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i + 1);
		count[key_at(from, i, size) >> shift & (places - 1)]++;
	}
	/* Turns counts into first places */
	int64		at = 0;

	for (int i = 0; i < places; i++)
	{
		int64		c = count[i];

		count[i] = at;
		at += c;
	}
	for (int64 first = 0; first < n; first += GP_POLL_EVERY)
	{
		int64		end = Min(first + GP_POLL_EVERY, n);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = first; i < end; i++)
			memcpy(to + count[key_at(from, i, size) >> shift & (places - 1)]++ * size,
				   from + i * size, size);
	}
}

/* Sorts a few items by insertion. */
static pg_attribute_always_inline void
insert_items(char *item, int64 n, Size size)
{
	char		held[sizeof(gnngp_sorted_edge)];

	for (int64 i = 1; i < n; i++)
	{
		uint64		key = key_at(item, i, size);
		int64		j = i;

		memcpy(held, item + i * size, size);
		for (; j > 0 && key_at(item, j - 1, size) > key; j--)
			memcpy(item + j * size, item + (j - 1) * size, size);
		memcpy(item + j * size, held, size);
	}
}

/* Sorts items by their low bits; the result is in item, or in other after an odd number of
 * passes. */
static pg_attribute_always_inline void
sort_low_bits(char *item, char *other, int64 n, Size size, int bits, int digit, int64 *count)
{
	for (int shift = 0; shift < bits; shift += digit)
	{
		char	   *from = item;

		scatter(from, other, n, size, shift, 1 << digit, count);
		item = other;
		other = from;
	}
}

static void
exchange(void **a, void **b)
{
	void	   *swap = *a;

	*a = *b;
	*b = swap;
}

/*
 * Sorts items by keys of so many bits; the result is in *item, *other is spoilt.  Many
 * are first dealt out by their high bits: the heaps then fit the cache.
 */
static pg_attribute_always_inline void
sort_items(void **item, void **other, int64 n, Size size, int bits)
{
	int64	   *count = palloc(sizeof(int64) << HIGH_BITS);
	int64	   *heap = palloc(sizeof(int64) << HIGH_BITS);
	int			low = n < MANY ? bits : Max(bits - HIGH_BITS, 0);
	int			most = (n < MANY ? n : n >> HIGH_BITS) < FEW ? 8 : 11;	/* bits of a pass */
	int			passes = (low + most - 1) / most;
	int			digit = passes > 0 ? (low + passes - 1) / passes : 1;	/* all passes alike */
	int64		start = 0;

	if (n < MANY)
		sort_low_bits(*item, *other, n, size, low, digit, count);
	else
	{
		scatter(*item, *other, n, size, low, 1 << HIGH_BITS, heap);
		exchange(item, other);
		for (int h = 0; h < 1 << HIGH_BITS; h++)
		{
			int64		length = heap[h] - start;
			char	   *from = (char *) *item + start * size;
			char	   *to = (char *) *other + start * size;

			if (length > FEWEST)
				sort_low_bits(from, to, length, size, low, digit, count);
			else
			{
				insert_items(from, length, size);
				if (passes % 2)
					memcpy(to, from, length * size);
			}
			start = heap[h];
		}
	}
	if (passes % 2)
		exchange(item, other);
	pfree(count);
	pfree(heap);
}

static void
sort_keys(void **key, int64 n, int bits)
{
	void	   *other = allocate(n, sizeof(uint64));

	sort_items(key, &other, n, sizeof(uint64), bits);
	pfree(other);
}

static void
find_range(const gnngp_edge_list *list, numbering *num)
{
	int64		low = list->end[0];
	int64		high = list->end[0];

	for (int64 first = 0; first < 2 * list->n; first += GP_POLL_EVERY)
	{
		int64		end = Min(first + GP_POLL_EVERY, 2 * list->n);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = first; i < end; i++)
		{
			low = Min(low, list->end[i]);
			high = Max(high, list->end[i]);
		}
	}
	num->first = low;
	num->range = (uint64) high - (uint64) low;
}

/* 54000: node numbers have 31 bits. */
static void
check_nodes(int64 n)
{
	if (n > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the graph has " INT64_FORMAT " nodes, but a value may have %d", n,
						PG_INT32_MAX)));
}

static void
number_directly(const gnngp_edge_list *list, numbering *num, gnngp_value_ids *ids)
{
	int64		words = (int64) (num->range >> 6) + 1;
	int64		n = 0;

	num->bits = allocate(words, sizeof(uint64));
	num->before = allocate(words, sizeof(uint32));
	memset(num->bits, 0, words * sizeof(uint64));
	/* Sets the bit of every id */
	for (int64 first = 0; first < 2 * list->n; first += GP_POLL_EVERY)
	{
		int64		end = Min(first + GP_POLL_EVERY, 2 * list->n);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = first; i < end; i++)
		{
			uint64		at = (uint64) list->end[i] - (uint64) num->first;

			num->bits[at >> 6] |= UINT64CONST(1) << (at & 63);
		}
	}
	for (int64 k = 0; k < words; k++)
	{
		gnngp_poll(k);
		num->before[k] = (uint32) n;
		n += pg_popcount64(num->bits[k]);
	}
	check_nodes(n);
	ids->n = n;
	num->dense = (uint64) n == num->range + 1;
	if (num->dense)
		return;
	ids->id = allocate(n, sizeof(int64));
	n = 0;
	for (int64 k = 0; k < words; k++)
	{
		gnngp_poll(k);
		for (uint64 left = num->bits[k]; left; left &= left - 1)
			ids->id[n++] = (int64) ((uint64) num->first + (k << 6) + pg_rightmost_one_pos64(left));
	}
}

/* The ids sorted, each once. */
static void
sort_ids(const gnngp_edge_list *list, const numbering *num, gnngp_value_ids *ids)
{
	int64		n = 2 * list->n;
	uint64	   *key = allocate(n, sizeof(uint64));
	uint64		last = 0;
	int64		distinct = 0;

	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i);
		key[i] = (uint64) list->end[i] - (uint64) num->first;
	}
	sort_keys((void **) &key, n, bits_of(num->range));
	for (int64 i = 0; i < n; i++)
	{
		uint64		k = key[i];

		gnngp_poll(i);
		if (i == 0 || k != last)
			key[distinct++] = (uint64) num->first + k;
		last = k;
	}
	check_nodes(distinct);
	ids->n = distinct;
	ids->id = (int64 *) key;
}

static inline uint64
node_of(numbering *num, int64 id)
{
	uint64		at = (uint64) id - (uint64) num->first;

	if (num->dense)
		return at;
	if (num->bits)
		return num->before[at >> 6] +
			pg_popcount64(num->bits[at >> 6] & ((UINT64CONST(1) << (at & 63)) - 1));
	return (uint32) gnngp_idmap_find(&num->map, id);
}

/* Writes the keys of all edges but self-loops; true when they are in order. */
static bool
make_keys(const gnngp_edge_list *list, const numbering *num, gnngp_sorted_edges *out)
{
	numbering	local = *num;
	const int	shift = out->shift;
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
		key = node_of(&local, low) << shift | node_of(&local, high);
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

/* Orders edges of one key by weight. */
static int
compare_weights(const void *a, const void *b, void *unused)
{
	double		x = ((const gnngp_sorted_edge *) a)->weight;
	double		y = ((const gnngp_sorted_edge *) b)->weight;

	return (x > y) - (x < y);
}

/* Puts the weights of repeated edges in order. */
static void
order_repeated(gnngp_sorted_edge *edge, int64 n)
{
	for (int64 k = 0; k < n;)
	{
		int64		same = k + 1;

		while (same < n && edge[same].key == edge[k].key)
			same++;
		if (same - k > 1)
			gnngp_sort(edge + k, same - k, sizeof(gnngp_sorted_edge), compare_weights, NULL);
		if (same / GP_POLL_EVERY != k / GP_POLL_EVERY)
			CHECK_FOR_INTERRUPTS();
		k = same;
	}
}

void
gnngp_edge_sort(const gnngp_edge_list *list, gnngp_sorted_edges *out)
{
	numbering	num = {0};
	bool		sorted;

	memset(out, 0, sizeof(*out));
	find_range(list, &num);
	out->ids.first = num.first;
	if (num.range < (uint64) DIRECT_MIN || num.range < (uint64) list->n * DIRECT_SHARE)
		number_directly(list, &num, &out->ids);
	else
	{
		/* Numbers ids that lie far apart by a map of the sorted ones, outside of the memory limit:
		 * the list counted it */
		sort_ids(list, &num, &out->ids);
		num.env = gnngp_env_create(CurrentMemoryContext);
		num.env->limit = 0;
		num.ids = (gnngp_ids) {.n = out->ids.n, .integer = true, .key = out->ids.id};
		gnngp_idmap_build(num.env, &num.map, &num.ids);
	}
	num.dense = out->ids.id == NULL;
	out->shift = Max(bits_of(out->ids.n - 1), 1);
	if (list->weighted)
		out->edge = allocate(list->n, sizeof(gnngp_sorted_edge));
	else
		out->key = allocate(list->n, sizeof(uint64));
	sorted = make_keys(list, &num, out);
	/* Frees what number_directly or number_by_map has made */
	if (num.env)
		gnngp_env_destroy(num.env);
	else
	{
		pfree(num.bits);
		pfree(num.before);
	}
	if (!sorted && list->weighted)
	{
		void	   *other = allocate(out->edges, sizeof(gnngp_sorted_edge));

		sort_items((void **) &out->edge, &other, out->edges, sizeof(gnngp_sorted_edge),
				   2 * out->shift);
		pfree(other);
	}
	else if (!sorted)
		sort_keys((void **) &out->key, out->edges, 2 * out->shift);
	if (list->weighted)
		order_repeated(out->edge, out->edges);
	else
	{
		int64		m = 0;

		for (int64 i = 0; i < out->edges; i++)
		{
			gnngp_poll(i);
			if (i == 0 || out->key[i] != out->key[m - 1])
				out->key[m++] = out->key[i];
		}
		out->edges = m;
	}
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
		int64		before = s.edges;

		gnngp_sorted_edges_merge(&s);
		smallest = 9.0 * s.edges + s.ids.n;
		s.edges = before;
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
		gnngp_value_check_size(gnngp_graph_size(&s), "graph");
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
