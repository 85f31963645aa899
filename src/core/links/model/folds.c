/*
 * folds.c - links that a fit hides from itself, and pairs without a link.
 *
 * A score of a linked pair would see the link itself, so each fold takes a share
 * of the links out of the graph and learns from those.  Which ones follows from
 * a hash of the pair and the seed: links are taken in the order of their hashes,
 * so no order of input, no thread and no earlier draw matters.
 */
#include "base/hash_table.h"
#include "links/search/rules.h"

#define LEAST_FOLDS 2			/* where there are links enough */
#define AIM 2800				/* links in all, for which small graphs take more folds */
#define TRIES 64				/* random pairs drawn for each one wanted */
#define MOST_LISTED 4096		/* nodes up to which they are */
#define UNLINKED_SALT UINT64_C(0x6d697373696e6700)	/* draws of non-links are not those of links */

bool
gp_link_exists(const gp_graph *graph, int32_t src, int32_t dst)
{
	return gp_csr_find(graph->start, graph->col, src, dst) >= 0;
}

/* One number for a pair; an undirected one has no order.  Never 0, for the ends differ. */
static uint64_t
pair_code(const gp_graph *graph, int32_t src, int32_t dst)
{
	return graph->directed ? (uint64_t) src << 32 | (uint32_t) dst : gp_link_key(src, dst);
}

/* Orders pairs by their keys. */
static int
compare_pairs(const void *a, const void *b, void *unused)
{
	const gp_link_keyed *x = a;
	const gp_link_keyed *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->src != y->src ? (x->src > y->src) - (x->src < y->src) :
		(x->dst > y->dst) - (x->dst < y->dst);
}

gp_heap
gp_link_sample_open(gp_env *env, int64_t room)
{
	return (gp_heap) {.env = env,.item = gp_alloc_array(env, room, sizeof(gp_link_keyed)),
		.room = room,.size = sizeof(gp_link_keyed),.compare = compare_pairs};
}

/* The pairs [first, first + n) of a sorted sample. */
static gp_link_pairs
sample_part(const gp_heap *s, int64_t first, int64_t n)
{
	gp_link_pairs pairs = gp_link_pairs_create(s->env, n);
	const gp_link_keyed *sorted = s->item;

	for (int64_t k = 0; k < n; k++)
		gp_link_pairs_add(&pairs, sorted[first + k].src, sorted[first + k].dst);
	return pairs;
}

/* A number that is the smaller the later a time is. */
static uint64_t
lateness(double time)
{
	uint64_t	bits;

	memcpy(&bits, &time, sizeof(bits));
	return bits >> 63 ? bits : ~bits & INT64_MAX;
}

/* The first count links by hash or, of a graph with times, the latest. */
static gp_heap
draw_links(gp_env *env, const gp_graph *graph, uint64_t seed, int64_t count, bool latest)
{
	gp_heap		s = gp_link_sample_open(env, count);

	GP_EACH(env, i, graph->nodes, graph->start[i] + i)
	{
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
			if (graph->directed || i < graph->col[k])
			{
				uint64_t	code = pair_code(graph, (int32_t) i, graph->col[k]);

				gp_heap_offer(&s, &(gp_link_keyed) {latest ? lateness(graph->time[k]) :
							  gp_hash(gp_hash(seed) ^ gp_hash(code)), (int32_t) i, graph->col[k]});
			}
	}
	gp_heap_sort(&s);
	return s;
}

gp_link_pairs
gp_link_sample_links(gp_env *env, const gp_graph *graph, uint64_t seed, int64_t count)
{
	gp_heap		s = draw_links(env, graph, seed, gp_min64(count, graph->edges), false);
	gp_link_pairs pairs = sample_part(&s, 0, s.n);

	gp_free(env, s.item);
	return pairs;
}

/* A number below n from a hash. */
static int32_t
below(uint64_t hash, int64_t n)
{
	return (int32_t) (((hash >> 32) * (uint64_t) n) >> 32);
}

gp_link_draws
gp_link_draws_open(gp_env *env, const gp_graph *graph, uint64_t seed, int64_t count,
				   const gp_link_rules *rules)
{
	return (gp_link_draws) {.env = env,.graph = graph,.rules = rules,
		.stream = gp_hash(seed ^ UNLINKED_SALT),.tries = TRIES * count,.node = -1};
}

