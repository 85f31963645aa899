/*
 * link_fit.c - the fit of a link model, and what it costs.
 *
 * The scores of the pairs to learn from are computed on graphs from which their
 * fold of links is removed, so that a link never sees itself.  Each fold's rows
 * are also predicted from the other's alone: the figures of the summary.
 */
#include "infer/regress.h"
#include "regression.h"
#include "rivals.h"
#include "scores.h"

#include <math.h>
#include <string.h>

#define EXACT_NODES 10000		/* below, the Laplacian scores take all their steps */
#define STEP_ENTRIES 4e6		/* above, so many entries are gone through for a source */
#define LEAST_STEPS 6
#define LEAST_POWERS 3			/* of the features, where even the least steps are more than that */
#define RANKED 200				/* links of all folds that are ranked among rivals */

/* The rows that are learnt from, fold after fold. */
typedef struct rows
{
	int64_t		n;
	int32_t		width;
	double	   *score;			/* n x width */
	const bool *label;			/* n */
	gp_link_rivals rivals[GP_LINK_FOLDS];
	double	   *rival_score[GP_LINK_FOLDS];	/* rivals[f].pairs.n x width */
} rows;

/* The entries of the symmetric pattern, at most. */
static double
entries_of(const gp_graph *graph)
{
	return 2.0 * (double) graph->edges;
}

/* Steps of the Laplacian scores: all of them where that is quick, at least six. */
static int32_t
choose_steps(const gp_graph *graph, bool *cut)
{
	int32_t		all = gp_link_laplacian_steps();
	double		fit = STEP_ENTRIES / (entries_of(graph) + (double) graph->nodes + 1.0);
	int32_t		steps = all;

	if (graph->nodes >= EXACT_NODES && fit < all)
		steps = fit > LEAST_STEPS ? (int32_t) fit : LEAST_STEPS;
	*cut = steps < all;
	return steps;
}

/* The powers of A whose features are compared. */
static int32_t
choose_powers(const gp_link_problem *problem, int32_t steps)
{
	if (problem->features == NULL)
		return 0;
	return steps > LEAST_STEPS ? GP_LINK_POWERS : LEAST_POWERS;
}

/* The non-zeros of the features, and what an entry of them takes. */
static double
feature_entries(const gp_features *x)
{
	if (x == NULL)
		return 0.0;
	return x->csr ? (double) gp_csr_entries(x->csr) : (double) x->rows * (double) x->dims;
}

/* Counts the method scores. */
static void
count_scores(const gp_link_problem *problem, gp_link_plan *plan)
{
	double		n = (double) problem->graph->nodes;
	double		e = entries_of(problem->graph);
	double		x = feature_entries(problem->features);
	double		dims = problem->features ? (double) problem->features->dims : 0.0;
	double		powers = (double) plan->powers;
	double		m = (double) gp_link_fold_rows(problem->graph->edges);
	double		block = gp_link_block_size(problem->graph->nodes);
	double		frame = 60.0 * e + 136.0 * n + (x > 0.0 ? 20.0 * x + 20.0 * e + 4.0 * (dims + n) * powers : 0.0);
	double		columns = 28.0 * n * block + 24.0 * dims * powers * block;
	double		sources = m / 2.0 * 1.3 + RANKED;
	double		squares = m <= GP_SYEV_MAX ? 6.5 : 2.2;	/* of the regression, each m x m */

	plan->bytes = frame + columns + GP_LINK_FOLDS * (6.0 * e + 8.0 * n) + 8.0 * x;
	plan->bytes = fmax(plan->bytes, squares * 8.0 * m * m + 8.0 * x + 6.0 * e);
	plan->bytes += gp_link_rivals_bytes(problem->graph->nodes, gp_min64(RANKED, (int64_t) m / 2),
										gp_link_width(problem->graph->directed, plan->powers));
	plan->flops = sources * (2.0 * e * (7.0 + plan->steps + 3.0 * powers) + 4.0 * x * powers) +
		10.0 * m * m * m + 3.0 * dims * e * 2.0 * powers;
}

/* Counts the deep Gaussian process whose logit is one of the scores: a fit for each fold, beside all folds' graphs. */
static void
count_place(gp_device *dev, const gp_link_problem *problem, gp_link_plan *plan)
{
	double		folds = GP_LINK_FOLDS * (6.0 * entries_of(problem->graph) + 8.0 * (double) problem->graph->nodes);
	gp_link_plan deep;

	if (problem->deep == NULL)
		return;
	deep = gp_link_deep_plan(dev, problem);
	plan->bytes = fmax(plan->bytes, deep.bytes - (double) dev->env->used + folds + 8.0 * feature_entries(problem->features));
	plan->flops += (GP_LINK_LEAST_FOLDS + 1) * deep.flops;
}

