/*
 * cuda_dense.cu - products and triangular solves by cuBLAS.
 *
 * The library counts columns first: our row-major matrix is the transpose of
 * what it sees, so that C = A B becomes C' = B' A', a lower triangle an upper
 * one, and a solve from the left one from the right.
 *
 * No call is longer than a piece (gp_cuda.h), so that a cancel never waits for
 * more.  The cuts depend on the sizes and the card's kind alone, and so do the bits.
 */
#include <math.h>

#include "gp_cuda.h"

#define DEEP 1024				/* parts of a sum that are worth a call of their own */

/* How many of n equal parts with so many operations each make a piece; a multiple of 128 where it can. */
static int64_t
piece_of(gp_cuda *c, gp_type type, int64_t n, double flops)
{
	double		most = c->piece_flops[type] / fmax(flops, 1.0);
	int64_t		part;

	if (most >= (double) n)
		return gp_max64(n, 1);
	part = (int64_t) most;
	return gp_max64(1, part >= 128 ? part / 128 * 128 : part);
}

/* The same for rows of which the longest has ld elements: cuBLAS counts elements in 31 bits in places. */
static int64_t
piece_rows(gp_cuda *c, gp_type type, int64_t n, double flops, int64_t ld)
{
	return gp_min64(piece_of(c, type, n, flops), gp_max64(1, INT32_MAX / gp_max64(ld, 1)));
}

/* The calls for either type. */
static cublasStatus_t
blas_gemm(gp_cuda *c, cublasOperation_t oa, cublasOperation_t ob, int m, int n, int k, float alpha,
		  const float *a, int lda, const float *b, int ldb, float beta, float *x, int ldx)
{
	return cublasSgemm(c->blas, oa, ob, m, n, k, &alpha, a, lda, b, ldb, &beta, x, ldx);
}

static cublasStatus_t
blas_gemm(gp_cuda *c, cublasOperation_t oa, cublasOperation_t ob, int m, int n, int k, double alpha,
		  const double *a, int lda, const double *b, int ldb, double beta, double *x, int ldx)
{
	return cublasDgemm(c->blas, oa, ob, m, n, k, &alpha, a, lda, b, ldb, &beta, x, ldx);
}

static cublasStatus_t
blas_syrk(gp_cuda *c, cublasOperation_t op, int n, int k, float alpha, const float *a, int lda,
		  float beta, float *x, int ldx)
{
	return cublasSsyrk(c->blas, CUBLAS_FILL_MODE_UPPER, op, n, k, &alpha, a, lda, &beta, x, ldx);
}

static cublasStatus_t
blas_syrk(gp_cuda *c, cublasOperation_t op, int n, int k, double alpha, const double *a, int lda,
		  double beta, double *x, int ldx)
{
	return cublasDsyrk(c->blas, CUBLAS_FILL_MODE_UPPER, op, n, k, &alpha, a, lda, &beta, x, ldx);
}

static cublasStatus_t
blas_trsm(gp_cuda *c, cublasSideMode_t side, cublasOperation_t op, int m, int n, const float *l,
		  int ldl, float *b, int ldb)
{
	float		one = 1.0f;

	return cublasStrsm(c->blas, side, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, m, n, &one,
					   l, ldl, b, ldb);
}

static cublasStatus_t
blas_trsm(gp_cuda *c, cublasSideMode_t side, cublasOperation_t op, int m, int n, const double *l,
		  int ldl, double *b, int ldb)
{
	double		one = 1.0;

	return cublasDtrsm(c->blas, side, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, m, n, &one,
					   l, ldl, b, ldb);
}

