/*
 * count.h - what each strategy would cost, for the planner.
 */
#ifndef GP_COUNT_H
#define GP_COUNT_H

#include "infer_internal.h"

/* A count: bytes on top of what is held already, and operations. */
typedef struct gp_count
{
	double		bytes;			/* high-water mark */
	double		flops;			/* true operations */
	double		effort;			/* the same, sparse ones weighted by how much slower they run */
} gp_count;

#define GP_SPARSE_EFFORT 8.0	/* a sparse multiplication takes as long as so many dense ones */

/* The bytes of a matrix as the device allocates it. */
static inline double
gp_matrix_bytes(double rows, double cols, gp_type type)
{
	double		ld = cols <= 1 ? cols : (double) (((int64_t) cols + 15) / 16 * 16);

	return rows * ld * (double) gp_type_size(type) + 64.0;
}

/* Adds operations. */
static inline void
gp_count_dense(gp_count *count, double flops)
{
	count->flops += flops;
	count->effort += flops;
}

static inline void
gp_count_sparse(gp_count *count, double flops)
{
	count->flops += flops;
	count->effort += GP_SPARSE_EFFORT * flops;
}

/* count_exact.c */
extern gp_count gp_count_columns(gp_eval *ev, const gp_problem *problem);
extern gp_count gp_count_full(gp_eval *ev, const gp_problem *problem);
/* The diagonal of a step by pairs of neighbours. */
extern gp_count gp_count_diagonal(gp_eval *ev, int step);
/* The products with a step's linear factor for some columns, all rows. */
extern void gp_count_linear(gp_eval *ev, int step, double columns, gp_count *count);
/* The regression on m labels in dual form, with n rows of posterior. */
extern gp_count gp_count_dual(const gp_eval *ev, const gp_problem *problem);

/* count_lowrank.c */
/* The factor alone: its rank, the bytes that stay, and the high-water mark of making it. */
extern gp_count gp_count_factor(gp_eval *ev, int64_t nlandmarks, double *rank, double *kept);
extern gp_count gp_count_lowrank(gp_eval *ev, const gp_problem *problem, int64_t nlandmarks,
								 bool exact_diagonal);

#endif							/* GP_COUNT_H */
