/*
 * edge_sort.c - from pairs of ids in any order to sorted, numbered edges.
 *
 * The ids become node numbers: where they are dense by a bit for each id, counted
 * up to it, which stays in the processor's cache; else by sorting them and a hash
 * table.  Two numbers make one key, and keys are sorted by counting: many are dealt
 * out by their high bits, then a few bits at a time from the low end.  The result is the same for
 * every order of arrival.
 */
#include "postgres.h"

#include "core/base/places.h"
#include "edge_list.h"
#include "miscadmin.h"
#include "pg/host/host.h"
#include "port/pg_bitutils.h"

#define LOOK_EVERY (1 << 14)	/* items between two looks at interrupts */
#define MANY 65536				/* keys that are dealt out by their high bits first */
#define HIGH_BITS 11
#define FEWEST 64				/* keys of a heap that are sorted by insertion */
#define FEW 4096				/* keys that are sorted eight bits at a time */
#define DIRECT_MIN 4096			/* a range of ids up to this has bits anyway */
#define DIRECT_SHARE 32			/* so has one of so many ids an edge */

/* How ids become node numbers. */
typedef struct numbering
{
	int64		first;			/* the smallest id */
	uint64		range;			/* the largest less the smallest */
	bool		dense;			/* every id of the range is a node */
	uint64	   *bits;			/* a bit for each id of the range that is a node, or NULL */
	uint32	   *before;			/* the nodes before each word of bits */
	uint32	   *table;			/* else a hash table of nodes + 1 */
	gp_env	   *env;
	gp_places	places;			/* of the hash table */
	const gnngp_value_ids *ids;
} numbering;

/* Looks at interrupts at every so many items of a loop. */
static inline void
look(int64 i)
{
	if (i % LOOK_EVERY == 0)
		CHECK_FOR_INTERRUPTS();
}

/* Memory for n items; n may be large. */
static void *
allocate(int64 n, Size size)
{
	void	   *p = MemoryContextAllocHuge(CurrentMemoryContext, (Size) Max(n, 1) * size);

	gnngp_use_large_pages(p, (Size) Max(n, 1) * size);
	return p;
}

/* The bits of a number. */
static int
bits_of(uint64 v)
{
	return v == 0 ? 0 : pg_leftmost_one_pos64(v) + 1;
}

/* Turns counts into first places. */
static void
counts_to_places(int64 *count, int n)
{
	int64		at = 0;

	for (int i = 0; i < n; i++)
	{
		int64		c = count[i];

		count[i] = at;
		at += c;
	}
}

/* How many bits are sorted by at a time: all passes alike. */
static int
digit_bits(int64 n, int bits)
{
	int			most = n < FEW ? 8 : 11;
	int			passes = Max((bits + most - 1) / most, 1);

	return Max((bits + passes - 1) / passes, 1);
}

/* Moves keys to their places by the bits from shift on; count has the places. */
static void
scatter_keys(const uint64 *from, uint64 *to, int64 n, int shift, int places, int64 *count)
{
	memset(count, 0, places * sizeof(int64));
	for (int64 i = 0; i < n; i++)
	{
		look(i + 1);
		count[from[i] >> shift & (places - 1)]++;
	}
	counts_to_places(count, places);
	for (int64 first = 0; first < n; first += LOOK_EVERY)
	{
		int64		end = Min(first + LOOK_EVERY, n);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = first; i < end; i++)
			to[count[from[i] >> shift & (places - 1)]++] = from[i];
	}
}

/* Sorts a few keys by insertion. */
static void
insert_keys(uint64 *key, int64 n)
{
	for (int64 i = 1; i < n; i++)
	{
		uint64		k = key[i];
		int64		j = i;

		for (; j > 0 && key[j - 1] > k; j--)
			key[j] = key[j - 1];
		key[j] = k;
	}
}

/* Sorts keys by their low bits; the result is in key, or in other after an odd number of passes. */
static void
sort_low_bits(uint64 *key, uint64 *other, int64 n, int bits, int digit, int64 *count)
{
	for (int shift = 0; shift < bits; shift += digit)
	{
		uint64	   *from = key;

		scatter_keys(from, other, n, shift, 1 << digit, count);
		key = other;
		other = from;
	}
}

/* Exchanges two arrays. */
static void
exchange(uint64 **a, uint64 **b)
{
	uint64	   *swap = *a;

	*a = *b;
	*b = swap;
}

/*
 * Sorts keys of so many bits; the result is in *key, *other is spoilt.  Many keys
 * are first dealt out by their high bits: the heaps then fit the cache.
 */
