/*
 * gckm_layers.c - a layer: a kernel on landmarks, and its principal components.
 */
#include "gckm.h"

#include <math.h>

#define FIRST_JITTER 1e-12		/* of the points' kernel, relative to its diagonal, which is 1 */
#define LAST_JITTER 1e-3

/* The sum of a vector on the device. */
double
gp_sum(gp_device *dev, gp_matrix x)
{
	double	   *host = gp_alloc_figures(dev->env, x.rows, sizeof(double));
	double		sum = 0.0;

	dev->download(dev, gp_matrix_wrap(host, x.rows, 1, GP_DOUBLE), x);
	for (int64_t i = 0; i < x.rows && !dev->env->dry; i++)
		sum += host[i];
	gp_free(dev->env, host);
	return sum;
}

/* The Gaussian kernel from inner products. */
void
gp_rbf(gp_device *dev, gp_matrix products, gp_matrix norm, const gp_points *points, double sigma2)
{
	gp_stage	stage = {.map = GP_MAP_RBF,.p1 = 0.5 / sigma2,.scale = 1.0,.diag = norm};

	dev->map(dev, &stage, products, 0, points->node);
}

/* k becomes a factor. */
double
gp_points_factor(gp_device *dev, gp_matrix k, const gp_points *points, gp_matrix *keep)
{
	gp_matrix	own = dev->create(dev, points->n, points->n, GP_DOUBLE);
	gp_matrix	root = dev->create(dev, points->n, points->n, GP_DOUBLE);
	double		jitter;

	dev->gather_rows(dev, own, k, points->node);
	jitter = gp_cholesky_jitter(dev, own, 1.0, FIRST_JITTER, LAST_JITTER, root);
	if (isnan(jitter))
		gp_raise(dev->env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the landmarks' kernel is not positive definite");
	dev->destroy(dev, &own);
	dev->trsm(dev, false, true, root, k);
	if (keep)
		*keep = root;
	else
		dev->destroy(dev, &root);
	return jitter;
}
