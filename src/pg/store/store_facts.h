/*
 * store_facts.h - what the model of a task keeps beside the rows and the live state.
 *
 * The part "facts" has how tables are encoded, how columns are scaled, and of each labelled row its
 * time, its block of time, and what earlier blocks say of it.  It tells of labels, so that no
 * grantee reads it: live answers read it as the extension's owner.
 */
#ifndef GNNGP_STORE_FACTS_H
#define GNNGP_STORE_FACTS_H

#include "postgres.h"

#include "core/facts/facts.h"
#include "pg/catalog/catalog.h"
#include "pg/reader/reader.h"

/* The same as it is read. */
typedef struct gnngp_facts_state
{
	uint64		shape;			/* of the schema */
	gp_time		horizon;
	gp_time		half_life;
	gp_time		newest;
	int			nencodings;
	gp_encoding **encoding;		/* NULL: of a table that is not read */
	gp_facts_scale scale;
	gp_facts_target target;
	int64		labelled;
	const int64 *as_of;			/* of each labelled row */
	const int32 *block;			/* NULL: there are none */
	const double *forward;		/* labelled x columns, NULL without blocks; NaN: not told */
} gnngp_facts_state;

/* Writes the part; block and forward may be NULL. */
extern void gnngp_facts_write(const gnngp_model *model, const gnngp_data *data, const int32 *block,
							  const double *forward);

/* Reads it as the present user into memory of the environment; 42809 for a model that is of no task. */
extern gnngp_facts_state *gnngp_facts_read(gp_env *env, const gnngp_model *model);

#endif							/* GNNGP_STORE_FACTS_H */
