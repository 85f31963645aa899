/*
 * functions.h - the SQL functions: what those that fit a model share (fit/fit_settings.c).
 *
 * Each family of functions has a file.  A call checks its arguments and who asks before it reads
 * anything, has the core compute and stores or returns rows.
 */
#ifndef GNNGP_FUNCTIONS_H
#define GNNGP_FUNCTIONS_H

#include "core/fit/fit.h"
#include "pg/reader/reader.h"

/*
 * Makes what was read for a fit with few nodes and a live state double: single precision rounds by
 * the number of rows, and a live answer reads few.
 */
extern void gnngp_fit_set_precision(gp_env *env, gnngp_data *data,
									const gnngp_fit_settings *settings);

/* What the core starts from, without a program; settings have been checked. */
extern void gnngp_problem_init(gp_problem *problem, const gnngp_data *data,
							   const gnngp_fit_settings *settings);

/* Settings as they are when nothing is said. */
extern gnngp_fit_settings gnngp_fit_settings_default(void);

/* Checks and normalises settings in place: 22023 names what is out of range. */
extern void gnngp_fit_settings_check(gnngp_fit_settings *settings);

/* A nugget argument: NaN when NULL; -1, which is refused, for NaN. */
extern double gnngp_nugget_argument(FunctionCallInfo fcinfo, int argno);

/* 22023 unless a nugget is NaN, which has it chosen, or positive and finite. */
extern void gnngp_check_nugget(double nugget);

#endif							/* GNNGP_FUNCTIONS_H */
