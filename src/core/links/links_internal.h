/*
 * links_internal.h - the parts of the link posterior.
 */
#ifndef GP_LINKS_INTERNAL_H
#define GP_LINKS_INTERNAL_H

#include "base/sort.h"
#include "fit/factor.h"
#include "numeric/numeric.h"
#include "regression/regression.h"
#include "links.h"

#include <math.h>

#define GP_LINK_FOLD_SHARE 0.1	/* of all links, hidden at a time */
#define GP_LINK_FOLD_PAIRS 700	/* links of a fold that are learnt from, and as many non-links */
#define GP_LINK_BLOCK 64		/* sources that are scored at once */
#define GP_LINK_STEPS 10		/* of the Laplacian scores, at most: more of them rank no better */
#define GP_LINK_MOST_POINTS 256	/* of a model by inducing pairs */

/* Pairs of nodes (pair_list.c). */
typedef struct gp_link_pairs
{
	int64_t		n;
	int32_t    *src;
	int32_t    *dst;
} gp_link_pairs;

/* No pair yet, with room for so many. */
extern gp_link_pairs gp_link_pairs_create(gp_env *env, int64_t room);
extern void gp_link_pairs_free(gp_env *env, gp_link_pairs *pairs);

/* Adds a pair, for which there is room; n of another list; the pairs of a, then those of b. */
static inline void
gp_link_pairs_add(gp_link_pairs *pairs, int32_t src, int32_t dst)
{
	pairs->src[pairs->n] = src;
	pairs->dst[pairs->n++] = dst;
}

extern void gp_link_pairs_append(gp_link_pairs *pairs, const gp_link_pairs *from, int64_t first,
								 int64_t n);
extern gp_link_pairs gp_link_pairs_concat(gp_env *env, const gp_link_pairs *a,
										  const gp_link_pairs *b);

static inline void
gp_exchange_nodes(int32_t *a, int32_t *b)
{
	int32_t		old = *a;

	*a = *b;
	*b = old;
}

struct gp_link_prepared;

/* Some links of a fold, each before its rivals: pairs from the same node (rivals.c). */
typedef struct gp_link_rivals
{
	int64_t		links;
	int64_t    *first;			/* of each link's pairs; the last is pairs.n */
	gp_link_pairs pairs;
	double	   *common;			/* neighbours in common in the fold's graph, */
	double	   *allocation;		/* each divided by how many neighbours it has */
	double	   *attachment;		/* neighbours of the second end */
} gp_link_rivals;

extern void gp_link_rivals_free(gp_env *env, gp_link_rivals *rivals);

/*
 * Candidates of nodes that are drawn evenly, in the fold's graph: what a user would be shown
 * (calibration.c).
 */
typedef struct gp_link_calibration_pairs
{
	gp_link_pairs pairs;
	bool	   *linked;			/* hidden by the fold */
	double	   *weight;			/* pairs that it stands for */
} gp_link_calibration_pairs;

extern void gp_link_calibration_pairs_free(gp_env *env, gp_link_calibration_pairs *c);

/* What one fold hides, and what is learnt from it: links first, then as many non-links. */
typedef struct gp_link_fold
{
	gp_graph   *graph;			/* without the hidden links */
	uint64_t	seed;			/* of the pairs without a link */
	gp_link_pairs pairs;
	int64_t		links;			/* the first so many of them */
	gp_link_rivals rivals;		/* of some of them; none at first */
	gp_link_calibration_pairs calibration;	/* none at first */
} gp_link_fold;

/* folds.c */

/*
 * The folds of a graph, at most GP_LINK_FOLDS, of one with times by windows of its latest links;
 * GP_ERR_DATA for less than two links or no pair without one.
 */
extern int	gp_link_folds_make(gp_env *env, const gp_graph *graph, uint64_t seed,
							   gp_link_fold *fold);
extern void gp_link_fold_free(gp_env *env, gp_link_fold *fold);

