/*
 * row_sql.c - the time and the keys of a table's rows as expressions of SQL.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "schema_internal.h"

#define LAST_DAY "'294276-12-31'::pg_catalog.date"	/* later ones are no timestamps, */
#define FIRST_DAY "'4714-11-26 BC'::pg_catalog.date"	/* nor earlier ones, east of Greenwich */

char *
gnngp_moment_expression(const gnngp_column *time, const char *alias)
{
	char	   *moment = psprintf("%s.%s::pg_catalog.timestamptz", alias, time->quoted);

	return time->base == TIMESTAMPTZOID ? moment :
		psprintf("CASE WHEN %s.%s >= " LAST_DAY " THEN 'infinity' WHEN %s.%s < " FIRST_DAY
				 " THEN '-infinity' ELSE %s END", alias, time->quoted, alias, time->quoted, moment);
}

char *
gnngp_time_expression(const gnngp_schema_table *t, const char *alias)
{
	return t->time < 0 ? GNNGP_TIMELESS :
		psprintf("coalesce(%s, 'infinity')",
				 gnngp_moment_expression(&t->column[t->time].column, alias));
}

char *
gnngp_known_expression(const gnngp_schema_table *t, const char *alias)
{
	const gnngp_column *time = &t->column[t->time].column;
	const char *day = psprintf("%s.%s", alias, time->quoted);
	const char *moment = gnngp_moment_expression(time, alias);

	if (time->base != DATEOID)
		return gnngp_time_expression(t, alias);
	return psprintf("CASE WHEN %s < " LAST_DAY
					" THEN least((%s + 1)::pg_catalog.timestamptz - '2 us'::pg_catalog.interval,"
					" greatest(%s, pg_catalog.now())) ELSE 'infinity' END",
					day, day, moment);
}

char *
gnngp_join_equals(const gnngp_schema *s, const gnngp_schema_relation *r, const char *child,
				  const char *parent)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < r->n; i++)
		appendStringInfo(&text, "%s%s.%s %s %s.%s", i > 0 ? " AND " : "", parent,
						 s->table[r->parent].column[r->to[i]].column.quoted, r->equals[i], child,
						 s->table[r->child].column[r->from[i]].column.quoted);
	return text.data;
}

/*
 * The text of a column as ids have it: numbers that are equal have one text, -0 and 0 too, and the
 * casts of inet and boolean give others than their output functions.
 */
static char *
key_text(const gnngp_column *column, const char *alias)
{
	const char *format = column->base == NUMERICOID ? "pg_catalog.trim_scale(%s.%s)::pg_catalog.text" :
		column->base == FLOAT8OID || column->base == FLOAT4OID ? "(%s.%s + '0')::pg_catalog.text" :
		column->base == INETOID ? "pg_catalog.textin(pg_catalog.inet_out(%s.%s))" :
		column->base == BOOLOID ? "pg_catalog.textin(pg_catalog.boolout(%s.%s))" :
		"%s.%s::pg_catalog.text";

	return psprintf(format, alias, column->quoted);
}

char *
gnngp_key_expression(const gnngp_schema_table *t, const char *alias, int n, const int *column,
					 Oid *type)
{
	const gnngp_column *first = &t->column[column[0]].column;
	StringInfoData text;

	*type = n == 1 && gnngp_is_integer_type(first->base) ? INT8OID : TEXTOID;
	if (n == 1)
		return *type == INT8OID ? psprintf("%s.%s::pg_catalog.int8", alias, first->quoted) : key_text(first, alias);
	initStringInfo(&text);
	for (int i = 0; i < n; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "ROW(", key_text(&t->column[column[i]].column, alias));
	appendStringInfoString(&text, ")::pg_catalog.text");
	return text.data;
}

Oid
gnngp_query_add_key(gnngp_query *q, const gnngp_schema_table *t, const char *alias, int n,
					const int *column)
{
	Oid			type;
	char	   *key = gnngp_key_expression(t, alias, n, column, &type);

	gnngp_query_add_text(q, type, key);
	return type;
}

char *
gnngp_key_condition(const gnngp_schema_table *t, const char *alias, int n, const int *column)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
		appendStringInfo(&text, "%s%s.%s IS NOT NULL", i > 0 ? " AND " : "", alias,
						 t->column[column[i]].column.quoted);
	return text.data;
}
