/*
 * index_advice.c - where an index would help to read a neighbourhood.
 */
#include "postgres.h"

#include "access/table.h"
#include "reader_internal.h"

void
gnngp_advise_index(const gnngp_table *table, const gnngp_column *column, const gnngp_column *beside)
{
	static HTAB *told = NULL;
	Relation	rel = table_open(table->oid, NoLock);
	bool		is_table = rel->rd_rel->relkind == RELKIND_RELATION;
	AttrNumber	number = get_attnum(table->oid, column->name);
	int64		key = ((int64) table->oid << 16) | (uint16) number;
	bool		found = !is_table;
	ListCell   *cell;

	foreach(cell, is_table ? RelationGetIndexList(rel) : NIL)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			continue;
		found = found || ((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0] == number;
		ReleaseSysCache(tuple);
	}
	table_close(rel, NoLock);
	if (found)
		return;
	if (told == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(int64),
							   .hcxt = TopMemoryContext};

		told = hash_create("gnngp advice", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	(void) hash_search(told, &key, HASH_ENTER, &found);
	if (!found)
		ereport(NOTICE,
				(errmsg("column \"%s\" of table \"%s\" has no index, so all of the table is read",
						column->name, table->name),
				 errhint("CREATE INDEX ON %s (%s%s%s);", table->quoted, column->quoted,
						 beside ? ", " : "",
						 beside ? beside->quoted : "")));
}
