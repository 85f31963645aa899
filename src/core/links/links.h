/*
 * links.h - from a graph to the probability that any pair of nodes is linked.
 *
 * Four methods share one model.  "scores" describes a pair by 11 to 29
 * scores of the graph around it: a logistic regression on them, or a Gaussian process (arc-cosine
 * map) where that ranks held-out links better.  "pairs" is the pair kernel
 * k(i,i') k(j,j') + k(i,j') k(j,i') on a kernel of the nodes (Yu and Chu 2008).  All
 * learn from links that they hide from themselves and from random pairs without a link.
 *
 * "ease" is the linear auto-encoder of users' rows, where links lead from users to items: the one
 * score of a logistic regression (Steck 2019).
 *
 * "dgp" is a deep Gaussian process, whose last layer gives each node a mean and a variance (Opolka
 * and Lio 2022); a pair's posterior follows from those of its ends.
 *
 * Scores are logits.  Undirected pairs have no order: (i, j) and (j, i) score alike.
 */
#ifndef GP_LINKS_H
#define GP_LINKS_H

#include "base/base.h"
#include "device/device.h"
#include "graph/graph.h"
#include "formula/formula.h"
#include "train/train.h"

#include <math.h>

#define GP_LINK_POWERS 3		/* features A^k X, k = 0 .. 2 */
#define GP_LINK_CODE_WORDS 4	/* of 64 bits: the sign code of a node */
#define GP_LINK_MISSING_SHARE 0.1	/* of all links that are missing, where the user does not say */
/* the most pairs of a node that are kept: the first of so many are those of a shorter list */
#define GP_LINK_KEPT 100
#define GP_LINK_TOPOLOGY_COUNTS 20	/* of what hidden links and other pairs are like */
#define GP_LINK_PLACES 3		/* that hits are counted at */
#define GP_LINK_FOLDS 4			/* times that links are hidden, at most */

/* Stored models have these numbers: append only. */
typedef enum gp_link_method
{
	/* scores; or ease, where links lead from side to side and rank better by it */
	GP_LINK_AUTO = 0,
	GP_LINK_SCORES = 1,
	GP_LINK_PAIRS = 2,
	GP_LINK_DGP = 3,
	GP_LINK_EASE = 4
} gp_link_method;

/* Which pairs gp_links_best looks at. */
typedef enum gp_link_candidates
{
	/* where hidden links were found: two hops, three where two give few */
	GP_CANDIDATES_AUTO,
	GP_CANDIDATES_TWO_HOPS,		/* two hops, and the nearest in the kernel */
	GP_CANDIDATES_THREE_HOPS,	/* three hops, and the nearest in the kernel */
	GP_CANDIDATES_ALL			/* every pair */
} gp_link_candidates;

/* What a fit starts from.  Nothing in it is changed or freed. */
typedef struct gp_link_problem
{
	const gp_graph *graph;
	const gp_features *features;	/* NULL: structure only */
	/* the node kernel: of the method pairs, and of the candidates; dgp does not look at it */
	const gp_program *program;
	gp_link_method method;
	const gp_dgp *dgp;			/* the options of the method dgp, or NULL */
	/* The share of all links that the graph lacks; 0: GP_LINK_MISSING_SHARE. */
	double		missing_share;
	uint64_t	seed;
	int64_t		keep;			/* best pairs of each node that gp_links_keep takes afterwards */
	size_t		estimate_limit; /* for an estimate: bytes to plan for; 0 = gp_limit */
	/* Chooses the device once the plan is known; NULL stays with the one that planned. */
	gp_device  *(*device_for) (void *arg, gp_device *planner, const gp_plan *plan);
	void	   *device_arg;
} gp_link_problem;

/*
 * From scores to probabilities: two lines that meet, whose logits are intercept + slope s below the
 * knee, with a slope changed by bend beyond it (0: no knee).  Neither line falls.
 */
typedef struct gp_link_curve
{
	double		intercept;
	double		slope;
	double		knee;
	double		bend;
} gp_link_curve;

static inline double
gp_link_probability(const gp_link_curve *c, double score)
{
	double		beyond = score > c->knee ? score - c->knee : 0.0;

	return 1.0 / (1.0 + exp(-(c->intercept + c->slope * score + c->bend * beyond)));
}

/* One number for a pair without an order. */
static inline uint64_t
gp_link_key(int32_t i, int32_t j)
{
	return (uint64_t) gp_min64(i, j) << 32 | (uint64_t) gp_max64(i, j);
}

/* One pair as predicted. */
typedef struct gp_link_row
{
	int32_t		src;
	int32_t		dst;
	double		score;
	double		variance;		/* of the score, without noise; >= 0 */
	double		probability;
} gp_link_row;

