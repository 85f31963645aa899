/*
 * cases_dense.h - copies, dense products and factorisations of any device.
 *
 * Every operation is compared with plain loops in double, in both types, with
 * gaps between rows, outputs that hold no numbers before, and awkward sizes.
 */
#ifndef CASES_DENSE_H
#define CASES_DENSE_H

#include "test_device.h"

/* Element i, j of op(m). */
static double
op(gp_matrix m, bool trans, int64_t i, int64_t j)
{
	return trans ? get(m, j, i) : get(m, i, j);
}

/* How many elements of a result of that size are compared, and which. */
static int64_t
samples(gp_matrix m)
{
	return m.rows * m.cols < 1500 ? m.rows * m.cols : 100;
}

/* The number of sample t. */
static int64_t
sample_at(gp_matrix m, int64_t t)
{
	return m.rows * m.cols < 1500 ? t : random_below(m.rows * m.cols);
}

/* Conversions, fill, axpby, shift. */
static void
case_copies(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][2] = {{0, 3}, {3, 0}, {1, 1}, {700, 1}, {5, 17}, {600, 700}};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		gp_type		other = type == GP_FLOAT ? GP_DOUBLE : GP_FLOAT;
		gp_matrix	x = random_matrix(dev, sizes[s][0], sizes[s][1], type);
		gp_matrix	y = poisoned(dev, x.rows, x.cols, type);
		gp_matrix	z = poisoned(dev, x.rows, x.cols, other);

		dev->copy(dev, z, x);
		dev->upload(dev, y, z);
		dev->axpby(dev, 2.0, x, 0.5, y);
		dev->axpby(dev, 3.0, y, 1.0, y);
		dev->shift(dev, y, 0.25);
		dev->fill(dev, z, 0.75);
		for (int64_t i = 0; i < x.rows; i++)
			for (int64_t j = 0; j < x.cols; j++)
			{
				compare(r, get(y, i, j), 10 * get(x, i, j) + 0.25);
				compare(r, get(z, i, j), 0.75);
			}
		finish(r, y);
		finish(r, z);
		for (int64_t i = 0; i < x.rows; i++)
			for (int64_t j = 0; j < x.cols; j++)
				set(y, i, j, NAN);
		dev->axpby(dev, -1.0, x, 0.0, y);
		dev->download(dev, z, y);
		for (int64_t i = 0; i < x.rows; i++)
			for (int64_t j = 0; j < x.cols; j++)
				compare(r, get(z, i, j), -get(x, i, j));
		drop(dev, x);
		drop(dev, y);
		drop(dev, z);
	}
}

/* What an element-wise step makes of one element, by the library's functions. */
static double
plain_each(const gp_elementwise *e, int64_t place, double y, double a, double b, double *moment)
{
	double		g;

	switch (e->op)
	{
		case GP_ELEMENT_RELU:
			return fmax(y, 0.0);
		case GP_ELEMENT_GATE:
			return a > 0.0 ? y : 0.0;
		case GP_ELEMENT_TIMES:
			return a * y;
		case GP_ELEMENT_ADD:
			return y + e->factor * a * b;
		case GP_ELEMENT_OVER:
			return y == 0.0 ? 0.0 : e->factor * a / y;
		case GP_ELEMENT_ROOT:
			return y < 0.0 ? 0.0 : sqrt(y);
		case GP_ELEMENT_EXP:
			return exp(e->factor * a);
		case GP_ELEMENT_COS:
			return e->factor * cos(y + a);
		case GP_ELEMENT_SIN:
			return e->factor * sin(y + a);
		case GP_ELEMENT_DROP:
			return gp_element_uniform(e->seed, (uint64_t) place) < e->rate ? 0.0 : y / (1.0 - e->rate);
		case GP_ELEMENT_NORMAL:
			return e->factor * gp_element_normal(e->seed, (uint64_t) place);
		case GP_ELEMENT_ADAM:
			break;
	}
	g = fmin(fmax(a, -e->adam.clip), e->adam.clip) + e->adam.decay * y;
	moment[0] = 0.9 * moment[0] + 0.1 * g;
	moment[1] = 0.999 * moment[1] + 0.001 * g * g;
	return y - e->adam.rate * moment[0] / (sqrt(moment[1]) * e->adam.root + 1e-8);
}

