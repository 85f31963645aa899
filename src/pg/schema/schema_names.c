/*
 * schema_names.c - names of tables and columns as users give them: 'orders.customer_id',
 * 'shop.orders.customer_id', 'salaries(team,year)'; a part that needs quotes may have them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "schema_internal.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* A JSON string, or NULL for null; 22023 for any other value. */
static const char *
json_text(const JsonbValue *v, const char *argument)
{
	if (v->type == jbvNull)
		return NULL;
	if (v->type != jbvString)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL,
					"the values of argument \"%s\" must be strings", argument);
	return pnstrdup(v->val.string.val, v->val.string.len);
}

List *
gnngp_json_pairs(const char *json, const char *argument)
{
	JsonbValue	v;
	List	   *pairs = NIL;

	if (json == NULL)
		return NIL;
	Jsonb	   *jsonb = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
	if (!JB_ROOT_IS_OBJECT(jsonb))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					psprintf("Write %s => '{\"...\": \"...\"}'.", argument),
					"argument \"%s\" must be a JSON object", argument);
	JsonbIterator *it = JsonbIteratorInit(&jsonb->root);
	(void) JsonbIteratorNext(&it, &v, true);
	while (JsonbIteratorNext(&it, &v, true) == WJB_KEY)
	{
		gnngp_json_pair *pair = palloc(sizeof(gnngp_json_pair));

		pair->key = pnstrdup(v.val.string.val, v.val.string.len);
		(void) JsonbIteratorNext(&it, &v, true);
		pair->value = json_text(&v, argument);
		pairs = lappend(pairs, pair);
	}
	return pairs;
}

static List *
spellings(Oid oid)
{
	const char *name = get_rel_name(oid);
	const char *schema = name ? get_namespace_name(get_rel_namespace(oid)) : NULL;

	if (schema == NULL)
		return NIL;
	return list_make4(pstrdup(name), pstrdup(quote_identifier(name)), psprintf("%s.%s", schema, name),
					  quote_qualified_identifier(schema, name));
}

/*
 * The length of the longest spelling of a table that a text begins with, and that an end follows;
 * 0: none.
 */
static size_t
match_table(Oid oid, const char *text, const char *ends)
{
	size_t		longest = 0;
	ListCell   *cell;

	foreach(cell, spellings(oid))
	{
		size_t		length = strlen(lfirst(cell));

		if (strncmp(text, lfirst(cell), length) == 0 && length > longest &&
			(text[length] == '\0' ? *ends == '\0' :
			 strchr(ends, text[length]) != NULL && *ends != '\0'))
			longest = length;
	}
	return longest;
}

/*
 * 42501 where a name is that of a table of the graph that was left out; 42703 where a table stands
 * for a column; 42P01 where it is none's.
 */
static void
refuse_table(const gnngp_schema *s, const char *text, const char *ends, const char *argument)
{
	const gnngp_oids *tables = &s->def->tables.tables;
	const char *column = NULL;	/* of that name */
	gp_meant	meant = gp_meant_start(text, (int) strcspn(text, ends));

	for (int i = 0; i < tables->n; i++)
		if (match_table(tables->oid[i], text, ends) > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for table %s", get_rel_name(tables->oid[i])),
					 errdetail("Argument \"%s\" names it.", argument)));
	for (int i = 0; i < s->ntables; i++)
	{
		if (gnngp_table_find_column(&s->table[i], text) >= 0)
			column = psprintf("%s.%s", s->table[i].label, text);
		if (match_table(s->table[i].table.oid, text, "") > 0)
			gnngp_raise(UNDEFINED_COLUMN,
						"Name a column as table.column, or several as table(column,column).",
						"argument \"%s\" names table \"%s\" without a column", argument, text);
		gp_meant_consider(&meant, s->table[i].label);
	}
	if (meant.name && strcmp(argument, "times") == 0)	/* its names are mostly those of tables */
		column = NULL;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("\"%s\", which argument \"%s\" names, is not a table of graph \"%s\"", text, argument, s->def->name),
			 column ? errhint("Perhaps you meant the column \"%s\".", column) :
			 meant.name ? errhint("Perhaps you meant the table \"%s\".", meant.name) :
			 *ends != '\0' && strpbrk(text, ends) == NULL ?
			 errhint("Name a column as table.column, or several as table(column,column).") :
			 strcmp(argument, "target") == 0 ?
			 errhint("Write table.column, the table being one of \"tables\".") :
			 errhint("Use the current names of tables that are among \"tables\". gp_alter_graph replaces the argument.")));
}

/* The table that a text begins with, and how much of it that is. */
static int
find_table(const gnngp_schema *s, const char *text, const char *ends, const char *argument,
		   size_t *length)
{
	int			found = -1;

	*length = 0;
	for (int i = 0; i < s->ntables; i++)
	{
		size_t		n = match_table(s->table[i].table.oid, text, ends);

		if (n > *length)
		{
			*length = n;
			found = i;
		}
		else if (n > 0 && n == *length)
			gnngp_raise(AMBIGUOUS_ALIAS, "Name its schema, too.",
						"\"%s\", which argument \"%s\" names, is a table in two schemas", text,
						argument);
	}
	if (found < 0)
		refuse_table(s, text, ends, argument);
	return found;
}

bool
gnngp_schema_names_column(const gnngp_schema *s, const char *name)
{
	bool		column = false;

	for (int i = 0; i < s->ntables; i++)
	{
		if (match_table(s->table[i].table.oid, name, "") > 0)
			return false;
		column = column || match_table(s->table[i].table.oid, name, ".(") > 0;
	}
	return column;
}

