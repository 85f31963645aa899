/*
 * candidates.h - pairs worth a score.
 */
#ifndef GP_CANDIDATES_H
#define GP_CANDIDATES_H

#include "rules.h"

/*
 * neighbours is the graph's symmetric pattern, columns ascending, without a diagonal, and made by
 * the search where it is NULL; code may be NULL.  The search keeps pointers to all of them.
 */
typedef struct gp_link_search gp_link_search;

extern gp_link_search *gp_link_search_open(gp_env *env, const gp_graph *graph,
										   const gp_csr *neighbours, const uint64_t *code,
										   gp_link_candidates candidates);
/* The candidates of a node, ascending, neither itself nor linked from it: found until the next. */
extern int64_t gp_link_search_node(gp_link_search *search, int32_t node, int32_t **found);

/*
 * Searches for the candidates of a node that the full graph does not link it with, the first `most`
 * of them in a random order; returns how many they are.
 */
extern int64_t gp_link_draw_unlinked(const gp_graph *full, gp_link_search *search, uint64_t stream,
									 int32_t node, int64_t most, int32_t **drawn);

/* The graph's symmetric pattern. */
extern const gp_csr *gp_link_search_pattern(const gp_link_search *search);

/*
 * Lets a search for GP_CANDIDATES_AUTO look where links were found; before its
 * first node.  Without features codes say nothing of nodes in two components.
 */
extern void gp_link_search_learn(gp_link_search *search, gp_link_topology topology, bool features);
extern void gp_link_search_close(gp_link_search *search);

/* Makes these nodes, and no others, the candidates of each; before its first node. */
extern void gp_link_search_among(gp_link_search *search, int64_t n, const int32_t *node);

/* A search for another thread, which reads what the first one reads. */
extern gp_link_search *gp_link_search_twin(const gp_link_search *search);
extern void gp_link_search_twin_free(gp_env *env, gp_link_search *twin);
/* The search itself, in another environment, whose interrupts it looks at from now on. */
extern gp_link_search *gp_link_search_set_env(gp_link_search *search, gp_env *env);

#endif							/* GP_CANDIDATES_H */
