/*
 * scores_fit.c - the methods scores and ease.
 *
 * Each fold hides links from the graph, so that none sees itself.  A logistic regression learns to
 * tell hidden links from random pairs and, where nodes have no features, from pairs within three
 * steps.  With features there are more random pairs: what few of them teach depends on which were
 * drawn.  The figures and the curve of probabilities come from regressions
 * that have not seen the fold that they are judged on.
 */
#include "link_regression.h"
#include "links/scores/scores.h"

#include <stdio.h>

/* The pairs of a fold, kind after kind; it learns from those before the rivals. */
enum kind
{
	LINKS, RANDOM, OTHER, RIVALS, CALIBRATION, KINDS, LABELLED = RIVALS
};

/*
 * Penalties of a Gaussian process.  With features the first is the only one: held-out random pairs
 * would choose the second, by which likely links rank worse.
 */
static const double penalties[] = {1.0, 0.1};

#define PENALTIES ((int) (sizeof(penalties) / sizeof(penalties[0])))

#define NEAR 1e-5				/* of a mode that is no model's; logits are off by less than .001 */
#define ITEMS_CALIBRATION_NODES 1600	/* of users and items, whose links are less even */
#define CALIBRATED 2			/* folds that tell the curve: codes of their graphs take long */
#define STEP_ENTRIES 4e6		/* that steps of the Laplacian scores go through for a source */
#define LEAST_STEPS 6

#define RANDOM_WEIGHT 4.0
#define NEAR_WEIGHT 0.5			/* of a pair within three steps */
#define MORE 4					/* random pairs beside each, with features */
#define MORE_SALT UINT64_C(0x6d6f726500000000)

/* The pairs of a fold that are scored. */
typedef struct scored_pairs
{
	gp_link_pairs pairs;		/* of all kinds */
	int64_t		first[KINDS + 1];
	double	   *score;			/* pairs.n x width */
} scored_pairs;

/* What a fit works with: the folds with their pairs, and the rows that are learnt from. */
typedef struct scores_fit
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_link_problem *problem;
	gp_link_prepared prepared;	/* its features are ready for cosines */
	bool	   *item;			/* of the method ease: each node; else NULL */
	bool		dense;			/* by inverses of the items */
	int32_t		steps;
	int32_t		width;
	int			threads;		/* that each score a fold */
	size_t		room;			/* of one of them */
	int			folds;
	int			calibrated;		/* folds that tell the curve of probabilities, */
	int64_t		calibration_nodes;	/* each by so many nodes */
	gp_link_fold fold[GP_LINK_FOLDS];
	scored_pairs	pairs[GP_LINK_FOLDS];
	int64_t		first[GP_LINK_FOLDS + 1];	/* of each fold's rows */
	int64_t		n;
	double	   *score;			/* n x width */
	bool	   *label;
	double	   *weight;
	double	   *whole;			/* of the first fold's calibration pairs on the whole graph */
} scores_fit;

/* A regression and what it says of the folds, each learnt without it. */
typedef struct trial
{
	gp_link_regression *by;
	double	   *alpha;			/* of the model */
	float	   *root;
	gp_link_trial held;
} trial;

/* Copies pairs behind those of a fold. */
static void
add_pairs(scored_pairs *s, enum kind kind, const gp_link_pairs *pairs, int64_t from, int64_t n)
{
	gp_link_pairs_append(&s->pairs, pairs, from, n);
	s->first[kind + 1] = s->pairs.n;
}

/*
 * More pairs without a link, from an end of each random one: the scores of its column are there.
 */
static gp_link_pairs
more_random_pairs(gp_env *env, const gp_graph *graph, const gp_link_fold *fold, uint64_t seed)
{
	gp_link_pairs pairs = gp_link_pairs_create(env, MORE * (fold->pairs.n - fold->links));

	for (int64_t e = fold->links; e < fold->pairs.n; e++)
	{
		gp_link_draws draws = gp_link_draws_open(env, graph,
												 gp_hash(seed ^ MORE_SALT) + (uint64_t) e, MORE);
		int32_t		node;
		int32_t		other;

		draws.node = gp_link_query_end(fold, e, &other);
		for (int k = 0; k < MORE && gp_link_draw(&draws, &node, &other); k++)
			gp_link_pairs_add(&pairs, node, other);
	}
	return pairs;
}

