/*
 * totals.c - columns that count the rows that refer to their row, or add them up: a job's number of
 * applicants, a customer's last order.
 *
 * They are updated in place and know of facts that come after a row of the task.  What they are
 * shows where they equal the count, mean, sum or last time of the facts in nearly all rows.  Rows
 * whose facts are not later than themselves show nothing: there such a column is known with its
 * row.
 *
 * A number that the facts copy, as a payment does the total of its order and a line the price of
 * its product, or that they add up to in the end, as guests who arrive and instalments do, equals
 * them, too.  It is there before them: rows that have none yet tell the two apart.
 */
#include "postgres.h"

#include "pg/server/server.h"
#include "table_join.h"

#define SAMPLED_ROWS 5000		/* of a table of twice as many about so many are looked at, */
#define SAMPLED_FACTS 200000	/* or fewer, which have about so many facts, */
#define FEWEST_SAMPLED 100		/* but so many */
#define EQUAL 0.9				/* share of rows that equal their facts */
#define FEWEST_ROWS 20			/* that say so */
#define FEWEST_WITHOUT 5		/* rows without facts that say that a number is there before them */
#define ALIKE 1e-5				/* relative difference of sums, of single precision */
#define AT_ONCE (1.0 / 86400)	/* days: facts that are written with their row */

