/*
 * sparse.c - a Gaussian process regression carried by inducing inputs.
 *
 * All in double, and all through L^-1: the eigenvalues of G = L^-1 K_uf K_fu L^-T
 * are those of the approximate covariance of the observations, which the noise
 * separates from zero, while K_uf K_fu alone has twice the digits to lose.
 */
#include "sparse.h"

#include "links/links_internal.h"

#include <math.h>
#include <string.h>

#define JITTER 1e-6				/* of the mean diagonal, on K_uu, which is summed in float */
#define MAX_JITTER 1e-2
#define ROOT_JITTER 1e-9		/* on I - noise B^-1, whose eigenvalues are between 0 and 1 */

/* The Cholesky factor of k, which needs a jitter; unit is its mean diagonal. */
static gp_matrix
root_of(gp_device *dev, gp_matrix k, double unit, double *jitter)
{
	gp_matrix	root = dev->create(dev, k.rows, k.cols, GP_DOUBLE);

	*jitter = gp_cholesky_jitter(dev, k, unit, *jitter, MAX_JITTER, root);
	if (isnan(*jitter))
		gp_raise(dev->env, GP_ERR_DATA, "Try another kernel.",
				 "the covariance of the inducing pairs is not positive definite");
	return root;
}

/* Starts from K_uu, which it takes over. */
gp_sparse
gp_sparse_create(gp_device *dev, gp_matrix kuu)
{
	gp_sparse	s;
	double		jitter = JITTER;

	memset(&s, 0, sizeof(s));
	s.dev = dev;
	s.m = kuu.rows;
	s.mean_diag = gp_mean_diagonal(dev, kuu);
	if (!(s.mean_diag > 0.0))
		s.mean_diag = 1.0;		/* it says nothing */
	s.l = root_of(dev, kuu, s.mean_diag, &jitter);
	dev->destroy(dev, &kuu);
	s.gram = dev->create(dev, s.m, s.m, GP_DOUBLE);
	s.c = dev->create(dev, s.m, 1, GP_DOUBLE);
	dev->fill(dev, s.gram, 0.0);
	dev->fill(dev, s.c, 0.0);
	return s;
}

/* Adds observations. */
void
gp_sparse_add(gp_sparse *s, gp_matrix k, const double *y)
{
	gp_device  *dev = s->dev;
	gp_matrix	target = dev->create(dev, k.rows, 1, GP_DOUBLE);

	dev->upload(dev, target, gp_matrix_wrap((void *) y, k.rows, 1, GP_DOUBLE));
	dev->syrk(dev, true, 1.0, k, 1.0, s->gram);
	dev->gemm(dev, true, false, 1.0, k, target, 1.0, s->c);
	dev->destroy(dev, &target);
	for (int64_t i = 0; i < k.rows; i++)
		s->yy += y[i] * y[i];
	s->n += k.rows;
}

/* gram becomes G, c becomes L^-1 c. */
void
gp_sparse_ready(gp_sparse *s)
{
	gp_device  *dev = s->dev;

	dev->trsm(dev, true, false, s->l, s->gram);
	dev->trsm(dev, false, true, s->l, s->gram);
	dev->trsm(dev, true, false, s->l, s->c);
	s->b = dev->create(dev, s->m, s->m, GP_DOUBLE);
	s->alpha = dev->create(dev, s->m, 1, GP_DOUBLE);
}

/* <x, y> of two vectors. */
static double
dot(gp_device *dev, gp_matrix x, gp_matrix y)
{
	gp_matrix	out = dev->create(dev, 1, 1, GP_DOUBLE);
	double		value;

	dev->gemm(dev, true, false, 1.0, x, y, 0.0, out);
	dev->download(dev, gp_matrix_wrap(&value, 1, 1, GP_DOUBLE), out);
	dev->destroy(dev, &out);
	return value;
}

/* B with its factor, the scale, and B^-1 c in alpha. */
static void
factor(gp_sparse *s, double noise)
{
	gp_device  *dev = s->dev;
	double		left;

	s->noise = noise * s->mean_diag;
	dev->copy(dev, s->b, s->gram);
	dev->shift(dev, gp_matrix_diagonal(s->b), s->noise);
	if (dev->potrf(dev, s->b) >= 0)
		gp_raise(dev->env, GP_ERR_DATA, "Try another kernel.",
				 "the regression on the inducing pairs is not positive definite");
	dev->copy(dev, s->alpha, s->c);
	dev->trsm(dev, true, false, s->b, s->alpha);
	dev->trsm(dev, true, true, s->b, s->alpha);
	left = s->yy - dot(dev, s->c, s->alpha);
	s->scale = s->n > 0 && left > 0.0 ? left / (s->noise * s->n) : 0.0;
}

