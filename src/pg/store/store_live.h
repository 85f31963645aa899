/*
 * store_live.h - what a fit leaves for later: the live state of a model, which rows are evaluated
 * against, and what a training left, where a refresh starts from.
 *
 * The part "live" has the pieces that the core keeps (core/kernel/live/live_state.h), and the
 * ids of all nodes of the fit.  It tells the labels, so that no grantee reads it: it is read as the
 * extension's owner, for a caller who may see the model.  The part "warm" has
 * parameters, which tell of features and labels: only the owner reads them.
 */
#ifndef GNNGP_STORE_LIVE_H
#define GNNGP_STORE_LIVE_H

#include "core/live/live.h"
#include "core/kernel/live/live_state.h"
#include "core/train/train.h"
#include "pg/reader/reader.h"
#include "store_links.h"

/* A hash of what of a graph's definition says how its rows are to be read. */
extern uint64 gnngp_graph_shape(const gnngp_graph_def *graph);

/* Writes the part. */
extern void gnngp_live_write(const gnngp_model *model, const gnngp_ids *ids, uint64 shape,
							 const gp_live_state *state);

/* A live state, opened. */
typedef struct gnngp_live
{
	gp_env	   *env;
	gp_live_state *state;
	gnngp_ids ids;			/* of a task those of the labelled rows */
	struct gnngp_task_state *task;	/* of a task; else NULL */
	uint64		shape;
	gnngp_kept_key key;			/* when it was fitted, too: versions repeat after a rollback */
} gnngp_live;

/* The live state of a model, read or taken from what is kept; 55000 for a model without one. */
extern gnngp_live *gnngp_live_open(const gnngp_model *model);

/* Ends a use that went well: keeps the state for the next one, or frees it.  After an error its
 * context does. */
extern void gnngp_live_close(gnngp_live *live);

/* ---- what a training left (store_warm.c) ---- */

/* What must not differ between two trainings of a model: how the graph is read, and the classes
 * (none: 0). */
extern uint64 gnngp_warm_like(uint64 graph_shape, int32 nclasses, char *const *class_label);

/* Writes the part. */
extern void gnngp_warm_write(const gnngp_model *model, uint64 like, const gp_warm *warm);

/*
 * Reads it under the active snapshot, into memory of the environment; NULL where there is none.
 * Where it was left for something unlike a NOTICE says so, and it is NULL, too.  XX001 for numbers
 * that do not fit together.
 */
extern gp_warm *gnngp_warm_read(gp_env *env, const gnngp_model *model, uint64 like);

#endif							/* GNNGP_STORE_LIVE_H */
