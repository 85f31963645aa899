/*
 * lean.c - the variance of a regression on many rows, from few directions.
 *
 * With A = K + noise I the observations take k'A^-1 k off the prior variance at k.  A has the eigenvectors u_j of K,
 * and t_j, the eigenvalues of K with the noise.  Of the directions beyond the leading ones nothing is asked but that
 * their t is at most the least of these, t_r, and so k'A^-1 k is at least
 *
 *   |k|^2 / t_r - sum_j (1 / t_r - 1 / t_j) (u_j'k)^2
 *
 * and nearly that, for what is left out of k has eigenvalues far below the noise.  The leading vectors come from
 * products of K with random columns (Halko, Martinsson and Tropp 2011, 4.4) and a Rayleigh quotient among these; they
 * are as good as exact, not exact, so that a variance may come out too small, by a thousandth of it.
 *
 * Both terms are large where k has much of the first few directions.  These are taken out of k in double, and give
 * sum (u_j'k)^2 / t_j by themselves; what remains is small, and float does for it.
 *
 * Of 2,800 rows 256 directions leave the variance .2% too large in the median, .4% at most (DBLP), for a third of the work.
 * How many are needed depends on the rows, so that some of these are asked.
 */
#include "regression.h"

#include <math.h>

#define DRAWN (GP_LINK_LEAN + GP_LINK_LEAN / 4)	/* random columns: the last of a subspace are the least exact */
#define LEAST_ROWS (6 * GP_LINK_LEAN)	/* a triangle of fewer costs little more */
#define LED 8					/* directions that are taken out in double */
#define ASKED 128				/* rows whose variances are compared */
#define SLACK 0.02				/* that a variance may be too large, of itself, */
#define DEFICIT 0.002			/* and too small */
#define JITTER 1e-13			/* of the mean diagonal: where K has fewer directions than are asked for */

/* Random columns, between -1 and 1. */
static gp_matrix
random_columns(gp_device *dev, int64_t rows, uint64_t seed)
{
	int64_t		n = rows * DRAWN;
	gp_matrix	out = dev->create(dev, rows, DRAWN, GP_FLOAT);
	float	   *host = gp_alloc_array(dev->env, n, sizeof(float));
	int64_t		next = 0;

	for (int64_t e = 0; e < n; e++)
	{
		gp_look(dev->env, e, &next);
		host[e] = (float) ((double) (int64_t) gp_hash(seed + (uint64_t) e) * 0x1p-63);
	}
	dev->upload(dev, out, gp_matrix_wrap(host, rows, DRAWN, GP_FLOAT));
	gp_free(dev->env, host);
	return out;
}

/* The columns of u (double) become orthonormal; false where they have no root (Halko, Martinsson and Tropp 2011, 4.5 by Cholesky). */
static bool
make_orthonormal(gp_device *dev, gp_matrix u)
{
	gp_matrix	gram = dev->create(dev, u.cols, u.cols, GP_DOUBLE);
	bool		whole;

	dev->syrk(dev, true, 1.0, u, 0.0, gram);
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
	if (!make_orthonormal(dev, basis))
		return false;
	dev->copy(dev, y, basis);
	return true;
}

