/*
 * fit_model.c - the whole fit: plan, kernel, regression, calibration.
 */
#include "fit_internal.h"

#include <math.h>

/* The same without a kernel's evaluation. */
static gp_posterior *
fit_precision(gp_device *dev, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_csr	   *s;
	gp_plan		plan;
	gp_posterior *out;

	env->progress(env, GP_PHASE_PLAN, 0, 0);
	s = gp_precision_matrix(env, problem->graph);
	plan = gp_plan_precision(dev, problem, s);
	if (problem->device_for)
		dev = problem->device_for(problem->device_arg, dev, &plan);
	out = gp_infer_precision(dev, problem, s, &plan);
	gp_csr_free(env, s);
	return out;
}

/* The same where the prior is left open and a factor serves: the choice comes first. */
static gp_posterior *
fit_open(gp_device *dev, const gp_problem *problem)
{
	gp_prior_choice all = gp_precision_choose(dev, problem);
	gp_prior_score best = all.tried[all.best];
	gp_program	program = *problem->program;
	gp_problem	closed = *problem;
	gp_posterior *out;

	program.input.p[GP_LAPLACIAN_SIGMA2] = best.sigma2;
	program.input.p[GP_LAPLACIAN_D] = best.d;
	closed.program = &program;
	closed.open_prior = false;
	if (all.settles_nugget && isnan(closed.nugget))
		closed.nugget = best.nugget;
	out = gp_fit(dev, &closed);
	out->prior_sigma2 = best.sigma2;
	out->prior_d = best.d;
	return out;
}

/* Plans, computes and returns the posterior. */
gp_posterior *
gp_fit(gp_device *dev, const gp_problem *problem)
{
	gp_eval		ev;
	gp_plan		plan;
	gp_posterior *out;

	gp_problem_check(dev->env, problem);
	if (problem->strategy == GP_STRATEGY_SQL)
		gp_raise(dev->env, GP_ERR_UNSUPPORTED, "Use strategy => 'auto'.", "strategy sql is gp_fit's alone");
	if (gp_precision_serves(dev->env, problem))
		return fit_precision(dev, problem);
	if (problem->open_prior)
		return fit_open(dev, problem);
	dev->env->progress(dev->env, GP_PHASE_PLAN, 0, 0);
	gp_eval_open_to_plan(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
						 problem->type, problem->estimate_limit);
	if (problem->jitter > 0.0)
		ev.jitter = problem->jitter;
	plan = gp_plan_with(&ev, problem);
	if (problem->device_for)
		gp_eval_move(&ev, problem->device_for(problem->device_arg, dev, &plan));
	gp_eval_fulfil(&ev);
	out = gp_infer(&ev, problem, &plan);
	gp_eval_close(&ev);
	return out;
}

/* The posterior from a dense factor. */
gp_posterior *
gp_fit_factor(gp_device *dev, const gp_problem *problem, gp_matrix q)
{
	gp_env	   *env = dev->env;
	gp_graph	nodes = {.nodes = q.rows};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM};
	gp_eval		ev = {.dev = dev, .env = env, .n = q.rows, .type = q.type};
	gp_factor  *f = gp_factor_create(env);
	gp_targets	targets;
	gp_solution solution;
	gp_posterior *out;

	p.graph = &nodes;
	p.features = NULL;
	p.type = q.type;
	f->npanels = 1;
	f->panel[0].p = q;
	f->panel[0].value = 1.0;
	gp_problem_check(env, &p);
	targets = gp_targets_make(env, &p);
	out = gp_posterior_create(env, &p, &targets, &plan);
	solution = gp_infer_panels(&ev, &p, &targets, f, NULL, out);
	gp_posterior_tell(env, &p, out);
	gp_posterior_settle(&ev, &p, &targets, &solution, out);
	gp_solution_free(dev, &solution);
	gp_targets_free(env, &targets);
	gp_free(env, f);
	return out;
}
