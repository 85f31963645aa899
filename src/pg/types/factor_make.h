/*
 * factor_make.h - kernel factors from values.
 */
#ifndef GNNGP_FACTOR_MAKE_H
#define GNNGP_FACTOR_MAKE_H

#include "postgres.h"

#include "types.h"

/* What a factor is made of. */
typedef struct gnngp_factor_task
{
	const gnngp_graph_value *graph;
	const gnngp_table_value *features;	/* or NULL: structure only */
	const char *kernel;
	int64		landmarks;		/* 0: as many as are good */
	int64		seed;
} gnngp_factor_task;

/* The factor as a value of type gp_factor. */
extern Datum gnngp_factor_make(const gnngp_factor_task *task);

/* The threads for so many operations: 1 for little work, which starts none; 0 for those that are
 * set. */
extern int	gnngp_factor_threads(double flops);

#endif							/* GNNGP_FACTOR_MAKE_H */
