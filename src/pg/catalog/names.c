/*
 * names.c - which graph or model a name means, and who owns it; how tables are named.
 */
#include "postgres.h"

#include "catalog_internal.h"

const gnngp_kind gnngp_graph_kind = {
	"graph", "gp_graph_catalog", "gp_graph_now",
	"Create it with gp_create_graph, a task with gp_create_task; the view gp_graphs lists yours."
};
const gnngp_kind gnngp_model_kind = {
	"model", "gp_model_catalog", "gp_model_catalog",
	"Make it with gp_fit or gp_fit_links; the view gp_models lists those that you may read."
};

/* Reads a part of a qualified name: "with "" quotes" or plain up to the dot. */
static char *
read_part(const char **text, bool last)
{
	const char *s = *text;
	StringInfoData part;

	initStringInfo(&part);
	if (*s != '"')
	{
		const char *end = last ? s + strlen(s) : strchr(s, '.');

		if (end == NULL)
			return NULL;
		appendBinaryStringInfo(&part, s, end - s);
		*text = end;
		return part.data;
	}
	for (s++; *s != '\0'; s++)
	{
		if (*s == '"' && *++s != '"')
		{
			*text = s;
			return part.data;
		}
		if (*s == '\0')
			break;
		appendStringInfoChar(&part, *s);
	}
	return NULL;
}

/* Whose a row is, or who granted it to whom: the first class in which a name is found counts. */
enum name_class
{
	CLASS_OWN,					/* the caller's */
	CLASS_ROLE,					/* of a role that the caller is a member of */
	CLASS_GRANTED,				/* granted to the caller, or to such a role */
	CLASS_PUBLIC				/* granted to everybody */
};

/* Finds the rows of a name, with their class as the last column, the lowest class first. */
static uint64
find_rows(const gnngp_kind *kind, const char *columns, const char *owner, const char *name)
{
	char	   *query = psprintf("SELECT %s, CASE WHEN gnngp_internal.gp_role_oid(owner) = $3 THEN %d"
						  " WHEN pg_has_role(gnngp_internal.gp_role_oid(owner), 'USAGE') THEN %d"
						  " WHEN EXISTS (SELECT FROM gnngp_internal.gp_grant_catalog g"
						  " WHERE g.model = t.id AND NOT g.revoked"
						  " AND gnngp_internal.gp_role_oid(g.grantee) <> 0"
						  " AND pg_has_role(gnngp_internal.gp_role_oid(g.grantee), 'USAGE')) THEN %d"
						  " ELSE %d END AS class FROM gnngp_internal.%s t"
						  " WHERE name = $1 AND ($2 IS NULL OR owner::text = $2)"
						  " ORDER BY class, owner::text COLLATE \"C\", id",
						  columns, CLASS_OWN, CLASS_ROLE, CLASS_GRANTED, CLASS_PUBLIC, kind->view);

	gnngp_execute(GNNGP_SELECT, query, gnngp_param_text(name),
				  gnngp_param_text(owner),
				  gnngp_param_oid(GetUserId()));
	return SPI_processed;
}

static char *
found(uint64 row, const char *column)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;

	return SPI_getvalue(SPI_tuptable->vals[row], desc, SPI_fnumber(desc, column));
}

/* 42P09 when the class that a name is found in has several rows. */
static void
check_ambiguous(const gnngp_kind *kind, const char *name)
{
	StringInfoData list;
	char	   *class = found(0, "class");

	if (SPI_processed < 2 || strcmp(class, found(1, "class")) != 0)
		return;
	initStringInfo(&list);
	for (uint64 i = 0; i < SPI_processed && i < 5 && strcmp(class, found(i, "class")) == 0; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "",
						 quote_qualified_identifier(found(i, "owner"), name));
	gnngp_raise(AMBIGUOUS_ALIAS, psprintf("Write the owner, too: %s.", list.data),
				"several roles have a %s named \"%s\"", kind->noun, name);
}

/*
 * 42501 when the only row is one that somebody granted to everybody, and another role has
 * a model of this name that was once granted to the caller by name: who relied on that
 * one must not be given this one instead.
 */
