/*
 * method_fit.c - plans and fits of every method: the fit is run on a device that only accounts, and
 * then for good.
 */
#include "train.h"

#include "regression/regression.h"

/* A fit that is tried without being computed. */
typedef struct dry_method
{
	const gp_method *method;
	void	   *state;
} dry_method;

static void
run_dry_method(gp_device *dry, void *arg)
{
	dry_method *t = arg;
	gp_plan		none = {.strategy = GP_STRATEGY_NYSTROM};
	void	   *result = t->method->run(t->state, dry, &none);

	if (t->method->release)
		t->method->release(dry->env, result);
	else
		gp_posterior_free(dry->env, result);
}

/* Opens a method's state and plans by a copy of it. */
static gp_plan
plan_method(gp_device *dev, const gp_method *m, const gp_problem *problem, const void *options,
			void *state)
{
	gp_env	   *env = dev->env;
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM};
	dry_method	t = {m, gp_alloc(env, m->state)};
	gp_count	count;

	if (m->labels && problem->task != GP_TASK_CLASSES && !m->values)
		gp_raise(env, GP_ERR_UNSUPPORTED, "For values use a kernel that is not learnt, such as gcn.",
				 "method %s predicts classes only", m->name);
	if (m->labels && problem->nlabelled < 1)
		gp_raise(env, GP_ERR_DATA, NULL, "no node is labelled");
	m->open(state, dev, problem, options);
	env->progress(env, GP_PHASE_PLAN, 0, 0);
	do
	{
		memcpy(t.state, state, m->state);
		count = gp_dry_run(dev, run_dry_method, &t);
	} while (m->use_less_memory && !gp_plan_fits(dev, problem, &count) &&
			 m->use_less_memory(state));
	gp_free(env, t.state);
	gp_plan_set_figures(dev, problem, &count, m->what, m->hint, &plan);
	m->describe(state, &plan);
	gp_plan_add_figures(&plan);
	return plan;
}

gp_plan
gp_method_plan(gp_device *dev, const gp_method *m, const gp_problem *problem, const void *options)
{
	void	   *state = gp_alloc_zero(dev->env, 1, m->state);
	gp_plan		plan = plan_method(dev, m, problem, options, state);

	m->close(state);
	gp_free(dev->env, state);
	return plan;
}

void *
gp_method_fit(gp_device *dev, const gp_method *m, const gp_problem *problem, const void *options)
{
	void	   *state = gp_alloc_zero(dev->env, 1, m->state);
	gp_plan		plan = plan_method(dev, m, problem, options, state);

	if (problem->device_for)
		dev = problem->device_for(problem->device_arg, dev, &plan);
	void	   *out = m->run(state, dev, &plan);
	m->close(state);
	gp_free(dev->env, state);
	return out;
}