/* Draws the pairs of fold f; a dry run has any for the calibration. */
static void
fill_fold(scores_fit *r, int f)
{
	gp_env	   *env = r->env;
	const gp_graph *graph = r->problem->graph;
	gp_link_fold *fold = &r->fold[f];
	scored_pairs *s = &r->pairs[f];
	uint64_t	seed = gp_hash(r->problem->seed) + (uint64_t) f;
	int64_t		room = f < r->calibrated ?
		gp_calibration_pairs_most(fold, r->calibration_nodes) : 0;
	/* Features tell links beyond reach: these would rank first by what near pairs teach. */
	gp_link_pairs other = r->prepared.features ? more_random_pairs(env, graph, fold, seed) :
		gp_link_hop_negatives(env, graph, fold, seed);

	fold->rivals = gp_link_rivals_make(env, graph, fold, GP_LINK_RANKED / r->folds,
									   r->problem->seed, r->prepared.topology);
	room += fold->pairs.n + other.n + fold->rivals.pairs.n;
	s->pairs = gp_link_pairs_create(env, room);
	add_pairs(s, LINKS, &fold->pairs, 0, fold->links);
	add_pairs(s, RANDOM, &fold->pairs, fold->links, fold->pairs.n - fold->links);
	add_pairs(s, OTHER, &other, 0, other.n);
	add_pairs(s, RIVALS, &fold->rivals.pairs, 0, fold->rivals.pairs.n);
	while (s->pairs.n < room)
	{
		uint64_t	draw = gp_hash(seed + (uint64_t) (s->pairs.n / GP_LINK_OTHERS));
		int64_t		node = (int64_t) (draw % (uint64_t) graph->nodes);

		gp_link_pairs_add(&s->pairs, (int32_t) node, (int32_t) ((node + 1) % graph->nodes));
	}
	s->first[KINDS] = room;
	gp_link_pairs_free(env, &other);
}

/* Finds the calibration pairs of a model: no code of a fold knows the hidden links. */
static void
find_calibration_pairs(scores_fit *r, const gp_link_model *model)
{
	uint64_t	seed = gp_hash(r->problem->seed);

	for (int f = 0; f < r->calibrated; f++)
	{
		gp_link_fold *fold = &r->fold[f];
		scored_pairs *s = &r->pairs[f];
		gp_link_problem without = *r->problem;
		uint64_t   *code = NULL;

		without.graph = fold->graph;
		if (r->item == NULL)
			code = gp_link_codes(r->dev, &without);
		fold->calibration = gp_calibration_pairs_make(r->env, model, fold, code,
													  r->calibration_nodes, seed + (uint64_t) f);
		gp_free(r->env, code);
		if (r->env->dry)
			continue;
		s->pairs.n = s->first[CALIBRATION];
		add_pairs(s, CALIBRATION, &fold->calibration.pairs, 0, fold->calibration.pairs.n);
	}
}

/* Scores one fold's pairs on the fold's graph. */
static void
score_fold(void *arg, gp_device *dev, int worker, int64_t f)
{
	const scores_fit *r = arg;
	const scored_pairs *s = &r->pairs[f];
	gp_score_context context;

	gp_score_context_open(&context, dev, r->fold[f].graph, r->prepared.features, r->steps,
						  NULL);
	gp_link_pair_scores(&context, s->pairs.n, s->pairs.src, s->pairs.dst, s->score);
	gp_score_context_close(&context);
}

/* Scores the first fold's calibration pairs on the whole graph. */
static void
score_whole(scores_fit *r, gp_score_context *context)
{
	const scored_pairs *s = &r->pairs[0];
	int64_t		at = s->first[CALIBRATION];
	int64_t		n = s->first[KINDS] - at;

	r->whole = gp_alloc_zero(r->env, n * r->width, sizeof(double));
	gp_link_pair_scores(context, n, s->pairs.src + at, s->pairs.dst + at, r->whole);
}

/* Scores all folds, each by a thread of its own: what a fold needs is too little for several. */
static void
score_folds(scores_fit *r, gp_link_model *model)
{
	gp_crew    *crew = NULL;
	gp_score_context whole;

	if (r->dev->room > 0)
		r->threads = 1;
	if (r->threads > 1)
		crew = gp_crew_open(r->env, r->threads, r->room);
	if (crew)
	{
		gp_crew_run(crew, score_fold, r, r->folds, r->dev);
		gp_crew_close(crew);
	}
	for (int f = 0; f < r->folds && crew == NULL; f++)
	{
		r->env->progress(r->env, GP_PHASE_PAIRS, f, r->folds);
		score_fold(r, r->dev, 0, f);
	}
	gp_score_context_open(&whole, r->dev, r->problem->graph, r->prepared.features, r->steps,
						  NULL);
	score_whole(r, &whole);
	/* The features' statistics on the whole graph are the model's. */
	model->feature_mean = whole.mean;
	model->feature_dot = whole.dot;
	model->feature_norm = whole.norm;
	whole.owns_statistics = false;
	gp_score_context_close(&whole);
}

