/*
 * placement.c - the parts of a factor in partitions of this server, and statements that read them.
 *
 * All tables lie in a schema of their own, which is made and dropped by one transaction, so that
 * nobody else ever sees it and an error leaves nothing.  A table is filled by a query whose
 * rows this process inserts, as CREATE TABLE AS does, and not by INSERT: the server runs no query
 * in parallel whose rows an INSERT takes.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pg/catalog/catalog.h"
#include "nodes/makefuncs.h"
#include "nodes/params.h"
#include "pg/server/server.h"
#include "placement_internal.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#define MOST_KEYS 8
#define MOST_COLUMNS 7			/* of a working table */
#define KEY_BYTES 1048576.0		/* of a table that one more key is worth: each makes files that the server syncs */

/* ---- running statements ---- */

/* Counts a statement; a list of them is a plan. */
void
gnngp_place_count_statement(gnngp_place *p, const char *text)
{
	CHECK_FOR_INTERRUPTS();
	p->statements = lappend(p->statements, pstrdup(text));
	p->done++;
	p->env->progress(p->env, p->schema ? p->phase : GP_PHASE_PLAN, p->done, p->total);
}

/* A receiver that hands rows over. */
typedef struct place_receiver
{
	DestReceiver pub;
	MemoryContext context;
	const gnngp_place_taker *taker;
} place_receiver;

/*
 * Holds what is about to come against the types that are taken: the tables are those of the graph's
 * owner, whose code a view may call between two statements.
 */
static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	const gnngp_place_taker *taker = ((place_receiver *) self)->taker;

	for (int i = 0; i < Max(desc->natts, taker->n); i++)
		if (i >= desc->natts || i >= taker->n || TupleDescAttr(desc, i)->atttypid != taker->type[i])
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("a working table changed while it was read"),
					 errdetail("Column %d has another type.", i + 1)));
}

/* Hands one row over. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	place_receiver *r = (place_receiver *) self;
	MemoryContext old;

	slot_getallattrs(slot);
	old = MemoryContextSwitchTo(r->context);
	r->taker->row(r->taker->state, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(r->context);
	return true;
}

/* Tells which statement failed. */
static void
tell_statement(void *arg)
{
	gnngp_place *p = arg;

	if (p->total > 0)
		errcontext("statement " INT64_FORMAT " of " INT64_FORMAT " of a fit with strategy sql", p->done + 1, p->total);
	else
		errcontext("statement " INT64_FORMAT " of a fit with strategy sql", p->done + 1);
}

/*
 * Runs a query under the snapshot that all others run under, too, and which sees what they wrote.  What it
 * reads is not locked: the user's tables are since the snapshot was taken, and others do not see ours.
 */
static void
place_query(gnngp_place *p, const char *query, int nargs, Oid *types, Datum *values, const gnngp_place_taker *taker)
{
	SPIExecuteOptions options = {.read_only = true};
	ErrorContextCallback context = {error_context_stack, tell_statement, p};
	place_receiver r = {.taker = taker};
	SPIPlanPtr	plan;
	int			rc;

	error_context_stack = &context;
	p->env->progress(p->env, p->phase, p->done, p->total);
	CommandCounterIncrement();
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	plan = SPI_prepare_cursor(query, nargs, types, CURSOR_OPT_PARALLEL_OK);
	if (plan == NULL)
		elog(ERROR, "preparing a statement returned %s", SPI_result_code_string(SPI_result));
	r.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp rows", ALLOCSET_DEFAULT_SIZES);
	gnngp_receiver_init(&r.pub, receive_row);
	r.pub.rStartup = receive_startup;
	options.dest = &r.pub;
	if (nargs > 0)
	{
		options.params = makeParamList(nargs);
		for (int i = 0; i < nargs; i++)
			options.params->params[i] = (ParamExternData) {.value = values[i],.ptype = types[i],.pflags = PARAM_FLAG_CONST};
	}
	rc = SPI_execute_plan_extended(plan, &options);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "a statement returned %s", SPI_result_code_string(rc));
	SPI_freeplan(plan);
	MemoryContextDelete(r.context);
	PopActiveSnapshot();
	error_context_stack = context.previous;
	gnngp_place_count_statement(p, query);
}

/* Runs a query and hands each row to a callback; where there is but a list, it is noted. */
void
gnngp_place_query(gnngp_place *p, const char *query, int nargs, Oid *types, Datum *values,
				  const gnngp_place_taker *taker)
{
	if (p->schema)
		place_query(p, query, nargs, types, values, taker);
	else
		gnngp_place_count_statement(p, query);
}

