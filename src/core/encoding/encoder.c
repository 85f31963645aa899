/*
 * encoder.c - how the columns of a table are encoded: what a sample of its rows says of each.
 *
 * Rows are drawn by a hash of what tells them apart: those below a threshold, which is halved
 * whenever they become too many.  Which rows these are does not depend on the order in which they
 * come, and in the order of their hashes sums have the same bits.
 */
#include "encoding_internal.h"

#include "base/sort.h"

#define TAIL 0.005				/* the share that is winsorised at each end */
#define SKEWED 6.0				/* mean |z|^3 of standardised numbers that take their logarithm */
#define FEW_INTEGERS 64			/* different integers that are categories as well */
#define FEW_WORDS 50			/* different words that are no names, however few the rows */
#define RARE 0.002				/* share of a category that is none */
#define WITHIN_FEWEST 20		/* values of a category that a number is encoded within */

/* A kept row: a value of each column, and those of its lists, one after the other. */
typedef struct kept_row
{
	uint64_t	draw;			/* first: rows are sorted by it */
	gp_time		at;
	int32_t    *length;			/* of each list; columns of them */
	gp_kept_value *value;		/* behind it: a number of other columns, the numbers of lists */
} kept_row;

struct gp_encoder
{
	gp_env	   *env;
	int32_t		columns;
	gp_cell_kind *kind;
	gp_time		until;
	bool	   *known;			/* of each column: with its row, whatever its values say */
	bool	   *total;			/* or that it has later facts in it */
	uint64_t	threshold;
	uint64_t	looked;			/* rows without an identity so far */
	int64_t		n;
	int64_t		early;			/* rows that are not later than until, in the end the first */
	kept_row   *row;			/* room for GP_ENCODER_ROWS + 1 */
	int32_t    *longest;		/* list of each column */
};

gp_encoder *
gp_encoder_create(gp_env *env, int32_t columns, const gp_cell_kind *kind, gp_time until,
				  const bool *known)
{
	gp_encoder *e = gp_alloc_zero(env, 1, sizeof(gp_encoder));

	e->env = env;
	e->columns = columns;
	e->until = until;
	e->known = gp_alloc_zero(env, columns, sizeof(bool));
	e->total = gp_alloc_zero(env, columns, sizeof(bool));
	if (known)
		memcpy(e->known, known, sizeof(bool) * (size_t) columns);
	e->kind = gp_alloc_array(env, columns, sizeof(gp_cell_kind));
	memcpy(e->kind, kind, sizeof(gp_cell_kind) * (size_t) columns);
	e->threshold = UINT64_MAX;
	e->row = gp_alloc_array(env, GP_ENCODER_ROWS + 1, sizeof(kept_row));
	e->longest = gp_alloc_zero(env, columns, sizeof(int32_t));
	return e;
}

void
gp_encoder_total(gp_encoder *e, int32_t column)
{
	e->total[column] = true;
}

bool
gp_encoder_wants(const gp_encoder *e, uint64_t identity)
{
	return identity == 0 || gp_hash(identity) <= e->threshold;
}

/* The numbers of a column that a row keeps. */
static int32_t
kept_length(const gp_encoder *e, int32_t c, const gp_cell *cell)
{
	if (e->kind[c] != GP_CELL_LIST)
		return 1;
	return cell->null ? 0 : (int32_t) gp_min64(cell->length, GP_ENCODED_LIST);
}

/* What is kept of number k of a cell. */
static gp_kept_value
keep_value(gp_cell_kind kind, gp_time at, const gp_cell *cell, int32_t k)
{
	gp_kept_value v = {NAN, GP_CATEGORY_NULL};

	if (cell->null)
		return v;
	if (gp_cell_is_word(kind))
		v.category = gp_category_of_cell(kind, cell);
	else if (kind == GP_CELL_TIME)
		v.number = (double) (at - cell->time) / GP_TIME_DAY / GP_YEAR_DAYS;
	else
		v.number = kind == GP_CELL_LIST ? cell->list[k] : cell->number;
	if (!gp_cell_is_word(kind) && isfinite(v.number))
		v.category = gp_category_of_number(v.number);
	else if (!gp_cell_is_word(kind))
		v.number = NAN;
	return v;
}

