/*
 * rivals.h - hidden links among the pairs that a search would propose in their place.
 */
#ifndef GP_RIVALS_H
#define GP_RIVALS_H

#include "links/links_internal.h"

#define GP_LINK_RANKED 200		/* links of all folds that are ranked among rivals */
#define GP_LINK_RIVALS 100		/* of a link, where there are so many nodes */

/* Some links of a fold, each before its rivals: pairs from the same node. */
typedef struct gp_link_rivals
{
	int64_t		links;
	int64_t    *first;			/* of each link's pairs; the last is pairs.n */
	gp_link_pairs pairs;
	double	   *common;			/* neighbours in common in the fold's graph, */
	double	   *allocation;		/* each divided by how many neighbours it has */
} gp_link_rivals;

/*
 * The end of a hidden link of a fold whose candidates are looked at, and the other end: of an
 * undirected link either in turn.
 */
extern int32_t gp_link_query_end(const gp_link_fold *fold, int64_t e, int32_t *other);

/*
 * The rivals of the first links that a fold hides, found in the fold's graph; none of them is a
 * link of the full graph.  An undirected link is asked of either end in turn.  The topology, which
 * may be NULL, leaves out what is never linked.
 */
extern gp_link_rivals gp_link_rivals_make(gp_env *env, const gp_graph *full,
										  const gp_link_fold *fold, int64_t links, uint64_t seed,
										  const int64_t *topology);
extern void gp_link_rivals_free(gp_env *env, gp_link_rivals *rivals);

/*
 * Searches for the candidates of a node that are not linked with it, the first `most` of them in a
 * random order; returns how many they are.
 */
extern int64_t gp_link_draw_unlinked(const gp_graph *full, gp_link_search *search, uint64_t stream,
									 int32_t node, int64_t most, int32_t **drawn);

/* Pairs without a link within three steps of an end of each hidden link, where there is one. */
extern gp_link_pairs gp_link_hop_negatives(gp_env *env, const gp_graph *full,
										   const gp_link_fold *fold, uint64_t seed);

/* The rank of the first score of a range among the others; of equal ones half come before it. */
extern double gp_link_rank(const double *score, const int64_t *range);

/* Adds the ranks of the links by the scores of all pairs, and by what plain counts say of them. */
extern void gp_link_rivals_rank(const gp_link_rivals *rivals, const double *score,
								gp_link_ranks *ranks);

#endif							/* GP_RIVALS_H */
