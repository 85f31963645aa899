/*
 * fact_columns.c - the columns of the rows of a task: blocks, each of one relation and one
 * aggregate.
 */
#include "facts_internal.h"

#include <stdio.h>

gp_facts *
gp_facts_create(gp_env *env, int64_t rows, const gp_time *as_of)
{
	gp_facts   *f = gp_alloc_zero(env, 1, sizeof(gp_facts));

	f->env = env;
	f->rows = rows;
	f->as_of = as_of;
	return f;
}

void
gp_facts_free(gp_facts *f)
{
	gp_free(f->env, f->block);
	gp_free(f->env, f->relation);
	gp_free(f->env, f->column);
	gp_free(f->env, f);
}

int32_t
gp_facts_group(gp_facts *f, const char *relation, const char *aggregate, int32_t width)
{
	gp_block   *b;

	if (f->column)
		gp_raise(f->env, GP_ERR_INTERNAL, NULL, "a block is declared after columns were filled");
	if (f->width > INT32_MAX - width)
		gp_raise(f->env, GP_ERR_LIMIT, "Exclude some columns.", "the tables have too many columns");
	f->block = gp_realloc_array(f->env, f->block, f->nblocks + 1, sizeof(gp_block));
	b = &f->block[f->nblocks];
	memset(b, 0, sizeof(gp_block));
	snprintf(b->relation, GP_FACTS_NAME, "%s", relation);
	snprintf(b->aggregate, GP_FACTS_NAME, "%s", aggregate);
	b->first = f->width;
	b->width = width;
	f->width += width;
	return f->nblocks++;
}

int32_t
gp_aggregate_width(gp_facts_aggregate which, int32_t width)
{
	return which == GP_FACTS_META ? GP_META_COLUMNS : which == GP_FACTS_COUNT ? 1 : width;
}

int32_t
gp_facts_relation(gp_facts *f, const char *relation, int32_t width, gp_aggregates a)
{
	static const struct
	{
		gp_facts_aggregate which;
		const char *name;
	}			all[] = {
		{GP_FACTS_HALF_LIFE, "half-life"}, {GP_FACTS_LAST, "last"},
		{GP_FACTS_META, "count and age"}, {GP_FACTS_MEAN, "mean"},
		{GP_FACTS_SUM, "sum"}, {GP_FACTS_MOST, "maximum"}, {GP_FACTS_COUNT, "count"}
	};
	gp_relation *r;

	f->relation = gp_realloc_array(f->env, f->relation, f->nrelations + 1, sizeof(gp_relation));
	r = &f->relation[f->nrelations];
	r->a = a;
	r->a.last = a.last > 0 ? a.last : 5;
	r->a.pseudo = a.pseudo >= 0.0 ? a.pseudo : 1.0;
	r->width = width;
	r->first = f->width;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		if (a.which & all[k].which)
			gp_facts_group(f, relation, all[k].name, gp_aggregate_width(all[k].which, width));
	r->columns = f->width - r->first;
	return f->nrelations++;
}

float *
gp_facts_row(gp_facts *f, int64_t row)
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
gp_facts_put(gp_facts *f, int32_t block, int64_t row, const double *value)
{
	float	   *to = gp_facts_row(f, row) + f->block[block].first;

	for (int32_t c = 0; c < f->block[block].width; c++)
		to[c] = (float) value[c];
}

int32_t
gp_facts_calendar(gp_facts *f)
{
	return gp_facts_group(f, "as-of time", "day of the year", 2);
}

void
gp_facts_fill_calendar(gp_facts *f, int32_t block)
{
	GP_EACH(f->env, i, f->rows, i)
	{
		double		years = (double) f->as_of[i] / GP_TIME_DAY / GP_YEAR_DAYS;
		double		angle = 2.0 * M_PI * (years - floor(years));
		double		value[2] = {sin(angle), cos(angle)};

		gp_facts_put(f, block, i, value);
	}
}

int32_t
gp_facts_block_first(const gp_facts *f, int32_t block)
{
	return f->block[block].first;
}

int32_t
gp_facts_relation_first(const gp_facts *f, int32_t relation, int32_t *columns)
{
	*columns = f->relation[relation].columns;
	return f->relation[relation].first;
}

int32_t
gp_facts_width(const gp_facts *f)
{
	return f->width;
}

const float *
gp_facts_raw(gp_facts *f)
{
	return gp_facts_row(f, 0);
}
