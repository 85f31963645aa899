/*
 * scored_fit.c - a fit by scores of pairs, whichever the method's are.
 *
 * Each fold hides links from the graph, so that none sees itself.  A logistic regression learns to
 * tell hidden links from random pairs and, where nodes have no features, from pairs within three
 * steps.  With features there are more random pairs: what few of them teach depends on which were
 * drawn.  The figures and the curve of probabilities come from regressions
 * that have not seen the fold that they are judged on.
 */
#include "link_regression.h"
#include "scored_fit.h"

/*
 * Penalties of a Gaussian process.  With features the first is the only one: held-out random pairs
 * would choose the second, by which likely links rank worse.
 */
static const double penalties[] = {1.0, 0.1};

#define PENALTIES ((int) (sizeof(penalties) / sizeof(penalties[0])))

#define NEAR 1e-5				/* of a mode that is no model's; logits are off by less than .001 */
#define RANDOM_WEIGHT 4.0
#define NEAR_WEIGHT 0.5			/* of a pair within three steps */
#define MORE 4					/* random pairs beside each, with features */
#define MORE_SALT UINT64_C(0x6d6f726500000000)

/* A regression and what it says of the folds, each learnt without it. */
typedef struct tried
{
	gp_link_regression *by;
	double	   *alpha;			/* of the model */
	float	   *root;
	gp_link_trial said;
} tried;

/* Copies pairs behind those of a fold. */
static void
add_pairs(gp_link_scored_pairs *s, gp_link_scored_kind kind, const gp_link_pairs *pairs,
		  int64_t from, int64_t n)
{
	gp_link_pairs_append(&s->pairs, pairs, from, n);
	s->first[kind + 1] = s->pairs.n;
}

/*
 * More pairs without a link, from an end of each random one: the scores of its column are there.
 */