static void
sort_keys(uint64 **key, uint64 **other, int64 n, int bits)
{
	int64	   *count = palloc(sizeof(int64) << HIGH_BITS);
	int64	   *heap = palloc(sizeof(int64) << HIGH_BITS);
	int			low = n < MANY ? bits : Max(bits - HIGH_BITS, 0);
	int			digit = digit_bits(n < MANY ? n : n >> HIGH_BITS, low);
	int			passes = (low + digit - 1) / digit;
	int64		start = 0;

	if (n < MANY)
		sort_low_bits(*key, *other, n, low, digit, count);
	else
	{
		scatter_keys(*key, *other, n, low, 1 << HIGH_BITS, heap);
		exchange(key, other);
		for (int h = 0; h < 1 << HIGH_BITS; h++)
		{
			int64		length = heap[h] - start;

			if (length > FEWEST)
				sort_low_bits(*key + start, *other + start, length, low, digit, count);
			else
			{
				insert_keys(*key + start, length);
				if (passes % 2)
					memcpy(*other + start, *key + start, length * sizeof(uint64));
			}
			start = heap[h];
		}
	}
	if (passes % 2)
		exchange(key, other);
	pfree(count);
	pfree(heap);
}

/* The same for edges with weights. */
static void
sort_edges(gnngp_sorted_edge **edge, gnngp_sorted_edge **other, int64 n, int bits)
{
	int			digit = digit_bits(n, bits);
	int			places = 1 << digit;
	int64	   *count = palloc(places * sizeof(int64));

	for (int shift = 0; shift < bits; shift += digit)
	{
		gnngp_sorted_edge *from = *edge;
		gnngp_sorted_edge *to = *other;

		memset(count, 0, places * sizeof(int64));
		for (int64 i = 0; i < n; i++)
		{
			look(i);
			count[from[i].key >> shift & (places - 1)]++;
		}
		counts_to_places(count, places);
		for (int64 first = 0; first < n; first += LOOK_EVERY)
		{
			int64		end = Min(first + LOOK_EVERY, n);

			CHECK_FOR_INTERRUPTS();
			for (int64 i = first; i < end; i++)
				to[count[from[i].key >> shift & (places - 1)]++] = from[i];
		}
		*edge = to;
		*other = from;
	}
	pfree(count);
}

/* The smallest id and the range of them. */
static void
find_range(const gnngp_edge_list *list, numbering *num)
{
	int64		low = list->end[0];
	int64		high = list->end[0];

	for (int64 first = 0; first < 2 * list->n; first += LOOK_EVERY)
	{
		int64		end = Min(first + LOOK_EVERY, 2 * list->n);

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

/* Sets the bit of every id. */
static void
mark_ids(const gnngp_edge_list *list, numbering *num)
{
	for (int64 first = 0; first < 2 * list->n; first += LOOK_EVERY)
	{
		int64		end = Min(first + LOOK_EVERY, 2 * list->n);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = first; i < end; i++)
		{
			uint64		at = (uint64) list->end[i] - (uint64) num->first;

			num->bits[at >> 6] |= UINT64CONST(1) << (at & 63);
		}
	}
}

/* Numbers ids by bits over their range. */
static void
number_directly(const gnngp_edge_list *list, numbering *num, gnngp_value_ids *ids)
{
	int64		words = (int64) (num->range >> 6) + 1;
	int64		n = 0;

	num->bits = allocate(words, sizeof(uint64));
	num->before = allocate(words, sizeof(uint32));
	memset(num->bits, 0, words * sizeof(uint64));
	mark_ids(list, num);
	for (int64 k = 0; k < words; k++)
	{
		look(k);
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
		look(k);
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
	uint64	   *other = allocate(n, sizeof(uint64));
	int64		distinct = 0;

	for (int64 i = 0; i < n; i++)
	{
		look(i);
		key[i] = (uint64) list->end[i] - (uint64) num->first;
	}
	sort_keys(&key, &other, n, bits_of(num->range));
	for (int64 i = 0; i < n; i++)
	{
		look(i);
		if (i == 0 || key[i] != key[i - 1])
			other[distinct++] = (uint64) num->first + key[i];
	}
	check_nodes(distinct);
	ids->n = distinct;
	pfree(key);
	if ((uint64) distinct == num->range + 1)
		pfree(other);
	else
		ids->id = (int64 *) other;
}

/* Numbers ids by a hash table of the sorted ones. */
static void
number_by_hash(const gnngp_edge_list *list, numbering *num, gnngp_value_ids *ids)
{
	uint64		places = 64;

	sort_ids(list, num, ids);
	while (places < 2 * (uint64) ids->n)
		places *= 2;
	num->env = gnngp_env_create(CurrentMemoryContext);
	num->places = gp_places_open(num->env, places);
	num->table = allocate(places, sizeof(uint32));
	memset(num->table, 0, places * sizeof(uint32));
	for (int64 i = 0; i < ids->n; i++)
	{
		uint64		slot = gp_first_place(&num->places, (uint64) gnngp_value_id(ids, i));

		look(i);
		while (num->table[slot])
			slot = gp_next_place(&num->places, slot);
		num->table[slot] = (uint32) i + 1;
	}
}

/* The node of an id. */
static inline uint64
node_of(numbering *num, int64 id)
{
	uint64		at = (uint64) id - (uint64) num->first;
	uint64		slot;

	if (num->dense)
		return at;
	if (num->bits)
		return num->before[at >> 6] +
			pg_popcount64(num->bits[at >> 6] & ((UINT64CONST(1) << (at & 63)) - 1));
	slot = gp_first_place(&num->places, (uint64) id);
	while (gnngp_value_id(num->ids, num->table[slot] - 1) != id)
		slot = gp_next_place(&num->places, slot);
	return num->table[slot] - 1;
}

/* The key of an edge, without a branch: which end has the smaller id is anybody's guess. */
static inline uint64
key_of(numbering *num, const int64 *end, int shift)
{
	int64		low = Min(end[0], end[1]);
	int64		high = Max(end[0], end[1]);

	return node_of(num, low) << shift | node_of(num, high);
}

/* Writes the keys of all edges but self-loops; true when they need sorting. */
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

		look(i);
		if (end[0] == end[1])
			continue;
		key = key_of(&local, end, shift);
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
	return !sorted;
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
		if (same / LOOK_EVERY != k / LOOK_EVERY)
			CHECK_FOR_INTERRUPTS();
		k = same;
	}
}

