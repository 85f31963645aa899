/*
 * ease_ridge.c - how much the regressions of users and items are shrunk.
 *
 * One fold tells, by its hidden links: each is asked of one of its ends, in turn where there are no
 * directions, and ranked among the nodes of the other side that the end is not linked with.  A
 * ridge is as good as the discounted gains of the ranks (Järvelin and Kekäläinen 2002).
 */
#include "links/scores/scores.h"

#define NOTICEABLE 1.015		/* less of a gain over an earlier ridge is chance */
#define MOST_OTHERS 4096		/* nodes that a link is ranked among */

/* Links of a fold and the nodes that they are ranked among; of each first the link's own. */
typedef struct questions
{
	gp_link_block block;
	int32_t		source[GP_LINK_BLOCK];
	int64_t		first[GP_LINK_BLOCK + 1];
	int32_t    *slot;
	int32_t    *dst;
	double	   *score;
} questions;

/* Fills the next questions, from link on. */
static void
ask(questions *q, const gp_graph *full, const gp_link_fold *fold, const bool *item, int64_t link)
{
	gp_link_block *b = &q->block;
	int64_t		step = (full->nodes + MOST_OTHERS - 1) / MOST_OTHERS;

	*b = (gp_link_block) {.source = q->source,.slot = q->slot,.dst = q->dst};
	for (int64_t e = link; e < fold->links && b->sources < GP_LINK_BLOCK; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);

		q->source[b->sources] = node;
		q->first[b->sources] = b->n;
		q->slot[b->n] = b->sources;
		q->dst[b->n++] = other;
		for (int64_t j = e % step; j < full->nodes; j += step)
			if (item[j] != item[node] && !gp_link_exists(full, node, (int32_t) j))
			{
				q->slot[b->n] = b->sources;
				q->dst[b->n++] = (int32_t) j;
			}
		q->first[++b->sources] = b->n;
	}
}

int
gp_link_ease_choose(gp_device *dev, const gp_graph *full, const gp_link_fold *fold,
					const bool *item, bool dense)
{
	gp_env	   *env = dev->env;
	int64_t		room = GP_LINK_BLOCK * (1 + gp_min64(full->nodes, MOST_OTHERS));
	questions	q = {.slot = gp_alloc_array(env, room, sizeof(int32_t)),
		.dst = gp_alloc_array(env, room, sizeof(int32_t)),
	.score = gp_alloc_zero(env, room, sizeof(double))};
	gp_score_context context;
	double		most = -1.0;
	int			best = 0;

	gp_ease_context_open(&context, dev, fold->graph, item, NULL);
	for (int k = 0; k < GP_LINK_RIDGES; k++)
	{
		double		gain = 0.0;

		gp_link_ease_fit(&context, k, dense);
		for (int64_t link = 0; link < fold->links; link += GP_LINK_BLOCK)
		{
			env->check_interrupts(env);
			ask(&q, full, fold, item, link);
			gp_link_block_scores(&context, &q.block, q.score);
			for (int32_t s = 0; s < q.block.sources; s++)
				gain += 1.0 / log2(1.0 + gp_link_rank(q.score, &q.first[s]));
		}
		best = gain > NOTICEABLE * most ? k : best;
		most = k == best ? gain : most;
	}
	gp_score_context_close(&context);
	gp_free_all(env, q.slot, q.dst, q.score);
	return best;
}
