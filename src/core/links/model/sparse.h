/*
 * sparse.h - a Gaussian process regression carried by inducing inputs.
 *
 * The observations' covariance is K_fu K_uu^-1 K_uf + noise I (the subset of
 * regressors).  With K_uu = LL', G = L^-1 K_uf K_fu L^-T and B = G + noise I the
 * posterior at k = K_u* has
 *
 *		mean k' alpha, alpha = L^-T B^-1 L^-1 K_uf y
 *		variance k** - k' L^-T (I - noise B^-1) L^-1 k
 */
#ifndef GP_SPARSE_H
#define GP_SPARSE_H

#include "device/device.h"

typedef struct gp_sparse
{
	gp_device  *dev;
	int64_t		m;				/* inducing inputs */
	int64_t		n;				/* observations */
	double		mean_diag;		/* of K_uu */
	double		yy;				/* y'y */
	gp_matrix	l;				/* m x m */
	gp_matrix	gram;			/* K_uf K_fu, and G once it is ready */
	gp_matrix	c;				/* m x 1: K_uf y, and L^-1 K_uf y once it is ready */
	/* by gp_sparse_solve */
	double		noise;
	double		scale;			/* s^2 = y' (K_fu K_uu^-1 K_uf + noise I)^-1 y / n */
	gp_matrix	b;				/* m x m: the Cholesky factor of B */
	gp_matrix	alpha;			/* m x 1 */
} gp_sparse;

/* Starts from K_uu (m x m double), which it takes over. */
extern gp_sparse gp_sparse_create(gp_device *dev, gp_matrix kuu);

/* Adds observations y (host) with their covariances K_fu (rows x m double). */
extern void gp_sparse_add(gp_sparse *s, gp_matrix k, const double *y);

/* Call when all observations are in, before the first solve. */
extern void gp_sparse_ready(gp_sparse *s);

/* Solves for a noise, relative to the mean diagonal of K_uu. */
extern void gp_sparse_solve(gp_sparse *s, double noise);

/* Frees all but what the variances take. */
extern void gp_sparse_trim(gp_sparse *s);

/*
 * After gp_sparse_trim: the posterior variances at a noise, relative to the mean diagonal of K_uu, of rows of
 * which v (n x m), which is overwritten, holds L^-1 k and prior the k**; out has one for each.
 */
extern void gp_sparse_variances(gp_sparse *s, double noise, gp_matrix v, const double *prior, double *out);

/*
 * M as a packed lower triangle by rows, with |M^-1 k|^2 what the observations
 * take off the variance at k; in memory of the environment.
 */
extern float *gp_sparse_root(gp_sparse *s);

extern void gp_sparse_free(gp_sparse *s);

#endif							/* GP_SPARSE_H */
