/*
 * mean_subset.c - the posterior mean of a regression on many rows, from few of them.
 *
 * A node has hundreds of candidates, and a mean on all rows takes as long as all other scores of one.  So candidates
 * are ranked first by a function of few rows, f(z) = sum_j k(z, z_j) w_j (the subset of regressors; Rasmussen and Williams
 * 2006, 8.3.1), whose weights are fitted to the posterior means at all rows and not to their labels: it stands for the
 * means themselves, and is no regression of its own.
 *
 * The rows are the pivots of the Cholesky factor of their covariance, each the one that those before it explain least
 * (Fine and Scheinberg 2001).  So any first of them serve as well, and two sieves share them.
 */
#include "link_regression.h"

#include <math.h>

#define SHARE 3					/* rows for each one that is taken: fewer take as long themselves */
#define LEAST_ROWS 48			/* that may be taken: all rows of a regression on fewer take little more */
#define EXPLAINED 1e-6			/* of a variance: what is left of a row that others explain */
#define PENALTY 1e-4			/* of the weights' own covariance, beside errors of means between 0 and 1 */
#define JITTER 1e-10			/* of the mean diagonal */

static const int32_t sieve_rows[GP_LINK_SIEVES] = {64, 384};

/* The rows of a sieve of so many that were taken in all. */
int32_t
gp_link_sieve_rows(int sieve, int32_t taken)
{
	return taken < sieve_rows[sieve] ? taken : sieve_rows[sieve];
}

/* The weights of all sieves: one for each of its rows. */
int64_t
gp_link_sieve_weights(int32_t taken)
{
	int64_t		n = 0;

	for (int s = 0; s < GP_LINK_SIEVES; s++)
		n += gp_link_sieve_rows(s, taken);
	return n;
}

/* Row j of the turned Cholesky factor of k, whose pivot is row p: what the rows before it leave of k's. */
static void
add_pivot(gp_device *dev, gp_matrix k, gp_matrix factor, int64_t j, int64_t p, double left, double *host)
{
	gp_matrix	row = gp_matrix_rows(factor, j, 1);

	dev->copy(dev, row, gp_matrix_rows(k, p, 1));
	if (j > 0)
	{
		gp_matrix	before = gp_matrix_rows(factor, 0, j);

		dev->gemm(dev, true, false, -1.0, gp_matrix_cols(before, p, 1), before, 1.0, row);
	}
	dev->axpby(dev, 1.0 / sqrt(left), row, 0.0, row);
	dev->download(dev, gp_matrix_wrap(host, 1, k.rows, GP_DOUBLE), row);
}

/* The row of which most is left. */
static int64_t
find_pivot(const double *left, int64_t n)
{
	int64_t		best = 0;

	for (int64_t i = 1; i < n; i++)
		if (left[i] > left[best])
			best = i;
	return best;
}

/* The first pivots of a covariance (float), at most so many, by a factor in double; returns how many there are. */
static int32_t
take_pivots(gp_device *dev, gp_matrix k, int32_t most, int32_t *row)
{
	gp_env	   *env = dev->env;
	int64_t		n = k.rows;
	gp_matrix	factor = dev->create(dev, most, n, GP_DOUBLE);
	double	   *left = gp_alloc_array(env, n, sizeof(double));
	double	   *pivot = gp_alloc_array(env, n, sizeof(double));
	double		least = EXPLAINED * gp_mean_diagonal(dev, k);
	int32_t		j;

	dev->download(dev, gp_matrix_wrap(left, n, 1, GP_DOUBLE), gp_matrix_diagonal(k));
	for (j = 0; j < most; j++)
	{
		int64_t		p = find_pivot(left, n);

		if (!(left[p] > least))
			break;
		row[j] = (int32_t) p;
		add_pivot(dev, k, factor, j, p, left[p], pivot);
		for (int64_t i = 0; i < n; i++)
			left[i] -= pivot[i] * pivot[i];
		left[p] = 0.0;
		env->check_interrupts(env);
	}
	gp_free(env, left);
	gp_free(env, pivot);
	dev->destroy(dev, &factor);
	return j;
}

