/*
 * task_reach.c - since when and until when the facts of a task reach.
 *
 * The last as-of time lies before the newest fact, so that no label's window is still open; the
 * first lies after facts began to be recorded.  The tables that the target reads tell both; where
 * these are not known, facts of the entities do, then tables that refer to others.  Their own table
 * tells nothing beside others: one may be added long after the newest fact.  Of what the
 * target reads, rows that others refer to tell no begin: accounts are opened long before their
 * transfers are recorded.  A few rows that stand alone, behind or before the others, are taken for
 * errors or defaults.
 */
#include "postgres.h"

#include <math.h>

#include "task.h"
#include "utils/timestamp.h"

#define FEW_ROWS 5				/* that may stand alone behind more than twice as many others, */
#define ALONE 10.0				/* by so many mean gaps of their table, and a long silence */

/* What a table's times are to a task: the first of these that there are tell its end. */
enum table_rank
{
	READ_BY_TARGET, REFERS_TO_OTHERS, OTHER_TABLE, ENTITIES, RANKS
};

/* The times of a table's rows until now. */
typedef struct table_times
{
	int64		rows;
	int			n;
	gp_time		newest[FEW_ROWS + 1];	/* of rows, descending */
	int			nfirst;
	gp_time		first[FEW_ROWS + 1];	/* different ones, ascending */
	/* Without those that stand alone: */
	gp_time		begin;
	gp_time		end;
	double		usual;			/* how long it may be silent */
	enum table_rank rank;
	int			distance;		/* 0: rows are facts of the entities, 1: of others, 2: of none */
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
read_times(const gnngp_schema *s, const gnngp_schema_table *t)
{
	table_times times = {0};
	gnngp_query q;

	if (t->time < 0)
		return times;
	const char *time = gnngp_time_expression(t, "t");
	gnngp_query_init(&q, &t->table);
	gnngp_query_add(&q, TIMESTAMPTZOID, "%s", gnngp_known_expression(t, "t"));
	q.condition = psprintf("pg_catalog.isfinite(%s) AND %s <= pg_catalog.clock_timestamp()", time,
						   time);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, s->env, time_row, &times, GP_PHASE_NODES, 0);
	return times;
}

/* A silence that is long: two horizons, or a month. */
static double
long_silence(const gnngp_task_rows *rows)
{
	return rows->horizon > 0 ? 2.0 * (double) rows->horizon : 30.0 * (double) GP_TIME_DAY;
}

/* How long a table may be silent before one of its newest times. */
static double
usual_silence(const table_times *t, int newest)
{
	return ALONE * ((double) t->newest[newest] - (double) t->begin) /
		(double) Max(t->rows - newest - 1, 1);
}

/*
 * Sets since when and until when a table's times do not stand alone.  A first time does that is
 * longer before the others than these last, even if many rows have it: it is a default.  Of the
 * newest, few gaps tell no usual one; rows of one time, such as those of each month, do not stand
 * alone behind other months: FEW_ROWS is half of ALONE.
 */
static void
trim_times(table_times *t, double silence)
{
	t->begin = t->first[0];
	for (int i = 1; i < t->nfirst && t->rows - i > 2 * FEW_ROWS; i++)
	{
		double		rest = (double) t->newest[t->n - 1] - (double) t->first[i];

		if (rest > silence && (double) t->first[i] - (double) t->first[i - 1] > rest)
			t->begin = t->first[i];
	}
	t->end = t->newest[0];
	t->usual = usual_silence(t, 0);
	for (int i = 1; i < t->n && t->rows - i > 2 * FEW_ROWS; i++)
	{
		double		gap = (double) t->newest[i - 1] - (double) t->newest[i];

		if (gap <= silence || gap <= usual_silence(t, i))
			continue;
		t->end = t->newest[i];
		t->usual = usual_silence(t, i);
	}
}