/*
 * A fold that hides links: at most so many of them are among its pairs, and as many without a link.
 * Its graph lacks those that are gone, which are these and, of a graph with times, later ones.
 * GP_ERR_DATA where there are none of these; and for a graph with less than two links.
 */
extern gp_link_fold gp_link_fold_hide(gp_env *env, const gp_graph *graph, uint64_t seed,
									  const gp_link_pairs *hidden, const gp_link_pairs *gone,
									  int64_t most);
extern void gp_link_require_two(gp_env *env, const gp_graph *graph);

/*
 * The end of a hidden link of a fold whose candidates are looked at, and the other end: of an
 * undirected link either in turn.
 */
extern int32_t gp_link_query_end(const gp_link_fold *fold, int64_t e, int32_t *other);

/* True when src -> dst is a link (undirected: in either order). */
extern bool gp_link_exists(const gp_graph *graph, int32_t src, int32_t dst);

/* A pair with the number that it is ordered by. */
typedef struct gp_link_keyed
{
	uint64_t	key;
	int32_t		src;
	int32_t		dst;
} gp_link_keyed;

/* An empty sample: the pairs of the smallest keys, at most room; its items are the caller's. */
extern gp_heap gp_link_sample_open(gp_env *env, int64_t room);

/* A seeded sample of the links, at most count. */
extern gp_link_pairs gp_link_sample_links(gp_env *env, const gp_graph *graph, uint64_t seed,
										  int64_t count);

typedef struct gp_link_rules gp_link_rules;	/* rules.h */
typedef struct gp_link_logistic gp_link_logistic;	/* logistic.h */

/*
 * Random pairs without a link, of any nodes or of one, which may come again; those that are never
 * linked, by the rules, which may be NULL, are left out.
 */
typedef struct gp_link_draws
{
	gp_env	   *env;
	const gp_graph *graph;
	const gp_link_rules *rules;
	uint64_t	stream;
	int32_t		node;			/* the first of each; -1: any */
	int64_t		tries;			/* after which a graph has too few */
	int64_t		next;
	int64_t		next_look;
} gp_link_draws;

extern gp_link_draws gp_link_draws_open(gp_env *env, const gp_graph *graph, uint64_t seed,
										int64_t count, const gp_link_rules *rules);

/* The next pair; false after many tries for each of the count that was asked for. */
extern bool gp_link_draw(gp_link_draws *draws, int32_t *src, int32_t *dst);

/* At most count different pairs without a link, none of except (which may be NULL). */
extern gp_link_pairs gp_link_sample_unlinked(gp_env *env, const gp_graph *graph, uint64_t seed,
											 int64_t count, const gp_link_pairs *except,
											 const gp_link_rules *rules);

/* Draws a fold's pairs without a link again, by rules; false, the fold unchanged, if few are. */
extern bool gp_link_fold_redraw(gp_env *env, const gp_graph *graph, const gp_link_rules *rules,
								gp_link_fold *fold);

/* rivals.c: hidden links among the pairs that a search would propose in their place. */

#define GP_LINK_RANKED 200		/* links of all folds that are ranked among rivals */
#define GP_LINK_RIVALS 100		/* of a link, where there are so many nodes */

/*
 * The rivals of the first links that a fold hides, found in the fold's graph; none of them is a
 * link of the full graph.  What is never linked, by what is prepared, is left out; NULL: nothing.
 */
extern gp_link_rivals gp_link_rivals_make(gp_env *env, const gp_graph *full,
										  const gp_link_fold *fold, int64_t links, uint64_t seed,
										  const struct gp_link_prepared *prepared);

/* Pairs without a link within three steps of an end of each hidden link, where there is one. */
extern gp_link_pairs gp_link_hop_negatives(gp_env *env, const gp_graph *full,
										   const gp_link_fold *fold, uint64_t seed,
										   const gp_link_rules *rules);

