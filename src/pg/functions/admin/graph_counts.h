/*
 * graph_counts.h - what the tables of a graph hold, counted.
 */
#ifndef GNNGP_GRAPH_COUNTS_H
#define GNNGP_GRAPH_COUNTS_H

#include "pg/catalog/catalog.h"

/* The columns of gp_create_graph's row. */
enum gnngp_count
{
	GNNGP_COUNT_NODES,
	GNNGP_COUNT_LABELS,
	GNNGP_COUNT_CLASSES,
	GNNGP_COUNT_EDGES,			/* rows of the edge table */
	GNNGP_COUNT_WITHOUT_NODE,	/* of them, those with an end that is NULL or no node */
	GNNGP_COUNT_SELF_LOOPS,
	GNNGP_COUNT_DUPLICATES,		/* those that repeat another */
	GNNGP_COUNT_NULL_FEATURES,
	GNNGP_COUNT_BARE_COMPONENTS,	/* without a label */
	GNNGP_COUNTS
};

#define GNNGP_NOT_COUNTED (-1)

/*
 * Counts what a fit would read, and warns of ends of edges that name rows of another table than
 * the nodes.  Where the tables cannot be read the reason is a warning, and nothing is counted.
 */
extern void gnngp_count_graph(const gnngp_graph_def *graph, int64 *count);

#endif							/* GNNGP_GRAPH_COUNTS_H */