/* What the library calls op(m). */
static cublasOperation_t
op_of(bool trans)
{
	return trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* One piece: x = alpha op(a) op(b) + beta x; coarse is true where the caller may have it in TF32. */
template <typename T>
static void
gemm_piece(gp_cuda *c, bool coarse, bool trans_a, bool trans_b, double alpha, gp_matrix a,
		   gp_matrix b, double beta, gp_matrix x)
{
	int64_t		k = trans_a ? a.rows : a.cols;
	bool		tf32 = coarse && c->tf32 && x.type == GP_FLOAT;

	if (tf32)
		gp_cuda_try(c, cublasSetMathMode(c->blas, CUBLAS_TF32_TENSOR_OP_MATH));
	gp_cuda_try(c, blas_gemm(c, op_of(trans_b), op_of(trans_a), (int) x.cols, (int) x.rows,
								  (int) k, (T) alpha, (const T *) b.data, (int) b.ld,
								  (const T *) a.data, (int) a.ld, (T) beta, (T *) x.data,
								  (int) x.ld));
	if (tf32)
		gp_cuda_try(c, cublasSetMathMode(c->blas, CUBLAS_DEFAULT_MATH));
	gp_cuda_pace(c);
}

/* The part of op(a) that belongs to some rows of the product. */
static gp_matrix
rows_of(bool trans_a, gp_matrix a, int64_t row, int64_t rows)
{
	return trans_a ? gp_matrix_cols(a, row, rows) : gp_matrix_rows(a, row, rows);
}

/* x = alpha op(a) op(b) + beta x on the card, in pieces: rows of x, and where one row is too long parts of the sum. */
template <typename T>
static void
gemm_card(gp_cuda *c, bool coarse, bool trans_a, bool trans_b, double alpha, gp_matrix a,
		  gp_matrix b, double beta, gp_matrix x)
{
	int64_t		k = trans_a ? a.rows : a.cols;
	int64_t		height = piece_rows(c, x.type, x.rows, 2.0 * (double) k * (double) x.cols,
									gp_max64(trans_a ? 1 : a.ld, x.ld));
	int64_t		depth = gp_min64(k, INT32_MAX / gp_max64(1, gp_max64(trans_a ? a.ld : 1, trans_b ? 1 : b.ld)));

	if (height < 128 && x.rows > height)
	{
		height = gp_min64(x.rows, 128);
		depth = gp_min64(depth, piece_of(c, x.type, k, 2.0 * (double) height * (double) x.cols));
	}
	depth = gp_max64(1, depth);
	for (int64_t row = 0; row < x.rows; row += height)
		for (int64_t at = 0; at < k; at += depth)
		{
			int64_t		rows = gp_min64(height, x.rows - row);
			int64_t		take = gp_min64(depth, k - at);
			gp_matrix	part = rows_of(trans_a, a, row, rows);

			gemm_piece<T>(c, coarse, trans_a, trans_b, alpha,
						  trans_a ? gp_matrix_rows(part, at, take) : gp_matrix_cols(part, at, take),
						  trans_b ? gp_matrix_cols(b, at, take) : gp_matrix_rows(b, at, take),
						  at == 0 ? beta : 1.0, gp_matrix_rows(x, row, rows));
		}
}

/* A product whose factor a and result may flow through in rows. */
static void
gemm_rows(gp_cuda *c, bool trans_b, double alpha, gp_matrix a, gp_matrix b, double beta,
		  gp_matrix x)
{
	gp_flow		flow[2] = {{x, beta == 0 ? GP_WRITE : GP_BOTH}, {a, GP_READ}};
	gp_staged	right = gp_cuda_stage(c, b, GP_READ);

	gp_cuda_rows(c, flow, 2, true, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(x.type, gemm_card, c, true, false, trans_b, alpha, part[1], right.m, beta,
								 part[0]); });
	gp_cuda_unstage(c, &right);
}

/* A product whose sum runs over the rows of a, and of b unless that is turned. */
static void
gemm_sum(gp_cuda *c, bool trans_b, double alpha, gp_matrix a, gp_matrix b, double beta, gp_matrix x)
{
	gp_flow		flow[2] = {{a, GP_READ}, {b, GP_READ}};
	gp_staged	out = gp_cuda_stage(c, x, beta == 0 ? GP_WRITE : GP_BOTH);

	if (!trans_b)
		gp_cuda_rows(c, flow, 2, true, [=](int64_t row, gp_matrix *part)
					 { gp_cuda_typed(x.type, gemm_card, c, true, true, false, alpha, part[0], part[1],
									 row == 0 ? beta : 1.0, out.m); });
	else
	{
		gp_staged	left = gp_cuda_stage(c, a, GP_READ);
		gp_staged	right = gp_cuda_stage(c, b, GP_READ);

		gp_cuda_typed(x.type, gemm_card, c, true, true, true, alpha, left.m, right.m, beta, out.m);
		gp_cuda_unstage(c, &right);
		gp_cuda_unstage(c, &left);
	}
	gp_cuda_unstage(c, &out);
}