/* Counts the node kernel's codes: a factor of 512 columns. */
static void
count_codes(const gp_link_problem *problem, gp_link_plan *plan)
{
	double		n = (double) problem->graph->nodes;
	double		rank = fmin(512.0, n);

	plan->bytes = fmax(plan->bytes, 8.5 * n * rank + 24.0 * rank * rank +
					   16.0 * feature_entries(problem->features) + 24.0 * entries_of(problem->graph) + 16.0 * n);
	plan->flops += 4.0 * n * rank * rank;
}

/* Counts and chooses. */
gp_link_plan
gp_link_plan_make(gp_device *dev, const gp_link_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_link_plan plan = {.method = problem->method == GP_LINK_AUTO ? GP_LINK_SCORES : problem->method};

	if (plan.method == GP_LINK_DEEP)
		return gp_link_deep_plan(dev, problem);
	if (plan.method == GP_LINK_SCORES)
	{
		plan.steps = choose_steps(problem->graph, &plan.cut);
		plan.powers = choose_powers(problem, plan.steps);
		count_scores(problem, &plan);
		count_place(dev, problem, &plan);
	}
	else
		gp_link_pairs_count(env, problem, &plan.bytes, &plan.flops);
	count_codes(problem, &plan);
	plan.bytes += (double) env->used;
	return plan;
}

/* The plan, held against the limit; a training holds its own, for what is planned is made for it. */
static gp_link_plan
checked_plan(gp_device *dev, const gp_link_problem *problem)
{
	gp_link_plan plan = {.method = GP_LINK_DEEP};

	if (problem->method == GP_LINK_DEEP)
		return plan;
	plan = gp_link_plan_make(dev, problem);
	gp_link_check_limit(dev->env, plan.bytes, "Raise gnngp.memory_limit, or fit a part of the graph.");
	return plan;
}

/* Scores one fold's pairs, and the rivals of its first links, on the fold's graph. */
static void
score_fold(gp_device *dev, const gp_link_problem *problem, const gp_link_fold *fold, const gp_features *x,
		   const gp_link_plan *plan, double *out, const gp_link_rivals *rivals, double **rival_score)
{
	int32_t		width = 0;
	float	   *place = problem->deep ? gp_link_deep_place(dev, problem, fold->graph, &width) : NULL;
	gp_link_frame f;

	gp_link_frame_open(&f, dev, fold->graph, x, plan->steps, plan->powers, NULL);
	gp_link_frame_place(&f, place, width);
	*rival_score = gp_alloc_array(dev->env, rivals->pairs.n * f.width, sizeof(double));
	gp_link_pair_scores(&f, fold->pairs.n, fold->pairs.src, fold->pairs.dst, out);
	gp_link_pair_scores(&f, rivals->pairs.n, rivals->pairs.src, rivals->pairs.dst, *rival_score);
	gp_link_frame_close(&f);
	gp_free(dev->env, place);
}

