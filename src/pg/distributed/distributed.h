/*
 * distributed.h - strategy sql: a fit whose low-rank factor lies in tables.
 *
 * Where nodes times landmarks is more than a server's memory, the factor is cut into chunks of
 * rows, which are rows of working tables, and each step of the kernel is a statement over them. The
 * tables are partitions of this server, or distributed by Citus; they are gone when the fit ends.
 */
#ifndef GNNGP_DISTRIBUTED_H
#define GNNGP_DISTRIBUTED_H

#include "pg/reader/reader.h"

/* True for settings with strategy sql. */
extern bool gnngp_is_distributed(const gnngp_fit_settings *settings);

/* What such a fit gives; data has ids, targets and counts, but no edges and no features. */
typedef struct gnngp_distributed_fit
{
	gnngp_data *data;
	gp_posterior *posterior;
	const char *device;
} gnngp_distributed_fit;

/*
 * Reads the tables of a graph and fits, as the graph's owner and within the transaction.
 * 0A000 for kernels and graphs that are not fitted so.
 */
extern gnngp_distributed_fit gnngp_fit_distributed(gp_env *env, const gnngp_graph_def *graph,
												   const gnngp_fit_settings *settings);

/* What one would take. */
typedef struct gnngp_distributed_plan
{
	double		bytes;			/* the most that one process holds */
	double		written;		/* bytes of tables */
	double		shuffled;		/* of them that change their place */
	double		flops;
	int64		chunks;
	int			statements;
} gnngp_distributed_plan;

extern gnngp_distributed_plan gnngp_plan_distributed(gp_env *env, const gnngp_graph_def *graph,
													 const gnngp_fit_settings *settings);

#endif							/* GNNGP_DISTRIBUTED_H */
