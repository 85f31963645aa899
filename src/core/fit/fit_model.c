/*
 * fit_model.c - the whole fit: plan, kernel, regression, calibration.
 */
#include "fit_internal.h"

/* A Laplacian problem whose open prior is the one that leave-one-out likes best. */
static gp_problem
close_prior(gp_device *dev, const gp_problem *problem, gp_program *program)
{
	gp_problem	closed = *problem;

	/* As exactly as for a fit in full: powers are compared by that prior. */
	closed.loo_only = false;
	gp_prior_choice all = gp_precision_choose(dev, &closed);
	gp_prior_score best = gp_prior_best(&all, problem->nugget);

	closed.loo_only = problem->loo_only;
	*program = *problem->program;
	program->input.p[GP_LAPLACIAN_SIGMA2] = best.sigma2;
	program->input.p[GP_LAPLACIAN_D] = best.d;
	program->open_prior = false;
	closed.program = program;
	closed.nugget = best.nugget;
	return closed;
}

/* A fit with its plan: the graph's matrix for conjugate gradients, or an evaluation. */
typedef struct planned_fit
{
	gp_csr	   *s;				/* NULL: evaluated */
	bool		lent_s;
	gp_eval		ev;
	gp_plan		plan;
} planned_fit;

static void
open_to_plan(gp_device *dev, const gp_problem *problem, gp_eval *ev)
{
	gp_eval_open_with(ev, dev, problem->program, problem->graph, problem->features,
					  problem->seed, problem->type,
					  (gp_eval_options) {.shared = problem->shared,.to_plan = true,
						  .limit = problem->estimate_limit});
}

bool
gp_fit_has_factor(gp_device *dev, const gp_problem *problem)
{
	gp_problem	p = *problem;
	gp_program	program = *problem->program;
	gp_eval		ev;

	/* Random walks that are not there yet take long, and their number changes no part. */
	if (program.input.kind == GP_INPUT_LAPLACIAN)
		program.input.p[GP_LAPLACIAN_WALKS] = 1.0;
	p.program = &program;
	open_to_plan(dev, &p, &ev);
	bool		has = gp_nystrom_possible(&ev, program.nsteps - 1);
	gp_eval_close(&ev);
	return has;
}

static void
plan_fit(gp_device *dev, const gp_problem *problem, planned_fit *p)
{
	const gp_shared *shared = problem->shared;
	bool		given = gp_plan_is_given(dev, problem);

	dev->env->progress(dev->env, GP_PHASE_PLAN, 0, 0);
	p->s = NULL;
	p->lent_s = shared && shared->s;
	if (gp_precision_serves(dev->env, problem))
	{
		p->s = p->lent_s ? shared->s : gp_precision_matrix(dev->env, problem->graph);
		p->plan = given ? *problem->plan : gp_plan_precision(dev, problem, p->s);
		return;
	}
	open_to_plan(dev, problem, &p->ev);
	p->plan = given ? *problem->plan : gp_plan_of_evaluation(&p->ev, problem);
}

static void
close_planned(gp_env *env, planned_fit *p)
{
	if (p->s == NULL)
		gp_eval_close(&p->ev);
	else if (!p->lent_s)
		gp_csr_free(env, p->s);
}

gp_plan
gp_plan_make(gp_device *dev, const gp_problem *problem)
{
	planned_fit p;

	plan_fit(dev, problem, &p);
	close_planned(dev->env, &p);
	return p.plan;
}

gp_posterior *
gp_fit(gp_device *dev, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_problem	closed = *problem;
	gp_program	program;
	planned_fit p;
	gp_posterior *out = NULL;

	gp_problem_check(env, problem);
	if (problem->strategy == GP_STRATEGY_SQL)
		gp_raise(env, GP_ERR_UNSUPPORTED, "Use strategy => 'auto'.",
				 "only gp_fit takes strategy sql");
	if (problem->program->open_prior && !gp_precision_serves(env, problem))
		closed = close_prior(dev, problem, &program);
	plan_fit(dev, &closed, &p);
	if (!problem->loo_only || problem->estimate_limit == 0 ||
		p.plan.bytes <= (double) problem->estimate_limit)
	{
		/* The device is chosen once it is known what the fit takes. */
		if (problem->device_for)
			dev = problem->device_for(problem->device_arg, dev, &p.plan);
		if (p.s)
			out = gp_posterior_precision(dev, problem, p.s, &p.plan);
		else
		{
			gp_eval_move(&p.ev, dev);
			gp_eval_make_promised(&p.ev);
			out = gp_posterior_planned(&p.ev, &closed, &p.plan);
			out->prior_sigma2 = closed.program->input.p[GP_LAPLACIAN_SIGMA2];
			out->prior_d = problem->program->open_prior ?
				(int) closed.program->input.p[GP_LAPLACIAN_D] : 0;
		}
	}
	close_planned(env, &p);
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
	if (p.estimate_limit == 0)
		p.estimate_limit = dev->env->limit == 0 ? SIZE_MAX / 2 :
			gp_limit(dev->env) + (size_t) dev->room;
	return p;
}

gp_posterior *
gp_fit_factor(gp_device *dev, const gp_problem *problem, gp_matrix q)
{
	gp_graph	nodes = {.nodes = q.rows};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM};
	gp_eval		ev = {.dev = dev, .env = dev->env, .n = q.rows, .type = q.type};
	gp_factor  *factor = gp_factor_create(dev->env);
	gp_targets	targets;

	p.graph = &nodes;
	p.features = NULL;
	p.type = q.type;
	factor->npanels = 1;
	factor->panel[0].p = q;
	factor->panel[0].value = 1.0;
	gp_problem_check(dev->env, &p);
	gp_posterior *out = gp_posterior_begin(dev->env, &p, &plan, &targets);
	gp_solution solution = gp_regress_panels(&ev, &p, &targets, factor, NULL, out);
	gp_notice_no_kernel(dev->env, &p, out);
	gp_posterior_end(dev, &p, &targets, &solution, out);
	gp_free(dev->env, factor);
	return out;
}
