/*
 * task.h - the rows of a task: labels to learn from, and entities to predict.
 */
#ifndef GNNGP_TASK_H
#define GNNGP_TASK_H

#include "pg/schema/schema_internal.h"
#include "utils/timestamp.h"

/* A time as NOTICEs have it. */
static inline char *
gnngp_time_text(gp_time at)
{
	return pstrdup(timestamptz_to_str((TimestampTz) at));
}

/* ---- rows of a task (task_rows.c, expression_rows.c) ---- */

typedef struct gnngp_task_rows
{
	gp_env	   *env;
	const gnngp_graph_def *task;
	const gnngp_schema *schema;
	bool		texts;			/* targets are wanted as texts */
	int			entity;			/* the entities' table */
	int			id;				/* its column that is their id */
	gnngp_column id_column;		/* of which the rows' ids are */
	gnngp_table source;			/* for messages: labels, or the entities */
	gnngp_column target;
	gnngp_target_kind kind;
	List	   *read;			/* tables that an expression reads, the entities' one of them */
	/* the columns of the entities that it reads, and all that the filter reads, except times that
	 * are compared with t; by gnngp_column_key */
	List	   *read_columns;
	gnngp_labels labels;
	gp_time		newest;
	gp_time		first;			/* the first as-of time; GP_TIME_NEVER: no table has times */
	gp_time		horizon;		/* -1: not given */
	int64		n;
	int64		room;
	gnngp_task_row *row;
	bool		undated;		/* the rows of a table have no time column */
	gp_time		now;			/* labels of its later rows are from the future */
	int64		timeless;		/* rows left out for want of a time, */
	int64		infinite;		/* as of no moment, */
	int64		future;			/* as of one that has not come, */
	int64		unknown;		/* for want of an entity, */
	int64		unlabelled;		/* for an expression that is NULL there */
} gnngp_task_rows;

/*
 * Finds the entities of a task among the tables; kind NULL: its target, which is the owner's, is
 * not looked at.
 */
extern void gnngp_task_rows_open(gnngp_task_rows *rows, gp_env *env, const gnngp_schema *s,
								 const gnngp_graph_def *task, const char *kind);

/* The NOTICE of gnngp_task_check, of rows that were opened (schema_look.c). */
extern void gnngp_task_notice_later(const gnngp_task_rows *rows);

/*
 * Reads the rows, labelled and to predict, under the active snapshot; sorted: labels by id and
 * time, then the others.
 */
extern void gnngp_task_rows_read(gnngp_task_rows *rows);

/* Adds a row; the id is copied.  A target that is NULL is to be predicted. */
extern void gnngp_task_rows_add(gnngp_task_rows *rows, Datum id, gp_time as_of, Datum target,
								bool no_target);

/*
 * The type of a task's target, and the tables and columns that it reads; its text has been checked
 * (task_expression.c).
 */
extern Oid	gnngp_task_expression_type(gnngp_task_rows *rows);

/*
 * How many of the entities e that keys ask for do not pass the filter, which is the owner's code,
 * as of a time; and one of them.
 */
typedef struct gnngp_filtered
{
	const gnngp_task_rows *rows;
	gnngp_query keys;
	gp_time		as_of;
	int64		n;
	const char *one;
} gnngp_filtered;

extern void gnngp_find_filtered(gnngp_filtered *f);

/*
 * A NOTICE with the index to make, where a plan for labels reads all of a table for each of them
 * and that takes long (label_scans.c).
 */
extern void gnngp_notice_scans(SPIPlanPtr plan, const gnngp_graph_def *task, int64 labels);

/* The rows of a task that is an expression. */
extern void gnngp_expression_rows_read(gnngp_task_rows *rows);

/* Just behind the latest time of a row of any table until now; 0 where there is none. */
extern gp_time gnngp_behind_newest(const gnngp_schema *s);

/*
 * Finds the first fact, and the moment as of which a task predicts: just behind the newest fact, or
 * now where there are no times.  A NOTICE where other rows are much later.
 */
extern void gnngp_find_reach(gnngp_task_rows *rows);

#endif							/* GNNGP_TASK_H */
