/*
 * cpu_simd_kernels.h - the template of all vector loops.
 *
 * A variant includes this file for T float and T double, after defining
 *   ATTR         the function attribute that enables the instructions
 *   V, W         the vector type and its length; operators work on V as on T
 *   SET1, LOAD, STORE, FMA (a b + c), MIN, MAX, SQRT, EXP on V; MIN and MAX give the second
 *                argument when one is not a number
 *   VI           the vector type of integers of T's size; not where V is no vector
 *   VD, WD, SETD, STORED, FMAD   vectors of double; LOADD converts from T
 *   TURN, NTURN  dst = src' for a square block, as TURN(src, lds, dst, ldd), and its side
 *
 * No include guard: each inclusion makes the functions of one type, whose name is behind theirs.
 */
#define FN_PASTE(name, type) name##_##type
#define FN_OF(name, type) FN_PASTE(name, type)
#define FN(name) FN_OF(name, T)

/* y = a x + b y; b = 0 ignores y. */
static ATTR void
FN(axpby) (int64_t n, double a, const void *xx, double b, void *yy)
{
	const T    *x = xx;
	T		   *y = yy;
	V			va = SET1((T) a);
	V			vb = SET1((T) b);
	int64_t		i = 0;

	if (b == 0.0)
	{
		for (; i + W <= n; i += W)
			STORE(y + i, va * LOAD(x + i));
		for (; i < n; i++)
			y[i] = (T) a * x[i];
		return;
	}
	for (; i + W <= n; i += W)
		STORE(y + i, FMA(va, LOAD(x + i), vb * LOAD(y + i)));
	for (; i < n; i++)
		y[i] = (T) a * x[i] + (T) b * y[i];
}

/* The sum of x_i y_i in double, in four running sums. */
static ATTR double
FN(dot) (int64_t n, const void *xx, const void *yy)
{
	const T    *x = xx;
	const T    *y = yy;
	VD			s[4] = {SETD(0.0), SETD(0.0), SETD(0.0), SETD(0.0)};
	double		part[WD];
	double		sum = 0.0;
	int64_t		i = 0;

	for (; i + 4 * WD <= n; i += 4 * WD)
	{
		UNROLL
		for (int q = 0; q < 4; q++)
			s[q] = FMAD(LOADD(x + i + q * WD), LOADD(y + i + q * WD), s[q]);
	}
	STORED(part, (s[0] + s[1]) + (s[2] + s[3]));
	for (int j = 0; j < WD; j++)
		sum += part[j];
	for (; i < n; i++)
		sum += (double) x[i] * (double) y[i];
	return sum;
}

/* The sum of value[e] b[col[e] ldb], in double. */
static ATTR double
FN(sparse_dot) (int64_t entries, const int32_t *col, const void *value, const void *bb,
				int64_t ldb)
{
	const T    *v = value;
	const T    *b = bb;
	double		s0 = 0.0;
	double		s1 = 0.0;
	int64_t		e = 0;

	for (; e + 2 <= entries; e += 2)
	{
		s0 += (double) v[e] * (double) b[col[e] * ldb];
		s1 += (double) v[e + 1] * (double) b[col[e + 1] * ldb];
	}
	if (e < entries)
		s0 += (double) v[e] * (double) b[col[e] * ldb];
	return s0 + s1;
}

/* c = alpha sum + beta c for one vector; beta = 0 ignores c. */
static inline ATTR void
FN(finish) (T *c, V sum, T alpha, T beta)
{
	V			out = SET1(alpha) * sum;

	if (beta != 0)
		out = FMA(SET1(beta), LOAD(c), out);
	STORE(c, out);
}

/*
 * A few vectors of columns of a sparse row times b, summed in registers.  vectors is a constant
 * where this is inlined, at most 8.
 */
static inline ATTR __attribute__((always_inline)) void
FN(spmm_vectors) (int vectors, int64_t entries, const int32_t *col, const T *value, const T *b,
				  int64_t ldb, T alpha, T beta, T *c)
{
	V			sum[8];

	UNROLL
	for (int q = 0; q < vectors; q++)
		sum[q] = SET1(0);
	for (int64_t e = 0; e < entries; e++)
	{
		const T    *row = b + col[e] * ldb;
		V			v = SET1(value[e]);

		UNROLL
		for (int q = 0; q < vectors; q++, row += W)
			sum[q] = FMA(v, LOAD(row), sum[q]);
	}
	UNROLL
	for (int q = 0; q < vectors; q++)
		FN(finish) (c + q * W, sum[q], alpha, beta);
}

