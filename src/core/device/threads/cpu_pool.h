/*
 * cpu_pool.h - threads that share out tiles of work.
 *
 * A pool is the calling thread and helpers that wait for work.  gp_pool_run
 * hands out the tiles 0 .. tiles - 1 in ascending order; which thread computes
 * a tile is chance, so a tile must depend on its number alone.  Between tiles
 * the calling thread serves interrupts: it stops the dealing, lets the helpers
 * finish the tiles they hold, and only then calls the environment, which may
 * never return.
 */
#ifndef GP_CPU_POOL_H
#define GP_CPU_POOL_H

#include "base/base.h"

typedef struct gp_pool gp_pool;

/* Computes one tile; worker is below gp_pool_threads and runs one tile at a time. */
typedef void (*gp_tile) (void *job, int64_t tile, int worker);

/* Starts threads - 1 helpers with all signals blocked, fewer where the system refuses. */
extern gp_pool *gp_pool_create(gp_env *env, int threads);

/* The threads that take part, the caller's included. */
extern int	gp_pool_threads(const gp_pool *pool);

/* Computes all tiles by at most so many threads; returns when every one is done. */
extern void gp_pool_run(gp_pool *pool, gp_tile tile, void *job, int64_t tiles, int threads);

/* Joins the helpers, forgets the pool and frees it. */
extern void gp_pool_destroy(gp_pool *pool);

#endif							/* GP_CPU_POOL_H */
