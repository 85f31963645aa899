/*
 * auto_kernel.h - kernels compared by leave-one-out, and the one that suits a graph.
 */
#ifndef GNNGP_AUTO_KERNEL_H
#define GNNGP_AUTO_KERNEL_H

#include "pg/functions/functions.h"
#include "pg/schema/schema.h"

/* How well a kernel explains the labels, each left out in turn. */
typedef struct gnngp_candidate
{
	const char *kernel;			/* canonical text; on the way here, any */
	const gp_plan *plan;		/* of the comparison, where it was planned before; or NULL */
	gp_env	   *alone;			/* where it was compared, if that was its fit in full, */
	gp_posterior *full;			/* which is there; else NULL */
	const char *device;			/* that it ran on */
	const char *problem;		/* why it is skipped; NULL: it fits, and the rest is known */
	int64		landmarks;		/* 0: by conjugate gradients */
	double		power;			/* of the kernel; 0: not compared */
	double		seconds;
	double		nugget;
	double		nll;			/* NaN for values */
	double		loo_score;
	double		log_marginal_likelihood;
	int64		n;
	double	   *loss;			/* n: gp_loo_losses; NULL where labels are too few */
} gnngp_candidate;

/* What was chosen, in the memory of the environment of the run. */
typedef struct gnngp_choice
{
	char	   *kernel;			/* canonical text */
	char	   *alternatives;	/* JSON: figures of all that were compared, or NULL */
	const char *device;			/* that the fit ran on */
	gp_posterior *posterior;	/* of the chosen kernel */
} gnngp_choice;

/*
 * How much a fit is to compute, in operations as a plan weighs them: each comparison of candidates,
 * the last first, whose plans they get, and the fit in full (of the first) behind these; within
 * limit bytes.
 */
extern double *gnngp_expected_efforts(gnngp_computation *compute, const gnngp_data *data,
									  const gnngp_fit_settings *settings, size_t limit,
									  gnngp_candidate *candidates, int n);

/* The same of the comparison of powers, by a fit whose kernel leaves them open; 0: none. */
extern double gnngp_powers_effort(gnngp_computation *compute, gp_problem problem);

/*
 * The kernels that may suit a graph; the likeliest comes first.  left_out gets the names of those
 * that would suit, but have no live state where that is asked for.
 */
extern gnngp_candidate *gnngp_candidates(gp_env *env, const gnngp_data *data,
										 const gnngp_fit_settings *settings, int *n,
										 StringInfo left_out);

/* Makes what fits of several candidates to the same data have in common, for data to lend. */
extern void gnngp_share(gp_env *env, gnngp_data *data, const gnngp_fit_settings *settings,
						const gnngp_candidate *candidates, int n);

/*
 * Fills in what is known of a candidate's kernel, by as many landmarks as the others get, or of the
 * settings' method, in an environment below env; what is made goes into context.  What the kernel
 * cannot do is its problem alone.  Its fit in full is kept where that is hardly more work.
 */
extern void gnngp_compare(gp_env *env, bool by_plan, const gnngp_data *data,
						  const gnngp_fit_settings *settings,
						  MemoryContext context, gnngp_candidate *candidate);

/* Frees the fit in full that a comparison may have left. */
extern void gnngp_forget_comparison(gnngp_candidate *candidate);

/*
 * The best of some candidates: where leave-one-out cannot tell, which is a difference within its
 * standard error, the first of those that are as good as the one that loses least.  -1: none fits.
 */
extern int	gnngp_best_candidate(const gnngp_candidate *candidates, int n);

/*
 * Fits with the kernel of the settings or, where that is auto, with the best of those that may
 * suit.
 */
extern gnngp_choice gnngp_fit_kernel(gnngp_computation *compute, const gnngp_data *data,
									 const gnngp_fit_settings *settings);

/* ---- fits of tasks: one layer over the columns that their facts give (task_fit.c) ---- */

/*
 * Settings as they are for a task: 0A000 where a kernel, a method or a strategy is asked for that
 * tasks do not have.  A task's model always keeps its live state.
 */
extern void gnngp_facts_settings(gnngp_fit_settings *settings);

/* Completes the problem of a task: its kernel, blocks of time and landmarks. */
extern void gnngp_facts_problem(gp_env *env, const gnngp_data *data,
								const gnngp_fit_settings *settings,
								gp_problem *problem);

/* Plans the fit of such a problem, which may spoil the features. */
extern gp_plan gnngp_facts_plan(gp_device *device, const gnngp_data *data,
								const gp_problem *problem);

/* Fits both weightings of the columns; *backtest gets what earlier blocks say of the labels. */
extern gnngp_choice gnngp_fit_task(gnngp_computation *compute, const gnngp_data *data,
									const gnngp_fit_settings *settings,
									gnngp_forward_figures *backtest);

#endif							/* GNNGP_AUTO_KERNEL_H */
