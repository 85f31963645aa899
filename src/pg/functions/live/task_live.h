/*
 * task_live.h - live answers of the model of a task.
 */
#ifndef GNNGP_TASK_LIVE_H
#define GNNGP_TASK_LIVE_H

#include "postgres.h"

#include "live_common.h"
#include "pg/schema/schema.h"

/*
 * The question of the call's nodes as of a time (GP_TIME_NEVER: now); nodes that are not there yet
 * are taken from the call's list.
 */
extern gp_live_question gnngp_task_question(gnngp_live_call *c, gp_time as_of);

/* Has a question ask about rows of columns, which belong to no graph. */
extern void gnngp_task_ask_rows(gnngp_live_call *c, gp_live_question *q, gp_features *rows);

/* What a block of columns adds to a score. */
typedef struct gnngp_task_share
{
	const char *relation;
	const char *aggregate;
	double		share;
} gnngp_task_share;

/*
 * Which blocks make the score of the call's one node as of the newest fact, or of a column as of
 * its row's time: all blocks, the largest share first; with what there is without any block they
 * add up to the score.  column_of chooses the column by the answer (explain_task.c).
 */
extern void gnngp_task_explain(gnngp_live_call *c,
							   int32 (*column_of) (const gnngp_live_call *c,
												   const gp_live_answer *a),
							   int32 *column, gnngp_task_share **shares, double *score);

#endif							/* GNNGP_TASK_LIVE_H */
