/*
 * link_regression.c - from the scores of a pair to the posterior of its link.
 *
 * A Gaussian process on standardised scores z.  Its kernel is that of a network
 * of infinite width with two hidden layers: the arc-cosine map of degree one,
 * twice, on <z, z'> / width + 1 (Cho and Saul 2009).
 */
#include "link_regression.h"

#include <math.h>
#include <string.h>

#define KERNEL_DEPTH 2
#define NUGGET_SLACK 0.01		/* rows of one fold share a graph: leave-one-out errors are a little too small */
#define MEAN_BLOCK 512			/* rows whose covariances are held at once for their means alone */

/* k = <z, z'> / width + 1, then the map; diag holds the variances of all nodes of the map's numbering. */
static void
map_kernel(gp_device *dev, gp_matrix k, gp_matrix diag, int64_t row0)
{
	for (int d = 0; d < KERNEL_DEPTH; d++)
	{
		gp_stage	stage = {GP_MAP_RELU, 0.0, 0.0, 2.0, 0.0, diag};

		dev->map(dev, &stage, k, row0, NULL);
		dev->map_diag(dev, &stage, diag);
	}
}

/* <z, z> / width + 1. */
static void
variances(gp_device *dev, gp_matrix z, gp_matrix out)
{
	dev->row_dots(dev, out, z, z);
	dev->axpby(dev, 1.0 / (double) z.cols, out, 0.0, out);
	dev->shift(dev, out, 1.0);
}

/* The covariance of rows z with themselves; owned by the caller. */
gp_matrix
gp_link_covariance(gp_device *dev, gp_matrix z)
{
	gp_matrix	k = dev->create(dev, z.rows, z.rows, z.type);
	gp_matrix	diag = dev->create(dev, z.rows, 1, GP_DOUBLE);

	variances(dev, z, diag);
	dev->syrk(dev, false, 1.0 / (double) z.cols, z, 0.0, k);
	dev->shift(dev, k, 1.0);
	map_kernel(dev, k, diag, 0);
	dev->destroy(dev, &diag);
	return k;
}

/* The covariances of rows a with rows b, and the variances of a. */
void
gp_link_cross_covariance(gp_device *dev, gp_matrix a, gp_matrix b, gp_matrix k,
						 gp_matrix variance)
{
	gp_matrix	diag = dev->create(dev, b.rows + a.rows, 1, GP_DOUBLE);

	variances(dev, b, gp_matrix_rows(diag, 0, b.rows));
	variances(dev, a, gp_matrix_rows(diag, b.rows, a.rows));
	dev->gemm(dev, false, true, 1.0 / (double) a.cols, a, b, 0.0, k);
	dev->shift(dev, k, 1.0);
	map_kernel(dev, k, diag, b.rows);
	dev->copy(dev, variance, gp_matrix_rows(diag, b.rows, a.rows));
	dev->destroy(dev, &diag);
}

/* The mean and the spread of each score. */
static void
moments(int64_t n, int32_t width, const double *score, double *centre, double *spread)
{
	for (int32_t j = 0; j < width; j++)
	{
		double		sum = 0.0;
		double		squares = 0.0;

		for (int64_t i = 0; i < n; i++)
			sum += score[i * width + j];
		centre[j] = sum / (double) n;
		for (int64_t i = 0; i < n; i++)
			squares += (score[i * width + j] - centre[j]) * (score[i * width + j] - centre[j]);
		spread[j] = sqrt(squares / (double) n);
		if (!(spread[j] > 1e-9 * (1.0 + fabs(centre[j]))))
			spread[j] = 1.0;
	}
}

/* Standardised scores as a matrix on the device. */
gp_matrix
gp_link_standardise(gp_device *dev, int64_t n, int32_t width, const double *score,
					const double *centre, const double *spread, gp_type type)
{
	double	   *z = gp_alloc_array(dev->env, (int64_t) gp_size_mul(dev->env, n, width),
								   sizeof(double));
	gp_matrix	out = dev->create(dev, n, width, type);

	for (int64_t e = 0; e < n * width; e++)
		z[e] = (score[e] - centre[e % width]) / spread[e % width];
	dev->upload(dev, out, gp_matrix_wrap(z, n, width, GP_DOUBLE));
	gp_free(dev->env, z);
	return out;
}

