/*
 * scored_fit.h - a fit by scores of pairs: what the methods scores and ease share.
 */
#ifndef GP_SCORED_FIT_H
#define GP_SCORED_FIT_H

#include "links/scores/scores.h"

/* The pairs of a fold, kind after kind; it learns from those before the rivals.  Extra ones are
 * random where there are features, and near ones elsewhere. */
typedef enum gp_link_scored_kind
{
	GP_SCORED_LINKS, GP_SCORED_RANDOM, GP_SCORED_EXTRA, GP_SCORED_RIVALS, GP_SCORED_CALIBRATION,
	GP_SCORED_KINDS, GP_SCORED_LABELLED = GP_SCORED_RIVALS
} gp_link_scored_kind;

/* The pairs of a fold that are scored. */
typedef struct gp_link_scored_pairs
{
	gp_link_pairs pairs;		/* of all kinds */
	int64_t		first[GP_SCORED_KINDS + 1];
	double	   *score;			/* pairs.n x width */
} gp_link_scored_pairs;

/*
 * What a fit works with: the folds with their pairs, and the rows that are learnt from.  It is the
 * first member of a method's state, which fills the members before `prepared`.
 */
typedef struct gp_link_scored_fit
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_link_problem *problem;
	gp_link_method method;
	bool		processes;		/* tries Gaussian processes beside the logistic regression */
	int32_t		width;
	/* Scores each fold's pairs, and those of the calibration on the whole graph. */
	void		(*score_all) (struct gp_link_scored_fit *r, gp_link_model *model);
	gp_link_prepared prepared;	/* its features are ready for cosines */
	int			folds;
	int			calibrated;		/* folds that tell the curve of probabilities, */
	int64_t		calibration_nodes;	/* each by so many nodes */
	gp_link_fold fold[GP_LINK_FOLDS];
	gp_link_scored_pairs pairs[GP_LINK_FOLDS];
	int64_t		first[GP_LINK_FOLDS + 1];	/* of each fold's rows */
	int64_t		n;
	double	   *score;			/* n x width */
	bool	   *label;
	double	   *weight;
	double	   *whole;			/* of the first fold's calibration pairs on the whole graph */
} gp_link_scored_fit;

/* Opening: hides links, fold by fold; then, with features ready, draws the pairs. */
extern void gp_link_scored_hide(gp_link_scored_fit *r);
extern void gp_link_scored_draw(gp_link_scored_fit *r, int calibrated, int64_t nodes);

/* Scores the pairs of a fold on its graph; and the first fold's calibration pairs on the whole. */
extern void gp_link_scored_fold(const gp_link_scored_fit *r, gp_link_context *context, int64_t f);
extern void gp_link_scored_whole(gp_link_scored_fit *r, gp_link_context *context);

extern void *gp_link_scored_run(void *state, gp_device *dev, const gp_plan *plan);
extern void gp_link_scored_close(void *state);

/* Blocks of columns stay near the processor: a sparse operation takes as long as two others. */
static inline double
gp_link_scored_effort(const gp_plan *plan)
{
	return plan->flops + (plan->effort - plan->flops) / (GP_SPARSE_EFFORT - 1.0);
}

#endif							/* GP_SCORED_FIT_H */
