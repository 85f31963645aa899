/*
 * variance_lowrank.c - the variance of a regression on many rows, from few directions.
 *
 * With A = K + noise I the observations take k'A^-1 k off the prior variance at k.  A has the eigenvectors u_j of K,
 * and t_j, the eigenvalues of K with the noise.  Of the directions beyond the r leading ones nothing is asked but what they count for
 * together:
 *
 *   k'A^-1 k ~ c |k|^2 - sum_j (c - 1 / t_j) (u_j'k)^2
 *
 * With c = 1 / t_r that is a lower bound, and the variance an upper one.  What is left of k lies in directions of smaller eigenvalues,
 * so that c may be larger: it is fitted to rows whose whole variance is known, nearly to the least that does for any of these.
 * The leading vectors come from products of K with random columns (Halko, Martinsson and Tropp 2011, 4.4) and a Rayleigh
 * quotient among these; they are as good as exact, not exact.
 *
 * Both terms are large where k has much of the first few directions.  These are taken out of k in double, and give
 * sum (u_j'k)^2 / t_j by themselves; what remains is small, and float does for it.
 *
 * How many are needed depends on the rows and their noise: of 2,800 rows 160 leave the variance .5% too large in the median
 * on DBLP, 96 do on Debian's packages, and 320 where links are told from other pairs almost without an error.  So some of the rows are asked, and the fewest are taken that serve these.
 */
#include "link_regression.h"

#include <math.h>

#define DRAWN (GP_LINK_LEAN + GP_LINK_LEAN / 4)	/* random columns: the last of a subspace are the least exact */
#define LEAST_ROWS 1536			/* a triangle of fewer costs little more */
#define LED 32					/* directions that are taken out in double: of eight, float leaves variances of well known pairs 5% off */
#define ASKED 128				/* rows whose variances are compared */
#define SLACK 0.02				/* that a variance may be too large, of itself, */
#define DEFICIT 0.002			/* and too small */
#define NEARLY 0.9				/* of what c may be above its bound: other rows may need it smaller than those that were asked */
#define NOTHING 1e-12			/* of a row's square: all of it lies in the leading directions */
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
		gp_poll(dev->env, e, &next);
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

/* The leading eigenvectors of A, the first of them first. */
typedef struct leading
{
	gp_matrix	u;				/* m x GP_LINK_LEAN double */
	double	   *eigenvalue;		/* GP_LINK_LEAN, descending */
} leading;

/* The leading eigenvectors of A = LL' within a basis, by a Rayleigh quotient. */
static leading
rayleigh_ritz(gp_device *dev, gp_matrix root, gp_matrix basis)
{
	gp_matrix	turned = dev->create(dev, basis.rows, DRAWN, GP_DOUBLE);
	gp_matrix	quotient = dev->create(dev, DRAWN, DRAWN, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, DRAWN, 1, GP_DOUBLE);
	gp_matrix	turn = dev->create(dev, DRAWN, GP_LINK_LEAN, GP_DOUBLE);
	leading		first = {.eigenvalue = gp_alloc_array(dev->env, GP_LINK_LEAN, sizeof(double))};
	double		eigenvalue[DRAWN];	/* ascending */

	dev->gemm(dev, true, false, 1.0, root, basis, 0.0, turned);
	dev->syrk(dev, true, 1.0, turned, 0.0, quotient);
	dev->destroy(dev, &turned);
	dev->syev(dev, quotient, w);
	dev->download(dev, gp_matrix_wrap(eigenvalue, DRAWN, 1, GP_DOUBLE), w);
	for (int j = 0; j < GP_LINK_LEAN; j++)
	{
		first.eigenvalue[j] = eigenvalue[DRAWN - 1 - j];
		dev->copy(dev, gp_matrix_cols(turn, j, 1), gp_matrix_cols(quotient, DRAWN - 1 - j, 1));
	}
	dev->destroy(dev, &w);
	dev->destroy(dev, &quotient);
	first.u = dev->create(dev, basis.rows, GP_LINK_LEAN, GP_DOUBLE);
	dev->gemm(dev, false, false, 1.0, basis, turn, 0.0, first.u);
	dev->destroy(dev, &turn);
	return first;
}

