/*
 * propagation.c - P(a), propagation over the whole graph, by products with A.
 *
 * A has a real spectrum in [-1, 1] where the graph is undirected, under either normalisation: P(a)
 * is then a Chebyshev expansion of fixed length, else its power series.
 *
 * Where a rough P(a) serves, to compare kernels, and a series would be long, it is the polynomial
 * that conjugate gradients take for one vector, a sum of the first columns, if that is short: most
 * of a graph's spectrum may lie far inside [-1, 1].  Lanczos vectors of A from there (Lanczos 1950)
 * tell it, as a Chebyshev expansion, too.
 */
#include "prepared.h"

#define TOLERANCE_DOUBLE 1e-10	/* what a series leaves out, */
#define TOLERANCE_FLOAT 1e-7
#define TOLERANCE_ROUGH 5e-2	/* where any polynomial near it serves as well */
#define POLYNOMIAL_LEAVES 1e-4	/* of its vector, what a polynomial may leave */
#define USUAL_PRODUCTS 10		/* of a polynomial, in a dry run */

/* The ratio of successive Chebyshev coefficients of 1 / (1 - c x). */
static double
chebyshev_ratio(double c)
{
	return (1.0 - sqrt(1.0 - c * c)) / c;
}

int
gp_propagation_products(const gp_eval *ev, double alpha)
{
	double		c = 1.0 - alpha;
	double		ratio = ev->kernel->directed ? c : chebyshev_ratio(c);
	double		tolerance = ev->coarse_ppr ? TOLERANCE_ROUGH :
		ev->type == GP_FLOAT ? TOLERANCE_FLOAT : TOLERANCE_DOUBLE;

	if (c <= 0.0)
		return 0;
	return (int) ceil(log(tolerance * (1.0 - ratio)) / log(ratio));
}

/*
 * sum = sum_k coef_k T_k(A) x, or of powers of A on a directed graph; x is not needed again.
 */
static void
expand(gp_eval *ev, const double *coef, int length, gp_matrix x, gp_matrix work, gp_matrix sum)
{
	gp_device  *dev = ev->dev;
	bool		chebyshev = !ev->kernel->directed;
	gp_matrix	last = work;
	gp_matrix	now = x;

	dev->axpby(dev, coef[0], x, 0.0, sum);
	for (int k = 1; k <= length; k++)
	{
		gp_matrix	next = last;

		dev->spmm(dev, chebyshev && k > 1 ? 2.0 : 1.0, ev->kernel->a, now,
				  chebyshev && k > 1 ? -1.0 : 0.0, next);
		last = now;
		now = next;
		dev->axpby(dev, coef[k], now, 1.0, sum);
	}
}

/*
 * P(alpha) to the end.  With c = 1 - alpha, a real spectrum takes Chebyshev polynomials,
 * r = (1 - sqrt(1 - c^2)) / c:
 *
 *		alpha / (1 - c x) = alpha (1 + 2 sum_k r^k T_k(x)) / sqrt(1 - c^2),
 *
 * any other one the power series alpha sum_k c^k A^k.
 */
static void
by_series(gp_eval *ev, double alpha, gp_matrix x, gp_matrix work, gp_matrix sum)
{
	bool		chebyshev = !ev->kernel->directed;
	double		c = 1.0 - alpha;
	int			length = gp_propagation_products(ev, alpha);
	double		ratio = chebyshev ? chebyshev_ratio(c) : c;
	double	   *coef = gp_alloc_array(ev->env, length + 1, sizeof(double));

	coef[0] = chebyshev ? alpha / sqrt(1.0 - c * c) : alpha;
	for (int k = 1; k <= length; k++)
		coef[k] = coef[k - 1] * (chebyshev && k == 1 ? 2.0 * ratio : ratio);
	expand(ev, coef, length, x, work, sum);
	gp_free(ev->env, coef);
}

/* The weights of the inner product in which A is symmetric; NULL: all are 1. */
static double *
symmetric_weights(const gp_eval *ev)
{
	const gp_csr *a = ev->kernel->a;

	if (ev->kernel->program->norm != GP_NORM_ROW)
		return NULL;
	double	   *w = gp_alloc_array(ev->env, a->rows, sizeof(double));
	/* All that is on the diagonal is what a row's sum was divided by. */
	GP_EACH(ev->env, i, a->rows, a->start[i])
	{
		int64_t		k = a->start[i];

		while (a->col[k] != i)
			k++;
		w[i] = 1.0 / gp_number_at(a->value, a->type, k);
	}
	return w;
}

static double
weighted_dot(gp_eval *ev, const double *weight, gp_matrix a, gp_matrix b)
{
	double	   *x = gp_download(ev->dev, a);
	double	   *y = gp_download(ev->dev, b);
	double		sum = 0.0;

	GP_EACH(ev->env, i, gp_items(ev->env, a.rows), i)
		sum += (weight ? weight[i] : 1.0) * x[i] * y[i];
	gp_free_all(ev->env, x, y);
	return sum;
}

