/*
 * test_metrics.c - ranks and the calibrated curve against plain definitions.
 */
#include "infer/regress.h"
#include "link/link_internal.h"
#include "test_env.h"

/* A small generator, so that every run sees the same cases. */
static uint64_t seed = 1;

/* AUC by all pairs of a link and a non-link. */
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

/* Average precision: at each link, the precision among all that score as high. */
static double
plain_precision(int n, const double *score, const bool *label)
{
	double		sum = 0.0;
	double		links = 0.0;

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
			links += 1.0;
		}
	return sum / links;
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
	ok(isnan(auc), "no AUC without non-links");
	gp_ranking_metrics(env, 0, score, label, &auc, &ap);
	ok(isnan(auc) && isnan(ap), "no figures of no pairs");
}

/* The derivative of the loss by one parameter (Platt's targets). */
static double
slope_of_loss(int n, const double *score, const bool *label, double a, double b, bool by_slope)
{
	double		links = 0.0;
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		links += label[i];
	for (int i = 0; i < n; i++)
	{
		double		t = label[i] ? (links + 1.0) / (links + 2.0) : 1.0 / (n - links + 2.0);
		double		p = 1.0 / (1.0 + exp(-(a + b * score[i])));

		sum += (p - t) * (by_slope ? score[i] : 1.0);
	}
	return sum / n;
}

/* The curve's gradient is zero, whatever the scores' unit. */
static void
check_curve(gp_env *env, double overlap, double unit, double origin)
{
	double		score[400];
	bool		label[400];
	double		a;
	double		b;
	char		name[120];

	for (int i = 0; i < 400; i++)
	{
		label[i] = i % 4 == 0;
		score[i] = origin + unit * (overlap * draw_unit(&seed) + label[i]);
	}
	gp_link_calibrate(env, 400, score, label, &a, &b);
	snprintf(name, sizeof(name), "the curve fits: overlap %g, unit %g, origin %g", overlap, unit,
			 origin);
	ok(b > 0.0 && fabs(slope_of_loss(400, score, label, a, b, false)) < 1e-7 &&
	   fabs(slope_of_loss(400, score, label, a, b, true)) < 1e-7 * (fabs(origin) + unit), name);
}

/* Scores that say nothing, or the contrary. */
static void
check_flat(gp_env *env)
{
	double		score[90];
	bool		label[90];
	double		a;
	double		b;

	for (int i = 0; i < 90; i++)
	{
		label[i] = i % 3 == 0;
		score[i] = 7.0;
	}
	gp_link_calibrate(env, 90, score, label, &a, &b);
	ok(b == 0.0, "equal scores have no slope");
	close_to(1.0 / (1.0 + exp(-a)), (30.0 * 31.0 / 32.0 + 60.0 / 62.0) / 90.0, 1e-12,
			 "equal scores get the share of links");
	for (int i = 0; i < 90; i++)
		score[i] = draw_unit(&seed) - label[i];
	gp_link_calibrate(env, 90, score, label, &a, &b);
	ok(b == 0.0, "scores that rank backwards have no slope");
	gp_link_calibrate(env, 0, score, label, &a, &b);
	ok(a == 0.0 && b == 0.0, "no scores give one half");
	for (int i = 0; i < 90; i++)
	{
		score[i] = draw_unit(&seed);
		label[i] = true;
	}
	gp_link_calibrate(env, 90, score, label, &a, &b);
	ok(isfinite(a) && isfinite(b) && a > 0.0, "links alone give a high probability");
	score[3] = NAN;
	gp_link_calibrate(env, 90, score, label, &a, &b);
	ok(isfinite(a) && b == 0.0, "scores that are no numbers give a finite curve");
}

/* Every allocation fails in turn. */
static void
check_faults(void)
{
	double		score[50];
	bool		label[50];
	double		auc;
	double		ap;
	volatile bool raised = true;
	volatile int faults = 0;

	for (int i = 0; i < 50; i++)
	{
		score[i] = draw_unit(&seed);
		label[i] = i % 2;
	}
	for (volatile int64_t at = 1; raised; at++)
	{
		gp_env	   *env = test_env();

		test_state(env)->fail_at = at;
		raised = test_catch(env, gp_ranking_metrics(env, 50, score, label, &auc, &ap));
		faults += raised;
		if (!raised)
			is_int(test_state(env)->live, 0, "nothing is left behind");
		test_env_close(env);
	}
	is_int(faults, 2, "each allocation can fail");
}

int
main(void)
{
	in_env(check_metrics(env, 2, 1));
	in_env(check_metrics(env, 301, 5));
	in_env(check_metrics(env, 512, 100000));
	in_env(check_metrics(env, 700, 1));
	in_env(check_small(env));
	in_env(check_curve(env, 3.0, 1.0, 0.0));
	in_env(check_curve(env, 1.5, 1e-6, 0.0));
	in_env(check_curve(env, 1.5, 1e6, -3e6));
	in_env(check_curve(env, 0.5, 1.0, 100.0));
	in_env(check_flat(env));
	check_faults();
	return done_testing();
}
