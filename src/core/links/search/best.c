/*
 * best.c - the best missing links of each node.
 *
 * Nodes are searched in lots, whose columns of scores are computed together, and lots in waves.
 * All candidates of a node are ranked by their logits in float, and the best get their posterior.
 * Then, in the order of the nodes, pairs that were given from their other end are left out, and
 * the others are handed out.  Where there are threads, each works on whole lots.
 */
#include "link_predict.h"

#include "base/hash_table.h"
#include "candidates.h"

/* candidates that are scored at once, unless one node has more */
#define GROUP_PAIRS (INT64_C(1) << 17)
#define LEAST_LOTS 2			/* for more of them threads are started */
#define WAVE_LOTS 16			/* of each thread: who is ready first waits for the last */
#define TYPICAL_CANDIDATES 1000	/* of a node, for a plan */

/* Sources that are searched together, and the rows of their best candidates, as they rank. */
typedef struct lot
{
	int32_t		sources;
	int32_t		source[GP_LINK_BLOCK];
	int64_t		first[GP_LINK_BLOCK + 1];	/* of each source's rows */
	int64_t		room;
	gp_link_row *row;
} lot;

typedef struct best
{
	gp_links   *l;
	gp_env	   *env;
	int64_t		k;
	gp_link_take take;
	void	   *state;
	gp_link_kept *kept;			/* has the likely rows as they rank; NULL: take has them */
	double		least;			/* probability of these */
	bool	   *asked;			/* nodes that are asked for: a pair of two may come twice */
	gp_set		given;			/* pairs of them, so that (j, i) does not follow (i, j) */
	gp_crew    *crew;			/* NULL: all is done by the calling thread */
	int			threads;
	gp_link_search **search;	/* of each thread */
	int64_t		expected;		/* candidates of a node, for a dry run */
	lot		   *lot;			/* of a wave */
	int64_t		lots;
} best;

/* ---- one lot ---- */

/* The candidates of some sources of a lot, which are scored together. */
typedef struct group
{
	int32_t		begin;			/* place in the lot of the first source */
	int32_t		sources;
	int64_t		first[GP_LINK_BLOCK + 1];	/* of each source's candidates */
	int64_t		room;
	int32_t    *slot;			/* of each candidate: its source */
	int32_t    *dst;
} group;

/* Scores a group's candidates, and adds the posteriors of the k best of each source to the lot. */
static void
rank_group(gp_links *l, const group *g, int64_t k, lot *lot)
{
	gp_env	   *env = l->env;
	int64_t		n = g->first[g->sources];
	int64_t		at = lot->first[g->begin];
	int32_t		width = gp_link_has_scores(l->model->method) ? l->model->scores.width : 0;
	double	   *score = width ? gp_alloc_array(env, (int64_t) gp_size_mul(env, n, width),
											   sizeof(double)) : NULL;
	gp_link_row *row = gp_alloc_array(env, n, sizeof(gp_link_row));
	double	   *mean = gp_alloc_array(env, n, sizeof(double));
	gp_scored  *r = gp_alloc_array(env, n, sizeof(gp_scored));
	gp_link_block block = {.sources = g->sources,.source = lot->source + g->begin,.n = n,
	.slot = g->slot,.dst = g->dst};

	if (width)
		gp_link_block_scores(&l->context, &block, score);
	for (int64_t e = 0; e < n; e++)
		row[e] = (gp_link_row) {.src = block.source[g->slot[e]],.dst = g->dst[e]};
	gp_links_means(l, n, score, row, mean);
	for (int32_t s = 0; s < g->sources; s++)
	{
		gp_heap		heap = {.env = env,.item = r + g->first[s],.size = sizeof(gp_scored),
			.compare = gp_compare_scored};

		heap.room = gp_min64(k, g->first[s + 1] - g->first[s]);
		/* Numbers beyond float make no rank: such a candidate comes last. */
		for (int64_t e = g->first[s]; e < g->first[s + 1]; e++)
		{
			gp_heap_offer(&heap, &(gp_scored) {isnan(mean[e]) ? -INFINITY : mean[e], g->dst[e], e});
		}
		gp_heap_sort(&heap);
		lot->first[g->begin + s + 1] = lot->first[g->begin + s] + heap.n;
	}
	n = lot->first[g->begin + g->sources];
	if (n > lot->room)
	{
		lot->room = 2 * n;
		lot->row = gp_realloc_array(env, lot->row, lot->room, sizeof(gp_link_row));
	}
	double	   *kept = gp_alloc_array(env, (n - at) * width, sizeof(double));
	for (int32_t s = 0; s < g->sources; s++)
		for (int64_t e = lot->first[g->begin + s]; e < lot->first[g->begin + s + 1]; e++)
		{
			int64_t		from = r[g->first[s] + e - lot->first[g->begin + s]].place;

			lot->row[e] = row[from];
			if (width)
				memcpy(kept + (e - at) * width, score + from * width, width * sizeof(double));
		}
	gp_links_posterior(l, n - at, width ? kept : NULL, lot->row + at);
	gp_free_all(env, kept, r, mean, row, score);
}