/* x = beta x, where there is nothing to add. */
static void
scale_only(gp_device *dev, double beta, gp_matrix x)
{
	if (beta == 0)
		gp_cuda_fill(dev, x, 0.0);
	else
		gp_cuda_axpby(dev, beta, x, 0.0, x);
}

/* x = alpha op(a) op(b) + beta x. */
void
gp_cuda_gemm(gp_device *dev, bool trans_a, bool trans_b, double alpha, gp_matrix a, gp_matrix b,
			 double beta, gp_matrix x)
{
	gp_cuda    *c = gp_cuda_of(dev);
	int64_t		k = trans_a ? a.rows : a.cols;

	gp_cuda_require(c, a.type == x.type && b.type == x.type &&
					(trans_a ? a.cols : a.rows) == x.rows &&
					(trans_b ? b.rows : b.cols) == x.cols && (trans_b ? b.cols : b.rows) == k);
	if (x.rows == 0 || x.cols == 0)
		return;
	if (k == 0)
		scale_only(dev, beta, x);
	else if (trans_a)
		gemm_sum(c, trans_b, alpha, a, b, beta, x);
	else
		gemm_rows(c, trans_b, alpha, a, b, beta, x);
}

/* Copies the lower triangle to the upper one. */
template <typename T>
struct mirror_each
{
	gp_matrix	x;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		if (j > i)
			gp_at<T>(x, i, j) = gp_at<T>(x, j, i);
	}
};

/*
 * The lower triangle of x = alpha op(a) op(a)' + beta x for one part of the sum, some
 * rows of x at a time.  Nothing of it is in TF32: a triangle of which parts are
 * rounded is no covariance any more, and has no Cholesky factor.
 */
template <typename T>
static void
syrk_rows(gp_cuda *c, bool trans, double alpha, gp_matrix a, double beta, gp_matrix x, int64_t height)
{
	int64_t		k = trans ? a.rows : a.cols;

	for (int64_t row = 0; row < x.rows; row += height)
	{
		int64_t		rows = gp_min64(height, x.rows - row);
		gp_matrix	own = rows_of(trans, a, row, rows);
		gp_matrix	diagonal = gp_matrix_part(x, row, row, rows, rows);

		if (row > 0)
			gemm_card<T>(c, false, trans, !trans, alpha, own, rows_of(trans, a, 0, row), beta,
						 gp_matrix_part(x, row, 0, rows, row));
		gp_cuda_try(c, blas_syrk(c, op_of(!trans), (int) rows, (int) k, (T) alpha,
									  (const T *) own.data, (int) own.ld, (T) beta,
									  (T *) diagonal.data, (int) diagonal.ld));
		gp_cuda_pace(c);
	}
}

/*
 * The same for the whole sum.  It is cut into parts first, for a call is the faster
 * the more of x it sets; only where that leaves short parts x is cut, too.
 */
template <typename T>
static void
syrk_card(gp_cuda *c, bool trans, double alpha, gp_matrix a, double beta, gp_matrix x)
{
	int64_t		k = trans ? a.rows : a.cols;
	int64_t		depth = piece_rows(c, x.type, k, (double) x.rows * (double) x.rows, trans ? a.ld : 1);
	int64_t		height = x.rows;

	if (depth < DEEP && depth < k)
	{
		depth = gp_max64(depth, gp_min64(k, DEEP));
		height = piece_of(c, x.type, x.rows, 2.0 * (double) depth * (double) x.rows);
	}
	for (int64_t at = 0; at < k; at += depth)
	{
		int64_t		take = gp_min64(depth, k - at);

		syrk_rows<T>(c, trans, alpha, trans ? gp_matrix_rows(a, at, take) :
					 gp_matrix_cols(a, at, take), at == 0 ? beta : 1.0, x, height);
	}
}

