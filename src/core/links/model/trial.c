/*
 * trial.c - what the folds say of a model.
 *
 * Each pair is scored on a graph without the links of its fold, and predicted by what the other
 * folds teach.
 */
#include "logistic.h"

gp_link_trial
gp_link_trial_open(gp_env *env, const gp_link_held *held)
{
	gp_link_trial t = {.row = gp_alloc_array(env, held->n, sizeof(gp_link_row))};

	memcpy(t.row, held->row, held->n * sizeof(gp_link_row));
	return t;
}

void
gp_link_trial_free(gp_env *env, gp_link_trial *t)
{
	for (int f = 0; f < GP_LINK_FOLDS; f++)
		gp_free(env, t->calibration[f]);
	gp_free_all(env, t->row, t->logit_on_fold, t->logit_on_whole);
}

void
gp_link_trial_rank(gp_env *env, gp_link_trial *t, const gp_link_fold *fold, int f,
				   const double *logit)
{
	int64_t		n = fold->calibration.pairs.n;

	gp_link_rivals_rank(&fold->rivals, logit, &t->ranks);
	t->calibration[f] = gp_alloc_array(env, n, sizeof(double));
	memcpy(t->calibration[f], logit + fold->rivals.pairs.n, n * sizeof(double));
}

void
gp_link_trial_take(gp_link_trial *t, const gp_link_held *held, const gp_link_fold *fold, int f,
				   gp_link_logistic *l, int64_t first, const double *logit)
{
	gp_env	   *env = l->dev->env;
	int64_t		n = fold->pairs.n;
	gp_link_row *row = t->row + held->first[f];
	double	   *variance = gp_alloc_zero(env, n, sizeof(double));

	gp_link_logistic_variances(l, first, n, variance);
	for (int64_t e = 0; e < n; e++)
	{
		row[e].score = l->logit[first + e];
		row[e].variance = variance[e];
		t->loss += gp_link_loss(e < fold->links, row[e].score);
	}
	gp_free(env, variance);
	gp_link_trial_rank(env, t, fold, f, logit);
}

void
gp_link_trial_judge(gp_env *env, const gp_link_trial *t, const gp_link_fold *fold, int folds,
					double share, gp_link_model *model)
{
	memcpy(model->held.row, t->row, model->held.n * sizeof(gp_link_row));
	model->held.ranks = t->ranks;
	gp_link_calibrate_model(env, fold, folds, t, share, model);
	gp_link_held_judge(env, model);
}
