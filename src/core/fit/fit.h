/*
 * fit.h - from a graph, features and labels to the posterior of every node.
 *
 * The model is a Gaussian process with prior covariance s^2 K, K from the
 * kernel's program, and noise s^2 eps, regressed on one-hot classes (not
 * centred) or on the centred target.
 */
#ifndef GP_INFER_H
#define GP_INFER_H

#include "base/base.h"
#include "numeric/numeric.h"
#include "graph/graph.h"
#include "formula/formula.h"

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
	GP_STRATEGY_PRECISION,		/* of a Laplacian kernel: conjugate gradients on its sparse inverse */
	GP_STRATEGY_SQL,			/* the host's: a low-rank factor whose rows it keeps (gp_fit_outside) */
	GP_STRATEGIES
} gp_strategy;

/* The names of strategies, as users write them. */
extern const char *const gp_strategy_names[GP_STRATEGIES];

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
	bool		open_prior;		/* of a Laplacian program: leave-one-out chooses sigma2 and d */
	double		nugget;			/* relative to mean diag K; NaN = by leave-one-out */
	uint64_t	seed;
	size_t		estimate_limit; /* for an estimate: bytes to plan for, without an error when
								 * nothing fits; 0 = gp_limit */
	gp_type		type;			/* of the large matrices */
	double		nugget_min;		/* the least one searched; 0 = GP_NUGGET_MIN */
	double		nugget_slack;	/* take the largest nugget within this share of the least error */
	const double *moments;		/* by which the features were standardised, or NULL */
	bool		live;			/* the posterior keeps what rows can be evaluated against later (live_answer.c) */
	bool		divided;		/* the host has the nodes in partitions, or on several servers */
	bool		quiet;			/* no notices about the nugget, which the user cannot give */
	bool		compared;		/* with other kernels: nothing is said of its worth */

	/* For trainings (train/train.h): who the nodes are, whatever their numbers, and what the last one left; NULL: unknown. */
	const uint64_t *key;
	const struct gp_warm *warm;

	/* Chooses the device once the plan is known; NULL stays with the one that planned. */
	gp_device  *(*device_for) (void *arg, gp_device *planner, const gp_plan *plan);
	void	   *device_arg;

	/* For tests and for whoever knows better; zero means the default. */
	const int32_t *landmark;	/* the landmarks themselves, nlandmarks of them, ascending */
	double		jitter;			/* first jitter of C(a,a), relative to its mean diagonal */
	double		scale;			/* s^2; 0 = closed form */
	bool		dear;			/* precision: as on a graph so large that each product counts */
} gp_problem;

/* What the planner counted and chose. */
struct gp_plan
{
	gp_strategy strategy;		/* not auto */
	bool		by_columns;		/* exact: only the receptive field's columns */
	bool		exact_diagonal; /* variances start from the exact diagonal */
	int64_t		nlandmarks;		/* nystrom: how many */
	int			products;		/* precision: of the space in which priors are compared, or 0 */
	bool		try_powers;		/* leave-one-out chooses a power of the kernel, too */
	bool		elsewhere;		/* who has the rows makes the posterior of them (gp_row_scale) */
	double		bytes;			/* high-water mark of the environment, inputs included */
	double		flops;			/* floating-point operations of the whole fit */
	double		effort;			/* the same, weighed by how fast they run */
	double		doubles;		/* those of flops that are in double precision */
	double		live_bytes;		/* of what a live problem keeps */
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
	GP_METRIC_ROC_AUC,			/* of two classes: by the probability of the one with fewer labels */
	GP_METRIC_PR_AUC,			/* the same: average precision */
	GP_METRIC_R2,
	GP_METRIC_RMSE,
	GP_METRIC_COVERAGE90,		/* of the nominal 90% interval */
	GP_METRICS
} gp_metric;

/* Tells of nodes in components without a label, where they are many; program NULL: of a method (unlabelled_components.c). */
extern void gp_tell_apart(gp_env *env, const gp_problem *problem);