/* How hidden links rank among their rivals: other candidates of an end (rivals.c). */
typedef struct gp_link_ranks
{
	int64_t		links;
	double		reciprocal;		/* of the ranks, summed */
	double		hits[GP_LINK_PLACES];	/* links among the first 1, 10 and 20 */
	double		common;			/* of the ranks by common neighbours, reciprocal and summed */
	double		allocation;		/* the same by resource allocation, */
	double		attachment;		/* and by how many links the other end has */
} gp_link_ranks;

/*
 * The pairs of the folds, each as it is predicted without its own fold: links that were
 * hidden, and as many pairs without a link.  Fold after fold, links first.
 */
typedef struct gp_link_held
{
	int64_t		n;
	gp_link_row *row;
	bool	   *linked;
	bool	   *together;		/* both ends in one component of the graph that it was scored on */
	int			folds;
	int64_t		first[GP_LINK_FOLDS + 1];	/* of each fold; the last is n */
	gp_link_ranks ranks;		/* of some of the links */
} gp_link_held;

/* The figures of a fit, cross-fitted; each is the mean of the folds that can tell. */
typedef enum gp_link_metric
{
	GP_LINK_METRIC_AUC,			/* of hidden links among random pairs that may be predicted */
	GP_LINK_METRIC_PRECISION,	/* average precision of the same */
	GP_LINK_METRIC_AUC_COMPONENT,	/* AUC of the pairs within one component */
	/* mean reciprocal rank among a hundred other candidates of one end */
	GP_LINK_METRIC_MRR,
	GP_LINK_METRIC_HITS_20,		/* share of the links at the first twenty ranks of the same */
	GP_LINK_METRIC_HITS_1,
	GP_LINK_METRIC_HITS_10,
	/* mean reciprocal rank of the same links by common neighbours alone */
	GP_LINK_METRIC_MRR_COMMON,
	/* the same by resource allocation: neighbours in common over their degrees */
	GP_LINK_METRIC_MRR_ALLOCATION,
	/* the same by preferential attachment: of one end's candidates, their numbers of links */
	GP_LINK_METRIC_MRR_ATTACHMENT,
	GP_LINK_METRICS
} gp_link_metric;

/* The name of a figure, as users see it. */
extern const char *gp_link_metric_name(gp_link_metric metric);

/*
 * What is kept of a fit, and all that predictions need.  Arrays belong to the
 * environment; the graph too, in a model that gp_link_model_restore made.
 */
typedef struct gp_link_model
{
	gp_link_method method;
	const gp_graph *graph;
	bool		owns_graph;
	/* figures */
	int64_t		pairs;			/* that it learnt from */
	double		metric[GP_LINK_METRICS];	/* NaN where no fold can tell */
	int32_t		steps;			/* of the Laplacian scores; 0 for other methods */
	gp_link_curve curve;		/* of its probabilities */
	/* the logit is <psi, alpha> of p functions psi of a pair (gp_link_model_functions) */
	double	   *alpha;			/* p */
	float	   *root;			/* p x p: the logit's variance is |root' psi|^2; NULL: dgp */
	/* scores and ease: psi is 1 and the scores or, with landmarks, their covariances with these */
	struct
	{
		int32_t		width;		/* scores of a pair */
		double	   *centre;		/* width: of the training rows' scores, */
		double	   *deviation;	/* width: and their deviations: scores are standardised by both */
		int64_t		landmarks;
		float	   *landmark;	/* landmarks x width, standardised */
	}			scores;
	struct
	{
		double		ridge;
		double	   *diagonal;	/* nodes: of the inverse of users and items (ease.c) */
	}			ease;
	/* pairs and dgp: each node's row of the kernel's factor, or its means */
	struct
	{
		int32_t		width;
		float	   *row;		/* nodes x width */
		float	   *variance;	/* dgp: nodes x width */
	}			node;
	/* pairs, and dgp by inducing pairs: psi is the covariances with these */
	struct
	{
		int64_t		n;
		int32_t    *pair;		/* n x 2 nodes; dgp: points */
	}			inducing;
	struct
	{
		double		offset;		/* of a logit */
		double		scale;		/* of an inner product, or a covariance of nodes */
		int32_t		points;
		float	   *point;		/* points x width of a node; NULL: by inner products */
		double	   *taken;		/* T, of the inducing pairs: variance = prior - psi'T psi */
	}			dgp;
	/* features of the nodes, ready for the cosines; NULL when there are none */
	gp_features *features;
	float	   *feature_mean;	/* powers x dims: the mean row of A^k X */
	float	   *feature_dot;	/* nodes x powers: <row, mean row> */
	float	   *feature_norm;	/* nodes x powers: |row - mean row| */
	/* where links are looked for */
	/* GP_LINK_TOPOLOGY_COUNTS of them (topology.c); NULL in a model that has none */
	int64_t    *topology;
	uint64_t   *code;			/* nodes x CODE_WORDS: neighbours in the node kernel */
	gp_link_held held;			/* of the fit; empty in a model that gp_link_model_restore made */
} gp_link_model;

