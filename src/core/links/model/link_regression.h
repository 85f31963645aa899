/*
 * link_regression.h - the Gaussian process on scores of pairs.
 *
 * Rows of scores are host arrays, n x width, packed.
 */
#ifndef GP_LINK_REGRESSION_H
#define GP_LINK_REGRESSION_H

#include "links/links_internal.h"

typedef struct gp_link_regression
{
	double	   *centre;			/* width: of the rows' scores */
	double	   *spread;			/* width */
	gp_matrix	z;				/* n x width double, standardised */
	double		offset;			/* mean = offset + unit <k, weights> */
	double		unit;
	gp_solution solution;		/* in the unit of the targets */
} gp_link_regression;

/* Regresses labels (1 and 0) on rows, noise by leave-one-out. */
extern gp_link_regression gp_link_regress(gp_device *dev, int64_t n, int32_t width,
										  const double *score, const bool *label);

/* The posterior means of other rows, in the target's unit. */
extern void gp_link_regression_means(gp_device *dev, const gp_link_regression *r, int64_t n,
									 int32_t width, const double *score, double *mean);

/* Score and variance of other rows; fills these two alone. */
extern void gp_link_regression_predict(gp_device *dev, const gp_link_regression *r, int64_t n,
									   int32_t width, const double *score, gp_link_row *out);
extern void gp_link_regression_free(gp_device *dev, gp_link_regression *r);

/*
 * mean_subset.c: functions of few rows that rank candidates nearly as the posterior means on all rows z (n x width) do.  row says
 * which rows, in the order that they were taken, of which sieve s uses the first gp_link_sieve_rows; weight has one of each of
 * these, sieve after sieve, in the unit of alpha.  Both are owned by the caller; none, and 0, where all rows take little more.
 */
#define GP_LINK_SIEVES 2

extern int32_t gp_link_sieves_make(gp_device *dev, gp_matrix z, const double *alpha, int32_t **row, double **weight);
extern int32_t gp_link_sieve_rows(int sieve, int32_t taken);
extern int64_t gp_link_sieve_weights(int32_t taken);

/*
 * variance_lowrank.c: what the observations explain of a variance, k'(K + noise I)^-1 k nearly, from few directions of many:
 * at most GP_LINK_LEAN columns of so many rows, then what belongs to them; gp_link_lean_size numbers, owned by the caller.
 * NULL where the whole costs little more, or so few do not do.
 */
extern float *gp_link_lean_make(gp_device *dev, const gp_link_regression *r, uint64_t seed, int32_t *directions);
extern int64_t gp_link_lean_size(int64_t m, int32_t directions);

/* How many directions of m rows so many numbers are; 0 where that fits none. */
extern int32_t gp_link_lean_directions(int64_t m, int64_t numbers);

/* The directions made ready; part points into the numbers. */
typedef struct gp_link_few
{
	gp_matrix	led;			/* m x few double: the first of them */
	gp_matrix	rest;			/* m x more float: the others, each times the root of its part */
	const float *part;
} gp_link_few;

extern gp_link_few gp_link_lean_open(gp_device *dev, int64_t m, int32_t directions, const float *lean);
extern void gp_link_lean_close(gp_device *dev, gp_link_few *few);

/* What is explained of each row of k (n x m double), most of it computed in a type. */
extern void gp_link_lean_explained(gp_device *dev, const gp_link_few *few, gp_matrix k, gp_type type, double *out);

/* The bytes that this takes at most, the regression's root included; 0 where the whole costs no more. */
extern double gp_link_lean_bytes(int64_t m);

/* The covariance of rows with themselves; owned by the caller. */
extern gp_matrix gp_link_covariance(gp_device *dev, gp_matrix z);

extern gp_matrix gp_link_standardise(gp_device *dev, int64_t n, int32_t width,
									 const double *score, const double *centre,
									 const double *spread, gp_type type);

/* k (a.rows x b.rows) and variance (a.rows x 1 double) of rows a against rows b. */
extern void gp_link_cross_covariance(gp_device *dev, gp_matrix a, gp_matrix b, gp_matrix k,
									 gp_matrix variance);

#endif							/* GP_LINK_REGRESSION_H */
