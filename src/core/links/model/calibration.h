/*
 * calibration.h - from logits to the probabilities of links.
 */
#ifndef GP_LINK_CALIBRATION_H
#define GP_LINK_CALIBRATION_H

#include "links/links_internal.h"

#define GP_CALIBRATION_NODES 400	/* of all folds, whose pairs the curve is fitted to */
#define GP_LINK_OTHERS 50		/* pairs without a link of a node that is drawn, at most */

/* Candidates of nodes that are drawn evenly, in the fold's graph: what a user would be shown. */
typedef struct gp_calibration_pairs
{
	gp_link_pairs pairs;
	bool	   *linked;			/* hidden by the fold */
	double	   *weight;			/* pairs that it stands for */
	double		share;			/* of all links, hidden by the fold */
} gp_calibration_pairs;

/*
 * Candidates of a model are found as its predictions will be, by its method and topology, and by
 * the codes of the fold's graph, which may be NULL.
 * Hidden links are rare among those of a few nodes: all that the fold lists stand for the ones of
 * the nodes that are drawn.
 */
extern gp_calibration_pairs gp_calibration_pairs_make(gp_env *env, const gp_link_model *model,
													  const gp_link_fold *fold,
													  const uint64_t *code, int64_t nodes,
													  uint64_t seed);

/* The most of them, which a dry run has. */
extern int64_t gp_calibration_pairs_most(const gp_link_fold *fold, int64_t nodes);
extern void gp_calibration_pairs_free(gp_env *env, gp_calibration_pairs *c);

/*
 * The curve of probabilities; weight is what each of n scores counts for.  It flattens at the
 * links' mean score where these are many and say so.  known is the share of all links that are
 * labelled as such, whatever their scores (Elkan and Noto 2008).
 */
extern gp_link_curve gp_link_calibrate(gp_env *env, int64_t n, const double *score,
									   const bool *label, const double *weight, double known);

/*
 * The curve of a model's probabilities, from the logits of each fold's calibration pairs: a
 * logistic curve (Platt 1999) with a knee.  Of the links that a fold's graph does not show, the
 * fold hides some; the others are missing from the whole graph, too, and stand among the pairs
 * without a link.  In the whole graph those are left, GP_LINK_MISSING_SHARE of all links.
 */
extern void gp_link_calibrate_model(gp_env *env, const gp_calibration_pairs *c, int folds,
									double *const *logit, gp_link_model *model);

/* What another share of missing links adds to a logit; 0 where nobody says. */
extern double gp_link_share_odds(double share);

/*
 * Logits on the whole graph have another mean and spread than on a fold's: maps the curve to them.
 * The fold's pairs have logits before, on its graph, and after, on the whole one; those without a
 * link count, by what they say of the curve.
 */
extern void gp_link_stretch_curve(gp_env *env, const gp_calibration_pairs *c, const double *before,
								  const double *after, gp_link_curve *curve);

#endif							/* GP_LINK_CALIBRATION_H */
