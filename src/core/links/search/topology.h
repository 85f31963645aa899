/*
 * topology.h - how far apart the ends of links are without them, and which nodes they are.
 */
#ifndef GP_TOPOLOGY_H
#define GP_TOPOLOGY_H

#include "links/links_internal.h"

/*
 * Counts for hidden links, and for as many random pairs without a link: the second half of
 * GP_LINK_TOPOLOGY_COUNTS.  Models store them.
 */
enum gp_link_topology_kind
{
	GP_TOPOLOGY_PAIRS,			/* all of them */
	GP_TOPOLOGY_ONE,			/* linked in the other direction */
	GP_TOPOLOGY_TWO,			/* two steps apart, in any direction */
	GP_TOPOLOGY_THREE,
	GP_TOPOLOGY_MORE,			/* or not found within the work that a pair is worth */
	GP_TOPOLOGY_APART,			/* in two components */
	GP_TOPOLOGY_SIDED,			/* in one component that has two sides */
	GP_TOPOLOGY_SAME_SIDE,		/* on one side of it */
	GP_TOPOLOGY_FROM_END,		/* from a node that has links to it, and none from it */
	GP_TOPOLOGY_TO_START,		/* to a node that has links from it, and none to it */
	GP_TOPOLOGY_KINDS
};

_Static_assert(2 * GP_TOPOLOGY_KINDS == GP_LINK_TOPOLOGY_COUNTS, "a count for each kind, twice");

/* Adds the pairs of a fold to the counts, and tells which have both ends in one component. */
extern void gp_link_topology_count(gp_env *env, const gp_link_fold *fold, int64_t *count,
								   bool *together);

/* True for the nodes that links lead to; owned by the caller. */
extern bool *gp_link_ends_find(gp_env *env, const gp_graph *graph);

/* What the counts say of the pairs that are worth a score. */
typedef struct gp_link_topology
{
	bool		two_sided;		/* no link within a side */
	bool		starts;			/* no link from a node that others end at and none starts from */
	bool		ends;			/* no link to a node that others start from and none ends at */
	bool		three;			/* at three steps at least half as often as at two */
} gp_link_topology;

extern gp_link_topology gp_link_topology_read(const int64_t *count);

#endif							/* GP_TOPOLOGY_H */
