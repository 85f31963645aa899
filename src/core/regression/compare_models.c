/*
 * compare_models.c - how sure it is that one model explains labels better than another.
 *
 * Both say something of each label without it.  The difference of their squared errors, label by
 * label, has a mean and a standard error: labels that are hard for both count little.
 */
#include "regression.h"

/* The squared error of each label of an index, on the scale that loo_score sums. */
static double *
squared_errors(gp_env *env, const gp_problem *problem, const gp_targets *t, const gp_loo *loo,
			   const int32_t *index, int64_t n)
{
	double	   *error = gp_alloc_array(env, n, sizeof(double));
	bool		values = problem->task == GP_TASK_VALUES;
	double		factor = values ? 1.0 : gp_class_factor(t, loo->mean, index, n);

	for (int64_t k = 0; k < n; k++)
		error[k] = values ? pow(t->y[index[k]] - (loo->mean[index[k]] - t->offset) / t->unit, 2.0) :
			gp_class_residual(t, loo->mean, index[k], factor);
	return error;
}

/* The mean of n numbers over its standard error; 0 where there are too few. */
static double
standard_errors(const double *x, int64_t n)
{
	double		mean = 0.0;
	double		squares = 0.0;

	for (int64_t i = 0; i < n; i++)
		mean += x[i] / n;
	for (int64_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return n > 1 && squares > 0.0 ? mean / sqrt(squares / (n - 1) / n) : 0.0;
}

double
gp_loo_gain(gp_env *env, const gp_problem *problem, const gp_posterior *one,
			const gp_posterior *other)
{
	gp_targets	targets = gp_targets_make(env, problem);
	int64_t		n;
	int32_t    *index = gp_loo_sample(env, &targets, targets.m, &n);
	double	   *error = squared_errors(env, problem, &targets, &one->loo, index, n);
	double	   *gain = squared_errors(env, problem, &targets, &other->loo, index, n);
	double		sureness;

	for (int64_t k = 0; k < n; k++)
		gain[k] -= error[k];
	sureness = standard_errors(gain, n);
	gp_free(env, gain);
	gp_free(env, error);
	gp_free(env, index);
	gp_targets_free(env, &targets);
	return sureness;
}
