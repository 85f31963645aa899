/*
 * value_spread.c - how far values lie from their predictions without themselves.
 *
 * Counts and sums vary most where they are large: one width for all would hold nine in ten of them
 * and few of the large ones.  So the size of an error is a curve over the prediction (locally
 * weighted conformal prediction, Lei et al. 2018, section 5.2); a quantile of the errors in these
 * units tells how wide intervals are.
 */
#include "solution.h"

#include "base/sort.h"

#include <float.h>

#define LABELS_A_KNOT 50
#define LEAST_SIZE 0.02			/* of an error, relative to the largest */

/* The prediction of a label without itself, and its squared error over its variance. */
typedef struct predicted_label
{
	double		predicted;
	double		square;
} predicted_label;

double
gp_spread_at(const gp_spread *s, double value)
{
	int64_t		k = 0;

	if (s->n == 0)
		return 1.0;
	while (k < s->n - 1 && value >= s->knot[k + 1][0])
		k++;
	const double *low = s->knot[k];
	const double *high = s->knot[gp_min64(k + 1, s->n - 1)];
	if (value <= low[0] || value >= high[0])
		return low[1];
	return low[1] + (high[1] - low[1]) * (value - low[0]) / (high[0] - low[0]);
}

/*
 * The curve: the root mean square of the errors in bins of equal numbers of labels, except that
 * those of one prediction stay together; 1 on average over the labels.
 */
static gp_spread
fit_spread(predicted_label *label, int64_t m)
{
	gp_spread	s = {0};
	int64_t		bins = gp_min64(GP_SPREAD_KNOTS, m / LABELS_A_KNOT);
	double		whole = 0.0;
	double		largest = 0.0;
	int64_t		end = 0;

	for (int64_t k = 0; k < bins; k++)
	{
		int64_t		first = end;
		double		sum = 0.0;
		double		predicted = 0.0;

		for (end = gp_max64(first, (k + 1) * m / bins);
			 end > first && end < m && label[end].predicted == label[end - 1].predicted;)
			end++;
		for (int64_t i = first; i < end; i++)
		{
			predicted += label[i].predicted;
			sum += label[i].square;
		}
		if (end == first)
			continue;
		whole += sum / (double) m;
		s.knot[s.n][0] = predicted / (double) (end - first);
		s.knot[s.n][1] = sqrt(sum / (double) (end - first));
		largest = fmax(largest, s.knot[s.n++][1]);
	}
	if (s.n < 2 || !(whole > 0.0) || !isfinite(whole))
		return (gp_spread) {0};
	for (int64_t k = 0; k < s.n; k++)
		s.knot[k][1] = fmax(s.knot[k][1], LEAST_SIZE * largest) / sqrt(whole);
	return s;
}

void
gp_solution_spread(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				   const int32_t *index, int64_t n, gp_solution *solution)
{
	int64_t		m = targets->m;

	if (problem->task != GP_TASK_VALUES || targets->flat)
		return;
	double		least = (targets->least - targets->offset) / targets->unit;
	predicted_label *label = gp_alloc_values(env, m, sizeof(predicted_label));
	double	   *far = gp_alloc_values(env, m, sizeof(double));

	if (env->dry)
	{
		/* The sort takes as much as half of them. */
		gp_free(env, gp_alloc_values(env, m / 2, sizeof(predicted_label)));
		gp_free_all(env, label, far);
		return;
	}

	for (int64_t i = 0; i < m; i++)
	{
		double		predicted = fmax(solution->loo_mean[i], least);

		far[i] = fabs(targets->y[i] - predicted) / sqrt(fmax(solution->loo_variance[i], DBL_MIN));
		label[i] = (predicted_label) {gp_target_value(targets, predicted), far[i] * far[i]};
	}
	gp_sort(env, label, m, sizeof(predicted_label), gp_compare_double, NULL);
	solution->spread = fit_spread(label, m);
	for (int64_t i = 0; i < m; i++)
	{
		double		size = gp_spread_at(&solution->spread,
										gp_target_value(targets, solution->loo_mean[i]));

		far[i] /= size;
		solution->loo_variance[i] *= size * size;
	}

	/* Those that the scale is by, in the room of the others. */
	double	   *some = (double *) label;
	for (int64_t i = 0; i < n; i++)
		some[i] = far[index ? index[i] : i];
	gp_sort(env, some, n, sizeof(double), gp_compare_double, NULL);
	double		quantile = gp_loo_quantile(some, n, 0.9) / GP_NORMAL_90;
	gp_free_all(env, label, far);
	if (!isfinite(quantile) || !(quantile > 0.0))
		return;
	solution->scale *= quantile * quantile;
	for (int64_t i = 0; i < m; i++)
		solution->loo_variance[i] *= quantile * quantile;
}
