/*
 * baseline_check.c - compares a model with baselines: the mean of the values, the frequencies of
 * the classes, and label propagation (Zhu and Ghahramani 2002).
 *
 * In label propagation the classes of labelled nodes spread over the edges for some rounds: each
 * node takes the mean of its neighbours, and labelled nodes keep their class.
 */
#include "solution.h"

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
#define DOUBTFUL 0.5			/* from here on a model is compared if that is cheap */
#define CHEAP 0.01				/* of the effort of the fit */

/*
 * The peak of bytes in propagation: its matrix, two of masses, and those of the labelled nodes; a
 * directed graph's matrix is added to its transpose.
 */
static double
bytes_of(const gp_problem *problem)
{
	const gp_graph *graph = problem->graph;
	double		n = (double) graph->nodes;
	double		m = (double) problem->nlabelled;
	double		entries = (double) graph->start[graph->nodes];

	return 2.0 * gp_matrix_bytes(n, problem->nclasses, GP_FLOAT) + 8.0 * (entries + m) + 9.0 * n +
		gp_matrix_bytes(m, problem->nclasses, GP_FLOAT) + 8.0 * m * (1.0 + problem->nclasses) +
		(graph->directed ? 52.0 * entries + 32.0 * n : 0.0);
}

/* True where propagation takes next to nothing beside the fit. */
static bool
is_cheap(const gp_problem *problem, const gp_posterior *out)
{
	const gp_graph *graph = problem->graph;
	double		entries = (double) (graph->start[graph->nodes] + problem->nlabelled);
	double		effort = 2.0 * GP_SPARSE_EFFORT * ROUNDS * entries * problem->nclasses;

	return effort <= CHEAP * out->plan.effort;
}

/* What a round multiplies with: rows of sum one, of a node that keeps its class itself alone. */
static gp_csr *
propagation_matrix(gp_env *env, const gp_csr *w, const bool *keeps, int64_t nlabelled)
{
	gp_csr	   *s = gp_csr_create(env, w->rows, w->cols, gp_csr_entries(w) + nlabelled,
									   GP_FLOAT);
	const double *weight = w->value;
	int64_t		at = 0;

	GP_EACH(env, i, w->rows, w->start[i])
	{
		double		degree = 0.0;

		for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
			degree += weight ? weight[k] : 1.0;
		for (int64_t k = w->start[i]; k < w->start[i + 1] && !keeps[i] && degree > 0.0; k++)
		{
			s->col[at] = w->col[k];
			gp_number_put(s->value, GP_FLOAT, at++, (weight ? weight[k] : 1.0) / degree);
		}
		if (keeps[i])
		{
			s->col[at] = (int32_t) i;
			gp_number_put(s->value, GP_FLOAT, at++, 1.0);
		}
		s->start[i + 1] = at;
	}
	return s;
}

/*
 * The masses of the classes at the labelled nodes after some rounds of label propagation: nlabelled
 * x classes, the caller's.  Labels are shown (1) or hidden (0).
 */
static double *
propagate(gp_device *dev, const gp_problem *problem, const double *shown)
{
	gp_env	   *env = dev->env;
	const gp_graph *graph = problem->graph;
	int64_t		n = graph->nodes;
	gp_csr		own = {n, n, graph->start, graph->col, graph->weight, GP_DOUBLE, 0};
	gp_csr	   *w = graph->directed ? gp_graph_symmetric(env, graph) : &own;
	bool	   *keeps = gp_alloc_zero(env, n, sizeof(bool));

	for (int64_t k = 0; k < problem->nlabelled; k++)
		keeps[problem->labelled[k]] = shown[k] > 0.0;
	gp_csr	   *s = propagation_matrix(env, w, keeps, problem->nlabelled);
	if (w != &own)
		gp_csr_free(env, w);
	gp_matrix	now = gp_filled(dev, n, problem->nclasses, GP_FLOAT, 0.0);
	gp_matrix	next = dev->create(dev, n, problem->nclasses, GP_FLOAT);
	dev->put(dev, now, problem->nlabelled, problem->labelled, problem->label, shown);
	for (int round = 0; round < ROUNDS; round++)
	{
		gp_matrix	last = now;

		env->progress(env, GP_PHASE_POSTERIOR, round, ROUNDS);
		dev->spmm(dev, 1.0, s, now, 0.0, next);
		now = next;
		next = last;
	}
	gp_matrix	rows = gp_gather(dev, now, problem->labelled, problem->nlabelled);
	double	   *mass = gp_download(dev, rows);
	gp_destroy_all(dev, &rows, &now, &next);
	gp_csr_free(env, s);
	gp_free(env, keeps);
	return mass;
}

