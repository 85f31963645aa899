/*
 * bipartition.h - the two sides of each component, where its links lead from one to the other.
 */
#ifndef GP_BIPARTITION_H
#define GP_BIPARTITION_H

#include "links/links_internal.h"

#define GP_LINK_NO_SIDE 2

typedef struct gp_link_sides
{
	int32_t    *component;		/* of each node, from 0 */
	uint8_t    *side;			/* 0, 1, or GP_LINK_NO_SIDE in a component without sides */
} gp_link_sides;

/* The sides by the symmetric pattern a, whose values are not read; owned by the caller. */
extern gp_link_sides gp_link_sides_find(gp_env *env, const gp_csr *a);
extern void gp_link_sides_free(gp_env *env, gp_link_sides *sides);

/* True when it is known that two nodes lie on one side. */
static inline bool
gp_link_same_side(const gp_link_sides *s, int32_t i, int32_t j)
{
	return s->component[i] == s->component[j] && s->side[i] == s->side[j] &&
		s->side[i] != GP_LINK_NO_SIDE;
}

#endif							/* GP_BIPARTITION_H */
