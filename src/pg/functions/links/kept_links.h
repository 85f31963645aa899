/*
 * kept_links.h - answering gp_predict_links from what a fit kept.
 */
#ifndef GNNGP_KEPT_LINKS_H
#define GNNGP_KEPT_LINKS_H

#include "core/links/links.h"
#include "pg/store/store_links.h"
#include "pg/ids/given_ids.h"

/* True where the k best of these candidates are among those that were kept. */
extern bool gnngp_kept_serves(const gnngp_model *model, int64 k, gp_link_candidates candidates);

/* Receives one row. */
typedef void (*gnngp_kept_emit) (void *arg, const gnngp_id *src, const gnngp_kept_pair *pair);

/* Hands out the very rows that gp_links_best gives for the nodes that were given. */
extern void gnngp_kept_answer(const gnngp_model *model, const gnngp_given_ids *given, int64 k,
							  gnngp_kept_emit emit, void *arg);

#endif							/* GNNGP_KEPT_LINKS_H */
