/*
 * gckm_own.c - the nodes' own features as a second view.
 *
 * The authors' program takes exp(-gamma |x - y|), not squared, of features with
 * mean 0 and deviation 1.  Distances don't see the mean, so sparse ones stay sparse.
 */
#include "gckm.h"

#include <math.h>

#define TYPICAL 0.8				/* gamma times the root mean squared distance */

/* The distance of a node to a point from products and squared lengths; 0 to itself. */
static inline double
distance(const double *product, const double *norm, int64_t i, const gp_points *points, int64_t j)
{
	int32_t		a = points->node[j];

	return i == a ? 0.0 : sqrt(fmax(norm[i] + norm[a] - 2.0 * product[j], 0.0));
}

/* The panel of rows of two matrices that is worked on. */
typedef struct panel
{
	double	   *product;
	double	   *kernel;
	const double *norm;
} panel;

/* Multiplies a panel of rows of the kernel. */
static void
multiply_rows(const panel *p, const gp_points *points, double gamma, int64_t first, int64_t count)
{
	int64_t		m = points->n;

	for (int64_t i = 0; i < count; i++)
		for (int64_t j = 0; j < m; j++)
			p->kernel[i * m + j] *= exp(-gamma * distance(p->product + i * m, p->norm, first + i, points, j));
}

/* k is multiplied by the kernel of the nodes' own features. */
void
gp_own_view(gp_device *dev, const gp_features *x, const gp_points *points, double gamma,
			gp_matrix work, gp_matrix norm, gp_matrix k)
{
	gp_env	   *env = dev->env;
	int64_t		m = points->n;
	int64_t		height = gp_min64(k.rows, GP_PANEL_ROWS);
	gp_view		view = gp_view_open(dev, x, NULL);
	double	   *length = gp_alloc_figures(env, k.rows, sizeof(double));
	panel		p = {gp_alloc_figures(env, height, m * sizeof(double)),
	gp_alloc_figures(env, height, m * sizeof(double)), length};

	double		variance = gp_view_products(&view, points, work, norm);

	gp_view_close(&view);
	dev->download(dev, gp_matrix_wrap(length, k.rows, 1, GP_DOUBLE), norm);
	if (!(gamma > 0.0))
		gamma = variance > 0.0 ? TYPICAL / sqrt(2.0 * variance) : 1.0;
	for (gp_band band = gp_band_first(k.rows, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(k, band.first, band.count);

		env->check_interrupts(env);
		dev->download(dev, gp_matrix_wrap(p.product, band.count, m, GP_DOUBLE),
					  gp_matrix_rows(work, band.first, band.count));
		dev->download(dev, gp_matrix_wrap(p.kernel, band.count, m, GP_DOUBLE), part);
		if (!env->dry)
			multiply_rows(&p, points, gamma, band.first, band.count);
		dev->upload(dev, part, gp_matrix_wrap(p.kernel, band.count, m, GP_DOUBLE));
	}
	gp_free(env, p.kernel);
	gp_free(env, p.product);
	gp_free(env, length);
}