static void
check_revoked(const char *name)
{
	SPITupleTable *table = SPI_tuptable;
	uint64		processed = SPI_processed;
	char	   *stranger = found(0, "owner");

	if (atoi(found(0, "class")) != CLASS_PUBLIC)
		return;
	gnngp_execute(GNNGP_SELECT_ALL,
				  "SELECT m.owner::text FROM gnngp_internal.gp_model_catalog m"
				  " JOIN gnngp_internal.gp_grant_catalog g ON g.model = m.id"
				  " WHERE m.name = $1 AND g.revoked AND m.owner::text <> $3"
				  " AND pg_has_role($2, gnngp_internal.gp_role_oid(g.grantee), 'USAGE')"
				  " ORDER BY m.id LIMIT 1",
				  gnngp_param_text(name), gnngp_param_oid(GetUserId()),
				  gnngp_param_text(stranger));
	if (SPI_processed > 0)
		gnngp_raise(INSUFFICIENT_PRIVILEGE,
					psprintf("Another model of this name is granted to everybody: %s.",
							 quote_qualified_identifier(stranger, name)),
					"model \"%s\" of role \"%s\" is no longer granted to you", name,
					gnngp_found_text(0, 1));
	SPI_freetuptable(SPI_tuptable);
	SPI_tuptable = table;
	SPI_processed = processed;
}

/*
 * What helps where there is none of this name and kind; of the other kind there may be one.  42501
 * where that is a model that the caller may only read.
 */
static const char *
hint_for(const gnngp_kind *kind, const char *owner, const char *name)
{
	if (kind == &gnngp_graph_kind)
	{
		if (find_rows(&gnngp_model_kind, "owner, (SELECT g.name FROM gnngp_internal.gp_graph_catalog g"
					  " WHERE g.id = t.graph) AS graph", owner, name) == 0)
			return NULL;
		if (atoi(found(0, "class")) > CLASS_ROLE)
			gnngp_require_owner(get_role_oid(found(0, "owner"), true), "model", name);
		const char *graph = found(0, "graph");
		if (graph == NULL)
			return "There is a model of this name, but its graph is gone: gp_drop_model drops it.";
		return psprintf("It is a model of graph \"%s\": gp_fit(%s, %s) fits it, and"
						" gp_drop_model(%s) drops it.", graph, quote_literal_cstr(graph),
						quote_literal_cstr(name), quote_literal_cstr(name));
	}
	if (find_rows(&gnngp_graph_kind, "tables IS NULL AS plain, (SELECT min(m.name)"
				  " FROM gnngp_internal.gp_model_catalog m WHERE m.graph = t.id) AS model",
				  owner, name) == 0)
		return NULL;
	const char *model = found(0, "model");
	if (model != NULL)
		return psprintf("The graph of this name has model \"%s\".", model);
	return found(0, "plain")[0] == 't' ? "The graph of this name has no model: fit it with gp_fit or gp_fit_links." :
		"This is a graph of tables: ask a question of it with gp_create_task, fit the task with gp_fit, and predict with the task's name.";
}

/*
 * 42704, with what the caller perhaps meant, of the names that he may see.  rest: the name behind
 * its owner; NULL: it has none.
 */
pg_noreturn static void
report_unknown(const gnngp_kind *kind, const char *name, const char *owner, const char *rest)
{
	gp_meant	meant = gp_meant_start(name, (int) strlen(name));
	const char *hint = hint_for(kind, NULL, name);

	if (hint == NULL && rest != NULL)
		hint = hint_for(kind, owner, rest);

	if (hint == NULL)
		gnngp_execute(GNNGP_SELECT, psprintf("SELECT name FROM gnngp_internal.%s ORDER BY name"
											 " COLLATE \"C\"", kind->table));
	for (uint64 i = 0; hint == NULL && i < SPI_processed; i++)
		gp_meant_consider(&meant, found(i, "name"));
	gnngp_raise(UNDEFINED_OBJECT,
				meant.name ? psprintf(GP_MEANT "%s", meant.name, kind->hint) :
				hint ? hint : kind->hint,
				"%s \"%s\" does not exist", kind == &gnngp_graph_kind ? "graph or task" : kind->noun, name);
}

/*
 * A name that reads as 'owner.name' means what such a role owns, or owned, before what somebody
 * else may have named so in order to stand in for it.
 */
