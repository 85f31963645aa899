/*
 * placement_citus.c - the parts of a factor in tables of Citus, spread over servers by their keys.
 *
 * There is one key for each server that holds shards: a table has one shard there, shards of one key
 * lie together, and what everybody has a copy of is copied once to each.  All is one transaction, which Citus runs
 * over one connection to each server, because the schema is new in it: servers work side by side, and
 * each on one statement at a time.  Statements that change the key of rows are run by Citus
 * as a repartitioning, from server to server.
 */
#include "postgres.h"

#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pg/catalog/catalog.h"
#include "pg/server/server.h"
#include "placement_internal.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#define TRIED_KEYS 64			/* integers for each shard, among which is one that lies there */

/* One number of a query that reads what Citus knows. */
static int64
ask_number(const char *query)
{
	bool		null;
	Datum		value;

	if (SPI_execute(query, true, 1) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "a query of what Citus knows returned no row");
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
	return null ? 0 : DatumGetInt64(value);
}

/* A key for each server that shards are put on; 0A000 on a worker, which makes no tables. */
static int
count_servers(gnngp_place *p, double bytes)
{
	int64		servers = ask_number("SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_node"
									 " WHERE noderole = 'primary' AND isactive AND shouldhaveshards");

	if (ask_number("SELECT groupid::bigint FROM pg_catalog.pg_dist_local_group") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("strategy sql does not run on a worker of Citus"),
				 errhint("Call it on the coordinator, or use strategy => 'nystrom'.")));
	if (servers < 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("Citus has no server that shards are put on"),
				 errhint("Add workers with citus_add_node.")));
	return (int) servers;
}

/* Makes a table, whose shards write no log; all have their keys where those of the first one are. */
static void
create_distributed(gnngp_place *p, const char *table, const char *columns)
{
	gnngp_place_execute(p, psprintf("CREATE UNLOGGED TABLE %s (pk integer, %s)", table, columns), 0, NULL, NULL);
	gnngp_place_execute(p, p->key == NULL ?
						psprintf("SELECT pg_catalog.create_distributed_table('%s', 'pk', shard_count => %d, colocate_with => 'none')", table, p->keys) :
						psprintf("SELECT pg_catalog.create_distributed_table('%s', 'pk', colocate_with => '%s.small')", table, p->schema),
						0, NULL, NULL);
	p->tables = lappend(p->tables, (void *) table);
}

/* Puts a matrix near each key. */
static void
copy_matrix(gnngp_place *p, const char *name, Datum matrix)
{
	Oid			types[] = {INT4OID, TEXTOID, gnngp_type("gp_matrix")};
	Datum		values[] = {0, CStringGetTextDatum(name), matrix};

	for (int k = 0; k < p->keys; k++)
	{
		values[0] = Int32GetDatum(p->key[k]);
		gnngp_place_execute(p, psprintf("INSERT INTO %s.small VALUES ($1, $2, $3)", p->schema), 3, types, values);
	}
}

/* Has a query fill a table where its rows are, or go to. */
static void
fill_distributed(gnngp_place *p, const char *table, const char *query)
{
	p->env->progress(p->env, p->phase, p->done, p->total);
	gnngp_place_execute(p, psprintf("INSERT INTO %s %s", table, query), 0, NULL, NULL);
	gnngp_place_count_statement(p, query);
}

/* Drops a table; TRUNCATE frees the files at once. */
static void
drop_distributed(gnngp_place *p, const char *table)
{
	gnngp_place_execute(p, psprintf("TRUNCATE %s", table), 0, NULL, NULL);
	gnngp_place_execute(p, psprintf("DROP TABLE %s", table), 0, NULL, NULL);
	p->tables = list_delete_ptr(p->tables, (void *) table);
}

static const gnngp_place_verbs distributed = {
	"Citus", count_servers, create_distributed, copy_matrix, fill_distributed, gnngp_place_count_rows, drop_distributed
};

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

/* For each shard, in turn, the smallest integer that lies there: shards are on one server after the other. */
static void
find_keys(gnngp_place *p)
{
	key_list	list = {0, p->keys, palloc(p->keys * sizeof(int))};
	Oid			type = INT4OID;
	gnngp_place_taker taker = {take_key, &list, 1, &type};

	gnngp_place_query(p, psprintf("SELECT pg_catalog.min(k.k) FROM (SELECT i AS k,"
								  " pg_catalog.get_shard_id_for_distribution_column('%s.small', i) AS shard"
								  " FROM pg_catalog.generate_series(0, %d) AS i OFFSET 0) AS k GROUP BY k.shard ORDER BY k.shard",
								  p->schema, TRIED_KEYS * p->keys - 1), 0, NULL, NULL, &taker);
	if (list.n != p->keys)
		elog(ERROR, "%d of %d shards have no key", p->keys - list.n, p->keys);
	p->key = list.key;
}

/*
 * Settings of the other servers' sessions until the transaction ends: as here, but for limits, which are theirs.  Citus
 * passes SET LOCAL on within a transaction block, or within DO.
 */
static void
pin_servers(gnngp_place *p)
{
	static const char *const pins[] = {"enable_hashagg", "jit", "gnngp.threads"};
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < (int) lengthof(pins); i++)
		appendStringInfo(&text, "SET LOCAL %s = %s; ", pins[i], quote_literal_cstr(GetConfigOption(pins[i], false, false)));
	gnngp_pin("citus.propagate_set_commands", "local");
	gnngp_place_execute(p, psprintf("DO %s", quote_literal_cstr(psprintf("BEGIN %sEND", text.data))), 0, NULL, NULL);
}

/*
 * Makes the schema as the graph's owner: on other servers each role has a connection of its own, and
 * sees nothing of what another one has not committed.
 */
static void
make_schema(gnngp_place *p)
{
	if (ask_number("SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')::integer::bigint") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may not make schemas in this database", GetUserNameFromId(p->owner, false)),
				 errhint("On tables of Citus, strategy sql needs GRANT CREATE ON DATABASE for the graph's owner.")));
	gnngp_place_execute(p, psprintf("CREATE SCHEMA %s", p->schema), 0, NULL, NULL);
}

/* Tables of Citus. */
void
gnngp_place_citus(gnngp_place *p, gp_env *env, Oid owner)
{
	*p = (gnngp_place) {.verbs = &distributed,.env = env,.owner = owner,.phase = GP_PHASE_KERNEL,.apart = true};
	p->keys = p->verbs->keys(p, 0.0);
	gnngp_place_name_schema(p);
	gnngp_place_pin_settings(p);
	make_schema(p);
	pin_servers(p);
	create_distributed(p, psprintf("%s.small", p->schema), psprintf("name text, m %s.gp_matrix", gnngp_schema()));
	p->tables = NIL;
	find_keys(p);
	p->done = 0;
}

/* A list of statements, as Citus would be asked for. */
void
gnngp_place_list_citus(gnngp_place *p, gp_env *env)
{
	gnngp_place_list(p, env, 0.0);
	p->apart = true;
	p->keys = count_servers(p, 0.0);
}
