/*
 * fit_internal.h - what the files of fit share.
 */
#ifndef GP_FIT_INTERNAL_H
#define GP_FIT_INTERNAL_H

#include "fit.h"
#include "kernel/live/live_state.h"
#include "regression/solution.h"

/* exact_posterior.c, lowrank_posterior.c: fill the posterior's arrays but not its probabilities. */
extern gp_solution gp_regress_exact(gp_eval *ev, const gp_problem *problem,
									const gp_targets *targets, const gp_plan *plan,
									gp_posterior *out);
extern gp_solution gp_regress_lowrank(gp_eval *ev, const gp_problem *problem,
									  const gp_targets *targets, const gp_plan *plan,
									  gp_posterior *out);

/* The second half of it: from a factor, and the exact diagonal or NULL. */
extern gp_solution gp_regress_panels(gp_eval *ev, const gp_problem *problem,
									 const gp_targets *targets, gp_factor *f, const double *diag,
									 gp_posterior *out);

/* ---- powers of a kernel (power.c, power_choice.c) ---- */

/* The eigenproblem of Q'Q / n, or its leading part. */
typedef struct gp_spectrum
{
	gp_matrix	v;				/* columns of Q x kept double; the device's */
	double	   *w;				/* ascending, not negative */
	int64_t		kept;
} gp_spectrum;

extern gp_spectrum gp_spectrum_compute(gp_eval *ev, gp_factor *f);
extern void gp_spectrum_free(gp_eval *ev, gp_spectrum *s);

/* V diag(w / w_max)^((p-1)/2), owned by the caller: F = Q times it. */
extern gp_matrix gp_spectrum_directions(gp_eval *ev, const gp_spectrum *s, double p);

/* The mean of |f_i|^2. */
extern double gp_spectrum_mean(const gp_eval *ev, const gp_spectrum *s, double p);

/* The factor of the kernel's power, where its program asks for one; the former factor goes. */
extern gp_factor *gp_factor_of_power(gp_eval *ev, gp_factor *f);

/* The landmarks that a power takes by itself. */
extern int64_t gp_power_landmarks(const gp_eval *ev);

/* A problem as a power of its kernel sees it. */
extern gp_problem gp_power_problem(const gp_problem *problem);

/*
 * Leave-one-out by the power of the kernel that explains the labels best, of which out tells;
 * 1 is the factor as it is.
 */
extern gp_solution gp_power_choose(gp_eval *ev, const gp_problem *problem,
								   const gp_targets *targets, gp_posterior *out);

/*
 * The entries of the kernel that each live answer of a plan computes (live_record.c), and how many
 * take less than some tenths of a second on a busy machine, by a kernel of several terms, too.
 */
#define GP_LIVE_ENTRIES 1.5e5
extern double gp_live_entries(const gp_live_state *state, const gp_problem *problem,
							  const gp_plan *plan);

/*
 * Begins what a live problem keeps, and adds the regression and what makes probabilities of means
 * (live_record.c); nothing is done for others.
 */
extern void gp_live_open(gp_eval *ev, const gp_problem *problem);
extern void gp_live_record(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
						   const gp_solution *solution, gp_posterior *out);
extern void gp_live_record_calibrator(gp_env *env, const gp_problem *problem, gp_posterior *out);

/* strategy.c: tells what a low-rank fit did that its figures do not show. */
extern void gp_notice_lowrank(const gp_eval *ev, const gp_plan *plan, double first_jitter);

/* strategy.c: the posterior by a plan; on a device that only accounts, what that takes. */
extern gp_posterior *gp_posterior_planned(gp_eval *ev, const gp_problem *problem,
										  const gp_plan *plan);

/*
 * live_record.c: keeps the weights of a regression and the root of its system.  right, the sum of
 * the labels' rows, becomes the weights of targets that are all 1: a new label moves the mean.
 */
extern void gp_live_keep_weights(gp_eval *ev, gp_matrix weights, gp_matrix root, gp_matrix right);

/* plan.c; a plan that was made before is none where it does not fit. */
extern bool gp_plan_is_given(const gp_device *dev, const gp_problem *problem);
extern gp_plan gp_plan_of_evaluation(gp_eval *ev, const gp_problem *problem);
extern gp_plan gp_plan_precision(gp_device *dev, const gp_problem *problem, const gp_csr *s);

#endif							/* GP_FIT_INTERNAL_H */