/* The name of a figure, as users see it. */
extern const char *gp_metric_name(gp_metric metric);

/* What is said of each labelled node by all others, in the order of the problem's labels. */
typedef struct gp_loo
{
	int64_t		n;
	double	   *mean;			/* n x columns, as in gp_posterior */
	double	   *variance;		/* n, as in gp_posterior */
	double	   *score;			/* n, ascending: how strange the labels are (gp_loo_quantile) */
} gp_loo;

/*
 * From the means of a node's classes to probabilities: that of class c grows as
 * exp(bias[c]) softplus(mean_c / delta)^gamma.
 */
typedef struct gp_calibrator
{
	double		delta;			/* width of the softplus; 0: exp(mean)^gamma in its place */
	double		gamma;
	double	   *bias;			/* of each class; NULL: all 0 */
} gp_calibrator;

/* What makes the posterior of a node of what its row gives. */
typedef struct gp_row_scale
{
	bool		values;
	double		leverage;		/* of a squared length: the latent variance, in units of the scale */
	double		scale;			/* of variances, in units of the target */
	double		noise;			/* of an observation: 0 for classes */
	double		prior;			/* the variance of a node without kernel */
	double		unit;			/* of the target */
	double		offset;			/* its mean; 0 for classes */
} gp_row_scale;

/*
 * Makes it, in place, of means (columns) and a variance in units of the scale, as the regression gives them; the prior
 * where the node has no kernel.  False then, and where nothing tells its classes apart: their probabilities are their shares.
 */
extern bool gp_row_finish(const gp_row_scale *s, int32_t columns, bool has_kernel, double *mean, double *variance);

/* What a fit gives.  Arrays are host memory of the environment. */
typedef struct gp_posterior
{
	gp_plan		plan;
	int64_t		nodes;
	int32_t		columns;		/* classes, or 1 */
	double	   *mean;			/* nodes x columns: scores, or values with the target's mean added; NULL where plan.elsewhere */
	double	   *variance;		/* nodes: latent (classes), of an observation (values); >= 0 */
	gp_row_scale row;			/* what made these, or will */
	double	   *prior_share;	/* classes: share of each among the labels; else NULL */
	int32_t		no_kernel;		/* nodes with k_ii = 0, which got the prior */
	bool	   *is_prior;		/* nodes: true where probabilities are the classes' shares; NULL when none */
	int64_t		nlandmarks;		/* used: twins dropped; 0 for exact */
	int32_t    *landmark;		/* nodes, ascending; NULL for exact */
	double		jitter;			/* largest jitter used, relative to the mean diagonal; 0 = none */
	double		power;			/* of the kernel: as its program says, or as it was chosen */
	double		nugget;			/* relative */
	double		mean_diag;		/* mean of diag K */
	double		prior_sigma2;	/* as it was chosen where the problem left the prior open */
	int			prior_d;
	double		scale;			/* s^2 */
	double		offset;			/* the target's mean; 0 for classes */
	gp_calibrator calibrator;	/* of classes */
	double		log_marginal_likelihood;	/* NaN: not known without a factor (precision) */
	double		loo_score;		/* 1 - leave-one-out error / that of the class shares, or of the mean; <= 1 */
	double		metric[GP_METRICS]; /* NaN: not a figure of this task, or too few labels */
	gp_loo		loo;
	struct gp_keep *keep;		/* of a live problem; else NULL */
	struct gp_warm *warm;		/* of a training, for the next one; else NULL */
} gp_posterior;

/* Tells that landmarks, of which so many (0: any) were asked for, are none (strategy.c). */
extern void gp_tell_no_landmarks(gp_env *env, int64_t asked, const gp_posterior *out);

/* Tells the user how many nodes have no kernel. */
extern void gp_posterior_tell(gp_env *env, const gp_problem *problem, const gp_posterior *out);

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

/*
 * A factor whose rows are elsewhere: K = QQ' with so many columns, and what is asked about it.
 * Matrices are the device's, arrays are host memory.
 */
