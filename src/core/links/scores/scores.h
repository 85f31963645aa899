/*
 * scores.h - the scores of a pair of nodes, which are there before any learning.
 *
 * A context is a graph made ready: sparse matrices of its pattern under several scalings, and the
 * features' means and norms.  All scores of pairs (i, j) are entries of columns M e_i, where M is a
 * polynomial of these matrices, so pairs that share a source share its column, and 64 sources are
 * computed at once. Nothing is of the size of all pairs.
 *
 * A pair that is linked is scored on the graph without that link.  One link
 * changes its ends' degrees and two entries; each product with the matrix is
 * therefore corrected in two places of that pair's own column, which is exact.
 */
#ifndef GP_SCORES_H
#define GP_SCORES_H

#include "links/links_internal.h"

/* What a middle of a walk counts for. */
enum gp_link_middle
{
	GP_LINK_COUNT,				/* 1 */
	GP_LINK_BY_DEGREE			/* 1 / d */
};

#define GP_LINK_DECAYS 3		/* by which recent links count more */

typedef struct gp_link_items gp_link_items;

typedef struct gp_link_context
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_graph *graph;
	int64_t		n;
	int32_t		steps;			/* of the Chebyshev recurrence */
	int32_t		width;			/* scores of a pair */
	gp_csr		smooth;			/* S = D^-1/2 W D^-1/2 with the weights, float */
	/* A = (I+D)^-1/2 (I+G) (I+D)^-1/2, float, when there are features */
	gp_csr	   *adjacency;
	gp_csr	   *weights;		/* W symmetric, double: its places are those of smooth, too */
	gp_csr		out;			/* arcs from a node, and to it, float; directed graphs only */
	gp_csr	   *in;
	gp_matrix	middle;			/* n x GP_PATH_LANES float: what a node counts for as a middle */
	double	   *degree;			/* n: neighbours */
	double	   *strength;		/* n: weights of the neighbours' links */
	double		volume;			/* sum of strengths */
	/*
	 * entries of weights x GP_LINK_DECAYS: what a link of such an age counts for; NULL without
	 * times
	 */
	float	   *decayed;
	double	   *activity;		/* n x GP_LINK_DECAYS: of a node's links */
	/*
	 * the places of weights: 1 / radius in float for the auto-encoder, scaled in double for ease;
	 * no value on a large graph
	 */
	gp_csr		pattern;
	double		radius;			/* at least that of the pattern's spectrum */
	/* features */
	const gp_features *x;		/* NULL when there are none */
	gp_csr	   *xt;				/* X', when X is sparse */
	float	   *mean;			/* powers x dims */
	float	   *dot;			/* n x powers */
	float	   *norm;			/* n x powers */
	double		mean_square[GP_LINK_POWERS];	/* |mean row|^2 */
	bool		owns_statistics;
	double		ridge;			/* of the auto-encoders of users and items */
	gp_link_items *items;		/* of the method ease, which has no other scores; else NULL */
} gp_link_context;

/*
 * Makes the context of a graph; x (prepared) may be NULL.  Means and norms are
 * computed, or taken from a model when given.
 */
extern void gp_link_context_open(gp_link_context *f, gp_device *dev, const gp_graph *graph,
								 const gp_features *x, int32_t steps,
								 const gp_link_model *model);
extern void gp_link_context_close(gp_link_context *f);

/* The scores of a pair in such a graph.  Those of the features are the last of them. */
extern int32_t gp_link_width(const gp_graph *graph, bool features);

/*
 * One block: at most GP_LINK_BLOCK sources, and pairs that each name the slot
 * of their source.  Where partner is given, slot c's pair is (source[c], partner[c]),
 * which is scored as if that link were not there.
 */
typedef struct gp_link_block
{
	int32_t		sources;
	const int32_t *source;
	const int32_t *partner;		/* NULL: nothing is cut */
	int64_t		n;				/* pairs */
	const int32_t *slot;		/* n */
	const int32_t *dst;			/* n */
} gp_link_block;

/* The scores of a block: out is n x width, rows packed. */
extern void gp_link_block_scores(gp_link_context *f, const gp_link_block *block, double *out);

/* The same for any pairs, linked or not: out is n x width. */
extern void gp_link_pair_scores(gp_link_context *f, int64_t n, const int32_t *src,
								const int32_t *dst, double *out);

/*
 * How many sources a block should have on a graph of so many nodes; the plan counts with it, too.
 */
extern int32_t gp_link_block_size(int64_t nodes);

/* A link that a column ignores: what it takes from its ends. */
typedef struct gp_link_cut
{
	int32_t		i;				/* source */
	int32_t		j;				/* partner */
	bool		edge;			/* the pattern loses the pair, too */
	double		weight;			/* that the symmetric pair loses */
} gp_link_cut;

/*
 * link_removal.c: products for columns that each ignore one link.
 *
 * c = alpha S' b + beta c, where column t uses S without cut t's link.  s is smooth, adjacency or
 * pattern of the context; cuts may be NULL.  b is restored.
 */
