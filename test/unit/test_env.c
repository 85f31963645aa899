/*
 * test_env.c - the environment of the unit tests: malloc, longjmp, counters.
 *
 * Errors go to the innermost test_catch; one that nobody catches ends the
 * program.  Any allocation, and any check for interrupts, can be made to fail.
 */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

/* Stands before every block, so that an error can free them all. */
struct test_block
{
	test_block *prev;
	test_block *next;
};

struct test_owned
{
	void		(*release) (void *);
	void	   *resource;
	test_owned *next;
};

/* Its counters and the last error. */
test_host *
test_state(gp_env *env)
{
	return (test_host *) env->host;
}

/* malloc, or the fault that the test asked for. */
static void *
host_alloc(gp_env *env, size_t bytes)
{
	test_host  *host = test_state(env);

	host->allocations++;
	if (host->allocations == host->fail_at || bytes > SIZE_MAX - sizeof(test_block))
		return NULL;
	test_block *block = malloc(sizeof(test_block) + bytes);
	if (block == NULL)
		return NULL;
	block->prev = NULL;
	block->next = host->blocks;
	if (host->blocks != NULL)
		host->blocks->prev = block;
	host->blocks = block;
	host->live++;
	return block + 1;
}

/* free */
static void
host_release(gp_env *env, void *p)
{
	test_host  *host = test_state(env);
	test_block *block = (test_block *) p - 1;

	if (block->prev != NULL)
		block->prev->next = block->next;
	else
		host->blocks = block->next;
	if (block->next != NULL)
		block->next->prev = block->prev;
	host->live--;
	free(block);
}

/* Another block of the other size, which never lies where the old one lay. */
static void *
host_resize(gp_env *env, void *p, size_t old, size_t bytes)
{
	void	   *new = host_alloc(env, bytes);

	if (new != NULL)
	{
		memcpy(new, p, old < bytes ? old : bytes);
		host_release(env, p);
	}
	return new;
}

/* Jumps to the innermost test_catch. */
static void
host_raise(gp_env *env, gp_error code, int position, const char *message, const char *hint)
{
	test_host  *host = test_state(env);

	host->code = code;
	host->position = position;
	snprintf(host->message, sizeof(host->message), "%s", message);
	snprintf(host->hint, sizeof(host->hint), "%s", hint != NULL ? hint : "");
	if (host->frame == NULL)
	{
		printf("Bail out! error %d at %d: %s (%s)\n", (int) code, position, message,
			   host->hint);
		exit(2);
	}
	longjmp(host->frame->buffer, 1);
}

/* True when a cancel waits. */
static bool
host_interrupt_pending(gp_env *env)
{
	return test_state(env)->cancel;
}

/* Cancels at the check that the test asked for. */
static void
host_check_interrupts(gp_env *env)
{
	test_host  *host = test_state(env);

	host->checks++;
	if (host->cancel || host->checks == host->cancel_at)
		host_raise(env, TEST_CANCELLED, 0, "canceling statement due to user request", NULL);
}

/* Raises an error beyond the stack that the test allows. */
static void
host_check_stack(gp_env *env)
{
	test_host  *host = test_state(env);
	const char *here = __builtin_frame_address(0);
	ptrdiff_t	used = host->stack_base > here ? host->stack_base - here : here - host->stack_base;

	if (host->stack_base != NULL && used > host->stack_limit)
		host_raise(env, GP_ERR_STACK, 0, "stack depth limit exceeded", NULL);
}

/* Remembers the last report. */
static void
host_progress(gp_env *env, gp_phase phase, int64_t done, int64_t total)
{
	test_host  *host = test_state(env);

	host->reports++;
	host->phase = phase;
	host->done = done;
	host->total = total;
}

/* Remembers the last notice. */
static void
host_notice(gp_env *env, const char *message, const char *hint)
{
	test_host  *host = test_state(env);

	host->notices++;
	snprintf(host->notice, sizeof(host->notice), "%s", message);
	snprintf(host->notice_hint, sizeof(host->notice_hint), "%s", hint ? hint : "");
}

