/*
 * precision_choose.c - the Laplacian prior that fits a graph.
 */
#include "precision_fit.h"

#include <math.h>

#define ROUGH 1e-2				/* the error while priors are compared, */
#define ROUGH_NUGGET 1.0		/* at a nugget where little depends on it */
#define WORTH 0.002				/* of a score: a step that gains less is not followed */

/* Scores a prior with a nugget, and keeps it when it is the best so far; true when it is. */
static bool
try_prior(gp_precision_fit *f, gp_prior_choice *all, double sigma2, int d, double nugget, double tolerance)
{
	gp_prior_score *score = &all->tried[all->n];
	double		total;
	double		error;

	if (all->n == GP_PRIORS_TRIED)
		return false;
	f->env->progress(f->env, GP_PHASE_NUGGET, all->n, GP_PRIORS_TRIED);
	gp_precision_set_prior(f, sigma2, d);
	gp_precision_solve_labels(f, nugget, tolerance, NULL);
	error = gp_precision_loo_error(f, &total);
	*score = (gp_prior_score) {sigma2, d, nugget, total > 0.0 ? 1.0 - error / total : 0.0};
	all->n++;
	if (all->n > 1 && score->score < all->tried[all->best].score + WORTH)
		return false;
	all->best = all->n - 1;
	return true;
}

/* The prior and the nugget that leave-one-out likes best, one after the other. */
gp_prior_choice
gp_precision_choose_on(gp_precision_fit *f, const gp_plan *plan)
{
	gp_prior_choice all = {.n = 1, .tried[0] = {10.0, 2, GP_NUGGET_FEW, NAN}};
	double		nugget = ROUGH_NUGGET;
	double		rough = ROUGH;

	if (f->targets->few || f->targets->flat)
		return all;
	all.n = 0;
	gp_precision_set_targets(f, true);
	all.settles_nugget = f->dear;
	if (all.settles_nugget)
	{
		nugget = GP_PRECISION_NUGGET;
		rough = GP_PRECISION_ROUGH;
	}
	/* The widest prior needs the largest space. */
	gp_precision_span(f, plan, 50.0, 2);
	try_prior(f, &all, 10.0, 2, nugget, rough);
	try_prior(f, &all, 10.0, 1, nugget, rough);
	if (!try_prior(f, &all, 50.0, all.tried[all.best].d, nugget, rough))
		try_prior(f, &all, 2.0, all.tried[all.best].d, nugget, rough);
	/* A smaller nugget is the cheaper one to look at. */
	if (all.settles_nugget)
		try_prior(f, &all, all.tried[all.best].sigma2, all.tried[all.best].d, 0.1 * nugget, rough);
	return all;
}

/* The same for a problem, on a matrix of its own. */
gp_prior_choice
gp_precision_choose(gp_device *dev, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_targets	targets = gp_targets_make(env, problem);
	gp_csr	   *s = gp_precision_matrix(env, problem->graph);
	gp_plan		none = {0};
	gp_prior_choice all;
	gp_precision_fit f;

	gp_precision_fit_open(&f, dev, problem, &targets, s);
	all = gp_precision_choose_on(&f, &none);
	gp_precision_fit_close(&f);
	gp_csr_free(env, s);
	gp_free(env, f.loo);
	gp_targets_free(env, &targets);
	return all;
}
