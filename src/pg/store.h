/*
 * store.h - a model's numbers in packed blocks of the table gp_block.
 *
 * A block is keyed (model, version, part, block), holds at most 1 MB, and
 * begins with a version mark, its length and a checksum, which are validated on
 * reading (XX001 data_corrupted otherwise).  Blocks of the part "node" hold
 * consecutive nodes in key order; the row also tells the first key, so that one
 * node is found by one index look-up.
 */
#ifndef GNNGP_STORE_H
#define GNNGP_STORE_H

#include "postgres.h"

#include "catalog.h"
#include "reader.h"

/* One node as stored; class_order and score are parallel, best first. */
typedef struct gnngp_node_row
{
	int64		key;
	const char *id_text;		/* NULL for integer ids; not 0-terminated: id_length bytes */
	int			id_length;
	bool		labelled;
	bool		is_prior;		/* had no kernel: probabilities are the class shares */
	double		variance;
	double		log_partition;	/* log sum exp(temperature * mean) */
	double		value;			/* regression: the posterior mean */
	const uint16 *class_order;	/* classes; unaligned data is copied by the reader */
	const float *score;
} gnngp_node_row;

/* Writes all nodes of a fit under (model->id, model->version). */
extern void gnngp_store_posterior(const gnngp_model *model, const gnngp_data *data,
								  const gp_posterior *posterior);

/* Deletes every block of the model but those of keep_version. */
extern void gnngp_store_drop_versions(int64 model_id, int64 keep_version);

#endif							/* GNNGP_STORE_H */
