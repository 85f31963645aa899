/*
 * newest_fact.c - since when and until when the facts of a task reach.
 *
 * As-of times are counted back from the end, and there is predicted: a label whose window reaches
 * past the facts that it is judged by would be wrong, and so would one from before they were
 * recorded.  So the tables that the target reads tell it; where it is not known what these are, all
 * tables that refer to others.  The table of the entities tells nothing beside others: one may be
 * added long after the newest fact.  Nor do a few rows that stand alone behind the others, or a few
 * times before them: such a time is wrong, or a default.
 */
#include "postgres.h"

#include <math.h>

#include "pg/server/server.h"
#include "task.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#define FEW_ROWS 5				/* that may stand alone behind more than twice as many others, */
#define ALONE 10.0				/* by so many mean gaps of their table, and a long silence */

/* The times of a table's rows until now. */
typedef struct table_times
{
	int64		rows;
	int			n;
	gp_time		newest[FEW_ROWS + 1];	/* of rows, descending */
	int			nfirst;
	gp_time		first[FEW_ROWS + 1];	/* different ones, ascending */
} table_times;

/* Inserts a time among the least of some, or with sign -1 the largest; returns their number. */
static int
keep_extreme(gp_time *kept, int n, gp_time at, int sign)
{
	int			place = n;

	if (n <= FEW_ROWS)
		n++;
	else if (sign * at >= sign * kept[--place])
		return n;
	for (; place > 0 && sign * kept[place - 1] > sign * at; place--)
		kept[place] = kept[place - 1];
	kept[place] = at;
	return n;
}

/* Takes a time. */
static void
time_row(void *state, const Datum *values, const bool *nulls)
{
	table_times *t = state;
	gp_time		at = gnngp_time_of(values[0], nulls[0]);

	t->rows++;
	t->n = keep_extreme(t->newest, t->n, at, -1);
	for (int i = 0; i < t->nfirst; i++)
		if (t->first[i] == at)
			return;
	t->nfirst = keep_extreme(t->first, t->nfirst, at, 1);
}

/* Reads the times of a table; of one without time, none. */
static table_times
read_times(const gnngp_tables *s, const gnngp_schema_table *t)
{
	table_times times = {0};
	const char *time;
	gnngp_query q;

	if (t->time < 0)
		return times;
	time = gnngp_time_expression(t, "t");
	gnngp_query_init(&q, &t->table);
	gnngp_query_add(&q, TIMESTAMPTZOID, "%s", gnngp_known_expression(t, "t"));
	q.condition = psprintf("pg_catalog.isfinite(%s) AND %s <= pg_catalog.clock_timestamp()", time,
						   time);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, s->env, time_row, &times, GP_PHASE_NODES, 0);
	return times;
}

/*
 * The first time that does not stand alone, longer before the others than these last.  Many rows
 * may have such a time, for it is a default.
 */
static int
robust_first(const table_times *t, double silence)
{
	int			found = 0;

	for (int i = 1; i < t->nfirst && t->rows - i > 2 * FEW_ROWS; i++)
	{
		double		rest = (double) t->newest[t->n - 1] - (double) t->first[i];

		if (rest > silence && (double) t->first[i] - (double) t->first[i - 1] > rest)
			found = i;
	}
	return found;
}

/* The mean gap between a table's rows until one of the newest. */
static double
mean_gap(const table_times *t, gp_time first, int until)
{
	return ((double) t->newest[until] - (double) first) / (double) Max(t->rows - until - 1, 1);
}

/* A silence that is long: two horizons, or a month. */
static double
long_silence(const gnngp_task_rows *rows)
{
	return rows->horizon > 0 ? 2.0 * (double) rows->horizon : 30.0 * (double) GP_TIME_DAY;
}

/*
 * The newest time that does not stand alone.  Few gaps tell no usual one.  Rows of one time, such
 * as those of each month, do not stand alone behind other months: FEW_ROWS is half of ALONE.
 */
static int
robust_newest(const table_times *t, gp_time first, double silence)
{
	int			found = 0;

	for (int i = 1; i < t->n && t->rows - i > 2 * FEW_ROWS; i++)
	{
		double		gap = (double) t->newest[i - 1] - (double) t->newest[i];

		if (gap > silence && gap > ALONE * mean_gap(t, first, i))
			found = i;
	}
	return found;
}

gp_time
gnngp_newest_fact(const gnngp_tables *s)
{
	gp_time		newest = GP_TIME_ALWAYS;

	for (int i = 0; i < s->ntables; i++)
	{
		table_times t = read_times(s, &s->table[i]);

		if (t.n > 0)
			newest = Max(newest, t.newest[0]);
	}
	return newest;
}

/* What a table's times are to a task, the first that there are count. */
enum table_rank
{
	READ_BY_TARGET, REFERS_TO_OTHERS, OTHER_TABLE, ENTITIES, RANKS
};

static enum table_rank
rank_of(const gnngp_task_rows *rows, int table)
{
	/* What is asked of a column is asked as of the times of its table. */
	if (table == rows->entity && rows->task->task.form != GNNGP_TASK_COLUMN)
		return ENTITIES;
	if (list_member_oid(rows->read, rows->schema->table[table].table.oid))
		return READ_BY_TARGET;
	return gnngp_has_parent(rows->schema, table) ? REFERS_TO_OTHERS : OTHER_TABLE;
}

/*
 * The first as-of time.  Facts from before the tables that the target reads, of times of which it
 * is usual that these are silent, have labels as well: nothing happened.
 */
