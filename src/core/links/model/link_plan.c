/*
 * link_plan.c - plans and fits of links, by the table of their methods.
 */
#include "links/search/link_predict.h"
#include "links/scores/scores.h"
#include "link_regression.h"

/* of the links of a graph of users and items lead from side to side */
#define LEAST_SIDED 0.95
#define KEEP_BYTES (3.0 * 1024 * 1024)	/* of all that is small, of each thread and beside them */
#define KEPT_MEANS 400.0		/* operations of a candidate for each landmark */
#define CANDIDATES 1000.0		/* of a node */

static const gp_method *const methods[] = {
	[GP_LINK_SCORES] = &gp_method_scores,
	[GP_LINK_PAIRS] = &gp_method_pairs,
	[GP_LINK_DEEP] = &gp_method_dgp,
	[GP_LINK_EASE] = &gp_method_ease
};

/* What the best pairs of every node take, of a model by scores or another. */
static gp_count
kept_count(const gp_device *dev, const gp_link_problem *problem, bool scores)
{
	const gp_features *x = problem->features;
	int64_t		n = problem->graph->nodes;
	double		nodes = (double) n;
	int64_t		k = problem->keep;
	int64_t		m = GP_LINK_LANDMARKS;
	int			threads = dev->room > 0 ? 1 : dev->threads;
	int32_t		powers = x ? GP_LINK_POWERS : 0;
	int32_t		width = gp_link_width(problem->graph, powers);
	double		entries = x == NULL ? 0.0 : x->csr ? (double) gp_csr_entries(x->csr) :
		(double) x->rows * (double) x->dims;
	double		e = 2.0 * (double) problem->graph->edges;
	double		frame = 64.0 * e + 172.0 * nodes +
		(problem->graph->time ? 20.0 * e + 24.0 * nodes : 0.0) +
		(x ? 20.0 * (entries + e) + 4.0 * ((double) x->dims + nodes) * powers : 0.0);
	gp_count	out = {.bytes = 3.0 * nodes * (double) k * sizeof(gp_link_row) +
		48.0 * nodes * threads};

	if (k == 0)
		return (gp_count) {0};
	/* What threads have for themselves, and the lots of a wave. */
	out.bytes += KEEP_BYTES +
		threads * (KEEP_BYTES + (double) gp_link_lot_bytes(n, scores ? width : 0, m,
														   x ? x->dims : 0, powers));
	out.bytes += threads * GP_LINK_WAVE_LOTS * (double) (gp_link_block_size(n) * k) *
		sizeof(gp_link_row);
	if (scores)
	{
		/*
		 * The frame, and the model: its features, codes, rows, and the triangle or the directions,
		 * stored and made ready.
		 */
		out.bytes += frame + 8.0 * entries +
			8.0 * GP_LINK_CODE_WORDS * nodes +
			(double) m * (24.0 * width + 4.0 * (double) m);
		out.flops = nodes * (2.0 * e * (7.0 + GP_LINK_STEPS + 3.0 * powers) + 4.0 * entries *
							 powers +
							 KEPT_MEANS * CANDIDATES * (double) m);
	}
	return out;
}

/* Adds to the plan of a fit what is kept afterwards. */
static void
add_kept(const gp_device *dev, const gp_link_problem *problem, gp_plan *plan)
{
	gp_count	kept = kept_count(dev, problem, problem->method != GP_LINK_PAIRS &&
								  problem->method != GP_LINK_DEEP);

	plan->bytes = fmax(plan->bytes, (double) dev->env->used + kept.bytes);
	plan->flops += kept.flops;
}

/* The device for a fit and what is kept afterwards. */
static gp_device *
device_for(void *arg, gp_device *planner, const gp_plan *plan)
{
	const gp_link_problem *problem = arg;
	gp_plan		all = *plan;

	add_kept(planner, problem, &all);
	return problem->device_for(problem->device_arg, planner, &all);
}

/* What methods of links read of a problem of nodes. */
static gp_problem
node_problem(const gp_link_problem *p, size_t limit)
{
	return (gp_problem) {.graph = p->graph,.features = p->features,.program = p->program,
						 .seed = p->seed,.estimate_limit = limit,
		.device_for = p->device_for ? device_for : NULL,.device_arg = (void *) p};
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
	gp_plan		plan;

	if (problem->method == GP_LINK_EASE)
		takes_items(dev->env, problem);
	*method = problem->method == GP_LINK_AUTO ? GP_LINK_SCORES : problem->method;
	plan = gp_method_plan(dev, methods[*method], &p, problem);
	add_kept(dev, problem, &plan);
	return plan;
}

gp_link_model *
gp_link_fit(gp_device *dev, const gp_link_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_problem	p = node_problem(problem, 0);
	bool		items = takes_items(env, problem);
	gp_link_model *ease = NULL;
	gp_link_model *model;

	if (problem->method != GP_LINK_AUTO)
		return gp_method_fit(dev, methods[problem->method], &p, problem);
	if (items)
	{
		size_t		limit = env->limit > 0 ? gp_limit(env) : SIZE_MAX;
		gp_problem	trial = node_problem(problem, limit);
		double		bytes = gp_method_plan(dev, &gp_method_ease, &trial, problem).bytes;

		if (bytes <= (double) limit)
			ease = gp_method_fit(dev, &gp_method_ease, &p, problem);
		else
			gp_notice(env, "Raise gnngp.memory_limit.",
					  "method ease is left out: it needs %.0f MB", ceil(bytes / 1048576.0));
	}
	model = gp_method_fit(dev, &gp_method_scores, &p, problem);
	/* The better one by how hidden links rank among their rivals. */
	if (ease && ease->metric[GP_LINK_METRIC_MRR] > model->metric[GP_LINK_METRIC_MRR])
	{
		gp_link_model_free(env, model);
		return ease;
	}
	if (ease)
		gp_link_model_free(env, ease);
	return model;
}
