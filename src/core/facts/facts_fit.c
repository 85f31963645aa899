/*
 * facts_fit.c - the fit of a task with time: blocks of time, landmarks, the choice of the weights.
 */
#include "facts_internal.h"

#include "base/sort.h"

#define SURE 2.0				/* standard errors */

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

/* ---- landmarks ---- */

typedef struct drawn
{
	uint64_t	draw;
	int32_t		node;
} drawn;

int32_t *
gp_facts_landmarks(gp_env *env, const gp_problem *problem, int64_t most, int64_t *n)
{
	drawn	   *d = gp_alloc_array(env, problem->nlabelled, sizeof(drawn));
	int32_t    *landmark;

	*n = gp_min64(most, problem->nlabelled);
	landmark = gp_alloc_array(env, *n, sizeof(int32_t));
	for (int64_t i = 0; i < problem->nlabelled; i++)
		d[i] = (drawn) {gp_hash(problem->seed ^ gp_hash((uint64_t) i)), problem->labelled[i]};
	gp_sort(env, d, problem->nlabelled, sizeof(drawn), gp_compare_int64, NULL);
	for (int64_t i = 0; i < *n; i++)
		landmark[i] = d[i].node;
	gp_sort(env, landmark, *n, sizeof(int32_t), gp_compare_int32, NULL);
	gp_free(env, d);
	return landmark;
}

/* ---- the choice of the weights ---- */

/* Columns of features, which are weighted one way, weighted the other way. */
static void
weigh_features(gp_env *env, gp_features *x, gp_facts_scale *s, gp_facts_weights weights)
{
	double	   *factor = gp_alloc_array(env, s->kept, sizeof(double));
	int32_t		at = 0;

	for (int32_t c = 0; c < s->width; c++)
		if (s->column[c].deviation > 0.0)
			factor[at++] = 1.0 / s->column[c].weight;
	gp_facts_weigh(env, s, weights);
	at = 0;
	for (int32_t c = 0; c < s->width; c++)
		if (s->column[c].deviation > 0.0)
			factor[at++] *= s->column[c].weight;
	GP_EACH(env, i, x->rows, i * x->dims)
	{
		float	   *row = (float *) x->dense + i * x->dims;

		for (int64_t c = 0; c < x->dims; c++)
			row[c] = (float) (row[c] * factor[c]);
	}
	gp_free(env, factor);
}

gp_posterior *
gp_facts_fit(gp_device *dev, const gp_problem *problem, gp_features *features,
			 gp_facts_scale *scale,
			 double *other_score)
{
	gp_env	   *env = dev->env;
	gp_facts_weights first = scale->weights;
	gp_facts_weights second = first == GP_FACTS_COLUMNS ? GP_FACTS_BLOCKS : GP_FACTS_COLUMNS;
	gp_problem	weighed = *problem;
	gp_posterior *best;
	gp_posterior *other;

	if (features->dims == 0)
		gp_raise(env, GP_ERR_DATA, "Add tables or columns that differ between the rows of the task.",
				 "no column of the tables tells the rows of the task apart");
	weighed.features = features;
	weighed.compared = true;
	best = gp_fit(dev, &weighed);
	weigh_features(env, features, scale, second);
	weighed.compared = problem->compared;
	other = gp_fit(dev, &weighed);
	/*
	 * Blocks hang on few columns, such as the day of the year: they have to be better by more than
	 * chance.
	 */
	if (!(other->loo_score > best->loo_score) || gp_loo_gain(env, problem, other, best) < SURE)
		gp_facts_weigh(env, scale, first);
	else
	{
		gp_posterior *swap = best;

		best = other;
		other = swap;
	}
	*other_score = other->loo_score;
	gp_posterior_free(env, other);
	return best;
}