/* Searches and ranks the candidates of one lot; a thread's work. */
static void
rank_lot(void *job, gp_device *dev, int worker, int64_t index)
{
	best	   *b = job;
	gp_links	l = *b->l;		/* what it points at is only read */
	int32_t    *found;
	lot		   *lot = &b->lot[index];
	group		g = {0};

	l.dev = l.context.dev = dev;
	l.env = l.context.env = dev->env;
	lot->first[0] = 0;
	for (int32_t s = 0; s < lot->sources; s++)
	{
		int64_t		n = g.first[g.sources];
		int64_t		count = l.env->dry ? b->expected :
			gp_link_search_node(gp_link_search_set_env(b->search[worker], l.env), lot->source[s],
								&found);

		if (n + count > g.room)
		{
			g.room = 2 * (n + count);
			g.slot = gp_realloc_array(l.env, g.slot, g.room, sizeof(int32_t));
			g.dst = gp_realloc_array(l.env, g.dst, g.room, sizeof(int32_t));
		}
		for (int64_t e = 0; e < count; e++)
		{
			g.slot[n + e] = g.sources;
			g.dst[n + e] = l.env->dry ? (int32_t) e : found[e];
		}
		g.first[++g.sources] = n + count;
		if ((n + count < GROUP_PAIRS || l.env->dry) && s + 1 < lot->sources)
			continue;
		rank_group(&l, &g, b->k, lot);
		g.begin += g.sources;
		g.sources = 0;
		l.env->check_interrupts(l.env);
	}
	gp_free_all(l.env, g.slot, g.dst);
}

/* ---- all lots ---- */

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

/* Hands out the rows of a lot, except pairs that were given from their other end. */
static void
hand_out(best *b, lot *lot)
{
	for (int32_t s = 0; s < lot->sources; s++)
	{
		gp_link_row *row = lot->row + lot->first[s];
		int64_t		n = 0;

		for (int64_t e = 0; e < lot->first[s + 1] - lot->first[s]; e++)
			if (b->l->model->graph->directed || !b->asked[row[e].dst] ||
				gp_set_add(&b->given, gp_link_key(row[e].src, row[e].dst)))
				row[n++] = row[e];
		gp_sort(b->env, row, n, sizeof(gp_link_row), compare_rows, NULL);
		for (int64_t e = 0; e < n; e++)
			b->take(b->state, &row[e]);
	}
}

/* Adds the likely rows of a lot to what is kept, whose nodes come in their order. */
static void
keep_rows(best *b, const lot *lot)
{
	gp_link_kept *kept = b->kept;

	for (int32_t s = 0; s < lot->sources; s++)
	{
		int64_t    *end = &kept->first[lot->source[s] + 1];

		*end = end[-1];
		for (int64_t e = lot->first[s]; e < lot->first[s + 1]; e++)
			if (lot->row[e].probability < b->least)
				kept->passed++;
			else
				kept->row[(*end)++] = lot->row[e];
	}
}