/* Runs a statement with values that returns nothing; one that makes a table writes the server's progress over ours. */
void
gnngp_place_execute(gnngp_place *p, const char *statement, int nargs, Oid *types, Datum *values)
{
	ErrorContextCallback context = {error_context_stack, tell_statement, p};
	bool		reports = gnngp_progress_is_on();
	int			rc;

	error_context_stack = &context;
	rc = SPI_execute_with_args(statement, nargs, types, values, NULL, false, 0);
	if (rc < 0)
		elog(ERROR, "a statement returned %s", SPI_result_code_string(rc));
	p->rows = (int64) SPI_processed;
	error_context_stack = context.previous;
	if (reports)
		gnngp_progress_again();
}

/* ---- partitions ---- */

/* A few keys, where there is enough to spread. */
static int
partition_keys(gnngp_place *p, double bytes)
{
	return (int) Min(bytes / KEY_BYTES + 1.0, MOST_KEYS);
}

/* Makes a table, whose partitions write no log: it is gone when the transaction ends. */
static void
create_partitions(gnngp_place *p, const char *table, const char *columns)
{
	gnngp_place_execute(p, psprintf("CREATE TABLE %s (pk integer, %s) PARTITION BY LIST (pk)", table, columns), 0, NULL, NULL);
	for (int k = 0; k < p->keys; k++)
		gnngp_place_execute(p, psprintf("CREATE UNLOGGED TABLE %s_%d PARTITION OF %s FOR VALUES IN (%d) WITH (autovacuum_enabled = off)",
										table, k, table, k), 0, NULL, NULL);
	p->tables = lappend(p->tables, (void *) table);
}

/* Puts a matrix into the table that everybody reads. */
static void
copy_matrix(gnngp_place *p, const char *name, Datum matrix)
{
	Oid			types[] = {TEXTOID, gnngp_type("gp_matrix")};
	Datum		values[] = {CStringGetTextDatum(name), matrix};

	gnngp_place_execute(p, psprintf("INSERT INTO %s.small VALUES ($1, $2)", p->schema), 2, types, values);
}

/* The partitions that rows are put into. */
typedef struct insertion
{
	int			keys;
	Relation	part[MOST_KEYS];
	int			n;				/* columns */
	Oid			type[MOST_COLUMNS];
} insertion;

/* Puts one row where its key says. */
static void
insert_row(void *state, const Datum *values, const bool *nulls)
{
	insertion  *in = state;
	int			key = nulls[0] ? -1 : DatumGetInt32(values[0]);
	HeapTuple	tuple;

	if (key < 0 || key >= in->keys)
		elog(ERROR, "a row of a working table has the key %d", key);
	tuple = heap_form_tuple(RelationGetDescr(in->part[key]), (Datum *) values, (bool *) nulls);
	heap_insert(in->part[key], tuple, GetCurrentCommandId(true), 0, NULL);
}

/* Opens the partitions of a table. */
static void
open_partitions(gnngp_place *p, const char *table, insertion *in)
{
	Oid			schema = get_namespace_oid(p->schema, false);

	in->keys = p->keys;
	for (int k = 0; k < in->keys; k++)
	{
		const FormData_pg_class *class;

		in->part[k] = table_open(get_relname_relid(psprintf("%s_%d", strchr(table, '.') + 1, k), schema), RowExclusiveLock);
		class = in->part[k]->rd_rel;
		/* Code of the owner's that a statement has called could have put something else in its place. */
		if (class->relkind != RELKIND_RELATION || class->relam != HEAP_TABLE_AM_OID || class->relowner != p->owner ||
			class->relpersistence != RELPERSISTENCE_UNLOGGED)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("working table \"%s\" has been replaced while it was used", RelationGetRelationName(in->part[k]))));
	}
}

/* The types of the columns of partitions, which must be alike. */
static void
check_shapes(insertion *in)
{
	for (int k = 0; k < in->keys; k++)
	{
		TupleDesc	desc = RelationGetDescr(in->part[k]);

		if (desc->natts > MOST_COLUMNS || (k > 0 && desc->natts != in->n))
			elog(ERROR, "table \"%s\" has %d columns", RelationGetRelationName(in->part[k]), desc->natts);
		in->n = desc->natts;
		for (int i = 0; i < desc->natts; i++)
		{
			Oid			type = TupleDescAttr(desc, i)->atttypid;

			if (k > 0 && type != in->type[i])
				elog(ERROR, "column %d of table \"%s\" has another type", i + 1, RelationGetRelationName(in->part[k]));
			in->type[i] = type;
		}
	}
}

