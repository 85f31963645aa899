/*
 * choose_kernel.h - the kernel that suits a graph, where the user names none, and its fit.
 */
#ifndef GNNGP_CHOOSE_KERNEL_H
#define GNNGP_CHOOSE_KERNEL_H

#include "core/fit/selection/selection.h"
#include "pg/functions/functions.h"
#include "pg/schema/schema.h"

/* What was chosen, in the memory of the environment of the run. */
typedef struct gnngp_choice
{
	char	   *kernel;			/* canonical text */
	const gp_program *program;
	char	   *alternatives;	/* JSON: figures of all that were compared, or NULL */
	const char *device;			/* that the fit ran on */
	gp_posterior *posterior;	/* of the chosen kernel */
} gnngp_choice;

/* The candidates of a fit with this kernel: itself, or those that auto compares. */
extern gp_candidate *gnngp_candidates(gp_env *env, const gp_problem *problem, const char *kernel,
									  int *n);

/*
 * Fills in what is known of a candidate, or of a method, in an environment below env; what it loses
 * goes into the current memory context.  What it cannot do is its problem alone.
 */
extern void gnngp_compare(gp_env *env, bool by_plan, const gp_problem *problem, const char *method,
						  gp_candidate *candidate);

/*
 * Fits with a kernel or, where that is auto, with the best of those that may suit; the problem's
 * program is not looked at.
 */
extern gnngp_choice gnngp_fit_kernel(gp_env *env, bool by_plan, const gp_problem *problem,
									 const char *kernel);

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

/* Fits both weightings of the columns; *forward gets what earlier blocks say of the labels. */
extern gnngp_choice gnngp_fit_task(gnngp_computation *compute, const gnngp_data *data,
									const gnngp_fit_settings *settings,
									gnngp_forward *forward);

#endif							/* GNNGP_CHOOSE_KERNEL_H */
