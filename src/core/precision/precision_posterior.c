/*
 * precision_posterior.c - the posterior of Laplacian kernels by conjugate gradients, without a
 * factor.
 */
#include "precision_fit.h"

#include "graph/laplacian.h"

#include <float.h>

#define REFINE 1				/* nuggets between those of whole decades */
#define SMALLEST_MEAN 1e-28		/* of the prior's diagonal */

/* The regression's figures at the nugget in hand, in the form that all strategies share. */
static gp_solution
solution_of(gp_precision_fit *f, double nugget)
{
	int64_t		m = f->problem->nlabelled;
	gp_solution out = {.nugget = nugget, .noise = f->noise, .mean_diag = f->mean_diag};
	double		quadratic = 0.0;

	out.loo_mean = f->loo;
	out.loo_variance = gp_alloc_array(f->env, m, sizeof(double));
	GP_EACH(f->env, e, gp_items(f->env, m * f->targets->columns), e)
		quadratic += f->targets->y[e] * (f->targets->y[e] - f->fitted[e]) / f->noise;
	/* log det (K(t,t) + e I) is not at hand without a factor. */
	gp_solution_scale(f->env, f->targets, quadratic, NAN, &out);
	for (int64_t k = 0; k < m && !f->env->dry; k++)
		out.loo_variance[k] = out.scale * f->noise / (1.0 - gp_precision_leverage(f, k));
	gp_solution_spread(f->env, f->problem, f->targets, NULL, m, &out);
	return out;
}

bool
gp_precision_serves(gp_env *env, const gp_problem *problem)
{
	bool		possible = gp_program_is_laplacian(problem->program);

	if (problem->strategy == GP_STRATEGY_PRECISION && !possible)
		gp_raise(env, GP_ERR_VALUE,
				 "Use kernel => 'laplacian(sigma2=10, d=2)', or another strategy.",
				 "strategy precision serves laplacian kernels without dims only");
	return problem->strategy == GP_STRATEGY_PRECISION ||
		(possible && problem->strategy == GP_STRATEGY_AUTO && problem->nlandmarks == 0 &&
		 !(problem->shared && problem->shared->x) &&
		 !gp_laplacian_root_fits(env, problem->graph, problem->estimate_limit));
}

/* Sets the prior: that of the program, or the one that leave-one-out likes best; returns the nugget
 * where that is known. */
static double
set_prior(gp_precision_fit *f, const gp_plan *plan)
{
	double		nugget = f->problem->nugget;
	bool		open = f->problem->program->open_prior;
	bool		poor = f->targets->few || f->targets->flat;
	double		sigma2 = f->problem->program->input.p[GP_LAPLACIAN_SIGMA2];
	int			d = (int) f->problem->program->input.p[GP_LAPLACIAN_D];

	if (open)
	{
		gp_prior_choice all = gp_precision_choose_on(f, plan);
		gp_prior_score best = gp_prior_best(&all, nugget);

		sigma2 = best.sigma2;
		d = best.d;
		nugget = best.nugget;
	}
	gp_precision_set_targets(f, true);
	if (isnan(nugget) && f->krylov == NULL && !poor)
		gp_precision_span(f, plan, sigma2, d);
	gp_precision_set_prior(f, sigma2, d);
	if (isnan(nugget) && f->krylov)
		nugget = gp_precision_choose_nugget(f);
	if (!f->env->dry && !(f->mean_diag >= SMALLEST_MEAN))
		gp_raise(f->env, GP_ERR_RANGE, "Use a smaller sigma2 or d.",
				 "the Laplacian kernel with sigma2=%g and d=%d is too small, %g in the mean",
				 f->sigma2, f->d, f->mean_diag);
	return nugget;
}

/*
 * Variances without labels, which are not at hand: those of the posterior, but above them in
 * components whose labels all equal the mean.
 */
static double *
prior_variances(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				const int32_t *component, const double *variance)
{
	int64_t		n = problem->graph->nodes;
	double	   *prior = gp_alloc_values(env, n, sizeof(double));
	bool	   *has_mean = gp_alloc_values(env, n, sizeof(bool));

	GP_EACH(env, i, gp_items(env, n), i)
		has_mean[i] = false;
	for (int64_t k = 0; k < gp_items(env, targets->m); k++)
		has_mean[component[problem->labelled[k]]] = true;
	for (int64_t k = 0; k < gp_items(env, targets->m); k++)
		if (!gp_is_silent(targets->y + k * targets->columns, targets->columns))
			has_mean[component[problem->labelled[k]]] = false;
	GP_EACH(env, i, gp_items(env, n), i)
		prior[i] = has_mean[component[i]] ? DBL_MAX : variance[i];
	gp_free(env, has_mean);
	return prior;
}

gp_posterior *
gp_posterior_precision(gp_device *dev, const gp_problem *problem, const gp_csr *s,
					   const gp_plan *plan)
{
	gp_env	   *env = dev->env;
	gp_targets	targets;
	gp_posterior *out = gp_posterior_begin(env, problem, plan, &targets);
	gp_precision_fit f;

	gp_precision_fit_open(&f, dev, problem, &targets, s);
	double		tolerance = problem->type == GP_DOUBLE ? GP_TOLERANCE_DOUBLE :
		f.costly_products ? GP_TOLERANCE_FLOAT_COSTLY :
		problem->loo_only ? GP_TOLERANCE_COMPARED : GP_TOLERANCE_FLOAT;
	double		nugget = set_prior(&f, &out->plan);
	if (isnan(nugget))
		nugget = gp_nugget_choose(env, problem, &targets, gp_precision_nugget_error, &f,
								  GP_NUGGET_CLIMB, f.costly_products ? 0 : REFINE);
	gp_precision_set_targets(&f, false);
	f.error = 0.0;
	f.is_last = true;
	gp_precision_solve_labels(&f, nugget, tolerance, problem->loo_only ? NULL : out->mean);
	if (f.error > tolerance)
		gp_notice(env, "Use a smaller sigma2 or a larger nugget.",
				  "conjugate gradients ended after %d iterations, with an error of about %.1g",
				  GP_PRECISION_MOST, f.error);
	/* The typical error of the variances. */
	double		off = problem->loo_only ? 0.0 : gp_precision_variances(&f, out->variance);
	if (off > 0.0)
		gp_notice(env, "Means are not affected.",
				  "variances of unlabelled nodes are estimates, typically %.0f%% off", 100.0 * off);
	if (problem->program->open_prior)
	{
		out->prior_sigma2 = f.sigma2;
		out->prior_d = f.d;
	}
	out->plan.exact_diagonal = off == 0.0;
	/* Labelled nodes have the variances that leave-one-out went by. */
	for (int64_t k = 0; k < problem->nlabelled && !env->dry; k++)
		out->variance[problem->labelled[k]] = f.noise * gp_precision_leverage(&f, k);
	gp_solution	solution = solution_of(&f, nugget);
	int32_t    *component = f.component;

	f.component = NULL;
	gp_precision_fit_close(&f);
	if (!problem->loo_only)
	{
		double	   *prior = prior_variances(env, problem, &targets, component, out->variance);

		gp_posterior_finish(env, problem, &targets, &solution, prior, out);
		gp_free(env, prior);
	}
	gp_free(env, component);
	gp_posterior_end(dev, problem, &targets, &solution, out);
	return out;
}
