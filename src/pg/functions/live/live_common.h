/*
 * live_common.h - what the calls that answer from today's tables share.
 */
#ifndef GNNGP_LIVE_COMMON_H
#define GNNGP_LIVE_COMMON_H

#include "pg/reader/reader.h"
#include "pg/schema/schema.h"
#include "pg/store/store_live.h"
#include "core/live/live.h"
#include "pg/ids/given_ids.h"
#include "pg/ids/idmap.h"

/* A call. */
typedef struct gnngp_live_call
{
	FunctionCallInfo fcinfo;
	gnngp_result *result;
	int			guc_level;		/* on which output settings are pinned */
	gnngp_model *model;
	gnngp_live *live;
	gnngp_graph_def *graph;
	gp_live_scalars scalars;
	gp_env	   *env;
	gnngp_id_type id_type;
	int32		top;
	bool		everything;		/* all nodes are read */
	gnngp_given_ids nodes;
	gnngp_numbered numbered;	/* the nodes, and then the others that are wanted */
	gnngp_given_ids given;
	gp_live_label *label;		/* of each node that is given */
	/* the nodes asked for, then those that are given and not among them */
	int64		nwanted;
	gnngp_id *wanted;
	gp_metapath_terms *terms;		/* of a task without time: what its answers add up */
} gnngp_live_call;

/*
 * Looks up the model, its graph and its live state, and prepares for rows; owner_only: 42501 first
 * of all for who is not its owner.
 */
extern void gnngp_live_call_open(gnngp_live_call *c, FunctionCallInfo fcinfo, bool owner_only);

/* Takes the nodes that the second argument names: 22004 for none, 22023 for one twice. */
extern void gnngp_live_call_nodes(gnngp_live_call *c);

/* The same of any argument, of which NULL means all nodes. */
extern void gnngp_live_call_read_nodes(gnngp_live_call *c, int argno, const char *argument);

/* Numbers the ids of an argument from 0 on: 22023 for one that stands there twice. */
extern gnngp_numbered gnngp_live_call_number(const gnngp_live_call *c, const gnngp_given_ids *ids,
											 const char *argument);

/* Reads the neighbourhood of what is wanted; the question of the nodes. */
extern gp_live_question gnngp_live_call_read(gnngp_live_call *c, gnngp_neighbourhood **some);

extern gp_device *gnngp_live_call_device(const gnngp_live_call *c);

/* predict_live.c: the most probable class of the first node, as gp_predict_live tells it. */
extern int32 gnngp_live_best_class(const gnngp_live_call *c, const gp_live_answer *a);

/* Ends a call that went well. */
extern void gnngp_live_call_close(gnngp_live_call *c);

/* ---- models of tasks (task_live.c) ---- */

/*
 * The argument as_of, or what is usual where it is NULL: 22023 for the model of a graph, 22008
 * unless it is finite.
 */
extern gp_time gnngp_as_of_argument(const gnngp_live_call *c, int argno, gp_time usual);

/*
 * The question of the call's nodes as of a time (GNNGP_AS_OF_NOW); nodes that are not there yet
 * are taken from the call's list.  Terms are kept beside their sum for who explains them.
 */
extern gp_live_question gnngp_task_question(gnngp_live_call *c, gp_time as_of, bool keeps_terms);

/* Rows of columns by sums of its terms, which are spoilt. */
extern gp_features *gnngp_task_sums(gnngp_live_call *c, double *sum, int64 rows);

/* Has a question ask about rows of columns, which belong to no graph. */
extern void gnngp_task_ask_rows(gnngp_live_call *c, gp_live_question *q, gp_features *rows);

#endif							/* GNNGP_LIVE_COMMON_H */
