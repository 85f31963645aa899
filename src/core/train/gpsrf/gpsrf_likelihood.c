/*
 * gpsrf_likelihood.c - the likelihoods of classes and of values, and what they give to a posterior.
 */
#include "gpsrf.h"

/* Gives nodes that are sure of a class that class; returns how many. */
static int64_t
believe(gp_gpsrf_learner *l, int64_t n)
{
	int32_t		c = l->problem->nclasses;
	int64_t		sure = 0;

	for (int64_t i = 0; i < n; i++)
	{
		const double *f = l->logits + i * c;
		double		total = 0.0;
		int32_t		best = 0;

		if (l->label[i] >= 0)
			continue;
		for (int32_t j = 1; j < c; j++)
			best = f[j] > f[best] ? j : best;
		for (int32_t j = 0; j < c; j++)
			total += exp(f[j] - f[best]);
		if (1.0 / total < l->options->tau || l->options->tau >= 1.0)
			continue;
		l->label[i] = best;
		sure++;
	}
	return sure;
}

/* log N(y; F, s^2) of values, and what the deviation s gets of it. */
static double
value_gradient(gp_gpsrf_learner *l, int64_t n, double weight)
{
	double		noise = gp_parameter_number(&l->t, &l->noise);
	double		precision = exp(-2.0 * noise);
	double		sum = 0.0;
	double		slope = 0.0;

	for (int64_t i = 0; i < gp_items(l->env, n); i++)
	{
		double		error = l->label[i] < 0 ? 0.0 : l->logits[i] - l->targets.y[l->label[i]];

		if (l->label[i] >= 0)
		{
			sum -= 0.5 * (error * error * precision + log(2.0 * M_PI)) + noise;
			slope += 1.0 - error * error * precision;
		}
		l->logits[i] = weight * error * precision;
	}
	l->dev->shift(l->dev, l->noise.gradient, weight * slope);
	return weight * sum;
}

double
gp_gpsrf_likelihood(gp_gpsrf_learner *l, int64_t nlabels, bool others)
{
	gp_device  *dev = l->dev;
	gp_matrix	value = gp_network_value(l->net);
	gp_matrix	host = gp_matrix_wrap(l->logits, value.rows, value.cols, GP_DOUBLE);
	double		ll;

	dev->download(dev, host, value);
	if (l->classes && others)
		nlabels += believe(l, gp_items(l->env, value.rows));
	double		weight = 1.0 / (double) gp_max64(nlabels, 1);
	ll = l->classes ? gp_softmax(l->env, value.rows, l->problem->nclasses, l->label, weight,
								 l->logits) :
		value_gradient(l, value.rows, weight);
	if (!l->env->dry && !isfinite(ll))
		gp_raise(l->env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the training of method gpsrf is out of range at step %lld",
				 (long long) l->t.step + 1);
	l->env->objective = ll;
	dev->upload(dev, gp_network_gradient(l->net), host);
	return ll;
}

double
gp_gpsrf_to_posterior(const gp_gpsrf_learner *l, double *f, const double *variance)
{
	int32_t		c = l->targets.columns;
	double		sum = 0.0;

	if (!l->classes)
		return variance[0] + l->deviation * l->deviation;
	for (int32_t j = 0; j < c; j++)
	{
		f[j] /= sqrt(1.0 + M_PI * variance[j] / 8.0);
		sum += variance[j];
	}
	gp_softmax_log(c, f, f, -1);
	return sum / c;
}
