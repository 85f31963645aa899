/*
 * lock.c - one fit at a time for each model.
 *
 * The lock is of the class of locks on objects, under a number that no object
 * has.  It can be held across commits, and the server releases it when a session
 * ends or a transaction fails; unlike an advisory lock, code in the user's
 * views cannot release it.  A second lock tells a refresh from a fit.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog.h"
#include "catalog/pg_extension_d.h"
#include "common/hashfn.h"
#include "compat.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"

/* Extensions have no parts, so the server uses 0 here. */
#define LOCK_FIT 1
#define LOCK_REFRESH 2

/* The tag of a model: a hash of its owner and name, in this database. */
static LOCKTAG
model_tag(const char *owner, const char *name, uint16 part)
{
	uint64		key = hash_bytes_extended((const unsigned char *) owner, strlen(owner), 0);
	LOCKTAG		tag;

	/* 14 bits of the hash go beside the part. */
	key = hash_bytes_extended((const unsigned char *) name, strlen(name), key);
	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, (uint32) key,
					   (uint16) ((key >> 32) << 2 | part));
	return tag;
}

/* True when this session holds the lock. */
static bool
held_by_us(const LOCKTAG *tag)
{
	return gnngp_lock_held(tag, ExclusiveLock);
}

/* Takes a lock; 55006 when another session holds it. */
static void
take(const LOCKTAG *tag, const char *name, bool session)
{
	if (LockAcquire(tag, ExclusiveLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("model \"%s\" is being fitted by another session", name),
				 errhint("Wait until it is done; the view gp_progress shows how far it is.")));
}

/* Releases a lock of the session; an abort has done so already. */
static void
release(const LOCKTAG *tag)
{
	if (held_by_us(tag))
		(void) LockRelease(tag, ExclusiveLock, true);
}

/* Takes the lock of a model until the transaction ends. */
void
gnngp_model_lock(const char *owner, const char *name)
{
	LOCKTAG		tag;

	gnngp_check_name("model", name);
	tag = model_tag(owner, name, LOCK_FIT);
	take(&tag, name, false);
}

/* Takes the lock of a model for a refresh. */
void
gnngp_refresh_lock(const char *owner, const char *name, bool session)
{
	LOCKTAG		fit = model_tag(owner, name, LOCK_FIT);
	LOCKTAG		refresh = model_tag(owner, name, LOCK_REFRESH);

	take(&fit, name, session);
	take(&refresh, name, session);
}

/* Releases what a refresh took for the session. */
void
gnngp_refresh_unlock(const char *owner, const char *name)
{
	LOCKTAG		fit = model_tag(owner, name, LOCK_FIT);
	LOCKTAG		refresh = model_tag(owner, name, LOCK_REFRESH);

	release(&refresh);
	release(&fit);
}

/* True when some session refreshes a model.  Takes no lock to find out. */
static bool
is_refreshing(const char *owner, const char *name)
{
	LOCKTAG		tag = model_tag(owner, name, LOCK_REFRESH);
	int			holders;

	if (held_by_us(&tag))
		return true;
	(void) GetLockConflicts(&tag, ShareLock, &holders);
	return holders > 0;
}

PG_FUNCTION_INFO_V1(gnngp_is_refreshing);

/*
 * gp_is_refreshing(owner, model): for the log's rows that say 'running'.  A
 * standby knows nothing of the primary's locks and believes the row.
 */
Datum
gnngp_is_refreshing(PG_FUNCTION_ARGS)
{
	if (RecoveryInProgress())
		PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(is_refreshing(NameStr(*PG_GETARG_NAME(0)),
								 text_to_cstring(PG_GETARG_TEXT_PP(1))));
}
