/*
 * test_metrics.c - logistic regression against SciPy, and the calibrated curve against its definition.
 */
#include "links/model/logistic.h"
#include "links/links_internal.h"
#include "test_env.h"

/* A small generator, so that every run sees the same cases. */
static uint64_t seed = 1;

/* The derivative of the loss by one parameter (Platt's targets): the logit at 0, and both slopes. */
static double
slope_of_loss(int n, const double *score, const bool *label, const gp_link_curve *c, int by)
{
	double		links = 0.0;
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		links += label[i];
	for (int i = 0; i < n; i++)
	{
		double		t = label[i] ? (links + 1.0) / (links + 2.0) : 1.0 / (n - links + 2.0);
		double		x[] = {1.0, fmin(score[i], c->knee), fmax(score[i] - c->knee, 0.0)};

		sum += (gp_link_probability(c, score[i]) - t) * x[by];
	}
	return sum / n;
}

/* The curve's gradient is zero, whatever the scores' unit. */
static void
check_curve(gp_env *env, double overlap, double unit, double origin)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	double		score[400];
	double		weight[400];
	bool		label[400];
	double		close = 1e-5 * (fabs(origin) + unit);
	char		name[120];

	for (int i = 0; i < 400; i++)
	{
		weight[i] = 1.0;
		label[i] = i % 4 == 0;
		score[i] = origin + unit * (overlap * draw_unit(&seed) + label[i]);
	}
	gp_link_curve c = gp_link_calibrate(dev->env, 400, score, label, weight, 1.0);
	snprintf(name, sizeof(name), "the curve fits: overlap %g, unit %g, origin %g", overlap, unit,
			 origin);
	ok(c.slope > 0.0 && c.slope + c.bend >= 0.0 &&
	   fabs(slope_of_loss(400, score, label, &c, 0)) < 1e-5 &&
	   fabs(slope_of_loss(400, score, label, &c, 1)) < close &&
	   (c.slope + c.bend == 0.0 || fabs(slope_of_loss(400, score, label, &c, 2)) < close), name);
}

/* Scores that say nothing, or the contrary. */
static void
check_flat(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	double		score[90];
	double		weight[90];
	bool		label[90];

	for (int i = 0; i < 90; i++)
	{
		weight[i] = 1.0;
		label[i] = i % 3 == 0;
		score[i] = 7.0;
	}
	gp_link_curve c = gp_link_calibrate(dev->env, 90, score, label, weight, 1.0);
	ok(c.slope == 0.0 && c.bend == 0.0, "equal scores have no slope");
	close_to(1.0 / (1.0 + exp(-c.intercept)), (30.0 * 31.0 / 32.0 + 60.0 / 62.0) / 90.0, 1e-12,
			 "equal scores get the share of links");
	for (int i = 0; i < 90; i++)
		score[i] = draw_unit(&seed) - label[i];
	c = gp_link_calibrate(dev->env, 90, score, label, weight, 1.0);
	ok(c.slope == 0.0 && c.bend == 0.0, "scores that rank backwards have no slope");
	c = gp_link_calibrate(dev->env, 0, score, label, weight, 1.0);
	ok(c.intercept == 0.0 && c.slope == 0.0, "no scores give one half");
	for (int i = 0; i < 90; i++)
	{
		score[i] = draw_unit(&seed);
		label[i] = true;
	}
	c = gp_link_calibrate(dev->env, 90, score, label, weight, 1.0);
	ok(isfinite(c.slope) && c.intercept > 0.0, "links alone give a high probability");
	score[3] = NAN;
	c = gp_link_calibrate(dev->env, 90, score, label, weight, 1.0);
	ok(isfinite(c.intercept) && c.slope == 0.0, "scores that are not numbers give a finite curve");
}

/* Links of a share that stands still beyond a score do not become more probable there. */
static void
check_knee(gp_env *env)
{
	static double score[40000];
	static double weight[40000];
	static bool label[40000];

	for (int i = 0; i < 40000; i++)
	{
		weight[i] = 1.0;
		score[i] = 4.0 * draw_unit(&seed) - 4.0;
		label[i] = draw_unit(&seed) < 0.2 / (1.0 + exp(-2.0 * (score[i] + 2.0)));
	}
	gp_link_curve c = gp_link_calibrate(env, 40000, score, label, weight, 0.5);
	ok(fabs(gp_link_probability(&c, -0.1) - 0.4) < 0.04, "a curve flattens");
}

/*
 * The mode and the variances of logits by Newton's method, against SciPy 1.x:
 *
 *	X = [[1, sin(.7 r), cos(1.3 r)] for r in range(40)]; y = 1 where r r % 7 < 3 else -1; w = 1 + r % 3
 *	f = lambda b: sum(w * logaddexp(0, -y * (X @ b))) + .25 * b @ b
 *	b = minimize(f, zeros(3), jac=..., hess=h, method='trust-exact', options={'gtol': 1e-12}).x
 *	[X[r] @ solve(h(b), X[r]) for r in (0, 7, 39)]
 */
static void
check_newton(gp_env *env)
{
	static const double mode[] = {0.918569931024, 0.0901708861058, 0.200687018305};
	static const double variance[] = {0.185968549656, 0.261520026044, 0.217798389017};
	static const int row[] = {0, 7, 39};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_matrix	phi = dev->create(dev, 3, 40, GP_DOUBLE);
	double		host[3][40];
	double		weight[40];
	bool		label[40];

	for (int r = 0; r < 40; r++)
	{
		host[0][r] = 1.0;
		host[1][r] = sin(0.7 * r);
		host[2][r] = cos(1.3 * r);
		label[r] = r * r % 7 < 3;
		weight[r] = 1.0 + r % 3;
	}
	dev->upload(dev, phi, gp_matrix_wrap(host, 3, 40, GP_DOUBLE));
	gp_link_logistic l = gp_link_logistic_open(dev, phi);
	l.penalty = 0.5;
	gp_link_logistic_fit(&l, label, weight);
	for (int k = 0; k < 3; k++)
	{
		double		got;

		close_to(l.b[k], mode[k], 1e-5, "the mode is SciPy's");
		gp_link_logistic_variances(&l, row[k], 1, &got);
		close_to(got, variance[k], 1e-5, "and so is the variance of a logit");
	}
	gp_link_logistic_close(&l);
	dev->close(dev);
}

int
main(void)
{
	in_env(check_newton(env));
	in_env(check_curve(env, 3.0, 1.0, 0.0));
	in_env(check_curve(env, 1.5, 1e-6, 0.0));
	in_env(check_curve(env, 1.5, 1e6, -3e6));
	in_env(check_curve(env, 0.5, 1.0, 100.0));
	in_env(check_flat(env));
	in_env(check_knee(env));
	return done_testing();
}
