/*
 * totals.c - columns that count the rows that refer to their row, or refer to those that do, or add
 * them up: a job's number of applicants, a customer's last order, the points for what he bought.
 *
 * They are updated in place and know of facts that come after a row of the task.  What they are
 * shows where they equal the count, mean, sum or last time of the facts in nearly all rows.  Rows
 * whose facts are not later than themselves show nothing: there such a column is known with its
 * row.
 *
 * What the facts copy, as a payment does the total of its order, a line the price of its product
 * and a visit the time that was booked, or add up to in the end, as guests who arrive and
 * instalments do, equals them, too.  It is there before them: rows that have none yet tell the two
 * apart.  Where these have nothing, a column that is rounded, or some part of a total, comes from
 * there as well.  Categories that follow from facts are found in tiers.c.
 */
#include "postgres.h"

#include <float.h>

#include "tiers.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#define SAMPLED_ROWS 5000		/* of a table of twice as many about so many are looked at, */
#define SAMPLED_FACTS 200000	/* or fewer, which have about so many facts, */
#define FEWEST_SAMPLED 100		/* but so many */
#define EQUAL 0.9				/* share of rows that equal their facts */
#define FEWEST_ROWS 20			/* that say so */
#define FEWEST_WITHOUT 5		/* rows without facts that say that a number is there before them */
#define ALIKE 1e-5				/* relative difference of sums, of single precision, */
#define ROUNDED 0.04			/* and of shares of them that are rounded, */
#define FEWEST_UNITS (2.0 / ROUNDED)	/* integers from this number on */
#define MOST_LISTED (2 * SAMPLED_FACTS)	/* facts, all of which are read at once */
#define MOST_KEPT (10 * SAMPLED_FACTS)	/* numbers of rows and facts, where no sample bounds them */
#define UNIX_TO_2000 ((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (double) SECS_PER_DAY)
#define AT_ONCE (1.0 / 86400)	/* days: facts that are written with their row */

/*
 * What is noted of a total: rows of several facts, of one fact; of a column also rows that tell
 * whether it is a share, and those of the same share as the row before.
 */
enum {SEVERAL, ONE, TELLING, SHARE, NOTED};