/* One element-wise step on matrices of a size; one: a has one row for all. */
static void
check_each(gp_device *dev, gp_type type, case_result *r, const gp_elementwise *e, int64_t rows, int64_t cols, bool one)
{
	bool		two = e->op == GP_ELEMENT_ADD || e->op == GP_ELEMENT_ADAM;
	gp_matrix	none = {0};
	gp_matrix	y = random_matrix(dev, rows, cols, type);
	gp_matrix	a = random_matrix(dev, one ? 1 : rows, cols, type);
	gp_matrix	b = two ? random_matrix(dev, rows, cols, type) : none;
	gp_matrix	c = e->op == GP_ELEMENT_ADAM ? random_matrix(dev, rows, cols, type) : none;
	bool		alone = gp_element_reads(e->op) == 0;
	gp_matrix	was[3];

	for (int64_t i = 0; i < rows && c.data; i++)
		for (int64_t j = 0; j < cols; j++)
			set(c, i, j, fabs(get(c, i, j)));
	for (int64_t i = 0; i < rows && (e->op == GP_ELEMENT_COS || e->op == GP_ELEMENT_SIN); i++)
		for (int64_t j = 0; j < cols; j++)
			set(y, i, j, 32.0 * get(y, i, j));
	was[0] = duplicate(dev, y);
	was[1] = two ? duplicate(dev, b) : none;
	was[2] = c.data ? duplicate(dev, c) : none;
	dev->elementwise(dev, e, y, alone ? none : a, b, c);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
		{
			double		moment[2] = {two ? get(was[1], i, j) : 0.0, c.data ? get(was[2], i, j) : 0.0};
			double		second = moment[0];
			double		want = plain_each(e, i * cols + j, get(was[0], i, j),
										  get(a, one ? 0 : i, j), second, moment);

			compare(r, get(y, i, j), want);
			if (c.data == NULL)
				continue;
			compare(r, get(b, i, j), moment[0]);
			compare(r, get(c, i, j), moment[1]);
		}
	finish(r, y);
	drop(dev, y);
	drop(dev, a);
	drop(dev, was[0]);
	for (int k = 1; k < 3; k++)
		if (was[k].data)
			drop(dev, was[k]);
	if (two)
		drop(dev, b);
	if (c.data)
		drop(dev, c);
}

/* Element-wise steps. */
static void
case_each(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][2] = {{0, 3}, {1, 1}, {1, 33}, {3, 31}, {300, 33}, {600, 700}};
	size_t		n = LENGTH(sizes) - (few_large ? 1 : 0);

	for (size_t s = 0; s < n; s++)
		for (int op = GP_ELEMENT_RELU; op <= GP_ELEMENT_ADAM; op++)
		{
			gp_elementwise e = {.op = (gp_element_op) op,.factor = -0.75,.rate = 0.3,.seed = 77,
			.adam = {0.01, 3.0, 0.25, 0.5}};

			check_each(dev, type, r, &e, sizes[s][0], sizes[s][1], false);
			if (op != GP_ELEMENT_ADAM)
				check_each(dev, type, r, &e, sizes[s][0], sizes[s][1], true);
		}
}

/* Single elements read out, and written into a copy. */
static void
check_entries(gp_device *dev, case_result *r, gp_matrix x)
{
	gp_matrix	y = duplicate(dev, x);
	int64_t		n = x.rows;
	int32_t    *row = gp_alloc_array(dev->env, n, sizeof(int32_t));
	int32_t    *col = gp_alloc_array(dev->env, n, sizeof(int32_t));
	double	   *value = gp_alloc_array(dev->env, n, sizeof(double));

	for (int64_t e = 0; e < n; e++)
	{
		row[e] = (int32_t) (n - 1 - e);
		col[e] = (int32_t) random_below(x.cols);
	}
	dev->take(dev, x, n, row, col, value);
	for (int64_t e = 0; e < n; e++)
	{
		compare(r, value[e], get(x, row[e], col[e]));
		value[e] = 2.0 * value[e] + 1.0;
	}
	dev->put(dev, y, n, row, col, value);
	for (int64_t e = 0; e < n; e++)
		for (int64_t j = 0; j < x.cols; j++)
			compare(r, get(y, row[e], j), j == col[e] ? 2.0 * get(x, row[e], j) + 1.0 :
					get(x, row[e], j));
	gp_free_all(dev->env, row, col, value);
	drop(dev, y);
}

