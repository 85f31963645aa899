/*
 * gram.c - the algebra of a regression: the Gram matrix of a factor's rows, its root and system,
 * and the scale of the prior.
 */
#include "solution.h"

#include <float.h>

double
gp_root_log_det(gp_device *dev, gp_matrix root)
{
	double	   *host = gp_download(dev, gp_matrix_diagonal(root));
	double		log_det = 0.0;

	for (int64_t i = 0; i < root.rows && !dev->env->dry; i++)
		log_det += 2.0 * log(host[i]);
	gp_free(dev->env, host);
	return log_det;
}

void
gp_gram_root(gp_device *dev, gp_matrix gram, double noise)
{
	dev->shift(dev, gp_matrix_diagonal(gram), noise);
	if (dev->potrf(dev, gram) >= 0)
		gp_raise(dev->env, GP_ERR_DATA, "Give a larger nugget.",
				 "the factor's Gram matrix is not positive definite");
}

double
gp_gram_solve(gp_device *dev, gp_matrix gram, double noise, gp_matrix root, gp_matrix w)
{
	dev->copy(dev, root, gram);
	gp_gram_root(dev, root, noise);
	dev->trsm(dev, true, false, root, w);
	dev->trsm(dev, true, true, root, w);
	return gp_root_log_det(dev, root);
}

void
gp_rows_predict(gp_device *dev, gp_matrix rows, gp_matrix root, gp_matrix w, double *fit,
				double *leverage)
{
	gp_matrix	f = dev->create(dev, rows.rows, w.cols, rows.type);
	gp_matrix	h = dev->create(dev, rows.rows, 1, GP_DOUBLE);

	dev->gemm(dev, false, false, 1.0, rows, w, 0.0, f);
	dev->download(dev, gp_matrix_wrap(fit, rows.rows, w.cols, GP_DOUBLE), f);
	if (leverage)
	{
		dev->trsm(dev, false, true, root, rows);
		dev->row_dots(dev, h, rows, rows);
		dev->download(dev, gp_matrix_wrap(leverage, rows.rows, 1, GP_DOUBLE), h);
	}
	gp_destroy_all(dev, &f, &h);
}

void
gp_solution_free(gp_device *dev, gp_solution *solution)
{
	gp_free_all(dev->env, solution->loo_mean, solution->loo_variance, solution->forward);
	gp_destroy_all(dev, &solution->weights, &solution->root);
}

void
gp_solution_scale(gp_env *env, const gp_targets *targets, double quadratic, double log_det,
				  gp_solution *solution)
{
	double		count = (double) targets->m * targets->columns;
	/* Rounding may leave the form below 0 where the kernel explains all labels. */
	double		scale = fmax(quadratic, DBL_MIN) / count;

	if (targets->m == 1 || targets->flat)
	{
		scale = 1.0;
		gp_notice(env, "Variances are relative until labels differ.",
				  "all labelled nodes have the same target, so the prior's scale is set to 1");
	}
	solution->scale = scale;
	solution->log_marginal_likelihood = -0.5 * (quadratic / scale + targets->columns * log_det +
												count * log(2.0 * M_PI * scale)) -
		count * log(targets->unit);
}
