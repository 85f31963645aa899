/*
 * tiers.c - categories that follow from the rows that refer to theirs: the band of a customer's
 * spending, a flag for three complaints in a year.
 *
 * They are updated in place and know of facts that come after a row of the task.  A measure of the
 * facts tells them: how many there are, how many different, their sum, of all or of those
 * with a value, since some days ago.  A threshold of it then has the rows of some values on one
 * side and the others on the other, also close to it.  What was known before, such as a plan that
 * drives spending, is never so exact where the rows of both sides meet.  If it is, as the rhythm
 * of a contract is, some measure was as exact some time ago; of a tier none was.
 *
 * So does a status that changes when no facts came for a while: all that have it have had none
 * since some time, and nearly all others have.  That of a period, or of a site that closed, was
 * there before: the first facts tell it as well as the last ones, or these end at one time.
 */
#include "postgres.h"

#include "tiers.h"
#include "utils/timestamp.h"

#define MOST_FORMS 100			/* of measures */
#define FEWEST_SIDE (GNNGP_FEWEST_TIERED / 2) /* rows on each side of a threshold */
#define MOST_WRONG 0.05			/* share of the fewer on the wrong side, */
#define MEET 0.1				/* and of these the share that is closest to it: */
#define MEET_WRONG 0.1			/* share of them that are wrong, */
#define MEET_WIDTH 0.25			/* and how far they reach, to how far nearly all do */
#define FORMER_WRONG 0.1		/* share that was on the wrong side some time ago, */
#define FORMER_MORE 5.0			/* or so many times that of now: more facts tell more */
#define LEAST_TOLD 0.1			/* share of a measure's variance that a column explains */
#define FEWEST_HOLDERS 20		/* of a status, and rows without it */
#define LAST_WRONG 0.05			/* share of these on the wrong side of a last time, */
#define FIRST_WRONG 0.3			/* and of a first one that does not tell it */
#define WINDOWS ((int) lengthof(window_days))

static const double window_days[] = {7, 14, 30, 61, 91, 182, 365, 730, INFINITY};

typedef enum measure
{
	NUMBER, DIFFERENT, SUM
} measure;

/* A measure of facts: of one of their columns, of those with a value in another (-1: of all). */
typedef struct form
{
	measure		measure;
	int			list;
	int			by;
	double		value;
} form;

/* A row's measure, also on a scale on which counts and sums of any size are alike. */
typedef struct measured
{
	double		number;
	double		scaled;
	int			row;
} measured;

/* A column of few values: of each row the place of its value, of a value its rank. */
typedef struct tiers
{
	int			nvalues;
	uint64		value[GNNGP_MOST_VALUES];
	int8	   *of;
	int			rank[GNNGP_MOST_VALUES];
	int			column;
	bool		follows;		/* a measure tells it that told less some time ago */
	bool		known;			/* one tells it that told as much then */
} tiers;

typedef struct search
{
	gp_env	   *env;
	gnngp_history **row;
	int			n;
	int			nlists;
	double		now;			/* the newest fact's time, in days */
	double		begin;			/* that of the first */
	double		usual;			/* for how long half of the rows have had facts */
	double	   *scratch;
	tiers	   *column;
	int			ncolumns;
} search;

/* ---- measures ---- */

static int
count_different(const search *s, double *x, int n)
{
	int			different = 0;

	gp_sort(s->env, x, n, sizeof(double), gp_compare_double, NULL);
	for (int i = 0; i < n; i++)
		different += i == 0 || x[i] != x[i - 1];
	return different;
}

/* A measure of a row's facts that were, at a time, at most so many days old. */
static double
measure_row(const search *s, const form *f, const gnngp_history *row, double at, double days)
{
	const double *time = row->fact;
	const double *of = row->fact + (size_t) f->list * row->nfacts;
	const double *by = row->fact + (size_t) f->by * row->nfacts;
	double		sum = 0.0;
	int			n = 0;

	for (int j = 0; j < row->nfacts && !(time[j] <= at - days); j++)
	{
		if (!(time[j] <= at) || (f->by >= 0 && by[j] != f->value) || isnan(of[j]))
			continue;
		s->scratch[n++] = of[j];
		sum += of[j];
	}
	return f->measure == NUMBER ? n : f->measure == DIFFERENT ? count_different(s, s->scratch, n) :
		sum;
}

static double
scaled(double x)
{
	return copysign(log1p(fabs(x)), x);
}