/* Fills a table with what a query gives. */
static void
fill_partitions(gnngp_place *p, const char *table, const char *query)
{
	insertion	in;
	gnngp_place_taker taker = {insert_row, &in, 0, in.type};

	CommandCounterIncrement();
	open_partitions(p, table, &in);
	check_shapes(&in);
	taker.n = in.n;
	place_query(p, query, 0, NULL, NULL, &taker);
	for (int k = 0; k < in.keys; k++)
		table_close(in.part[k], NoLock);
}

/* Takes one number. */
static void
take_count(void *state, const Datum *values, const bool *nulls)
{
	*(int64 *) state = nulls[0] ? 0 : DatumGetInt64(values[0]);
}

/* The rows of a table. */
int64
gnngp_place_count_rows(gnngp_place *p, const char *table)
{
	int64		rows = 0;
	Oid			type = INT8OID;
	gnngp_place_taker taker = {take_count, &rows, 1, &type};

	gnngp_place_query(p, psprintf("SELECT pg_catalog.count(*) FROM %s", table), 0, NULL, NULL, &taker);
	return rows;
}

/*
 * Drops a table.  TRUNCATE frees its files at once, which DROP does when the transaction ends; the
 * table above the partitions is logged, and would have subscribers truncate what they have not.
 */
static void
drop_partitions(gnngp_place *p, const char *table)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int k = 0; k < p->keys; k++)
		appendStringInfo(&text, "%s %s_%d", k == 0 ? "TRUNCATE" : ",", table, k);
	gnngp_place_execute(p, text.data, 0, NULL, NULL);
	gnngp_place_execute(p, psprintf("DROP TABLE %s", table), 0, NULL, NULL);
	p->tables = list_delete_ptr(p->tables, (void *) table);
}

static const gnngp_place_verbs partitions = {
	"partitions", partition_keys, create_partitions, copy_matrix, fill_partitions, gnngp_place_count_rows, drop_partitions
};

/*
 * Names a schema as none is, and nobody can guess: on other servers Citus takes a schema that is there already, whoever
 * has made it.
 */
