/*
 * prediction_table.c - predictions in a table of their own, which is the graph's owner's.
 *
 * A fit whose factor lies in tables writes a new table beside the node table: partitioned or
 * distributed likewise, so that a join of the two stays where their rows are.  The model's row names the table that is
 * read; readers see the old one or the new one, and wait for nobody.  The old one is kept until the next
 * fit, for queries that have begun with it, and longer while somebody reads it or something depends on it.
 *
 * All is done as the owner under SECURITY_RESTRICTED_OPERATION: event triggers, domains and
 * bounds of partitions may have code behind them.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "catalog_int.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* The name of a table in a statement; NULL when there is none, or it is no longer a table of the owner's. */
static const char *
table_name(Oid table, Oid owner)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	const char *name = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_class) GETSTRUCT(tuple))->relowner == owner &&
		(((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION ||
		 ((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_PARTITIONED_TABLE))
		name = quote_qualified_identifier(get_namespace_name(((Form_pg_class) GETSTRUCT(tuple))->relnamespace),
										  NameStr(((Form_pg_class) GETSTRUCT(tuple))->relname));
	ReleaseSysCache(tuple);
	return name;
}

/* 55000: the table is not there, or another one's. */
void
gnngp_predictions_gone(const gnngp_model *model)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the predictions of model \"%s\" are no longer in a table of its owner", model->name),
			 errdetail("The table was dropped or given away, or the model was fitted twice since this query began."),
			 errhint("Try again; where that does not help, fit the model again with gp_refresh.")));
}

/* Locks the table of a model for reading, and names it. */
const char *
gnngp_predictions_open(const gnngp_model *model)
{
	const char *name;

	LockRelationOid(model->predictions, AccessShareLock);
	name = table_name(model->predictions, model->owner_role);
	if (name == NULL)
		gnngp_predictions_gone(model);
	return name;
}

/* Runs one statement. */
static void
execute(const char *statement)
{
	bool		reports = gnngp_progress_is_on();
	int			rc = SPI_execute(statement, false, 0);

	if (rc < 0)
		elog(ERROR, "a statement on a table of predictions returned %s", SPI_result_code_string(rc));
	if (reports)
		gnngp_progress_again();
}

/* Runs a query about oids and a name, those of which it takes, on what is committed now; its rows are then in SPI. */
static uint64
ask(const char *query, Oid a, Oid b, const char *name)
{
	Oid			types[] = {OIDOID, OIDOID, TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(a), ObjectIdGetDatum(b), CStringGetTextDatum(name)};

	gnngp_execute_latest(query, 3, types, values);
	return SPI_processed;
}

/* The first column of a row of a query. */
static char *
answer(uint64 row)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1);
}

/* How a table of predictions is to be partitioned: as the nodes are, where that is by their id. */
static const char *
partition_clause(const gnngp_graph_def *graph)
{
	return ask("SELECT CASE p.partstrat WHEN 'h' THEN 'HASH' WHEN 'l' THEN 'LIST' ELSE 'RANGE' END FROM pg_partitioned_table AS p"
			   " JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]"
			   " JOIN pg_opclass AS o ON o.oid = p.partclass[0] AND o.opcdefault"
			   " WHERE p.partrelid = $1 AND p.partnatts = 1 AND a.attname = $3::name",
			   graph->nodes, InvalidOid, graph->id_column) == 0 ? "" : psprintf(" PARTITION BY %s (node)", answer(0));
}

/* Makes a partition for each of the nodes', with the same bounds. */
static void
make_partitions(const gnngp_graph_def *graph, Oid schema, const char *table, const char *quoted)
{
	uint64		n = ask("SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid"
						" WHERE i.inhparent = $1 ORDER BY c.oid", graph->nodes, InvalidOid, "");
	char	  **bounds = palloc(sizeof(char *) * Max(n, 1));

	for (uint64 i = 0; i < n; i++)
		bounds[i] = pstrdup(answer(i));
	for (uint64 i = 0; i < n; i++)
	{
		char	   *name = ChooseRelationName(table, NULL, psprintf(UINT64_FORMAT, i + 1), schema, false);

		execute(psprintf("CREATE TABLE %s PARTITION OF %s %s", quote_qualified_identifier(get_namespace_name(schema), name), quoted,
						 bounds[i]));
	}
}

