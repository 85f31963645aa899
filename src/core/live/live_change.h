/*
 * live_change.h - the posterior of a few points after labels were given and taken.
 */
#ifndef GP_LIVE_CHANGE_H
#define GP_LIVE_CHANGE_H

#include "live.h"

/* Observations, whose rows stand behind those of the points. */
typedef struct gp_change
{
	gp_device  *dev;
	double		noise;
	int64_t		points;
	int64_t		n;
	int64_t		rank;
	const double *half;			/* points + n rows t of the half covariances (live_answer.c) */
	const double *cross;		/* exact: points + n rows of K with the observations; low rank: NULL */
	int32_t		width;			/* of what is predicted */
	const double *sign;			/* of each observation: 1 given, -1 taken */
	const double *left;			/* n x width: what each says beyond what was predicted of it */
} gp_change;

/* Brings means (points x width) and variances of the points up to date. */
extern void gp_live_change(const gp_change *change, double *mean, double *variance);

#endif							/* GP_LIVE_CHANGE_H */
