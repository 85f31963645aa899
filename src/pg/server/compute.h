/*
 * compute.h - running a computation where gnngp.device says.
 */
#ifndef GNNGP_COMPUTE_H
#define GNNGP_COMPUTE_H

#include "core/fit/fit.h"

/* A computation that runs. */
typedef struct gnngp_computation
{
	gp_device  *device;			/* to compute on, unless a plan decides otherwise */
	gp_env	   *env;			/* what is made belongs to it */
	const char *used;			/* the device of the last gnngp_fit_on_device */
	bool		by_plan;		/* a fit may take a card when its plan says that it is worth it */
} gnngp_computation;

/* The work itself.  It may be called a second time, and then begins again. */
typedef void (*gnngp_work) (gnngp_computation *compute, void *arg);

/* Runs a work in env on the device of gnngp_device_open. */
extern void gnngp_compute(gp_env *env, int threads, gnngp_work work, void *arg);

/*
 * Runs a work that fits through gnngp_fit_on_device or gnngp_device_for, in a new environment below
 * env, which it returns.  With gnngp.device = auto it may use a card where its plan says so; should
 * the card fail, the work is done again on the CPU.  Other errors leave nothing of the work.
 */
extern gp_env *gnngp_compute_planned(gp_env *env, gnngp_work work, void *arg);

/* A fit on the device that is set or, with auto, on the one that suits its plan; NULL: gp_fit. */
extern gp_posterior *gnngp_fit_on_device(gnngp_computation *compute, gp_problem *problem,
										 gp_fitter fitter, const void *arg);

/*
 * device_for of a problem: the planner's or a card where that suits the plan.  arg is where the
 * card is kept, NULL at first; give it back when the work is done.
 */
extern gp_device *gnngp_device_for(void *arg, gp_device *planner, const gp_plan *plan);
extern void gnngp_card_close(gnngp_computation *compute, gp_device *card);

/* Reads or compiles a kernel's text, which must live as long as env; the result belongs to env. */
extern gp_kernel *gnngp_parse_kernel(gp_env *env, const char *kernel);
extern gp_program *gnngp_compile_kernel(gp_env *env, const char *kernel);

/* The device that gnngp.device asks for, the CPU with auto; threads 0 takes gnngp.threads. */
extern gp_device *gnngp_device_open(gp_env *env, int threads);

#endif							/* GNNGP_COMPUTE_H */