/* Has Citus distribute the table by its nodes; near the node table, where that is distributed by its id. */
static void
distribute(const gnngp_graph_def *graph, const char *quoted)
{
	bool		near = gnngp_citus_has_table(graph->nodes) &&
		ask("SELECT FROM pg_dist_partition WHERE logicalrelid = $1 AND partmethod = 'h'"
			" AND column_to_column_name(logicalrelid, partkey) = $3", graph->nodes, InvalidOid, graph->id_column) > 0;
	const char *nodes = quote_qualified_identifier(get_namespace_name(get_rel_namespace(graph->nodes)), get_rel_name(graph->nodes));

	execute(psprintf("SELECT pg_catalog.create_distributed_table(%s, 'node', colocate_with => %s)", quote_literal_cstr(quoted),
					 quote_literal_cstr(near ? nodes : "default")));
}

/* Makes the table. */
static Oid
make_table(const gnngp_model *model, const gnngp_graph_def *graph, bool spread)
{
	Oid			schema = get_rel_namespace(graph->nodes);
	char	   *table = ChooseRelationName(model->name, NULL, "predictions", schema, false);
	const char *quoted = quote_qualified_identifier(get_namespace_name(schema), table);
	const char *partitions = spread ? "" : partition_clause(graph);

	gnngp_pin("client_min_messages", "warning");
	gnngp_pin("default_table_access_method", "heap");
	gnngp_citus_prepare();
	execute(psprintf("CREATE TABLE %s (node %s PRIMARY KEY, class text, score float8, variance float8, probability float8, packed bytea)%s",
					 quoted, model->id_type, partitions));
	execute(psprintf("ALTER TABLE %s ALTER packed SET STORAGE EXTERNAL", quoted));
	execute(psprintf("COMMENT ON TABLE %s IS %s", quoted,
					 quote_literal_cstr(psprintf("predictions of the model %s: gp_fit and gp_refresh make the table, gp_predict reads it",
												 model->name))));
	if (*partitions)
		make_partitions(graph, schema, table, quoted);
	if (spread)
		distribute(graph, quoted);
	return get_relname_relid(table, schema);
}

/* True where the owner may make a table beside the nodes. */
static bool
may_make(const gnngp_graph_def *graph)
{
	Oid			schema = get_rel_namespace(graph->nodes);

	return OidIsValid(schema) && !isAnyTempNamespace(schema) &&
		ask("SELECT WHERE has_schema_privilege($1, $2, 'CREATE')", graph->owner_role, schema, "") > 0;
}

/* Lets a role, or everybody, read a table, or no longer. */
static void
set_grant(const char *quoted, Oid grantee, bool grant)
{
	if (OidIsValid(grantee) && !gnngp_role_is_alive(grantee))
		return;
	execute(psprintf("%s SELECT ON %s %s %s", grant ? "GRANT" : "REVOKE", quoted, grant ? "TO" : "FROM",
					 OidIsValid(grantee) ? quote_identifier(GetUserNameFromId(grantee, false)) : "PUBLIC"));
}

/*
 * Holds the row of a model that is about to get a table: a grant or revoke that is open is waited for, and
 * one that comes is refused (55006) until the fit is over, for it would not see the table.
 */
static void
hold_grants(const gnngp_model *model)
{
	const char *schema = gnngp_schema();

	ask(psprintf("SELECT m.id FROM %s.%s AS m WHERE %s.gp_role_oid(m.owner) = $1 AND m.name = $3 FOR UPDATE OF m", schema,
				 gnngp_model_kind.table, schema), model->owner_role, InvalidOid, model->name);
}

/* True where tables may be made. */
bool
gnngp_predictions_may_make(const gnngp_graph_def *graph)
{
	bool		may;

	gnngp_spi_connect();
	may = may_make(graph);
	gnngp_spi_finish();
	return may;
}

/* Notes a new table among those that are dropped with the next fit, which a fit that is saved takes it from. */
static void
note_table(const gnngp_model *stored, Oid table)
{
	Oid			types[] = {INT8OID, REGCLASSOID};
	Datum		values[] = {Int64GetDatum(stored->id), ObjectIdGetDatum(table)};

	const char *schema = gnngp_schema();

	gnngp_execute_latest(psprintf("UPDATE %s.%s SET predictions_past = predictions_past || $2::%s.gp_table WHERE id = $1", schema,
								  gnngp_model_kind.table, schema), 2, types, values);
}

