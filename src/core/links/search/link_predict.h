/*
 * link_predict.h - a link model made ready for predictions.
 */
#ifndef GP_LINK_PREDICT_H
#define GP_LINK_PREDICT_H

#include "candidates.h"
#include "links/model/link_regression.h"
#include "links/scores/scores.h"

struct gp_links
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_link_model *model;
	int			threads;		/* that may take sources; 0 is one */
	gp_link_context context;		/* of the method scores */
	gp_matrix	z;				/* m x width double: landmarks */
	gp_matrix	alpha;			/* p x 1 double */
	gp_matrix	root;			/* p x p double */
	gp_matrix	rough_z;		/* z and alpha in float, for ranking */
	gp_matrix	rough_alpha;
	gp_link_search *search;		/* made by the first gp_links_best */
	gp_link_candidates candidates;	/* of the search */
	int64_t		targets;		/* nodes that alone are candidates, where target is set */
	const int32_t *target;
};

/* The posterior of n pairs whose ends stand in out; score is n x width for the method scores. */
extern void gp_links_posterior(gp_links *l, int64_t n, const double *score, gp_link_row *out);

/* What ranks pairs: their logits, in float; of dgp their scores, which stand in row, too. */
extern void gp_links_means(gp_links *l, int64_t n, const double *score, gp_link_row *row,
						   double *mean);

#endif							/* GP_LINK_PREDICT_H */
