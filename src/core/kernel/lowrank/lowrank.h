/*
 * lowrank.h - what the files of the low-rank factor share.
 */
#ifndef GP_LOWRANK_H
#define GP_LOWRANK_H

#include "kernel/prepared.h"

/* A factor that is being made, step by step. */
typedef struct gp_nystrom
{
	gp_eval    *ev;
	const int32_t *landmark;
	int64_t		na;
	int		   *uses;			/* takers left of each step's factor */
	int		   *hop;			/* how far from what is asked for the rows of each step lie; NULL:
								 * all are computed */
	gp_factor **kept;			/* NULL before it is computed, and for linear steps */
} gp_nystrom;

/* nystrom_panel.c */

/* Makes a factor of one panel of covariances of a step with the landmarks. */
extern gp_factor *gp_nystrom_of_panel(gp_nystrom *ny, int step, gp_matrix panel);

/*
 * The covariances of a linear factor, which terms tell, with the landmarks, all rows; with relu,
 * C(:,a) of an activation on it.
 */
extern gp_matrix gp_nystrom_linear_panel(gp_nystrom *ny, int step, const gp_terms *terms,
										 const gp_linear *z, bool relu);

/* The factor of terms that a step joins; it may stay unmade where only a panel is taken of it. */
extern gp_linear gp_nystrom_terms(gp_nystrom *ny, int step, const gp_terms *terms, bool for_panel);

/* C(:,a) of an activation on a factor with panels, the first of which may become it. */
extern gp_matrix gp_nystrom_deep_panel(gp_nystrom *ny, int step, gp_factor *f);

#endif							/* GP_LOWRANK_H */
