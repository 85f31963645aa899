/*
 * ranking.c - the area under the ROC curve and the average precision.
 */
#include "numeric.h"

#include "base/sort.h"

/* A score with its label, to be sorted. */
typedef struct ranked
{
	double		score;
	bool		label;
} ranked;

/* True when x ranks before y: by falling score; what is not a number ranks last. */
static bool
ranks_before(const ranked *x, const ranked *y)
{
	return x->score > y->score || (isnan(y->score) && !isnan(x->score));
}

static int
compare_ranked(const void *a, const void *b, void *arg)
{
	return ranks_before(b, a) - ranks_before(a, b);
}

void
gp_ranking_metrics(gp_env *env, int64_t n, const double *score, const bool *label,
				   double *auc, double *average_precision)
{
	ranked	   *rank = gp_alloc_array(env, n, sizeof(ranked));
	for (int64_t i = 0; i < n; i++)
		rank[i] = (ranked) {score[i], label[i]};
	gp_sort(env, rank, n, sizeof(ranked), compare_ranked, NULL);
	double		found = 0.0;
	double		others = 0.0;
	double		area = 0.0;
	double		precision = 0.0;
	int64_t		next = 0;

	for (int64_t k = 0; k < n;)
	{
		int64_t		end = k;
		double		hits = 0.0;

		gp_poll(env, k, &next);
		while (end < n && !ranks_before(&rank[k], &rank[end]))
			hits += rank[end++].label;
		area += (end - k - hits) * (found + 0.5 * hits);
		found += hits;
		others += end - k - hits;
		precision += hits * found / (found + others);
		k = end;
	}
	*auc = found > 0.0 && others > 0.0 ? area / (found * others) : NAN;
	*average_precision = found > 0.0 && others > 0.0 ? precision / found : NAN;
	gp_free(env, rank);
}
