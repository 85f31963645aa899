/*
 * inducing.h - Gaussian processes by inducing points, as training steps take them (Hensman,
 * Matthews and Ghahramani 2015): what layers and pairs of rows share.
 *
 *		k(x, z) = a^2 exp(-|x - z|^2 / 2), x and z over len;  C of rows and directions, LL' of
 *		directions,
 *		Phi = C L^-T,  F = Phi mean + sqrt(level + (Phi o Phi) (s^2 - 1)) o e
 *
 * with weights that are white a priori, so that the posterior starts as the prior.  All of it is in
 * double, as the root and its derivative need.  Rows go by in panels, whose kernel is computed
 * again for the derivatives.
 */
#ifndef GP_INDUCING_H
#define GP_INDUCING_H

#include "engine.h"

#define GP_INDUCING_JITTER 1e-6	/* of a variance, added to it */

/* Rows that meet the points, GP_TRAIN_ROWS at most: those of a layer, or first or second ends. */
typedef struct gp_inducing_side
{
	gp_matrix	augmented;		/* rows x (width + 2): x / len, -|x / len|^2 / 2, 1 */
	gp_matrix	exponent;		/* rows x count */
	gp_matrix	kernel;			/* rows x count */
	gp_matrix	slope;			/* rows x count: the gradient by it */
	gp_matrix	change;			/* rows x width: the gradient by x / len */
	gp_matrix	spare;			/* rows x width */
} gp_inducing_side;

typedef struct gp_inducing_buffers
{
	int			power;			/* of a^2 in a covariance of directions: 1, or 2 of pairs */
	double		dlog_a;			/* half the gradient by log a, so far */
	gp_matrix	augmented;		/* count x (width + 2): z / len, 1, 2 log a - |z / len|^2 / 2 */
	gp_matrix	ones;			/* as many rows as there are points, or in a panel, x width */
	gp_matrix	kernel;			/* count x count: of the points */
	gp_matrix	kernel_slope;
	gp_matrix	covariance;		/* span x span: of the directions; the points' itself where they are
								 * these */
	gp_matrix	covariance_slope;
	gp_matrix	root;			/* span x span: L */
	gp_matrix	lower;			/* span x span: 1 in the lower triangle, else 0 */
	gp_matrix	square[2];		/* span x span */
	gp_matrix	white_slope;	/* span x span: the gradient by L^-1 */
	gp_matrix	point_slope[2]; /* count x width: what rows give to the points */
	gp_matrix	level;			/* rows x cols: variances of the prior */
	gp_inducing_side side[2];
} gp_inducing_buffers;

static inline gp_matrix
gp_first_rows(gp_matrix m, int64_t rows)
{
	return gp_matrix_rows(m, 0, rows);
}

/* x / len of a side's rows. */
static inline gp_matrix
gp_inducing_scaled_rows(const gp_inducing_side *s, int64_t rows)
{
	return gp_matrix_part(s->augmented, 0, 0, rows, s->augmented.cols - 2);
}

/* ---- inducing_points.c ---- */

/* Makes the parameters and the buffers; power is 2 for pairs, whose rows have two sides. */
extern void gp_inducing_open(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width,
							 int power);

/* Brings amplitude, inverse, scaled and the points' kernel up to the operation's parameters. */
extern void gp_inducing_points_kernel(gp_trainer *t, gp_operation *op);

/* root and root_inverse, from the directions' covariance. */
extern void gp_inducing_root(gp_trainer *t, gp_operation *op);

/* The covariances of rows with the points. */
extern void gp_inducing_row_kernel(gp_trainer *t, gp_operation *op, gp_inducing_side *s,
								   gp_matrix x);

/* The features of a panel, from its covariances with the directions. */
extern void gp_inducing_features(gp_trainer *t, gp_operation *op, gp_matrix cross);

/* Sums over panels begin. */
extern void gp_inducing_begin_backward(gp_trainer *t, gp_operation *op);

/*
 * What the weights and L^-1 get of dF, and dcross, which may be cross; variance becomes the
 * variances' gradient.
 */
extern void gp_inducing_features_backward(gp_trainer *t, gp_operation *op, const gp_band *band,
										  gp_matrix cross, gp_matrix df, gp_matrix dcross);

/* From slope to change, and what the points get. */
extern void gp_inducing_row_kernel_backward(gp_trainer *t, gp_inducing *f, gp_inducing_side *s,
											int64_t rows);

/* From white_slope to covariance_slope, when all panels are done. */
extern void gp_inducing_root_backward(gp_trainer *t, gp_inducing *f);

/* From kernel_slope, and from what rows gave: the derivatives by s, the points, len and a. */
extern void gp_inducing_points_backward(gp_trainer *t, gp_operation *op);

#endif							/* GP_INDUCING_H */