/* A basis that has the leading directions of the rows' covariance in it. */
static bool
find_leading(gp_device *dev, gp_matrix z, uint64_t seed, gp_matrix basis)
{
	gp_matrix	rough = dev->create(dev, z.rows, z.cols, GP_FLOAT);
	gp_matrix	y = random_columns(dev, z.rows, seed);
	gp_matrix	room = dev->create(dev, z.rows, DRAWN, GP_FLOAT);
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

/*
 * What turns a basis into the leading eigenvectors of A = LL' within it (DRAWN x GP_LINK_LEAN, the first of them
 * first), each but the led ones times the root of its part; and the parts, as they stand behind the directions.
 */
static gp_matrix
rayleigh_ritz(gp_device *dev, gp_matrix root, gp_matrix basis, float *part)
{
	gp_matrix	turned = dev->create(dev, basis.rows, DRAWN, GP_DOUBLE);
	gp_matrix	quotient = dev->create(dev, DRAWN, DRAWN, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, DRAWN, 1, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, DRAWN, GP_LINK_LEAN, GP_DOUBLE);
	double		eigenvalue[DRAWN];	/* ascending */
	double		least;

	dev->gemm(dev, true, false, 1.0, root, basis, 0.0, turned);
	dev->syrk(dev, true, 1.0, turned, 0.0, quotient);
	dev->destroy(dev, &turned);
	dev->syev(dev, quotient, w);
	dev->download(dev, gp_matrix_wrap(eigenvalue, DRAWN, 1, GP_DOUBLE), w);
	least = eigenvalue[DRAWN - GP_LINK_LEAN];
	for (int j = 0; j < GP_LINK_LEAN; j++)
	{
		double		own = 1.0 / eigenvalue[DRAWN - 1 - j];

		dev->axpby(dev, j < LED ? 1.0 : sqrt(fmax(1.0 / least - own, 0.0)), gp_matrix_cols(quotient, DRAWN - 1 - j, 1), 0.0,
				   gp_matrix_cols(out, j, 1));
		if (j < LED)
			part[j] = (float) own;
	}
	part[LED] = (float) (1.0 / least);
	dev->destroy(dev, &w);
	dev->destroy(dev, &quotient);
	return out;
}

/* Makes it ready. */
gp_link_few
gp_link_lean_open(gp_device *dev, int64_t m, const float *lean)
{
	gp_matrix	host = gp_matrix_wrap((void *) lean, m, GP_LINK_LEAN, GP_FLOAT);
	gp_link_few few = {.part = lean + m * GP_LINK_LEAN};

	few.led = dev->create(dev, m, LED, GP_DOUBLE);
	dev->upload(dev, few.led, gp_matrix_cols(host, 0, LED));
	few.rest = dev->create(dev, m, GP_LINK_LEAN - LED, GP_FLOAT);
	dev->upload(dev, few.rest, gp_matrix_cols(host, LED, GP_LINK_LEAN - LED));
	return few;
}

/* Frees it. */
void
gp_link_lean_close(gp_device *dev, gp_link_few *few)
{
	dev->destroy(dev, &few->led);
	dev->destroy(dev, &few->rest);
}

/* Takes the led directions out of rows of covariances (double); out: what they explain. */
static void
take_led(gp_device *dev, const gp_link_few *few, gp_matrix k, double *out)
{
	gp_matrix	along = dev->create(dev, k.rows, LED, GP_DOUBLE);
	double	   *host = gp_alloc_array(dev->env, k.rows * LED, sizeof(double));

	dev->gemm(dev, false, false, 1.0, k, few->led, 0.0, along);
	dev->gemm(dev, false, true, -1.0, along, few->led, 1.0, k);
	dev->download(dev, gp_matrix_wrap(host, k.rows, LED, GP_DOUBLE), along);
	for (int64_t e = 0; e < k.rows; e++)
	{
		out[e] = 0.0;
		for (int j = 0; j < LED; j++)
			out[e] += few->part[j] * host[e * LED + j] * host[e * LED + j];
	}
	gp_free(dev->env, host);
	dev->destroy(dev, &along);
}

/* Adds factor |row|^2 of each row. */
static void
add_squares(gp_device *dev, double factor, gp_matrix rows, double *out)
{
	gp_matrix	sum = dev->create(dev, rows.rows, 1, GP_DOUBLE);
	double	   *host = gp_alloc_array(dev->env, rows.rows, sizeof(double));

	dev->row_dots(dev, sum, rows, rows);
	dev->download(dev, gp_matrix_wrap(host, rows.rows, 1, GP_DOUBLE), sum);
	for (int64_t e = 0; e < rows.rows; e++)
		out[e] += factor * host[e];
	gp_free(dev->env, host);
	dev->destroy(dev, &sum);
}

/* What the observations explain of each row, computed in a type but for the led directions. */
void
gp_link_lean_explained(gp_device *dev, const gp_link_few *few, gp_matrix k, gp_type type, double *out)
{
	gp_matrix	whole = dev->create(dev, k.rows, k.cols, GP_DOUBLE);
	gp_matrix	rest = few->rest;
	gp_matrix	rows = dev->create(dev, k.rows, k.cols, type);
	gp_matrix	part = dev->create(dev, k.rows, rest.cols, type);

	dev->copy(dev, whole, k);
	take_led(dev, few, whole, out);
	dev->copy(dev, rows, whole);
	dev->destroy(dev, &whole);
	if (rest.type != type)
	{
		rest = dev->create(dev, rest.rows, rest.cols, type);
		dev->copy(dev, rest, few->rest);
	}
	dev->gemm(dev, false, false, 1.0, rows, rest, 0.0, part);
	add_squares(dev, few->part[LED], rows, out);
	add_squares(dev, -1.0, part, out);
	if (rest.type != few->rest.type)
		dev->destroy(dev, &rest);
	dev->destroy(dev, &part);
	dev->destroy(dev, &rows);
}

/* True where no row asked has a variance by few directions that is much larger than the whole one, or smaller at all: k is their covariances. */
static bool
compare_variances(gp_device *dev, gp_matrix root, const gp_link_few *few, gp_matrix k, const double *prior)
{
	double	   *lean = gp_alloc_array(dev->env, k.rows, sizeof(double));
	double	   *whole = gp_alloc_zero(dev->env, k.rows, sizeof(double));
	bool		near = true;

	gp_link_lean_explained(dev, few, k, GP_FLOAT, lean);
	dev->trsm(dev, false, true, root, k);
	add_squares(dev, 1.0, k, whole);
	for (int64_t i = 0; i < k.rows; i++)
		near = near && whole[i] - lean[i] <= SLACK * (prior[i] - whole[i]) && lean[i] - whole[i] <= DEFICIT * (prior[i] - whole[i]);
	gp_free(dev->env, lean);
	gp_free(dev->env, whole);
	return near;
}

/* True where few directions do for some of the rows that were learnt from, spread evenly. */
static bool
serves(gp_device *dev, const gp_link_regression *r, const float *lean)
{
	int64_t		m = r->z.rows;
	int32_t		index[ASKED];
	double		prior[ASKED];
	gp_link_few few = gp_link_lean_open(dev, m, lean);
	gp_matrix	z = dev->create(dev, ASKED, r->z.cols, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, ASKED, m, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, ASKED, 1, GP_DOUBLE);
	bool		near;

	for (int64_t i = 0; i < ASKED; i++)
		index[i] = (int32_t) (i * m / ASKED);
	dev->gather_rows(dev, z, r->z, index);
	gp_link_cross_covariance(dev, z, r->z, k, own);
	dev->download(dev, gp_matrix_wrap(prior, ASKED, 1, GP_DOUBLE), own);
	near = compare_variances(dev, r->solution.root, &few, k, prior);
	dev->destroy(dev, &z);
	dev->destroy(dev, &k);
	dev->destroy(dev, &own);
	gp_link_lean_close(dev, &few);
	return near;
}

/* What that takes, the root of the regression included. */
double
gp_link_lean_bytes(int64_t m)
{
	double		n = (double) m;

	return m < LEAST_ROWS ? 0.0 : 12.0 * n * n + DRAWN * (24.0 * n + 40.0 * DRAWN);
}

/* The numbers of the directions of so many rows. */
int64_t
gp_link_lean_size(int64_t m)
{
	return m * GP_LINK_LEAN + LED + 1;
}

/* The directions of a regression. */
float *
gp_link_lean_make(gp_device *dev, const gp_link_regression *r, uint64_t seed)
{
	gp_env	   *env = dev->env;
	int64_t		m = r->z.rows;
	gp_matrix	basis;
	float	   *out = NULL;

	if (m < LEAST_ROWS)
		return NULL;
	basis = dev->create(dev, m, DRAWN, GP_DOUBLE);
	if (find_leading(dev, r->z, seed, basis))
	{
		gp_matrix	turn;
		gp_matrix	u;

		out = gp_alloc_array(env, gp_link_lean_size(m), sizeof(float));
		turn = rayleigh_ritz(dev, r->solution.root, basis, out + m * GP_LINK_LEAN);
		u = dev->create(dev, m, GP_LINK_LEAN, GP_DOUBLE);
		dev->gemm(dev, false, false, 1.0, basis, turn, 0.0, u);
		dev->download(dev, gp_matrix_wrap(out, m, GP_LINK_LEAN, GP_FLOAT), u);
		dev->destroy(dev, &u);
		dev->destroy(dev, &turn);
	}
	dev->destroy(dev, &basis);
	if (out == NULL || serves(dev, r, out))
		return out;
	gp_free(env, out);
	return NULL;
}