int
gnngp_schema_table_named(const gnngp_schema *s, const char *name, const char *argument)
{
	size_t		length;

	return find_table(s, name, "", argument, &length);
}

char *
gnngp_exclude_argument(const gnngp_schema *s, const List *more)
{
	const gnngp_texts *given = &s->def->tables.exclude;
	ArrayBuildState *all = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	char	   *literal;

	for (int i = 0; i < given->n + list_length(more); i++)
	{
		const char *column = i < given->n ? given->text[i] : list_nth(more, i - given->n);

		all = accumArrayResult(all, CStringGetTextDatum(column), false, TEXTOID,
							   CurrentMemoryContext);
	}
	literal = OidOutputFunctionCall(F_ARRAY_OUT, makeArrayResult(all, CurrentMemoryContext));
	return psprintf("exclude => %s", quote_literal_cstr(literal));
}

char *
gnngp_json_with(const char *json, const char *name, const char *value)
{
	StringInfoData member;
	Datum		all;

	initStringInfo(&member);
	appendStringInfoChar(&member, '{');
	escape_json(&member, name);
	appendStringInfoString(&member, ": ");
	if (value)
		escape_json(&member, value);
	else
		appendStringInfoString(&member, "null");
	appendStringInfoChar(&member, '}');
	all = DirectFunctionCall2(jsonb_concat,
							  DirectFunctionCall1(jsonb_in, CStringGetDatum(json ? json : "{}")),
							  DirectFunctionCall1(jsonb_in, CStringGetDatum(member.data)));
	return DatumGetCString(DirectFunctionCall1(jsonb_out, all));
}

char *
gnngp_times_argument(const char *times)
{
	return psprintf("times => %s", quote_literal_cstr(times));
}

int
gnngp_timed_table(const gnngp_schema *s, const char *name)
{
	return gnngp_schema_names_column(s, name) ? -1 : gnngp_schema_table_named(s, name, "times");
}

char *
gnngp_times_with(const gnngp_schema *s, const gnngp_schema_table *t, const char *column)
{
	const char *name = t->label;	/* or as times has it */
	ListCell   *cell;

	foreach(cell, gnngp_json_pairs(s->def->tables.times, "times"))
	{
		const gnngp_json_pair *pair = lfirst(cell);

		if (gnngp_timed_table(s, pair->key) == t - s->table)
			name = pair->key;
	}
	return gnngp_times_argument(gnngp_json_with(s->def->tables.times, name, column));
}

char *
gnngp_times_known(const gnngp_schema *s, const char *column)
{
	return gnngp_times_argument(gnngp_json_with(s->def->tables.times, column, NULL));
}

/* An argument of gp_alter_graph as it is now. */
static char *
present_argument(const gnngp_schema *s, const char *argument)
{
	const gnngp_tables_def *def = &s->def->tables;

	if (strcmp(argument, "exclude") == 0)
		return gnngp_exclude_argument(s, NIL);
	return psprintf("%s => %s", argument, quote_literal_cstr(strcmp(argument, "times") == 0 ?
															 def->times : def->keys));
}

int
gnngp_table_require_column(const gnngp_schema *s, const gnngp_schema_table *t, const char *name,
						   const char *argument)
{
	for (int i = 0; i < t->ncolumns; i++)
		if (strcmp(t->column[i].column.name, name) == 0 ||
			strcmp(t->column[i].column.quoted, name) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of table \"%s\", which argument \"%s\" names, does not exist", name, t->table.name,
					argument),
			 s->altered || strcmp(argument, "target") == 0 ?
			 errhint("%s", gnngp_columns_there(&t->table, name)) :
			 errhint("%s Pass the argument again with the name of today: SELECT gp_alter_graph(%s, %s);",
					 gnngp_columns_there(&t->table, name), quote_literal_cstr(s->def->name),
					 present_argument(s, argument))));
}

/* The names of columns behind that of their table; 42602 for what is neither one nor a list. */
static List *
names_behind(const char *text, const char *argument)
{
	char	   *names = pstrdup(text + 1);
	char	   *end = strrchr(names, ')');
	List	   *list;

	if (text[0] == '.')
		return list_make1(names);
	if (end && end[1] == '\0')
	{
		*end = '\0';
		if (SplitGUCList(names, ',', &list) && list != NIL)
			return list;
	}
	gnngp_raise(INVALID_NAME,
				"Write table(column,column). A name that has spaces or commas needs double quotes.",
				"argument \"%s\" has an invalid list of columns: \"%s\"", argument, text);
}

gnngp_column_list
gnngp_column_list_read(const gnngp_schema *s, const char *text, const char *argument)
{
	size_t		length;
	gnngp_column_list list = {find_table(s, text, ".(", argument, &length), 0, NULL};
	const gnngp_schema_table *t = &s->table[list.table];
	ListCell   *cell;
	List	   *names = names_behind(text + length, argument);

	list.column = palloc(sizeof(int) * list_length(names));
	foreach(cell, names)
		list.column[list.n++] = gnngp_table_require_column(s, t, lfirst(cell), argument);
	return list;
}

char *
gnngp_column_list_text(const gnngp_schema *s, int table, int n, const int *column)
{
	const gnngp_schema_table *t = &s->table[table];
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, t->label);
	if (n == 1)
		appendStringInfo(&text, ".%s", t->column[column[0]].column.name);
	for (int i = 0; i < n && n > 1; i++)
		appendStringInfo(&text, "%s%s%s", i > 0 ? "," : "(", t->column[column[i]].column.name,
						 i == n - 1 ? ")" : "");
	return text.data;
}
