/*
 * task_fit.h - fits of tasks: one layer over the columns that their facts give.
 */
#ifndef GNNGP_TASK_FIT_H
#define GNNGP_TASK_FIT_H

#include "choose_kernel.h"
#include "pg/schema/schema.h"

/*
 * Settings as they are for a task: 0A000 where a kernel, a method or a strategy is asked for that
 * tasks do not have.  A task's model always keeps its live state.
 */
extern void gnngp_task_settings(gnngp_fit_settings *settings);

/* Completes the problem of a task: its kernel, blocks of time and landmarks. */
extern void gnngp_task_problem(gp_env *env, const gnngp_data *data,
							   const gnngp_fit_settings *settings,
							   gp_problem *problem);

/* Plans the fit of such a problem, which may spoil the features. */
extern gp_plan gnngp_task_plan(gp_device *device, const gnngp_data *data,
							   const gp_problem *problem);

/*
 * Fits all weightings of the columns, then without doubted columns; *forward gets what earlier
 * blocks say of the labels.
 */
extern gnngp_choice gnngp_task_fit(gnngp_computation *compute, const gnngp_data *data,
								   const gnngp_fit_settings *settings,
								   gnngp_forward *forward);

#endif							/* GNNGP_TASK_FIT_H */
