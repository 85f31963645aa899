/*
 * cpu_crew.c - threads that each take whole pieces of work.
 *
 * A piece runs on a device of one thread, in an environment that takes its memory from what was
 * allocated before.  Such an environment cannot raise: where something is wrong, where the memory
 * does not do, or where an interrupt waits, the piece is left as it is, and the calling thread does
 * it again in the host's environment when no other thread runs.  So an error is raised there, by
 * the calling thread, with nobody at work.
 */
#include <setjmp.h>

#include "device/cpu/cpu_blas.h"
#include "cpu_pool.h"
#include "device/device.h"

#define UNIT 64					/* bytes: of a block's header, and what sizes are multiples of */
/* a thread's memory, over what its piece takes: free blocks may lie between others */
#define ROOM_FACTOR 1.1
#define ROOM_MORE 1048576.0

/* A thread's own. */
typedef struct worker
{
	gp_env		env;
	gp_env	   *crew;			/* the environment of the crew */
	char	   *room;			/* memory that was allocated before: blocks one behind the other */
	size_t		bytes;
	jmp_buf		out;			/* of the piece */
} worker;

/* A block of a worker's memory. */
typedef struct block
{
	size_t		bytes;			/* with the header */
	bool		free;
} block;

struct gp_crew
{
	gp_env	   *host;
	gp_pool    *pool;
	int			threads;
	worker	   *own;			/* of each thread */
	/* of a run */
	gp_crew_work work;
	void	   *job;
	bool	   *done;			/* each piece */
};

/* ---- the environment of a piece ---- */

static worker *
worker_of(gp_env *env)
{
	return (worker *) env->host;
}

static void
leave(gp_env *env)
{
	longjmp(worker_of(env)->out, 1);
}

static block *
block_behind(block *b)
{
	return (block *) ((char *) b + b->bytes);
}

/* The first block that is large enough, once free neighbours have become one; there are few. */
static void *
worker_alloc(gp_env *env, size_t bytes)
{
	worker	   *w = worker_of(env);
	const char *end = w->room + w->bytes;

	if (bytes > SIZE_MAX - 2 * UNIT)
		return NULL;
	size_t		need = (bytes + 2 * UNIT - 1) / UNIT * UNIT;
	for (block *b = (block *) w->room; (char *) b < end; b = block_behind(b))
	{
		if (!b->free)
			continue;
		for (block *next = block_behind(b); (char *) next < end && next->free;
			 next = block_behind(b))
			b->bytes += next->bytes;
		if (b->bytes < need)
			continue;
		if (b->bytes > need)
		{
			size_t		rest = b->bytes - need;

			b->bytes = need;
			*block_behind(b) = (block) {rest, true};
		}
		b->free = false;
		return (char *) b + UNIT;
	}
	return NULL;
}

static void
worker_release(gp_env *env, void *p)
{
	((block *) ((char *) p - UNIT))->free = true;
}

/* Asks the host, which may be asked by any thread as long as nothing is served. */
static bool
worker_pending(gp_env *env)
{
	gp_env	   *host = worker_of(env)->crew;

	return host->interrupt_pending(host);
}

/* Leaves the piece where an interrupt waits: the calling thread serves it. */
static void
worker_check(gp_env *env)
{
	if (worker_pending(env))
		leave(env);
}

/* A thread's stack is its own, and deep enough for what does not recurse. */
static void
worker_check_stack(gp_env *env)
{
}

/* Leaves the piece: who does it again raises, or sends the notice. */
static void
worker_raise(gp_env *env, gp_error code, int position, const char *message, const char *hint)
{
	leave(env);
}

static void
worker_notice(gp_env *env, const char *message, const char *hint)
{
	leave(env);
}

/* What a piece opens has memory alone, which ends with the piece. */
static void
worker_own(gp_env *env, void (*release) (void *), void *resource)
{
}

static void
worker_disown(gp_env *env, void *resource)
{
}

