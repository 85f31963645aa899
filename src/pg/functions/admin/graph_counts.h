/*
 * graph_counts.h - what the tables of a new graph hold.
 */
#ifndef GNNGP_GRAPH_COUNTS_H
#define GNNGP_GRAPH_COUNTS_H

#include "pg/catalog/catalog.h"

#define GNNGP_GRAPH_COUNTS 9	/* columns of gp_create_graph */

/*
 * Counts what a fit would read, and warns of ends of edges that name rows of another table than
 * the nodes.  Where the tables cannot be read the reason is a warning, and nothing is counted.
 */
extern void gnngp_count_graph(const gnngp_graph_def *graph, NullableDatum *row);

#endif							/* GNNGP_GRAPH_COUNTS_H */
