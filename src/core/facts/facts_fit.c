/*
 * facts_fit.c - the fit of a task with time: blocks of time, landmarks, the choice of the weights,
 * the rows to predict.
 */
#include "facts_internal.h"

#include "base/sort.h"
#include "live/live.h"
#include "regression/solution.h"

#define ANSWERED_AT_ONCE 8192	/* rows */
#define CONFIRMED 0.25			/* of what other blocks gain, by earlier ones alone */

const char gp_facts_kernel[] = "relu(X0*W + b1)*W + b2, sigma_b1=0.1, sigma_b2=1";

/* ---- blocks of time ---- */

int32_t
gp_facts_time_blocks(gp_env *env, int64_t n, const gp_time *as_of, int32_t blocks, int32_t *block)
{
	gp_timed   *t = gp_by_time(env, n, as_of);
	int32_t		at = -1;
	int32_t		quantile = -1;	/* of the block */
	int64_t		end;

	for (int64_t first = 0, next = 0; first < n; first = end)
	{
		int32_t		middle;

		/* The rows of one time go where the middle one belongs. */
		gp_poll(env, first, &next);
		for (end = first + 1; end < n && t[end].as_of == t[first].as_of;)
			end++;
		middle = (int32_t) ((double) blocks * (double) (first + end) / (2.0 * (double) n));
		at += middle != quantile;
		quantile = middle;
		for (int64_t k = first; k < end; k++)
			block[t[k].row] = at;
	}
	gp_free(env, t);
	return at + 1;
}

gp_time *
gp_facts_block_starts(gp_env *env, int64_t rows, const gp_time *as_of, int64_t labelled,
					  int32_t blocks)
{
	int32_t    *block = gp_alloc_array(env, labelled, sizeof(int32_t));
	gp_time    *start = gp_alloc_array(env, blocks, sizeof(gp_time));
	gp_time    *out = gp_alloc_array(env, rows, sizeof(gp_time));

	gp_facts_time_blocks(env, labelled, as_of, blocks, block);
	for (int32_t b = 0; b < blocks; b++)
		start[b] = GP_TIME_NEVER;
	for (int64_t i = 0; i < labelled; i++)
		start[block[i]] = gp_min64(start[block[i]], as_of[i]);
	for (int64_t i = 0; i < rows; i++)
		out[i] = i < labelled ? start[block[i]] : as_of[i];
	gp_free_all(env, block, start);
	return out;
}

/* ---- landmarks ---- */

int32_t *
gp_facts_landmarks(gp_env *env, const gp_problem *problem, int64_t most, int64_t *n)
{
	gp_drawn   *d = gp_alloc_array(env, problem->nlabelled, sizeof(gp_drawn));

	*n = gp_min64(most, problem->nlabelled);
	int32_t    *landmark = gp_alloc_array(env, *n, sizeof(int32_t));
	for (int64_t i = 0; i < problem->nlabelled; i++)
		d[i] = (gp_drawn) {gp_hash(problem->seed ^ gp_hash((uint64_t) i)), problem->labelled[i]};
	gp_sort(env, d, problem->nlabelled, sizeof(gp_drawn), gp_compare_int64, NULL);
	for (int64_t i = 0; i < *n; i++)
		landmark[i] = d[i].node;
	gp_sort(env, landmark, *n, sizeof(int32_t), gp_compare_int32, NULL);
	gp_free(env, d);
	return landmark;
}

/* ---- the choice of the weights ---- */

/* Columns of features, which are weighted as the scale is, weighted another way. */
static void
weigh_features(gp_env *env, gp_features *x, gp_facts_scale *s, gp_facts_weights weights,
			   int32_t used)
{
	double	   *factor = gp_alloc_array(env, s->kept, sizeof(double));
	int32_t		at = 0;

	for (int32_t c = 0; c < s->width; c++)
		if (s->column[c].deviation > 0.0)
			factor[at++] = 1.0 / s->column[c].weight;
	gp_facts_weigh(env, s, weights, used);
	at = 0;
	for (int32_t c = 0; c < s->width; c++)
		if (s->column[c].deviation > 0.0)
			factor[at++] *= s->column[c].weight;
	GP_EACH(env, i, gp_items(env, x->rows), i * x->dims)
	{
		float	   *row = (float *) x->dense + i * x->dims;

		for (int64_t c = 0; c < x->dims; c++)
			row[c] = (float) (row[c] * factor[c]);
	}
	gp_free(env, factor);
}

/*
 * How much of the labels each column of features explains by itself: the R2 of a linear regression
 * on it alone, less what chance gives.
 */
