/*
 * edge_list.h - edges as rows bring them, and the graph that they make.
 */
#ifndef GNNGP_EDGE_LIST_H
#define GNNGP_EDGE_LIST_H

#include "types.h"

/* A list that grows. */
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

/*
 * A list as a graph of the core: an edge stands in the row of its smaller end.  Self-loops are
 * gone, their nodes are not.
 */
typedef struct gnngp_listed_graph
{
	gp_env	   *env;			/* of all that is here */
	gnngp_value_ids ids;
	bool		weighted;
	bool		repeats;		/* equal edges are apart */
	gp_csr	   *edges;			/* doubles, or a pattern without weights */
} gnngp_listed_graph;

/* The graph of a list of at least one edge; 54000 for more nodes than a value has. */
extern gnngp_listed_graph gnngp_edge_list_graph(const gnngp_edge_list *list, bool repeats);

/* The value of a list of at least one edge. */
extern Datum gnngp_graph_of_edges(const gnngp_edge_list *list);

/* The value of such a graph; a kernel, with landmarks, makes it that of a state. */
extern Datum gnngp_graph_write(const gnngp_listed_graph *g, const char *kernel, int64 landmarks);

#endif							/* GNNGP_EDGE_LIST_H */
