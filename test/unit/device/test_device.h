/*
 * test_device.h - matrices, random numbers and comparisons for tests of devices.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <stdlib.h>

#include "device/device.h"
#include "test_env.h"

/* What a case gives: its largest error, and a sum over the bits of its results. */
typedef struct case_result
{
	double		error;
	uint64_t	hash;
} case_result;

/* Runs one operation on a device and compares it with plain loops. */
typedef void (*device_case) (gp_device *dev, gp_type type, case_result *result);

/* A case with the largest error that it may have in float and in double. */
typedef struct device_test
{
	const char *name;
	device_case run;
	double		tolerance[2];
} device_test;

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* The state of random_unit. */
__attribute__((weak)) uint64_t random_state = 1;

/* True on a device that has no panels of its own, and where large cases take long. */
__attribute__((weak)) bool few_large = false;

/* A pseudo-random number in (-1, 1) that float represents. */
static inline double
random_unit(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double) (int32_t) (random_state >> 40) / 8388608.0 - 1.0;
}

/* A pseudo-random whole number below n. */
static inline int64_t
random_below(int64_t n)
{
	int64_t		i = (int64_t) ((random_unit() + 1.0) / 2.0 * (double) n);

	return i < n ? i : n - 1;
}

/* Element i, j. */
static inline double
get(gp_matrix m, int64_t i, int64_t j)
{
	return m.type == GP_FLOAT ? ((const float *) m.data)[i * m.ld + j]
		: ((const double *) m.data)[i * m.ld + j];
}

/* Sets element i, j. */
static inline void
set(gp_matrix m, int64_t i, int64_t j, double value)
{
	if (m.type == GP_FLOAT)
		((float *) m.data)[i * m.ld + j] = (float) value;
	else
		((double *) m.data)[i * m.ld + j] = value;
}

/* A matrix whose rows are longer than they seem; all of it is not a number. */
static inline gp_matrix
poisoned(gp_device *dev, int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = dev->create(dev, rows, cols == 1 ? 1 : cols + 3, type);

	for (int64_t i = 0; i < m.rows; i++)
		for (int64_t j = 0; j < m.ld; j++)
			set(m, i, j, NAN);
	m.cols = cols;
	return m;
}

/* The same with random numbers in its elements. */
static inline gp_matrix
random_matrix(gp_device *dev, int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = poisoned(dev, rows, cols, type);

	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			set(m, i, j, random_unit());
	return m;
}

/* A copy with the same gaps. */
static inline gp_matrix
duplicate(gp_device *dev, gp_matrix m)
{
	gp_matrix	d = poisoned(dev, m.rows, m.cols, m.type);

	for (int64_t i = 0; i < m.rows; i++)
		for (int64_t j = 0; j < m.cols; j++)
			set(d, i, j, get(m, i, j));
	return d;
}

/* Keeps the largest error, relative to the larger of 1 and |want|; NaN counts as infinite. */
static inline void
compare(case_result *r, double got, double want)
{
	double		e = fabs(got - want) / fmax(1.0, fabs(want));

	if (isnan(e))
		e = INFINITY;
	r->error = fmax(r->error, e);
}

/* Adds the bits of a result to the hash, and checks that the gaps are as they were. */
static inline void
finish(case_result *r, gp_matrix m)
{
	for (int64_t i = 0; i < m.rows; i++)
	{
		const uint32_t *word = (const uint32_t *) ((const char *) m.data + i * m.ld * (int64_t) gp_type_size(m.type));

		for (size_t w = 0; w < (size_t) m.cols * gp_type_size(m.type) / sizeof(uint32_t); w++)
			r->hash = (r->hash ^ word[w]) * UINT64_C(1099511628211);
		for (int64_t j = m.cols; j < m.ld; j++)
			if (!isnan(get(m, i, j)))
				r->error = INFINITY;
	}
}

/* Frees matrices. */
static inline void
drop(gp_device *dev, gp_matrix m)
{
	dev->destroy(dev, &m);
}

/* A sparse matrix with about so many entries in a row, and one row of any length. */
static inline gp_csr
random_csr(gp_device *dev, int64_t rows, int64_t cols, double per_row, int64_t hub, gp_type type)
{
	gp_csr		s = {.rows = rows, .cols = cols, .type = type};
	int64_t		n = 0;

	s.start = gp_alloc_array(dev->env, rows + 1, sizeof(int64_t));
	s.col = gp_alloc_array(dev->env, rows * cols, sizeof(int32_t));
	s.value = gp_alloc_array(dev->env, rows * cols, gp_type_size(type));
	s.start[0] = 0;
	for (int64_t i = 0; i < rows; i++)
	{
		double		share = i == rows / 2 ? (double) hub / (double) cols : per_row / (double) cols;

		for (int64_t j = 0; j < cols; j++)
			if ((random_unit() + 1.0) / 2.0 < share)
			{
				gp_matrix	v = gp_matrix_wrap(s.value, 1, rows * cols, type);

				s.col[n] = (int32_t) j;
				set(v, 0, n++, random_unit());
			}
		s.start[i + 1] = n;
	}
	return s;
}

/* Value of entry e. */
static inline double
entry(const gp_csr *s, int64_t e)
{
	return s->type == GP_FLOAT ? ((const float *) s->value)[e] : ((const double *) s->value)[e];
}

/* Frees its arrays. */
static inline void
drop_csr(gp_device *dev, gp_csr s)
{
	gp_free_all(dev->env, s.start, s.col, s.value);
}

#endif							/* TEST_DEVICE_H */
