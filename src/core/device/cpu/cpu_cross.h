/*
 * cpu_cross.h - covariances between two small sets of rows of Z.
 */
#ifndef GP_CPU_CROSS_H
#define GP_CPU_CROSS_H

#include "cpu_internal.h"

/* Where the entries of one column of a sparse Z stand in the index of a block. */
typedef struct gp_cross_column
{
	int32_t		begin;			/* 0: no entry */
	int32_t		end;
} gp_cross_column;

/* One entry: the row within the block, and its value. */
typedef struct gp_cross_entry
{
	int32_t		row;
	double		value;
} gp_cross_entry;

/* What one thread works in. */
typedef struct gp_cross_space
{
	/* Sparse Z. */
	gp_cross_column *column;	/* for each column, zero between uses */
	gp_cross_entry *entry;		/* one more than a block may have */
	double	   *sum;			/* for each row of a block */

	/* Dense Z. */
	void	   *left;			/* gathered rows */
	void	   *right;
} gp_cross_space;

/* Makes room for blocks of so many rows and, for sparse Z, so many entries. */
extern void gp_cross_create(gp_env *env, gp_cross_space *space, const gp_csr *zs,
							const gp_matrix *zd, int64_t rows, int64_t entries);

extern void gp_cross_free(gp_env *env, gp_cross_space *space);

/*
 * k = z(row, :) z(col, :)' for lists of rows.  With lower set the two lists are
 * one, and only elements up to the diagonal are sure to be set.
 */
extern void gp_cross_sparse(const gp_csr *z, const int32_t *row, const int32_t *col, bool lower,
							gp_cross_space *space, gp_matrix k);
extern void gp_cross_dense(gp_matrix z, const int32_t *row, const int32_t *col, bool lower,
						   gp_cross_space *space, gp_matrix k);

#endif							/* GP_CPU_CROSS_H */
