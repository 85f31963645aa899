/*
 * krylov.h - posteriors of all Laplacian priors from one run of products with S.
 */
#ifndef GP_KRYLOV_H
#define GP_KRYLOV_H

#include "numeric/dot.h"
#include "precision.h"

typedef struct gp_krylov gp_krylov;

/*
 * Spans the space of so many products with S of right sides, elements in the rows of the
 * labelled nodes.  Vectors of it, nodes x cols each, are held until it is closed.
 */
extern gp_krylov *gp_krylov_open(gp_device *dev, const gp_csr *s, gp_type type,
								 const int32_t *labelled, int64_t nlabelled, int64_t cols,
								 const gp_elements *b, int products);
extern void gp_krylov_close(gp_krylov *k);

/*
 * The solution of (B^d + M / noise) X = B / noise that is best in the space, d at most 2: x has the
 * labels' rows, n x cols double.  Returns the root of what the last two vectors of the space gain
 * over what is left of the whole, as gp_precision_solve has it: large where the space is too small.
 */
extern double gp_krylov_solve(gp_krylov *k, double sigma2, int d, double noise, double *x);

/* The last solution at all nodes; the caller's. */
extern gp_matrix gp_krylov_solution(gp_krylov *k);

/* ---- the labelled nodes' own part of the precision (label_system.c) ---- */

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

#endif							/* GP_KRYLOV_H */
