/*
 * aggregate_state.h - states of aggregates that are expanded objects.
 */
#ifndef GNNGP_AGGREGATE_STATE_H
#define GNNGP_AGGREGATE_STATE_H

#include "postgres.h"

#include "edge_list.h"
#include "fmgr.h"
#include "utils/expandeddatum.h"

/* What gp_graph and gp_factor collect: a gp_graph_state. */
typedef struct gnngp_graph_state
{
	ExpandedObjectHeader header;
	gnngp_edge_list list;
	char	   *kernel;			/* of gp_factor; NULL for gp_graph */
	Size		kernel_length;
	int64		landmarks;		/* 0: as many as are good */
	struct varlena *flat;		/* between the two steps of flattening */
} gnngp_graph_state;

/* The context of the states of an aggregate; an error outside of one. */
extern MemoryContext gnngp_aggregate_context(FunctionCallInfo fcinfo, const char *aggregate);

/* 22004 for an input that is NULL. */
extern void gnngp_aggregate_null(const char *argument) pg_attribute_noreturn();

/* The state for one more row: the one there is, or a new one. */
extern gnngp_graph_state *gnngp_graph_state_argument(FunctionCallInfo fcinfo, const char *aggregate,
													 bool weighted);

/* The state that a final function gets. */
extern gnngp_graph_state *gnngp_graph_state_final(FunctionCallInfo fcinfo);

/* Adds a row of arguments src, dst and, where the state has weights, weight. */
extern void gnngp_graph_state_add(FunctionCallInfo fcinfo, gnngp_graph_state *state);

#endif							/* GNNGP_AGGREGATE_STATE_H */
