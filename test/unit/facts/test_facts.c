/*
 * test_facts.c - encoding, scan and scaling: kinds of columns, what a row may see, facts of equal
 * times, what is left out, and every allocation failing.
 */
#include "encoding/encoding_internal.h"
#include "facts/facts_internal.h"
#include "regression/solution.h"
#include "test_env.h"

#include <stdlib.h>

/* ---- encoding ---- */

static gp_cell
number(double z)
{
	return (gp_cell) {.null = isnan(z),.number = z};
}

static gp_cell
word(const char *text)
{
	uint64_t	word = 0;

	for (int k = 0; text && text[k]; k++)
		word = gp_hash(word ^ (uint64_t) text[k]);
	return (gp_cell) {.null = text == NULL,.word = word};
}

/* A name that no other row has. */
static gp_cell
name_of(int i, char *room)
{
	snprintf(room, 32, "name %d", i);
	return word(room);
}

#define KINDS 8
static const gp_cell_kind kinds[KINDS] = {
	GP_CELL_NUMBER, GP_CELL_INTEGER, GP_CELL_WORD, GP_CELL_WORD, GP_CELL_TIME, GP_CELL_TIME, GP_CELL_LIST, GP_CELL_NUMBER
};

/* Row i of a table with a column of each kind, seen on day i. */
static void
make_row(int i, char *room, double *list, gp_cell *cell)
{
	static const char *const colours[] = {"red", "green", NULL, "blue"};

	list[0] = i % 7;
	list[1] = NAN;
	cell[0] = number(i % 10 == 0 ? NAN : i);
	cell[1] = number(i % 3);
	cell[2] = word(colours[i % 4]);
	cell[3] = name_of(i, room);
	cell[4] = (gp_cell) {.time = (i - 400 - i % 5) * GP_TIME_DAY};
	cell[5] = (gp_cell) {.time = (i + 1) * GP_TIME_DAY};
	cell[6] = (gp_cell) {.list = list,.length = i % 2 ? 1 : 2};
	cell[7] = number(i % 100 == 0 ? 1e6 : i % 9);
}

/* The encoding of so many rows, forwards or backwards. */
static gp_encoding *
encode_rows(gp_env *env, int n, bool backwards)
{
	gp_encoder *e = gp_encoder_create(env, KINDS, kinds, GP_TIME_NEVER, NULL);

	for (int k = 0; k < n; k++)
	{
		int			i = backwards ? n - 1 - k : k;
		char		room[32];
		double		list[2];
		gp_cell		cell[KINDS];

		make_row(i, room, list, cell);
		gp_encoder_look(e, (uint64_t) i + 1, i * GP_TIME_DAY, cell);
	}
	return gp_encoder_finish(e, false);
}

static const gp_encoded *
encoded_of(const gp_encoding *e, int32_t column)
{
	for (int32_t p = 0; p < e->nencoded; p++)
		if (e->encoded[p].column == column)
			return &e->encoded[p];
	return NULL;
}

/* The numbers of keys of so many values, of the first and then of a NULL, which none was. */
static int32_t
encode_keys(gp_env *env, int values, double *first, double *null)
{
	gp_cell_kind kind = GP_CELL_KEY;
	gp_encoder *e = gp_encoder_create(env, 1, &kind, GP_TIME_NEVER, NULL);
	gp_cell		nothing = {.null = true};
	int32_t		width;

	for (int i = 0; i < 1000; i++)
	{
		char		room[32];
		gp_cell		cell = name_of(i % values, room);

		gp_encoder_look(e, (uint64_t) i + 1, i * GP_TIME_DAY, &cell);
	}
	gp_encoding *made = gp_encoder_finish(e, false);
	width = made->width;
	if (width > 0)
	{
		char		room[32];
		gp_cell		cell = name_of(0, room);

		gp_encode(made, &cell, first);
		gp_encode(made, &nothing, null);
	}
	gp_free(env, made);
	return width;
}

static void
check_keys(gp_env *env)
{
	double		first[GP_ENCODED_KEYS];
	double		null[GP_ENCODED_KEYS];
	int			large = 0;
	int			zeros = 0;

	is_int(encode_keys(env, GP_ENCODED_KEYS + 1, first, null), 0, "a key of many values is left out");
	is_int(encode_keys(env, GP_ENCODED_KEYS, first, null), GP_ENCODED_KEYS,
		   "of few each is a category");
	for (int k = 0; k < GP_ENCODED_KEYS; k++)
	{
		large += first[k] > 1.0;
		zeros += null[k] == 0.0;
	}
	is_int(large, 1, "of which a row is one");
	is_int(zeros, GP_ENCODED_KEYS, "a NULL that was never seen tells nothing");
}

