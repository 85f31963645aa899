/*
 * regression.h - Gaussian process regression on labels: from covariances to a calibrated posterior.
 *
 * A regression is solved in one of two forms.  The dual form holds the labels' covariance K(t,t);
 * the primal form holds the Gram matrix of their factor rows, and serves when there are more
 * labels than columns.  Both report the same figures.
 */
#ifndef GP_REGRESSION_H
#define GP_REGRESSION_H

#include "kernel/kernel.h"

typedef enum gp_task
{
	GP_TASK_CLASSES,
	GP_TASK_VALUES
} gp_task;

typedef enum gp_strategy
{
	GP_STRATEGY_AUTO,
	GP_STRATEGY_EXACT,
	GP_STRATEGY_NYSTROM,
	/* of a Laplacian kernel: conjugate gradients on its sparse inverse */
	GP_STRATEGY_PRECISION,
	/* the host's: a low-rank factor whose rows it keeps (gp_fit_external) */
	GP_STRATEGY_SQL,
	GP_STRATEGIES
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
	double		nugget_min;		/* the least one searched; 0 = GP_NUGGET_MIN */
	const double *moments;		/* by which the features were standardised, or NULL */
	/*
	 * by which the host made them of its columns, encoding_rows x encoding_cols, kept as it is; or
	 * NULL
	 */
	const double *encoding;
	int64_t		encoding_rows;
	int64_t		encoding_cols;
	/*
	 * The block of each labelled node, 0 .. nblocks - 1 in order of time: everything that a label
	 * is otherwise judged by without itself is then without its block (time_blocks.c).  NULL: by
	 * itself.
	 */
	const int32_t *block;
	int32_t		nblocks;
	/* the posterior keeps what rows can be evaluated against later (live_answer.c) */
	bool		live;
	bool		divided;		/* the host has the nodes in partitions, or on several servers */
	bool		quiet;			/* no notices about the nugget, which the user cannot give */
	bool		compared;		/* with other fits: nothing is said of its worth */
	/* figures and leave-one-out alone: means and variances of the nodes are left empty */
	bool		loo_only;

	/*
	 * For trainings (train/train.h): who the nodes are, whatever their numbers, and what the last
	 * one left; NULL: unknown.
	 */
	const uint64_t *key;
	const struct gp_warm *warm;

	/* Chooses the device once the plan is known; NULL stays with the one that planned. */
	gp_device  *(*device_for) (void *arg, gp_device *planner, const gp_plan *plan);
	void	   *device_arg;

	/* What was made for several kernels of this graph, these features, type and seed; or NULL */
	const gp_shared *shared;
	const gp_plan *plan;		/* of this very problem, made before; or NULL */

	const int32_t *landmark;	/* the landmarks, nlandmarks of them, ascending; NULL: choose */
	/* precision: as on a graph so large that each product counts */
	bool		costly_products;
} gp_problem;

/* What the planner counted and chose. */
struct gp_plan
{
	gp_strategy strategy;		/* not auto */
	bool		by_columns;		/* exact: only the receptive field's columns */
	bool		exact_diagonal; /* variances start from the exact diagonal */
	int64_t		nlandmarks;		/* nystrom: how many, */
	int64_t		most_landmarks; /* and how many it would be with more memory */
	int			products;		/* precision: of the space in which priors are compared, or 0 */
	bool		try_powers;		/* a comparison's: leave-one-out chooses a power, too */
	double		bytes;			/* high-water mark of the environment, inputs included */
	double		flops;			/* floating-point operations of the whole fit */
	double		effort;			/* the same, weighed by how fast they run */
	double		doubles;		/* those of flops that are in double precision */
	double		live_bytes;		/* of what a live problem keeps */
	double		live_entries;	/* of the kernel that each live answer of an exact fit computes */
	char		reason[512];	/* one sentence for the user */
};

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
	GP_METRIC_R2,
	GP_METRIC_RMSE,
	GP_METRIC_COVERAGE90,		/* of the nominal 90% interval */
	GP_METRIC_MAE,
	GP_METRICS
} gp_metric;

/* The name of a figure, as users see it. */
extern const char *gp_metric_name(gp_metric metric);

