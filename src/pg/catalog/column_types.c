/*
 * column_types.c - what columns of a type can serve as, and how tables are named in messages.
 */
#include "postgres.h"

#include "column_types.h"
#include "parser/parse_coerce.h"

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

/* True for a type that casts to another by a function, or as it is. */
static bool
casts_to(Oid target, Oid base, CoercionContext context)
{
	Oid			function;
	CoercionPathType path = find_coercion_pathway(target, base, context, &function);

	return path == COERCION_PATH_FUNC || path == COERCION_PATH_RELABELTYPE;
}

bool
gnngp_is_time_type(Oid base)
{
	return base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID;
}

bool
gnngp_is_class_type(Oid base)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(base, &category, &preferred);
	return gnngp_is_integer_type(base) || base == BOOLOID || base == CHAROID ||
		category == TYPCATEGORY_STRING || category == TYPCATEGORY_ENUM;
}

bool
gnngp_is_number_type(Oid base)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(base, &category, &preferred);
	return category == TYPCATEGORY_NUMERIC &&
		(base == FLOAT8OID || casts_to(FLOAT8OID, base, COERCION_EXPLICIT));
}

bool
gnngp_is_vector_type(Oid base)
{
	Oid			element = get_element_type(base);

	if (OidIsValid(element))
		return gnngp_is_number_type(getBaseType(element));
	return casts_to(FLOAT4ARRAYOID, base, COERCION_EXPLICIT);
}

bool
gnngp_matches_id_type(Oid base, Oid id)
{
	if (base == id || (gnngp_is_integer_type(base) && gnngp_is_integer_type(id)))
		return true;
	return casts_to(id, base, COERCION_IMPLICIT);
}