/* Halves the threshold until few enough rows are left. */
static void
thin_out(gp_encoder *e)
{
	while (e->n > GP_ENCODER_ROWS)
	{
		int64_t		left = 0;

		e->threshold /= 2;
		for (int64_t i = 0; i < e->n; i++)
			if (e->row[i].draw <= e->threshold)
				e->row[left++] = e->row[i];
			else
				gp_free(e->env, e->row[i].length);
		e->n = left;
	}
}

void
gp_encoder_look(gp_encoder *e, uint64_t identity, gp_time at, const gp_cell *cell)
{
	uint64_t	draw = gp_hash(identity ? identity : ++e->looked);
	int64_t		values = 0;
	size_t		lengths = ((size_t) e->columns * sizeof(int32_t) + 7) / 8 * 8;
	kept_row   *row = &e->row[e->n];

	if (draw > e->threshold)
		return;
	for (int32_t c = 0; c < e->columns; c++)
		values += kept_length(e, c, &cell[c]);
	row->draw = draw;
	row->at = at;
	row->length = gp_alloc(e->env, lengths + (size_t) values * sizeof(gp_kept_value));
	row->value = (gp_kept_value *) ((char *) row->length + lengths);
	values = 0;
	for (int32_t c = 0; c < e->columns; c++)
	{
		row->length[c] = kept_length(e, c, &cell[c]);
		for (int32_t k = 0; k < row->length[c]; k++)
			row->value[values++] = keep_value(e->kind[c], at, &cell[c], k);
		if (row->length[c] > e->longest[c])
			e->longest[c] = row->length[c];
	}
	e->n++;
	thin_out(e);
}

/* All rows' values of number k of a column. */
static void
gather(const gp_encoder *e, int32_t column, int32_t k, gp_kept_value *out)
{
	GP_EACH(e->env, i, e->n, i * e->columns)
	{
		const kept_row *row = &e->row[i];
		int64_t		at = k;

		for (int32_t c = 0; c < column; c++)
			at += row->length[c];
		out[i] = k < row->length[column] ? row->value[at] : (gp_kept_value) {NAN, GP_CATEGORY_NULL};
	}
}

/* ---- categories ---- */

/* Makes the most frequent of them columns. */
static void
choose_categories(gp_encoded *encoded, int64_t n, int64_t different, const gp_tallied *c)
{
	int32_t		most = encoded->kind >= GP_CELL_KEY ? GP_ENCODED_KEYS : GP_ENCODED_HOT;

	for (int64_t k = 0; k < different && encoded->hot < most; k++)
	{
		double		share = (double) c[k].count / (double) n;

		if (share < RARE || share > 1.0 - RARE ||
			(encoded->nulls && c[k].value == GP_CATEGORY_NULL))
			continue;
		encoded->category[encoded->hot] = c[k].value;
		encoded->share[encoded->hot++] = share;
	}
}

/* ---- numbers ---- */

/* Mean and deviation of n numbers, which are winsorised and, where that is so, logarithms. */
static void
moments(gp_env *env, gp_encoded *encoded, int64_t n, const double *z)
{
	double		square = 0.0;

	encoded->mean = 0.0;
	GP_EACH(env, i, n, i)
		encoded->mean += gp_encoded_winsorise(encoded, z[i]) / (double) n;
	GP_EACH(env, k, n, k)
		square += pow(gp_encoded_winsorise(encoded, z[k]) - encoded->mean, 2.0);
	encoded->deviation = sqrt(square / (double) n);
	if (!(encoded->deviation > 1e-9 * fabs(encoded->mean)) || !isfinite(encoded->deviation))
		encoded->deviation = 0.0;
}

/* True where a few of the numbers, none of which is negative, are much larger than the others. */
static bool
is_skewed(const gp_encoded *encoded, int64_t n, const double *z)
{
	double		cubes = 0.0;

	if (encoded->low < 0.0 || encoded->deviation == 0.0)
		return false;
	for (int64_t i = 0; i < n; i++)
		cubes += pow(fabs(gp_encoded_winsorise(encoded, z[i]) - encoded->mean) /
					 encoded->deviation, 3.0);
	return cubes / (double) n > SKEWED;
}

