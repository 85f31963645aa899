/*
 * plain_gckm.h - the graph convolutional kernel machine by plain loops, for its tests.
 */
#ifndef PLAIN_GCKM_H
#define PLAIN_GCKM_H

#include "test_env.h"
#include "test_graphs.h"
#include "train/gckm/gckm.h"

#include <stdlib.h>

#define N 34

/* a sin(1 + i c + j), row by row. */
static inline double
fill(int i, int j, int c, double a)
{
	return a * sin(1.0 + i * c + j);
}

/* x -= f * y; not instrumented, for a dense solution of thousands of nodes does little else. */
static void __attribute__((noinline, unused, no_sanitize("address"), no_sanitize("undefined"), optimize("O3")))
subtract_row(int n, double f, const double *restrict y, double *restrict x)
{
	for (int j = 0; j < n; j++)
		x[j] -= f * y[j];
}

/* a (n x n) is solved for b (n x p) by elimination with pivots; both are overwritten. */
static inline void
solve_dense(int n, int p, double *a, double *b)
{
	for (int k = 0; k < n; k++)
	{
		int			top = k;

		for (int i = k + 1; i < n; i++)
			top = fabs(a[i * n + k]) > fabs(a[top * n + k]) ? i : top;
		for (int j = 0; j < n; j++)
		{
			double		swap = a[k * n + j];

			a[k * n + j] = a[top * n + j];
			a[top * n + j] = swap;
		}
		for (int j = 0; j < p; j++)
		{
			double		swap = b[k * p + j];

			b[k * p + j] = b[top * p + j];
			b[top * p + j] = swap;
		}
		for (int i = k + 1; i < n; i++)
		{
			double		f = a[i * n + k] / a[k * n + k];

			subtract_row(n - k, f, a + k * n + k, a + i * n + k);
			subtract_row(p, f, b + k * p, b + i * p);
		}
	}
	for (int k = n - 1; k >= 0; k--)
		for (int j = 0; j < p; j++)
		{
			for (int i = k + 1; i < n; i++)
				b[k * p + j] -= a[k * n + i] * b[i * p + j];
			b[k * p + j] /= a[k * n + k];
		}
}

/*
 * Equation 11 of the paper, by elimination: e (n x p) and the bias; h may be NULL.  Label
 * number skip is left out (-1: none).
 */
static inline void
equation(const gp_rkm *m, int n, const double *k, int skip, double *e, double *h, double *bias)
{
	int			p = m->columns;
	double	   *a = calloc((size_t) (n + 1) * (n + 1), sizeof(double));
	double	   *b = calloc((size_t) (n + 1) * p, sizeof(double));
	double	   *r = calloc(n, sizeof(double));

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			r[i] += k[i * n + j];
		r[i] = 1.0 / (m->lambda1 * fmax(r[i], 1.0));
	}
	for (int t = 0; t < m->nlabelled; t++)
		if (t != skip)
			r[m->labelled[t]] -= 1.0 / m->lambda2;
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			a[i * (n + 1) + j] = k[i * n + j] / m->eta - (i == j ? 1.0 / r[i] : 0.0);
		a[i * (n + 1) + n] = a[n * (n + 1) + i] = 1.0;
	}
	for (int t = 0; t < m->nlabelled; t++)
		for (int c = 0; c < p && t != skip; c++)
			b[m->labelled[t] * p + c] = -(m->label[t] == c ? 1.0 : -1.0) / (r[m->labelled[t]] * m->lambda2);
	solve_dense(n + 1, p, a, b);
	for (int i = 0; i < n; i++)
		for (int c = 0; c < p; c++)
		{
			e[i * p + c] = b[i * p + c] / r[i];
			if (h)
				h[i * p + c] = e[i * p + c];
		}
	for (int t = 0; t < m->nlabelled; t++)
		for (int c = 0; c < p && t != skip; c++)
			e[m->labelled[t] * p + c] -= (m->label[t] == c ? 1.0 : -1.0) / (r[m->labelled[t]] * m->lambda2);
	for (int c = 0; c < p && bias; c++)
		bias[c] = b[n * p + c];
	free(a);
	free(b);
	free(r);
}

/* The Gaussian kernel of the rows of x (n x d), squared distances in place of products and lengths. */
static inline double *
plain_rbf(gp_env *env, int n, int d, const double *x, double sigma2)
{
	double	   *k = gp_alloc_array(env, (int64_t) n * n, sizeof(double));

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			double		away = 0.0;

			for (int c = 0; c < d; c++)
				away += (x[i * d + c] - x[j * d + c]) * (x[i * d + c] - x[j * d + c]);
			k[i * n + j] = exp(-0.5 * away / sigma2);
		}
	return k;
}

/* The mean squared distance to the mean row. */
static inline double
plain_variance(int n, int d, const double *x)
{
	double		variance = 0.0;

	for (int c = 0; c < d; c++)
	{
		double		mean = 0.0;

		for (int i = 0; i < n; i++)
			mean += x[i * d + c] / n;
		for (int i = 0; i < n; i++)
			variance += (x[i * d + c] - mean) * (x[i * d + c] - mean) / n;
	}
	return variance;
}

