/*
 * cases_sparse.h - sparse products, paths of pairs, maps and pair sums of any device.
 *
 * Every operation is compared with plain loops in double, in both types.
 */
#ifndef CASES_SPARSE_H
#define CASES_SPARSE_H

#include "test_device.h"

/* s as a dense array. */
static double *
dense(gp_device *dev, const gp_csr *s)
{
	double	   *d = gp_alloc_zero(dev->env, s->rows * s->cols, sizeof(double));

	for (int64_t i = 0; i < s->rows; i++)
		for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
			d[i * s->cols + s->col[e]] = entry(s, e);
	return d;
}

/* c = alpha s b + beta c for one shape. */
static void
check_spmm(gp_device *dev, gp_type type, const int64_t *size, double beta, case_result *r)
{
	int64_t		n = size[0];
	int64_t		m = size[1];
	int64_t		w = size[2];
	gp_csr		s = random_csr(dev, n, m, 4, m, type);
	gp_matrix	b = random_matrix(dev, m, w, type);
	gp_matrix	c = beta == 0 ? poisoned(dev, n, w, type) : random_matrix(dev, n, w, type);
	gp_matrix	old = duplicate(dev, c);
	gp_matrix	sum = gp_matrix_wrap(NULL, n, w, GP_DOUBLE);

	sum.data = gp_alloc_zero(dev->env, n * w, sizeof(double));
	dev->spmm(dev, 0.5, &s, b, beta, c);
	for (int64_t i = 0; i < n; i++)
	{
		for (int64_t e = s.start[i]; e < s.start[i + 1]; e++)
			for (int64_t j = 0; j < w; j++)
				set(sum, i, j, get(sum, i, j) + 0.5 * entry(&s, e) * get(b, s.col[e], j));
		for (int64_t j = 0; j < w; j++)
			compare(r, get(c, i, j), get(sum, i, j) + (beta == 0 ? 0 : beta * get(old, i, j)));
	}
	finish(r, c);
	gp_free(dev->env, sum.data);
	drop_csr(dev, s);
	drop(dev, b);
	drop(dev, c);
	drop(dev, old);
}

/* Sparse products of all shapes. */
static void
case_spmm(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][3] = {
		{0, 3, 2}, {3, 0, 2}, {3, 3, 0}, {1, 1, 1}, {40, 30, 1}, {40, 30, 7}, {67, 71, 33},
		{31, 40, 131}, {301, 200, 257}, {2, 700, 515}
	};

	for (size_t s = 0; s < LENGTH(sizes); s++)
	{
		check_spmm(dev, type, sizes[s], 0.0, r);
		check_spmm(dev, type, sizes[s], -1.5, r);
	}
}

/* Rows of a sparse matrix as dense columns. */
static void
case_csr_rows(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t columns[] = {0, 1, 3, 40, 71, 301};

	for (size_t t = 0; t < LENGTH(columns); t++)
	{
		gp_csr		s = random_csr(dev, 67, columns[t], 5, 9, type);
		double	   *d = dense(dev, &s);
		int32_t		index[40];
		gp_matrix	out = poisoned(dev, s.cols, LENGTH(index), type);

		for (size_t i = 0; i < LENGTH(index); i++)
			index[i] = (int32_t) random_below(s.rows);
		dev->csr_rows(dev, out, &s, index, LENGTH(index));
		for (int64_t i = 0; i < out.rows; i++)
			for (int64_t j = 0; j < out.cols; j++)
				compare(r, get(out, i, j), d[index[j] * s.cols + i]);
		finish(r, out);
		drop(dev, out);
		gp_free(dev->env, d);
		drop_csr(dev, s);
	}
}

