/*
 * solution.h - how a regression is solved: targets, nugget, weights, and the way to a posterior.
 *
 * There are two forms.  The dual form holds the labels' covariance K(t,t); the primal form holds
 * the Gram matrix of their factor rows, and serves when there are more labels than columns.  Both
 * report the same figures.
 */
#ifndef GP_SOLUTION_H
#define GP_SOLUTION_H

#include "regression.h"

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

/*
 * How large an error of values is over the value that is predicted, by which standard deviations
 * are multiplied: n points (value, size) by ascending values, straight lines between them, level
 * beyond; n = 0: 1 everywhere.
 */
#define GP_SPREAD_KNOTS 12
typedef struct gp_spread
{
	int64_t		n;
	double		knot[GP_SPREAD_KNOTS][2];
} gp_spread;

/* What either form of a regression gives; values are in the targets' unit. */
typedef struct gp_solution
{
	double		nugget;			/* relative */
	double		noise;			/* nugget * mean_diag */
	double		mean_diag;
	double		scale;			/* s^2 */
	gp_spread	spread;			/* of values */
	double		log_marginal_likelihood;
	double	   *loo_mean;		/* m x columns: prediction at i when i is left out (centred) */
	double	   *loo_variance;	/* m: of the observation, at scale s^2 */
	/* columns: the mean prediction of each class over all nodes, where labels were left out in
	 * folds that have their share of each class; else NULL */
	const double *node_share;
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
 * nugget.c: the leave-one-out error that chooses the nugget, and what it is relative to (NULL: not
 * asked for).  mean is m x columns; index lists the labels looked at.
 */
extern double gp_loo_error(const gp_problem *problem, const gp_targets *targets,
						   const double *mean, const int32_t *index, int64_t n, double *total);
/*
 * nugget.c: the factor, a plain number, by which class scores (m x columns, as mean) come nearest
 * to one-hot classes by least squares; 0 where they say the opposite.
 */
extern double gp_class_rescaling(const gp_targets *targets, const double *mean,
								 const int32_t *index, int64_t n);

/*
 * nugget.c: the labels that count, ascending; at most limit of them, evenly spread; owned by the
 * caller.
 */
extern int32_t *gp_loo_sample(gp_env *env, const gp_targets *targets, int64_t limit, int64_t *n);

/* nugget.c: the error at one nugget. */
typedef double (*gp_nugget_error) (void *state, double nugget);

/*
 * The nugget of a problem: given, the default for few labels, or searched for.  A grid of so many
 * numbers is looked at whole; GP_NUGGET_CLIMB goes by steps of a decade from the middle, for errors
 * that are costly, whatever nugget_min.  What is best is then refined so often at most.
 */
#define GP_NUGGET_CLIMB 0
extern double gp_nugget_choose(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							   gp_nugget_error error, void *state, int grid, int refine);

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
	double	   *left_out;		/* m x columns: predictions of these without themselves */
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
 * value_spread.c: for values, the spread, and the scale with which nine in ten of n labels, whose
 * numbers are index (NULL: the first n), lie within the central 90% interval of their predictions
 * without themselves, in place of the one of the marginal likelihood; loo_variance goes along.
 */
extern void gp_solution_spread(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							   const int32_t *index, int64_t n, gp_solution *solution);
extern double gp_spread_at(const gp_spread *spread, double value);

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
 * posterior.c: of a method without a regression, from the predictions of each labelled
 * node (m x columns, m) by a model that has not seen its label; owns both arrays from now
 * on.  Variances of values are scaled to the errors.
 */
extern gp_solution gp_solution_of_scores(gp_env *env, const gp_problem *problem,
										 const gp_targets *targets, double *loo_mean,
										 double *loo_variance, gp_posterior *out);

extern bool gp_all_finite(gp_env *env, const double *x, int64_t n);

/* True where means are zero, up to what is less than the calibrator sees. */
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

/* figures.c: the probabilities of labelled node i without itself, as any node like it gets
 * them. */
extern void gp_label_probabilities(const gp_problem *problem, const gp_targets *targets,
								   const gp_posterior *out, int64_t i, double *probability);

/*
 * figures.c: the first of the last blocks of time, whose errors tell how wide intervals of values
 * are.
 */
extern int32_t gp_blocks_recent(const gp_problem *problem);

/*
 * baseline_check.c: tells when a model is worth no more than class shares or label propagation,
 * whose accuracy becomes a figure of the model.
 */
extern void gp_notice_worth(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
							gp_posterior *out);

/*
 * class_calibration.c: the calibrator of the largest likelihood on the leave-one-out posterior
 * (variance without this noise; NULL: not known), or the usual one where labels are too few;
 * without the labels of nodes that are given the prior (by node, or NULL).  Its biases belong to
 * env.
 */
extern gp_calibrator gp_calibrator_fit(gp_device *dev, const gp_problem *problem,
									   const gp_targets *targets, const gp_loo *loo,
									   double noise, const bool *is_prior);
/* In a dry run: allocates what that takes at most, and what is left of it. */
extern gp_calibrator gp_calibrator_plan(gp_env *env, const gp_problem *problem,
										const gp_targets *targets);

#endif							/* GP_SOLUTION_H */