static void
check_kinds(gp_env *env)
{
	gp_encoding *e = encode_rows(env, 1000, false);
	double	   *row = gp_alloc_array(env, e->width, sizeof(double));
	double	   *sum = gp_alloc_zero(env, e->width, sizeof(double));
	const gp_encoded *age = encoded_of(e, 4);
	double		largest = 0.0;
	char		way[64];
	char		note[128];

	is_int(encoded_of(e, 0)->way, GP_ENCODED_NUMBER, "a number");
	is_int(encoded_of(e, 0)->width, 2, "with a column of whether it is NULL");
	is_int(encoded_of(e, 1)->way, GP_ENCODED_BOTH, "an integer of three values is a number and three categories");
	is_int(encoded_of(e, 1)->width, 4, "in four columns");
	is_int(encoded_of(e, 2)->hot, 4, "NULL is a category of words");
	is_int(encoded_of(e, 3)->way, GP_ENCODED_NAME, "a name is left out");
	is_int(age->way, GP_ENCODED_AGE, "a date is an age");
	is_int(encoded_of(e, 5)->way, GP_ENCODED_LATER, "dates later than their rows are left out");
	is_int(e->nencoded, KINDS + 1, "a list is its numbers");
	is_int(encoded_of(e, 6)[1].way, GP_ENCODED_EMPTY, "of which one is always NULL");
	ok(encoded_of(e, 7)->logarithm, "a few large numbers call for a logarithm");
	for (int i = 0; i < 1000; i++)
	{
		char		room[32];
		double		list[2];
		gp_cell		cell[KINDS];

		make_row(i, room, list, cell);
		gp_encode(e, cell, row);
		gp_encode_ages(e, i * GP_TIME_DAY, row);
		for (int c = 0; c < e->width; c++)
		{
			sum[c] += row[c] / 1000.0;
			largest = fmax(largest, fabs(row[c]));
		}
	}
	ok(fabs(sum[0]) < 1e-9 && fabs(sum[encoded_of(e, 1)->first]) < 1e-9 && fabs(sum[age->first]) < 1e-9,
	   "encoded columns have a mean of 0");
	ok(largest < 12.0, "and ordinary sizes");
	gp_encoded_describe(encoded_of(e, 3), way, sizeof(way), note, sizeof(note));
	is_str(way, "left out", "what is left out says so");
	gp_encoded_describe(encoded_of(e, 1), way, sizeof(way), note, sizeof(note));
	is_str(way, "number, categories", "and what is not how");
}

/* Columns that are NULL in the newest rows are left out, unless one is known with its row. */
static void
check_filled_later(gp_env *env)
{
	static const gp_cell_kind two[] = {GP_CELL_NUMBER, GP_CELL_WORD};

	for (int asked = -1; asked < 2; asked++)
	{
		const bool	known[2] = {asked == 0, asked == 1};
		gp_encoder *e = gp_encoder_create(env, 2, two, 850 * GP_TIME_DAY, known);

		for (int i = 0; i < 1000; i++)
		{
			/* Of the newest hundred rows more and more are NULL; here and there another is. */
			bool		null = i % 97 == 0 || (i >= 900 && i % 10 <= (i - 900) / 10);
			gp_cell		cell[2] = {number(null ? NAN : i % 7), {.null = i % 9 == 0,.word = 7}};

			cell[0].null = null;
			gp_encoder_look(e, (uint64_t) i + 1, i * GP_TIME_DAY, cell);
		}
		gp_encoding *of = gp_encoder_finish(e, false);
		is_int(encoded_of(of, 0)->way, asked == 0 ? GP_ENCODED_NUMBER : GP_ENCODED_FILLED, "a column that is filled in later");
		ok(asked != 0 || encoded_of(of, 0)->null_share < 0.02, "later rows tell nothing else");
		is_int(encoded_of(of, 1)->way, GP_ENCODED_CATEGORY, "and one that is NULL at any time");
		gp_free(env, of);
	}
}

