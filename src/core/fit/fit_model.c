/*
 * fit_model.c - the whole fit: plan, kernel, regression, calibration.
 */
#include "fit_internal.h"

/* A Laplacian problem whose open prior is the one that leave-one-out likes best. */
static gp_problem
close_prior(gp_device *dev, const gp_problem *problem, gp_program *program)
{
	gp_prior_choice all = gp_precision_choose(dev, problem);
	gp_prior_score best = all.tried[all.best];
	gp_problem	closed = *problem;

	*program = *problem->program;
	program->input.p[GP_LAPLACIAN_SIGMA2] = best.sigma2;
	program->input.p[GP_LAPLACIAN_D] = best.d;
	program->open_prior = false;
	closed.program = program;
	if (all.chooses_nugget && isnan(closed.nugget))
		closed.nugget = best.nugget;
	return closed;
}

gp_posterior *
gp_fit(gp_device *dev, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	bool		by_precision;
	gp_problem	closed = *problem;
	gp_program	program;
	gp_csr	   *s = NULL;
	gp_eval		ev;
	gp_plan		plan;
	gp_posterior *out;

	gp_problem_check(env, problem);
	if (problem->strategy == GP_STRATEGY_SQL)
		gp_raise(env, GP_ERR_UNSUPPORTED, "Use strategy => 'auto'.",
				 "only gp_fit takes strategy sql");
	by_precision = gp_precision_serves(env, problem);
	if (problem->program->open_prior && !by_precision)
		closed = close_prior(dev, problem, &program);

	/* The device is chosen once it is known what the fit takes. */
	env->progress(env, GP_PHASE_PLAN, 0, 0);
	if (by_precision)
	{
		s = gp_precision_matrix(env, problem->graph);
		plan = gp_plan_precision(dev, problem, s);
	}
	else
	{
		gp_eval_open_with(&ev, dev, closed.program, problem->graph, problem->features,
						  problem->seed, problem->type,
						  (gp_eval_options) {NULL, true, problem->estimate_limit});
		if (problem->jitter > 0.0)
			ev.jitter = problem->jitter;
		plan = gp_plan_of_evaluation(&ev, &closed);
	}
	if (problem->loo_only && problem->estimate_limit > 0 &&
		plan.bytes > (double) problem->estimate_limit)
	{
		if (by_precision)
			gp_csr_free(env, s);
		else
			gp_eval_close(&ev);
		return NULL;
	}
	if (problem->device_for)
		dev = problem->device_for(problem->device_arg, dev, &plan);

	if (by_precision)
	{
		out = gp_posterior_precision(dev, problem, s, &plan);
		gp_csr_free(env, s);
		return out;
	}
	if (problem->device_for)
		gp_eval_move(&ev, dev);
	gp_eval_make_promised(&ev);
	out = gp_posterior_planned(&ev, &closed, &plan);
	gp_eval_close(&ev);
	out->prior_sigma2 = closed.program->input.p[GP_LAPLACIAN_SIGMA2];
	out->prior_d = problem->program->open_prior ?
		(int) closed.program->input.p[GP_LAPLACIAN_D] : 0;
	return out;
}

gp_problem
gp_comparison_problem(const gp_device *dev, const gp_problem *problem)
{
	bool		laplacian = gp_program_is_laplacian(problem->program);
	gp_problem	p = *problem;

	p.loo_only = p.quiet = true;
	p.live = false;
	p.strategy = laplacian ? GP_STRATEGY_PRECISION : GP_STRATEGY_NYSTROM;
	p.estimate_limit = dev->env->limit == 0 ? SIZE_MAX / 2 :
		gp_limit(dev->env) + (size_t) dev->room;
	return p;
}

gp_posterior *
gp_fit_compared(gp_device *dev, const gp_problem *problem)
{
	gp_problem	p = gp_comparison_problem(dev, problem);

	return gp_fit(dev, &p);
}

/* Rows that are a factor themselves. */
typedef struct dense_factor
{
	gp_eval    *ev;
	gp_factor  *f;
} dense_factor;

/* The gp_regression of them. */
static gp_solution
regress_on_factor(void *arg, const gp_problem *problem, const gp_targets *targets,
				  gp_posterior *out)
{
	gp_eval    *ev = ((dense_factor *) arg)->ev;
	gp_solution solution = gp_posterior_panels(ev, problem, targets, ((dense_factor *) arg)->f,
											   NULL, out);

	gp_posterior_tell(ev->env, problem, out);
	return solution;
}

gp_posterior *
gp_fit_factor(gp_device *dev, const gp_problem *problem, gp_matrix q)
{
	gp_graph	nodes = {.nodes = q.rows};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM};
	gp_eval		ev = {.dev = dev, .env = dev->env, .n = q.rows, .type = q.type};
	dense_factor factor = {&ev, gp_factor_create(dev->env)};
	gp_posterior *out;

	p.graph = &nodes;
	p.features = NULL;
	p.type = q.type;
	factor.f->npanels = 1;
	factor.f->panel[0].p = q;
	factor.f->panel[0].value = 1.0;
	gp_problem_check(dev->env, &p);
	out = gp_posterior_make(dev, &p, &plan, regress_on_factor, &factor);
	gp_free(dev->env, factor.f);
	return out;
}
