/*
 * compare_models.c - what models say of each label without it.
 *
 * The difference of two models' losses, label by label, has a mean and a standard error: labels
 * that are hard for both count little.  Classes lose by their likelihood: a score of means that
 * have no level of their own for each class says little where one is rare.
 */
#include "solution.h"

double
gp_loss_gain(const double *loss, const double *other, int64_t n)
{
	double		mean = 0.0;
	double		squares = 0.0;

	for (int64_t i = 0; i < n; i++)
		mean += (other[i] - loss[i]) / n;
	for (int64_t i = 0; i < n; i++)
		squares += pow(other[i] - loss[i] - mean, 2.0);
	return n > 1 && squares > 0.0 ? mean / sqrt(squares / (n - 1) / n) : 0.0;
}

double *
gp_loo_losses(gp_env *env, const gp_problem *problem, const gp_posterior *p, int64_t *n)
{
	gp_targets	t = gp_targets_make(env, problem);
	int32_t    *index = gp_loo_sample(env, &t, t.m, n);
	double	   *loss = t.few ? NULL : gp_alloc_array(env, *n, sizeof(double));
	double	   *probability = gp_alloc_array(env, t.columns, sizeof(double));

	GP_EACH(env, k, loss ? *n : 0, k * t.columns)
	{
		int64_t		i = index[k];

		if (problem->task != GP_TASK_CLASSES)
		{
			loss[k] = pow(t.y[i] - (p->loo.mean[i] - t.offset) / t.unit, 2.0);
			continue;
		}
		gp_label_probabilities(problem, &t, p, i, probability);
		loss[k] = -log(fmax(probability[problem->label[i]], 1e-300));
	}
	gp_free_all(env, probability, index);
	gp_targets_free(env, &t);
	return loss;
}

bool
gp_surely_better(gp_env *env, const gp_problem *problem, const gp_posterior *one,
				 const gp_posterior *other)
{
	int64_t		n;

	/* A plan has no scores, and no means. */
	if (!(one->loo_score > other->loo_score))
		return false;
	double	   *loss = gp_loo_losses(env, problem, one, &n);
	double	   *more = gp_loo_losses(env, problem, other, &n);
	bool		sure = loss && gp_loss_gain(loss, more, n) >= GP_SURE;
	gp_free_all(env, loss, more);
	return sure;
}