/* Makes a table for the predictions of a model that is about to be saved. */
void
gnngp_predictions_make(gnngp_model *model, const gnngp_graph_def *graph, bool spread, const gnngp_model *refreshed)
{
	gnngp_identity saved;

	gnngp_spi_connect();
	hold_grants(model);
	/* What a refresh that came no further has left would else grow from night to night. */
	if (refreshed)
		gnngp_predictions_prune(model);
	saved = gnngp_become_owner(model->owner_role);
	model->predictions = make_table(model, graph, spread);
	gnngp_become_again(&saved);
	if (refreshed)
		note_table(refreshed, model->predictions);
	gnngp_spi_finish();
}

/* Says that a model has no table. */
void
gnngp_predictions_tell_none(const gnngp_model *model)
{
	ereport(NOTICE,
			(errmsg("predictions of model \"%s\" are kept inside of it", model->name),
			 errdetail("Role \"%s\" may not make tables where the nodes are.", GetUserNameFromId(model->owner_role, false)),
			 errhint("With CREATE on that schema they are put into a table of their own, which queries can join.")));
}

/* Works on one table of a model's. */
typedef void (*table_work) (Oid table, const char *quoted, void *arg);

/* A list of tables by a query of the catalog. */
static List *
list_tables(const char *query, int64 model)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(model)};
	List	   *tables = NIL;

	gnngp_execute_latest(query, 1, types, values);
	for (uint64 i = 0; SPI_tuptable && i < SPI_tuptable->numvals; i++)
		tables = lappend_oid(tables, atooid(answer(i)));
	return tables;
}

/* The tables of some models, the ones before included. */
List *
gnngp_predictions_of(const char *column, int64 id, bool edges)
{
	return list_tables(psprintf("SELECT t.t::regclass::oid FROM %s.%s AS m CROSS JOIN LATERAL unnest(m.predictions || m.predictions_past%s) AS t (t)"
								" WHERE m.%s = $1 AND t.t IS NOT NULL ORDER BY 1", gnngp_schema(), gnngp_model_kind.table,
								edges ? " || m.edges_kept" : "", column), id);
}

/* Works on tables as their owner; those that are no longer his are left alone. */
static void
for_tables(List *tables, Oid owner, table_work work, void *arg)
{
	ListCell   *cell;
	gnngp_identity saved;

	if (tables == NIL || !gnngp_role_is_alive(owner))
		return;
	saved = gnngp_become_owner(owner);
	gnngp_citus_prepare();
	foreach(cell, tables)
	{
		const char *quoted = table_name(lfirst_oid(cell), owner);

		if (quoted)
			work(lfirst_oid(cell), quoted, arg);
	}
	gnngp_become_again(&saved);
}

/* True where nothing of the user's depends on a table, its partitions or the types of their rows. */
static bool
is_free(Oid table)
{
	return ask("SELECT FROM (SELECT $1 UNION ALL SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = $1) AS t (oid)"
			   " JOIN pg_class AS c ON c.oid = t.oid JOIN pg_type AS y ON y.oid = c.reltype JOIN pg_depend AS d ON d.deptype = 'n' AND"
			   " (d.refclassid, d.refobjid) IN (('pg_class'::regclass, c.oid), ('pg_type'::regclass, y.oid), ('pg_type'::regclass, y.typarray))",
			   table, InvalidOid, "") == 0;
}

/* Hints at what helps where the server refuses to drop a table, in place of a cascade, which nothing here has. */
static void
hint_dependants(void *unused)
{
	if (geterrcode() == ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST)
		errhint("Drop them first. What is to stay when models go can call gp_predict.");
}

/* Drops one table. */
static void
drop_one(Oid table, const char *quoted, void *arg)
{
	ErrorContextCallback hint = {.previous = error_context_stack,.callback = hint_dependants};

	error_context_stack = &hint;
	execute(psprintf("DROP TABLE %s", quoted));
	error_context_stack = hint.previous;
}

/* Drops tables. */
void
gnngp_predictions_drop(List *tables, Oid owner)
{
	for_tables(tables, owner, drop_one, NULL);
}

/* Drops a table that nobody reads and on which nothing depends; else it is listed again. */
static void
drop_unused(Oid table, const char *quoted, void *arg)
{
	List	  **kept = arg;

	if (is_free(table) && ConditionalLockRelationOid(table, AccessExclusiveLock))
		drop_one(table, quoted, NULL);
	else
		*kept = lappend_oid(*kept, table);
}