/* What is said of each labelled node by all others, in the order of the problem's labels. */
typedef struct gp_loo
{
	int64_t		n;
	double	   *mean;			/* n x columns, as in gp_posterior */
	double	   *variance;		/* n, as in gp_posterior */
	/* n, ascending: the nonconformity scores of the labels (gp_loo_quantile), and the class of each
	 * of these; all 0 for values */
	double	   *nonconformity;
	int32_t    *nonconformity_class;
	bool		stratified;		/* as in gp_solution */
} gp_loo;

/*
 * From the means of a node's classes to probabilities: the logit of class c is
 * gamma (asinh(u mean_c / (2 delta)) + u mean_c / 4) + bias[c].  u is the root of variance + noise
 * over the node's own, at most 1: less for a node of which the labels say less than of each other.
 */
typedef struct gp_calibrator
{
	double		delta;			/* the means that count as small */
	double		gamma;
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
	struct gp_warm *warm;		/* of a training, for the next one; else NULL */
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
 * What each label that counts loses by what is said of it without itself (compare_models.c): the
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

#define GP_NUGGET_MIN 1e-3		/* the grid of numbers searched, relative to mean diag K */
#define GP_NUGGET_MIN_POWER 1e-4	/* the same for a power of the kernel */
#define GP_NUGGET_MAX 10.0
#define GP_NUGGET_BEYOND 30.0	/* looked at where the largest is the best */
#define GP_NUGGET_BELOW 1e-5	/* the same where the smallest is */
#define GP_NUGGET_FEW 0.1		/* with too few labels to choose by leave-one-out */
#define GP_NORMAL_90 1.6448536269514722	/* half width of the central 90% interval */

/* targets.c: refuses problems that have no answer. */
extern void gp_problem_check(gp_env *env, const gp_problem *problem);

/* The targets of the labelled nodes. */
typedef struct gp_targets
{
	int64_t		m;
	int32_t		columns;
	double	   *y;				/* m x columns: one-hot, or centred and in units of their spread */
	double		offset;			/* the mean that was taken off */
	double		unit;			/* the root mean square that they were divided by; 1 for classes */
	double		least;			/* of a prediction: 0 where no label is below, else -infinity */
	bool	   *counts;			/* m: takes part in leave-one-out */
	int64_t		ncounted;
	bool		few;			/* leave-one-out cannot choose anything */
	bool		flat;			/* all targets are equal */
	double	   *share;			/* classes: share of each; NULL for values */
} gp_targets;

/* A value in the target's own unit, of one that the regression gives. */
static inline double
gp_target_value(const gp_targets *t, double z)
{
	double		value = t->offset + t->unit * z;

	return value < t->least ? t->least : value;
}

/* What either form of a regression gives; values are in the targets' unit. */
typedef struct gp_solution
{
	double		nugget;			/* relative */
	double		noise;			/* nugget * mean_diag */
	double		mean_diag;
	double		scale;			/* s^2 */
	double		log_marginal_likelihood;
	double	   *loo_mean;		/* m x columns: prediction at i when i is left out (centred) */
	double	   *loo_variance;	/* m: of the observation, at scale s^2 */
	bool		stratified;		/* labels were left out in folds with their share of each class */
	/* m x columns: by earlier blocks alone, NaN where they are too few; NULL without blocks */
	double	   *forward;
	gp_matrix	weights;		/* dual: alpha, m x columns; primal: w, r x columns; double */
	gp_matrix	root;			/* dual: L of K(t,t) + noise; primal: L of Q'Q + noise; double */
} gp_solution;

/* targets.c */
extern gp_targets gp_targets_make(gp_env *env, const gp_problem *problem);
extern void gp_targets_free(gp_env *env, gp_targets *targets);

/* Refuses a mean diagonal that is zero, not finite, or too small for the type. */
extern void gp_check_mean_diagonal(gp_env *env, gp_type type, double mean);

/*
 * nugget.c: the leave-one-out error that chooses the nugget, and what it
 * is relative to (NULL: not asked for).  mean is m x columns; index lists the labels looked at.
 */
extern double gp_loo_error(const gp_problem *problem, const gp_targets *targets,
						   const double *mean, const int32_t *index, int64_t n, double *total);
/*
 * The factor that brings class scores of labels nearest to one-hot classes; 0 where they say the
 * opposite.
 */
extern double gp_class_factor(const gp_targets *targets, const double *mean, const int32_t *index,
							  int64_t n);

/* The labels that count, ascending; at most limit of them, evenly spread; owned by the caller. */
extern int32_t *gp_loo_sample(gp_env *env, const gp_targets *targets, int64_t limit, int64_t *n);

/* nugget.c: the error at one nugget. */
typedef double (*gp_nugget_error) (void *state, double nugget);

/*
 * The nugget of a problem: given, the default for few labels, or searched for: on a grid of so
 * many, or step by step; then refined so often at most.
 */
#define GP_NUGGET_CLIMB 0
extern double gp_nugget_choose(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							   gp_nugget_error error, void *state, int coarse, int refine);

/* dual.c: k is m x m double and is overwritten. */
extern gp_solution gp_dual_solve(gp_device *dev, const gp_problem *problem,
								 const gp_targets *targets, gp_matrix k, double mean_diag);

/* primal.c: q is m x r, the factor's rows at the labelled nodes, of any type. */
extern gp_solution gp_primal_solve(gp_device *dev, const gp_problem *problem,
								   const gp_targets *targets, gp_matrix q, double mean_diag);

/*
 * time_blocks.c: gp_primal_solve, judged by leaving out the problem's blocks.  With G_b = Q_b'Q_b,
 * P_b = Q_b'Y_b, s_b = Q_b'1 of each block and their sums G, P, s, block b is predicted without
 * itself by a = (G - G_b + noise I)^-1 (P - P_b - (s - s_b) mu') and mu, the mean of the other
 * targets; by the past alone by the same of the sums over earlier blocks.
 */
extern gp_solution gp_blocks_solve(gp_device *dev, const gp_problem *problem,
								   const gp_targets *targets, gp_matrix q, double mean_diag);

/*
 * gp_primal_solve in steps, for rows that are not at hand.  gp_primal_begin makes gram, qty and
 * sample_q, which the caller fills in.  gp_primal_weights chooses the nugget, solves for w and
 * frees gram, qty, sample and sample_q.  gp_primal_end takes what w says of all labels (m x
 * columns) and their leverages |L^-1 q_i|^2 (m): these arrays, w and root become the solution's.
 */
typedef struct gp_primal
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	double		mean_diag;
	gp_matrix	gram;			/* Q'Q: rank x rank double */
	gp_matrix	qty;			/* Q'y: rank x columns double */
	gp_matrix	root;			/* L of gram + noise I: rank x rank double */
	gp_matrix	w;				/* the weights: rank x columns double */
	double		nugget;
	double		log_det;
	int64_t		nsample;
	int32_t    *sample;			/* labels that the search for the nugget looks at, ascending */
	double	   *left_out;		/* m x columns: what is said of these without themselves */
	gp_matrix	sample_q;		/* their rows; what follows is of the same type */
	gp_matrix	sample_rows;	/* a copy to solve in */
	gp_matrix	narrow_root;
	gp_matrix	narrow_w;
} gp_primal;