/* So many of them as they are stored: each but the led ones times the root of its part, then the parts. */
static float *
store(gp_device *dev, const leading *first, int32_t directions, double rest)
{
	int64_t		m = first->u.rows;
	float	   *out = gp_alloc_array(dev->env, gp_link_lean_size(m, directions), sizeof(float));
	float	   *part = out + m * directions;
	gp_matrix	scaled = dev->create(dev, m, directions, GP_DOUBLE);

	for (int32_t j = 0; j < directions; j++)
	{
		double		own = 1.0 / first->eigenvalue[j];

		dev->axpby(dev, j < LED ? 1.0 : sqrt(fmax(rest - own, 0.0)), gp_matrix_cols(first->u, j, 1), 0.0, gp_matrix_cols(scaled, j, 1));
		if (j < LED)
			part[j] = (float) own;
	}
	part[LED] = (float) rest;
	dev->download(dev, gp_matrix_wrap(out, m, directions, GP_FLOAT), scaled);
	dev->destroy(dev, &scaled);
	return out;
}

/* Makes it ready. */
gp_link_few
gp_link_lean_open(gp_device *dev, int64_t m, int32_t directions, const float *lean)
{
	gp_matrix	host = gp_matrix_wrap((void *) lean, m, directions, GP_FLOAT);
	gp_link_few few = {.part = lean + m * directions};

	few.led = dev->create(dev, m, LED, GP_DOUBLE);
	dev->upload(dev, few.led, gp_matrix_cols(host, 0, LED));
	few.rest = dev->create(dev, m, directions - LED, GP_FLOAT);
	dev->upload(dev, few.rest, gp_matrix_cols(host, LED, directions - LED));
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

/* Rows that were learnt from, spread evenly, whose variances are compared. */
typedef struct asked
{
	gp_matrix	k;				/* ASKED x m double: their covariances */
	double		prior[ASKED];
	double		whole[ASKED];	/* what all rows explain */
	double		square[ASKED];	/* |k|^2 */
	double	   *along;			/* ASKED x GP_LINK_LEAN: <k, u_j> */
} asked;

/* Asks them. */
static asked *
ask(gp_device *dev, const gp_link_regression *r, const leading *first)
{
	int64_t		m = r->z.rows;
	int32_t		index[ASKED];
	gp_matrix	z = dev->create(dev, ASKED, r->z.cols, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, ASKED, 1, GP_DOUBLE);
	gp_matrix	along = dev->create(dev, ASKED, GP_LINK_LEAN, GP_DOUBLE);
	gp_matrix	solved = dev->create(dev, ASKED, m, GP_DOUBLE);
	asked	   *a = gp_alloc_zero(dev->env, 1, sizeof(asked));

	a->k = dev->create(dev, ASKED, m, GP_DOUBLE);
	a->along = gp_alloc_array(dev->env, ASKED * GP_LINK_LEAN, sizeof(double));
	for (int64_t i = 0; i < ASKED; i++)
		index[i] = (int32_t) (i * m / ASKED);
	dev->gather_rows(dev, z, r->z, index);
	gp_link_cross_covariance(dev, z, r->z, a->k, own);
	dev->download(dev, gp_matrix_wrap(a->prior, ASKED, 1, GP_DOUBLE), own);
	add_squares(dev, 1.0, a->k, a->square);
	dev->gemm(dev, false, false, 1.0, a->k, first->u, 0.0, along);
	dev->download(dev, gp_matrix_wrap(a->along, ASKED, GP_LINK_LEAN, GP_DOUBLE), along);
	dev->copy(dev, solved, a->k);
	dev->trsm(dev, false, true, r->solution.root, solved);
	add_squares(dev, 1.0, solved, a->whole);
	dev->destroy(dev, &solved);
	dev->destroy(dev, &along);
	dev->destroy(dev, &own);
	dev->destroy(dev, &z);
	return a;
}

/* What the rest of a row counts for: nearly the least that does for any row asked, and no less than the bound. */
static double
rest_of(const asked *a, const leading *first, int32_t directions)
{
	double		bound = 1.0 / first->eigenvalue[directions - 1];
	double		least = INFINITY;

	for (int64_t i = 0; i < ASKED; i++)
	{
		double		left = a->whole[i];
		double		rest = a->square[i];

		for (int32_t j = 0; j < directions; j++)
		{
			double		along = a->along[i * GP_LINK_LEAN + j];

			left -= along * along / first->eigenvalue[j];
			rest -= along * along;
		}
		if (rest > NOTHING * a->square[i])
			least = fmin(least, left / rest);
	}
	return isfinite(least) && least > bound ? bound + NEARLY * (least - bound) : bound;
}

/* True where no row asked has a variance that is much larger than the whole one, or smaller but for a trace. */
static bool
serves(gp_device *dev, const asked *a, int32_t directions, const float *lean)
{
	gp_link_few few = gp_link_lean_open(dev, a->k.cols, directions, lean);
	double		explained[ASKED];
	bool		near = true;

	gp_link_lean_explained(dev, &few, a->k, GP_FLOAT, explained);
	for (int64_t i = 0; i < ASKED; i++)
	{
		double		variance = a->prior[i] - a->whole[i];

		near = near && a->whole[i] - explained[i] <= SLACK * variance && explained[i] - a->whole[i] <= DEFICIT * variance;
	}
	gp_link_lean_close(dev, &few);
	return near;
}

/* The fewest directions that serve, of some numbers of them; NULL, and the number untouched, where none does. */
static float *
choose(gp_device *dev, const gp_link_regression *r, const leading *first, int32_t *directions)
{
	static const int32_t number[] = {96, 128, 160, 192, 256, GP_LINK_LEAN};
	asked	   *a = ask(dev, r, first);
	float	   *out = NULL;

	for (size_t k = 0; k < sizeof(number) / sizeof(number[0]); k++)
	{
		out = store(dev, first, number[k], rest_of(a, first, number[k]));
		if (serves(dev, a, number[k], out))
		{
			*directions = number[k];
			break;
		}
		gp_free(dev->env, out);
		out = NULL;
	}
	gp_free(dev->env, a->along);
	dev->destroy(dev, &a->k);
	gp_free(dev->env, a);
	return out;
}

/* What that takes, the root of the regression included. */
double
gp_link_lean_bytes(int64_t m)
{
	double		n = (double) m;

	return m < LEAST_ROWS ? 0.0 : 12.0 * n * n + DRAWN * (24.0 * n + 40.0 * DRAWN);
}

/* The numbers of so many directions of so many rows. */
int64_t
gp_link_lean_size(int64_t m, int32_t directions)
{
	return m * directions + LED + 1;
}

/* How many directions so many numbers are; 0: none that there could be. */
int32_t
gp_link_lean_directions(int64_t m, int64_t numbers)
{
	int64_t		directions = m > 0 ? (numbers - LED - 1) / m : 0;

	if (directions <= LED || directions > GP_LINK_LEAN || numbers != gp_link_lean_size(m, (int32_t) directions))
		return 0;
	return (int32_t) directions;
}

/* The directions of a regression. */
float *
gp_link_lean_make(gp_device *dev, const gp_link_regression *r, uint64_t seed, int32_t *directions)
{
	int64_t		m = r->z.rows;
	gp_matrix	basis;
	float	   *out = NULL;

	*directions = 0;
	if (m < LEAST_ROWS)
		return NULL;
	basis = dev->create(dev, m, DRAWN, GP_DOUBLE);
	if (find_leading(dev, r->z, seed, basis))
	{
		leading		first = rayleigh_ritz(dev, r->solution.root, basis);

		out = choose(dev, r, &first, directions);
		dev->destroy(dev, &first.u);
		gp_free(dev->env, first.eigenvalue);
	}
	dev->destroy(dev, &basis);
	return out;
}
