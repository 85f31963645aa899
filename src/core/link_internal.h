/*
 * link_internal.h - the parts of the link posterior.
 */
#ifndef GP_LINK_INTERNAL_H
#define GP_LINK_INTERNAL_H

#include "infer_internal.h"
#include "link.h"

#define GP_LINK_FOLDS 4			/* times that links are hidden, at most */
#define GP_LINK_LEAST_FOLDS 2	/* where there are links enough */
#define GP_LINK_FOLD_SHARE 0.1	/* of all links, hidden at a time */
#define GP_LINK_FOLD_PAIRS 700	/* links of a fold that are learnt from, and as many non-links */
#define GP_LINK_AIM 1400		/* links in all, for which small graphs take more folds */
#define GP_LINK_BLOCK 64		/* sources that are scored at once */
#define GP_LINK_SCALES 3		/* of the Laplacian scores */
#define GP_LINK_ROOT_ROWS 256	/* of a block of the packed Cholesky factor */
#define GP_LINK_MAX_SCORES 40

/* Pairs of nodes. */
typedef struct gp_link_pairs
{
	int64_t		n;
	int32_t    *src;
	int32_t    *dst;
} gp_link_pairs;

/* What one fold hides, and what is learnt from it: links first, then as many non-links. */
typedef struct gp_link_fold
{
	gp_graph   *graph;			/* without the hidden links */
	gp_link_pairs pairs;
	int64_t		links;			/* the first so many of them */
} gp_link_fold;

/* link_folds.c */

/* The folds of a graph, at most GP_LINK_FOLDS; GP_ERR_DATA for less than two links or no pair without one. */
extern int	gp_link_folds_make(gp_env *env, const gp_graph *graph, uint64_t seed,
							   gp_link_fold *fold);
/* The most pairs that the folds of so many links are learnt from. */
extern int64_t gp_link_fold_rows(int64_t edges);
extern void gp_link_fold_free(gp_env *env, gp_link_fold *fold);

/* True when src -> dst is a link (undirected: in either order). */
extern bool gp_link_exists(const gp_graph *graph, int32_t src, int32_t dst);

/* A seeded sample of the links, at most count. */
extern gp_link_pairs gp_link_sample_links(gp_env *env, const gp_graph *graph, uint64_t seed,
										  int64_t count);

/* At most count different pairs without a link, none of except (which may be NULL). */
extern gp_link_pairs gp_link_sample_missing(gp_env *env, const gp_graph *graph, uint64_t seed,
											int64_t count, const gp_link_pairs *except);

extern gp_link_pairs gp_link_pairs_create(gp_env *env, int64_t n);
extern void gp_link_pairs_free(gp_env *env, gp_link_pairs *pairs);

/* link_metrics.c */

/* Area under the ROC curve and average precision of n scores, label true for links; ties share. */
extern void gp_link_metrics(gp_env *env, int64_t n, const double *score, const bool *label,
							double *auc, double *average_precision);

/* intercept and slope of the probability of a link, by penalised likelihood. */
extern void gp_link_calibrate(gp_env *env, int64_t n, const double *score, const bool *label,
							  double *intercept, double *slope);

/*
 * link_regression.c: a lower triangle packed in float: blocks of ROOT_ROWS rows,
 * each with the columns up to its end, zeros above the diagonal; owned by the caller.
 */
extern float *gp_link_pack_root(gp_device *dev, gp_matrix root);
extern int64_t gp_link_root_size(int64_t m);

/* k (m x n) becomes L^-1 k, computed in the type of k; root is the packed numbers as one column. */
extern void gp_link_root_solve(gp_device *dev, gp_matrix root, gp_matrix k);

/* link_codes.c: the sign codes of the nodes' kernel, nodes x GP_LINK_CODE_WORDS. */
extern uint64_t *gp_link_codes(gp_device *dev, const gp_link_problem *problem);

/*
 * link_candidates.c: pairs worth a score.  neighbours is the graph's symmetric
 * pattern, columns ascending, without a diagonal; code may be NULL.  The search keeps pointers to
 * all of them.
 */
typedef struct gp_link_search gp_link_search;

extern gp_link_search *gp_link_search_open(gp_env *env, const gp_graph *graph,
										   const gp_csr *neighbours, const uint64_t *code,
										   gp_link_candidates candidates);
/*
 * The candidates of a node, ascending, neither itself nor linked from it.  out
 * has room for all nodes.
 */
extern int64_t gp_link_search_node(gp_link_search *search, int32_t node, int32_t *out);
extern void gp_link_search_close(gp_link_search *search);

/*
 * link_factor.c: the nodes' kernel as a dense factor, nodes x r float with
 * r <= max_rank, K ~ QQ'; owned by the caller.
 */
extern gp_matrix gp_link_factor(gp_device *dev, const gp_link_problem *problem, int64_t max_rank);

/* Landmarks for a factor: at most count nodes, ascending; owned by the caller. */
extern int32_t *gp_link_landmarks(gp_eval *ev, const gp_link_problem *problem, int64_t count,
								  int64_t *n);

/* link_pairs.c: the method pairs. */

/* Fits; fills every member of the model that is the regression's, and the figures. */
extern void gp_link_pairs_fit(gp_device *dev, const gp_link_problem *problem,
							  gp_link_model *model);

/* Covariances of n pairs with the inducing ones (k, n x m double) and their variances. */
extern void gp_link_pairs_kernel(gp_device *dev, const gp_link_model *model, int64_t n,
								 const int32_t *src, const int32_t *dst, gp_matrix k,
								 double *variance);

/* The bytes and operations of it, for the plan. */
extern void gp_link_pairs_count(gp_env *env, const gp_link_problem *problem, double *bytes,
								double *flops);

#endif							/* GP_LINK_INTERNAL_H */
