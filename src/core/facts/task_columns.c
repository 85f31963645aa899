/*
 * task_columns.c - the columns of the rows of a task: groups, each one aggregate of facts,
 * or columns that are put.
 */
#include "facts_internal.h"

#include <stdio.h>

gp_task_columns *
gp_task_columns_create(gp_env *env, int64_t rows, const gp_time *as_of)
{
	gp_task_columns *f = gp_alloc_zero(env, 1, sizeof(gp_task_columns));

	f->env = env;
	f->rows = rows;
	f->as_of = as_of;
	return f;
}

void
gp_task_columns_free(gp_task_columns *f)
{
	gp_free_all(f->env, f->group, f->aggregated, f->column, f);
}

int32_t
gp_task_columns_group(gp_task_columns *f, const char *relation, const char *aggregate,
					  int32_t width)
{
	assert(f->column == NULL);
	if (f->width > INT32_MAX - width)
		gp_raise(f->env, GP_ERR_LIMIT, "Exclude some columns.", "the tables have too many columns");
	/* To the next power of two: there may be hundreds. */
	if ((f->ngroups & (f->ngroups - 1)) == 0)
		f->group = gp_realloc_array(f->env, f->group, gp_max64(2 * (int64_t) f->ngroups, 1),
									sizeof(gp_column_group));
	gp_column_group *b = &f->group[f->ngroups];
	memset(b, 0, sizeof(gp_column_group));
	snprintf(b->relation, GP_FACTS_NAME, "%s", relation);
	snprintf(b->aggregate, GP_FACTS_NAME, "%s", aggregate);
	b->first = f->width;
	b->width = width;
	f->width += width;
	return f->ngroups++;
}

int32_t
gp_task_columns_facts(gp_task_columns *f, const char *relation, int32_t width, gp_aggregates asked)
{
	f->aggregated = gp_realloc_array(f->env, f->aggregated, f->naggregated + 1,
									 sizeof(gp_aggregated));
	gp_aggregated *a = &f->aggregated[f->naggregated];
	a->asked = asked;
	a->asked.last = asked.last > 0 ? asked.last : 5;
	a->asked.pseudo = asked.pseudo >= 0.0 ? asked.pseudo : 1.0;
	a->width = width;
	a->states = asked.apart ? width : 1;
	a->each = asked.apart ? 1 : width;
	a->as_of = f->as_of;
	a->first = a->meta = f->width;
	for (int k = 0; k < GP_AGGREGATES; k++)
	{
		const gp_aggregate *one = &gp_aggregate_table[k];

		a->meta = one->which == GP_FACTS_META ? f->width : a->meta;
		if (asked.which & one->which)
		{
			int32_t		columns = a->states * gp_aggregate_width(one, a->each);
			int32_t		group = gp_task_columns_group(f, relation, one->name, columns);

			f->group[group].changes = one->which & GP_FACTS_OF_CHANGES;
		}
	}
	a->columns = f->width - a->first;
	return f->naggregated++;
}

void
gp_task_columns_lag(gp_task_columns *f, int32_t facts, const gp_time *as_of)
{
	f->aggregated[facts].as_of = as_of;
}

void
gp_task_columns_half_life(gp_task_columns *f, double half_life)
{
	for (int32_t i = 0; i < f->naggregated; i++)
		f->aggregated[i].asked.half_life = half_life;
}

float *
gp_task_columns_row(gp_task_columns *f, int64_t row)
{
	if (f->column == NULL)
	{
		f->column = gp_alloc_zero(f->env, (int64_t) gp_size_mul(f->env, f->rows, f->width),
								  sizeof(float));
		gp_use_large_pages(f->column, (size_t) (f->rows * f->width) * sizeof(float));
	}
	return f->column + row * f->width;
}

void
gp_task_columns_put(gp_task_columns *f, int32_t group, int64_t row, const double *value)
{
	float	   *to = gp_task_columns_row(f, row) + f->group[group].first;

	for (int32_t c = 0; c < f->group[group].width; c++)
		to[c] = (float) value[c];
}

void
gp_task_columns_clear(gp_task_columns *f, int32_t first, int32_t width)
{
	GP_EACH(f->env, i, f->rows, i)
		memset(gp_task_columns_row(f, i) + first, 0, sizeof(float) * (size_t) width);
}

int32_t
gp_task_columns_calendar(gp_task_columns *f)
{
	return gp_task_columns_group(f, "as-of time", "day of the year", 2);
}

void
gp_task_columns_fill_calendar(gp_task_columns *f, int32_t group)
{
	GP_EACH(f->env, i, f->rows, i)
	{
		double		years = (double) f->as_of[i] / GP_TIME_DAY / GP_YEAR_DAYS;
		double		angle = 2.0 * M_PI * (years - floor(years));
		double		value[2] = {sin(angle), cos(angle)};

		gp_task_columns_put(f, group, i, value);
	}
}

int32_t
gp_task_columns_joint(gp_task_columns *f)
{
	int32_t		joint = 0;

	for (int32_t i = 0; i < f->naggregated; i++)
		joint += f->aggregated[i].asked.joint;
	return joint < 2 ? -1 : gp_task_columns_group(f, "any relation", "count and age", 2);
}

void
gp_task_columns_fill_joint(gp_task_columns *f, int32_t group)
{
	GP_EACH(f->env, i, f->rows, i * f->naggregated)
	{
		const float *row = gp_task_columns_row(f, i);
		double		value[2] = {0.0, NAN};

		for (int32_t k = 0; k < f->naggregated; k++)
			if (f->aggregated[k].asked.joint)
			{
				const float *meta = row + f->aggregated[k].meta;

				value[0] += expm1(meta[1]);
				value[1] = fmin(value[1], meta[2]);
			}
		value[0] = log1p(value[0]);
		gp_task_columns_put(f, group, i, value);
	}
}

int32_t
gp_task_columns_group_first(const gp_task_columns *f, int32_t group)
{
	return f->group[group].first;
}

int32_t
gp_task_columns_facts_first(const gp_task_columns *f, int32_t facts, int32_t *width)
{
	*width = f->aggregated[facts].columns;
	return f->aggregated[facts].first;
}

int32_t
gp_task_columns_width(const gp_task_columns *f)
{
	return f->width;
}