/* A comparison of the columns of a table with the totals of one relation. */
typedef struct comparison
{
	const gnngp_schema *s;
	int			relation;
	int			farther;		/* what refers to its rows; -1: these themselves */
	const char *name;
	const char **of;			/* what is found: of each column the name */
	const gnngp_joined *row;
	const gnngp_joined *fact;	/* totals of facts, or lists of what they are */
	int			known;			/* the query's column of the time of the row */
	int			last;			/* and of the last fact */
	int			ntotals;		/* the first is their number, the last one that time */
	double	   *former;			/* values and totals of the row before */
	/* By total and what is noted: rows that differ from the row before.  Of these those whose
	 * column is that, by column. */
	int64	   *rows;
	int64	   *equal;
	int64		nfacts;
	int64		nwithout;		/* rows without facts, */
	int64	   *nothing;		/* and of these those that have nothing in a column */
	MemoryContext context;		/* of what is kept of rows: */
	List	   *kept;			/* one in stride, */
	int64		nkept;			/* so many numbers of theirs */
	int64		nrows;
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

static int64
numbers_kept(const comparison *c, int nfacts)
{
	return (int64) c->row->ncells + (int64) nfacts * c->fact->ncells;
}

static double
days_of(const Datum *values, const bool *nulls, int column)
{
	return (double) gnngp_time_of(values[column], nulls[column]) / GP_TIME_DAY;
}

/*
 * Notes which columns of a row without facts have nothing either: no number or 0, no time or that
 * of the row; without a time of rows any time may be that.
 */
static void
note_without(comparison *c, const double *x, double known)
{
	c->nwithout++;
	for (int i = 0; i < c->row->ncells; i++)
		c->nothing[i] += isnan(x[i]) || x[i] == 0.0 ||
			(c->row->cell[i].type.kind == GP_CELL_TIME &&
			 (c->row->visible < 0 || x[i] < known + 1.0));
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
			bool		rounded = c->row->cell[i].type.kind == GP_CELL_INTEGER;
			/* The least number that shows a share, though it is rounded */
			double		least = rounded ? FEWEST_UNITS : DBL_MIN;

			if ((c->row->cell[i].type.kind == GP_CELL_TIME) != is_time)
				continue;
			equal[at] += is_time ? t >= x[i] && t < x[i] + 1.0 :
				fabs(t - x[i]) <= ALIKE * fabs(t);
			if (tells && fmin(fabs(x[i]), fabs(c->former[i])) >= least)
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
halve_kept(comparison *c)
{
	List	   *half = NIL;

	c->nkept = 0;
	for (int i = 0; i < list_length(c->kept); i++)
	{
		gnngp_history *row = list_nth(c->kept, i);

		if (i % 2 == 0)
		{
			half = lappend(half, row);
			c->nkept += numbers_kept(c, row->nfacts);
			continue;
		}
		pfree(row->fact);
		pfree(row);
	}
	list_free(c->kept);
	c->kept = half;
	c->stride *= 2;
}

/* Keeps the times of a row's facts, and its categories; NULL: it is not among those kept. */
static gnngp_history *
keep_row(comparison *c, const Datum *values, const bool *nulls, int nfacts)
{
	const gnngp_joined *p = c->row;

	if (c->nrows++ % c->stride != 0)
		return NULL;
	if (c->nkept >= MOST_KEPT && list_length(c->kept) > FEWEST_SAMPLED)
		halve_kept(c);
	MemoryContext old = MemoryContextSwitchTo(c->context);
	gnngp_history *row = palloc(offsetof(gnngp_history, word) + sizeof(uint64) * p->ncells);

	*row = (gnngp_history) {.nfacts = nfacts,
		.fact = palloc(sizeof(double) * Max(nfacts * c->fact->ncells, 1))};
	for (int k = 0; k < 2; k++)
		row->time[k] = days_of(values, nulls, c->last - 1 + k);
	for (int i = 0; i < p->ncells; i++)
	{
		gp_cell		cell = {.null = true};

		if (p->cell[i].type.kind == GP_CELL_WORD || p->cell[i].type.kind == GP_CELL_INTEGER)
			gnngp_read_cell(&p->cell[i].type, values[p->first + i], nulls[p->first + i], &cell);
		row->word[i] = gp_category_of_cell(p->cell[i].type.kind, &cell);
	}
	c->kept = lappend(c->kept, row);
	c->nkept += numbers_kept(c, nfacts);
	MemoryContextSwitchTo(old);
	return row;
}

/* Numbers of a list, as it comes from a query. */
static const double *
list_numbers(Datum list)
{
	return (const double *) ((char *) DatumGetArrayTypeP(list) + ARR_OVERHEAD_NONULLS(1));
}

/* Keeps a row, and the lists of its facts, the newest first. */
static void
keep_facts(void *state, const Datum *values, const bool *nulls)
{
	comparison *c = state;
	const Datum *list = values + c->fact->first;
	int			n = nulls[c->fact->first] ? 0 : ARR_DIMS(DatumGetArrayTypeP(list[0]))[0];
	gnngp_history *row = keep_row(c, values, nulls, n);

	if (row == NULL)
		return;
	const double *at = n > 0 ? list_numbers(list[0]) : NULL;
	gp_scored  *order = palloc(sizeof(gp_scored) * Max(n, 1));
	for (int j = 0; j < n; j++)
		order[j] = (gp_scored) {.score = at[j],.node = j};
	gp_sort(c->s->env, order, n, sizeof(gp_scored), gp_compare_scored, NULL);
	for (int k = 0; k < c->fact->ncells && n > 0; k++)
	{
		const double *numbers = list_numbers(list[k]);

		for (int j = 0; j < n; j++)
			row->fact[(size_t) k * n + j] = numbers[order[j].node];
	}
	for (int j = 0; j < n; j++)
		row->fact[j] = (row->fact[j] - UNIX_TO_2000) / SECS_PER_DAY;
	pfree(order);
}

static void
compare_row(void *state, const Datum *values, const bool *nulls)
{
	comparison *c = state;
	double	   *x = palloc(sizeof(double) * (c->row->ncells + c->ntotals));
	double	   *total = x + c->row->ncells;
	double		known = days_of(values, nulls, c->known);
	gnngp_history *kept = keep_row(c, values, nulls, 0);

	for (int i = 0; i < c->row->ncells; i++)
		x[i] = is_compared(&c->row->cell[i]) && is_quantity(c->row->cell[i].type.kind) ?
			number_of(&c->row->cell[i].type, values[c->row->first + i],
					  nulls[c->row->first + i]) : NAN;
	for (int k = 0; k < c->ntotals - 1; k++)
		total[k] = number_of(&c->fact->cell[k].type, values[c->fact->first + k],
							 nulls[c->fact->first + k]);
	total[c->ntotals - 1] = days_of(values, nulls, c->last);
	bool		later = total[c->ntotals - 1] > known + AT_ONCE && !isnan(total[0]);
	c->nfacts += isnan(total[0]) ? 0 : (int64) total[0];
	if (isnan(total[0]))
		note_without(c, x, known);
	else if (later)
		note_totals(c, x, total);
	if (kept)
		kept->later = later;
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

	if (!nothing && c->nwithout >= FEWEST_WITHOUT)
		return false;
	if (comes && equal[TELLING] >= FEWEST_ROWS &&
		(double) equal[SHARE] >= EQUAL * (double) equal[TELLING])
		return true;
	return n >= FEWEST_ROWS &&
		(double) (equal[SEVERAL] + (comes ? equal[ONE] : 0)) >= EQUAL * (double) n;
}

/* Opens a query of the rows, and of totals or lists of their facts; NULL: these have no times. */
static gnngp_join *
open_look(comparison *c, bool lists)
{
	int			table = c->s->relation[c->relation].parent;
	int			child = c->s->relation[c->farther < 0 ? c->relation : c->farther].child;
	gnngp_join *j = gnngp_join_open(c->s, table);
	double		facts = (double) gnngp_table_rows(&c->s->table[child].table) /
		(double) Max(1, gnngp_table_rows(&c->s->table[table].table));
	int64		drawn = (int64) Max(FEWEST_SAMPLED, lists ?
									Min(GNNGP_MOST_TIERED, GNNGP_TIERED_FACTS / Max(1.0, facts)) :
									Min(SAMPLED_ROWS, SAMPLED_FACTS / Max(1.0, facts)));

	gnngp_join_sample(j, lists ? drawn * 5 / 4 : 2 * drawn, drawn);
	gnngp_join_row(j);
	c->known = gnngp_join_visible(j);
	c->last = gnngp_join_totals(j, c->relation, c->farther, lists);
	c->row = &j->joined[0];
	c->fact = &j->joined[1];
	c->kept = NIL;
	c->nkept = c->nrows = 0;
	c->stride = 1;
	return c->last < 0 ? NULL : j;
}

/* Finds tiers among the columns that are not found yet. */
static void
look_for_tiers(comparison *c, bool *found)
{
	gnngp_join *j = open_look(c, true);
	bool	   *is_number = palloc(sizeof(bool) * c->fact->ncells);

	gnngp_join_run(j, c->s->env, keep_facts, c, GP_PHASE_FEATURES, 0);
	for (int k = 0; k < c->fact->ncells; k++)
		is_number[k] = is_quantity(c->fact->cell[k].type.kind);
	gnngp_find_tiers(c->s->env, c->kept, c->fact->ncells, is_number, c->row->ncells, found);
}

/* Looks at the totals of one relation, for gnngp_attempt: numbers may be too large for them. */
static void
look(void *arg)
{
	comparison *c = arg;
	const gnngp_schema_table *t = &c->s->table[c->s->relation[c->relation].parent];
	gnngp_join *j = open_look(c, false);

	if (j == NULL)
		return;
	c->ntotals = c->fact->ncells + 1;
	c->former = palloc(sizeof(double) * (c->row->ncells + c->ntotals));
	c->rows = palloc0(sizeof(int64) * NOTED * c->ntotals);
	c->equal = palloc0(sizeof(int64) * NOTED * c->ntotals * c->row->ncells);
	c->nothing = palloc0(sizeof(int64) * c->row->ncells);
	for (int k = 0; k < c->row->ncells + c->ntotals; k++)
		c->former[k] = NAN;
	gnngp_join_run(j, c->s->env, compare_row, c, GP_PHASE_FEATURES, 0);
	bool	   *found = palloc(sizeof(bool) * Max(c->row->ncells, 1));
	for (int i = 0; i < c->row->ncells; i++)
	{
		/* What is not compared is not looked at. */
		found[i] = !is_compared(&c->row->cell[i]);
		for (int k = 0; k < c->ntotals && !found[i]; k++)
			found[i] = is_total(c, i, k);
	}
	bool		others = gnngp_find_statuses(c->s->env, c->kept, c->row->ncells, found);
	/* Single facts are no history. */
	if (others && c->nrows >= GNNGP_FEWEST_TIERED && c->nfacts > c->nrows &&
		c->nfacts <= MOST_LISTED)
		look_for_tiers(c, found);
	for (int i = 0; i < c->row->ncells; i++)
		if (found[i] && is_compared(&c->row->cell[i]))
			c->of[gnngp_table_find_column(t, c->row->cell[i].name)] = c->name;
}

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
	comparison	c = {.s = s,.relation = relation,.farther = farther,
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