/* Copies the lower triangle of a matrix on the card. */
template <typename T>
static void
mirror(gp_cuda *c, gp_matrix x)
{
	gp_cuda_each(c, x.rows, x.cols, mirror_each<T>{x});
}

/* x = alpha a a' + beta x, or with a' a; both triangles are set. */
void
gp_cuda_syrk(gp_device *dev, bool trans, double alpha, gp_matrix a, double beta, gp_matrix x)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	out;

	gp_cuda_require(c, a.type == x.type && x.rows == x.cols &&
					(trans ? a.cols : a.rows) == x.rows);
	if (x.rows == 0)
		return;
	if ((trans ? a.rows : a.cols) == 0)
	{
		scale_only(dev, beta, x);
		return;
	}
	out = gp_cuda_stage(c, x, beta == 0 ? GP_WRITE : GP_BOTH);
	if (trans)
	{
		gp_flow		flow[1] = {{a, GP_READ}};

		gp_cuda_rows(c, flow, 1, true, [=](int64_t row, gp_matrix *part)
					 { gp_cuda_typed(x.type, syrk_card, c, true, alpha, part[0],
									 row == 0 ? beta : 1.0, out.m); });
	}
	else
	{
		gp_staged	in = gp_cuda_stage(c, a, GP_READ);

		gp_cuda_typed(x.type, syrk_card, c, false, alpha, in.m, beta, out.m);
		gp_cuda_unstage(c, &in);
	}
	gp_cuda_typed(x.type, mirror, c, out.m);
	gp_cuda_unstage(c, &out);
	gp_cuda_pace(c);
}

/* b = op(l)^-1 b, a piece being some columns of b, or b op(l)^-1, with rows of b. */
template <typename T>
static void
trsm_card(gp_cuda *c, bool left, bool trans, gp_matrix l, gp_matrix b)
{
	int64_t		total = left ? b.cols : b.rows;
	int64_t		width = piece_rows(c, b.type, total, (double) l.rows * (double) l.rows,
								   left ? 1 : b.ld);

	for (int64_t at = 0; at < total; at += width)
	{
		int64_t		take = gp_min64(width, total - at);
		gp_matrix	part = left ? gp_matrix_cols(b, at, take) : gp_matrix_rows(b, at, take);

		gp_cuda_try(c, blas_trsm(c, left ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, op_of(trans),
									  (int) part.cols, (int) part.rows, (const T *) l.data,
									  (int) l.ld, (T *) part.data, (int) part.ld));
		gp_cuda_pace(c);
	}
}

/* The same for either type. */
void
gp_cuda_trsm_card(gp_cuda *c, bool left, bool trans, gp_matrix l, gp_matrix b)
{
	gp_cuda_typed(b.type, trsm_card, c, left, trans, l, b);
}

/* The lower triangle of x = alpha a a' + beta x on the card. */
void
gp_cuda_syrk_card(gp_cuda *c, double alpha, gp_matrix a, double beta, gp_matrix x)
{
	gp_cuda_typed(x.type, syrk_card, c, false, alpha, a, beta, x);
}

/* b = op(l)^-1 b (left) or b op(l)^-1 (right). */
void
gp_cuda_trsm(gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	factor;

	gp_cuda_require(c, l.type == b.type && l.rows == l.cols && (left ? b.rows : b.cols) == l.rows);
	if (b.rows == 0 || b.cols == 0)
		return;
	factor = gp_cuda_stage(c, l, GP_READ);
	if (left)
	{
		gp_staged	x = gp_cuda_stage(c, b, GP_BOTH);

		gp_cuda_typed(b.type, trsm_card, c, true, trans, factor.m, x.m);
		gp_cuda_unstage(c, &x);
	}
	else
	{
		gp_flow		flow[1] = {{b, GP_BOTH}};

		gp_cuda_rows(c, flow, 1, true, [=](int64_t row, gp_matrix *part)
					 { gp_cuda_typed(b.type, trsm_card, c, false, trans, factor.m, part[0]); });
	}
	gp_cuda_unstage(c, &factor);
}
