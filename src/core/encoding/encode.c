/*
 * encode.c - rows of a table as numbers, by what an encoder found.
 */
#include "encoding_internal.h"

#include "base/sort.h"

#include <stdio.h>

gp_timed *
gp_by_time(gp_env *env, int64_t n, const gp_time *as_of)
{
	gp_timed   *t = gp_alloc_array(env, n, sizeof(gp_timed));

	for (int64_t i = 0; i < n; i++)
		t[i] = (gp_timed) {as_of[i], i};
	gp_sort(env, t, n, sizeof(gp_timed), gp_compare_int64, NULL);
	return t;
}

uint64_t
gp_category_of_number(double number)
{
	uint64_t	bits;

	number += 0.0;				/* both zeros are one */
	memcpy(&bits, &number, sizeof(bits));
	bits = gp_hash(bits);
	return bits == GP_CATEGORY_NULL ? bits + 1 : bits;
}

uint64_t
gp_category_of_cell(gp_cell_kind kind, const gp_cell *cell)
{
	if (cell->null)
		return GP_CATEGORY_NULL;
	return gp_cell_is_word(kind) ? cell->word : gp_category_of_number(cell->number);
}

/* Years before a time; NaN for what is later, and unknown then unless it is known with its row. */
static double
age_in_years(double days, gp_time at, bool known)
{
	double		age = ((double) at / GP_TIME_DAY - days) / GP_YEAR_DAYS;

	return age >= 0.0 || known ? age : NAN;
}

int32_t
gp_encoded_numbers(const gp_encoded *part)
{
	return part->way == GP_ENCODED_NUMBER || part->way == GP_ENCODED_BOTH ||
		part->way == GP_ENCODED_AGE ?
		1 + part->nulls : 0;
}

/* True for a number, within categories, that the encoding has by itself, too: so it is read. */
static bool
is_of_number(const gp_encoding *e, const gp_encoded *within)
{
	for (int32_t p = 0; p < e->nparts; p++)
		if (e->part[p].column == within->column && e->part[p].element == within->element)
			return e->part[p].kind == within->kind && e->part[p].width > 0;
	return false;
}

/* True for a part that may stand behind those of an encoding. */
static bool
follows(const gp_encoding *e, const gp_encoded *part)
{
	if (part->way == GP_ENCODED_WITHIN)
		return e->nwithin < GP_ENCODED_WITHIN_MOST && part->width == 0 &&
			part->within >= 0 && part->within < e->nparts &&
			part->rank >= 0 && part->rank < e->part[part->within].hot &&
			is_of_number(e, part);
	return e->nwithin == 0 && part->way >= 0 && part->way <= GP_ENCODED_TOTAL &&
		part->column >= (e->nparts > 0 ? part[-1].column : 0) &&
		part->element >= 0 && part->first == e->width &&
		part->nulls >= 0 && part->nulls <= 1 &&
		part->hot >= 0 && part->hot <= GP_ENCODED_KEYS &&
		part->width == gp_encoded_width(part);
}

gp_encoding *
gp_encoding_of(gp_env *env, const gp_encoded *part, int32_t nparts)
{
	size_t		head = (sizeof(gp_encoding) + 15) / 16 * 16;
	gp_encoding *e = gp_alloc(env, head + gp_size_mul(env, nparts, sizeof(gp_encoded)));

	*e = (gp_encoding) {.part = (gp_encoded *) ((char *) e + head)};
	for (int32_t p = 0; p < nparts; p++)
	{
		if (!follows(e, &part[p]))
			return NULL;
		e->part[p] = part[p];
		e->width += part[p].width;
		if (part[p].way == GP_ENCODED_WITHIN)
			e->nwithin++;
		else
			e->nparts++;
	}
	return e;
}

/* An indicator of a share, centred and brought to the size of the other columns. */
static double
indicate(bool is, double share)
{
	return (is - share) / gp_indicator_deviation(share);
}

/* A number, or an age, and whether it is NULL. */
static void
put_number(const gp_encoded *part, double z, double *out)
{
	bool		null = isnan(z);

	if (part->nulls)
		out[1] = indicate(null, part->null_share);
	if (null || part->deviation == 0.0)
	{
		out[0] = 0.0;
		return;
	}
	out[0] = (gp_encoded_winsorise(part, z) - part->mean) / part->deviation;
}

/* Which category it is; a NULL that was never seen tells nothing. */
static void
put_categories(const gp_encoded *part, uint64_t category, double *out)
{
	bool		is_one = category != GP_CATEGORY_NULL;

	for (int32_t k = 0; k < part->hot; k++)
		is_one = is_one || category == part->category[k];
	for (int32_t k = 0; k < part->hot; k++)
		out[k] = is_one ? indicate(category == part->category[k], part->share[k]) : 0.0;
}

/* The number of a cell that a part is of; NaN for NULL. */
static double
number_of(const gp_encoded *part, const gp_cell *cell)
{
	double		z = cell->number;

	if (cell->null || (part->kind == GP_CELL_LIST && part->element >= cell->length))
		return NAN;
	if (part->kind == GP_CELL_LIST)
		z = cell->list[part->element];
	return isfinite(z) ? z : NAN;
}

