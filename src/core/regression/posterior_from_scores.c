/*
 * posterior_from_scores.c - the solution of a method that learns scores itself.
 *
 * What is not a regression still gets its probabilities, figures and
 * leave-one-out rows as one does, so that whoever stores, calibrates and judges posteriors
 * need not know where one comes from.
 */
#include "regression.h"

#include <float.h>

gp_solution
gp_solution_of_scores(gp_env *env, const gp_problem *problem, const gp_targets *targets,
					  double *loo_mean, double *loo_variance, gp_posterior *out)
{
	gp_solution solution = {.nugget = NAN,.mean_diag = 1.0,.scale = 1.0,
		.log_marginal_likelihood = NAN,.loo_mean = loo_mean,.loo_variance = loo_variance};
	double		sum = 0.0;

	if (env->dry)
		return solution;
	if (!gp_all_finite(env, loo_mean, targets->m * targets->columns) ||
		!gp_all_finite(env, loo_variance, targets->m))
		gp_raise(env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the posterior is out of range");
	if (problem->task != GP_TASK_VALUES || targets->few || targets->flat)
		return solution;
	/* Variances become those of the errors where nothing was learnt, by one factor, as the scale of
	 * a prior does it in closed form. */
	for (int64_t k = 0; k < targets->m; k++)
		sum += pow(targets->y[k] - loo_mean[k], 2.0) / fmax(loo_variance[k], DBL_MIN);
	sum /= (double) targets->m;
	for (int64_t k = 0; k < targets->m; k++)
		loo_variance[k] *= sum;
	for (int64_t i = 0; i < out->nodes; i++)
		out->variance[i] *= sum;
	return solution;
}
