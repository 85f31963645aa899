/*
 * eigen.c - leading eigenvectors and principal components.
 */
#include "numeric.h"

#define LEAST_SHARE 1e-10		/* of the largest eigenvalue: what is smaller is rounding */
/* a product of few operations on much memory is cut for interrupts */
#define TALL_ROWS 8192

bool
gp_leading_vectors(gp_device *dev, gp_matrix g, gp_matrix v, gp_matrix w)
{
	int64_t		m = g.rows;
	int64_t		s = v.cols;

	if (m <= GP_SYEV_MAX)
	{
		gp_matrix	all = dev->create(dev, m, 1, GP_DOUBLE);

		dev->syev(dev, g, all);
		dev->copy(dev, w, gp_matrix_rows(all, m - s, s));
		dev->copy(dev, v, gp_matrix_cols(g, m - s, s));
		dev->destroy(dev, &all);
		return true;
	}
	/* in the basis Y: Y'GY = U diag(w) U', V = YU (Rayleigh and Ritz) */
	gp_matrix	y = dev->create(dev, m, s, GP_DOUBLE);
	/* Columns of a symmetric g, evenly spread and orthonormal, times g and orthonormal again. */
	int32_t    *index = gp_alloc_array(dev->env, y.cols, sizeof(int32_t));

	for (int64_t i = 0; i < y.cols; i++)
		index[i] = (int32_t) (i * g.rows / y.cols);
	gp_matrix	start = gp_gather_columns(dev, g, index, y.cols);
	gp_free(dev->env, index);
	/* a second factor mends what rounding left of the first */
	bool		found = gp_orthonormalise(dev, start) && gp_orthonormalise(dev, start);
	dev->gemm(dev, false, false, 1.0, g, start, 0.0, y);
	dev->destroy(dev, &start);
	found = found && gp_orthonormalise(dev, y) && gp_orthonormalise(dev, y);
	gp_matrix	gy = dev->create(dev, m, s, GP_DOUBLE);
	gp_matrix	u = dev->create(dev, s, s, GP_DOUBLE);
	dev->gemm(dev, false, false, 1.0, g, y, 0.0, gy);
	dev->gemm(dev, true, false, 1.0, y, gy, 0.0, u);
	dev->destroy(dev, &gy);
	if (found)
		dev->syev(dev, u, w);
	dev->gemm(dev, false, false, 1.0, y, u, 0.0, v);
	gp_destroy_all(dev, &u, &y);
	return found;
}

void
gp_centre_rows(gp_device *dev, gp_matrix x)
{
	gp_matrix	one = gp_filled(dev, x.rows, 1, x.type, 1.0);
	gp_matrix	mean = dev->create(dev, 1, x.cols, x.type);

	dev->gemm(dev, true, false, 1.0 / (double) x.rows, one, x, 0.0, mean);
	for (gp_band band = gp_band_first(x.rows, TALL_ROWS); band.count > 0; gp_band_next(&band))
		dev->gemm(dev, false, false, -1.0, gp_matrix_rows(one, band.first, band.count), mean, 1.0,
				  gp_matrix_rows(x, band.first, band.count));
	gp_destroy_all(dev, &mean, &one);
}

void
gp_principal_components(gp_device *dev, gp_matrix q, gp_matrix h)
{
	gp_env	   *env = dev->env;
	int64_t		m = q.cols;
	int64_t		s = gp_min64(h.cols, m);
	gp_matrix	gram = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, s, 1, GP_DOUBLE);
	gp_matrix	v = dev->create(dev, m, s, GP_DOUBLE);

	gp_centre_rows(dev, q);
	dev->syrk(dev, true, 1.0, q, 0.0, gram);
	gp_leading_vectors(dev, gram, v, w);
	double	   *value = gp_download(dev, w);
	double	   *vector = gp_download(dev, v);
	/* V of Q'Q gives Q V w^-1/2 */
	for (int64_t k = 0; k < s && !env->dry; k++)
	{
		bool		counts = value[k] > LEAST_SHARE * value[s - 1] && value[k] > 0.0;

		for (int64_t i = 0; i < m; i++)
			vector[i * s + k] = counts ? vector[i * s + k] / sqrt(value[k]) : 0.0;
	}
	dev->upload(dev, v, gp_matrix_wrap(vector, m, s, GP_DOUBLE));
	if (s < h.cols)
		dev->fill(dev, h, 0.0);
	dev->gemm(dev, false, false, 1.0, q, v, 0.0, gp_matrix_cols(h, 0, s));
	gp_free_all(env, vector, value);
	gp_destroy_all(dev, &v, &w, &gram);
}
