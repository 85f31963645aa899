/*
 * likelihoods.c - softmax and logistic: probabilities, log likelihoods and their gradients.
 *
 * A step's batch is small beside the products that lead to it, so that its likelihood is the
 * host's, in double.
 */
#include "numeric.h"

double
gp_softmax_log(int32_t columns, const double *logit, double *p, int32_t class)
{
	double		top = logit[0];
	double		sum = 0.0;

	/* the largest exponent is taken off first */
	for (int32_t c = 1; c < columns; c++)
		top = logit[c] > top ? logit[c] : top;
	double		own = class < 0 ? 0.0 : logit[class] - top;
	for (int32_t c = 0; c < columns; c++)
	{
		p[c] = exp(logit[c] - top);
		sum += p[c];
	}
	for (int32_t c = 0; c < columns; c++)
		p[c] /= sum;
	return class < 0 ? 0.0 : own - log(sum);
}

double
gp_softmax(gp_env *env, int64_t n, int32_t c, const int32_t *label, double weight, double *f)
{
	double		sum = 0.0;

	GP_EACH(env, i, gp_items(env, n), i * c)
	{
		double	   *row = f + i * c;

		sum += gp_softmax_log(c, row, row, label[i]);
		for (int32_t j = 0; j < c; j++)
			row[j] = label[i] < 0 ? 0.0 : weight * (row[j] - (j == label[i]));
	}
	return weight * sum;
}

double
gp_logistic(gp_env *env, int64_t n, const bool *linked, double weight, double *r)
{
	double		sum = 0.0;

	GP_EACH(env, e, gp_items(env, n), e)
	{
		double		z = linked[e] ? r[e] : -r[e];
		double		small = exp(-fabs(z));

		sum += fmin(z, 0.0) - log1p(small);
		r[e] = (linked[e] ? -weight : weight) * (z > 0.0 ? small : 1.0) / (1.0 + small);
	}
	return weight * sum;
}
