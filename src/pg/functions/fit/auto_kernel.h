/*
 * auto_kernel.h - the kernel that suits a graph, where the user names none.
 */
#ifndef GNNGP_AUTO_KERNEL_H
#define GNNGP_AUTO_KERNEL_H

#include "postgres.h"

#include "pg/functions/functions.h"
#include "pg/server/server.h"

/* What was chosen, in the memory of the environment of the run. */
typedef struct gnngp_choice
{
	char	   *kernel;			/* canonical text */
	char	   *alternatives;	/* JSON: the scores of the others by kernel; NULL where there were none */
	const char *device;			/* that the fit ran on */
	gp_posterior *posterior;	/* of the chosen kernel */
} gnngp_choice;

/* Fits with the kernel of the settings or, where that is auto, with each that may suit, and keeps the best. */
extern gnngp_choice gnngp_fit_kernel(gnngp_run *run, const gnngp_data *data,
									 const gnngp_fit_settings *settings);

/* The kernel that an estimate stands for where none is named: the first that would be tried. */
extern const char *gnngp_likely_kernel(const gnngp_data *data, const gnngp_fit_settings *settings);

/*
 * Fits a problem, its program aside, with the Laplacian kernel whose prior leave-one-out likes
 * best, and puts that kernel's text into context.
 */
extern gp_posterior *gnngp_fit_laplacian(gnngp_run *run, gp_problem *problem, MemoryContext context,
										 const char **kernel);

#endif							/* GNNGP_AUTO_KERNEL_H */
