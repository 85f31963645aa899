/*
 * best.c - the best missing links of each node.
 *
 * Nodes are taken in lots, which need nothing of one another, and lots in waves.  Of each lot
 * of a wave the candidates are ranked; then pairs that were told from their other end are left
 * out; those that remain get their posteriors, and are handed out in the order of the nodes.
 * Where there are threads, they take whole lots.
 */
#include "rank.h"

#include "base/hash_table.h"
#include "base/sort.h"

#define LEAST_LOTS 2			/* for more of them threads are started */

typedef struct best
{
	gp_links   *l;
	gp_env	   *env;
	int64_t		k;
	gp_link_take take;
	void	   *state;
	bool		as_ranked;		/* hand out all, in the order that they rank */
	bool	   *asked;			/* nodes that are asked for or done: a pair of two may come twice */
	gp_set		told;			/* pairs of them, so that (j, i) is not told after (i, j) */
	gp_crew    *crew;			/* NULL: all is done by the calling thread */
	int			threads;
	gp_link_search **search;	/* of each thread */
	int32_t   **found;			/* candidates of one node, of each thread */
	gp_link_lot *lot;			/* of a wave */
	int64_t		lots;
} best;

/* Best first, ties by node. */
static int
compare_rows(const void *a, const void *b, void *unused)
{
	const gp_link_row *x = a;
	const gp_link_row *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

/* ---- the pieces that threads take ---- */

/* The model on another device: what it points at is only read. */
static gp_links
links_on(const gp_links *l, gp_device *dev)
{
	gp_links	on = *l;

	on.dev = on.frame.dev = dev;
	on.env = on.frame.env = dev->env;
	return on;
}

/* Ranks the candidates of one lot. */
static void
rank_lot(void *job, gp_device *dev, int worker, int64_t lot)
{
	best	   *b = job;
	gp_links	l = links_on(b->l, dev);

	gp_link_lot_rank(&l, gp_link_search_in(b->search[worker], dev->env), b->found[worker], b->k, &b->lot[lot]);
}

/* The posteriors of one lot. */
static void
finish_lot(void *job, gp_device *dev, int worker, int64_t lot)
{
	best	   *b = job;
	gp_links	l = links_on(b->l, dev);

	gp_link_lot_posterior(&l, &b->lot[lot]);
}

/* Does a piece of work for each lot of the wave. */
static void
each_lot(best *b, gp_crew_work work, int64_t lots)
{
	if (b->crew)
		gp_crew_run(b->crew, work, b, lots, b->l->dev);
	else
		for (int64_t lot = 0; lot < lots; lot++)
			work(b, b->l->dev, 0, lot);
}

/* ---- a wave ---- */

/* Leaves out the pairs of a lot that were told from their other end. */
static void
drop_told(best *b, gp_link_lot *lot)
{
	gp_link_pool *p = &lot->best;
	int64_t		n = 0;

	for (int32_t s = 0; s < lot->sources; s++)
	{
		int64_t		e = p->first[s];

		p->first[s] = n;
		for (; e < p->first[s + 1]; e++)
		{
			bool		both = !b->l->model->graph->directed && b->asked[p->dst[e]];
			uint64_t	low = (uint64_t) gp_min64(lot->source[s], p->dst[e]);
			uint64_t	high = (uint64_t) gp_max64(lot->source[s], p->dst[e]);

			if (both && !gp_set_add(&b->told, low << 32 | high))
				continue;
			if (n < e)
				gp_link_pool_copy(b->l, p, e, p, n);
			n++;
		}
	}
	p->first[lot->sources] = p->n = n;
}

/* Hands out the candidates of a lot. */
static void
hand_out(best *b, const gp_link_lot *lot)
{
	const int64_t *first = lot->best.first;

	for (int32_t s = 0; s < lot->sources; s++)
	{
		if (!b->as_ranked)
			gp_sort(b->env, lot->row + first[s], first[s + 1] - first[s], sizeof(gp_link_row), compare_rows, NULL);
		for (int64_t e = first[s]; e < first[s + 1]; e++)
			b->take(b->state, &lot->row[e]);
	}
}

/* Does all that is to be done for some lots. */
static void
run_wave(best *b, int64_t lots)
{
	each_lot(b, rank_lot, lots);
	for (int64_t lot = 0; lot < lots; lot++)
		drop_told(b, &b->lot[lot]);
	each_lot(b, finish_lot, lots);
	for (int64_t lot = 0; lot < lots; lot++)
	{
		hand_out(b, &b->lot[lot]);
		b->lot[lot].sources = 0;
	}
	b->env->check_interrupts(b->env);
}

/* Walks over all nodes, wave by wave. */
static void
run(best *b, int64_t n, const int32_t *node, int32_t size)
{
	bool	   *done = gp_alloc_zero(b->env, b->l->model->graph->nodes, sizeof(bool));
	int64_t		lot = 0;

	for (int64_t e = 0; e < n; e++)
	{
		if (done[node[e]])
			continue;
		done[node[e]] = true;
		b->lot[lot].source[b->lot[lot].sources++] = node[e];
		if (b->lot[lot].sources == size && ++lot == b->lots)
		{
			run_wave(b, lot);
			lot = 0;
			b->env->progress(b->env, GP_PHASE_PAIRS, e + 1, n);
		}
	}
	if (lot < b->lots && b->lot[lot].sources > 0)
		lot++;
	run_wave(b, lot);
	gp_free(b->env, done);
}

/* ---- opening and closing ---- */

/* The search for candidates, kept from call to call: its tables take longer than a node. */
static gp_link_search *
open_search(gp_links *l, gp_link_candidates candidates)
{
	const gp_csr *neighbours = l->frame.weights;

	if (l->search && l->candidates == candidates && l->other == NULL)
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
	if (l->other)
		gp_link_search_among(l->search, l->among, l->other);
	else if (candidates == GP_CANDIDATES_AUTO && l->model->habits)
		gp_link_search_learn(l->search, gp_link_habits_read(l->model->habits),
							 l->model->features != NULL);
	return l->search;
}

/* What a thread needs for its lots. */
static size_t
lot_bytes(const gp_links *l)
{
	const gp_link_frame *f = &l->frame;
	bool		scores = l->model->method == GP_LINK_SCORES;

	return gp_link_lot_bytes(l->model->graph->nodes, scores ? l->model->width : 0, l->model->m, f->x ? f->x->dims : 0, f->powers);
}

/* Threads where they are worth it: they need room for what is kept, which is little. */
static void
open_crew(best *b, int64_t n, int32_t size)
{
	b->threads = 1;
	if (b->l->dev->room == 0 && b->l->threads > 0 && n > LEAST_LOTS * size && b->k <= GP_LINK_KEPT)
		b->crew = gp_crew_open(b->env, b->l->threads, lot_bytes(b->l));
	if (b->crew)
		b->threads = gp_crew_size(b->crew);
	b->lots = b->crew ? b->threads * GP_LINK_WAVE_LOTS : 1;
	b->lot = gp_alloc_zero(b->env, b->lots, sizeof(gp_link_lot));
	for (int64_t lot = 0; lot < b->lots && b->crew; lot++)
	{
		b->lot[lot].best = gp_link_pool_create(b->l, size * b->k);
		b->lot[lot].row = gp_alloc_array(b->env, size * b->k, sizeof(gp_link_row));
	}
}

/* What each thread has for itself. */
static void
open_threads(best *b, gp_link_candidates candidates)
{
	b->search = gp_alloc_array(b->env, b->threads, sizeof(gp_link_search *));
	b->found = gp_alloc_array(b->env, b->threads, sizeof(int32_t *));
	for (int t = 0; t < b->threads; t++)
	{
		b->search[t] = t == 0 ? open_search(b->l, candidates) : gp_link_search_twin(b->search[0]);
		b->found[t] = gp_alloc_array(b->env, b->l->model->graph->nodes, sizeof(int32_t));
	}
}

/* Frees both. */
static void
close_threads(best *b)
{
	if (b->crew)
		gp_crew_close(b->crew);
	for (int64_t lot = 0; lot < b->lots; lot++)
	{
		gp_link_pool_free(b->l, &b->lot[lot].best);
		gp_free(b->env, b->lot[lot].row);
	}
	gp_free(b->env, b->lot);
	(void) gp_link_search_in(b->search[0], b->env);
	for (int t = 0; t < b->threads; t++)
	{
		if (t > 0)
			gp_link_search_twin_free(b->env, b->search[t]);
		gp_free(b->env, b->found[t]);
	}
	gp_free(b->env, b->search);
	gp_free(b->env, b->found);
}

/* Looks for the best of each node, and hands them out. */
static void
look(best *b, int64_t n, const int32_t *node, gp_link_candidates candidates)
{
	gp_links   *l = b->l;
	int64_t		nodes = l->model->graph->nodes;
	int32_t		size = l->model->method == GP_LINK_SCORES ? gp_link_block_size(nodes) : GP_LINK_BLOCK;

	b->told = gp_set_open(l->env, 0);
	b->asked = gp_alloc_zero(l->env, nodes, sizeof(bool));
	for (int64_t e = 0; e < n && !b->as_ranked; e++)
		b->asked[node[e]] = true;
	open_crew(b, n, size);
	open_threads(b, candidates);
	run(b, n, node, size);
	close_threads(b);
	gp_free(l->env, b->asked);
	gp_set_close(&b->told);
}

void
gp_links_share(gp_links *l, int threads)
{
	l->threads = threads;
}

void
gp_links_among(gp_links *l, int64_t n, const int32_t *node)
{
	if (l->search)
		gp_link_search_close(l->search);
	l->search = NULL;
	l->among = n;
	l->other = node;
}

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
	double		least;			/* probability */
	int64_t		n;
} keeper;

/* Keeps a row. */
static void
keep_row(void *state, const gp_link_row *row)
{
	keeper	   *k = state;

	if (row->probability < k->least)
	{
		k->kept.passed++;
		return;
	}
	if (k->n == k->kept.room)
	{
		k->kept.room = 2 * k->kept.room + 1024;
		k->kept.row = gp_resize_array(k->env, k->kept.row, k->kept.room, sizeof(gp_link_row));
	}
	k->kept.row[k->n++] = *row;
	k->kept.first[row->src + 1]++;
}

gp_link_kept
gp_links_keep(gp_links *l, int64_t k, double least)
{
	int64_t		nodes = l->model->graph->nodes;
	keeper		all = {.env = l->env, .kept = {.nodes = nodes}, .least = least};
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