/* Single elements of a product, and rows of a product of two sparse matrices. */
static void
case_elements(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[][3] = {{1, 1, 1}, {30, 40, 7}, {67, 71, 33}, {700, 90, 131}};

	for (size_t t = 0; t < LENGTH(sizes); t++)
	{
		gp_csr		a = random_csr(dev, sizes[t][0], sizes[t][1], 4, sizes[t][1], type);
		gp_csr		s = random_csr(dev, sizes[t][1], sizes[t][2], 3, sizes[t][2], type);
		gp_matrix	b = random_matrix(dev, sizes[t][1], sizes[t][2], type);
		double	   *da = dense(dev, &a);
		double	   *ds = dense(dev, &s);
		int32_t		row[2000];
		int32_t		col[2000];
		double		out[2000];
		gp_matrix	rows = poisoned(dev, s.cols, 37, type);

		for (size_t e = 0; e < LENGTH(row); e++)
		{
			row[e] = (int32_t) random_below(a.rows);
			col[e] = (int32_t) random_below(b.cols);
			out[e] = NAN;
		}
		dev->spmm_take(dev, &a, b, LENGTH(row), row, col, out);
		for (size_t e = 0; e < LENGTH(row); e++)
		{
			double		sum = 0;

			for (int64_t k = 0; k < a.cols; k++)
				sum += da[row[e] * a.cols + k] * get(b, k, col[e]);
			compare(r, out[e], sum);
		}
		dev->csr_product_rows(dev, rows, -2.0, &a, &s, row, rows.cols);
		for (int64_t i = 0; i < rows.rows; i++)
			for (int64_t j = 0; j < rows.cols; j++)
			{
				double		sum = 0;

				for (int64_t k = 0; k < a.cols; k++)
					sum -= 2.0 * da[row[j] * a.cols + k] * ds[k * s.cols + i];
				compare(r, get(rows, i, j), sum);
			}
		finish(r, rows);
		drop(dev, rows);
		drop(dev, b);
		gp_free_all(dev->env, da, ds);
		drop_csr(dev, a);
		drop_csr(dev, s);
	}
}

/* A symmetric pattern without a diagonal, some nodes without neighbours. */
static gp_csr
random_pattern(gp_device *dev, int64_t n, double *dense_pattern)
{
	gp_csr		s = {.rows = n, .cols = n, .type = GP_DOUBLE};

	s.start = gp_alloc_zero(dev->env, n + 1, sizeof(int64_t));
	s.col = gp_alloc_array(dev->env, n * n, sizeof(int32_t));
	for (int64_t k = 0; k < 3 * n; k++)
	{
		int64_t		i = random_below(n) * random_below(n) / (n > 1 ? n - 1 : 1);
		int64_t		j = random_below(n);

		if (i < n && i != j)
			dense_pattern[i * n + j] = dense_pattern[j * n + i] = 1.0;
	}
	for (int64_t i = 0; i < n; i++)
	{
		s.start[i + 1] = s.start[i];
		for (int64_t j = 0; j < n; j++)
			if (dense_pattern[i * n + j] != 0.0)
				s.col[s.start[i + 1]++] = (int32_t) j;
	}
	return s;
}

/* The walks of one pair by their definition. */
static void
plain_paths(const double *p, int64_t n, gp_matrix w, int32_t i, int32_t j, bool cut, int q,
			double *two, double *three)
{
	*two = *three = 0.0;
	for (int64_t a = 0; a < n; a++)
	{
		double		first = cut && a == j ? 0.0 : p[i * n + a] * get(w, a, q);

		if (p[i * n + a] == 0.0)
			continue;
		*two += first * p[a * n + j];
		for (int64_t b = 0; b < n; b++)
			*three += first * p[a * n + b] * get(w, b, q) * (cut && b == i ? 0.0 : p[b * n + j]);
	}
}

