/*
 * gckm_layers.c - a layer: a kernel on landmarks, and its principal components.
 */
#include "gckm.h"

#include <math.h>

#define FIRST_JITTER 1e-12		/* of the points' kernel, relative to its diagonal, which is 1 */
#define LAST_JITTER 1e-3
#define LEAST_SHARE 1e-10		/* of the largest eigenvalue: what is smaller is rounding */

/* x -= the mean of its rows; a product of few operations on much memory is cut for interrupts. */
void
gp_rows_centre(gp_device *dev, gp_matrix x)
{
	gp_matrix	one = dev->create(dev, x.rows, 1, GP_DOUBLE);
	gp_matrix	mean = dev->create(dev, 1, x.cols, GP_DOUBLE);

	dev->fill(dev, one, 1.0);
	dev->gemm(dev, true, false, 1.0 / (double) x.rows, one, x, 0.0, mean);
	for (gp_band band = gp_band_first(x.rows, GP_TALL_ROWS); band.count > 0; gp_band_next(&band))
		dev->gemm(dev, false, false, -1.0, gp_matrix_rows(one, band.first, band.count), mean, 1.0,
				  gp_matrix_rows(x, band.first, band.count));
	dev->destroy(dev, &mean);
	dev->destroy(dev, &one);
}

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

/* k becomes a factor; the jitter grows until the points' kernel has a root. */
double
gp_points_factor(gp_device *dev, gp_matrix k, const gp_points *points, gp_matrix *keep)
{
	gp_matrix	root = dev->create(dev, points->n, points->n, GP_DOUBLE);
	double		jitter = FIRST_JITTER;

	for (;; jitter *= 10.0)
	{
		dev->gather_rows(dev, root, k, points->node);
		dev->shift(dev, gp_matrix_diagonal(root), jitter);
		if (dev->potrf(dev, root) < 0)
			break;
		if (jitter > LAST_JITTER)
			gp_raise(dev->env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
					 "the landmarks' kernel is not positive definite");
	}
	dev->trsm(dev, false, true, root, k);
	if (keep)
		*keep = root;
	else
		dev->destroy(dev, &root);
	return jitter;
}

/*
 * Divides the leading eigenvectors (m x s, host) by the roots of their values, which ascend;
 * those without value become 0.  Returns how many have one.
 */
static int64_t
scale_vectors(double *vector, const double *value, int64_t m, int64_t s)
{
	int64_t		rank = 0;

	for (int64_t k = 0; k < s; k++)
	{
		double		w = value[m - s + k];
		bool		counts = w > LEAST_SHARE * value[m - 1] && w > 0.0;

		rank += counts;
		for (int64_t i = 0; i < m; i++)
			vector[i * s + k] = counts ? vector[i * s + k] / sqrt(w) : 0.0;
	}
	return rank;
}

/*
 * The leading eigenvectors of QQ', centred: those V of Q'Q give Q V w^-1/2.  They
 * ascend in h; columns of no value come before them, those beyond the points' number behind.
 */
gp_matrix
gp_components(gp_device *dev, gp_matrix q, gp_matrix h)
{
	gp_env	   *env = dev->env;
	int64_t		m = q.cols;
	int64_t		s = gp_min64(h.cols, m);
	int64_t		rank = s;
	gp_matrix	gram = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, m, 1, GP_DOUBLE);
	gp_matrix	v = dev->create(dev, m, s, GP_DOUBLE);
	double	   *value = gp_alloc_figures(env, m, sizeof(double));
	double	   *vector = gp_alloc_figures(env, m, s * sizeof(double));

	gp_rows_centre(dev, q);
	dev->syrk(dev, true, 1.0, q, 0.0, gram);
	dev->syev(dev, gram, w);
	dev->download(dev, gp_matrix_wrap(value, m, 1, GP_DOUBLE), w);
	dev->download(dev, gp_matrix_wrap(vector, m, s, GP_DOUBLE), gp_matrix_cols(gram, m - s, s));
	if (!env->dry)
		rank = scale_vectors(vector, value, m, s);
	dev->upload(dev, v, gp_matrix_wrap(vector, m, s, GP_DOUBLE));
	if (s < h.cols)
		dev->fill(dev, h, 0.0);
	dev->gemm(dev, false, false, 1.0, q, v, 0.0, gp_matrix_cols(h, 0, s));
	gp_free(env, vector);
	gp_free(env, value);
	dev->destroy(dev, &v);
	dev->destroy(dev, &w);
	dev->destroy(dev, &gram);
	return gp_matrix_cols(h, s - rank, rank);
}
