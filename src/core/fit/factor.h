/*
 * factor.h - low-rank factors beyond a fit: what links, groups and live models take.
 */
#ifndef GP_FIT_FACTOR_H
#define GP_FIT_FACTOR_H

#include "fit.h"

#define GP_FIELD_MOST 2048		/* nodes of a field that is taken whole as landmarks, */
#define GP_LANDMARKS_MOST 1500	/* of those that are chosen where it is larger */

/* landmarks.c: ascending, at most count, twins dropped; spread evenly, as of a power of a kernel,
 * or by degree and the labels' neighbourhood. */
extern int32_t *gp_landmarks_choose(gp_eval *ev, const gp_problem *problem, int64_t count,
									bool spread, int64_t *n);
/* How many landmarks an automatic fit takes before twins are dropped. */
extern int64_t gp_landmarks_automatic(gp_eval *ev, const gp_problem *problem);

/* landmarks.c: by degrees, ascending; preferred nodes come first (NULL: none is). */
extern int32_t *gp_landmarks_of_degrees(gp_env *env, uint64_t seed, int64_t nodes,
										const int32_t *degree, const bool *preferred,
										int64_t count);

/*
 * factor_blocks.c: a factor some rows, or some columns, at a time.  All matrices are the host's.
 */
/*
 * out (rows x landmarks, float) = covariances of rows, whitened by root unless it is NULL, with
 * landmarks, which are already, by a kernel of rows alone.  own[j] is the row that is landmark j,
 * or -1.
 */
extern void gp_block_covariances(gp_device *dev, const gp_program *program, gp_matrix rows,
								 const gp_matrix *root, gp_matrix landmarks, const int32_t *own,
								 gp_matrix out);
/*
 * columns (all nodes, float) <- S columns, S being the operator of a kernel such as A*X0; a is A
 * in float, which serves any number of calls.  Of nodes, n of them, unless that is NULL, the rows
 * are right, and others are not asked for.  The device is the CPU, which works in place.
 */
extern void gp_block_operate(gp_device *dev, const gp_program *program, gp_csr *a,
							 gp_matrix columns, const int32_t *node, int64_t n);
/* gram += q'q, qty += q'y (double) of rows whitened by root unless it is NULL. */
extern void gp_block_gram(gp_device *dev, gp_matrix rows, gp_matrix y, const gp_matrix *root,
						  gp_matrix gram, gp_matrix qty);
/* out = rows w in w's type, the last row of w being a constant where it has one more. */
extern void gp_block_apply(gp_device *dev, gp_matrix rows, gp_matrix w, gp_matrix out);

/*
 * lowrank_posterior.c: noise q_i' B^-1 q_i of every row of a factor for the Cholesky factor l of B,
 * which is taken.
 */
extern void gp_lowrank_variances(gp_eval *ev, gp_factor *f, gp_matrix l, double noise,
								 double *variance);
/* |q_i|^2 of every row. */
extern void gp_lowrank_norms(gp_eval *ev, gp_factor *f, double *norm);

/*
 * plan.c: refuses explicit factors of the program's steps that would not fit, before they are
 * made.
 */
extern void gp_plan_check_factors(gp_eval *ev, double limit);

#endif							/* GP_FIT_FACTOR_H */
