/*
 * softmax.c - the likelihood of classes.
 *
 * A step's batch is small beside the products that lead to it, so that its likelihood is the
 * host's, in double.
 */
#include "train/engine/engine.h"
#include "regression/regression_internal.h"

/* The log likelihood of a batch; f becomes the gradient of minus weight times that. */
double
gp_softmax(gp_env *env, int64_t n, int32_t c, const int32_t *label, double weight, double *f)
{
	double		sum = 0.0;
	int64_t		next = 0;

	for (int64_t i = 0; i < n && !env->dry; i++)
	{
		double	   *row = f + i * c;

		gp_poll(env, i * c, &next);
		sum += gp_softmax_log(c, row, row, label[i]);
		for (int32_t j = 0; j < c; j++)
			row[j] = label[i] < 0 ? 0.0 : weight * (row[j] - (j == label[i]));
	}
	return weight * sum;
}