/* The regression on rows of scores. */
gp_link_regression
gp_link_regress(gp_device *dev, int64_t n, int32_t width, const double *score, const bool *label)
{
	gp_env	   *env = dev->env;
	gp_link_regression r;
	gp_problem	problem = {.task = GP_TASK_VALUES, .nlabelled = n, .nugget = NAN,
	.nugget_slack = NUGGET_SLACK, .quiet = true};
	double	   *target = gp_alloc_array(env, n, sizeof(double));
	gp_targets	targets;
	gp_matrix	k;

	memset(&r, 0, sizeof(r));
	r.centre = gp_alloc_array(env, width, sizeof(double));
	r.spread = gp_alloc_array(env, width, sizeof(double));
	moments(n, width, score, r.centre, r.spread);
	r.z = gp_link_standardise(dev, n, width, score, r.centre, r.spread, GP_DOUBLE);
	for (int64_t i = 0; i < n; i++)
		target[i] = label[i] ? 1.0 : 0.0;
	problem.target = target;
	targets = gp_targets_make(env, &problem);
	k = gp_link_covariance(dev, r.z);
	r.solution = gp_dual_solve(dev, &problem, &targets, k, gp_mean_diagonal(dev, k));
	r.offset = targets.offset;
	r.unit = targets.unit;
	gp_targets_free(env, &targets);
	gp_free(env, target);
	return r;
}

/* The posterior means of other rows of scores, of which there may be many. */
void
gp_link_regression_means(gp_device *dev, const gp_link_regression *r, int64_t n, int32_t width,
						 const double *score, double *mean)
{
	for (gp_band band = gp_band_first(n, MEAN_BLOCK); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	z = gp_link_standardise(dev, band.count, width, score + band.first * width, r->centre,
											r->spread, GP_DOUBLE);
		gp_matrix	k = dev->create(dev, band.count, r->z.rows, GP_DOUBLE);
		gp_matrix	sum = dev->create(dev, band.count, 1, GP_DOUBLE);

		gp_link_cross_covariance(dev, z, r->z, k, sum);
		dev->gemm(dev, false, false, 1.0, k, r->solution.weights, 0.0, sum);
		dev->download(dev, gp_matrix_wrap(mean + band.first, band.count, 1, GP_DOUBLE), sum);
		for (int64_t i = band.first; i < band.first + band.count; i++)
			mean[i] = r->offset + r->unit * mean[i];
		dev->destroy(dev, &z);
		dev->destroy(dev, &k);
		dev->destroy(dev, &sum);
	}
}

/*
 * The posterior of other rows of scores, in the target's unit: the mean <k, weights>, and
 * the variance k_ii - |L^-1 k|^2 at the regression's scale (Rasmussen and Williams 2006, 2.25).
 */
void
gp_link_regression_predict(gp_device *dev, const gp_link_regression *r, int64_t n, int32_t width,
						   const double *score, gp_link_row *out)
{
	double		scale = r->solution.scale * r->unit * r->unit;
	gp_matrix	z = gp_link_standardise(dev, n, width, score, r->centre, r->spread, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, n, r->z.rows, GP_DOUBLE);
	gp_matrix	sum = dev->create(dev, n, 1, GP_DOUBLE);
	double	   *host = gp_alloc_array(dev->env, n, sizeof(double));
	gp_matrix	view = gp_matrix_wrap(host, n, 1, GP_DOUBLE);

	gp_link_cross_covariance(dev, z, r->z, k, sum);
	dev->download(dev, view, sum);
	for (int64_t i = 0; i < n; i++)
		out[i].variance = scale * host[i];
	dev->gemm(dev, false, false, 1.0, k, r->solution.weights, 0.0, sum);
	dev->download(dev, view, sum);
	for (int64_t i = 0; i < n; i++)
		out[i].score = r->offset + r->unit * host[i];
	dev->trsm(dev, false, true, r->solution.root, k);
	dev->row_dots(dev, sum, k, k);
	dev->download(dev, view, sum);
	for (int64_t i = 0; i < n; i++)
		out[i].variance = fmax(out[i].variance - scale * host[i], 0.0);
	gp_free(dev->env, host);
	dev->destroy(dev, &z);
	dev->destroy(dev, &k);
	dev->destroy(dev, &sum);
}

