/*
 * parts.h - a fit whose factor lies in tables: strategy sql.
 *
 * Where nodes times landmarks is more than a server's memory, the factor is cut into parts that are
 * rows of tables, and each step of the kernel is a statement over them (parts_steps.c).
 */
#ifndef GNNGP_PARTS_H
#define GNNGP_PARTS_H

#include "postgres.h"

#include "pg/catalog/catalog.h"
#include "pg/reader/reader.h"

/* True for settings with strategy sql. */
extern bool gnngp_fits_in_parts(const gnngp_fit_settings *settings);

/* What such a fit gives; data has ids, targets and counts, but no edges and no features. */
typedef struct gnngp_parts_fit
{
	gnngp_data *data;
	gp_posterior *posterior;
	const char *kernel;			/* NULL: that of the settings */
	const char *device;
	Oid			predictions;	/* the table that those of all nodes are in; InvalidOid: in the posterior */
} gnngp_parts_fit;

/*
 * Reads the tables of a graph and fits, as its owner and within the transaction; writes nothing that stays but the table of
 * predictions of a model of this name, and, where keep is a model that is refreshed, its packed edges.
 */
extern gnngp_parts_fit gnngp_fit_in_parts(gp_env *env, const gnngp_graph_def *graph, const gnngp_fit_settings *settings,
										  const char *model_name, const gnngp_model *keep);

/* What one would take. */
typedef struct gnngp_parts_plan
{
	double		bytes;			/* the most that one task holds */
	double		written;		/* bytes of tables */
	double		shuffled;		/* of them that change their place */
	double		flops;
	int64		parts;
	int			statements;
} gnngp_parts_plan;

extern gnngp_parts_plan gnngp_plan_in_parts(gp_env *env, const gnngp_graph_def *graph, const gnngp_fit_settings *settings);

#endif							/* GNNGP_PARTS_H */
