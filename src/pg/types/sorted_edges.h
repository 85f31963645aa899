/*
 * sorted_edges.h - edges in the order of a graph's value.
 */
#ifndef GNNGP_SORTED_EDGES_H
#define GNNGP_SORTED_EDGES_H

#include "types.h"

/* Edges as rows bring them. */
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

/* An edge in sorted order: nodes are numbered by id, the smaller one is in the high bits. */
typedef struct gnngp_sorted_edge
{
	uint64		key;
	double		weight;
} gnngp_sorted_edge;

/*
 * A list sorted.  Exactly one of key and edge is set: edges without weights are
 * distinct; those with weights repeat, equal ones by weight.  Self-loops are
 * gone, their nodes are not.
 */
typedef struct gnngp_sorted_edges
{
	gnngp_value_ids ids;
	int			shift;			/* bits of a node */
	int64		edges;
	uint64	   *key;
	gnngp_sorted_edge *edge;
} gnngp_sorted_edges;

static inline uint64
gnngp_sorted_key(const gnngp_sorted_edges *s, int64 i)
{
	return s->key ? s->key[i] : s->edge[i].key;
}

/* Sorts a list of at least one edge into memory of the current context; frees it. */
extern void gnngp_edge_sort(const gnngp_edge_list *list, gnngp_sorted_edges *out);
extern void gnngp_sorted_edges_free(gnngp_sorted_edges *s);

/* Adds up the weights of repeated edges, the smallest first. */
extern void gnngp_sorted_edges_merge(gnngp_sorted_edges *s);

/* aggregate_graph.c: the graph of a list of at least one edge. */
extern Datum gnngp_graph_of_edges(const gnngp_edge_list *list);

/* value_graph.c */

/* A graph value from edges that are distinct; kernel and landmarks make it that of a state. */
extern Datum gnngp_graph_write(const gnngp_sorted_edges *s, bool state, const char *kernel,
							   int64 landmarks);

#endif							/* GNNGP_SORTED_EDGES_H */
