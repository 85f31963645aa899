/*
 * link_regression.h - the logit of a link from the scores of its pair.
 *
 * Standardised scores z go through basis functions psi(z): 1 and z themselves (logistic
 * regression), or the covariances k(z, z_1) .. k(z, z_m) with landmark rows (a Gaussian process on
 * m rows, the subset of regressors; Rasmussen and Williams 2006, 8.3.1).
 *
 * Rows of scores are host arrays, n x width, packed.
 */
#ifndef GP_LINK_REGRESSION_H
#define GP_LINK_REGRESSION_H

#include "logistic.h"

typedef struct gp_link_regression
{
	double	   *centre;			/* width: of the rows' scores */
	double	   *deviation;			/* width */
	gp_matrix	z;				/* landmarks x width double; no data: logistic regression */
	gp_matrix	root;			/* the Cholesky factor of their covariance */
	gp_link_logistic logistic;	/* of all rows */
} gp_link_regression;

/* Prepares a regression on all rows, whose labels and weights gp_link_logistic_fit is given. */
extern gp_link_regression gp_link_regression_open(gp_device *dev, int64_t n, int32_t width,
												  const double *score, bool process);
/*
 * The same from the basis functions psi of all rows (n x m) and the covariance k of the landmarks,
 * which has no data where there are none; both are freed.
 */
extern gp_link_regression gp_link_regression_of(gp_device *dev, gp_matrix k, gp_matrix psi);
extern void gp_link_regression_close(gp_link_regression *r);

/* The logits of other rows at the mode that was found last. */
extern void gp_link_regression_logits(gp_link_regression *r, int64_t n, int32_t width,
									  const double *score, double *logit);

/*
 * psi of rows of scores, n x p in the type of the landmarks z (which has no rows, but a type, for
 * logistic regression); owned by the caller.
 */
extern gp_matrix gp_link_basis(gp_device *dev, int64_t n, int32_t width, const double *score,
							   const double *centre, const double *deviation, gp_matrix z);

#endif							/* GP_LINK_REGRESSION_H */