typedef struct gp_outside
{
	void	   *state;
	int64_t		rank;
	double		first_jitter;	/* that its making began with, and the largest that it used */
	double		jitter;
	/* Q'Q and Q'y of the labelled rows, in double; y is labelled x columns. */
	void		(*gram) (void *state, const double *y, int32_t columns, gp_matrix gram, gp_matrix qty);
	/* Rows of Q: n x rank, double. */
	void		(*rows) (void *state, const int32_t *node, int64_t n, gp_matrix out);
	/*
	 * Makes, of every node, q_i' w, |L^-1 q_i|^2 of a lower triangular L, and what is 0 where the row is zero; and
	 * gives those of the labelled ones: labelled x columns, and labelled.
	 */
	void		(*predict) (void *state, gp_matrix w, gp_matrix root, double *mean, double *norm, double *present);
} gp_outside;

/*
 * The posterior from such a factor, without those of nodes, which follow from what predict has made (gp_row_finish); graph,
 * features and program are not looked at.
 */
extern gp_posterior *gp_fit_outside(gp_device *dev, const gp_problem *problem, const gp_outside *factor, int64_t nodes);

/*
 * A fit by conjugate gradients whose right sides are worked on in shares, each by somebody who
 * has the whole graph (precision_share.c), and its posterior, by somebody who has none (precision_outside.c).
 * Right sides come in bands, numbered one after the other: those of the labels, one of the level where there
 * are classes, and those of the nodes' variances.
 */
#define GP_PRECISION_SAMPLE 32	/* nodes that tell how good variances are */
#define GP_PRECISION_LABEL 3	/* figures of a label */
#define GP_PRECISION_FIGURES (7 + GP_PRECISION_SAMPLE)	/* of a share */

/* How many bands there are of each kind. */
typedef struct gp_precision_bands
{
	int64_t		labels;
	int64_t		level;
	int64_t		variances;
	int64_t		width;			/* columns of the widest one */
} gp_precision_bands;

/* Prior and nugget, and what they were found with. */
typedef struct gp_precision_prior
{
	double		sigma2;
	int			d;
	double		nugget;
	double		mean_diag;		/* NaN: nothing is settled, or known, but what the problem says */
	double		error;			/* the worst of the labels' solutions, */
	double		fine;			/* and what it should be */
	bool		edge;			/* the search for a nugget ended at an edge that does not look flat */
} gp_precision_prior;

/* What a share gives, or all of them together; arrays that nobody asked for are NULL. */
typedef struct gp_precision_part
{
	gp_precision_prior prior;
	int64_t		first;			/* column of the means */
	int64_t		columns;
	double	   *mean;			/* nodes x columns; of classes without the level */
	double	   *level;			/* nodes */
	double	   *variance;		/* nodes; 0 for those of other shares */
	double	   *at;				/* labelled x columns: means as leave-one-out takes them */
	double	   *label;			/* labelled x GP_PRECISION_LABEL: variance (0: of another share), its least, 1 if alone */
	double		apart[GP_PRECISION_SAMPLE]; /* the sample's variances; 0 for those of other shares */
} gp_precision_part;

/* Nodes and labels of the problem decide. */
extern gp_precision_bands gp_precision_count_bands(const gp_problem *problem);

/* The first column of the means of some label bands, and how many there are. */
extern int64_t gp_precision_band_columns(const gp_problem *problem, int64_t first, int64_t last, int64_t *from);

/* Settles what is open, and solves bands first to last. */
extern gp_precision_part gp_precision_solve_share(gp_device *dev, const gp_problem *problem, const gp_precision_prior *prior,
												  int64_t first, int64_t last);

/* What a share says of prior, nugget and the sample as a row of GP_PRECISION_FIGURES, and back. */
extern void gp_precision_put_figures(const gp_precision_part *part, double *row);
extern void gp_precision_take_figures(gp_precision_part *part, const double *row);

/*
 * A posterior without means (gp_row_finish makes them, level added, of what the shares gave), into which the variances of some
 * nodes are to be put; settles a nugget that needs no search.
 */
