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

/* A row of the task, in the order in which facts meet it. */
typedef struct waiting
{
	int32_t		key;
	gp_time		as_of;
	int64_t		row;
} waiting;

/* Facts of one time. */
typedef struct tie
{
	int64_t		count;
	double	   *sum;			/* width */
} tie;

struct gp_scan
{
	gp_task_columns *columns;
	const gp_relation *relation;
	int64_t		n;				/* rows with a key */
	waiting    *row;
	int32_t		nkeys;
	int64_t    *start;			/* rows of each key; nkeys + 1 */
	int64_t		looked;			/* work, for interrupts */
	int64_t		next_poll;

	/* The state of one key. */
	int32_t		key;			/* -1: none yet */
	int64_t		waits;			/* the first of its rows that is not written */
	int64_t		count;
	gp_time		first;
	gp_time		last;
	double		weight;			/* of all facts, halved by half-lives */
	double	   *decayed;		/* their sums; what follows has their width, too */
	double	   *sum;
	double	   *most;
	tie		   *tie;			/* a ring of as many as facts are asked for, */
	int32_t		newest;			/* and its last */
	double	   *out;
};

/* By key, then time. */
static int
compare_waiting(const void *a, const void *b, void *unused)
{
	const waiting *x = a;
	const waiting *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) :
		(x->as_of > y->as_of) - (x->as_of < y->as_of);
}

/* Sorts the rows that have a key, and notes where those of each begin. */
static void
sort_rows(gp_scan *s, const int32_t *key)
{
	gp_env	   *env = s->columns->env;

	s->row = gp_alloc_array(env, s->columns->rows, sizeof(waiting));
	for (int64_t i = 0; i < s->columns->rows; i++)
		if (key[i] >= 0)
		{
			s->row[s->n++] = (waiting) {key[i], s->relation->as_of[i], i};
			s->nkeys = key[i] >= s->nkeys ? key[i] + 1 : s->nkeys;
		}
	gp_sort(env, s->row, s->n, sizeof(waiting), compare_waiting, NULL);
	s->start = gp_alloc_zero(env, (int64_t) s->nkeys + 1, sizeof(int64_t));
	for (int64_t i = 0; i < s->n; i++)
		s->start[s->row[i].key + 1]++;
	for (int32_t k = 0; k < s->nkeys; k++)
		s->start[k + 1] += s->start[k];
}

/* Forgets the facts of the key before. */
static void
begin_key(gp_scan *s, int32_t key)
{
	int32_t		width = s->relation->width;

	s->key = key;
	s->waits = key >= 0 ? s->start[key] : 0;
	s->count = 0;
	s->weight = 0.0;
	s->newest = 0;
	memset(s->decayed, 0, width * sizeof(double));
	memset(s->sum, 0, width * sizeof(double));
	for (int32_t k = 0; k < s->relation->a.last; k++)
		s->tie[k].count = 0;
}

bool
gp_scan_wants(const gp_scan *s, int32_t key)
{
	return key >= 0 && key < s->nkeys && s->start[key] < s->start[key + 1];
}

/* ---- what a row gets ---- */

/* 2^-(so many half-lives); from what is visible always, nothing is left. */
static double
halved(const gp_scan *s, gp_time from, gp_time to)
{
	return from == to ? 1.0 : exp2(-((double) to - (double) from) / s->relation->a.half_life);
}

/* The mean of the last facts. */
static void
mean_of_last(gp_scan *s, double *out)
{
	int32_t		width = s->relation->width;
	int32_t		last = s->relation->a.last;
	int64_t		wanted = gp_min64(s->count, last);
	double		whole = (double) wanted + s->relation->a.pseudo;

	memset(out, 0, width * sizeof(double));
	for (int32_t k = 0; k < last && wanted > 0; k++)
	{
		const tie  *g = &s->tie[(s->newest - k + last) % last];
		int64_t		taken = gp_min64(wanted, g->count);

		for (int32_t c = 0; c < width; c++)
			out[c] += g->sum[c] * ((double) taken / (double) g->count) / whole;
		wanted -= taken;
	}
}

