/*
 * cuda_factor.cu - factorisations by cuSOLVER.
 *
 * As for cuBLAS (cuda_dense.cu) our lower triangle is its upper one.  What takes
 * too long for one call is factorised or inverted a block of columns at a time.
 */
#include <math.h>

#include "gp_cuda.h"

#define FACTOR_PIECES 4.0		/* pieces of work that one call of cuSOLVER may be: some 50 ms */
#define FACTOR_MOST 16384		/* columns that it takes at once, and those of a block where that is too long */
#define FACTOR_BLOCK 2048

/* The calls for either type. */
static cusolverStatus_t
solver_potrf_room(gp_cuda *c, int n, float *a, int lda, int *room)
{
	return cusolverDnSpotrf_bufferSize(c->solver, CUBLAS_FILL_MODE_UPPER, n, a, lda, room);
}

static cusolverStatus_t
solver_potrf_room(gp_cuda *c, int n, double *a, int lda, int *room)
{
	return cusolverDnDpotrf_bufferSize(c->solver, CUBLAS_FILL_MODE_UPPER, n, a, lda, room);
}

static cusolverStatus_t
solver_potrf(gp_cuda *c, int n, float *a, int lda, float *work, int room, int *info)
{
	return cusolverDnSpotrf(c->solver, CUBLAS_FILL_MODE_UPPER, n, a, lda, work, room, info);
}

static cusolverStatus_t
solver_potrf(gp_cuda *c, int n, double *a, int lda, double *work, int room, int *info)
{
	return cusolverDnDpotrf(c->solver, CUBLAS_FILL_MODE_UPPER, n, a, lda, work, room, info);
}

static cusolverStatus_t
solver_syevd_room(gp_cuda *c, int n, float *a, int lda, float *w, int *room)
{
	return cusolverDnSsyevd_bufferSize(c->solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER,
									   n, a, lda, w, room);
}

static cusolverStatus_t
solver_syevd_room(gp_cuda *c, int n, double *a, int lda, double *w, int *room)
{
	return cusolverDnDsyevd_bufferSize(c->solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER,
									   n, a, lda, w, room);
}

static cusolverStatus_t
solver_syevd(gp_cuda *c, int n, float *a, int lda, float *w, float *work, int room, int *info)
{
	return cusolverDnSsyevd(c->solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n, a, lda,
							w, work, room, info);
}

static cusolverStatus_t
solver_syevd(gp_cuda *c, int n, double *a, int lda, double *w, double *work, int room, int *info)
{
	return cusolverDnDsyevd(c->solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n, a, lda,
							w, work, room, info);
}

/* Columns of a triangle of order n that cuSOLVER takes at once; it does n^3 / 3 operations. */
static int64_t
factor_block(gp_cuda *c, gp_type type, int64_t n)
{
	int64_t		most = (int64_t) cbrt(3.0 * FACTOR_PIECES * c->piece_flops[type]);

	if (n <= gp_min64(most, FACTOR_MOST))
		return n;
	return gp_max64(1, gp_min64(most, FACTOR_BLOCK));
}

/* Zeros above the diagonal. */
template <typename T>
struct clear_upper_each
{
	gp_matrix	x;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		if (j > i)
			gp_at<T>(x, i, j) = 0;
	}
};

