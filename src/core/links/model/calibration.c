/*
 * calibration.c - from logits to the probabilities of links.
 */
#include "calibration.h"

#define STEPS 50
#define CLOSE 1e-10				/* what a step promises, over the information, that ends them */
#define FLAT 1e-12				/* a relative spread of scores below this is none */
#define LEAST_BENT 100			/* links that a knee takes: fewer tell one slope alone */
#define PARAMETERS 3			/* of a curve: intercept, and slopes below and beyond its knee */

/* A curve over n scores, and what is known of them (gp_link_calibrate). */
typedef struct curve
{
	int64_t		n;
	const double *score;
	const bool *label;
	const double *weight;
	double		known;
	double		centre;			/* of the scores, which are standardised */
	double		spread;
	double		knee;			/* of standardised scores; INFINITY: none */
	double		target[2];		/* smoothed: of no link, and of one */
	bool		open[PARAMETERS];	/* those that are not held at their value */
} curve;

/* The log likelihood, its gradient and Fisher's information. */
typedef struct likelihood
{
	double		value;
	double		gradient[PARAMETERS];
	double		information[PARAMETERS][PARAMETERS];
} likelihood;

/* The likelihood of b, a pair being labelled with the probability known p. */
static likelihood
likelihood_of(const curve *c, const double *b)
{
	likelihood	out = {.value = 0.0};

	for (int64_t i = 0; i < c->n; i++)
	{
		double		z = (c->score[i] - c->centre) / c->spread;
		double		x[PARAMETERS] = {1.0, fmin(z, c->knee), z > c->knee ? z - c->knee : 0.0};
		double		p = 1.0 / (1.0 + exp(-(b[0] + b[1] * x[1] + b[2] * x[2])));
		double		labelled = fmax(c->known * p, 1e-300);
		double		other = fmax(1.0 - c->known * p, 1e-300);
		double		t = c->target[c->label[i]];
		double		slope = c->weight[i] * (1.0 - p) * (t - (1.0 - t) * labelled / other);
		double		curve = c->weight[i] * labelled * (1.0 - p) * (1.0 - p) / other;

		out.value += c->weight[i] * (t * log(labelled) + (1.0 - t) * log(other));
		for (int k = 0; k < PARAMETERS; k++)
		{
			out.gradient[k] += slope * x[k];
			for (int l = 0; l < PARAMETERS; l++)
				out.information[k][l] += curve * x[k] * x[l];
		}
	}
	return out;
}

/* The step of Fisher's scoring, 0 in parameters that are held; returns what it promises. */
static double
scoring_step(const curve *c, const likelihood *at, double *step)
{
	double		h[PARAMETERS][PARAMETERS];
	double		gradient[PARAMETERS];

	memcpy(h, at->information, sizeof(h));
	memcpy(gradient, at->gradient, sizeof(gradient));
	for (int k = 0; k < PARAMETERS; k++)
		if (!c->open[k])
		{
			for (int l = 0; l < PARAMETERS; l++)
				h[k][l] = h[l][k] = k == l ? 1.0 : 0.0;
			gradient[k] = 0.0;
		}
	return gp_solve_small(PARAMETERS, *h, PARAMETERS, gradient, step);
}

/* Climbs to the largest likelihood. */
static void
climb(const curve *c, double *b)
{
	likelihood	at = likelihood_of(c, b);

	for (int k = 0; k < STEPS; k++)
	{
		double		step[PARAMETERS];
		double		next[PARAMETERS];
		double		gain = scoring_step(c, &at, step);
		likelihood	then = at;

		if (!(gain > CLOSE * at.information[0][0]) || !isfinite(gain))
			break;
		for (double part = 1.0; part > 1e-6; part *= 0.5)
		{
			for (int j = 0; j < PARAMETERS; j++)
				next[j] = b[j] + part * step[j];
			then = likelihood_of(c, next);
			if (then.value > at.value)
				break;
		}
		if (!(then.value > at.value))
			break;
		memcpy(b, next, sizeof(next));
		at = then;
	}
}

/* The same from b[0] among curves that never fall: a slope that would is held at 0. */
static void
climb_rising(curve *c, double *b)
{
	const double start = b[0];

	c->open[0] = c->open[1] = true;
	c->open[2] = isfinite(c->knee);
	b[1] = b[2] = 0.0;
	for (int k = 0; k < PARAMETERS; k++)
	{
		int			low;

		climb(c, b);
		low = b[1] < b[2] ? 1 : 2;
		if (!(b[low] < 0.0))
			return;
		c->open[low] = false;
		b[0] = start;
		b[1] = b[2] = 0.0;
	}
}

