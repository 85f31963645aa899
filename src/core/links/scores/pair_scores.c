/*
 * pair_scores.c - the scores of any pairs, by blocks of sources.
 */
#include "scores.h"

#define COLUMN_BYTES (256.0 * 1024 * 1024)	/* that one matrix of a block may take */
/* of more, half as many columns at once stay nearer to the processor */
#define WIDE_NODES 10000

/* All scores, in the order of their columns; those of features last. */
static const gp_link_score_family *const families[] = {
	&gp_link_structure, &gp_link_arcs, &gp_link_laplacian, &gp_link_autoencoder, &gp_link_decay,
	&gp_link_cosines, &gp_link_neighbour_cosines
};

#define FAMILIES ((int) (sizeof(families) / sizeof(families[0])))

/* The scores of a family that a pair in such a graph has: all or none. */
static int32_t
width_of(const gp_link_score_family *family, const gp_graph *graph, bool features)
{
	return (family->needs_directions && !graph->directed) ||
		(family->needs_times && graph->time == NULL) || (family->needs_features && !features) ?
		0 : family->width;
}

int32_t
gp_link_width(const gp_graph *graph, bool features)
{
	int32_t		width = 0;

	for (int k = 0; k < FAMILIES; k++)
		width += width_of(families[k], graph, features);
	return width;
}

int32_t
gp_link_block_size(int64_t nodes)
{
	double		most = COLUMN_BYTES / (8.0 * (double) (nodes > 0 ? nodes : 1));
	int32_t		block = nodes > WIDE_NODES ? GP_LINK_BLOCK / 2 : GP_LINK_BLOCK;

	return most >= block ? block : most >= 16.0 ? (int32_t) most / 16 * 16 : 16;
}

/* What the graph loses with the link of a slot. */
static gp_link_cut
make_cut(const gp_link_context *f, int32_t i, int32_t j)
{
	const gp_csr *w = f->weights;
	int64_t		at = gp_csr_find(w->start, w->col, i, j);
	gp_link_cut cut = {i, j, true, at >= 0 ? ((const double *) w->value)[at] : 0.0};
	int64_t		back = f->graph->directed ? gp_csr_find(f->graph->start, f->graph->col, j, i) : -1;

	if (back >= 0)				/* the arc j -> i stays */
	{
		cut.edge = false;
		cut.weight -= f->graph->weight ? f->graph->weight[back] : 1.0;
	}
	return cut;
}

/* A block filled up to a multiple of 16 sources, and its cuts. */
typedef struct full_block
{
	gp_link_block block;
	int32_t		source[GP_LINK_BLOCK];
	int32_t		partner[GP_LINK_BLOCK];
	gp_link_cut cut[GP_LINK_BLOCK];
	const gp_link_cut *cuts;	/* NULL: none */
} full_block;

/*
 * Fills a block up with its first source: sparse products are several times
 * faster on a multiple of 16 columns.
 */
static void
fill_up(const gp_link_context *f, const gp_link_block *block, full_block *full)
{
	full->block = *block;
	full->block.sources = (block->sources + 15) / 16 * 16;
	full->block.source = full->source;
	full->block.partner = block->partner ? full->partner : NULL;
	full->cuts = block->partner ? full->cut : NULL;
	for (int32_t t = 0; t < full->block.sources; t++)
	{
		int32_t		from = t < block->sources ? t : 0;

		full->source[t] = block->source[from];
		if (block->partner == NULL)
			continue;
		full->partner[t] = block->partner[from];
		full->cut[t] = make_cut(f, full->source[t], full->partner[t]);
	}
}

void
gp_link_block_scores(gp_link_context *f, const gp_link_block *block, double *out)
{
	full_block	full;

	if (block->sources == 0 || block->n == 0)
		return;
	fill_up(f, block, &full);
	if (f->items)
	{
		gp_link_ease_scores(f, &full.block, out);
		return;
	}
	for (int k = 0; k < FAMILIES; k++)
	{
		int32_t		width = width_of(families[k], f->graph, f->x != NULL);

		if (width > 0)
			families[k]->compute(f, &full.block, full.cuts, out);
		out += width;
	}
}

/* A pair, its place in the caller's list, and which end is the source. */
typedef struct ordered_pair
{
	int32_t		source;
	int32_t		other;
	int64_t		place;
} ordered_pair;

