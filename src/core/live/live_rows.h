/*
 * live_rows.h - rows of a live question against what the fit kept.
 */
#ifndef GP_LIVE_ROWS_H
#define GP_LIVE_ROWS_H

#include "live.h"
#include "kernel/prepared.h"
#include "regression/solution.h"

/* A question at work. */
typedef struct gp_live_rows
{
	gp_env	   *env;
	gp_device  *dev;
	const gp_live_question *q;
	gp_live_scalars f;
	const int32_t *labelled;	/* nodes of the fit, ascending */
	int64_t		nlabelled;
	gp_eval		ev;
	/* the whole exact kernel, once it was asked for, where columns are not enough */
	gp_matrix	whole;
} gp_live_rows;

/*
 * Opens and closes the evaluation of what is asked for, or of all inner nodes, whose rows are then
 * numbered as they are.
 */
extern gp_live_rows gp_live_rows_open(gp_device *dev, const gp_live_question *question, bool all);
extern void gp_live_rows_close(gp_live_rows *r);

/* The row of an anchor that is a labelled node of an exact fit. */
extern int32_t gp_live_anchor(const gp_live_rows *r, int32_t node);

/* The diagonal of the exact kernel at some rows, or at the first ones (NULL). */
extern void gp_live_diagonal(gp_live_rows *r, const int32_t *row, int64_t n, double *out);

/* Columns of the exact kernel, of all rows and anchors, owned by the caller. */
extern gp_matrix gp_live_columns(gp_live_rows *r, const int32_t *col, int64_t ncols);

/* The low-rank factor of all rows, with the power that the fit took, owned by the caller. */
extern gp_factor *gp_live_factor(gp_live_rows *r);

/* The Cholesky factor of the posterior's system in so many columns, owned by the caller. */
extern gp_matrix gp_live_root(gp_live_rows *r, int64_t rank);

/* x <- x L^-T (trans), or x L^-1, with it, for few rows. */
extern void gp_live_solve(gp_live_rows *r, bool trans, gp_matrix x);

#endif							/* GP_LIVE_ROWS_H */