/* The first of n diagonal elements that is no positive number (or, of a triangle to invert, is 0); n when there is none. */
template <typename T>
__global__ void __launch_bounds__(256)
pivot_kernel(gp_matrix a, bool factor, int *first)
{
	__shared__ int part[256];
	int			found = (int) a.rows;

	for (int i = threadIdx.x; i < found; i += 256)
	{
		T			d = gp_at<T>(a, i, i);

		if (factor ? !(d > 0 && isfinite(d)) : d == 0)
			found = i;
	}
	part[threadIdx.x] = found;
	__syncthreads();
	for (int half = 128; half > 0; half /= 2)
	{
		if ((int) threadIdx.x < half && part[threadIdx.x + half] < part[threadIdx.x])
			part[threadIdx.x] = part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*first = part[0];
}

/*
 * The Cholesky factor of a block by cuSOLVER; -1, or the first column without a
 * positive pivot.  A pivot that is not a number passes cuSOLVER unnoticed, so the
 * diagonal is looked at, too.
 */
template <typename T>
static int64_t
potrf_block(gp_cuda *c, gp_matrix a)
{
	int			room = 0;
	int			info[2] = {0, 0};
	int		   *card_info;
	T		   *work;

	gp_cuda_try(c, solver_potrf_room(c, (int) a.rows, (T *) a.data, (int) a.ld, &room));
	work = (T *) gp_cuda_scratch(c, (size_t) room * sizeof(T));
	card_info = (int *) gp_cuda_scratch(c, sizeof(info));
	gp_cuda_try(c, solver_potrf(c, (int) a.rows, (T *) a.data, (int) a.ld, work, room,
									   card_info));
	gp_cuda_launch(c, dim3(1), dim3(256), pivot_kernel<T>, a, true, card_info + 1);
	gp_cuda_fetch(c, info, card_info, 2, sizeof(int));
	gp_cuda_scratch_free(c, work);
	gp_cuda_scratch_free(c, card_info);
	if (info[0] < 0)
		gp_cuda_refuse(c, "potrf");
	if (info[0] > 0 && info[0] - 1 < info[1])
		info[1] = info[0] - 1;
	return info[1] < a.rows ? info[1] : -1;
}

/*
 * The factor of the whole matrix, a block of columns at a time: the block's own
 * triangle, the rows below it, and what they take from the rest.
 */
template <typename T>
static int64_t
potrf_card(gp_cuda *c, gp_matrix a)
{
	int64_t		n = a.rows;
	int64_t		block = factor_block(c, a.type, n);

	for (int64_t at = 0; at < n; at += block)
	{
		int64_t		width = gp_min64(block, n - at);
		int64_t		rest = n - at - width;
		gp_matrix	own = gp_matrix_part(a, at, at, width, width);
		gp_matrix	below = gp_matrix_part(a, at + width, at, rest, width);
		int64_t		bad = potrf_block<T>(c, own);

		if (bad >= 0)
			return at + bad;
		if (rest == 0)
			break;
		gp_cuda_trsm_card(c, false, true, own, below);
		gp_cuda_syrk_card(c, -1.0, below, 1.0,
					  gp_matrix_part(a, at + width, at + width, rest, rest));
	}
	gp_cuda_each(c, n, n, clear_upper_each<T>{a});
	return -1;
}

/* a becomes its lower Cholesky factor; -1, or the first column without a positive pivot. */
int64_t
gp_cuda_potrf(gp_device *dev, gp_matrix a)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	s;
	int64_t		bad;

	gp_cuda_require(c, a.rows == a.cols);
	if (a.rows == 0)
		return -1;
	s = gp_cuda_stage(c, a, GP_BOTH);
	bad = a.type == GP_FLOAT ? potrf_card<float>(c, s.m) : potrf_card<double>(c, s.m);
	gp_cuda_unstage(c, &s);
	gp_cuda_pace(c);
	return bad;
}

/* The inverse of a triangle without zeros on its diagonal, by cuSOLVER in place. */
static void
trtri_block(gp_cuda *c, gp_matrix l)
{
	cudaDataType type = l.type == GP_FLOAT ? CUDA_R_32F : CUDA_R_64F;
	size_t		card_room = 0;
	size_t		host_room = 0;
	void	   *card_work;
	void	   *host_work;
	int		   *info;

	gp_cuda_try(c, cusolverDnXtrtri_bufferSize(c->solver, CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT,
											   l.rows, type, l.data, l.ld, &card_room, &host_room));
	card_work = gp_cuda_scratch(c, card_room);
	host_work = gp_alloc(c->env, host_room + 1);
	info = (int *) gp_cuda_scratch(c, sizeof(int));
	gp_cuda_try(c, cusolverDnXtrtri(c->solver, CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT, l.rows, type,
									l.data, l.ld, card_work, card_room, host_work, host_room, info));
	gp_cuda_pace(c);
	if (host_room > 0)
		gp_cuda_wait(c);		/* it may be read still */
	gp_cuda_scratch_free(c, card_work);
	gp_cuda_scratch_free(c, info);
	gp_free(c->env, host_work);
}

/*
 * The inverse of a lower triangle, which is not singular, in place: what is below the
 * diagonal blocks L and M becomes -M^-1 B L^-1, and then the blocks their inverses.
 */