/* Walks of pairs, with and without cuts, sources side by side and not. */
static void
case_pair_paths(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[] = {2, 5, 61, 200};

	for (size_t t = 0; t < LENGTH(sizes); t++)
	{
		int64_t		n = sizes[t];
		double	   *p = gp_alloc_zero(dev->env, n * n, sizeof(double));
		gp_csr		s = random_pattern(dev, n, p);
		gp_matrix	w = random_matrix(dev, n, GP_PATH_LANES, GP_FLOAT);
		int32_t		src[300];
		int32_t		dst[300];
		bool		cut[300];
		double		two[300 * GP_PATH_LANES];
		double		three[300 * GP_PATH_LANES];

		for (int e = 0; e < 300; e++)
		{
			src[e] = e > 0 && e % 3 ? src[e - 1] : (int32_t) random_below(n);
			dst[e] = (int32_t) ((src[e] + 1 + random_below(n - 1)) % n);
			cut[e] = e >= 100 && e % 2 == 0;
		}
		dev->pair_paths(dev, &s, w, 300, src, dst, type == GP_FLOAT ? NULL : cut, two, three);
		for (int e = 0; e < 300; e++)
			for (int q = 0; q < GP_PATH_LANES; q++)
			{
				double		want[2];

				plain_paths(p, n, w, src[e], dst[e], type == GP_DOUBLE && cut[e], q, &want[0], &want[1]);
				compare(r, two[e * GP_PATH_LANES + q], want[0]);
				compare(r, three[e * GP_PATH_LANES + q], want[1]);
			}
		drop(dev, w);
		gp_free_all(dev->env, p, s.start, s.col);
	}
}

/* The map of one covariance, by its definition (design: golden formulas). */
static double
plain_map(const gp_stage *stage, double k, double kii, double kjj)
{
	double		c;

	switch (stage->map)
	{
		case GP_MAP_RELU:
			if (kii <= 0 || kjj <= 0)
				k = 0;
			else
			{
				c = fmin(1, fmax(-1, k / sqrt(kii * kjj)));
				k = sqrt(kii * kjj) / (2 * M_PI) * (sqrt(1 - c * c) + (M_PI - acos(c)) * c);
			}
			break;
		case GP_MAP_RBF:
			k = exp(-stage->p1 * (kii + kjj - 2 * k));
			break;
		case GP_MAP_POLY:
			k = pow(k + stage->p1, stage->p2);
			break;
		case GP_MAP_NONE:
			break;
	}
	return stage->scale * k + stage->shift;
}

/* The stages that the cases use. */
static gp_stage
some_stage(int i, gp_matrix diag)
{
	static const gp_stage stages[] = {
		{GP_MAP_NONE, 0, 0, 2.0, 0.25, {0}},
		{GP_MAP_RELU, 0, 0, 1.0, 0.0, {0}},
		{GP_MAP_RELU, 0, 0, 0.5, 0.01, {0}},
		{GP_MAP_RBF, 0.3, 0, 1.0, 0.0, {0}},
		{GP_MAP_POLY, 1.5, 3, 0.5, 0.125, {0}}
	};
	gp_stage	stage = stages[i];

	stage.diag = diag;
	return stage;
}

/* A covariance matrix of n nodes, node 3 without variance. */
static gp_matrix
covariances(gp_device *dev, int64_t n)
{
	gp_matrix	z = random_matrix(dev, n, 5, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, n, n, GP_DOUBLE);

	for (int64_t j = 0; n > 3 && j < z.cols; j++)
		set(z, 3, j, 0);
	dev->syrk(dev, false, 1.0, z, 0.0, k);
	drop(dev, z);
	return k;
}

/* One stage on a block of rows and columns. */
static void
check_map(gp_device *dev, gp_type type, gp_matrix full, gp_stage stage, int64_t row0,
		  int64_t rows, const int32_t *cols, int64_t ncols, case_result *r)
{
	gp_matrix	k = poisoned(dev, rows, ncols, type);

	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < ncols; j++)
			set(k, i, j, get(full, row0 + i, cols ? cols[j] : j));
	dev->map(dev, &stage, k, row0, cols);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < ncols; j++)
		{
			int64_t		u = row0 + i;
			int64_t		v = cols ? cols[j] : j;

			compare(r, get(k, i, j), plain_map(&stage, get(full, u, v), get(full, u, u),
											   get(full, v, v)));
		}
	finish(r, k);
	drop(dev, k);
}

