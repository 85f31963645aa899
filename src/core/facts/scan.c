/*
 * scan.c - the aggregates of a relation, as of the time of each row: one pass over its facts.
 *
 * A running state of one key is kept while its facts go by in order of time, and is written to a
 * row of the task when the first fact comes that the row does not see.  Weights of a half-life are
 * relative to the last fact, so that means do not change while nothing happens.  Facts of one time
 * tie: the last few facts are the last ties, the earliest of them by its share.
 */
#include "facts_internal.h"

#include "base/sort.h"

#define QUICK 4.0				/* times as fast is what is new forgotten */

/* A row of a task, in the order in which facts meet it. */
typedef struct keyed_time
{
	int32_t		key;
	gp_time		time;
	int64_t		row;
} keyed_time;

/* Facts of one time. */
typedef struct tie
{
	int64_t		count;
	double	   *sum;			/* width */
	double	   *square;
} tie;

/* The state of one key: of all numbers of its facts, or of one by itself. */
typedef struct running
{
	int64_t		count;
	gp_time		first;
	gp_time		last;
	double		weight;			/* of all facts, halved by half-lives */
	double	   *decayed;		/* their sums, halved, too, */
	double	   *sum;			/* and not */
	double		quick;			/* the weight of all facts with a quarter of the half-life */
	tie		   *tie;			/* a ring of as many as facts are asked for, */
	int32_t		newest;			/* and its last */
} running;

struct gp_scan
{
	gp_task_columns *columns;
	const gp_relation *relation;
	int64_t		n;				/* rows with a key */
	keyed_time *row;
	int32_t		nkeys;
	int64_t    *start;			/* rows of each key; nkeys + 1 */
	int64_t		looked;			/* work, for interrupts */
	int64_t		next_poll;

	int32_t		key;			/* -1: none yet */
	int64_t		waits;			/* the first of its rows that is not written */
	gp_time		last;			/* of its facts */
	running    *state;			/* those of the relation */
	double	   *numbers;		/* all that they point to, first what decayed and sum do */
	tie		   *tie;			/* all of theirs */
	double	   *out;			/* an aggregate of one */
};

/* By key, then time. */
static int
compare_keyed(const void *a, const void *b, void *unused)
{
	const keyed_time *x = a;
	const keyed_time *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) :
		(x->time > y->time) - (x->time < y->time);
}

/* The rows that have a key, by key and then time; *n counts them. */
static keyed_time *
by_key_and_time(gp_env *env, int64_t rows, const int32_t *key, const gp_time *time, int64_t *n)
{
	keyed_time *t = gp_alloc_array(env, rows, sizeof(keyed_time));

	*n = 0;
	for (int64_t i = 0; i < rows; i++)
		if (key[i] >= 0)
			t[(*n)++] = (keyed_time) {key[i], time[i], i};
	gp_sort(env, t, *n, sizeof(keyed_time), compare_keyed, NULL);
	return t;
}

/* Sorts the rows that have a key, and notes where those of each begin. */
static void
sort_rows(gp_scan *s, const int32_t *key)
{
	gp_env	   *env = s->columns->env;

	s->row = by_key_and_time(env, s->columns->rows, key, s->relation->as_of, &s->n);
	s->nkeys = s->n > 0 ? s->row[s->n - 1].key + 1 : 0;
	s->start = gp_alloc_zero(env, (int64_t) s->nkeys + 1, sizeof(int64_t));
	for (int64_t i = 0; i < s->n; i++)
		s->start[s->row[i].key + 1]++;
	gp_offsets_of_counts(s->start, s->nkeys);
}

/* Forgets the facts of the key before. */
static void
begin_key(gp_scan *s, int32_t key)
{
	const gp_relation *r = s->relation;

	s->key = key;
	s->waits = key >= 0 ? s->start[key] : 0;
	memset(s->numbers, 0, (size_t) r->width * sizeof(double) * 2);
	for (int32_t i = 0; i < r->states; i++)
	{
		s->state[i].count = 0;
		s->state[i].weight = s->state[i].quick = 0.0;
	}
}

bool
gp_scan_wants(const gp_scan *s, int32_t key)
{
	return key >= 0 && key < s->nkeys && s->start[key] < s->start[key + 1];
}

/* ---- what a row gets ---- */

/* 2^-(so many half-lives); from what is visible always, nothing is left. */
static double
halved(const gp_relation *r, gp_time from, gp_time to)
{
	return from == to ? 1.0 : exp2(-((double) to - (double) from) / r->a.half_life);
}

