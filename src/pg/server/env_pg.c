/*
 * env_pg.c - the server as the core's environment.
 */
#include "postgres.h"

#include <time.h>

#include "common/pg_prng.h"
#include "env_pg.h"
#include "lib/ilist.h"
#include "nodes/pg_list.h"
#include "progress.h"
#include "raise.h"
#include "settings.h"
#include "storage/pmsignal.h"
#include "utils/memutils.h"

/* The longest text of a kernel or method that an error shows. */
#define TEXT_SHOWN 4096

/* A foreign resource; release is NULL once its owner has released it. */
typedef struct owned_resource
{
	MemoryContextCallback callback;
	void		(*release) (void *);
	void	   *resource;
	struct owned_resource *next;
} owned_resource;

/* What a computation has to say (notices.c). */
typedef struct gnngp_notices
{
	MemoryContext context;
	List	   *messages;
	List	   *hints;			/* of each, or NULL */
} gnngp_notices;

typedef struct server_env
{
	gp_env		env;			/* first: the core's pointer is ours */
	MemoryContext context;
	gp_env	   *parent;			/* of a child, else NULL */
	size_t		inherited;		/* bytes that a child's parent had held already */
	MemoryContextCallback end;
	dlist_node	living;			/* while it is in the account */
	const char *text;
	const char *text_is;		/* kernel or method */
	owned_resource *owned;
	gnngp_notices *notices;		/* NULL: they are told at once */
	gnngp_device_error device_error;	/* NULL: errors of a device are like others */
	const char *device_what;
	bool		device_failed;
} server_env;

static dlist_head living = DLIST_STATIC_INIT(living);

/* What the backend holds. */
static size_t held = 0;

/* What stands behind an environment, or behind the one that it was derived from. */
static server_env *
server_of(gp_env *env)
{
	return (server_env *) env->host;
}

/* Makes room for bytes: what is kept, and blocks of other environments that wait, are in no
 * account. */
static void
make_room(gp_env *env, size_t bytes)
{
	dlist_iter	it;

	dlist_foreach(it, &living)
	{
		gp_env	   *other = &dlist_container(server_env, living, it.cur)->env;

		if (other != env->host)
			gp_drop_spares(other);
	}
	gnngp_account_make_room(bytes, env->host->limit);
}