/* Compares the model with label propagation; advised: a notice has said what may help. */
static void
compare_propagation(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
					gp_posterior *out, bool advised)
{
	gp_env	   *env = dev->env;
	double		accuracy = out->metric[GP_METRIC_ACCURACY];
	double		found = 0.0;
	int64_t		nhidden = 0;

	/* A comparison for a notice must not exceed the planned memory, nor fail a fit that is done. */
	if (problem->graph->edges == 0 || (double) env->used + bytes_of(problem) > out->plan.bytes)
		return;
	/* Hides a part of the labels that count; which ones follows from the seed. */
	double	   *shown = gp_alloc_array(env, problem->nlabelled, sizeof(double));
	for (int64_t k = 0; k < problem->nlabelled; k++)
	{
		uint64_t	draw = gp_hash(problem->seed ^ gp_hash((uint64_t) problem->labelled[k]));

		shown[k] = targets->counts[k] && draw % HIDDEN == 0 ? 0.0 : 1.0;
		nhidden += shown[k] == 0.0;
	}
	if (nhidden >= FEWEST_LABELS)
	{
		double	   *mass = propagate(dev, problem, shown);

		/* The share of the hidden labels whose class has the largest mass at their node. */
		for (int64_t k = 0; k < problem->nlabelled; k++)
		{
			const double *row = mass + k * problem->nclasses;
			int32_t		best = 0;

			for (int32_t c = 1; c < problem->nclasses; c++)
				best = row[c] > row[best] ? c : best;
			found += shown[k] == 0.0 && best == problem->label[k] && row[best] > 0.0;
		}
		found /= (double) nhidden;
		out->metric[GP_METRIC_PROPAGATION] = found;
		gp_free(env, mass);
	}
	if (found - sqrt(found * (1.0 - found) / fmax(nhidden, 1.0)) > accuracy)
		gp_notice(env, advised ? NULL : "Name neither kernel nor live, or compare kernels with "
										"gp_tune.",
				  "ten rounds of label propagation find %.0f%% of hidden classes, this model %.0f%%",
				  100.0 * found, 100.0 * accuracy);
	gp_free(env, shown);
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

void
gp_notice_worth(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
				gp_posterior *out)
{
	gp_env	   *env = dev->env;
	bool		is_weak = out->loo_score < DOUBTFUL;

	if (problem->quiet || problem->compared || isnan(out->loo_score))
		return;
	if (out->loo_score >= WORTHLESS && out->forward_score < PAST_LITTLE * out->loo_score)
		gp_notice(env, "The function gp_backtest shows each block of time.",
				  "loo_score is %.2f, but forward_score, by earlier labels alone, is %.2f",
				  out->loo_score, out->forward_score);
	bool		told = is_weak && (notice_worthless(env, problem, targets, out) ||
								   notice_noise(env, problem, targets, out));

	if (problem->task == GP_TASK_CLASSES && problem->graph->start != NULL &&
		targets->ncounted >= FEWEST_LABELS && (is_weak || is_cheap(problem, out)))
		compare_propagation(dev, problem, targets, out, told);
}
