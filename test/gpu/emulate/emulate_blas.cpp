/*
 * emulate_blas.cpp - cuBLAS with plain loops: products and triangular solves.
 *
 * Arguments are checked as cuBLAS checks them, and every matrix must lie in one
 * block of the card.  A product is added up in blocks of the inner dimension from
 * packed copies of its factors; TF32 rounds those copies to 10 bits.  How long the
 * blocks are depends on the shape and the workspace, as cuBLAS's choice of a kernel
 * does: so do the bits.
 */
#include <cublas_v2.h>

#include "emulate.h"

#define INNER 256				/* inner indexes of one packed piece */
#define HEIGHT 256				/* rows of one packed piece */

struct cublasContext
{
	cudaStream_t stream;
	cublasMath_t mode;
	size_t		workspace;		/* bytes; 0 = its own */
};

/* Enters a call that needs a handle and a card. */
static cublasStatus_t
enter(cublasHandle_t handle)
{
	if (handle == NULL)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (gp_emulated_enter() != cudaSuccess)
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return gp_emulated_is_stream(handle->stream) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t
cublasCreate(cublasHandle_t *handle)
{
	*handle = NULL;
	if (gp_emulated_enter() != cudaSuccess)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	*handle = new cublasContext();
	gp_emulated.objects++;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasDestroy(cublasHandle_t handle)
{
	if (handle == NULL)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	delete handle;
	gp_emulated.objects--;
	return gp_emulated_enter() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t
cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	cublasStatus_t status = enter(handle);

	if (status == CUBLAS_STATUS_SUCCESS)
		handle->stream = stream;
	return status;
}

cublasStatus_t
cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	cublasStatus_t status = enter(handle);

	if (status == CUBLAS_STATUS_SUCCESS)
		handle->mode = mode;
	return status;
}

cublasStatus_t
cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	cublasStatus_t status = enter(handle);

	if (status == CUBLAS_STATUS_SUCCESS && bytes > 0 && !gp_emulated_covers(workspace, bytes))
		status = CUBLAS_STATUS_INVALID_VALUE;
	if (status == CUBLAS_STATUS_SUCCESS)
		handle->workspace = bytes;
	return status;
}

cublasStatus_t
cublasGetVersion(cublasHandle_t handle, int *version)
{
	*version = 130000;
	return CUBLAS_STATUS_SUCCESS;
}

