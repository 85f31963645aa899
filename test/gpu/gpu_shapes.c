/*
 * gpu_shapes.c - matrices with more rows or columns than a grid has blocks.
 *
 * A grid has at most 65,535 blocks in its second direction: tall and wide
 * matrices go through every operation that works element by element or row by row.
 */
#include "device/test_device.h"
#include "gpu.h"
#include "shadow.h"

static const int64_t shapes[][2] = {{70000, 3}, {3, 70000}, {70001, 1}, {1, 70001}, {524299, 9}};

/* A number that elements of a shape are looked at by: all of a small one. */
static int64_t
stride_of(gp_matrix m)
{
	return m.rows * m.cols < 100000 ? 1 : 17;
}

/* One line of the report. */
static void
tell(const char *what, gp_matrix m, const case_result *r, double tolerance)
{
	char		name[200];

	snprintf(name, sizeof(name), "%s, %d x %d, %s: error %.2g", what, (int) m.rows, (int) m.cols,
			 m.type == GP_FLOAT ? "float" : "double", r->error);
	ok(r->error <= tolerance, name);
}

/* Copies, sums, and what moves elements. */
static void
check_elements(gp_device *dev, gp_matrix x)
{
	gp_matrix	y = duplicate(dev, x);
	gp_matrix	t = poisoned(dev, x.cols, x.rows, x.type);
	gp_matrix	z = poisoned(dev, x.rows, x.cols, x.type == GP_FLOAT ? GP_DOUBLE : GP_FLOAT);
	case_result r = {0, 0};

	dev->axpby(dev, 2.0, x, -0.5, y);
	dev->shift(dev, y, 0.25);
	dev->transpose(dev, t, y);
	dev->fill(dev, z, 3.0);
	dev->axpby(dev, 0.0, y, 1.0, y);
	for (int64_t e = 0; e < x.rows * x.cols; e += stride_of(x))
	{
		int64_t		i = e / x.cols;
		int64_t		j = e % x.cols;

		compare(&r, get(y, i, j), 1.5 * get(x, i, j) + 0.25);
		compare(&r, get(t, j, i), get(y, i, j));
		compare(&r, get(z, i, j), 3.0);
	}
	dev->copy(dev, z, x);
	for (int64_t e = 0; e < x.rows * x.cols; e += stride_of(x))
		compare(&r, get(z, e / x.cols, e % x.cols), get(x, e / x.cols, e % x.cols));
	finish(&r, y);
	finish(&r, t);
	finish(&r, z);
	tell("elements", x, &r, 1e-6);
	drop(dev, y);
	drop(dev, t);
	drop(dev, z);
}

/* Rows gathered and multiplied, and single elements. */
static void
check_rows(gp_device *dev, gp_matrix x)
{
	gp_matrix	g = poisoned(dev, x.rows, x.cols, x.type);
	gp_matrix	dots = poisoned(dev, x.rows, 1, GP_DOUBLE);
	int32_t    *row = gp_alloc_array(dev->env, x.rows, sizeof(int32_t));
	int32_t    *col = gp_alloc_array(dev->env, x.rows, sizeof(int32_t));
	double	   *value = gp_alloc_array(dev->env, x.rows, sizeof(double));
	case_result r = {0, 0};

	for (int64_t i = 0; i < x.rows; i++)
	{
		row[i] = (int32_t) random_below(x.rows);
		col[i] = (int32_t) random_below(x.cols);
	}
	dev->gather_rows(dev, g, x, row);
	dev->row_dots(dev, dots, x, g);
	dev->take(dev, x, x.rows, row, col, value);
	for (int64_t i = 0; i < x.rows; i += x.rows > 100000 ? 17 : 1)
	{
		double		sum = 0;

		for (int64_t j = 0; j < x.cols; j++)
			sum += get(x, i, j) * get(g, i, j);
		compare(&r, get(dots, i, 0), sum);
		compare(&r, get(g, i, x.cols - 1), get(x, row[i], x.cols - 1));
		compare(&r, value[i], get(x, row[i], col[i]));
		value[i] = (double) row[i] / 1024.0;
	}
	dev->put(dev, g, x.rows, row, col, value);
	compare(&r, get(g, row[0], col[0]), get(g, row[0], col[0]));
	finish(&r, g);
	finish(&r, dots);
	tell("rows", x, &r, 1e-12);
	gp_free_all(dev->env, row, col, value);
	drop(dev, g);
	drop(dev, dots);
}

