/*
 * pairs.c - the pair kernel on a kernel of the nodes (Yu and Chu 2008).
 *
 * c((i,j), (i',j')) = k(i,i') k(j,j') + k(i,j') k(j,i') does not see the order of
 * a pair; for directed graphs the first product stands alone.  k is the nodes'
 * kernel plus a constant, normalised to k_ii = 1: both rank links better on every
 * graph tried than the raw kernel does.  It comes from a factor of the nodes'
 * kernel, so a covariance of two pairs costs four products of short rows.
 *
 * The figures are cross-fitted: for each fold the nodes' factor is that of the graph without the
 * fold's links, and neither these nor the fold's non-links are learnt from.
 */
#include "link_regression.h"

#include <stdio.h>

#define LEAST_RANK 256			/* columns of the nodes' factor, at least */
#define MOST_RANK 512			/* and at most */
#define NODES_A_COLUMN 4		/* more columns than nodes / this say too much of single nodes */
#define ROW_NUMBERS 16777216	/* that all nodes' rows together may have beyond the least rank */
#define LEARNT 4000				/* links that are learnt from, and as many non-links */
#define INDUCING 500			/* pairs that carry the regression, half of them links */
#define FEWER 4					/* times: each pair that is ranked costs a row of covariances */
#define CONSTANT 0.1			/* added to the nodes' kernel, relative to its mean variance */
#define LEARN_SALT UINT64_C(0x6c6561726e000000)

/* Penalties of the weights, of which the folds' likelihood chooses one. */
static const double penalties[] = {0.01, 0.1, 1.0};

#define PENALTIES ((int) (sizeof(penalties) / sizeof(penalties[0])))

/* What is learnt from: links first, then as many non-links. */
typedef struct training_pairs
{
	gp_link_pairs pairs;
	int64_t		links;
} training_pairs;

/* The pairs that a fold learns from, and the others: those it hides, rivals, calibration. */
typedef struct fold_sets
{
	training_pairs learnt;
	gp_link_pairs others;
} fold_sets;

/* What a fit works with; the last pairs are those of the whole graph, which hides nothing. */
typedef struct pairs_fit
{
	gp_env	   *env;
	const gp_link_problem *problem;
	gp_link_prepared prepared;
	int			folds;
	gp_link_fold fold[GP_LINK_FOLDS];
	fold_sets	pairs[GP_LINK_FOLDS + 1];
} pairs_fit;

/*
 * Adds a constant column and scales each row to length one.  With k + c in place of k the pair
 * kernel gains c (k(i,i') + k(j,j')), a term for how well linked the ends are each on its own.
 */
static void
normalise_rows(gp_env *env, float *row, int64_t n, int64_t width)
{
	double	   *norm = gp_alloc_values(env, n, sizeof(double));
	double		mean = 0.0;

	n = gp_items(env, n);
	GP_EACH(env, i, n, i * width)
	{
		norm[i] = 0.0;
		for (int64_t c = 0; c < width - 1; c++)
			norm[i] += (double) row[i * width + c] * row[i * width + c];
		mean += norm[i] / n;
	}
	gp_kernel_check_finite(env, mean);
	if (mean <= 0.0)
		mean = 1.0;
	GP_EACH(env, i, n, i * width)
	{
		double		factor = 1.0 / sqrt(norm[i] + CONSTANT * mean);

		row[i * width + width - 1] = (float) sqrt(CONSTANT * mean);
		for (int64_t c = 0; c < width; c++)
			row[i * width + c] = (float) (row[i * width + c] * factor);
	}
	gp_free(env, norm);
}

/* Puts the nodes' normalised factor on a graph into a model. */
static void
set_rows(gp_device *dev, const gp_link_problem *problem, const gp_graph *graph,
		 gp_link_model *model)
{
	gp_link_problem p = *problem;
	int64_t		n = gp_max64(graph->nodes, 1);
	int64_t		rank = gp_min64(n / NODES_A_COLUMN, ROW_NUMBERS / n);

	p.graph = graph;
	gp_matrix	q = gp_link_factor(dev, &p, gp_min64(gp_max64(rank, LEAST_RANK), MOST_RANK));
	model->graph = graph;
	model->node.width = (int32_t) q.cols + 1;
	model->node.row = gp_alloc_values(dev->env, q.rows, model->node.width * sizeof(float));
	gp_matrix	host = gp_matrix_wrap(model->node.row, q.rows, model->node.width, GP_FLOAT);
	dev->download(dev, gp_matrix_cols(host, 0, q.cols), q);
	dev->destroy(dev, &q);
	normalise_rows(dev->env, model->node.row, graph->nodes, model->node.width);
}

