/*
 * graph_arguments.c - arguments that name the tables and columns of a graph.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "graph_arguments.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

gnngp_texts
gnngp_texts_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	gnngp_texts list = {0, NULL};
	Datum	   *element;
	bool	   *null;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(argno), TEXTOID, -1, false, TYPALIGN_INT, &element,
					  &null, &list.n);
	list.text = palloc(sizeof(char *) * Max(list.n, 1));
	for (int i = 0; i < list.n; i++)
	{
		if (null[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain NULL", name)));
		list.text[i] = TextDatumGetCString(element[i]);
	}
	return list;
}

gnngp_source_name
gnngp_source_name_of(Oid table)
{
	return OidIsValid(table) ?
		(gnngp_source_name) {get_namespace_name(get_rel_namespace(table)), get_rel_name(table)} :
		(gnngp_source_name) {NULL, NULL};
}
