/*
 * baseline_check.c - compares a model with baselines: the mean of the values, the frequencies of
 * the classes, and label propagation (Zhu and Ghahramani 2002).
 *
 * In label propagation the classes of labelled nodes spread over the edges for some rounds: each
 * node takes the mean of its neighbours, and labelled nodes keep their class.
 */
#include "regression.h"

#include <stdio.h>

#define ROUNDS 10
#define FEWEST_LABELS 30		/* fewer are too few to compare models by */
#define HIDDEN 5				/* one label in so many is hidden from the propagation */
/* A loo_score below which the model gets a notice: of classes, and of values. */
#define WORTHLESS 0.02
#define LITTLE 0.1
/* A rare class has a low loo_score even where it is ranked well; this area under the curve is. */
#define RANKED 0.65
#define PAST_LITTLE 0.25		/* of loo_score is a low forward_score */
#define DOUBTFUL 0.5			/* a model with a higher loo_score is not compared */

/* One run of label propagation. */
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
 * The operator that takes the mean over the neighbours; its rows of nodes that keep their label are
 * 0.  w is the graph's symmetric matrix; the result shares its pattern. Values of NULL are all 1.
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

/* The share of the hidden labels whose class has the largest mass at their node. */
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
 * The peak of bytes in propagation: three matrices of classes, the weights and the labels' rows;
 * for a directed graph also its matrix plus the transposed one.
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

/* Compares the model with label propagation; advised: a notice has said what may help. */
static void
compare_propagation(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
					const gp_posterior *out, bool advised)
{
	spread		s = {.env = dev->env, .dev = dev, .problem = problem, .targets = targets};
	double		accuracy = out->metric[GP_METRIC_ACCURACY];
	double		found = 0.0;

	/* A comparison for a notice must not exceed the planned memory, nor fail a fit that is done. */
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

/* What may help where labels are not explained; few labels prove little about a model. */
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
 * Reports a model that explains next to nothing; false for others. With few labels the notice says
 * how many.
 */
static bool
notice_worthless(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				 const gp_posterior *out)
{
	bool		classes = problem->task == GP_TASK_CLASSES;
	double		score = out->loo_score;
	char		source[64] = "";

	/* The area is NaN where there are more than two classes. */
	if (score >= (classes ? WORTHLESS : LITTLE) ||
		(classes && out->metric[GP_METRIC_ROC_AUC] >= RANKED))
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
 * Reports a nugget at the end of the grid, which takes the labels for noise; false for others. With
 * a high score it is no flaw: classes keep their order under any shrinkage.
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

/* Reports that what other times tell, those that come before do not. */
static void
notice_past(gp_env *env, const gp_posterior *out)
{
	if (out->loo_score >= LITTLE && out->forward_score < PAST_LITTLE * out->loo_score)
		gp_notice(env, "The function gp_backtest shows each block of time.",
				  "loo_score is %.2f, but forward_score, by earlier labels alone, is %.2f",
				  out->loo_score, out->forward_score);
}

void
gp_notice_worth(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
				const gp_posterior *out)
{
	if (problem->quiet || problem->compared || isnan(out->loo_score))
		return;
	notice_past(dev->env, out);
	if (out->loo_score >= DOUBTFUL)
		return;
	bool		told = notice_worthless(dev->env, problem, targets, out) ||
		notice_noise(dev->env, problem, targets, out);

	if (problem->task == GP_TASK_CLASSES && problem->graph->start != NULL &&
		targets->ncounted >= FEWEST_LABELS)
		compare_propagation(dev, problem, targets, out, told);
}
