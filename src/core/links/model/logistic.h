/*
 * logistic.h - logistic regression on given basis functions, by Newton's method.
 *
 * The logit of row r is phi_r'b.  The mode minimises
 *
 *		sum_r w_r log(1 + exp(-y_r phi_r'b)) + (penalty / 2) b'b, y = 1 for a link and -1 for none,
 *
 * and the variance of a logit is phi'H^-1 phi with the Hessian H there (the Laplace approximation;
 * Rasmussen and Williams 2006, 3.4).
 */
#ifndef GP_LOGISTIC_H
#define GP_LOGISTIC_H

#include "links/links_internal.h"

struct gp_link_logistic
{
	gp_device  *dev;
	gp_matrix	phi;			/* p x n double: a column for each row */
	double		penalty;
	/* a step that promises less, over the rows' weight, is the last; H is that before it */
	double		last;
	double	   *b;				/* p: the mode, and where Newton's steps start */
	gp_matrix	root;			/* p x p: the Cholesky factor of H at the mode */
	double	   *logit;			/* n, at the mode */
};

/* -log of the probability that a logit gives to a label, without overflow. */
static inline double
gp_link_loss(bool label, double logit)
{
	double		x = label ? -logit : logit;

	return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Starts from b = 0, with the penalty 1; phi belongs to the regression from now on. */
extern gp_link_logistic gp_link_logistic_open(gp_device *dev, gp_matrix phi);
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

#endif							/* GP_LOGISTIC_H */