/* Transposes, gathered rows, products of rows. */
static void
case_moves(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][2] = {{0, 0}, {1, 1}, {1, 40}, {17, 3}, {33, 67}, {300, 523}};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		gp_matrix	x = random_matrix(dev, sizes[s][0], sizes[s][1], type);
		gp_matrix	t = poisoned(dev, x.cols, x.rows, type);
		gp_matrix	q = random_matrix(dev, x.cols, x.cols, type);
		gp_matrix	p = duplicate(dev, q);
		gp_matrix	g = poisoned(dev, x.rows, x.cols, type);
		gp_matrix	dots = poisoned(dev, x.rows, 1, GP_DOUBLE);
		int32_t    *index = gp_alloc_array(dev->env, x.rows, sizeof(int32_t));

		for (int64_t i = 0; i < x.rows; i++)
			index[i] = (int32_t) random_below(x.rows);
		dev->transpose(dev, t, x);
		dev->transpose_square(dev, q);
		dev->gather_rows(dev, g, x, index);
		if (x.cols > 0)
			check_entries(dev, r, x);
		dev->row_dots(dev, dots, x, g);
		for (int64_t i = 0; i < x.rows; i++)
		{
			double		sum = 0;

			for (int64_t j = 0; j < x.cols; j++)
			{
				compare(r, get(t, j, i), get(x, i, j));
				compare(r, get(g, i, j), get(x, index[i], j));
				sum += get(x, i, j) * get(g, i, j);
			}
			compare(r, get(dots, i, 0), sum);
		}
		for (int64_t i = 0; i < q.rows; i++)
			for (int64_t j = 0; j < q.cols; j++)
				compare(r, get(q, i, j), get(p, j, i));
		finish(r, t);
		finish(r, q);
		finish(r, g);
		finish(r, dots);
		drop(dev, x);
		drop(dev, t);
		drop(dev, q);
		drop(dev, p);
		drop(dev, g);
		drop(dev, dots);
		gp_free(dev->env, index);
	}
}

/* One product against plain sums. */
static void
check_gemm(gp_device *dev, gp_type type, const int64_t *size, int form, double beta, case_result *r)
{
	bool		ta = form & 1;
	bool		tb = form & 2;
	int64_t		m = size[0];
	int64_t		n = size[1];
	int64_t		k = size[2];
	gp_matrix	a = ta ? random_matrix(dev, k, m, type) : random_matrix(dev, m, k, type);
	gp_matrix	b = tb ? random_matrix(dev, n, k, type) : random_matrix(dev, k, n, type);
	gp_matrix	c = beta == 0 ? poisoned(dev, m, n, type) : random_matrix(dev, m, n, type);
	gp_matrix	old = duplicate(dev, c);

	dev->gemm(dev, ta, tb, 0.5, a, b, beta, c);
	for (int64_t t = 0; t < samples(c); t++)
	{
		int64_t		at = sample_at(c, t);
		int64_t		i = at / n;
		int64_t		j = at % n;
		double		sum = 0;

		for (int64_t l = 0; l < k; l++)
			sum += op(a, ta, i, l) * op(b, tb, l, j);
		sum *= 0.5;
		compare(r, get(c, i, j), beta == 0 ? sum : sum + beta * get(old, i, j));
	}
	finish(r, c);
	drop(dev, a);
	drop(dev, b);
	drop(dev, c);
	drop(dev, old);
}

/* Products of all shapes. */
static void
case_gemm(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][3] = {
		{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {1, 31, 7}, {31, 1, 300}, {7, 5, 3},
		{17, 16, 33}, {67, 129, 64}, {3, 2, 4001}, {50, 32, 7001}, {501, 307, 40},
		{120, 110, 7001}, {501, 307, 260}
	};

	for (size_t s = 0; s < LENGTH(sizes) - (few_large ? 2 : 0); s++)
		for (int form = 0; form < 4; form++)
		{
			check_gemm(dev, type, sizes[s], form, 0.0, r);
			check_gemm(dev, type, sizes[s], form, form == 1 ? 1.0 : -0.75, r);
		}
}

/* One symmetric product. */
static void
check_syrk(gp_device *dev, gp_type type, int64_t n, int64_t k, bool trans, double beta,
		   case_result *r)
{
	gp_matrix	a = trans ? random_matrix(dev, k, n, type) : random_matrix(dev, n, k, type);
	gp_matrix	c = poisoned(dev, n, n, type);
	double		old = beta == 0 ? NAN : 0.5;

	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			set(c, i, j, old);
	dev->syrk(dev, trans, 2.0, a, beta, c);
	for (int64_t t = 0; t < samples(c); t++)
	{
		int64_t		at = sample_at(c, t);
		int64_t		i = at / n;
		int64_t		j = at % n;
		double		sum = beta == 0 ? 0 : beta * old;

		for (int64_t l = 0; l < k; l++)
			sum += 2.0 * op(a, trans, i, l) * op(a, trans, j, l);
		compare(r, get(c, i, j), sum);
		compare(r, get(c, i, j) - get(c, j, i), 0);
	}
	finish(r, c);
	drop(dev, a);
	drop(dev, c);
}

