/*
 * lsh.c - tables of codes, and the nodes nearest to one.
 */
#include "lsh.h"

#define PLAIN_NODES 4096		/* up to so many nodes all codes are compared */
#define MAX_BANDS 16
#define BUCKET_NODES 8			/* in a bucket, on average */
#define BUCKET_LOOK 64			/* nodes of a bucket that are looked at */
#define CODE_BITS (64 * GP_LINK_CODE_WORDS)

/* True for a node that the kernel knows nothing of. */
static inline bool
no_code(const uint64_t *code)
{
	uint64_t	any = 0;

	for (int w = 0; w < GP_LINK_CODE_WORDS; w++)
		any |= code[w];
	return any == 0;
}

static inline uint32_t
band_of(const uint64_t *code, int band, int bits)
{
	int			at = band * bits;
	int			shift = at % 64;
	uint64_t	word = code[at / 64] >> shift;

	if (shift + bits > 64)
		word |= code[at / 64 + 1] << (64 - shift);
	return (uint32_t) (word & ((UINT64_C(1) << bits) - 1));
}

gp_link_tables
gp_link_tables_make(gp_env *env, const uint64_t *code, int64_t n)
{
	gp_link_tables t = {.code = code, .n = n, .bits = 1};

	if (code == NULL || n <= PLAIN_NODES)
		return t;
	while (t.bits < 24 && (INT64_C(1) << (t.bits + 1)) * BUCKET_NODES <= n + n / 2)
		t.bits++;
	t.bands = CODE_BITS / t.bits < MAX_BANDS ? CODE_BITS / t.bits : MAX_BANDS;
	t.node = gp_alloc_array(env, gp_size_mul(env, t.bands, n), sizeof(int32_t));
	t.start = gp_alloc_zero(env, gp_size_mul(env, t.bands, (INT64_C(1) << t.bits) + 1),
							sizeof(int32_t));
	uint32_t   *key = gp_alloc_array(env, n, sizeof(uint32_t));
	/* Nodes without a code stand in the first bucket, and are passed over when it is looked at. */
	for (int band = 0; band < t.bands && !env->dry; band++)
	{
		int64_t		buckets = INT64_C(1) << t.bits;
		int32_t    *node = t.node + band * n;
		int32_t    *start = t.start + band * (buckets + 1);
		int32_t		sum = 0;

		env->check_interrupts(env);
		for (int64_t i = 0; i < n; i++)
		{
			key[i] = band_of(code + i * GP_LINK_CODE_WORDS, band, t.bits);
			start[key[i] + 1]++;
		}
		/* start[b + 1] holds where bucket b begins, and grows to where it ends. */
		for (int64_t b = 0; b < buckets; b++)
		{
			int32_t		count = start[b + 1];

			start[b + 1] = sum;
			sum += count;
		}
		for (int64_t i = 0; i < n; i++)
			node[start[key[i] + 1]++] = (int32_t) i;
	}
	gp_free(env, key);
	return t;
}

void
gp_link_tables_free(gp_env *env, gp_link_tables *t)
{
	gp_free_all(env, t->node, t->start);
}

/* Puts a node among the nearest when it belongs there. */
static void
offer(const gp_link_tables *t, const gp_link_marks *marks, gp_link_nearest *best, int32_t node,
	  int32_t other)
{
	const uint64_t *a = t->code + (int64_t) node * GP_LINK_CODE_WORDS;
	const uint64_t *b = t->code + (int64_t) other * GP_LINK_CODE_WORDS;
	uint64_t	key = 0;

	if (gp_link_marks_of(marks, other) & GP_MARK_NEVER || no_code(b))
		return;
	for (int w = 0; w < GP_LINK_CODE_WORDS; w++)
		key += (uint64_t) __builtin_popcountll(a[w] ^ b[w]);
	key = key << 32 | (uint32_t) other;
	if (best->n == GP_LINK_NEAREST && key > best->key[GP_LINK_NEAREST - 1])
		return;
	int			at = best->n < GP_LINK_NEAREST ? best->n++ : GP_LINK_NEAREST - 1;
	for (; at > 0 && best->key[at - 1] > key; at--)
		best->key[at] = best->key[at - 1];
	best->key[at] = key;
}

/* Looks at the nodes around the node's own place in its bucket of one band; returns how many. */
static int64_t
look_in_band(const gp_link_tables *t, gp_link_marks *marks, gp_link_nearest *best, int32_t node,
			 int band)
{
	uint32_t	bucket = band_of(t->code + (int64_t) node * GP_LINK_CODE_WORDS, band, t->bits);
	const int32_t *start = t->start + band * ((INT64_C(1) << t->bits) + 1);
	const int32_t *place = t->node + band * t->n;
	int32_t		lo = start[bucket];
	int32_t		hi = start[bucket + 1];

	if (hi - lo > BUCKET_LOOK)
	{
		int32_t		from = lo + (int32_t) gp_sorted_find(place + lo, hi - lo, node);

		from = from - lo > BUCKET_LOOK / 2 ? from - BUCKET_LOOK / 2 : lo;
		lo = hi - from > BUCKET_LOOK ? from : hi - BUCKET_LOOK;
		hi = lo + BUCKET_LOOK;
	}
	for (int32_t k = lo; k < hi; k++)
		if (gp_link_mark(marks, place[k], GP_MARK_SEEN))
			offer(t, marks, best, node, place[k]);
	return hi - lo;
}

int64_t
gp_link_nearest_find(const gp_link_tables *t, gp_link_marks *marks, int32_t node,
					 gp_link_nearest *best)
{
	int64_t		looked = 0;

	best->n = 0;
	if (t->code == NULL || no_code(t->code + (int64_t) node * GP_LINK_CODE_WORDS))
		return 0;
	for (; t->bands == 0 && looked < t->n; looked++)
		offer(t, marks, best, node, (int32_t) looked);
	for (int band = 0; band < t->bands; band++)
		looked += look_in_band(t, marks, best, node, band);
	return looked;
}