/* The sum of x's columns with signs that are drawn: what many share does not drown the rest. */
static gp_matrix
sum_of_columns(gp_eval *ev, gp_matrix x)
{
	double	   *sign = gp_alloc_array(ev->env, x.cols, sizeof(double));

	for (int64_t j = 0; j < x.cols; j++)
		sign[j] = gp_hash((uint64_t) j) & 1 ? 1.0 : -1.0;
	gp_matrix	signs = ev->dev->create(ev->dev, x.cols, 1, x.type);
	ev->dev->upload(ev->dev, signs, gp_matrix_wrap(sign, x.cols, 1, GP_DOUBLE));
	gp_matrix	sum = ev->dev->create(ev->dev, x.rows, 1, x.type);
	ev->dev->gemm(ev->dev, false, false, 1.0, x, signs, 0.0, sum);
	ev->dev->destroy(ev->dev, &signs);
	gp_free(ev->env, sign);
	return sum;
}

/* to = (A now - diagonal now - beside last) / next as polynomials in A, by their Chebyshev
 * coefficients; x T_j = (T_(j+1) + T_(j-1)) / 2. */
static void
next_polynomial(int degree, const double *now, const double *last, double diagonal, double beside,
				double next, double *to)
{
	for (int j = 0; j <= degree + 1; j++)
	{
		double		moved = (j == 1 ? now[0] : j > 1 ? now[j - 1] / 2.0 : 0.0) +
			(j < degree ? now[j + 1] / 2.0 : 0.0);

		to[j] = (moved - diagonal * (j <= degree ? now[j] : 0.0) -
				 (j < degree ? beside * last[j] : 0.0)) / next;
	}
}

/*
 * Finds the polynomial for a vector, which is destroyed; its length is 0 where that would be long.
 *
 * The vectors v_k make A tridiagonal, so that of what they span the solution is sum_k y_k v_k with
 * (I - c T) y = alpha e_1, and the last y tells what is left.
 */
static void
find_polynomial(gp_eval *ev, double alpha, gp_matrix now, gp_polynomial *p)
{
	gp_device  *dev = ev->dev;
	double		c = 1.0 - alpha;
	double		system[GP_SMALL][GP_SMALL] = {{0.0}};
	double		(*basis)[GP_SMALL + 1] = gp_alloc_zero(ev->env, GP_SMALL + 1, sizeof(*basis));
	double		right[GP_SMALL] = {1.0};
	double		y[GP_SMALL];
	double		left = INFINITY;
	double	   *weight = symmetric_weights(ev);
	gp_matrix	last = dev->create(dev, now.rows, 1, now.type);
	double		size = sqrt(weighted_dot(ev, weight, now, now));
	/* A vector of 0, or whose squares overflow, tells nothing. */
	int			most = ev->env->dry ? USUAL_PRODUCTS : size > 0.0 && isfinite(size) ? GP_SMALL : 0;
	int			k = 0;

	basis[0][0] = 1.0;
	for (double beside = 0.0; k < most && left > POLYNOMIAL_LEAVES; k++, beside = size)
	{
		gp_matrix	next = last;

		dev->axpby(dev, 1.0 / size, now, 0.0, now);
		dev->spmm(dev, 1.0, ev->kernel->a, now, -beside, next);
		double		diagonal = weighted_dot(ev, weight, now, next);
		dev->axpby(dev, -diagonal, now, 1.0, next);
		size = sqrt(weighted_dot(ev, weight, next, next));
		next_polynomial(k, basis[k], basis[k > 0 ? k - 1 : 0], diagonal, beside, size,
						basis[k + 1]);
		system[k][k] = 1.0 - c * diagonal;
		if (k > 0)
			system[k][k - 1] = system[k - 1][k] = -c * beside;
		gp_solve_small(k + 1, *system, GP_SMALL, right, y);
		left = c * size * fabs(y[k]);
		last = now;
		now = next;
	}
	dev->destroy(dev, &last);
	dev->destroy(dev, &now);
	*p = (gp_polynomial) {.alpha = alpha};
	p->length = left > POLYNOMIAL_LEAVES && !ev->env->dry ? 0 : k;
	for (int i = 0; i < p->length; i++)
		for (int j = 0; j <= i; j++)
			p->coef[j] += alpha * y[i] * basis[i][j];
	gp_free_all(ev->env, weight, basis);
}

void
gp_propagate(gp_eval *ev, double alpha, gp_matrix x, gp_matrix work, gp_matrix sum)
{
	gp_polynomial *rough = &ev->kernel->rough;
	bool		may_be_rough = ev->coarse_ppr && !ev->kernel->directed &&
		gp_propagation_products(ev, alpha) > GP_SMALL;

	if (alpha >= 1.0)
		return;
	if (may_be_rough && rough->alpha != alpha)
		find_polynomial(ev, alpha, sum_of_columns(ev, x), rough);
	if (may_be_rough && rough->length > 0)
		expand(ev, rough->coef, rough->length - 1, x, work, sum);
	else
		by_series(ev, alpha, x, work, sum);
	if (ev->env->dry)
		rough->alpha = 0.0;
	ev->dev->copy(ev->dev, x, sum);
}
