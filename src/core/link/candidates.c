/*
 * candidates.c - the pairs of a node that are worth a score.
 *
 * Missing links close short paths, or join nodes that the kernel finds alike.
 * So the candidates of a node are what walks of two or three steps reach, and
 * its nearest nodes by the sign codes of the kernel: codes of two nodes differ
 * in a share of bits that is the angle between their rows, over pi (Charikar
 * 2002).  The work is bounded for each node, and grows with the links in all.
 *
 * Walks go along the symmetric pattern.  Middles of few links are passed
 * whole: they say most, and are cheap.  Hubs follow, the smaller ones first,
 * until a budget is spent; a hub that does not fit is walked in part, from a
 * place that depends on the two nodes alone.
 *
 * A search that has learnt where links lie leaves out the pairs that are never
 * linked.  Where links lead from side to side, what lies two steps from a node,
 * and what the kernel finds like it, are of its own side: these nodes are no
 * candidates but middles, and what they are linked with is.
 */
#include "base/base.h"
#include "base/sort.h"
#include "link_internal.h"

#include <string.h>

#define HUB_DEGREE 100			/* a node of more neighbours is a hub */
#define WALK_BUDGET 4000		/* entries walked for a node before hubs and third steps end */
#define FEW (2 * GP_LINK_KEPT)	/* candidates, below which two hops give few */
#define NEAREST 50				/* neighbours in the kernel */
#define PLAIN_NODES 4096		/* up to so many nodes all codes are compared */
#define MAX_BANDS 16
#define BUCKET_NODES 8			/* in a bucket, on average */
#define BUCKET_LOOK 64			/* nodes of a bucket that are looked at */
#define CODE_BITS (64 * GP_LINK_CODE_WORDS)

/* Marks of a node, in the low bits of its stamp; the rest of it is the search. */
#define MARK_TAKEN 1			/* a candidate, or never one */
#define MARK_SEEN 2				/* by the kernel's neighbours */
#define MARK_NEVER 4			/* the node itself, or linked from it */
#define MARK_BITS 3
#define LAST_SEARCH (UINT32_MAX >> MARK_BITS)

/* Nodes whose codes agree in some bits: a table for each band of bits. */
typedef struct tables
{
	int			bands;			/* 0: none */
	int			bits;			/* of a band */
	int32_t    *node;			/* bands x n, by bucket, then ascending */
	int32_t    *start;			/* bands x (2^bits + 1) */
} tables;

struct gp_link_search
{
	gp_env	   *env;
	const gp_graph *graph;
	const gp_csr *neighbours;
	const uint64_t *code;
	gp_link_candidates candidates;
	int64_t		n;
	uint32_t   *stamp;			/* n: search and marks */
	uint32_t	base;			/* of the search that runs */
	uint64_t   *hub;			/* degree and number of the node's hubs */
	tables		t;
	/* what was learnt; all false and NULL before */
	gp_link_habits habits;
	gp_link_sides sides;		/* when it is two-sided */
	bool	   *ends;			/* nodes that links lead to, where only these are candidates */
	bool		features;		/* the kernel tells nodes without a path between them apart */
	/* of the node that is searched */
	int32_t    *out;
	int64_t		found;
	int64_t		walked;
	/* of all nodes */
	int64_t		work;
	int64_t		next_look;
};

/* The k nearest codes so far, ascending by distance, then by number. */
typedef struct nearest
{
	int			n;
	uint64_t	key[NEAREST];	/* distance and node */
} nearest;

/* ---- tables of codes ---- */

/* True for a node that the kernel knows nothing of. */
static inline bool
no_code(const uint64_t *code)
{
	uint64_t	any = 0;

	for (int w = 0; w < GP_LINK_CODE_WORDS; w++)
		any |= code[w];
	return any == 0;
}

/* The bits of a code in one band. */
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

/*
 * Sorts the nodes by their bits in one band; key is room for n.  Nodes without
 * a code stand in the first bucket, and are passed over when it is looked at.
 */