/* The one score of users and items of all folds, by the ridge that the first of them chooses. */
static void
score_items(scores_fit *r, gp_link_model *model)
{
	const gp_graph *graph = r->problem->graph;
	int			ridge = gp_link_ease_choose(r->dev, graph, &r->fold[0], r->item, r->dense);
	gp_score_context context;

	for (int f = 0; f < r->folds; f++)
	{
		const scored_pairs *s = &r->pairs[f];

		gp_ease_context_open(&context, r->dev, r->fold[f].graph, r->item, NULL);
		gp_link_ease_fit(&context, ridge, r->dense);
		gp_link_pair_scores(&context, s->pairs.n, s->pairs.src, s->pairs.dst, s->score);
		gp_score_context_close(&context);
	}
	gp_ease_context_open(&context, r->dev, graph, r->item, NULL);
	gp_link_ease_fit(&context, ridge, r->dense);
	score_whole(r, &context);
	model->ease.ridge = context.ridge;
	model->ease.diagonal = gp_link_ease_diagonal(&context);
	gp_score_context_close(&context);
}

/*
 * Lists the scored pairs that are learnt from; links weigh as much as all other pairs of their
 * fold.
 */
static void
list_rows(scores_fit *r)
{
	r->score = gp_alloc_array(r->env, r->n * r->width, sizeof(double));
	r->label = gp_alloc_array(r->env, r->n, sizeof(bool));
	r->weight = gp_alloc_array(r->env, r->n, sizeof(double));
	for (int f = 0; f < r->folds; f++)
	{
		const scored_pairs *s = &r->pairs[f];
		double		random = (double) (s->first[OTHER] - s->first[RANDOM]);
		double		other = (double) (s->first[RIVALS] - s->first[OTHER]);
		double		each = RANDOM_WEIGHT *
			(r->prepared.features ? random / (random + other) : 1.0);
		const double weight[] = {
			[RANDOM] = each,[OTHER] = r->prepared.features ? each : NEAR_WEIGHT
		};

		memcpy(r->score + r->first[f] * r->width, s->score,
			   s->first[LABELLED] * r->width * sizeof(double));
		for (enum kind kind = LINKS; kind < LABELLED; kind++)
			for (int64_t e = s->first[kind]; e < s->first[kind + 1]; e++)
			{
				r->label[r->first[f] + e] = kind == LINKS;
				r->weight[r->first[f] + e] = kind != LINKS ? weight[kind] :
					(weight[RANDOM] * random + weight[OTHER] * other) / (double) s->first[RANDOM];
			}
	}
}

/* The logits of n pairs by their scores. */
static double *
logits_by(const scores_fit *r, gp_link_regression *g, int64_t n, const double *score)
{
	double	   *logit = gp_alloc_zero(r->env, n, sizeof(double));

	gp_link_regression_logits(g, n, r->width, score, logit);
	return logit;
}

/* The logits of a fold's pairs from one kind on. */
static double *
logits_from(const scores_fit *r, gp_link_regression *g, int f, enum kind kind)
{
	const scored_pairs *s = &r->pairs[f];

	return logits_by(r, g, s->first[KINDS] - s->first[kind], s->score + s->first[kind] * r->width);
}

/*
 * What trials are compared by: how held-out links rank among their rivals.  With features it is
 * the likelihood of held-out rows: links beyond reach would rank first for being no rivals.
 */
static double
gain_of(const scores_fit *r, const trial *a)
{
	return r->prepared.features ? -a->held.loss :
		a->held.ranks.reciprocal / (double) a->held.ranks.links;
}

/*
 * Learns from all rows, then, from there, from all folds but one; the mode of all rows comes last,
 * so that it is what is kept.
 */
