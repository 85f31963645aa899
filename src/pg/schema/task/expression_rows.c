/*
 * expression_rows.c - the rows of a task that is an expression: entities as of many times.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "task.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#define MOST_TIMES 2000			/* as-of times of a task */
#define PROGRESS_LABELS 256		/* between two reports of progress */
#define LOOKED_AT 4.0			/* entities that are looked at first for each that is wanted */

/* Labels as they are read: how many more are wanted as of each time. */
typedef struct label_times
{
	gnngp_task_rows *rows;
	int			n;
	TimestampTz *time;			/* descending */
	int64	   *wanted;
	int64		most;			/* labels that there can be, */
	int64		seen;			/* and those that were looked at */
} label_times;

/* What is asked about as of t: entities that are there, and pass the filter. */
static char *
asked_about(const gnngp_task_rows *rows)
{
	const gnngp_schema_table *table = &rows->schema->table[rows->entity];
	const char *filter = rows->task->task.filter;
	const char *exists = table->time < 0 ? "true" :
		psprintf("%s OPERATOR(pg_catalog.<=) x.t", gnngp_time_expression(table, "e"));

	return psprintf("%s AND (%s\n)", exists, filter ? filter : "true");
}

/* The type that targets are read as, which gnngp_task_rows_add takes. */
static Oid
target_type(const gnngp_task_rows *rows)
{
	if (rows->texts || rows->kind == GNNGP_TARGET_TEXT)
		return TEXTOID;
	if (rows->kind == GNNGP_TARGET_VALUE && rows->target.base != NUMERICOID)
		return FLOAT8OID;
	return rows->target.base;
}

/* What entities are drawn by as of t, the least first. */
static char *
draw_of(const gnngp_task_rows *rows)
{
	return psprintf("pg_catalog.hashtextextended(e.%s::pg_catalog.text,"
					" pg_catalog.date_part('epoch', x.t)::pg_catalog.int8)",
					rows->id_column.quoted);
}

/* The columns of e that the owner may read. */
static char *
readable_columns(const gnngp_task_rows *rows)
{
	const gnngp_schema_table *table = &rows->schema->table[rows->entity];
	StringInfoData list;

	initStringInfo(&list);
	for (int k = 0; k < table->ncolumns; k++)
		if (gnngp_may_read_column(table->table.oid, table->column[k].number, GetUserId()))
			appendStringInfo(&list, "%se.%s", list.len > 0 ? ", " : "",
							 table->column[k].column.quoted);
	return list.data;
}

/*
 * The query for labels as of the times $1: of so many entities as of each ($3), of those whose draw
 * is in a range.
 */
static char *
labels_query(const gnngp_task_rows *rows, const char *range)
{
	Oid			type = target_type(rows);

	return psprintf("SELECT e.%s, x.t, (%s\n)%s FROM (SELECT u AS t, $2 AS horizon FROM pg_catalog.unnest($1) u) x"
					" CROSS JOIN LATERAL (SELECT %s FROM %s e WHERE %s%s ORDER BY %s"
					" LIMIT ($3)[pg_catalog.array_position($1, x.t)]) e",
					rows->id_column.quoted, rows->task->task.target,
					type == TEXTOID ? "::pg_catalog.text" :
					type == FLOAT8OID ? gnngp_number_cast(rows->target.base) : "",
					readable_columns(rows), rows->source.quoted, asked_about(rows), range,
					draw_of(rows));
}

/* Runs a query of the owner's.  Where it reads labels, a NOTICE tells what makes them slow. */
static void
run(const gnngp_task_rows *rows, const char *query, int nparameters, const Oid *types,
	const Datum *values, const gnngp_sink *taken, int64 labels)
{
	SPIPlanPtr	plan = SPI_prepare(query, nparameters, unconstify(Oid *, types));

	if (plan == NULL)
		elog(ERROR, "preparing a task returned %s", SPI_result_code_string(SPI_result));
	gnngp_require_trust(rows->source.name, linitial(SPI_plan_get_plan_sources(plan)));
	if (labels > 0)
		gnngp_notice_scans(plan, rows->task, labels);
	gnngp_each_row(plan, NULL, nparameters, types, values, taken);
	SPI_freeplan(plan);
}

static void
count_row(void *state, const Datum *values, const bool *nulls)
{
	*(int64 *) state = DatumGetInt64(values[0]);
}

/* What such a query counts. */
static int64
count(const gnngp_task_rows *rows, const char *query, int nparameters, const Oid *types,
	  const Datum *values)
{
	const Oid	type = INT8OID;
	int64		n = 0;
	const gnngp_sink taken = {.row = count_row,.state = &n,.n = 1,.types = &type,
		.source = rows->source.name};

	run(rows, query, nparameters, types, values, &taken, 0);
	return n;
}