/* Counts and ages; of what has no time the ages are unknown. */
static void
counts_and_ages(const gp_scan *s, gp_time t, double *out)
{
	bool		timed = s->count > 0 && s->first != GP_TIME_ALWAYS && t != GP_TIME_NEVER;
	double		left = s->count > 0 ? halved(s, s->last, t) * s->weight : 0.0;

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

/* Writes the state to a row, aggregate by aggregate, in the order in which their groups stand. */
static void
write_row(gp_scan *s, const waiting *w)
{
	const gp_aggregates *a = &s->relation->a;
	int32_t		width = s->relation->width;
	float	   *to = gp_task_columns_row(s->columns, w->row) + s->relation->first;

	for (uint32_t which = GP_FACTS_HALF_LIFE; which <= GP_FACTS_COUNT; which *= 2)
	{
		double		meta[GP_META_COLUMNS];
		const double *from = which == GP_FACTS_META || which == GP_FACTS_COUNT ? meta : s->out;
		int32_t		columns = gp_aggregate_width(which, width);

		if (!(a->which & which))
			continue;
		if (which == GP_FACTS_HALF_LIFE)
			divide(width, s->decayed, s->weight + a->pseudo, s->out);
		else if (which == GP_FACTS_LAST)
			mean_of_last(s, s->out);
		else if (which == GP_FACTS_META || which == GP_FACTS_COUNT)
			counts_and_ages(s, w->as_of, meta);
		else if (which == GP_FACTS_MEAN)
			divide(width, s->sum, (double) s->count + a->pseudo, s->out);
		else
			divide(width, which == GP_FACTS_SUM ? s->sum : s->most, s->count > 0, s->out);
		for (int32_t c = 0; c < columns; c++)
			to[c] = (float) from[c];
		to += columns;
	}
}

/* Writes the rows of the key that do not see facts from a time on. */
static void
write_until(gp_scan *s, gp_time visible)
{
	while (s->key >= 0 && s->waits < s->start[s->key + 1] &&
		   (visible == GP_TIME_NEVER || s->row[s->waits].as_of <= visible))
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
		waiting		w = {-1, s->relation->as_of[i], i};

		write_row(s, &w);
	}
}

gp_scan *
gp_scan_open(gp_task_columns *columns, int32_t relation, const int32_t *key)
{
	gp_env	   *env = columns->env;
	gp_scan    *s = gp_alloc_zero(env, 1, sizeof(gp_scan));
	int32_t		width = columns->relation[relation].width;
	int32_t		last = columns->relation[relation].a.last;
	double	   *room = gp_alloc_zero(env, (int64_t) width * (4 + last) + 1, sizeof(double));

	s->columns = columns;
	s->relation = &columns->relation[relation];
	sort_rows(s, key);
	s->decayed = room;
	s->sum = room + width;
	s->most = room + 2 * width;
	s->out = room + 3 * width;
	s->tie = gp_alloc_array(env, last, sizeof(tie));
	for (int32_t k = 0; k < last; k++)
		s->tie[k].sum = room + (4 + k) * width;
	begin_key(s, -1);
	write_empty(s);
	return s;
}

/* ---- facts ---- */

/* Adds a fact to its tie: that of the last fact, or one that takes the place of the oldest. */
static void
add_to_tie(gp_scan *s, gp_time visible, const double *value)
{
	int32_t		width = s->relation->width;
	tie		   *g;

	if (s->count > 0 && visible != s->last)
	{
		s->newest = (s->newest + 1) % s->relation->a.last;
		s->tie[s->newest].count = 0;
	}
	g = &s->tie[s->newest];
	if (g->count++ == 0)
		memset(g->sum, 0, width * sizeof(double));
	for (int32_t c = 0; c < width; c++)
		g->sum[c] += value[c];
}

void
gp_scan_fact(gp_scan *s, int32_t key, gp_time visible, const double *value)
{
	int32_t		width = s->relation->width;
	double		left;

	s->looked += width + 1;
	gp_poll(s->columns->env, s->looked, &s->next_poll);
	if (visible == GP_TIME_NEVER || !gp_scan_wants(s, key))
		return;
	if (key != s->key)
	{
		write_until(s, GP_TIME_NEVER);
		begin_key(s, key);
	}
	if (s->count > 0 && visible < s->last)
		gp_raise(s->columns->env, GP_ERR_INTERNAL, NULL, "facts are not in order of time");
	write_until(s, visible);
	left = s->count > 0 ? halved(s, s->last, visible) : 0.0;
	add_to_tie(s, visible, value);
	for (int32_t c = 0; c < width; c++)
	{
		s->decayed[c] = s->decayed[c] * left + value[c];
		s->sum[c] += value[c];
		s->most[c] = s->count == 0 ? value[c] : fmax(s->most[c], value[c]);
	}
	s->weight = s->weight * left + 1.0;
	s->first = s->count == 0 ? visible : s->first;
	s->last = visible;
	s->count++;
}

void
gp_scan_close(gp_scan *s)
{
	gp_env	   *env = s->columns->env;

	write_until(s, GP_TIME_NEVER);
	gp_free(env, s->row);
	gp_free(env, s->start);
	gp_free(env, s->decayed);
	gp_free(env, s->tie);
	gp_free(env, s);
}
