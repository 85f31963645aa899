/*
 * rank_classes.c - the classes of a node, the most probable first, as a fit stores them.
 */
#include "postgres.h"

#include "pg/functions/functions.h"

static int
compare_classes(const void *first, const void *second, void *unused)
{
	const gnngp_ranked_class *a = first;
	const gnngp_ranked_class *b = second;

	if (a->logit != b->logit)
		return a->logit > b->logit ? -1 : 1;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->class - b->class;
}

void
gnngp_rank_classes(gp_env *env, const gp_calibrator *calibrator, int32 n, const double *mean,
				   double variance, const double *share, bool prior, gnngp_ranked_class *rank)
{
	double		top = -INFINITY;
	double		sum = 0.0;

	for (int32 k = 0; k < n; k++)
	{
		double		logit = prior ? log(share[k]) :
			gp_logit(calibrator, k, (float) mean[k] + 0.0f, variance);

		rank[k] = (gnngp_ranked_class) {.logit = logit,.share = share[k],.class = k};
		top = Max(top, logit);
	}
	for (int32 k = 0; k < n; k++)
		sum += exp(rank[k].logit - top);
	for (int32 k = 0; k < n; k++)
		rank[k].probability = prior ? share[k] : exp(rank[k].logit - (top + log(sum)));
	gp_sort(env, rank, n, sizeof(gnngp_ranked_class), compare_classes, NULL);
}
