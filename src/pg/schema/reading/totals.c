/*
 * totals.c - columns that count the rows that refer to their row, or add them up: a job's number of
 * applicants, a customer's last order.
 *
 * They are updated in place and know of facts that come after a row of the task.  What they are
 * shows where they equal the count, mean, sum or last time of the facts in nearly all rows.  Rows
 * whose facts are not later than themselves show nothing: there such a column is known with its
 * row.
 */
#include "postgres.h"

#include "pg/server/server.h"
#include "table_join.h"

#define MANY_ROWS 10000			/* from so many on a sample is looked at, */
#define SAMPLED_ROWS 5000		/* of about so many */
#define EQUAL 0.9				/* share of rows that equal their facts */
#define FEWEST_ROWS 20			/* that say so */
#define ALIKE 1e-5				/* relative difference of sums, of single precision */

/* A comparison of the columns of a table with the totals of one relation. */
typedef struct comparison
{
	const gnngp_schema *s;
	int			relation;
	int		   *of;				/* what is found: of each column the relation */
	const gnngp_part *row;
	const gnngp_part *total;
	int			last;			/* the query's column of the time of the last fact */
	double	   *former;			/* totals of the row before, then that time */
	int64	   *rows;			/* for each of them that differ from the row before */
	int64	   *equal;			/* of these the rows whose column is that, by column */
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
is_compared(const gnngp_cell_source *cell)
{
	return !cell->target && !cell->known && cell->relation < 0 &&
		(cell->type.kind == GP_CELL_NUMBER || cell->type.kind == GP_CELL_INTEGER ||
		 cell->type.kind == GP_CELL_TIME);
}

/*
 * Compares a row.  Where a total is that of the row before, nothing is learnt: a column that is
 * mostly one equals a count that is mostly one.
 */
static void
compare_row(void *state, const Datum *values, const bool *nulls)
{
	comparison *c = state;
	int			ntotals = c->total->ncells + 1;
	double	   *total = palloc(sizeof(double) * ntotals);

	total[ntotals - 1] = (double) gnngp_time_of(values[c->last], nulls[c->last]) / GP_TIME_DAY;
	if (c->row->visible >= 0 && total[ntotals - 1] <=
		(double) gnngp_time_of(values[c->row->visible], nulls[c->row->visible]) / GP_TIME_DAY)
		return;
	for (int k = 0; k < ntotals - 1; k++)
		total[k] = number_of(&c->total->cell[k].type, values[c->total->first + k],
							 nulls[c->total->first + k]);
	for (int i = 0; i < c->row->ncells; i++)
	{
		const gnngp_cell_source *cell = &c->row->cell[i];
		int			at = c->row->first + i;
		bool		time = cell->type.kind == GP_CELL_TIME;
		double		x = is_compared(cell) ? number_of(&cell->type, values[at], nulls[at]) : NAN;

		for (int k = time ? ntotals - 1 : 0; !isnan(x) && k < ntotals - !time; k++)
			c->equal[i * ntotals + k] += total[k] != c->former[k] &&
				(time ? total[k] >= x && total[k] < x + 1.0 :
				 fabs(total[k] - x) <= ALIKE * fabs(total[k]));
	}
	for (int k = 0; k < ntotals; k++)
		c->rows[k] += total[k] != c->former[k] && !isnan(total[k]);
	memcpy(c->former, total, sizeof(double) * ntotals);
	pfree(total);
}

/* Looks at the totals of one relation, for gnngp_attempt: numbers may be too large for them. */
static void
look(void *arg)
{
	comparison *c = arg;
	int			table = c->s->relation[c->relation].parent;
	gnngp_join *j = gnngp_join_open(c->s, table);

	gnngp_join_sample(j, MANY_ROWS, SAMPLED_ROWS);
	gnngp_join_row(j);
	c->last = gnngp_join_totals(j, c->relation);
	if (c->last < 0)
		return;
	c->row = &j->part[0];
	c->total = &j->part[1];
	int			ntotals = c->total->ncells + 1;
	c->former = palloc(sizeof(double) * ntotals);
	c->rows = palloc0(sizeof(int64) * ntotals);
	c->equal = palloc0(sizeof(int64) * ntotals * c->row->ncells);
	for (int k = 0; k < ntotals; k++)
		c->former[k] = NAN;
	gnngp_join_run(j, c->s->env, compare_row, c, GP_PHASE_FEATURES, 0);
	for (int i = 0; i < c->row->ncells; i++)
		for (int k = 0; k < ntotals; k++)
			if (c->rows[k] >= FEWEST_ROWS &&
				(double) c->equal[i * ntotals + k] >= EQUAL * (double) c->rows[k])
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
			(t->column[i].type.kind == GP_CELL_NUMBER ||
			 t->column[i].type.kind == GP_CELL_INTEGER || t->column[i].type.kind == GP_CELL_TIME);
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
