/*
 * store_links.h - the link part of a model in packed blocks of the table gp_block.
 *
 * The section "link" is what predictions need; "link_loo" the pairs that the fit held out, which
 * only the owner may read; "link_figure" the figures of the whole; "link_best" the best
 * missing links of every node, where the fit kept them.  Each of its blocks has all that rows
 * are made of, ids included, so that a question for a few nodes reads a few blocks.
 */
#ifndef GNNGP_STORE_LINKS_H
#define GNNGP_STORE_LINKS_H

#include "core/links/links.h"
#include "pg/reader/reader.h"
#include "store.h"

/* Writes the link part under (model->id, model->link.version). */
extern void gnngp_link_store_write(const gnngp_model *model, const gnngp_ids *ids,
								   const gp_link_model *links);

/* Writes the pairs that a fit held out; the ids are those of all nodes. */
extern void gnngp_held_store_write(const gnngp_model *model, const gnngp_ids *all,
								   const gp_link_held *held);

/* Reads them: row and linked, whose ends are places in ids. */
extern void gnngp_held_store_read(gp_env *env, const gnngp_model *model, gnngp_ids *ids,
								  gp_link_held *held);

/* Writes the figures of a link model, and reads them. */
extern void gnngp_link_figures_write(const gnngp_model *model, const double *metric);
extern void gnngp_link_figures_read(const gnngp_model *model, double *metric);

/* A node, and where its pairs begin and end. */
typedef struct gnngp_kept_node
{
	int32		node;
	gnngp_id	id;
	int32		first;
	int32		end;
} gnngp_kept_node;

/* One of its pairs. */
typedef struct gnngp_kept_pair
{
	int32		dst;
	gnngp_id	id;				/* of dst */
	double		score;
	double		variance;
	double		probability;
} gnngp_kept_pair;

/* Writes the section "link_best" under (model->id, model->link.version); returns its bytes. */
extern int64 gnngp_kept_write(const gnngp_model *model, const gnngp_ids *ids,
							  const gp_link_kept *kept, bool directed);

/* What that takes at most, except the little that a block has beside its pairs. */
extern int64 gnngp_kept_bytes(const gnngp_ids *ids, int64 keep);

/* Hands out the rows of given ids, sorted. */
extern void gnngp_kept_read(const gnngp_model *model, const gnngp_given_ids *given,
							gnngp_stored_row_fn row, void *state);

/* Unpacks node i of a block, and pair e: XX001 where they are out of its bounds. */
extern void gnngp_kept_node_at(const gnngp_block *block, int32 i, gnngp_kept_node *node);
extern void gnngp_kept_pair_at(const gnngp_block *block, int32 e, gnngp_kept_pair *pair);

/* A stored link model, ready for predictions. */
typedef struct gnngp_open_links
{
	gp_env	   *env;
	gp_device  *device;
	gp_links   *links;
	gnngp_ids ids;
	gnngp_kept_key key;			/* when it was fitted, too: versions repeat after a rollback */
	bool		brief;			/* it may be kept */
} gnngp_open_links;

/*
 * The link part of a model, opened in the current memory context or taken from
 * what is kept, which serves brief uses (few pairs).
 */
extern gnngp_open_links *gnngp_links_open(const gnngp_model *model, bool brief);

/* Ends a use that went well: keeps the model for the next one, or frees it.  After an error its
 * context does. */
extern void gnngp_links_close(gnngp_open_links *open);

#endif							/* GNNGP_STORE_LINKS_H */
