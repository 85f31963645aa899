/*
 * best.c - the best missing links of each node.
 *
 * Sources are taken in groups whose columns of scores are computed together.
 * Each step sees the candidates that the cheaper one before it keeps: a linear
 * model of the graph's scores, one of all scores, the Gaussian process's mean;
 * the best get their posterior.
 */
#include "link_predict.h"

#include "base/places.h"
#include "base/sort.h"

#include <string.h>

#define GROUP_PAIRS (INT64_C(1) << 17)	/* candidates of a group, unless one node has more */
#define SCREENED 500			/* candidates of a node whose features are compared */

/* A candidate and what ranks it. */
typedef struct ranked
{
	double		rank;
	int32_t		dst;
	int64_t		place;			/* in its pool */
} ranked;

/* Candidates of a group of sources, source after source. */
typedef struct pool
{
	int64_t		n;
	int64_t		first[GP_LINK_BLOCK + 1];	/* of each source */
	int32_t    *slot;			/* n: the source's place in the group */
	int32_t    *dst;			/* n */
	double	   *score;			/* n x width; NULL for the method pairs */
} pool;

typedef struct best
{
	gp_links   *l;
	gp_env	   *env;
	int64_t		k;
	gp_link_search *search;
	gp_link_take take;
	void	   *state;
	bool		as_ranked;		/* hand out all, in the order that they rank */
	bool	   *asked;			/* nodes that are asked for or done: a pair of two may come twice */
	gp_set		told;			/* pairs of them, so that (j, i) is not told after (i, j) */
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
best_first(double x, int32_t x_dst, double y, int32_t y_dst)
{
	if (x != y)
		return x > y ? -1 : 1;
	return x_dst < y_dst ? -1 : x_dst > y_dst;
}

/* Orders candidates by what ranks them. */
static int
compare_ranked(const void *a, const void *b, void *unused)
{
	const ranked *x = a;
	const ranked *y = b;

	return best_first(x->rank, x->dst, y->rank, y->dst);
}

/* Orders rows by their scores. */
static int
compare_rows(const void *a, const void *b, void *unused)
{
	const gp_link_row *x = a;
	const gp_link_row *y = b;

	return best_first(x->score, x->dst, y->score, y->dst);
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

/* Room for n candidates. */
static pool
pool_create(const best *b, int64_t n)
{
	bool		scores = b->l->model->method == GP_LINK_SCORES;
	int64_t		numbers = scores ? (int64_t) gp_size_mul(b->env, n, b->l->model->width) : 0;

	return (pool) {.n = n, .slot = gp_alloc_array(b->env, n, sizeof(int32_t)),
		.dst = gp_alloc_array(b->env, n, sizeof(int32_t)),
		.score = scores ? gp_alloc_array(b->env, numbers, sizeof(double)) : NULL};
}

/* Frees it. */
static void
pool_free(gp_env *env, pool *p)
{
	gp_free(env, p->slot);
	gp_free(env, p->dst);
	gp_free(env, p->score);
}

/* Copies a candidate to a place of another pool. */
static void
copy_candidate(const best *b, const pool *from, int64_t e, pool *to, int64_t place)
{
	int32_t		width = b->l->model->width;

	to->slot[place] = from->slot[e];
	to->dst[place] = from->dst[e];
	if (from->score)
		memcpy(to->score + place * width, from->score + e * width, width * sizeof(double));
}

/* The candidates as they were found. */
static pool
found_candidates(const best *b)
{
	pool		p = pool_create(b, b->first[b->sources]);

	memcpy(p.slot, b->slot, p.n * sizeof(int32_t));
	memcpy(p.dst, b->dst, p.n * sizeof(int32_t));
	memcpy(p.first, b->first, sizeof(p.first));
	return p;
}

/* The candidates of each source with the highest ranks, best first; frees the others and the ranks. */
static void
keep_best(const best *b, pool *p, double *rank, int64_t keep)
{
	ranked	   *r = gp_alloc_array(b->env, p->n, sizeof(ranked));
	int64_t		first[GP_LINK_BLOCK + 1] = {0};
	pool		kept;

	for (int32_t s = 0; s < b->sources; s++)
	{
		ranked	   *own = r + first[s];
		int64_t		n = p->first[s + 1] - p->first[s];
		int64_t		best = gp_min64(n, keep);

		for (int64_t e = 0; e < n; e++)
			own[e] = (ranked) {rank[p->first[s] + e], p->dst[p->first[s] + e], p->first[s] + e};
		select_best(b->env, own, n, best);
		first[s + 1] = first[s] + best;
	}
	kept = pool_create(b, first[b->sources]);
	memcpy(kept.first, first, sizeof(first));
	for (int64_t e = 0; e < kept.n; e++)
		copy_candidate(b, p, r[e].place, &kept, e);
	gp_free(b->env, r);
	gp_free(b->env, rank);
	pool_free(b->env, p);
	*p = kept;
}

/* What the linear model w of the first width scores makes of each candidate. */
static double *
linear_ranks(const best *b, const pool *p, const double *w, int32_t width)
{
	const gp_link_model *m = b->l->model;
	double	   *rank = gp_alloc_array(b->env, p->n, sizeof(double));
	double		slope[GP_LINK_MAX_SCORES];
	double		offset = w[width];
	int64_t		next = 0;

	for (int32_t j = 0; j < width; j++)
	{
		slope[j] = w[j] / m->spread[j];
		offset -= slope[j] * m->centre[j];
	}
	for (int64_t e = 0; e < p->n; e++)
	{
		const double *score = p->score + e * m->width;
		double		sum = offset;

		gp_look(b->env, e, &next);
		for (int32_t j = 0; j < width; j++)
			sum += slope[j] * score[j];
		rank[e] = sum;
	}
	return rank;
}

/* Narrows the candidates down by linear models of their scores. */
static void
narrow(best *b, pool *p)
{
	gp_link_frame *f = &b->l->frame;
	const gp_link_model *m = b->l->model;
	int32_t		graph_width = gp_link_graph_width(m->graph->directed);
	gp_link_block block = {.sources = b->sources, .source = b->source, .n = p->n, .slot = p->slot,
	.dst = p->dst};

	gp_link_graph_scores(f, &block, p->score);
	if (m->screen)
	{
		keep_best(b, p, linear_ranks(b, p, m->screen, graph_width), gp_max64(b->k, SCREENED));
		block.n = p->n;
		block.slot = p->slot;
		block.dst = p->dst;
		gp_link_feature_scores(f, &block, p->score);
	}
	keep_best(b, p, linear_ranks(b, p, m->ridge, m->width), gp_max64(b->k, GP_LINK_KEPT));
}

/* The candidates as rows without their posterior. */
static gp_link_row *
pool_rows(const best *b, const pool *p)
{
	gp_link_row *row = gp_alloc_array(b->env, p->n, sizeof(gp_link_row));

	for (int64_t e = 0; e < p->n; e++)
		row[e] = (gp_link_row) {.src = b->source[p->slot[e]], .dst = p->dst[e]};
	return row;
}

/* The posterior means of all candidates, up to a constant. */
static double *
mean_ranks(const best *b, const pool *p)
{
	double	   *mean = gp_alloc_array(b->env, p->n, sizeof(double));
	gp_link_row *row = pool_rows(b, p);

	gp_links_means(b->l, p->n, p->score, row, mean);
	gp_free(b->env, row);
	return mean;
}

/* Leaves out the pairs that were told from their other end. */
static void
drop_told(best *b, pool *p)
{
	int64_t		n = 0;

	for (int32_t s = 0; s < b->sources; s++)
	{
		int64_t		e = p->first[s];

		p->first[s] = n;
		for (; e < p->first[s + 1]; e++)
		{
			bool		both = !b->l->model->graph->directed && b->asked[p->dst[e]];
			uint64_t	low = (uint64_t) gp_min64(b->source[s], p->dst[e]);
			uint64_t	high = (uint64_t) gp_max64(b->source[s], p->dst[e]);

			if (both && !gp_set_add(&b->told, low << 32 | high))
				continue;
			if (n < e)
				copy_candidate(b, p, e, p, n);
			n++;
		}
	}
	p->first[b->sources] = p->n = n;
}

/* Gives the candidates that are left their posterior and hands them out. */
static void
hand_out(best *b, const pool *p)
{
	gp_link_row *row = pool_rows(b, p);

	gp_links_posterior(b->l, p->n, p->score, row);
	for (int32_t s = 0; s < b->sources; s++)
	{
		if (!b->as_ranked)
			gp_sort(b->env, row + p->first[s], p->first[s + 1] - p->first[s], sizeof(gp_link_row),
					compare_rows, NULL);
		for (int64_t e = p->first[s]; e < p->first[s + 1]; e++)
			b->take(b->state, &row[e]);
	}
	gp_free(b->env, row);
}

/* Finishes the group. */
static void
finish_group(best *b)
{
	pool		p = found_candidates(b);

	if (p.score)
		narrow(b, &p);
	keep_best(b, &p, mean_ranks(b, &p), b->k);
	drop_told(b, &p);
	hand_out(b, &p);
	pool_free(b->env, &p);
	b->sources = 0;
}

/* The search for candidates, kept from call to call: its tables take longer than a node. */
static gp_link_search *
open_search(gp_links *l, gp_link_candidates candidates)
{
	const gp_csr *neighbours = l->frame.weights;

	if (l->search && l->candidates == candidates)
		return l->search;
	if (l->search)
		gp_link_search_close(l->search);
	l->search = NULL;
	if (l->model->method != GP_LINK_SCORES)
	{
		if (l->neighbours == NULL)
			l->neighbours = gp_graph_symmetric(l->env, l->model->graph);
		neighbours = l->neighbours;
	}
	l->search = gp_link_search_open(l->env, l->model->graph, neighbours, l->model->code, candidates);
	l->candidates = candidates;
	if (candidates == GP_CANDIDATES_AUTO && l->model->habits)
		gp_link_search_learn(l->search, gp_link_habits_read(l->model->habits),
							 l->model->features != NULL);
	return l->search;
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

/* Looks for the best of each node, and hands them out. */
static void
look(best *b, int64_t n, const int32_t *node, gp_link_candidates candidates)
{
	gp_links   *l = b->l;
	int64_t		nodes = l->model->graph->nodes;

	b->search = open_search(l, candidates);
	b->told = gp_set_open(l->env, 0);
	b->asked = gp_alloc_zero(l->env, nodes, sizeof(bool));
	for (int64_t e = 0; e < n && !b->as_ranked; e++)
		b->asked[node[e]] = true;
	b->found = gp_alloc_array(l->env, nodes, sizeof(int32_t));
	run(b, n, node, l->model->method == GP_LINK_SCORES ? gp_link_block_size(nodes) : GP_LINK_BLOCK);
	gp_free(l->env, b->asked);
	gp_set_close(&b->told);
	gp_free(l->env, b->found);
	gp_free(l->env, b->slot);
	gp_free(l->env, b->dst);
}

/* The k best missing links of each node. */
void
gp_links_best(gp_links *l, int64_t n, const int32_t *node, int64_t k,
			  gp_link_candidates candidates, gp_link_take take, void *state)
{
	best		b = {.l = l, .env = l->env, .k = k, .take = take, .state = state};

	look(&b, n, node, candidates);
}

/* What is kept, on its way. */
typedef struct keeper
{
	gp_env	   *env;
	gp_link_kept kept;
	int64_t		n;
} keeper;

/* Keeps a row. */
static void
keep_row(void *state, const gp_link_row *row)
{
	keeper	   *k = state;

	if (k->n == k->kept.room)
	{
		k->kept.room = 2 * k->kept.room + 1024;
		k->kept.row = gp_realloc_array(k->env, k->kept.row, k->kept.room, sizeof(gp_link_row));
	}
	k->kept.row[k->n++] = *row;
	k->kept.first[row->src + 1]++;
}

/* The best of every node, as they rank. */
gp_link_kept
gp_links_keep(gp_links *l, int64_t k)
{
	int64_t		nodes = l->model->graph->nodes;
	keeper		all = {.env = l->env, .kept = {.nodes = nodes}};
	best		b = {.l = l, .env = l->env, .k = k, .as_ranked = true, .take = keep_row, .state = &all};
	int32_t    *node = gp_alloc_array(l->env, nodes, sizeof(int32_t));

	all.kept.first = gp_alloc_zero(l->env, nodes + 1, sizeof(int64_t));
	for (int64_t i = 0; i < nodes; i++)
		node[i] = (int32_t) i;
	look(&b, nodes, node, GP_CANDIDATES_AUTO);
	for (int64_t i = 0; i < nodes; i++)
		all.kept.first[i + 1] += all.kept.first[i];
	gp_free(l->env, node);
	return all.kept;
}