static trial
try_regression(const scores_fit *r, const gp_link_held *held, gp_link_regression *g,
			   double penalty)
{
	gp_env	   *env = r->env;
	gp_link_logistic *l = &g->logistic;
	trial		a = {.by = g,.held = gp_link_trial_open(env, held)};
	double	   *weight = gp_alloc_array(env, r->n, sizeof(double));
	double	   *mode = gp_alloc_array(env, l->phi.rows, sizeof(double));

	l->penalty = penalty;
	l->last = NEAR;
	gp_link_logistic_fit(l, r->label, r->weight);
	memcpy(mode, l->b, l->phi.rows * sizeof(double));
	for (int f = 0; f < r->folds; f++)
	{
		int64_t		first = r->first[f];

		if (r->folds > 1)
		{
			memcpy(weight, r->weight, r->n * sizeof(double));
			memset(weight + first, 0, (r->first[f + 1] - first) * sizeof(double));
			memcpy(l->b, mode, l->phi.rows * sizeof(double));
			gp_link_logistic_fit(l, r->label, weight);
		}
		double	   *logit = logits_from(r, g, f, RIVALS);
		gp_link_trial_take(&a.held, held, &r->fold[f], f, l, first, logit);
		gp_free(env, logit);
	}
	memcpy(l->b, mode, l->phi.rows * sizeof(double));
	l->last = 0.0;
	gp_link_logistic_fit(l, r->label, r->weight);
	a.held.logit_on_fold = logits_from(r, g, 0, CALIBRATION);
	a.held.logit_on_whole = logits_by(r, g, r->fold[0].calibration.pairs.n, r->whole);
	a.alpha = gp_link_logistic_weights(l, g->root);
	a.root = gp_link_covariance_root(l, g->root);
	gp_free_all(env, weight, mode);
	return a;
}

/* The better one of two trials; the other is freed.  A dry run takes the larger one. */
static trial
better_trial(const scores_fit *r, trial *a, trial *b)
{
	bool		second = r->env->dry || gain_of(r, b) > gain_of(r, a);
	trial	   *other = second ? a : b;

	gp_link_trial_free(r->env, &other->held);
	gp_free_all(r->env, other->alpha, other->root);
	return second ? *b : *a;
}

/* Keeps what standardises scores, and the landmarks. */
static void
keep_regression(gp_link_regression *g, int32_t width, gp_link_model *model)
{
	gp_device  *dev = g->logistic.dev;

	model->scores.width = width;
	model->scores.centre = g->centre;
	model->scores.deviation = g->deviation;
	g->centre = g->deviation = NULL;
	if (g->z.data == NULL)
		return;
	model->scores.landmarks = g->z.rows;
	model->scores.landmark = gp_alloc_array(dev->env, g->z.rows * width, sizeof(float));
	dev->download(dev, gp_matrix_wrap(model->scores.landmark, g->z.rows, width, GP_FLOAT), g->z);
}

/* Steps of the Laplacian scores: on a large graph fewer, which take less. */
static void
choose_depth(scores_fit *r)
{
	const gp_graph *graph = r->problem->graph;
	double		steps = STEP_ENTRIES / (2.0 * (double) graph->edges + (double) graph->nodes + 1.0);

	r->steps = (int32_t) fmax(LEAST_STEPS, fmin(steps, GP_LINK_STEPS));
	r->width = gp_link_width(graph, r->problem->features != NULL);
}

/* Hides links, fold by fold, and draws the pairs that are scored. */
static void
open_folds(scores_fit *r, gp_device *dev, const gp_link_problem *problem)
{
	gp_env	   *env = dev->env;

	gp_power_refuse(env, problem->program);
	r->folds = gp_link_folds_make(env, problem->graph, problem->seed, r->fold);
	r->calibrated = r->item ? r->folds : (int) gp_min64(r->folds, CALIBRATED);
	r->calibration_nodes = r->item ? ITEMS_CALIBRATION_NODES / r->folds :
		gp_calibration_nodes(problem->graph, r->calibrated);
	env->progress(env, GP_PHASE_PAIRS, 0, r->folds);
	r->prepared = gp_link_prepared_make(env, r->fold, r->folds);
	if (r->item == NULL && problem->features)
		r->prepared.features = gp_link_features_prepare(env, problem->features, problem->seed);
	for (int f = 0; f < r->folds; f++)
	{
		fill_fold(r, f);
		r->first[f + 1] = r->n += r->pairs[f].first[LABELLED];
	}
}

static void
scores_open(void *state, gp_device *dev, const gp_problem *p, const void *options)
{
	scores_fit *r = state;

	*r = (scores_fit) {.dev = dev,.env = dev->env,.problem = options};
	choose_depth(r);
	open_folds(r, dev, options);
	r->threads = dev->room > 0 ? 1 : (int) gp_min64(dev->threads, r->folds);
	for (int f = 0; f < r->folds && r->threads > 1; f++)
		r->room = (size_t) gp_max64((int64_t) r->room,
									(int64_t) gp_crew_room(dev, score_fold, r, f));
}

