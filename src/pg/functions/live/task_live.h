/*
 * task_live.h - live answers of the model of a task.
 */
#ifndef GNNGP_TASK_LIVE_H
#define GNNGP_TASK_LIVE_H

#include "postgres.h"

#include "live_common.h"
#include "pg/schema/schema.h"

/*
 * The question of the call's nodes as of a time (GP_TIME_NEVER: now); nodes that are not there yet are
 * taken from the call's list.
 */
extern gp_live_question gnngp_task_question(gnngp_live_call *c, gp_time as_of);

#endif							/* GNNGP_TASK_LIVE_H */
