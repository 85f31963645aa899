/*
 * test_compare_models.c - what models lose on labels that are left out, and how sure a difference is.
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

/* Classes: likelihoods of plain loops, of the labels that have another of their class. */
static void
check_classes(gp_env *env)
{
	double		mean[LABELS * CLASSES];
	int32_t		label[LABELS] = {2};
	int32_t		node[LABELS];
	bool		is_prior[LABELS] = {false};
	gp_problem	problem = {.task = GP_TASK_CLASSES, .nlabelled = LABELS, .labelled = node, .label = label, .nclasses = CLASSES};
	gp_posterior p = {.calibrator = {.delta = 0.5, .gamma = 2.0, .slope = 0.5, .variance = INFINITY}, .loo = {.n = LABELS, .mean = mean}, .is_prior = is_prior};
	int64_t		n;
	bool		right = true;

	for (int i = 0; i < LABELS; i++)
	{
		node[i] = i;
		label[i] = i == 0 ? 2 : i % 2;
		for (int c = 0; c < CLASSES; c++)
			mean[i * CLASSES + c] = 0.4 * (c == label[i]) + 0.3 * place(i * CLASSES + c);
	}
	is_prior[5] = true;
	double	   *loss = gp_loo_losses(env, &problem, &p, &n);
	ok(n == LABELS - 1, "a label without another of its class does not count");
	for (int i = 1; i < LABELS; i++)
	{
		const double *m = mean + i * CLASSES;
		double		sum = 0.0;

		for (int c = 0; c < CLASSES; c++)
			sum += exp(2.0 * (asinh(m[c]) + m[c] / 4.0));
		double		expected = i == 5 ? -log(20.0 / LABELS) :
						log(sum) - 2.0 * (asinh(m[label[i]]) + m[label[i]] / 4.0);

		right = right && fabs(loss[i - 1] - expected) < 1e-12;
	}
	ok(right, "classes lose by their likelihood, the class's share where the prior is told");
	gp_free(env, loss);
	memset(label, 0, sizeof(label));
	ok(gp_loo_losses(env, &problem, &p, &n) == NULL, "one class leaves nothing to lose");
}

/* Values in units of their spread. */
static void
check_values(gp_env *env)
{
	double		target[LABELS];
	double		mean[LABELS];
	gp_problem	problem = {.task = GP_TASK_VALUES, .nlabelled = LABELS, .target = target};
	gp_posterior p = {.loo = {.n = LABELS, .mean = mean}};
	double		level = 0.0;
	double		squares = 0.0;
	int64_t		n;
	bool		right = true;

	for (int i = 0; i < LABELS; i++)
	{
		target[i] = 1e6 * (5.0 + place(i));
		mean[i] = target[i] + 2e5 * (place(100 + i) - 0.5);
		level += target[i] / LABELS;
	}
	for (int i = 0; i < LABELS; i++)
		squares += (target[i] - level) * (target[i] - level) / LABELS;
	double	   *loss = gp_loo_losses(env, &problem, &p, &n);
	for (int i = 0; i < LABELS; i++)
		right = right && fabs(loss[i] - (target[i] - mean[i]) * (target[i] - mean[i]) / squares) < 1e-9;
	ok(n == LABELS && right, "values lose by their squared error, in any unit");
	gp_free(env, loss);
}

/* The mean over its standard error. */
static void
check_sureness(void)
{
	double		x[] = {1.0, 2.0, 3.0, 6.0};
	double		none[] = {0.0, 0.0, 0.0, 0.0};

	ok(fabs(gp_loss_gain(none, x, 4) - 3.0 / sqrt(14.0 / 3.0 / 4.0)) < 1e-12, "a mean over its standard error");
	ok(gp_loss_gain(x, x, 3) == 0.0 && gp_loss_gain(none, x, 1) == 0.0, "nothing is sure of nothing");
}

int
main(void)
{
	in_env(check_classes(env));
	in_env(check_values(env));
	check_sureness();
	return done_testing();
}