/* All maps on all shapes, and the diagonal after them. */
static void
case_map(gp_device *dev, gp_type type, case_result *r)
{
	static const int64_t sizes[] = {1, 2, 17, 64, 601};

	for (size_t t = 0; t < LENGTH(sizes); t++)
	{
		int64_t		n = sizes[t];
		gp_matrix	full = covariances(dev, n);
		gp_matrix	diag = poisoned(dev, n, 1, GP_DOUBLE);
		int32_t    *cols = gp_alloc_array(dev->env, n, sizeof(int32_t));

		for (int64_t i = 0; i < n; i++)
			cols[i] = (int32_t) random_below(n);
		for (int s = 0; s < 5; s++)
		{
			gp_stage	stage = some_stage(s, diag);

			for (int64_t i = 0; i < n; i++)
				set(diag, i, 0, get(full, i, i));
			check_map(dev, type, full, stage, 0, n, NULL, n, r);
			check_map(dev, type, full, stage, n / 3, n - n / 3, cols, n, r);
			check_map(dev, type, full, stage, 0, 0, cols, n, r);
			check_map(dev, type, full, stage, 0, n, cols, 0, r);
			dev->map_diag(dev, &stage, diag);
			for (int64_t i = 0; i < n; i++)
				compare(r, get(diag, i, 0), plain_map(&stage, get(full, i, i), get(full, i, i),
													  get(full, i, i)));
		}
		drop(dev, full);
		drop(dev, diag);
		gp_free(dev->env, cols);
	}
}

/* One sum over pairs, for a z that is sparse and dense; pass is a list of stages. */
static void
check_pairs(gp_device *dev, gp_type type, int64_t n, int64_t hub, int64_t dims, const int *pass,
			int npass, case_result *r)
{
	gp_csr		s = random_csr(dev, n, n, 6, hub, type);
	gp_csr		zs = random_csr(dev, n, dims, 3, dims, type);
	double	   *z = dense(dev, &zs);
	gp_matrix	zd = poisoned(dev, n, dims, type);
	double	   *k = gp_alloc_array(dev->env, n * n, sizeof(double));
	gp_matrix	diag[3];
	gp_stage	stage[3];
	gp_matrix	out[2] = {poisoned(dev, n, 1, GP_DOUBLE), poisoned(dev, n, 1, GP_DOUBLE)};

	for (int64_t i = 0; i < n * n; i++)
	{
		k[i] = 0;
		for (int64_t d = 0; d < dims; d++)
			k[i] += z[i / n * dims + d] * z[i % n * dims + d];
	}
	for (int64_t i = 0; i < n * dims; i++)
		set(zd, i / dims, i % dims, z[i]);
	for (int p = 0; p < npass; p++)
	{
		diag[p] = poisoned(dev, n, 1, GP_DOUBLE);
		for (int64_t i = 0; i < n; i++)
			set(diag[p], i, 0, k[i * n + i]);
		stage[p] = some_stage(pass[p], diag[p]);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++)
				k[i * n + j] = plain_map(&stage[p], k[i * n + j], get(diag[p], i, 0),
										 get(diag[p], j, 0));
	}
	dev->pair_diag(dev, &s, &zs, NULL, stage, npass, out[0]);
	dev->pair_diag(dev, &s, NULL, &zd, stage, npass, out[1]);
	for (int64_t i = 0; i < n; i++)
	{
		double		sum = 0;

		for (int64_t e = s.start[i]; e < s.start[i + 1]; e++)
			for (int64_t f = s.start[i]; f < s.start[i + 1]; f++)
				sum += entry(&s, e) * entry(&s, f) * k[s.col[e] * n + s.col[f]];
		compare(r, get(out[0], i, 0), sum);
		compare(r, get(out[1], i, 0), sum);
	}
	for (int i = 0; i < 2; i++)
	{
		finish(r, out[i]);
		drop(dev, out[i]);
	}
	for (int p = 0; p < npass; p++)
		drop(dev, diag[p]);
	gp_free_all(dev->env, k, z);
	drop(dev, zd);
	drop_csr(dev, s);
	drop_csr(dev, zs);
}

