/*
 * env.h - everything the core knows about its host.
 *
 * The database maps these calls to memory contexts, ereport and
 * CHECK_FOR_INTERRUPTS; a unit test maps them to malloc and longjmp.  Only the
 * thread that owns the environment may call it: helper threads get their
 * memory up front and report failure through a flag.
 *
 * Ownership: what gp_alloc returns belongs to the environment.  After an error
 * the host frees all of it at once, and runs the release functions of the
 * resources registered with gp_own, newest first.  On the normal path the core
 * frees what it took as soon as it can, because the high-water mark is reported.
 */
#ifndef GP_ENV_H
#define GP_ENV_H

/* assert is for what no input and no stored model can break; only builds for tests check it. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What went wrong; the database maps each to one SQLSTATE. */
typedef enum gp_error
{
	GP_ERR_INTERNAL,			/* XX000: a bug */
	GP_ERR_MEMORY,				/* 53200: the host has no memory left */
	GP_ERR_LIMIT,				/* 53400: over gnngp.memory_limit */
	GP_ERR_SYNTAX,				/* 42601: kernel text that cannot be read */
	GP_ERR_VALUE,				/* 22023: an argument out of its range */
	GP_ERR_DATA,				/* 22000: input that the method cannot use */
	GP_ERR_RANGE,				/* 22003: a number too large, or not finite */
	GP_ERR_UNSUPPORTED,			/* 0A000: valid, but not provided */
	GP_ERR_DEVICE,				/* 58000: BLAS or a GPU cannot be used */
	GP_ERR_STACK,				/* 54001: nested deeper than the stack allows */
	GP_ERR_DAMAGED				/* XX001: what was stored of a fit does not fit together */
} gp_error;

/* The phases that progress reports name, in the order of a fit. */
typedef enum gp_phase
{
	GP_PHASE_IDLE,
	GP_PHASE_NODES,				/* reading nodes */
	GP_PHASE_FEATURES,			/* reading features */
	GP_PHASE_EDGES,				/* reading edges */
	GP_PHASE_PLAN,				/* planning */
	GP_PHASE_KERNEL,			/* building the kernel */
	GP_PHASE_DIAGONAL,			/* exact diagonal */
	GP_PHASE_NUGGET,			/* choosing the nugget */
	GP_PHASE_POSTERIOR,			/* posterior */
	GP_PHASE_STORE,				/* storing */
	GP_PHASE_PAIRS,				/* scoring pairs */
	GP_PHASE_CLUSTERS,			/* clustering */
	GP_PHASE_TRAIN,				/* training */
	GP_PHASE_COUNT
} gp_phase;

typedef struct gp_env gp_env;

#define GP_ENV_SPARES 16

struct gp_env
{
	/* Whose functions these are: itself, or the host that it was derived from. */
	gp_env	   *host;

	/* Returns NULL when there is no memory; the core raises the error. */
	void	   *(*alloc) (gp_env *env, size_t bytes);
	void		(*release) (gp_env *env, void *p);

	/*
	 * Gives what alloc returned another size, in place where the host can, so that old
	 * and new need not be held at once; the start may move, the content moves along.
	 * Returns NULL when there is no memory.  May be absent: then it is copied.
	 */
	void	   *(*resize) (gp_env *env, void *p, size_t old, size_t bytes);

	/* True when a cancel waits; safe to poll inside a block of work, and from any thread. */
	bool		(*interrupt_pending) (gp_env *env);

	/* Serves pending interrupts; does not return when one ends the query. */
	void		(*check_interrupts) (gp_env *env);

	/* Raises an error, and does not return, when the stack is nearly used up. */
	void		(*check_stack) (gp_env *env);

	/* total <= 0 means that the end is not known. */
	void		(*progress) (gp_env *env, gp_phase phase, int64_t done, int64_t total);

	/* Does not return.  position is a 1-based character, or 0; hint may be NULL. */
	void		(*raise) (gp_env *env, gp_error code, int position,
						  const char *message, const char *hint);

	/* Tells the user something that is no error; hint may be NULL. */
	void		(*notice) (gp_env *env, const char *message, const char *hint);

	/* Runs release(resource) when the environment ends, also after an error. */
	void		(*own) (gp_env *env, void (*release) (void *), void *resource);

	/* Forgets a resource that its owner has released itself. */
	void		(*disown) (gp_env *env, void *resource);

	size_t		used;			/* bytes held now, set by gp_alloc and gp_free */
	size_t		peak;			/* the high-water mark of used */
	size_t		limit;			/* refuse to hold more; 0 = no limit */
	size_t		host_left;		/* of a dry run: what its host might hold more when it began */
	size_t	   *account;		/* bytes of all environments that share the limit; NULL = of this
								 * one */

	/* What is freed waits for the next request of its size, as far as that leaves the peak alone:
	 * the first touch of pages costs as much as a product. */
	bool		spares;
	int			nspare;			/* the oldest first; not in used */
	void	   *spare[GP_ENV_SPARES];
	size_t		spare_bytes;

	/*
	 * A dry run: only accounted for.  Values (gp_alloc_values) have no memory,
	 * so that whoever would read or write them on the host leaves it.
	 */
	bool		dry;

	/* What a training has reached, told with its progress; NAN before its first step. */
	double		objective;

	/* Spreads keys that users choose over hash tables; no result depends on it. */
	uint64_t	hash_seed;
};

