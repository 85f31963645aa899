/*
 * row_lock.c - locks on rows of the catalog, for what changes graphs and models.
 *
 * They are held until the transaction ends and are never waited for: another
 * session's transaction may stay open for hours.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "catalog_internal.h"
#include "executor/spi.h"

/* Counts the rows of an id under a condition or a lock. */
static uint64
count_rows(const gnngp_kind *kind, int64 id, Oid owner, const char *rest)
{
	Oid			types[] = {INT8OID, OIDOID};
	Datum		values[] = {Int64GetDatum(id), ObjectIdGetDatum(owner)};

	gnngp_execute_latest(psprintf("SELECT FROM gnngp_internal.%s WHERE id = $1 %s", kind->table, rest),
						 2, types, values);
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
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("%s \"%s\" no longer exists", kind->noun, name),
				 errhint("%s", kind->hint)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("%s \"%s\" is being changed by another session", kind->noun, name),
			 errhint("Wait until that session's transaction ends.")));
}

List *
gnngp_lock_whole_graph(const gnngp_graph_def *graph)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(graph->id)};
	SPITupleTable *table;
	uint64		n;
	List	   *names = NIL;

	gnngp_graph_lock(graph->id, graph->name);
	gnngp_lock_row(&gnngp_graph_kind, graph->id, graph->owner_role, "FOR UPDATE", graph->name);
	gnngp_execute_latest("SELECT id, name, coalesce(gnngp_internal.gp_role_oid(owner), 0)"
						 " FROM gnngp_internal.gp_model_catalog WHERE graph = $1 ORDER BY id",
						 1, types, values);
	table = SPI_tuptable;
	n = SPI_processed;
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
