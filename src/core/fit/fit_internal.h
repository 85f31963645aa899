/*
 * fit_internal.h - the parts of the inference floor.
 */
#ifndef GP_INFER_INTERNAL_H
#define GP_INFER_INTERNAL_H

#include "landmarks.h"
#include "regression/regression_internal.h"

#define GP_NUGGET_MIN 1e-3		/* the grid of numbers searched, relative to mean diag K */
#define GP_NUGGET_MIN_POWER 1e-4	/* the same for a power of the kernel */
#define GP_NUGGET_MAX 10.0
#define GP_NUGGET_FEW 0.1		/* with too few labels to choose by leave-one-out */
#define GP_NORMAL_90 1.6448536269514722	/* half width of the central 90% interval */

/* fit.c: refuses problems that have no answer. */
extern void gp_problem_check(gp_env *env, const gp_problem *problem);

/* exact.c, lowrank.c: fill the posterior's arrays but not its probabilities. */
extern gp_solution gp_infer_exact(gp_eval *ev, const gp_problem *problem,
								  const gp_targets *targets, const gp_plan *plan,
								  gp_posterior *out);
extern gp_solution gp_infer_lowrank(gp_eval *ev, const gp_problem *problem,
									const gp_targets *targets, const gp_plan *plan,
									gp_posterior *out);

/* precision.c: the posterior without a factor, from the matrix of gp_precision_matrix. */
extern gp_posterior *gp_infer_precision(gp_device *dev, const gp_problem *problem, const gp_csr *s,
										const gp_plan *plan);

/* True where that strategy is asked for, or the best; refuses kernels that it does not serve. */
extern bool gp_precision_serves(gp_env *env, const gp_problem *problem);

/* The second half of it: from a factor, and the exact diagonal or NULL.  Panels may be spoilt. */
extern gp_solution gp_infer_panels(gp_eval *ev, const gp_problem *problem,
								   const gp_targets *targets, gp_factor *f, const double *diag,
								   gp_posterior *out);

/*
 * lowrank.c: noise q_i' B^-1 q_i of every row of a factor, l being the Cholesky factor of B; panels
 * that are used for the last time may be spoilt.
 */
extern void gp_lowrank_variances(gp_eval *ev, gp_factor *f, gp_matrix l, double noise, bool last,
								 double *variance);

/* power.c */
/* The factor of the kernel's power, where its program asks for one; the former factor goes. */
extern gp_factor *gp_factor_of_power(gp_eval *ev, gp_factor *f);

/* The landmarks that a power takes by itself. */
extern int64_t gp_power_landmarks(const gp_eval *ev);

/* True where leave-one-out should choose a power: the plan says whether it is affordable. */
extern bool gp_power_is_open(const gp_problem *problem);

/* A problem as a power of its kernel sees it. */
extern gp_problem gp_power_problem(const gp_problem *problem);

/* Puts the posterior by a power of the kernel in place of another's, if leave-one-out prefers it. */
extern void gp_power_choose(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
							gp_solution *solution, gp_posterior *out);

/* landmarks.c: landmarks drawn evenly, without twins, of all nodes. */
extern int32_t *gp_landmarks_spread(gp_eval *ev, const gp_problem *problem, int64_t count, int64_t *n);

/* True where so many landmarks begin with the whole field of the labels, which makes more useless. */
extern bool gp_landmarks_are_field(gp_eval *ev, const gp_problem *problem, int64_t count);

/* The places, among ascending landmarks, of those that rank last. */
extern int32_t *gp_landmarks_last(gp_eval *ev, const gp_problem *problem, const int32_t *landmark, int64_t n,
								  int64_t count);

/* landmark_advice.c: the leave-one-out error without the last landmarks, over that with all; q has the labelled rows. */
extern double gp_fewer_error(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
							 const gp_factor *f, gp_matrix q, const gp_solution *solution,
							 const gp_posterior *out);

/* Tells where more landmarks are likely to help. */
extern void gp_tell_fewer(gp_env *env, const gp_problem *problem, const gp_solution *solution,
						  const gp_posterior *out);

/* posterior.c: forgets which nodes have no kernel. */
extern void gp_posterior_forget(gp_env *env, gp_posterior *out);

/* Refuses kernels that have no live state. */
extern void gp_live_check_kernel(gp_env *env, const gp_program *program);

/* Begins and ends what a live problem keeps (live_keep.c); nothing is done for others. */
extern void gp_live_open(gp_eval *ev, const gp_problem *problem);
extern void gp_live_close(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
						  const gp_solution *solution, gp_posterior *out);

/* strategy.c: tells what a low-rank fit did that its figures do not show. */
extern void gp_tell_lowrank(const gp_eval *ev, const gp_plan *plan, double first_jitter);

/* strategy.c: the posterior by a plan; on a device that only accounts, what that takes. */
extern gp_posterior *gp_infer(gp_eval *ev, const gp_problem *problem, const gp_plan *plan);

/*
 * live_keep.c: keeps the weights of a regression and the root of its system, which right, the sum
 * of the labels' rows, gives the weights of targets that are all 1; a new label moves their mean.
 */
extern void gp_live_keep_weights(gp_eval *ev, gp_matrix weights, gp_matrix root, gp_matrix right);

/* posterior.c: allocates the arrays of one. */
extern gp_posterior *gp_posterior_create(gp_env *env, const gp_problem *problem,
										 const gp_targets *targets, const gp_plan *plan);

/* True when all n numbers are finite. */
extern bool gp_all_finite(gp_env *env, const double *x, int64_t n);

/* Copies a solution's figures, refuses numbers that are none, and calibrates. */
extern void gp_posterior_settle(const gp_eval *ev, const gp_problem *problem,
								const gp_targets *targets, gp_solution *solution,
								gp_posterior *out);

/* Finishes variances (diag NULL: every node has a kernel): scale, noise for values, the prior where there is no kernel. */
extern void gp_posterior_finish(gp_env *env, const gp_problem *problem,
								const gp_targets *targets, const gp_solution *solution,
								const double *diag, gp_posterior *out);

/* figures.c: the calibrator, the figures, and the leave-one-out posterior, which it takes. */
extern void gp_figures(gp_env *env, const gp_problem *problem, const gp_targets *targets,
					   gp_solution *solution, gp_posterior *out);

/* baseline_check.c: tells when a model is worth no more than class shares or label propagation. */
extern void gp_tell_worth(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
						  const gp_posterior *out);

/* Accounts for what that takes in a dry run, which has no figures. */
extern void gp_figures_count(gp_env *env, const gp_problem *problem, const gp_targets *targets);

/*
 * calibrate.c: the calibrator of the largest likelihood on leave-one-out means (m x columns),
 * or the usual one where labels are too few; without the labels of nodes that are given the
 * prior (by node, or NULL).  Its biases belong to env.
 */
extern gp_calibrator gp_calibrator_fit(gp_env *env, const gp_problem *problem,
									   const gp_targets *targets, const double *mean,
									   const bool *is_prior);
/* The bytes that fitting one takes at most. */
extern double gp_calibrator_bytes(const gp_problem *problem);

/* plan.c */
extern gp_plan gp_plan_with(gp_eval *ev, const gp_problem *problem);
extern gp_plan gp_plan_precision(gp_device *dev, const gp_problem *problem, const gp_csr *s);

#endif							/* GP_INFER_INTERNAL_H */
