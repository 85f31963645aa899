/*
 * regression.h - what a fit gives: the posterior, its probabilities and its
 * figures.
 */
#ifndef GP_REGRESSION_H
#define GP_REGRESSION_H

#include "problem.h"

/* The figures of a fit, all by leave-one-out. */
typedef enum gp_metric
{
	GP_METRIC_ACCURACY,			/* of the most probable class */
	GP_METRIC_NLL,
	GP_METRIC_ECE,				/* expected calibration error, 15 bins */
	GP_METRIC_BALANCED_ACCURACY,	/* the mean over the classes */
	GP_METRIC_MACRO_F1,
	GP_METRIC_BRIER,
	/* of two classes: by the probability of the one with fewer labels */
	GP_METRIC_ROC_AUC,
	GP_METRIC_PR_AUC,			/* the same: average precision */
	GP_METRIC_PROPAGATION,		/* accuracy of label propagation on hidden labels */
	GP_METRIC_R2,
	GP_METRIC_RMSE,
	GP_METRIC_COVERAGE90,		/* of the nominal 90% interval */
	GP_METRIC_MAE,
	GP_METRICS
} gp_metric;

/* The name of a figure, as users see it. */
extern const char *gp_metric_name(gp_metric metric);

/* The prediction of each labelled node by all others, in the order of the problem's labels. */
typedef struct gp_loo
{
	int64_t		n;
	double	   *mean;			/* n x columns, as in gp_posterior */
	double	   *variance;		/* n, as in gp_posterior */
	/* n, ascending: the nonconformity scores of the labels (gp_loo_quantile), and the class of each
	 * of these; all 0 for values */
	double	   *nonconformity;
	int32_t    *nonconformity_class;
	const double *node_share;	/* as in gp_solution */
} gp_loo;

/*
 * From the means of a node's classes to probabilities: the logit of class c is
 * gamma asinh(u mean_c / (2 delta)) + slope u mean_c + bias[c].  u is the root of variance + noise
 * over the node's own, at most 1: less for a node of which the labels say less than of each other.
 */
typedef struct gp_calibrator
{
	double		delta;			/* the means that count as small */
	double		gamma;
	double		slope;
	double		variance;		/* the labels' mean variance without themselves; INFINITY: u is 1 */
	double		noise;			/* variance of a label beside that */
	double	   *bias;			/* of each class; NULL: all 0 */
} gp_calibrator;

/*
 * A row of numbers of each node that the host keeps, as what does not fit in memory: n of them from
 * first on are read, or written.
 */
typedef struct gp_kept_rows
{
	void	   *state;
	void		(*move) (void *state, int64_t first, int64_t n, double *rows, bool write);
} gp_kept_rows;

/* What a fit gives.  Arrays are host memory of the environment. */
typedef struct gp_posterior
{
	gp_plan		plan;
	int64_t		nodes;
	int32_t		columns;		/* classes, or 1 */
	/* nodes x columns: scores, or values with the target's mean added */
	double	   *mean;
	double	   *variance;		/* nodes: latent (classes), of an observation (values); >= 0 */
	gp_kept_rows kept;			/* in place of both: variance, then means; move NULL: they are
								 * here */
	double	   *prior_share;	/* classes: share of each among the labels; else NULL */
	int32_t		no_kernel;		/* nodes with k_ii = 0, which got the prior */
	/* nodes: true where probabilities are the classes' shares; NULL when none */
	bool	   *is_prior;
	int64_t		nlandmarks;		/* used: twins dropped; 0 for exact */
	int32_t    *landmark;		/* nodes, ascending; NULL for exact */
	double		jitter;			/* largest jitter used, relative to the mean diagonal; 0 = none */
	double		power;			/* of the kernel: as its program says, or as it was chosen */
	double		nugget;			/* relative */
	double		mean_diag;		/* mean of diag K */
	double		prior_sigma2;	/* as it was chosen where the program left the prior open */
	int			prior_d;		/* 0: it did not */
	double		scale;			/* s^2 */
	double		offset;			/* the target's mean; 0 for classes */
	double		least;			/* as of gp_targets */
	gp_calibrator calibrator;	/* of classes */
	double		log_marginal_likelihood;	/* NaN: not known without a factor (precision) */
	/* 1 - leave-one-out error / that of the class shares, or of the mean; <= 1 */
	double		loo_score;
	double		metric[GP_METRICS]; /* NaN: not a figure of this task, or too few labels */
	gp_loo		loo;
	/*
	 * of blocks of time: labelled x columns, as loo.mean, by earlier blocks alone; NaN where these
	 * are too few
	 */
	double	   *forward;
	double		forward_score;	/* as loo_score; NaN without blocks */
	struct gp_live_state *state;		/* of a live problem; else NULL */
} gp_posterior;

extern void gp_posterior_free(gp_env *env, gp_posterior *posterior);

/* The logit of a class: the logarithm of its probability, up to a sum that all classes share. */
extern double gp_logit(const gp_calibrator *calibrator, int32_t c, double mean, double variance);

/* The probabilities of a node's classes; a node without kernel has the class shares instead. */
extern void gp_probabilities(const gp_calibrator *calibrator, int32_t columns, const double *mean,
							 double variance, double *probability);

/*
 * The quantile of n ascending nonconformity scores that a new one, drawn as they were, does not
 * exceed with this probability; INFINITY when they are too few to promise that (Vovk 2005).
 * The score of a class is 1 less its probability, of a value its distance from the mean
 * in standard deviations of the observation.
 */
extern double gp_loo_quantile(const double *score, int64_t n, double coverage);

/*
 * What each label that counts loses by its prediction without itself (compare_models.c): the
 * negative log likelihood of its class, or the squared error in units of the targets' spread.
 * NULL where labels are too few to be left out; n of them, owned by the caller.
 */
extern double *gp_loo_losses(gp_env *env, const gp_problem *problem, const gp_posterior *posterior,
							 int64_t *n);

/*
 * By how many standard errors the first of two losses of n labels is less; 0 where there are too
 * few, or no difference.  From GP_SURE on it is more than chance.
 */
#define GP_SURE 2.0
extern double gp_loss_gain(const double *loss, const double *other, int64_t n);

/* True for a posterior of a better score than another of the same labels, by more than chance. */
extern bool gp_surely_better(gp_env *env, const gp_problem *problem, const gp_posterior *one,
							 const gp_posterior *other);

/* Tells the user how many nodes have no kernel. */
extern void gp_notice_no_kernel(gp_env *env, const gp_problem *problem, const gp_posterior *out);

/* weight_check.c: tells where the edges' weights say less of the labels than no weights would. */
extern void gp_notice_weights(gp_env *env, const gp_problem *problem);

/* What a model says of some labels that it does not know. */
typedef struct gp_heldout_predictions
{
	int64_t		n;
	int32_t		nclasses;		/* 0: values */
	const int32_t *label;
	const double *target;
	const double *mean;			/* n x classes, or n */
	const double *variance;		/* NULL: not known */
	const gp_calibrator *calibrator;	/* of classes */
} gp_heldout_predictions;

/* The figures of these labels alone (GP_METRICS of them). */
extern void gp_heldout_figures(gp_env *env, const gp_heldout_predictions *given, double *metric);

#endif							/* GP_REGRESSION_H */
