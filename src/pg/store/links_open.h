/*
 * links_open.h - a stored link model, ready for predictions.
 *
 * Reading a model and preparing its graph takes longer than answering for a few
 * nodes.  So a backend keeps the model of its last call for few nodes, up to
 * gnngp.link_cache_size.  What computes with gnngp.memory_limit frees it first (gnngp_account_give_up).
 */
#ifndef GNNGP_LINKS_OPEN_H
#define GNNGP_LINKS_OPEN_H

#include "postgres.h"

#include "core/link/link.h"
#include "pg/catalog/catalog.h"
#include "pg/host/host.h"
#include "store_links.h"

typedef struct gnngp_open_links
{
	gp_env	   *env;
	gp_device  *device;
	gp_links   *links;
	gnngp_link_ids ids;
	/* what it was opened for */
	int64		model;
	int64		version;
	TimestampTz fitted;			/* versions repeat after a rollback, times do not */
	gnngp_device_choice choice;
	bool		brief;
} gnngp_open_links;

/*
 * The link part of a model, opened in the current memory context or taken from
 * what is kept, which serves brief uses (few pairs).
 */
extern gnngp_open_links *gnngp_links_open(const gnngp_model *model, bool brief);

/* Ends a use that went well: keeps the model for the next one, or frees it.  After an error its context does. */
extern void gnngp_links_close(gnngp_open_links *open);

#endif							/* GNNGP_LINKS_OPEN_H */
