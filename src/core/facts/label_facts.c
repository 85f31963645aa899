/*
 * label_facts.c - the labels of a task as facts: what was the answer before.
 */
#include "facts_internal.h"

#include "base/sort.h"

/* The mean and deviation of values. */
static void
measure_values(const gp_facts_labels *labels, gp_facts_target *target)
{
	double		square = 0.0;
	double		n = 0.0;

	for (int64_t i = 0; i < labels->n; i++)
	{
		double		far = labels->target[i] - target->mean[0];

		/* Welford's update */
		target->mean[0] += far / ++n;
		square += far * (labels->target[i] - target->mean[0]);
	}
	target->deviation[0] = n > 0.0 ? sqrt(square / n) : 0.0;
}

static int32_t
class_of_column(const gp_facts_target *target, int32_t column)
{
	return target->width == 1 ? 1 : column;
}

gp_facts_target
gp_facts_target_of(gp_env *env, const gp_facts_labels *labels)
{
	gp_facts_target target = {.width = 1,.nclasses = labels->nclasses};
	double		n = (double) labels->n;

	if (labels->label == NULL)
	{
		measure_values(labels, &target);
		return target;
	}
	if (labels->nclasses > 2)
		target.width = (int32_t) gp_min64(labels->nclasses, GP_ENCODED_HOT);
	GP_EACH(env, i, labels->n, i)
		for (int32_t c = 0; c < target.width; c++)
			target.mean[c] += labels->label[i] == class_of_column(&target, c);
	for (int32_t c = 0; c < target.width; c++)
	{
		target.mean[c] = n > 0.0 ? target.mean[c] / n : 0.0;
		target.deviation[c] = gp_indicator_deviation(target.mean[c]);
	}
	return target;
}

static void
label_numbers(const gp_facts_target *target, const gp_facts_labels *labels, int64_t i, double *out)
{
	for (int32_t c = 0; c < target->width; c++)
	{
		double		y = labels->label ? labels->label[i] == class_of_column(target, c) :
			labels->target[i];

		out[c] = target->deviation[c] > 0.0 ? (y - target->mean[c]) / target->deviation[c] : 0.0;
	}
}

/*
 * When a label of this time is known, for a scan, whose rows see what is visible strictly before:
 * a tick before as_of + horizon, so that a row of just then sees it; but no row sees its own.
 */
static gp_time
known_from(gp_time as_of, gp_time horizon)
{
	if (as_of == GP_TIME_ALWAYS || as_of == GP_TIME_NEVER || as_of > GP_TIME_NEVER - horizon)
		return GP_TIME_NEVER;
	return as_of + gp_max64(horizon, 1) - 1;
}

void
gp_scan_labels(gp_task_columns *columns, int32_t facts, const int32_t *key,
			   const gp_facts_target *target, const gp_facts_labels *labels)
{
	gp_env	   *env = columns->env;
	int32_t    *everybody = key ? NULL : gp_alloc_zero(env, columns->rows, sizeof(int32_t));
	gp_timed   *sorted = key || labels->by_time ? NULL : gp_by_time(env, labels->n, labels->as_of);
	const gp_timed *order = sorted ? sorted : labels->by_time;
	gp_scan    *scan = gp_scan_open(columns, facts, key ? key : everybody);

	GP_EACH(env, i, labels->n, i)
	{
		int64_t		at = key ? i : order[i].row;
		double		value[GP_ENCODED_HOT];

		/* Of many labels a live answer needs those of few entities. */
		if (key && !gp_scan_wants(scan, labels->entity[at]))
			continue;
		label_numbers(target, labels, at, value);
		gp_scan_fact(scan, key ? labels->entity[at] : 0,
					 known_from(labels->as_of[at], labels->horizon), value);
	}
	gp_scan_close(scan);
	gp_free_all(env, everybody, sorted);
}

