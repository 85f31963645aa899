/*
 * methods.h - kernels that are methods of their own, beside those of a Gaussian process.
 *
 * A method is a line of a table (methods.c).  Its text, which names it with its options, is
 * canonical in settings that have been checked.
 */
#ifndef GNNGP_METHODS_H
#define GNNGP_METHODS_H

#include "pg/reader/reader.h"

#define GNNGP_METHOD_GP "gp"

/*
 * The name of the method that a text is, of nodes or of links, with the options that it may have;
 * NULL for a kernel of a Gaussian process, and for auto.
 */
extern const char *gnngp_method_name(gp_env *env, const char *text);

/* True for the Gaussian process with a kernel, which is no line of the table. */
extern bool gnngp_method_is_gp(const char *method);

/*
 * Where the settings' kernel is a method's text, with the options that it may have: makes it the
 * method, its canonical text with the number of landmarks in it, and leaves the kernel auto.
 * 22023 for settings that only a Gaussian process has.
 */
extern void gnngp_method_check(gnngp_fit_settings *settings);

/* True where the kernel of a Gaussian process is to be chosen, in settings that were checked. */
extern bool gnngp_settings_choose_kernel(const gnngp_fit_settings *settings);

/* The text of both: a method's, or a kernel's. */
extern char *gnngp_settings_kernel(const gnngp_fit_settings *settings);

/* Fits by a method on the device that is set or suits its plan; the problem needs no program. */
extern gp_posterior *gnngp_method_fit(gnngp_computation *compute, gp_problem *problem,
									  const char *method);

/* What such a fit takes. */
extern gp_plan gnngp_method_plan(gp_device *device, const gp_problem *problem, const char *method);

/* Features that nodes are grouped by so many at a time. */
extern gp_features *gnngp_method_embedding(gp_device *device, const gnngp_data *data,
										   const char *method,
										   int32 clusters, int64 seed);

#endif							/* GNNGP_METHODS_H */