/* The weights of the first rows taken, by least squares to the means y: (C'C + penalty C_ff) w = C'y; false where that has no root. */
static bool
fit_weights(gp_device *dev, gp_matrix c, gp_matrix y, const int32_t *row, double *weight)
{
	gp_matrix	gram = dev->create(dev, c.cols, c.cols, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, c.cols, c.cols, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, c.cols, 1, GP_DOUBLE);
	bool		whole;

	dev->gather_rows(dev, own, c, row);
	dev->syrk(dev, true, 1.0, c, 0.0, gram);
	dev->axpby(dev, PENALTY, own, 1.0, gram);
	dev->shift(dev, gp_matrix_diagonal(gram), JITTER * gp_mean_diagonal(dev, gram));
	dev->gemm(dev, true, false, 1.0, c, y, 0.0, w);
	whole = dev->potrf(dev, gram) < 0;
	if (whole)
	{
		dev->trsm(dev, true, false, gram, w);
		dev->trsm(dev, true, true, gram, w);
		dev->download(dev, gp_matrix_wrap(weight, c.cols, 1, GP_DOUBLE), w);
	}
	dev->destroy(dev, &w);
	dev->destroy(dev, &own);
	dev->destroy(dev, &gram);
	return whole;
}

/* The weights of all sieves, in the unit of alpha (n x 1); NULL where one has none. */
static double *
fit_sieves(gp_device *dev, gp_matrix z, gp_matrix y, const int32_t *row, int32_t taken)
{
	gp_env	   *env = dev->env;
	gp_matrix	few = dev->create(dev, taken, z.cols, GP_DOUBLE);
	gp_matrix	c = dev->create(dev, z.rows, taken, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, z.rows, 1, GP_DOUBLE);
	double	   *weight = gp_alloc_array(env, gp_link_sieve_weights(taken), sizeof(double));
	double	   *next = weight;
	bool		whole = true;

	dev->gather_rows(dev, few, z, row);
	gp_link_cross_covariance(dev, z, few, c, own);
	for (int s = 0; s < GP_LINK_SIEVES; s++)
	{
		int32_t		rows = gp_link_sieve_rows(s, taken);

		whole = whole && fit_weights(dev, gp_matrix_cols(c, 0, rows), y, row, next);
		next += rows;
	}
	dev->destroy(dev, &few);
	dev->destroy(dev, &c);
	dev->destroy(dev, &own);
	if (whole)
		return weight;
	gp_free(env, weight);
	return NULL;
}

/* The posterior means at all rows but for their constant, K alpha, added in double. */
static gp_matrix
means_at_rows(gp_device *dev, gp_matrix k, const double *alpha)
{
	gp_env	   *env = dev->env;
	int64_t		n = k.rows;
	double	   *row = gp_alloc_array(env, n, sizeof(double));
	double	   *mean = gp_alloc_zero(env, n, sizeof(double));
	gp_matrix	out = dev->create(dev, n, 1, GP_DOUBLE);
	int64_t		next = 0;

	for (int64_t i = 0; i < n; i++)
	{
		gp_poll(env, i * n, &next);
		dev->download(dev, gp_matrix_wrap(row, 1, n, GP_DOUBLE), gp_matrix_rows(k, i, 1));
		for (int64_t j = 0; j < n; j++)
			mean[i] += row[j] * alpha[j];
	}
	dev->upload(dev, out, gp_matrix_wrap(mean, n, 1, GP_DOUBLE));
	gp_free(env, row);
	gp_free(env, mean);
	return out;
}

/* The rows of the sieves, and their weights. */
int32_t
gp_link_sieves_make(gp_device *dev, gp_matrix z, const double *alpha, int32_t **row, double **weight)
{
	gp_env	   *env = dev->env;
	int32_t		most = (int32_t) gp_min64(z.rows / SHARE, sieve_rows[GP_LINK_SIEVES - 1]);
	gp_matrix	rough;
	gp_matrix	k;
	gp_matrix	y;
	int32_t		taken;

	*row = NULL;
	*weight = NULL;
	if (most < LEAST_ROWS)
		return 0;
	rough = dev->create(dev, z.rows, z.cols, GP_FLOAT);
	dev->copy(dev, rough, z);
	k = gp_link_covariance(dev, rough);
	dev->destroy(dev, &rough);
	y = means_at_rows(dev, k, alpha);
	*row = gp_alloc_array(env, most, sizeof(int32_t));
	taken = take_pivots(dev, k, most, *row);
	dev->destroy(dev, &k);
	if (taken > 0)
		*weight = fit_sieves(dev, z, y, *row, taken);
	dev->destroy(dev, &y);
	if (*weight)
		return taken;
	gp_free(env, *row);
	*row = NULL;
	return 0;
}