/* The rows of all folds, whose pairs become those that the model holds out. */
static rows
make_rows(gp_device *dev, const gp_link_problem *problem, const gp_features *x,
		  const gp_link_plan *plan, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_fold fold[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(env, problem->graph, problem->seed, fold);
	rows		r = {.width = gp_link_width(problem->graph->directed, plan->powers) + (problem->deep != NULL)};

	model->held = gp_link_held_create(env, fold, folds);
	model->habits = gp_alloc_zero(env, GP_LINK_HABITS, sizeof(int64_t));
	r.n = model->held.n;
	r.label = model->held.linked;
	r.score = gp_alloc_array(env, r.n * r.width, sizeof(double));
	for (int f = 0; f < folds; f++)
	{
		env->progress(env, GP_PHASE_PAIRS, f, folds);
		r.rivals[f] = gp_link_rivals_make(env, problem->graph, &fold[f], RANKED / folds, problem->seed);
		score_fold(dev, problem, &fold[f], x, plan, r.score + model->held.first[f] * r.width, &r.rivals[f],
				   &r.rival_score[f]);
		gp_link_held_add(env, &model->held, &fold[f], model->habits);
		gp_link_fold_free(env, &fold[f]);
	}
	return r;
}

/* Ranks the links of a fold among their rivals, whose scores are freed. */
static void
rank_links(gp_device *dev, const gp_link_regression *g, rows *r, int fold, gp_link_ranks *ranks)
{
	gp_link_rivals *rivals = &r->rivals[fold];
	double	   *mean = gp_alloc_array(dev->env, rivals->pairs.n, sizeof(double));

	gp_link_regression_means(dev, g, rivals->pairs.n, r->width, r->rival_score[fold], mean);
	gp_link_rivals_rank(rivals, mean, ranks);
	gp_free(dev->env, mean);
	gp_free(dev->env, r->rival_score[fold]);
	gp_link_rivals_free(dev->env, rivals);
}

/* Predicts each fold from the others. */
static void
cross_fit(gp_device *dev, rows *r, gp_link_held *held)
{
	gp_env	   *env = dev->env;
	double	   *score = gp_alloc_array(env, r->n * r->width, sizeof(double));
	bool	   *label = gp_alloc_array(env, r->n, sizeof(bool));

	for (int f = 0; f < held->folds; f++)
	{
		int64_t		first = held->first[f];
		int64_t		n = held->first[f + 1] - first;
		int64_t		after = r->n - first - n;
		gp_link_regression g;

		memcpy(score, r->score, first * r->width * sizeof(double));
		memcpy(label, r->label, first * sizeof(bool));
		memcpy(score + first * r->width, r->score + (first + n) * r->width,
			   after * r->width * sizeof(double));
		memcpy(label + first, r->label + first + n, after * sizeof(bool));
		g = gp_link_regress(dev, first + after, r->width, score, label);
		gp_link_regression_predict(dev, &g, n, r->width, r->score + first * r->width, held->row + first);
		rank_links(dev, &g, r, f, &held->ranks);
		gp_link_regression_free(dev, &g);
	}
	gp_free(env, score);
	gp_free(env, label);
}

/* Keeps the regression on all rows, calibrated on its leave-one-out means. */
static void
keep_regression(gp_device *dev, const rows *r, uint64_t seed, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_regression g = gp_link_regress(dev, r->n, r->width, r->score, r->label);
	double	   *mean = g.solution.loo_mean;

	for (int64_t i = 0; i < r->n; i++)
		mean[i] = g.offset + g.unit * mean[i];
	gp_link_calibrate(env, r->n, mean, r->label, &model->intercept, &model->slope);
	model->pairs = model->m = r->n;
	model->width = r->width;
	model->row = gp_alloc_array(env, r->n * r->width, sizeof(float));
	dev->download(dev, gp_matrix_wrap(model->row, r->n, r->width, GP_FLOAT), g.z);
	model->alpha = gp_alloc_array(env, r->n, sizeof(double));
	dev->download(dev, gp_matrix_wrap(model->alpha, r->n, 1, GP_DOUBLE), g.solution.weights);
	for (int64_t i = 0; i < r->n; i++)
		model->alpha[i] *= g.unit;
	model->lean = gp_link_lean_make(dev, &g, seed);
	if (model->lean == NULL)
		model->root = gp_link_pack_root(dev, g.solution.root);
	model->offset = g.offset;
	model->scale = g.solution.scale * g.unit * g.unit;
	model->ridge = gp_link_ridge(dev, &g, r->width, r->label);
	if (r->width > gp_link_graph_width(model->graph->directed))
		model->screen = gp_link_ridge(dev, &g, gp_link_graph_width(model->graph->directed), r->label);
	model->centre = g.centre;
	model->spread = g.spread;
	g.centre = g.spread = NULL;
	gp_link_regression_free(dev, &g);
}

/* Keeps the features' statistics on the whole graph. */
static void
keep_features(gp_device *dev, const gp_link_problem *problem, gp_features *x,
			  gp_link_model *model)
{
	gp_link_frame f;

	if (x == NULL)
		return;
	gp_link_frame_open(&f, dev, problem->graph, x, 1, model->powers, NULL);
	model->features = x;
	model->feature_mean = f.mean;
	model->feature_dot = f.dot;
	model->feature_norm = f.norm;
	f.owns_statistics = false;
	gp_link_frame_close(&f);
}

/* The method scores. */
static void
fit_scores(gp_device *dev, const gp_link_problem *problem, const gp_link_plan *plan,
		   gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_features *x = problem->features ?
		gp_link_features_prepare(env, problem->features, problem->seed) : NULL;
	rows		r = make_rows(dev, problem, x, plan, model);

	model->steps = plan->steps;
	model->powers = plan->powers;
	model->cut = plan->cut;
	env->progress(env, GP_PHASE_POSTERIOR, 0, 0);
	cross_fit(dev, &r, &model->held);
	keep_regression(dev, &r, problem->seed, model);
	gp_link_held_judge(env, model);
	gp_free(env, r.score);
	keep_features(dev, problem, x, model);
	if (problem->deep)
		model->place = gp_link_deep_place(dev, problem, problem->graph, &model->place_width);
}

/* Fits. */
gp_link_model *
gp_link_fit(gp_device *dev, const gp_link_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_link_plan plan = checked_plan(dev, problem);
	gp_link_model *model = gp_alloc_zero(env, 1, sizeof(gp_link_model));

	if (plan.method != GP_LINK_DEEP)
		gp_power_refuse(env, problem->program);
	model->method = plan.method;
	model->graph = problem->graph;
	if (plan.method == GP_LINK_SCORES)
		fit_scores(dev, problem, &plan, model);
	else if (plan.method == GP_LINK_PAIRS)
		gp_link_pairs_fit(dev, problem, model);
	else
		gp_link_deep_fit(dev, problem, model);
	env->progress(env, GP_PHASE_KERNEL, 0, 0);
	model->code = plan.method == GP_LINK_DEEP ?
		gp_link_row_codes(dev, model->graph->nodes, model->width, model->row, problem->seed) :
		gp_link_codes(dev, problem);
	return model;
}
