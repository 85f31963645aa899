/*
 * baseline_check.c - whether a model is worth more than what costs nothing.
 *
 * That is, the mean of the targets, or the shares of the classes and label propagation (Zhu and
 * Ghahramani 2002): the classes of labelled nodes spread over the edges for some rounds, each node
 * taking the mean of its neighbours, labelled ones keeping theirs.
 */
#include "regression.h"

#include <stdio.h>

#define ROUNDS 10
#define FEWEST_LABELS 30		/* to compare with, or to be sure */
#define HIDDEN 5				/* one label in so many is hidden from the propagation */
#define WORTHLESS 0.02			/* a loo_score that is none */
/* one of values that explains little: another kernel often explains nearly all */
#define LITTLE 0.1
#define DOUBTFUL 0.5			/* one above which nobody asks */

/* The nodes whose labels are spread. */
typedef struct spread
{
	gp_env	   *env;
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	bool	   *is_hidden;		/* of each label */
	int64_t		nhidden;
} spread;

/*
 * The mean over the neighbours; none at nodes that keep their label.  w is the graph's symmetric
 * matrix, whose places p shares; values of NULL are all 1.
 */
static gp_csr
neighbour_means(const spread *s, const gp_csr *w)
{
	gp_csr		p = {w->rows, w->cols, w->start, w->col, NULL, GP_FLOAT, gp_csr_stamp()};
	const double *weight = w->value;
	bool	   *keeps = gp_alloc_zero(s->env, w->rows, sizeof(bool));

	p.value = gp_alloc_array(s->env, gp_csr_entries(w), sizeof(float));
	for (int64_t k = 0; k < s->problem->nlabelled; k++)
		keeps[s->problem->labelled[k]] = !s->is_hidden[k];
	GP_EACH(s->env, i, w->rows, w->start[i])
	{
		double		degree = 0.0;

		for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
			degree += weight ? weight[k] : 1.0;
		for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
			gp_number_put(p.value, p.type, k, keeps[i] || degree == 0.0 ? 0.0 :
						  (weight ? weight[k] : 1.0) / degree);
	}
	gp_free(s->env, keeps);
	return p;
}

/* Writes the labels that are kept into a matrix, nodes x classes. */
static void
put_labels(const spread *s, gp_matrix f)
{
	const gp_problem *problem = s->problem;
	int32_t    *row = gp_alloc_array(s->env, problem->nlabelled, sizeof(int32_t));
	int32_t    *col = gp_alloc_array(s->env, problem->nlabelled, sizeof(int32_t));
	double	   *one = gp_alloc_array(s->env, problem->nlabelled, sizeof(double));
	int64_t		n = 0;

	for (int64_t k = 0; k < problem->nlabelled; k++)
	{
		if (s->is_hidden[k])
			continue;
		row[n] = problem->labelled[k];
		col[n] = problem->label[k];
		one[n++] = 1.0;
	}
	s->dev->fill(s->dev, f, 0.0);
	s->dev->put(s->dev, f, n, row, col, one);
	gp_free_all(s->env, row, col, one);
}

/* The share of the hidden labels that have the largest part of what came. */
static double
share_found(const spread *s, gp_matrix f)
{
	const gp_problem *problem = s->problem;
	gp_matrix	rows = gp_gather(s->dev, f, problem->labelled, problem->nlabelled);
	double	   *host = gp_download(s->dev, rows);
	int64_t		found = 0;

	GP_EACH(s->env, k, problem->nlabelled, k * f.cols)
	{
		const double *part = host + k * f.cols;
		int64_t		best = 0;

		for (int64_t c = 1; c < f.cols; c++)
			if (part[c] > part[best])
				best = c;
		found += s->is_hidden[k] && best == problem->label[k] && part[best] > 0.0;
	}
	gp_free(s->env, host);
	s->dev->destroy(s->dev, &rows);
	return (double) found / s->nhidden;
}

/* The accuracy of label propagation on the labels that are hidden from it. */
static double
propagate(const spread *s)
{
	gp_device  *dev = s->dev;
	const gp_graph *graph = s->problem->graph;
	int64_t		n = graph->nodes;
	gp_csr		own = {n, n, graph->start, graph->col, graph->weight, GP_DOUBLE, 0};
	gp_csr	   *w = graph->directed ? gp_graph_symmetric(s->env, graph) : &own;
	gp_csr		p = neighbour_means(s, w);
	gp_matrix	kept = dev->create(dev, n, s->targets->columns, GP_FLOAT);
	gp_matrix	next = dev->create(dev, n, s->targets->columns, GP_FLOAT);

	put_labels(s, kept);
	gp_matrix	now = gp_copy(dev, kept, GP_FLOAT);
	for (int round = 0; round < ROUNDS; round++)
	{
		gp_matrix	last = now;

		dev->copy(dev, next, kept);
		dev->spmm(dev, 1.0, &p, now, 1.0, next);
		now = next;
		next = last;
	}
	double		found = share_found(s, now);
	gp_destroy_all(dev, &kept, &now, &next);
	gp_free(s->env, p.value);
	if (graph->directed)
		gp_csr_free(s->env, w);
	return found;
}