/* Frees a regression. */
void
gp_link_regression_free(gp_device *dev, gp_link_regression *r)
{
	gp_free(dev->env, r->centre);
	gp_free(dev->env, r->spread);
	dev->destroy(dev, &r->z);
	gp_solution_free(dev, &r->solution);
}

/* The numbers before row i of a packed root. */
static int64_t
root_offset(int64_t i)
{
	int64_t		b = i / GP_LINK_ROOT_ROWS;

	return GP_LINK_ROOT_ROWS * GP_LINK_ROOT_ROWS * (b * (b + 1) / 2);
}

/* The numbers of a packed root. */
int64_t
gp_link_root_size(int64_t m)
{
	int64_t		full = m / GP_LINK_ROOT_ROWS * GP_LINK_ROOT_ROWS;

	return root_offset(full) + (m - full) * m;
}

/* The block of rows that begins at row i of a packed root, a column of numbers: all columns up to its end. */
static gp_matrix
root_block(gp_matrix root, int64_t m, int64_t i)
{
	int64_t		rows = m - i < GP_LINK_ROOT_ROWS ? m - i : GP_LINK_ROOT_ROWS;

	return (gp_matrix) {gp_matrix_rows(root, root_offset(i), rows * (i + rows)).data,
		rows, i + rows, i + rows, GP_FLOAT};
}

/* A lower triangle of double as blocks of rows in float. */
float *
gp_link_pack_root(gp_device *dev, gp_matrix root)
{
	int64_t		m = root.rows;
	float	   *packed = gp_alloc_array(dev->env, gp_link_root_size(m), sizeof(float));
	gp_matrix	host = gp_matrix_wrap(packed, gp_link_root_size(m), 1, GP_FLOAT);

	for (int64_t i = 0; i < m; i += GP_LINK_ROOT_ROWS)
	{
		gp_matrix	block = root_block(host, m, i);

		dev->download(dev, block, gp_matrix_part(root, i, 0, block.rows, block.cols));
	}
	return packed;
}

/* The block of rows that begins at row i in the type of room, which it is converted into when it has another. */
static gp_matrix
root_rows(gp_device *dev, gp_matrix root, int64_t m, int64_t i, gp_matrix room)
{
	gp_matrix	own = root_block(root, m, i);
	gp_matrix	l;

	if (room.type == own.type)
		return own;
	l = gp_matrix_part(room, 0, 0, own.rows, own.cols);
	dev->copy(dev, l, own);
	return l;
}

/*
 * k (m x n) becomes L^-1 k, block by block of rows: what the rows above give is
 * taken off, then the block on the diagonal is solved.
 */
void
gp_link_root_solve(gp_device *dev, gp_matrix root, gp_matrix k)
{
	int64_t		m = k.rows;
	gp_matrix	room = {.type = k.type};

	if (k.type != root.type)
		room = dev->create(dev, m < GP_LINK_ROOT_ROWS ? m : GP_LINK_ROOT_ROWS, m, k.type);
	for (int64_t i = 0; i < m; i += GP_LINK_ROOT_ROWS)
	{
		gp_matrix	l = root_rows(dev, root, m, i, room);
		gp_matrix	own = gp_matrix_rows(k, i, l.rows);

		if (i > 0)
			dev->gemm(dev, false, false, -1.0, gp_matrix_cols(l, 0, i), gp_matrix_rows(k, 0, i), 1.0,
					  own);
		dev->trsm(dev, true, false, gp_matrix_cols(l, i, l.rows), own);
	}
	dev->destroy(dev, &room);
}