/* What is not known at the row's time counts as NULL, and gives nothing away. */
static void
check_later_dates(gp_env *env)
{
	gp_cell_kind kind = GP_CELL_TIME;
	gp_encoder *e = gp_encoder_create(env, 1, &kind, GP_TIME_NEVER, NULL);
	double		later[2];
	double		null[2];
	gp_cell		cell;

	for (int i = 0; i < 300; i++)
	{
		cell = (gp_cell) {.time = (i % 40) * GP_TIME_DAY,.null = i % 3 == 0};
		gp_encoder_look(e, (uint64_t) i + 1, 50 * GP_TIME_DAY, &cell);
	}
	gp_encoding *of = gp_encoder_finish(e, false);
	is_int(of->width, 2, "an age, and whether it is NULL");
	cell = (gp_cell) {.time = 60 * GP_TIME_DAY};
	gp_encode(of, &cell, later);
	gp_encode_ages(of, 55 * GP_TIME_DAY, later);
	cell.null = true;
	gp_encode(of, &cell, null);
	gp_encode_ages(of, 55 * GP_TIME_DAY, null);
	ok(later[0] == null[0] && later[1] == null[1], "a date in the future looks like none");
	of->encoded[0].known = true;
	cell.null = false;
	gp_encode(of, &cell, later);
	gp_encode_ages(of, 55 * GP_TIME_DAY, later);
	ok(later[0] < null[0] && later[1] != null[1], "unless it is known with its row: a negative age");
}

/* A number of three kinds, each of its own size, and a fact that has it of one kind alone. */
static void
check_within(gp_env *env)
{
	static const char *const name[] = {"height", "weight", NULL};
	static const gp_cell_kind kind[] = {GP_CELL_WORD, GP_CELL_NUMBER};
	static const gp_aggregates each = {GP_FACTS_LAST | GP_FACTS_MEAN, 1, GP_TIME_DAY, 0.0, true, false};
	gp_time		as_of = 10 * GP_TIME_DAY;
	int32_t		key = 0;
	gp_task_columns *f = gp_task_columns_create(env, 1, &as_of);
	gp_encoder *e = gp_encoder_create(env, 2, kind, GP_TIME_NEVER, NULL);
	double		value[4];		/* and whatever the category is */

	for (int i = 0; i < 300; i++)
	{
		gp_cell		cell[] = {word(name[i % 3]), number(pow(10.0, i % 3) + (i / 3 % 2 ? 2.0 : -2.0))};

		gp_encoder_look(e, (uint64_t) i + 1, 0, cell);
	}
	gp_encoding *of = gp_encoder_finish(e, true);
	is_int(of->nwithin, 3, "a number within three categories, NULL one of them");
	gp_scan    *s = gp_scan_open(f, gp_task_columns_facts(f, "facts", of->nwithin, each), &key);
	for (int day = 1; day < 7; day++)
	{
		gp_cell		cell[] = {word(name[day % 2]), number((day % 2 ? 10.0 : 1.0) + 2.0 * (day > 4) - 1.0)};

		gp_encode_apart(of, cell, value);
		is_int(isnan(value[0]) + isnan(value[1]) + isnan(value[2]), 2, "a row is of one category");
		gp_scan_fact(s, key, day * GP_TIME_DAY, value);
	}
	gp_scan_close(s);
	const float *row = gp_task_columns_row(f, 0);
	for (int k = 0; k < 3; k++)
	{
		bool		seen = of->encoded[of->encoded[of->nencoded + k].within].category[of->encoded[of->nencoded + k].rank]
			!= GP_CATEGORY_NULL;

		close_to(row[k], seen ? 0.5 : 0.0, 1e-6, "the last of each kind is that of its own mean and deviation");
		close_to(row[3 + k], seen ? -0.5 / 3.0 : 0.0, 1e-6, "and so is their mean");
	}
	gp_encoding *stored = gp_encoding_of(env, of->encoded, of->nencoded + of->nwithin);
	is_int(stored->nwithin, 3, "a stored encoding has them");
	of->encoded[of->nencoded].rank = of->encoded[of->encoded[of->nencoded].within].hot;
	ok(gp_encoding_of(env, of->encoded, of->nencoded + of->nwithin) == NULL, "one of no category is damaged");
	of->encoded[of->nencoded].rank = 0;
	of->encoded[of->nencoded].kind = GP_CELL_LIST;
	ok(gp_encoding_of(env, of->encoded, of->nencoded + of->nwithin) == NULL, "and so is one that would be read as a list");
	gp_task_columns_free(f);
}

/* The bits do not depend on the order, also of more rows than are kept; a stored encoding is the same. */
static void
check_order_of_rows(gp_env *env)
{
	int			n = 3 * GP_ENCODER_ROWS;
	gp_encoding *one = encode_rows(env, n, false);
	gp_encoding *other = encode_rows(env, n, true);
	gp_encoding *stored = gp_encoding_of(env, one->encoded, one->nencoded);

	ok(one->nencoded == other->nencoded &&
	   memcmp(one->encoded, other->encoded, one->nencoded * sizeof(gp_encoded)) == 0, "the order of rows does not matter");
	is_int(stored->width, one->width, "a stored encoding has the same width");
}

/* ---- scan ---- */

