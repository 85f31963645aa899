/*
 * cpu_factor.c - Cholesky factors, inverses of triangles and eigenvectors on the CPU.
 *
 * Factorisations split the matrix in two and recurse, so that nearly all of the
 * work is done by the products and solves of cpu_dense.c, which serve
 * interrupts and use all threads; LAPACK sees small blocks only.
 */

#include "cpu_internal.h"

/* The largest block that LAPACK factors. */
#define FACTOR_BLOCK 192

/* Where to split a matrix of order n: about half, on a multiple of the block. */
static int64_t
split_at(int64_t n)
{
	int64_t		half = (n / 2 + FACTOR_BLOCK / 2) / FACTOR_BLOCK * FACTOR_BLOCK;

	return gp_max64(half, FACTOR_BLOCK / 2);
}

/* A matrix that LAPACK factors, as a tile; OpenBLAS takes a pivot that is not a number for a good
 * one. */
typedef struct factor_job
{
	gp_matrix	a;
	int64_t		failed;
} factor_job;

static void
factor_tile(void *arg, int64_t tile, int worker)
{
	factor_job *job = arg;
	gp_matrix	a = job->a;
	int			info = gp_blas_potrf(a);
	int64_t		n = info > 0 ? info - 1 : a.rows;

	job->failed = info > 0 ? n : -1;
	for (int64_t i = n - 1; i >= 0; i--)
	{
		double		pivot = gp_number_at(a.data, a.type, i * (a.ld + 1));

		if (!(pivot > 0 && isfinite(pivot)))
			job->failed = i;
	}
}

/* The lower triangle of the factor; what is above the diagonal is left alone. */
static int64_t
factor_lower(gp_device *dev, gp_matrix a)
{
	int64_t		n = a.rows;
	int64_t		half = split_at(n);

	if (n <= FACTOR_BLOCK)
	{
		factor_job	job = {a, -1};

		gp_cpu_run_blas(dev, factor_tile, &job, 1);
		return job.failed;
	}

	int64_t		failed = factor_lower(dev, gp_matrix_part(a, 0, 0, half, half));
	if (failed >= 0)
		return failed;
	gp_matrix	below = gp_matrix_part(a, half, 0, n - half, half);
	gp_matrix	rest = gp_matrix_part(a, half, half, n - half, n - half);
	gp_cpu_trsm(dev, false, true, gp_matrix_part(a, 0, 0, half, half), below);
	gp_cpu_syrk_lower(dev, false, -1.0, below, 1.0, rest);
	failed = factor_lower(dev, rest);
	return failed >= 0 ? half + failed : -1;
}

int64_t
gp_cpu_potrf(gp_device *dev, gp_matrix a)
{
	gp_cpu_require(dev, a.rows == a.cols && a.ld <= INT32_MAX);
	if (a.rows == 0)
		return -1;
	int64_t		failed = factor_lower(dev, a);
	/* Zeros above the diagonal */
	GP_EACH(dev->env, i, failed < 0 ? gp_items(dev->env, a.rows - 1) : 0, i * a.cols)
		memset(gp_matrix_at(a, i, i + 1), 0, (a.cols - i - 1) * gp_type_size(a.type));
	return failed;
}

static void
invert_tile(void *arg, int64_t tile, int worker)
{
	factor_job *job = arg;

	job->failed = gp_blas_trtri(job->a);
}

void
gp_cpu_trtri(gp_device *dev, gp_matrix l)
{
	int64_t		n = l.rows;
	int64_t		half = split_at(n);

	gp_cpu_require(dev, l.rows == l.cols && l.ld <= INT32_MAX);
	if (n == 0)
		return;
	if (n <= FACTOR_BLOCK)
	{
		factor_job	job = {l, 0};

		gp_cpu_run_blas(dev, invert_tile, &job, 1);
		if (job.failed != 0)
			gp_raise(dev->env, GP_ERR_DATA, NULL, "a triangular matrix is singular");
		return;
	}
	gp_matrix	upper = gp_matrix_part(l, 0, 0, half, half);
	gp_matrix	below = gp_matrix_part(l, half, 0, n - half, half);
	gp_matrix	rest = gp_matrix_part(l, half, half, n - half, n - half);
	gp_cpu_trsm(dev, true, false, rest, below);
	gp_cpu_trsm(dev, false, false, upper, below);
	gp_cpu_axpby(dev, -1.0, below, 0.0, below);
	gp_cpu_trtri(dev, upper);
	gp_cpu_trtri(dev, rest);
}

/* The arguments of LAPACK's eigensolver, as a tile. */
typedef struct eigen_job
{
	gp_matrix	a;
	void	   *w;
	void	   *work;
	int		   *iwork;
	int			info;
} eigen_job;

static void
eigen_tile(void *arg, int64_t tile, int worker)
{
	eigen_job  *job = arg;

	job->info = gp_blas_syevd(job->a, job->w, job->work, job->iwork);
}

void
gp_cpu_syev(gp_device *dev, gp_matrix a, gp_matrix w)
{
	gp_env	   *env = dev->env;
	size_t		size = gp_type_size(a.type);
	gp_matrix	values = gp_matrix_wrap(NULL, a.rows, 1, a.type);
	eigen_job	job = {.a = a};

	gp_cpu_require(dev, a.rows == a.cols && a.rows <= GP_SYEV_MAX && w.type == a.type &&
				   w.rows == a.rows && w.cols == 1 && a.ld <= INT32_MAX);
	if (a.rows == 0)
		return;
	job.w = values.data = gp_alloc_array(env, a.rows, size);
	job.work = gp_alloc_array(env, gp_blas_syevd_work(a.rows), size);
	job.iwork = gp_alloc_array(env, gp_blas_syevd_iwork(a.rows), sizeof(int));
	gp_cpu_run_blas(dev, eigen_tile, &job, 1);
	gp_free_all(env, job.iwork, job.work);
	if (job.info != 0)
		gp_raise(env, GP_ERR_RANGE, NULL, "the eigenvalues of a matrix could not be computed");
	gp_cpu_copy(dev, w, values);
	gp_free(env, job.w);
	gp_cpu_transpose_square(dev, a);
}