static void
trtri_card(gp_cuda *c, gp_matrix l, int64_t block)
{
	int64_t		width = (l.rows / 2 + block - 1) / block * block;
	gp_matrix	first;
	gp_matrix	last;
	gp_matrix	below;

	if (l.rows <= block)
	{
		trtri_block(c, l);
		return;
	}
	first = gp_matrix_part(l, 0, 0, width, width);
	last = gp_matrix_part(l, width, width, l.rows - width, l.rows - width);
	below = gp_matrix_part(l, width, 0, l.rows - width, width);
	gp_cuda_trsm_card(c, false, false, first, below);
	gp_cuda_trsm_card(c, true, false, last, below);
	gp_cuda_axpby(&c->dev, -1.0, below, 0.0, below);
	trtri_card(c, first, block);
	trtri_card(c, last, block);
}

/* The first element of the diagonal that is 0; the order where there is none. */
template <typename T>
static void
find_zero(gp_cuda *c, gp_matrix l, int *first)
{
	int		   *card_first = (int *) gp_cuda_scratch(c, sizeof(int));

	gp_cuda_launch(c, dim3(1), dim3(256), pivot_kernel<T>, l, false, card_first);
	gp_cuda_fetch(c, first, card_first, 1, sizeof(int));
	gp_cuda_scratch_free(c, card_first);
}

/* Inverts a lower triangle in place. */
void
gp_cuda_trtri(gp_device *dev, gp_matrix l)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	s;
	int			first = 0;

	gp_cuda_require(c, l.rows == l.cols);
	if (l.rows == 0)
		return;
	s = gp_cuda_stage(c, l, GP_BOTH);
	gp_cuda_typed(l.type, find_zero, c, s.m, &first);
	if (first < l.rows)
		gp_raise(c->env, GP_ERR_DATA, NULL, "a triangular matrix is singular");
	trtri_card(c, s.m, factor_block(c, l.type, l.rows));
	gp_cuda_unstage(c, &s);
	gp_cuda_pace(c);
}

/* Eigenvectors and eigenvalues on the card; cuSOLVER leaves the vectors in what we see as rows. */
template <typename T>
static void
syev_card(gp_cuda *c, gp_matrix a, gp_matrix w)
{
	gp_matrix	values = gp_cuda_scratch_matrix(c, a.rows, 1, a.type);
	int			room = 0;
	int			info = 0;
	int		   *card_info = (int *) gp_cuda_scratch(c, sizeof(int));
	T		   *work;

	gp_cuda_try(c, solver_syevd_room(c, (int) a.rows, (T *) a.data, (int) a.ld,
											(T *) values.data, &room));
	work = (T *) gp_cuda_scratch(c, (size_t) room * sizeof(T));
	gp_cuda_try(c, solver_syevd(c, (int) a.rows, (T *) a.data, (int) a.ld,
									   (T *) values.data, work, room, card_info));
	gp_cuda_fetch(c, &info, card_info, 1, sizeof(int));
	gp_cuda_scratch_free(c, work);
	gp_cuda_scratch_free(c, card_info);
	if (info != 0)
		gp_raise(c->env, GP_ERR_RANGE, NULL, "the eigenvalues of a matrix could not be computed");
	gp_cuda_copy(&c->dev, w, values);
	gp_cuda_scratch_free(c, values.data);
	gp_cuda_transpose_square(&c->dev, a);
}

/* a becomes its eigenvectors, w its ascending eigenvalues. */
void
gp_cuda_syev(gp_device *dev, gp_matrix a, gp_matrix w)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	vectors;
	gp_staged	values;

	gp_cuda_require(c, a.rows == a.cols && a.rows <= GP_SYEV_MAX && w.type == a.type &&
					w.rows == a.rows && w.cols == 1);
	if (a.rows == 0)
		return;
	vectors = gp_cuda_stage(c, a, GP_BOTH);
	values = gp_cuda_stage(c, w, GP_WRITE);
	gp_cuda_typed(a.type, syev_card, c, vectors.m, values.m);
	gp_cuda_unstage(c, &values);
	gp_cuda_unstage(c, &vectors);
	gp_cuda_pace(c);
}
