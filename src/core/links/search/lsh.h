/*
 * lsh.h - the nodes that the kernel finds alike, by their sign codes.
 *
 * Codes of two nodes differ in a share of bits that is the angle between their rows, over pi
 * (Charikar 2002).  On large graphs only nodes are compared whose codes agree in a band of bits.
 */
#ifndef GP_LSH_H
#define GP_LSH_H

#include "links/links_internal.h"

#define GP_LINK_NEAREST 50		/* neighbours in the kernel */

/* Marks of a node in a search, in the low bits of its stamp; the rest of it is the search. */
#define GP_MARK_TAKEN 1			/* a candidate, or never one */
#define GP_MARK_SEEN 2			/* by the kernel's neighbours */
#define GP_MARK_NEVER 4			/* the node itself, or linked from it */
#define GP_MARK_BITS 3

typedef struct gp_link_marks
{
	uint32_t   *stamp;			/* of each node */
	uint32_t	base;			/* of the search that runs */
} gp_link_marks;

/* The marks of a node in this search. */
static inline uint32_t
gp_link_marks_of(const gp_link_marks *m, int32_t node)
{
	return m->stamp[node] >= m->base ? m->stamp[node] - m->base : 0;
}

/* Adds marks to a node; true when it had none of them. */
static inline bool
gp_link_mark(gp_link_marks *m, int32_t node, uint32_t bits)
{
	uint32_t	had = gp_link_marks_of(m, node);

	m->stamp[node] = m->base | had | bits;
	return (had & bits) == 0;
}

/* Nodes whose codes agree in some bits: a table for each band of bits. */
typedef struct gp_link_tables
{
	const uint64_t *code;		/* of all nodes; NULL: there are none */
	int64_t		n;
	int			bands;			/* 0: all codes are compared */
	int			bits;			/* of a band */
	int32_t    *node;			/* bands x n, by bucket, then ascending */
	int32_t    *start;			/* bands x (2^bits + 1) */
} gp_link_tables;

extern gp_link_tables gp_link_tables_make(gp_env *env, const uint64_t *code, int64_t n);
extern void gp_link_tables_free(gp_env *env, gp_link_tables *tables);

/* The nearest codes so far, ascending by distance, then by number. */
typedef struct gp_link_nearest
{
	int			n;
	uint64_t	key[GP_LINK_NEAREST];	/* distance and node */
} gp_link_nearest;

/*
 * The nearest nodes in the kernel that are not marked as never.  Marks what it
 * looks at, and returns how many nodes that were.
 */
extern int64_t gp_link_nearest_find(const gp_link_tables *t, gp_link_marks *marks, int32_t node,
									gp_link_nearest *best);

#endif							/* GP_LSH_H */
