/*
 * prediction_drop.c - dropping tables of models: with the model, or once a later fit has taken their place.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "model_tables.h"

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
		errhint("Drop them first, or the table itself with CASCADE. What is to stay when models go can call gp_predict.");
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

/* Drops tables, which nobody else may be at. */
void
gnngp_predictions_drop(List *tables, Oid owner)
{
	gnngp_tables_lock(tables, owner);
	gnngp_tables_each(tables, owner, drop_one, NULL);
}

/* Tables of fits before: whose they are, and which stay. */
typedef struct past_tables
{
	Oid			owner;
	List	   *kept;
} past_tables;

/*
 * Drops a table that nobody reads, nor a partition of it, and on which nothing depends; else it is listed again.  What it was called and what
 * depends on it is known once it is locked.
 */
static void
drop_unused(Oid table, const char *unlocked_name, void *arg)
{
	past_tables *past = arg;
	const char *quoted;

	if (!gnngp_table_lock_unused(table))
	{
		past->kept = lappend_oid(past->kept, table);
		return;
	}
	quoted = gnngp_table_name(table, past->owner);
	if (quoted && is_free(table))
	{
		drop_one(table, quoted, NULL);
		return;
	}
	gnngp_table_unlock(table);
	if (quoted)
		past->kept = lappend_oid(past->kept, table);
}

/* Drops what is left of fits before the last one, where nobody is at it; the table of the fit that is saved is none of these. */
void
gnngp_predictions_prune(const gnngp_model *model)
{
	past_tables past = {model->owner_role, NIL};
	ListCell   *cell;
	StringInfoData array;
	const char *schema = gnngp_schema();
	int64		id;

	if (gnngp_table_ask(psprintf("SELECT m.id FROM %s.%s AS m WHERE %s.gp_role_oid(m.owner) = $1 AND m.name = $3"
								 " AND m.predictions_past IS NOT NULL", schema, gnngp_model_kind.table, schema),
						model->owner_role, InvalidOid, model->name) == 0)
		return;
	id = strtoll(gnngp_table_answer(0), NULL, 10);
	gnngp_tables_each(gnngp_tables_list(psprintf("SELECT t.t::regclass::oid FROM %s.%s AS m"
												 " CROSS JOIN LATERAL unnest(m.predictions_past) AS t (t)"
												 " WHERE m.id = $1 AND t.t::regclass <> '%u'::regclass",
												 schema, gnngp_model_kind.table, model->predictions), id),
					  model->owner_role, drop_unused, &past);
	initStringInfo(&array);
	foreach(cell, past.kept)
		appendStringInfo(&array, "%s%u", array.len > 0 ? "," : "", lfirst_oid(cell));
	gnngp_tables_list(psprintf("UPDATE %s.%s SET predictions_past = nullif('{%s}'::regclass[], '{}') WHERE id = $1",
							   schema, gnngp_model_kind.table, array.data), id);
}