static void
set_first(gnngp_task_rows *rows, gp_time facts, gp_time judged, double usual)
{
	double		before = (double) judged - (double) facts;

	rows->first = facts;
	if (judged == GP_TIME_NEVER || before <= fmax(usual, long_silence(rows)))
		return;
	rows->first = judged;
	if (TIMESTAMP_IS_NOBEGIN(rows->task->task.since))
		ereport(NOTICE,
				(errmsg("the as-of times of task \"%s\" begin with the rows that its target reads, at %s",
						rows->task->name, timestamptz_to_str((TimestampTz) judged)),
				 errdetail("Other facts begin %.0f days earlier.", before / (double) GP_TIME_DAY),
				 errhint("If the target is known to be false or 0 before that, pass since => '%s'.",
						 timestamptz_to_str((TimestampTz) facts))));
}

/* Tells where a table's times begin with some that stand alone, and no user said since when. */
static void
notice_lonely_first(const gnngp_task_rows *rows, int table, gp_time lonely)
{
	const gnngp_schema_table *t = table < 0 ? NULL : &rows->schema->table[table];

	if (t == NULL || lonely >= rows->first || rows->task->task.form != GNNGP_TASK_EXPRESSION ||
		!TIMESTAMP_IS_NOBEGIN(rows->task->task.since))
		return;
	ereport(NOTICE,
			(errmsg("the as-of times of task \"%s\" begin at %s: earlier rows of table \"%s\" stand alone",
					rows->task->name, pstrdup(timestamptz_to_str((TimestampTz) rows->first)),
					t->table.name),
			 errdetail("The first has %s in column \"%s\".",
					   timestamptz_to_str((TimestampTz) lonely), t->column[t->time].column.name),
			 errhint("Correct it if it is wrong; else since => '%s' begins with it.",
					 timestamptz_to_str((TimestampTz) lonely))));
}

/* Tells where rows are later than all that tells labels. */
static void
notice_later_rows(const gnngp_task_rows *rows, gp_time newest, int table, gp_time later)
{
	if ((double) later - (double) newest <= long_silence(rows))
		return;
	ereport(NOTICE,
			(errmsg(rows->task->task.form == GNNGP_TASK_EXPRESSION ?
					"the as-of times of task \"%s\" end with its facts, at %s: the newest row of table \"%s\""
					" is %.0f days later" :
					"the facts of task \"%s\" are taken to end at %s: the newest row of table \"%s\""
					" is %.0f days later", rows->task->name,
					timestamptz_to_str((TimestampTz) newest),
					rows->schema->table[table].table.name,
					((double) later - (double) newest) / (double) GP_TIME_DAY),
			 errhint("Correct the time of that row if it is wrong.")));
}

void
gnngp_find_newest(gnngp_task_rows *rows)
{
	const gnngp_tables *s = rows->schema;
	gp_time		newest[RANKS] = {GP_TIME_ALWAYS, GP_TIME_ALWAYS, GP_TIME_ALWAYS, GP_TIME_ALWAYS};
	gp_time		first[2] = {GP_TIME_NEVER, GP_TIME_NEVER};	/* of facts; of others */
	gp_time		lonely[2] = {GP_TIME_NEVER, GP_TIME_NEVER};	/* before these, */
	int			of[2] = {-1, -1};		/* in such a table */
	gp_time		judged = GP_TIME_NEVER; /* first of what the target reads */
	gp_time		later = GP_TIME_ALWAYS;
	double		usual = 0.0;	/* how long the tables that the target reads may be silent */
	int			rank = 0;
	int			latest = -1;

	for (int i = 0; i < s->ntables; i++)
	{
		table_times t = read_times(s, &s->table[i]);
		enum table_rank r = rank_of(rows, i);
		bool		others = r == ENTITIES || !gnngp_has_parent(s, i);
		int			from = robust_first(&t, long_silence(rows));
		gp_time		begin = t.first[from];
		int			at = robust_newest(&t, begin, long_silence(rows));

		if (t.n == 0)
			continue;
		first[others] = Min(first[others], begin);
		if (from > 0 && t.first[0] < lonely[others])
		{
			lonely[others] = t.first[0];
			of[others] = i;
		}
		/* Without a horizon no distance is large: there are rows that stand alone. */
		if (t.newest[0] > later && (rows->horizon > 0 || at > 0))
		{
			latest = i;
			later = t.newest[0];
		}
		if (r == READ_BY_TARGET && t.newest[at] > newest[r])
			usual = ALONE * mean_gap(&t, begin, at);
		if (r == READ_BY_TARGET)
			judged = Min(judged, begin);
		newest[r] = Max(newest[r], t.newest[at]);
	}
	set_first(rows, first[first[0] == GP_TIME_NEVER], judged, usual);
	notice_lonely_first(rows, of[first[0] == GP_TIME_NEVER], lonely[first[0] == GP_TIME_NEVER]);
	while (rank < RANKS && newest[rank] == GP_TIME_ALWAYS)
		rank++;
	if (rank == RANKS)
	{
		rows->newest = (gp_time) GetCurrentTimestamp();
		return;
	}
	/* No row of theirs may be one more answer, as long as that is usual. */
	if (rank == READ_BY_TARGET && newest[REFERS_TO_OTHERS] > newest[rank] &&
		(double) newest[REFERS_TO_OTHERS] - (double) newest[rank] <= usual)
		newest[rank] = newest[REFERS_TO_OTHERS];
	rows->newest = newest[rank] + 1;
	if (latest >= 0)
		notice_later_rows(rows, newest[rank], latest, later);
}