extern void gp_link_cut_spmm(gp_link_context *f, const gp_csr *s, double alpha, gp_matrix b,
							 double beta, gp_matrix c, const gp_link_cut *cuts);

/*
 * dst = S' e_i for the source i of each column; scratch is of its size, and only cuts need it.
 */
extern void gp_link_cut_columns(gp_link_context *f, const gp_csr *s, int32_t sources,
								const int32_t *source, gp_matrix scratch, gp_matrix dst,
								const gp_link_cut *cuts);

/*
 * series.c: adds the entries of sum_k a_k T_k(S) and sum_k b_k T_k(S), k = 1 .. steps, at the
 * block's pairs of two ends, where T_0 has none: all of the first to out, then all of the second.
 */
extern void gp_link_series(gp_link_context *f, const gp_csr *s, int32_t steps, const double *a,
						   const double *b, const gp_link_block *block, const gp_link_cut *cuts,
						   double *out);

/*
 * dst = (a b)(source, :)', one source for each column.  turned is b'; rows is scratch,
 * in which a(source, :)' may be left.
 */
extern void gp_link_first_product(gp_link_context *f, const gp_csr *a, const gp_csr *b,
								  const gp_csr *turned, const int32_t *source, gp_matrix rows,
								  gp_matrix dst);

/* The entries of s b at the block's pairs; out has one for each. */
extern void gp_link_last_product(gp_link_context *f, const gp_link_block *block, const gp_csr *s,
								 gp_matrix b, double *out);

/* Scores that one file computes; pair_scores.c has the table of them all. */
typedef struct gp_link_score_family
{
	int32_t		width;			/* scores of a pair */
	/* it applies to graphs that have all that it needs */
	bool		needs_directions;
	bool		needs_times;
	bool		needs_features;
	/* Writes them at out, which has f->width numbers for each pair of the block. */
	void		(*compute) (gp_link_context *f, const gp_link_block *block,
							const gp_link_cut *cuts, double *out);
} gp_link_score_family;

extern const gp_link_score_family gp_link_structure;	/* structure.c: of the neighbourhood */
extern const gp_link_score_family gp_link_arcs; /* and of directions */
extern const gp_link_score_family gp_link_laplacian;	/* link_laplacian.c */
extern const gp_link_score_family gp_link_autoencoder;	/* autoencoder_score.c */
extern const gp_link_score_family gp_link_decay;	/* decay.c: by how recent links are */
extern const gp_link_score_family gp_link_cosines;	/* cosines.c: of the features */
extern const gp_link_score_family gp_link_neighbour_cosines;

/* autoencoder_score.c, whose scores are 0 on a larger graph */
#define GP_LINK_AUTOENCODER_NODES 10000

/* ease_solve.c: x = (A^2 + lambda I)^-1 b, where b is lost, of ease's pattern and ridge. */
extern void gp_link_ease_solve(gp_link_context *f, gp_matrix b, gp_matrix x);

/*
 * ease.c: the auto-encoders of users and items, the one score of the method ease.  Pairs of
 * one side have the score 0.
 */
#define GP_LINK_RIDGES 3		/* to choose from, the usual one first */

/*
 * The items of a graph: in each component what links lead to.  Without directions the larger side
 * of the largest component; elsewhere the side in the same order of nodes, where users come before
 * items or behind them, or else the larger one.  share is that of the links that lead from side to
 * side.  Owned by the caller.
 */
extern bool *gp_link_items_find(gp_env *env, const gp_graph *graph, double *share);

/*
 * The context of the one score: of a model by its ridge, diagonal and items; without one (NULL) of
 * these items, for gp_link_ease_fit.
 */
extern void gp_link_context_open_ease(gp_link_context *f, gp_device *dev, const gp_graph *graph,
									  const bool *item, const gp_link_model *model);

/*
 * Prepares the scores by one of the ridges: computes the diagonal; dense: by the inverse, unless
 * it is too large for any machine.
 */
extern void gp_link_ease_fit(gp_link_context *f, int ridge, bool dense);

/* The diagonal alone, without the inverse. */
extern void gp_link_ease_probe(gp_link_context *f);

/* Computes the inverse where that pays for the scores of so many sources. */
extern void gp_link_ease_expect(gp_link_context *f, int64_t sources);

/* The diagonal, which the caller owns from now on. */
extern double *gp_link_ease_diagonal(gp_link_context *f);

extern void gp_link_ease_scores(gp_link_context *f, const gp_link_block *block, double *out);

/*
 * For score_context.c alone: what a context has for the auto-encoder, times, features (cosines.c)
 * and ease.
 */
extern void gp_link_autoencoder_open(gp_link_context *f);
extern void gp_link_decay_open(gp_link_context *f);
extern void gp_link_feature_statistics(gp_link_context *f);
extern void gp_link_ease_open(gp_link_context *f, const bool *item, const gp_link_model *model);
extern void gp_link_ease_close(gp_link_context *f);

/*
 * Features in float, tf-idf where they are counts, at most a few thousand wide; owned by the
 * caller.
 */
extern gp_features *gp_link_features_prepare(gp_env *env, const gp_features *x, uint64_t seed);

#endif							/* GP_SCORES_H */
