/*
 * numeric.h - numerical methods that several folders use.
 */
#ifndef GP_NUMERIC_H
#define GP_NUMERIC_H

#include "numeric/dot.h"

/* ---- cholesky.c ---- */

/* The mean of a vector, and of the diagonal of a matrix, on the device. */
extern double gp_mean_entry(gp_device *dev, gp_matrix v);
extern double gp_mean_diagonal(gp_device *dev, gp_matrix c);

/*
 * The Cholesky factor of k + jitter unit I, in root; both are m x m, and k stays as it is.
 * The jitter begins with first and grows by factors of ten (after 0 comes 1e-12), to most at the
 * most.  Returns the one that did, or NaN where none does.
 */
extern double gp_cholesky_jitter(gp_device *dev, gp_matrix k, double unit, double first,
								 double most, gp_matrix root);

/*
 * The columns of y (n x s double) become orthonormal and keep their span, by the Cholesky factor of
 * y'y (Halko, Martinsson and Tropp 2011, 4.5).  first is its first jitter, of its trace.  Columns
 * without rank become small.  Returns false where the factor needs more than 1e-3.
 */
extern bool gp_orthonormalise(gp_device *dev, gp_matrix y, double first);

/* ---- eigen.c ---- */

/*
 * The leading eigenvectors of a symmetric positive semidefinite g (m x m double), which is
 * overwritten: v (m x s) and w (s x 1), ascending.  Up to GP_SYEV_MAX rows they are exact.  Beyond
 * it one step of subspace iteration finds them (Halko, Martinsson and Tropp 2011, 4.4), for no
 * larger eigenproblem could be interrupted; s must be at most GP_SYEV_MAX.  Returns false where
 * numbers are out of range.
 */
extern bool gp_leading_vectors(gp_device *dev, gp_matrix g, gp_matrix v, gp_matrix w);

/* x (n x s double) -= the mean of its rows. */
extern void gp_centre_rows(gp_device *dev, gp_matrix x);

/*
 * h (n x s) = the leading eigenvectors of QQ', ascending, once q (n x at most GP_SYEV_MAX) has lost
 * the mean of its rows.  Columns without a value are 0.
 */
extern void gp_principal_components(gp_device *dev, gp_matrix q, gp_matrix h);

/* ---- likelihoods.c ---- */

/* p (columns) = softmax(logit), which p may be; returns log p of a class, 0 for class -1. */
extern double gp_softmax_log(int32_t columns, const double *logit, double *p, int32_t class);

/*
 * Returns weight times the log likelihood of the rows with a class (label >= 0) of logits f
 * (host, n x c), which become the gradient of minus that.
 */
extern double gp_softmax(gp_env *env, int64_t n, int32_t c, const int32_t *label, double weight,
						 double *f);

/* The same for n pairs, linked or not, with logits r (host). */
extern double gp_logistic(gp_env *env, int64_t n, const bool *linked, double weight, double *r);

/* ---- ranking.c ---- */

/*
 * The area under the ROC curve and the average precision of n scores; what is not a
 * number ranks last.  Both are NaN where one of the labels is missing.
 */
extern void gp_ranking_metrics(gp_env *env, int64_t n, const double *score, const bool *label,
							   double *auc, double *average_precision);

#endif							/* GP_NUMERIC_H */