/* By source, then by place. */
static int
compare_pairs(const void *a, const void *b, void *unused)
{
	const ordered_pair *x = a;
	const ordered_pair *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

/* Room for one block of pairs. */
typedef struct block_room
{
	int32_t		source[GP_LINK_BLOCK];
	int32_t		partner[GP_LINK_BLOCK];
	int32_t    *slot;
	int32_t    *dst;
	double	   *scores;
	int64_t		most;			/* pairs that there is room for */
} block_room;

/*
 * Pairs of a block for each of its sources, at most.  A dry run has GP_LINK_OTHERS of each node
 * that it draws for the calibration: by two fewer its blocks are full, though some have fewer.
 */
#define SOURCE_PAIRS (GP_LINK_OTHERS - 2)

/*
 * Takes pairs into a block until it has its sources or its pairs; cut: a source
 * for each pair.  Returns how many pairs it took.
 */
static int64_t
fill_block(block_room *room, const ordered_pair *pair, int64_t n, int32_t size, bool cut,
		   gp_link_block *block)
{
	int64_t		e;

	memset(block, 0, sizeof(*block));
	for (e = 0; e < n && e < room->most; e++)
	{
		bool		new = cut || e == 0 || pair[e].source != pair[e - 1].source;

		if (new && block->sources == size)
			break;
		if (new)
		{
			room->source[block->sources] = pair[e].source;
			room->partner[block->sources++] = pair[e].other;
		}
		room->slot[e] = block->sources - 1;
		room->dst[e] = pair[e].other;
	}
	block->source = room->source;
	block->partner = cut ? room->partner : NULL;
	block->n = e;
	block->slot = room->slot;
	block->dst = room->dst;
	return e;
}

/* Scores a sorted list of pairs, all of them linked or none, into the pairs' places. */
static void
score_list(gp_link_context *f, block_room *room, const ordered_pair *pair, int64_t n, bool cut,
		   double *out)
{
	int32_t		size = gp_link_block_size(f->n);
	int64_t		done = 0;

	while (done < n)
	{
		gp_link_block block;
		int64_t		took = fill_block(room, pair + done, n - done, size, cut, &block);

		gp_link_block_scores(f, &block, room->scores);
		for (int64_t e = 0; e < gp_items(f->env, took); e++)
			memcpy(out + pair[done + e].place * f->width, room->scores + e * f->width,
				   f->width * sizeof(double));
		done += took;
		f->env->check_interrupts(f->env);
	}
}

/*
 * The scores of any pairs.  One end needs a column: the end that more pairs
 * share, so that there are few columns; the source, where direction counts.
 */
void
gp_link_pair_scores(gp_link_context *f, int64_t n, const int32_t *src, const int32_t *dst,
					double *out)
{
	gp_env	   *env = f->env;
	ordered_pair *pair = gp_alloc_array(env, n, sizeof(ordered_pair));
	int32_t    *count = gp_alloc_zero(env, f->n, sizeof(int32_t));	/* of pairs, at each node */
	block_room	room = {.most = SOURCE_PAIRS * gp_link_block_size(f->n)};
	int64_t		open = 0;
	int64_t		linked = n;

	for (int64_t e = 0; e < n; e++)
	{
		count[src[e]]++;
		count[dst[e]]++;
	}
	/* Pairs without a link come first, those with one last. */
	for (int64_t e = 0; e < n; e++)
	{
		bool		swap = !f->graph->directed &&
			(count[dst[e]] > count[src[e]] || (count[dst[e]] == count[src[e]] && dst[e] < src[e]));
		int32_t		source = swap ? dst[e] : src[e];
		int32_t		other = swap ? src[e] : dst[e];
		int64_t		at = gp_link_exists(f->graph, src[e], dst[e]) ? --linked : open++;

		pair[at] = (ordered_pair) {source, other, e};
	}
	gp_free(env, count);
	gp_sort(env, pair, open, sizeof(ordered_pair), compare_pairs, NULL);
	gp_sort(env, pair + linked, n - linked, sizeof(ordered_pair), compare_pairs, NULL);
	room.slot = gp_alloc_array(env, room.most, sizeof(int32_t));
	room.dst = gp_alloc_array(env, room.most, sizeof(int32_t));
	room.scores = gp_alloc_array(env, room.most * f->width, sizeof(double));
	score_list(f, &room, pair, open, false, out);
	score_list(f, &room, pair + linked, n - linked, true, out);
	gp_free_all(env, room.slot, room.dst, room.scores, pair);
}
