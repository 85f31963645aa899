/*
 * store_links.h - the link part of a model in packed blocks of the table gp_block.
 *
 * The part "link" is a list of arrays, one after the other: those that the core
 * names, and the ids of the nodes.  Each is cut into blocks of about 256 kB.
 */
#ifndef GNNGP_STORE_LINKS_H
#define GNNGP_STORE_LINKS_H

#include "postgres.h"

#include "core/link/link.h"
#include "pg/catalog/catalog.h"
#include "pg/read/read.h"

/* The ids of the nodes as stored, in node order. */
typedef struct gnngp_link_ids
{
	int64		n;
	const int64 *key;			/* ascending */
	const int64 *text_end;		/* NULL for integer ids: where each text ends */
	const char *text;
} gnngp_link_ids;

/* Writes the link part under (model->id, model->link.version). */
extern void gnngp_link_store_write(const gnngp_model *model, const gnngp_ids *ids,
								   const gp_link_model *links);

/*
 * Reads it under the active snapshot; memory of the environment.  XX001 when it
 * is not what was written.
 */
extern gp_link_model *gnngp_link_store_read(gp_env *env, const gnngp_model *model,
											gnngp_link_ids *ids);

#endif							/* GNNGP_STORE_LINKS_H */
