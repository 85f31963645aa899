/*
 * link_fit.c - the fit of a link model.
 *
 * The scores of the pairs to learn from are computed on graphs from which their
 * fold of links is removed, so that a link never sees itself.  Each fold's rows
 * are also predicted from the other's alone: the figures of the summary.
 */
#include "regression/regression.h"
#include "link_regression.h"
#include "hard_negatives.h"
#include "links/scores/scores.h"

#include <math.h>
#include <string.h>


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

/* The folds on their way to rows. */
typedef struct fold_job
{
	const gp_link_fold *fold;
	const gp_features *x;
	const gp_link_plan *plan;
	const int64_t *first;		/* row of each fold */
	float	   *place[GP_LINK_FOLDS];	/* of the deep Gaussian process whose logit is a score; NULL without */
	int32_t		place_width;
	rows	   *rows;
} fold_job;

/* Scores one fold's pairs, and the rivals of its first links, on the fold's graph. */
static void
score_fold(void *arg, gp_device *dev, int worker, int64_t f)
{
	const fold_job *job = arg;
	const gp_link_pairs *pairs = &job->fold[f].pairs;
	const gp_link_pairs *rivals = &job->rows->rivals[f].pairs;
	gp_link_frame frame;

	gp_link_frame_open(&frame, dev, job->fold[f].graph, job->x, job->plan->steps, job->plan->powers, NULL);
	gp_link_frame_order(&frame);
	gp_link_frame_place(&frame, job->place[f], job->place_width);
	gp_link_pair_scores(&frame, pairs->n, pairs->src, pairs->dst, job->rows->score + job->first[f] * frame.width);
	gp_link_pair_scores(&frame, rivals->n, rivals->src, rivals->dst, job->rows->rival_score[f]);
	gp_link_frame_close(&frame);
}

/* Scores all folds, by threads where there are some. */
static void
score_folds(gp_device *dev, const gp_link_problem *problem, fold_job *job, int folds)
{
	gp_crew    *crew = NULL;

	if (gp_link_folds_at_once(dev) > 1 && folds > 1)
		crew = gp_crew_open(dev->env, (int) gp_min64(gp_link_folds_at_once(dev), folds), (size_t) gp_link_fold_room(problem, job->plan));
	if (crew)
	{
		gp_crew_run(crew, score_fold, job, folds, dev);
		gp_crew_close(crew);
	}
	else
		for (int f = 0; f < folds; f++)
		{
			dev->env->progress(dev->env, GP_PHASE_PAIRS, f, folds);
			score_fold(job, dev, 0, f);
		}
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
	fold_job	job = {.fold = fold,.x = x,.plan = plan,.rows = &r};

	model->held = gp_link_held_create(env, fold, folds);
	model->habits = gp_alloc_zero(env, GP_LINK_HABITS, sizeof(int64_t));
	job.first = model->held.first;
	r.n = model->held.n;
	r.label = model->held.linked;
	r.score = gp_alloc_array(env, r.n * r.width, sizeof(double));
	env->progress(env, GP_PHASE_PAIRS, 0, folds);
	for (int f = 0; f < folds; f++)
	{
		gp_link_held_add(env, &model->held, &fold[f], model->habits);
		r.rivals[f] = gp_link_rivals_make(env, problem->graph, &fold[f], GP_LINK_RANKED / folds, problem->seed);
		r.rival_score[f] = gp_alloc_array(env, r.rivals[f].pairs.n * r.width, sizeof(double));
		if (problem->deep)
			job.place[f] = gp_link_deep_place(dev, problem, fold[f].graph, &job.place_width);
	}
	score_folds(dev, problem, &job, folds);
	for (int f = 0; f < folds; f++)
	{
		gp_link_fold_free(env, &fold[f]);
		gp_free(env, job.place[f]);
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
	model->sieve = gp_link_sieves_make(dev, g.z, model->alpha, &model->sieve_row, &model->sieve_weight);
	model->lean = gp_link_lean_make(dev, &g, seed, &model->directions);
	if (model->lean == NULL)
		model->root = gp_link_pack_root(dev, g.solution.root);
	model->offset = g.offset;
	model->scale = g.solution.scale * g.unit * g.unit;
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
