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

/* Facts that are aggregated.  Their groups stand in the order of gp_aggregate_table. */
typedef struct gp_aggregated
{
	gp_aggregates asked;
	int32_t		width;			/* numbers of a fact, */
	int32_t		states;			/* aggregated by so many states, */
	int32_t		each;			/* of so many numbers */
	int32_t		first;			/* the first of their columns */
	int32_t		columns;		/* how many: of all aggregates */
	int32_t		meta;			/* the first of their counts and ages */
	const gp_time *as_of;		/* rows see what is visible before these */
} gp_aggregated;

struct gp_task_columns
{
	gp_env	   *env;
	int64_t		rows;
	const gp_time *as_of;
	int32_t		width;
	int32_t		ngroups;
	int32_t		naggregated;
	gp_column_group *group;
	gp_aggregated *aggregated;
	/* rows x width; NaN: an age without facts.  NULL before the first is filled */
	float	   *column;
};

/* A row of a task, or a label, in the order in which facts and rows of a key meet. */
typedef struct gp_keyed_time
{
	int32_t		key;
	gp_time		time;
	int64_t		row;
} gp_keyed_time;

/* Sorts these by key, then time, then row (scan.c). */
extern void gp_sort_keyed(gp_env *env, gp_keyed_time *t, int64_t n);

/* The columns of a row, behind it those of the next; they are made at the first use. */
extern float *gp_task_columns_row(gp_task_columns *columns, int64_t row);

/* ---- aggregates of facts (aggregates.c) ---- */

/* Facts of one time. */
typedef struct gp_tie
{
	int64_t		count;
	double	   *sum;			/* each */
	double	   *square;
} gp_tie;

/* The state of one key: of all numbers of its facts, or of one by itself. */
typedef struct gp_running
{
	int64_t		count;
	gp_time		first;
	gp_time		last;
	double		weight;			/* of all facts, halved by half-lives */
	double	   *decayed;		/* their sums, halved, too, */
	double	   *sum;			/* and not */
	double		quick;			/* the weight of all facts with a quarter of the half-life, */
	double		lately;			/* and their sum, of numbers apart */
	gp_tie	   *tie;			/* a ring, with room for the last facts, */
	int32_t		newest;			/* and its last */
} gp_running;

/* Adds the numbers of a fact that a state is of. */
extern void gp_running_add(const gp_aggregated *a, gp_running *s, gp_time visible,
						   const double *value);

#define GP_META_COLUMNS 5		/* of counts and ages */
#define GP_AGGREGATES 10

typedef struct gp_aggregate
{
	gp_facts_aggregate which;
	const char *name;
	int32_t		width;			/* columns of a state; 0: one for each of its numbers */
	/* Writes these, as of a time; out has room for twice as many. */
	void		(*put) (const gp_aggregated *a, const gp_running *s, gp_time t, double *out);
} gp_aggregate;

extern const gp_aggregate gp_aggregate_table[GP_AGGREGATES];

/* The columns of a state of so many numbers. */
static inline int32_t
gp_aggregate_width(const gp_aggregate *aggregate, int32_t each)
{
	return aggregate->width > 0 ? aggregate->width : each;
}

#endif							/* GP_FACTS_INTERNAL_H */
