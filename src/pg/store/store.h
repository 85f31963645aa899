/*
 * store.h - a model's numbers in packed blocks of the table gp_block (store_blocks.h).
 *
 * Some sections (gp_block.part) hold rows that are looked up by the key of a node (store_rows.h):
 * "node", "loo" and "link_best".  The others are lists of arrays (store_arrays.h).
 */
#ifndef GNNGP_STORE_H
#define GNNGP_STORE_H

#include "core/fit/fit.h"
#include "pg/ids/given_ids.h"
#include "pg/reader/reader.h"
#include "pg/schema/schema.h"

/* A block of rows that has been read and validated; valid as long as its rows are received. */
typedef struct gnngp_block
{
	const gnngp_model *model;
	const char *data;
	size_t		length;
	uint32		flags;
	int32		nrows;
	int32		first;			/* the number of its first row in the section */
	bool		text_ids;
	size_t		stride;			/* of a row */
	const char *rows;
	const char *texts;			/* the ids' texts, one after the other */
	size_t		texts_length;
	/* of the sections "node" and "loo" */
	int32		nclasses;		/* 0 for values */
	bool		has_targets;
	const char *shares;			/* of the classes among the labels; NULL for values */
	gp_calibrator calibrator;	/* without its biases */
	const char *biases;			/* of the classes */
	/* of the section "link_best" */
	int32		npairs;
	bool		directed;
	const char *pairs;
} gnngp_block;

/* One node as stored. */
typedef struct gnngp_node_row
{
	gnngp_id	id;
	int64		number;			/* of the row in its section */
	bool		labelled;
	bool		is_prior;		/* had no kernel: probabilities are the class shares */
	double		variance;
	double		log_partition;	/* log sum exp(logit) */
	double		value;			/* values: the posterior mean */
	double		target;			/* of a labelled node in the section "loo": its class, or its value */
	const char *scores;			/* classes: float4, the most probable class first */
	const char *order;			/* classes: uint16 class numbers in that order */
} gnngp_node_row;

/* Receives row i of a block, and the place of its id among those given (0 where all are). */
typedef void (*gnngp_stored_row_fn) (void *state, const gnngp_block *block, int32 i, int64 place);

/*
 * Writes what a fit gives under (model->id, model->version): the section "node", all nodes;
 * "loo", the labelled ones as all others see them, which only the owner may read; and
 * "figure", the figures of the whole.
 */
extern void gnngp_store_posterior(const gnngp_model *model, const gnngp_data *data,
								  const gp_posterior *posterior);

/* Deletes every block of the model but those of its present versions, of nodes and of links. */
extern void gnngp_store_drop_versions(const gnngp_model *model);

/* XX001: a block of the model is not what was written. */
pg_noreturn extern void gnngp_store_corrupted(const gnngp_model *model, const char *what);

/* Reads the rows of the section "node" or "loo" that have given ids, sorted, under the active
 * snapshot. */
extern void gnngp_store_read(const gnngp_model *model, const char *section,
							 const gnngp_given_ids *given, gnngp_stored_row_fn row, void *state);

/* The figures of a whole fit. */
typedef struct gnngp_figures
{
	double		metric[GP_METRICS]; /* NaN: not a figure of the task */
	double		least;			/* below which no value is predicted */
	int64		n;
	double	   *score;			/* as in gp_loo; palloc'd */
	int32	   *class;			/* of each score */
} gnngp_figures;

/* Reads the section "figure". */
extern void gnngp_figures_read(const gnngp_model *model, gnngp_figures *figures);

/* Writes it; called by gnngp_store_posterior, inside SPI that the caller has connected. */
extern void gnngp_figures_write(const gnngp_model *model, const gp_posterior *posterior);

/*
 * ---- what the model of a task keeps of its facts (store_facts.c) ----
 *
 * The section "facts" has how tables are encoded, how columns are scaled, the time of each labelled
 * row, and the figures of each block of time.  It holds labels, so that no grantee reads it:
 * live answers read it as the extension's owner.
 */

/* Writes the section. */
extern void gnngp_facts_write(const gnngp_model *model, const gnngp_data *data,
							  gnngp_forward forward);

/* Reads it as the present user into memory of the environment; 42809 for a model that is of no
 * task. */
extern gnngp_task_state *gnngp_facts_read(gp_env *env, const gnngp_model *model);

/*
 * ---- classes of a node in order ----
 *
 * The most probable comes first, then that of the largest share, then by class.
 */
typedef struct gnngp_class_order
{
	gp_calibrator calibrator;
	const double *share;		/* of each class among the labels */
	int32		n;
	uint16	   *rank_of;		/* of each class, by falling share, then class */
	uint16	   *class_at;		/* the class of each such rank */
	uint64	   *key;			/* what the classes of a node are sorted by */
	double	   *logit;			/* of each class, for the node at hand */
	double		log_partition;	/* log sum exp(logit) */
	bool		prior;
} gnngp_class_order;

extern gnngp_class_order gnngp_class_order_open(gp_calibrator calibrator, int32 n,
												const double *share);

/* Orders by the means of a node, as floats, which a fit stores; with prior by their shares. */
extern void gnngp_order_classes(gnngp_class_order *o, const double *mean, double variance,
								bool prior);

/* The k-th class of the node that was ordered last. */
static inline uint16
gnngp_class_at(const gnngp_class_order *o, int32 k)
{
	return o->class_at[o->key[k] & 0xffff];
}

extern double gnngp_class_probability(const gnngp_class_order *o, int32 class);

extern void gnngp_block_row(const gnngp_block *block, int32 i, gnngp_node_row *row);

/* The probability of the k-th best class of a row. */
extern double gnngp_row_probability(const gnngp_block *block, const gnngp_node_row *row, int32 k);

/* The k-th best class of a row, and its score. */
static inline uint16
gnngp_row_class(const gnngp_node_row *row, int32 k)
{
	return gnngp_get16(row->order + (size_t) k * sizeof(uint16));
}

static inline float
gnngp_row_score(const gnngp_node_row *row, int32 k)
{
	return gnngp_get_float4(row->scores + (size_t) k * sizeof(float));
}

#endif							/* GNNGP_STORE_H */
