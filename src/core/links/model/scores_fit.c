/*
 * scores_fit.c - the method scores: a fit by all scores of pairs.
 */
#include "scored_fit.h"

#include <stdio.h>

#define CALIBRATED 2			/* folds that tell the curve: codes of their graphs take long */
#define STEP_ENTRIES 4e6		/* that steps of the Laplacian scores go through for a source */
#define LEAST_STEPS 6

typedef struct scores_fit
{
	gp_link_scored_fit r;
	int32_t		steps;			/* of the Laplacian scores */
	int			threads;		/* that each score a fold */
	size_t		room;			/* of one of them */
} scores_fit;

/* Scores one fold's pairs on the fold's graph. */
static void
score_fold(void *arg, gp_device *dev, int worker, int64_t f)
{
	const scores_fit *fit = arg;
	gp_link_context context;

	gp_link_context_open(&context, dev, fit->r.fold[f].graph, fit->r.prepared.features,
						 fit->steps, NULL);
	gp_link_scored_fold(&fit->r, &context, f);
	gp_link_context_close(&context);
}

/* Scores all folds, each by a thread of its own: what a fold needs is too little for several. */
static void
score_folds(gp_link_scored_fit *r, gp_link_model *model)
{
	scores_fit *fit = (scores_fit *) r;
	gp_crew    *crew = NULL;
	gp_link_context whole;

	model->steps = fit->steps;
	if (r->dev->room > 0)
		fit->threads = 1;
	if (fit->threads > 1)
		crew = gp_crew_open(r->env, fit->threads, fit->room);
	if (crew)
	{
		gp_crew_run(crew, score_fold, fit, r->folds, r->dev);
		gp_crew_close(crew);
	}
	for (int f = 0; f < r->folds && crew == NULL; f++)
	{
		r->env->progress(r->env, GP_PHASE_PAIRS, f, r->folds);
		score_fold(fit, r->dev, 0, f);
	}
	gp_link_context_open(&whole, r->dev, r->problem->graph, r->prepared.features, fit->steps,
						 NULL);
	gp_link_scored_whole(r, &whole);
	/* The features' statistics on the whole graph are the model's. */
	model->feature_mean = whole.mean;
	model->feature_dot = whole.dot;
	model->feature_norm = whole.norm;
	whole.owns_statistics = false;
	gp_link_context_close(&whole);
}

static void
scores_open(void *state, gp_device *dev, const gp_problem *p, const void *options)
{
	scores_fit *fit = state;
	gp_link_scored_fit *r = &fit->r;
	const gp_graph *graph = p->graph;
	/* on a large graph fewer, which take less */
	double		steps = STEP_ENTRIES / (2.0 * (double) graph->edges + (double) graph->nodes + 1.0);

	*fit = (scores_fit) {.steps = (int32_t) fmax(LEAST_STEPS, fmin(steps, GP_LINK_STEPS))};
	*r = (gp_link_scored_fit) {.dev = dev,.env = dev->env,.problem = options,
							   .method = GP_LINK_SCORES,.processes = true,
							   .width = gp_link_width(graph, p->features != NULL),
							   .score_all = score_folds};
	gp_link_scored_hide(r);
	if (p->features)
		r->prepared.features = gp_link_features_prepare(r->env, p->features, p->seed);
	int			calibrated = (int) gp_min64(r->folds, CALIBRATED);

	gp_link_scored_draw(r, calibrated, gp_link_calibration_nodes(graph, calibrated));
	fit->threads = dev->room > 0 ? 1 : (int) gp_min64(dev->threads, r->folds);
	for (int f = 0; f < r->folds && fit->threads > 1; f++)
		fit->room = (size_t) gp_max64((int64_t) fit->room,
									  (int64_t) gp_crew_room(dev, score_fold, fit, f));
}

static void
scores_describe(const void *state, gp_plan *plan)
{
	snprintf(plan->reason, sizeof(plan->reason),
			 "links by scores of pairs, those of Laplacian kernels take %d steps: ",
			 ((const scores_fit *) state)->steps);
	plan->effort = gp_link_scored_effort(plan);
}

/* One fold after the other. */
static bool
scores_use_less_memory(void *state)
{
	scores_fit *fit = state;
	bool		may = fit->threads > 1;

	fit->threads = 1;
	return may;
}

const gp_method gp_method_scores = {
	.name = "scores",.what = GP_LINK_WHAT,.hint = GP_LINK_HINT,.state = sizeof(scores_fit),
	.open = scores_open,.run = gp_link_scored_run,.release = gp_link_release,
	.describe = scores_describe,.use_less_memory = scores_use_less_memory,
	.close = gp_link_scored_close
};
