/*
 * test_ranking.c - the area under the ROC curve and the average precision against plain definitions.
 */
#include "regression/regression.h"
#include "test_env.h"

/* A small generator, so that every run sees the same cases. */
static uint64_t seed = 1;

/* AUC by all pairs of a labelled and another. */
static double
plain_auc(int n, const double *score, const bool *label)
{
	double		won = 0.0;
	double		pairs = 0.0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (label[i] && !label[j])
			{
				pairs += 1.0;
				won += score[i] > score[j] ? 1.0 : score[i] == score[j] ? 0.5 : 0.0;
			}
	return won / pairs;
}

/* Average precision: at each labelled one, the precision among all that score as high. */
static double
plain_precision(int n, const double *score, const bool *label)
{
	double		sum = 0.0;
	double		labelled = 0.0;

	for (int i = 0; i < n; i++)
		if (label[i])
		{
			double		seen = 0.0;
			double		hits = 0.0;

			for (int j = 0; j < n; j++)
				if (score[j] >= score[i])
				{
					seen += 1.0;
					hits += label[j];
				}
			sum += hits / seen;
			labelled += 1.0;
		}
	return sum / labelled;
}

/* Random scores with ties against the definitions. */
static void
check_metrics(gp_env *env, int n, int levels)
{
	double	   *score = gp_alloc_array(env, n, sizeof(double));
	bool	   *label = gp_alloc_array(env, n, sizeof(bool));
	double		auc;
	double		ap;
	char		name[120];

	for (int i = 0; i < n; i++)
	{
		label[i] = i % 3 == 0;
		score[i] = floor(levels * (draw_unit(&seed) + 0.3 * label[i]));
	}
	gp_ranking_metrics(env, n, score, label, &auc, &ap);
	snprintf(name, sizeof(name), "AUC of %d scores on %d levels", n, levels);
	close_to(auc, plain_auc(n, score, label), 1e-12, name);
	snprintf(name, sizeof(name), "average precision of %d scores on %d levels", n, levels);
	close_to(ap, plain_precision(n, score, label), 1e-12, name);
}

/* Values known by hand, and labels that are missing. */
static void
check_small(gp_env *env)
{
	const double score[] = {0.1, 0.4, 0.35, 0.8};
	const bool	label[] = {false, false, true, true};
	const bool	all[] = {true, true, true, true};
	double		auc;
	double		ap;

	gp_ranking_metrics(env, 4, score, label, &auc, &ap);
	close_to(auc, 0.75, 1e-15, "AUC of four scores");
	close_to(ap, 5.0 / 6.0, 1e-15, "average precision of four scores");
	gp_ranking_metrics(env, 4, score, all, &auc, &ap);
	ok(isnan(auc), "no AUC without others");
	gp_ranking_metrics(env, 0, score, label, &auc, &ap);
	ok(isnan(auc) && isnan(ap), "no figures of nothing");
}

/* Every allocation fails in turn. */
static void
check_faults(void)
{
	double		score[50];
	bool		label[50];
	double		auc;
	double		ap;

	for (int i = 0; i < 50; i++)
	{
		score[i] = draw_unit(&seed);
		label[i] = i % 2;
	}
	disturb("metrics of a ranking", TEST_REFUSE, 1, 1, gp_ranking_metrics(env, 50, score, label, &auc, &ap));
}

int
main(void)
{
	in_env(check_metrics(env, 2, 1));
	in_env(check_metrics(env, 301, 5));
	in_env(check_metrics(env, 512, 100000));
	in_env(check_metrics(env, 700, 1));
	in_env(check_small(env));
	check_faults();
	return done_testing();
}