bool
gp_link_draw(gp_link_draws *d, int32_t *src, int32_t *dst)
{
	while (d->next < d->tries)
	{
		uint64_t	t = (uint64_t) d->next++;
		uint64_t	first = gp_hash(d->stream ^ gp_hash(2 * t));
		uint64_t	second = gp_hash(d->stream ^ gp_hash(2 * t + 1));
		bool		across = d->rules && d->rules->order;

		gp_poll(d->env, d->next, &d->next_look);
		*src = d->node >= 0 ? d->node : across ? gp_link_rules_draw_first(d->rules, first) :
			below(first, d->graph->nodes);
		*dst = across ? gp_link_rules_draw_second(d->rules, *src, second) :
			below(second, d->graph->nodes);
		if (*src != *dst && !gp_link_never(d->rules, *src, *dst) &&
			!gp_link_exists(d->graph, *src, *dst))
			return true;
	}
	return false;
}

/* A sample of all pairs without a link that are not in the set: for small or dense graphs. */
static gp_link_pairs
list_unlinked(gp_env *env, const gp_graph *graph, uint64_t seed, int64_t count, gp_set *except,
			  const gp_link_rules *rules)
{
	gp_heap		s = gp_link_sample_open(env, count);
	uint64_t	stream = gp_hash(seed ^ UNLINKED_SALT);

	for (int64_t i = 0; i < graph->nodes; i++)
	{
		int64_t		k = graph->start[i];

		env->check_interrupts(env);
		for (int64_t j = graph->directed ? 0 : i + 1; j < graph->nodes; j++)
		{
			uint64_t	code = pair_code(graph, (int32_t) i, (int32_t) j);

			while (k < graph->start[i + 1] && graph->col[k] < j)
				k++;
			if (i == j || (k < graph->start[i + 1] && graph->col[k] == j) ||
				gp_link_never(rules, (int32_t) i, (int32_t) j) || gp_set_has(except, code))
				continue;
			gp_heap_offer(&s, &(gp_link_keyed) {gp_hash(stream ^ gp_hash(code)), (int32_t) i,
						  (int32_t) j});
		}
	}
	gp_heap_sort(&s);
	gp_link_pairs pairs = sample_part(&s, 0, s.n);
	gp_free(env, s.item);
	return pairs;
}

/* The set of the pairs that are not to be drawn, with room for count more. */
static gp_set
set_of(gp_env *env, const gp_graph *graph, const gp_link_pairs *except, int64_t count)
{
	int64_t		n = except ? except->n : 0;
	gp_set		set = gp_set_open(env, n + count);

	for (int64_t k = 0; k < n; k++)
		gp_set_add(&set, pair_code(graph, except->src[k], except->dst[k]));
	return set;
}

gp_link_pairs
gp_link_sample_unlinked(gp_env *env, const gp_graph *graph, uint64_t seed, int64_t count,
						const gp_link_pairs *except, const gp_link_rules *rules)
{
	gp_link_pairs pairs = gp_link_pairs_create(env, count);
	gp_set		taken = set_of(env, graph, except, count);
	gp_link_draws draws = gp_link_draws_open(env, graph, seed, count, rules);
	int32_t		src;
	int32_t		dst;

	while (pairs.n < count && gp_link_draw(&draws, &src, &dst))
	{
		uint64_t	code = pair_code(graph, src, dst);

		if (gp_set_add(&taken, code))
			gp_link_pairs_add(&pairs, (int32_t) (code >> 32), (int32_t) (code & UINT32_MAX));
	}
	gp_set_close(&taken);
	if (pairs.n == count || graph->nodes > MOST_LISTED)
		return pairs;
	gp_link_pairs_free(env, &pairs);
	taken = set_of(env, graph, except, 0);
	pairs = list_unlinked(env, graph, seed, count, &taken, rules);
	gp_set_close(&taken);
	return pairs;
}

/* Puts pairs without a link behind the first links of a fold. */
static void
set_pairs(gp_env *env, const gp_link_pairs *links, gp_link_pairs *unlinked, gp_link_fold *fold)
{
	gp_link_pairs first = *links;
	gp_link_pairs old = fold->pairs;

	first.n = fold->links;
	fold->pairs = gp_link_pairs_concat(env, &first, unlinked);
	gp_link_pairs_free(env, unlinked);
	gp_link_pairs_free(env, &old);
}