/* Standardises the scores, and places the knee; returns the share of links that are labelled. */
static double
look_at(curve *c)
{
	double		total[2] = {0.0, 0.0};	/* of the weights: without a link, with one */
	double		links = 0.0;
	double		sum = 0.0;		/* of the links' scores */

	for (int64_t i = 0; i < c->n; i++)
	{
		total[c->label[i]] += c->weight[i];
		c->centre += c->score[i] / (double) c->n;
		links += c->label[i];
		sum += c->label[i] ? c->score[i] : 0.0;
	}
	for (int64_t i = 0; i < c->n; i++)
		c->spread += (c->score[i] - c->centre) * (c->score[i] - c->centre) / (double) c->n;
	c->spread = sqrt(c->spread);
	c->knee = links < LEAST_BENT ? INFINITY : (sum / links - c->centre) / c->spread;
	/* Scores that separate links make the curve no step (Platt 1999). */
	c->target[1] = (total[1] + 1.0) / (total[1] + 2.0);
	c->target[0] = 1.0 / (total[0] + 2.0);
	return c->n > 0 ?
		(total[0] * c->target[0] + total[1] * c->target[1]) / (total[0] + total[1]) : 0.5;
}

gp_link_curve
gp_link_calibrate(gp_env *env, int64_t n, const double *score, const bool *label,
				  const double *weight, double known)
{
	curve		c = {.n = n,.score = score,.label = label,.weight = weight,.known = known};
	double		share = fmin(look_at(&c) / known, 1.0 - 1e-9);
	double		b[PARAMETERS] = {log(share / (1.0 - share)), 0.0, 0.0};
	gp_link_curve out = {.intercept = b[0]};

	/* Equal scores, or such as are no numbers, give every pair the share of links. */
	if (env->dry || !(c.spread > FLAT * fabs(c.centre)) || !isfinite(c.spread))
		return out;
	climb_rising(&c, b);
	if (b[2] > b[1])
	{
		c.knee = INFINITY;
		climb_rising(&c, b);
	}
	if (!isfinite(b[1] / c.spread) || !isfinite(b[2] / c.spread))
		return out;
	out.slope = b[1] / c.spread;
	out.intercept = b[0] - out.slope * c.centre;
	if (isfinite(c.knee))
	{
		out.knee = c.centre + c.knee * c.spread;
		out.bend = b[2] / c.spread - out.slope;
	}
	return out;
}

double
gp_link_share_odds(double share)
{
	const double usual = GP_LINK_MISSING_SHARE;

	return share > 0.0 ? log(share / (1.0 - share)) - log(usual / (1.0 - usual)) : 0.0;
}

void
gp_link_calibrate_model(gp_env *env, const gp_calibration_pairs *c, int folds,
						double *const *logit, double missing_share, gp_link_model *model)
{
	/* links that the graph does not show, over its own, where nobody says how many */
	double		missing = GP_LINK_MISSING_SHARE / (1.0 - GP_LINK_MISSING_SHARE);
	double		hidden = 0.0;	/* links that a fold hides, over all of the graph's */
	gp_calibration_pairs all = {0};
	double	   *score;
	int64_t		n = 0;

	for (int f = 0; f < folds; f++)
	{
		n += c[f].pairs.n;
		hidden += c[f].share / folds;
	}
	score = gp_alloc_array(env, n, sizeof(double));
	all.weight = gp_alloc_array(env, n, sizeof(double));
	all.linked = gp_alloc_array(env, n, sizeof(bool));
	n = 0;
	for (int f = 0; f < folds; f++)
		for (int64_t e = 0; e < c[f].pairs.n; e++, n++)
		{
			score[n] = logit[f][e];
			all.weight[n] = c[f].weight[e];
			all.linked[n] = c[f].linked[e];
		}
	model->curve = gp_link_calibrate(env, n, score, all.linked, all.weight,
									 hidden / (hidden + missing));
	model->curve.intercept += log(missing / (hidden + missing)) + gp_link_share_odds(missing_share);
	gp_free(env, score);
	gp_calibration_pairs_free(env, &all);
}

/* The mean and the spread of n logits, of which each counts for its weight. */
static void
weighted_moments(int64_t n, const double *logit, const double *weight, double *mean, double *spread)
{
	double		all = 0.0;

	*mean = *spread = 0.0;
	for (int64_t e = 0; e < n; e++)
	{
		all += weight[e];
		*mean += weight[e] * logit[e];
	}
	*mean /= all;
	for (int64_t e = 0; e < n; e++)
		*spread += weight[e] * (logit[e] - *mean) * (logit[e] - *mean);
	*spread = sqrt(*spread / all);
}

void
gp_link_stretch_curve(gp_env *env, const gp_calibration_pairs *c, const double *before,
					  const double *after, gp_link_curve *curve)
{
	int64_t		n = c->pairs.n;
	double	   *weight = gp_alloc_array(env, n, sizeof(double));
	double		mean[2];
	double		spread[2];
	double		ratio;

	for (int64_t e = 0; e < n; e++)
	{
		double		p = gp_link_probability(curve, before[e]);

		weight[e] = c->linked[e] ? 0.0 : c->weight[e] * p * (1.0 - p);
	}
	weighted_moments(n, before, weight, &mean[0], &spread[0]);
	weighted_moments(n, after, weight, &mean[1], &spread[1]);
	gp_free(env, weight);
	ratio = spread[1] / spread[0];
	if (!isfinite(ratio) || !(ratio > 0.0))
		return;
	curve->slope /= ratio;
	curve->bend /= ratio;
	curve->knee = mean[1] + ratio * (curve->knee - mean[0]);
	curve->intercept += curve->slope * (ratio * mean[0] - mean[1]);
}
