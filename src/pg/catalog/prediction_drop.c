/*
 * prediction_drop.c - dropping tables of models: with the model, or once a later fit has taken their place.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "model_tables.h"
#include "storage/lmgr.h"

/* True where nothing of the user's depends on a table, its partitions or the types of their rows. */
static bool
is_free(Oid table)
{
	return gnngp_table_ask("SELECT FROM (SELECT $1 UNION ALL SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = $1) AS t (oid)"
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
	gnngp_table_execute(psprintf("DROP TABLE %s", quoted));
	error_context_stack = hint.previous;
}

/* Drops tables. */
void
gnngp_predictions_drop(List *tables, Oid owner)
{
	gnngp_tables_each(tables, owner, drop_one, NULL);
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

	if (gnngp_table_ask(psprintf("SELECT m.id FROM %s.%s AS m WHERE %s.gp_role_oid(m.owner) = $1 AND m.name = $3"
					 " AND m.predictions_past IS NOT NULL", schema, gnngp_model_kind.table, schema),
			model->owner_role, InvalidOid, model->name) == 0)
		return;
	id = strtoll(gnngp_table_answer(0), NULL, 10);
	gnngp_tables_each(gnngp_tables_list(psprintf("SELECT t.t::regclass::oid FROM %s.%s AS m CROSS JOIN LATERAL unnest(m.predictions_past) AS t (t)"
									" WHERE m.id = $1 AND t.t::regclass <> '%u'::regclass",
									schema, gnngp_model_kind.table, model->predictions), id), model->owner_role, drop_unused, &kept);
	initStringInfo(&array);
	foreach(cell, kept)
		appendStringInfo(&array, "%s%u", array.len > 0 ? "," : "", lfirst_oid(cell));
	gnngp_tables_list(psprintf("UPDATE %s.%s SET predictions_past = nullif('{%s}'::regclass[], '{}') WHERE id = $1",
						 schema, gnngp_model_kind.table, array.data), id);
}