/* Products of a long side with a short one, and the solve from the right. */
static void
check_products(gp_device *dev, gp_matrix x)
{
	gp_matrix	a = x.rows > x.cols ? random_matrix(dev, x.cols, 5, x.type) : random_matrix(dev, 5, x.rows, x.type);
	gp_matrix	p = x.rows > x.cols ? poisoned(dev, x.rows, 5, x.type) : poisoned(dev, 5, x.cols, x.type);
	int64_t		n = x.rows < x.cols ? x.rows : x.cols;
	gp_matrix	c = poisoned(dev, n, n, x.type);
	case_result r = {0, 0};
	case_result rc = {0, 0};

	if (x.rows > x.cols)
		dev->gemm(dev, false, false, 1.0, x, a, 0.0, p);
	else
		dev->gemm(dev, false, false, 1.0, a, x, 0.0, p);
	dev->syrk(dev, x.rows > x.cols, 1.0, x, 0.0, c);
	for (int64_t e = 0; e < p.rows * p.cols; e += 1009)
	{
		int64_t		i = e / p.cols;
		int64_t		j = e % p.cols;
		double		sum = 0;

		for (int64_t k = 0; k < n; k++)
			sum += x.rows > x.cols ? get(x, i, k) * get(a, k, j) : get(a, i, k) * get(x, k, j);
		compare(&r, get(p, i, j), sum);
	}
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
		{
			double		sum = 0;

			for (int64_t k = 0; k < (x.rows > x.cols ? x.rows : x.cols); k++)
				sum += x.rows > x.cols ? get(x, k, i) * get(x, k, j) : get(x, i, k) * get(x, j, k);
			compare(&rc, get(c, i, j), sum);
		}
	finish(&r, p);
	finish(&rc, c);
	tell("products", x, &r, x.type == GP_FLOAT ? 1e-5 : 1e-13);
	tell("products with itself", x, &rc, x.type == GP_FLOAT ? 1e-3 : 1e-10);
	drop(dev, a);
	drop(dev, p);
	drop(dev, c);
}

/* A matrix with one entry, or two, in each row. */
static gp_csr
thin_csr(gp_device *dev, int64_t rows, int64_t cols, gp_type type)
{
	gp_csr		s = {.rows = rows, .cols = cols, .type = type};
	gp_matrix	value;

	s.start = gp_alloc_array(dev->env, rows + 1, sizeof(int64_t));
	s.col = gp_alloc_array(dev->env, 2 * rows, sizeof(int32_t));
	s.value = gp_alloc_array(dev->env, 2 * rows, gp_type_size(type));
	value = gp_matrix_wrap(s.value, 1, 2 * rows, type);
	s.start[0] = 0;
	for (int64_t i = 0; i < rows; i++)
	{
		int64_t		at = s.start[i];

		s.col[at] = (int32_t) random_below(cols);
		set(value, 0, at++, random_unit());
		if (s.col[at - 1] + 1 < cols && i % 2)
		{
			s.col[at] = s.col[at - 1] + 1;
			set(value, 0, at++, random_unit());
		}
		s.start[i + 1] = at;
	}
	return s;
}

