/*
 * metapath.h - a kernel for rows of tables without time: those are alike that refer to the same.
 *
 * A path leads from a row to rows of another table that it refers to, at once or by the rows of a
 * third: a paper to its authors.  It gives two operators.  N is the list of what a row refers to,
 * of length one.  A is the mean over what it refers to of the mean over the other rows that refer
 * to it as well; it is kept in factored form, and no list of all pairs of such rows is made.  With
 * X, the columns that rows have of their own, the kernel is one layer of arc cosines over
 *
 *		mean of unit(X), unit(N[q]), unit(A[r] X) and unit(A[r] N[q]) for all paths r, q
 *
 * where unit divides a covariance by the mean of its diagonal.
 */
#ifndef GP_METAPATH_H
#define GP_METAPATH_H

#include "device/device.h"
#include "graph/graph.h"
#include "kernel/kernel.h"

/* Belongs to its environment, as what is made of it does; there is no free. */
typedef struct gp_metapath gp_metapath;

/* What a row refers to, by any number that tells it from others. */
typedef struct gp_metapath_pair
{
	uint64_t	key;
	int32_t		row;
} gp_metapath_pair;

extern gp_metapath *gp_metapath_create(gp_env *env, int64_t rows);

/*
 * Adds a path, by what it leads to; the name is not copied.  The pairs come in any order, repeated
 * ones count once; pair is sorted in place.
 */
extern void gp_metapath_add(gp_metapath *metapath, const char *name, int64_t n,
							gp_metapath_pair *pair);

#define GP_METAPATH_LANDMARKS 600

/*
 * The kernel over these.  It has no biases: a row that has and shares nothing is one without
 * kernel, of which the labels' mean is all that is known.
 */
extern const char gp_metapath_kernel[];

/*
 * Features of single precision whose products are those covariances, for each row with each of n
 * landmarks and with itself: rows x (n + 1).  The last column has what the landmarks leave of a
 * row's own variance, so products of two rows that are no landmarks are not theirs: a low-rank
 * evaluator on these landmarks asks for none.  own has the rows' own columns, dense; it may have
 * none.  state gets what answers about other rows need, unless it is NULL.
 */
extern gp_features *gp_metapath_features(gp_device *dev, const gp_metapath *metapath,
										 const gp_features *own, const int32_t *landmark,
										 int64_t n, gp_live_state *state);

/* What the terms of the sum add up: whose columns or list, gathered over which path. */
typedef struct gp_metapath_term
{
	const char *leaf;			/* of a path; NULL: X */
	const char *path;			/* NULL: a row's own */
	double	   *covariance;		/* of each row with the n landmarks, and with itself; or NULL */
} gp_metapath_term;

typedef struct gp_metapath_terms
{
	int64_t		rows;
	int64_t		landmarks;
	double	   *sum;			/* rows x (landmarks + 1): the covariances of all terms */
	int			n;
	gp_metapath_term *term;
} gp_metapath_terms;

/*
 * The covariances of some rows as the tables are now with the landmarks as they were in the fit: so
 * their covariances belong together, whatever has changed.  Those of each term are kept only where
 * that is said.
 */
extern gp_metapath_terms *gp_metapath_cross(gp_env *env, const gp_metapath *metapath,
											const gp_features *own, const gp_live_state *state,
											const int32_t *row, int64_t rows, bool keeps_terms);

/* Features, as those of the fit, of rows by sums of terms: rows x (n + 1). */
extern gp_features *gp_metapath_rows(gp_device *dev, const gp_live_state *state, double *covariance,
								  int64_t rows, int64_t n);

#endif							/* GP_METAPATH_H */