static void
fill_table(gp_link_search *s, int band, uint32_t *key)
{
	int			bits = s->t.bits;
	int64_t		n = s->n;
	int64_t		buckets = INT64_C(1) << bits;
	const uint64_t *code = s->code;
	int32_t    *node = s->t.node + band * n;
	int32_t    *start = s->t.start + band * (buckets + 1);
	int32_t		sum = 0;

	for (int64_t i = 0; i < n; i++)
		key[i] = band_of(code + i * GP_LINK_CODE_WORDS, band, bits);
	for (int64_t i = 0; i < n; i++)
		start[key[i] + 1]++;
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

/* Makes the tables: buckets of some nodes each, as many bands as the codes have. */
static void
make_tables(gp_link_search *s)
{
	gp_env	   *env = s->env;
	tables	   *t = &s->t;
	uint32_t   *key;

	t->bits = 1;
	while (t->bits < 24 && (INT64_C(1) << (t->bits + 1)) * BUCKET_NODES <= s->n + s->n / 2)
		t->bits++;
	t->bands = CODE_BITS / t->bits < MAX_BANDS ? CODE_BITS / t->bits : MAX_BANDS;
	t->node = gp_alloc_array(env, gp_size_mul(env, t->bands, s->n), sizeof(int32_t));
	t->start = gp_alloc_zero(env, gp_size_mul(env, t->bands, (INT64_C(1) << t->bits) + 1),
							 sizeof(int32_t));
	key = gp_alloc_array(env, s->n, sizeof(uint32_t));
	for (int band = 0; band < t->bands; band++)
	{
		env->check_interrupts(env);
		fill_table(s, band, key);
	}
	gp_free(env, key);
}

/* ---- opening and closing ---- */

/* The neighbours of a node. */
static inline int64_t
degree(const gp_link_search *s, int64_t node)
{
	return s->neighbours->start[node + 1] - s->neighbours->start[node];
}

/* Makes a search. */
gp_link_search *
gp_link_search_open(gp_env *env, const gp_graph *graph, const gp_csr *neighbours,
					const uint64_t *code, gp_link_candidates candidates)
{
	gp_link_search *s = gp_alloc_zero(env, 1, sizeof(gp_link_search));
	int64_t		hubs = 0;

	s->env = env;
	s->graph = graph;
	s->neighbours = neighbours;
	s->code = code;
	s->candidates = candidates;
	s->n = graph->nodes;
	s->stamp = gp_alloc_zero(env, s->n, sizeof(uint32_t));
	for (int64_t i = 0; i < s->n; i++)
		hubs += degree(s, i) > HUB_DEGREE;
	s->hub = gp_alloc_array(env, hubs, sizeof(uint64_t));
	if (code && candidates != GP_CANDIDATES_ALL && s->n > PLAIN_NODES)
		make_tables(s);
	return s;
}

/* Lets a search look where links were found. */
void
gp_link_search_learn(gp_link_search *s, gp_link_habits habits, bool features)
{
	s->habits = habits;
	s->features = features;
	if (habits.two_sided)
		s->sides = gp_link_sides_find(s->env, s->neighbours);
	if (habits.ends)
		s->ends = gp_link_ends_find(s->env, s->graph);
}

/* Frees it. */
void
gp_link_search_close(gp_link_search *s)
{
	gp_env	   *env = s->env;

	gp_link_sides_free(env, &s->sides);
	gp_free(env, s->ends);
	gp_free(env, s->t.node);
	gp_free(env, s->t.start);
	gp_free(env, s->hub);
	gp_free(env, s->stamp);
	gp_free(env, s);
}

/* ---- walks ---- */

/* The marks of a node in this search. */
static inline uint32_t
marks(const gp_link_search *s, int32_t node)
{
	return s->stamp[node] >= s->base ? s->stamp[node] - s->base : 0;
}

/* Adds marks to a node; true when it had none of them. */
static inline bool
mark(gp_link_search *s, int32_t node, uint32_t bits)
{
	uint32_t	had = marks(s, node);

	s->stamp[node] = s->base | had | bits;
	return (had & bits) == 0;
}

/* Takes a node unless it is taken. */
static inline void
take(gp_link_search *s, int32_t node)
{
	if (mark(s, node, MARK_TAKEN))
		s->out[s->found++] = node;
}

/* Counts work, and looks at interrupts. */
static inline void
count_work(gp_link_search *s, int64_t entries)
{
	s->work += 1 + entries;
	gp_look(s->env, s->work, &s->next_look);
}

/* Takes the neighbours of a middle, at most limit of them from place first on, round. */
static void
walk(gp_link_search *s, int32_t middle, int64_t first, int64_t limit)
{
	const int32_t *col = s->neighbours->col + s->neighbours->start[middle];
	int64_t		n = degree(s, middle);
	int64_t		length = limit < n ? limit : n;
	int64_t		tail = n - first < length ? n - first : length;

	for (int64_t k = 0; k < tail; k++)
		take(s, col[first + k]);
	for (int64_t k = 0; k < length - tail; k++)
		take(s, col[k]);
	s->walked += length;
	count_work(s, length);
}

/* What is left of the budget. */
static inline int64_t
left(const gp_link_search *s)
{
	return s->walked < WALK_BUDGET ? WALK_BUDGET - s->walked : 0;
}

/* Orders hubs by degree, then by number. */
static int
compare_hubs(const void *a, const void *b, void *unused)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Takes what lies behind the node's hubs, the smallest hub first, while the budget lasts. */
static void
walk_hubs(gp_link_search *s, int32_t node, int64_t hubs)
{
	if (left(s) == 0)
		return;
	gp_sort(s->env, s->hub, hubs, sizeof(uint64_t), compare_hubs, NULL);
	for (int64_t h = 0; h < hubs && left(s) > 0; h++)
	{
		int32_t		middle = (int32_t) (s->hub[h] & UINT32_MAX);
		int64_t		n = degree(s, middle);
		int64_t		first = 0;

		if (n > left(s))
			first = (int64_t) (gp_hash(gp_hash((uint64_t) node) ^ (uint64_t) middle) % (uint64_t) n);
		walk(s, middle, first, left(s));
	}
}

/* Takes all nodes within two steps, and those whose only link with the node comes from them. */
static void
two_hops(gp_link_search *s, int32_t node)
{
	const gp_csr *a = s->neighbours;
	int64_t		hubs = 0;

	for (int64_t k = a->start[node]; k < a->start[node + 1]; k++)
	{
		int32_t		middle = a->col[k];
		int64_t		n = degree(s, middle);

		take(s, middle);
		if (n <= HUB_DEGREE)
			walk(s, middle, 0, n);
		else
			s->hub[hubs++] = (uint64_t) n << 32 | (uint32_t) middle;
	}
	walk_hubs(s, node, hubs);
}

/*
 * Takes nodes at three steps through what was found at two, hubs excepted,
 * while the budget lasts; begins at a place that depends on the node alone.
 */
static void
third_hop(gp_link_search *s, int32_t node)
{
	int64_t		n = s->found;
	int64_t		first = n > 0 ? (int64_t) (gp_hash((uint64_t) node) % (uint64_t) n) : 0;

	for (int64_t k = 0; k < n && left(s) > 0; k++)
	{
		int32_t		middle = s->out[(first + k) % n];

		if (degree(s, middle) <= HUB_DEGREE)
			walk(s, middle, 0, left(s));
	}
}

/* ---- neighbours in the kernel ---- */

/* The set bits of a word. */
static inline int
bits_set(uint64_t x)
{
	x -= (x >> 1) & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) ((x * UINT64_C(0x0101010101010101)) >> 56);
}

