/*
 * link_plan.c - what a fit of links costs, and what it leaves out for that.
 */
#include "regression/regression.h"
#include "links/links_internal.h"
#include "links/search/link_predict.h"
#include "link_regression.h"
#include "hard_negatives.h"
#include "links/scores/scores.h"

#define STEP_ENTRIES 4e6		/* that are gone through for a source */
#define LEAST_STEPS 6
#define LEAST_POWERS 3			/* of the features, where even the least steps are more than that */
#define PAIR_BYTES 128.0		/* of a pair while a fold's are scored */
#define FOLD_BYTES (24.0 * 1024 * 1024)	/* of a block's pairs, and all that is small */

/* The entries of the symmetric pattern, at most. */
static double
entries_of(const gp_graph *graph)
{
	return 2.0 * (double) graph->edges;
}

/* Steps of the Laplacian scores, fewer where they take long. */
static int32_t
choose_steps(const gp_graph *graph)
{
	double		fit = STEP_ENTRIES / (entries_of(graph) + (double) graph->nodes + 1.0);

	return (int32_t) fmax(LEAST_STEPS, fmin(fit, GP_LINK_STEPS));
}

/* The powers of A whose features are compared. */
static int32_t
choose_powers(const gp_link_problem *problem, int32_t steps)
{
	if (problem->features == NULL)
		return 0;
	return steps > LEAST_STEPS ? GP_LINK_POWERS : LEAST_POWERS;
}

/* The non-zeros of the features, and what an entry of them takes. */
static double
feature_entries(const gp_features *x)
{
	if (x == NULL)
		return 0.0;
	return x->csr ? (double) gp_csr_entries(x->csr) : (double) x->rows * (double) x->dims;
}

/* The bytes of a graph's frame. */
static double
frame_bytes(const gp_link_problem *problem, const gp_link_plan *plan)
{
	double		n = (double) problem->graph->nodes;
	double		e = entries_of(problem->graph);
	double		x = feature_entries(problem->features);
	double		dims = problem->features ? (double) problem->features->dims : 0.0;

	return 64.0 * e + 172.0 * n + (problem->graph->time ? 20.0 * e + 24.0 * n : 0.0) +
		(x > 0.0 ? 20.0 * x + 20.0 * e + 4.0 * (dims + n) * plan->powers : 0.0);
}

/* The bytes that a fold's scores take: the frame of its graph, and the columns of a block. */
static double
fold_bytes(const gp_link_problem *problem, const gp_link_plan *plan)
{
	double		n = (double) problem->graph->nodes;
	double		dims = problem->features ? (double) problem->features->dims : 0.0;
	double		block = gp_link_block_size(problem->graph->nodes);

	return frame_bytes(problem, plan) + 28.0 * n * block + 24.0 * dims * plan->powers * block;
}

double
gp_link_fold_room(const gp_link_problem *problem, const gp_link_plan *plan)
{
	double		pairs = 2.5 * (double) gp_link_fold_rows(problem->graph->edges) +
		GP_LINK_RANKED * (1 + GP_LINK_RIVALS) + GP_LINK_ASKED * GP_LINK_OTHERS;

	return fold_bytes(problem, plan) + FOLD_BYTES + PAIR_BYTES * pairs;
}

int
gp_link_folds_at_once(const gp_device *dev)
{
	return dev->room > 0 ? 1 : (int) gp_min64(dev->threads, GP_LINK_FOLDS);
}

/* The operations of the scores of one source's pairs, but for what grows with these. */
static double
column_flops(const gp_link_problem *problem, const gp_link_plan *plan)
{
	return 2.0 * entries_of(problem->graph) * (7.0 + plan->steps + 3.0 * plan->powers) +
		4.0 * feature_entries(problem->features) * plan->powers;
}

/*
 * The pairs of all folds with their scores: what is learnt from, rivals, and candidates with the
 * hidden links among them.
 */
static double
sample_bytes(const gp_link_problem *problem, const gp_link_plan *plan)
{
	double		held = (double) gp_link_fold_rows(problem->graph->edges);
	double		nodes = (double) problem->graph->nodes;
	double		others = GP_LINK_RANKED * (1.0 + fmin(GP_LINK_RIVALS, nodes)) +
		GP_LINK_ASKED * fmin(GP_LINK_OTHERS, nodes);
	double		width = gp_link_width(problem->graph, plan->powers);

	return (held / 2.0 * (problem->features ? 5.0 : 4.0) + others) * (8.0 * width + 64.0);
}

/* The graphs of all folds. */
static double
folds_bytes(const gp_link_problem *problem)
{
	return gp_link_fold_count(problem->graph->edges) *
		((problem->graph->time ? 14.0 : 6.0) * entries_of(problem->graph) +
		 8.0 * (double) problem->graph->nodes);
}

/*
 * Counts the method scores: the scores of all folds' pairs, then two regressions on the rows that
 * are learnt from, which are listed once more.
 */
static void
count_scores(const gp_link_problem *problem, int at_once, gp_link_plan *plan)
{
	double		e = entries_of(problem->graph);
	double		x = feature_entries(problem->features);
	double		dims = problem->features ? (double) problem->features->dims : 0.0;
	double		width = gp_link_width(problem->graph, plan->powers);
	double		held = (double) gp_link_fold_rows(problem->graph->edges);
	double		m = held / 2.0 * (problem->features ? 4.0 : 3.0);
	double		sources = held / 2.0 * (problem->features ? 2.3 : 1.6) + GP_LINK_RANKED + GP_LINK_ASKED;
	double		samples = sample_bytes(problem, plan) + m * (8.0 * width + 16.0) + 80.0 * held;

	plan->bytes = folds_bytes(problem) + samples + 8.0 * x + 24.0 * dims +
		(16.0 + 8.0 * GP_LINK_CODE_WORDS) * (double) problem->graph->nodes +
		fmax(at_once > 1 ? at_once * gp_link_fold_room(problem, plan) : fold_bytes(problem, plan),
			 gp_link_regression_bytes(m, width) + 4.0 * 8.0 * (m + held) +
			 fmax(gp_link_regression_bytes(m, width), fold_bytes(problem, plan)));
	plan->doubles = 2.0 * (2.0 + gp_link_fold_count(problem->graph->edges)) * 8.0 * m *
		GP_LINK_LANDMARKS * GP_LINK_LANDMARKS;
	plan->flops = sources * column_flops(problem, plan) + plan->doubles +
		3.0 * dims * e * 2.0 * (double) plan->powers;
}