static void
find_relevance(gp_env *env, const gp_problem *problem, const gp_features *x, gp_facts_scale *s)
{
	gp_targets	t = gp_targets_make(env, problem);
	double	   *cross = gp_alloc_zero(env, x->dims * (t.columns + 1), sizeof(double));
	double	   *square = cross + x->dims * t.columns;
	double		whole = 0.0;
	double		chance = gp_chance_r2(x->dims, (double) x->rows);
	int64_t		at = 0;

	GP_EACH(env, i, gp_items(env, x->rows), i * x->dims * t.columns)
	{
		const float *row = (const float *) x->dense + i * x->dims;

		for (int32_t k = 0; k < t.columns; k++)
		{
			double		y = t.y[i * t.columns + k] - (t.share ? t.share[k] : 0.0);

			whole += y * y;
			for (int64_t c = 0; c < x->dims; c++)
				cross[k * x->dims + c] += y * row[c];
		}
		for (int64_t c = 0; c < x->dims; c++)
			square[c] += (double) row[c] * row[c];
	}
	for (int32_t c = 0; c < s->width; c++)
		if (s->column[c].deviation > 0.0)
		{
			double		explained = 0.0;

			for (int32_t k = 0; k < t.columns; k++)
				explained += cross[k * x->dims + at] * cross[k * x->dims + at];
			if (explained > 0.0)
				s->column[c].relevance =
					fmax(explained / (square[at] * whole) - chance, 0.0);
			at++;
		}
	gp_free(env, cross);
	gp_targets_free(env, &t);
}

/* True where some columns from the first on vary, or those of them that tell what changes. */
static bool
some_vary(const gp_facts_scale *s, int32_t first, bool changes)
{
	bool		some = false;

	for (int32_t c = first; c < s->width; c++)
		some |= s->column[c].deviation > 0.0 && (s->column[c].changes || !changes);
	return some;
}

/*
 * True where doubted columns, which one has and the other lacks, are worth it.  Beside a category
 * of each parent, earlier answers show later rows the label of a block that is left out: its level
 * is told by these rows.  Earlier blocks cannot see that.
 */
static bool
are_worth_it(gp_env *env, const gp_problem *problem, const gp_posterior *one,
			 const gp_posterior *other, double margin)
{
	double		gain = one->loo_score - other->loo_score;

	return gain >= margin && gp_surely_better(env, problem, one, other) &&
		!(one->forward_score - other->forward_score < CONFIRMED * gain);
}

static void
keep_better(gp_env *env, gp_posterior **one, gp_posterior *other, bool other_is_better)
{
	gp_posterior *worse = other_is_better ? *one : other;

	if (other_is_better)
		*one = other;
	gp_posterior_free(env, worse);
}

/* ---- the rows to predict ---- */

static gp_features
some_rows(const gp_features *x, int64_t first, int64_t rows)
{
	gp_features some = *x;

	some.rows = rows;
	some.dense = (float *) x->dense + first * x->dims;
	return some;
}

gp_problem
gp_facts_labelled(gp_env *env, const gp_problem *problem)
{
	gp_problem	labelled = *problem;
	gp_features *x = gp_alloc(env, sizeof(gp_features));

	*x = some_rows(problem->features, 0, problem->nlabelled);
	labelled.features = x;
	labelled.graph = gp_graph_build(gp_edges_create(env, problem->nlabelled, false, false));
	return labelled;
}

/* Answers some rows behind those that the posterior has, which has room for them. */
static void
answer_rows(gp_device *dev, const gp_problem *problem, const gp_features *x, gp_posterior *out)
{
	gp_env	   *env = dev->env;
	int32_t    *nowhere = gp_alloc_array(env, x->rows, sizeof(int32_t));
	gp_graph   *none = gp_graph_build(gp_edges_create(env, x->rows, false, false));
	gp_live_question q = {.state = out->state,.program = problem->program,.graph = none,
		.features = x,.fit_node = nowhere,.inner = x->rows,.asked = x->rows};

	memset(nowhere, -1, (size_t) x->rows * sizeof(int32_t));
	gp_live_answer a = gp_live_ask(dev, &q);
	memcpy(out->mean + out->nodes * a.columns, a.mean,
		   (size_t) gp_items(env, a.n * a.columns) * sizeof(double));
	memcpy(out->variance + out->nodes, a.variance, (size_t) gp_items(env, a.n) * sizeof(double));
	if (a.is_prior)
		memcpy(out->is_prior + out->nodes, a.is_prior, (size_t) a.n * sizeof(bool));
	out->nodes += a.n;
	gp_graph_free(env, none);
	gp_free_all(env, nowhere, a.mean, a.variance, a.is_prior);
}