/* Allocates 64-byte aligned memory, counted against the limit; never NULL. */
extern void *gp_alloc(gp_env *env, size_t bytes);

/* The same for count items of size bytes each, checked against overflow. */
extern void *gp_alloc_array(gp_env *env, int64_t count, size_t size);

/* gp_alloc_array, zero filled. */
extern void *gp_alloc_zero(gp_env *env, int64_t count, size_t size);

/* gp_alloc_array for numbers that a device gives or takes; in a dry run there is no room behind
 * it. */
extern void *gp_alloc_values(gp_env *env, int64_t count, size_t size);

/* Grows (or makes, when p is NULL) an array to count items, keeping the old ones. */
extern void *gp_realloc_array(gp_env *env, void *p, int64_t count, size_t size);

/* Has an array, which has room for so many items, take one more behind n. */
#define GP_GROW(env, array, n, room) \
	((n) < (room) ? (void) 0 : \
	 (void) ((room) = (room) ? 2 * (room) : 16, \
			 (array) = gp_realloc_array(env, array, room, sizeof(*(array)))))

/*
 * The same for an array that takes most of the memory: it grows, or shrinks, by
 * the host's resize, and only the difference counts.
 */
extern void *gp_resize_array(gp_env *env, void *p, int64_t count, size_t size);

/* The bytes that the environment may hold itself, as others of its account hold some; 0 = no
 * limit. */
extern size_t gp_limit(const gp_env *env);

/* The bytes that it may hold beside those that it holds, in a dry run those that its host may;
 * SIZE_MAX without a limit. */
extern size_t gp_left(const gp_env *env);

/* Frees what gp_alloc returned; NULL is allowed.  gp_free_all frees several, in this order. */
extern void gp_free(gp_env *env, void *p);
extern void gp_free_array(gp_env *env, int n, const void *const *p);

#define gp_free_all(env, ...) \
	gp_free_array(env, sizeof((const void *[]) {__VA_ARGS__}) / sizeof(void *), \
				  (const void *[]) {__VA_ARGS__})

/*
 * Asks for large pages behind memory that will be filled: the first touch of small ones
 * costs as much as a product, and who jumps about in them misses more.  Little memory
 * is left alone; the system may as well not.
 */
extern void gp_use_large_pages(void *p, size_t bytes);

/* The bytes that gp_alloc counts for a request of this size. */
extern size_t gp_alloc_size(size_t bytes);

/* Frees what waits. */
extern void gp_drop_spares(gp_env *env);

/*
 * An environment with a host's memory, errors and interrupts, but with a count of its own and
 * without a limit; it reports no progress and no notice.
 */
extern gp_env gp_env_derive(const gp_env *host);

/* Raises an error with a formatted message, which points at a 1-based character of the kernel text,
 * or at none, 0; hint may be NULL. */
extern void gp_raise_at(gp_env *env, gp_error code, int position, const char *hint,
						const char *format,...)
			__attribute__((noreturn, format(printf, 5, 6)));

#define gp_raise(env, code, hint, ...) gp_raise_at(env, code, 0, hint, __VA_ARGS__)

/* Sends a formatted notice; hint may be NULL. */
extern void gp_notice(gp_env *env, const char *hint, const char *format,...)
			__attribute__((format(printf, 3, 4)));

/* Multiplies two sizes; raises GP_ERR_LIMIT when the product does not fit. */
extern size_t gp_size_mul(gp_env *env, size_t a, size_t b);

/*
 * Comes first in every function whose depth of recursion is the user's choice.
 * What can be a loop over numbered steps needs none.
 */
static inline void
gp_check_stack(gp_env *env)
{
	env->check_stack(env);
}

#define GP_POLL_EVERY 65536		/* units of work of a loop between two polls */
#define GP_POLL_ROWS 256		/* the same where a unit is a row, or a node with its edges */

/* Serves interrupts when the work done has come to *next, and sets that further on; *next starts at
 * 0. */
static inline void
gp_poll(gp_env *env, int64_t done, int64_t *next)
{
	if (done < *next)
		return;
	env->check_interrupts(env);
	*next = done + GP_POLL_EVERY;
}

/*
 * A loop over i = 0 .. n - 1 that serves interrupts every GP_POLL_EVERY units of work; done is an
 * expression for the work before item i:
 *
 *		GP_EACH(env, k, n, k)						an item is a unit
 *		GP_EACH(env, i, s->rows, s->start[i])		an entry of a sparse matrix is
 */
#define GP_EACH(env, i, n, done) \
	for (int64_t i = 0, i##_poll = 0; i < (n) && gp_poll_on(env, done, &i##_poll); i++)

/* gp_poll in the condition of a loop: true. */
static inline bool
gp_poll_on(gp_env *env, int64_t done, int64_t *next)
{
	gp_poll(env, done, next);
	return true;
}

/*
 * Moves low on to the first place before end where a condition on the place at no longer holds, or
 * to end; it holds from low up to there and nowhere behind.
 */
#define GP_BISECT(low, end, at, condition) \
	do \
	{ \
		for (int64_t end_ = (end); low < end_;) \
		{ \
			int64_t		at = low + (end_ - low) / 2; \
	\
			if (condition) \
				low = at + 1; \
			else \
				end_ = at; \
		} \
	} while (0)

/* So many items of values, of which a dry run has none. */
static inline int64_t
gp_items(const gp_env *env, int64_t n)
{
	return env->dry ? 0 : n;
}

#endif							/* GP_ENV_H */