/* Puts a node among the nearest when it belongs there. */
static void
offer(gp_link_search *s, nearest *best, int32_t node, int32_t other)
{
	const uint64_t *a = s->code + (int64_t) node * GP_LINK_CODE_WORDS;
	const uint64_t *b = s->code + (int64_t) other * GP_LINK_CODE_WORDS;
	uint64_t	key = 0;
	int			at;

	if (marks(s, other) & MARK_NEVER || no_code(b))
		return;
	for (int w = 0; w < GP_LINK_CODE_WORDS; w++)
		key += (uint64_t) bits_set(a[w] ^ b[w]);
	key = key << 32 | (uint32_t) other;
	if (best->n == NEAREST && key > best->key[NEAREST - 1])
		return;
	at = best->n < NEAREST ? best->n++ : NEAREST - 1;
	for (; at > 0 && best->key[at - 1] > key; at--)
		best->key[at] = best->key[at - 1];
	best->key[at] = key;
}

/* Looks at the nodes around the node's own place in its bucket of one band. */
static void
look_in_band(gp_link_search *s, nearest *best, int32_t node, int band)
{
	const tables *t = &s->t;
	uint32_t	bucket = band_of(s->code + (int64_t) node * GP_LINK_CODE_WORDS, band, t->bits);
	const int32_t *start = t->start + band * ((INT64_C(1) << t->bits) + 1);
	const int32_t *place = t->node + band * s->n;
	int32_t		lo = start[bucket];
	int32_t		hi = start[bucket + 1];

	if (hi - lo > BUCKET_LOOK)
	{
		int32_t		from = lo;
		int32_t		to = hi;

		while (from < to)		/* ends at the node's own place */
		{
			int32_t		mid = from + (to - from) / 2;

			if (place[mid] < node)
				from = mid + 1;
			else
				to = mid;
		}
		from = from - lo > BUCKET_LOOK / 2 ? from - BUCKET_LOOK / 2 : lo;
		lo = hi - from > BUCKET_LOOK ? from : hi - BUCKET_LOOK;
		hi = lo + BUCKET_LOOK;
	}
	for (int32_t k = lo; k < hi; k++)
		if (mark(s, place[k], MARK_SEEN))
			offer(s, best, node, place[k]);
	count_work(s, hi - lo);
}

