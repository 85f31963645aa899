/*
 * env_pg.h - the server as the core's environment.
 *
 * The environment lives in a memory context of its own.  A reset or delete of
 * that context, on the normal path or after an error, releases what the core
 * owns (threads, a device) and all its memory.
 */
#ifndef GNNGP_ENV_PG_H
#define GNNGP_ENV_PG_H

#include "postgres.h"

#include "core/device.h"
#include "core/env.h"

/*
 * Makes an environment in a new context under parent.  limit 0 takes
 * gnngp.memory_limit (bytes).  Kernel texts use it too: it is cheap.
 */
extern gp_env *gnngp_env_create(MemoryContext parent, size_t limit);

/* Hangs the environment below another context, whose end is its own from then on. */
extern void gnngp_env_move(gp_env *env, MemoryContext parent);

/* Frees the environment and everything made in it. */
extern void gnngp_env_destroy(gp_env *env);

/*
 * The kernel text that positions in errors refer to, so that a client can show
 * the place; it must live as long as the environment.  NULL forgets it.
 */
extern void gnngp_env_set_text(gp_env *env, const char *text);

/* Opens the device that gnngp.device asks for; threads 0 takes gnngp.threads. */
extern gp_device *gnngp_device_open(gp_env *env, int threads);

/* The effective gnngp.memory_limit in bytes. */
extern size_t gnngp_memory_limit(void);

#endif							/* GNNGP_ENV_PG_H */
