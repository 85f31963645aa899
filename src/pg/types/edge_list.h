/*
 * edge_list.h - edges as rows bring them.
 */
#ifndef GNNGP_EDGE_LIST_H
#define GNNGP_EDGE_LIST_H

#include "postgres.h"

#include "pg/server/server.h"
#include "sorted_edges.h"

/* A pair of ids that is kept with its weight. */
typedef struct gnngp_edge_list
{
	MemoryContext context;		/* of the arrays */
	int64		n;
	int64		room;
	int64	   *end;			/* 2 n: both ends of each edge, in any order */
	double	   *weight;			/* n, or NULL */
	bool		weighted;
	gnngp_holding held;			/* counts the arrays */
} gnngp_edge_list;

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

/* edge_sort.c: sorts a list of at least one edge into memory of the current context. */
extern void gnngp_edge_sort(const gnngp_edge_list *list, gnngp_sorted_edges *out);

#endif							/* GNNGP_EDGE_LIST_H */