/* The nearest nodes in the kernel, among those that share some band of the code. */
static void
find_nearest(gp_link_search *s, int32_t node, nearest *best)
{
	best->n = 0;
	if (s->code == NULL || no_code(s->code + (int64_t) node * GP_LINK_CODE_WORDS))
		return;
	if (s->t.bands == 0)
	{
		for (int64_t j = 0; j < s->n; j++)
			offer(s, best, node, (int32_t) j);
		count_work(s, s->n);
	}
	for (int band = 0; band < s->t.bands; band++)
		look_in_band(s, best, node, band);
}

/* Takes them. */
static void
kernel_neighbours(gp_link_search *s, int32_t node)
{
	nearest		best;

	find_nearest(s, node, &best);
	for (int k = 0; k < best.n; k++)
		take(s, (int32_t) (best.key[k] & UINT32_MAX));
}

/* ---- what was learnt ---- */

/* True when links lead from side to side where the node is. */
static inline bool
has_side(const gp_link_search *s, int32_t node)
{
	return s->habits.two_sided && s->sides.side[node] != GP_LINK_NO_SIDE;
}

/* True for a pair that is never a link. */
static inline bool
never_linked(const gp_link_search *s, int32_t node, int32_t other)
{
	const gp_graph *g = s->graph;

	if (has_side(s, node) && gp_link_same_side(&s->sides, node, other))
		return true;
	return s->ends && !s->ends[other] && g->start[other + 1] > g->start[other];
}

/* True when so few of the nodes that were found may be linked with the node that a third step is due. */
static bool
found_few(const gp_link_search *s, int32_t node)
{
	int64_t		n = 0;

	for (int64_t k = 0; k < s->found && n < FEW; k++)
		n += !never_linked(s, node, s->out[k]);
	return n < FEW;
}

/* Drops what is never linked with the node. */
static void
drop_never(gp_link_search *s, int32_t node)
{
	int64_t		n = 0;

	if (!s->habits.two_sided && !s->ends)
		return;
	for (int64_t k = 0; k < s->found; k++)
		if (never_linked(s, node, s->out[k]))
			mark(s, s->out[k], MARK_NEVER);
		else
			s->out[n++] = s->out[k];
	count_work(s, s->found);
	s->found = n;
}

/* Takes what a node of the own side is linked with; a hub's links in part. */
static void
walk_middle(gp_link_search *s, int32_t node, int32_t middle)
{
	int64_t		n = degree(s, middle);
	int64_t		first = 0;

	if (n > HUB_DEGREE)
		first = (int64_t) (gp_hash(gp_hash((uint64_t) node) ^ (uint64_t) middle) % (uint64_t) n);
	walk(s, middle, first, HUB_DEGREE < left(s) ? HUB_DEGREE : left(s));
}