/* Counts the method ease: what the folds' pairs take, and the inverse beside a fold's pattern. */
static void
count_items(gp_env *env, const gp_link_problem *problem, gp_link_plan *plan)
{
	int64_t		nodes = problem->graph->nodes;
	bool	   *item = gp_link_items_find(env, problem->graph, NULL);
	int64_t		items = 0;
	double		solves = GP_LINK_RIDGES + 1.0 + gp_link_fold_count(problem->graph->edges);
	double		smaller;

	for (int64_t i = 0; i < nodes; i++)
		items += item[i];
	gp_free(env, item);
	smaller = (double) gp_min64(items, nodes - items);
	plan->bytes = folds_bytes(problem) + sample_bytes(problem, plan) +
		20.0 * entries_of(problem->graph) +
		60.0 * (double) nodes + 6.0 * 8.0 * (double) nodes * GP_LINK_BLOCK +
		gp_link_items_bytes(smaller);
	plan->flops = plan->doubles = solves * 2.0 * smaller * smaller * smaller;
}

/* Counts the node kernel's codes: a factor of 512 columns. */
static void
count_codes(const gp_link_problem *problem, gp_link_plan *plan)
{
	double		n = (double) problem->graph->nodes;
	double		rank = fmin(512.0, n);

	plan->bytes = fmax(plan->bytes, 8.5 * n * rank + 24.0 * rank * rank +
					   16.0 * feature_entries(problem->features) +
					   24.0 * entries_of(problem->graph) + 16.0 * n);
	plan->flops += 4.0 * n * rank * rank;
}

/* The plan of a fit that scores so many folds at once. */
static gp_link_plan
plan_of(gp_device *dev, const gp_link_problem *problem, int at_once)
{
	gp_env	   *env = dev->env;
	gp_link_plan plan = {.method = problem->method == GP_LINK_AUTO ? GP_LINK_SCORES :
		problem->method};

	if (plan.method == GP_LINK_DEEP)
		return gp_link_deep_plan(dev, problem);
	if (plan.method == GP_LINK_SCORES)
	{
		plan.steps = choose_steps(problem->graph);
		plan.powers = choose_powers(problem, plan.steps);
		count_scores(problem, at_once, &plan);
	}
	else if (plan.method == GP_LINK_EASE)
		count_items(env, problem, &plan);
	else
	{
		gp_link_pairs_count(env, problem, &plan.bytes, &plan.flops);
		plan.doubles = plan.flops;
	}
	count_codes(problem, &plan);
	plan.bytes += (double) env->used;
	return plan;
}

gp_link_plan
gp_link_plan_make(gp_device *dev, const gp_link_problem *problem)
{
	gp_link_plan plan = plan_of(dev, problem, gp_link_folds_at_once(dev));
	size_t		limit = problem->estimate_limit;

	if (limit == 0 && dev->env->limit > 0)
		limit = gp_limit(dev->env);
	if (limit > 0 && plan.method == GP_LINK_SCORES && plan.bytes > (double) limit)
		return plan_of(dev, problem, 1);
	return plan;
}

#define KEEP_BYTES (3.0 * 1024 * 1024)	/* of all that is small, of each thread and beside them */
#define KEPT_MEANS 400.0		/* operations of a candidate for each landmark */
#define CANDIDATES 1000.0		/* of a node */

gp_count
gp_link_plan_keep(const gp_device *dev, const gp_link_problem *problem, const gp_link_plan *plan,
				  int64_t k)
{
	int64_t		n = problem->graph->nodes;
	double		nodes = (double) n;
	int64_t		m = GP_LINK_LANDMARKS;
	int			threads = dev->room > 0 ? 1 : dev->threads;
	bool		scores = gp_link_has_scores(plan->method);
	int32_t		width = gp_link_width(problem->graph, plan->powers);
	int64_t		dims = problem->features ? problem->features->dims : 0;
	gp_count	out = {.bytes = 3.0 * nodes * (double) k * sizeof(gp_link_row) +
		48.0 * nodes * threads};

	if (k == 0)
		return (gp_count) {0};
	/* What threads have for themselves, and the lots of a wave. */
	out.bytes += KEEP_BYTES +
		threads * (KEEP_BYTES + (double) gp_link_lot_bytes(n, scores ? width : 0, m, dims,
														   plan->powers));
	out.bytes += threads * GP_LINK_WAVE_LOTS * (double) (gp_link_block_size(n) * k) *
		sizeof(gp_link_row);
	if (scores)
	{
		/*
		 * The frame, and the model: its features, codes, rows, and the triangle or the directions,
		 * stored and made ready.
		 */
		out.bytes += frame_bytes(problem, plan) + 8.0 * feature_entries(problem->features) +
			8.0 * GP_LINK_CODE_WORDS * nodes +
			(double) m * (24.0 * width + 4.0 * (double) m);
		out.flops = nodes * (column_flops(problem, plan) + KEPT_MEANS * CANDIDATES * (double) m);
	}
	return out;
}
