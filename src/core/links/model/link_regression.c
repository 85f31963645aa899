/*
 * link_regression.c - the logit of a link from the scores of its pair.
 *
 * The Gaussian process has the kernel of a network of infinite width with two hidden layers: the
 * arc-cosine map of degree one, twice, on <z, z'> / width + 1 (Cho and Saul 2009).
 */
#include "link_regression.h"

#define LANDMARKS 200			/* rows of a Gaussian process */
#define KERNEL_DEPTH 2
/* of the landmarks' covariance, over its mean variance: weights stay small enough for float */
#define JITTER 1e-5
#define MOST_JITTER 1e-1
/* rows whose basis functions are held at once for their logits alone */
#define BLOCK_ROWS 512

/* The covariances of rows a with rows b, both standardised; owned by the caller. */
static gp_matrix
cross_covariance(gp_device *dev, gp_matrix a, gp_matrix b)
{
	gp_matrix	k = dev->create(dev, a.rows, b.rows, a.type);
	gp_matrix	diag = dev->create(dev, b.rows + a.rows, 1, GP_DOUBLE);
	gp_matrix	part[] = {gp_matrix_rows(diag, 0, b.rows), gp_matrix_rows(diag, b.rows, a.rows)};

	dev->row_dots(dev, part[0], b, b);
	dev->row_dots(dev, part[1], a, a);
	dev->axpby(dev, 1.0 / (double) a.cols, diag, 0.0, diag);
	dev->shift(dev, diag, 1.0);
	dev->gemm(dev, false, true, 1.0 / (double) a.cols, a, b, 0.0, k);
	dev->shift(dev, k, 1.0);
	for (int d = 0; d < KERNEL_DEPTH; d++)
	{
		gp_stage	stage = {GP_MAP_RELU, 0.0, 0.0, 2.0, 0.0, diag};

		dev->map(dev, &stage, k, b.rows, NULL);
		dev->map_diag(dev, &stage, diag);
	}
	dev->destroy(dev, &diag);
	return k;
}

/* Standardised scores on the device; constant: with a first column of ones. */
static gp_matrix
standardise(gp_device *dev, int64_t n, int32_t width, const double *score, const double *centre,
			const double *deviation, gp_type type, bool constant)
{
	int32_t		columns = width + (constant ? 1 : 0);
	double	   *z = gp_alloc_array(dev->env, (int64_t) gp_size_mul(dev->env, n, columns),
								   sizeof(double));

	for (int64_t e = 0; e < n; e++)
	{
		double	   *row = z + e * columns;

		if (constant)
			*row++ = 1.0;
		for (int32_t j = 0; j < width; j++)
			row[j] = (score[e * width + j] - centre[j]) / deviation[j];
	}
	gp_matrix	out = gp_upload(dev, gp_matrix_wrap(z, n, columns, GP_DOUBLE), type);
	gp_free(dev->env, z);
	return out;
}

gp_matrix
gp_link_basis(gp_device *dev, int64_t n, int32_t width, const double *score, const double *centre,
			  const double *deviation, gp_matrix z)
{
	gp_matrix	rows = standardise(dev, n, width, score, centre, deviation, z.type, z.data == NULL);

	if (z.data == NULL)
		return rows;
	gp_matrix	k = cross_covariance(dev, rows, z);
	dev->destroy(dev, &rows);
	return k;
}

gp_link_regression
gp_link_regression_of(gp_device *dev, gp_matrix k, gp_matrix psi)
{
	gp_link_regression r = {.z = {.type = GP_DOUBLE}};

	if (k.data)
	{
		r.root = dev->create(dev, k.rows, k.rows, GP_DOUBLE);
		gp_covariance_root(dev, k, gp_mean_diagonal(dev, k), JITTER, MOST_JITTER, r.root,
						   "the landmark pairs", "Try another kernel.");
		dev->destroy(dev, &k);
	}
	/* phi = L^-1 psi' */
	gp_matrix	phi = gp_transpose(dev, psi);
	dev->destroy(dev, &psi);
	if (r.root.data)
		dev->trsm(dev, true, false, r.root, phi);
	r.logistic = gp_link_logistic_open(dev, phi);
	return r;
}

static void
moments(int64_t n, int32_t width, const double *score, double *centre, double *deviation)
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
		deviation[j] = sqrt(squares / (double) n);
		if (!(deviation[j] > 1e-9 * (1.0 + fabs(centre[j]))))
			deviation[j] = 1.0;
	}
}

gp_link_regression
gp_link_regression_open(gp_device *dev, int64_t n, int32_t width, const double *score, bool process)
{
	gp_env	   *env = dev->env;
	double	   *centre = gp_alloc_array(env, width, sizeof(double));
	double	   *deviation = gp_alloc_array(env, width, sizeof(double));
	gp_matrix	z = {.type = GP_DOUBLE};
	gp_matrix	k = {0};

	moments(n, width, score, centre, deviation);
	if (process)
	{
		int64_t		m = gp_min64(n, LANDMARKS);
		double	   *landmark = gp_alloc_array(env, m * width, sizeof(double));

		for (int64_t e = 0; e < m; e++)
			memcpy(landmark + e * width, score + e * n / m * width, width * sizeof(double));
		z = standardise(dev, m, width, landmark, centre, deviation, GP_DOUBLE, false);
		k = cross_covariance(dev, z, z);
		gp_free(env, landmark);
	}
	gp_matrix	psi = gp_link_basis(dev, n, width, score, centre, deviation, z);
	gp_link_regression r = gp_link_regression_of(dev, k, psi);
	r.centre = centre;
	r.deviation = deviation;
	r.z = z;
	return r;
}

void
gp_link_regression_logits(gp_link_regression *r, int64_t n, int32_t width, const double *score,
						  double *logit)
{
	gp_device  *dev = r->logistic.dev;
	int64_t		p = r->logistic.phi.rows;
	double	   *weight = gp_link_logistic_weights(&r->logistic, r->root);
	gp_matrix	alpha = gp_upload(dev, gp_matrix_wrap(weight, p, 1, GP_DOUBLE), GP_DOUBLE);

	for (gp_band band = gp_band_first(n, BLOCK_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	psi = gp_link_basis(dev, band.count, width, score + band.first * width,
										r->centre, r->deviation, r->z);
		gp_matrix	sum = dev->create(dev, band.count, 1, GP_DOUBLE);

		dev->gemm(dev, false, false, 1.0, psi, alpha, 0.0, sum);
		dev->download(dev, gp_matrix_wrap(logit + band.first, band.count, 1, GP_DOUBLE), sum);
		gp_destroy_all(dev, &psi, &sum);
	}
	dev->destroy(dev, &alpha);
	gp_free(dev->env, weight);
}

void
gp_link_regression_close(gp_link_regression *r)
{
	gp_device  *dev = r->logistic.dev;

	gp_free_all(dev->env, r->centre, r->deviation);
	gp_destroy_all(dev, &r->z, &r->root);
	gp_link_logistic_close(&r->logistic);
}