/*
 * Takes what lies behind the nodes that are nearest in the kernel, for these are of
 * the own side; one that is known to be of the other is taken itself.
 */
static void
behind_nearest(gp_link_search *s, int32_t node)
{
	nearest		best;

	find_nearest(s, node, &best);
	for (int k = 0; k < best.n && left(s) > 0; k++)
	{
		int32_t		other = (int32_t) (best.key[k] & UINT32_MAX);
		bool		joined = s->sides.component[other] == s->sides.component[node];

		if (!joined && !s->features)
			continue;
		if (joined && s->sides.side[other] != s->sides.side[node])
			take(s, other);
		else
			walk_middle(s, node, other);
	}
}

/*
 * Takes nodes of the other side: what lies behind the nearest nodes in the kernel,
 * and behind what was found at two steps, as in a third step, while a budget lasts.
 */
static void
from_side_to_side(gp_link_search *s, int32_t node)
{
	int64_t		n = s->found;
	int64_t		first = n > 0 ? (int64_t) (gp_hash((uint64_t) node) % (uint64_t) n) : 0;

	s->walked = 0;
	behind_nearest(s, node);
	for (int64_t k = 0; k < n && left(s) > 0; k++)
	{
		int32_t		middle = s->out[(first + k) % n];

		if (gp_link_same_side(&s->sides, node, middle))
			walk_middle(s, node, middle);
	}
}

/* ---- one node ---- */

/* Starts a search: what can be no candidate is marked. */
static void
begin(gp_link_search *s, int32_t node, int32_t *out)
{
	const gp_graph *g = s->graph;

	if (s->base >> MARK_BITS == LAST_SEARCH)
	{
		memset(s->stamp, 0, s->n * sizeof(uint32_t));
		s->base = 0;
	}
	s->base += UINT32_C(1) << MARK_BITS;
	s->out = out;
	s->found = 0;
	s->walked = 0;
	mark(s, node, MARK_TAKEN | MARK_SEEN | MARK_NEVER);
	for (int64_t k = g->start[node]; k < g->start[node + 1]; k++)
		mark(s, g->col[k], MARK_TAKEN | MARK_SEEN | MARK_NEVER);
	count_work(s, g->start[node + 1] - g->start[node]);
}

/* Takes every node that may be one. */
static void
everything(gp_link_search *s)
{
	for (int64_t j = 0; j < s->n; j++)
		if (!(marks(s, (int32_t) j) & MARK_NEVER))
			s->out[s->found++] = (int32_t) j;
	count_work(s, s->n);
}

/* Sorts what was found; where it is much, reading all stamps in their order is faster. */
static void
sort_found(gp_link_search *s)
{
	int64_t		at = 0;

	count_work(s, s->found);
	if (s->found < s->n / 64)
	{
		gp_sort_columns(s->env, s->out, s->found);
		return;
	}
	for (int64_t j = 0; j < s->n; j++)
	{
		s->out[at] = (int32_t) j;
		at += (marks(s, (int32_t) j) & (MARK_TAKEN | MARK_NEVER)) == MARK_TAKEN;
	}
}

/* Takes what lies at three steps where that is to be, and the nearest in the kernel. */
static void
around(gp_link_search *s, int32_t node)
{
	if (s->candidates == GP_CANDIDATES_THREE_HOPS || s->habits.three ||
		(s->candidates == GP_CANDIDATES_AUTO && found_few(s, node)))
		third_hop(s, node);
	kernel_neighbours(s, node);
}

/* The candidates of a node. */
int64_t
gp_link_search_node(gp_link_search *s, int32_t node, int32_t *out)
{
	begin(s, node, out);
	if (s->candidates == GP_CANDIDATES_ALL)
	{
		everything(s);
		return s->found;
	}
	if (s->habits.starts && degree(s, node) > 0 && s->graph->start[node + 1] == s->graph->start[node])
		return 0;
	two_hops(s, node);
	if (has_side(s, node))
		from_side_to_side(s, node);
	else
		around(s, node);
	drop_never(s, node);
	sort_found(s);
	return s->found;
}