/* Ranks a wave of lots, and hands their rows out. */
static void
run_wave(best *b, int64_t lots)
{
	if (b->crew)
		gp_crew_run(b->crew, rank_lot, b, lots, b->l->dev);
	else
		for (int64_t k = 0; k < lots; k++)
			rank_lot(b, b->l->dev, 0, k);
	for (int64_t k = 0; k < lots && !b->env->dry; k++)
	{
		if (b->kept)
			keep_rows(b, &b->lot[k]);
		else
			hand_out(b, &b->lot[k]);
		b->lot[k].sources = 0;
	}
	b->env->check_interrupts(b->env);
}

/* Walks over all nodes, wave by wave. */
static void
run_waves(best *b, int64_t n, const int32_t *node, int32_t size)
{
	bool	   *done = gp_alloc_zero(b->env, b->l->model->graph->nodes, sizeof(bool));
	int64_t		k = 0;

	for (int64_t e = 0; e < n; e++)
	{
		if (done[node[e]])
			continue;
		done[node[e]] = true;
		b->lot[k].source[b->lot[k].sources++] = node[e];
		if (b->lot[k].sources == size && ++k == b->lots)
		{
			run_wave(b, k);
			k = 0;
			b->env->progress(b->env, GP_PHASE_PAIRS, e + 1, n);
		}
	}
	if (k < b->lots && b->lot[k].sources > 0)
		k++;
	run_wave(b, k);
	gp_free(b->env, done);
}

/* The search for candidates, kept from call to call: its tables take longer than a node. */
static gp_link_search *
open_search(gp_links *l, gp_link_candidates candidates)
{
	if (l->search && l->candidates == candidates && l->target == NULL)
		return l->search;
	if (l->search)
		gp_link_search_close(l->search);
	l->search = NULL;
	l->search = gp_link_search_open(l->env, l->model->graph, l->context.weights, l->model->code,
									l->context.items ? GP_CANDIDATES_ALL : candidates);
	l->candidates = candidates;
	if (l->target)
		gp_link_search_among(l->search, l->targets, l->target);
	else if ((candidates == GP_CANDIDATES_AUTO || l->context.items) && l->model->topology)
		gp_link_search_learn(l->search, gp_link_topology_read(l->model->topology),
							 l->model->features != NULL);
	return l->search;
}

/*
 * Makes lots of so many nodes, and starts threads where they are worth it, with room for what is
 * kept, which is little.  The first lot is a sample of the nodes, for dry runs.
 */
static void
open_lots(best *b, int64_t n, int32_t size, gp_link_candidates candidates)
{
	gp_links   *l = b->l;
	int64_t		nodes = l->model->graph->nodes;
	int64_t		room = b->k <= GP_LINK_KEPT ? size * b->k : 0;
	lot		   *sample = b->lot = gp_alloc_zero(b->env, 1, sizeof(lot));

	b->search = gp_alloc_array(b->env, gp_max64(l->threads, 1), sizeof(gp_link_search *));
	b->search[0] = open_search(l, candidates);
	b->lots = b->threads = 1;
	sample->sources = (int32_t) gp_min64(size, nodes);
	for (int32_t s = 0; s < sample->sources; s++)
		sample->source[s] = (int32_t) (s * nodes / size);
	sample->room = room;
	sample->row = gp_alloc_array(b->env, room, sizeof(gp_link_row));
	b->expected = gp_min64(nodes, (GROUP_PAIRS + gp_min64(nodes, GROUP_PAIRS)) / size);
	if (l->dev->room == 0 && l->threads > 0 && n > LEAST_LOTS * size && room > 0)
		b->crew = gp_crew_open(b->env, l->threads, gp_crew_room(l->dev, rank_lot, b, 0));
	if (b->crew == NULL)
		return;
	b->threads = gp_crew_size(b->crew);
	b->lots = b->threads * WAVE_LOTS;
	b->lot = gp_realloc_array(b->env, b->lot, b->lots, sizeof(lot));
	for (int64_t k = 1; k < b->lots; k++)
		b->lot[k] = (lot) {.room = room,
			.row = gp_alloc_array(b->env, room, sizeof(gp_link_row))};
	for (int t = 1; t < b->threads; t++)
		b->search[t] = gp_link_search_twin(b->search[0]);
}

