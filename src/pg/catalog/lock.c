/*
 * lock.c - one fit at a time for each model, and none beside a change of its graph.
 *
 * The locks are of the class of locks on objects, under a number that no object
 * has.  They can be held across commits, and the server releases them when a
 * session ends or a transaction fails; unlike advisory locks, code in the user's
 * views cannot release them.  A lock of its own tells a refresh from a fit.  No lock is waited for:
 * another session's transaction may stay open for hours.
 */
#include "postgres.h"

#include "catalog/pg_extension_d.h"
#include "catalog_internal.h"
#include "common/hashfn.h"
#include "storage/lock.h"

/* Extensions have no parts, so the server uses 0 here. */
#define LOCK_FIT 1
#define LOCK_REFRESH 2
#define LOCK_GRAPH 3

/* The tag of a hash, in this database; 14 bits of it go beside the part. */
static LOCKTAG
make_tag(uint64 key, uint16 part)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, (uint32) key,
					   (uint16) ((key >> 32) << 2 | part));
	return tag;
}

/* The tag of an owner and a name, of which there may yet be no row. */
static LOCKTAG
name_tag(Oid owner, const char *name, uint16 part)
{
	uint64		key = hash_bytes_extended((const unsigned char *) &owner, sizeof(owner),
										  part == LOCK_GRAPH ? LOCK_GRAPH : 0);

	return make_tag(hash_bytes_extended((const unsigned char *) name, strlen(name), key), part);
}

static LOCKTAG
graph_tag(int64 id)
{
	return make_tag(hash_bytes_extended((const unsigned char *) &id, sizeof(id), 0), LOCK_GRAPH);
}

/* Takes a lock; 55006 when another session holds it.  kind and name are for the message. */
static void
acquire(LOCKTAG tag, LOCKMODE mode, bool session, const char *kind, const char *name)
{
	if (LockAcquire(&tag, mode, session, true) == LOCKACQUIRE_NOT_AVAIL)
		gnngp_raise(OBJECT_IN_USE,
					"Wait until it is done; the view gp_progress shows how far a fit is.",
					"%s \"%s\" is being made, fitted, dropped or given away by another session",
					kind, name);
}

/* Releases a lock of the session; an abort has done so already. */
static void
release(LOCKTAG tag, LOCKMODE mode)
{
	if (gnngp_lock_held(&tag, mode))
		(void) LockRelease(&tag, mode, true);
}

void
gnngp_model_lock(Oid owner, const char *name)
{
	gnngp_check_name("model", name);
	acquire(name_tag(owner, name, LOCK_FIT), ExclusiveLock, false, "model", name);
}

void
gnngp_fit_lock(const gnngp_graph_def *graph, const char *name)
{
	gnngp_model_lock(graph->owner_role, name);
	acquire(graph_tag(graph->id), ShareLock, false, "graph", graph->name);
	if (graph->task.form)
		acquire(graph_tag(graph->task.graph), ShareLock, false, "the graph of task", graph->name);
}

void
gnngp_graph_name_lock(Oid owner, const char *name)
{
	acquire(name_tag(owner, name, LOCK_GRAPH), ExclusiveLock, false, "graph", name);
}

void
gnngp_refresh_lock(const gnngp_model *model, bool session)
{
	LOCKTAG		fit = name_tag(model->owner_role, model->name, LOCK_FIT);
	LOCKTAG		refresh = name_tag(model->owner_role, model->name, LOCK_REFRESH);

	acquire(fit, ExclusiveLock, session, "model", model->name);
	acquire(graph_tag(model->graph_id), ShareLock, session, "the graph of model", model->name);
	acquire(refresh, ExclusiveLock, session, "model", model->name);
}

void
gnngp_refresh_unlock(const gnngp_model *model)
{
	release(name_tag(model->owner_role, model->name, LOCK_REFRESH), ExclusiveLock);
	release(graph_tag(model->graph_id), ShareLock);
	release(name_tag(model->owner_role, model->name, LOCK_FIT), ExclusiveLock);
}

