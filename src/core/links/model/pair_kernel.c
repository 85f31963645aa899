/*
 * pair_kernel.c - the nodes' factor, and covariances of pairs from its rows.
 */
#include "links/links_internal.h"

#define BLOCK 256				/* pairs whose covariances are computed at once */

gp_matrix
gp_link_factor(gp_device *dev, const gp_link_problem *problem, int64_t max_rank)
{
	gp_problem	p = {.graph = problem->graph,.features = problem->features,
		.program = problem->program,.task = GP_TASK_VALUES,.seed = problem->seed};

	return gp_kernel_factor(dev, &p, max_rank);
}

static void
copy_row(const gp_link_model *model, int32_t node, float *to)
{
	memcpy(to, model->node.row + (int64_t) node * model->node.width,
		   model->node.width * sizeof(float));
}

/* The inducing pairs' rows on the device: those of the sources, then those of the targets. */
static gp_matrix
inducing_rows(gp_device *dev, const gp_link_model *model)
{
	int64_t		m = model->inducing.n;
	float	   *host = gp_alloc_values(dev->env, 2 * m, model->node.width * sizeof(float));
	gp_matrix	u = dev->create(dev, 2 * m, model->node.width, GP_FLOAT);

	for (int64_t k = 0; k < gp_items(dev->env, m); k++)
	{
		copy_row(model, model->inducing.pair[2 * k], host + k * model->node.width);
		copy_row(model, model->inducing.pair[2 * k + 1], host + (m + k) * model->node.width);
	}
	dev->upload(dev, u, gp_matrix_wrap(host, 2 * m, model->node.width, GP_FLOAT));
	gp_free(dev->env, host);
	return u;
}

/* The memory that blocks of pairs share. */
typedef struct pair_block
{
	float	   *rows;			/* 2 BLOCK x width: the ends' rows, sources first */
	float	   *products;		/* 2 BLOCK x 2 m: with the inducing ends' */
	double	   *k;				/* BLOCK x m */
	gp_matrix	u;				/* on the device: inducing_rows */
	gp_matrix	p;				/* on the device: rows, products */
	gp_matrix	g;
} pair_block;

/* The covariances of n <= BLOCK pairs with the inducing ones, in b->k. */
static void
block_kernel(gp_device *dev, const gp_link_model *model, int64_t n, const int32_t *src,
			 const int32_t *dst, pair_block *b)
{
	int64_t		m = model->inducing.n;
	gp_matrix	p = gp_matrix_rows(b->p, 0, 2 * n);
	gp_matrix	g = gp_matrix_rows(b->g, 0, 2 * n);
	int64_t		values = gp_items(dev->env, n);

	for (int64_t r = 0; r < values; r++)
	{
		bool		turn = !model->graph->directed && src[r] > dst[r];

		copy_row(model, turn ? dst[r] : src[r], b->rows + r * model->node.width);
		copy_row(model, turn ? src[r] : dst[r], b->rows + (n + r) * model->node.width);
	}
	dev->upload(dev, p, gp_matrix_wrap(b->rows, 2 * n, model->node.width, GP_FLOAT));
	dev->gemm(dev, false, true, 1.0, p, b->u, 0.0, g);
	dev->download(dev, gp_matrix_wrap(b->products, 2 * n, 2 * m, GP_FLOAT), g);
	for (int64_t r = 0; r < values; r++)
	{
		const float *i = b->products + r * 2 * m;
		const float *j = b->products + (n + r) * 2 * m;
		double	   *k = b->k + r * m;

		for (int64_t c = 0; c < m; c++)
			k[c] = (double) i[c] * j[m + c];
		if (!model->graph->directed)
			for (int64_t c = 0; c < m; c++)
				k[c] += (double) i[m + c] * j[c];
	}
}

void
gp_link_pairs_kernel(gp_device *dev, const gp_link_model *model, int64_t n, const int32_t *src,
					 const int32_t *dst, gp_matrix k)
{
	gp_env	   *env = dev->env;
	int64_t		m = model->inducing.n;
	int64_t		height = gp_min64(n, BLOCK);
	pair_block	b;

	b.rows = gp_alloc_values(env, 2 * height * model->node.width, sizeof(float));
	b.products = gp_alloc_values(env, 4 * height * m, sizeof(float));
	b.k = gp_alloc_values(env, height * m, sizeof(double));
	b.u = inducing_rows(dev, model);
	b.p = dev->create(dev, 2 * height, model->node.width, GP_FLOAT);
	b.g = dev->create(dev, 2 * height, 2 * m, GP_FLOAT);
	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		block_kernel(dev, model, band.count, src + band.first, dst + band.first, &b);
		dev->upload(dev, gp_matrix_rows(k, band.first, band.count),
					gp_matrix_wrap(b.k, band.count, m, GP_DOUBLE));
	}
	gp_destroy_all(dev, &b.u, &b.p, &b.g);
	gp_free_all(env, b.rows, b.products, b.k);
}