/* Drops what is left of fits before the last one, where nobody is at it; the table of the fit that is saved is none of these. */
void
gnngp_predictions_prune(const gnngp_model *model)
{
	List	   *kept = NIL;
	ListCell   *cell;
	StringInfoData array;
	const char *schema = gnngp_schema();
	int64		id;

	if (ask(psprintf("SELECT m.id FROM %s.%s AS m WHERE %s.gp_role_oid(m.owner) = $1 AND m.name = $3"
					 " AND m.predictions_past IS NOT NULL", schema, gnngp_model_kind.table, schema),
			model->owner_role, InvalidOid, model->name) == 0)
		return;
	id = strtoll(answer(0), NULL, 10);
	for_tables(list_tables(psprintf("SELECT t.t::regclass::oid FROM %s.%s AS m CROSS JOIN LATERAL unnest(m.predictions_past) AS t (t)"
									" WHERE m.id = $1 AND t.t::regclass <> '%u'::regclass",
									schema, gnngp_model_kind.table, model->predictions), id), model->owner_role, drop_unused, &kept);
	initStringInfo(&array);
	foreach(cell, kept)
		appendStringInfo(&array, "%s%u", array.len > 0 ? "," : "", lfirst_oid(cell));
	list_tables(psprintf("UPDATE %s.%s SET predictions_past = nullif('{%s}'::regclass[], '{}') WHERE id = $1",
						 schema, gnngp_model_kind.table, array.data), id);
}

/* A grant. */
typedef struct grant
{
	Oid			grantee;
	bool		given;
} grant;

/* Gives or takes it on one table. */
static void
grant_one(Oid table, const char *quoted, void *arg)
{
	const grant *g = arg;

	set_grant(quoted, g->grantee, g->given);
}

/* Lets a role read the tables of a model, or no longer. */
void
gnngp_predictions_grant(const gnngp_model *model, Oid grantee, bool given)
{
	grant		g = {grantee, given};

	for_tables(gnngp_predictions_of("id", model->id, false), model->owner_role, grant_one, &g);
}

/*
 * 55000 where a table has anything that the extension does not give it: who reads it is its owner then, and code of
 * the owner before would run as the new one.
 */
static void
require_plain(Oid table, const char *quoted)
{
	if (ask("SELECT FROM (SELECT $1 UNION ALL SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = $1) AS t (oid)"
			" JOIN pg_class AS c ON c.oid = t.oid"
			" WHERE c.relhasrules OR c.relhastriggers OR c.relrowsecurity OR c.relkind <> 'r' AND (c.relkind <> 'p' OR c.oid <> $1)"
			" OR c.oid <> $1 AND NOT c.relispartition"
			" OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND (a.atthasdef OR"
			" a.atttypid NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype, 'float8'::regtype, 'bytea'::regtype)))"
			" OR EXISTS (SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'c')"
			" OR EXISTS (SELECT FROM pg_index AS x WHERE x.indrelid = c.oid AND (x.indexprs IS NOT NULL OR x.indpred IS NOT NULL))"
			" OR EXISTS (SELECT FROM pg_statistic_ext AS e WHERE e.stxrelid = c.oid AND e.stxexprs IS NOT NULL)",
			table, InvalidOid, "") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table of predictions %s has been altered", quoted),
				 errdetail("The new owner would run what the owner before has added to it."),
				 errhint("Fit the model again with gp_refresh, drop the table, or take back what was added.")));
}

/* Gives one table with its partitions to another role. */
static void
give_one(Oid table, const char *quoted, const char *role)
{
	uint64		n;
	Oid		   *partition;

	execute(psprintf("ALTER TABLE %s OWNER TO %s", quoted, role));
	n = ask("SELECT i.inhrelid FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = $1 AND c.relispartition"
			" ORDER BY 1", table, InvalidOid, "");
	partition = palloc(sizeof(Oid) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
		partition[i] = atooid(answer(i));
	for (uint64 i = 0; i < n; i++)
		execute(psprintf("ALTER TABLE %s OWNER TO %s",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(partition[i])), get_rel_name(partition[i])), role));
	/* They are locked now, and the owner before can alter them no more. */
	require_plain(table, quoted);
}

