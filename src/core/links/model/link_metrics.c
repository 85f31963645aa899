/*
 * link_metrics.c - what the scores of pairs mean.
 *
 * A logistic curve says so (Platt 1999): the probability of a link is
 * 1 / (1 + exp(-(intercept + slope score))), with two parameters fitted to
 * smoothed targets, so that links and non-links that a score separates do not
 * make the curve a step.
 */
#include "links/links_internal.h"

#define NEWTON_STEPS 100
#define HALVINGS 40
#define GRADIENT 1e-9			/* of the mean loss, where Newton's steps end */
#define FLAT 1e-12				/* a relative spread of scores below this is none */

/* What the fit of the curve knows: scores in units of their spread, targets of the two labels. */
typedef struct curve
{
	gp_env	   *env;
	int64_t		n;
	const double *score;
	const bool *label;
	const double *weight;		/* NULL: 1 */
	double		total;			/* of the weights */
	double		centre;
	double		spread;
	double		target[2];		/* of a non-link, of a link */
} curve;

/* log(1 + exp(x)) without overflow. */
static double
softplus(double x)
{
	return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* What a row counts for. */
static double
weight_of(const curve *c, int64_t i)
{
	return c->weight ? c->weight[i] : 1.0;
}

/*
 * The mean loss -(t log p + (1-t) log(1-p)) at intercept w[0] and slope w[1], its
 * gradient and its Hessian (h00, h01, h11), where these are asked for.
 */
static double
curve_loss(const curve *c, const double *w, double *gradient, double *hessian)
{
	double		loss = 0.0;
	int64_t		next = 0;

	if (gradient)
		gradient[0] = gradient[1] = hessian[0] = hessian[1] = hessian[2] = 0.0;
	for (int64_t i = 0; i < c->n; i++)
	{
		double		x = (c->score[i] - c->centre) / c->spread;
		double		t = c->target[c->label[i]];
		double		f = w[0] + w[1] * x;
		double		part = weight_of(c, i) / c->total;

		gp_poll(c->env, i, &next);
		loss += part * (softplus(f) - t * f);
		if (gradient)
		{
			double		p = 1.0 / (1.0 + exp(-f));
			double		d = part * (p - t);
			double		v = part * p * (1.0 - p);

			gradient[0] += d;
			gradient[1] += d * x;
			hessian[0] += v;
			hessian[1] += v * x;
			hessian[2] += v * x * x;
		}
	}
	return loss;
}

/* Goes along a Newton step, halved until the loss falls; false when it does not. */
static bool
descend(const curve *c, double *w, double *loss, const double *step)
{
	double		part = 1.0;

	for (int k = 0; k < HALVINGS; k++, part *= 0.5)
	{
		double		at[2] = {w[0] - part * step[0], w[1] - part * step[1]};
		double		value = curve_loss(c, at, NULL, NULL);

		if (value < *loss)
		{
			w[0] = at[0];
			w[1] = at[1];
			*loss = value;
			return true;
		}
	}
	return false;
}

/* The minimum of the loss, which is convex and has one. */
static void
fit_curve(const curve *c, double *w)
{
	double		gradient[2];
	double		hessian[3];
	double		loss = curve_loss(c, w, gradient, hessian);

	for (int k = 0; k < NEWTON_STEPS; k++)
	{
		double		det;
		double		step[2];

		loss = curve_loss(c, w, gradient, hessian);
		if (fabs(gradient[0]) < GRADIENT && fabs(gradient[1]) < GRADIENT)
			return;
		hessian[0] += FLAT;
		hessian[2] += FLAT;
		det = hessian[0] * hessian[2] - hessian[1] * hessian[1];
		step[0] = (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / det;
		step[1] = (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / det;
		if (!descend(c, w, &loss, step))
			return;
	}
}

/* Mean and root mean square deviation of the scores. */
static void
measure(curve *c)
{
	double		squares = 0.0;

	c->centre = 0.0;
	for (int64_t i = 0; i < c->n; i++)
		c->centre += c->score[i] / c->n;
	for (int64_t i = 0; i < c->n; i++)
		squares += (c->score[i] - c->centre) * (c->score[i] - c->centre) / c->n;
	c->spread = sqrt(squares);
}

/*
 * Platt's curve.  The slope is not negative: scores that rank the wrong way, or
 * do not rank at all, give every pair the share of links.
 */
void
gp_link_calibrate(gp_env *env, int64_t n, const double *score, const bool *label,
				  const double *weight, double *intercept, double *slope)
{
	curve		c = {.env = env, .n = n, .score = score, .label = label,.weight = weight};
	double		links = 0.0;
	double		share;
	double		w[2];

	for (int64_t i = 0; i < n; i++)
	{
		c.total += weight_of(&c, i);
		links += label[i] ? weight_of(&c, i) : 0.0;
	}
	c.target[1] = (links + 1.0) / (links + 2.0);
	c.target[0] = 1.0 / (c.total - links + 2.0);
	share = n > 0 ? (links * c.target[1] + (c.total - links) * c.target[0]) / c.total : 0.5;
	*intercept = log(share / (1.0 - share));
	*slope = 0.0;
	measure(&c);
	if (!(c.spread > FLAT * fabs(c.centre)) || !isfinite(c.spread))
		return;
	w[0] = *intercept;
	w[1] = 0.0;
	fit_curve(&c, w);
	if (!(w[1] > 0.0) || !isfinite(w[1] / c.spread) || !isfinite(w[0] - w[1] * c.centre / c.spread))
		return;
	*slope = w[1] / c.spread;
	*intercept = w[0] - *slope * c.centre;
}
