/*
 * facts_internal.h - what the files of this folder share.
 */
#ifndef GP_FACTS_INTERNAL_H
#define GP_FACTS_INTERNAL_H

#include "facts.h"

/* ---- columns of rows (task_columns.c) ---- */

typedef struct gp_column_group
{
	char		relation[GP_FACTS_NAME];
	char		aggregate[GP_FACTS_NAME];
	int32_t		first;
	int32_t		width;
	bool		changes;		/* one of GP_FACTS_OF_CHANGES */
} gp_column_group;

/* A relation's groups stand one after the other, in the order of gp_facts_aggregate. */
typedef struct gp_relation
{
	gp_aggregates a;
	int32_t		width;			/* of its facts, */
	int32_t		states;			/* whose numbers are aggregated by so many states, */
	int32_t		each;			/* of so many numbers */
	int32_t		first;			/* of its columns */
	int32_t		columns;		/* of all its aggregates */
	int32_t		meta;			/* the first of its counts and ages */
	const gp_time *as_of;		/* rows see what is visible before these */
} gp_relation;

struct gp_task_columns
{
	gp_env	   *env;
	int64_t		rows;
	const gp_time *as_of;
	int32_t		width;
	int32_t		ngroups;
	int32_t		nrelations;
	gp_column_group *group;
	gp_relation *relation;
	/* rows x width; NaN: an age without facts.  NULL before the first is filled */
	float	   *column;
};

/* The columns of a row, behind it those of the next; they are made at the first use. */
extern float *gp_task_columns_row(gp_task_columns *columns, int64_t row);

#define GP_META_COLUMNS 5

/* The columns that an aggregate of facts of this width has. */
extern int32_t gp_aggregate_width(gp_facts_aggregate which, int32_t width);

#endif							/* GP_FACTS_INTERNAL_H */
