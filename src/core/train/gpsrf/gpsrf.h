/*
 * gpsrf.h - a training of structure-aware random Fourier kernels, and the likelihood of what it learns.
 */
#ifndef GP_GPSRF_H
#define GP_GPSRF_H

#include "train/engine/engine.h"
#include "regression/regression.h"

typedef struct gp_learner gp_learner;

/* What is learnt: classes or values. */
typedef struct gp_likelihood
{
	/* The mean log likelihood of a batch with so many labels; its arguments become the gradient of minus that. */
	double		(*gradient) (gp_learner *l, int64_t n, int64_t nlabels, bool others);

	/* Brings the arguments of a node and their variances to what a posterior has; returns the variance. */
	double		(*settle) (const gp_learner *l, double *f, const double *variance);
} gp_likelihood;

/* A training.  Features and sparse matrices are the host's, and are shared with its dry run. */
struct gp_learner
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_gpsrf *options;
	const gp_problem *problem;
	const gp_likelihood *kind;
	gp_targets	targets;
	gp_features *x;				/* rows of sum 1 */
	gp_csr	   *x_turned;		/* x' where it is sparse */
	gp_csr	   *op;				/* P */
	gp_csr	   *op_turned;
	gp_trainer	t;
	gp_network *net;
	gp_network *spectrum;
	gp_block   *gather;
	gp_block   *head;
	int64_t		nlearnt;		/* labels that are learnt from */
	int32_t    *learnt;			/* their nodes, ascending */
	int32_t    *place;			/* of each node among the labels; -1: not learnt from */
	int32_t    *index;			/* of a batch */
	int32_t    *label;			/* of a batch: class, or place among the labels; -1: none */
	int32_t    *drawn;			/* two of the same size */
	double	   *logits;			/* of a batch, a row of columns each */
	gp_parameter noise;			/* 1 x 1, of values: the logarithm of its deviation */
	double		deviation;
	double		bound;
	int			folds;
	int32_t    *fold;			/* of each label */
	const gp_warm *before;		/* where trainings start from; NULL: from random numbers */
	gp_warm    *left;			/* what they leave; NULL: nothing */
	int64_t		done;			/* steps, for the progress */
	int64_t		total;
};

/* gpsrf_likelihood.c */
extern const gp_likelihood gp_likelihood_classes;
extern const gp_likelihood gp_likelihood_values;

/* The logarithm of the noise's deviation. */
extern double gp_learner_noise(const gp_learner *l);

#endif							/* GP_GPSRF_H */
