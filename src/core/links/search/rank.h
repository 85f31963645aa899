/*
 * rank.h - a lot of sources, and the candidates that rank best of each.
 */
#ifndef GP_RANK_H
#define GP_RANK_H

#include "link_predict.h"

#define GP_LINK_WAVE_LOTS 16	/* of each thread: who is ready first waits for the last */

/* Candidates of some sources, source after source. */
typedef struct gp_link_pool
{
	int64_t		n;
	int64_t		first[GP_LINK_BLOCK + 1];	/* of each source */
	int64_t		room;
	int32_t    *slot;			/* n: the source's place */
	int32_t    *dst;			/* n */
	double	   *score;			/* n x width; NULL where pairs have no scores */
} gp_link_pool;

/* Sources that are looked at together. */
typedef struct gp_link_lot
{
	int32_t		sources;
	int32_t		source[GP_LINK_BLOCK];
	gp_link_pool best;			/* in the order that they rank */
	gp_link_row *row;			/* their posteriors, with as much room */
} gp_link_lot;

/* Room for so many candidates, in memory of the model's environment. */
extern gp_link_pool gp_link_pool_create(const gp_links *l, int64_t room);
extern void gp_link_pool_free(const gp_links *l, gp_link_pool *pool);

/* Copies a candidate to a place of another pool, or of its own. */
extern void gp_link_pool_copy(const gp_links *l, const gp_link_pool *from, int64_t e, gp_link_pool *to, int64_t place);

/*
 * Finds the candidates of the lot's sources, and keeps the k that rank best of each.  found is room for all
 * nodes.  The lot's own memory is replaced where it has no room for k pairs of each source; then it must be of
 * the environment of l.
 */
extern void gp_link_lot_rank(gp_links *l, gp_link_search *search, int32_t *found, int64_t k, gp_link_lot *lot);

/* The posteriors of the lot's candidates. */
extern void gp_link_lot_posterior(gp_links *l, gp_link_lot *lot);

/*
 * The most bytes that either takes beside the lot, where a source has no more candidates than a search gives: of pairs
 * with so many scores, from a regression on m rows and dims features to so many powers.
 */
extern size_t gp_link_lot_bytes(int64_t nodes, int32_t width, int64_t m, int64_t dims, int32_t powers);

#endif							/* GP_RANK_H */