static gp_link_pairs
more_random_pairs(gp_env *env, const gp_graph *graph, const gp_link_fold *fold, uint64_t seed,
				  const gp_link_rules *rules)
{
	gp_link_pairs pairs = gp_link_pairs_create(env, MORE * (fold->pairs.n - fold->links));

	for (int64_t e = fold->links; e < fold->pairs.n; e++)
	{
		gp_link_draws draws = gp_link_draws_open(env, graph,
												 gp_hash(seed ^ MORE_SALT) + (uint64_t) e, MORE,
												 rules);
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
fill_fold(gp_link_scored_fit *r, int f)
{
	gp_env	   *env = r->env;
	const gp_graph *graph = r->problem->graph;
	gp_link_fold *fold = &r->fold[f];
	gp_link_scored_pairs *s = &r->pairs[f];
	uint64_t	seed = gp_hash(r->problem->seed) + (uint64_t) f;
	int64_t		npairs = f < r->calibrated ?
		gp_link_calibration_pairs_most(fold, r->calibration_nodes) : 0;
	/* Features tell links beyond reach: these would rank first by what near pairs teach. */
	gp_link_pairs extra = r->prepared.features ?
		more_random_pairs(env, graph, fold, seed, r->prepared.rules) :
		gp_link_hop_negatives(env, graph, fold, seed, r->prepared.rules);

	fold->rivals = gp_link_rivals_make(env, graph, fold, GP_LINK_RANKED / r->folds,
									   r->problem->seed, &r->prepared);
	npairs += fold->pairs.n + extra.n + fold->rivals.pairs.n;
	s->pairs = gp_link_pairs_create(env, npairs);
	add_pairs(s, GP_SCORED_LINKS, &fold->pairs, 0, fold->links);
	add_pairs(s, GP_SCORED_RANDOM, &fold->pairs, fold->links, fold->pairs.n - fold->links);
	add_pairs(s, GP_SCORED_EXTRA, &extra, 0, extra.n);
	add_pairs(s, GP_SCORED_RIVALS, &fold->rivals.pairs, 0, fold->rivals.pairs.n);
	while (s->pairs.n < npairs)
	{
		uint64_t	draw = gp_hash(seed + (uint64_t) (s->pairs.n / GP_LINK_OTHERS));
		int64_t		node = (int64_t) (draw % (uint64_t) graph->nodes);

		gp_link_pairs_add(&s->pairs, (int32_t) node, (int32_t) ((node + 1) % graph->nodes));
	}
	s->first[GP_SCORED_KINDS] = npairs;
	gp_link_pairs_free(env, &extra);
}

/* Finds the calibration pairs of a model: no code of a fold knows the hidden links. */
static void
find_calibration_pairs(gp_link_scored_fit *r, const gp_link_model *model)
{
	uint64_t	seed = gp_hash(r->problem->seed);

	for (int f = 0; f < r->calibrated; f++)
	{
		gp_link_fold *fold = &r->fold[f];
		gp_link_scored_pairs *s = &r->pairs[f];
		gp_link_problem without = *r->problem;
		uint64_t   *code = NULL;

		without.graph = fold->graph;
		if (r->method == GP_LINK_SCORES)
			code = gp_link_codes(r->dev, &without);
		fold->calibration = gp_link_calibration_pairs_make(r->env, model, fold, code,
														   r->calibration_nodes,
														   seed + (uint64_t) f);
		gp_free(r->env, code);
		if (r->env->dry)
			continue;
		s->pairs.n = s->first[GP_SCORED_CALIBRATION];
		add_pairs(s, GP_SCORED_CALIBRATION, &fold->calibration.pairs, 0, fold->calibration.pairs.n);
	}
}

void
gp_link_scored_fold(const gp_link_scored_fit *r, gp_link_context *context, int64_t f)
{
	const gp_link_scored_pairs *s = &r->pairs[f];

	gp_link_pair_scores(context, s->pairs.n, s->pairs.src, s->pairs.dst, s->score);
}

void
gp_link_scored_whole(gp_link_scored_fit *r, gp_link_context *context)
{
	const gp_link_scored_pairs *s = &r->pairs[0];
	int64_t		at = s->first[GP_SCORED_CALIBRATION];
	int64_t		n = s->first[GP_SCORED_KINDS] - at;

	r->whole = gp_alloc_zero(r->env, n * r->width, sizeof(double));
	gp_link_pair_scores(context, n, s->pairs.src + at, s->pairs.dst + at, r->whole);
}

/*
 * Lists the scored pairs that are learnt from; links weigh as much as all other pairs of their
 * fold.
 */
static void
list_rows(gp_link_scored_fit *r)
{
	r->score = gp_alloc_array(r->env, r->n * r->width, sizeof(double));
	r->label = gp_alloc_array(r->env, r->n, sizeof(bool));
	r->weight = gp_alloc_array(r->env, r->n, sizeof(double));
	for (int f = 0; f < r->folds; f++)
	{
		const gp_link_scored_pairs *s = &r->pairs[f];
		double		links = (double) s->first[GP_SCORED_RANDOM];
		double		random = (double) (s->first[GP_SCORED_EXTRA] - s->first[GP_SCORED_RANDOM]);
		double		other = (double) (s->first[GP_SCORED_RIVALS] - s->first[GP_SCORED_EXTRA]);
		double		each = RANDOM_WEIGHT *
			(r->prepared.features ? random / (random + other) : 1.0);
		double		near = r->prepared.features ? each : NEAR_WEIGHT;
		const double weight[] = {
			[GP_SCORED_LINKS] = (each * random + near * other) / links,
			[GP_SCORED_RANDOM] = each,[GP_SCORED_EXTRA] = near
		};

		memcpy(r->score + r->first[f] * r->width, s->score,
			   s->first[GP_SCORED_LABELLED] * r->width * sizeof(double));
		for (gp_link_scored_kind kind = GP_SCORED_LINKS; kind < GP_SCORED_LABELLED; kind++)
			for (int64_t e = s->first[kind]; e < s->first[kind + 1]; e++)
			{
				r->label[r->first[f] + e] = kind == GP_SCORED_LINKS;
				r->weight[r->first[f] + e] = weight[kind];
			}
	}
}

/* The logits of n pairs by their scores. */
static double *
logits_by(const gp_link_scored_fit *r, gp_link_regression *g, int64_t n, const double *score)
{
	double	   *logit = gp_alloc_zero(r->env, n, sizeof(double));

	gp_link_regression_logits(g, n, r->width, score, logit);
	return logit;
}

/* The logits of a fold's pairs from one kind on. */
static double *
logits_from(const gp_link_scored_fit *r, gp_link_regression *g, int f, gp_link_scored_kind kind)
{
	const gp_link_scored_pairs *s = &r->pairs[f];

	return logits_by(r, g, s->first[GP_SCORED_KINDS] - s->first[kind],
					 s->score + s->first[kind] * r->width);
}

/*
 * What regressions are compared by: how held-out links rank among their rivals.  With features it
 * is the likelihood of held-out rows: links beyond reach would rank first for being no rivals.
 */
static double
gain_of(const gp_link_scored_fit *r, const tried *a)
{
	return r->prepared.features ? -a->said.loss :
		a->said.ranks.reciprocal / (double) a->said.ranks.links;
}

/*
 * Learns from all rows, then, from there, from all folds but one; the mode of all rows comes last,
 * so that it is what is kept.
 */
static tried
try_regression(const gp_link_scored_fit *r, const gp_link_held *held, gp_link_regression *g,
			   double penalty)
{
	gp_env	   *env = r->env;
	gp_link_logistic *l = &g->logistic;
	tried		a = {.by = g,.said = gp_link_trial_open(env, held)};
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
		double	   *logit = logits_from(r, g, f, GP_SCORED_RIVALS);
		gp_link_trial_take(&a.said, held, &r->fold[f], f, l, first, logit);
		gp_free(env, logit);
	}
	memcpy(l->b, mode, l->phi.rows * sizeof(double));
	l->last = 0.0;
	gp_link_logistic_fit(l, r->label, r->weight);
	a.said.logit_on_fold = logits_from(r, g, 0, GP_SCORED_CALIBRATION);
	a.said.logit_on_whole = logits_by(r, g, r->fold[0].calibration.pairs.n, r->whole);
	a.alpha = gp_link_logistic_weights(l, g->root);
	a.root = gp_link_covariance_root(l, g->root);
	gp_free_all(env, weight, mode);
	return a;
}

/* The better one of two that were tried; the other is freed.  A dry run takes the larger one. */
static tried
better_of(const gp_link_scored_fit *r, tried *a, tried *b)
{
	bool		second = r->env->dry || gain_of(r, b) > gain_of(r, a);
	tried	   *other = second ? a : b;

	gp_link_trial_free(r->env, &other->said);
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

void
gp_link_scored_hide(gp_link_scored_fit *r)
{
	gp_env	   *env = r->env;

	gp_power_refuse(env, r->problem->program);
	r->folds = gp_link_folds_make(env, r->problem->graph, r->problem->seed, r->fold);
	env->progress(env, GP_PHASE_PAIRS, 0, r->folds);
	r->prepared = gp_link_prepared_make(env, r->problem->graph, r->fold, r->folds);
}

void
gp_link_scored_draw(gp_link_scored_fit *r, int calibrated, int64_t nodes)
{
	r->calibrated = calibrated;
	r->calibration_nodes = nodes;
	for (int f = 0; f < r->folds; f++)
	{
		fill_fold(r, f);
		r->first[f + 1] = r->n += r->pairs[f].first[GP_SCORED_LABELLED];
	}
}

void *
gp_link_scored_run(void *state, gp_device *dev, const gp_plan *plan)
{
	gp_link_scored_fit *r = state;
	gp_env	   *env = r->env = dev->env;
	const gp_link_problem *problem = r->problem;
	gp_link_model *model = gp_link_model_begin(env, &r->prepared, r->method, problem->graph);

	r->dev = dev;
	env->progress(env, GP_PHASE_KERNEL, 0, 0);
	model->code = gp_link_codes(dev, problem);
	/* The scores of all folds' pairs. */
	find_calibration_pairs(r, model);
	for (int f = 0; f < r->folds; f++)
		r->pairs[f].score = gp_alloc_zero(env, r->pairs[f].pairs.n * r->width, sizeof(double));
	r->score_all(r, model);
	list_rows(r);
	/* The regression. */
	env->progress(env, GP_PHASE_POSTERIOR, 0, 0);
	gp_link_regression plain = gp_link_regression_open(dev, r->n, r->width, r->score, false);
	gp_link_regression process = {0};
	int			count = !r->processes ? 0 : r->prepared.features ? 1 : PENALTIES;
	tried		best = try_regression(r, &model->held, &plain, 1.0);

	if (count > 0)
		process = gp_link_regression_open(dev, r->n, r->width, r->score, true);
	for (int k = 0; k < count; k++)
	{
		tried		other = try_regression(r, &model->held, &process, penalties[k]);

		best = better_of(r, &best, &other);
	}
	gp_link_trial_judge(env, &best.said, r->fold, r->calibrated, problem->missing_share, model);
	gp_link_trial_free(env, &best.said);
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
		gp_link_calibration_pairs_free(env, &r->fold[f].calibration);
	}
	gp_free_all(env, r->score, r->label, r->weight, r->whole);
	return gp_link_model_end(dev, problem, &r->prepared, model);
}

void
gp_link_scored_close(void *state)
{
	gp_link_scored_fit *r = state;

	for (int f = 0; f < r->folds; f++)
	{
		gp_link_fold_free(r->env, &r->fold[f]);
		gp_link_pairs_free(r->env, &r->pairs[f].pairs);
	}
	gp_link_prepared_free(r->env, &r->prepared);
}
