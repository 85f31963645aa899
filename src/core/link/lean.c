/*
 * lean.c - the variance of a regression on many rows, from few directions.
 *
 * With A = K + noise I the observations take k'A^-1 k off the prior variance at k.  For the columns
 * of any U this is at least k'U (U'AU)^-1 U'k, and nearly that when U spans the leading eigenvectors
 * of K: what is left out of k has eigenvalues far below the noise.  U comes from a product of K with
 * random columns, made orthonormal, and another product (Halko, Martinsson and Tropp 2011, 4.4).  With
 * LL' = U'AU and B = U L^-T this is |B'k|^2.
 *
 * Of 2,800 rows 512 directions leave the variance .7% too large in the median, 1.4% at most, for a
 * third of the work.  How many are needed depends on the rows, so that some of these are asked.
 */
#include "regression.h"

#define LEAST_ROWS (3 * GP_LINK_LEAN)	/* a triangle of fewer costs less */
#define ASKED 128				/* rows whose variances are compared */
#define SLACK 0.02				/* of a variance */
#define JITTER 1e-13			/* of the mean diagonal: where K has fewer directions than are asked for */

/* Random columns, between -1 and 1. */
static gp_matrix
random_columns(gp_device *dev, int64_t rows, uint64_t seed)
{
	int64_t		n = rows * GP_LINK_LEAN;
	gp_matrix	out = dev->create(dev, rows, GP_LINK_LEAN, GP_FLOAT);
	float	   *host = gp_alloc_array(dev->env, n, sizeof(float));
	int64_t		next = 0;

	for (int64_t e = 0; e < n; e++)
	{
		gp_look(dev->env, e, &next);
		host[e] = (float) ((double) (int64_t) gp_hash(seed + (uint64_t) e) * 0x1p-63);
	}
	dev->upload(dev, out, gp_matrix_wrap(host, rows, GP_LINK_LEAN, GP_FLOAT));
	gp_free(dev->env, host);
	return out;
}

/* u (double) becomes u L^-T with LL' = v'v; false where that has no root. */
static bool
divide_by_root(gp_device *dev, gp_matrix v, gp_matrix u)
{
	gp_matrix	gram = dev->create(dev, v.cols, v.cols, GP_DOUBLE);
	bool		whole;

	dev->syrk(dev, true, 1.0, v, 0.0, gram);
	dev->shift(dev, gp_matrix_diagonal(gram), JITTER * gp_mean_diagonal(dev, gram));
	whole = dev->potrf(dev, gram) < 0;
	if (whole)
		dev->trsm(dev, false, true, gram, u);
	dev->destroy(dev, &gram);
	return whole;
}

/* y (float) becomes k y; basis (double) an orthonormal basis of it, which y is, too. */
static bool
turn_to_leading(gp_device *dev, gp_matrix k, gp_matrix y, gp_matrix room, gp_matrix basis)
{
	dev->gemm(dev, false, false, 1.0, k, y, 0.0, room);
	dev->copy(dev, basis, room);
	if (!divide_by_root(dev, basis, basis))
		return false;
	dev->copy(dev, y, basis);
	return true;
}

/* A basis of the leading directions of the rows' covariance. */
static bool
leading_directions(gp_device *dev, gp_matrix z, uint64_t seed, gp_matrix basis)
{
	gp_matrix	rough = dev->create(dev, z.rows, z.cols, GP_FLOAT);
	gp_matrix	y = random_columns(dev, z.rows, seed);
	gp_matrix	room = dev->create(dev, z.rows, GP_LINK_LEAN, GP_FLOAT);
	gp_matrix	k;
	bool		found;

	dev->copy(dev, rough, z);
	k = gp_link_covariance(dev, rough);
	found = turn_to_leading(dev, k, y, room, basis) && turn_to_leading(dev, k, y, room, basis);
	dev->destroy(dev, &k);
	dev->destroy(dev, &room);
	dev->destroy(dev, &y);
	dev->destroy(dev, &rough);
	return found;
}