/* Sums over pairs, with hubs of several blocks. */
static void
case_pairs(gp_device *dev, gp_type type, case_result *r)
{
	static const int none[1] = {0};
	static const int relu[1] = {1};
	static const int gin[2] = {2, 1};
	static const int three[3] = {4, 0, 3};

	check_pairs(dev, type, 1, 1, 3, relu, 1, r);
	check_pairs(dev, type, 40, 40, 7, none, 0, r);
	check_pairs(dev, type, 67, 60, 30, relu, 1, r);
	check_pairs(dev, type, 67, 60, 70, gin, 2, r);
	check_pairs(dev, type, 67, 60, 0, relu, 1, r);
	check_pairs(dev, type, 101, 90, 9, gin, 2, r);
	check_pairs(dev, type, 31, 20, 9, three, 3, r);
	check_pairs(dev, type, few_large ? 400 : 700, few_large ? 300 : 650, 9, relu, 1, r);
}

/* The arc-cosine map against long double, relative, also where it is nearly 0 or 1/2. */
static double
arc_cosine_error(gp_device *dev, gp_type type)
{
	enum {N = 2003};
	gp_matrix	k = dev->create(dev, 1, N, type);
	gp_matrix	diag = dev->create(dev, N + 1, 1, GP_DOUBLE);
	gp_stage	stage = {GP_MAP_RELU, 0, 0, 1.0, 0.0, diag};
	double		worst = 0;

	dev->fill(dev, diag, 1.0);
	for (int j = 0; j < N; j++)
		set(k, 0, j, -1.0 + 2.0 * j / (N - 1));
	for (int j = 0; j < 9; j++)
	{
		set(k, 0, 100 + j, 1.0 - pow(10.0, -j));
		set(k, 0, 200 + j, pow(10.0, -j) - 1.0);
		set(k, 0, 300 + j, 1.0 + 1e-7 * j);
	}
	gp_matrix	old = duplicate(dev, k);
	dev->map(dev, &stage, k, N, NULL);
	for (int j = 0; j < N; j++)
	{
		long double c = fminl(1.0L, fmaxl(-1.0L, get(old, 0, j)));
		long double u = 2 * asinl(sqrtl((1 + c) / 2));
		long double g = sinl(u) - u * cosl(u);

		if (u < 0.1L)
			g = u * u * u * (1 / 3.0L - u * u * (1 / 30.0L - u * u *
												 (1 / 840.0L - u * u * (1 / 45360.0L - u * u / 3991680.0L))));
		g /= 2 * (long double) M_PI;
		if (g > 0)
			worst = fmax(worst, (double) fabsl(get(k, 0, j) / g - 1));
		else if (get(k, 0, j) != 0)
			worst = INFINITY;
	}
	drop(dev, old);
	drop(dev, k);
	drop(dev, diag);
	return worst;
}

/* The cases with their tolerances, in float and double. */
static const device_test sparse_cases[] = {
	{"spmm", case_spmm, {1e-5, 1e-14}},
	{"csr_rows", case_csr_rows, {1e-6, 1e-14}},
	{"spmm_take and csr_product_rows", case_elements, {1e-5, 1e-13}},
	{"pair_paths", case_pair_paths, {1e-5, 1e-5}},
	{"map and map_diag", case_map, {3e-6, 1e-14}},
	{"pair_diag", case_pairs, {1e-5, 1e-13}},
};

#endif							/* CASES_SPARSE_H */
