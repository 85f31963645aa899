/*
 * schema_values.c - ids, intervals and times of the rows of tables.
 */
#include "postgres.h"

#include "pg/server/server.h"
#include "schema_internal.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

char *
gnngp_keep_text(gp_env *env, const char *text)
{
	return gnngp_copy_text(env, text, (int) strlen(text));
}

Datum
gnngp_interval_datum(const char *text)
{
	return DirectFunctionCall3(interval_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

int64
gnngp_interval_length(const char *text)
{
	Interval   *i = DatumGetIntervalP(gnngp_interval_datum(text));

	return i->time + ((int64) i->month * 31 + i->day) * GP_TIME_DAY;
}