/* The columns of one row on a day, of facts of one number each: key 0, on these days. */
static void
scan_one(gp_env *env, int as_of_day, int n, const int *day, const double *value, gp_aggregates a, double *out)
{
	gp_time		as_of = as_of_day * GP_TIME_DAY;
	int32_t		key = 0;
	gp_task_columns *f = gp_task_columns_create(env, 1, &as_of);
	gp_scan    *s = gp_scan_open(f, gp_task_columns_facts(f, "facts", 1, a), &key);

	for (int i = 0; i < n; i++)
		gp_scan_fact(s, 0, day[i] * GP_TIME_DAY, &value[i]);
	gp_scan_close(s);
	for (int c = 0; c < gp_task_columns_width(f); c++)
		out[c] = gp_task_columns_row(f, 0)[c];
	gp_task_columns_free(f);
}

static const gp_aggregates usual = {GP_FACTS_USUAL, 2, 10.0 * GP_TIME_DAY, 1.0, false, false};
#define WIDTH 7					/* of the usual aggregates of one number */

static void
check_no_leak(gp_env *env)
{
	static const int day[] = {1, 5, 8};
	static const double value[] = {1.0, 2.0, 100.0};
	double		then[WIDTH];
	double		without[WIDTH];

	scan_one(env, 8, 3, day, value, usual, then);
	scan_one(env, 8, 2, day, value, usual, without);
	ok(memcmp(then, without, sizeof(then)) == 0, "a fact of just the row's time is not seen");
	scan_one(env, 9, 3, day, value, usual, then);
	ok(then[0] > without[0] + 10.0, "a day later it is");
	close_to(then[1], (2.0 + 100.0) / 3.0, 1e-6, "the mean of the last two, with a pseudo-count");
	close_to(then[2], log(4.0), 1e-6, "the count of facts");
	scan_one(env, 9, 0, day, value, usual, then);
	ok(then[0] == 0.0 && then[1] == 0.0 && then[2] == 0.0 && isnan(then[4]) && then[6] == 1.0,
	   "a row without facts has none, and no age");
}

/* A ring of two, in which facts of one time share a place. */
static void
check_equal_times(gp_env *env)
{
	static const int day[] = {1, 5, 5, 5, 7};
	static const double value[] = {9.0, 1.0, 2.0, 6.0, 4.0};
	static const double turned[] = {9.0, 6.0, 1.0, 2.0, 4.0};
	double		one[WIDTH];
	double		other[WIDTH];

	scan_one(env, 9, 5, day, value, usual, one);
	scan_one(env, 9, 5, day, turned, usual, other);
	ok(memcmp(one, other, sizeof(one)) == 0, "facts of one time count the same in any order");
	close_to(one[1], (4.0 + 3.0) / 3.0, 1e-6, "those of a time that the last few begin in by their share");
	scan_one(env, 6, 4, day, value, usual, one);
	close_to(one[1], 2.0 * 3.0 / 3.0, 1e-6, "also where they are all that there is");
}

static void
check_changes(gp_env *env)
{
	static const int day[] = {1, 5, 8};
	static const double value[] = {1.0, 2.0, 6.0};
	gp_aggregates a = {GP_FACTS_PACE | GP_FACTS_CHANGE | GP_FACTS_SPREAD, 2, 10.0 * GP_TIME_DAY, 1.0, true, false};
	double		of[3];

	scan_one(env, 9, 3, day, value, a, of);
	close_to(of[0], log((4.0 * (exp2(-0.4) + exp2(-1.6) + exp2(-3.2)) + 1.0) /
						(exp2(-0.1) + exp2(-0.4) + exp2(-0.8) + 1.0)), 1e-6, "new facts count by a quarter of the half-life");
	close_to(of[1], 6.0 - 4.0, 1e-6, "the last less the mean of the last two");
	close_to(of[2], sqrt((4.0 + 4.0 + 1.0) / 3.0), 1e-6, "their deviation, with a pseudo-count");
	scan_one(env, 9, 0, day, value, a, of);
	ok(of[0] == 0.0 && of[1] == 0.0 && of[2] == 1.0, "without facts nothing changes");
}

static void
check_other_aggregates(gp_env *env)
{
	static const int day[] = {1, 2, 3};
	static const double value[] = {-3.0, -1.0, -2.0};
	gp_aggregates a = {GP_FACTS_MEAN | GP_FACTS_SUM | GP_FACTS_COUNT, 0, GP_TIME_DAY, 0.0, false, false};
	double		out[3];

	scan_one(env, 9, 3, day, value, a, out);
	close_to(out[0], -2.0, 1e-6, "a mean");
	close_to(out[1], -6.0, 1e-6, "a sum");
	close_to(out[2], log(4.0), 1e-6, "a count");
}

