/*
 * posterior.c - the whole fit: plan, kernel, regression, calibration.
 */
#include "infer_internal.h"

#include <math.h>
#include <string.h>

/* Finishes variances, and gives the prior where a node has no kernel at all. */
void
gp_posterior_finish(gp_env *env, const gp_problem *problem, const gp_targets *targets,
					const gp_solution *solution, const double *diag, gp_posterior *out)
{
	bool		values = problem->task == GP_TASK_VALUES;
	double		noise = values ? solution->noise : 0.0;
	double		unit = targets->unit;
	double		scale = solution->scale * unit * unit;
	int64_t		next = 0;

	for (int64_t i = 0; i < out->nodes; i++)
	{
		double	   *mean = out->mean + i * out->columns;

		gp_look(env, i, &next);
		out->variance[i] = scale * (fmax(out->variance[i], 0.0) + noise);
		if (values)
			mean[0] = targets->offset + unit * mean[0];
		if (diag[i] > 0.0)
			continue;
		if (out->is_prior == NULL)
			out->is_prior = gp_alloc_zero(env, out->nodes, sizeof(bool));
		out->is_prior[i] = true;
		out->no_kernel++;
		out->variance[i] = scale * (solution->mean_diag + solution->noise);
		for (int32_t c = 0; c < out->columns; c++)
			mean[c] = values ? targets->offset : 0.0;
	}
	if (out->no_kernel > 0)
		gp_notice(env, "Their variance is the prior's, so they never look sure.",
				  values ? "%d %s no features nearby and %s the mean of the labels" :
				  "%d %s no features nearby and %s the shares of the classes",
				  out->no_kernel, out->no_kernel == 1 ? "node has" : "nodes have",
				  out->no_kernel == 1 ? "gets" : "get");
}

/* Allocates the posterior's arrays. */
static gp_posterior *
posterior_create(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				 const gp_plan *plan)
{
	gp_posterior *out = gp_alloc_zero(env, 1, sizeof(gp_posterior));

	out->plan = *plan;
	out->nodes = problem->graph->nodes;
	out->columns = targets->columns;
	out->mean = gp_alloc_array(env, (int64_t) gp_size_mul(env, out->nodes, out->columns),
							   sizeof(double));
	out->variance = gp_alloc_array(env, out->nodes, sizeof(double));
	if (targets->share)
	{
		out->prior_share = gp_alloc_array(env, targets->columns, sizeof(double));
		memcpy(out->prior_share, targets->share, targets->columns * sizeof(double));
	}
	return out;
}

/* Copies the solution's figures. */
static void
copy_figures(const gp_eval *ev, const gp_targets *targets, const gp_solution *solution,
			 gp_posterior *out)
{
	out->jitter = ev->max_jitter;
	out->nugget = solution->nugget;
	out->mean_diag = solution->mean_diag;
	out->scale = solution->scale * targets->unit * targets->unit;
	out->offset = targets->offset;
	out->log_marginal_likelihood = solution->log_marginal_likelihood;
}

/* The last net: no number that is none leaves the core. */
static void
check_finite(gp_env *env, const gp_posterior *out)
{
	bool		finite = isfinite(out->scale) && isfinite(out->log_marginal_likelihood);
	int64_t		next = 0;

	for (int64_t i = 0; i < out->nodes && finite; i++)
	{
		gp_look(env, i * out->columns, &next);
		finite = isfinite(out->variance[i]);
		for (int32_t c = 0; c < out->columns; c++)
			finite = finite && isfinite(out->mean[i * out->columns + c]);
	}
	if (!finite)
		gp_raise(env, GP_ERR_RANGE, "Scale the features and the target to ordinary sizes.",
				 "the posterior is out of range");
}