static bool
find_named(const gnngp_kind *kind, const char *name, bool missing_ok)
{
	const char *text = name;
	char	   *owner = read_part(&text, false);
	char	   *rest = owner && *text++ == '.' ? read_part(&text, true) : NULL;
	bool		qualified = rest && *text == '\0';

	if (gnngp_citus_serves_other())
	{
		if (!missing_ok)
			gnngp_raise_detail(FEATURE_NOT_SUPPORTED, "Each node has graphs and models of its own.",
							   "Call the function first, in WITH p AS MATERIALIZED (SELECT * FROM gp_predict(...)), and use p.",
							   "%s \"%s\" cannot be used in a query that Citus runs on another node", kind->noun, name);
		return false;
	}
	/* What the caller owns is one row at most, and found without asking what he was granted. */
	gnngp_execute(GNNGP_SELECT,
				  psprintf("SELECT * FROM gnngp_internal.%s WHERE name = $1"
						   " AND gnngp_internal.gp_role_oid(owner) = $2", kind->view),
				  gnngp_param_text(name), gnngp_param_oid(GetUserId()));
	if (SPI_processed > 0)
		return true;
	bool		of_a_role = qualified && (OidIsValid(get_role_oid(owner, true)) ||
										  gnngp_role_is_gone(owner));
	if (!of_a_role && find_rows(kind, "t.*", NULL, name) > 0)
	{
		check_ambiguous(kind, name);
		if (!missing_ok && kind == &gnngp_model_kind)
			check_revoked(name);
		return true;
	}
	if (qualified && find_rows(kind, "t.*", owner, rest) > 0)
		return true;
	if (missing_ok)
		return false;
	report_unknown(kind, name, owner, qualified ? rest : NULL);
}

bool
gnngp_find_record(const gnngp_kind *kind, const char *name, int64 id, bool missing_ok,
				  const gnngp_member *member, int n, void *record)
{
	MemoryContext context = CurrentMemoryContext;
	bool		found = true;

	gnngp_spi_connect();
	if (name)
		found = find_named(kind, name, missing_ok);
	else
	{
		gnngp_execute(GNNGP_SELECT,
					  psprintf("SELECT * FROM gnngp_internal.%s WHERE id = $1", kind->view),
					  gnngp_param_int8(id));
		if (SPI_processed == 0)
			gnngp_raise(UNDEFINED_OBJECT, kind->hint, "the %s no longer exists", kind->noun);
	}
	MemoryContextSwitchTo(context);
	if (found)
		gnngp_members_load(member, n, record);
	gnngp_spi_finish();
	return found;
}

Oid
gnngp_owner_role(const gnngp_graph_def *graph)
{
	if (!gnngp_role_is_alive(graph->owner_role))
		gnngp_raise(UNDEFINED_OBJECT,
					"A superuser can give the graph to another role with gp_set_owner, or drop it.",
					"the role that owns graph \"%s\", \"%s\", no longer exists", graph->name,
					graph->owner);
	return graph->owner_role;
}

bool
gnngp_is_owner(Oid owner)
{
	return superuser() || (OidIsValid(owner) && has_privs_of_role(GetUserId(), owner));
}

void
gnngp_require_owner(Oid owner, const char *kind, const char *name)
{
	if (gnngp_is_owner(owner))
		return;
	char	   *role = GetUserNameFromId(owner, true);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be owner of %s \"%s\"", kind, name),
			 strcmp(kind, "model") == 0 ?
			 errhint("A grant lets you predict and evaluate. Only the owner can fit, write reports and see labels.") : 0,
			 role ? errdetail("The owner is role \"%s\".", role)
			 : errdetail("The role that owned it no longer exists.")));
}

void
gnngp_check_name(const char *kind, const char *name)
{
	if (name[0] == '\0')
		gnngp_raise(INVALID_NAME, NULL, "a %s's name must not be empty", kind);
	if (strlen(name) >= NAMEDATALEN)
		gnngp_raise_detail(NAME_TOO_LONG, psprintf("\"%s\" has %zu bytes.", name, strlen(name)), NULL,
						   "a %s's name must not be longer than %d bytes", kind, NAMEDATALEN - 1);
}

/* ---- names of tables ---- */

gnngp_source_name
gnngp_source_name_of(Oid table)
{
	return OidIsValid(table) ?
		(gnngp_source_name) {get_namespace_name(get_rel_namespace(table)), get_rel_name(table)} :
		(gnngp_source_name) {NULL, NULL};
}

char *
gnngp_shown_table(const char *schema, const char *table)
{
	const char *parts[] = {schema, table};
	StringInfoData text;

	if (quote_identifier(schema) == schema && quote_identifier(table) == table)
		return psprintf("%s.%s", schema, table);
	initStringInfo(&text);
	for (int i = 0; i < 2; i++)
	{
		appendStringInfoString(&text, i > 0 ? "\".\"" : "");
		for (const char *c = parts[i]; *c != '\0'; c++)
			appendStringInfo(&text, *c == '"' ? "\"%c" : "%c", *c);
	}
	return text.data;
}

char *
gnngp_shown_oid(Oid table)
{
	gnngp_source_name name = gnngp_source_name_of(table);

	return name.schema && name.table ? gnngp_shown_table(name.schema, name.table) :
		psprintf("%u", table);
}