/* ---- the crew ---- */

gp_crew *
gp_crew_open(gp_env *host, int threads, size_t room)
{
	threads = (int) gp_min64(threads, (int64_t) (gp_left(host) / 2 / gp_alloc_size(room)));
	gp_blas_load(host);
	if (threads < 1 || (threads > 1 && !gp_blas_shared()))
		return NULL;
	if (!host->dry)
		threads = gp_blas_reserve(host, threads);
	gp_crew    *crew = gp_alloc_zero(host, 1, sizeof(gp_crew));
	crew->host = host;
	crew->threads = threads;
	crew->own = gp_alloc_array(host, threads, sizeof(worker));
	/* Each thread has an environment of so many bytes. */
	for (worker *w = crew->own; w < crew->own + threads; w++)
	{
		w->crew = host;
		w->room = gp_alloc_values(host, 1, room);
		w->bytes = room / UNIT * UNIT;
		if (!host->dry)
			gp_use_large_pages(w->room, room);
		w->env = gp_env_derive(host);
		w->env.host = &w->env;
		w->env.alloc = worker_alloc;
		w->env.release = worker_release;
		w->env.interrupt_pending = worker_pending;
		w->env.check_interrupts = worker_check;
		w->env.check_stack = worker_check_stack;
		w->env.raise = worker_raise;
		w->env.notice = worker_notice;
		w->env.own = worker_own;
		w->env.disown = worker_disown;
	}
	crew->pool = gp_pool_create(host, threads);
	return crew;
}

int
gp_crew_size(const gp_crew *crew)
{
	return crew->threads;
}

/* A piece that is done without being computed. */
typedef struct dry_work
{
	gp_crew_work work;
	void	   *job;
	int64_t		piece;
} dry_work;

static void
run_dry_work(gp_device *dry, void *arg)
{
	const dry_work *t = arg;

	t->work(t->job, dry, 0, t->piece);
}

size_t
gp_crew_room(gp_device *dev, gp_crew_work work, void *job, int64_t piece)
{
	double		bytes = gp_dry_run(dev, run_dry_work, &(dry_work) {work, job, piece}).bytes;

	return (size_t) (ROOM_FACTOR * bytes + ROOM_MORE);
}

/* One piece, on a device of its own. */
static void
crew_tile(void *arg, int64_t piece, int number)
{
	gp_crew    *crew = arg;
	worker	   *w = &crew->own[number];

	w->env.used = w->env.peak = 0;
	*(block *) w->room = (block) {w->bytes, true};
	if (setjmp(w->out) != 0)
		return;
	gp_device  *dev = gp_device_cpu(&w->env, 1);
	crew->work(crew->job, dev, number, piece);
	crew->done[piece] = true;
}

void
gp_crew_run(gp_crew *crew, gp_crew_work work, void *job, int64_t pieces, gp_device *alone)
{
	for (int64_t piece = 0; crew->host->dry && piece < pieces; piece++)
	{
		gp_count	count = gp_dry_run(alone, run_dry_work, &(dry_work) {work, job, piece});

		gp_dry_add(alone, &count);
	}
	if (crew->host->dry)
		return;
	crew->work = work;
	crew->job = job;
	crew->done = gp_alloc_zero(crew->host, pieces, sizeof(bool));
	gp_pool_run(crew->pool, crew_tile, crew, pieces, crew->threads);
	for (int64_t piece = 0; piece < pieces; piece++)
		if (!crew->done[piece])
		{
			crew->host->check_interrupts(crew->host);
			work(job, alone, 0, piece);
		}
	gp_free(crew->host, crew->done);
}

void
gp_crew_close(gp_crew *crew)
{
	gp_env	   *host = crew->host;

	gp_pool_destroy(crew->pool);
	for (int w = 0; w < crew->threads; w++)
		gp_free(host, crew->own[w].room);
	gp_free_all(host, crew->own, crew);
}
