/*
 * table_lock.c - locks on the tables of models, for what drops them or gives them away.
 *
 * The server's own DROP and ALTER wait for readers without a limit, and whoever comes to read waits behind them.  So a table is locked
 * before, with all its partitions, or not at all.  Autovacuum alone is waited for: it makes way for a waiter by itself.
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "model_tables.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/syscache.h"

#define AUTOVACUUM_WAIT "5s"	/* it goes after deadlock_timeout */

/* Locks one relation if nobody else has a lock on it. */
static bool
lock_at_once(Oid relation)
{
	return ConditionalLockRelationOid(relation, AccessExclusiveLock);
}

/* Locks one relation that nobody else has a lock on but autovacuum, which it waits for. */
static bool
lock_soon(Oid relation)
{
	int			level;

	if (lock_at_once(relation))
		return true;
	if (gnngp_table_ask("SELECT FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid"
						" WHERE l.locktype = 'relation' AND l.relation = $1 AND l.pid IS DISTINCT FROM pg_backend_pid()"
						" AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())"
						" AND a.backend_type IS DISTINCT FROM 'autovacuum worker'", relation, InvalidOid, "") > 0)
		return false;
	level = NewGUCNestLevel();
	gnngp_pin("lock_timeout", AUTOVACUUM_WAIT);
	LockRelationOid(relation, AccessExclusiveLock);
	AtEOXact_GUC(false, level);
	return true;
}

/* A table with its partitions; none where it was dropped before it was locked. */
static List *
whole(Oid table)
{
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table)) ? find_all_inheritors(table, NoLock, NULL) : NIL;
}

/* Locks a table and then its partitions; returns that which another session has a lock on, in which case none stays locked. */
static Oid
lock_whole(Oid table, bool (*lock) (Oid relation))
{
	List	   *taken = NIL;
	Oid			busy = InvalidOid;
	ListCell   *cell;

	if (!lock(table))
		return table;
	foreach(cell, whole(table))
	{
		if (lfirst_oid(cell) != table && !lock(lfirst_oid(cell)))
		{
			busy = lfirst_oid(cell);
			break;
		}
		taken = lappend_oid(taken, lfirst_oid(cell));
	}
	if (OidIsValid(busy))
		foreach(cell, taken)
			UnlockRelationOid(lfirst_oid(cell), AccessExclusiveLock);
	return busy;
}

/* Locks a table that nobody reads. */
bool
gnngp_table_lock_unused(Oid table)
{
	return !OidIsValid(lock_whole(table, lock_at_once));
}

/* Gives a table free again that nothing was done to. */
void
gnngp_table_unlock(Oid table)
{
	ListCell   *cell;

	foreach(cell, whole(table))
		UnlockRelationOid(lfirst_oid(cell), AccessExclusiveLock);
}

/* Locks tables, in the order of their oids. */
void
gnngp_tables_lock(List *tables, Oid owner)
{
	ListCell   *cell;

	list_sort(tables, list_oid_cmp);
	foreach(cell, tables)
	{
		const char *quoted = gnngp_table_name(lfirst_oid(cell), owner);

		if (quoted && OidIsValid(lock_whole(lfirst_oid(cell), lock_soon)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("table %s of a model is in use by another session", quoted),
					 errhint("Wait until that session's transaction ends; pg_locks shows who has a lock on the table or on a partition of it.")));
	}
}
