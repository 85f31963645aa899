/*
 * whole_graph.h - the graph that a call has as one or several values, put together.
 */
#ifndef GNNGP_WHOLE_GRAPH_H
#define GNNGP_WHOLE_GRAPH_H

#include "postgres.h"

#include "core/graph/graph.h"
#include "utils/array.h"
#include "pg/types/types.h"

/* The graph of a call over the rows of its nodes: the one that was kept, or a new one. */
extern gp_graph *gnngp_whole_graph(ArrayType *values, const gnngp_value_ids *rows);

/* Its matrix A in a norm, in float. */
extern gp_csr *gnngp_whole_matrix(gp_norm norm);

/* Keeps it, at the end of a call. */
extern void gnngp_whole_graph_keep(void);

#endif							/* GNNGP_WHOLE_GRAPH_H */