/* Gives tables to another role, as the current user. */
void
gnngp_predictions_give(List *tables, Oid owner, Oid new_owner)
{
	ListCell   *cell;
	int			level = NewGUCNestLevel();

	gnngp_citus_prepare();
	foreach(cell, tables)
	{
		const char *quoted = table_name(lfirst_oid(cell), owner);

		if (quoted)
			give_one(lfirst_oid(cell), quoted, quote_identifier(GetUserNameFromId(new_owner, false)));
	}
	AtEOXact_GUC(false, level);
}

/* Lets a list of roles read one table. */
static void
share_one(Oid table, const char *quoted, void *arg)
{
	ListCell   *cell;

	foreach(cell, (List *) arg)
		set_grant(quoted, lfirst_oid(cell), true);
}

/*
 * Lets those read the table of a model who may read the model.  Its row is held: who is granted it, or no longer, is either
 * seen here or comes when the table is there.
 */
void
gnngp_predictions_share(const gnngp_model *model)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(model->id)};
	const char *schema = gnngp_schema();
	List	   *grantees = NIL;

	gnngp_spi_connect();
	gnngp_execute_latest(psprintf("SELECT %s.gp_role_oid(grantee) FROM %s.gp_grant_catalog WHERE model = $1"
								  " AND %s.gp_role_oid(grantee) IS NOT NULL", schema, schema, schema), 1, types, values);
	for (uint64 i = 0; i < SPI_processed; i++)
		grantees = lappend_oid(grantees, atooid(answer(i)));
	if (grantees != NIL)
		for_tables(list_make1_oid(model->predictions), model->owner_role, share_one, grantees);
	gnngp_spi_finish();
}

/* ---- edges ---- */

/* Locks the table of packed edges. */
const char *
gnngp_edges_open(const gnngp_model *model)
{
	if (!OidIsValid(model->edges_kept))
		return NULL;
	LockRelationOid(model->edges_kept, AccessShareLock);
	return table_name(model->edges_kept, model->owner_role);
}

/* Makes the table. */
static const char *
make_edges(const gnngp_model *model, const gnngp_graph_def *graph, bool spread, Oid *made)
{
	Oid			schema = get_rel_namespace(graph->nodes);
	char	   *table = ChooseRelationName(model->name, NULL, "edges", schema, false);
	const char *quoted = quote_qualified_identifier(get_namespace_name(schema), table);

	execute(psprintf("CREATE TABLE %s (part integer, g %s.gp_graph, bad bigint)", quoted, gnngp_schema()));
	execute(psprintf("COMMENT ON TABLE %s IS %s", quoted,
					 quote_literal_cstr(psprintf("edges of the model %s as its last refresh has packed them", model->name))));
	if (spread)
		execute(psprintf("SELECT pg_catalog.create_distributed_table(%s, 'part', colocate_with => 'none')", quote_literal_cstr(quoted)));
	*made = get_relname_relid(table, schema);
	return quoted;
}

/* Empties the table, or makes it, and notes the mark of what is put into it. */
const char *
gnngp_edges_renew(const gnngp_model *model, const gnngp_graph_def *graph, bool spread, const char *mark)
{
	const char *quoted = gnngp_edges_open(model);
	Oid			table = model->edges_kept;
	Oid			types[] = {INT8OID, REGCLASSOID, TEXTOID};
	Datum		values[] = {Int64GetDatum(model->id), 0, CStringGetTextDatum(mark)};

	if (quoted)
		execute(psprintf("TRUNCATE %s", quoted));
	else if (may_make(graph))
		quoted = make_edges(model, graph, spread, &table);
	else
		return NULL;
	values[1] = ObjectIdGetDatum(table);
	gnngp_execute_as_extension(psprintf("UPDATE %s.%s SET edges_kept = $2, edges_mark = $3 WHERE id = $1", gnngp_schema(),
										gnngp_model_kind.table), 3, types, values, NULL);
	return quoted;
}

/* Drops the packed edges of a graph's models: who takes the graph over packs his own. */
void
gnngp_edges_forget(const gnngp_graph_def *graph)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(graph->id)};
	const char *schema = gnngp_schema();

	gnngp_predictions_drop(list_tables(psprintf("SELECT edges_kept::regclass::oid FROM %s.%s WHERE graph = $1 AND edges_kept IS NOT NULL",
												schema, gnngp_model_kind.table), graph->id), graph->owner_role);
	gnngp_execute_latest(psprintf("UPDATE %s.%s SET edges_kept = NULL, edges_mark = NULL WHERE graph = $1", schema,
								  gnngp_model_kind.table), 1, types, values);
}