/* The sums of the last facts, or of their squares; returns their number. */
static double
sum_of_last(const gp_relation *r, const running *s, bool squares, double *out)
{
	int32_t		last = r->a.last;
	int64_t		most = gp_min64(s->count, last);
	int64_t		wanted = most;

	memset(out, 0, r->each * sizeof(double));
	for (int32_t k = 0; k < last && wanted > 0; k++)
	{
		const tie  *g = &s->tie[(s->newest - k + last) % last];
		const double *sum = squares ? g->square : g->sum;
		int64_t		taken = gp_min64(wanted, g->count);

		for (int32_t c = 0; c < r->each; c++)
			out[c] += sum[c] * ((double) taken / (double) g->count);
		wanted -= taken;
	}
	return (double) most;
}

/* Counts and ages; of what has no time the ages are unknown. */
static void
counts_and_ages(const gp_relation *r, const running *s, gp_time t, double *out)
{
	bool		timed = s->count > 0 && s->first != GP_TIME_ALWAYS && t != GP_TIME_NEVER;
	double		left = s->count > 0 ? halved(r, s->last, t) * s->weight : 0.0;

	out[0] = log1p((double) s->count);
	out[1] = log1p(left);
	out[2] = timed ? log1p((double) (t - s->last) / GP_TIME_DAY) : NAN;
	out[3] = timed ? log1p((double) (t - s->first) / GP_TIME_DAY) : NAN;
	out[4] = s->count == 0;
}

/* A sum over so much. */
static void
divide(int32_t width, const double *sum, double by, double *out)
{
	for (int32_t c = 0; c < width; c++)
		out[c] = by > 0.0 ? sum[c] / by : 0.0;
}

/* How many facts are new, for how many there usually are. */
static double
pace(const gp_relation *r, const running *s, gp_time t)
{
	double		left = s->count > 0 ? halved(r, s->last, t) : 0.0;

	return log((QUICK * pow(left, QUICK) * s->quick + 1.0) / (left * s->weight + 1.0));
}

/* The last fact less the mean of the last ones. */
static void
change(const gp_relation *r, const running *s, double *out)
{
	const tie  *newest = &s->tie[s->newest];
	double		n = sum_of_last(r, s, false, out);

	for (int32_t c = 0; c < r->each && n > 0.0; c++)
		out[c] = newest->sum[c] / (double) newest->count - out[c] / n;
}

/* The deviation of the last facts, which shrinks to that of all. */
static void
spread(const gp_relation *r, const running *s, double *sum, double *out)
{
	double		n = sum_of_last(r, s, false, sum);
	double		whole = fmax(n + r->a.pseudo, 1.0);

	sum_of_last(r, s, true, out);
	for (int32_t c = 0; c < r->each; c++)
		out[c] = sqrt(fmax(out[c] - sum[c] * sum[c] / fmax(n, 1.0) + r->a.pseudo, 0.0) / whole);
}

/* Writes an aggregate of a state. */
static void
put_aggregate(const gp_relation *r, const running *s, gp_facts_aggregate which, gp_time t,
			  double *out)
{
	if (which == GP_FACTS_HALF_LIFE)
		divide(r->each, s->decayed, s->weight + r->a.pseudo, out);
	else if (which == GP_FACTS_LAST)
		divide(r->each, out, sum_of_last(r, s, false, out) + r->a.pseudo, out);
	else if (which == GP_FACTS_MEAN)
		divide(r->each, s->sum, (double) s->count + r->a.pseudo, out);
	else if (which == GP_FACTS_SUM)
		divide(r->each, s->sum, s->count > 0, out);
	else if (which == GP_FACTS_PACE)
		out[0] = pace(r, s, t);
	else if (which == GP_FACTS_CHANGE)
		change(r, s, out);
	else if (which == GP_FACTS_SPREAD)
		spread(r, s, out + r->each, out);
	else
		counts_and_ages(r, s, t, out);
}

/* Writes the states to a row, aggregate by aggregate, in the order in which their groups stand. */
static void
write_row(gp_scan *s, const keyed_time *w)
{
	const gp_relation *r = s->relation;
	float	   *to = gp_task_columns_row(s->columns, w->row) + r->first;

	for (uint32_t which = GP_FACTS_HALF_LIFE; which <= GP_FACTS_SPREAD; which *= 2)
		for (int32_t i = 0; i < r->states && (r->a.which & which); i++)
		{
			int32_t		columns = gp_aggregate_width(which, r->each);

			put_aggregate(r, &s->state[i], which, w->time, s->out);
			for (int32_t c = 0; c < columns; c++)
				*to++ = (float) s->out[c];
		}
}

/* Writes the rows of the key that do not see facts from a time on. */
static void
write_until(gp_scan *s, gp_time visible)
{
	while (s->key >= 0 && s->waits < s->start[s->key + 1] &&
		   (visible == GP_TIME_NEVER || s->row[s->waits].time <= visible))
	{
		s->looked += s->relation->width + 1;
		gp_poll(s->columns->env, s->looked, &s->next_poll);
		write_row(s, &s->row[s->waits++]);
	}
}

