/*
 * methods.h - methods beside the Gaussian process, which gp_fit and its like are told by name.
 *
 * A method is a line of a table (methods.c).  Its text, which names it with its options, is
 * canonical in settings that have been checked.
 */
#ifndef GNNGP_METHODS_H
#define GNNGP_METHODS_H

#include "postgres.h"

#include "fmgr.h"
#include "pg/catalog/catalog.h"
#include "pg/server/server.h"
#include "pg/reader/reader.h"

#define GNNGP_METHOD_GP "gp"

/* True for the Gaussian process with a kernel, which is no line of the table. */
extern bool gnngp_method_is_gp(const char *method);

/*
 * The canonical text of the method of settings, the number of landmarks in it: 22023 for a
 * method that there is not, and for settings that only a Gaussian process has.
 */
extern char *gnngp_method_check(const gnngp_fit_settings *settings);

/* Fits by a method on the device that is set or suits its plan; the problem needs no program. */
extern gp_posterior *gnngp_method_fit(gnngp_run *run, gp_problem *problem, const char *method);

/* What such a fit takes. */
extern gp_plan gnngp_method_plan(gp_device *device, const gp_problem *problem, const char *method);

/* Features that nodes are grouped by so many at a time. */
extern gp_features *gnngp_method_embedding(gp_device *device, const gnngp_data *data, const char *method,
										   int32 clusters, int64 seed);

#endif							/* GNNGP_METHODS_H */
