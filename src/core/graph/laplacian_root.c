/*
 * laplacian_root.c - Laplacian kernels as features.
 *
 * With M = I + s2 L = C C' (Cholesky), (I + s2 L)^-d has the root M^(-d/2) for
 * even d and M^(-(d-1)/2) C^-T for odd d.  That costs n^3, so larger graphs take
 * random walks.
 */
#include "laplacian.h"

#define EXACT_NODES 4096		/* up to so many nodes the exact root is affordable */
#define ROOT_BLOCK 512			/* columns of the inverse that are computed at once */

/* M = (1 + s2) (I - U), dense in double. */
static gp_matrix
regularised_laplacian(gp_device *dev, const gp_graph *graph, double sigma2)
{
	gp_env	   *env = dev->env;
	gp_csr	   *u = gp_graph_smooth(env, graph, gp_laplacian_share(sigma2), GP_DOUBLE);
	gp_matrix	m = dev->create(dev, graph->nodes, graph->nodes, GP_DOUBLE);
	double	   *row = gp_alloc_array(env, graph->nodes, sizeof(double));

	for (int64_t i = 0; i < graph->nodes && !env->dry; i++)
	{
		memset(row, 0, graph->nodes * sizeof(double));
		for (int64_t k = u->start[i]; k < u->start[i + 1]; k++)
			row[u->col[k]] = -(1.0 + sigma2) * ((const double *) u->value)[k];
		row[i] += 1.0 + sigma2;
		dev->upload(dev, gp_matrix_rows(m, i, 1), gp_matrix_wrap(row, 1, graph->nodes, GP_DOUBLE));
	}
	gp_free(env, row);
	gp_csr_free(env, u);
	return m;
}

/* The roots of the smallest powers, from the inverse of the Cholesky factor, which is spoilt: C^-T,
 * or M^-1. */
static gp_matrix
root_of_inverse(gp_device *dev, gp_matrix c, int d)
{
	dev->trtri(dev, c);
	if (d == 1)
	{
		dev->transpose_square(dev, c);
		return c;
	}
	gp_matrix	f = dev->create(dev, c.rows, c.rows, GP_DOUBLE);
	/* f = W'W for a lower triangle W, whose zeros are left out: a third of the operations of a
	 * product */
	int64_t		n = c.rows;

	for (int64_t j = 0; j < n; j += ROOT_BLOCK)
	{
		int64_t		b = gp_min64(ROOT_BLOCK, n - j);

		dev->gemm(dev, true, false, 1.0, gp_matrix_part(c, j, 0, n - j, j + b),
				  gp_matrix_part(c, j, j, n - j, b), 0.0, gp_matrix_part(f, 0, j, j + b, b));
		if (j > 0)
			dev->transpose(dev, gp_matrix_part(f, j, 0, b, j), gp_matrix_part(f, 0, j, j, b));
	}
	dev->destroy(dev, &c);
	return f;
}

gp_features *
gp_features_of_matrix(gp_device *dev, gp_matrix m, gp_type type)
{
	gp_env	   *env = dev->env;
	void	   *host = gp_alloc_values(env, (int64_t) gp_size_mul(env, m.rows, m.cols),
										gp_type_size(type));

	dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, type), m);
	dev->destroy(dev, &m);
	return gp_features_of_dense(env, host, m.rows, m.cols, type);
}

/* F G' / sqrt(dims) with a Gaussian G: products of rows are kept in the mean. */
static gp_features *
project(gp_device *dev, gp_csr *factor, int64_t dims, uint64_t seed, gp_type type)
{
	gp_env	   *env = dev->env;
	void	   *host = gp_alloc_array(env, (int64_t) gp_size_mul(env, factor->cols, dims),
									  gp_type_size(type));
	gp_matrix	view = gp_matrix_wrap(host, factor->cols, dims, type);
	gp_matrix	g = dev->create(dev, factor->cols, dims, type);
	gp_matrix	out = dev->create(dev, factor->rows, dims, type);

	/* Standard normals by the Box-Muller transform, a stream for each row */
	GP_EACH(env, i, view.rows, i * view.cols)
	{
		gp_stream	s = gp_stream_start(seed, -2, i, 0);

		for (int64_t j = 0; j < view.cols; j += 2)
		{
			double		radius = sqrt(-2.0 * log(1.0 - gp_uniform(&s)));
			double		angle = 2.0 * M_PI * gp_uniform(&s);
			double		pair[2] = {radius * cos(angle), radius * sin(angle)};

			for (int64_t k = j; k < view.cols && k < j + 2; k++)
				gp_number_put(view.data, view.type, i * view.ld + k, pair[k - j]);
		}
	}
	dev->upload(dev, g, view);
	gp_free(env, host);
	dev->spmm(dev, 1.0 / sqrt((double) dims), factor, g, 0.0, out);
	dev->destroy(dev, &g);
	gp_csr_free(env, factor);
	return gp_features_of_matrix(dev, out, type);
}

/*
 * True where the exact root is affordable in so many bytes: its Cholesky factor, itself, and a copy
 * in either type, that in float beside two sparse matrices of the graph.
 */
bool
gp_laplacian_root_fits(const gp_env *env, const gp_graph *graph, size_t limit)
{
	double		square = (double) graph->nodes * (double) graph->nodes;
	double		entries = (double) (graph->start[graph->nodes] + graph->nodes);

	if (limit == 0)
		limit = gp_limit(env);
	return graph->nodes <= EXACT_NODES &&
		(limit == 0 || (double) env->used + fmax(24.0 * square, 20.0 * square + 24.0 * entries)
		 <= (double) limit);
}

gp_features *
gp_laplacian_root_features(gp_device *dev, const gp_graph *graph, const gp_laplacian *kernel,
						   gp_type type)
{
	int64_t		n = graph->nodes;
	gp_matrix	c = regularised_laplacian(dev, graph, kernel->sigma2);

	if (dev->potrf(dev, c) >= 0)
		gp_raise(dev->env, GP_ERR_VALUE, "Use a smaller sigma2.",
				 "the Laplacian kernel with sigma2=%g is singular", kernel->sigma2);
	if (kernel->d <= 2)
		return gp_features_of_matrix(dev, root_of_inverse(dev, c, kernel->d), type);
	gp_matrix	f = dev->create(dev, n, n, GP_DOUBLE);
	dev->fill(dev, f, 0.0);
	dev->shift(dev, gp_matrix_diagonal(f), 1.0);
	/* Each pair of solves is M^-1; an odd d ends with C^-T, so it comes first on the right. */
	if (kernel->d % 2 == 1)
		dev->trsm(dev, true, true, c, f);
	for (int k = 0; k < kernel->d / 2; k++)
	{
		dev->trsm(dev, true, false, c, f);
		dev->trsm(dev, true, true, c, f);
	}
	dev->destroy(dev, &c);
	return gp_features_of_matrix(dev, f, type);
}

gp_features *
gp_laplacian_features(gp_device *dev, const gp_graph *graph, const gp_laplacian *kernel,
					  uint64_t seed, gp_type type, size_t limit)
{
	gp_env	   *env = dev->env;

	if (kernel->dims == 0 && gp_laplacian_root_fits(env, graph, limit))
		return gp_laplacian_root_features(dev, graph, kernel, type);
	gp_csr	   *factor = gp_walk_factor(env, dev, graph, kernel, seed, 0, type);
	if (kernel->dims > 0 && kernel->trim == GP_TRIM_PROJECTION)
		return project(dev, factor, kernel->dims, seed, type);
	return gp_features_of_csr(env, factor);
}