/* A comparison of the columns of a table with the totals of one relation. */
typedef struct comparison
{
	const gnngp_schema *s;
	int			relation;
	int		   *of;				/* what is found: of each column the relation */
	const gnngp_joined *row;
	const gnngp_joined *total;
	int			known;			/* the query's column of the time of the row */
	int			last;			/* and of the last fact */
	int			ntotals;		/* the last one is that time */
	double	   *former;			/* totals of the row before */
	/* By total and whether of one fact: rows that differ from the row before.  Of these those whose
	 * column is that, by column. */
	int64	   *rows;
	int64	   *equal;
	int64		nwithout;		/* rows without facts, */
	int64	   *nothing;		/* and of these those that have nothing in a column */
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
	return !cell->target && !cell->known && cell->relation < 0 && is_quantity(cell->type.kind);
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

/*
 * Compares a row.  Where a total is that of the row before, nothing is learnt: a column that is
 * mostly one equals a count that is mostly one.
 */
static void
note_totals(comparison *c, const double *x, const double *total)
{
	int			n = c->ntotals;

	for (int k = 0; k < n; k++)
	{
		bool		is_time = k == n - 1;
		/* One fact is its own sum. */
		int			at = 2 * k + (k > 0 && !is_time && total[0] < 2.0);

		if (total[k] == c->former[k] || isnan(total[k]))
			continue;
		c->rows[at]++;
		for (int i = 0; i < c->row->ncells; i++)
			if ((c->row->cell[i].type.kind == GP_CELL_TIME) == is_time)
				c->equal[i * 2 * n + at] += is_time ? total[k] >= x[i] && total[k] < x[i] + 1.0 :
					fabs(total[k] - x[i]) <= ALIKE * fabs(total[k]);
	}
	memcpy(c->former, total, sizeof(double) * n);
}

static void
compare_row(void *state, const Datum *values, const bool *nulls)
{
	comparison *c = state;
	double	   *x = palloc(sizeof(double) * (c->row->ncells + c->ntotals));
	double	   *total = x + c->row->ncells;

	for (int i = 0; i < c->row->ncells; i++)
		x[i] = is_compared(&c->row->cell[i]) ?
			number_of(&c->row->cell[i].type, values[c->row->first + i],
					  nulls[c->row->first + i]) : NAN;
	for (int k = 0; k < c->ntotals - 1; k++)
		total[k] = number_of(&c->total->cell[k].type, values[c->total->first + k],
							 nulls[c->total->first + k]);
	total[c->ntotals - 1] = days_of(values, nulls, c->last);
	if (isnan(total[0]))
		note_without(c, x);
	else if (total[c->ntotals - 1] > days_of(values, nulls, c->known) + AT_ONCE)
		note_totals(c, x, total);
	pfree(x);
}

/*
 * True for a column that equals a total.  Rows of one fact count where rows without any have
 * nothing in the column: else the fact may have it from there.
 */
static bool
is_total(const comparison *c, int column, int k)
{
	const int64 *rows = &c->rows[2 * k];
	const int64 *equal = &c->equal[2 * (column * c->ntotals + k)];
	bool		nothing = (double) c->nothing[column] >= EQUAL * (double) c->nwithout;
	bool		ones = nothing && c->nwithout >= FEWEST_ROWS;
	int64		n = rows[0] + (ones ? rows[1] : 0);

	if (!nothing && c->nwithout >= FEWEST_WITHOUT && k < c->ntotals - 1)
		return false;
	return n >= FEWEST_ROWS &&
		(double) (equal[0] + (ones ? equal[1] : 0)) >= EQUAL * (double) n;
}

/* Looks at the totals of one relation, for gnngp_attempt: numbers may be too large for them. */
static void
look(void *arg)
{
	comparison *c = arg;
	int			table = c->s->relation[c->relation].parent;
	int			child = c->s->relation[c->relation].child;
	gnngp_join *j = gnngp_join_open(c->s, table);
	double		facts = (double) gnngp_table_rows(&c->s->table[child].table) /
		(double) Max(1, gnngp_table_rows(&c->s->table[table].table));
	int64		drawn = (int64) Max(FEWEST_SAMPLED,
									Min(SAMPLED_ROWS, SAMPLED_FACTS / Max(1.0, facts)));

	gnngp_join_sample(j, 2 * drawn, drawn);
	gnngp_join_row(j);
	c->known = gnngp_join_visible(j);
	c->last = gnngp_join_totals(j, c->relation);
	if (c->last < 0)
		return;
	c->row = &j->joined[0];
	c->total = &j->joined[1];
	c->ntotals = c->total->ncells + 1;
	c->former = palloc(sizeof(double) * c->ntotals);
	c->rows = palloc0(sizeof(int64) * 2 * c->ntotals);
	c->equal = palloc0(sizeof(int64) * 2 * c->ntotals * c->row->ncells);
	c->nothing = palloc0(sizeof(int64) * c->row->ncells);
	for (int k = 0; k < c->ntotals; k++)
		c->former[k] = NAN;
	gnngp_join_run(j, c->s->env, compare_row, c, GP_PHASE_FEATURES, 0);
	for (int i = 0; i < c->row->ncells; i++)
		for (int k = 0; k < c->ntotals; k++)
			if (is_total(c, i, k))
				c->of[gnngp_table_find_column(&c->s->table[table], c->row->cell[i].name)] =
					c->relation;
}

/* True for a table that has a column to compare. */
static bool
has_compared(const gnngp_schema_table *t)
{
	bool		has = false;

	for (int i = 0; i < t->ncolumns && !has; i++)
		has = t->column[i].role == GNNGP_COLUMN_CELL && !t->column[i].known &&
			is_quantity(t->column[i].type.kind);
	return has;
}

static void
find_totals(const gnngp_schema *s, int table)
{
	const gnngp_schema_table *t = &s->table[table];

	s->totals[table] = palloc(sizeof(int) * Max(t->ncolumns, 1));
	memset(s->totals[table], -1, sizeof(int) * t->ncolumns);
	for (int r = 0; r < s->nrelations && has_compared(t); r++)
	{
		comparison	c = {.s = s,.relation = r,.of = s->totals[table]};

		ErrorData  *error = s->relation[r].parent == table &&
			!s->table[s->relation[r].child].timeless ? gnngp_attempt(look, &c) : NULL;

		if (error && ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
			ReThrowError(error);
	}
}

int
gnngp_cell_totals(const gnngp_schema *s, const gnngp_cell_source *cell)
{
	if (cell->relation >= 0)
		return -1;
	if (s->totals[cell->table] == NULL)
		find_totals(s, cell->table);
	return s->totals[cell->table][gnngp_table_find_column(&s->table[cell->table], cell->name)];
}
