/*
 * lock.c - one fit at a time for each model.
 *
 * The lock is of the class of advisory locks, which can be held across commits
 * and which the server releases when a session ends, under a number that the
 * SQL functions for advisory locks never use.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"

/* pg_advisory_lock uses 1 and 2 here. */
#define LOCK_CLASS 0x6770

/* The tag of a model: a hash of its owner and name, in this database. */
static LOCKTAG
model_tag(const char *owner, const char *name)
{
	uint64		key = hash_bytes_extended((const unsigned char *) owner, strlen(owner), 0);
	LOCKTAG		tag;

	key = hash_bytes_extended((const unsigned char *) name, strlen(name), key);
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, LOCK_CLASS);
	return tag;
}

/* Takes the lock of a model; 55006 when another session holds it. */
void
gnngp_model_lock(const char *owner, const char *name, bool session)
{
	LOCKTAG		tag;

	gnngp_check_name("model", name);
	tag = model_tag(owner, name);
	if (LockAcquire(&tag, ExclusiveLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("model \"%s\" is being fitted by another session", name),
				 errhint("Wait until it is done; the view gp_progress shows how far it is.")));
}

/* Releases a lock that was taken for the session. */
void
gnngp_model_unlock(const char *owner, const char *name)
{
	LOCKTAG		tag = model_tag(owner, name);

	(void) LockRelease(&tag, ExclusiveLock, true);
}

/* True when this session holds the lock. */
static bool
held_by_us(const LOCKTAG *tag)
{
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(tag, ExclusiveLock, false);
#else
	return LockHeldByMe(tag, ExclusiveLock);
#endif
}

/* True when some session holds the lock of a model.  Takes no lock to find out. */
bool
gnngp_model_is_locked(const char *owner, const char *name)
{
	LOCKTAG		tag = model_tag(owner, name);
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
	PG_RETURN_BOOL(gnngp_model_is_locked(NameStr(*PG_GETARG_NAME(0)),
										 text_to_cstring(PG_GETARG_TEXT_PP(1))));
}
