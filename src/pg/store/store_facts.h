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
#include "pg/schema/schema.h"

/* Writes the part; block and forward may be NULL. */
extern void gnngp_facts_write(const gnngp_model *model, const gnngp_data *data, const int32 *block,
							  const double *forward);

/* Reads it as the present user into memory of the environment; 42809 for a model that is of no task. */
extern gnngp_task_state *gnngp_facts_read(gp_env *env, const gnngp_model *model);

#endif							/* GNNGP_STORE_FACTS_H */
