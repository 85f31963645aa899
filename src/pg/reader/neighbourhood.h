/*
 * neighbourhood.h - the nodes that a reading meets, by their ids, and the edges among them.
 */
#ifndef GNNGP_READ_MET_H
#define GNNGP_READ_MET_H

#include "read_ids.h"

/* A node that was met. */
typedef struct gnngp_met_node
{
	int64		key;
	char	   *text;
	int32		row;			/* of the node table, as it came; -1: not seen */
	int32		number;			/* at the end */
	double		degree;			/* where it alone was read of the edges; else below 0 */
} gnngp_met_node;

/* An edge that was read. */
typedef struct gnngp_met_edge
{
	int32		src;
	int32		dst;
	double		weight;
} gnngp_met_edge;

/* A place of the table of nodes. */
typedef struct gnngp_met_place
{
	int64		key;
	int64		node;			/* -1: free */
} gnngp_met_place;

/* What was met so far; begins with a reader, its environment, and zeros. */
typedef struct gnngp_met
{
	gnngp_reader *r;
	gp_env	   *env;
	gp_places	places;			/* of the nodes, by their keys */
	gnngp_met_place *at;		/* what is at each place */
	gnngp_met_node *node;
	int64		nnodes;
	int64		room;
	int64		nrows;			/* of nodes that were read */
	gnngp_met_edge *edge;
	int64		nedges;
	int64		edge_room;
} gnngp_met;

/* The number of a node, which is met now if it was not before; text NULL: an integer id. */
extern int32 gnngp_meet(gnngp_met *m, int64 key, const char *text, int length);

/* The same for the node of a datum; and -1 where it was not met. */
extern int32 gnngp_meet_datum(gnngp_met *m, Datum value, Oid base);
extern int32 gnngp_met_find(gnngp_met *m, Datum value, Oid base);

/* A key for the other end of an edge; 0 where both ends are one. */
extern uint64 gnngp_met_other_end(gnngp_met *m, int32 near, Datum value, Oid base);

/* Notes an edge between nodes that were met. */
extern void gnngp_met_add_edge(gnngp_met *m, int32 src, int32 dst, double weight);

/* An array of the ids of some nodes; with rows, only of those whose rows were read. */
extern Datum gnngp_met_ids(gnngp_met *m, int64 first, int64 last, bool rows);

/* Numbers the nodes that were read by their ids, and then the others; the node of each row. */
extern int32 *gnngp_met_number(gnngp_met *m, gnngp_ids *ids);

/* The graph of the edges, by these numbers; counted: with the degrees that nodes have. */
extern gp_graph *gnngp_met_graph(const gnngp_met *m, bool weighted, bool counted);

#endif							/* GNNGP_READ_MET_H */
