/*
 * comparison.c - how kernels, and powers of one, are compared, and what that takes.
 */
#include "base/sort.h"
#include "selection.h"

gp_problem
gp_candidate_problem(gp_device *dev, const gp_problem *problem, const gp_candidate *c)
{
	gp_problem	p = *problem;

	p.program = c->program;
	p.plan = c->is_planned ? &c->plan : NULL;
	bool		sparse = gp_precision_serves(dev->env, &p);
	/*
	 * Without features conjugate gradients compare as exactly as they fit, and little is left to do
	 * then.  A kernel alone is compared with its own powers.
	 */
	if (c->is_alone ? sparse || !gp_power_is_open(&p) || !gp_fit_has_factor(dev, &p) :
		sparse && p.features == NULL)
		return p;
	p.nlandmarks = c->landmarks;
	p = gp_comparison_problem(dev, &p);
	/* Conjugate gradients have no powers. */
	if (c->is_alone)
		p.strategy = GP_STRATEGY_NYSTROM;
	return p;
}

/* The plan of a fit, whatever it needs. */
static gp_plan
plan_of(gp_device *dev, gp_problem problem)
{
	gp_env	   *env = dev->env;
	size_t		limit = env->limit;
	size_t		peak = env->peak;

	/*
	 * What planning itself takes is not held against the limit, as in an estimate, nor counted in
	 * the next plan.
	 */
	if (problem.estimate_limit == 0)
		problem.estimate_limit = gp_limit(env);
	env->limit = 0;
	gp_plan		plan = gp_plan_make(dev, &problem);
	env->limit = limit;
	env->peak = peak;
	return plan;
}

bool
gp_fit_is_long(gp_device *dev, const gp_problem *full, const gp_problem *compared)
{
	return plan_of(dev, *full).effort > fmax(GP_CHEAP_EFFORT, plan_of(dev, *compared).effort);
}

/*
 * Adds a fit in full by a power of its kernel that may be chosen; the first is shown, and of others
 * those that do not fit are left out.  Returns its effort.
 */
static double
add_fit(gp_device *dev, gp_problem problem, double power, gp_forecast *out)
{
	gp_program	program = *problem.program;
	bool		first = out->full.bytes == 0.0;

	program.power = power;
	program.open_power = false;
	problem.program = &program;
	gp_plan		plan = plan_of(dev, problem);
	if (first)
		out->full = plan;
	else if (plan.bytes > (double) problem.estimate_limit)
		return plan.effort;
	out->full.bytes = fmax(out->full.bytes, plan.bytes);
	out->least = first ? plan.bytes : fmin(out->least, plan.bytes);
	return plan.effort;
}

/*
 * The effort of the fit in full that most likely follows: of the kernel whose comparison is the
 * median, for some kernels take many times what most do; none after a first comparison that was a
 * fit in full.  effort: of all fits in full where these are planned, else NULL.
 */
static double
likely_effort(gp_device *dev, gp_problem problem, const gp_candidate *c, int n,
			  const double *effort)
{
	if (!gp_candidate_problem(dev, &problem, c).loo_only)
		return 0.0;
	gp_scored  *cheapest = gp_alloc_array(dev->env, n, sizeof(gp_scored));
	for (int i = 0; i < n; i++)
		cheapest[i] = (gp_scored) {.score = -c[i].plan.effort,.node = i};
	gp_sort(dev->env, cheapest, n, sizeof(gp_scored), gp_compare_scored, NULL);
	int			likely = cheapest[n / 2].node;
	gp_free(dev->env, cheapest);
	if (effort)
		return effort[likely];
	problem.program = c[likely].program;
	/* To plan random walks is to make them, which is most of such a fit. */
	return problem.program->input.kind != GP_INPUT_LAPLACIAN ||
		gp_precision_serves(dev->env, &problem) ? plan_of(dev, problem).effort : 0.0;
}

gp_forecast
gp_candidates_plan(gp_device *dev, const gp_problem *problem, gp_candidate *candidates, int n)
{
	bool		estimates = problem->estimate_limit > 0;
	double	   *effort = estimates ? gp_alloc_array(dev->env, n, sizeof(double)) : NULL;
	gp_forecast out = {0};

	for (int i = 0; i < n; i++)
	{
		gp_candidate *c = &candidates[i];
		gp_problem	full = *problem;
		gp_problem	compared = gp_candidate_problem(dev, problem, c);

		full.program = c->program;
		if (n > 1 || compared.loo_only)
		{
			c->plan = plan_of(dev, compared);
			c->is_planned = true;
			/* A comparison that does not fit is skipped. */
			if (compared.estimate_limit == 0 ||
				c->plan.bytes <= (double) compared.estimate_limit)
			{
				out.before.bytes = fmax(out.before.bytes, c->plan.bytes);
				out.before.flops += c->plan.flops;
				out.before.effort += c->plan.effort;
			}
		}
		if (!estimates)
			continue;
		effort[i] = add_fit(dev, full, c->program->power, &out);
		/* Conjugate gradients compare no powers. */
		if (!compared.loo_only || c->plan.nlandmarks == 0)
			continue;
		if (gp_power_is_open(&full))
			add_fit(dev, full, GP_POWER_TRIED, &out);
		if (n > 1 && full.strategy == GP_STRATEGY_AUTO)
		{
			full.strategy = GP_STRATEGY_NYSTROM;
			full.nlandmarks = c->plan.nlandmarks;
			add_fit(dev, full, c->program->power, &out);
		}
	}
	/* Any may be compared with the features in their other form. */
	if (n > 1 && problem->other)
	{
		out.before.flops += candidates[0].plan.flops;
		out.before.effort += candidates[0].plan.effort;
	}
	if (n > 1)
		out.full.effort = likely_effort(dev, *problem, candidates, n, effort);
	gp_free(dev->env, effort);
	out.full.bytes = fmax(out.full.bytes, out.before.bytes);
	out.least = fmax(out.least, out.before.bytes);
	return out;
}