/* Solves for a noise. */
void
gp_sparse_solve(gp_sparse *s, double noise)
{
	factor(s, noise);
	s->dev->trsm(s->dev, true, true, s->l, s->alpha);
}

/* Frees all but G and L^-1 c. */
void
gp_sparse_trim(gp_sparse *s)
{
	gp_device  *dev = s->dev;

	dev->destroy(dev, &s->l);
	dev->destroy(dev, &s->b);
	dev->destroy(dev, &s->alpha);
}

/* The variances of rows whose L^-1 k stand in v, which becomes b^-1 L^-1 k. */
void
gp_sparse_variances(gp_sparse *s, double noise, gp_matrix v, const double *prior, double *out)
{
	gp_device  *dev = s->dev;
	gp_matrix	sum = dev->create(dev, v.rows, 1, GP_DOUBLE);
	double	   *host = gp_alloc_array(dev->env, v.rows, sizeof(double));
	gp_matrix	view = gp_matrix_wrap(host, v.rows, 1, GP_DOUBLE);

	s->b = dev->create(dev, s->m, s->m, GP_DOUBLE);
	s->alpha = dev->create(dev, s->m, 1, GP_DOUBLE);
	factor(s, noise);
	dev->row_dots(dev, sum, v, v);
	dev->download(dev, view, sum);
	for (int64_t r = 0; r < v.rows; r++)
		out[r] = fmax(prior[r] - host[r], 0.0);
	dev->trsm(dev, false, true, s->b, v);
	dev->row_dots(dev, sum, v, v);
	dev->download(dev, view, sum);
	for (int64_t r = 0; r < v.rows; r++)
		out[r] = s->scale * (out[r] + s->noise * host[r]);
	gp_free(dev->env, host);
	dev->destroy(dev, &sum);
}

/* Turns a square matrix by 180 degrees: element (i, j) goes to (m - 1 - i, m - 1 - j). */
static void
turn(gp_device *dev, gp_matrix x)
{
	double	   *host = gp_alloc_array(dev->env, gp_size_mul(dev->env, x.rows, x.cols), sizeof(double));
	gp_matrix	view = gp_matrix_wrap(host, x.rows, x.cols, GP_DOUBLE);
	int64_t		next = 0;

	dev->download(dev, view, x);
	for (int64_t a = 0, b = x.rows * x.cols - 1; a < b; a++, b--)
	{
		double		swap = host[a];

		gp_poll(dev->env, a, &next);
		host[a] = host[b];
		host[b] = swap;
	}
	dev->upload(dev, x, view);
	gp_free(dev->env, host);
}

/* I - noise B^-1, turned. */
static gp_matrix
turned_share(gp_sparse *s)
{
	gp_device  *dev = s->dev;
	gp_matrix	share = dev->create(dev, s->m, s->m, GP_DOUBLE);
	gp_matrix	inverse = dev->create(dev, s->m, s->m, GP_DOUBLE);

	dev->copy(dev, inverse, s->b);
	dev->trtri(dev, inverse);
	dev->syrk(dev, true, -s->noise, inverse, 0.0, share);
	dev->destroy(dev, &inverse);
	dev->shift(dev, gp_matrix_diagonal(share), 1.0);
	turn(dev, share);
	return share;
}

/*
 * M = L T^-1, so that |M^-1 k|^2 = |T L^-1 k|^2 is the explained variance, with
 * T'T = I - noise B^-1 and T lower.  The Cholesky factor C of that
 * matrix turned by 180 degrees gives T: CC' turned is T'T, T being C' turned.
 * What was added for the factor is divided out again, so that no eigenvalue
 * exceeds 1: more than k' K_uu^-1 k is never explained.
 */
float *
gp_sparse_root(gp_sparse *s)
{
	gp_device  *dev = s->dev;
	gp_matrix	share = turned_share(s);
	double		jitter = ROOT_JITTER;
	gp_matrix	t = root_of(dev, share, 1.0, &jitter);
	gp_matrix	root;
	float	   *out;

	dev->destroy(dev, &share);
	dev->transpose_square(dev, t);
	turn(dev, t);
	root = dev->create(dev, s->m, s->m, GP_DOUBLE);
	dev->copy(dev, root, s->l);
	dev->trsm(dev, false, false, t, root);
	dev->axpby(dev, sqrt(1.0 + jitter), root, 0.0, root);
	out = gp_link_pack_root(dev, root);
	dev->destroy(dev, &root);
	dev->destroy(dev, &t);
	return out;
}

/* Frees all of it. */
void
gp_sparse_free(gp_sparse *s)
{
	gp_device  *dev = s->dev;

	dev->destroy(dev, &s->l);
	dev->destroy(dev, &s->gram);
	dev->destroy(dev, &s->c);
	dev->destroy(dev, &s->b);
	dev->destroy(dev, &s->alpha);
}
