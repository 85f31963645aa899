/*
 * infer_internal.h - the parts of the inference floor.
 *
 * A regression is solved in one of two forms.  The dual form holds the labelled
 * nodes' covariance K(t,t); the primal form holds the Gram matrix of their
 * factor rows, and serves when there are more labels than columns.  Both report
 * the same figures.
 */
#ifndef GP_INFER_INTERNAL_H
#define GP_INFER_INTERNAL_H

#include "infer.h"
#include "kernel/kernel.h"

#define GP_NUGGET_MIN 1e-3		/* the grid of numbers searched, relative to mean diag K */
#define GP_NUGGET_MAX 10.0
#define GP_NUGGET_FEW 0.1		/* with too few labels to choose by leave-one-out */
#define GP_TEMPERATURE_FEW 8.0
#define GP_NORMAL_90 1.6448536269514722	/* half width of the central 90% interval */

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
/* The labels that count, ascending; at most limit of them, evenly spread; owned by the caller. */
extern int32_t *gp_loo_sample(gp_env *env, const gp_targets *targets, int64_t limit, int64_t *n);

/* nugget.c: the minimum of error(state, nugget) over the grid, refined. */
extern double gp_nugget_search(gp_env *env, double (*error) (void *state, double nugget),
							   void *state, int coarse, int refine, bool quiet, double slack);
/* The nugget of a problem: given, the default for few labels, or searched for. */
extern double gp_nugget_choose(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							   double (*error) (void *state, double nugget), void *state,
							   int coarse, int refine);

/* dual.c: k is m x m double and is overwritten. */
extern gp_solution gp_dual_solve(gp_device *dev, const gp_problem *problem,
								 const gp_targets *targets, gp_matrix k, double mean_diag);

/* primal.c: q is m x r, the factor's rows at the labelled nodes, of any type. */
extern gp_solution gp_primal_solve(gp_device *dev, const gp_problem *problem,
								   const gp_targets *targets, gp_matrix q, double mean_diag);

/* log det S from its Cholesky factor (targets.c). */
extern double gp_root_log_det(gp_device *dev, gp_matrix root);

extern void gp_solution_free(gp_device *dev, gp_solution *solution);

/* The closed-form scale of the prior and the marginal likelihood at it (targets.c). */
extern void gp_solution_scale(gp_env *env, const gp_problem *problem, const gp_targets *targets,
							  double quadratic, double log_det, gp_solution *solution);

/* exact.c, lowrank.c: fill the posterior's arrays but not its probabilities. */
extern gp_solution gp_infer_exact(gp_eval *ev, const gp_problem *problem,
								  const gp_targets *targets, const gp_plan *plan,
								  gp_posterior *out);
extern gp_solution gp_infer_lowrank(gp_eval *ev, const gp_problem *problem,
									const gp_targets *targets, const gp_plan *plan,
									gp_posterior *out);

/* The second half of it: from a factor, and the exact diagonal or NULL.  Panels may be spoilt. */
extern gp_solution gp_infer_panels(gp_eval *ev, const gp_problem *problem,
								   const gp_targets *targets, gp_factor *f, const double *diag,
								   gp_posterior *out);

/* dense_factor.c: all panels side by side, nodes x rank float; owned by the caller. */
extern gp_matrix gp_factor_dense(gp_eval *ev, const gp_factor *f);

/* Finishes variances: scale, noise for values, the prior where there is no kernel. */
extern void gp_posterior_finish(gp_env *env, const gp_problem *problem,
								const gp_targets *targets, const gp_solution *solution,
								const double *diag, gp_posterior *out);

/* calibrate.c: temperature, leave-one-out score and metrics. */
extern void gp_calibrate(gp_env *env, const gp_problem *problem, const gp_targets *targets,
						 const gp_solution *solution, gp_posterior *out);

/* landmarks.c: ascending, at most count, twins dropped. */
extern int32_t *gp_landmarks_choose(gp_eval *ev, const gp_problem *problem, int64_t count,
									int64_t *n);
/* How many landmarks an automatic fit takes before twins are dropped. */
extern int64_t gp_landmarks_automatic(gp_eval *ev, const gp_problem *problem);

/* plan.c */
extern gp_plan gp_plan_with(gp_eval *ev, const gp_problem *problem);
/* Refuses explicit factors of the program's steps that would not fit, before they are made. */
extern void gp_plan_check_factors(gp_eval *ev, double limit);

#endif							/* GP_INFER_INTERNAL_H */
