/*
 * csr.c - the algebra of sparse matrices.
 */
#include "numeric/accumulator.h"
#include "base/sort.h"
#include "graph.h"

#define AHEAD 16				/* entries before an entry's turn, its place is fetched */
#define SHELL_SORTED 4096			/* columns up to which a row is sorted where it stands */

uint64_t
gp_csr_stamp(void)
{
	static uint64_t last = 0;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static gp_csr *
create_pattern(gp_env *env, int64_t rows, int64_t cols, int64_t entries, gp_type type)
{
	gp_csr	   *s = gp_alloc_zero(env, 1, sizeof(gp_csr));

	*s = (gp_csr) {.rows = rows,.cols = cols,.type = type,.stamp = gp_csr_stamp()};
	s->start = gp_alloc_zero(env, rows + 1, sizeof(int64_t));
	s->col = gp_alloc_array(env, entries, sizeof(int32_t));
	return s;
}

gp_csr *
gp_csr_create(gp_env *env, int64_t rows, int64_t cols, int64_t entries, gp_type type)
{
	gp_csr	   *s = create_pattern(env, rows, cols, entries, type);

	s->value = gp_alloc_array(env, entries, gp_type_size(type));
	return s;
}

void
gp_csr_free(gp_env *env, gp_csr *s)
{
	if (s == NULL)
		return;
	gp_free_all(env, s->start, s->col, s->value, s);
}

gp_csr *
gp_csr_identity(gp_env *env, int64_t n, gp_type type)
{
	gp_csr	   *s = gp_csr_create(env, n, n, n, type);

	for (int64_t i = 0; i < n; i++)
	{
		s->start[i + 1] = i + 1;
		s->col[i] = (int32_t) i;
		gp_number_put(s->value, s->type, i, 1.0);
	}
	return s;
}

void
gp_csr_scale(gp_csr *s, double factor)
{
	int64_t		entries = gp_csr_entries(s);

	s->stamp = gp_csr_stamp();
	if (s->type == GP_FLOAT)
		factor = (float) factor;
	for (int64_t k = 0; k < entries; k++)
		gp_number_put(s->value, s->type, k, factor * gp_number_at(s->value, s->type, k));
}

double *
gp_csr_row_sums(gp_env *env, const gp_csr *s)
{
	double	   *sum = gp_alloc_zero(env, s->rows, sizeof(double));

	GP_EACH(env, i, s->rows, s->start[i] + i)
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			sum[i] += ((const double *) s->value)[k];
	return sum;
}

gp_csr
gp_csr_as(gp_env *env, const gp_csr *s, gp_type type)
{
	gp_csr		out = *s;

	out.type = type;
	out.stamp = gp_csr_stamp();
	out.value = gp_alloc_values(env, gp_csr_entries(s), gp_type_size(type));
	GP_EACH(env, k, gp_items(env, gp_csr_entries(s)), k)
		gp_number_put(out.value, type, k, gp_number_at(s->value, s->type, k));
	return out;
}

void
gp_csr_retype(gp_env *env, gp_csr *s, gp_type type)
{
	if (type == s->type)
		return;
	gp_csr		out = gp_csr_as(env, s, type);
	gp_free(env, s->value);
	*s = out;
}

/*
 * Fetches where entries after k will be written, whose rows of t are row[]: otherwise sorting a
 * large graph's edges mostly waits.
 */
static inline void
fetch_ahead(const gp_csr *t, const int64_t *cursor, const int32_t *row, int64_t k, int64_t n)
{
	if (k + 2 * AHEAD >= n)
		return;
	int64_t		at = cursor[row[k + AHEAD]];
	__builtin_prefetch(cursor + row[k + 2 * AHEAD], 1);
	__builtin_prefetch(t->col + at, 1);
	if (t->value)
		__builtin_prefetch((char *) t->value + at * (int64_t) gp_type_size(t->type), 1);
}

gp_csr *
gp_csr_transpose(gp_env *env, const gp_csr *s)
{
	int64_t		entries = gp_csr_entries(s);
	gp_csr	   *t = (s->value ? gp_csr_create : create_pattern) (env, s->cols, s->rows, entries,
																 s->type);
	int64_t    *cursor = gp_alloc_array(env, s->cols, sizeof(int64_t));

	GP_EACH(env, k, entries, k)
		t->start[s->col[k] + 1]++;
	gp_offsets_of_counts(t->start, s->cols);
	memcpy(cursor, t->start, s->cols * sizeof(int64_t));
	GP_EACH(env, i, s->rows, s->start[i])
	{
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
		{
			fetch_ahead(t, cursor, s->col, k, entries);
			int64_t		at = cursor[s->col[k]]++;

			t->col[at] = (int32_t) i;
			if (s->value)
				gp_number_put(t->value, t->type, at, gp_number_at(s->value, s->type, k));
		}
	}
	gp_free(env, cursor);
	return t;
}

gp_csr *
gp_csr_by_column(gp_env *env, int64_t rows, int64_t cols, int64_t n, const int32_t *row,
				 const int32_t *col, const void *value, gp_type type, bool both)
{
	gp_csr	   *t = (value ? gp_csr_create : create_pattern) (env, cols, rows, both ? 2 * n : n,
																 type);
	int64_t    *cursor = gp_alloc_array(env, cols, sizeof(int64_t));

	GP_EACH(env, k, n, k)
	{
		t->start[col[k] + 1]++;
		if (both)
			t->start[row[k] + 1]++;
	}
	gp_offsets_of_counts(t->start, cols);
	memcpy(cursor, t->start, cols * sizeof(int64_t));
	GP_EACH(env, k, n, k)
	{
		fetch_ahead(t, cursor, col, k, n);
		if (both)
			fetch_ahead(t, cursor, row, k, n);
		for (int way = 0; way <= both; way++)
		{
			int64_t		at = cursor[way == 0 ? col[k] : row[k]]++;

			t->col[at] = way == 0 ? row[k] : col[k];
			if (value)
				gp_number_put(t->value, type, at, gp_number_at(value, type, k));
		}
	}
	gp_free(env, cursor);
	return t;
}

int64_t
gp_csr_longest(gp_env *env, const gp_csr *s, int64_t n, bool columns)
{
	int64_t		lines = columns ? s->cols : s->rows;
	int32_t    *length = gp_alloc_zero(env, lines, sizeof(int32_t));
	int64_t		most = 0;
	int64_t		sum = 0;

	for (int64_t i = 0; i < s->rows && !columns; i++)
		length[i] = (int32_t) (s->start[i + 1] - s->start[i]);
	for (int64_t k = 0; columns && k < gp_csr_entries(s); k++)
		length[s->col[k]]++;
	for (int64_t i = 0; i < lines; i++)
		most = gp_max64(most, length[i]);
	int64_t    *count = gp_alloc_zero(env, most + 1, sizeof(int64_t));	/* of each length */
	for (int64_t i = 0; i < lines; i++)
		count[length[i]]++;
	for (; most > 0 && n > 0; n -= count[most--])
		sum += most * gp_min64(count[most], n);
	gp_free_all(env, count, length);
	return sum;
}

void
gp_csr_select_into(gp_env *env, const gp_csr *s, const int32_t *index, const int32_t *newcol,
				   gp_csr *out)
{
	int64_t		at = 0;

	GP_EACH(env, i, out->rows, at)
	{
		int64_t		row = index ? index[i] : i;

		for (int64_t k = s->start[row]; k < s->start[row + 1]; k++)
		{
			int32_t		column = newcol ? newcol[s->col[k]] : s->col[k];

			if (column < 0)
				continue;
			out->col[at] = column;
			gp_number_put(out->value, s->type, at++, gp_number_at(s->value, s->type, k));
		}
		out->start[i + 1] = at;
	}
}

gp_csr *
gp_csr_select(gp_env *env, const gp_csr *s, const int32_t *index, int64_t n,
			  const int32_t *newcol, int64_t cols)
{
	int64_t		entries = index ? 0 : s->start[n];

	for (int64_t i = 0; index && i < n; i++)
		entries += s->start[index[i] + 1] - s->start[index[i]];
	gp_csr	   *out = gp_csr_create(env, n, cols, entries, s->type);
	gp_csr_select_into(env, s, index, newcol, out);
	return out;
}

int64_t
gp_csr_find(const int64_t *start, const int32_t *col, int32_t row, int32_t column)
{
	int64_t		at = gp_sorted_find(col + start[row], start[row + 1] - start[row], column);

	return at < 0 ? -1 : start[row] + at;
}

void
gp_sort_columns(gp_env *env, int32_t *col, int64_t n)
{
	if (n > SHELL_SORTED)
	{
		gp_sort(env, col, n, sizeof(int32_t), gp_compare_int32, NULL);
		return;
	}
	for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (int64_t i = gap; i < n; i++)
		{
			int32_t		c = col[i];
			int64_t		j = i;

			for (; j >= gap && col[j - gap] > c; j -= gap)
				col[j] = col[j - gap];
			col[j] = c;
		}
}

#define PREFETCH_ROWS 64
#define PREFETCH_ENTRIES 64

/*
 * Fetches what the rows after i will read: on graphs larger than the cache a
 * product mostly waits for the rows of b.
 */
static inline void
product_prefetch(const gp_csr *a, const gp_csr *b, int64_t i)
{
	int64_t		size = (int64_t) gp_type_size(b->type);

	if (i + 2 < a->rows && a->start[i + 3] - a->start[i + 2] <= PREFETCH_ROWS)
		for (int64_t k = a->start[i + 2]; k < a->start[i + 3]; k++)
			__builtin_prefetch(b->start + a->col[k]);
	if (i + 1 < a->rows && a->start[i + 2] - a->start[i + 1] <= PREFETCH_ROWS)
		for (int64_t k = a->start[i + 1]; k < a->start[i + 2]; k++)
		{
			int64_t		first = b->start[a->col[k]];
			int64_t		last = b->start[a->col[k] + 1];

			last = last - first > PREFETCH_ENTRIES ? first + PREFETCH_ENTRIES : last;
			for (int64_t m = first; m < last; m += 64 / (int64_t) sizeof(int32_t))
				__builtin_prefetch(b->col + m);
			for (int64_t m = first; m < last; m += 64 / size)
				__builtin_prefetch((const char *) b->value + m * size);
		}
}

/* Row i of a b + unit I; sums only where they are wanted. */
static void
product_row(gp_env *env, const gp_csr *a, const gp_csr *b, double unit, int64_t i, bool sums,
			gp_accumulator *row, int64_t *done, int64_t *next)
{
	int64_t		most = 1;

	product_prefetch(a, b, i);
	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
		most += b->start[a->col[k] + 1] - b->start[a->col[k]];
	gp_accumulator_begin(row, most);
	if (unit != 0.0)
		*gp_accumulator_at(row, (int32_t) i) += unit;
	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
	{
		double		v = gp_number_at(a->value, a->type, k);
		int32_t		j = a->col[k];

		gp_poll(env, *done += 1 + b->start[j + 1] - b->start[j], next);
		if (sums)
			for (int64_t m = b->start[j]; m < b->start[j + 1]; m++)
				*gp_accumulator_at(row, b->col[m]) += v * gp_number_at(b->value, b->type, m);
		else
			for (int64_t m = b->start[j]; m < b->start[j + 1]; m++)
				(void) gp_accumulator_at(row, b->col[m]);
	}
}

gp_csr *
gp_csr_product_plus(gp_env *env, const gp_csr *a, const gp_csr *b, double unit)
{
	gp_accumulator row = gp_accumulator_open(env, b->cols);
	int64_t		entries = 0;
	int64_t		done = 0;
	int64_t		next = 0;

	for (int64_t i = 0; i < a->rows; i++)
	{
		product_row(env, a, b, unit, i, false, &row, &done, &next);
		entries += row.n;
	}
	gp_csr	   *c = gp_csr_create(env, a->rows, b->cols, entries, a->type);
	for (int64_t i = 0; i < a->rows; i++)
	{
		int64_t		at = c->start[i];

		product_row(env, a, b, unit, i, true, &row, &done, &next);
		gp_sort_columns(env, row.touched, row.n);
		memcpy(c->col + at, row.touched, row.n * sizeof(int32_t));
		for (int64_t k = 0; k < row.n; k++)
			gp_number_put(c->value, c->type, at + k, *gp_accumulator_at(&row, c->col[at + k]));
		c->start[i + 1] = at + row.n;
	}
	gp_accumulator_close(&row);
	return c;
}

gp_csr *
gp_csr_product(gp_env *env, const gp_csr *a, const gp_csr *b)
{
	return gp_csr_product_plus(env, a, b, 0.0);
}

gp_csr *
gp_csr_add(gp_env *env, const gp_csr *a, const gp_csr *b)
{
	gp_csr	   *c = gp_csr_create(env, a->rows, a->cols, gp_csr_entries(a) + gp_csr_entries(b),
								  a->type);

	GP_EACH(env, i, a->rows, c->start[i])
	{
		int64_t		at = c->start[i];
		int64_t		ka = a->start[i];
		int64_t		kb = b->start[i];

		while (ka < a->start[i + 1] || kb < b->start[i + 1])
		{
			int32_t		ca = ka < a->start[i + 1] ? a->col[ka] : INT32_MAX;
			int32_t		cb = kb < b->start[i + 1] ? b->col[kb] : INT32_MAX;
			double		v = 0.0;

			c->col[at] = ca < cb ? ca : cb;
			if (ca <= cb)
				v += gp_number_at(a->value, a->type, ka++);
			if (cb <= ca)
				v += gp_number_at(b->value, b->type, kb++);
			gp_number_put(c->value, c->type, at++, v);
		}
		c->start[i + 1] = at;
	}
	return c;
}

gp_csr *
gp_csr_hstack(gp_env *env, int n, gp_csr *const *s)
{
	int64_t		entries = 0;
	int64_t		cols = 0;
	int64_t		at = 0;

	for (int m = 0; m < n; m++)
	{
		entries += gp_csr_entries(s[m]);
		cols += s[m]->cols;
	}
	if (cols > INT32_MAX)
		gp_raise(env, GP_ERR_LIMIT, "Use fewer terms without activation.",
				 "a factor of the kernel has more than %d columns", INT32_MAX);
	gp_csr	   *c = gp_csr_create(env, s[0]->rows, cols, entries, s[0]->type);
	GP_EACH(env, i, c->rows, at)
	{
		int64_t		first = 0;

		for (int m = 0; m < n; m++)
		{
			for (int64_t k = s[m]->start[i]; k < s[m]->start[i + 1]; k++, at++)
			{
				c->col[at] = (int32_t) (first + s[m]->col[k]);
				gp_number_put(c->value, c->type, at, gp_number_at(s[m]->value, s[m]->type, k));
			}
			first += s[m]->cols;
		}
		c->start[i + 1] = at;
	}
	return c;
}

int32_t *
gp_graph_field(gp_env *env, const gp_csr *s, const int32_t *index, int64_t n, int64_t *nfield)
{
	bool	   *in = gp_alloc_zero(env, s->cols, sizeof(bool));
	int64_t		count = 0;
	int64_t		at = 0;

	for (int64_t i = 0; i < n; i++)
		for (int64_t k = s->start[index[i]]; k < s->start[index[i] + 1]; k++)
			in[s->col[k]] = true;
	for (int64_t j = 0; j < s->cols; j++)
		count += in[j];
	int32_t    *field = gp_alloc_array(env, count, sizeof(int32_t));
	for (int64_t j = 0; j < s->cols; j++)
		if (in[j])
			field[at++] = (int32_t) j;
	gp_free(env, in);
	*nfield = count;
	return field;
}

gp_csr *
gp_csr_stack(gp_env *env, const gp_csr *top, int64_t rows, const gp_csr *below, int64_t cols)
{
	int64_t		first = top ? top->start[rows] : 0;
	int64_t		more = below ? gp_csr_entries(below) : 0;
	gp_type		type = top ? top->type : below->type;
	size_t		size = gp_type_size(type);
	gp_csr	   *s = gp_csr_create(env, rows + (below ? below->rows : 0), cols, first + more, type);

	for (int64_t i = 0; i <= rows; i++)
		s->start[i] = top ? top->start[i] : 0;
	for (int64_t i = 0; below && i < below->rows; i++)
		s->start[rows + i + 1] = first + below->start[i + 1];
	if (first > 0)
	{
		memcpy(s->col, top->col, first * sizeof(int32_t));
		memcpy(s->value, top->value, first * size);
	}
	if (more > 0)
	{
		memcpy(s->col + first, below->col, more * sizeof(int32_t));
		memcpy((char *) s->value + first * size, below->value, more * size);
	}
	return s;
}
