/*
 * strategy.c - the posterior by the strategy that a plan names.
 *
 * The planner runs the same on a device that only accounts.
 */
#include "fit_internal.h"
#include "factor.h"

void
gp_notice_lowrank(const gp_eval *ev, const gp_plan *plan, double first_jitter)
{
	if (!plan->exact_diagonal)
		gp_notice(ev->env, "Variances far from the landmarks are too small; use them for ranking "
						   "only.",
				  "variances are those of the low-rank prior");
	if (plan->nlandmarks < plan->most_landmarks)
		gp_notice(ev->env, "More memory may make the model more accurate: raise gnngp.memory_limit.",
				  "%lld landmarks are used in place of %lld, which need more than gnngp.memory_limit allows",
				  (long long) plan->nlandmarks, (long long) plan->most_landmarks);
	if (ev->max_jitter > first_jitter)
		gp_notice(ev->env, "Fewer landmarks need less.",
				  "the landmarks' covariance needed a jitter of %g of its mean diagonal",
				  ev->max_jitter);
}

const char *const gp_strategy_names[GP_STRATEGIES] = {
	[GP_STRATEGY_AUTO] = "auto",
	[GP_STRATEGY_EXACT] = "exact",
	[GP_STRATEGY_NYSTROM] = "nystrom",
	[GP_STRATEGY_PRECISION] = "precision",
	[GP_STRATEGY_SQL] = "sql"
};

void
gp_notice_no_landmarks(gp_env *env, int64_t asked, const gp_posterior *out)
{
	if (asked == 0 || out->nlandmarks > 0)
		return;
	gp_notice(env, "Strategy 'nystrom' takes landmarks.",
			  "the argument landmarks has no effect: strategy %s takes none",
			  gp_strategy_names[out->plan.strategy]);
}

gp_posterior *
gp_posterior_planned(gp_eval *ev, const gp_problem *problem, const gp_plan *plan)
{
	gp_problem	p = problem->program->power == 1.0 ? *problem : gp_power_problem(problem);
	gp_targets	targets;
	gp_posterior *out = gp_posterior_begin(ev->env, problem, plan, &targets);
	bool		try_powers = plan->try_powers && !targets.few && !targets.flat;
	gp_solution solution = {0};

	ev->coarse_ppr = problem->loo_only;
	ev->implicit_terms = plan->strategy == GP_STRATEGY_NYSTROM && !plan->exact_diagonal;
	ev->stored_panel = plan->stored_panel;
	out->power = problem->program->power;
	gp_live_open(ev, problem);
	if (plan->strategy == GP_STRATEGY_EXACT)
		solution = gp_regress_exact(ev, &p, &targets, plan, out);
	else if (!try_powers)
	{
		out->landmark = gp_landmarks_choose(ev, problem, plan->nlandmarks, false,
											&out->nlandmarks);
		solution = gp_regress_lowrank(ev, &p, &targets, plan, out);
	}
	gp_notice_no_kernel(ev->env, problem, out);
	if (plan->strategy == GP_STRATEGY_NYSTROM && p.program->power == 1.0)
		gp_notice_lowrank(ev, plan, ev->jitter);
	if (try_powers)
		solution = gp_power_choose(ev, problem, &targets, out);
	out->jitter = ev->max_jitter;
	gp_live_record(ev, problem, &targets, &solution, out);
	gp_posterior_end(ev->dev, problem, &targets, &solution, out);
	gp_live_record_calibrator(ev->env, problem, out);
	return out;
}
