/*
 * totals.c - columns that count the rows that refer to their row, or refer to those that do, or add
 * them up: a job's number of applicants, a customer's last order, the points for what he bought.
 *
 * They are updated in place and know of facts that come after a row of the task.  What they are
 * shows where they equal the count, mean, sum or last time of the facts in nearly all rows.  Rows
 * whose facts are not later than themselves show nothing: there such a column is known with its
 * row.
 *
 * A number that the facts copy, as a payment does the total of its order and a line the price of
 * its product, or that they add up to in the end, as guests who arrive and instalments do, equals
 * them, too.  It is there before them: rows that have none yet tell the two apart.  Where these
 * have nothing, a column that is rounded, or some part of a total, comes from there as well.
 *
 * So does a status that changes when no facts came for a while: all that have it have had none
 * since some time, and nearly all others have.  That of a period, or of a site that closed, was
 * there before: the first facts tell it as well as the last ones, or these end at one time.
 */
#include "postgres.h"

#include <float.h>

#include "core/base/sort.h"
#include "pg/server/server.h"
#include "table_join.h"

#define SAMPLED_ROWS 5000		/* of a table of twice as many about so many are looked at, */
#define SAMPLED_FACTS 200000	/* or fewer, which have about so many facts, */
#define FEWEST_SAMPLED 100		/* but so many */
#define EQUAL 0.9				/* share of rows that equal their facts */
#define FEWEST_ROWS 20			/* that say so */
#define FEWEST_WITHOUT 5		/* rows without facts that say that a number is there before them */
#define ALIKE 1e-5				/* relative difference of sums, of single precision, */
#define ROUNDED 0.04			/* and of shares of them that are rounded, */
#define FEWEST_UNITS (2.0 / ROUNDED)	/* integers from this number on */
#define MOST_DATED (4 * SAMPLED_ROWS)	/* rows whose times are kept, where no sample bounds them */
#define AT_ONCE (1.0 / 86400)	/* days: facts that are written with their row */
#define MOST_VALUES 16			/* of a status */
#define FEWEST_HOLDERS 20		/* of one of them, and rows without it */
#define LAST_WRONG 0.05			/* share of these on the wrong side of a last time, */
#define FIRST_WRONG 0.3			/* and of a first one that does not tell it */

/*
 * What is noted of a total: rows of several facts, of one fact; of a column also rows that tell
 * whether it is a share, and those of the same share as the row before.
 */
enum {SEVERAL, ONE, TELLING, SHARE, NOTED};

/* A row with its facts' first and last time, in days, and what its columns hold as categories. */
typedef struct dated_row
{
	double		time[2];
	uint64		word[FLEXIBLE_ARRAY_MEMBER];
} dated_row;

/* A comparison of the columns of a table with the totals of one relation. */
typedef struct comparison
{
	const gnngp_schema *s;
	int			relation;
	int			farther;		/* what refers to its rows; -1: these themselves */
	const char *name;
	const char **of;			/* what is found: of each column the name */
	const gnngp_joined *row;
	const gnngp_joined *total;
	int			known;			/* the query's column of the time of the row */
	int			last;			/* and of the last fact */
	int			ntotals;		/* the last one is that time */
	double	   *former;			/* values and totals of the row before */
	/* By total and what is noted: rows that differ from the row before.  Of these those whose
	 * column is that, by column. */
	int64	   *rows;
	int64	   *equal;
	int64		nwithout;		/* rows without facts, */
	int64	   *nothing;		/* and of these those that have nothing in a column */
	MemoryContext context;		/* of what is kept of rows: */
	List	   *dated;			/* one in stride of those with facts */
	int64		ndated;
	int64		stride;
} comparison;

/* A number, or a time in days; NaN: none. */
static double
number_of(const gnngp_cell_type *type, Datum value, bool null)
{
	gp_cell		cell;

	gnngp_read_cell(type, value, null, &cell);
	return cell.null ? NAN :
		type->kind == GP_CELL_TIME ? (double) cell.time / GP_TIME_DAY : cell.number;
}

static bool
is_quantity(gp_cell_kind kind)
{
	return kind == GP_CELL_NUMBER || kind == GP_CELL_INTEGER || kind == GP_CELL_TIME;
}

static bool
is_compared(const gnngp_cell_source *cell)
{
	return !cell->target && !cell->known && cell->relation < 0;
}

static double
days_of(const Datum *values, const bool *nulls, int column)
{
	return (double) gnngp_time_of(values[column], nulls[column]) / GP_TIME_DAY;
}