/* The measures of rows that had facts before some time; returns their number. */
static int
measure_rows(const search *s, const form *f, double at, double days, double since, measured *m)
{
	int			n = 0;

	for (int i = 0; i < s->n; i++)
	{
		if (isfinite(since) && !(s->row[i]->time[0] < since))
			continue;
		double		x = measure_row(s, f, s->row[i], at, days);

		if (isfinite(x))
			m[n++] = (measured) {x, scaled(x), i};
	}
	return n;
}

static void
sort_rows(const search *s, measured *m, int n)
{
	gp_sort(s->env, m, n, sizeof(measured), gp_compare_double, NULL);
}

/*
 * Ranks the values of a column by their means of a measure; false where it tells too little of it.
 */
static bool
rank_values(tiers *t, const measured *m, int n)
{
	double		sum[GNNGP_MOST_VALUES] = {0};
	int			count[GNNGP_MOST_VALUES] = {0};
	double		total = 0.0;
	double		squares = 0.0;
	double		between = 0.0;

	for (int i = 0; i < n; i++)
	{
		double		x = m[i].scaled;

		sum[t->of[m[i].row]] += x;
		count[t->of[m[i].row]]++;
		total += x;
		squares += x * x;
	}
	for (int v = 0; v < t->nvalues; v++)
	{
		between += count[v] > 0 ? sum[v] * sum[v] / count[v] : 0.0;
		t->rank[v] = 0;
		for (int w = 0; w < t->nvalues; w++)
			t->rank[v] += count[v] > 0 && count[w] > 0 &&
				(sum[w] / count[w] < sum[v] / count[v] ||
				 (sum[w] / count[w] == sum[v] / count[v] && w < v));
	}
	total *= total / Max(n, 1);
	return between - total > LEAST_TOLD * (squares - total);
}

/* ---- thresholds ---- */

/* A threshold between rows in the order of a measure, for the values from a rank on. */
typedef struct threshold
{
	int			rank;
	int			at;				/* the first row above it */
	int			fewest;			/* rows of these values, or others */
	double		wrong;			/* share of these on the wrong side */
} threshold;

static bool
is_above(const tiers *t, const measured *m, int rank)
{
	return t->rank[t->of[m->row]] >= rank;
}

/* The best threshold for the values from a rank on; rows with nothing are all on one side. */
static threshold
best_threshold(const tiers *t, const measured *m, int n, int rank)
{
	threshold	best = {.rank = rank,.at = -1,.wrong = 1.0};
	int			above = 0;
	int			below = 0;		/* before the threshold of those that should be above */
	int			least = n;

	for (int i = 0; i < n; i++)
		above += is_above(t, &m[i], rank);
	best.fewest = Min(above, n - above);
	for (int i = 0; i + 1 < n; i++)
	{
		below += is_above(t, &m[i], rank);
		int			wrong = below + n - above - (i + 1 - below);

		if (wrong >= least || m[i].number == m[i + 1].number ||
			m[i].number == 0.0 || m[i + 1].number == 0.0)
			continue;
		least = wrong;
		best.at = i + 1;
	}
	if (best.at >= 0 && best.fewest > 0)
		best.wrong = (double) least / (double) best.fewest;
	return best;
}

/*
 * True where the rows closest to a threshold are on the right side, and neither side is far from
 * it, compared with how far rows that have facts differ.  Rows of one measure count together;
 * between two counts there is nothing.
 */
static bool
meet_exactly(const tiers *t, const measured *m, int n, const threshold *h, bool counts)
{
	int			close = Max(FEWEST_SIDE / 2, (int) (MEET * h->fewest));
	int			from = Max(h->at - close, 0);
	int			to = Min(h->at + close, n) - 1;
	int			wrong = 0;
	int			none = 0;
	double		half = counts ? 0.5 : 0.0;

	while (none < h->at - 1 && m[none].number == 0.0)
		none++;
	while (from > 0 && m[from - 1].number == m[from].number)
		from--;
	while (to + 1 < n && m[to + 1].number == m[to].number)
		to++;
	for (int i = from; i <= to; i++)
		wrong += is_above(t, &m[i], h->rank) != (i >= h->at);
	return (double) wrong <= MEET_WRONG * (double) (to - from + 1) &&
		scaled(m[to].number - half) - scaled(m[from].number + half) <=
		MEET_WIDTH * (m[n - 1 - (n - none) / 20].scaled - m[none + (n - none) / 20].scaled);
}

/*
 * Compares what a measure of today tells with what the same of some time ago did, of rows that had
 * facts before that.
 */
