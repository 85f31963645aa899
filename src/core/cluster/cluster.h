/*
 * cluster.h - groups of nodes that a kernel holds alike.
 *
 * Kernel k-means (Dhillon, Guan and Kulis 2004) on the kernel with rows of
 * length one, k_ij / sqrt(k_ii k_jj): a hub's row is many times as long as a
 * leaf's, and distances between raw rows would set hubs apart from the rest
 * before they told one group from another.
 */
#ifndef GP_CLUSTER_H
#define GP_CLUSTER_H

#include "fit/fit.h"
#include "kernel/kernel.h"

#include <math.h>

/* What a clustering starts from.  Nothing in it is changed or freed. */
typedef struct gp_cluster_problem
{
	const gp_graph *graph;
	const gp_features *features;	/* NULL: structure only */
	const gp_program *program;
	int32_t		clusters;		/* 1 to the number of nodes */
	uint64_t	seed;
	gp_type		type;			/* of the large matrices */
	int64_t		exact_nodes;	/* kernels without a factor are exact up to so many; 0 = the
								 * default */
} gp_cluster_problem;

/* What it gives. */
typedef struct gp_clustering
{
	int64_t		nodes;
	int32_t	   *cluster;		/* of each node, from 1, by falling size, then by the first node */
	double		inertia;		/* the squared distances to the clusters' means, in all */
	int			starts;			/* that the best was taken of */
	int			rounds;			/* of all starts together */
} gp_clustering;

/* Clusters the nodes; raises GP_ERR_LIMIT before anything large is made that would not fit. */
extern gp_clustering *gp_cluster(gp_device *dev, const gp_cluster_problem *problem);

extern void gp_clustering_free(gp_env *env, gp_clustering *clustering);

/*
 * The kernel as something to multiply with: factors side by side, K = sum of
 * value_b Z_b Z_b', or the whole matrix.
 */
typedef struct gp_similarity
{
	gp_eval    *ev;
	gp_matrix	full;			/* n x n; without data: by the factors */
	int			npieces;
	gp_linear	piece[GP_MAX_LINEAR_TERMS];
	gp_csr	   *transposed[GP_MAX_LINEAR_TERMS];	/* of the sparse ones */
	double		value[GP_MAX_LINEAR_TERMS];
	gp_factor  *factor;			/* that owns the pieces, or NULL */
	double	   *shrink;			/* n: 1 / sqrt(k_ii), 0 where there is no kernel */
	double		effort;			/* of a product with one column */
} gp_similarity;

/* The problem as landmarks are chosen for it. */
extern gp_problem gp_cluster_fit(const gp_cluster_problem *problem);

/* Prepares products: by a linear kernel's factor, else on so many landmarks, or the whole matrix
 * (0). */
extern gp_similarity *gp_similarity_open(gp_eval *ev, const gp_cluster_problem *problem,
										 int64_t landmarks);
extern void gp_similarity_close(gp_similarity *s);

/* out (n x m) = K m; both without the shrinking of rows. */
extern void gp_similarity_times(gp_similarity *s, gp_matrix m, gp_matrix out);

/* out (n x count, or more: gp_cluster_width) = K(:, index). */
extern void gp_similarity_columns(gp_similarity *s, const int32_t *index, int64_t count,
								  gp_matrix out);

/* Columns up to a whole number of vectors: products with fewer would not be cheaper. */
static inline int64_t
gp_cluster_width(int64_t columns)
{
	return (columns + 15) / 16 * 16;
}

#endif							/* GP_CLUSTER_H */