/* The rank of the first score of a range among the others; of equal ones half come before it. */
extern double gp_link_rank(const double *score, const int64_t *range);

/* Adds the ranks of the links by the scores of all pairs, and by what plain counts say of them. */
extern void gp_link_rivals_rank(const gp_link_rivals *rivals, const double *score,
								gp_link_ranks *ranks);

/* calibration.c: from logits to the probabilities of links. */

#define GP_LINK_OTHERS 50		/* pairs without a link for each node that is drawn, at most */

/*
 * So many nodes of a fold are drawn, of all that are: more where they have few links, which the
 * curve is learnt from.
 */
extern int64_t gp_link_calibration_nodes(const gp_graph *graph, int folds);

/*
 * Candidates of a model are found as its predictions will be, by its method and topology, and by
 * the codes of the fold's graph, which may be NULL.
 * Hidden links are rare among those of a few nodes: all that the fold lists stand for the ones of
 * the nodes that are drawn.
 */
extern gp_link_calibration_pairs
			gp_link_calibration_pairs_make(gp_env *env, const gp_link_model *model,
										   const gp_link_fold *fold, const uint64_t *code,
										   int64_t nodes, uint64_t seed);
/* The most of them, which a dry run has. */
extern int64_t gp_link_calibration_pairs_most(const gp_link_fold *fold, int64_t nodes);

/*
 * The curve of probabilities; weight is what each of n scores counts for.  It flattens at the
 * links' mean score where these are many and say so.  known is the share of all links that are
 * labelled as such, whatever their scores (Elkan and Noto 2008).
 */
extern gp_link_curve gp_link_calibrate(gp_env *env, int64_t n, const double *score,
									   const bool *label, const double *weight, double known);

/* held.c: the pairs of the folds, and the figures that they give. */

/*
 * What opening a method makes and a model of it points at, and owns once that is done.  A dry run
 * leaves it, and goes on with what is kept of the model.
 */
typedef struct gp_link_prepared
{
	gp_link_held held;
	int64_t    *topology;
	gp_link_rules *rules;		/* of pairs without a link; NULL: any */
	gp_features *features;
} gp_link_prepared;

/*
 * The pairs of the folds of a graph, whose scores are yet to come, and the counts of their
 * topology.  Where these tell two sides the pairs without a link are drawn again, across them if
 * there are as many as links: a pair of one side is no candidate of predictions.
 */
extern gp_link_prepared gp_link_prepared_make(gp_env *env, const gp_graph *graph,
											  gp_link_fold *fold, int folds);
extern void gp_link_prepared_free(gp_env *env, gp_link_prepared *prepared);

/* The model's figures, each the mean of the folds', and the probabilities by the model's curve. */
extern void gp_link_held_judge(gp_env *env, gp_link_model *model);
extern void gp_link_held_free(gp_env *env, gp_link_held *held);

/* trial.c: what the folds say of a model. */

/* What the folds say of a regression that is learnt without each. */
typedef struct gp_link_trial
{
	gp_link_row *row;			/* the pairs that are held out */
	double		loss;			/* of them */
	gp_link_ranks ranks;
	double	   *calibration[GP_LINK_FOLDS]; /* logits of a fold's calibration pairs */
	/* Where they are known: of the first fold's by all rows, on its graph and on the whole one. */
	double	   *logit_on_fold;
	double	   *logit_on_whole;
} gp_link_trial;

extern gp_link_trial gp_link_trial_open(gp_env *env, const gp_link_held *held);
extern void gp_link_trial_free(gp_env *env, gp_link_trial *trial);

/* Takes the logits of the rivals of fold f, then of its calibration pairs. */
extern void gp_link_trial_rank(gp_env *env, gp_link_trial *trial, const gp_link_fold *fold, int f,
							   const double *logit);

/*
 * The same, and takes what a regression says of the n pairs of the fold itself, which are its rows
 * first .. first + n - 1.
 */
