/*
 * choose_kernel.h - the kernel that suits a graph, where the user names none, and its fit.
 */
#ifndef GNNGP_CHOOSE_KERNEL_H
#define GNNGP_CHOOSE_KERNEL_H

#include "core/fit/selection/selection.h"
#include "pg/functions/functions.h"

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

/* gp_candidates_share on a device of its own. */
extern gp_shared *gnngp_candidates_share(gp_env *env, const gp_problem *problem,
										 const gp_candidate *candidates, int n);

/*
 * Fills in what is known of a candidate, or of a method, in an environment below env; what it loses
 * goes into the current memory context.  What it cannot do is its problem alone.
 */
extern void gnngp_compare(gp_env *env, const gp_problem *problem, const char *method,
						  gp_candidate *candidate);

/*
 * Fits with a kernel or, where that is auto, with the best of those that may suit; the problem's
 * program is not looked at.
 */
extern gnngp_choice gnngp_fit_kernel(gp_env *env, const gp_problem *problem, const char *kernel);

#endif							/* GNNGP_CHOOSE_KERNEL_H */