/* The labels of entities by their keys, in order of key and time; *known counts them. */
static gp_keyed_time *
labels_by_key(gp_env *env, const gp_facts_labels *labels, int64_t n, const gp_answering *answering,
			  int64_t *known)
{
	int32_t		entities = labels->n > 0 ? labels->entity[labels->n - 1] + 1 : 0;
	int64_t    *start = gp_alloc_zero(env, (int64_t) entities + 1, sizeof(int64_t));

	for (int64_t i = 0; i < labels->n; i++)
		start[labels->entity[i] + 1]++;
	gp_offsets_of_counts(start, entities);
	*known = 0;
	for (int64_t i = 0; i < n; i++)
		if (answering[i].entity >= 0 && answering[i].entity < entities)
			*known += start[answering[i].entity + 1] - start[answering[i].entity];
	gp_keyed_time *answer = gp_alloc_array(env, *known, sizeof(gp_keyed_time));
	*known = 0;
	GP_EACH(env, i, n, i)
	{
		const gp_answering *a = &answering[i];

		if (a->entity < 0 || a->entity >= entities)
			continue;
		for (int64_t k = start[a->entity]; k < start[a->entity + 1]; k++)
			answer[(*known)++] = (gp_keyed_time) {a->key,
				gp_max64(a->from, known_from(labels->as_of[k], labels->horizon)), k};
	}
	gp_free(env, start);
	gp_sort_keyed(env, answer, *known);
	return answer;
}

void
gp_scan_answers(gp_task_columns *columns, int32_t facts, const int32_t *key,
				const gp_facts_target *target, const gp_facts_labels *labels, int64_t n,
				const gp_answering *answering)
{
	gp_env	   *env = columns->env;
	int64_t		known;
	gp_keyed_time *answer = labels_by_key(env, labels, n, answering, &known);
	gp_scan    *scan = gp_scan_open(columns, facts, key);

	GP_EACH(env, i, known, i)
	{
		double		value[GP_ENCODED_HOT];

		label_numbers(target, labels, answer[i].row, value);
		gp_scan_fact(scan, answer[i].key, answer[i].time, value);
	}
	gp_scan_close(scan);
	gp_free(env, answer);
}

/* ---- whether labels reach the rows that are asked for ---- */

#define FRESH 0.99				/* of the rows that train have labels as fresh as this */

/* How long before a time the newest label was given that is known then; INFINITY: none is. */
static double
age_of_newest(const gp_timed *label, int64_t n, gp_time horizon, gp_time as_of)
{
	int64_t		low = 0;

	GP_BISECT(low, n, at, known_from(label[at].as_of, horizon) < as_of);
	return low > 0 ? (double) as_of - (double) label[low - 1].as_of : INFINITY;
}

gp_facts_freshness
gp_facts_labels_freshness(gp_env *env, const gp_facts_labels *labels, int64_t rows,
						  const gp_time *as_of, const bool *trains, gp_time newest)
{
	gp_timed   *ordered = gp_by_time(env, labels->n, labels->as_of);
	double	   *age = gp_alloc_array(env, rows, sizeof(double));
	int32_t    *everybody = gp_alloc_zero(env, labels->n, sizeof(int32_t));
	int64_t		known = 0;
	int64_t		others = 0;
	int64_t		fresh = 0;
	int64_t		late = 0;		/* behind the facts */
	double		usual = 0.0;

	GP_EACH(env, i, rows, i)
	{
		double		a = trains[i] ? age_of_newest(ordered, labels->n, labels->horizon, as_of[i]) :
			INFINITY;

		if (isfinite(a))
			age[known++] = a;
	}
	gp_sort(env, age, known, sizeof(double), gp_compare_double, NULL);
	if (known > 0)
		usual = age[(int64_t) (FRESH * (double) (known - 1))];
	/* Between two times of labels, such as those of each month, the newest is up to a gap older. */
	double		gap = gp_facts_median_gap(env, labels->n, everybody, labels->as_of);
	GP_EACH(env, k, rows, k)
	{
		if (trains[k])
			continue;
		others++;
		if (age_of_newest(ordered, labels->n, labels->horizon, as_of[k]) <= usual + gap)
			fresh++;
		else if ((double) as_of[k] - (double) newest > usual)
			late++;
	}
	gp_free_all(env, ordered, age, everybody);
	return 2 * fresh >= others ? GP_FACTS_FRESH :
		2 * (fresh + late) >= others ? GP_FACTS_OLD_AS_FACTS : GP_FACTS_OLD;
}