/* Takes a label; one that is NULL is none. */
static void
label_row(void *state, const Datum *values, const bool *nulls)
{
	label_times *l = state;
	int			low = 0;

	/* The place of its time. */
	GP_BISECT(low, l->n - 1, at, l->time[at] > DatumGetTimestampTz(values[1]));
	l->wanted[low]--;
	if (++l->seen % PROGRESS_LABELS == 0)
		l->rows->env->progress(l->rows->env, GP_PHASE_NODES, l->seen, l->most);
	if (nulls[2])
		l->rows->unlabelled++;
	else if (!nulls[0])
		gnngp_task_rows_add(l->rows, values[0], gnngp_time_of(values[1], nulls[1]), values[2],
							false);
}

static void
newest_row(void *state, const Datum *values, const bool *nulls)
{
	if (!nulls[0])
		gnngp_task_rows_add(state, values[0], gnngp_time_of(values[1], nulls[1]), (Datum) 0, true);
}

static void
filtered_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_filtered *f = state;

	f->n = DatumGetInt64(values[0]);
	f->one = nulls[1] ? NULL : gnngp_keep_text(f->rows->env, TextDatumGetCString(values[1]));
}

void
gnngp_find_filtered(gnngp_filtered *f)
{
	const gnngp_task_rows *rows = f->rows;
	const gnngp_query *keys = &f->keys;
	int			level = NewGUCNestLevel();
	const Oid	types[] = {keys->array_type, TIMESTAMPTZOID, INTERVALOID};
	const Datum values[] = {keys->array, TimestampTzGetDatum(f->as_of),
		gnngp_interval_datum(rows->task->task.horizon)};
	const Oid	columns[] = {INT8OID, TEXTOID};
	const gnngp_sink taken = {.row = filtered_row,.state = f,.n = lengthof(columns),
		.types = columns,.source = rows->source.name};

	gnngp_pin("search_path", rows->task->task.path);
	run(rows, psprintf("SELECT pg_catalog.count(*), pg_catalog.min(e.%s::pg_catalog.text)"
					   " FROM (SELECT $2 AS t, $3 AS horizon) x"
					   " CROSS JOIN %s e WHERE %s AND (%s\n) IS NOT TRUE",
					   rows->id_column.quoted, rows->source.quoted, keys->where,
					   rows->task->task.filter),
		lengthof(types), types, values, &taken, 0);
	AtEOXact_GUC(false, level);
}

/* How many as-of times there are; 22023 for too many. */
static int64
count_times(const gnngp_task_rows *rows, gp_time first, gp_time last)
{
	const char *every = rows->task->task.every ? rows->task->task.every : rows->task->task.horizon;
	int64		length = gnngp_interval_length(every);
	int64		n = last < first ? 0 : (last - first) / Max(length, 1) + 1;

	if (n == 0)
		gnngp_raise_detail(INVALID_PARAMETER_VALUE,
						   "A label is known one horizon after its time, so there is none.",
						   psprintf("Give it a shorter horizon, or an earlier since: gp_alter_task(%s, horizon => ..., since => ...).",
									quote_literal_cstr(rows->task->name)),
						   "the facts of task \"%s\"%s span less than its horizon of %s",
						   rows->task->name,
						   TIMESTAMP_IS_NOBEGIN(rows->task->task.since) ? "" : " from since on",
						   rows->task->task.horizon);
	if (length <= 0 || n > MOST_TIMES)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					psprintf("At most %d are allowed: pass a longer every, or a later since.",
							 MOST_TIMES),
					"task \"%s\" would have %lld as-of times, one every %s", rows->task->name,
					(long long) n, every);
	return n;
}

/* Reads labels as of the times of which more are wanted, of entities whose draw is in a range. */
static void
read_range(label_times *l, const char *range)
{
	gnngp_task_rows *rows = l->rows;
	const Oid	types[] = {TIMESTAMPTZARRAYOID, INTERVALOID, INT8ARRAYOID};
	const Oid	columns[] = {rows->id_column.base, TIMESTAMPTZOID, target_type(rows)};
	gnngp_sink	taken = {.row = label_row,.state = l,.n = lengthof(columns),.types = columns,
		.source = rows->source.name};
	Datum	   *time = palloc(sizeof(Datum) * l->n);
	Datum	   *wanted = palloc(sizeof(Datum) * l->n);
	Datum		values[] = {0, gnngp_interval_datum(rows->task->task.horizon), 0};
	int			n = 0;

	for (int i = 0; i < l->n; i++)
		if (l->wanted[i] > 0)
		{
			time[n] = TimestampTzGetDatum(l->time[i]);
			wanted[n++] = Int64GetDatum(l->wanted[i]);
		}
	values[0] = PointerGetDatum(construct_array(time, n, TIMESTAMPTZOID, 8, true, TYPALIGN_DOUBLE));
	values[2] = PointerGetDatum(construct_array(wanted, n, INT8OID, 8, true, TYPALIGN_DOUBLE));
	if (n > 0)
		run(rows, labels_query(rows, range), lengthof(types), types, values, &taken,
			l->seen == 0 ? l->most : 0);
}

