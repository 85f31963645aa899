/*
 * placement.c - working tables in partitions of this server, and statements on them.
 *
 * All tables lie in a schema of their own, made and dropped by one transaction: nobody else ever
 * sees it, and an error, a cancel or a crash leaves nothing of it.  On this server it belongs to
 * the extension's owner.  The user's tables, behind which there may be code of anybody's, are read
 * as the graph's owner, who has no right on the schema; statements on working tables alone are run
 * as the extension's owner.  On other servers of Citus each role has a connection of its own that
 * sees nothing of what another one has not committed, so that there the graph's owner does it all,
 * and the types of what comes back are checked.
 *
 * A table is filled by a query whose rows this process inserts, as CREATE TABLE AS does, and not
 * by INSERT: the server runs no query in parallel whose rows an INSERT takes.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "catalog/namespace.h"
#include "pg/catalog/catalog.h"
#include "placement.h"

#define MOST_KEYS 8
#define TRIED_KEYS 64			/* integers for each shard, among which is one that lies there */
/* of a table that one more key is worth: each makes files that the server syncs */
#define KEY_BYTES 1048576.0

/* ---- statements ---- */

/* Runs a statement without values, of a format. */
#define RUN(p, ...) gnngp_placement_execute(p, psprintf(__VA_ARGS__), 0, NULL, NULL)

static void
count_statement(gnngp_placement *p)
{
	CHECK_FOR_INTERRUPTS();
	p->done++;
	p->env->progress(p->env, p->listed ? GP_PHASE_PLAN : p->phase, p->done, p->total);
}

static void
statement_context(void *arg)
{
	gnngp_placement *p = arg;

	if (p->total > 0)
		errcontext("statement " INT64_FORMAT " of " INT64_FORMAT " of a fit with strategy sql",
				   p->done + 1, p->total);
	else
		errcontext("statement " INT64_FORMAT " of a fit with strategy sql", p->done + 1);
}

/*
 * Runs a query as a role, under the snapshot that all others run under, too, which sees what they
 * wrote.  What it reads is not locked: the user's tables are since the snapshot was taken, and
 * others do not see ours.
 */
static void
run_query(gnngp_placement *p, Oid role, const char *query, const gnngp_sink *rows)
{
	ErrorContextCallback context = {error_context_stack, statement_context, p};
	Oid			user;
	int			security;

	if (p->listed)
	{
		count_statement(p);
		return;
	}
	error_context_stack = &context;
	p->env->progress(p->env, p->phase, p->done, p->total);
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(role, security | SECURITY_LOCAL_USERID_CHANGE);
	CommandCounterIncrement();
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	gnngp_each_row(NULL, query, 0, NULL, NULL, rows);
	PopActiveSnapshot();
	SetUserIdAndSecContext(user, security);
	error_context_stack = context.previous;
	count_statement(p);
}

void
gnngp_placement_query(gnngp_placement *p, const char *query, const gnngp_sink *rows)
{
	run_query(p, p->role, query, rows);
}

void
gnngp_placement_read(gnngp_placement *p, const char *query, const gnngp_sink *rows)
{
	run_query(p, GetUserId(), query, rows);
}

void
gnngp_placement_execute(gnngp_placement *p, const char *statement, int nargs, Oid *types,
						Datum *values)
{
	ErrorContextCallback context = {error_context_stack, statement_context, p};
	bool		reports = gnngp_progress_is_on();
	Oid			user;
	int			security;

	error_context_stack = &context;
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(p->role, security | SECURITY_LOCAL_USERID_CHANGE);
	int			rc = SPI_execute_with_args(statement, nargs, types, values, NULL, false, 0);
	if (rc < 0)
		elog(ERROR, "a statement returned %s", SPI_result_code_string(rc));
	p->rows = (int64) SPI_processed;
	SetUserIdAndSecContext(user, security);
	error_context_stack = context.previous;
	if (reports)
		gnngp_progress_again();
}

/* ---- Citus ---- */

/*
 * There is one key for each server that holds shards: a table has one shard there, shards of one
 * key lie together, and what everybody has a copy of is copied once to each.  All is one
 * transaction, which Citus runs over one connection to each server, because the schema is new in
 * it: servers work side by side, and each on one statement at a time.  Statements that change the
 * key of rows are run by Citus as a repartitioning, from server to server.
 */

