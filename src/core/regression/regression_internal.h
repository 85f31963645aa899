/*
 * regression_internal.h - the regression on labels, which links share with nodes.
 *
 * A regression is solved in one of two forms.  The dual form holds the labels'
 * covariance K(t,t); the primal form holds the Gram matrix of their factor rows,
 * and serves when there are more labels than columns.  Both report the same
 * figures.
 */
#ifndef GP_REGRESS_H
#define GP_REGRESS_H

#include "fit/fit.h"

/* The targets of the labelled nodes. */
typedef struct gp_targets
{
	int64_t		m;
	int32_t		columns;
	double	   *y;				/* m x columns: one-hot, or centred and in units of their spread */
	double		offset;			/* the mean that was taken off */
	double		unit;			/* the root mean square that they were divided by; 1 for classes */
	bool	   *counts;			/* m: takes part in leave-one-out */
	int64_t		ncounted;
	bool		few;			/* leave-one-out cannot choose anything */
	bool		flat;			/* all targets are equal */
	double	   *share;			/* classes: share of each; NULL for values */
} gp_targets;

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
	double		fewer_error;	/* leave-one-out error without the last landmarks, over that with all; 0: not known */
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
 * is relative to.  mean is m x columns; index lists the labels looked at.
 */
extern double gp_loo_error(const gp_problem *problem, const gp_targets *targets,
						   const double *mean, const int32_t *index, int64_t n, double *total);
/* The factor that brings class scores of labels nearest to one-hot classes; 0 where they say the opposite. */
extern double gp_class_factor(const gp_targets *targets, const double *mean, const int32_t *index, int64_t n);
/* The squared error that is left of one label's scores after a factor. */
extern double gp_class_residual(const gp_targets *targets, const double *mean, int32_t index, double factor);

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

/* Tells that the search for it ended at the smallest nugget tried, which may be too large; the largest is told with the score (baseline_check.c). */
extern void gp_nugget_tell_edge(gp_env *env, double least);

/* dual.c: k is m x m double and is overwritten. */
extern gp_solution gp_dual_solve(gp_device *dev, const gp_problem *problem,
								 const gp_targets *targets, gp_matrix k, double mean_diag);

/* primal.c: q is m x r, the factor's rows at the labelled nodes, of any type. */
extern gp_solution gp_primal_solve(gp_device *dev, const gp_problem *problem,
								   const gp_targets *targets, gp_matrix q, double mean_diag);

/* The labelled rows of a factor, which need not be at hand: what the primal form asks about them. */
typedef struct gp_primal_rows
{
	void	   *state;
	int64_t		rank;
	gp_type		type;			/* of the sample */
	/* Q'Q and Q'y: rank x rank and rank x columns, double. */
	void		(*gram) (void *state, const gp_targets *targets, gp_matrix gram, gp_matrix qty);
	/* The rows of n labels. */
	void		(*sample) (void *state, const int32_t *index, int64_t n, gp_matrix out);
	/* Q w (m x columns) and the leverages |L^-1 q_i|^2 (m) of all labels; both matrices are double. */
	void		(*explain) (void *state, gp_matrix root, gp_matrix w, double *fit, double *leverage);
} gp_primal_rows;

/* The same for rows wherever they are. */
extern gp_solution gp_primal_solve_rows(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
										const gp_primal_rows *rows, double mean_diag);

/* log det S from its Cholesky factor (targets.c). */
extern double gp_root_log_det(gp_device *dev, gp_matrix root);

extern void gp_solution_free(gp_device *dev, gp_solution *solution);

/* The closed-form scale of the prior and the marginal likelihood at it (targets.c). */
extern void gp_solution_scale(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							  double quadratic, double log_det, gp_solution *solution);

/*
 * plan.c: the figures of a plan from what a dry run took, held against what may be held unless
 * only an estimate is asked for (GP_ERR_LIMIT: what needs so much, and a hint); and these behind its reason.
 */
extern void gp_plan_settle(gp_device *dev, const gp_problem *problem, const gp_count *count, const char *what,
						   const char *hint, gp_plan *plan);
extern void gp_plan_explain(gp_plan *plan);

/* posterior_from_scores.c: refuses what a method that is no regression has no answer to. */
extern void gp_learnt_check(gp_env *env, const gp_problem *problem, const char *method, bool values);

/*
 * The posterior of such a method.  Means (nodes x columns) and
 * variances are filled in between.
 */
extern gp_posterior *gp_learnt_open(gp_env *env, const gp_problem *problem, const gp_plan *plan);

/*
 * Calibrates it and adds the figures, from what is said of each labelled node (m x columns, m)
 * by a model that has not seen its label; takes both arrays.
 */
extern void gp_learnt_settle(gp_env *env, const gp_problem *problem, double *loo_mean,
							 double *loo_variance, gp_posterior *out);

#endif							/* GP_REGRESS_H */
