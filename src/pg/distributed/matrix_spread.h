/*
 * matrix_spread.h - what functions of a whole graph share: bounds of parts.
 */
#ifndef GNNGP_MATRIX_SPREAD_H
#define GNNGP_MATRIX_SPREAD_H

#include "postgres.h"

#include "utils/array.h"
#include "pg/types/types.h"

/* 22023 for bounds that do not ascend. */
extern void gnngp_check_bounds(ArrayType *array);

#endif							/* GNNGP_MATRIX_SPREAD_H */