/* Searches for the best of each node, and hands them out. */
static void
search_nodes(best *b, int64_t n, const int32_t *node, gp_link_candidates candidates)
{
	gp_links   *l = b->l;
	int32_t		size = gp_link_has_scores(l->model->method) ?
		gp_link_block_size(l->model->graph->nodes) : GP_LINK_BLOCK;

	if (l->context.items)
		gp_link_ease_expect(&l->context, n);
	open_lots(b, n, size, candidates);
	if (b->env->dry)
	{
		gp_count	before = gp_dry_count(l->dev);

		b->expected = b->crew ? gp_min64(b->expected, TYPICAL_CANDIDATES) : b->expected;
		run_wave(b, 1);
		gp_dry_repeat(l->dev, &before, (double) n / size - 1.0);
	}
	else
	{
		b->lot[0].sources = 0;
		run_waves(b, n, node, size);
	}
	if (b->crew)
		gp_crew_close(b->crew);
	for (int64_t k = 0; k < b->lots; k++)
		gp_free(b->env, b->lot[k].row);
	(void) gp_link_search_set_env(b->search[0], b->env);
	for (int t = 1; t < b->threads; t++)
		gp_link_search_twin_free(b->env, b->search[t]);
	gp_free_all(b->env, b->lot, b->search);
}

void
gp_links_set_threads(gp_links *l, int threads)
{
	l->threads = threads;
}

void
gp_links_among(gp_links *l, int64_t n, const int32_t *node)
{
	if (l->search)
		gp_link_search_close(l->search);
	l->search = NULL;
	l->targets = n;
	l->target = node;
}

void
gp_links_best(gp_links *l, int64_t n, const int32_t *node, int64_t k,
			  gp_link_candidates candidates, gp_link_take take, void *state)
{
	best		b = {.l = l,.env = l->env,.k = k,.take = take,.state = state};

	b.given = gp_set_open(l->env, 0);
	b.asked = gp_alloc_zero(l->env, l->model->graph->nodes, sizeof(bool));
	for (int64_t e = 0; e < n; e++)
		b.asked[node[e]] = true;
	search_nodes(&b, n, node, candidates);
	gp_free(l->env, b.asked);
	gp_set_close(&b.given);
}

gp_link_kept
gp_links_keep(gp_links *l, int64_t k, double least)
{
	gp_env	   *env = l->env;
	int64_t		nodes = l->model->graph->nodes;
	gp_link_kept kept = {.nodes = nodes};
	best		b = {.l = l,.env = env,.k = k,.kept = &kept,.least = least};
	int32_t    *node = gp_alloc_array(env, nodes, sizeof(int32_t));

	kept.first = gp_alloc_zero(env, nodes + 1, sizeof(int64_t));
	kept.row = gp_alloc_values(env, (int64_t) gp_size_mul(env, nodes, gp_min64(k, nodes)),
								sizeof(gp_link_row));
	for (int64_t i = 0; i < nodes; i++)
		node[i] = (int32_t) i;
	search_nodes(&b, nodes, node, GP_CANDIDATES_AUTO);
	gp_free(env, node);
	return kept;
}

gp_link_kept
gp_link_model_keep(gp_device *dev, const gp_link_model *model, int threads, int64_t k, double least)
{
	int			all = dev->threads;
	gp_device  *one = dev->room > 0 ? dev : gp_device_cpu(dev->env, 1);

	/* A dry run goes on where it counts, as if with that device. */
	if (dev->env->dry && one != dev)
		dev->threads = 1;
	gp_links   *l = gp_links_open(dev->env->dry ? dev : one, model);
	gp_links_set_threads(l, threads);
	gp_link_kept kept = gp_links_keep(l, k, least);
	gp_links_close(l);
	dev->threads = all;
	if (one != dev)
		one->close(one);
	return kept;
}
