/*
 * laplacian.h - Laplacian kernels of a graph: exact (laplacian_root.c), or by random walks
 * (random_walks.c).
 *
 * The d-regularised Laplacian kernel is K = (I + s2 L)^-d with L = I - S and
 * S = D^-1/2 G D^-1/2 (no self-loops; a directed graph is made symmetric as
 * G + G').  With U = s2 / (1 + s2) S it is (1 + s2)^-d (I - U)^-d, whose root
 * (I - U)^(-d/2) = sum f_k U^k, f_k = Gamma(k + d/2) / (Gamma(d/2) k!), is what
 * walks estimate: K = E[F F2'] for independent copies F, F2.
 */
#ifndef GP_LAPLACIAN_H
#define GP_LAPLACIAN_H

#include "device/device.h"
#include "graph.h"

/* How a walk chooses among the neighbours. */
typedef enum gp_walk_choice
{
	GP_WALK_UNIFORM,
	GP_WALK_WEIGHTED,			/* in proportion to U */
	GP_WALK_REPELLED			/* q-GRF: less where this node's walks have been */
} gp_walk_choice;

/* How the columns of a factor are cut to a given number. */
typedef enum gp_walk_trim
{
	GP_TRIM_ANCHORS,			/* walks leave loads at so many random nodes only */
	GP_TRIM_PROJECTION			/* Johnson-Lindenstrauss, a dense factor */
} gp_walk_trim;

typedef struct gp_laplacian
{
	int			d;				/* 1, 2, 3, ... */
	double		sigma2;			/* > 0 */
	int			walks;			/* for each node, >= 1 */
	double		p_term;			/* a walk ends after each step with this probability, (0, 1) */
	gp_walk_choice choice;
	gp_walk_trim trim;
	int64_t		dims;			/* columns; 0 = one for each node */
} gp_laplacian;

/* The factor of S in U. */
static inline double
gp_laplacian_share(double sigma2)
{
	return sigma2 / (1.0 + sigma2);
}

/*
 * The factor F of one copy, (1 + s2)^(-d/2) (f_0 I + U F~): the first step is
 * exact, F~ holds the loads of the walks averaged over them.  With anchors it
 * has dims columns and all steps are walked.  Depends on the seed and the
 * copy's number, not on threads, nor on whether a device walks or (dev = NULL,
 * or one that does not) the host.
 */
extern gp_csr *gp_walk_factor(gp_env *env, gp_device *dev, const gp_graph *graph,
							  const gp_laplacian *kernel, uint64_t seed, int copy, gp_type type);

/* True where the root below fits into the time of a fit, and into so many bytes; 0 = gp_limit.
 * Kernels with dims have none. */
extern bool gp_laplacian_root_fits(const gp_env *env, const gp_graph *graph, size_t limit);

/* A dense matrix on the device as features of a type, in place of the former. */
extern gp_features *gp_features_of_matrix(gp_device *dev, gp_matrix m, gp_type type);

/* The exact root as dense features; a dry run learns what that takes. */
extern gp_features *gp_laplacian_root_features(gp_device *dev, const gp_graph *graph,
											   const gp_laplacian *kernel, gp_type type);

/*
 * The factor as features, so that <x_i, x_j> is the kernel: exact on small
 * graphs where it fits into so many bytes (0 = gp_limit), else one copy of the walks (positive,
 * with a bias that falls as 1 / walks).
 */
extern gp_features *gp_laplacian_features(gp_device *dev, const gp_graph *graph,
										  const gp_laplacian *kernel, uint64_t seed, gp_type type,
										  size_t limit);

#endif							/* GP_LAPLACIAN_H */
