/*
 * precision_outside.c - the posterior of a fit by conjugate gradients whose shares others have worked on.
 *
 * What the graph is needed for was done by them; here are the labels, and what they say without each other.
 */
#include "precision_fit.h"

#include <math.h>

/* A posterior without numbers; settles a nugget that needs no search. */
gp_posterior *
gp_precision_open_outside(gp_env *env, gp_problem *problem)
{
	gp_plan		plan = {.strategy = GP_STRATEGY_PRECISION,.elsewhere = true};
	gp_targets	targets;
	gp_posterior *out;

	gp_problem_check(env, problem);
	targets = gp_targets_make(env, problem);
	if (isnan(problem->nugget) && (targets.few || targets.flat))
		problem->nugget = gp_nugget_choose(env, problem, &targets, NULL, NULL, GP_NUGGET_CLIMB, 0);
	out = gp_posterior_create(env, problem, &targets, &plan);
	gp_targets_free(env, &targets);
	return out;
}

/* What the labels say, and each of the others. */
static void
take_labels(gp_precision_fit *f, gp_precision_part *all)
{
	int64_t		m = f->problem->nlabelled;
	int32_t		columns = f->columns;
	gp_env	   *env = f->env;

	f->at = all->at;
	all->at = NULL;
	f->loo = gp_alloc_array(env, m, columns * sizeof(double));
	f->variance = gp_alloc_array(env, m, sizeof(double));
	f->least = gp_alloc_array(env, m, sizeof(double));
	f->alone = gp_alloc_array(env, m, sizeof(bool));
	for (int64_t k = 0; k < m; k++)
	{
		const double *figure = all->label + k * GP_PRECISION_LABEL;

		f->variance[k] = figure[0];
		f->least[k] = figure[1];
		f->alone[k] = figure[2] > 0.0;
		for (int32_t c = 0; c < columns; c++)
			f->at[k * columns + c] += all->level ? all->level[f->problem->labelled[k]] : 0.0;
	}
	gp_precision_leave_out(f, 0.0);
}

/* Finishes a posterior. */
void
gp_precision_close_outside(gp_device *dev, const gp_problem *problem, gp_precision_part *all, gp_posterior *out)
{
	gp_env	   *env = dev->env;
	const gp_precision_prior *prior = &all->prior;
	gp_targets	targets = gp_targets_make(env, problem);
	gp_precision_fit f = {.env = env,.dev = dev,.problem = problem,.targets = &targets,.y = targets.y,
		.columns = targets.columns,.sigma2 = prior->sigma2,.d = prior->d,.mean_diag = prior->mean_diag,
	.noise = prior->nugget * prior->mean_diag};

	take_labels(&f, all);
	if (prior->edge && prior->nugget < 1.0)
		gp_nugget_tell_edge(env, GP_NUGGET_MIN);
	gp_precision_finish(&f, prior->nugget, prior->error, prior->fine,
						gp_precision_probe_error(problem->seed, out->nodes, out->variance, all->apart), out);
	gp_targets_free(env, &targets);
	out->plan.strategy = problem->strategy;
}
