/*
 * comparison.c - how kernels, and powers of one, are compared, and what that takes.
 */
#include "selection.h"

gp_problem
gp_candidate_problem(const gp_device *dev, const gp_problem *problem, const gp_candidate *c)
{
	gp_problem	p = *problem;

	p.program = c->program;
	p.plan = c->is_planned ? &c->plan : NULL;
	/*
	 * Without features conjugate gradients compare as exactly as they fit, and little is left to do
	 * then.
	 */
	if (p.features == NULL && gp_precision_serves(dev->env, &p))
		return p;
	p.nlandmarks = c->landmarks;
	return gp_comparison_problem(dev, &p);
}

/* The plan of a fit, whatever it needs. */
static gp_plan
plan_of(gp_device *dev, gp_problem problem)
{
	gp_env	   *env = dev->env;
	size_t		limit = env->limit;

	/* What planning itself takes is not held against the limit, as in an estimate. */
	if (problem.estimate_limit == 0)
		problem.estimate_limit = gp_limit(env);
	env->limit = 0;
	gp_plan		plan = gp_plan_make(dev, &problem);
	env->limit = limit;
	return plan;
}

bool
gp_fit_is_long(gp_device *dev, const gp_problem *full, const gp_problem *compared)
{
	return plan_of(dev, *full).effort > fmax(GP_CHEAP_EFFORT, plan_of(dev, *compared).effort);
}

bool
gp_power_comparison(gp_device *dev, gp_problem *problem)
{
	if (!gp_power_is_open(problem) || gp_precision_serves(dev->env, problem) ||
		!gp_fit_has_factor(dev, problem))
		return false;
	*problem = gp_comparison_problem(dev, problem);
	problem->strategy = GP_STRATEGY_NYSTROM;
	return true;
}

/* Adds a comparison; one that does not fit is skipped. */
static void
add_comparison(gp_count *sum, const gp_problem *problem, const gp_plan *plan)
{
	if (problem->estimate_limit > 0 && plan->bytes > (double) problem->estimate_limit)
		return;
	sum->bytes = fmax(sum->bytes, plan->bytes);
	sum->flops += plan->flops;
	sum->effort += plan->effort;
}

gp_forecast
gp_candidates_plan(gp_device *dev, const gp_problem *problem, gp_candidate *candidates, int n)
{
	gp_forecast out = {0};
	gp_problem	full = *problem;
	gp_problem	compared;

	for (int i = 0; n > 1 && i < n; i++)
	{
		compared = gp_candidate_problem(dev, problem, &candidates[i]);
		candidates[i].plan = plan_of(dev, compared);
		candidates[i].is_planned = true;
		add_comparison(&out.before, &compared, &candidates[i].plan);
	}
	full.program = candidates[0].program;
	compared = full;
	if (n == 1 && gp_power_comparison(dev, &compared))
	{
		gp_plan		plan = plan_of(dev, compared);

		add_comparison(&out.before, &compared, &plan);
	}
	/* To plan random walks is to make them, which is most of such a fit. */
	if (problem->estimate_limit > 0 || full.program->input.kind != GP_INPUT_LAPLACIAN)
		out.full = plan_of(dev, full);
	/* What would take longer is mostly fitted as it was compared. */
	if (n > 1)
		out.full.effort = fmin(out.full.effort, out.before.effort / 2.0);
	return out;
}