/*
 * Reads the labels of all as-of times, the last of which is a horizon before the newest fact.  Of
 * many entities those that are drawn first are looked at, and the others as of times at which too
 * few of them are asked about.
 */
static void
draw_labels(gnngp_task_rows *rows)
{
	const gnngp_task_def *def = &rows->task->task;
	TimestampTz since = TIMESTAMP_IS_NOBEGIN(def->since) ? (TimestampTz) rows->first : def->since;
	Datum		last = DirectFunctionCall2(timestamptz_mi_interval,
										   TimestampTzGetDatum(rows->newest),
										   gnngp_interval_datum(def->horizon));
	Datum		every = gnngp_interval_datum(def->every ? def->every : def->horizon);
	int64		times = count_times(rows, since, DatumGetTimestampTz(last));
	int64		entities = count(rows, psprintf("SELECT count(*) FROM %s e", rows->source.quoted),
								 0, NULL, NULL);
	int64		wanted = (def->rows + times - 1) / times;
	int			bits = 0;		/* those of the least hashes are looked at first: one in 2^bits */
	label_times l = {.rows = rows,.time = palloc(sizeof(TimestampTz) * MOST_TIMES),
		.wanted = palloc(sizeof(int64) * MOST_TIMES)};

	if (entities > wanted)
		bits = (int) log2((double) entities / (LOOKED_AT * (double) wanted));
	for (; l.n < MOST_TIMES && DatumGetTimestampTz(last) >= since; l.n++)
	{
		l.time[l.n] = DatumGetTimestampTz(last);
		l.wanted[l.n] = wanted;
		last = DirectFunctionCall2(timestamptz_mi_interval, last, every);
	}
	l.most = times * Min(wanted, entities);
	if (bits >= 3)
	{
		/* By equality, since the planner then expects few rows. */
		const char *format = " AND (%s OPERATOR(pg_catalog.>>) %d) OPERATOR(pg_catalog.%s) "
			"'" INT64_FORMAT "'::pg_catalog.int8";
		int64		least = PG_INT64_MIN >> (64 - bits);

		read_range(&l, psprintf(format, draw_of(rows), 64 - bits, "=", least));
		read_range(&l, psprintf(format, draw_of(rows), 64 - bits, ">", least));
	}
	else
		read_range(&l, "");
}

void
gnngp_expression_rows_read(gnngp_task_rows *rows)
{
	int			level = NewGUCNestLevel();

	for (int i = 0; rows->first == GP_TIME_NEVER && i < rows->schema->ntables; i++)
		if (rows->schema->table[i].time >= 0)
			gnngp_raise(DATA_EXCEPTION, "Fill the tables, or correct times in the future.",
						"task \"%s\" has no row: no table of graph \"%s\" has a row with a time",
						rows->task->name, rows->schema->def->name);
	if (rows->first == GP_TIME_NEVER)
		gnngp_raise(FEATURE_NOT_SUPPORTED, "Name time columns in the argument times of the graph.",
					"task \"%s\" needs times, but no table of graph \"%s\" has a time column",
					rows->task->name, rows->schema->def->name);
	gnngp_pin("search_path", rows->task->task.path);
	draw_labels(rows);
	if (!rows->texts)
	{
		const Oid	types[] = {TIMESTAMPTZOID, INTERVALOID};
		const Oid	columns[] = {rows->id_column.base, TIMESTAMPTZOID, TEXTOID};
		Datum		values[] = {TimestampTzGetDatum(rows->newest),
			gnngp_interval_datum(rows->task->task.horizon)};
		gnngp_sink	taken = {.row = newest_row,.state = rows,.n = lengthof(columns),
			.types = columns,.source = rows->source.name};

		run(rows, psprintf("SELECT e.%s, x.t, NULL::pg_catalog.text"
						   " FROM (SELECT $1 AS t, $2 AS horizon) x CROSS JOIN %s e WHERE %s",
						   rows->id_column.quoted, rows->source.quoted, asked_about(rows)),
			lengthof(types), types, values, &taken, 0);
	}
	AtEOXact_GUC(false, level);
}