extern gp_primal gp_primal_begin(gp_device *dev, const gp_problem *problem,
								 const gp_targets *targets, int64_t rank, gp_type type,
								 double mean_diag);
extern void gp_primal_weights(gp_primal *p);
extern gp_solution gp_primal_end(gp_primal *p, double *fit, double *leverage);

/*
 * gram.c: gram becomes the Cholesky factor of gram + noise I; raises where that is not positive
 * definite.  The same in root, and w (r x columns) becomes the solution of that system for it;
 * returns its log det.
 */
extern void gp_gram_root(gp_device *dev, gp_matrix gram, double noise);
extern double gp_gram_solve(gp_device *dev, gp_matrix gram, double noise, gp_matrix root,
							gp_matrix w);

/* log det S from its Cholesky factor. */
extern double gp_root_log_det(gp_device *dev, gp_matrix root);

/*
 * What weights w (r x columns) say of some rows of a factor (n x columns), and their
 * leverages |L^-1 q_i|^2 (n; NULL: not asked for) by the root L of the weights' system, for which
 * rows is overwritten.
 */
extern void gp_rows_predict(gp_device *dev, gp_matrix rows, gp_matrix root, gp_matrix w,
							double *fit, double *leverage);

extern void gp_solution_free(gp_device *dev, gp_solution *solution);

