/*
 * link_fit.c - the fit of a link model.
 *
 * Each fold hides links from the graph, so that none sees itself.  A logistic regression learns to
 * tell hidden links from three kinds of pairs without one: random pairs, pairs within three steps,
 * and pairs of like features.  The figures and the curve of probabilities come from regressions
 * that have not seen the fold that they are judged on.
 */
#include "regression/regression.h"
#include "link_regression.h"
#include "hard_negatives.h"
#include "links/scores/scores.h"

#define LABELLED NEAREST + 1	/* kinds that are learnt from */

/* The pairs of a fold, kind after kind. */
enum kind
{
	LINKS, RANDOM, HOP, NEAREST, RIVALS, ASKED, KINDS
};

/* Penalties of a Gaussian process. */
static const double penalties[] = {1.0, 0.1};

#define PENALTIES ((int) (sizeof(penalties) / sizeof(penalties[0])))

/* of the links of a graph of users and items lead from side to side */
#define LEAST_SIDED 0.95

static const double kind_weight[] = {[RANDOM] = 4.0, [HOP] = 0.5, [NEAREST] = 0.25};

/* A fold on its way to rows. */
typedef struct sample
{
	gp_link_fold fold;
	gp_link_rivals rivals;
	gp_link_asked asked;
	gp_link_pairs pairs;		/* of all kinds */
	int64_t		first[KINDS + 1];
	double	   *score;			/* pairs.n x width */
} sample;

/* The rows that are learnt from, fold after fold. */
typedef struct rows
{
	gp_device  *dev;
	gp_env	   *env;
	int32_t		width;
	int			folds;
	sample		fold[GP_LINK_FOLDS];
	int64_t		first[GP_LINK_FOLDS + 1];	/* of each fold's rows */
	int64_t		n;
	double	   *score;			/* n x width */
	bool	   *label;
	double	   *weight;
} rows;

/* A regression and what it says of the folds, each learnt without it. */
typedef struct attempt
{
	gp_link_regression r;
	double		rank;			/* mean reciprocal rank of links among their rivals */
	double	   *logit;			/* n */
	double	   *variance;		/* n */
	double	   *rival[GP_LINK_FOLDS];	/* logits of a fold's rivals, */
	double	   *asked[GP_LINK_FOLDS];	/* and of its candidates */
} attempt;

/*
 * The plan, held against the limit; a training holds its own, for what is planned is made for it.
 */
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

/* Copies pairs behind those of a sample. */
static void
add_pairs(sample *s, enum kind kind, const gp_link_pairs *pairs, int64_t from, int64_t n)
{
	int64_t		at = s->first[kind];

	s->first[kind + 1] = at + n;
	if (n == 0)
		return;
	memcpy(s->pairs.src + at, pairs->src + from, n * sizeof(int32_t));
	memcpy(s->pairs.dst + at, pairs->dst + from, n * sizeof(int32_t));
}

/* Draws the pairs of a fold. */
static void
fill_sample(gp_env *env, const gp_link_problem *problem, const gp_features *x,
			const gp_link_model *model, int folds, int f,
			sample *s)
{
	uint64_t	seed = gp_hash(problem->seed) + (uint64_t) f;
	gp_link_pairs hop = gp_link_hop_negatives(env, problem->graph, &s->fold, seed);
	gp_link_pairs nearest = gp_link_nearest_negatives(env, problem->graph, &s->fold, x, seed);

	s->rivals = gp_link_rivals_make(env, problem->graph, &s->fold, GP_LINK_RANKED / folds,
									problem->seed, model->habits);
	s->asked = gp_link_asked_make(env, problem, model, &s->fold, GP_LINK_ASKED / folds, seed);
	s->pairs = gp_link_pairs_create(env,
									s->fold.pairs.n + hop.n + nearest.n + s->rivals.pairs.n +
									s->asked.pairs.n);
	add_pairs(s, LINKS, &s->fold.pairs, 0, s->fold.links);
	add_pairs(s, RANDOM, &s->fold.pairs, s->fold.links, s->fold.pairs.n - s->fold.links);
	add_pairs(s, HOP, &hop, 0, hop.n);
	add_pairs(s, NEAREST, &nearest, 0, nearest.n);
	add_pairs(s, RIVALS, &s->rivals.pairs, 0, s->rivals.pairs.n);
	add_pairs(s, ASKED, &s->asked.pairs, 0, s->asked.pairs.n);
	gp_link_pairs_free(env, &hop);
	gp_link_pairs_free(env, &nearest);
}

