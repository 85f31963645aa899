/*
 * fit_links.h - the link part of a fit.
 */
#ifndef GNNGP_FIT_LINKS_H
#define GNNGP_FIT_LINKS_H

#include "core/links/links.h"
#include "pg/reader/reader.h"

#define GNNGP_LINK_KERNEL "gcn"	/* what is used where the user names none */

/* The settings among gp_fit_links's arguments, checked. */
extern gnngp_link_settings gnngp_link_settings_argument(FunctionCallInfo fcinfo);

/* Checks and normalises settings in place: 22023 names what is out of range. */
extern void gnngp_link_settings_check(gnngp_link_settings *settings);

/* True for a text that names a method of links; the name of one. */
extern bool gnngp_link_has_method(gp_env *env, const char *text);
extern const char *gnngp_link_method_name(gp_link_method method);

/* What a fit of the links of what has been read would take, and what it keeps; its method. */
extern gp_plan gnngp_link_estimate(gp_device *device, const gnngp_data *data,
								   const gnngp_link_settings *settings,
								   size_t limit, gp_link_method *method);

/*
 * Fits the links of what has been read; memory of the run's environment.  *card: the device, where
 * another than the run's was chosen.
 */
extern gp_link_model *gnngp_link_compute(gnngp_computation *compute, const gnngp_data *data,
										 const gnngp_link_settings *settings, gp_device **card);

/* The best pairs of every node, as many as the settings ask for; likewise. */
extern gp_link_kept gnngp_link_keep(gp_device *device, const gp_link_model *links,
									const gnngp_link_settings *settings);

/* Fills all but time and memory; texts are those of the data and the settings. */
extern void gnngp_link_fill(const gp_link_model *links, const gnngp_data *data,
							const gnngp_link_settings *settings, gnngp_link_part *part);

/*
 * The model as questions about its links see it: its ids are those of the link part; 55000 without
 * one.
 */
extern gnngp_model *gnngp_link_view(gnngp_model *model);

#endif							/* GNNGP_FIT_LINKS_H */
