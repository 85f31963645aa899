/*
 * calibrate.c - probabilities that mean what they say, and the figures of a fit.
 *
 * Class probabilities are softmax(b * posterior mean) with the one number b
 * fitted to the leave-one-out likelihood.  All figures are leave-one-out.
 */
#include "infer_internal.h"

#include <math.h>
#include <string.h>

#define TEMPERATURE_MIN 0.1
#define TEMPERATURE_MAX 100.0
#define BISECTIONS 24			/* to 4e-7 of log b */
#define ECE_BINS 15

/* softmax(temperature * mean); the largest exponent is taken off first. */
void
gp_probabilities(int32_t columns, const double *mean, double temperature, double *probability)
{
	double		top = mean[0];
	double		sum = 0.0;

	for (int32_t c = 1; c < columns; c++)
		top = fmax(top, mean[c]);
	for (int32_t c = 0; c < columns; c++)
	{
		probability[c] = exp(temperature * (mean[c] - top));
		sum += probability[c];
	}
	for (int32_t c = 0; c < columns; c++)
		probability[c] /= sum;
}

/*
 * The slope over b of the negative log likelihood sum_i log sum_c exp(b mu_ic) - b mu_i,y.
 * The likelihood is concave in b, so the slope has one sign change at most.
 */
static double
likelihood_slope(gp_env *env, const gp_problem *problem, const gp_targets *t, const double *mean,
				 double temperature, double *probability)
{
	double		slope = 0.0;
	int64_t		next = 0;

	for (int64_t i = 0; i < t->m; i++)
	{
		const double *row = mean + i * t->columns;

		gp_look(env, i * t->columns, &next);
		if (!t->counts[i])
			continue;
		gp_probabilities(t->columns, row, temperature, probability);
		for (int32_t c = 0; c < t->columns; c++)
			slope += probability[c] * row[c];
		slope -= row[problem->label[i]];
	}
	return slope;
}

/* The b of the largest leave-one-out likelihood, in [0.1, 100], by bisection of log b. */
static double
fit_temperature(gp_env *env, const gp_problem *problem, const gp_targets *t, const double *mean)
{
	double	   *probability = gp_alloc_array(env, t->columns, sizeof(double));
	double		low = log(TEMPERATURE_MIN);
	double		high = log(TEMPERATURE_MAX);

	for (int k = 0; k < BISECTIONS; k++)
	{
		double		middle = 0.5 * (low + high);

		if (likelihood_slope(env, problem, t, mean, exp(middle), probability) > 0.0)
			high = middle;
		else
			low = middle;
	}
	gp_free(env, probability);
	return exp(0.5 * (low + high));
}

/* The best class: ties go to the class with more labels, then to the first. */
static int32_t
best_class(const gp_targets *t, const double *mean)
{
	int32_t		best = 0;

	for (int32_t c = 1; c < t->columns; c++)
		if (mean[c] > mean[best] || (mean[c] == mean[best] && t->share[c] > t->share[best]))
			best = c;
	return best;
}

/* Sums of one calibration bin. */
typedef struct bin
{
	double		confidence;
	double		right;
} bin;

/* Accuracy, negative log likelihood and expected calibration error. */
static void
class_metrics(gp_env *env, const gp_problem *problem, const gp_targets *t, const double *mean,
			  double temperature, gp_metrics *metrics)
{
	double	   *probability = gp_alloc_array(env, t->columns, sizeof(double));
	bin			bins[ECE_BINS];
	double		right = 0.0;
	double		nll = 0.0;
	double		ece = 0.0;
	int64_t		next = 0;

	memset(bins, 0, sizeof(bins));
	for (int64_t i = 0; i < t->m; i++)
	{
		const double *row = mean + i * t->columns;
		int32_t		best;
		int			b;

		gp_look(env, i * t->columns, &next);
		if (!t->counts[i])
			continue;
		gp_probabilities(t->columns, row, temperature, probability);
		best = best_class(t, row);
		b = (int) fmin(ECE_BINS - 1, floor(probability[best] * ECE_BINS));
		bins[b].confidence += probability[best];
		bins[b].right += best == problem->label[i];
		right += best == problem->label[i];
		nll -= log(fmax(probability[problem->label[i]], 1e-300));
	}
	for (int b = 0; b < ECE_BINS; b++)
		ece += fabs(bins[b].confidence - bins[b].right);
	metrics->accuracy = right / t->ncounted;
	metrics->nll = nll / t->ncounted;
	metrics->ece = ece / t->ncounted;
	gp_free(env, probability);
}

/* R2, root mean squared error, and the share inside the 90% interval. */
static void
value_metrics(const gp_targets *t, const gp_solution *solution, gp_metrics *metrics)
{
	double		squares = 0.0;
	double		total = 0.0;
	double		inside = 0.0;

	for (int64_t i = 0; i < t->m; i++)
	{
		double		r = t->y[i] - solution->loo_mean[i];

		squares += r * r;
		total += t->y[i] * t->y[i];
		inside += fabs(r) <= GP_NORMAL_90 * sqrt(solution->loo_variance[i]);
	}
	metrics->r2 = total > 0.0 ? 1.0 - squares / total : NAN;
	metrics->rmse = t->unit * sqrt(squares / t->m);
	metrics->coverage90 = inside / t->m;
}

/* One minus the leave-one-out error relative to the error without any model. */
static double
loo_score(gp_env *env, const gp_problem *problem, const gp_targets *t, const gp_solution *solution)
{
	int64_t		n;
	int32_t    *index = gp_loo_sample(env, t, t->m, &n);
	double		total;
	double		error = gp_loo_error(problem, t, solution->loo_mean, index, n, &total);

	gp_free(env, index);
	return total > 0.0 ? 1.0 - error / total : NAN;
}

/* Temperature, leave-one-out score and metrics. */
void
gp_calibrate(gp_env *env, const gp_problem *problem, const gp_targets *targets,
			 const gp_solution *solution, gp_posterior *out)
{
	gp_metrics	none = {NAN, NAN, NAN, NAN, NAN, NAN};

	out->metrics = none;
	out->loo_score = targets->few ? NAN : loo_score(env, problem, targets, solution);
	if (problem->task == GP_TASK_VALUES)
	{
		if (!targets->few)
			value_metrics(targets, solution, &out->metrics);
		return;
	}
	if (targets->few)
	{
		out->temperature = GP_TEMPERATURE_FEW;
		gp_notice(env, "Label at least two nodes of each of two classes.",
				  "too few labels to calibrate probabilities, which are rough guesses");
		return;
	}
	out->temperature = fit_temperature(env, problem, targets, solution->loo_mean);
	class_metrics(env, problem, targets, solution->loo_mean, out->temperature, &out->metrics);
}