/* Refuses problems that have no answer. */
static void
check_problem(gp_env *env, const gp_problem *problem)
{
	if (problem->nlabelled < 1)
		gp_raise(env, GP_ERR_DATA, NULL, "no node is labelled");
	if (problem->features && problem->features->type != problem->type)
		gp_raise(env, GP_ERR_INTERNAL, NULL, "the features are not of the problem's type");
	if (!isnan(problem->nugget) && !(problem->nugget > 0.0 && isfinite(problem->nugget)))
		gp_raise(env, GP_ERR_VALUE, NULL, "the nugget must be finite and greater than 0");
}

/* Tells what a low-rank fit did that its figures do not show. */
static void
tell_lowrank(const gp_eval *ev, const gp_plan *plan, double first_jitter)
{
	if (!plan->exact_diagonal)
		gp_notice(ev->env, "They are too small far from the landmarks; use them to rank.",
				  "variances are those of the low-rank prior");
	if (ev->max_jitter > first_jitter)
		gp_notice(ev->env, "Fewer landmarks need less.",
				  "the landmarks' covariance needed a jitter of %g of its mean diagonal",
				  ev->max_jitter);
}

/* Plans, computes and returns the posterior. */
gp_posterior *
gp_fit(gp_device *dev, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_eval		ev;
	gp_plan		plan;
	gp_targets	targets;
	gp_solution solution;
	gp_posterior *out;

	check_problem(env, problem);
	gp_eval_open(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
				 problem->type);
	if (problem->jitter > 0.0)
		ev.jitter = problem->jitter;
	plan = gp_plan_with(&ev, problem);
	if (problem->device_for)
		gp_eval_move(&ev, problem->device_for(problem->device_arg, dev, &plan));
	dev = ev.dev;
	targets = gp_targets_make(env, problem);
	out = posterior_create(env, problem, &targets, &plan);
	if (plan.strategy == GP_STRATEGY_EXACT)
		solution = gp_infer_exact(&ev, problem, &targets, &plan, out);
	else
	{
		out->landmark = gp_landmarks_choose(&ev, problem, plan.nlandmarks, &out->nlandmarks);
		solution = gp_infer_lowrank(&ev, problem, &targets, &plan, out);
		tell_lowrank(&ev, &plan, ev.jitter);
	}
	copy_figures(&ev, &targets, &solution, out);
	check_finite(env, out);
	gp_calibrate(env, problem, &targets, &solution, out);
	gp_solution_free(dev, &solution);
	gp_targets_free(env, &targets);
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
	gp_plan		plan;
	gp_eval		ev;
	gp_factor  *f = gp_factor_create(env);
	gp_targets	targets;
	gp_solution solution;
	gp_posterior *out;

	p.graph = &nodes;
	p.features = NULL;
	p.type = q.type;
	memset(&plan, 0, sizeof(plan));
	plan.strategy = GP_STRATEGY_NYSTROM;
	memset(&ev, 0, sizeof(ev));
	ev.dev = dev;
	ev.env = env;
	ev.n = q.rows;
	ev.type = q.type;
	f->npanels = 1;
	f->panel[0].p = q;
	f->panel[0].value = 1.0;
	check_problem(env, &p);
	targets = gp_targets_make(env, &p);
	out = posterior_create(env, &p, &targets, &plan);
	solution = gp_infer_panels(&ev, &p, &targets, f, NULL, out);
	copy_figures(&ev, &targets, &solution, out);
	check_finite(env, out);
	gp_calibrate(env, &p, &targets, &solution, out);
	gp_solution_free(dev, &solution);
	gp_targets_free(env, &targets);
	gp_free(env, f);
	return out;
}

/* Frees a posterior. */
void
gp_posterior_free(gp_env *env, gp_posterior *posterior)
{
	if (posterior == NULL)
		return;
	gp_free(env, posterior->mean);
	gp_free(env, posterior->variance);
	gp_free(env, posterior->prior_share);
	gp_free(env, posterior->is_prior);
	gp_free(env, posterior->landmark);
	gp_free(env, posterior);
}