/* Writes to every row what a row without facts gets. */
static void
write_empty(gp_scan *s)
{
	GP_EACH(s->columns->env, i, s->columns->rows, i * (s->relation->width + 1))
	{
		keyed_time w = {-1, s->relation->as_of[i], i};

		write_row(s, &w);
	}
}

gp_scan *
gp_scan_open(gp_task_columns *columns, int32_t relation, const int32_t *key)
{
	gp_env	   *env = columns->env;
	gp_scan    *s = gp_alloc_zero(env, 1, sizeof(gp_scan));
	const gp_relation *r = &columns->relation[relation];
	int64_t		ties = (int64_t) r->states * r->a.last;
	double	   *sum;
	tie		   *tie;

	s->columns = columns;
	s->relation = r;
	sort_rows(s, key);
	s->numbers = sum = gp_alloc_zero(env, (int64_t) r->width * (2 + 2 * r->a.last), sizeof(double));
	s->tie = tie = gp_alloc_zero(env, ties, sizeof(*tie));
	s->state = gp_alloc_zero(env, r->states, sizeof(running));
	s->out = gp_alloc_array(env, 2 * r->each + GP_META_COLUMNS, sizeof(double));
	for (int32_t i = 0; i < r->states; i++, sum += r->each, tie += r->a.last)
		s->state[i] = (running) {.decayed = sum,.sum = sum + r->width,.tie = tie};
	for (int64_t k = 0; k < ties; k++)
	{
		s->tie[k].sum = s->numbers + 2 * (r->width + k * r->each);
		s->tie[k].square = s->tie[k].sum + r->each;
	}
	begin_key(s, -1);
	write_empty(s);
	return s;
}

/* ---- facts ---- */

/* Adds the numbers of a fact that a state is of. */
static void
add_to_state(const gp_relation *r, running *s, gp_time visible, const double *value)
{
	bool		is_first = s->count == 0;
	double		left = is_first ? 0.0 : halved(r, s->last, visible);
	tie		   *g;

	/* Another tie than the last fact's takes the place of the oldest. */
	if (is_first || visible != s->last)
	{
		s->newest = (s->newest + 1) % r->a.last;
		s->tie[s->newest].count = 0;
		memset(s->tie[s->newest].sum, 0, (size_t) r->each * sizeof(double) * 2);
	}
	g = &s->tie[s->newest];
	g->count++;
	for (int32_t c = 0; c < r->each; c++)
	{
		g->sum[c] += value[c];
		g->square[c] += value[c] * value[c];
		s->decayed[c] = s->decayed[c] * left + value[c];
		s->sum[c] += value[c];
	}
	s->weight = s->weight * left + 1.0;
	s->quick = s->quick * pow(left, QUICK) + 1.0;
	s->first = is_first ? visible : s->first;
	s->last = visible;
	s->count++;
}

void
gp_scan_fact(gp_scan *s, int32_t key, gp_time visible, const double *value)
{
	const gp_relation *r = s->relation;

	s->looked += r->width + 1;
	gp_poll(s->columns->env, s->looked, &s->next_poll);
	if (visible == GP_TIME_NEVER || !gp_scan_wants(s, key))
		return;
	if (key != s->key)
	{
		write_until(s, GP_TIME_NEVER);
		begin_key(s, key);
		s->last = visible;
	}
	if (visible < s->last)
		gp_raise(s->columns->env, GP_ERR_INTERNAL, NULL, "facts are not in order of time");
	s->last = visible;
	write_until(s, visible);
	for (int32_t i = 0; i < r->states; i++)
		if (!r->a.apart || !isnan(value[i]))
			add_to_state(r, &s->state[i], visible, value + i * r->each);
}

void
gp_scan_close(gp_scan *s)
{
	gp_env	   *env = s->columns->env;

	write_until(s, GP_TIME_NEVER);
	gp_free_all(env, s->row, s->start, s->numbers, s->tie, s->state, s->out, s);
}

/* ---- the half-life of what has no horizon ---- */

double
gp_facts_median_gap(gp_env *env, int64_t n, const int32_t *key, const gp_time *time)
{
	int64_t		known;
	keyed_time *t = by_key_and_time(env, n, key, time, &known);
	double	   *gap = gp_alloc_array(env, n, sizeof(double));
	int64_t		gaps = 0;
	double		median;

	for (int64_t i = 1; i < known; i++)
		if (t[i].key == t[i - 1].key && t[i].time > t[i - 1].time &&
			t[i - 1].time != GP_TIME_ALWAYS && t[i].time != GP_TIME_NEVER)
			gap[gaps++] = (double) t[i].time - (double) t[i - 1].time;
	gp_sort(env, gap, gaps, sizeof(double), gp_compare_double, NULL);
	/* Some multiples of it are times. */
	median = gaps > 0 ? fmin(gap[gaps / 2], 1e18) : 0.0;
	gp_free(env, t);
	gp_free(env, gap);
	return median;
}
