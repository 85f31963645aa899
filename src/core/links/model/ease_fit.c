/*
 * ease_fit.c - the method ease: a fit by the one score of auto-encoders of users and items.
 *
 * One fold says how much their regressions are shrunk, by its hidden links: each is asked of one of
 * its ends, in turn where there are no directions, and ranked among the nodes of the other side
 * that the end is not linked with.  A ridge is as good as the discounted gains of the ranks
 * (Järvelin and Kekäläinen 2002).
 */
#include "scored_fit.h"

#include <stdio.h>

#define CALIBRATION_NODES 1600	/* of all folds: links are less even than in other graphs */
#define NOTICEABLE 1.015		/* less of a gain over an earlier ridge is chance */
#define MOST_OTHERS 4096		/* nodes that a link is ranked among */

typedef struct ease_fit
{
	gp_link_scored_fit r;
	bool	   *item;			/* of each node */
	bool		dense;			/* by inverses of the items */
} ease_fit;

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

/* The ridge by which the hidden links of the first fold rank best. */
static int
choose_ridge(const ease_fit *fit)
{
	gp_env	   *env = fit->r.env;
	const gp_graph *full = fit->r.problem->graph;
	const gp_link_fold *fold = &fit->r.fold[0];
	int64_t		room = GP_LINK_BLOCK * (1 + gp_min64(full->nodes, MOST_OTHERS));
	questions	q = {.slot = gp_alloc_array(env, room, sizeof(int32_t)),
		.dst = gp_alloc_array(env, room, sizeof(int32_t)),
	.score = gp_alloc_zero(env, room, sizeof(double))};
	gp_link_context context;
	double		most = -1.0;
	int			best = 0;

	gp_link_context_open_ease(&context, fit->r.dev, fold->graph, fit->item, NULL);
	for (int k = 0; k < GP_LINK_RIDGES; k++)
	{
		double		gain = 0.0;

		gp_link_ease_fit(&context, k, fit->dense);
		for (int64_t link = 0; link < fold->links; link += GP_LINK_BLOCK)
		{
			env->check_interrupts(env);
			ask(&q, full, fold, fit->item, link);
			gp_link_block_scores(&context, &q.block, q.score);
			for (int32_t s = 0; s < q.block.sources; s++)
				gain += 1.0 / log2(1.0 + gp_link_rank(q.score, &q.first[s]));
		}
		best = gain > NOTICEABLE * most ? k : best;
		most = k == best ? gain : most;
	}
	gp_link_context_close(&context);
	gp_free_all(env, q.slot, q.dst, q.score);
	return best;
}

/* The one score of all folds' pairs, by the ridge that the first of them chooses. */
static void
score_items(gp_link_scored_fit *r, gp_link_model *model)
{
	const ease_fit *fit = (const ease_fit *) r;
	int			ridge = choose_ridge(fit);
	gp_link_context context;

	for (int f = 0; f < r->folds; f++)
	{
		gp_link_context_open_ease(&context, r->dev, r->fold[f].graph, fit->item, NULL);
		gp_link_ease_fit(&context, ridge, fit->dense);
		gp_link_scored_fold(r, &context, f);
		gp_link_context_close(&context);
	}
	gp_link_context_open_ease(&context, r->dev, r->problem->graph, fit->item, NULL);
	gp_link_ease_fit(&context, ridge, fit->dense);
	gp_link_scored_whole(r, &context);
	model->ease.ridge = context.ridge;
	model->ease.diagonal = gp_link_ease_diagonal(&context);
	gp_link_context_close(&context);
}

static void
ease_open(void *state, gp_device *dev, const gp_problem *p, const void *options)
{
	ease_fit   *fit = state;
	gp_link_scored_fit *r = &fit->r;

	*fit = (ease_fit) {.item = gp_link_items_find(dev->env, p->graph, NULL),.dense = true};
	*r = (gp_link_scored_fit) {.dev = dev,.env = dev->env,.problem = options,
							   .method = GP_LINK_EASE,.width = 1,.score_all = score_items};
	gp_link_scored_hide(r);
	gp_link_scored_draw(r, r->folds, CALIBRATION_NODES / r->folds);
}

static void
ease_describe(const void *state, gp_plan *plan)
{
	snprintf(plan->reason, sizeof(plan->reason), "links by auto-encoders of users and items: ");
	plan->effort = gp_link_scored_effort(plan);
}

/* Conjugate gradients in place of inverses. */
static bool
ease_use_less_memory(void *state)
{
	ease_fit   *fit = state;
	bool		may = fit->dense;

	fit->dense = false;
	return may;
}

static void
ease_close(void *state)
{
	gp_link_scored_close(state);
	gp_free(((ease_fit *) state)->r.env, ((ease_fit *) state)->item);
}

const gp_method gp_method_ease = {
	.name = "ease",.what = GP_LINK_WHAT,.hint = GP_LINK_HINT,.state = sizeof(ease_fit),
	.open = ease_open,.run = gp_link_scored_run,.release = gp_link_release,
	.describe = ease_describe,.use_less_memory = ease_use_less_memory,.close = ease_close
};
