/*
 * cpu_map.c - pointwise steps of a kernel on the CPU (device.h has their formulas): activations of
 * infinitely wide layers, and input kernels.
 *
 * What a column contributes (its variance, or the root of it) is computed once
 * for a block, what a row contributes once for the row; the loop over the
 * elements is vector code (cpu_simd_kernels.h).
 */

#include "cpu_internal.h"

/* Elements of a tile: below 10 ms even where exp is computed one by one. */
#define TILE_ELEMENTS (INT64_C(1) << 18)

static bool
uses_variances(const gp_stage *stage)
{
	return stage->map == GP_MAP_RELU || stage->map == GP_MAP_RBF;
}

/* The variance of a node before the stage, rounding below zero undone. */
static double
variance_of(const gp_stage *stage, int64_t node)
{
	double		v = *(const double *) gp_matrix_at(stage->diag, node, 0);

	return v < 0 ? 0 : v;
}

double
gp_stage_variance(const gp_stage *stage, double variance)
{
	switch (stage->map)
	{
		case GP_MAP_NONE:
			break;
		case GP_MAP_RELU:
			variance = variance > 0 || isnan(variance) ? variance / 2 : 0;
			break;
		case GP_MAP_RBF:
			variance = 1.0;
			break;
		case GP_MAP_POLY:
			variance = gp_whole_power(variance + stage->p1, (int64_t) stage->p2);
			break;
	}
	return stage->scale * variance + stage->shift;
}

void
gp_stage_prepare(const gp_stage *stage, gp_type type, const int32_t *node,
				 int64_t n, gp_stage_columns columns)
{
	if (!uses_variances(stage))
		return;
	for (int64_t j = 0; j < n; j++)
	{
		double		v = variance_of(stage, node != NULL ? node[j] : j);

		if (stage->map == GP_MAP_RELU)
		{
			double		root = sqrt(v);

			gp_number_put(columns.first, type, j, root);
			gp_number_put(columns.second, type, j, root > 0 ? 1.0 / root : 0.0);
		}
		else
			gp_number_put(columns.first, type, j, v);
	}
}

void
gp_stage_row(const gp_simd_ops *ops, const gp_stage *stage, double variance,
			 gp_stage_columns columns, int64_t n, void *k)
{
	switch (stage->map)
	{
		case GP_MAP_NONE:
			ops->affine(n, stage->scale, stage->shift, k);
			break;
		case GP_MAP_RELU:
			ops->relu(n, variance < 0 ? 0 : sqrt(variance), columns.first, columns.second,
					  stage->scale, stage->shift, k);
			break;
		case GP_MAP_RBF:
			ops->rbf(n, variance, columns.first, stage->p1, stage->scale, stage->shift, k);
			break;
		case GP_MAP_POLY:
			ops->poly(n, stage->p1, (int64_t) stage->p2, stage->scale, stage->shift, k);
			break;
	}
}

/* The arguments of map. */
typedef struct map_job
{
	const gp_stage *stage;
	gp_matrix	k;
	int64_t		row0;
	const int32_t *cols;
	gp_stage_columns columns;
	gp_grid		grid;
	const gp_simd_ops *ops;
} map_job;

static void
map_tile(void *arg, int64_t tile, int worker)
{
	const map_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);
	bool		variances = uses_variances(job->stage);
	gp_stage_columns columns = job->columns;
	int64_t		skip = r.col * (int64_t) gp_type_size(job->k.type);

	if (variances)
	{
		columns.first = (char *) columns.first + skip;
		columns.second = (char *) columns.second + skip;
	}
	for (int64_t i = r.row; i < r.row + r.rows; i++)
		gp_stage_row(job->ops, job->stage, variances ? variance_of(job->stage, job->row0 + i) : 0.0,
					 columns, r.cols, gp_matrix_at(job->k, i, r.col));
	if (variances)
	{
		/* Sets the elements of a tile whose row and column are one node. */
		for (int64_t j = r.col; j < r.col + r.cols; j++)
		{
			int64_t		node = job->cols != NULL ? job->cols[j] : j;
			int64_t		i = node - job->row0;

			if (i >= r.row && i < r.row + r.rows)
				gp_number_put(job->k.data, job->k.type, i * job->k.ld + j,
							  gp_stage_variance(job->stage, variance_of(job->stage, node)));
		}
	}
}

void
gp_cpu_map(gp_device *dev, const gp_stage *stage, gp_matrix k, int64_t row0, const int32_t *cols)
{
	map_job		job = {.stage = stage, .k = k, .row0 = row0, .cols = cols,
	.ops = gp_cpu_ops(dev, k.type)};
	size_t		size = gp_type_size(k.type);

	if (k.rows == 0 || k.cols == 0)
		return;
	if (uses_variances(stage))
	{
		gp_cpu_require(dev, stage->diag.type == GP_DOUBLE && stage->diag.cols == 1 &&
					   row0 >= 0 && row0 + k.rows <= stage->diag.rows);
		job.columns.first = gp_alloc_array(dev->env, k.cols, 2 * size);
		job.columns.second = (char *) job.columns.first + (size_t) k.cols * size;
		gp_stage_prepare(stage, k.type, cols, k.cols, job.columns);
	}
	job.grid = gp_grid_elements(k.rows, k.cols, TILE_ELEMENTS);
	gp_cpu_run(dev, map_tile, &job, job.grid.tiles);
	gp_free(dev->env, job.columns.first);
}

void
gp_cpu_map_diag(gp_device *dev, const gp_stage *stage, gp_matrix diag)
{
	gp_cpu_require(dev, diag.type == GP_DOUBLE && diag.cols == 1);
	GP_EACH(dev->env, i, diag.rows, i)
	{
		double	   *v = gp_matrix_at(diag, i, 0);

		*v = gp_stage_variance(stage, *v);
	}
}