/* Takes memory of any size from the context; NULL when there is none. */
static void *
env_alloc(gp_env *env, size_t bytes)
{
	make_room(env, bytes);
	if (!AllocHugeSizeIsValid(bytes))
		return NULL;
	return MemoryContextAllocExtended(server_of(env)->context, bytes,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void
env_release(gp_env *env, void *p)
{
	pfree(p);
}

/* Gives memory another size; the C library moves pages of large blocks instead of copying them. */
static void *
env_resize(gp_env *env, void *p, size_t old, size_t bytes)
{
	if (bytes > old)
		make_room(env, bytes - old);
	return AllocHugeSizeIsValid(bytes) ? repalloc_huge(p, bytes) : NULL;
}

/* True where check_interrupts may end the query. */
static inline bool
may_be_interrupted(void)
{
	return InterruptHoldoffCount == 0 && QueryCancelHoldoffCount == 0 && CritSectionCount == 0;
}

/* True when an interrupt waits that check_interrupts would serve; any thread may ask. */
static bool
env_interrupt_pending(gp_env *env)
{
	bool		waits = InterruptPending;

#ifdef USE_POSTMASTER_DEATH_SIGNAL
	waits = waits || postmaster_possibly_dead;
#endif
	return waits && may_be_interrupted();
}

/* True when the postmaster is gone: where that takes a system call, it is asked once a second. */
static bool
postmaster_is_gone(void)
{
#ifndef USE_POSTMASTER_DEATH_SIGNAL
	static time_t asked = 0;

	if (asked == time(NULL))
		return false;
	asked = time(NULL);
#endif
	return IsUnderPostmaster && !PostmasterIsAlive();
}

void
gnngp_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	if (may_be_interrupted() && postmaster_is_gone())
		ereport(FATAL,
				(errcode(ERRCODE_ADMIN_SHUTDOWN),
				 errmsg("terminating connection due to unexpected postmaster exit")));
}

static void
env_check_interrupts(gp_env *env)
{
	gnngp_check_interrupts();
}

static void
env_check_stack(gp_env *env)
{
	check_stack_depth();
}

static void
env_progress(gp_env *env, gp_phase phase, int64_t done, int64_t total)
{
	gnngp_progress_set(phase, done, total, phase == GP_PHASE_TRAIN ? env->objective : NAN);
}

static const int sqlstates[] = {
	[GP_ERR_INTERNAL] = ERRCODE_INTERNAL_ERROR,
	[GP_ERR_MEMORY] = ERRCODE_OUT_OF_MEMORY,
	[GP_ERR_LIMIT] = ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
	[GP_ERR_SYNTAX] = ERRCODE_SYNTAX_ERROR,
	[GP_ERR_VALUE] = ERRCODE_INVALID_PARAMETER_VALUE,
	[GP_ERR_DATA] = ERRCODE_DATA_EXCEPTION,
	[GP_ERR_RANGE] = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
	[GP_ERR_UNSUPPORTED] = ERRCODE_FEATURE_NOT_SUPPORTED,
	[GP_ERR_DEVICE] = ERRCODE_SYSTEM_ERROR,
	[GP_ERR_STACK] = ERRCODE_STATEMENT_TOO_COMPLEX,
	[GP_ERR_DAMAGED] = ERRCODE_DATA_CORRUPTED
};

/*
 * Points at a character of the kernel's or method's text, in the detail and, where a client can
 * show it, in the text: not in one that is too long to be any, which would fill the log.
 */
static int
point_at(const server_env *env, int position)
{
	if (position <= 0)
		return 0;
	if (env->text != NULL && strnlen(env->text, TEXT_SHOWN + 1) <= TEXT_SHOWN)
	{
		internalerrquery(env->text);
		internalerrposition(position);
	}
	return errdetail("At character %d of the %s.", position,
					 env->text_is ? env->text_is : "kernel");
}

static void
env_raise(gp_env *env, gp_error code, int position, const char *message, const char *hint)
{
	server_env *server = server_of(env);

	server->device_failed = server->device_error != NULL &&
		(code == GP_ERR_DEVICE || code == GP_ERR_MEMORY || code == GP_ERR_LIMIT);
	if (server->device_failed && code == GP_ERR_DEVICE)
		server->device_error(server->device_what, message, hint);
	ereport(ERROR,
			(errcode(sqlstates[code]),
			 errmsg_internal("%s", message),
			 point_at(server, position), hint ? errhint("%s", hint) : 0));
}

/* Sends a notice, or keeps it until all are told. */
static void
env_notice(gp_env *env, const char *message, const char *hint)
{
	gnngp_notices *all = ((server_env *) env)->notices;

	if (all)
	{
		/* Keeps a notice once: a fit that is done again on the CPU has the same to say */
		MemoryContext old = MemoryContextSwitchTo(all->context);
		ListCell   *cell;

		foreach(cell, all->messages)
			if (strcmp(lfirst(cell), message) == 0)
				break;
		if (cell == NULL)
		{
			all->messages = lappend(all->messages, pstrdup(message));
			all->hints = lappend(all->hints, hint ? pstrdup(hint) : NULL);
		}
		MemoryContextSwitchTo(old);
	}
	else
		gnngp_notice_report(message, NULL, hint);
}

void
gnngp_env_collect_notices(gp_env *env)
{
	server_env *server = (server_env *) env;

	server->notices = MemoryContextAllocZero(server->context, sizeof(gnngp_notices));
	server->notices->context = server->context;
}

void
gnngp_env_send_notices(gp_env *env)
{
	gnngp_notices *all = ((server_env *) env)->notices;

	((server_env *) env)->notices = NULL;
	if (all)
		gnngp_notice_report_all(all->messages, all->hints);
}

static void
release_resource(void *arg)
{
	owned_resource *owned = arg;

	if (owned->release != NULL)
		owned->release(owned->resource);
	owned->release = NULL;
}

/* Registers a resource; when that fails the resource is released at once. */
static void
env_own(gp_env *env, void (*release) (void *), void *resource)
{
	server_env *server = server_of(env);
	owned_resource *owned = MemoryContextAllocExtended(server->context, sizeof(owned_resource),
													   MCXT_ALLOC_NO_OOM);

	if (owned == NULL)
	{
		release(resource);
		gnngp_raise(OUT_OF_MEMORY, NULL, "out of memory");
	}
	owned->release = release;
	owned->resource = resource;
	owned->next = server->owned;
	owned->callback.func = release_resource;
	owned->callback.arg = owned;
	server->owned = owned;
	MemoryContextRegisterResetCallback(server->context, &owned->callback);
}

static void
env_disown(gp_env *env, void *resource)
{
	for (owned_resource *o = server_of(env)->owned; o != NULL; o = o->next)
		if (o->resource == resource)
			o->release = NULL;
}

/* What is kept for a later call, and in which environment. */
static struct
{
	gp_env	   *env;
	gnngp_kept_key key;
	void	   *what;
}			kept;

static void
destroy_kept(void)
{
	gp_env	   *env = kept.env;

	memset(&kept, 0, sizeof(kept));
	gnngp_env_destroy(env);
}

void
gnngp_account_make_room(size_t bytes, size_t limit)
{
	if (kept.env && limit > 0 && (bytes > limit || held + kept.env->used > limit - bytes))
		destroy_kept();
}

void
gnngp_account_give_up(size_t most)
{
	if (kept.env && kept.env->used > most)
		destroy_kept();
}

static void
end_holding(void *arg)
{
	held -= ((gnngp_holding *) arg)->bytes;
}

void
gnngp_account_hold(gnngp_holding *holding, MemoryContext context, size_t bytes)
{
	if (holding->callback.func == NULL)
	{
		holding->callback.func = end_holding;
		holding->callback.arg = holding;
		MemoryContextRegisterResetCallback(context, &holding->callback);
	}
	held += bytes - holding->bytes;
	holding->bytes = bytes;
}

size_t
gnngp_account_left(void)
{
	size_t		limit = gnngp_setting_memory_limit();

	return limit > held ? limit - held : 0;
}

/* Takes what the environment holds out of the account, and leaves its peak to a parent; its context
 * does so at its end. */
static void
leave_account(void *arg)
{
	server_env *server = arg;

	if (kept.env == &server->env)
		memset(&kept, 0, sizeof(kept));
	if (server->env.account == NULL)
		return;
	if (server->parent != NULL)
		server->parent->peak = Max(server->parent->peak, server->env.peak);
	*server->env.account -= server->env.used - server->inherited;
	server->env.account = NULL;
	dlist_delete(&server->living);
}

gp_env *
gnngp_env_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gnngp environment",
												  ALLOCSET_DEFAULT_SIZES);
	server_env *server = MemoryContextAllocZero(context, sizeof(server_env));

	server->context = context;
	server->env = (gp_env) {
		.host = &server->env,.alloc = env_alloc,.release = env_release,.resize = env_resize,
		.interrupt_pending = env_interrupt_pending,.check_interrupts = env_check_interrupts,
		.check_stack = env_check_stack,.progress = env_progress,.raise = env_raise,
		.notice = env_notice,.own = env_own,.disown = env_disown,
		.limit = gnngp_setting_memory_limit(),.account = &held,.spares = true,
		.hash_seed = pg_prng_uint64(&pg_global_prng_state)
	};
	dlist_push_head(&living, &server->living);
	server->end = (MemoryContextCallback) {.func = leave_account,.arg = server};
	MemoryContextRegisterResetCallback(context, &server->end);
	return &server->env;
}

