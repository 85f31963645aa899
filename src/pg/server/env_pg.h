/*
 * env_pg.h - the server as the core's environment.
 *
 * The environment lives in a memory context of its own.  A reset or delete of
 * that context, on the normal path or after an error, releases what the core
 * owns (threads, a device) and all its memory.
 */
#ifndef GNNGP_ENV_PG_H
#define GNNGP_ENV_PG_H

#include "core/base/base.h"
#include "core/base/sort.h"
#include "miscadmin.h"

/*
 * Makes an environment in a new context under parent.  All environments of the
 * backend share gnngp.memory_limit.  Kernel texts use it too: it is cheap.
 */
extern gp_env *gnngp_env_create(MemoryContext parent);

/*
 * Makes an environment below another one, which it ends with.  Its accounts begin
 * with those of its parent, which is not to be used as long as the child is.
 */
extern gp_env *gnngp_env_create_child(gp_env *parent);

/*
 * Hands what an environment holds, and what it collected to say, to an outer one, which it is a
 * child of, or a child's child; it is not used any more.
 */
extern void gnngp_env_join(gp_env *env, gp_env *outer);

/* What an environment that is kept holds, and what it was made for: a kind, then what tells them
 * apart. */
typedef int64 gnngp_kept_key[8];
enum gnngp_kept_kind
{
	GNNGP_KEPT_LINKS = 1,
	GNNGP_KEPT_LIVE,
	GNNGP_KEPT_GRAPH
};

/*
 * Keeps the environment for a later call, one at a time, unless it takes more than so many bytes:
 * it hangs below another context, and is destroyed where its memory is needed.
 */
extern void gnngp_env_keep(gp_env *env, MemoryContext parent, size_t most,
						   const gnngp_kept_key key, void *what);

/*
 * Goes on with what is kept of this key, in an environment that ends with the current memory
 * context; NULL where there is none, or no memory for it: what else is kept is destroyed then.
 */
extern void *gnngp_env_resume(const gnngp_kept_key key);

/* Frees the environment and everything made in it. */
extern void gnngp_env_destroy(gp_env *env);

/*
 * The text that positions in errors refer to, so that a client can show
 * the place, and what it is: a kernel or a method.  Both must live as long as the
 * environment.  NULL forgets the text.
 */
extern void gnngp_env_set_text(gp_env *env, const char *text, const char *text_is);

/*
 * Keeps what the environment and its children have to say, to be told in one notice: the first
 * message, and of several, its hint and then the others, each before its own, in the detail.
 */
extern void gnngp_env_collect_notices(gp_env *env);

/* Sends what was collected as one notice. */
extern void gnngp_env_send_notices(gp_env *env);

/*
 * What raises errors of a device (GP_ERR_DEVICE) in the environment's place while a card is open in
 * it, with what they are of; it does not return.  NULL: the environment.
 */
typedef void (*gnngp_device_error) (const char *what, const char *message, const char *hint);

extern void gnngp_env_set_device_error(gp_env *env, gnngp_device_error device_error,
									   const char *what);

/*
 * True when the environment's last error was raised so; or was about memory, while a
 * card was open: it may be that the work fits without a card's buffers.
 */
extern bool gnngp_env_device_failed(const gp_env *env);

/* CHECK_FOR_INTERRUPTS, which ends the backend, too, when its postmaster is gone. */
extern void gnngp_check_interrupts(void);

/* Checks for interrupts at every so many items of a loop. */
static inline void
gnngp_poll(int64 i)
{
	if (i % GP_POLL_EVERY == 0)
		gnngp_check_interrupts();
}

/* gp_sort in the server: for items of any number, with their memory within the limit. */
extern void gnngp_sort(void *base, int64 n, Size size, gp_compare compare, void *arg);

/* Sorts numbers, in place. */
extern void gnngp_sort_keys(uint64 *key, size_t n);

/*
 * ---- the account ----
 *
 * All environments of a backend and the states of aggregates share one account, which is held
 * against gnngp.memory_limit; what is kept for a later call is outside of it.  What an error or a
 * cancel leaves behind is given back by the memory contexts that it was counted in.
 */

/* Memory outside of any environment; begins zeroed, and lives in the context it is counted in. */
typedef struct gnngp_holding
{
	MemoryContextCallback callback;
	size_t		bytes;
} gnngp_holding;

/* Sets the bytes of a holding; they are given back with the context. */
extern void gnngp_account_hold(gnngp_holding *holding, MemoryContext context, size_t bytes);

/* Destroys what is kept where so many bytes more would not fit beside it; limit 0 is none. */
extern void gnngp_account_make_room(size_t bytes, size_t limit);

/* Destroys what is kept when it takes more than so many bytes: 0 in any case. */
extern void gnngp_account_give_up(size_t most);

/* What gnngp.memory_limit leaves, in bytes. */
extern size_t gnngp_account_left(void);

#endif							/* GNNGP_ENV_PG_H */
