/*
 * store_live.h - what a fit leaves for later: the live state of a model, which rows are evaluated
 * against.
 *
 * The section "live" has the pieces that the core keeps (core/kernel/live/live_state.h), and the
 * ids of all nodes of the fit.  It tells the labels, so that no grantee reads it: it is read as the
 * extension's owner, for a caller who may see the model.
 */
#ifndef GNNGP_STORE_LIVE_H
#define GNNGP_STORE_LIVE_H

#include "core/live/live.h"
#include "core/kernel/live/live_state.h"
#include "pg/reader/reader.h"
#include "store_links.h"

/* A hash of what of a graph's definition says how its rows are to be read. */
extern uint64 gnngp_graph_shape(const gnngp_graph_def *graph);

extern void gnngp_live_write(const gnngp_model *model, const gnngp_ids *ids, uint64 shape,
							 const gp_live_state *state);

/* A live state, opened. */
typedef struct gnngp_live
{
	gp_env	   *env;
	gp_live_state *state;
	gnngp_ids ids;				/* of a task those of the labelled rows */
	struct gnngp_task_state *task;	/* of a task; else NULL */
	uint64		shape;
	gnngp_kept_key key;			/* when it was fitted, too: versions repeat after a rollback */
} gnngp_live;

/* The live state of a model, read or taken from what is kept; 55000 for a model without one. */
extern gnngp_live *gnngp_live_open(const gnngp_model *model);

/* Ends a use that went well: keeps the state for the next one, or frees it.  After an error its
 * context does. */
extern void gnngp_live_close(gnngp_live *live);

#endif							/* GNNGP_STORE_LIVE_H */
