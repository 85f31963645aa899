/*
 * matrix_spread.h - what functions of a whole graph share: its edges put together, and rows in parts.
 */
#ifndef GNNGP_MATRIX_SPREAD_H
#define GNNGP_MATRIX_SPREAD_H

#include "postgres.h"

#include "core/graph/graph.h"
#include "utils/array.h"
#include "value.h"

/* The graph of a call over the rows of its nodes, which is kept until another one is asked for or the query ends. */
extern gp_graph *gnngp_whole_graph(FmgrInfo *call, ArrayType *values, const gnngp_value_ids *rows);

/* 22023 for bounds that do not ascend. */
extern void gnngp_check_bounds(ArrayType *array);

/* The rows of part k, the first of which is known: up to the first id that is not below its bound. */
extern int64 gnngp_rows_of_part(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n, int k);

#endif							/* GNNGP_MATRIX_SPREAD_H */
