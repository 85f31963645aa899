/*
 * aggregates.c - the aggregates of facts: the running state of one key, and what a row gets of it.
 *
 * Weights of a half-life are relative to the last fact, so that means do not change while nothing
 * happens.  Facts of one time tie: the last few facts are the last ties, the earliest of them by
 * its share.
 */
#include "facts_internal.h"

#define QUICK 4.0				/* times as fast is what is new forgotten */

/* 2^-(so many half-lives); from what is visible always, nothing is left. */
static double
halved(const gp_aggregated *a, gp_time from, gp_time to)
{
	return from == to ? 1.0 : exp2(-((double) to - (double) from) / a->asked.half_life);
}

/* The sums of the last facts, or of their squares; returns their number. */
static double
sum_of_last(const gp_aggregated *a, const gp_running *s, bool squares, double *out)
{
	int32_t		last = a->asked.last;
	int64_t		most = gp_min64(s->count, last);
	int64_t		wanted = most;

	memset(out, 0, a->each * sizeof(double));
	for (int32_t k = 0; k < last && wanted > 0; k++)
	{
		const gp_tie *g = &s->tie[(s->newest - k + last) % last];
		const double *sum = squares ? g->square : g->sum;
		int64_t		taken = gp_min64(wanted, g->count);

		for (int32_t c = 0; c < a->each; c++)
			out[c] += sum[c] * ((double) taken / (double) g->count);
		wanted -= taken;
	}
	return (double) most;
}

/* A sum over so much. */
static void
divide(int32_t width, const double *sum, double by, double *out)
{
	for (int32_t c = 0; c < width; c++)
		out[c] = by > 0.0 ? sum[c] / by : 0.0;
}

static void
half_life_mean(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	divide(a->each, s->decayed, s->weight + a->asked.pseudo, out);
}

static void
last_mean(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	divide(a->each, out, sum_of_last(a, s, false, out) + a->asked.pseudo, out);
}

static void
mean(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	divide(a->each, s->sum, (double) s->count + a->asked.pseudo, out);
}

static void
sum(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	divide(a->each, s->sum, s->count > 0, out);
}

static void
count(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	out[0] = log1p((double) s->count);
}

/* How many facts are new, for how many there usually are. */
static void
pace(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	double		left = s->count > 0 ? halved(a, s->last, t) : 0.0;

	out[0] = log((QUICK * pow(left, QUICK) * s->quick + 1.0) / (left * s->weight + 1.0));
}

/* The last fact less the mean of the last ones. */
static void
change(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	const gp_tie *newest = &s->tie[s->newest];
	double		n = sum_of_last(a, s, false, out);

	for (int32_t c = 0; c < a->each && n > 0.0; c++)
		out[c] = newest->sum[c] / (double) newest->count - out[c] / n;
}

/* The deviation of the last facts, which shrinks to that of all. */
static void
spread(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	double	   *sum = out + a->each;
	double		n = sum_of_last(a, s, false, sum);
	double		whole = fmax(n + a->asked.pseudo, 1.0);

	sum_of_last(a, s, true, out);
	for (int32_t c = 0; c < a->each; c++)
		out[c] = sqrt(fmax(out[c] - sum[c] * sum[c] / fmax(n, 1.0) + a->asked.pseudo, 0.0) / whole);
}

/* Amounts of long and of late, as of the time: while nothing happens they become less. */
static void
decayed_sum(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	double		left = s->count > 0 ? halved(a, s->last, t) : 0.0;

	out[0] = log1p(left * s->decayed[0]);
	out[1] = log1p(pow(left, QUICK) * s->lately);
}

/* Counts and ages; of what has no time the ages are unknown. */
static void
counts_and_ages(const gp_aggregated *a, const gp_running *s, gp_time t, double *out)
{
	bool		timed = s->count > 0 && s->first != GP_TIME_ALWAYS && t != GP_TIME_NEVER;
	double		left = s->count > 0 ? halved(a, s->last, t) * s->weight : 0.0;

	out[0] = log1p((double) s->count);
	out[1] = log1p(left);
	out[2] = timed ? log1p((double) (t - s->last) / GP_TIME_DAY) : NAN;
	out[3] = timed ? log1p((double) (t - s->first) / GP_TIME_DAY) : NAN;
	out[4] = s->count == 0;
}

/* In the order in which their groups stand. */
const gp_aggregate gp_aggregate_table[GP_AGGREGATES] = {
	{GP_FACTS_HALF_LIFE, "half-life", 0, half_life_mean},
	{GP_FACTS_LAST, "last", 0, last_mean},
	{GP_FACTS_PACE, "pace", 1, pace},
	{GP_FACTS_META, "count and age", GP_META_COLUMNS, counts_and_ages},
	{GP_FACTS_MEAN, "mean", 0, mean},
	{GP_FACTS_SUM, "sum", 0, sum},
	{GP_FACTS_COUNT, "count", 1, count},
	{GP_FACTS_CHANGE, "change", 0, change},
	{GP_FACTS_SPREAD, "spread", 0, spread},
	{GP_FACTS_DECAYED, "decayed sum", 2, decayed_sum}
};

void
gp_running_add(const gp_aggregated *a, gp_running *s, gp_time visible, const double *value)
{
	bool		is_first = s->count == 0;
	double		left = is_first ? 0.0 : halved(a, s->last, visible);
	double		quick = pow(left, QUICK);

	/* Another tie than the last fact's takes the place of the oldest. */
	if (is_first || visible != s->last)
	{
		s->newest = (s->newest + 1) % a->asked.last;
		s->tie[s->newest].count = 0;
		memset(s->tie[s->newest].sum, 0, (size_t) a->each * sizeof(double) * 2);
	}
	gp_tie	   *g = &s->tie[s->newest];
	g->count++;
	for (int32_t c = 0; c < a->each; c++)
	{
		g->sum[c] += value[c];
		g->square[c] += value[c] * value[c];
		s->decayed[c] = s->decayed[c] * left + value[c];
		s->sum[c] += value[c];
	}
	s->weight = s->weight * left + 1.0;
	s->quick = s->quick * quick + 1.0;
	s->lately = a->asked.apart ? s->lately * quick + value[0] : 0.0;
	s->first = is_first ? visible : s->first;
	s->last = visible;
	s->count++;
}