void
gnngp_place_name_schema(gnngp_place *p)
{
	do
	{
		uint32		name[4];

		if (!pg_strong_random(name, sizeof(name)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate random values")));
		p->schema = psprintf("gnngp_parts_%08x%08x%08x%08x", name[0], name[1], name[2], name[3]);
	} while (OidIsValid(get_namespace_oid(p->schema, true)));
}

/*
 * Settings of the statements: their tables have few rows, of many kilobytes, of which
 * the planner knows nothing, and each of which is worth a process.  A hash would hold the matrices of
 * all groups at once, and those of partitions that are done with.
 */
void
gnngp_place_pin_settings(gnngp_place *p)
{
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

	p->tablespace = pstrdup(GetConfigOption("default_tablespace", false, false));
	for (int i = 0; i < (int) lengthof(pins); i++)
		gnngp_pin(pins[i][0], pins[i][1]);
}

/* Makes the schema, in which the graph's owner may make tables. */
void
gnngp_place_partitions(gnngp_place *p, gp_env *env, Oid owner, double bytes)
{
	*p = (gnngp_place) {.verbs = &partitions,.env = env,.owner = owner,.phase = GP_PHASE_KERNEL};
	p->keys = p->verbs->keys(p, bytes);
	gnngp_place_name_schema(p);
	gnngp_place_pin_settings(p);
	gnngp_execute_as_extension(psprintf("CREATE SCHEMA %s", p->schema), 0, NULL, NULL, NULL);
	gnngp_execute_as_extension(psprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s", p->schema,
										quote_identifier(GetUserNameFromId(owner, false))), 0, NULL, NULL, NULL);
	gnngp_place_execute(p, psprintf("CREATE UNLOGGED TABLE %s.small (name text, m %s.gp_matrix)", p->schema, gnngp_schema()),
						0, NULL, NULL);
}

/* Removes the schema, whose tables are gone but for the small one. */
void
gnngp_place_end(gnngp_place *p)
{
	const char *drop = psprintf("DROP SCHEMA %s", p->schema);

	gnngp_place_execute(p, psprintf("DROP TABLE %s.small", p->schema), 0, NULL, NULL);
	if (p->apart)
		gnngp_place_execute(p, drop, 0, NULL, NULL);
	else
		gnngp_execute_as_extension(drop, 0, NULL, NULL, NULL);
}

/* ---- a list ---- */

/* Nothing is made. */
static void
note_create(gnngp_place *p, const char *table, const char *columns)
{
}

/* Nothing is copied. */
static void
note_copy(gnngp_place *p, const char *name, Datum matrix)
{
}

/* The statement is noted. */
static void
note_run(gnngp_place *p, const char *table, const char *query)
{
	gnngp_place_count_statement(p, psprintf("INSERT INTO %s %s", table, query));
}

/* There are no rows. */
static int64
note_count(gnngp_place *p, const char *table)
{
	gnngp_place_count_statement(p, psprintf("SELECT pg_catalog.count(*) FROM %s", table));
	return 0;
}

/* Nothing is dropped. */
static void
note_drop(gnngp_place *p, const char *table)
{
}

static const gnngp_place_verbs notes = {
	"list", partition_keys, note_create, note_copy, note_run, note_count, note_drop
};

/* A list of statements, as partitions would be asked for. */
void
gnngp_place_list(gnngp_place *p, gp_env *env, double bytes)
{
	*p = (gnngp_place) {.verbs = &notes,.env = env,.phase = GP_PHASE_PLAN};
	p->keys = p->verbs->keys(p, bytes);
}

/* ---- names ---- */

/* A new name for a table. */
const char *
gnngp_place_table(gnngp_place *p, const char *what)
{
	return psprintf("%s.%s%d", p->schema ? p->schema : "gnngp_parts", what, ++p->made);
}

/* A matrix that was copied to everybody. */
const char *
gnngp_place_matrix(gnngp_place *p, const char *name)
{
	return psprintf("(SELECT s.m FROM %s.small AS s WHERE s.name = '%s'%s)", p->schema ? p->schema : "gnngp_parts", name,
					gnngp_place_near(p, "s", "t"));
}

/* ---- keys ---- */

/* What pk is for a number. */
const char *
gnngp_place_key(const gnngp_place *p, const char *number)
{
	StringInfoData list;

	if (p->key == NULL)
		return psprintf("%s %% %d", number, p->keys);
	initStringInfo(&list);
	for (int k = 0; k < p->keys; k++)
		appendStringInfo(&list, "%s%d", k > 0 ? "," : "", p->key[k]);
	return psprintf("('{%s}'::integer[])[%s %% %d + 1]", list.data, number, p->keys);
}

/* The same of a number that is known. */
int
gnngp_place_key_of(const gnngp_place *p, int64 number)
{
	int			k = (int) (number % p->keys);

	return p->key ? p->key[k] : k;
}

/* A condition for the copy that is near a row. */
const char *
gnngp_place_near(const gnngp_place *p, const char *copy, const char *row)
{
	return p->apart ? psprintf(" AND %s.pk = %s.pk", copy, row) : "";
}

/* Gives everybody the rows of a table. */
const char *
gnngp_place_everywhere(gnngp_place *p, const char *table, const char *declared, const char *columns)
{
	const char *copies;

	if (!p->apart)
		return table;
	copies = gnngp_place_table(p, "copies");
	p->verbs->create(p, copies, declared);
	p->verbs->run(p, copies, psprintf("SELECT %s, %s FROM %s AS t, pg_catalog.generate_series(0, %d) AS k", gnngp_place_key(p, "k"),
									  columns, table, p->keys - 1));
	return copies;
}

/* Has rows put together; where keys lie apart, they are brought together first. */
int64
gnngp_place_group(gnngp_place *p, const char *table, const gnngp_place_rows *rows)
{
	const char *moved;
	int64		n;

	if (!p->apart)
	{
		p->verbs->run(p, table, psprintf("SELECT %s, n.part, %s FROM (%s) AS n GROUP BY n.part", gnngp_place_key(p, "n.part"),
										 rows->values, rows->query));
		return -1;
	}
	moved = gnngp_place_table(p, "rows");
	p->verbs->create(p, moved, psprintf("part integer, %s", rows->declared));
	p->verbs->run(p, moved, psprintf("SELECT %s, n.part, %s FROM (%s) AS n", gnngp_place_key(p, "n.part"), rows->columns, rows->query));
	n = p->rows;
	p->verbs->run(p, table, psprintf("SELECT n.pk, n.part, %s FROM %s AS n GROUP BY n.pk, n.part", rows->values, moved));
	p->verbs->drop(p, moved);
	return n;
}
