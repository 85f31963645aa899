/*
 * column_scale.c - from columns to features: standardised over the rows that train, clipped,
 * weighted.
 */
#include "facts_internal.h"

#define CONSTANT 1e-6			/* a deviation relative to the mean that is rounding */
#define ALL_ALIKE 0.2			/* of the mean relevance: some columns tell only beside others */

/* The head of a loop over the rows that train. */
#define EACH_TRAINING(f, i, trains) \
	GP_EACH((f)->env, i, (f)->rows, i * (f)->width) \
		if ((trains) == NULL || (trains)[i])

/* A number of a row as a column makes it, before its weight. */
static double
standardise(const gp_facts_column *column, double x)
{
	if (column->deviation == 0.0)
		return 0.0;
	x = ((isnan(x) ? column->empty : x) - column->mean) / column->deviation;
	return fmin(fmax(x, -GP_FACTS_CLIP), GP_FACTS_CLIP);
}

/* Names the columns by their groups. */
static void
name_columns(const gp_task_columns *f, gp_facts_scale *s)
{
	s->relation = gp_alloc_zero(f->env, f->ngroups, GP_FACTS_NAME);
	s->aggregate = gp_alloc_zero(f->env, f->ngroups, GP_FACTS_NAME);
	for (int32_t b = 0; b < f->ngroups; b++)
	{
		memcpy(s->relation[b], f->group[b].relation, GP_FACTS_NAME);
		memcpy(s->aggregate[b], f->group[b].aggregate, GP_FACTS_NAME);
		for (int32_t c = 0; c < f->group[b].width; c++)
		{
			s->column[f->group[b].first + c].group = b;
			s->column[f->group[b].first + c].place = c;
			s->column[f->group[b].first + c].changes = f->group[b].changes;
			s->column[f->group[b].first + c].empty = -INFINITY;
		}
	}
}

/* The largest known age of each column, which rows without facts get. */
static void
find_empty(gp_task_columns *f, const bool *trains, gp_facts_scale *s)
{
	EACH_TRAINING(f, i, trains)
	{
		const float *row = gp_task_columns_row(f, i);

		for (int32_t c = 0; c < f->width; c++)
			if (row[c] > s->column[c].empty)
				s->column[c].empty = row[c];
	}
	for (int32_t c = 0; c < f->width; c++)
		if (!isfinite(s->column[c].empty))
			s->column[c].empty = 0.0;
}

/* Means, then deviations, then the mean squares of what is left after clipping. */
static void
measure_columns(gp_task_columns *f, const bool *trains, gp_facts_scale *s)
{
	double		n = 0.0;

	EACH_TRAINING(f, i, trains)
	{
		const float *row = gp_task_columns_row(f, i);

		n++;
		for (int32_t c = 0; c < f->width; c++)
			s->column[c].mean += isnan(row[c]) ? s->column[c].empty : row[c];
	}
	for (int32_t c = 0; c < f->width; c++)
		s->column[c].mean /= fmax(n, 1.0);
	EACH_TRAINING(f, k, trains)
	{
		const float *row = gp_task_columns_row(f, k);

		for (int32_t c = 0; c < f->width; c++)
		{
			double		far = (isnan(row[c]) ? s->column[c].empty : row[c]) - s->column[c].mean;

			s->column[c].deviation += far * far;
		}
	}
	for (int32_t c = 0; c < f->width; c++)
	{
		gp_facts_column *column = &s->column[c];

		column->deviation = sqrt(column->deviation / fmax(n, 1.0));
		if (!(column->deviation > CONSTANT * fabs(column->mean)) || !isfinite(column->deviation))
			column->deviation = 0.0;
		s->kept += column->deviation > 0.0;
	}
	EACH_TRAINING(f, j, trains)
	{
		const float *row = gp_task_columns_row(f, j);

		for (int32_t c = 0; c < f->width; c++)
			s->column[c].square += pow(standardise(&s->column[c], row[c]), 2.0) / n;
	}
}

void
gp_facts_weigh(gp_env *env, gp_facts_scale *s, gp_facts_weights weights, int32_t used)
{
	double	   *size = gp_alloc_zero(env, s->ngroups, sizeof(double));
	double		relevance = 0.0;
	double		counting = 0.0;
	double		whole = 0.0;

	for (int32_t c = 0; c < s->width; c++)
	{
		gp_facts_column *column = &s->column[c];
		bool		counts = column->deviation > 0.0 && c < used &&
			(weights == GP_FACTS_CHANGES || !column->changes);

		column->weight = counts;
		counting += counts;
		size[column->group] += counts;
		relevance += counts ? column->relevance : 0.0;
	}
	for (int32_t c = 0; c < s->width; c++)
	{
		gp_facts_column *column = &s->column[c];

		if (column->weight > 0.0 && weights != GP_FACTS_COLUMNS && relevance > 0.0)
			column->weight = sqrt((ALL_ALIKE + column->relevance * counting / relevance) /
								  size[column->group]);
		whole += column->weight * column->weight * column->square;
	}
	for (int32_t c = 0; c < s->width; c++)
		s->column[c].weight = s->column[c].weight > 0.0 ? s->column[c].weight / sqrt(whole) :
			s->column[c].deviation > 0.0 ? GP_FACTS_UNUSED : 0.0;
	gp_free(env, size);
}

gp_facts_scale *
gp_task_columns_measure(gp_task_columns *f, const bool *trains)
{
	gp_facts_scale *s = gp_alloc_zero(f->env, 1, sizeof(gp_facts_scale));

	s->width = s->doubted = f->width;
	s->ngroups = f->ngroups;
	s->column = gp_alloc_zero(f->env, f->width, sizeof(gp_facts_column));
	name_columns(f, s);
	find_empty(f, trains, s);
	measure_columns(f, trains, s);
	gp_facts_weigh(f->env, s, GP_FACTS_COLUMNS, f->width);
	return s;
}

/* Refuses columns of other groups than those that were measured; relations may be renamed. */
static void
check_groups(const gp_task_columns *f, const gp_facts_scale *s)
{
	bool		same = f->width == s->width && f->ngroups == s->ngroups;

	for (int32_t b = 0; same && b < f->ngroups; b++)
		same = strcmp(f->group[b].aggregate, s->aggregate[b]) == 0 &&
			(f->group[b].width == 0 || s->column[f->group[b].first].group == b);
	if (!same)
		gp_raise(f->env, GP_ERR_DATA, "Fit the model again.",
				 "the tables have other columns than the model was fitted on");
}

gp_features *
gp_task_columns_features(gp_task_columns *f, const gp_facts_scale *s)
{
	gp_env	   *env = f->env;
	gp_features *out = gp_alloc_zero(env, 1, sizeof(gp_features));

	check_groups(f, s);
	float	   *to = gp_task_columns_row(f, 0);
	GP_EACH(env, i, f->rows, i * f->width)
	{
		const float *row = gp_task_columns_row(f, i);

		for (int32_t c = 0; c < f->width; c++)
			if (s->column[c].deviation > 0.0)
				*to++ = (float) (s->column[c].weight * standardise(&s->column[c], row[c]));
	}
	*out = (gp_features) {.rows = f->rows,.dims = s->kept,.type = GP_FLOAT};
	out->dense = gp_resize_array(env, f->column, f->rows * s->kept, sizeof(float));
	f->column = NULL;
	gp_task_columns_free(f);
	return out;
}
