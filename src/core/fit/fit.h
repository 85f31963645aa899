/*
 * fit.h - from a graph, features and labels to the posterior of every node.
 *
 * The model is a Gaussian process with prior covariance s^2 K, K from the
 * kernel's program, and noise s^2 eps, regressed on one-hot classes (not
 * centred) or on the centred target.
 */
#ifndef GP_FIT_H
#define GP_FIT_H

#include "precision/precision.h"

/* The names of strategies, as users write them. */
extern const char *const gp_strategy_names[GP_STRATEGIES];

/* Tells of nodes in components without a label, where they are many; program NULL: of a method (unlabelled_components.c). */
extern void gp_tell_apart(gp_env *env, const gp_problem *problem);

/* Tells that landmarks, of which so many (0: any) were asked for, are none (strategy.c). */
extern void gp_tell_no_landmarks(gp_env *env, int64_t asked, const gp_posterior *out);

/* Counts operations and bytes and chooses; raises GP_ERR_LIMIT when nothing fits. */
extern gp_plan gp_plan_make(gp_device *dev, const gp_problem *problem);

/*
 * plan.c: the figures of a plan from what a dry run took, held against what may be held unless
 * only an estimate is asked for (GP_ERR_LIMIT: what needs so much, and a hint); and these behind its reason.
 */
extern void gp_plan_settle(gp_device *dev, const gp_problem *problem, const gp_count *count, const char *what,
						   const char *hint, gp_plan *plan);
extern void gp_plan_explain(gp_plan *plan);

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

/* power.c: refuses kernels with a power where nothing takes it. */
extern void gp_power_refuse(gp_env *env, const gp_program *program);

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

#endif							/* GP_FIT_H */
