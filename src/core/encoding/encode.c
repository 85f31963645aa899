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

/* Years before a time; NaN for what is later, and unknown then unless it is known with its row. */
static double
age_in_years(double days, gp_time at, bool known)
{
	double		age = ((double) at / GP_TIME_DAY - days) / GP_YEAR_DAYS;

	return age >= 0.0 || known ? age : NAN;
}

/* Its numbers that are not categories: a number or age, and whether it is NULL. */
static int32_t
plain_numbers(const gp_encoded *encoded)
{
	return encoded->way == GP_ENCODED_NUMBER || encoded->way == GP_ENCODED_BOTH ||
		encoded->way == GP_ENCODED_AGE ?
		1 + encoded->nulls : 0;
}

int32_t
gp_encoded_width(const gp_encoded *encoded)
{
	return encoded->kind == GP_CELL_CATEGORY_KEY ? 0 : plain_numbers(encoded) + encoded->hot;
}

/* True for a number, within categories, that the encoding has by itself, too: so it is read. */
static bool
is_of_number(const gp_encoding *e, const gp_encoded *within)
{
	for (int32_t p = 0; p < e->nencoded; p++)
		if (e->encoded[p].column == within->column && e->encoded[p].element == within->element)
			return e->encoded[p].kind == within->kind && e->encoded[p].width > 0;
	return false;
}

/* True for what may stand behind the encoded columns of an encoding. */
static bool
follows(const gp_encoding *e, const gp_encoded *encoded)
{
	if (encoded->way == GP_ENCODED_WITHIN)
		return e->nwithin < GP_ENCODED_WITHIN_MOST && encoded->width == 0 &&
			encoded->within >= 0 && encoded->within < e->nencoded &&
			encoded->rank >= 0 && encoded->rank < e->encoded[encoded->within].hot &&
			is_of_number(e, encoded);
	return e->nwithin == 0 && encoded->way >= 0 && encoded->way <= GP_ENCODED_REWRITTEN &&
		encoded->column >= (e->nencoded > 0 ? encoded[-1].column : 0) &&
		encoded->element >= 0 && encoded->first == e->width &&
		encoded->nulls >= 0 && encoded->nulls <= 1 &&
		encoded->hot >= 0 && encoded->hot <= GP_ENCODED_KEYS &&
		encoded->width == gp_encoded_width(encoded);
}