/* Links and as many non-links of a graph: links first.  The graph whose links are known is full. */
static training_pairs
draw_training_pairs(gp_env *env, const gp_graph *graph, const gp_graph *full, uint64_t seed,
					const gp_link_pairs *except, const gp_link_rules *rules)
{
	training_pairs t = {.links = 0};
	gp_link_pairs links = gp_link_sample_links(env, graph, seed, LEARNT);
	gp_link_pairs unlinked = gp_link_sample_unlinked(env, full, seed, links.n, except, rules);

	t.links = links.n;
	t.pairs = gp_link_pairs_concat(env, &links, &unlinked);
	gp_link_pairs_free(env, &links);
	gp_link_pairs_free(env, &unlinked);
	return t;
}

/*
 * The inducing pairs, which are the caller's, too: the first of the links and of the non-links,
 * which come in random order.
 */
static gp_link_pairs
set_inducing(gp_env *env, const training_pairs *t, gp_link_model *model)
{
	int64_t		links = gp_min64(t->links, INDUCING / 2);
	int64_t		others = gp_min64(t->pairs.n - t->links, INDUCING / 2);
	gp_link_pairs inducing = gp_link_pairs_create(env, links + others);

	gp_link_pairs_append(&inducing, &t->pairs, 0, links);
	gp_link_pairs_append(&inducing, &t->pairs, t->links, others);
	model->inducing.n = inducing.n;
	model->inducing.pair = gp_alloc_array(env, 2 * inducing.n, sizeof(int32_t));
	for (int64_t k = 0; k < inducing.n; k++)
	{
		model->inducing.pair[2 * k] = inducing.src[k];
		model->inducing.pair[2 * k + 1] = inducing.dst[k];
	}
	return inducing;
}

/* Covariances of pairs with the inducing ones. */
static gp_matrix
covariances(gp_device *dev, const gp_link_model *model, const gp_link_pairs *pairs)
{
	gp_matrix	k = dev->create(dev, pairs->n, model->inducing.n, GP_DOUBLE);

	gp_link_pairs_kernel(dev, model, pairs->n, pairs->src, pairs->dst, k);
	return k;
}

/* A regression on some pairs, and on others that it does not learn from: those of weight 0. */
typedef struct regression
{
	gp_link_regression on;		/* the inducing pairs as landmarks */
	bool	   *label;
	double	   *weight;
} regression;

static regression
regression_open(gp_device *dev, const gp_link_problem *problem, const gp_graph *graph,
				const fold_sets *p, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_pairs all = gp_link_pairs_concat(env, &p->learnt.pairs, &p->others);
	regression	r = {.label = NULL};

	set_rows(dev, problem, graph, model);
	gp_link_pairs inducing = set_inducing(env, &p->learnt, model);

	gp_matrix	k = covariances(dev, model, &inducing);
	r.on = gp_link_regression_of(dev, k, covariances(dev, model, &all));
	r.label = gp_alloc_zero(env, all.n, sizeof(bool));
	r.weight = gp_alloc_zero(env, all.n, sizeof(double));
	for (int64_t e = 0; e < p->learnt.pairs.n; e++)
	{
		r.label[e] = e < p->learnt.links;
		r.weight[e] = 1.0;
	}
	gp_link_pairs_free(env, &inducing);
	gp_link_pairs_free(env, &all);
	return r;
}

static void
regression_close(regression *r)
{
	gp_free_all(r->on.logistic.dev->env, r->label, r->weight);
	gp_link_regression_close(&r->on);
}

/* Cross-fits: sets the model's figures and its curve, and returns the penalty. */
static double
choose_penalty(gp_device *dev, const pairs_fit *fit, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_trial x[PENALTIES];
	int			best = 0;

	for (int g = 0; g < PENALTIES; g++)
		x[g] = gp_link_trial_open(env, &model->held);
	for (int f = 0; f < fit->folds; f++)
	{
		/* A model of the fold's graph, with each penalty, on what it hides. */
		const gp_link_fold *fold = &fit->fold[f];
		const fold_sets *p = &fit->pairs[f];
		int64_t		learnt = p->learnt.pairs.n;
		gp_link_model of_fold = {0};
		regression	r = regression_open(dev, fit->problem, fold->graph, p, &of_fold);

		for (int g = 0; g < PENALTIES; g++)
		{
			r.on.logistic.penalty = penalties[g];
			gp_link_logistic_fit(&r.on.logistic, r.label, r.weight);
			gp_link_trial_take(&x[g], &model->held, fold, f, &r.on.logistic, learnt,
							   r.on.logistic.logit + learnt + fold->pairs.n);
		}
		regression_close(&r);
		gp_free_all(env, of_fold.inducing.pair, of_fold.node.row);
	}
	for (int g = 1; g < PENALTIES; g++)
		if (x[g].loss < x[best].loss)
			best = g;
	gp_link_trial_judge(env, &x[best], fit->fold, fit->folds, fit->problem->missing_share, model);
	for (int g = 0; g < PENALTIES; g++)
		gp_link_trial_free(env, &x[g]);
	return penalties[best];
}