static void
compare_former(const search *s, const form *f, double days, tiers *t, int rank, bool exactly,
			   measured *m)
{
	double		before = isinf(days) ? s->usual / 2.0 : days / 2.0;
	double		since = s->now - before - (isinf(days) ? 0.0 : days);
	int			n = measure_rows(s, f, s->now, days, since, m);

	sort_rows(s, m, n);
	threshold	now = best_threshold(t, m, n, rank);
	n = measure_rows(s, f, s->now - before, days, since, m);
	sort_rows(s, m, n);
	threshold	former = best_threshold(t, m, n, rank);
	if (Min(now.fewest, former.fewest) < FEWEST_SIDE || now.wrong > MOST_WRONG)
		return;
	t->known = t->known || former.wrong <= MOST_WRONG;
	t->follows = t->follows ||
		(exactly && former.wrong >= fmax(FORMER_WRONG, FORMER_MORE * now.wrong));
}

/* Looks whether a measure of facts that are at most so many days old tells columns. */
static void
try_measure(const search *s, const form *f, double days, measured *m, measured *room)
{
	int			n = measure_rows(s, f, s->now, days, INFINITY, m);
	bool		sorted = false;

	s->env->check_interrupts(s->env);
	for (int c = 0; c < s->ncolumns; c++)
	{
		tiers	   *t = &s->column[c];

		if (t->known || !rank_values(t, m, n))
			continue;
		if (!sorted)
			sort_rows(s, m, n);
		sorted = true;
		for (int rank = 1; rank < t->nvalues && !t->known; rank++)
		{
			threshold	h = best_threshold(t, m, n, rank);

			if (h.fewest >= FEWEST_SIDE && h.wrong <= MOST_WRONG)
				compare_former(s, f, days, t, rank,
							   meet_exactly(t, m, n, &h, f->measure <= DIFFERENT), room);
		}
	}
}

/* ---- statuses that follow from the last fact ---- */

/* The rows with later facts, in order of their first (0) or last (1) time. */
static measured *
sort_dated(const search *s, int which, int *n)
{
	measured   *m = palloc(sizeof(measured) * Max(s->n, 1));

	*n = 0;
	for (int i = 0; i < s->n; i++)
		if (s->row[i]->later)
			m[(*n)++] = (measured) {.number = s->row[i]->time[which],.row = i};
	sort_rows(s, m, *n);
	return m;
}

/* The best threshold between the rows of a value and the others, whichever come first. */
static threshold
split_by_value(tiers *t, const measured *m, int n, int value)
{
	threshold	best = {.wrong = INFINITY};

	for (int last = 0; last < 2; last++)
	{
		for (int v = 0; v < t->nvalues; v++)
			t->rank[v] = (v == value) == last;
		threshold	h = best_threshold(t, m, n, 1);
		best = h.wrong < best.wrong ? h : best;
	}
	return best;
}

/* True where the older rows end one by one, and not at one time long before the others. */
static bool
end_one_by_one(const measured *m, int n, int at)
{
	double		most = m[at * 9 / 10].number;

	return most - m[at / 10].number >= m[at + (n - at) / 10].number - most;
}

/* True for a value that says that no facts came since some time, or that some did. */
static bool
is_status(tiers *t, int value, const measured *first, const measured *last, int n)
{
	threshold	h = split_by_value(t, last, n, value);

	return h.fewest >= FEWEST_HOLDERS && h.wrong <= LAST_WRONG && end_one_by_one(last, n, h.at) &&
		split_by_value(t, first, n, value).wrong >= FIRST_WRONG;
}

/* ---- the search ---- */

/* Lists the values of a column; none where they are too many. */
static void
list_values(const search *s, tiers *t)
{
	for (int i = 0; i < s->n; i++)
	{
		uint64		word = s->row[i]->word[t->column];
		int			v = 0;

		while (v < t->nvalues && t->value[v] != word)
			v++;
		if (v == GNNGP_MOST_VALUES)
		{
			t->nvalues = 0;
			return;
		}
		if (v == t->nvalues)
			t->value[t->nvalues++] = word;
		t->of[i] = v;
	}
}

/* Lists the columns of few values that are not found yet. */
static void
list_columns(search *s, int ncolumns, const bool *found)
{
	s->column = palloc0(sizeof(tiers) * Max(ncolumns, 1));
	for (int i = 0; i < ncolumns; i++)
	{
		tiers	   *t = &s->column[s->ncolumns];

		if (found[i])
			continue;
		*t = (tiers) {.column = i,.of = palloc(Max(s->n, 1))};
		list_values(s, t);
		s->ncolumns += t->nvalues > 1;
	}
}