/* The names and texts of the states. */
static const struct
{
	cublasStatus_t status;
	const char *name;
	const char *text;
}			states[] = {
	{CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
	{CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
	{CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
	{CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was used as an argument"},
	{CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"}
};

const char *
cublasGetStatusString(cublasStatus_t status)
{
	for (const auto &s : states)
		if (s.status == status)
			return s.text;
	return "unknown";
}

const char *
cublasGetStatusName(cublasStatus_t status)
{
	for (const auto &s : states)
		if (s.status == status)
			return s.name;
	return "unknown";
}

/* True when a matrix of that shape lies in one block of the card. */
template<class T>
static bool
on_card(const char *what, const T *a, int rows, int cols, int ld)
{
	size_t		bytes;

	if (rows == 0 || cols == 0)
		return true;
	bytes = ((size_t) (cols - 1) * (size_t) ld + (size_t) rows) * sizeof(T);
	if (gp_emulated_covers(a, bytes))
		return true;
	gp_emulated_complain("%s: a matrix of %d x %d (leading dimension %d) at %p is not in one block of the card",
						 what, rows, cols, ld, (const void *) a);
	return false;
}

/* A factor as the product sees it: TF32 keeps 10 bits behind the point. */
static inline float
rounded(float x, bool tf32)
{
	uint32_t	bits;

	if (!tf32)
		return x;
	memcpy(&bits, &x, sizeof(bits));
	if ((bits & 0x7f800000u) != 0x7f800000u)
		bits = (bits + 0x0fffu + (bits >> 13 & 1)) & ~0x1fffu;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline double
rounded(double x, bool tf32)
{
	return x;
}

/* What a product is made of; op(a) is m x k, op(b) k x n. */
template<class T>
struct product
{
	bool		trans_a;
	bool		trans_b;
	int			m;
	int			n;
	int			k;
	T			alpha;
	const T    *a;
	int			lda;
	const T    *b;
	int			ldb;
	T			beta;
	T		   *c;
	int			ldc;
	int			triangle;		/* of c: 0 all, 1 lower, 2 upper */
	bool		tf32;
	int			inner;			/* inner indexes that are added up at a time */
};

/* The inner indexes of a block, by the shape and the workspace. */
static int
inner_of(cublasHandle_t handle, int m, int n)
{
	return INNER - (int) (handle->workspace / 1024 % 16) * 4 - (n < 64 ? 64 : 0) - (m < 64 ? 16 : 0);
}

/* Four columns of c get their sums over one packed piece; sums are kept in c's type. */
template<class T>
static void
add_piece(const T *__restrict packed, int rows, int inner, const T *__restrict b, T *__restrict sum)
{
	for (int l = 0; l < inner; l++)
	{
		const T    *a = packed + (size_t) l * HEIGHT;
		T			b0 = b[l];
		T			b1 = b[INNER + l];
		T			b2 = b[2 * INNER + l];
		T			b3 = b[3 * INNER + l];

		for (int i = 0; i < rows; i++)
		{
			sum[i] += a[i] * b0;
			sum[HEIGHT + i] += a[i] * b1;
			sum[2 * HEIGHT + i] += a[i] * b2;
			sum[3 * HEIGHT + i] += a[i] * b3;
		}
	}
}

/* Copies op(a)'s rows [i0, i0 + rows) and inner indexes [l0, l0 + inner), column by column. */
template<class T>
static void
pack_a(const product<T> *p, int i0, int rows, int l0, int inner, T *out)
{
	for (int l = 0; l < inner; l++)
		for (int i = 0; i < rows; i++)
		{
			size_t		r = (size_t) (i0 + i);
			size_t		s = (size_t) (l0 + l);

			out[(size_t) l * HEIGHT + i] =
				rounded(p->trans_a ? p->a[s + r * (size_t) p->lda] : p->a[r + s * (size_t) p->lda], p->tf32);
		}
}

/* Copies four columns of op(b); columns beyond the last are 0. */
template<class T>
static void
pack_b(const product<T> *p, int j0, int l0, int inner, T *out)
{
	for (int j = 0; j < 4; j++)
		for (int l = 0; l < inner; l++)
		{
			size_t		r = (size_t) (l0 + l);
			size_t		s = (size_t) (j0 + j);

			out[j * INNER + l] = j0 + j >= p->n ? 0 :
				rounded(p->trans_b ? p->b[s + r * (size_t) p->ldb] : p->b[r + s * (size_t) p->ldb], p->tf32);
		}
}

/* c becomes beta c, which is not read for 0, in its triangle. */
template<class T>
static void
scale_result(const product<T> *p)
{
	for (int j = 0; j < p->n; j++)
	{
		int			from = p->triangle == 1 ? j : 0;
		int			to = p->triangle == 2 ? j + 1 : p->m;
		T		   *c = p->c + (size_t) j * (size_t) p->ldc;

		for (int i = from; i < to; i++)
			c[i] = p->beta == 0 ? 0 : p->beta * c[i];
	}
}

/* c = alpha op(a) op(b) + beta c, in a triangle of c. */
template<class T>
static void
run_product(const product<T> *p)
{
	T		   *packed = (T *) malloc(sizeof(T) * HEIGHT * INNER);
	T			b[4 * INNER];
	T			sum[4 * HEIGHT];

	scale_result(p);
	for (int l0 = 0; p->alpha != 0 && l0 < p->k; l0 += p->inner)
		for (int i0 = 0; i0 < p->m; i0 += HEIGHT)
		{
			int			inner = p->k - l0 < p->inner ? p->k - l0 : p->inner;
			int			rows = p->m - i0 < HEIGHT ? p->m - i0 : HEIGHT;

			pack_a(p, i0, rows, l0, inner, packed);
			for (int j0 = 0; j0 < p->n; j0 += 4)
			{
				if ((p->triangle == 1 && i0 + rows <= j0) || (p->triangle == 2 && i0 > j0 + 3))
					continue;
				pack_b(p, j0, l0, inner, b);
				memset(sum, 0, sizeof(sum));
				add_piece(packed, rows, inner, b, sum);
				for (int j = j0; j < j0 + 4 && j < p->n; j++)
					for (int i = 0; i < rows; i++)
						if (p->triangle == 0 || (p->triangle == 1 ? i0 + i >= j : i0 + i <= j))
							p->c[(size_t) (i0 + i) + (size_t) j * (size_t) p->ldc] +=
								p->alpha * sum[(j - j0) * HEIGHT + i];
			}
		}
	free(packed);
}

/* cublas?gemm. */
template<class T>
static cublasStatus_t
gemm(cublasHandle_t handle, product<T> p)
{
	cublasStatus_t status = enter(handle);

	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	if (p.m < 0 || p.n < 0 || p.k < 0 || p.lda < max(1, p.trans_a ? p.k : p.m) ||
		p.ldb < max(1, p.trans_b ? p.n : p.k) || p.ldc < max(1, p.m))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (p.m == 0 || p.n == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!on_card("gemm", p.a, p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, p.lda) ||
		!on_card("gemm", p.b, p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, p.ldb) ||
		!on_card("gemm", p.c, p.m, p.n, p.ldc))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	p.tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH;
	p.inner = inner_of(handle, p.m, p.n);
	gp_emulated_work<T>(handle->stream, 2.0 * p.m * p.n * p.k, [p]() { run_product(&p); });
	return CUBLAS_STATUS_SUCCESS;
}

/* cublas?syrk, as the product of a matrix and its transpose in one triangle. */
template<class T>
static cublasStatus_t
syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, T alpha,
	 const T *a, int lda, T beta, T *c, int ldc)
{
	cublasStatus_t status = enter(handle);
	bool		t = trans != CUBLAS_OP_N;
	product<T>	p = {t, !t, n, n, k, alpha, a, lda, a, lda, beta, c, ldc,
	uplo == CUBLAS_FILL_MODE_LOWER ? 1 : 2, false, INNER};

	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	if (n < 0 || k < 0 || lda < max(1, t ? k : n) || ldc < max(1, n))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (n == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!on_card("syrk", a, t ? k : n, t ? n : k, lda) || !on_card("syrk", c, n, n, ldc))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	p.tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH;
	p.inner = inner_of(handle, n, n);
	gp_emulated_work<T>(handle->stream, 1.0 * n * n * k, [p]() { run_product(&p); });
	return CUBLAS_STATUS_SUCCESS;
}

/* A triangular solve; b is m x n, op(a) of the order of its side. */
template<class T>
struct solve
{
	bool		left;
	bool		lower;			/* op(a) is a lower triangle */
	bool		trans;
	bool		unit;
	int			m;
	int			n;
	T			alpha;
	const T    *a;
	int			lda;
	T		   *b;
	int			ldb;
};

/* y[0, n) -= f x[0, n). */
template<class T>
static inline void
subtract(int n, T f, const T *__restrict x, T *__restrict y)
{
	for (int i = 0; i < n; i++)
		y[i] -= f * x[i];
}

/* op(a), packed column by column; its other triangle is not read and not set. */
template<class T>
static T *
pack_triangle(const solve<T> *s, int order)
{
	T		   *t = (T *) malloc(sizeof(T) * (size_t) order * (size_t) order);

	for (int j = 0; j < order; j++)
		for (int i = s->lower ? j : 0; i < (s->lower ? order : j + 1); i++)
			t[(size_t) i + (size_t) j * (size_t) order] = i == j && s->unit ? 1 :
				s->trans ? s->a[(size_t) j + (size_t) i * (size_t) s->lda] : s->a[(size_t) i + (size_t) j * (size_t) s->lda];
	return t;
}

/* b = alpha op(a)^-1 b, one column after the other. */
template<class T>
static void
solve_left(const solve<T> *s, const T *t)
{
	for (int j = 0; j < s->n; j++)
	{
		T		   *x = s->b + (size_t) j * (size_t) s->ldb;

		for (int i = 0; i < s->m; i++)
			x[i] *= s->alpha;
		for (int step = 0; step < s->m; step++)
		{
			int			k = s->lower ? step : s->m - 1 - step;
			const T    *column = t + (size_t) k * (size_t) s->m;

			x[k] /= column[k];
			if (s->lower)
				subtract(s->m - k - 1, x[k], column + k + 1, x + k + 1);
			else
				subtract(k, x[k], column, x);
		}
	}
}

/* b = alpha b op(a)^-1: columns of b in the order in which they are known. */
template<class T>
static void
solve_right(const solve<T> *s, const T *t)
{
	for (int step = 0; step < s->n; step++)
	{
		int			j = s->lower ? s->n - 1 - step : step;
		T		   *x = s->b + (size_t) j * (size_t) s->ldb;
		const T    *column = t + (size_t) j * (size_t) s->n;

		for (int i = 0; i < s->m; i++)
			x[i] *= s->alpha;
		for (int k = s->lower ? j + 1 : 0; k < (s->lower ? s->n : j); k++)
			subtract(s->m, column[k], s->b + (size_t) k * (size_t) s->ldb, x);
		for (int i = 0; i < s->m; i++)
			x[i] /= column[j];
	}
}

/* cublas?trsm. */
template<class T>
static cublasStatus_t
trsm(cublasHandle_t handle, const solve<T> &s)
{
	cublasStatus_t status = enter(handle);
	int			order = s.left ? s.m : s.n;

	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	if (s.m < 0 || s.n < 0 || s.lda < max(1, order) || s.ldb < max(1, s.m))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (s.m == 0 || s.n == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!on_card("trsm", s.a, order, order, s.lda) || !on_card("trsm", s.b, s.m, s.n, s.ldb))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	gp_emulated_work<T>(handle->stream, 1.0 * s.m * s.n * order, [s, order]()
	{
		T		   *t = pack_triangle(&s, order);

		if (s.left)
			solve_left(&s, t);
		else
			solve_right(&s, t);
		free(t);
	});
	return CUBLAS_STATUS_SUCCESS;
}

/* The entries of both types. */
#define ENTRIES(T, gemm_name, syrk_name, trsm_name) \
cublasStatus_t \
gemm_name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
		  const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) \
{ \
	return gemm(handle, product<T>{transa != CUBLAS_OP_N, transb != CUBLAS_OP_N, m, n, k, *alpha, a, lda, b, \
				ldb, *beta, c, ldc, 0, false, INNER}); \
} \
cublasStatus_t \
syrk_name(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const T *alpha, \
		  const T *a, int lda, const T *beta, T *c, int ldc) \
{ \
	return syrk(handle, uplo, trans, n, k, *alpha, a, lda, *beta, c, ldc); \
} \
cublasStatus_t \
trsm_name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, \
		  cublasDiagType_t diag, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb) \
{ \
	return trsm(handle, solve<T>{side == CUBLAS_SIDE_LEFT, \
				(uplo == CUBLAS_FILL_MODE_LOWER) == (trans == CUBLAS_OP_N), trans != CUBLAS_OP_N, \
				diag == CUBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb}); \
}
ENTRIES(float, cublasSgemm, cublasSsyrk, cublasStrsm)
ENTRIES(double, cublasDgemm, cublasDsyrk, cublasDtrsm)