/* Notes which columns of a row without facts have nothing either. */
static void
note_without(comparison *c, const double *x)
{
	c->nwithout++;
	for (int i = 0; i < c->row->ncells; i++)
		c->nothing[i] += isnan(x[i]) || x[i] == 0.0;
}

/* The least number that shows a share, though it is rounded. */
static double
least_number(const gnngp_cell_source *cell)
{
	return cell->type.kind == GP_CELL_INTEGER ? FEWEST_UNITS : DBL_MIN;
}

/*
 * Compares a row.  Where a total is that of the row before, nothing is learnt: a column that is
 * mostly one equals a count that is mostly one.
 */
static void
note_totals(comparison *c, const double *x, const double *total)
{
	const double *former_total = c->former + c->row->ncells;
	int			n = c->ntotals;

	for (int k = 0; k < n; k++)
	{
		bool		is_time = k == n - 1;
		double		t = total[k];
		double		former = former_total[k];
		/* One fact is its own sum. */
		int			at = NOTED * k + (k > 0 && !is_time && total[0] < 2.0 ? ONE : SEVERAL);
		bool		tells = at % NOTED == SEVERAL && !is_time &&
			fabs(t - former) > 2.0 * ROUNDED * fabs(former);

		if (t == former || isnan(t))
			continue;
		c->rows[at]++;
		for (int i = 0; i < c->row->ncells; i++)
		{
			int64	   *equal = &c->equal[i * NOTED * n];

			if ((c->row->cell[i].type.kind == GP_CELL_TIME) != is_time)
				continue;
			equal[at] += is_time ? t >= x[i] && t < x[i] + 1.0 :
				fabs(t - x[i]) <= ALIKE * fabs(t);
			if (tells && fmin(fabs(x[i]), fabs(c->former[i])) >= least_number(&c->row->cell[i]))
			{
				equal[NOTED * k + TELLING]++;
				equal[NOTED * k + SHARE] +=
					fabs(x[i] * former - c->former[i] * t) <= ROUNDED * fabs(x[i] * former);
			}
		}
	}
	memcpy(c->former, x, sizeof(double) * (c->row->ncells + n));
}

/* Drops every second one of the rows that are kept. */
static void
halve_dated(comparison *c)
{
	List	   *half = NIL;

	for (int i = 0; i < list_length(c->dated); i++)
		if (i % 2 == 0)
			half = lappend(half, list_nth(c->dated, i));
		else
			pfree(list_nth(c->dated, i));
	list_free(c->dated);
	c->dated = half;
	c->stride *= 2;
}

/* Keeps the times of a row's facts, and its categories. */
static void
note_dates(comparison *c, const Datum *values, const bool *nulls)
{
	const gnngp_joined *p = c->row;

	if (c->ndated++ % c->stride != 0)
		return;
	MemoryContext old = MemoryContextSwitchTo(c->context);
	dated_row  *row = palloc(offsetof(dated_row, word) + sizeof(uint64) * p->ncells);

	for (int k = 0; k < 2; k++)
		row->time[k] = days_of(values, nulls, c->last - 1 + k);
	for (int i = 0; i < p->ncells; i++)
	{
		gp_cell		cell = {.null = true};

		if (p->cell[i].type.kind == GP_CELL_WORD || p->cell[i].type.kind == GP_CELL_INTEGER)
			gnngp_read_cell(&p->cell[i].type, values[p->first + i], nulls[p->first + i], &cell);
		row->word[i] = gp_category_of_cell(p->cell[i].type.kind, &cell);
	}
	c->dated = lappend(c->dated, row);
	if (list_length(c->dated) == MOST_DATED)
		halve_dated(c);
	MemoryContextSwitchTo(old);
}

static void
compare_row(void *state, const Datum *values, const bool *nulls)
{
	comparison *c = state;
	double	   *x = palloc(sizeof(double) * (c->row->ncells + c->ntotals));
	double	   *total = x + c->row->ncells;

	for (int i = 0; i < c->row->ncells; i++)
		x[i] = is_compared(&c->row->cell[i]) && is_quantity(c->row->cell[i].type.kind) ?
			number_of(&c->row->cell[i].type, values[c->row->first + i],
					  nulls[c->row->first + i]) : NAN;
	for (int k = 0; k < c->ntotals - 1; k++)
		total[k] = number_of(&c->total->cell[k].type, values[c->total->first + k],
							 nulls[c->total->first + k]);
	total[c->ntotals - 1] = days_of(values, nulls, c->last);
	if (isnan(total[0]))
		note_without(c, x);
	else if (total[c->ntotals - 1] > days_of(values, nulls, c->known) + AT_ONCE)
	{
		note_totals(c, x, total);
		note_dates(c, values, nulls);
	}
	pfree(x);
}