/* Keeps a resource until the environment ends. */
static void
host_own(gp_env *env, void (*release) (void *), void *resource)
{
	test_host  *host = test_state(env);
	test_owned *owned = malloc(sizeof(test_owned));

	if (owned == NULL)
	{
		release(resource);
		host_raise(env, GP_ERR_MEMORY, 0, "out of memory", NULL);
	}
	owned->release = release;
	owned->resource = resource;
	owned->next = host->owned;
	host->owned = owned;
	host->resources++;
}

/* Forgets a resource. */
static void
host_disown(gp_env *env, void *resource)
{
	test_host  *host = test_state(env);

	for (test_owned **at = &host->owned; *at != NULL; at = &(*at)->next)
	{
		test_owned *owned = *at;

		if (owned->resource == resource)
		{
			*at = owned->next;
			free(owned);
			host->resources--;
			return;
		}
	}
}

/* Sets the functions of an environment. */
static void
fill_environment(gp_env *env)
{
	env->host = env;
	env->alloc = host_alloc;
	env->release = host_release;
	env->resize = host_resize;
	env->interrupt_pending = host_interrupt_pending;
	env->check_interrupts = host_check_interrupts;
	env->check_stack = host_check_stack;
	env->progress = host_progress;
	env->raise = host_raise;
	env->notice = host_notice;
	env->own = host_own;
	env->disown = host_disown;
}

/* Makes an environment. */
gp_env *
test_env(void)
{
	test_host  *host = calloc(1, sizeof(test_host));

	if (host == NULL)
	{
		printf("Bail out! out of memory\n");
		exit(2);
	}
	fill_environment(&host->env);
	return &host->env;
}

/* Frees everything made in it and releases what it owns; counters and faults start again. */
void
test_env_reset(gp_env *env)
{
	test_host  *host = test_state(env);
	test_frame *frame = host->frame;

	while (host->owned != NULL)
	{
		test_owned *owned = host->owned;

		host->owned = owned->next;
		owned->release(owned->resource);
		free(owned);
	}
	while (host->blocks != NULL)
	{
		test_block *block = host->blocks;

		host->blocks = block->next;
		free(block);
	}
	memset(host, 0, sizeof(*host));
	fill_environment(env);
	host->frame = frame;
}

/* Ends it.  Returns the blocks and resources that were still held. */
int64_t
test_env_close(gp_env *env)
{
	test_host  *host = test_state(env);
	int64_t		held = host->live + host->resources;

	test_env_reset(env);
	free(host);
	return held;
}

/* Sends errors to this frame. */
void
test_push(gp_env *env, test_frame *frame)
{
	frame->up = test_state(env)->frame;
	test_state(env)->frame = frame;
}

/* Sends errors to the frame before. */
void
test_pop(gp_env *env)
{
	test_host  *host = test_state(env);

	host->frame = host->frame->up;
}

/* Starts again, to be disturbed. */
void
test_env_disturb(gp_env *env, test_fault fault, int64_t at)
{
	test_env_reset(env);
	*(fault == TEST_CANCEL ? &test_state(env)->cancel_at : &test_state(env)->fail_at) = at;
}

/* The place to disturb after another: stride later, and one in 16 further. */
int64_t
test_next_place(int64_t at, int64_t stride)
{
	return at + stride + (getenv("GNNGP_LONG") == NULL ? at / 16 : 0);
}

/* One test of how often a run was disturbed. */
void
test_disturbed(const char *what, test_fault fault, int64_t times, int64_t least, bool sound)
{
	char		name[200];

	snprintf(name, sizeof(name), "%s: %s %d times, one at a time", what,
			 fault == TEST_CANCEL ? "cancelled" : "refused an allocation", (int) times);
	ok(sound && times > least, name);
}
