/*
 * store_predictions.h - rows of a model's table of predictions.
 */
#ifndef GNNGP_STORE_PREDICTIONS_H
#define GNNGP_STORE_PREDICTIONS_H

#include "postgres.h"

#include "store.h"

#define TABLE_TARGET (4 * 1024 * 1024)	/* bytes of rows from which they are inserted */

/* Inserts the rows of a block, as the model's owner, inside SPI. */
extern void gnngp_predictions_insert(const gnngp_model *model, const char *table, const gnngp_block *block);

#endif							/* GNNGP_STORE_PREDICTIONS_H */
