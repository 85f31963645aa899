/*
 * table_type.c - the SQL type gp_table: a table that belongs to a model.
 *
 * A value is the table's oid.  Its text is the name of today with the schema, and never a number, as that of a
 * regclass is once the table is gone: in another database another table has it.  A name
 * without a table is read as none, so that a dump which leaves the table out restores the models.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog_internal.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#define NONE "-"

PG_FUNCTION_INFO_V1(gnngp_table_in);
PG_FUNCTION_INFO_V1(gnngp_table_out);

/* The table of a name, or InvalidOid. */
static Oid
find_table(const char *text)
{
	List	   *names;
	Oid			schema;

	if (!SplitIdentifierString(pstrdup(text), '.', &names) || list_length(names) != 2)
		return InvalidOid;
	schema = get_namespace_oid(linitial(names), true);
	return OidIsValid(schema) ? get_relname_relid(lsecond(names), schema) : InvalidOid;
}

/* gp_table's input function. */
Datum
gnngp_table_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Oid			table = strcmp(text, NONE) == 0 ? InvalidOid : find_table(text);

	/* Nothing else would say so during a restore. */
	if (!OidIsValid(table) && strcmp(text, NONE) != 0)
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the table \"%s\" of a model is missing", text),
				 errhint("Fit the model again with gp_refresh.")));
	PG_RETURN_OID(table);
}

/* gp_table's output function. */
Datum
gnngp_table_out(PG_FUNCTION_ARGS)
{
	Oid			table = PG_GETARG_OID(0);
	char	   *name = get_rel_name(table);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(table)) : NULL;

	PG_RETURN_CSTRING(schema ? quote_qualified_identifier(schema, name) : pstrdup(NONE));
}
