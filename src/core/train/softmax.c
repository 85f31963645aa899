/*
 * softmax.c - the likelihood of classes.
 *
 * A step's batch is small beside the products that lead to it, so that its likelihood is the
 * host's, in double.
 */
#include "engine.h"

#include <math.h>

/* p = softmax(f) of one row. */
void
gp_softmax_row(int32_t c, const double *f, double *p)
{
	double		top = f[0];
	double		sum = 0.0;

	for (int32_t j = 1; j < c; j++)
		top = fmax(top, f[j]);
	for (int32_t j = 0; j < c; j++)
	{
		p[j] = exp(f[j] - top);
		sum += p[j];
	}
	for (int32_t j = 0; j < c; j++)
		p[j] /= sum;
}

/* The log likelihood of a batch; f becomes the gradient of minus weight times that. */
double
gp_softmax(gp_env *env, int64_t n, int32_t c, const int32_t *label, double weight, double *f)
{
	double		sum = 0.0;
	int64_t		next = 0;

	for (int64_t i = 0; i < n && !env->dry; i++)
	{
		double	   *row = f + i * c;
		double		top = row[0];

		gp_look(env, i * c, &next);
		for (int32_t j = 1; j < c; j++)
			top = fmax(top, row[j]);
		if (label[i] >= 0)
		{
			double		total = 0.0;

			for (int32_t j = 0; j < c; j++)
				total += exp(row[j] - top);
			sum += row[label[i]] - top - log(total);
		}
		gp_softmax_row(c, row, row);
		for (int32_t j = 0; j < c; j++)
			row[j] = label[i] < 0 ? 0.0 : weight * (row[j] - (j == label[i]));
	}
	return weight * sum;
}
