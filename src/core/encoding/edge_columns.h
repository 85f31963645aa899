/*
 * edge_columns.h - columns of edges as features of the nodes at their ends.
 *
 * Each node gets, of the edges that leave it and of those that lead to it (of undirected ones: of
 * all that it has), their number, and of each column the sum, the mean and the largest value, or of
 * a time the age of the newest one.  These are numbers like those of a node's own columns, and are
 * encoded as such (encoding.h): skewed ones by their logarithm, without an edge as NULL.
 */
#ifndef GP_EDGE_COLUMNS_H
#define GP_EDGE_COLUMNS_H

#include "graph/graph.h"

typedef struct gp_edge_columns gp_edge_columns;

/* is_time, of each column, is copied. */
extern gp_edge_columns *gp_edge_columns_create(gp_env *env, int64_t nodes, bool directed,
											   int32_t columns, const bool *is_time);

/* Adds an edge; NaN is NULL, and so is what is infinite.  The order of edges does not matter. */
extern void gp_edge_columns_add(gp_edge_columns *e, int32_t src, int32_t dst, const double *value);

/*
 * The features of the nodes with these behind them, which take their place; NULL for own: none.
 * Columns that are the same for all nodes are left out.  numbers: how many there are of each column
 * of the edges, and last of the number of edges.  Ends the adding.
 */
extern gp_features *gp_edge_columns_join(gp_edge_columns *e, gp_features *own, gp_type type,
										 int32_t *numbers);

#endif							/* GP_EDGE_COLUMNS_H */
