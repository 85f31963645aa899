/*
 * cpu_pool.c - threads that share out tiles of work.
 *
 * Helpers join a run when they wake up in time and are not waited for when
 * they do not, so a short run costs the caller a wake-up call and no more.
 */
#include <pthread.h>
#include <signal.h>

#include "cpu_pool.h"

struct gp_pool
{
	gp_env	   *env;
	int			helpers;		/* threads started, */
	int			wanted;			/* of so many */
	pthread_t  *thread;
	pthread_mutex_t mutex;		/* guards what follows, except next and stop */
	pthread_cond_t work;		/* a run opened, or quit */
	pthread_cond_t idle;		/* the last helper left a run */
	bool		quit;
	bool		open;			/* helpers may join the run */
	int			active;			/* helpers inside the run */
	int			most;			/* that may be */
	int			named;			/* helpers that have taken their number */
	uint64_t	run;			/* number of the run opened last */
	gp_tile		tile;
	void	   *job;
	int64_t		tiles;
	int64_t		next;			/* atomic: the tile to hand out next */
	int			stop;			/* atomic: hand out no more */
};

/* The life of a helper. */
static void *
helper_main(void *arg)
{
	gp_pool    *pool = arg;
	uint64_t	seen = 0;

	pthread_mutex_lock(&pool->mutex);
	int			worker = ++pool->named;
	while (!pool->quit)
	{
		if (!pool->open || pool->run == seen || pool->active >= pool->most)
		{
			pthread_cond_wait(&pool->work, &pool->mutex);
			continue;
		}
		seen = pool->run;
		pool->active++;
		pthread_mutex_unlock(&pool->mutex);
		/* Takes tiles until none is left or the run is stopped. */
		while (!__atomic_load_n(&pool->stop, __ATOMIC_RELAXED))
		{
			int64_t		tile = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);

			if (tile >= pool->tiles)
				break;
			pool->tile(pool->job, tile, worker);
		}
		pthread_mutex_lock(&pool->mutex);
		if (--pool->active == 0)
			pthread_cond_signal(&pool->idle);
	}
	pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

/* Joins the helpers; leaves the memory to the environment. */
static void
stop(void *arg)
{
	gp_pool    *pool = arg;

	pthread_mutex_lock(&pool->mutex);
	pool->quit = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->mutex);
	for (int i = 0; i < pool->helpers; i++)
		pthread_join(pool->thread[i], NULL);
	pool->helpers = 0;
	pthread_cond_destroy(&pool->idle);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->mutex);
}

gp_pool *
gp_pool_create(gp_env *env, int threads)
{
	gp_pool    *pool = gp_alloc_zero(env, 1, sizeof(gp_pool));
	int			most = threads > 1 ? threads - 1 : 0;

	pool->env = env;
	pool->wanted = env->dry ? 0 : most;
	pool->thread = gp_alloc_array(env, most, sizeof(pthread_t));
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->idle, NULL);
	env->own(env, stop, pool);
	return pool;
}

/* Starts the helpers at the first run, so that a device that only plans has none. */
static void
start(gp_pool *pool)
{
	sigset_t	all;
	sigset_t	before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pool->helpers < pool->wanted &&
		   pthread_create(&pool->thread[pool->helpers], NULL, helper_main, pool) == 0)
		pool->helpers++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pool->wanted = pool->helpers;
}

int
gp_pool_threads(const gp_pool *pool)
{
	return pool->wanted + 1;
}

/* Lets helpers take tiles. */
static void
open_run(gp_pool *pool)
{
	__atomic_store_n(&pool->stop, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool->mutex);
	pool->open = true;
	pool->run++;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->mutex);
}

/* Stops the dealing and waits for the tiles that helpers hold. */
static void
close_run(gp_pool *pool)
{
	__atomic_store_n(&pool->stop, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool->mutex);
	pool->open = false;
	while (pool->active > 0)
		pthread_cond_wait(&pool->idle, &pool->mutex);
	pthread_mutex_unlock(&pool->mutex);
}

void
gp_pool_run(gp_pool *pool, gp_tile tile, void *job, int64_t tiles, int threads)
{
	gp_env	   *env = pool->env;

	if (tiles > 1 && threads > 1 && pool->helpers < pool->wanted)
		start(pool);
	if (pool->helpers == 0 || tiles <= 1 || threads <= 1)
	{
		/* Computes all tiles in the calling thread */
		for (int64_t t = 0; t < tiles; t++)
		{
			if (env->interrupt_pending(env))
				env->check_interrupts(env);
			tile(job, t, 0);
		}
		return;
	}

	pool->tile = tile;
	pool->job = job;
	pool->tiles = tiles;
	pool->next = 0;
	pool->most = threads - 1;
	open_run(pool);
	for (;;)
	{
		if (env->interrupt_pending(env))
		{
			close_run(pool);
			env->check_interrupts(env);
			open_run(pool);
		}
		int64_t		t = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
		if (t >= tiles)
			break;
		tile(job, t, 0);
	}
	close_run(pool);
}

void
gp_pool_destroy(gp_pool *pool)
{
	gp_env	   *env = pool->env;

	env->disown(env, pool);
	stop(pool);
	gp_free_all(env, pool->thread, pool);
}