/* A few columns, a power of two of them, of a sparse row times b: kept in one short vector. */
#define SPMM_SHORT(k) \
static inline ATTR void \
FN(spmm_short_##k) (int64_t entries, const int32_t *col, const T *value, const T *b, \
					int64_t ldb, T alpha, T beta, T *c) \
{ \
	typedef T	some __attribute__((vector_size(k * sizeof(T)))); \
	some		sum = {0}; \
	some		part; \
\
	for (int64_t e = 0; e < entries; e++) \
	{ \
		memcpy(&part, b + col[e] * ldb, sizeof(part)); \
		sum += value[e] * part; \
	} \
	if (beta != 0) \
	{ \
		memcpy(&part, c, sizeof(part)); \
		sum = alpha * sum + beta * part; \
	} \
	else \
		sum *= alpha; \
	memcpy(c, &sum, sizeof(sum)); \
}

SPMM_SHORT(8)
SPMM_SHORT(4)
SPMM_SHORT(2)
SPMM_SHORT(1)
#undef SPMM_SHORT

/* One vector of columns of a sparse row times b: two sums, for an addition waits for the one before
 * it. */
static inline ATTR void
FN(spmm_one) (int64_t entries, const int32_t *col, const T *value, const T *b,
			  int64_t ldb, T alpha, T beta, T *c)
{
	V			s0 = SET1(0);
	V			s1 = s0;
	int64_t		e = 0;

	for (; e + 2 <= entries; e += 2)
	{
		s0 = FMA(SET1(value[e]), LOAD(b + col[e] * ldb), s0);
		s1 = FMA(SET1(value[e + 1]), LOAD(b + col[e + 1] * ldb), s1);
	}
	if (e < entries)
		s0 = FMA(SET1(value[e]), LOAD(b + col[e] * ldb), s0);
	FN(finish) (c, s0 + s1, alpha, beta);
}

/* One sparse row times n columns of b. */
static inline ATTR void
FN(spmm_row) (int64_t entries, const int32_t *col, const T *value, const T *b,
			  int64_t ldb, int64_t n, T alpha, T beta, T *c)
{
	int64_t		j = 0;

	for (; j + 8 * W <= n; j += 8 * W)
		FN(spmm_vectors) (8, entries, col, value, b + j, ldb, alpha, beta, c + j);
	for (; j + 4 * W <= n; j += 4 * W)
		FN(spmm_vectors) (4, entries, col, value, b + j, ldb, alpha, beta, c + j);
	for (; j + 2 * W <= n; j += 2 * W)
		FN(spmm_vectors) (2, entries, col, value, b + j, ldb, alpha, beta, c + j);
	for (; j + W <= n; j += W)
		FN(spmm_one) (entries, col, value, b + j, ldb, alpha, beta, c + j);
	if (W > 8 && j + 8 <= n)
	{
		FN(spmm_short_8) (entries, col, value, b + j, ldb, alpha, beta, c + j);
		j += 8;
	}
	if (W > 4 && j + 4 <= n)
	{
		FN(spmm_short_4) (entries, col, value, b + j, ldb, alpha, beta, c + j);
		j += 4;
	}
	if (W > 2 && j + 2 <= n)
	{
		FN(spmm_short_2) (entries, col, value, b + j, ldb, alpha, beta, c + j);
		j += 2;
	}
	if (j < n)
		FN(spmm_short_1) (entries, col, value, b + j, ldb, alpha, beta, c + j);
}

/* Asks for the rows of b that entries at to end need, n columns of them; returns the end. */
static inline ATTR int64_t
FN(fetch_rows) (int64_t at, int64_t end, const int32_t *col, const T *b, int64_t ldb, int64_t n)
{
	for (; at < end; at++)
		for (int64_t j = 0; j < n; j += 64 / sizeof(T))
			__builtin_prefetch(b + col[at] * ldb + j, 0, 2);
	return at;
}

