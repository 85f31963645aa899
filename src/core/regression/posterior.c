/*
 * posterior.c - the posterior of all nodes: from a problem by way of a regression to figures.
 */
#include "solution.h"
#include "kernel/live/live_state.h"

#include <float.h>

#define EXPLAINED 1e-4			/* of a prior variance: less is rounding */

bool
gp_is_silent(const double *mean, int64_t n)
{
	double		most = 0.0;

	for (int64_t c = 0; c < n; c++)
		most = fmax(most, fabs(mean[c]));
	return most < GP_SILENT;
}

void
gp_posterior_finish(gp_env *env, const gp_problem *problem, const gp_targets *targets,
					const gp_solution *solution, const double *prior, gp_posterior *out)
{
	bool		values = problem->task == GP_TASK_VALUES;
	double		square = targets->unit * targets->unit;
	double		scale = solution->scale * square;
	bool		has_spread = values && !targets->flat;
	double		noise = values ? solution->noise : 0.0;

	GP_EACH(env, i, gp_items(env, out->nodes), i)
	{
		bool		has_kernel = prior[i] > 0.0;
		double	   *mean = out->mean + i * out->columns;
		/* Nodes whose labels equal their mean have no means either, but less variance. */
		bool		untold = !has_kernel || (gp_is_silent(mean, out->columns) &&
											 prior[i] - out->variance[i] <= EXPLAINED * prior[i]);

		out->variance[i] = has_kernel ? scale * (fmax(out->variance[i], 0.0) + noise) :
			scale * (solution->mean_diag + solution->noise);
		if (has_spread)
			out->variance[i] *= pow(gp_spread_at(&solution->spread,
											gp_target_value(targets, mean[0])), 2.0);
		/* The scale is what labelled nodes need, which have others around them: where the labels
		 * say little, values vary at most as the labels do, around their mean. */
		if (has_spread)
			out->variance[i] = untold ? square :
				fmin(out->variance[i], square * (1.0 + mean[0] * mean[0]));
		for (int32_t c = 0; c < out->columns; c++)
			if (!has_kernel)
				mean[c] = values ? targets->offset : 0.0;
			else if (values)
				mean[c] = gp_target_value(targets, mean[c]);
		out->no_kernel += !has_kernel;
		if (values ? has_kernel : !untold)
			continue;
		if (out->is_prior == NULL)
			out->is_prior = gp_alloc_zero(env, out->nodes, sizeof(bool));
		out->is_prior[i] = true;
	}
}

void
gp_notice_no_kernel(gp_env *env, const gp_problem *problem, const gp_posterior *out)
{
	bool		values = problem->task == GP_TASK_VALUES;

	if (out->no_kernel > 0)
		gp_notice(env, "The kernel knows nothing about them, so their variance is that of the prior.",
				  values ? "%d %s no features nearby and %s the mean of the labels" :
				  "%d %s no features nearby and %s the class frequencies",
				  out->no_kernel, out->no_kernel == 1 ? "node has" : "nodes have",
				  out->no_kernel == 1 ? "gets" : "get");
}

bool
gp_all_finite(gp_env *env, const double *x, int64_t n)
{
	bool		finite = true;

	GP_EACH(env, i, finite ? n : 0, i)
		finite = isfinite(x[i]);
	return finite;
}

gp_posterior *
gp_posterior_begin(gp_env *env, const gp_problem *problem, const gp_plan *plan,
				   gp_targets *targets)
{
	*targets = gp_targets_make(env, problem);
	gp_posterior *out = gp_alloc_zero(env, 1, sizeof(gp_posterior));
	*out = (gp_posterior) {.plan = *plan,.power = 1.0,.nodes = problem->graph->nodes,
						   .columns = targets->columns};
	if (problem->strategy != GP_STRATEGY_SQL)
	{
		out->mean = gp_alloc_values(env, (int64_t) gp_size_mul(env, out->nodes, out->columns),
									 sizeof(double));
		out->variance = gp_alloc_values(env, out->nodes, sizeof(double));
	}
	if (targets->share)
		out->prior_share = gp_alloc_zero(env, targets->columns, sizeof(double));
	for (int32_t c = 0; c < gp_items(env, targets->share ? targets->columns : 0); c++)
		out->prior_share[c] = targets->share[c];
	return out;
}

void
gp_posterior_end(gp_device *dev, const gp_problem *problem, gp_targets *targets,
				 gp_solution *solution, gp_posterior *out)
{
	gp_env	   *env = dev->env;
	bool		has_no_regression = isnan(solution->nugget);

	out->nugget = solution->nugget;
	out->mean_diag = solution->mean_diag;
	out->scale = has_no_regression ? 1.0 : solution->scale * targets->unit * targets->unit;
	out->offset = has_no_regression ? 0.0 : targets->offset;
	out->least = targets->least;
	out->log_marginal_likelihood = solution->log_marginal_likelihood;
	/* Refuse NaN and infinity. */
	bool		finite = isfinite(out->scale) &&
		(isfinite(out->log_marginal_likelihood) || has_no_regression ||
		 out->plan.strategy == GP_STRATEGY_PRECISION);
	if (!env->dry && !problem->loo_only &&
		(!finite || !gp_all_finite(env, out->variance, out->variance ? out->nodes : 0) ||
		 !gp_all_finite(env, out->mean, out->mean ? out->nodes * out->columns : 0)))
		gp_raise(env, GP_ERR_RANGE, "Scale the features and the target to ordinary sizes.",
				 "the posterior is out of range");
	gp_figures(dev, problem, targets, solution, out);
	if (!has_no_regression && !env->dry)
		gp_notice_worth(dev, problem, targets, out);
	gp_solution_free(dev, solution);
	gp_targets_free(env, targets);
}

void
gp_posterior_free(gp_env *env, gp_posterior *posterior)
{
	if (posterior == NULL)
		return;
	gp_free_all(env, posterior->mean, posterior->variance, posterior->prior_share,
				posterior->calibrator.bias, posterior->loo.mean, posterior->loo.variance,
				posterior->loo.nonconformity, posterior->loo.nonconformity_class,
				posterior->forward, posterior->is_prior, posterior->landmark);
	gp_state_free(posterior->state);
	gp_free(env, posterior);
}

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