gp_link_fold
gp_link_fold_hide(gp_env *env, const gp_graph *graph, uint64_t seed, const gp_link_pairs *hidden,
				  const gp_link_pairs *gone, int64_t most)
{
	gp_link_fold fold = {.links = gp_min64(hidden->n, most),.seed = seed};
	gp_link_pairs unlinked = gp_link_sample_unlinked(env, graph, seed, fold.links, NULL, NULL);

	if (unlinked.n == 0)
		gp_raise(env, GP_ERR_DATA, "There is no missing link to predict.",
				 "every pair of nodes is linked already");
	set_pairs(env, hidden, &unlinked, &fold);
	fold.graph = gp_graph_without(env, graph, gone->n, gone->src, gone->dst);
	return fold;
}

bool
gp_link_fold_redraw(gp_env *env, const gp_graph *graph, const gp_link_rules *rules,
					gp_link_fold *fold)
{
	gp_link_pairs unlinked = gp_link_sample_unlinked(env, graph, fold->seed, fold->links, NULL,
													 rules);
	bool		enough = unlinked.n == fold->links;

	if (enough)
		set_pairs(env, &fold->pairs, &unlinked, fold);
	else
		gp_link_pairs_free(env, &unlinked);
	return enough;
}

/* Puts pairs into a random order. */
static void
shuffle(gp_link_pairs *pairs, uint64_t seed)
{
	for (int64_t k = 0; k + 1 < pairs->n; k++)
	{
		int64_t		from = k + (int64_t) (gp_hash(seed + (uint64_t) k) % (uint64_t) (pairs->n - k));

		gp_exchange_nodes(&pairs->src[k], &pairs->src[from]);
		gp_exchange_nodes(&pairs->dst[k], &pairs->dst[from]);
	}
}

void
gp_link_require_two(gp_env *env, const gp_graph *graph)
{
	if (graph->edges < 2)
		gp_raise(env, GP_ERR_DATA, "At least two links are needed; give more edges.",
				 "a graph with %lld links is too small to learn links from",
				 (long long) graph->edges);
}

int
gp_link_folds_make(gp_env *env, const gp_graph *graph, uint64_t seed, gp_link_fold *fold)
{
	/* The links that a fold hides. */
	int64_t		share = gp_max64(llround(GP_LINK_FOLD_SHARE * (double) graph->edges), 1);
	int64_t		wanted = AIM / gp_min64(share, GP_LINK_FOLD_PAIRS);

	gp_link_require_two(env, graph);
	wanted = gp_min64(gp_max64(wanted, LEAST_FOLDS),
					  graph->time ? LEAST_FOLDS : GP_LINK_FOLDS);
	int			folds = (int) gp_min64(wanted, graph->edges / share);
	gp_heap		order = draw_links(env, graph, seed, folds * share, graph->time != NULL);
	/* Of a graph with times a fold's graph has no link that came after those that it hides. */
	for (int f = 0; f < folds; f++)
	{
		uint64_t	own = gp_hash(seed) + (uint64_t) f + 1;
		int64_t		first = graph->time ? 0 : f * share;
		gp_link_pairs hidden = sample_part(&order, f * share, share);
		gp_link_pairs gone = sample_part(&order, first, (f + 1) * share - first);

		if (graph->time)
			shuffle(&hidden, gp_hash(own));
		fold[f] = gp_link_fold_hide(env, graph, own, &hidden, &gone, GP_LINK_FOLD_PAIRS);
		gp_link_pairs_free(env, &hidden);
		gp_link_pairs_free(env, &gone);
	}
	gp_free(env, order.item);
	return folds;
}

int32_t
gp_link_query_end(const gp_link_fold *fold, int64_t e, int32_t *other)
{
	bool		turn = !fold->graph->directed && e % 2 == 1;

	*other = turn ? fold->pairs.src[e] : fold->pairs.dst[e];
	return turn ? fold->pairs.dst[e] : fold->pairs.src[e];
}

void
gp_link_fold_free(gp_env *env, gp_link_fold *fold)
{
	gp_graph_free(env, fold->graph);
	gp_link_pairs_free(env, &fold->pairs);
	gp_link_rivals_free(env, &fold->rivals);
	gp_link_calibration_pairs_free(env, &fold->calibration);
	memset(fold, 0, sizeof(*fold));
}