/* ---- the method ---- */

static void
pairs_open(void *state, gp_device *dev, const gp_problem *p, const void *options)
{
	gp_env	   *env = dev->env;
	pairs_fit  *fit = state;
	uint64_t	seed = gp_hash(p->seed ^ LEARN_SALT);

	gp_power_refuse(env, p->program);
	*fit = (pairs_fit) {.env = env,.problem = options};
	fit->folds = gp_link_folds_make(env, p->graph, p->seed, fit->fold);
	fit->prepared = gp_link_prepared_make(env, p->graph, fit->fold, fit->folds);
	int64_t		nodes = gp_link_calibration_nodes(p->graph, FEWER * fit->folds);
	gp_link_model all = {.method = GP_LINK_PAIRS,.graph = p->graph,
		.topology = fit->prepared.topology};
	for (int f = 0; f < fit->folds; f++)
	{
		gp_link_fold *fold = &fit->fold[f];
		fold_sets *q = &fit->pairs[f];

		fold->calibration = gp_link_calibration_pairs_make(env, &all, fold, NULL, nodes,
														   p->seed + (uint64_t) f);
		fold->rivals = gp_link_rivals_make(env, p->graph, fold,
										   GP_LINK_RANKED / FEWER / fit->folds, p->seed,
										   &fit->prepared);
		q->learnt = draw_training_pairs(env, fold->graph, p->graph, seed + f + 1, &fold->pairs,
										fit->prepared.rules);
		gp_link_pairs hidden = gp_link_pairs_concat(env, &fold->pairs, &fold->rivals.pairs);
		q->others = gp_link_pairs_concat(env, &hidden, &fold->calibration.pairs);
		gp_link_pairs_free(env, &hidden);
	}
	fit->pairs[fit->folds].learnt = draw_training_pairs(env, p->graph, p->graph, seed, NULL,
															fit->prepared.rules);
}

static void *
pairs_run(void *state, gp_device *dev, const gp_plan *plan)
{
	pairs_fit  *fit = state;
	const fold_sets *whole = &fit->pairs[fit->folds];
	gp_env	   *env = dev->env;
	const gp_graph *graph = fit->problem->graph;
	gp_link_model *model = gp_link_model_begin(env, &fit->prepared, GP_LINK_PAIRS, graph);
	double		penalty = choose_penalty(dev, fit, model);
	regression	r = regression_open(dev, fit->problem, graph, whole, model);

	r.on.logistic.penalty = penalty;
	gp_link_logistic_fit(&r.on.logistic, r.label, r.weight);
	model->pairs = whole->learnt.pairs.n;
	model->alpha = gp_link_logistic_weights(&r.on.logistic, r.on.root);
	model->root = gp_link_covariance_root(&r.on.logistic, r.on.root);
	regression_close(&r);
	env->progress(env, GP_PHASE_KERNEL, 0, 0);
	model->code = gp_link_codes(dev, fit->problem);
	return gp_link_model_end(dev, fit->problem, &fit->prepared, model);
}

static void
pairs_describe(const void *state, gp_plan *plan)
{
	snprintf(plan->reason, sizeof(plan->reason), "links by a kernel of pairs: ");
}

static void
pairs_close(void *state)
{
	pairs_fit  *fit = state;

	for (int f = 0; f <= fit->folds; f++)
	{
		gp_link_pairs_free(fit->env, &fit->pairs[f].learnt.pairs);
		gp_link_pairs_free(fit->env, &fit->pairs[f].others);
	}
	for (int f = 0; f < fit->folds; f++)
		gp_link_fold_free(fit->env, &fit->fold[f]);
	gp_link_prepared_free(fit->env, &fit->prepared);
}

const gp_method gp_method_pairs = {
	.name = "pairs",.what = GP_LINK_WHAT,.hint = GP_LINK_HINT,.state = sizeof(pairs_fit),
	.open = pairs_open,.run = pairs_run,.release = gp_link_release,.describe = pairs_describe,
	.close = pairs_close
};
