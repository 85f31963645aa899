/*
 * label_system.h - the labelled nodes' own part of a Laplacian posterior's precision.
 */
#ifndef GP_LABEL_SYSTEM_H
#define GP_LABEL_SYSTEM_H

#include "numeric/dot.h"

/* The labels' rows of S, and S among them; double. */
typedef struct gp_label_system
{
	gp_device  *dev;
	int64_t		n;				/* labels */
	gp_csr	   *own;			/* n x n */
	gp_csr	   *rows;			/* n x the nodes that they reach */
	gp_csr	   *cols;			/* the transpose */
	gp_long_dots dots;
} gp_label_system;

extern gp_label_system gp_label_system_open(gp_device *dev, const gp_csr *s,
											const int32_t *labelled, int64_t n);
extern void gp_label_system_close(gp_label_system *l);

/* Solves (B^d + I / noise restricted to the labels) Z = W, d at most 2; n x columns, double, w is
 * spoilt. */
extern void gp_label_system_solve(gp_label_system *l, double sigma2, int d, double noise,
								  gp_matrix w, gp_matrix z);

#endif							/* GP_LABEL_SYSTEM_H */