/* The leading s eigenvectors of a centred kernel, by Jacobi's rotations; k is overwritten. */
static inline double *
plain_components(gp_env *env, int n, int s, double *k)
{
	double	   *mean = gp_alloc_zero(env, n, sizeof(double));
	double	   *v = gp_alloc_zero(env, (int64_t) n * n, sizeof(double));
	double	   *h = gp_alloc_array(env, (int64_t) n * s, sizeof(double));
	bool	   *used = gp_alloc_zero(env, n, sizeof(bool));
	double		all = 0.0;

	for (int i = 0; i < n * n; i++)
	{
		mean[i / n] += k[i] / n;
		all += k[i] / n / n;
	}
	for (int i = 0; i < n * n; i++)
		k[i] += all - mean[i / n] - mean[i % n];
	for (int i = 0; i < n; i++)
		v[i * n + i] = 1.0;
	for (int sweep = 0; sweep < 30; sweep++)
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++)
			{
				double		angle = 0.5 * atan2(2.0 * k[p * n + q], k[q * n + q] - k[p * n + p]);
				double		c = cos(angle);
				double		t = sin(angle);

				for (int i = 0; i < n; i++)
				{
					double		x = k[i * n + p];
					double		y = k[i * n + q];

					k[i * n + p] = c * x - t * y;
					k[i * n + q] = t * x + c * y;
				}
				for (int i = 0; i < n; i++)
				{
					double		x = k[p * n + i];
					double		y = k[q * n + i];

					k[p * n + i] = c * x - t * y;
					k[q * n + i] = t * x + c * y;
					x = v[i * n + p];
					y = v[i * n + q];
					v[i * n + p] = c * x - t * y;
					v[i * n + q] = t * x + c * y;
				}
			}
	for (int j = 0; j < s; j++)
	{
		int			top = -1;

		for (int i = 0; i < n; i++)
			if (!used[i] && (top < 0 || k[i * n + i] > k[top * n + top]))
				top = i;
		used[top] = true;
		for (int i = 0; i < n; i++)
			h[i * s + j] = v[i * n + top];
	}
	return h;
}

/* The largest difference of two arrays, relative to the larger of 1 and the second. */
static inline double
worst(int64_t n, const double *got, const double *want)
{
	double		most = 0.0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, fabs(got[i] - want[i]) / fmax(1.0, fabs(want[i])));
	return isnan(most) ? INFINITY : most;
}

/* Features of a kind, which x gets, too. */
static inline gp_features *
make_features(gp_env *env, int n, int dims, bool sparse, gp_type type, double *x)
{
	gp_features_builder *b = gp_features_create(env, n, dims, type);
	uint64_t	state = 3;
	int32_t		r1;
	int32_t		r2;

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < dims; j++)
		{
			x[i * dims + j] = sparse && draw_below(&state, 8) > 0 ? 0.0 : draw_unit(&state) - 0.25;
			if (j == 1)
				x[i * dims + j] = sparse ? 0.0 : 2.5;
			if (type == GP_FLOAT)
				x[i * dims + j] = (float) x[i * dims + j];
		}
		gp_features_add_row(b, i, x + i * dims);
	}
	return gp_features_build(b, &r1, &r2);
}

/* The rows that a view compares, dense; columns without deviation become 0 where op is NULL. */
static inline double *
plain_rows(gp_env *env, int n, int dims, const gp_csr *op, const double *x)
{
	double	   *a = gp_alloc_zero(env, (int64_t) n * dims, sizeof(double));

	for (int j = 0; j < dims; j++)
	{
		double		mean = 0.0;
		double		square = 0.0;

		for (int i = 0; i < n; i++)
			mean += x[i * dims + j] / n;
		for (int i = 0; i < n; i++)
			square += (x[i * dims + j] - mean) * (x[i * dims + j] - mean) / n;
		for (int i = 0; i < n; i++)
			if (op == NULL)
				a[i * dims + j] = square > 1e-20 ? x[i * dims + j] / sqrt(square) : 0.0;
			else
				for (int64_t e = op->start[i]; e < op->start[i + 1]; e++)
					a[i * dims + j] += ((const double *) op->value)[e] * x[op->col[e] * dims + j];
	}
	return a;
}

/* A matrix on the device. */
static inline gp_matrix
on_device(gp_device *dev, int64_t rows, int64_t cols, const double *from)
{
	gp_matrix	m = dev->create(dev, rows, cols, GP_DOUBLE);

	dev->upload(dev, m, gp_matrix_wrap((void *) from, rows, cols, GP_DOUBLE));
	return m;
}

/* All nodes as points. */
static inline gp_points
all_points(gp_env *env, int n)
{
	return gp_points_choose(env, n, 0, NULL, n, 1);
}

/* Z (Z'Z's Cholesky factor)^-T of the golden values. */
static inline void
orthogonal(int k, int s, double *z)
{
	double		l[4][4] = {{0.0}};

	for (int i = 0; i < N; i++)
		for (int j = 0; j < s; j++)
			z[i * s + j] = fill(i, j, s, 1.0) + 0.5 * cos((k + 2) * (1.0 + i * s + j));
	for (int i = 0; i < s; i++)
		for (int j = 0; j <= i; j++)
		{
			double		sum = 0.0;

			for (int r = 0; r < N; r++)
				sum += z[r * s + i] * z[r * s + j];
			for (int c = 0; c < j; c++)
				sum -= l[i][c] * l[j][c];
			l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
		}
	for (int r = 0; r < N; r++)
		for (int j = 0; j < s; j++)
		{
			for (int c = 0; c < j; c++)
				z[r * s + j] -= z[r * s + c] * l[j][c];
			z[r * s + j] /= l[j][j];
		}
}

/* Rows of x (N x d) summed over neighbours. */
static inline double *
plain_gather(gp_env *env, const gp_csr *op, int d, const double *x)
{
	double	   *a = gp_alloc_zero(env, N * d, sizeof(double));

	for (int i = 0; i < N; i++)
		for (int64_t e = op->start[i]; e < op->start[i + 1]; e++)
			for (int j = 0; j < d; j++)
				a[i * d + j] += ((const double *) op->value)[e] * x[op->col[e] * d + j];
	return a;
}

#endif							/* PLAIN_GCKM_H */
