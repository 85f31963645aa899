/*
 * edge_list.h - edges as rows bring them.
 */
#ifndef GNNGP_EDGE_LIST_H
#define GNNGP_EDGE_LIST_H

#include "postgres.h"

#include "pg/server/server.h"
#include "sorted_edges.h"

/* Makes room for so many more edges; refuses what the memory limit does not allow. */
extern void gnngp_edge_list_grow(gnngp_edge_list *list, int64 more);

/* Appends an edge. */
static inline void
gnngp_edge_list_add(gnngp_edge_list *list, int64 src, int64 dst, double weight)
{
	if (unlikely(list->n == list->room))
		gnngp_edge_list_grow(list, 1);
	list->end[2 * list->n] = src;
	list->end[2 * list->n + 1] = dst;
	if (list->weighted)
		list->weight[list->n] = weight;
	list->n++;
}

/* Appends the nodes that were not seen, as loops. */
extern void gnngp_edge_list_add_lone(gnngp_edge_list *list, const gnngp_value_ids *ids,
									 const bool *seen);

#endif							/* GNNGP_EDGE_LIST_H */