/*
 * Rows of c = alpha s b + beta c; the loop is here because rows are short and calls dear.  So are
 * the questions how many columns are left: a few vectors of them have loops of their own.
 */
static ATTR void
FN(spmm) (int64_t rows, const int64_t *start, const int32_t *col, const void *value,
		  const void *b, int64_t ldb, int64_t n, int64_t ahead, double alpha, double beta, void *c,
		  int64_t ldc)
{
	const int64_t end = start[rows];
	int64_t		fetched = ahead > 0 ? start[0] : end;

#define EACH_ROW \
	for (int64_t i = 0; i < rows; \
		 fetched = FN(fetch_rows) (fetched, \
								   start[i + 1] + ahead < end ? start[i + 1] + ahead : end, \
								   col, b, ldb, n), i++)
#define ROW start[i + 1] - start[i], col + start[i], (const T *) value + start[i], b, ldb
#define OUT (T) alpha, (T) beta, (T *) c + i * ldc

	if (n == W)
		EACH_ROW
			FN(spmm_one) (ROW, OUT);
	else if (n == 2 * W)
		EACH_ROW
			FN(spmm_vectors) (2, ROW, OUT);
	else if (n == 4 * W)
		EACH_ROW
			FN(spmm_vectors) (4, ROW, OUT);
	else
		EACH_ROW
			FN(spmm_row) (ROW, n, OUT);
#undef EACH_ROW
#undef ROW
#undef OUT
}

/* dst = src', src being rows x cols. */
static ATTR void
FN(turn) (int64_t rows, int64_t cols, const void *src, int64_t lds, void *dst, int64_t ldd)
{
	const T    *s = src;
	T		   *d = dst;
	int64_t		i = 0;

	for (; i + NTURN <= rows; i += NTURN)
	{
		int64_t		j = 0;

		for (; j + NTURN <= cols; j += NTURN)
			TURN(s + i * lds + j, lds, d + j * ldd + i, ldd);
		for (; j < cols; j++)
			for (int64_t k = i; k < i + NTURN; k++)
				d[j * ldd + k] = s[k * lds + j];
	}
	for (; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			d[j * ldd + i] = s[i * lds + j];
}

/*
 * A few vectors of right sides of a triangular system, a constant: x_j += sum_{i<j} t_ji x_i, then
 * x_j *= t_jj, row after row.  Row j of x is at x + j * step.
 */
static inline ATTR __attribute__((always_inline)) void
FN(solve_vectors) (int vectors, int64_t n, const T *t, int64_t ldt, T *x, int64_t step)
{
	for (int64_t j = 0; j < n; j++)
	{
		T		   *to = x + j * step;
		const T    *tj = t + j * ldt;
		V			d = SET1(tj[j]);
		V			s[8];

		UNROLL
		for (int q = 0; q < vectors; q++)
			s[q] = LOAD(to + q * W);
		for (int64_t i = 0; i < j; i++)
		{
			const T    *from = x + i * step;
			V			f = SET1(tj[i]);

			UNROLL
			for (int q = 0; q < vectors; q++)
				s[q] = FMA(f, LOAD(from + q * W), s[q]);
		}
		UNROLL
		for (int q = 0; q < vectors; q++)
			STORE(to + q * W, s[q] * d);
	}
}

/* The same for any number of right sides, a multiple of 16. */
static ATTR void
FN(solve) (int64_t n, const void *t, int64_t ldt, int64_t cols, void *xx, int64_t step)
{
	T		   *x = xx;
	int64_t		c = 0;

	for (; c + 8 * W <= cols; c += 8 * W)
		FN(solve_vectors) (8, n, t, ldt, x + c, step);
	for (; c < cols; c += W)
		FN(solve_vectors) (1, n, t, ldt, x + c, step);
}

/* k = scale k + shift. */
static ATTR void
FN(affine) (int64_t n, double scale, double shift, void *kk)
{
	T		   *k = kk;
	int64_t		i = 0;

	for (; i + W <= n; i += W)
		STORE(k + i, FMA(SET1((T) scale), LOAD(k + i), SET1((T) shift)));
	for (; i < n; i++)
		k[i] = (T) scale * k[i] + (T) shift;
}

#include "cpu_simd_maps.h"

#undef T
#undef VI
#undef FN
#undef FN_OF
#undef FN_PASTE
