/*
 * hard_negatives.h - hidden links among the pairs that a search would propose in their place.
 */
#ifndef GP_RIVALS_H
#define GP_RIVALS_H

#include "links/links_internal.h"

#define GP_LINK_RIVALS 100		/* of a link, where there are so many nodes */

/* Some links of a fold, each before its rivals: pairs from the same node. */
typedef struct gp_link_rivals
{
	int64_t		links;
	int64_t    *first;			/* of each link's pairs; the last is pairs.n */
	gp_link_pairs pairs;
} gp_link_rivals;

/*
 * The rivals of the first links that a fold hides, found in the fold's graph; none of them is a
 * link of the full graph.  An undirected link is asked of either end in turn.
 */
extern gp_link_rivals gp_link_rivals_make(gp_env *env, const gp_graph *full, const gp_link_fold *fold,
										  int64_t links, uint64_t seed);
extern void gp_link_rivals_free(gp_env *env, gp_link_rivals *rivals);

/* Adds the ranks of the links by the scores of all pairs. */
extern void gp_link_rivals_rank(const gp_link_rivals *rivals, const double *score, gp_link_ranks *ranks);

/* An upper bound of the bytes of it, for the plan: links of all folds, with width scores for each pair. */
extern double gp_link_rivals_bytes(int64_t nodes, int64_t links, int64_t width);

#endif							/* GP_RIVALS_H */
