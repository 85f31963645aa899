/*
 * leakage.c - how much of the labels some columns tell alone: the answer in disguise; and columns
 * that are written only once the answer is known.
 */
#include "facts_internal.h"

#define MOST_COLUMNS (GP_ENCODED_HOT + 2)	/* of one column of a table */
#define MOST_ROWS 5000			/* that are looked at */
#define FEWEST_ROWS 100			/* below, chance tells too much */
#define STRETCHES 20			/* of the rows, by turns in either half */
#define FEWEST_ASKED 30			/* rows to predict */
#define APART_ASKED 0.95		/* of them hold one value, */
#define APART_LABELLED 0.8		/* and at most so many labelled rows of any stretch of time do, */
#define NEWEST_STRETCHES 20		/* of so many, the newest, */
#define NEWEST_SHARE 0.1		/* or of this share; */
#define FEWEST_STRETCHES 8		/* or, of at least so many, more rows do, */
#define LOG_CHANCE (-13.8)		/* but chance of 1e-6 does not give those of rows to predict, */
#define FARTHER 2.0				/* in log odds so much further off than the stretches lie apart */

/* Rows that are looked at: of the labels from a time on, each step-th. */
typedef struct looked
{
	int64_t		n;
	int64_t    *row;
} looked;

static looked
rows_since(gp_env *env, const gp_facts_labels *labels, gp_time since)
{
	looked		l = {0, gp_alloc_array(env, gp_max64(labels->n, 1), sizeof(int64_t))};
	int64_t		kept = 0;

	GP_EACH(env, i, labels->n, i)
		if (labels->as_of[i] >= since)
			l.row[l.n++] = i;
	int64_t		step = l.n / MOST_ROWS + 1;
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

/*
 * The half of the rows that one is in.  They come by ids: most rows of an entity are in one half,
 * and rows that are sorted by labels are in both.
 */
static int
half_of(const looked *l, int64_t i)
{
	return (int) (STRETCHES * i / l->n % 2);
}

/* Labels that some columns are fitted to. */
typedef struct columns_fit
{
	gp_task_columns *columns;
	looked		looked;
	const gp_facts_labels *labels;
	int32_t		first;			/* of the columns */
	int32_t		width;
	double	   *y;				/* of each row that is looked at */
	double	   *fitted;
} columns_fit;

/* Least squares of targets on columns, about their means, fitted on one half for the other. */
static void
fit_half(const columns_fit *t, int half)
{
	gp_task_columns *f = t->columns;
	const looked *l = &t->looked;
	int32_t		first = t->first;
	int32_t		width = t->width;
	double		gram[MOST_COLUMNS][MOST_COLUMNS] = {{0.0}};
	double		mean[MOST_COLUMNS] = {0.0};
	double		beta[MOST_COLUMNS] = {0.0};
	int64_t		n = 0;

	for (int64_t i = 0; i < l->n; i++)
		n += half_of(l, i) == half;
	for (int64_t i = 0; i < l->n; i++)
		for (int32_t c = 0; c < width && half_of(l, i) == half; c++)
			mean[c] += number_of(f, l->row[i], first + c) / (double) n;
	GP_EACH(f->env, i, l->n, i * width * width)
	{
		double		x[MOST_COLUMNS];

		for (int32_t c = 0; c < width && half_of(l, i) == half; c++)
		{
			x[c] = number_of(f, l->row[i], first + c) - mean[c];
			beta[c] += x[c] * t->y[i];
			for (int32_t d = 0; d <= c; d++)
				gram[c][d] += x[c] * x[d];
		}
	}
	for (int32_t c = 0; c < width; c++)
	{
		gram[c][c] += 1e-6 * (double) n;
		for (int32_t d = 0; d < c; d++)
			gram[d][c] = gram[c][d];
	}
	gp_solve_small(width, *gram, MOST_COLUMNS, beta, beta);
	for (int64_t i = 0; i < l->n; i++)
	{
		if (half_of(l, i) == half)
			continue;
		t->fitted[i] = 0.0;
		for (int32_t c = 0; c < width; c++)
			t->fitted[i] += (number_of(f, l->row[i], first + c) - mean[c]) * beta[c];
	}
}

/* The targets of each half as the other predicts them. */
static void
cross_fit(const columns_fit *t)
{
	fit_half(t, 0);
	fit_half(t, 1);
}

/* A value, or the place of a class in their order; of it the logarithm, as columns have numbers. */
static double
value_of(const gp_facts_labels *labels, int64_t row, bool logarithm)
{
	double		value = labels->label ? (double) labels->label[row] : labels->target[row];

	return logarithm ? copysign(log1p(fabs(value)), value) : value;
}

/* The share of the variance of values, or of their logarithms, that the columns explain. */
static double
explained_of_values(const columns_fit *t, bool logarithm)
{
	const looked *l = &t->looked;
	double	   *y = t->y;
	double		mean = 0.0;
	double		variance = 0.0;
	double		error = 0.0;

	for (int64_t i = 0; i < l->n; i++)
		mean += value_of(t->labels, l->row[i], logarithm) / (double) l->n;
	for (int64_t i = 0; i < l->n; i++)
		y[i] = value_of(t->labels, l->row[i], logarithm) - mean;
	cross_fit(t);
	for (int64_t i = 0; i < l->n; i++)
	{
		variance += y[i] * y[i];
		error += (y[i] - t->fitted[i]) * (y[i] - t->fitted[i]);
	}
	return variance > 0.0 ? 1.0 - error / variance : 0.0;
}

/* The same of one class: twice the area under the curve, less one. */
static double
explained_of_class(const columns_fit *t, int32_t class, bool *is)
{
	const looked *l = &t->looked;
	double		members = 0.0;
	double		area;
	double		precision;

	for (int64_t i = 0; i < l->n; i++)
	{
		is[i] = t->labels->label[l->row[i]] == class;
		members += is[i];
	}
	if (members < FEWEST_ROWS / 5 || (double) l->n - members < FEWEST_ROWS / 5)
		return 0.0;
	for (int64_t i = 0; i < l->n; i++)
		t->y[i] = is[i] - members / (double) l->n;
	cross_fit(t);
	gp_ranking_metrics(t->columns->env, l->n, t->fitted, is, &area, &precision);
	return 2.0 * area - 1.0;
}

double
gp_task_columns_explained_share(gp_task_columns *f, const gp_facts_labels *labels, int32_t first,
								int32_t width, gp_time since)
{
	gp_env	   *env = f->env;
	looked		l = rows_since(env, labels, since);
	columns_fit t = {.columns = f, .looked = l, .labels = labels, .first = first, .width = width,
		.y = gp_alloc_array(env, gp_max64(l.n, 1), sizeof(double)),
		.fitted = gp_alloc_array(env, gp_max64(l.n, 1), sizeof(double))};
	bool	   *is = gp_alloc_array(env, gp_max64(l.n, 1), sizeof(bool));
	double		share = 0.0;
	bool		enough = l.n >= FEWEST_ROWS && width <= MOST_COLUMNS;

	for (int k = 0; enough && k < 2 && (labels->label == NULL || labels->nclasses > 2); k++)
		share = fmax(share, explained_of_values(&t, k == 1));
	if (enough && labels->label)
		for (int32_t c = labels->nclasses == 2; c < labels->nclasses && c < GP_ENCODED_HOT; c++)
			share = fmax(share, explained_of_class(&t, c, is));
	gp_free_all(env, is, t.fitted, t.y, l.row);
	return share;
}

/* ---- what the best of some columns tells ---- */

/* The variance of each target, and its covariances with columns: n times both. */
typedef struct moments
{
	int32_t		targets;
	double		y[GP_ENCODED_HOT];	/* sums, */
	double		yy[GP_ENCODED_HOT]; /* of squares, */
	double	   *x;				/* of each column, */
	double	   *xx;
	double	   *xy;				/* and of products with each target */
} moments;

static void
add_moments(gp_task_columns *f, const gp_facts_labels *labels, int64_t row, int32_t first,
			int32_t width, moments *m)
{
	for (int32_t k = 0; k < m->targets; k++)
	{
		double		y = labels->label ? labels->label[row] == k : labels->target[row];

		m->y[k] += y;
		m->yy[k] += y * y;
		for (int32_t c = 0; c < width && y != 0.0; c++)
			m->xy[k * width + c] += y * number_of(f, row, first + c);
	}
	for (int32_t c = 0; c < width; c++)
	{
		double		x = number_of(f, row, first + c);

		m->x[c] += x;
		m->xx[c] += x * x;
	}
}

double
gp_task_columns_relevance(gp_task_columns *f, const gp_facts_labels *labels, int32_t first,
						  int32_t width)
{
	gp_env	   *env = f->env;
	looked		l = rows_since(env, labels, GP_TIME_ALWAYS);
	double		n = (double) gp_max64(l.n, 1);
	moments		m = {.targets = labels->label ? (int32_t) gp_min64(labels->nclasses,
																   GP_ENCODED_HOT) : 1};
	double		most = 0.0;
	double		whole = 0.0;

	m.x = gp_alloc_zero(env, (int64_t) width * (2 + m.targets), sizeof(double));
	m.xx = m.x + width;
	m.xy = m.xx + width;
	GP_EACH(env, i, l.n, i * width)
		add_moments(f, labels, l.row[i], first, width, &m);
	for (int32_t k = 0; k < m.targets; k++)
		whole += m.yy[k] - m.y[k] * m.y[k] / n;
	for (int32_t c = 0; c < width; c++)
	{
		double		variance = m.xx[c] - m.x[c] * m.x[c] / n;
		double		explained = 0.0;

		for (int32_t k = 0; k < m.targets; k++)
			explained += pow(m.xy[k * width + c] - m.x[c] * m.y[k] / n, 2.0);
		if (variance > 1e-9 * m.xx[c] && whole > 0.0)
			most = fmax(most, explained / (variance * whole));
	}
	gp_free_all(env, m.x, l.row);
	return fmax(most - gp_chance_r2(width, n), 0.0);
}

/* ---- columns that are written with the answer ---- */

/* True where two rows hold the same in some columns. */
static bool
hold_same(gp_task_columns *f, int64_t a, int64_t b, int32_t first, int32_t width)
{
	bool		same = true;

	for (int32_t c = first; same && c < first + width; c++)
		same = number_of(f, a, c) == number_of(f, b, c);
	return same;
}

/* Of some rows to predict the one whose value most hold, if most hold one; how many do. */
static int64_t
commonest(gp_task_columns *f, int64_t n, const int64_t *row, int32_t first, int32_t width,
		  int64_t *holders)
{
	int64_t		found = row[0];
	int64_t		votes = 0;

	/* The majority vote of Boyer and Moore */
	GP_EACH(f->env, i, n, i * width)
	{
		if (votes == 0)
			found = row[i];
		votes += hold_same(f, found, row[i], first, width) ? 1 : -1;
	}
	*holders = 0;
	GP_EACH(f->env, i, n, i * width)
		*holders += hold_same(f, found, row[i], first, width);
	return found;
}

/* Of stretches of n labelled rows, in order of time, the most and the fewest that hold the same. */
static void
holders_of_stretches(gp_task_columns *f, const gp_timed *labelled, int64_t nlabelled, int64_t n,
					 int64_t as, int32_t first, int32_t width, int64_t *most, int64_t *fewest)
{
	int64_t		holders = 0;

	*most = 0;
	*fewest = n;
	GP_EACH(f->env, i, nlabelled, i * width)
	{
		holders += hold_same(f, labelled[i].row, as, first, width);
		if (i >= n)
			holders -= hold_same(f, labelled[i - n].row, as, first, width);
		if (i < n - 1)
			continue;
		*most = gp_max64(*most, holders);
		*fewest = gp_min64(*fewest, holders);
	}
}

/* The log odds of a row to hold a value, which some of n do. */
static double
log_odds(int64_t n, int64_t holders)
{
	return log(((double) holders + 0.5) / ((double) (n - holders) + 0.5));
}

/*
 * True where chance does not give that so many of n rows to predict hold a value, were they like
 * the stretch that has most of it, and where they are further from it than stretches are from each
 * other, as those of a column that changes with time are.
 */
static bool
beyond_stretches(int64_t n, int64_t holders, int64_t most, int64_t fewest)
{
	double		others = (double) (n - holders);

	if (most == 0 || most >= holders)
		return false;
	/* Chernoff's bound of the binomial probability, exact where all hold the value */
	double		chance = (double) holders * log((double) most / (double) holders);

	if (others > 0.0)
		chance += others * log((double) (n - most) / others);
	return chance < LOG_CHANCE && log_odds(n, holders) - log_odds(n, most) >
		FARTHER * (log_odds(n, most) - log_odds(n, fewest));
}

bool
gp_task_columns_stand_apart(gp_task_columns *f, int64_t nlabelled, const gp_timed *labelled,
							int32_t first, int32_t width)
{
	int64_t		newest = nlabelled - (int64_t) (NEWEST_SHARE * (double) nlabelled);
	int64_t		n = 0;
	int64_t		holders = 0;

	if (nlabelled < FEWEST_ROWS || f->rows - nlabelled < FEWEST_ASKED)
		return false;
	int64_t    *late = gp_alloc_array(f->env, f->rows - nlabelled, sizeof(int64_t));
	GP_EACH(f->env, i, f->rows - nlabelled, i)
		if (f->as_of[nlabelled + i] >= labelled[newest].as_of)
			late[n++] = nlabelled + i;
	bool		apart = n >= FEWEST_ASKED && 2 * n >= f->rows - nlabelled;
	if (apart)
	{
		int64_t		most;
		int64_t		fewest;

		n = gp_min64(n, nlabelled);
		int64_t		as = commonest(f, n, late, first, width, &holders);

		newest = gp_max64(gp_min64(newest, nlabelled - NEWEST_STRETCHES * n), 0);
		holders_of_stretches(f, labelled + newest, nlabelled - newest, n, as, first, width, &most,
							 &fewest);
		apart = (double) holders >= APART_ASKED * (double) n &&
			((double) most <= APART_LABELLED * (double) n ||
			 (nlabelled - newest >= FEWEST_STRETCHES * n &&
			  beyond_stretches(n, holders, most, fewest)));
	}
	gp_free(f->env, late);
	return apart;
}