/* Shards write no log; all have their keys where those of the first table are. */
static void
create_distributed(gnngp_placement *p, const char *table, const char *columns)
{
	RUN(p, "CREATE UNLOGGED TABLE %s (pk integer, %s)", table, columns);
	gnngp_placement_execute(p, p->key == NULL ?
							psprintf("SELECT pg_catalog.create_distributed_table('%s', 'pk', shard_count => %d, colocate_with => 'none')",
									 table, p->keys) :
							psprintf("SELECT pg_catalog.create_distributed_table('%s', 'pk', colocate_with => '%s.small')", table, p->schema),
							0, NULL, NULL);
}

/* A key for each server that shards are put on; 0A000 on a worker, which makes no tables. */
static void
open_distributed(gnngp_placement *p)
{
	static const char *const pins[] = {"enable_hashagg", "jit", "gnngp.threads"};
	StringInfoData text;

	p->keys = (int) gnngp_query_number("SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_node"
									   " WHERE noderole = 'primary' AND isactive AND shouldhaveshards");
	if (gnngp_query_number("SELECT groupid::bigint FROM pg_catalog.pg_dist_local_group") != 0)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"Call it on the coordinator, or use strategy => 'nystrom'.",
					"strategy sql does not run on a worker of Citus");
	if (p->keys < 1)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Add workers with citus_add_node.",
					"Citus has no server for shards");
	if (p->listed)
		return;
	if (gnngp_query_number("SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')::integer::bigint") == 0)
		gnngp_raise(INSUFFICIENT_PRIVILEGE,
					"On tables of Citus, strategy sql needs GRANT CREATE ON DATABASE for the graph's owner.",
					"role \"%s\" may not make schemas in this database",
					GetUserNameFromId(GetUserId(), false));
	RUN(p, "CREATE SCHEMA %s", p->schema);
	/* Settings of the other servers' sessions until the transaction ends: as here, except limits,
	 * which are theirs. Citus passes SET LOCAL on within a transaction block, or within DO. */
	initStringInfo(&text);
	for (int i = 0; i < (int) lengthof(pins); i++)
		appendStringInfo(&text, "SET LOCAL %s = %s; ", pins[i],
						 quote_literal_cstr(GetConfigOption(pins[i], false, false)));
	/* A cancel that comes before its statement does is lost, and its connection closed. */
	appendStringInfoString(&text, "SET LOCAL client_connection_check_interval = '1s'; ");
	gnngp_pin("citus.propagate_set_commands", "local");
	RUN(p, "DO %s", quote_literal_cstr(psprintf("BEGIN %sEND", text.data)));
	create_distributed(p, psprintf("%s.small", p->schema),
					   "name text, m gnngp_internal.gp_matrix");
	/* For each shard, in turn, the smallest integer that lies there: shards are on one server after
	 * the other. */
	if (SPI_execute(psprintf("SELECT pg_catalog.min(k.k)::bigint FROM (SELECT i AS k,"
							 " pg_catalog.get_shard_id_for_distribution_column('%s.small', i) AS shard"
							 " FROM pg_catalog.generate_series(0, %d) AS i OFFSET 0) AS k GROUP BY k.shard ORDER BY k.shard",
							 p->schema, TRIED_KEYS * p->keys - 1), true, 0) != SPI_OK_SELECT ||
		SPI_processed != (uint64) p->keys)
		elog(ERROR, "of %d shards not all have a key", p->keys);
	int		   *key = palloc(p->keys * sizeof(int));
	for (int k = 0; k < p->keys; k++)
		key[k] = (int) gnngp_found_int64(k);
	p->key = key;
	/* What asks each server reads a row of this name. */
	for (int k = 0; k < p->keys; k++)
		RUN(p, "INSERT INTO %s.small (pk, name) VALUES (%d, '')", p->schema, p->key[k]);
	p->done = 0;
}

/* ---- tables ---- */

const char *
gnngp_placement_table(gnngp_placement *p, const char *what)
{
	return psprintf("%s.%s%d", p->schema, what, ++p->made);
}

void
gnngp_placement_create(gnngp_placement *p, const char *table, const char *columns)
{
	if (p->listed)
		return;
	if (p->apart)
		create_distributed(p, table, columns);
	else
	{
		RUN(p, "CREATE TABLE %s (pk integer, %s) PARTITION BY LIST (pk)", table, columns);
		for (int k = 0; k < p->keys; k++)
			RUN(p, "CREATE UNLOGGED TABLE %s_%d PARTITION OF %s FOR VALUES IN (%d)"
				" WITH (autovacuum_enabled = off)", table, k, table, k);
	}
	p->tables = lappend(p->tables, (void *) table);
}

