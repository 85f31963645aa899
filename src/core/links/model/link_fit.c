/*
 * link_fit.c - plans and fits of links, by the table of their methods.
 */
#include "links/scores/scores.h"

/* of the links of a graph of users and items lead from side to side */
#define LEAST_SIDED 0.95
#define LEAST_HIDDEN 4			/* links that say how good a fit is */

static const gp_method *const methods[] = {
	[GP_LINK_SCORES] = &gp_method_scores,
	[GP_LINK_PAIRS] = &gp_method_pairs,
	[GP_LINK_DGP] = &gp_method_dgp,
	[GP_LINK_EASE] = &gp_method_ease
};

/* What methods of links read of a problem of nodes. */
static gp_problem
node_problem(const gp_link_problem *p, size_t limit)
{
	return (gp_problem) {.graph = p->graph,.features = p->features,.program = p->program,
						 .seed = p->seed,.estimate_limit = limit,
						 .device_for = p->device_for,.device_arg = p->device_arg};
}

/* True where links lead from users to items and the method, or auto, asks for that. */
static bool
takes_items(gp_env *env, const gp_link_problem *problem)
{
	double		share = 0.0;

	if (problem->method != GP_LINK_AUTO && problem->method != GP_LINK_EASE)
		return false;
	gp_free(env, gp_link_items_find(env, problem->graph, &share));
	if (share < LEAST_SIDED && problem->method == GP_LINK_EASE)
		gp_raise(env, GP_ERR_DATA, "Method 'scores' takes any graph.",
				 "method ease needs links that lead from one side to the other, such as from users to items");
	return share >= LEAST_SIDED;
}

gp_plan
gp_link_plan_make(gp_device *dev, const gp_link_problem *problem, gp_link_method *method)
{
	gp_problem	p = node_problem(problem, problem->estimate_limit);

	if (problem->method == GP_LINK_EASE)
		takes_items(dev->env, problem);
	*method = problem->method == GP_LINK_AUTO ? GP_LINK_SCORES : problem->method;
	return gp_method_plan(dev, methods[*method], &p, problem);
}

/* The auto-encoders of a graph with two sides; NULL where the limit has no room for them. */
static gp_link_model *
fit_items(gp_device *dev, const gp_link_problem *problem)
{
	size_t		limit = dev->env->limit > 0 ? gp_limit(dev->env) : SIZE_MAX;
	gp_problem	p = node_problem(problem, limit);
	/* A plan counts the peak so far, too, which is within the limit. */
	double		bytes = gp_method_plan(dev, &gp_method_ease, &p, problem).bytes;

	if (bytes > (double) limit)
	{
		gp_notice(dev->env, "Raise gnngp.memory_limit.",
				  "method ease is left out: it needs %.0f MB", ceil(bytes / 1048576.0));
		return NULL;
	}
	p.estimate_limit = 0;
	return gp_method_fit(dev, &gp_method_ease, &p, problem);
}

gp_link_model *
gp_link_fit(gp_device *dev, const gp_link_problem *problem)
{
	gp_problem	p = node_problem(problem, 0);
	bool		automatic = problem->method == GP_LINK_AUTO;
	bool		items = takes_items(dev->env, problem);
	int64_t		hidden = 0;

	/* Scores come first: they take most of the time, and it is their plan that is announced. */
	gp_link_model *model = gp_method_fit(dev, methods[automatic ? GP_LINK_SCORES : problem->method],
										 &p, problem);
	gp_link_model *ease = automatic && items ? fit_items(dev, problem) : NULL;
	/* The better one by how hidden links rank among their rivals. */
	if (ease)
	{
		bool		better = ease->metric[GP_LINK_METRIC_MRR] > model->metric[GP_LINK_METRIC_MRR];

		gp_link_model_free(dev->env, better ? model : ease);
		model = better ? ease : model;
	}
	for (int64_t e = 0; e < model->held.n; e++)
		hidden += model->held.linked[e];
	if (hidden < LEAST_HIDDEN)
		gp_notice(dev->env, "Give more edges.",
				  "only %lld of the links could be hidden: auc and mrr are chance",
				  (long long) hidden);
	return model;
}
