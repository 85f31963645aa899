/*
 * posterior_from_scores.c - a posterior from scores that a method has learnt itself.
 *
 * What is not a regression still gets its probabilities, figures and
 * leave-one-out rows as one does, so that whoever stores, calibrates and judges posteriors
 * need not know where one comes from.
 */
#include "regression.h"

#include <float.h>

void
gp_learnt_check(gp_env *env, const gp_problem *problem, const char *method, bool values)
{
	if (problem->task != GP_TASK_CLASSES && !values)
		gp_raise(env, GP_ERR_UNSUPPORTED, "For values use a kernel that is not learnt, such as "
										  "gcn.",
				 "method %s predicts classes only", method);
	if (problem->nlabelled < 1)
		gp_raise(env, GP_ERR_DATA, NULL, "no node is labelled");
}

gp_posterior *
gp_learnt_open(gp_env *env, const gp_problem *problem, const gp_plan *plan)
{
	gp_targets	targets = gp_targets_make(env, problem);
	gp_posterior *out = gp_posterior_create(env, problem, &targets, plan);

	gp_targets_free(env, &targets);
	out->nugget = NAN;
	out->log_marginal_likelihood = NAN;
	out->mean_diag = 1.0;
	out->scale = 1.0;
	return out;
}

/*
 * Values: variances become those of the errors where nothing was learnt, by one factor, as the
 * scale of a prior does it in closed form.
 */
static void
scale_variances(const gp_targets *targets, const double *loo_mean, double *loo_variance,
				gp_posterior *out)
{
	double		sum = 0.0;

	if (targets->few || targets->flat)
		return;
	for (int64_t k = 0; k < targets->m; k++)
		sum += pow(targets->y[k] - loo_mean[k], 2.0) / fmax(loo_variance[k], DBL_MIN);
	sum /= (double) targets->m;
	for (int64_t k = 0; k < targets->m; k++)
		loo_variance[k] *= sum;
	for (int64_t i = 0; i < out->nodes; i++)
		out->variance[i] *= sum;
}

void
gp_learnt_settle(gp_env *env, const gp_problem *problem, double *loo_mean, double *loo_variance,
				 gp_posterior *out)
{
	gp_targets	targets = gp_targets_make(env, problem);
	gp_solution solution = {.nugget = NAN,.mean_diag = 1.0,.scale = 1.0,.loo_mean = loo_mean,
	.loo_variance = loo_variance};

	if (env->dry)
	{
		gp_figures_count(env, problem, &targets);
		gp_free_all(env, loo_mean, loo_variance);
		gp_targets_free(env, &targets);
		return;
	}
	if (!gp_all_finite(env, out->mean, out->nodes * out->columns) ||
		!gp_all_finite(env, out->variance, out->nodes) ||
		!gp_all_finite(env, loo_mean, targets.m * out->columns) ||
		!gp_all_finite(env, loo_variance, targets.m))
		gp_raise(env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the posterior is out of range");
	if (problem->task == GP_TASK_VALUES)
		scale_variances(&targets, loo_mean, loo_variance, out);
	gp_figures(env, problem, &targets, &solution, out);
	gp_targets_free(env, &targets);
}
