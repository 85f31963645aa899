/*
 * live_columns.h - columns of the posterior covariance of many rows, a block of rows at a time.
 */
#ifndef GP_LIVE_COLUMNS_H
#define GP_LIVE_COLUMNS_H

#include "live_rows.h"

typedef struct gp_live_covariance
{
	gp_live_rows *r;
	int64_t		n;				/* rows */
	double	   *own;			/* n: C_ii */
	double	   *left;			/* n: the variance of the row, with what no label takes away */
	gp_matrix	half;			/* exact: n x labels, k_i L^-T */
	gp_factor  *factor;			/* low rank */
	int64_t		ncols;			/* the columns at hand */
	const int32_t *col;
	gp_matrix	kernel;			/* exact: K(:, col) */
	gp_matrix	rows;			/* t of the columns' rows: ncols x rank, double */
	gp_matrix	right;			/* low rank: rank x ncols, solved with the factor's roots */
} gp_live_covariance;

/* Opens the covariance of all rows of a question, and closes it. */
extern gp_live_covariance gp_live_covariance_open(gp_live_rows *r);
extern void gp_live_covariance_close(gp_live_covariance *c);

/* Takes these columns in place of others; col stays the caller's. */
extern void gp_live_covariance_take(gp_live_covariance *c, const int32_t *col, int64_t ncols);

/* Some rows of the columns at hand: out is count x ncols, double. */
extern void gp_live_covariance_block(gp_live_covariance *c, int64_t first, int64_t count,
									 gp_matrix out);

/* The rows that the columns are of: out is ncols x ncols, double. */
extern void gp_live_covariance_square(gp_live_covariance *c, gp_matrix out);

#endif							/* GP_LIVE_COLUMNS_H */