/* The folds on their way to scores. */
typedef struct fold_job
{
	const gp_features *x;
	const gp_link_plan *plan;
	rows	   *rows;
} fold_job;

/* Scores one fold's pairs on the fold's graph. */
static void
score_fold(void *arg, gp_device *dev, int worker, int64_t f)
{
	const fold_job *job = arg;
	sample	   *s = &job->rows->fold[f];
	gp_link_frame frame;

	gp_link_frame_open(&frame, dev, s->fold.graph, job->x, job->plan->steps, job->plan->powers,
					   NULL);
	gp_link_pair_scores(&frame, s->pairs.n, s->pairs.src, s->pairs.dst, s->score);
	gp_link_frame_close(&frame);
}

/* Scores all folds, by threads where there are some. */
static void
score_folds(const gp_link_problem *problem, fold_job *job)
{
	gp_device  *dev = job->rows->dev;
	int			folds = job->rows->folds;
	gp_crew    *crew = NULL;

	if (gp_link_folds_at_once(dev) > 1 && folds > 1)
		crew = gp_crew_open(dev->env, (int) gp_min64(gp_link_folds_at_once(dev), folds),
							(size_t) gp_link_fold_room(problem, job->plan));
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

/* The one score of users and items of all folds, by the ridge that the first of them chooses. */
static void
score_items(const gp_link_problem *problem, const rows *r, gp_link_model *model)
{
	double		share;
	bool	   *item = gp_link_items_find(r->env, problem->graph, &share);
	int			ridge = gp_link_items_choose(r->dev, problem->graph, &r->fold[0].fold, item);
	gp_link_frame frame;

	for (int f = 0; f < r->folds; f++)
	{
		const sample *s = &r->fold[f];

		gp_link_item_frame_open(&frame, r->dev, s->fold.graph, item, 1.0, NULL);
		gp_link_items_fit(&frame, ridge);
		gp_link_pair_scores(&frame, s->pairs.n, s->pairs.src, s->pairs.dst, s->score);
		gp_link_frame_close(&frame);
	}
	gp_link_item_frame_open(&frame, r->dev, problem->graph, item, 1.0, NULL);
	gp_link_items_fit(&frame, ridge);
	model->scale = frame.ridge;
	model->diagonal = gp_link_items_diagonal(&frame);
	gp_link_frame_close(&frame);
	gp_free(r->env, item);
}

/*
 * Lists the scored pairs that are learnt from; links weigh as much as all other pairs of their
 * fold.
 */
static void
list_rows(rows *r)
{
	r->score = gp_alloc_array(r->env, r->n * r->width, sizeof(double));
	r->label = gp_alloc_array(r->env, r->n, sizeof(bool));
	r->weight = gp_alloc_array(r->env, r->n, sizeof(double));
	for (int f = 0; f < r->folds; f++)
	{
		const sample *s = &r->fold[f];
		double		others = 0.0;

		memcpy(r->score + r->first[f] * r->width, s->score,
			   s->first[LABELLED] * r->width * sizeof(double));
		for (enum kind kind = RANDOM; kind < LABELLED; kind++)
			others += kind_weight[kind] * (double) (s->first[kind + 1] - s->first[kind]);
		for (enum kind kind = LINKS; kind < LABELLED; kind++)
			for (int64_t e = s->first[kind]; e < s->first[kind + 1]; e++)
			{
				r->label[r->first[f] + e] = kind == LINKS;
				r->weight[r->first[f] + e] = kind == LINKS ? others / (double) s->first[RANDOM] :
					kind_weight[kind];
			}
	}
}

/* The rows of all folds; links and random pairs become those that the model holds out. */
static rows
make_rows(gp_device *dev, const gp_link_problem *problem, const gp_features *x,
		  const gp_link_plan *plan, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_fold fold[GP_LINK_FOLDS];
	rows		r = {.dev = dev,.env = env,
		.width = plan->method == GP_LINK_EASE ? 1 : gp_link_width(problem->graph, plan->powers)};
	fold_job	job = {.x = x,.plan = plan,.rows = &r};

	r.folds = gp_link_folds_make(env, problem->graph, problem->seed, fold);
	model->held = gp_link_held_create(env, fold, r.folds);
	model->habits = gp_alloc_zero(env, GP_LINK_HABITS, sizeof(int64_t));
	env->progress(env, GP_PHASE_PAIRS, 0, r.folds);
	for (int f = 0; f < r.folds; f++)
		gp_link_held_add(env, &model->held, &fold[f], model->habits);
	for (int f = 0; f < r.folds; f++)
	{
		sample	   *s = &r.fold[f];

		s->fold = fold[f];
		fill_sample(env, problem, x, model, r.folds, f, s);
		s->score = gp_alloc_array(env, s->pairs.n * r.width, sizeof(double));
		r.first[f + 1] = r.n += s->first[LABELLED];
	}
	if (plan->method == GP_LINK_EASE)
		score_items(problem, &r, model);
	else
		score_folds(problem, &job);
	list_rows(&r);
	return r;
}

/* Frees them. */
static void
free_rows(rows *r)
{
	for (int f = 0; f < r->folds; f++)
	{
		gp_link_fold_free(r->env, &r->fold[f].fold);
		gp_link_rivals_free(r->env, &r->fold[f].rivals);
		gp_link_asked_free(r->env, &r->fold[f].asked);
		gp_link_pairs_free(r->env, &r->fold[f].pairs);
		gp_free(r->env, r->fold[f].score);
	}
	gp_free(r->env, r->score);
	gp_free(r->env, r->label);
	gp_free(r->env, r->weight);
}

/* The logits of one kind of a fold's pairs. */
static double *
logits_of(const rows *r, gp_link_regression *g, int f, enum kind kind)
{
	const sample *s = &r->fold[f];
	int64_t		n = s->first[kind + 1] - s->first[kind];
	double	   *logit = gp_alloc_array(r->env, n, sizeof(double));

	gp_link_regression_logits(g, n, r->width, s->score + s->first[kind] * r->width, logit);
	return logit;
}

/*
 * Learns from all rows, then, from there, from all folds but one; the mode of all rows comes last,
 * so that it is what the regression is left with.
 */
static attempt
try_regression(const rows *r, bool process, double penalty)
{
	gp_env	   *env = r->env;
	attempt		a = {.r = gp_link_regression_open(r->dev, r->n, r->width, r->score, process,
												  penalty)};
	gp_link_logistic *l = &a.r.logistic;
	double	   *weight = gp_alloc_array(env, r->n, sizeof(double));
	double	   *mode = gp_alloc_array(env, l->phi.rows, sizeof(double));
	gp_link_ranks ranks = {0};

	a.logit = gp_alloc_array(env, r->n, sizeof(double));
	a.variance = gp_alloc_array(env, r->n, sizeof(double));
	gp_link_logistic_fit(l, r->label, r->weight);
	memcpy(mode, l->b, l->phi.rows * sizeof(double));
	for (int f = 0; f < r->folds; f++)
	{
		int64_t		first = r->first[f];
		int64_t		n = r->first[f + 1] - first;

		if (r->folds > 1)
		{
			memcpy(weight, r->weight, r->n * sizeof(double));
			memset(weight + first, 0, n * sizeof(double));
			memcpy(l->b, mode, l->phi.rows * sizeof(double));
			gp_link_logistic_fit(l, r->label, weight);
		}
		memcpy(a.logit + first, l->logit + first, n * sizeof(double));
		gp_link_logistic_variances(l, first, n, a.variance + first);
		a.rival[f] = logits_of(r, &a.r, f, RIVALS);
		gp_link_rivals_rank(&r->fold[f].rivals, a.rival[f], &ranks);
		a.asked[f] = logits_of(r, &a.r, f, ASKED);
	}
	memcpy(l->b, mode, l->phi.rows * sizeof(double));
	gp_link_logistic_fit(l, r->label, r->weight);
	a.rank = ranks.reciprocal / (double) ranks.links;
	gp_free(env, weight);
	gp_free(env, mode);
	return a;
}

/* Frees an attempt. */
static void
free_attempt(const rows *r, attempt *a)
{
	gp_link_regression_close(&a->r);
	gp_free(r->env, a->logit);
	gp_free(r->env, a->variance);
	for (int f = 0; f < r->folds; f++)
	{
		gp_free(r->env, a->rival[f]);
		gp_free(r->env, a->asked[f]);
	}
}

/* The logits and the ranks of what is held out. */
static void
fill_held(const rows *r, const attempt *a, gp_link_held *held)
{
	for (int f = 0; f < r->folds; f++)
	{
		for (int64_t e = held->first[f]; e < held->first[f + 1]; e++)
		{
			held->row[e].score = a->logit[r->first[f] + e - held->first[f]];
			held->row[e].variance = a->variance[r->first[f] + e - held->first[f]];
		}
		gp_link_rivals_rank(&r->fold[f].rivals, a->rival[f], &held->ranks);
	}
}

/*
 * Moves the curve by what logits gain from the links that the first fold hides: the same candidates
 * without a link are scored on its graph and on the whole one, and count by what they say of the
 * curve.
 */
static void
shift_curve(rows *r, const gp_link_problem *problem, const fold_job *job, gp_link_regression *g,
			gp_link_model *model)
{
	sample	   *s = &r->fold[0];
	int64_t		first = s->first[ASKED];
	int64_t		n = s->first[ASKED + 1] - first;
	double	   *before = logits_of(r, g, 0, ASKED);
	double	   *after;
	double		gain = 0.0;
	double		all = 0.0;
	gp_link_frame frame;

	gp_link_frame_open(&frame, r->dev, problem->graph, job->x, job->plan->steps, job->plan->powers,
					   NULL);
	gp_link_pair_scores(&frame, n, s->pairs.src + first, s->pairs.dst + first,
						s->score + first * r->width);
	gp_link_frame_close(&frame);
	after = logits_of(r, g, 0, ASKED);
	for (int64_t e = 0; e < n; e++)
	{
		double		p = 1.0 / (1.0 + exp(-(model->intercept + model->slope * before[e])));
		double		weight = s->asked.linked[e] ? 0.0 : s->asked.weight[e] * p * (1.0 - p);

		gain += weight * (after[e] - before[e]);
		all += weight;
	}
	if (all > 0.0)
		model->intercept -= model->slope * gain / all;
	gp_free(r->env, before);
	gp_free(r->env, after);
}

/* Keeps the regression on all rows. */
static void
keep_regression(const rows *r, gp_link_regression *g, gp_link_model *model)
{
	gp_device  *dev = r->dev;

	model->pairs = r->n;
	model->width = r->width;
	model->m = g->z.data ? g->z.rows : 0;
	if (model->m > 0)
	{
		model->row = gp_alloc_array(r->env, model->m * r->width, sizeof(float));
		dev->download(dev, gp_matrix_wrap(model->row, model->m, r->width, GP_FLOAT), g->z);
	}
	model->alpha = gp_link_logistic_weights(&g->logistic, g->root);
	model->root = gp_link_logistic_spread(&g->logistic, g->root);
	model->centre = g->centre;
	model->spread = g->spread;
	g->centre = g->spread = NULL;
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

/*
 * The methods scores and ease.  A Gaussian process takes the place of logistic regression where
 * links rank better among their rivals with it.  The likelihood of the rows would mostly judge how
 * far links are from random pairs, which is another question.
 */
static void
fit_scores(gp_device *dev, const gp_link_problem *problem, const gp_link_plan *plan,
		   gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_features *x = problem->features && plan->method == GP_LINK_SCORES ?
		gp_link_features_prepare(env, problem->features, problem->seed) : NULL;
	rows		r = make_rows(dev, problem, x, plan, model);
	attempt		best;
	gp_link_asked asked[GP_LINK_FOLDS];

	model->steps = plan->steps;
	model->powers = plan->powers;
	env->progress(env, GP_PHASE_POSTERIOR, 0, 0);
	best = try_regression(&r, false, 1.0);
	for (int k = 0; k < PENALTIES && plan->method == GP_LINK_SCORES; k++)
	{
		attempt		other = try_regression(&r, true, penalties[k]);
		bool		better = other.rank > best.rank;

		free_attempt(&r, better ? &best : &other);
		if (better)
			best = other;
	}
	fill_held(&r, &best, &model->held);
	for (int f = 0; f < r.folds; f++)
		asked[f] = r.fold[f].asked;
	gp_link_asked_calibrate(env, asked, r.folds, best.asked, problem->missing_share, model);
	if (plan->method == GP_LINK_SCORES)
		shift_curve(&r, problem, &(fold_job) {.x = x,.plan = plan}, &best.r, model);
	keep_regression(&r, &best.r, model);
	gp_link_held_judge(env, model);
	free_attempt(&r, &best);
	free_rows(&r);
	keep_features(dev, problem, x, model);
}

/* True where links lead from users to items. */
static bool
is_two_sided(gp_env *env, const gp_graph *graph)
{
	double		share;

	gp_free(env, gp_link_items_find(env, graph, &share));
	return share >= LEAST_SIDED;
}

/* The better of two models by how hidden links rank among their rivals; the other is freed. */
static gp_link_model *
better_of(gp_env *env, gp_link_model *a, gp_link_model *b)
{
	bool		second = b->metric[GP_LINK_METRIC_MRR] > a->metric[GP_LINK_METRIC_MRR];

	gp_link_model_free(env, second ? a : b);
	return second ? b : a;
}

/* A fit by the planned method. */
static gp_link_model *
fit_method(gp_device *dev, const gp_link_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_link_plan plan = checked_plan(dev, problem);
	gp_link_model *model = gp_alloc_zero(env, 1, sizeof(gp_link_model));

	if (plan.method != GP_LINK_DEEP)
	{
		gp_power_refuse(env, problem->program);
		env->progress(env, GP_PHASE_KERNEL, 0, 0);
		model->code = gp_link_codes(dev, problem);
	}
	model->method = plan.method;
	model->graph = problem->graph;
	if (gp_link_has_scores(plan.method))
		fit_scores(dev, problem, &plan, model);
	else if (plan.method == GP_LINK_PAIRS)
		gp_link_pairs_fit(dev, problem, model);
	else
	{
		gp_link_deep_fit(dev, problem, model);
		model->code = gp_link_row_codes(dev, model->graph->nodes, model->width, model->row,
										problem->seed);
	}
	return model;
}

gp_link_model *
gp_link_fit(gp_device *dev, const gp_link_problem *problem)
{
	gp_env	   *env = dev->env;
	bool		asked = problem->method == GP_LINK_AUTO || problem->method == GP_LINK_EASE;
	bool		two_sided = asked && is_two_sided(env, problem->graph);
	gp_link_problem ease = *problem;
	gp_link_model *model;

	if (problem->method == GP_LINK_EASE && !two_sided)
		gp_raise(env, GP_ERR_DATA, "Method 'scores' takes any graph.",
				 "method ease needs links that lead from one side to the other, such as from users to items");
	model = fit_method(dev, problem);
	if (problem->method != GP_LINK_AUTO || !two_sided)
		return model;
	ease.method = GP_LINK_EASE;
	return better_of(env, model, fit_method(dev, &ease));
}
