/*
 * model_tables.c - the tables that models have beside the nodes: their names, and statements on them.
 *
 * They are the graph's owner's, who may rename, alter, drop or give them away.  All that is done to them is done as he
 * is, and what is no longer his is left alone.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "model_tables.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/*
 * The name of a table in a statement; NULL when there is none, or it is no longer a table of the owner's, or its schema is gone: it need not
 * be locked.
 */
const char *
gnngp_table_name(Oid table, Oid owner)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Form_pg_class class;
	const char *schema;
	const char *name = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	class = (Form_pg_class) GETSTRUCT(tuple);
	schema = get_namespace_name(class->relnamespace);
	if (schema && class->relowner == owner && (class->relkind == RELKIND_RELATION || class->relkind == RELKIND_PARTITIONED_TABLE))
		name = quote_qualified_identifier(schema, NameStr(class->relname));
	ReleaseSysCache(tuple);
	return name;
}

/* Runs one statement. */
void
gnngp_table_execute(const char *statement)
{
	bool		reports = gnngp_progress_is_on();
	int			rc = SPI_execute(statement, false, 0);

	if (rc < 0)
		elog(ERROR, "a statement on a table of predictions returned %s", SPI_result_code_string(rc));
	if (reports)
		gnngp_progress_again();
}

/* Runs a query about oids and a name, those of which it takes, on what is committed now; its rows are then in SPI. */
uint64
gnngp_table_ask(const char *query, Oid a, Oid b, const char *name)
{
	Oid			types[] = {OIDOID, OIDOID, TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(a), ObjectIdGetDatum(b), CStringGetTextDatum(name)};

	gnngp_execute_latest(query, 3, types, values);
	return SPI_processed;
}

/* The first column of a row of a query. */
char *
gnngp_table_answer(uint64 row)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1);
}

/* A list of tables by a query of the catalog. */
List *
gnngp_tables_list(const char *query, int64 model)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(model)};
	List	   *tables = NIL;

	gnngp_execute_latest(query, 1, types, values);
	for (uint64 i = 0; SPI_tuptable && i < SPI_tuptable->numvals; i++)
		tables = lappend_oid(tables, atooid(gnngp_table_answer(i)));
	return tables;
}

/* The tables of some models, the ones before included. */
List *
gnngp_predictions_of(const char *column, int64 id, bool edges)
{
	return gnngp_tables_list(psprintf("SELECT t.t::regclass::oid FROM %s.%s AS m"
									  " CROSS JOIN LATERAL unnest(m.predictions || m.predictions_past%s) AS t (t)"
									  " WHERE m.%s = $1 AND t.t IS NOT NULL ORDER BY 1", gnngp_schema(), gnngp_model_kind.table,
									  edges ? " || m.edges_kept" : "", column), id);
}

/* Works on tables as their owner; those that are no longer his are left alone. */
void
gnngp_tables_each(List *tables, Oid owner, gnngp_table_work work, void *arg)
{
	ListCell   *cell;
	gnngp_identity saved;

	if (tables == NIL || !gnngp_role_is_alive(owner))
		return;
	saved = gnngp_become_owner(owner);
	gnngp_citus_prepare();
	foreach(cell, tables)
	{
		const char *quoted = gnngp_table_name(lfirst_oid(cell), owner);

		if (quoted)
			work(lfirst_oid(cell), quoted, arg);
	}
	gnngp_become_again(&saved);
}