extern gp_posterior *gp_precision_open_outside(gp_env *env, gp_problem *problem);

/* Those nodes, some perhaps twice: at most GP_PRECISION_SAMPLE; returns how many. */
extern int gp_precision_sample(const gp_problem *problem, int32_t *node);

/*
 * Finishes it; all is the rest of what the shares gave, whose means at the labels, of all columns, it takes, and the level
 * there.  Afterwards the labelled nodes have variances, which take the place of those of the shares.
 */
extern void gp_precision_close_outside(gp_device *dev, const gp_problem *problem, gp_precision_part *all,
									   gp_posterior *out);

/*
 * The quantile of n ascending scores that a new one, drawn as they were, does not exceed
 * with this probability; INFINITY when they are too few to promise that (Vovk 2005).
 * The score of a class is 1 less its probability, of a value its distance from the mean
 * in standard deviations of the observation.
 */
extern double gp_loo_quantile(const double *score, int64_t n, double coverage);

/*
 * By how many standard errors labels without themselves are explained better by one posterior
 * than by another (compare_models.c): both of the same labels.
 */
extern double gp_loo_gain(gp_env *env, const gp_problem *problem, const gp_posterior *one, const gp_posterior *other);

#define GP_OPEN_PRIOR "laplacian(sigma2=10)"	/* the kernel in the place of a prior that is to be chosen */
#define GP_PRIORS_TRIED 8

/* A Laplacian prior with a nugget, and how well it explains labels that were left out. */
typedef struct gp_prior_score
{
	double		sigma2;
	int			d;
	double		nugget;			/* relative */
	double		score;			/* as loo_score, less what the class shares know; NaN: not looked at */
} gp_prior_score;

typedef struct gp_prior_choice
{
	bool		settles_nugget;	/* the best one's nugget need not be searched for again */
	int			n;
	int			best;			/* of tried */
	gp_prior_score tried[GP_PRIORS_TRIED];
} gp_prior_choice;

/* The kernel that is a posterior's prior, where that was open. */
extern const char *gp_prior_kernel(gp_env *env, const gp_posterior *out);

/*
 * The Laplacian prior that fits a graph, by leave-one-out on conjugate gradients (precision.c),
 * whatever the problem's program.  Too few labels: one that serves most graphs.  gp_fit does it
 * by itself where the prior is left open.
 */
extern gp_prior_choice gp_precision_choose(gp_device *dev, const gp_problem *problem);

extern void gp_posterior_free(gp_env *env, gp_posterior *posterior);

/* The logit of a class: the logarithm of its probability, up to a sum that all classes share. */
extern double gp_logit(const gp_calibrator *calibrator, int32_t c, double mean);

/* The probabilities of a node's classes; a node without kernel has the class shares instead. */
extern void gp_probabilities(const gp_calibrator *calibrator, int32_t columns, const double *mean,
							 double *probability);

/*
 * Answers about nodes as they are now, from what a live fit kept (live_answer.c): the anchors of the
 * kernel (kernel/keep.h), and the regression in the columns that these give.
 */

/* What a keep says of its fit; figures that stand together in one piece. */
typedef struct gp_live_figures
{
	double		nodes;			/* of the fit */
	double		columns;		/* classes, or 1 */
	double		values;			/* 1 for a regression */
	double		exact;			/* 1: K itself, 0: a low-rank factor */
	double		by_columns;		/* exact: 1 by columns, 0 the whole */
	double		exact_diagonal; /* variances start from the exact diagonal */
	double		dims;			/* features; 0: structure only */
	double		noise;
	double		mean_diag;
	double		scale;			/* in the targets' unit */
	double		unit;
	double		offset;
	double		wide;			/* 1: large matrices are of double */
} gp_live_figures;

/* The figures; false for a keep that is damaged. */
extern bool gp_live_read(const struct gp_keep *keep, gp_live_figures *figures);