/* Encodes numbers, some of which may be NULL. */
static void
encode_numbers(gp_env *env, gp_encoded *encoded, int64_t n, const gp_kept_value *value)
{
	double	   *z = gp_alloc_array(env, n, sizeof(double));
	int64_t		present = 0;

	for (int64_t i = 0; i < n; i++)
		if (!isnan(value[i].number))
			z[present++] = value[i].number;
	gp_sort(env, z, present, sizeof(double), gp_compare_double, NULL);
	int64_t		cut = (int64_t) (TAIL * (double) present);
	encoded->low = z[cut];
	encoded->high = z[present - 1 - cut];
	moments(env, encoded, present, z);
	if (is_skewed(encoded, present, z))
	{
		encoded->logarithm = true;
		moments(env, encoded, present, z);
	}
	encoded->null_share = 1.0 - (double) present / (double) n;
	encoded->nulls = present < n;
	gp_free(env, z);
}

/* ---- a column ---- */

/* How one column, or a number of a list, is encoded. */
static void
encode_column(const gp_encoder *e, gp_encoded *encoded, gp_kept_value *value, gp_tallied *room,
			const gp_timed *by_time)
{
	int64_t		n = e->early;
	bool		filled = !encoded->known && gp_is_filled_later(e->n, value, by_time);
	bool		rewritten = !encoded->known && encoded->kind < GP_CELL_KEY &&
		gp_is_rewritten(e->env, e->n, value, by_time, room);
	bool		later = encoded->kind == GP_CELL_TIME && !encoded->known && gp_hide_later(n, value);
	int64_t		different = gp_tally(e->env, n, value, room);
	int64_t		present = n;

	for (int64_t i = 0; i < different; i++)
		if (room[i].value == GP_CATEGORY_NULL)
			present -= room[i].count;
	encoded->distinct = (int32_t) gp_min64(different - (present < n), GP_ENCODED_COUNTED + 1);
	encoded->way = encoded->kind == GP_CELL_TIME ? GP_ENCODED_AGE : GP_ENCODED_NUMBER;
	if (e->total[encoded->column])
		encoded->way = GP_ENCODED_TOTAL;
	else if (later)
		encoded->way = GP_ENCODED_LATER;
	else if (present == 0)
		encoded->way = GP_ENCODED_EMPTY;
	else if (different == 1)
		encoded->way = GP_ENCODED_CONSTANT;
	else if (filled)
		encoded->way = GP_ENCODED_FILLED;
	else if (rewritten)
		encoded->way = GP_ENCODED_REWRITTEN;
	else if (gp_cell_is_word(encoded->kind))
	{
		bool		is_key = encoded->kind >= GP_CELL_KEY;

		encoded->way = GP_ENCODED_CATEGORY;
		if (is_key ? encoded->kind == GP_CELL_LISTED_KEY || encoded->distinct <= GP_ENCODED_KEYS :
			encoded->distinct <= FEW_WORDS || 2 * encoded->distinct <= present)
			choose_categories(encoded, n, different, room);
		if (encoded->hot == 0)
			encoded->way = GP_ENCODED_NAME;
	}
	else
		encode_numbers(e->env, encoded, n, value);
	if (encoded->kind == GP_CELL_INTEGER && encoded->way == GP_ENCODED_NUMBER &&
		encoded->distinct <= FEW_INTEGERS)
	{
		choose_categories(encoded, n, different, room);
		encoded->way = encoded->hot > 0 ? GP_ENCODED_BOTH : GP_ENCODED_NUMBER;
	}
}

/* ---- numbers within categories ---- */

/*
 * Encodes a number within each category that has enough values, the most frequent first; returns
 * how many encoded columns that are, at most so many.
 */
static int32_t
encode_within(const gp_encoder *e, const gp_encoded *number, const gp_encoded *within,
			  int32_t which, const gp_kept_value *category, gp_kept_value *value, int32_t most,
			  gp_encoded *out)
{
	int32_t		encoded = 0;

	for (int32_t k = 0; k < within->hot && encoded < most; k++)
	{
		int64_t		n = 0;

		gather(e, number->column, number->element, value);
		for (int64_t i = 0; i < e->early; i++)
			if (category[i].category == within->category[k] && !isnan(value[i].number))
				value[n++] = value[i];
		if (n < WITHIN_FEWEST)
			continue;
		out[encoded] = (gp_encoded) {.column = number->column,.element = number->element,
			.kind = number->kind,.way = GP_ENCODED_WITHIN,.within = which,.rank = k};
		encode_numbers(e->env, &out[encoded], n, value);
		encoded += out[encoded].deviation > 0.0;
	}
	return encoded;
}