/* The partitions that rows are put into, which have the same columns. */
typedef struct insertion
{
	int			keys;
	Relation	partition[MOST_KEYS];
} insertion;

/* Inserts one row where its key says. */
static void
insert_row(void *state, const Datum *values, const bool *nulls)
{
	insertion  *in = state;
	int			key = nulls[0] ? -1 : DatumGetInt32(values[0]);
	HeapTuple	tuple;

	if (key < 0 || key >= in->keys)
		elog(ERROR, "a row of a working table has the key %d", key);
	tuple = heap_form_tuple(RelationGetDescr(in->partition[key]), (Datum *) values, (bool *) nulls);
	heap_insert(in->partition[key], tuple, GetCurrentCommandId(true), 0, NULL);
}

/* Fills a table with the rows that a query of a role gives. */
static void
fill(gnngp_placement *p, Oid role, const char *table, const char *query)
{
	insertion	in = {.keys = p->keys};
	gnngp_sink	rows = {.row = insert_row,.state = &in};
	Oid		   *type;

	if (p->apart && !p->listed)
	{
		p->env->progress(p->env, p->phase, p->done, p->total);
		RUN(p, "INSERT INTO %s %s", table, query);
	}
	if (p->apart || p->listed)
	{
		count_statement(p);
		return;
	}
	CommandCounterIncrement();
	for (int k = 0; k < in.keys; k++)
		in.partition[k] = table_open(get_relname_relid(psprintf("%s_%d", strchr(table, '.') + 1, k),
													   get_namespace_oid(p->schema, false)),
													   RowExclusiveLock);
	TupleDesc	desc = RelationGetDescr(in.partition[0]);
	rows.n = desc->natts;
	rows.types = type = palloc(desc->natts * sizeof(Oid));
	for (int i = 0; i < desc->natts; i++)
		type[i] = TupleDescAttr(desc, i)->atttypid;
	run_query(p, role, query, &rows);
	for (int k = 0; k < in.keys; k++)
		table_close(in.partition[k], NoLock);
	pfree(type);
}

void
gnngp_placement_fill(gnngp_placement *p, const char *table, const char *query)
{
	fill(p, p->role, table, query);
}

/*
 * TRUNCATE frees the files at once, which DROP does when the transaction ends.  The table above
 * the partitions is logged, and would have subscribers truncate what they have not.
 */
void
gnngp_placement_drop(gnngp_placement *p, const char *table)
{
	StringInfoData text;

	p->tables = list_delete_ptr(p->tables, (void *) table);
	if (p->listed)
		return;
	initStringInfo(&text);
	if (p->apart)
		appendStringInfo(&text, "TRUNCATE %s", table);
	else
		for (int k = 0; k < p->keys; k++)
			appendStringInfo(&text, "%s %s_%d", k == 0 ? "TRUNCATE" : ",", table, k);
	gnngp_placement_execute(p, text.data, 0, NULL, NULL);
	RUN(p, "DROP TABLE %s", table);
}

int64
gnngp_placement_group(gnngp_placement *p, const char *table, const gnngp_grouping *rows)
{
	if (!p->apart)
	{
		fill(p, GetUserId(), table,
			 psprintf("SELECT %s, n.chunk, %s FROM (%s) AS n GROUP BY n.chunk",
					  gnngp_placement_key(p, "n.chunk"), rows->values, rows->query));
		return -1;
	}
	const char *moved = gnngp_placement_table(p, "rows");
	gnngp_placement_create(p, moved, psprintf("chunk integer, %s", rows->declared));
	gnngp_placement_fill(p, moved, psprintf("SELECT %s, n.chunk, %s FROM (%s) AS n",
											gnngp_placement_key(p, "n.chunk"), rows->columns,
											rows->query));
	int64		n = p->rows;
	gnngp_placement_fill(p, table,
						 psprintf("SELECT n.pk, n.chunk, %s FROM %s AS n GROUP BY n.pk, n.chunk",
								  rows->values, moved));
	gnngp_placement_drop(p, moved);
	return n;
}

/* ---- what everybody has ---- */

void
gnngp_placement_copy(gnngp_placement *p, const char *name, Datum matrix)
{
	Oid			types[] = {TEXTOID, gnngp_type("gp_matrix"), INT4OID};
	Datum		values[] = {CStringGetTextDatum(name), matrix, 0};

	for (int k = 0; k < (p->apart ? p->keys : 1); k++)
	{
		values[2] = Int32GetDatum(gnngp_placement_key_of(p, k));
		gnngp_placement_execute(p,
								psprintf("INSERT INTO %s.small (name, m, pk) VALUES ($1, $2, $3)",
										 p->schema), 3, types, values);
	}
}

