/*
 * test_compare_models.c - how sure it is that one model explains labels better than another.
 */
#include <string.h>

#include "fit/fit_internal.h"
#include "test_env.h"

#define LABELS 40
#define CLASSES 3

/* Somewhere between 0 and 1, the same on every run. */
static double
place(int i)
{
	double		x = sin(i * 12.9898) * 43758.5453;

	return x - floor(x);
}

/* The error that loo_score sums, of the first label, which has no other of its class, left out: plain loops. */
static void
plain_errors(const double *mean, const int32_t *label, double *error)
{
	double		ym = 0.0;
	double		mm = 0.0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 1; i < LABELS; i++)
		{
			double		level = 0.0;

			error[i] = 0.0;
			for (int c = 0; c < CLASSES; c++)
				level += mean[i * CLASSES + c] / CLASSES;
			for (int c = 0; c < CLASSES; c++)
			{
				double		y = (c == label[i]) - 1.0 / CLASSES;
				double		m = mean[i * CLASSES + c] - level;

				ym += pass == 0 ? y * m : 0.0;
				mm += pass == 0 ? m * m : 0.0;
				error[i] += (y - ym / mm * m) * (y - ym / mm * m);
			}
		}
}

/* The mean of the differences of some errors over its standard error. */
static double
plain_gain(int first, const double *better, const double *worse)
{
	int			n = LABELS - first;
	double		mean = 0.0;
	double		squares = 0.0;

	for (int i = first; i < LABELS; i++)
		mean += (worse[i] - better[i]) / n;
	for (int i = first; i < LABELS; i++)
		squares += (worse[i] - better[i] - mean) * (worse[i] - better[i] - mean);
	return mean / sqrt(squares / (n - 1) / n);
}

/* Classes: a model that tells most of them against one that tells few. */
static void
check_classes(gp_env *env)
{
	double		good[LABELS * CLASSES];
	double		poor[LABELS * CLASSES];
	double		good_error[LABELS];
	double		poor_error[LABELS];
	int32_t		label[LABELS] = {2};
	gp_problem	problem = {.task = GP_TASK_CLASSES, .nlabelled = LABELS, .label = label, .nclasses = CLASSES};
	gp_posterior one = {.loo = {.n = LABELS, .mean = good}};
	gp_posterior other = {.loo = {.n = LABELS, .mean = poor}};
	double		gain;

	for (int i = 0; i < LABELS; i++)
	{
		label[i] = i == 0 ? 2 : i % 2;
		for (int c = 0; c < CLASSES; c++)
		{
			good[i * CLASSES + c] = 0.4 * (c == label[i]) + 0.3 * place(i * CLASSES + c);
			poor[i * CLASSES + c] = 0.02 * (c == label[i]) + 0.3 * place(1000 + i * CLASSES + c);
		}
	}
	plain_errors(good, label, good_error);
	plain_errors(poor, label, poor_error);
	gain = gp_loo_gain(env, &problem, &one, &other);
	ok(gain > 2.0, "a model that tells most classes is surely better");
	ok(fabs(gain / plain_gain(1, good_error, poor_error) - 1.0) < 1e-10, "by the standard errors of plain loops");
	ok(fabs(gain + gp_loo_gain(env, &problem, &other, &one)) < 1e-10 * gain, "the other way round it is as much worse");
	ok(gp_loo_gain(env, &problem, &one, &one) == 0.0, "no model is better than itself");
	for (int i = 0; i < LABELS * CLASSES; i++)
		good[i] = 5.0 * good[i] + 1.0;
	ok(fabs(gp_loo_gain(env, &problem, &one, &other) - gain) < 1e-9 * gain, "neither the level nor the size of class scores counts");
}

/* Values in their own unit. */
static void
check_values(gp_env *env)
{
	double		target[LABELS];
	double		good[LABELS];
	double		poor[LABELS];
	double		good_error[LABELS];
	double		poor_error[LABELS];
	gp_problem	problem = {.task = GP_TASK_VALUES, .nlabelled = LABELS, .target = target};
	gp_posterior one = {.loo = {.n = LABELS, .mean = good}};
	gp_posterior other = {.loo = {.n = LABELS, .mean = poor}};
	double		gain;

	for (int i = 0; i < LABELS; i++)
	{
		target[i] = 1e6 * (5.0 + place(i));
		good[i] = target[i] + 2e5 * (place(100 + i) - 0.5);
		poor[i] = 1e6 * (5.0 + place(200 + i));
		good_error[i] = 1e-12 * (target[i] - good[i]) * (target[i] - good[i]);
		poor_error[i] = 1e-12 * (target[i] - poor[i]) * (target[i] - poor[i]);
	}
	gain = gp_loo_gain(env, &problem, &one, &other);
	ok(gain > 2.0 && fabs(gain / plain_gain(0, good_error, poor_error) - 1.0) < 1e-8, "values: the same, in any unit");
}

int
main(void)
{
	in_env(check_classes(env));
	in_env(check_values(env));
	return done_testing();
}
