/*
 * fit_facts.h - the fit of a task: one layer over the columns that its facts give.
 */
#ifndef GNNGP_FIT_FACTS_H
#define GNNGP_FIT_FACTS_H

#include "auto_kernel.h"

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

/*
 * Fits both weightings of the columns; *block gets the block of time of each labelled row, or
 * NULL.
 */
extern gnngp_choice gnngp_fit_facts(gnngp_computation *compute, const gnngp_data *data,
									const gnngp_fit_settings *settings,
									const int32 **block);

#endif							/* GNNGP_FIT_FACTS_H */