/* Symmetric products of all shapes. */
static void
case_syrk(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][2] = {
		{0, 3}, {3, 0}, {1, 1}, {2, 7}, {17, 40}, {67, 31}, {50, 7001}, {523, 60}, {150, 7001}, {523, 260}
	};

	for (size_t s = 0; s < LENGTH(sizes) - (few_large ? 2 : 0); s++)
		for (int trans = 0; trans < 2; trans++)
		{
			check_syrk(dev, type, sizes[s][0], sizes[s][1], trans, 0.0, r);
			check_syrk(dev, type, sizes[s][0], sizes[s][1], trans, 1.5, r);
		}
}

/* A well-conditioned lower triangle, no numbers above. */
static gp_matrix
triangle(gp_device *dev, int64_t n, gp_type type)
{
	gp_matrix	l = poisoned(dev, n, n, type);

	for (int64_t i = 0; i < n; i++)
	{
		for (int64_t j = 0; j < i; j++)
			set(l, i, j, 2 * random_unit() / (double) n);
		set(l, i, i, 1.0 + 0.5 * random_unit());
	}
	return l;
}

/* One triangular solve: op(l) x, or x op(l), must give b back. */
static void
check_trsm(gp_device *dev, gp_type type, int64_t n, int64_t m, bool left, bool trans,
		   case_result *r)
{
	gp_matrix	l = triangle(dev, n, type);
	gp_matrix	b = left ? random_matrix(dev, n, m, type) : random_matrix(dev, m, n, type);
	gp_matrix	x = duplicate(dev, b);

	dev->trsm(dev, left, trans, l, x);
	for (int64_t t = 0; t < samples(b); t++)
	{
		int64_t		at = sample_at(b, t);
		int64_t		i = at / b.cols;
		int64_t		j = at % b.cols;
		int64_t		d = left ? i : j;
		double		sum = 0;

		/* Row d of op(l), or its column d; what is above the diagonal counts as 0. */
		for (int64_t k = 0; k < n; k++)
		{
			int64_t		row = left != trans ? d : k;
			int64_t		col = left != trans ? k : d;

			if (col <= row)
				sum += get(l, row, col) * (left ? get(x, k, j) : get(x, i, k));
		}
		compare(r, sum, get(b, i, j));
	}
	finish(r, x);
	drop(dev, l);
	drop(dev, b);
	drop(dev, x);
}

/* Triangular solves of all shapes. */
static void
case_trsm(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][2] = {
		{0, 3}, {3, 0}, {1, 1}, {1, 9}, {7, 1}, {31, 5}, {129, 17}, {300, 701}, {2100, 5}
	};

	for (size_t s = 0; s < LENGTH(sizes) - (few_large ? 1 : 0); s++)
		for (int form = 0; form < 4; form++)
			check_trsm(dev, type, sizes[s][0], sizes[s][1], form & 1, form & 2, r);
}

/* A positive definite matrix, no numbers above the diagonal. */
static gp_matrix
positive(gp_device *dev, int64_t n, gp_type type)
{
	gp_matrix	a = poisoned(dev, n, n, type);

	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++)
			set(a, i, j, i == j ? 3.0 : random_unit() / sqrt((double) n));
	return a;
}

/* Cholesky factors and inverses of triangles. */
static void
case_potrf(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[] = {0, 1, 2, 17, 191, 193, 401, 523};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		int64_t		n = sizes[s];
		gp_matrix	a = positive(dev, n, type);
		gp_matrix	l = duplicate(dev, a);

		if (dev->potrf(dev, l) != -1)
			r->error = INFINITY;
		gp_matrix	inverse = duplicate(dev, l);
		dev->trtri(dev, inverse);
		for (int64_t t = 0; t < samples(a); t++)
		{
			int64_t		at = sample_at(a, t);
			int64_t		i = at / n;
			int64_t		j = at % n;
			double		sum = 0;
			double		unit = 0;

			for (int64_t k = 0; k < n; k++)
			{
				sum += get(l, i, k) * get(l, j, k);
				unit += get(l, i, k) * get(inverse, k, j);
			}
			compare(r, sum, i >= j ? get(a, i, j) : get(a, j, i));
			compare(r, unit, i == j);
			if (j > i)
				compare(r, get(l, i, j), 0);
		}
		finish(r, l);
		finish(r, inverse);
		drop(dev, a);
		drop(dev, l);
		drop(dev, inverse);
	}
}

