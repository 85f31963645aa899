/*
 * rank.c - the candidates of some sources that rank best.
 *
 * Sources are taken in groups whose columns of scores are computed together.  All candidates are
 * ranked by their logits in float, and the best get their posterior.
 */
#include "rank.h"

#include "base/sort.h"

#define GROUP_PAIRS (INT64_C(1) << 17)	/* candidates of a group, unless one node has more */

/* A candidate and what ranks it. */
typedef struct ranked
{
	double		rank;
	int32_t		dst;
	int64_t		place;			/* in its pool */
} ranked;

/* Sources of a lot whose candidates are scored together. */
typedef struct group
{
	gp_links   *l;
	gp_env	   *env;
	int64_t		k;
	int32_t		begin;			/* place in the lot of the first of them */
	int32_t		sources;
	const int32_t *source;
	gp_link_pool found;
} group;

/* Orders candidates by what ranks them, ties by node. */
static int
compare_ranked(const void *a, const void *b, void *unused)
{
	const ranked *x = a;
	const ranked *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

gp_link_pool
gp_link_pool_create(const gp_links *l, int64_t room)
{
	bool		scores = l->model->method == GP_LINK_SCORES;
	int64_t		numbers = scores ? (int64_t) gp_size_mul(l->env, room, l->model->width) : 0;

	return (gp_link_pool) {.room = room, .slot = gp_alloc_array(l->env, room, sizeof(int32_t)),
		.dst = gp_alloc_array(l->env, room, sizeof(int32_t)),
		.score = scores ? gp_alloc_array(l->env, numbers, sizeof(double)) : NULL};
}

void
gp_link_pool_free(const gp_links *l, gp_link_pool *p)
{
	gp_free(l->env, p->slot);
	gp_free(l->env, p->dst);
	gp_free(l->env, p->score);
}

void
gp_link_pool_copy(const gp_links *l, const gp_link_pool *from, int64_t e, gp_link_pool *to, int64_t place)
{
	int32_t		width = l->model->width;

	to->slot[place] = from->slot[e];
	to->dst[place] = from->dst[e];
	if (from->score)
		memcpy(to->score + place * width, from->score + e * width, width * sizeof(double));
}

/* Adds the candidates of the group's next source, which were found. */
static void
add_found(group *g, const int32_t *found, int64_t n)
{
	gp_link_pool *p = &g->found;

	if (p->n + n > p->room)
	{
		p->room = 2 * (p->n + n);
		p->slot = gp_realloc_array(g->env, p->slot, p->room, sizeof(int32_t));
		p->dst = gp_realloc_array(g->env, p->dst, p->room, sizeof(int32_t));
	}
	for (int64_t e = 0; e < n; e++)
	{
		p->slot[p->n + e] = g->sources;
		p->dst[p->n + e] = found[e];
	}
	p->n += n;
	p->first[++g->sources] = p->n;
}

/* Brings the best of n candidates to the front, and sorts them: there may be millions of others. */
static void
select_best(gp_env *env, ranked *r, int64_t n, int64_t keep)
{
	gp_heap		heap = {.env = env, .item = r, .room = keep, .size = sizeof(ranked),
	.compare = compare_ranked};

	for (int64_t e = 0; e < n; e++)
		gp_heap_offer(&heap, &r[e]);
	gp_heap_sort(&heap);
}

/* Keeps the k candidates of each source with the highest ranks, best first; frees the others and the ranks. */
static void
keep_best(const group *g, gp_link_pool *p, double *rank)
{
	ranked	   *r = gp_alloc_array(g->env, p->n, sizeof(ranked));
	int64_t		first[GP_LINK_BLOCK + 1] = {0};
	gp_link_pool kept;

	for (int32_t s = 0; s < g->sources; s++)
	{
		ranked	   *own = r + first[s];
		int64_t		n = p->first[s + 1] - p->first[s];

		/* Numbers beyond float make no rank: such a candidate comes last. */
		for (int64_t e = 0; e < n; e++)
		{
			double		by = rank[p->first[s] + e];

			own[e] = (ranked) {isnan(by) ? -INFINITY : by, p->dst[p->first[s] + e], p->first[s] + e};
		}
		select_best(g->env, own, n, gp_min64(n, g->k));
		first[s + 1] = first[s] + gp_min64(n, g->k);
	}
	kept = gp_link_pool_create(g->l, first[g->sources]);
	kept.n = first[g->sources];
	memcpy(kept.first, first, sizeof(first));
	for (int64_t e = 0; e < kept.n; e++)
		gp_link_pool_copy(g->l, p, r[e].place, &kept, e);
	gp_free(g->env, r);
	gp_free(g->env, rank);
	gp_link_pool_free(g->l, p);
	*p = kept;
}

/* The candidates as rows without their posterior. */
static void
write_rows(const int32_t *source, const gp_link_pool *p, gp_link_row *row)
{
	for (int64_t e = 0; e < p->n; e++)
		row[e] = (gp_link_row) {.src = source[p->slot[e]], .dst = p->dst[e]};
}

/* Computes the scores of all candidates, where pairs have some, and their logits. */
static double *
candidate_ranks(const group *g, gp_link_pool *p)
{
	double	   *mean = gp_alloc_array(g->env, p->n, sizeof(double));
	gp_link_row *row = gp_alloc_array(g->env, p->n, sizeof(gp_link_row));

	if (p->score)
	{
		gp_link_frame *f = &g->l->frame;
		gp_link_block block = {.sources = g->sources, .source = g->source, .n = p->n, .slot = p->slot,
		.dst = p->dst};

		gp_link_graph_scores(f, &block, p->score);
		gp_link_feature_scores(f, &block, p->score);
	}
	write_rows(g->source, p, row);
	gp_links_means(g->l, p->n, p->score, row, mean);
	gp_free(g->env, row);
	return mean;
}

/* Makes room for so many candidates behind those of the lot. */
static void
make_room(const gp_links *l, gp_link_lot *lot, int64_t n)
{
	gp_link_pool *p = &lot->best;

	if (p->n + n <= p->room)
		return;
	p->room = 2 * (p->n + n);
	p->slot = gp_realloc_array(l->env, p->slot, p->room, sizeof(int32_t));
	p->dst = gp_realloc_array(l->env, p->dst, p->room, sizeof(int32_t));
	if (l->model->method == GP_LINK_SCORES)
		p->score = gp_realloc_array(l->env, p->score, (int64_t) gp_size_mul(l->env, p->room, l->model->width),
									sizeof(double));
	lot->row = gp_realloc_array(l->env, lot->row, p->room, sizeof(gp_link_row));
}

/* Adds what is left of a group to its lot. */
static void
add_group(const group *g, const gp_link_pool *p, gp_link_lot *lot)
{
	gp_link_pool *to = &lot->best;

	make_room(g->l, lot, p->n);
	for (int64_t e = 0; e < p->n; e++)
	{
		gp_link_pool_copy(g->l, p, e, to, to->n + e);
		to->slot[to->n + e] += g->begin;
	}
	for (int32_t s = 0; s < g->sources; s++)
		to->first[g->begin + s + 1] = to->n + p->first[s + 1];
	to->n += p->n;
}

/* Ranks the candidates of a group, and begins the next one. */
static void
finish_group(group *g, gp_link_lot *lot)
{
	gp_link_pool p = gp_link_pool_create(g->l, g->found.n);

	p.n = g->found.n;
	if (p.n > 0)
	{
		memcpy(p.slot, g->found.slot, p.n * sizeof(int32_t));
		memcpy(p.dst, g->found.dst, p.n * sizeof(int32_t));
	}
	memcpy(p.first, g->found.first, sizeof(p.first));
	keep_best(g, &p, candidate_ranks(g, &p));
	add_group(g, &p, lot);
	gp_link_pool_free(g->l, &p);
	g->begin += g->sources;
	g->source += g->sources;
	g->sources = 0;
	g->found.n = 0;
}

void
gp_link_lot_rank(gp_links *l, gp_link_search *search, int32_t *found, int64_t k, gp_link_lot *lot)
{
	group		g = {.l = l, .env = l->env, .k = k, .source = lot->source};

	lot->best.n = 0;
	for (int32_t s = 0; s < lot->sources; s++)
	{
		add_found(&g, found, gp_link_search_node(search, lot->source[s], found));
		if (g.found.n >= GROUP_PAIRS || s + 1 == lot->sources)
		{
			finish_group(&g, lot);
			l->env->check_interrupts(l->env);
		}
	}
	gp_free(l->env, g.found.slot);
	gp_free(l->env, g.found.dst);
}

void
gp_link_lot_posterior(gp_links *l, gp_link_lot *lot)
{
	write_rows(lot->source, &lot->best, lot->row);
	gp_links_posterior(l, lot->best.n, lot->best.score, lot->row);
}

#define PAIR_BYTES 320.0		/* of a candidate, beside its scores */
#define SMALL_BYTES (16.0 * 1024 * 1024)	/* of all that is small */

size_t
gp_link_lot_bytes(int64_t nodes, int32_t width, int64_t m, int64_t dims, int32_t powers)
{
	double		n = (double) nodes;
	double		block = (double) gp_link_block_size(nodes);
	double		pairs = fmin((double) GROUP_PAIRS + fmin(n, GROUP_PAIRS), GP_LINK_BLOCK * n);
	double		bytes = 32.0 * n;

	if (width > 0)
		bytes += 12.0 * block * n;
	if (dims > 0)
		bytes += 16.0 * block * n + 4.0 * block * (double) dims * powers;
	bytes += pairs * (PAIR_BYTES + 2.0 * 8.0 * width);
	return (size_t) (bytes + SMALL_BYTES + 24.0 * 1024 * (double) m);
}
