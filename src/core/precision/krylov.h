/*
 * krylov.h - posteriors of all Laplacian priors from one run of products with S.
 */
#ifndef GP_KRYLOV_H
#define GP_KRYLOV_H

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

#endif							/* GP_KRYLOV_H */
