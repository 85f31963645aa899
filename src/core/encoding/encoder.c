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
#define LATER 0.01				/* share of times later than their row's */
#define FILLED_MOST 0.2			/* a column is filled in later if at most so much of it is NULL, */
#define FILLED_NEWEST 0.6		/* and so much of the newest rows, of a number equal to its NULLs */
#define WITHIN_FEWEST 20		/* values of a category that a number is encoded within */
#define FILLED_FEWEST 20		/* NULLs that say so */
#define NEW_ROWS 20				/* newest rows: values that are written again later have */
#define NEW_VALUES 2			/* up to so many of them */
#define NEWEST_VALUE 0.8		/* so much of these, */
#define NEW_VALUE 0.5			/* so much of these or of 40, 80, ... of the newest, */
#define NEW_MOST 0.1			/* of up to this share of all rows, */
#define OLD_VALUE 0.05			/* and at most so much */
#define OLD_ROWS 0.8			/* of the oldest, that share of all; */
#define OLD_CHANGE 0.4			/* stretches of these differ by at most so much of the change, */
#define AT_ONCE 0.97			/* and it did not come to be the only value from one row on */

/* A value of a kept row. */
typedef struct kept_value
{
	/* NaN: NULL; of times their age in years, negative where they are later */
	double		number;
	uint64_t	category;
} kept_value;

