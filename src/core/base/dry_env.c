/*
 * dry_env.c - the environment of a dry run.
 *
 * It takes its memory from the host's and passes interrupts and errors on, but
 * has its own count of the bytes held, and no limit.
 */
#include "env.h"

typedef struct dry_env
{
	gp_env		env;
	gp_env	   *host;
} dry_env;

/* The environment beneath. */
static gp_env *
host_of(gp_env *env)
{
	return ((dry_env *) env)->host;
}

/* The calls that pass on. */
static void *
dry_alloc(gp_env *env, size_t bytes)
{
	return host_of(env)->alloc(host_of(env), bytes);
}

static void
dry_release(gp_env *env, void *p)
{
	host_of(env)->release(host_of(env), p);
}

static bool
dry_interrupt_pending(gp_env *env)
{
	return host_of(env)->interrupt_pending(host_of(env));
}

static void
dry_check_interrupts(gp_env *env)
{
	host_of(env)->check_interrupts(host_of(env));
}

static void
dry_check_stack(gp_env *env)
{
	host_of(env)->check_stack(host_of(env));
}

static void
dry_raise(gp_env *env, gp_error code, int position, const char *message, const char *hint)
{
	host_of(env)->raise(host_of(env), code, position, message, hint);
}

static void
dry_own(gp_env *env, void (*release) (void *), void *resource)
{
	host_of(env)->own(host_of(env), release, resource);
}

static void
dry_disown(gp_env *env, void *resource)
{
	host_of(env)->disown(host_of(env), resource);
}

/* Nothing happens that anybody should hear of. */
static void
dry_progress(gp_env *env, gp_phase phase, int64_t done, int64_t total)
{
}

static void
dry_notice(gp_env *env, const char *message, const char *hint)
{
}

gp_env *
gp_env_dry_open(gp_env *host)
{
	dry_env    *dry = gp_alloc_zero(host, 1, sizeof(dry_env));

	dry->host = host;
	dry->env = (gp_env) {
		.alloc = dry_alloc,
		.release = dry_release,
		.interrupt_pending = dry_interrupt_pending,
		.check_interrupts = dry_check_interrupts,
		.check_stack = dry_check_stack,
		.progress = dry_progress,
		.raise = dry_raise,
		.notice = dry_notice,
		.own = dry_own,
		.disown = dry_disown,
		.left = gp_left(host),
		.dry = true,
		.hash_seed = host->hash_seed
	};
	return &dry->env;
}

void
gp_env_dry_close(gp_env *dry)
{
	gp_free(host_of(dry), dry);
}
