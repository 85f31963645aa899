/*
 * store_links.h - the link part of a model in packed blocks of the table gp_block.
 *
 * The part "link" is what predictions need; "link_loo" the pairs that the fit held out, which
 * only the owner may read; "link_figure" what is said of the whole.
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

/* Writes the pairs that a fit held out; the ids are those of all nodes. */
extern void gnngp_held_store_write(const gnngp_model *model, const gnngp_ids *all, const gp_link_held *held);

/*
 * Reads them: row and linked, whose ends are places in ids.  False where the version that
 * fitted the model stored none.
 */
extern bool gnngp_held_store_read(gp_env *env, const gnngp_model *model, gnngp_link_ids *ids,
								  gp_link_held *held);

/* Writes the figures of a link model, and reads them: false where the version that fitted it stored none. */
extern void gnngp_link_figures_write(const gnngp_model *model, const double *metric);
extern bool gnngp_link_figures_read(const gnngp_model *model, double *metric);

#endif							/* GNNGP_STORE_LINKS_H */