/* An array of a model, for storing it. */
typedef enum gp_link_element
{
	GP_ARRAY_F32,
	GP_ARRAY_F64,
	GP_ARRAY_I32,
	GP_ARRAY_I64,
	GP_ARRAY_U64
} gp_link_element;

typedef struct gp_link_array
{
	int32_t		tag;			/* which array; constant over versions */
	gp_link_element element;
	int64_t		count;
	void	   *data;
} gp_link_array;

#define GP_LINK_MAX_ARRAYS 24

/* The bytes of one element. */
static inline size_t
gp_link_element_size(gp_link_element element)
{
	return element == GP_ARRAY_F32 || element == GP_ARRAY_I32 ? 4 : 8;
}

/*
 * What a fit takes, by a dry run of it, or gp_links_keep after it, and its method: scores for
 * GP_LINK_AUTO.
 * Raises GP_ERR_LIMIT where that is too much, unless the problem's estimate_limit is set.
 */
extern gp_plan gp_link_plan_make(gp_device *dev, const gp_link_problem *problem,
								 gp_link_method *method);

/*
 * Plans and fits.  The model borrows the graph.  GP_LINK_AUTO leaves out ease where that needs too
 * much, with a notice.
 */
extern gp_link_model *gp_link_fit(gp_device *dev, const gp_link_problem *problem);

extern void gp_link_model_free(gp_env *env, gp_link_model *model);

/*
 * The model as arrays (views; none with count 0), at most GP_LINK_MAX_ARRAYS; returns how many.
 * The first holds the scalars, and lives in scalars, which has room for GP_LINK_SCALARS.
 */
#define GP_LINK_SCALARS 24
extern int	gp_link_model_arrays(const gp_link_model *model, double *scalars, gp_link_array *out);

/*
 * The model back from its arrays, whose data it keeps (they belong to env).
 * Raises GP_ERR_DAMAGED when they do not fit together: no array is trusted.
 */
extern gp_link_model *gp_link_model_restore(gp_env *env, const gp_link_array *arrays, int n);

/* A model made ready for predictions. */
typedef struct gp_links gp_links;

extern gp_links *gp_links_open(gp_device *dev, const gp_link_model *model);
extern void gp_links_close(gp_links *links);

/*
 * The numbers of a node whose inner products rank pairs as the means of their logits do: how many
 * they are, 0 for a method that has none, and those of one node.
 */
extern int32_t gp_links_embedding_width(const gp_links *links);
extern void gp_links_embedding(const gp_links *links, int64_t node, float *out);

/* Scores n pairs, existing links on the graph without them.  src != dst in each. */
extern void gp_links_score(gp_links *links, int64_t n, const int32_t *src, const int32_t *dst,
						   gp_link_row *out);

/*
 * Lets so many threads take sources of gp_links_best and gp_links_keep, where there are many; not
 * on a card.
 */
extern void gp_links_set_threads(gp_links *links, int threads);

/*
 * Lets gp_links_best look at these nodes alone as other ends, whatever the candidates, and at all
 * of them that are not linked; they are the caller's, and stay until the links are closed.
 */
extern void gp_links_among(gp_links *links, int64_t n, const int32_t *node);

/* Takes one row. */
typedef void (*gp_link_take) (void *state, const gp_link_row *row);

/*
 * The k best pairs without a link of each of n nodes, best first, node by node
 * in the given order: src is the node.  Directed: arcs from the node.  An
 * undirected pair of two given nodes is told once, under the first of them.
 */
extern void gp_links_best(gp_links *links, int64_t n, const int32_t *node, int64_t k,
						  gp_link_candidates candidates, gp_link_take take, void *state);

/*
 * The best pairs of every node, of the candidates auto.  Those of a node stand in the order
 * that they were ranked, which is nearly that of their scores: the first k are the ones that
 * gp_links_best gives, except pairs that it has given before.
 */
typedef struct gp_link_kept
{
	int64_t		nodes;
	int64_t    *first;			/* nodes + 1: of each node's rows */
	gp_link_row *row;
	int64_t		passed;			/* pairs that were too unlikely */
} gp_link_kept;

/*
 * Memory of the environment; k is at most GP_LINK_KEPT.  Pairs below the least probability are
 * left out.
 */
extern gp_link_kept gp_links_keep(gp_links *links, int64_t k, double least);

/*
 * The same of a model that is fitted on a device, by so many threads; in a dry run what that takes.
 * Opens the model on a device of one thread, unless it is a card.
 */
extern gp_link_kept gp_link_model_keep(gp_device *dev, const gp_link_model *model, int threads,
									   int64_t k, double least);

#endif							/* GP_LINKS_H */
