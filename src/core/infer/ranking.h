/*
 * ranking.h - how well scores put what is sought before what is not.
 */
#ifndef GP_RANKING_H
#define GP_RANKING_H

#include "base/base.h"

/*
 * The area under the ROC curve and the average precision of n scores; what is not a
 * number ranks last.  Both are NaN where one of the labels is missing.
 */
extern void gp_ranking_metrics(gp_env *env, int64_t n, const double *score, const bool *label,
							   double *auc, double *average_precision);

#endif							/* GP_RANKING_H */