/* Eigenvectors. */
static void
case_syev(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[] = {0, 1, 2, 5, 67, 150};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		int64_t		n = sizes[s];
		gp_matrix	a = positive(dev, n, type);
		gp_matrix	w = poisoned(dev, n, 1, type);

		for (int64_t i = 0; i < n; i++)
			for (int64_t j = i + 1; j < n; j++)
				set(a, i, j, get(a, j, i));
		gp_matrix	v = duplicate(dev, a);
		dev->syev(dev, v, w);
		for (int64_t t = 0; t < samples(a); t++)
		{
			int64_t		at = sample_at(a, t);
			int64_t		i = at / n;
			int64_t		j = at % n;
			double		left = 0;
			double		dot = 0;

			for (int64_t k = 0; k < n; k++)
			{
				left += get(a, i, k) * get(v, k, j);
				dot += get(v, k, i) * get(v, k, j);
			}
			compare(r, left, get(v, i, j) * get(w, j, 0));
			compare(r, dot, i == j);
			if (j > 0 && get(w, j, 0) < get(w, j - 1, 0))
				r->error = INFINITY;
		}
		finish(r, v);
		finish(r, w);
		drop(dev, a);
		drop(dev, v);
		drop(dev, w);
	}
}

/* The pivots that fail. */
static void
test_pivots(gp_env *env, gp_device *dev)
{
	static const int64_t columns[] = {0, 5, 192, 250, 399};

	for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
		for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++)
			for (int bad = 0; bad < 2; bad++)
			{
				gp_matrix	a = positive(dev, 400, (gp_type) type);

				set(a, columns[c], columns[c], bad == 0 ? -1.0 : NAN);
				is_int(dev->potrf(dev, a), columns[c], "potrf names the pivot that fails");
				drop(dev, a);
			}
}

/* Operands that do not fit together. */
static void
test_refusals(gp_env *env, gp_device *dev)
{
	gp_matrix	f = random_matrix(dev, 3, 3, GP_FLOAT);
	gp_matrix	d = random_matrix(dev, 3, 3, GP_DOUBLE);
	gp_matrix	big = dev->create(dev, 513, 513, GP_FLOAT);
	gp_matrix	none = {0};

	expect_error(env, GP_ERR_INTERNAL, dev->gemm(dev, false, false, 1, f, d, 0, f));
	expect_error(env, GP_ERR_INTERNAL, dev->axpby(dev, 1, f, 1, d));
	expect_error(env, GP_ERR_INTERNAL, dev->trsm(dev, true, false, d, f));
	expect_error(env, GP_ERR_INTERNAL, dev->syrk(dev, false, 1, f, 0, d));
	expect_error(env, GP_ERR_INTERNAL, dev->syev(dev, big, gp_matrix_cols(big, 0, 1)));
	expect_error(env, GP_ERR_INTERNAL, dev->row_dots(dev, gp_matrix_cols(f, 0, 1), f, f));
	expect_error(env, GP_ERR_INTERNAL, dev->elementwise(dev, &(gp_elementwise) {.op = GP_ELEMENT_TIMES}, f, d, none, none));
	dev->destroy(dev, &none);
	ok(none.data == NULL, "destroy accepts a view without data");
	dev->destroy(dev, &big);
	ok(big.data == NULL, "destroy forgets the memory");
	drop(dev, f);
	drop(dev, d);
}

/* The cases with their tolerances, in float and double. */
static const device_test dense_cases[] = {
	{"copies and sums", case_copies, {1e-6, 1e-6}},
	{"transposes, gathered rows, products of rows", case_moves, {1e-12, 1e-12}},
	{"gemm", case_gemm, {3e-5, 1e-13}},
	{"syrk", case_syrk, {2e-4, 1e-13}},
	{"trsm", case_trsm, {2e-5, 1e-13}},
	{"potrf and trtri", case_potrf, {2e-5, 1e-13}},
	{"each", case_each, {2e-6, 2e-14}},
	{"syev", case_syev, {3e-5, 1e-13}},
};

#endif							/* CASES_DENSE_H */