/* Keeps each key once. */
static int64
unique_keys(uint64 *key, int64 n)
{
	int64		m = 0;

	for (int64 i = 0; i < n; i++)
	{
		look(i);
		if (i == 0 || key[i] != key[m - 1])
			key[m++] = key[i];
	}
	return m;
}

/* Sorts the keys that make_keys left in out. */
static void
sort_made(gnngp_sorted_edges *out)
{
	if (out->key)
	{
		uint64	   *other = allocate(out->edges, sizeof(uint64));

		sort_keys(&out->key, &other, out->edges, 2 * out->shift);
		pfree(other);
	}
	else
	{
		gnngp_sorted_edge *other = allocate(out->edges, sizeof(gnngp_sorted_edge));

		sort_edges(&out->edge, &other, out->edges, 2 * out->shift);
		pfree(other);
	}
}

/* Sorts a list. */
void
gnngp_edge_sort(const gnngp_edge_list *list, gnngp_sorted_edges *out)
{
	numbering	num;

	memset(out, 0, sizeof(*out));
	memset(&num, 0, sizeof(num));
	find_range(list, &num);
	out->ids.first = num.first;
	num.ids = &out->ids;
	if (num.range < (uint64) DIRECT_MIN || num.range < (uint64) list->n * DIRECT_SHARE)
		number_directly(list, &num, &out->ids);
	else
		number_by_hash(list, &num, &out->ids);
	num.dense = out->ids.id == NULL;
	out->shift = Max(bits_of(out->ids.n - 1), 1);
	if (list->weighted)
		out->edge = allocate(list->n, sizeof(gnngp_sorted_edge));
	else
		out->key = allocate(list->n, sizeof(uint64));
	if (make_keys(list, &num, out))
		sort_made(out);
	if (num.bits)
	{
		pfree(num.bits);
		pfree(num.before);
	}
	else
	{
		pfree(num.table);
		gnngp_env_destroy(num.env);
	}
	if (out->key)
		out->edges = unique_keys(out->key, out->edges);
	else
		order_repeated(out->edge, out->edges);
}

/* Adds up the weights of repeated edges. */
void
gnngp_sorted_edges_merge(gnngp_sorted_edges *s)
{
	int64		m = 0;

	for (int64 i = 0; s->edge && i < s->edges; i++)
	{
		look(i);
		if (m > 0 && s->edge[m - 1].key == s->edge[i].key)
			s->edge[m - 1].weight += s->edge[i].weight;
		else
			s->edge[m++] = s->edge[i];
	}
	if (s->edge)
		s->edges = m;
}

/* Frees what gnngp_edge_sort made. */
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
