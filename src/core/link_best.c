/*
 * link_best.c - the best missing links of each node.
 *
 * Sources are taken in groups whose columns of scores are computed together.
 * Of a node's candidates the linear model keeps some, the Gaussian process ranks
 * these, and the best get their posterior.
 */
#include "link_predict.h"

#include "hash.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_PAIRS (INT64_C(1) << 17)	/* candidates of a group, unless one node has more */

/* A candidate and what ranks it. */
typedef struct ranked
{
	double		rank;
	int32_t		dst;
	int64_t		place;			/* of its scores */
} ranked;

/* Pairs that have been told, so that (j, i) is not told after (i, j). */
typedef struct told
{
	uint64_t   *slot;			/* keys plus one; 0 is free */
	int64_t		size;			/* a power of two */
	int64_t		used;
} told;

typedef struct best
{
	gp_links   *l;
	gp_env	   *env;
	int64_t		k;
	gp_link_search *search;
	gp_link_take take;
	void	   *state;
	bool	   *asked;			/* nodes that are asked for or done: a pair of two may come twice */
	told		told;
	int32_t    *found;			/* candidates of one node */
	/* of the group */
	int32_t		sources;
	int32_t		source[GP_LINK_BLOCK];
	int64_t		first[GP_LINK_BLOCK + 1];	/* of each source's candidates */
	int64_t		room;
	int32_t    *slot;
	int32_t    *dst;
} best;

