/*
 * citus.c - what one has to know of Citus, where it is installed.
 *
 * Graphs and models are rows of local tables: each node has its own.  Citus pushes
 * functions that are not VOLATILE down into the queries that it sends to other
 * nodes, whose models are other ones.  Its sessions on those nodes tell by their
 * application_name which session they serve: the number of its node times a factor,
 * and its process id.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_namespace_d.h"
#include "catalog.h"
#include "commands/extension.h"
#include "utils/fmgroids.h"

#define SERVING "citus_internal gpid="
#define NODE_FACTOR UINT64CONST(10000000000)

bool
gnngp_citus_serves_other(void)
{
	Oid			type = INT8OID;
	Datum		node;

	if (application_name == NULL || strncmp(application_name, SERVING, strlen(SERVING)) != 0)
		return false;
	if (!OidIsValid(get_extension_oid("citus", true)))
		return false;
	node = Int64GetDatum((int64) (strtoull(application_name + strlen(SERVING), NULL, 10) /
								  NODE_FACTOR));
	if (SPI_execute_with_args("SELECT FROM pg_catalog.pg_dist_node AS n"
							  " JOIN pg_catalog.pg_dist_local_group AS l"
							  " ON l.groupid OPERATOR(pg_catalog.=) n.groupid"
							  " WHERE n.nodeid OPERATOR(pg_catalog.=) $1",
							  1, &type, &node, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "a query of what Citus knows failed");
	return SPI_processed == 0;
}

bool
gnngp_citus_has_table(Oid table)
{
	Oid			partitions = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	AttrNumber	column = OidIsValid(partitions) ? get_attnum(partitions, "logicalrelid") : InvalidAttrNumber;
	ScanKeyData key;

	if (column == InvalidAttrNumber)
		return false;
	Relation	rel = table_open(partitions, AccessShareLock);
	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	bool		found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

void
gnngp_citus_prepare(void)
{
	if (GetConfigOption("citus.multi_shard_modify_mode", true, false) != NULL)
		gnngp_pin("citus.multi_shard_modify_mode", "sequential");
}
