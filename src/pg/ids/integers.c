/*
 * integers.c - the type gp_integers.
 *
 * A polymorphic function with named arguments finds out the type of its rows by
 * the place of an argument in the call.  Nodes that are integers therefore have
 * a type of their own, which PostgreSQL prefers to anyarray.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "pg/catalog/catalog.h"
#include "ids.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

bool
gnngp_is_integers(Oid type)
{
	Oid			schema = get_namespace_oid(GNNGP_SCHEMA, true);

	return type == GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("gp_integers"),
								   ObjectIdGetDatum(schema));
}

/* Reads the text of an array of bigint. */
PG_FUNCTION_INFO_V1(gnngp_integers_in);
Datum
gnngp_integers_in(PG_FUNCTION_ARGS)
{
	return OidFunctionCall3(F_ARRAY_IN, PG_GETARG_DATUM(0), ObjectIdGetDatum(INT8OID),
							Int32GetDatum(-1));
}

/* The cast from smallint[], integer[] and bigint[]. */
PG_FUNCTION_INFO_V1(gnngp_integers);
Datum
gnngp_integers(PG_FUNCTION_ARGS)
{
	ArrayType  *given = PG_GETARG_ARRAYTYPE_P(0);
	Oid			type = ARR_ELEMTYPE(given);
	Datum	   *value;
	bool	   *null;
	int			n;

	if (type == INT8OID)
		PG_RETURN_ARRAYTYPE_P(given);
	deconstruct_array(given, type, type == INT2OID ? 2 : 4, true,
					  type == INT2OID ? TYPALIGN_SHORT : TYPALIGN_INT,
					  &value, &null, &n);
	for (int i = 0; i < n; i++)
		value[i] = Int64GetDatum(type == INT2OID ? DatumGetInt16(value[i])
								 : DatumGetInt32(value[i]));
	PG_RETURN_ARRAYTYPE_P(construct_md_array(value, null, ARR_NDIM(given), ARR_DIMS(given),
											 ARR_LBOUND(given),
											 INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
