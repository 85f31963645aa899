/*
 * gpsrf_likelihood.c - the likelihood of classes and of values in structure-aware random Fourier kernels.
 *
 * A step's batch is small beside the products that lead to it: what is done here is the host's, in double.
 */
#include "gpsrf.h"

#include <math.h>

/* Gives nodes that are sure of a class that class; returns how many. */
static int64_t
believe(gp_learner *l, int64_t n)
{
	int32_t		c = l->problem->nclasses;
	int64_t		sure = 0;

	for (int64_t i = 0; i < n && !l->env->dry; i++)
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

/* Classes: nodes that are sure of theirs count, too. */
static double
class_gradient(gp_learner *l, int64_t n, int64_t nlabels, bool others)
{
	if (others)
		nlabels += believe(l, n);
	return gp_softmax(l->env, n, l->problem->nclasses, l->label, 1.0 / (double) gp_max64(nlabels, 1), l->logits);
}

/*
 * Logits become probabilities, softmax(F / sqrt(1 + pi v / 8)) (MacKay 1992); returns the mean
 * variance.
 */
static double
class_settle(const gp_learner *l, double *f, const double *variance)
{
	int32_t		c = l->problem->nclasses;
	double		sum = 0.0;

	for (int32_t j = 0; j < c; j++)
	{
		f[j] /= sqrt(1.0 + M_PI * variance[j] / 8.0);
		sum += variance[j];
	}
	gp_softmax_log(c, f, f, -1);
	return sum / c;
}

const gp_likelihood gp_likelihood_classes = {class_gradient, class_settle};

/* The logarithm of the noise's deviation. */
double
gp_learner_noise(const gp_learner *l)
{
	double		noise = 0.0;

	l->dev->download(l->dev, gp_matrix_wrap(&noise, 1, 1, GP_DOUBLE), l->noise.value);
	return noise;
}

/* Values: log N(y; F, s^2), and what the deviation s gets of it. */
static double
value_gradient(gp_learner *l, int64_t n, int64_t nlabels, bool others)
{
	double		noise = gp_learner_noise(l);
	double		precision = exp(-2.0 * noise);
	double		weight = 1.0 / (double) gp_max64(nlabels, 1);
	double		sum = 0.0;
	double		slope = 0.0;

	for (int64_t i = 0; i < n && !l->env->dry; i++)
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

/* The variance of an observation; both stay in the targets' unit. */
static double
value_settle(const gp_learner *l, double *f, const double *variance)
{
	return variance[0] + l->deviation * l->deviation;
}

const gp_likelihood gp_likelihood_values = {value_gradient, value_settle};