/* Rows of several keys against a plain loop; facts come key by key, in any order of keys. */
static void
check_many_keys(gp_env *env)
{
	enum { ROWS = 200, KEYS = 20, FACTS = 15 };
	uint64_t	state = 5;
	gp_time		as_of[ROWS];
	int32_t		key[ROWS];
	int			day[KEYS][FACTS];
	double		value[KEYS][FACTS];
	gp_task_columns *f = gp_task_columns_create(env, ROWS, as_of);
	bool		same = true;

	for (int i = 0; i < ROWS; i++)
	{
		as_of[i] = draw_below(&state, 100) * GP_TIME_DAY;
		key[i] = i % 11 == 0 ? -1 : draw_below(&state, KEYS);
	}
	gp_scan    *s = gp_scan_open(f, gp_task_columns_facts(f, "facts", 1, usual), key);
	for (int k = KEYS - 1; k >= 0; k--)
		for (int j = 0, at = 0; j < FACTS; j++)
		{
			day[k][j] = at += draw_below(&state, 12);
			value[k][j] = draw_unit(&state);
			gp_scan_fact(s, k, at * GP_TIME_DAY, &value[k][j]);
		}
	gp_scan_fact(s, KEYS + 7, 0, &value[0][0]);
	gp_scan_fact(s, -1, 0, &value[0][0]);
	gp_scan_fact(s, 3, GP_TIME_NEVER, &value[0][0]);
	gp_scan_close(s);
	for (int i = 0; i < ROWS; i++)
	{
		double		want[WIDTH];
		int			n = 0;

		while (key[i] >= 0 && n < FACTS && day[key[i]][n] * GP_TIME_DAY < as_of[i])
			n++;
		scan_one(env, (int) (as_of[i] / GP_TIME_DAY), n, day[key[i] < 0 ? 0 : key[i]],
				 value[key[i] < 0 ? 0 : key[i]], usual, want);
		for (int c = 0; c < WIDTH; c++)
			same = same && (isnan(want[c]) ? isnan(gp_task_columns_row(f, 0)[i * WIDTH + c]) :
							gp_task_columns_row(f, 0)[i * WIDTH + c] == (float) want[c]);
	}
	ok(same, "each row sees the facts of its key before its time");
	gp_task_columns_free(f);
}

/* When anything happened last, of two relations; a third is of others. */
static void
check_joint(gp_env *env)
{
	enum { ROWS = 2, FACTS = 3 };
	static const gp_time as_of[ROWS] = {10 * GP_TIME_DAY, 10 * GP_TIME_DAY};
	static const int32_t key[ROWS] = {0, 1};
	static const int day[FACTS] = {4, 7, 9};
	gp_task_columns *f = gp_task_columns_create(env, ROWS, as_of);
	gp_aggregates joint = usual;
	int32_t		relation[FACTS];
	double		value = 1.0;
	double		count = 0.0;

	relation[2] = gp_task_columns_facts(f, "of others", 1, usual);
	joint.joint = true;
	relation[0] = gp_task_columns_facts(f, "one", 1, joint);
	is_int(gp_task_columns_joint(f), -1, "one relation is told by its own age");
	relation[1] = gp_task_columns_facts(f, "other", 1, joint);
	int32_t		group = gp_task_columns_joint(f);
	for (int i = 0; i < FACTS; i++)
	{
		gp_scan    *s = gp_scan_open(f, relation[i], key);

		gp_scan_fact(s, 0, day[i] * GP_TIME_DAY, &value);
		gp_scan_close(s);
		count += i < 2 ? exp2(-(10.0 - day[i]) / 10.0) : 0.0;
	}
	gp_task_columns_fill_joint(f, group);
	close_to(gp_task_columns_row(f, 0)[gp_task_columns_group_first(f, group)], log1p(count), 1e-6,
			 "facts of both count, halved by their half-life");
	close_to(gp_task_columns_row(f, 0)[gp_task_columns_group_first(f, group) + 1], log(4.0), 1e-6,
			 "days since the newest of both");
	ok(isnan(gp_task_columns_row(f, 1)[gp_task_columns_group_first(f, group) + 1]), "none has no age");
	gp_task_columns_free(f);
}

static void
check_wrong_order(gp_env *env)
{
	static const int day[] = {5, 1};
	static const double value[] = {1.0, 2.0};
	double		out[WIDTH];

	expect_error(env, GP_ERR_INTERNAL, scan_one(env, 9, 2, day, value, usual, out));
}

/* ---- labels and scale ---- */