/*
 * figures.c: for values, the scale with which nine in ten labels lie within the central 90%
 * interval of what is said of them without themselves, in place of the one of the marginal
 * likelihood; loo_variance goes along.
 */
extern void gp_solution_widen(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							  gp_solution *solution);

/*
 * The same by n labels, whose numbers are index (NULL: the first n), whatever the problem says of
 * scales.
 */
extern void gp_solution_spread(gp_env *env, const gp_targets *targets, const int32_t *index,
							   int64_t n, gp_solution *solution);

/*
 * gram.c: the prior's scale s^2 = y' S^-1 y / (m columns) with S = K + noise I, the maximum of
 * the marginal likelihood, and that likelihood:
 * -(y' S^-1 y / s^2 + columns (log det S + m log(2 pi s^2))) / 2, for targets in their own unit.
 */
extern void gp_solution_scale(gp_env *env, const gp_targets *targets, double quadratic,
							  double log_det, gp_solution *solution);

/*
 * posterior.c: the one way to a posterior, whatever regression makes it; on a device that only
 * accounts, what that takes.  It begins with targets and room for all nodes.  The regression fills
 * in means and variances, and what out has beside them (landmarks, jitter, is_prior); from its
 * solution come calibration and figures.  The end frees targets and solution.
 */
extern gp_posterior *gp_posterior_begin(gp_env *env, const gp_problem *problem,
										const gp_plan *plan, gp_targets *targets);
extern void gp_posterior_end(gp_device *dev, const gp_problem *problem, gp_targets *targets,
							 gp_solution *solution, gp_posterior *out);

/*
 * posterior.c: of a method that is no regression, from what is said of each
 * labelled node (m x columns, m) by a model that has not seen its label; owns both arrays from now
 * on.  Variances of values are scaled to the errors.
 */
extern gp_solution gp_solution_of_scores(gp_env *env, const gp_problem *problem,
										 const gp_targets *targets, double *loo_mean,
										 double *loo_variance, gp_posterior *out);

/* True when all n numbers are finite. */
extern bool gp_all_finite(gp_env *env, const double *x, int64_t n);

/* True where means are none, but for what is less than the calibrator sees. */
#define GP_SILENT 1e-6
extern bool gp_is_silent(const double *mean, int64_t n);

/*
 * Finishes means and variances, which the regression gives in units of the kernel: those of
 * observations for values.  prior has the variances without labels: a node that has none gets the
 * prior, and one whose variance no label reduces is a node of which the labels say nothing.
 */
extern void gp_posterior_finish(gp_env *env, const gp_problem *problem,
								const gp_targets *targets, const gp_solution *solution,
								const double *prior, gp_posterior *out);

/*
 * figures.c: the calibrator, the figures, and the leave-one-out posterior, which passes from the
 * solution to out; in a dry run, what that takes.
 */
extern void gp_figures(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
					   gp_solution *solution, gp_posterior *out);

/* figures.c: the probabilities of labelled node i without itself, as they will be told of any node
 * like it. */
extern void gp_label_probabilities(const gp_problem *problem, const gp_targets *targets,
								   const gp_posterior *out, int64_t i, double *probability);

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
extern void gp_heldout_figures(gp_env *env, const gp_heldout_predictions *told, double *metric);

/*
 * figures.c: the first of the last blocks of time, whose errors tell how wide intervals of values
 * are.
 */
extern int32_t gp_blocks_recent(const gp_problem *problem);

/* baseline_check.c: tells when a model is worth no more than class shares or label propagation. */
extern void gp_notice_worth(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							const gp_posterior *out);

/* weight_check.c: tells where the edges' weights say less of the labels than no weights would. */
extern void gp_notice_weights(gp_env *env, const gp_problem *problem);

/*
 * class_calibration.c: the calibrator of the largest likelihood on the leave-one-out posterior
 * (variance without this noise; NULL: not known), or the usual one where labels are too few;
 * without the labels of nodes that are given the prior (by node, or NULL).  Its biases belong to
 * env.
 */
extern gp_calibrator gp_calibrator_fit(gp_device *dev, const gp_problem *problem,
									   const gp_targets *targets, const gp_loo *loo,
									   double noise, const bool *is_prior);
/* The bytes that fitting one takes at most. */
extern double gp_calibrator_bytes(const gp_problem *problem);

#endif							/* GP_REGRESSION_H */
