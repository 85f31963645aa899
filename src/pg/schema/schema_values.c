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

/* ---- the newest fact ---- */

typedef struct extent
{
	const gnngp_tables *schema;
	gp_time		first[2];		/* of the tables that refer to none; of the others */
	gp_time		last;
	int			table;			/* that is being read, */
	int			newest;			/* and that of the last */
} extent;

/* Takes the times of one table. */
static void
extent_row(void *state, const Datum *values, const bool *nulls)
{
	extent	   *e = state;
	gp_time    *first = &e->first[gnngp_has_parent(e->schema, e->table)];

	if (nulls[0] || nulls[1])
		return;
	*first = Min(*first, gnngp_time_of(values[0], false));
	if (gnngp_time_of(values[1], false) > e->last)
		e->newest = e->table;
	e->last = Max(e->last, gnngp_time_of(values[1], false));
}

gp_time
gnngp_newest_fact(const gnngp_tables *s, gp_time until, gp_time *first, int *table)
{
	extent		e = {s, {GP_TIME_NEVER, GP_TIME_NEVER}, GP_TIME_ALWAYS, 0, -1};
	Datum		text = DirectFunctionCall1(timestamptz_out, TimestampTzGetDatum(until));
	const char *limit = until == GP_TIME_NEVER ? "pg_catalog.clock_timestamp()" :
		psprintf("'%s'::pg_catalog.timestamptz", DatumGetCString(text));

	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];
		const char *time = t->time < 0 ? NULL : psprintf("t.%s::pg_catalog.timestamptz", t->column[t->time].column.quoted);
		gnngp_query q;

		if (time == NULL)
			continue;
		gnngp_query_init(&q, &t->table);
		gnngp_query_add(&q, TIMESTAMPTZOID, "min(%s)", time);
		gnngp_query_add(&q, TIMESTAMPTZOID, "max(%s)", time);
		q.condition = psprintf("pg_catalog.isfinite(%s) AND %s <= %s", time, time, limit);
		e.table = i;
		gnngp_query_plan(&q);
		gnngp_query_run(&q, s->env, extent_row, &e, GP_PHASE_NODES, 0);
	}
	*first = e.first[1] != GP_TIME_NEVER ? e.first[1] : e.first[0];
	*table = e.newest;
	return e.last;
}