gp_time
gnngp_behind_newest(const gnngp_schema *s)
{
	gp_time		behind = 0;

	for (int i = 0; i < s->ntables; i++)
	{
		table_times t = read_times(s, &s->table[i]);

		if (t.n > 0)
			behind = behind == 0 ? t.newest[0] + 1 : Max(behind, t.newest[0] + 1);
	}
	return behind;
}

/* ---- the reach of a task ---- */

static enum table_rank
rank_of(const gnngp_task_rows *rows, int table)
{
	/* What is asked of a column is asked as of the times of its table. */
	if (table == rows->entity && rows->task->task.form != GNNGP_TASK_COLUMN)
		return ENTITIES;
	if (list_member_oid(rows->read, rows->schema->table[table].table.oid))
		return READ_BY_TARGET;
	return gnngp_refers_to(rows->schema, table, -1) ? REFERS_TO_OTHERS : OTHER_TABLE;
}

/* True for a table whose rows refer to those of another, perhaps by others between. */
static bool
leads_to(const gnngp_schema *s, int table, int to, int levels)
{
	bool		leads = false;

	for (int r = 0; r < s->nrelations && levels > 0 && !leads; r++)
		leads = s->relation[r].child == table &&
			(s->relation[r].parent == to || leads_to(s, s->relation[r].parent, to, levels - 1));
	return leads;
}

/* True for a table that the target reads, and to which others that it reads refer. */
static bool
is_referred_to(const gnngp_task_rows *rows, const table_times *times, int table)
{
	bool		referred_to = false;

	for (int i = 0; i < rows->schema->ntables && !referred_to; i++)
		referred_to = i != table && times[i].n > 0 && times[i].rank == READ_BY_TARGET &&
			leads_to(rows->schema, i, table, GNNGP_MOST_LEVELS);
	return referred_to && times[table].rank == READ_BY_TARGET;
}

static int
distance_of(const gnngp_task_rows *rows, const table_times *times, int table)
{
	const gnngp_schema *s = rows->schema;

	if (times[table].rank == ENTITIES || is_referred_to(rows, times, table) ||
		!gnngp_refers_to(s, table, -1))
		return 2;
	return leads_to(s, table, rows->entity, GNNGP_MOST_LEVELS) ? 0 : 1;
}

/* Tells where a table's times begin with some that stand alone, and no user said since when. */
static void
notice_lonely_first(const gnngp_task_rows *rows, const gnngp_schema_table *t, gp_time lonely)
{
	const char *time = gnngp_time_text(lonely);

	gnngp_notice_detail(psprintf("The first has %s in column \"%s\".", time,
								 t->column[t->time].column.name),
						psprintf("Correct it if it is wrong; else since => '%s' begins with it.",
								 time),
						"the as-of times of task \"%s\" begin at %s: earlier rows of table \"%s\" stand alone",
						rows->task->name, gnngp_time_text(rows->first), t->table.name);
}

/*
 * Labels begin with the first fact; with the target's own tables, if these begin later than they
 * are usually silent: until then nothing happened.
 */
static void
find_first(gnngp_task_rows *rows, const table_times *times, gp_time judged, double usual)
{
	const gnngp_schema *s = rows->schema;
	bool		chosen = !TIMESTAMP_IS_NOBEGIN(rows->task->task.since);
	int			lonely = -1;

	rows->first = GP_TIME_NEVER;
	for (int distance = 0; distance <= 2 && rows->first == GP_TIME_NEVER; distance++)
		for (int i = 0; i < s->ntables; i++)
		{
			const table_times *t = &times[i];

			if (t->n == 0 || t->distance != distance)
				continue;
			rows->first = Min(rows->first, t->begin);
			if (t->first[0] < t->begin && (lonely < 0 || t->first[0] < times[lonely].first[0]))
				lonely = i;
		}
	gp_time		facts = rows->first;
	if (judged != GP_TIME_NEVER &&
		(double) judged - (double) facts > fmax(usual, long_silence(rows)))
	{
		rows->first = judged;
		if (!chosen)
			gnngp_notice_detail(psprintf("Other facts begin %.0f days earlier.",
										 ((double) judged - (double) facts) / (double) GP_TIME_DAY),
								psprintf("If the target is known to be false or 0 before that, pass since => '%s'.",
										 gnngp_time_text(facts)),
								"the as-of times of task \"%s\" begin with the rows that its target reads, at %s",
								rows->task->name, gnngp_time_text(judged));
	}
	if (lonely >= 0 && times[lonely].first[0] < rows->first && !chosen &&
		rows->task->task.form == GNNGP_TASK_EXPRESSION)
		notice_lonely_first(rows, &s->table[lonely], times[lonely].first[0]);
}