/* Sparse products. */
static void
check_sparse(gp_device *dev, gp_matrix x)
{
	gp_csr		s = thin_csr(dev, x.rows, x.rows, x.type);
	gp_matrix	c = poisoned(dev, x.rows, x.cols, x.type);
	case_result r = {0, 0};

	dev->spmm(dev, 2.0, &s, x, 0.0, c);
	for (int64_t e = 0; e < x.rows * x.cols; e += stride_of(x))
	{
		int64_t		i = e / x.cols;
		int64_t		j = e % x.cols;
		double		sum = 0;

		for (int64_t k = s.start[i]; k < s.start[i + 1]; k++)
			sum += 2.0 * entry(&s, k) * get(x, s.col[k], j);
		compare(&r, get(c, i, j), sum);
	}
	finish(&r, c);
	tell("sparse products", x, &r, x.type == GP_FLOAT ? 1e-6 : 1e-14);
	drop_csr(dev, s);
	drop(dev, c);
}

/* The polynomial map of any element: (k + 1)^2. */
static void
check_map(gp_device *dev, gp_matrix x)
{
	gp_matrix	k = duplicate(dev, x);
	gp_matrix	diag = poisoned(dev, 2 * x.rows + x.cols, 1, GP_DOUBLE);
	gp_stage	stage = {GP_MAP_POLY, 1.0, 2.0, 1.0, 0.0, diag};
	case_result r = {0, 0};

	dev->fill(dev, diag, 0.5);
	dev->map(dev, &stage, k, x.rows + x.cols, NULL);	/* no row is a column */
	for (int64_t e = 0; e < x.rows * x.cols; e += stride_of(x))
	{
		double		v = get(x, e / x.cols, e % x.cols);

		compare(&r, get(k, e / x.cols, e % x.cols), (v + 1.0) * (v + 1.0));
	}
	dev->map_diag(dev, &stage, diag);
	for (int64_t i = 0; i < diag.rows; i++)
		compare(&r, get(diag, i, 0), 2.25);
	finish(&r, k);
	tell("maps", x, &r, 1e-6);
	drop(dev, k);
	drop(dev, diag);
}

/* So many rows that a block of the grid transposes more than one tile. */
static void
check_tall(gp_env *env)
{
	gp_device  *dev = gpu_open(env, 0);
	gp_device  *shadow = shadow_open(dev, SHADOW_UPLOAD);
	gp_matrix	x = random_matrix(shadow, 65535 * 32 + 50, 2, GP_FLOAT);
	gp_matrix	t = poisoned(shadow, 2, x.rows, GP_FLOAT);
	case_result r = {0, 0};

	shadow->transpose(shadow, t, x);
	for (int64_t i = 0; i < x.rows; i++)
		for (int64_t j = 0; j < 2; j++)
			compare(&r, get(t, j, i), get(x, i, j));
	tell("transpose", x, &r, 0.0);
	drop(shadow, x);
	drop(shadow, t);
	shadow->close(shadow);
	dev->close(dev);
}

/* All of it for one shape. */
static void
check_shape(gp_env *env, const int64_t *shape, gp_type type, shadow_way way, size_t memory)
{
	gp_device  *dev = gpu_open(env, memory);
	gp_device  *shadow = shadow_open(dev, way);

	random_state = 1;
	gp_matrix	x = random_matrix(shadow, shape[0], shape[1], type);
	check_elements(shadow, x);
	check_rows(shadow, x);
	if (shape[0] < 100000)
	{
		check_products(shadow, x);
		check_sparse(shadow, x);
	}
	check_map(shadow, x);
	drop(shadow, x);
	shadow->close(shadow);
	dev->close(dev);
	ok(test_state(env)->live == 0 && gpu_clean(), "nothing is left behind");
}

/* All shapes; in float from the host and through little memory as well. */
void
gpu_shapes(void)
{
	for (volatile size_t k = 0; k < LENGTH(shapes); k++)
	{
		in_env(check_shape(env, shapes[k], k == 4 ? GP_FLOAT : GP_DOUBLE, SHADOW_UPLOAD, 0));
		if (k < 2)
			in_env(check_shape(env, shapes[k], GP_FLOAT, SHADOW_MIXED, 100000));
	}
	in_env(check_tall(env));
}
