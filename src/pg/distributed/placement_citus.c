/*
 * placement_citus.c - working tables that Citus distributes by their keys.
 *
 * There is one key for each server that holds shards: a table has one shard there, shards of one
 * key lie together, and what everybody has a copy of is copied once to each.  All is one
 * transaction, which Citus runs over one connection to each server, because the schema is new in
 * it: servers work side by side, and each on one statement at a time.  Statements that change the
 * key of rows are run by Citus as a repartitioning, from server to server.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pg/catalog/catalog.h"
#include "pg/server/server.h"
#include "placement.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#define TRIED_KEYS 64			/* integers for each shard, among which is one that lies there */

/* One number of a query that reads what Citus knows. */
static int64
query_number(const char *query)
{
	bool		null;
	Datum		value;

	if (SPI_execute(query, true, 1) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "a query of what Citus knows returned no row");
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
	return null ? 0 : DatumGetInt64(value);
}

/* Shards write no log; all have their keys where those of the first table are. */
void
gnngp_placement_create_citus(gnngp_placement *p, const char *table, const char *columns)
{
	gnngp_placement_execute(p, psprintf("CREATE UNLOGGED TABLE %s (pk integer, %s)", table, columns), 0, NULL, NULL);
	gnngp_placement_execute(p, p->key == NULL ?
							psprintf("SELECT pg_catalog.create_distributed_table('%s', 'pk', shard_count => %d, colocate_with => 'none')",
									 table, p->keys) :
							psprintf("SELECT pg_catalog.create_distributed_table('%s', 'pk', colocate_with => '%s.small')", table, p->schema),
							0, NULL, NULL);
}

/* Keys that are found. */
typedef struct key_list
{
	int			n;
	int			most;
	int		   *key;
} key_list;

/* Takes one. */
static void
take_key(void *state, const Datum *values, const bool *nulls)
{
	key_list   *list = state;

	if (list->n < list->most)
		list->key[list->n++] = DatumGetInt32(values[0]);
}

/*
 * Settings of the other servers' sessions until the transaction ends: as here, but for limits,
 * which are theirs.  Citus passes SET LOCAL on within a transaction block, or within DO.
 */
static void
pin_servers(gnngp_placement *p)
{
	static const char *const pins[] = {"enable_hashagg", "jit", "gnngp.threads"};
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < (int) lengthof(pins); i++)
		appendStringInfo(&text, "SET LOCAL %s = %s; ", pins[i], quote_literal_cstr(GetConfigOption(pins[i], false, false)));
	gnngp_pin("citus.propagate_set_commands", "local");
	gnngp_placement_execute(p, psprintf("DO %s", quote_literal_cstr(psprintf("BEGIN %sEND", text.data))), 0, NULL, NULL);
}

/* A key for each server that shards are put on; 0A000 on a worker, which makes no tables. */
void
gnngp_placement_open_citus(gnngp_placement *p)
{
	key_list	list = {0};
	Oid			type = INT4OID;
	gnngp_rows	rows = {.row = take_key,.state = &list,.n = 1,.types = &type};

	p->keys = (int) query_number("SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_node"
								 " WHERE noderole = 'primary' AND isactive AND shouldhaveshards");
	if (query_number("SELECT groupid::bigint FROM pg_catalog.pg_dist_local_group") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("strategy sql does not run on a worker of Citus"),
				 errhint("Call it on the coordinator, or use strategy => 'nystrom'.")));
	if (p->keys < 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("Citus has no server that shards are put on"),
				 errhint("Add workers with citus_add_node.")));
	if (p->listed)
		return;
	if (query_number("SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')::integer::bigint") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may not make schemas in this database", GetUserNameFromId(GetUserId(), false)),
				 errhint("On tables of Citus, strategy sql needs GRANT CREATE ON DATABASE for the graph's owner.")));
	gnngp_placement_execute(p, psprintf("CREATE SCHEMA %s", p->schema), 0, NULL, NULL);
	pin_servers(p);
	gnngp_placement_create_citus(p, psprintf("%s.small", p->schema), psprintf("name text, m %s.gp_matrix", gnngp_schema()));
	/* For each shard, in turn, the smallest integer that lies there: shards are on one server after the other. */
	list.most = p->keys;
	list.key = palloc(p->keys * sizeof(int));
	gnngp_placement_query(p, psprintf("SELECT pg_catalog.min(k.k) FROM (SELECT i AS k,"
									  " pg_catalog.get_shard_id_for_distribution_column('%s.small', i) AS shard"
									  " FROM pg_catalog.generate_series(0, %d) AS i OFFSET 0) AS k GROUP BY k.shard ORDER BY k.shard",
									  p->schema, TRIED_KEYS * p->keys - 1), 0, NULL, NULL, &rows);
	if (list.n != p->keys)
		elog(ERROR, "%d of %d shards have no key", p->keys - list.n, p->keys);
	p->key = list.key;
	p->done = 0;
}
