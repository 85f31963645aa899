/*
 * prediction_rights.c - who may read a table of predictions, and whose it is: as with its model.
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "lib/stringinfo.h"
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

/* Roles that have a right on a table or a column of it, beside its owner, as a statement lists them; NULL where there are none. */
static const char *
list_entitled(Oid table)
{
	StringInfoData list;
	uint64		n = gnngp_table_ask("SELECT DISTINCT CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END FROM pg_class AS c"
									" CROSS JOIN LATERAL (SELECT c.relacl UNION ALL SELECT a.attacl FROM pg_attribute AS a WHERE a.attrelid = c.oid) AS r (acl)"
									" CROSS JOIN LATERAL aclexplode(r.acl) AS x WHERE c.oid = $1 AND x.grantee <> c.relowner ORDER BY 1",
									table, InvalidOid, "");

	initStringInfo(&list);
	for (uint64 i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", gnngp_table_answer(i));
	return n > 0 ? list.data : NULL;
}

/* The name of a table that is locked. */
static const char *
locked_name(Oid table)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table));
}

/*
 * Takes from a table and its partitions the rights of all but its owner.  REVOKE ALL takes those on columns along, and
 * CASCADE what was granted on.
 */
void
gnngp_table_make_private(Oid table)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(table, NoLock, NULL))
	{
		const char *roles = list_entitled(lfirst_oid(cell));

		if (roles)
			gnngp_table_execute(psprintf("REVOKE ALL ON %s FROM %s CASCADE", locked_name(lfirst_oid(cell)), roles));
	}
}

/* The same of one of a list. */
static void
make_private(Oid table, const char *quoted, void *arg)
{
	gnngp_table_make_private(table);
}

/* Lets a table be read by those who may read its model. */
static void
grant_as_model(Oid table, const char *quoted, void *arg)
{
	const char *schema = gnngp_schema();
	List	   *grantees = NIL;
	ListCell   *cell;
	uint64		n = gnngp_table_ask(psprintf("SELECT %s.gp_role_oid(g.grantee) FROM %s.gp_grant_catalog AS g JOIN %s.%s AS m ON m.id = g.model"
											 " WHERE NOT g.revoked AND %s.gp_role_oid(g.grantee) IS NOT NULL AND $1 IN"
											 " (SELECT t.t::regclass::oid FROM unnest(m.predictions || m.predictions_past) AS t (t)) ORDER BY 1",
											 schema, schema, schema, gnngp_model_kind.table, schema), table, InvalidOid, "");

	for (uint64 i = 0; i < n; i++)
		grantees = lappend_oid(grantees, atooid(gnngp_table_answer(i)));
	foreach(cell, grantees)
		set_grant(quoted, lfirst_oid(cell), true);
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
	ListCell   *cell;

	foreach(cell, find_all_inheritors(table, NoLock, NULL))
		gnngp_table_execute(psprintf("ALTER TABLE %s OWNER TO %s", locked_name(lfirst_oid(cell)), role));
	/* They are locked now, and the owner before can alter them no more. */
	require_plain(table, quoted);
}

/*
 * Gives tables to another role, as the current user.  Rights on them are those of the model then, and no others: what the owner before has
 * given besides would let others change what the new one's model says.
 */
void
gnngp_predictions_give(List *tables, Oid owner, Oid new_owner)
{
	ListCell   *cell;
	int			level = NewGUCNestLevel();

	gnngp_tables_lock(tables, owner);
	gnngp_tables_each(tables, owner, make_private, NULL);
	gnngp_tables_each(tables, owner, grant_as_model, NULL);
	gnngp_citus_prepare();
	foreach(cell, tables)
	{
		const char *quoted = gnngp_table_name(lfirst_oid(cell), owner);

		if (quoted)
			give_one(lfirst_oid(cell), quoted, quote_identifier(GetUserNameFromId(new_owner, false)));
	}
	AtEOXact_GUC(false, level);
}

/*
 * Lets those read the table of a model who may read the model.  Its row is held: who is granted it, or no longer, is either
 * seen here or comes when the table is there.
 */
void
gnngp_predictions_share(const gnngp_model *model)
{
	gnngp_spi_connect();
	gnngp_tables_each(list_make1_oid(model->predictions), model->owner_role, grant_as_model, NULL);
	gnngp_spi_finish();
}