/* True when the pieces of a keep have the types and the shapes that an answer takes them for. */
extern bool gp_live_fits(const struct gp_keep *keep);

/* The type of the fit's large matrices. */
static inline gp_type
gp_live_type(const gp_live_figures *figures)
{
	return figures->wide > 0.0 ? GP_DOUBLE : GP_FLOAT;
}

/* The labelled nodes of a fit, ascending. */
extern const int32_t *gp_live_labelled(const struct gp_keep *keep, int64_t *n);

/* The class of a label of the fit, or -1 for a value; its target in a column: 0 or 1, or the value as it was regressed on. */
extern int32_t gp_live_class(const struct gp_keep *keep, int64_t label);
extern double gp_live_target(const struct gp_keep *keep, int64_t label, int32_t column);

/* The calibrator of a fit of classes, and their shares; the keep owns both. */
extern gp_calibrator gp_live_calibrator(const struct gp_keep *keep);
extern const double *gp_live_shares(const struct gp_keep *keep);

/*
 * A label that is given or taken: of a node of the question, or as the fit knew it.  A node
 * that the fit had labelled loses that label first.
 */
typedef struct gp_live_label
{
	int32_t		node;			/* of the question */
	bool		taken;			/* no new label in its place */
	int32_t		label;			/* a class */
	double		target;			/* or a value */
} gp_live_label;

/* What is asked: of some nodes of a graph that reaches as far around them as the kernel does. */
typedef struct gp_live_question
{
	const struct gp_keep *keep;
	const gp_program *program;
	const gp_graph *graph;
	const gp_features *features;	/* NULL: structure only */
	const int32_t *fit_node;	/* the number of each in the fit, or -1 */
	int64_t		inner;			/* nodes whose rows may matter: the first of the graph */
	int64_t		asked;
	const int32_t *node;		/* those asked for; NULL: the first */
	int64_t		nlabels;
	const gp_live_label *label;
	int64_t		ncuts;
	const struct gp_cut *cut;	/* edges; answers about the one node asked for without each of them follow */
} gp_live_question;

/* The answer, as in gp_posterior. */
typedef struct gp_live_answer
{
	int64_t		n;
	int32_t		columns;
	double	   *mean;
	double	   *variance;
	bool	   *is_prior;		/* NULL: none */
} gp_live_answer;

extern gp_live_answer gp_live_ask(gp_device *dev, const gp_live_question *question);

/*
 * Why: the answer about the one node that is asked for, and how much the label of each labelled node of the fit
 * counts there; count has room for them all.
 */
extern gp_live_answer gp_live_explain(gp_device *dev, const gp_live_question *question, double *count);

/* Makes the parts of the score of one column (a class, or 0 for values) of these counts: each times its target. */
extern void gp_live_parts(gp_env *env, const struct gp_keep *keep, int32_t column, double *count);

/* An edge, by nodes of a question, and by how much the score of the node asked for moves without it. */
typedef struct gp_live_edge
{
	int32_t		src;
	int32_t		dst;
	double		effect;
} gp_live_edge;

/*
 * The k edges near the one node that is asked for whose removal moves the score of a column most, the largest
 * effect first (explain_edges.c); *n counts them, *left those that were not tried because among hubs each takes
 * too much.  Of an undirected edge src is the lower end.
 */
extern gp_live_edge *gp_live_explain_edges(gp_device *dev, const gp_live_question *question, int32_t column,
										   int64_t k, int64_t *n, int64_t *left);

/* What to label next: rows of a question, the most telling first, each with the share of what is left that it takes. */
typedef struct gp_live_choice
{
	int64_t		n;
	int32_t    *node;			/* of the question */
	double	   *gain;
} gp_live_choice;

/*
 * The k nodes without a label in the fit whose labels would reduce the variance of the nodes asked for (all,
 * where node is NULL) most, one after the other, each with those before it (next_labels.c).
 */
extern gp_live_choice gp_live_next(gp_device *dev, const gp_live_question *question, int64_t k);

#endif							/* GP_INFER_H */
