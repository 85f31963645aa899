/*
 * matrix_spread.h - what functions of a whole graph share: rows in parts.
 */
#ifndef GNNGP_MATRIX_SPREAD_H
#define GNNGP_MATRIX_SPREAD_H

#include "postgres.h"

#include "utils/array.h"
#include "value.h"

/* 22023 for bounds that do not ascend. */
extern void gnngp_check_bounds(ArrayType *array);

/* The rows of part k, the first of which is known: up to the first id that is not below its bound. */
extern int64 gnngp_rows_of_part(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n, int k);

#endif							/* GNNGP_MATRIX_SPREAD_H */
