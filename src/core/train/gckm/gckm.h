/*
 * gckm.h - the parts of the graph convolutional kernel machine.
 *
 * All matrices are of double: they are factorised.  Sums over rows go by panels of
 * GP_PANEL_ROWS, whatever the device.
 */
#ifndef GP_GCKM_H
#define GP_GCKM_H

#include "train/train.h"

#define GP_PANEL_ROWS 1024

/* The landmarks: nodes that stand for all others. */
typedef struct gp_points
{
	int64_t		n;
	int32_t	   *node;			/* ascending */
} gp_points;

/*
 * gckm_kernels.c: labelled nodes (ascending), at most three quarters of them all, and a random
 * choice of the others.
 */
extern gp_points gp_points_choose(gp_env *env, int64_t nodes, int64_t nlabelled,
								  const int32_t *labelled, int64_t count, uint64_t seed);

/* ---- gckm_kernels.c ---- */

/*
 * products (n x m) = inner products of all rows with those of the points, norm
 * (n x 1) = squared lengths.  The rows are those of op X, or without op those of X with columns
 * of deviation 1; dense ones lose their mean.  Returns the variance: the mean squared distance
 * to the mean row.
 */
extern double gp_feature_products(gp_device *dev, const gp_features *x, const gp_csr *op,
								  const gp_points *points, gp_matrix products, gp_matrix norm);

/* The same for the rows of a matrix on the device, which lose their mean. */
extern double gp_rows_products(gp_device *dev, gp_matrix a, const gp_points *points,
							   gp_matrix products, gp_matrix norm);

/* products becomes exp(-|x - y|^2 / (2 sigma2)). */
extern void gp_rbf(gp_device *dev, gp_matrix products, gp_matrix norm, const gp_points *points,
				   double sigma2);

/*
 * k (n x m) becomes a factor of the kernel on the points, k R^-T, RR' = k at the points; returns
 * the jitter.
 */
extern double gp_points_factor(gp_device *dev, gp_matrix k, const gp_points *points);

/*
 * k is multiplied by exp(-gamma |x - y|), not squared as in the authors' program, of the nodes' own
 * features, which no mean changes; gamma 0 is 0.8 over the root mean squared distance of two nodes.
 * work is like k.
 */
extern void gp_own_view(gp_device *dev, const gp_features *x, const gp_points *points, double gamma,
						gp_matrix work, gp_matrix norm, gp_matrix k);

/* ---- gckm_rkm.c ---- */

/* What the semi-supervised layer starts from. */
typedef struct gp_rkm
{
	double		lambda1;
	double		lambda2;
	double		eta;
	int64_t		nlabelled;
	const int32_t *labelled;	/* ascending */
	const int32_t *label;
	int32_t		columns;		/* classes */
} gp_rkm;

/*
 * Scores of all nodes (host, n x columns) with K = QQ', and of each labelled
 * one (nlabelled x columns) had it no label.  bias (columns) may be NULL.  Returns the jitter,
 * relative to eta.
 */
extern double gp_rkm_solve(gp_device *dev, const gp_rkm *rkm, gp_matrix q, double *score,
						   double *loo, double *bias);

/* The cosine of the scores of a node to the nearest class's code; 0 where all are 0. */
extern double gp_rkm_cosine(const double *score, int32_t columns);

#endif							/* GP_GCKM_H */
