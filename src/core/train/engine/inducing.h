/*
 * inducing.h - the parts of a Gaussian process by inducing points.
 */
#ifndef GP_INDUCING_H
#define GP_INDUCING_H

#include "engine.h"

/* Rows that meet the points, GP_TRAIN_ROWS at most. */
typedef struct gp_inducing_side
{
	gp_matrix	wide;			/* rows x (width + 2): x / len, -|x / len|^2 / 2, 1 */
	gp_matrix	exponent;		/* rows x count */
	gp_matrix	kernel;			/* rows x count */
	gp_matrix	slope;			/* rows x count: the gradient by it */
	gp_matrix	change;			/* rows x width: the gradient by x / len */
	gp_matrix	spare;			/* rows x width */
} gp_inducing_side;

typedef struct gp_inducing_room
{
	int			power;			/* of a^2 in a covariance of directions */
	double		grown;			/* half the gradient by log a, so far */
	gp_matrix	wide;			/* count x (width + 2): z / len, 1, 2 log a - |z / len|^2 / 2 */
	gp_matrix	ones;			/* as many rows as there are points, or in a panel, x width */
	gp_matrix	ones_double;	/* count x width double */
	gp_matrix	kernel;			/* count x count double: of the points */
	gp_matrix	kernel_slope;
	gp_matrix	covariance;		/* span x span double: of the directions; the points' itself where they are these */
	gp_matrix	covariance_slope;
	gp_matrix	root;			/* span x span double: L */
	gp_matrix	lower;			/* span x span double: 1 in the lower triangle, else 0 */
	gp_matrix	square[2];		/* span x span double */
	gp_matrix	part[3];		/* count x width double */
	gp_matrix	white;			/* span x span: L^-1 */
	gp_matrix	white_slope;
	gp_matrix	less;			/* span x cols: s^2 - 1 */
	gp_matrix	slope;			/* span x cols: the gradient by s^2 */
	gp_matrix	point_slope[2];	/* count x width: what rows give to the points */
	gp_matrix	phi;			/* rows x span: features, their squares, their gradient */
	gp_matrix	phi_square;
	gp_matrix	phi_slope;
	gp_matrix	cross;			/* rows x span: covariances with the directions, where those are pairs */
	gp_matrix	level;			/* rows x cols: variances of the prior */
	gp_matrix	spread;			/* rows x cols */
	gp_inducing_side side[2];	/* rows; or first and second ends */
	int			sides;
	/* of pairs */
	gp_matrix	pick[2];		/* count x span: a column has a 1 where its point stands */
	gp_matrix	pick_double[2];
	gp_matrix	picked[4];		/* rows x span: of either end with either point */
	gp_matrix	crossed[4];		/* span x span double: the same of the points */
	gp_matrix	pick_room;		/* count x span double */
	gp_matrix	near;			/* rows x 1: the square of the ends' covariance */
} gp_inducing_room;

/* Changes a matrix by one operation. */
extern void gp_inducing_each(gp_trainer *t, gp_each_op op, double factor, gp_matrix y, gp_matrix a, gp_matrix b);

/* Makes the parameters and the buffers of a block whose rows come in so many panels at once; power of a^2 in the directions' covariance. */
extern void gp_inducing_open(gp_trainer *t, gp_block *b, int64_t rows, int64_t width, int sides, int power);
extern void gp_inducing_close(gp_trainer *t, gp_block *b);

/* What follows from the parameters: a^2, Z / len, the points' kernel. */
extern void gp_inducing_points(gp_trainer *t, gp_inducing *f);

/* The directions' covariance gets its root. */
extern void gp_inducing_whiten(gp_trainer *t, gp_inducing *f);

/* The covariances of rows x with the points; what those rows' x and the points get of side's slope. */
extern void gp_inducing_cover(gp_trainer *t, gp_inducing *f, gp_inducing_side *side, gp_matrix x);
extern void gp_inducing_uncover(gp_trainer *t, gp_inducing *f, gp_inducing_side *side, int64_t rows);

/* dx (without data: nobody asks) from the gradient by x / len, which is complete, and what len gets of it. */
extern void gp_inducing_rows(gp_trainer *t, gp_inducing *f, gp_inducing_side *side, int64_t rows, gp_matrix dx);

/* The features of a panel, level being the variance of the prior; those times the weights, drawn by noise; the derivatives. */
extern void gp_inducing_features(gp_trainer *t, gp_inducing *f, gp_matrix cross);
extern void gp_inducing_draw(gp_trainer *t, gp_inducing *f, gp_matrix noise, gp_matrix out);
extern void gp_inducing_undraw(gp_trainer *t, gp_inducing *f, gp_matrix cross, gp_matrix noise, gp_matrix df,
							   gp_matrix dcross);

/* Before the first panel of the derivatives; the directions' covariance_slope from what all panels gave; the points', at last. */
extern void gp_inducing_begin(gp_trainer *t, gp_inducing *f);
extern void gp_inducing_unwhiten(gp_trainer *t, gp_inducing *f);
extern void gp_inducing_finish(gp_trainer *t, gp_inducing *f);

/* The block's prior. */
extern void gp_inducing_prior(gp_trainer *t, gp_block *b, double weight);

#endif							/* GP_INDUCING_H */