extern void gp_link_trial_take(gp_link_trial *trial, const gp_link_held *held,
							   const gp_link_fold *fold, int f, gp_link_logistic *l, int64_t first,
							   const double *logit);

/*
 * calibration.c: the curve of a model's probabilities, from the logits of the calibration pairs of
 * so many folds: a logistic curve (Platt 1999) with a knee.  Of the links that a fold's graph does
 * not show, the fold hides some; the others are missing from the whole graph, too, and stand among
 * the pairs without a link.  In the whole graph those are left, GP_LINK_MISSING_SHARE of all
 * links.  Where logits there are known, the curve promises as many of the same pairs by them.  The
 * share of missing links that the user tells scales the odds; 0: none.
 */
extern void gp_link_calibrate_model(gp_env *env, const gp_link_fold *fold, int folds,
									const gp_link_trial *trial, double share,
									gp_link_model *model);

/* Puts a trial into its model: curve and held-out pairs, with their figures. */
extern void gp_link_trial_judge(gp_env *env, const gp_link_trial *trial, const gp_link_fold *fold,
								int folds, double share, gp_link_model *model);

/*
 * sign_hash.c: the sign codes of the nodes' kernel, nodes x GP_LINK_CODE_WORDS; and of rows of so
 * many numbers.
 */
extern uint64_t *gp_link_codes(gp_device *dev, const gp_link_problem *problem);
extern uint64_t *gp_link_row_codes(gp_device *dev, int64_t nodes, int64_t width, const float *row,
								   uint64_t seed);

/*
 * The methods, whose options are the gp_link_problem and whose results are models (scores_fit.c,
 * ease_fit.c, pairs.c, dgp_fit.c).  dgp raises GP_ERR_RANGE where a step gives no number.
 */
extern const gp_method gp_method_scores;
extern const gp_method gp_method_ease;
extern const gp_method gp_method_pairs;
extern const gp_method gp_method_dgp;

/* What all of them are called where they need too much, and what helps. */
#define GP_LINK_WHAT "link model"
#define GP_LINK_HINT "Raise gnngp.memory_limit, or fit a part of the graph."

/* link_model.c: how a method's run begins and ends, and its release, gp_link_model_free. */
extern void gp_link_release(gp_env *env, void *model);
extern gp_link_model *gp_link_model_begin(gp_env *env, const gp_link_prepared *prepared,
										  gp_link_method method, const gp_graph *graph);
extern gp_link_model *gp_link_model_end(gp_device *dev, const gp_link_problem *problem,
										gp_link_prepared *prepared, gp_link_model *model);

/* True for a method that describes a pair by scores. */
static inline bool
gp_link_has_scores(gp_link_method method)
{
	return method == GP_LINK_SCORES || method == GP_LINK_EASE;
}

/* The functions of a pair whose sum by alpha is its logit; 0: dgp by inner products. */
static inline int64_t
gp_link_model_functions(const gp_link_model *model)
{
	return !gp_link_has_scores(model->method) ? model->inducing.n :
		model->scores.landmarks > 0 ? model->scores.landmarks : model->scores.width + 1;
}

/* dgp_posterior.c: score, variance and probability of pairs whose ends stand in row. */
extern void gp_link_dgp_posterior(gp_env *env, const gp_link_model *model, int64_t n,
								  gp_link_row *row);

/*
 * pair_kernel.c: the nodes' kernel as a dense factor, nodes x r float with
 * r <= max_rank, K ~ QQ'; owned by the caller.
 */
extern gp_matrix gp_link_factor(gp_device *dev, const gp_link_problem *problem, int64_t max_rank);

/* Covariances of n pairs with the inducing ones (k, n x m double). */
extern void gp_link_pairs_kernel(gp_device *dev, const gp_link_model *model, int64_t n,
								 const int32_t *src, const int32_t *dst, gp_matrix k);

#endif							/* GP_LINKS_INTERNAL_H */