gp_env *
gnngp_env_create_child(gp_env *parent)
{
	gp_env	   *env = gnngp_env_create(((server_env *) parent)->context);

	gp_drop_spares(parent);
	((server_env *) env)->parent = parent;
	((server_env *) env)->inherited = parent->used;
	((server_env *) env)->notices = ((server_env *) parent)->notices;
	env->used = parent->used;
	env->peak = parent->peak;
	env->limit = parent->limit;
	gnngp_env_set_text(env, ((server_env *) parent)->text, ((server_env *) parent)->text_is);
	return env;
}

void
gnngp_env_keep(gp_env *env, MemoryContext parent, size_t most, const gnngp_kept_key key, void *what)
{
	if (env->used > most)
	{
		gnngp_env_destroy(env);
		return;
	}
	gnngp_account_give_up(0);
	gp_drop_spares(env);
	leave_account(env);
	gnngp_cache_size_changed = gnngp_account_give_up;
	kept.env = env;
	memcpy(kept.key, key, sizeof(kept.key));
	kept.what = what;
	MemoryContextSetParent(((server_env *) env)->context, parent);
}

void *
gnngp_env_resume(const gnngp_kept_key key)
{
	gp_env	   *env = kept.env;
	void	   *what = kept.what;

	if (env == NULL || memcmp(kept.key, key, sizeof(kept.key)) != 0 ||
		env->used > gnngp_account_left())
	{
		gnngp_account_give_up(0);
		return NULL;
	}
	memset(&kept, 0, sizeof(kept));
	MemoryContextSetParent(((server_env *) env)->context, CurrentMemoryContext);
	env->limit = gnngp_setting_memory_limit();
	env->account = &held;
	*env->account += env->used;
	dlist_push_head(&living, &((server_env *) env)->living);
	return what;
}

void
gnngp_env_join(gp_env *env, gp_env *outer)
{
	const gnngp_notices *said = ((server_env *) env)->notices;

	while (env != outer)
	{
		server_env *server = (server_env *) env;

		gp_drop_spares(env);
		env->account = NULL;
		dlist_delete(&server->living);
		server->parent->used += env->used - server->inherited;
		server->parent->peak = Max(server->parent->peak, env->peak);
		env = server->parent;
	}
	for (int i = 0; said && i < list_length(said->messages); i++)
		env_notice(outer, list_nth(said->messages, i), list_nth(said->hints, i));
}

void
gnngp_env_destroy(gp_env *env)
{
	MemoryContextDelete(((server_env *) env)->context);
}

void
gnngp_env_set_text(gp_env *env, const char *text, const char *text_is)
{
	((server_env *) env)->text = text;
	((server_env *) env)->text_is = text_is;
}

void
gnngp_env_set_device_error(gp_env *env, gnngp_device_error device_error, const char *what)
{
	((server_env *) env)->device_error = device_error;
	((server_env *) env)->device_what = what;
}

bool
gnngp_env_device_failed(const gp_env *env)
{
	return ((const server_env *) env)->device_failed;
}
