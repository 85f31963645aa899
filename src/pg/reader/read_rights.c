/*
 * read_rights.c - whose right is missing where a graph's tables may not be read.
 *
 * They are read as the graph's owner, whoever fits, or as the caller, by live answers. The server's
 * error names the table alone.
 */
#include "postgres.h"

#include "reader_internal.h"

bool
gnngp_may_read_column(Oid table, AttrNumber column, Oid role)
{
	return pg_class_aclcheck(table, role, ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(table, column, role, ACL_SELECT) == ACLCHECK_OK;
}

char *
gnngp_missing_grants(const List *tables, bool in_part)
{
	const char *role = quote_identifier(GetUserNameFromId(GetUserId(), false));
	List	   *looked_at = NIL;
	StringInfoData names;
	StringInfoData schemas;
	StringInfoData columns;
	ListCell   *cell;

	initStringInfo(&names);
	initStringInfo(&schemas);
	initStringInfo(&columns);
	foreach(cell, tables)
	{
		const gnngp_table *t = lfirst(cell);
		Oid			schema = OidIsValid(t->oid) ? get_rel_namespace(t->oid) : InvalidOid;

		if (!OidIsValid(schema))
			continue;
		if (!list_member_oid(looked_at, schema) && !gnngp_namespace_usable(schema, GetUserId()))
			appendStringInfo(&schemas, "%s%s", schemas.len > 0 ? ", " : "",
							 quote_identifier(get_namespace_name(schema)));
		looked_at = lappend_oid(looked_at, schema);
		if (t->lacking)
			appendStringInfo(&columns, "GRANT SELECT (%s) ON %s TO %s; ", t->lacking, t->quoted,
							 role);
		else if (!(pg_class_aclcheck(t->oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
			  (in_part && pg_attribute_aclcheck_all(t->oid, GetUserId(), ACL_SELECT,
													ACLMASK_ANY) == ACLCHECK_OK)))
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", t->quoted);
	}
	char	   *all = psprintf("%s%s%s",
							   schemas.len > 0 ?
							   psprintf("GRANT USAGE ON SCHEMA %s TO %s; ", schemas.data, role) : "",
							   columns.data,
							   names.len > 0 ? psprintf("GRANT SELECT ON %s TO %s; ", names.data, role) : "");
	size_t		length = strlen(all);

	if (length == 0)
		return NULL;
	all[length - 1] = '\0';		/* the last blank */
	return all;
}

/* Adds to an error about rights who lacks them, and what gives them. */
static void
explain_rights(void *arg)
{
	const gnngp_rights *rights = arg;

	if (geterrcode() != ERRCODE_INSUFFICIENT_PRIVILEGE)
		return;
	errdetail("%s", rights->whose);
	errhint("%s", rights->grants);
}

void
gnngp_rights_open(gnngp_rights *rights, const gnngp_reader *r)
{
	List	   *tables = list_make3((void *) &r->nodes, (void *) &r->edges, (void *) &r->sparse);
	char	   *grants = gnngp_missing_grants(tables, false);
	char	   *least = grants ? gnngp_missing_grants(tables, true) : NULL;

	*rights = (gnngp_rights) {
		.callback = {.previous = error_context_stack, .callback = explain_rights, .arg = rights},
		.grants = least ? least : grants,
		.whose = r->as_owner
		? psprintf("The tables of graph \"%s\" are read as its owner, role \"%s\".", r->def->name,
										GetUserNameFromId(GetUserId(), false))
		: "Live answers read the tables with the rights of the caller.",
	};
	if (rights->grants)
		error_context_stack = &rights->callback;
}

void
gnngp_rights_close(const gnngp_rights *rights)
{
	error_context_stack = rights->callback.previous;
}
