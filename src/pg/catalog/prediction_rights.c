/*
 * prediction_rights.c - who may read a table of predictions, and whose it is: as with its model.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "model_tables.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* Lets a role, or everybody, read a table, or no longer. */
static void
set_grant(const char *quoted, Oid grantee, bool grant)
{
	if (OidIsValid(grantee) && !gnngp_role_is_alive(grantee))
		return;
	gnngp_table_execute(psprintf("%s SELECT ON %s %s %s", grant ? "GRANT" : "REVOKE", quoted, grant ? "TO" : "FROM",
								 OidIsValid(grantee) ? quote_identifier(GetUserNameFromId(grantee, false)) : "PUBLIC"));
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

	gnngp_tables_each(gnngp_predictions_of("id", model->id, false), model->owner_role, grant_one, &g);
}

/*
 * 55000 where a table has anything that the extension does not give it: who reads it is its owner then, and code of
 * the owner before would run as the new one.
 */
static void
require_plain(Oid table, const char *quoted)
{
	if (gnngp_table_ask("SELECT FROM (SELECT $1 UNION ALL SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = $1) AS t (oid)"
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

	gnngp_table_execute(psprintf("ALTER TABLE %s OWNER TO %s", quoted, role));
	n = gnngp_table_ask("SELECT i.inhrelid FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = $1 AND c.relispartition"
			" ORDER BY 1", table, InvalidOid, "");
	partition = palloc(sizeof(Oid) * Max(n, 1));
	for (uint64 i = 0; i < n; i++)
		partition[i] = atooid(gnngp_table_answer(i));
	for (uint64 i = 0; i < n; i++)
		gnngp_table_execute(psprintf("ALTER TABLE %s OWNER TO %s",
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

	gnngp_tables_lock(tables, owner);
	gnngp_citus_prepare();
	foreach(cell, tables)
	{
		const char *quoted = gnngp_table_name(lfirst_oid(cell), owner);

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
		grantees = lappend_oid(grantees, atooid(gnngp_table_answer(i)));
	if (grantees != NIL)
		gnngp_tables_each(list_make1_oid(model->predictions), model->owner_role, share_one, grantees);
	gnngp_spi_finish();
}