static void
check_labels(gp_env *env)
{
	static const int32_t entity[] = {0, 0, 1};
	static const gp_time times[] = {10 * GP_TIME_DAY, 40 * GP_TIME_DAY, 10 * GP_TIME_DAY};
	static const double target[] = {1.0, 3.0, 2.0};
	gp_facts_labels labels = {3, entity, times, NULL, target, 0, 30 * GP_TIME_DAY, NULL};
	gp_facts_target told = gp_facts_target_of(env, &labels);
	gp_time		as_of[] = {40 * GP_TIME_DAY - 1, 40 * GP_TIME_DAY, 200 * GP_TIME_DAY};
	int32_t		key[] = {0, 0, 0};
	bool		trains[] = {true, true, false};
	gp_aggregates a = {GP_FACTS_SUM, 0, GP_TIME_DAY, 0.0, false, false};
	gp_task_columns *f = gp_task_columns_create(env, 3, as_of);
	int32_t		own = gp_task_columns_facts(f, "earlier targets", 1, a);
	int32_t		all = gp_task_columns_facts(f, "all targets", 1, a);

	gp_scan_labels(f, own, key, &told, &labels);
	gp_scan_labels(f, all, NULL, &told, &labels);
	const float *raw = gp_task_columns_row(f, 0);
	ok(raw[0] == 0.0f && raw[1] == 0.0f, "a label is unknown before its window closes");
	ok(raw[2] < 0.0f && raw[3] == raw[2], "and known from then on, also to everybody");
	close_to(raw[4], 0.0, 1e-6, "in units of its spread");
	ok(gp_facts_labels_freshness(env, &labels, 3, as_of, trains, as_of[2]) == GP_FACTS_OLD,
	   "labels are old at a row that is much later");
	ok(gp_facts_labels_freshness(env, &labels, 3, as_of, trains, as_of[1]) == GP_FACTS_OLD_AS_FACTS,
	   "as old as facts that end with them");
	as_of[2] = 69 * GP_TIME_DAY;
	ok(gp_facts_labels_freshness(env, &labels, 3, as_of, trains, as_of[2]) == GP_FACTS_FRESH,
	   "but fresh until the next label would be known");
	trains[2] = true;
	ok(gp_facts_labels_freshness(env, &labels, 3, as_of, trains, as_of[2]) == GP_FACTS_FRESH, "and fresh where nothing else is asked");
	close_to(gp_facts_median_gap(env, 3, entity, times), 30.0 * GP_TIME_DAY, 0.0, "a gap within a key");
	close_to(gp_facts_median_gap(env, 1, entity, times), 0.0, 0.0, "none");
}

/* Labels of three entities by the keys of what these refer to, one of them known late. */
static void
check_answers(gp_env *env)
{
	static const int32_t entity[] = {0, 0, 1, 2};
	static const gp_time times[] = {10, 40, 20, 15};
	static const double target[] = {1.0, 2.0, 4.0, 8.0};
	static const gp_answering answering[] = {{1, 2, GP_TIME_ALWAYS}, {0, 1, 60},
	{0, 7, GP_TIME_ALWAYS}, {0, 0, GP_TIME_ALWAYS}};
	static const gp_time as_of[] = {39, 40, 60, 61, 70, 44, 45, 99};
	static const int32_t key[] = {0, 0, 0, 0, 0, 1, 1, -1};
	static const double sum[] = {0.0, 1.0, 1.0, 5.0, 7.0, 0.0, 8.0, 0.0};
	gp_facts_labels labels = {4, entity, times, NULL, target, 0, 30, NULL};
	gp_facts_target told = {.width = 1,.deviation = {1.0}};
	gp_task_columns *f = gp_task_columns_create(env, 8, as_of);
	int32_t		beside = gp_task_columns_facts(f, "earlier targets, beside", 1,
											   (gp_aggregates) {GP_FACTS_SUM, 0, GP_TIME_DAY, 0.0, false, false});

	gp_scan_answers(f, beside, key, &told, &labels, 4, answering);
	for (int i = 0; i < 8; i++)
		close_to(gp_task_columns_row(f, i)[0], sum[i], 0.0,
				 "labels by other keys, once their windows close and the key is known");
	gp_task_columns_free(f);
}

/* Two groups of one and three columns, one of which is constant. */
static gp_task_columns *
two_groups(gp_env *env, int n, gp_time *as_of)
{
	gp_task_columns *f = gp_task_columns_create(env, n, as_of);
	int32_t		one = gp_task_columns_group(f, "one", "columns", 1);
	int32_t		three = gp_task_columns_group(f, "three", "columns", 3);

	for (int i = 0; i < n; i++)
	{
		double		x[] = {i == 0 ? 1000.0 : i % 5};
		double		y[] = {i % 3, 7.0, i % 4};

		as_of[i] = i * GP_TIME_DAY;
		gp_task_columns_put(f, one, i, x);
		gp_task_columns_put(f, three, i, y);
	}
	return f;
}