/* A kept row: a value of each column, and those of its lists, one after the other. */
typedef struct kept_row
{
	uint64_t	draw;			/* first: rows are sorted by it */
	gp_time		at;
	int32_t    *length;			/* of each list; columns of them */
	kept_value *value;			/* behind it: a number of other columns, the numbers of lists */
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
static kept_value
keep_value(gp_cell_kind kind, gp_time at, const gp_cell *cell, int32_t k)
{
	kept_value	v = {NAN, GP_CATEGORY_NULL};

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
	row->length = gp_alloc(e->env, lengths + (size_t) values * sizeof(kept_value));
	row->value = (kept_value *) ((char *) row->length + lengths);
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
gather(const gp_encoder *e, int32_t column, int32_t k, kept_value *out)
{
	GP_EACH(e->env, i, e->n, i * e->columns)
	{
		const kept_row *row = &e->row[i];
		int64_t		at = k;

		for (int32_t c = 0; c < column; c++)
			at += row->length[c];
		out[i] = k < row->length[column] ? row->value[at] : (kept_value) {NAN, GP_CATEGORY_NULL};
	}
}

/* ---- categories ---- */

/* A category and how often it is there. */
typedef struct category
{
	uint64_t	value;
	int64_t		count;
} category;

static int
compare_values(const void *a, const void *b, void *unused)
{
	uint64_t	x = ((const category *) a)->value;
	uint64_t	y = ((const category *) b)->value;

	return (x > y) - (x < y);
}

/* The most frequent first; ties by value. */
static int
compare_counts(const void *a, const void *b, void *unused)
{
	int64_t		x = ((const category *) a)->count;
	int64_t		y = ((const category *) b)->count;

	return x != y ? (x < y) - (x > y) : compare_values(a, b, NULL);
}

/* The different values, NULL one of them, the most frequent first; returns their number. */
static int64_t
tally(gp_env *env, int64_t n, const kept_value *value, category *out)
{
	int64_t		different = 0;

	for (int64_t i = 0; i < n; i++)
		out[i] = (category) {value[i].category, 1};
	gp_sort(env, out, n, sizeof(category), compare_values, NULL);
	for (int64_t i = 0; i < n; i++)
		if (different > 0 && out[different - 1].value == out[i].value)
			out[different - 1].count++;
		else
			out[different++] = out[i];
	gp_sort(env, out, different, sizeof(category), compare_counts, NULL);
	return different;
}

/* Makes the most frequent of them columns. */
static void
choose_categories(gp_encoded *encoded, int64_t n, int64_t different, const category *c)
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
encode_numbers(gp_env *env, gp_encoded *encoded, int64_t n, const kept_value *value)
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

/* Times that are later than their row are unknown at its time; returns their share of all. */
static double
hide_later(int64_t n, kept_value *value)
{
	int64_t		later = 0;
	int64_t		present = 0;

	for (int64_t i = 0; i < n; i++)
	{
		present += !isnan(value[i].number);
		if (!(value[i].number < 0.0))
			continue;
		later++;
		value[i] = (kept_value) {NAN, GP_CATEGORY_NULL};
	}
	return present > 0 ? (double) later / (double) present : 0.0;
}

/*
 * True for a column whose NULLs are in the newest rows: its values are written a while after their
 * rows.  by_time has the rows in the order of their times.
 */
static bool
is_filled_later(const gp_encoder *e, const kept_value *value, const gp_timed *by_time)
{
	int64_t		nulls = 0;
	int64_t		newest = 0;

	for (int64_t i = 0; i < e->n; i++)
		nulls += value[i].category == GP_CATEGORY_NULL;
	if (nulls < FILLED_FEWEST || (double) nulls > FILLED_MOST * (double) e->n ||
		by_time[0].as_of == by_time[e->n - 1].as_of)
		return false;
	for (int64_t i = e->n - nulls; i < e->n; i++)
		newest += value[by_time[i].row].category == GP_CATEGORY_NULL;
	return (double) newest >= FILLED_NEWEST * (double) nulls;
}

/* The share of n values that are one of some categories. */
static double
share_of(int64_t n, const kept_value *value, const category *of, int32_t values)
{
	int64_t		count = 0;

	for (int64_t i = 0; i < n; i++)
		for (int32_t v = 0; v < values; v++)
			count += value[i].category == of[v].value;
	return (double) count / (double) n;
}

/*
 * By how much the most frequent of n values are more frequent there than among the old rows; of
 * those that are not, nothing.
 */
static double
excess(gp_env *env, int64_t n, const kept_value *value, int64_t nold, const kept_value *old,
	   int32_t values, category *room)
{
	int64_t		different = tally(env, n, value, room);
	double		sum = 0.0;

	for (int32_t v = 0; v < values && v < different; v++)
		sum += fmax(0.0, (double) room[v].count / (double) n - share_of(nold, old, &room[v], 1));
	return sum;
}

/* True where the newest n of rows in order of time have values that no stretch of the old had. */
static bool
are_new(const gp_encoder *e, const kept_value *value, int64_t n, const category *newest,
		int32_t values, int64_t nold, category *room)
{
	double		share = share_of(n, value + e->n - n, newest, values);
	double		change = share - share_of(nold, value, newest, values);
	bool		new = share >= NEW_VALUE;

	for (int64_t at = 0; new && at + n <= nold; at += n)
		new = excess(e->env, n, value + at, nold, value, values, room) <= OLD_CHANGE * change;
	return new;
}

/* True where so many of the most frequent newest values are written again later. */
static bool
change_later(const gp_encoder *e, const kept_value *ordered, const category *newest,
			 int32_t values, category *room)
{
	int64_t		nold = (int64_t) (OLD_ROWS * (double) e->n);
	int64_t		holders = (int64_t) ((double) e->n * share_of(e->n, ordered, newest, values) + 0.5);
	bool		found = false;

	if (share_of(NEW_ROWS, ordered + e->n - NEW_ROWS, newest, values) < NEWEST_VALUE ||
		share_of(nold, ordered, newest, values) > OLD_VALUE ||
		share_of(holders, ordered + e->n - holders, newest, values) > AT_ONCE)
		return false;
	for (int64_t n = NEW_ROWS; !found && (double) n <= NEW_MOST * (double) e->n; n *= 2)
		found = are_new(e, ordered, n, newest, values, nold, room);
	return found;
}

/*
 * True for a column whose newest rows have values that old ones lack, such as a status that is
 * written again, once or twice.  Where values come and go, as versions and seasons do, old
 * stretches say so.
 */
static bool
is_rewritten(const gp_encoder *e, const kept_value *value, const gp_timed *by_time,
			 category *room)
{
	category	newest[NEW_VALUES];
	bool		found = false;

	if (NEW_MOST * (double) e->n < NEW_ROWS || by_time[0].as_of == by_time[e->n - 1].as_of)
		return false;
	kept_value *ordered = gp_alloc_array(e->env, e->n, sizeof(kept_value));
	for (int64_t i = 0; i < e->n; i++)
		ordered[i] = value[by_time[i].row];
	int64_t		different = tally(e->env, NEW_ROWS, ordered + e->n - NEW_ROWS, room);
	memcpy(newest, room, sizeof(newest));
	for (int32_t values = 1; !found && values <= NEW_VALUES && values <= different; values++)
		found = change_later(e, ordered, newest, values, room);
	gp_free(e->env, ordered);
	return found;
}

/* How one column, or a number of a list, is encoded. */
static void
encode_column(const gp_encoder *e, gp_encoded *encoded, kept_value *value, category *room,
			const gp_timed *by_time)
{
	int64_t		n = e->early;
	bool		filled = !encoded->known && is_filled_later(e, value, by_time);
	bool		rewritten = !encoded->known && encoded->kind < GP_CELL_KEY &&
		is_rewritten(e, value, by_time, room);
	double		later = encoded->kind == GP_CELL_TIME && !encoded->known ?
		hide_later(n, value) : 0.0;
	int64_t		different = tally(e->env, n, value, room);
	int64_t		present = n;

	for (int64_t i = 0; i < different; i++)
		if (room[i].value == GP_CATEGORY_NULL)
			present -= room[i].count;
	encoded->distinct = (int32_t) gp_min64(different - (present < n), GP_ENCODED_COUNTED + 1);
	encoded->way = encoded->kind == GP_CELL_TIME ? GP_ENCODED_AGE : GP_ENCODED_NUMBER;
	if (e->total[encoded->column])
		encoded->way = GP_ENCODED_TOTAL;
	else if (later > LATER)
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
		if (is_key ? encoded->distinct <= GP_ENCODED_KEYS :
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
			  int32_t which, const kept_value *category, kept_value *value, int32_t most,
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
add_within(const gp_encoder *e, gp_encoded *encoded, int32_t *nencoded, kept_value *value)
{
	kept_value *category = gp_alloc_array(e->env, e->n, sizeof(kept_value));
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
	gp_encoded *encoded;

	*n = 0;
	for (int32_t c = 0; c < e->columns; c++)
		*n += e->longest[c] > 1 ? e->longest[c] : 1;
	encoded = gp_alloc_zero(e->env, *n, sizeof(gp_encoded));
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
	kept_value *value = gp_alloc_array(env, e->n, sizeof(kept_value));
	category   *room = gp_alloc_array(env, e->n, sizeof(category));
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
