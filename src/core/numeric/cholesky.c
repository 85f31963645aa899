/*
 * cholesky.c - Cholesky factors of matrices that are positive definite up to rounding.
 */
#include "numeric.h"

#define LEAST_JITTER 1e-12
#define SINGULAR 1e-10			/* of a diagonal: what a pivot has to be more than */
#define MOST_ORTHONORMAL 1e-3

double
gp_mean_entry(gp_device *dev, gp_matrix v)
{
	double	   *host = gp_download(dev, v);
	double		mean = 0.0;

	for (int64_t i = 0; i < gp_items(dev->env, v.rows); i++)
		mean += host[i] / (double) v.rows;
	gp_free(dev->env, host);
	return mean;
}

double
gp_mean_diagonal(gp_device *dev, gp_matrix c)
{
	return gp_mean_entry(dev, gp_matrix_diagonal(c));
}

double
gp_cholesky_jitter(gp_device *dev, gp_matrix k, double unit, double first, double most,
				   gp_matrix root)
{
	for (double jitter = first; jitter <= most * 1.0001; jitter = fmax(10.0 * jitter, LEAST_JITTER))
	{
		dev->copy(dev, root, k);
		dev->shift(dev, gp_matrix_diagonal(root), jitter * unit);
		if (dev->potrf(dev, root) < 0)
			return jitter;
	}
	return NAN;
}

double
gp_covariance_root(gp_device *dev, gp_matrix k, double unit, double first, double most,
				   gp_matrix root, const char *what, const char *hint)
{
	double		jitter = gp_cholesky_jitter(dev, k, unit, first, most, root);

	if (isnan(jitter))
		gp_raise(dev->env, GP_ERR_DATA, hint, "the covariance of %s is not positive definite",
				 what);
	return jitter;
}

bool
gp_orthonormalise(gp_device *dev, gp_matrix y)
{
	gp_matrix	gram = dev->create(dev, y.cols, y.cols, GP_DOUBLE);
	gp_matrix	root = dev->create(dev, y.cols, y.cols, GP_DOUBLE);

	dev->syrk(dev, true, 1.0, y, 0.0, gram);
	double		trace = gp_mean_diagonal(dev, gram) * (double) y.cols;
	bool		found = isfinite(gp_cholesky_jitter(dev, gram, trace, LEAST_JITTER,
													MOST_ORTHONORMAL, root));
	if (found)
		dev->trsm(dev, false, true, root, y);
	gp_destroy_all(dev, &root, &gram);
	return found;
}

double
gp_solve_small(int n, const double *a, int stride, const double *b, double *x)
{
	double		l[GP_SMALL][GP_SMALL] = {{0.0}};
	double		product = 0.0;

	for (int j = 0; j < n; j++)
	{
		double		pivot = a[j * stride + j];

		for (int i = 0; i < j; i++)
			pivot -= l[j][i] * l[j][i];
		l[j][j] = pivot > SINGULAR * fabs(a[j * stride + j]) ? sqrt(pivot) : 0.0;
		for (int row = j + 1; row < n && l[j][j] > 0.0; row++)
		{
			double		sum = a[row * stride + j];

			for (int i = 0; i < j; i++)
				sum -= l[row][i] * l[j][i];
			l[row][j] = sum / l[j][j];
		}
	}
	for (int j = 0; j < n; j++)
	{
		double		sum = b[j];

		for (int i = 0; i < j; i++)
			sum -= l[j][i] * x[i];
		x[j] = l[j][j] > 0.0 ? sum / l[j][j] : 0.0;
		product += x[j] * x[j];
	}
	for (int j = n - 1; j >= 0; j--)
	{
		for (int i = j + 1; i < n; i++)
			x[j] -= l[i][j] * x[i];
		x[j] = l[j][j] > 0.0 ? x[j] / l[j][j] : 0.0;
	}
	return product;
}
