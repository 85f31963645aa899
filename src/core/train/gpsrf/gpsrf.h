/*
 * gpsrf.h - the parts of a training of structure-aware random Fourier kernels.
 *
 *		H1 = relu(P drop(X) W1),  H = relu(P drop(H1) W2),  F = Phi(H) A,  p(y | F) = softmax(F)
 *
 * Values have F itself with a Gaussian noise, which is learnt.
 */
#ifndef GP_GPSRF_H
#define GP_GPSRF_H

#include "train/engine/engine.h"
#include "regression/solution.h"

#define GP_GPSRF_BATCH 512
#define GP_GPSRF_POSTERIOR 0	/* the groups of steps */
#define GP_GPSRF_FREQUENCIES 1

enum							/* purposes of gp_trainer_seed */
{
	GP_GPSRF_DRAW_SPECTRUM = 1,
	GP_GPSRF_DRAW_PHASE,
	GP_GPSRF_DRAW_WEIGHTS,
	GP_GPSRF_DRAW_LABELS,
	GP_GPSRF_DRAW_OTHERS
};

/* A training.  Features and sparse matrices are the host's, and are shared with its dry run. */
typedef struct gp_gpsrf_learner
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_gpsrf *options;
	const gp_problem *problem;
	bool		classes;
	gp_targets	targets;
	gp_features *x;				/* rows of sum 1 */
	gp_csr	   *x_transposed;	/* x' where it is sparse */
	gp_csr	   *average;		/* P */
	gp_csr	   *average_transposed;
	gp_trainer	t;
	gp_network *net;
	gp_network *spectrum;
	gp_operation *sum[2];		/* over neighbours */
	gp_operation *head;
	gp_features some;			/* features of the nodes that a step needs, */
	gp_csr	   *part[2];		/* what a sum takes of P, */
	gp_csr	   *transposed[3];	/* and their transposes */
	int32_t    *needed[2];		/* nodes before each sum */
	int32_t    *number;			/* of a node among these */
	void	   *spare;			/* of a plan: what other batches take in addition */
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
	int64_t		done;			/* steps, for the progress */
	int64_t		total;
} gp_gpsrf_learner;

/* ---- gpsrf_network.c ---- */

/* P: a node's neighbours, by their weight, and the node itself. */
extern gp_csr *gp_gpsrf_average(gp_env *env, const gp_graph *graph, gp_type type);

/* Opens both networks: that of the frequencies, and that of nodes up to the logits of a batch. */
extern void gp_gpsrf_networks_open(gp_gpsrf_learner *l);

/* ---- gpsrf_batch.c ---- */

/*
 * Draws the nodes of a step: labels, and others (label -1) where those are asked for; returns the
 * labels.  The network computes what these need.
 */
extern int64_t gp_gpsrf_batch(gp_gpsrf_learner *l, bool others);

/* The network computes all nodes. */
extern void gp_gpsrf_all_nodes(gp_gpsrf_learner *l);

/* ---- gpsrf_likelihood.c ---- */

/*
 * The likelihood of a batch, whose gradient is set: a mean over its labels, and with others over
 * nodes that are sure of their class.
 */
extern double gp_gpsrf_likelihood(gp_gpsrf_learner *l, int64_t nlabels, bool others);

/*
 * Brings the arguments of a node and their variances to what a posterior has; returns the variance.
 * Logits become probabilities, softmax(F / sqrt(1 + pi v / 8)) (MacKay 1992), with the mean
 * variance; values stay in the targets' unit, with the variance of an observation.
 */
extern double gp_gpsrf_to_posterior(const gp_gpsrf_learner *l, double *f, const double *variance);

#endif							/* GP_GPSRF_H */