/*
 * True for a column that equals a total, or is a share of it.  Rows of one fact count where rows
 * without any have nothing in the column: else the fact may have it from there.
 */
static bool
is_total(const comparison *c, int column, int k)
{
	const int64 *rows = &c->rows[NOTED * k];
	const int64 *equal = &c->equal[NOTED * (column * c->ntotals + k)];
	bool		nothing = (double) c->nothing[column] >= EQUAL * (double) c->nwithout;
	bool		comes = nothing && c->nwithout >= FEWEST_ROWS;
	int64		n = rows[SEVERAL] + (comes ? rows[ONE] : 0);

	if (!nothing && c->nwithout >= FEWEST_WITHOUT && k < c->ntotals - 1)
		return false;
	if (comes && equal[TELLING] >= FEWEST_ROWS &&
		(double) equal[SHARE] >= EQUAL * (double) equal[TELLING])
		return true;
	return n >= FEWEST_ROWS &&
		(double) (equal[SEVERAL] + (comes ? equal[ONE] : 0)) >= EQUAL * (double) n;
}

/* ---- statuses that follow from the last fact ---- */

/* In order of their first (0) or last (1) time */
static int
compare_dated(const void *a, const void *b, void *which)
{
	return gp_compare_double(&(*(dated_row *const *) a)->time[*(int *) which],
							 &(*(dated_row *const *) b)->time[*(int *) which], NULL);
}

/*
 * Cuts rows in two so that the holders of a value are on one side and the others on the other, as
 * far as that can be; returns the share of the fewer of both that are on the wrong side.
 */
static double
wrong_share(dated_row **row, int n, int column, uint64 value, int holders, int *cut)
{
	int			before = 0;
	int			fewest = Min(holders, n - holders);
	int			least = fewest;

	*cut = 0;
	for (int i = 0; i < n; i++)
	{
		before += row[i]->word[column] == value;
		/* Others before the cut and holders behind it, or the reverse */
		int			wrong = i + 1 - before + holders - before;

		if (Min(wrong, n - wrong) >= least)
			continue;
		least = Min(wrong, n - wrong);
		*cut = i + 1;
	}
	return (double) least / (double) fewest;
}

/* True where the older rows of a cut end one by one, and not at one time long before the others. */
static bool
end_one_by_one(dated_row **row, int n, int cut)
{
	double		most = row[cut * 9 / 10]->time[1];

	return most - row[cut / 10]->time[1] >= row[cut + (n - cut) / 10]->time[1] - most;
}

/* The values of a column, if they are few. */
static int
values_of(dated_row **row, int n, int column, uint64 *value, int *holders)
{
	int			values = 0;

	for (int i = 0; i < n; i++)
	{
		int			v = 0;

		while (v < values && value[v] != row[i]->word[column])
			v++;
		if (v == MOST_VALUES)
			return 0;
		if (v == values)
		{
			value[values] = row[i]->word[column];
			holders[values++] = 0;
		}
		holders[v]++;
	}
	return values;
}

/* True for a column with a value that says that no facts came since some time, or that some did. */
static bool
is_status(dated_row **first, dated_row **last, int n, int column)
{
	uint64		value[MOST_VALUES];
	int			holders[MOST_VALUES];
	int			values = values_of(last, n, column, value, holders);
	bool		found = false;

	for (int v = 0; v < values && !found; v++)
	{
		int			cut;
		int			cut_first;

		found = Min(holders[v], n - holders[v]) >= FEWEST_HOLDERS &&
			wrong_share(last, n, column, value[v], holders[v], &cut) <= LAST_WRONG &&
			end_one_by_one(last, n, cut) &&
			wrong_share(first, n, column, value[v], holders[v], &cut_first) >= FIRST_WRONG;
	}
	return found;
}

static dated_row **
sort_dated(const comparison *c, int which)
{
	int			n = list_length(c->dated);
	dated_row **row = palloc(sizeof(dated_row *) * Max(n, 1));

	for (int i = 0; i < n; i++)
		row[i] = list_nth(c->dated, i);
	gp_sort(c->s->env, row, n, sizeof(dated_row *), compare_dated, &which);
	return row;
}