static void
ease_open(void *state, gp_device *dev, const gp_problem *p, const void *options)
{
	scores_fit *r = state;

	*r = (scores_fit) {.dev = dev,.env = dev->env,.problem = options,.width = 1,.dense = true};
	r->item = gp_link_items_find(r->env, p->graph, NULL);
	open_folds(r, dev, options);
}

static void *
scores_run(void *state, gp_device *dev, const gp_plan *plan)
{
	scores_fit *r = state;
	gp_env	   *env = r->env = dev->env;
	const gp_link_problem *problem = r->problem;
	gp_link_model *model = gp_link_model_begin(env, &r->prepared, r->item ? GP_LINK_EASE :
											   GP_LINK_SCORES, problem->graph);

	r->dev = dev;
	model->steps = r->steps;
	env->progress(env, GP_PHASE_KERNEL, 0, 0);
	model->code = gp_link_codes(dev, problem);
	/* The scores of all folds' pairs. */
	find_calibration_pairs(r, model);
	for (int f = 0; f < r->folds; f++)
		r->pairs[f].score = gp_alloc_zero(env, r->pairs[f].pairs.n * r->width, sizeof(double));
	if (r->item)
		score_items(r, model);
	else
		score_folds(r, model);
	list_rows(r);
	/* The regression. */
	env->progress(env, GP_PHASE_POSTERIOR, 0, 0);
	gp_link_regression plain = gp_link_regression_open(dev, r->n, r->width, r->score, false);
	gp_link_regression process = {0};
	int			count = r->item ? 0 : r->prepared.features ? 1 : PENALTIES;
	trial		best = try_regression(r, &model->held, &plain, 1.0);

	if (count > 0)
		process = gp_link_regression_open(dev, r->n, r->width, r->score, true);
	for (int k = 0; k < count; k++)
	{
		trial		other = try_regression(r, &model->held, &process, penalties[k]);

		best = better_trial(r, &best, &other);
	}
	gp_link_trial_judge(env, &best.held, r->fold, r->calibrated, problem->missing_share, model);
	gp_link_trial_free(env, &best.held);
	model->pairs = r->n;
	keep_regression(best.by, r->width, model);
	model->alpha = best.alpha;
	model->root = best.root;
	gp_link_regression_close(&plain);
	if (count > 0)
		gp_link_regression_close(&process);
	for (int f = 0; f < r->folds; f++)
	{
		gp_free(env, r->pairs[f].score);
		gp_calibration_pairs_free(env, &r->fold[f].calibration);
	}
	gp_free_all(env, r->score, r->label, r->weight, r->whole);
	return gp_link_model_end(dev, problem, &r->prepared, model);
}

static void
scores_describe(const void *state, gp_plan *plan)
{
	const scores_fit *r = state;

	if (r->item)
		snprintf(plan->reason, sizeof(plan->reason), "links by auto-encoders of users and items: ");
	else
		snprintf(plan->reason, sizeof(plan->reason),
				 "links by scores of pairs, those of Laplacian kernels take %d steps: ", r->steps);
	/* Blocks of columns stay near the processor: a sparse operation takes as long as two others. */
	plan->effort = plan->flops + (plan->effort - plan->flops) / (GP_SPARSE_EFFORT - 1.0);
}

/* One fold after the other. */
static bool
scores_use_less_memory(void *state)
{
	scores_fit *r = state;
	bool		may = r->threads > 1;

	r->threads = 1;
	return may;
}

/* Conjugate gradients in place of inverses. */
static bool
ease_use_less_memory(void *state)
{
	scores_fit *r = state;
	bool		may = r->dense;

	r->dense = false;
	return may;
}

static void
scores_close(void *state)
{
	scores_fit *r = state;

	for (int f = 0; f < r->folds; f++)
	{
		gp_link_fold_free(r->env, &r->fold[f]);
		gp_link_pairs_free(r->env, &r->pairs[f].pairs);
	}
	gp_link_prepared_free(r->env, &r->prepared);
	gp_free(r->env, r->item);
}

const gp_method gp_method_scores = {
	.name = "scores",.what = GP_LINK_WHAT,.hint = GP_LINK_HINT,.state = sizeof(scores_fit),
	.open = scores_open,.run = scores_run,.release = gp_link_release,.describe = scores_describe,
	.use_less_memory = scores_use_less_memory,.close = scores_close
};

const gp_method gp_method_ease = {
	.name = "ease",.what = GP_LINK_WHAT,.hint = GP_LINK_HINT,.state = sizeof(scores_fit),
	.open = ease_open,.run = scores_run,.release = gp_link_release,.describe = scores_describe,
	.use_less_memory = ease_use_less_memory,.close = scores_close
};