void
gp_encode(const gp_encoding *e, const gp_cell *row, double *out)
{
	for (int32_t p = 0; p < e->nparts; p++)
	{
		const gp_encoded *part = &e->part[p];
		const gp_cell *cell = &row[part->column];
		double	   *to = out + part->first;

		if (part->width == 0)
			continue;
		if (part->way == GP_ENCODED_AGE)
		{
			to[0] = cell->null ? NAN : (double) cell->time / GP_TIME_DAY;
			continue;
		}
		if (part->way == GP_ENCODED_NUMBER || part->way == GP_ENCODED_BOTH)
			put_number(part, number_of(part, cell), to);
		put_categories(part, gp_category_of_cell(part->kind, cell), to + part->width - part->hot);
	}
}

/* True for a column that is a number: of lists there may be too many, ages only grow. */
static bool
is_apart(const gp_encoded *part)
{
	return part->width > 0 && part->kind != GP_CELL_LIST &&
		(part->way == GP_ENCODED_NUMBER || part->way == GP_ENCODED_BOTH);
}

int32_t
gp_encoding_apart(const gp_encoding *e)
{
	int32_t		n = e->nwithin;

	for (int32_t p = 0; p < e->nparts; p++)
		n += is_apart(&e->part[p]);
	return n;
}

void
gp_encode_apart(const gp_encoding *e, const gp_cell *row, double *out)
{
	double		number[2];		/* and whether it is NULL */

	for (int32_t k = 0; k < e->nwithin; k++)
	{
		const gp_encoded *part = &e->part[e->nparts + k];
		const gp_encoded *by = &e->part[part->within];
		double		z = number_of(part, &row[part->column]);

		out[k] = isnan(z) ||
			gp_category_of_cell(by->kind, &row[by->column]) != by->category[part->rank] ? NAN :
			(gp_encoded_winsorise(part, z) - part->mean) / part->deviation;
	}
	out += e->nwithin;
	for (int32_t p = 0; p < e->nparts; p++)
		if (is_apart(&e->part[p]))
		{
			double		z = number_of(&e->part[p], &row[e->part[p].column]);

			put_number(&e->part[p], z, number);
			*out++ = isnan(z) ? NAN : number[0];
		}
}

void
gp_encode_ages(const gp_encoding *e, gp_time at, double *row)
{
	for (int32_t p = 0; p < e->nparts; p++)
		if (e->part[p].way == GP_ENCODED_AGE && e->part[p].width > 0)
			put_number(&e->part[p], age_in_years(row[e->part[p].first], at, e->part[p].known),
					   row + e->part[p].first);
}

void
gp_encoded_describe(const gp_encoded *part, char *way, size_t way_room, char *note,
					size_t note_room)
{
	static const char *const why[] = {
		[GP_ENCODED_EMPTY] = "no value",
		[GP_ENCODED_CONSTANT] = "one value",
		[GP_ENCODED_NAME] = "a name or a text: nearly as many values as rows, or none that is frequent",
		[GP_ENCODED_LATER] = "later than its row's time: it is written afterwards, unless times has null for it",
		[GP_ENCODED_FILLED] = "NULL in the newest rows: it is filled in later, unless times has null for it",
		[GP_ENCODED_WITHIN] = NULL,
		[GP_ENCODED_TOTAL] = "counts later rows that refer to it, or adds them up, unless times has null for it"
	};
	bool		is_number = gp_encoded_numbers(part) > 0;

	snprintf(way, way_room, "%s%s%s",
			 part->width == 0 ? "left out" : !is_number ? "categories" :
			 part->way == GP_ENCODED_AGE ? "age in years" :
			 part->logarithm ? "logarithm" : "number",
			 is_number && part->nulls ? ", NULL" : "",
			 is_number && part->hot > 0 ? ", categories" : "");
	snprintf(note, note_room, "%s", part->width == 0 && why[part->way] ? why[part->way] : "");
	if (!is_number && part->distinct > part->hot && part->hot > 0)
		snprintf(note, note_room, "the %d most frequent of %s%d values", part->hot,
				 part->distinct > GP_ENCODED_COUNTED ? "more than " : "",
				 (int) gp_min64(part->distinct, GP_ENCODED_COUNTED));
}

int32_t
gp_encoding_describe(const gp_encoding *e, int32_t column, char *way, size_t way_room, char *note,
					 size_t note_room)
{
	int32_t		width = 0;
	int32_t		within = 0;

	snprintf(way, way_room, "left out");
	snprintf(note, note_room, "%s", "");
	for (int32_t p = e->nparts + e->nwithin - 1; p >= 0; p--)
		if (e->part[p].column == column)
		{
			within += e->part[p].way == GP_ENCODED_WITHIN;
			width += e->part[p].width;
			gp_encoded_describe(&e->part[p], way, way_room, note, note_room);
		}
	if (within > 0)
		snprintf(note, note_room, "of facts also within %d categories", within);
	return width;
}
