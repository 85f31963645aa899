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
#define DOUBTFUL 0.5			/* a model with a higher loo_score is not compared */
#define AHEAD 12				/* entries whose rows are fetched before they are used */

/* The peak of bytes in propagation; a directed graph's matrix is added to its transpose. */
static double
bytes_of(const gp_problem *problem)
{
	const gp_graph *graph = problem->graph;
	double		n = (double) graph->nodes;

	return 2.0 * n * problem->nclasses * sizeof(float) + 4.0 * n + (double) problem->nlabelled +
		(graph->directed ? 44.0 * (double) graph->start[graph->nodes] + 32.0 * n : 0.0);
}

/*
 * Some rounds of label propagation: now gets the classes' masses, nodes x classes.  w is the
 * graph's symmetric matrix, whose values of NULL are all 1; kept has the class of each node whose
 * label is not hidden, -1 for others.
 */
static float *
propagate(gp_env *env, const gp_csr *w, const int32_t *kept, int32_t classes)
{
	const double *weight = w->value;
	int64_t		n = (int64_t) gp_size_mul(env, w->rows, classes);
	float	   *now = gp_alloc_zero(env, n, sizeof(float));
	float	   *next = gp_alloc_zero(env, n, sizeof(float));
	int64_t		last_entry = gp_csr_entries(w) - 1;

	for (int round = 0; round <= ROUNDS; round++)
	{
		float	   *last = now;

		GP_EACH(env, i, w->rows, w->start[i] * classes)
		{
			float	   *row = next + i * classes;
			double		degree = 0.0;

			memset(row, 0, classes * sizeof(float));
			if (kept[i] >= 0)
				row[kept[i]] = 1.0f;
			for (int64_t k = w->start[i]; kept[i] < 0 && k < w->start[i + 1]; k++)
			{
				double		by = weight ? weight[k] : 1.0;
				const float *other = now + (int64_t) w->col[k] * classes;

				/* Rows of neighbours lie anywhere; those of the next node follow. */
				__builtin_prefetch(now + (int64_t) w->col[gp_min64(k + AHEAD, last_entry)] *
								   classes);
				degree += by;
				for (int32_t c = 0; c < classes; c++)
					row[c] += (float) by * other[c];
			}
			for (int32_t c = 0; c < classes && degree > 0.0; c++)
				row[c] /= (float) degree;
		}
		now = next;
		next = last;
	}
	gp_free(env, next);
	return now;
}

/* Compares the model with label propagation; advised: a notice has said what may help. */
static void
compare_propagation(gp_env *env, const gp_problem *problem, const gp_targets *targets,
					const gp_posterior *out, bool advised)
{
	const gp_graph *graph = problem->graph;
	int64_t		n = graph->nodes;
	gp_csr		own = {n, n, graph->start, graph->col, graph->weight, GP_DOUBLE, 0};
	double		accuracy = out->metric[GP_METRIC_ACCURACY];
	double		found = 0.0;
	int64_t		nhidden = 0;

	/* A comparison for a notice must not exceed the planned memory, nor fail a fit that is done. */
	if ((double) env->used + bytes_of(problem) > out->plan.bytes)
		return;
	/* Hides a part of the labels that count; which ones follows from the seed. */
	int32_t    *kept = gp_alloc_array(env, n, sizeof(int32_t));
	bool	   *hidden = gp_alloc_array(env, problem->nlabelled, sizeof(bool));
	memset(kept, 0xff, n * sizeof(int32_t));
	for (int64_t k = 0; k < problem->nlabelled; k++)
	{
		uint64_t	draw = gp_hash(problem->seed ^ gp_hash((uint64_t) problem->labelled[k]));

		hidden[k] = targets->counts[k] && draw % HIDDEN == 0;
		nhidden += hidden[k];
		if (!hidden[k])
			kept[problem->labelled[k]] = problem->label[k];
	}
	if (nhidden >= FEWEST_LABELS)
	{
		gp_csr	   *w = graph->directed ? gp_graph_symmetric(env, graph) : &own;
		float	   *mass = propagate(env, w, kept, problem->nclasses);

		/* The share of the hidden labels whose class has the largest mass at their node. */
		for (int64_t k = 0; k < problem->nlabelled; k++)
		{
			const float *row = mass + (int64_t) problem->labelled[k] * problem->nclasses;
			int32_t		best = 0;

			for (int32_t c = 1; c < problem->nclasses; c++)
				best = row[c] > row[best] ? c : best;
			found += hidden[k] && best == problem->label[k] && row[best] > 0.0f;
		}
		found /= (double) nhidden;
		gp_free(env, mass);
		if (graph->directed)
			gp_csr_free(env, w);
	}
	if (found - sqrt(found * (1.0 - found) / fmax(nhidden, 1.0)) > accuracy)
		gp_notice(env, advised ? NULL : "Fit without kernel => ..., or compare kernels with "
										"gp_tune.",
				  "ten rounds of label propagation find %.0f%% of hidden classes, this model %.0f%%",
				  100.0 * found, 100.0 * accuracy);
	gp_free_all(env, kept, hidden);
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
	if (out->loo_score >= WORTHLESS && out->forward_score < PAST_LITTLE * out->loo_score)
		gp_notice(env, "The function gp_backtest shows each block of time.",
				  "loo_score is %.2f, but forward_score, by earlier labels alone, is %.2f",
				  out->loo_score, out->forward_score);
}

void
gp_notice_worth(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				const gp_posterior *out)
{
	if (problem->quiet || problem->compared || isnan(out->loo_score))
		return;
	notice_past(env, out);
	if (out->loo_score >= DOUBTFUL)
		return;
	bool		told = notice_worthless(env, problem, targets, out) ||
		notice_noise(env, problem, targets, out);

	if (problem->task == GP_TASK_CLASSES && problem->graph->start != NULL &&
		targets->ncounted >= FEWEST_LABELS)
		compare_propagation(env, problem, targets, out, told);
}