/* Notes which columns follow from the facts. */
static void
judge(const comparison *c, int table)
{
	const gnngp_schema_table *t = &c->s->table[table];
	int			n = list_length(c->dated);
	dated_row **first = sort_dated(c, 0);
	dated_row **last = sort_dated(c, 1);

	for (int i = 0; i < c->row->ncells; i++)
	{
		bool		found = is_compared(&c->row->cell[i]) && is_status(first, last, n, i);

		for (int k = 0; k < c->ntotals && !found; k++)
			found = is_total(c, i, k);
		if (found)
			c->of[gnngp_table_find_column(t, c->row->cell[i].name)] = c->name;
	}
}

/* Looks at the totals of one relation, for gnngp_attempt: numbers may be too large for them. */
static void
look(void *arg)
{
	comparison *c = arg;
	int			table = c->s->relation[c->relation].parent;
	int			child = c->s->relation[c->farther < 0 ? c->relation : c->farther].child;
	gnngp_join *j = gnngp_join_open(c->s, table);
	double		facts = (double) gnngp_table_rows(&c->s->table[child].table) /
		(double) Max(1, gnngp_table_rows(&c->s->table[table].table));
	int64		drawn = (int64) Max(FEWEST_SAMPLED,
									Min(SAMPLED_ROWS, SAMPLED_FACTS / Max(1.0, facts)));

	gnngp_join_sample(j, 2 * drawn, drawn);
	gnngp_join_row(j);
	c->known = gnngp_join_visible(j);
	c->last = gnngp_join_totals(j, c->relation, c->farther);
	if (c->last < 0)
		return;
	c->row = &j->joined[0];
	c->total = &j->joined[1];
	c->ntotals = c->total->ncells + 1;
	c->former = palloc(sizeof(double) * (c->row->ncells + c->ntotals));
	c->rows = palloc0(sizeof(int64) * NOTED * c->ntotals);
	c->equal = palloc0(sizeof(int64) * NOTED * c->ntotals * c->row->ncells);
	c->nothing = palloc0(sizeof(int64) * c->row->ncells);
	for (int k = 0; k < c->row->ncells + c->ntotals; k++)
		c->former[k] = NAN;
	gnngp_join_run(j, c->s->env, compare_row, c, GP_PHASE_FEATURES, 0);
	judge(c, table);
}

/* True for a table that has a column to compare. */
static bool
has_compared(const gnngp_schema_table *t)
{
	bool		has = false;

	for (int i = 0; i < t->ncolumns && !has; i++)
		has = t->column[i].role == GNNGP_COLUMN_CELL && !t->column[i].known &&
			t->column[i].type.kind != GP_CELL_LIST;
	return has;
}

/* Compares a table with what refers to it by a relation, or to that by a farther one (-1: none). */
static void
compare_with(const gnngp_schema *s, int relation, int farther)
{
	const gnngp_schema_relation *r = &s->relation[relation];
	comparison	c = {.s = s,.relation = relation,.farther = farther,.stride = 1,
	.of = s->totals[r->parent],
	.name = farther < 0 ? r->name : psprintf("%s, %s", s->relation[farther].name, r->name)};

	if (s->table[farther < 0 ? r->child : s->relation[farther].child].timeless)
		return;
	c.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp totals", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(c.context);
	ErrorData  *error = gnngp_attempt(look, &c);
	if (error && ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
		ReThrowError(error);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(c.context);
}

static void
find_totals(const gnngp_schema *s, int table)
{
	const gnngp_schema_table *t = &s->table[table];

	s->totals[table] = palloc0(sizeof(char *) * Max(t->ncolumns, 1));
	for (int r = 0; r < s->nrelations && has_compared(t); r++)
	{
		int			child = s->relation[r].child;

		if (s->relation[r].parent != table)
			continue;
		compare_with(s, r, -1);
		for (int f = 0; f < s->nrelations && child != table; f++)
			if (s->relation[f].parent == child && s->relation[f].child != child &&
				s->relation[f].child != table)
				compare_with(s, r, f);
	}
}

const char *
gnngp_cell_totals(const gnngp_schema *s, const gnngp_cell_source *cell)
{
	if (cell->relation >= 0)
		return NULL;
	if (s->totals[cell->table] == NULL)
		find_totals(s, cell->table);
	return s->totals[cell->table][gnngp_table_find_column(&s->table[cell->table], cell->name)];
}
