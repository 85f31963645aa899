/*
 * call.h - the SQL functions: what those that fit a model share.
 *
 * Each family of functions has a file.  A call checks its arguments and who asks
 * before it reads anything, has the core compute and stores or returns rows.
 * Nothing includes this floor.
 */
#ifndef GNNGP_CALL_H
#define GNNGP_CALL_H

#include "postgres.h"

#include "core/infer/infer.h"
#include "pg/catalog/catalog.h"
#include "pg/read/read.h"

/* What the core starts from; settings have been checked. */
extern void gnngp_problem_init(gp_problem *problem, const gnngp_data *data,
							   const gp_program *program, const gnngp_fit_settings *settings);

/* Settings as they are when nothing is said. */
extern gnngp_fit_settings gnngp_fit_settings_default(void);

/* Checks and normalises settings in place: 22023 names what is out of range. */
extern void gnngp_fit_settings_check(gnngp_fit_settings *settings);

#endif							/* GNNGP_CALL_H */