bool
gnngp_find_statuses(gp_env *env, const List *rows, int ncolumns, bool *found)
{
	search		s = {.env = env,.n = list_length(rows)};
	bool		others = false;
	int			n;

	s.row = palloc(sizeof(gnngp_history *) * Max(s.n, 1));
	for (int i = 0; i < s.n; i++)
		s.row[i] = list_nth(rows, i);
	list_columns(&s, ncolumns, found);
	measured   *first = sort_dated(&s, 0, &n);
	measured   *last = sort_dated(&s, 1, &n);
	for (int c = 0; c < s.ncolumns; c++)
	{
		tiers	   *t = &s.column[c];

		for (int v = 0; v < t->nvalues && !found[t->column]; v++)
			found[t->column] = is_status(t, v, first, last, n);
		others = others || !found[t->column];
	}
	return others;
}

/* Adds the number of facts with each value of one of their columns, if these are few. */
static int
add_values(const search *s, int list, form *f, int n)
{
	double		value[GNNGP_MOST_VALUES];
	int			values = 0;

	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->row[i]->nfacts; j++)
		{
			double		x = s->row[i]->fact[(size_t) list * s->row[i]->nfacts + j];
			int			v = 0;

			while (v < values && value[v] != x)
				v++;
			if (v < values || isnan(x))
				continue;
			if (v == GNNGP_MOST_VALUES)
				return n;
			value[values++] = x;
		}
	for (int v = 0; v < values && values > 1 && n < MOST_FORMS; v++)
		f[n++] = (form) {NUMBER, 0, list, value[v]};
	return n;
}

/* Sets when facts began and end, and for how long half of the rows have had some. */
static void
find_times(search *s)
{
	double	   *first = palloc(sizeof(double) * Max(s->n, 1));
	int			n = 0;

	s->now = -INFINITY;
	s->begin = INFINITY;
	for (int i = 0; i < s->n; i++)
	{
		if (s->row[i]->nfacts == 0 || !isfinite(s->row[i]->time[0]))
			continue;
		first[n++] = s->row[i]->time[0];
		s->now = fmax(s->now, s->row[i]->time[1]);
		s->begin = fmin(s->begin, s->row[i]->time[0]);
	}
	s->now = fmin(s->now, (double) GetCurrentTimestamp() / GP_TIME_DAY);
	gp_sort(s->env, first, n, sizeof(double), gp_compare_double, NULL);
	s->usual = n > 0 ? s->now - first[n / 2] : 0.0;
}

/* Keeps rows, evenly spaced, so that there are not too many, nor too many facts of theirs. */
static void
choose_rows(search *s, const List *rows)
{
	int64		n = list_length(rows);
	int64		facts = 0;
	int			most = 1;

	for (int i = 0; i < n; i++)
	{
		const gnngp_history *row = list_nth(rows, i);

		facts += row->nfacts;
		most = Max(most, row->nfacts);
	}
	s->n = (int) Min(n, GNNGP_MOST_TIERED);
	if (facts > GNNGP_TIERED_FACTS)
		s->n = (int) Min(s->n, Max(n * GNNGP_TIERED_FACTS / facts, 1));
	s->row = palloc(sizeof(gnngp_history *) * Max(s->n, 1));
	for (int64 k = 0; k < s->n; k++)
		s->row[k] = list_nth(rows, (int) (k * n / s->n));
	s->scratch = palloc(sizeof(double) * most);
}

void
gnngp_find_tiers(gp_env *env, const List *rows, int nlists, const bool *is_number, int ncolumns,
				 bool *found)
{
	search		s = {.env = env,.nlists = nlists};
	form	   *f = palloc(sizeof(form) * (MOST_FORMS + GNNGP_MOST_LISTED));

	choose_rows(&s, rows);
	list_columns(&s, ncolumns, found);
	if (s.ncolumns == 0 || s.n < GNNGP_FEWEST_TIERED)
		return;
	find_times(&s);
	/* All that is measured */
	int			n = 0;
	f[n++] = (form) {NUMBER, 0, -1, 0.0};
	for (int k = 1; k < nlists; k++)
		f[n++] = (form) {is_number[k] ? SUM : DIFFERENT, k, -1, 0.0};
	for (int k = 1; k < nlists; k++)
		n = add_values(&s, k, f, n);
	measured   *m = palloc(sizeof(measured) * 2 * s.n);
	for (int i = 0; i < n; i++)
		for (int w = 0; w < WINDOWS; w++)
			if (isinf(window_days[w]) || 1.5 * window_days[w] < s.now - s.begin)
				try_measure(&s, &f[i], window_days[w], m, m + s.n);
	for (int c = 0; c < s.ncolumns; c++)
		found[s.column[c].column] = s.column[c].follows && !s.column[c].known;
}