/* Figures with room for so many, in place of those of n. */
static double *
grow_figures(gp_env *env, double *figures, int64_t n, int64_t count)
{
	double	   *grown = gp_alloc_values(env, count, sizeof(double));

	memcpy(grown, figures, (size_t) gp_items(env, n) * sizeof(double));
	gp_free(env, figures);
	return grown;
}

/* Answers rows behind the labelled ones, a block at a time. */
static void
answer_others(gp_device *dev, const gp_problem *problem, const gp_features *x, int64_t rows,
			  gp_posterior *out)
{
	gp_env	   *env = dev->env;
	bool	   *is_prior = gp_alloc_zero(env, rows, sizeof(bool));

	if (out->is_prior)
		memcpy(is_prior, out->is_prior, (size_t) out->nodes * sizeof(bool));
	gp_free(env, out->is_prior);
	out->is_prior = is_prior;
	out->mean = grow_figures(env, out->mean, out->nodes * out->columns, rows * out->columns);
	out->variance = grow_figures(env, out->variance, out->nodes, rows);
	for (gp_band band = gp_band_first(x->rows, ANSWERED_AT_ONCE); band.count > 0;
		 gp_band_next(&band))
	{
		gp_features some = some_rows(x, band.first, band.count);

		answer_rows(dev, problem, &some, out);
		env->progress(env, GP_PHASE_POSTERIOR, out->nodes, rows);
	}
}

gp_posterior *
gp_facts_fit_features(gp_device *dev, const gp_problem *problem, const gp_features *features)
{
	gp_features labelled = some_rows(features, 0, problem->nlabelled);
	gp_features others = some_rows(features, labelled.rows, features->rows - labelled.rows);
	gp_problem	of_labels = *problem;

	of_labels.features = &labelled;
	gp_posterior *out = gp_fit(dev, &of_labels);
	answer_others(dev, problem, &others, features->rows, out);
	return out;
}

/* Tells what the fit that is kept is worth. */
static void
notice_worth(gp_device *dev, const gp_problem *problem, gp_posterior *kept)
{
	if (dev->env->dry)
		return;
	gp_targets	targets = gp_targets_make(dev->env, problem);
	gp_notice_worth(dev, problem, &targets, kept);
	gp_targets_free(dev->env, &targets);
}

gp_posterior *
gp_facts_fit(gp_device *dev, const gp_problem *problem, gp_features *features,
			 gp_facts_scale *scale, double score[GP_FACTS_FITS])
{
	gp_env	   *env = dev->env;
	gp_facts_weights chosen = GP_FACTS_COLUMNS;
	int32_t		used = scale->width;
	gp_features labelled = some_rows(features, 0, problem->nlabelled);
	gp_features others = some_rows(features, labelled.rows, features->rows - labelled.rows);
	gp_problem	weighed = *problem;
	gp_posterior *other;

	if (features->dims == 0)
		gp_raise(env, GP_ERR_DATA, "Add tables or columns that differ between the rows of the task.",
				 "no column of the tables differs between the rows of the task");
	weighed.features = &labelled;
	weighed.compared = true;
	gp_posterior *best = gp_fit(dev, &weighed);
	score[GP_FACTS_COLUMNS] = best->loo_score;

	/* Relevance has seen the labels that judge it: it has to be better by more than chance. */
	find_relevance(env, problem, &labelled, scale);
	for (gp_facts_weights w = GP_FACTS_RELEVANCE; w <= GP_FACTS_CHANGES; w++)
	{
		score[w] = NAN;
		if (w == GP_FACTS_CHANGES && !some_vary(scale, 0, true))
			continue;
		weigh_features(env, &labelled, scale, w, used);
		other = gp_fit(dev, &weighed);
		score[w] = other->loo_score;
		bool		better = gp_surely_better(env, problem, other, best);
		chosen = better ? w : chosen;
		keep_better(env, &best, other, better);
	}

	score[GP_FACTS_FITS - 1] = NAN;
	if (some_vary(scale, scale->doubted, false))
	{
		weigh_features(env, &labelled, scale, chosen, scale->doubted);
		other = gp_fit(dev, &weighed);
		score[GP_FACTS_FITS - 1] = other->loo_score;
		if (!are_worth_it(env, problem, best, other, scale->margin))
			used = scale->doubted;
		keep_better(env, &best, other, used < scale->width);
	}
	notice_worth(dev, problem, best);
	/* The other rows have the first weights still. */
	gp_facts_weigh(env, scale, GP_FACTS_COLUMNS, scale->width);
	if (chosen != GP_FACTS_COLUMNS || used < scale->width)
		weigh_features(env, &others, scale, chosen, used);
	answer_others(dev, problem, &others, features->rows, best);
	return best;
}
