/*
 * rules.h - pairs that are never linked, by what hidden links say, and draws of the others.
 */
#ifndef GP_RULES_H
#define GP_RULES_H

#include "bipartition.h"
#include "topology.h"

typedef struct gp_link_range
{
	int32_t		first;
	int32_t		last;			/* behind it */
} gp_link_range;

struct gp_link_rules
{
	const gp_graph *graph;
	gp_link_topology topology;
	gp_link_sides sides;		/* where it is two-sided */
	bool	   *ends;			/* nodes that links lead to, where ends or starts are told */
	/* for draws, where it is two-sided: the nodes, those of a side in a row, without links last */
	int32_t    *order;
	int64_t		linked;			/* nodes with links */
	gp_link_range *own;			/* of each node: its side in that order; empty without links */
	int64_t    *before;			/* ordered pairs across sides whose first node stands before */
};

/* The rules of a topology on a graph, whose symmetric pattern is a; draws need more. */
extern gp_link_rules gp_link_rules_open(gp_env *env, const gp_graph *graph, const gp_csr *a,
										gp_link_topology topology);
extern void gp_link_rules_close(gp_env *env, gp_link_rules *rules);

/*
 * The rules of the pairs that a fit draws, by the counts of its folds; NULL where no side is known.
 */
extern gp_link_rules *gp_link_rules_learn(gp_env *env, const gp_graph *graph,
										  const int64_t *count);

/* The first node of a pair across sides, such pairs being drawn evenly; the second node of one. */
extern int32_t gp_link_rules_draw_first(const gp_link_rules *rules, uint64_t hash);
extern int32_t gp_link_rules_draw_second(const gp_link_rules *rules, int32_t first, uint64_t hash);

static inline bool
gp_link_starts_none(const gp_link_rules *r, int32_t i)
{
	return r->topology.starts && r->ends[i] && r->graph->start[i + 1] == r->graph->start[i];
}

/* True for a pair that is never a link, whatever its first node starts. */
static inline bool
gp_link_never_to(const gp_link_rules *r, int32_t i, int32_t j)
{
	return (r->topology.two_sided && gp_link_same_side(&r->sides, i, j)) ||
		(r->topology.ends && !r->ends[j] && r->graph->start[j + 1] > r->graph->start[j]);
}

static inline bool
gp_link_never(const gp_link_rules *r, int32_t i, int32_t j)
{
	return r && (gp_link_starts_none(r, i) || gp_link_never_to(r, i, j));
}

#endif							/* GP_RULES_H */