const char *
gnngp_placement_matrix(const gnngp_placement *p, const char *name)
{
	return psprintf("(SELECT s.m FROM %s.small AS s WHERE s.name = '%s'%s)", p->schema, name,
					p->apart ? " AND s.pk = t.pk" : "");
}

const char *
gnngp_placement_everywhere(gnngp_placement *p, const char *table, const char *declared,
						   const char *columns)
{
	if (!p->apart)
		return table;
	const char *copies = gnngp_placement_table(p, "copies");
	gnngp_placement_create(p, copies, declared);
	gnngp_placement_fill(p, copies,
						 psprintf("SELECT %s, %s FROM %s AS t, pg_catalog.generate_series(0, %d) AS k",
											 gnngp_placement_key(p, "k"), columns, table,
											 p->keys - 1));
	return copies;
}

/* ---- keys ---- */

const char *
gnngp_placement_key(const gnngp_placement *p, const char *number)
{
	StringInfoData list;

	if (p->key == NULL)
		return psprintf("%s %% %d", number, p->keys);
	initStringInfo(&list);
	for (int k = 0; k < p->keys; k++)
		appendStringInfo(&list, "%s%d", k > 0 ? "," : "", p->key[k]);
	return psprintf("('{%s}'::integer[])[%s %% %d + 1]", list.data, number, p->keys);
}

int
gnngp_placement_key_of(const gnngp_placement *p, int64 number)
{
	int			k = (int) (number % p->keys);

	return p->key ? p->key[k] : k;
}

const char *
gnngp_placement_table_near(const gnngp_placement *p, const char *table, const char *key)
{
	return p->apart
		? psprintf("(SELECT pg_catalog.min(g.tableoid) FROM %s AS g WHERE g.pk = %s)", table, key)
		: psprintf("'%s'::pg_catalog.regclass::pg_catalog.oid", table);
}

/* ---- open and close ---- */

void
gnngp_placement_open(gnngp_placement *p, gp_env *env, bool apart, bool listed, double bytes)
{
	uint32		name[4];

	*p = (gnngp_placement) {.env = env,.listed = listed,.apart = apart,.role = GetUserId(),
							.phase = GP_PHASE_KERNEL};
	p->keys = (int) Min(bytes / KEY_BYTES + 1.0, MOST_KEYS);
	if (!listed)
	{
		/* Settings of the statements: their tables have few rows, of many kilobytes, of which the
		 * planner knows nothing, and each of which is worth a process. A hash would hold the
		 * matrices of all groups at once, and those of partitions that are done with. */
		static const char *const pins[][2] = {
			{"enable_partitionwise_aggregate", "on"},
			{"enable_partitionwise_join", "on"},
			{"parallel_setup_cost", "0"},
			{"parallel_tuple_cost", "0"},
			{"min_parallel_table_scan_size", "0"},
			{"enable_hashagg", "off"},
			{"jit", "off"},
			{"client_min_messages", "warning"},
			{"default_table_access_method", "heap"},
			{"default_tablespace", ""}
		};

		for (int i = 0; i < (int) lengthof(pins); i++)
			gnngp_pin(pins[i][0], pins[i][1]);
	}
	/* Nobody can guess it: other servers of Citus take a schema that is there, whoever made it. */
	if (!pg_strong_random(name, sizeof(name)))
		gnngp_raise(INTERNAL_ERROR, NULL, "could not generate random values");
	p->schema = psprintf("gnngp_work_%08x%08x%08x%08x", name[0], name[1], name[2], name[3]);
	if (apart)
		open_distributed(p);
	else if (!listed)
	{
		gnngp_identity saved = gnngp_become_extension();

		p->role = GetUserId();
		gnngp_become_again(&saved);
		RUN(p, "CREATE SCHEMA %s", p->schema);
		RUN(p, "CREATE UNLOGGED TABLE %s.small (name text, m gnngp_internal.gp_matrix, pk integer)", p->schema);
	}
}

void
gnngp_placement_close(gnngp_placement *p)
{
	while (p->tables != NIL)
		gnngp_placement_drop(p, linitial(p->tables));
	RUN(p, "DROP TABLE %s.small", p->schema);
	RUN(p, "DROP SCHEMA %s", p->schema);
}
