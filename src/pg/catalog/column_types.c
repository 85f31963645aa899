/*
 * column_types.c - what columns of a type can serve as.
 */
#include "postgres.h"

#include "column_types.h"
#include "parser/parse_coerce.h"

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