/* Tells where rows are later than all that tells labels. */
static void
notice_later_rows(const gnngp_task_rows *rows, gp_time newest, int table, gp_time later)
{
	if ((double) later - (double) newest <= long_silence(rows))
		return;
	gnngp_notice("Correct the time of that row if it is wrong.",
				 "%s task \"%s\" %s %s: the newest row of table \"%s\" is %.0f days later",
				 rows->task->task.form == GNNGP_TASK_EXPRESSION ? "the as-of times of" : "the facts of",
				 rows->task->name,
				 rows->task->task.form == GNNGP_TASK_EXPRESSION ? "end with its facts, at" :
				 "are taken to end at", gnngp_time_text(newest),
				 rows->schema->table[table].table.name,
				 ((double) later - (double) newest) / (double) GP_TIME_DAY);
}

/*
 * The newest fact, by the tables of the first rank that there are.  No row of the target's may be
 * one more answer, as long as that is usual.
 */
static void
find_last(gnngp_task_rows *rows, const table_times *times, double usual)
{
	gp_time		newest[RANKS] = {GP_TIME_ALWAYS, GP_TIME_ALWAYS, GP_TIME_ALWAYS, GP_TIME_ALWAYS};
	int			latest = -1;
	int			rank = 0;

	for (int i = 0; i < rows->schema->ntables; i++)
	{
		const table_times *t = &times[i];

		if (t->n == 0)
			continue;
		newest[t->rank] = Max(newest[t->rank], t->end);
		/* Without a horizon no distance is large: there are rows that stand alone. */
		if ((rows->horizon > 0 || t->end < t->newest[0]) &&
			(latest < 0 || t->newest[0] > times[latest].newest[0]))
			latest = i;
	}
	while (rank < RANKS && newest[rank] == GP_TIME_ALWAYS)
		rank++;
	if (rank == RANKS)
	{
		rows->newest = (gp_time) GetCurrentTimestamp();
		return;
	}
	if (rank == READ_BY_TARGET && newest[REFERS_TO_OTHERS] > newest[rank] &&
		(double) newest[REFERS_TO_OTHERS] - (double) newest[rank] <= usual)
		newest[rank] = newest[REFERS_TO_OTHERS];
	rows->newest = newest[rank] + 1;
	if (latest >= 0)
		notice_later_rows(rows, newest[rank], latest, times[latest].newest[0]);
}

void
gnngp_find_reach(gnngp_task_rows *rows)
{
	const gnngp_schema *s = rows->schema;
	table_times *times = palloc(sizeof(table_times) * s->ntables);
	gp_time		judged = GP_TIME_NEVER; /* the first of what the target reads */
	gp_time		last = GP_TIME_ALWAYS;	/* and the last, */
	double		usual = 0.0;	/* whose table is usually so long silent */

	for (int i = 0; i < s->ntables; i++)
	{
		table_times *t = &times[i];

		*t = read_times(s, &s->table[i]);
		trim_times(t, long_silence(rows));
		t->rank = rank_of(rows, i);
	}
	for (int i = 0; i < s->ntables; i++)
	{
		table_times *t = &times[i];

		t->distance = distance_of(rows, times, i);
		if (t->n == 0 || t->rank != READ_BY_TARGET)
			continue;
		if (!is_referred_to(rows, times, i))
			judged = Min(judged, t->begin);
		usual = t->end > last ? t->usual : usual;
		last = Max(last, t->end);
	}
	find_first(rows, times, judged, usual);
	find_last(rows, times, usual);
}
