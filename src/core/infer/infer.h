/*
 * infer.h - from a graph, features and labels to the posterior of every node.
 *
 * The model is a Gaussian process with prior covariance s^2 K, K from the
 * kernel's program, and noise s^2 eps, regressed on one-hot classes (not
 * centred) or on the centred target.
 */
#ifndef GP_INFER_H
#define GP_INFER_H

#include "base/base.h"
#include "device/device.h"
#include "graph/graph.h"
#include "lang/lang.h"

typedef enum gp_task
{
	GP_TASK_CLASSES,
	GP_TASK_VALUES
} gp_task;

typedef enum gp_strategy
{
	GP_STRATEGY_AUTO,
	GP_STRATEGY_EXACT,
	GP_STRATEGY_NYSTROM
} gp_strategy;

typedef struct gp_plan gp_plan;

/* What a fit starts from.  Nothing in it is changed or freed. */
typedef struct gp_problem
{
	const gp_graph *graph;
	const gp_features *features;	/* NULL: structure only */
	const gp_program *program;
	gp_task		task;
	int64_t		nlabelled;
	const int32_t *labelled;	/* nodes, ascending */
	const int32_t *label;		/* class of each labelled node, or NULL */
	const double *target;		/* value of each labelled node, or NULL */
	int32_t		nclasses;		/* 0 for values */
	gp_strategy strategy;		/* as asked for */
	int64_t		nlandmarks;		/* as asked for; 0 = automatic */
	double		nugget;			/* relative to mean diag K; NaN = by leave-one-out */
	uint64_t	seed;
	size_t		estimate_limit; /* for an estimate: bytes to plan for, without an error when
								 * nothing fits; 0 = gp_limit */
	gp_type		type;			/* of the large matrices */
	double		nugget_slack;	/* take the largest nugget within this share of the least error */
	bool		quiet;			/* no notices about the nugget, which the user cannot give */

	/* Chooses the device once the plan is known; NULL stays with the one that planned. */
	gp_device  *(*device_for) (void *arg, gp_device *planner, const gp_plan *plan);
	void	   *device_arg;

	/* For tests and for whoever knows better; zero means the default. */
	const int32_t *landmark;	/* the landmarks themselves, nlandmarks of them, ascending */
	double		jitter;			/* first jitter of C(a,a), relative to its mean diagonal */
	double		scale;			/* s^2; 0 = closed form */
} gp_problem;

/* What the planner counted and chose. */
struct gp_plan
{
	gp_strategy strategy;		/* exact or nystrom */
	bool		by_columns;		/* exact: only the receptive field's columns */
	bool		exact_diagonal; /* variances start from the exact diagonal */
	int64_t		nlandmarks;		/* nystrom: how many */
	double		bytes;			/* high-water mark of the environment, inputs included */
	double		flops;			/* floating-point operations of the whole fit */
	char		reason[512];	/* one sentence for the user */
};

/* The figures of a fit by leave-one-out; those of the other task are NaN. */
typedef struct gp_metrics
{
	double		accuracy;
	double		nll;
	double		ece;			/* 15 bins */
	double		r2;
	double		rmse;
	double		coverage90;
} gp_metrics;

/* What a fit gives.  Arrays are host memory of the environment. */
typedef struct gp_posterior
{
	gp_plan		plan;
	int64_t		nodes;
	int32_t		columns;		/* classes, or 1 */
	double	   *mean;			/* nodes x columns: scores, or values with the target's mean added */
	double	   *variance;		/* nodes: latent (classes), of an observation (values); >= 0 */
	double	   *prior_share;	/* classes: share of each among the labels; else NULL */
	int32_t		no_kernel;		/* nodes with k_ii = 0, which got the prior */
	bool	   *is_prior;		/* nodes: true where the prior was given; NULL when none */
	int64_t		nlandmarks;		/* used: twins dropped; 0 for exact */
	int32_t    *landmark;		/* nodes, ascending; NULL for exact */
	double		jitter;			/* largest jitter used, relative to the mean diagonal; 0 = none */
	double		nugget;			/* relative */
	double		mean_diag;		/* mean of diag K */
	double		scale;			/* s^2 */
	double		offset;			/* the target's mean; 0 for classes */
	double		temperature;	/* b of softmax(b * mean); 0 for values */
	double		log_marginal_likelihood;
	double		loo_score;		/* 1 - leave-one-out error / error without a model; <= 1 */
	gp_metrics	metrics;
} gp_posterior;

/* Counts operations and bytes and chooses; raises GP_ERR_LIMIT when nothing fits. */
extern gp_plan gp_plan_make(gp_device *dev, const gp_problem *problem);

/* Plans, computes and returns the posterior; checks the plan against gp_limit first. */
extern gp_posterior *gp_fit(gp_device *dev, const gp_problem *problem);

/*
 * The kernel of all nodes as one dense factor, nodes x r float with K = QQ', on
 * the landmarks asked for (0: every node); labels are not looked at.  Owned by the caller.
 */
extern gp_matrix gp_kernel_factor(gp_device *dev, const gp_problem *problem);

/*
 * The posterior from such a factor, which is spoilt: the problem's graph,
 * features, program and strategy are not looked at.
 */
extern gp_posterior *gp_fit_factor(gp_device *dev, const gp_problem *problem, gp_matrix q);

extern void gp_posterior_free(gp_env *env, gp_posterior *posterior);

/*
 * The class probabilities softmax(b * mean), or the class shares for a node
 * without kernel; probability has columns entries.
 */
extern void gp_probabilities(int32_t columns, const double *mean, double temperature,
							 double *probability);

#endif							/* GP_INFER_H */