/*
 * gp_is_refreshing(model): for the log's rows that say 'running'; false for a model that
 * the caller may not read.  It takes no lock to find out.  A standby knows nothing of the
 * primary's locks and believes the log.
 */
GNNGP_FUNCTION(gnngp_model_is_refreshing)
{
	bool		answer = false;

	gnngp_spi_connect();
	gnngp_execute(GNNGP_SELECT,
				  "SELECT owner, name FROM gnngp_internal.gp_model_catalog WHERE id = $1",
				  gnngp_param_int8(PG_GETARG_INT64(0)));
	if (SPI_processed > 0)
	{
		HeapTuple	tuple = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		null;
		Oid			role = gnngp_role_read(SPI_getbinval(tuple, desc, 1, &null));
		LOCKTAG		tag = name_tag(role, SPI_getvalue(tuple, desc, 2), LOCK_REFRESH);
		int			holders = 0;

		answer = RecoveryInProgress() || gnngp_lock_held(&tag, ExclusiveLock);
		if (!answer)
			(void) GetLockConflicts(&tag, ShareLock, &holders);
		answer = answer || holders > 0;
	}
	gnngp_spi_finish();
	PG_RETURN_BOOL(answer);
}

/* ---- rows, for what changes graphs and models: held until the transaction ends ---- */

/* Counts the rows of an id under a condition or a lock. */
static uint64
count_rows(const gnngp_kind *kind, int64 id, Oid owner, const char *rest)
{
	gnngp_execute(GNNGP_LATEST,
				  psprintf("SELECT FROM gnngp_internal.%s WHERE id = $1 %s", kind->table, rest),
				  gnngp_param_int8(id), gnngp_param_oid(owner));
	return SPI_processed;
}

void
gnngp_lock_row(const gnngp_kind *kind, int64 id, Oid owner, const char *strength, const char *name)
{
	char	   *rest = psprintf("AND coalesce(gnngp_internal.gp_role_oid(owner), 0) = $2 %s SKIP LOCKED",
								strength);

	if (count_rows(kind, id, owner, rest) == 1)
		return;
	if (count_rows(kind, id, owner, "") == 0)
		gnngp_raise(UNDEFINED_OBJECT, kind->hint, "%s \"%s\" no longer exists", kind->noun, name);
	gnngp_raise(OBJECT_IN_USE, "Wait until that session's transaction ends.",
				"%s \"%s\" is being changed by another session", kind->noun, name);
}

List *
gnngp_lock_whole_graph(const gnngp_graph_def *graph)
{
	List	   *names = NIL;

	acquire(graph_tag(graph->id), ExclusiveLock, false, "graph", graph->name);
	gnngp_lock_row(&gnngp_graph_kind, graph->id, graph->owner_role, "FOR UPDATE", graph->name);
	gnngp_execute(GNNGP_LATEST, "SELECT id, name, coalesce(gnngp_internal.gp_role_oid(owner), 0)"
				  " FROM gnngp_internal.gp_model_catalog WHERE graph = $1 ORDER BY id",
				  gnngp_param_int8(graph->id));
	SPITupleTable *table = SPI_tuptable;
	uint64		n = SPI_processed;
	for (uint64 i = 0; i < n; i++)
	{
		HeapTuple	tuple = table->vals[i];
		bool		null;
		int64		id = DatumGetInt64(SPI_getbinval(tuple, table->tupdesc, 1, &null));
		char	   *name = SPI_getvalue(tuple, table->tupdesc, 2);
		Oid			owner = DatumGetObjectId(SPI_getbinval(tuple, table->tupdesc, 3, &null));

		gnngp_model_lock(owner, name);
		gnngp_lock_row(&gnngp_model_kind, id, owner, "FOR UPDATE", name);
		names = lappend(names, name);
	}
	return names;
}