/* Adds such columns of all numbers, those of fewest categories first, as long as there is room. */
static gp_encoded *
add_within(const gp_encoder *e, gp_encoded *encoded, int32_t *nencoded, gp_kept_value *value)
{
	gp_kept_value *category = gp_alloc_array(e->env, e->n, sizeof(gp_kept_value));
	int32_t		plain = *nencoded;

	encoded = gp_realloc_array(e->env, encoded, plain + GP_ENCODED_WITHIN_MOST, sizeof(gp_encoded));
	for (int32_t hot = 1; hot <= GP_ENCODED_KEYS; hot++)
		for (int32_t w = 0; w < plain; w++)
		{
			if (encoded[w].way != GP_ENCODED_CATEGORY || encoded[w].hot != hot)
				continue;
			gather(e, encoded[w].column, encoded[w].element, category);
			for (int32_t p = 0; p < plain; p++)
				if (encoded[p].way != GP_ENCODED_AGE && encoded[p].deviation > 0.0)
					*nencoded += encode_within(e, &encoded[p], &encoded[w], w, category, value,
											   plain + GP_ENCODED_WITHIN_MOST - *nencoded,
											   encoded + *nencoded);
		}
	gp_free(e->env, category);
	return encoded;
}

/* What each column is encoded as, named, not yet looked at. */
static gp_encoded *
name_encoded(const gp_encoder *e, int32_t *n)
{
	*n = 0;
	for (int32_t c = 0; c < e->columns; c++)
		*n += e->longest[c] > 1 ? e->longest[c] : 1;
	gp_encoded *encoded = gp_alloc_zero(e->env, *n, sizeof(gp_encoded));
	*n = 0;
	for (int32_t c = 0; c < e->columns; c++)
		for (int32_t k = 0; k == 0 || k < e->longest[c]; k++)
		{
			encoded[*n].column = c;
			encoded[*n].element = k;
			encoded[*n].known = e->known[c];
			encoded[(*n)++].kind = e->kind[c];
		}
	return encoded;
}

/* Rows of later times come behind the others, each in the order of their draws. */
static int
compare_rows(const void *a, const void *b, void *encoder)
{
	gp_time		until = ((const gp_encoder *) encoder)->until;
	int			late = (((const kept_row *) a)->at > until) - (((const kept_row *) b)->at > until);

	return late != 0 ? late : gp_compare_int64(a, b, NULL);
}

gp_encoding *
gp_encoder_finish(gp_encoder *e, bool within)
{
	gp_env	   *env = e->env;
	gp_kept_value *value = gp_alloc_array(env, e->n, sizeof(gp_kept_value));
	gp_tallied   *room = gp_alloc_array(env, e->n, sizeof(gp_tallied));
	gp_time    *at = gp_alloc_array(env, e->n, sizeof(gp_time));
	int32_t		nencoded;
	gp_encoded *encoded = name_encoded(e, &nencoded);
	int32_t		width = 0;

	gp_sort(env, e->row, e->n, sizeof(kept_row), compare_rows, e);
	for (int64_t i = 0; i < e->n; i++)
	{
		at[i] = e->row[i].at;
		e->early += at[i] <= e->until;
	}
	gp_timed   *by_time = gp_by_time(env, e->n, at);
	for (int32_t p = 0; p < nencoded; p++)
	{
		gather(e, encoded[p].column, encoded[p].element, value);
		encode_column(e, &encoded[p], value, room, by_time);
		encoded[p].first = width;
		encoded[p].width = gp_encoded_width(&encoded[p]);
		width += encoded[p].width;
	}
	if (within)
		encoded = add_within(e, encoded, &nencoded, value);
	gp_encoding *out = gp_encoding_of(env, encoded, nencoded);
	for (int64_t i = 0; i < e->n; i++)
		gp_free(env, e->row[i].length);
	gp_free_all(env, value, room, at, by_time, encoded, e->row, e->kind, e->known, e->total,
				e->longest, e);
	return out;
}