/* The mean square of the features of some columns. */
static double
mean_square(const gp_features *x, int first, int n)
{
	double		sum = 0.0;

	for (int64_t i = 0; i < x->rows; i++)
		for (int c = first; c < first + n; c++)
			sum += pow(((float *) x->dense)[i * x->dims + c], 2.0) / (double) x->rows;
	return sum;
}

static void
check_scale(gp_env *env)
{
	gp_time		as_of[100];
	gp_task_columns *f = two_groups(env, 100, as_of);
	gp_facts_scale *s = gp_task_columns_measure(f, NULL);
	gp_features *x = gp_task_columns_features(f, s);
	gp_features *again = gp_task_columns_features(two_groups(env, 100, as_of), s);
	gp_time		other_time = 0;
	gp_task_columns *other = gp_task_columns_create(env, 1, &other_time);
	double		most = 0.0;

	is_int(x->dims, 3, "constant columns are dropped");
	close_to(mean_square(x, 0, 3), 1.0, 1e-6, "the mean square length of a row is one");
	for (int c = 0; c < 3; c++)
		most = fmax(most, fabs(((float *) x->dense)[c]) / s->column[c == 2 ? 3 : c].weight);
	close_to(most, GP_FACTS_CLIP, 1e-6, "what is far out is clipped");
	close_to(s->column[0].weight / s->column[1].weight, 1.0, 1e-9, "columns count the same");
	s->column[0].relevance = 0.3;
	gp_facts_weigh(env, s, GP_FACTS_RELEVANCE, s->width);
	close_to(s->column[0].weight / s->column[1].weight, 4.0 * sqrt(2.0), 1e-9,
			 "or by their relevance, some alike, and groups alike");
	ok(memcmp(x->dense, again->dense, 300 * sizeof(float)) == 0, "new rows are made the same way");
	gp_task_columns_group(other, "three", "columns", 4);
	expect_error(env, GP_ERR_DATA, gp_task_columns_features(other, s));
}

/* ---- all of it, with faults ---- */

/* A fit of a task. */
typedef struct task_fit
{
	bool		chance;			/* nothing tells the labels */
	bool		ends;			/* later labels are all one class */
	gp_facts_scale *scale;
	gp_features *x;
	double		score[GP_FACTS_FITS];
	double		planned;		/* bytes */
	size_t		before;			/* bytes without the fit */
} task_fit;

static gp_posterior *
fit_columns(gp_device *dev, const gp_problem *problem, const void *arg)
{
	task_fit   *t = (task_fit *) arg;

	return gp_facts_fit(dev, problem, t->x, t->scale, t->score);
}

/* A task of two classes that a relation explains, beside many columns of noise, fitted. */
static gp_posterior *
fit_task(gp_env *env, task_fit *t)
{
	enum { ROWS = 120, KEYS = 12, NOISE = 800 };
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_time		as_of[ROWS];
	int32_t		key[ROWS];
	static int32_t label[ROWS];
	static int32_t labelled[ROWS];
	static int32_t block[ROWS];
	gp_graph	graph = {.nodes = ROWS,.start = gp_alloc_zero(env, ROWS + 1, sizeof(int64_t)),
	.col = gp_alloc_zero(env, 1, sizeof(int32_t))};
	gp_task_columns *f = gp_task_columns_create(env, ROWS, as_of);
	gp_problem	p = {.graph = &graph,.task = GP_TASK_CLASSES,.nlabelled = ROWS - KEYS,.labelled = labelled,.label = label,
	.nclasses = 2,.nugget = NAN,.type = GP_FLOAT,.strategy = GP_STRATEGY_NYSTROM,.live = true};
	int32_t		noise = gp_task_columns_group(f, "noise", "columns", NOISE);
	uint64_t	state = 2;

	for (int i = 0; i < ROWS; i++)
	{
		as_of[i] = (i / KEYS + 1) * 10 * GP_TIME_DAY;
		key[i] = i % KEYS;
		label[i] = (t->chance ? (int) (gp_hash((uint64_t) i) % 2) : i % KEYS + i / KEYS) % 2;
		label[i] *= !t->ends || i < 3 * KEYS;
		labelled[i] = i;
	}
	gp_scan    *s = gp_scan_open(f, gp_task_columns_facts(f, "signs", 1, usual), key);
	for (int k = 0; k < KEYS; k++)
		for (int t = 0; t < ROWS / KEYS; t++)
		{
			double		sign = (k + t) % 2 ? 1.0 : -1.0;

			gp_scan_fact(s, k, (t + 1) * 10 * GP_TIME_DAY - 1, &sign);
		}
	gp_scan_close(s);
	for (int i = 0; i < ROWS; i++)
	{
		double		drawn[NOISE];

		for (int c = 0; c < NOISE; c++)
			drawn[c] = draw_unit(&state);
		gp_task_columns_put(f, noise, i, drawn);
	}
	t->scale = gp_task_columns_measure(f, NULL);
	p.features = t->x = gp_task_columns_features(f, t->scale);
	p = gp_facts_labelled(env, &p);
	p.program = gp_kernel_program(env, gp_kernel_parse(env, gp_facts_kernel));
	p.nblocks = gp_facts_time_blocks(env, p.nlabelled, as_of, 5, block);
	p.block = block;
	p.landmark = gp_facts_landmarks(env, &p, 12, &p.nlandmarks);
	t->planned = gp_plan_fitter(dev, &p, fit_columns, t).bytes;
	t->before = env->peak = env->used;
	return fit_columns(dev, &p, t);
}