/*
 * What propagation takes at most: three matrices of classes, weights, the labels' rows; of a
 * directed graph the sum of two of its matrices as well.
 */
static double
bytes_of(const spread *s)
{
	const gp_graph *graph = s->problem->graph;
	double		n = (double) graph->nodes;
	double		entries = (double) graph->start[graph->nodes];

	return 3.0 * gp_matrix_bytes(n, s->targets->columns, GP_FLOAT) +
		(graph->directed ? 48.0 : 4.0) * entries + (graph->directed ? 32.0 : 1.0) * n +
		(12.0 * s->targets->columns + 32.0) * (double) s->problem->nlabelled;
}

/* Holds the model against label propagation; advised: what may help has been said. */
static void
compare_propagation(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
					const gp_posterior *out, bool advised)
{
	spread		s = {.env = dev->env, .dev = dev, .problem = problem, .targets = targets};
	double		accuracy = out->metric[GP_METRIC_ACCURACY];
	double		found = 0.0;

	/* A fit that is done does not fail for a notice, nor take more than was planned. */
	if ((double) dev->env->used + bytes_of(&s) > out->plan.bytes)
		return;
	/* Hides a part of the labels that count; which ones follows from the seed. */
	s.is_hidden = gp_alloc_zero(s.env, problem->nlabelled, sizeof(bool));
	for (int64_t k = 0; k < problem->nlabelled; k++)
	{
		uint64_t	draw = gp_hash(problem->seed ^ gp_hash((uint64_t) problem->labelled[k]));

		s.is_hidden[k] = targets->counts[k] && draw % HIDDEN == 0;
		s.nhidden += s.is_hidden[k];
	}
	if (s.nhidden >= FEWEST_LABELS)
		found = propagate(&s);
	if (found - sqrt(found * (1.0 - found) / fmax(s.nhidden, 1.0)) > accuracy)
		gp_notice(dev->env, advised ? NULL : "Fit without kernel => ..., or compare kernels with "
											 "gp_tune.",
				  "ten rounds of label propagation find %.0f%% of hidden classes, this model %.0f%%",
				  100.0 * found, 100.0 * accuracy);
	gp_free(dev->env, s.is_hidden);
}

/* What may help where labels are not explained; few of them say little against a model, either. */
static const char *
hint_of(const gp_problem *problem, const gp_targets *targets)
{
	if (problem->graph->edges == 0)
		return targets->ncounted < FEWEST_LABELS ? "That may be chance: label more rows." :
			"Other columns, or other tables, may say more of the labels.";
	if (targets->ncounted < FEWEST_LABELS)
		return "That may be chance: label more nodes, or compare kernels with gp_tune.";
	if (problem->task != GP_TASK_CLASSES)
		return "Another kernel may explain more; compare kernels with gp_tune.";
	if (problem->features)
		return "The features may hide what the graph says: kernel => 'laplacian' leaves them out, and gp_tune compares kernels.";
	return "What the labels say may not depend on the graph; compare kernels with gp_tune.";
}

/*
 * Tells of a model that explains next to nothing; false for others. With few labels it tells what
 * that is drawn from.
 */
static bool
notice_worthless(gp_env *env, const gp_problem *problem, const gp_targets *targets, double score)
{
	bool		classes = problem->task == GP_TASK_CLASSES;
	char		source[64] = "";

	if (score >= (classes ? WORTHLESS : LITTLE))
		return false;
	if (targets->ncounted < FEWEST_LABELS)
		snprintf(source, sizeof(source), "by its %lld labels, each left out in turn, ",
				 (long long) targets->ncounted);
	if (classes)
		gp_notice(env, hint_of(problem, targets),
				  "%sthe model is hardly better than the class frequencies", source);
	else
		gp_notice(env, hint_of(problem, targets),
				  "%sthe model explains %.0f%% of the targets' variance", source,
					  fmax(100.0 * score, 0.0));
	return true;
}

/*
 * Tells of a nugget that takes the labels for noise; false for others. Where the score is high, one
 * at the end of the grid is no flaw: classes keep their order under any shrinkage.
 */
static bool
notice_noise(gp_env *env, const gp_problem *problem, const gp_targets *targets,
		   const gp_posterior *out)
{
	if (!isnan(problem->nugget) || out->nugget < GP_NUGGET_BEYOND)
		return false;
	gp_notice(env, problem->graph->edges == 0 ? hint_of(problem, targets) :
			  "Another kernel may explain more; compare kernels with gp_tune.",
			  "the kernel explains little of the labels: the nugget chosen is the largest tried, %g", GP_NUGGET_BEYOND);
	return true;
}

void
gp_notice_worth(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
			  const gp_posterior *out)
{
	if (problem->quiet || problem->compared || isnan(out->loo_score) || out->loo_score >= DOUBTFUL)
		return;
	bool		told = notice_worthless(dev->env, problem, targets, out->loo_score) ||
		notice_noise(dev->env, problem, targets, out);
	if (problem->task == GP_TASK_CLASSES && problem->graph->start != NULL &&
		targets->ncounted >= FEWEST_LABELS)
		compare_propagation(dev, problem, targets, out, told);
}
