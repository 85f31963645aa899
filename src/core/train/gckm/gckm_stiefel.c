/*
 * gckm_stiefel.c - a step along a gradient that keeps columns orthonormal.
 *
 * Cayley-Adam (Li, Fuxin and Todorovic 2020) without momentum of the direction: with
 * Mh = (G - H H'G / 2) / sqrt(v) and the skew W = Mh H' - H Mh' the step solves
 * Y = H - a/2 W (H + Y) by fixed-point rounds.  W is never formed.  A Cholesky factor takes
 * away what the rounds leave of Y'Y - I.
 */
#include "gckm.h"

#include <math.h>

/* What a step works with. */
typedef struct step
{
	gp_device  *dev;
	gp_matrix	h;				/* n x s, and so are all but the last */
	gp_matrix	m;				/* Mh */
	gp_matrix	y;
	gp_matrix	sum;
	gp_matrix	small;			/* s x s */
} step;

/* y = h - a W x */
static void
apply(step *s, double a, gp_matrix x)
{
	gp_device  *dev = s->dev;

	dev->copy(dev, s->y, s->h);
	dev->gemm(dev, true, false, 1.0, s->h, x, 0.0, s->small);
	dev->gemm(dev, false, false, -a, s->m, s->small, 1.0, s->y);
	dev->gemm(dev, true, false, 1.0, s->m, x, 0.0, s->small);
	dev->gemm(dev, false, false, a, s->h, s->small, 1.0, s->y);
}

/* The column sums of |x| (n x s). */
static void
column_sizes(gp_env *env, int64_t n, int64_t s, const double *x, double *size)
{
	int64_t		next = 0;

	for (int64_t j = 0; j < s; j++)
		size[j] = 0.0;
	for (int64_t i = 0; i < n; i++)
	{
		gp_poll(env, i * s, &next);
		for (int64_t j = 0; j < s; j++)
			size[j] += fabs(x[i * s + j]);
	}
}

/* A bound of the largest column sum of |W|: sum_k |Mh_k|_1 |H_jk| + |H_k|_1 |Mh_jk|. */
static double
bound_of(gp_device *dev, gp_matrix of_h, gp_matrix of_m)
{
	gp_env	   *env = dev->env;
	int64_t		n = of_h.rows;
	int64_t		cols = of_h.cols;
	double	   *h = gp_alloc_figures(env, n, (size_t) cols * sizeof(double));
	double	   *m = gp_alloc_figures(env, n, (size_t) cols * sizeof(double));
	double	   *size = gp_alloc_figures(env, cols, 2 * sizeof(double));
	double		most = 0.0;
	int64_t		next = 0;

	dev->download(dev, gp_matrix_wrap(h, n, cols, GP_DOUBLE), of_h);
	dev->download(dev, gp_matrix_wrap(m, n, cols, GP_DOUBLE), of_m);
	if (!env->dry)
	{
		column_sizes(env, n, cols, h, size);
		column_sizes(env, n, cols, m, size + cols);
	}
	for (int64_t i = 0; i < n && !env->dry; i++)
	{
		double		sum = 0.0;

		gp_poll(env, i * cols, &next);
		for (int64_t j = 0; j < cols; j++)
			sum += size[cols + j] * fabs(h[i * cols + j]) + size[j] * fabs(m[i * cols + j]);
		most = fmax(most, sum);
	}
	gp_free(env, size);
	gp_free(env, m);
	gp_free(env, h);
	return most;
}

/* g becomes Mh. */
double
gp_stiefel_direct(gp_device *dev, gp_matrix h, gp_matrix g, double root)
{
	gp_matrix	small = dev->create(dev, h.cols, h.cols, GP_DOUBLE);

	dev->gemm(dev, true, false, 1.0, h, g, 0.0, small);
	dev->gemm(dev, false, false, -0.5, h, small, 1.0, g);
	dev->axpby(dev, root > 0.0 ? 1.0 / root : 0.0, g, 0.0, g);
	dev->destroy(dev, &small);
	return bound_of(dev, h, g);
}

/* One step along Mh. */
void
gp_stiefel_step(gp_device *dev, gp_matrix h, gp_matrix mh, double a, int rounds)
{
	step		s = {dev, h, mh, dev->create(dev, h.rows, h.cols, GP_DOUBLE),
		dev->create(dev, h.rows, h.cols, GP_DOUBLE),
	dev->create(dev, h.cols, h.cols, GP_DOUBLE)};

	apply(&s, a, h);
	for (int k = 0; k < rounds; k++)
	{
		dev->copy(dev, s.sum, h);
		dev->axpby(dev, 1.0, s.y, 1.0, s.sum);
		apply(&s, 0.5 * a, s.sum);
	}
	dev->syrk(dev, true, 1.0, s.y, 0.0, s.small);
	if (dev->potrf(dev, s.small) >= 0)
		gp_raise(dev->env, GP_ERR_RANGE, "Take fewer iterations.", "the components are not orthogonal any more");
	dev->trsm(dev, false, true, s.small, s.y);
	dev->copy(dev, h, s.y);
	dev->destroy(dev, &s.small);
	dev->destroy(dev, &s.sum);
	dev->destroy(dev, &s.y);
}
