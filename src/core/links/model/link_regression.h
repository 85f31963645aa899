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

#include "device/device.h"
#include "links/links.h"

/*
 * logistic.c: logistic regression on given basis functions, by Newton's method.
 *
 * The logit of row r is phi_r'b.  The mode minimises
 *
 *		sum_r w_r log(1 + exp(-y_r phi_r'b)) + (penalty / 2) b'b, y = 1 for a link and -1 for none,
 *
 * and the variance of a logit is phi'H^-1 phi with the Hessian H there (the Laplace approximation;
 * Rasmussen and Williams 2006, 3.4).
 */
typedef struct gp_link_logistic
{
	gp_device  *dev;
	gp_matrix	phi;			/* p x n double: a column for each row */
	double		penalty;
	double	   *b;				/* p: the mode, and where Newton's steps start */
	gp_matrix	root;			/* p x p: the Cholesky factor of H at the mode */
	double	   *logit;			/* n, at the mode */
} gp_link_logistic;

/* -log of the probability that a logit gives to a label, without overflow. */
static inline double
gp_link_loss(bool label, double logit)
{
	double		x = label ? -logit : logit;

	return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Starts from b = 0; phi belongs to the regression from now on. */
extern gp_link_logistic gp_link_logistic_open(gp_device *dev, gp_matrix phi, double penalty);
extern void gp_link_logistic_close(gp_link_logistic *l);

/* Finds the mode.  Rows of weight 0 are not learnt from, but have their logits. */
extern void gp_link_logistic_fit(gp_link_logistic *l, const bool *label, const double *weight);

/* The variances of the logits of rows [first, first + n). */
extern void gp_link_logistic_variances(gp_link_logistic *l, int64_t first, int64_t n, double *out);

/*
 * What a prediction takes where phi = L^-1 psi: the weights alpha of the mean psi'alpha, and W (p x
 * p) with the variance |W'psi|^2.  root is L; one without data stands for I.  Owned by the caller.
 */
extern double *gp_link_logistic_weights(gp_link_logistic *l, gp_matrix root);
extern float *gp_link_covariance_root(gp_link_logistic *l, gp_matrix root);

/* link_regression.c */
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
												  const double *score, bool process,
												  double penalty);
/*
 * The same from the basis functions psi of all rows (n x m) and the covariance k of the landmarks,
 * which has no data where there are none; both are freed.
 */
extern gp_link_regression gp_link_regression_of(gp_device *dev, gp_matrix k, gp_matrix psi,
												double penalty);
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