/* |rows b|^2 of each row; owned by the caller. */
static double *
squares(gp_device *dev, gp_matrix rows)
{
	gp_matrix	sum = dev->create(dev, rows.rows, 1, GP_DOUBLE);
	double	   *out = gp_alloc_array(dev->env, rows.rows, sizeof(double));

	dev->row_dots(dev, sum, rows, rows);
	dev->download(dev, gp_matrix_wrap(out, rows.rows, 1, GP_DOUBLE), sum);
	dev->destroy(dev, &sum);
	return out;
}

/* True where no row asked has a variance that is much larger by b than as a whole: k is their covariances. */
static bool
compare_variances(gp_device *dev, gp_matrix root, gp_matrix b, gp_matrix k, const double *prior)
{
	gp_matrix	part = dev->create(dev, k.rows, b.cols, GP_DOUBLE);
	double	   *lean;
	double	   *whole;
	bool		near = true;

	dev->gemm(dev, false, false, 1.0, k, b, 0.0, part);
	lean = squares(dev, part);
	dev->trsm(dev, false, true, root, k);
	whole = squares(dev, k);
	for (int64_t i = 0; i < k.rows; i++)
		near = near && prior[i] - lean[i] <= (1.0 + SLACK) * (prior[i] - whole[i]);
	gp_free(dev->env, lean);
	gp_free(dev->env, whole);
	dev->destroy(dev, &part);
	return near;
}

/* True where b does for some of the rows that were learnt from, spread evenly. */
static bool
serves(gp_device *dev, const gp_link_regression *r, gp_matrix b)
{
	int64_t		m = r->z.rows;
	int32_t		index[ASKED];
	double		prior[ASKED];
	gp_matrix	z = dev->create(dev, ASKED, r->z.cols, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, ASKED, m, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, ASKED, 1, GP_DOUBLE);
	bool		near;

	for (int64_t i = 0; i < ASKED; i++)
		index[i] = (int32_t) (i * m / ASKED);
	dev->gather_rows(dev, z, r->z, index);
	gp_link_cross_covariance(dev, z, r->z, k, own);
	dev->download(dev, gp_matrix_wrap(prior, ASKED, 1, GP_DOUBLE), own);
	near = compare_variances(dev, r->solution.root, b, k, prior);
	dev->destroy(dev, &z);
	dev->destroy(dev, &k);
	dev->destroy(dev, &own);
	return near;
}

/* What that takes, the root of the regression included. */
double
gp_link_lean_bytes(int64_t m)
{
	double		n = (double) m;

	return m < LEAST_ROWS ? 0.0 : 12.0 * n * n + GP_LINK_LEAN * (24.0 * n + 8.0 * GP_LINK_LEAN);
}

/* B of a regression. */
float *
gp_link_lean_make(gp_device *dev, const gp_link_regression *r, uint64_t seed)
{
	int64_t		m = r->z.rows;
	gp_matrix	basis;
	gp_matrix	turned;
	float	   *out = NULL;

	if (m < LEAST_ROWS)
		return NULL;
	basis = dev->create(dev, m, GP_LINK_LEAN, GP_DOUBLE);
	turned = dev->create(dev, m, GP_LINK_LEAN, GP_DOUBLE);
	if (leading_directions(dev, r->z, seed, basis))
	{
		dev->gemm(dev, true, false, 1.0, r->solution.root, basis, 0.0, turned);
		if (divide_by_root(dev, turned, basis) && serves(dev, r, basis))
		{
			out = gp_alloc_array(dev->env, m * GP_LINK_LEAN, sizeof(float));
			dev->download(dev, gp_matrix_wrap(out, m, GP_LINK_LEAN, GP_FLOAT), basis);
		}
	}
	dev->destroy(dev, &turned);
	dev->destroy(dev, &basis);
	return out;
}