gp_encoding *
gp_encoding_of(gp_env *env, const gp_encoded *encoded, int32_t nencoded)
{
	size_t		head = (sizeof(gp_encoding) + 15) / 16 * 16;
	gp_encoding *e = gp_alloc(env, head + gp_size_mul(env, nencoded, sizeof(gp_encoded)));

	*e = (gp_encoding) {.encoded = (gp_encoded *) ((char *) e + head)};
	for (int32_t p = 0; p < nencoded; p++)
	{
		if (!follows(e, &encoded[p]))
			return NULL;
		e->encoded[p] = encoded[p];
		e->width += encoded[p].width;
		if (encoded[p].way == GP_ENCODED_WITHIN)
			e->nwithin++;
		else
			e->nencoded++;
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
put_number(const gp_encoded *encoded, double z, double *out)
{
	bool		null = isnan(z);

	if (encoded->nulls)
		out[1] = indicate(null, encoded->null_share);
	if (null || encoded->deviation == 0.0)
	{
		out[0] = 0.0;
		return;
	}
	out[0] = (gp_encoded_winsorise(encoded, z) - encoded->mean) / encoded->deviation;
}

/* Which category it is; a NULL that was never seen tells nothing. */
static void
put_categories(const gp_encoded *encoded, uint64_t category, double *out)
{
	bool		is_one = category != GP_CATEGORY_NULL;

	for (int32_t k = 0; k < encoded->hot; k++)
		is_one = is_one || category == encoded->category[k];
	for (int32_t k = 0; k < encoded->hot; k++)
		out[k] = is_one ? indicate(category == encoded->category[k], encoded->share[k]) : 0.0;
}

/* The number of a cell that is encoded; NaN for NULL. */
static double
number_of(const gp_encoded *encoded, const gp_cell *cell)
{
	double		z = cell->number;

	if (cell->null || (encoded->kind == GP_CELL_LIST && encoded->element >= cell->length))
		return NAN;
	if (encoded->kind == GP_CELL_LIST)
		z = cell->list[encoded->element];
	return isfinite(z) ? z : NAN;
}

void
gp_encode(const gp_encoding *e, const gp_cell *row, double *out)
{
	for (int32_t p = 0; p < e->nencoded; p++)
	{
		const gp_encoded *encoded = &e->encoded[p];
		const gp_cell *cell = &row[encoded->column];
		double	   *to = out + encoded->first;

		if (encoded->width == 0)
			continue;
		if (encoded->way == GP_ENCODED_AGE)
		{
			to[0] = cell->null ? NAN : (double) cell->time / GP_TIME_DAY;
			continue;
		}
		if (encoded->way == GP_ENCODED_NUMBER || encoded->way == GP_ENCODED_BOTH)
			put_number(encoded, number_of(encoded, cell), to);
		put_categories(encoded, gp_category_of_cell(encoded->kind, cell),
					   to + encoded->width - encoded->hot);
	}
}

/* True for a column that is a number: of lists there may be too many, ages only grow. */
static bool
is_apart(const gp_encoded *encoded)
{
	return encoded->width > 0 && encoded->kind != GP_CELL_LIST &&
		(encoded->way == GP_ENCODED_NUMBER || encoded->way == GP_ENCODED_BOTH);
}

int32_t
gp_encoding_apart(const gp_encoding *e)
{
	int32_t		n = e->nwithin;

	for (int32_t p = 0; p < e->nencoded; p++)
		n += is_apart(&e->encoded[p]);
	return n;
}

void
gp_encode_apart(const gp_encoding *e, const gp_cell *row, double *out)
{
	double		number[2];		/* and whether it is NULL */

	for (int32_t k = 0; k < e->nwithin; k++)
	{
		const gp_encoded *encoded = &e->encoded[e->nencoded + k];
		const gp_encoded *by = &e->encoded[encoded->within];
		double		z = number_of(encoded, &row[encoded->column]);

		out[k] = isnan(z) ||
			gp_category_of_cell(by->kind, &row[by->column]) != by->category[encoded->rank] ? NAN :
			(gp_encoded_winsorise(encoded, z) - encoded->mean) / encoded->deviation;
	}
	out += e->nwithin;
	for (int32_t p = 0; p < e->nencoded; p++)
		if (is_apart(&e->encoded[p]))
		{
			double		z = number_of(&e->encoded[p], &row[e->encoded[p].column]);

			put_number(&e->encoded[p], z, number);
			*out++ = isnan(z) ? NAN : number[0];
		}
}

/* Where a constant column has deviation 0, what is usual may be 0, too. */
static bool
is_amount(const gp_encoded *encoded)
{
	return is_apart(encoded) && encoded->low >= 0.0 && encoded->deviation > 0.0;
}

int32_t
gp_encoding_amounts(const gp_encoding *e)
{
	int32_t		n = 0;

	for (int32_t p = 0; p < e->nencoded; p++)
		n += is_amount(&e->encoded[p]);
	return n;
}

void
gp_encode_amounts(const gp_encoding *e, const gp_cell *row, double *out)
{
	for (int32_t p = 0; p < e->nencoded; p++)
	{
		const gp_encoded *encoded = &e->encoded[p];
		double		usual = encoded->logarithm ? expm1(encoded->mean) : encoded->mean;

		if (is_amount(encoded))
		{
			double		z = number_of(encoded, &row[encoded->column]);

			*out++ = isnan(z) ? NAN : gp_encoded_clip(encoded, z) / usual;
		}
	}
}

void
gp_encode_ages(const gp_encoding *e, gp_time at, double *row)
{
	for (int32_t p = 0; p < e->nencoded; p++)
		if (e->encoded[p].way == GP_ENCODED_AGE && e->encoded[p].width > 0)
		{
			double	   *to = row + e->encoded[p].first;

			put_number(&e->encoded[p], age_in_years(to[0], at, e->encoded[p].known), to);
		}
}

void
gp_encoded_describe(const gp_encoded *encoded, char *way, size_t way_room, char *note,
					size_t note_room)
{
	static const char *const why[] = {
		[GP_ENCODED_EMPTY] = "no value",
		[GP_ENCODED_CONSTANT] = "one value",
		[GP_ENCODED_NAME] = "a name or a text: nearly as many values as rows, or none that is frequent",
		[GP_ENCODED_LATER] = "later than its row's time: it is written afterwards, unless times has null for it",
		[GP_ENCODED_FILLED] = "NULL in the newest rows: it is filled in later, unless times has null for it",
		[GP_ENCODED_WITHIN] = NULL,
		[GP_ENCODED_TOTAL] = "counts later rows that refer to it, adds them up, or says how new they are, unless times has null for it",
		[GP_ENCODED_REWRITTEN] = "the newest rows have a value that old ones lack: it is written again, unless times has null for it"
	};
	bool		is_number = plain_numbers(encoded) > 0;

	snprintf(way, way_room, "%s%s%s",
			 encoded->width == 0 ? "left out" : !is_number ? "categories" :
			 encoded->way == GP_ENCODED_AGE ? "age in years" :
			 encoded->logarithm ? "logarithm" : "number",
			 is_number && encoded->nulls ? ", NULL" : "",
			 is_number && encoded->hot > 0 ? ", categories" : "");
	snprintf(note, note_room, "%s",
			 encoded->width == 0 && why[encoded->way] ? why[encoded->way] : "");
	if (!is_number && encoded->distinct > encoded->hot && encoded->hot > 0)
		snprintf(note, note_room, "the %d most frequent of %s%d values", encoded->hot,
				 encoded->distinct > GP_ENCODED_COUNTED ? "more than " : "",
				 (int) gp_min64(encoded->distinct, GP_ENCODED_COUNTED));
}

int32_t
gp_encoding_describe(const gp_encoding *e, int32_t column, char *way, size_t way_room, char *note,
					 size_t note_room)
{
	int32_t		width = 0;
	int32_t		within = 0;

	snprintf(way, way_room, "left out");
	snprintf(note, note_room, "%s", "");
	for (int32_t p = e->nencoded + e->nwithin - 1; p >= 0; p--)
		if (e->encoded[p].column == column)
		{
			within += e->encoded[p].way == GP_ENCODED_WITHIN;
			width += e->encoded[p].width;
			gp_encoded_describe(&e->encoded[p], way, way_room, note, note_room);
		}
	if (within > 0)
		snprintf(note, note_room, "of facts also within %d categories", within);
	return width;
}