static void
check_fit(gp_env *env)
{
	task_fit	t = {.chance = false};
	gp_posterior *out = fit_task(env, &t);
	double		copies = (double) (env->peak - t.before) / (double) (t.x->rows * t.x->dims * sizeof(float));
	int			right = 0;

	for (int i = 108; i < 120; i++)
		right += (out->mean[2 * i + 1] > out->mean[2 * i]) == ((i % 12 + i / 12) % 2);
	is_int(right, 12, "rows of the next time are told by the facts before them");
	ok(out->loo_score > 0.9 && out->forward_score > 0.9, "blocks of time are, too");
	ok(t.score[GP_FACTS_COLUMNS] < 0.01 && test_state(env)->notices == 0, "nothing is said of a weighting that is not kept");
	ok(t.planned >= (double) env->peak && t.planned <= 1.1 * (double) env->peak, "the plan holds");
	ok(copies < 1.85, "wide features are copied once");
}

/* Of many columns some have much to do with any labels, and tell nothing. */
static void
check_chance(gp_env *env)
{
	task_fit	t = {.chance = true};

	fit_task(env, &t);
	ok(t.score[GP_FACTS_RELEVANCE] < 0.1, "what is relevant by chance counts no more than the rest");
}

/* Labels that are all one class in the blocks that earlier ones predict. */
static void
check_one_class(gp_env *env)
{
	task_fit	t = {.ends = true};
	gp_posterior *out = fit_task(env, &t);

	ok(isfinite(out->loo_score) && isnan(out->forward_score), "of equal labels no share is explained");
}

/* What earlier times do not tell. */
static void
check_past(gp_env *env)
{
	gp_graph	graph = {.nodes = 1};
	gp_problem	p = {.graph = &graph,.task = GP_TASK_VALUES};
	gp_targets	targets = {.columns = 1};
	gp_posterior out = {.loo_score = 0.8,.forward_score = 0.21};
	gp_device  *dev = gp_device_cpu(env, 1);

	gp_notice_worth(dev, &p, &targets, &out);
	is_int(test_state(env)->notices, 0, "a forward score that is somewhat lower");
	out.forward_score = 0.19;
	gp_notice_worth(dev, &p, &targets, &out);
	ok(strcmp(test_state(env)->notice, "loo_score is 0.80, but forward_score, by earlier labels alone, is 0.19") == 0,
	   "a NOTICE reports one that is much lower");
	dev->close(dev);
}

static void
run_task(gp_env *env)
{
	task_fit	t = {.chance = false};

	encode_rows(env, 60, false);
	fit_task(env, &t);
}

int
main(void)
{
	in_env(check_keys(env));
	in_env(check_kinds(env));
	in_env(check_filled_later(env));
	in_env(check_later_dates(env));
	in_env(check_order_of_rows(env));
	in_env(check_no_leak(env));
	in_env(check_equal_times(env));
	in_env(check_changes(env));
	in_env(check_other_aggregates(env));
	in_env(check_within(env));
	in_env(check_many_keys(env));
	in_env(check_joint(env));
	in_env(check_wrong_order(env));
	in_env(check_labels(env));
	in_env(check_answers(env));
	in_env(check_scale(env));
	in_env(check_fit(env));
	in_env(check_chance(env));
	in_env(check_one_class(env));
	in_env(check_past(env));
	disturb("a task", TEST_REFUSE, 7, 20, run_task(env));
	disturb("a task", TEST_CANCEL, 7, 5, run_task(env));
	return done_testing();
}
