/*
 * scan.c - the aggregates of facts as of the time of each row: one pass over the facts.
 *
 * A running state of one key is kept while its facts go by in order of time, and is written to a
 * row of the task when the first fact comes that the row does not see.
 */
#include "facts_internal.h"

#include "base/sort.h"

struct gp_scan
{
	gp_task_columns *columns;
	const gp_aggregated *aggregated;
	int64_t		n;				/* rows with a key */
	gp_keyed_time *row;
	int32_t		nkeys;
	int64_t    *start;			/* rows of each key; nkeys + 1 */
	int64_t		looked;			/* work, for interrupts */
	int64_t		next_poll;

	int32_t		key;			/* -1: none yet */
	int64_t		waits;			/* the first of its rows that is not written */
	gp_time		last;			/* of its facts */
	int64_t		later;			/* facts that came after all rows of their keys */
	gp_running *state;			/* those of the aggregated facts */
	double	   *numbers;		/* all that they point to, first what decayed and sum do */
	gp_tie	   *tie;			/* all of theirs */
	double	   *out;			/* an aggregate of one */
};

static int
compare_keyed(const void *a, const void *b, void *unused)
{
	const gp_keyed_time *x = a;
	const gp_keyed_time *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) :
		x->time != y->time ? (x->time > y->time) - (x->time < y->time) :
		(x->row > y->row) - (x->row < y->row);
}

void
gp_sort_keyed(gp_env *env, gp_keyed_time *t, int64_t n)
{
	gp_sort(env, t, n, sizeof(gp_keyed_time), compare_keyed, NULL);
}

/* The rows that have a key, by key and then time; *n counts them. */
static gp_keyed_time *
by_key_and_time(gp_env *env, int64_t rows, const int32_t *key, const gp_time *time, int64_t *n)
{
	gp_keyed_time *t = gp_alloc_array(env, rows, sizeof(gp_keyed_time));

	*n = 0;
	for (int64_t i = 0; i < rows; i++)
		if (key[i] >= 0)
			t[(*n)++] = (gp_keyed_time) {key[i], time[i], i};
	gp_sort_keyed(env, t, *n);
	return t;
}

/* Forgets the facts of the key before. */
static void
begin_key(gp_scan *s, int32_t key)
{
	const gp_aggregated *a = s->aggregated;

	s->key = key;
	s->waits = key >= 0 ? s->start[key] : 0;
	memset(s->numbers, 0, (size_t) a->width * sizeof(double) * 2);
	for (int32_t i = 0; i < a->states; i++)
	{
		s->state[i].count = 0;
		s->state[i].weight = s->state[i].quick = s->state[i].lately = 0.0;
	}
}

bool
gp_scan_wants(const gp_scan *s, int32_t key)
{
	return key >= 0 && key < s->nkeys && s->start[key] < s->start[key + 1];
}

/* Writes the states to a row, aggregate by aggregate. */
static void
write_row(gp_scan *s, const gp_keyed_time *w)
{
	const gp_aggregated *a = s->aggregated;
	float	   *to = gp_task_columns_row(s->columns, w->row) + a->first;

	for (int k = 0; k < GP_AGGREGATES; k++)
		for (int32_t i = 0; i < a->states && (a->asked.which & gp_aggregate_table[k].which); i++)
		{
			int32_t		columns = gp_aggregate_width(&gp_aggregate_table[k], a->each);

			gp_aggregate_table[k].put(a, &s->state[i], w->time, s->out);
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
		s->looked += s->aggregated->width + 1;
		gp_poll(s->columns->env, s->looked, &s->next_poll);
		write_row(s, &s->row[s->waits++]);
	}
}

gp_scan *
gp_scan_open(gp_task_columns *columns, int32_t facts, const int32_t *key)
{
	gp_env	   *env = columns->env;
	gp_scan    *s = gp_alloc_zero(env, 1, sizeof(gp_scan));
	const gp_aggregated *a = &columns->aggregated[facts];
	int64_t		ties = (int64_t) a->states * a->asked.last;
	double	   *sum;
	gp_tie	   *tie;

	s->columns = columns;
	s->aggregated = a;
	s->row = by_key_and_time(env, columns->rows, key, a->as_of, &s->n);
	s->nkeys = s->n > 0 ? s->row[s->n - 1].key + 1 : 0;
	s->start = gp_alloc_zero(env, (int64_t) s->nkeys + 1, sizeof(int64_t));
	for (int64_t i = 0; i < s->n; i++)
		s->start[s->row[i].key + 1]++;
	gp_offsets_of_counts(s->start, s->nkeys);
	s->numbers = sum = gp_alloc_zero(env, (int64_t) a->width * (2 + 2 * a->asked.last),
									 sizeof(double));
	s->tie = tie = gp_alloc_zero(env, ties, sizeof(*tie));
	s->state = gp_alloc_zero(env, a->states, sizeof(gp_running));
	s->out = gp_alloc_array(env, 2 * a->each + GP_META_COLUMNS, sizeof(double));
	for (int32_t i = 0; i < a->states; i++, sum += a->each, tie += a->asked.last)
		s->state[i] = (gp_running) {.decayed = sum,.sum = sum + a->width,.tie = tie};
	for (int64_t k = 0; k < ties; k++)
	{
		s->tie[k].sum = s->numbers + 2 * (a->width + k * a->each);
		s->tie[k].square = s->tie[k].sum + a->each;
	}
	begin_key(s, -1);
	/* Every row gets what a row without facts gets. */
	GP_EACH(env, i, columns->rows, i * (a->width + 1))
	{
		gp_keyed_time w = {-1, a->as_of[i], i};

		write_row(s, &w);
	}
	return s;
}

void
gp_scan_fact(gp_scan *s, int32_t key, gp_time visible, const double *value)
{
	const gp_aggregated *a = s->aggregated;

	s->looked += a->width + 1;
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
	s->later += visible > s->row[s->start[key + 1] - 1].time;
	for (int32_t i = 0; i < a->states; i++)
		if (!a->asked.apart || !isnan(value[i]))
			gp_running_add(a, &s->state[i], visible, value + i * a->each);
}

int64_t
gp_scan_later(const gp_scan *s)
{
	return s->later;
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
	gp_keyed_time *t = by_key_and_time(env, n, key, time, &known);
	double	   *gap = gp_alloc_array(env, n, sizeof(double));
	int64_t		gaps = 0;

	for (int64_t i = 1; i < known; i++)
		if (t[i].key == t[i - 1].key && t[i].time > t[i - 1].time &&
			t[i - 1].time != GP_TIME_ALWAYS && t[i].time != GP_TIME_NEVER)
			gap[gaps++] = (double) t[i].time - (double) t[i - 1].time;
	gp_sort(env, gap, gaps, sizeof(double), gp_compare_double, NULL);
	/* Some multiples of it are times. */
	double		median = gaps > 0 ? fmin(gap[gaps / 2], 1e18) : 0.0;
	gp_free_all(env, t, gap);
	return median;
}
