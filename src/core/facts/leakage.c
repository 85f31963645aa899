/*
 * leakage.c - how much of the labels some columns tell alone: the answer in disguise.
 */
#include "facts_internal.h"

#include "numeric/numeric.h"

#define MOST_COLUMNS (GP_ENCODED_HOT + 2)	/* of one column of a table */
#define MOST_ROWS 5000			/* that are looked at */
#define FEWEST_ROWS 100			/* below, chance tells too much */

/* Rows that are looked at: every so manieth of the labels from a time on. */
typedef struct looked
{
	int64_t		n;
	int64_t    *row;
} looked;

static looked
rows_since(gp_env *env, const gp_facts_labels *labels, gp_time since)
{
	looked		l = {0, gp_alloc_array(env, gp_max64(labels->n, 1), sizeof(int64_t))};
	int64_t		step;
	int64_t		kept = 0;

	for (int64_t i = 0; i < labels->n; i++)
		if (labels->as_of[i] >= since)
			l.row[l.n++] = i;
	step = l.n / MOST_ROWS + 1;
	for (int64_t i = 0; i < l.n; i += step)
		l.row[kept++] = l.row[i];
	l.n = kept;
	return l;
}

/* A number of a row; an age without facts is 0. */
static double
number_of(gp_task_columns *f, int64_t row, int32_t column)
{
	float		x = gp_task_columns_row(f, row)[column];

	return isnan(x) ? 0.0 : (double) x;
}

/* The fitted values of targets by least squares on columns, all about their means. */
static void
least_squares(gp_task_columns *f, const looked *l, int32_t first, int32_t width, const double *y,
			  double *fitted)
{
	double		gram[MOST_COLUMNS][MOST_COLUMNS] = {{0.0}};
	double		mean[MOST_COLUMNS] = {0.0};
	double		beta[MOST_COLUMNS] = {0.0};

	for (int64_t i = 0; i < l->n; i++)
		for (int32_t c = 0; c < width; c++)
			mean[c] += number_of(f, l->row[i], first + c) / (double) l->n;
	for (int64_t i = 0; i < l->n; i++)
	{
		double		x[MOST_COLUMNS];

		for (int32_t c = 0; c < width; c++)
		{
			x[c] = number_of(f, l->row[i], first + c) - mean[c];
			beta[c] += x[c] * y[i];
			for (int32_t d = 0; d <= c; d++)
				gram[c][d] += x[c] * x[d];
		}
	}
	for (int32_t c = 0; c < width; c++)
	{
		gram[c][c] += 1e-6 * (double) l->n;
		for (int32_t d = 0; d < c; d++)
			gram[d][c] = gram[c][d];
	}
	gp_solve_small(width, *gram, MOST_COLUMNS, beta, beta);
	for (int64_t i = 0; i < l->n; i++)
	{
		fitted[i] = 0.0;
		for (int32_t c = 0; c < width; c++)
			fitted[i] += (number_of(f, l->row[i], first + c) - mean[c]) * beta[c];
	}
}

/* How much the columns tell of values: the share of their variance. */
static double
told_of_values(gp_task_columns *f, const looked *l, const gp_facts_labels *labels, int32_t first,
			   int32_t width, double *y, double *fitted)
{
	double		mean = 0.0;
	double		variance = 0.0;
	double		error = 0.0;

	for (int64_t i = 0; i < l->n; i++)
		mean += labels->target[l->row[i]] / (double) l->n;
	for (int64_t i = 0; i < l->n; i++)
		y[i] = labels->target[l->row[i]] - mean;
	least_squares(f, l, first, width, y, fitted);
	for (int64_t i = 0; i < l->n; i++)
	{
		variance += y[i] * y[i];
		error += (y[i] - fitted[i]) * (y[i] - fitted[i]);
	}
	return variance > 0.0 ? 1.0 - error / variance : 0.0;
}

/* The same of one class: twice the area under the curve, less one. */
static double
told_of_class(gp_task_columns *f, const looked *l, const gp_facts_labels *labels, int32_t class,
			  int32_t first, int32_t width, double *y, double *fitted, bool *is)
{
	double		members = 0.0;
	double		area;
	double		precision;

	for (int64_t i = 0; i < l->n; i++)
	{
		is[i] = labels->label[l->row[i]] == class;
		members += is[i];
	}
	if (members < FEWEST_ROWS / 5 || (double) l->n - members < FEWEST_ROWS / 5)
		return 0.0;
	for (int64_t i = 0; i < l->n; i++)
		y[i] = is[i] - members / (double) l->n;
	least_squares(f, l, first, width, y, fitted);
	gp_ranking_metrics(f->env, l->n, fitted, is, &area, &precision);
	return 2.0 * area - 1.0;
}

double
gp_task_columns_explained_share(gp_task_columns *f, const gp_facts_labels *labels, int32_t first,
								int32_t width,
						 gp_time since)
{
	gp_env	   *env = f->env;
	looked		l = rows_since(env, labels, since);
	double	   *y = gp_alloc_array(env, gp_max64(l.n, 1), sizeof(double));
	double	   *fitted = gp_alloc_array(env, gp_max64(l.n, 1), sizeof(double));
	bool	   *is = gp_alloc_array(env, gp_max64(l.n, 1), sizeof(bool));
	double		told = 0.0;

	bool		enough = l.n >= FEWEST_ROWS && width <= MOST_COLUMNS;

	if (enough && labels->label == NULL)
		told = told_of_values(f, &l, labels, first, width, y, fitted);
	else if (enough)
		for (int32_t c = labels->nclasses == 2; c < labels->nclasses && c < GP_ENCODED_HOT; c++)
			told = fmax(told, told_of_class(f, &l, labels, c, first, width, y, fitted, is));
	gp_free_all(env, is, fitted, y, l.row);
	return told;
}