/* Best first, ties by node. */
static int
compare_ranked(const void *a, const void *b)
{
	const ranked *x = a;
	const ranked *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

/* Best first, ties by node. */
static int
compare_rows(const void *a, const void *b)
{
	const gp_link_row *x = a;
	const gp_link_row *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

/* Finds a key's slot, or the free one where it belongs. */
static int64_t
told_slot(const told *t, uint64_t key)
{
	int64_t		at = (int64_t) (gp_hash(key) & (uint64_t) (t->size - 1));

	while (t->slot[at] != 0 && t->slot[at] != key + 1)
		at = (at + 1) & (t->size - 1);
	return at;
}

/* Doubles the table. */
static void
told_grow(gp_env *env, told *t)
{
	told		new = {NULL, t->size > 0 ? 2 * t->size : 1024, t->used};
	int64_t		next = 0;

	new.slot = gp_alloc_zero(env, new.size, sizeof(uint64_t));
	for (int64_t k = 0; k < t->size; k++)
	{
		gp_look(env, k, &next);
		if (t->slot[k] != 0)
			new.slot[told_slot(&new, t->slot[k] - 1)] = t->slot[k];
	}
	gp_free(env, t->slot);
	*t = new;
}

/* True when the pair was not told before; remembers it. */
static bool
tell_once(gp_env *env, told *t, int32_t i, int32_t j)
{
	uint64_t	key = (uint64_t) (i < j ? i : j) << 32 | (uint32_t) (i < j ? j : i);
	int64_t		at;

	if (2 * t->used >= t->size)
		told_grow(env, t);
	at = told_slot(t, key);
	if (t->slot[at] != 0)
		return false;
	t->slot[at] = key + 1;
	t->used++;
	return true;
}

/* Adds a node's candidates to the group. */
static void
add_source(best *b, int32_t node)
{
	int64_t		n = gp_link_search_node(b->search, node, b->found);
	int64_t		at = b->first[b->sources];

	if (at + n > b->room)
	{
		b->room = 2 * (at + n);
		b->slot = gp_realloc_array(b->env, b->slot, b->room, sizeof(int32_t));
		b->dst = gp_realloc_array(b->env, b->dst, b->room, sizeof(int32_t));
	}
	for (int64_t e = 0; e < n; e++)
	{
		b->slot[at + e] = b->sources;
		b->dst[at + e] = b->found[e];
	}
	b->source[b->sources++] = node;
	b->first[b->sources] = at + n;
}

/* The linear model's opinion of a candidate. */
static double
linear_score(const gp_link_model *m, const double *score)
{
	double		sum = m->ridge[m->width];

	for (int32_t j = 0; j < m->width; j++)
		sum += m->ridge[j] * (score[j] - m->centre[j]) / m->spread[j];
	return sum;
}

/* Lets the candidate at a place of a heap of n sink; the worst is on top. */
static void
sink(ranked *heap, int64_t n, int64_t at)
{
	ranked		own = heap[at];

	for (int64_t child; (child = 2 * at + 1) < n; at = child)
	{
		if (child + 1 < n && compare_ranked(&heap[child + 1], &heap[child]) > 0)
			child++;
		if (compare_ranked(&heap[child], &own) <= 0)
			break;
		heap[at] = heap[child];
	}
	heap[at] = own;
}

/* Brings the best of n candidates to the front, and sorts them: there may be millions of others. */
static void
select_best(gp_env *env, ranked *r, int64_t n, int64_t keep)
{
	int64_t		next = 0;

	for (int64_t at = keep / 2 - 1; at >= 0; at--)
		sink(r, keep, at);
	for (int64_t e = keep; e < n; e++)
	{
		gp_look(env, e, &next);
		if (compare_ranked(&r[e], &r[0]) < 0)
		{
			r[0] = r[e];
			sink(r, keep, 0);
		}
	}
	qsort(r, keep, sizeof(ranked), compare_ranked);
}

/* Ranks the candidates of one source by the linear model; returns how many to keep. */
static int64_t
rank_source(const best *b, int32_t source, const double *score, ranked *r)
{
	const gp_link_model *m = b->l->model;
	int64_t		n = b->first[source + 1] - b->first[source];
	int64_t		keep = b->k > GP_LINK_KEPT ? b->k : GP_LINK_KEPT;
	int64_t		next = 0;

	for (int64_t e = 0; e < n; e++)
	{
		int64_t		place = b->first[source] + e;

		gp_look(b->env, e, &next);
		r[e].place = place;
		r[e].dst = b->dst[place];
		r[e].rank = score ? linear_score(m, score + place * m->width) : 0.0;
	}
	if (score == NULL || n <= keep)
		return n;
	select_best(b->env, r, n, keep);
	return keep;
}

/* Copies the scores of kept candidates side by side. */
static double *
gather_scores(const best *b, const ranked *r, int64_t n, const double *score)
{
	int32_t		width = b->l->model->width;
	double	   *out;

	if (score == NULL)
		return NULL;
	out = gp_alloc_array(b->env, n * width, sizeof(double));
	for (int64_t e = 0; e < n; e++)
		memcpy(out + e * width, score + r[e].place * width, width * sizeof(double));
	return out;
}

/* Ranks kept candidates, source after source in r, by their posterior means. */
static void
rank_by_means(best *b, ranked *r, const int64_t *first, const double *score)
{
	int64_t		n = first[b->sources];
	double	   *kept = gather_scores(b, r, n, score);
	double	   *mean = gp_alloc_array(b->env, n, sizeof(double));
	gp_link_row *pair = gp_alloc_array(b->env, n, sizeof(gp_link_row));

	for (int32_t s = 0; s < b->sources; s++)
		for (int64_t e = first[s]; e < first[s + 1]; e++)
			pair[e] = (gp_link_row) {.src = b->source[s], .dst = r[e].dst};
	gp_links_means(b->l, n, kept, pair, mean);
	for (int64_t e = 0; e < n; e++)
		r[e].rank = mean[e];
	for (int32_t s = 0; s < b->sources; s++)
		qsort(r + first[s], first[s + 1] - first[s], sizeof(ranked), compare_ranked);
	gp_free(b->env, kept);
	gp_free(b->env, mean);
	gp_free(b->env, pair);
}

/*
 * The k best of each source, less the pairs that were told: moves them to the
 * front of r and fills pair.  Returns how many there are; last[s] is where
 * source s ends.
 */
static int64_t
choose(best *b, ranked *r, const int64_t *first, gp_link_row *pair, int64_t *last)
{
	int64_t		n = 0;

	for (int32_t s = 0; s < b->sources; s++)
	{
		int64_t		end = first[s + 1] - first[s] > b->k ? first[s] + b->k : first[s + 1];

		for (int64_t e = first[s]; e < end; e++)
		{
			bool		both = !b->l->model->graph->directed && b->asked[r[e].dst];

			if (both && !tell_once(b->env, &b->told, b->source[s], r[e].dst))
				continue;
			pair[n] = (gp_link_row) {.src = b->source[s], .dst = r[e].dst};
			r[n++] = r[e];
		}
		last[s] = n;
	}
	return n;
}

/* Gives the chosen rows their posterior and hands them out. */
static void
hand_out(best *b, ranked *r, int64_t n, gp_link_row *pair, const int64_t *last, const double *score)
{
	double	   *kept = gather_scores(b, r, n, score);
	int64_t		at = 0;

	gp_links_posterior(b->l, n, kept, pair);
	gp_free(b->env, kept);
	for (int32_t s = 0; s < b->sources; s++)
	{
		qsort(pair + at, last[s] - at, sizeof(gp_link_row), compare_rows);
		for (; at < last[s]; at++)
			b->take(b->state, &pair[at]);
	}
}

/* The scores of all candidates of the group; NULL for the method pairs. */
static double *
group_scores(best *b)
{
	gp_link_block block = {.sources = b->sources, .source = b->source, .n = b->first[b->sources],
	.slot = b->slot, .dst = b->dst};
	double	   *score;

	if (b->l->model->method != GP_LINK_SCORES)
		return NULL;
	score = gp_alloc_array(b->env, (int64_t) gp_size_mul(b->env, block.n, b->l->model->width),
						   sizeof(double));
	gp_link_block_scores(&b->l->frame, &block, score);
	return score;
}

/* Finishes the group. */
static void
finish_group(best *b)
{
	int64_t		total = b->first[b->sources];
	double	   *score = group_scores(b);
	ranked	   *r = gp_alloc_array(b->env, total, sizeof(ranked));
	gp_link_row *pair;
	int64_t		first[GP_LINK_BLOCK + 1] = {0};
	int64_t		last[GP_LINK_BLOCK];
	int64_t		n;

	for (int32_t s = 0; s < b->sources; s++)
	{
		ranked	   *own = r + b->first[s];
		int64_t		keep = rank_source(b, s, score, own);

		memmove(r + first[s], own, keep * sizeof(ranked));
		first[s + 1] = first[s] + keep;
	}
	rank_by_means(b, r, first, score);
	pair = gp_alloc_array(b->env, first[b->sources], sizeof(gp_link_row));
	n = choose(b, r, first, pair, last);
	hand_out(b, r, n, pair, last, score);
	gp_free(b->env, pair);
	gp_free(b->env, r);
	gp_free(b->env, score);
	b->sources = 0;
}

/* Marks the nodes asked for. */
static bool *
mark_asked(gp_env *env, int64_t nodes, int64_t n, const int32_t *node)
{
	bool	   *asked = gp_alloc_zero(env, nodes, sizeof(bool));

	for (int64_t e = 0; e < n; e++)
		asked[node[e]] = true;
	return asked;
}

/* The neighbours of each node in either direction. */
static gp_csr *
symmetric_pattern(gp_links *l)
{
	return l->model->method == GP_LINK_SCORES ? l->frame.weights :
		gp_graph_symmetric(l->env, l->model->graph);
}

/* Walks over all nodes, group by group. */
static void
run(best *b, int64_t n, const int32_t *node, int32_t size)
{
	bool	   *done = gp_alloc_zero(b->env, b->l->model->graph->nodes, sizeof(bool));

	for (int64_t e = 0; e < n; e++)
	{
		if (done[node[e]])
			continue;
		done[node[e]] = true;
		add_source(b, node[e]);
		if (b->sources == size || b->first[b->sources] >= GROUP_PAIRS)
		{
			b->env->progress(b->env, GP_PHASE_PAIRS, e, n);
			finish_group(b);
			b->env->check_interrupts(b->env);
		}
	}
	if (b->sources > 0)
		finish_group(b);
	gp_free(b->env, done);
}

/* The k best missing links of each node. */
void
gp_links_best(gp_links *l, int64_t n, const int32_t *node, int64_t k,
			  gp_link_candidates candidates, gp_link_take take, void *state)
{
	int64_t		nodes = l->model->graph->nodes;
	gp_csr	   *neighbours = symmetric_pattern(l);
	best		b;

	memset(&b, 0, sizeof(b));
	b.l = l;
	b.env = l->env;
	b.k = k;
	b.take = take;
	b.state = state;
	b.search = gp_link_search_open(l->env, l->model->graph, neighbours, l->model->code, candidates);
	b.asked = mark_asked(l->env, nodes, n, node);
	b.found = gp_alloc_array(l->env, nodes, sizeof(int32_t));
	run(&b, n, node, l->model->method == GP_LINK_SCORES ? gp_link_block_size(nodes) : GP_LINK_BLOCK);
	gp_link_search_close(b.search);
	if (l->model->method != GP_LINK_SCORES)
		gp_csr_free(l->env, neighbours);
	gp_free(l->env, b.asked);
	gp_free(l->env, b.told.slot);
	gp_free(l->env, b.found);
	gp_free(l->env, b.slot);
	gp_free(l->env, b.dst);
}
