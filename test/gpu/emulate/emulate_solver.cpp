/*
 * emulate_solver.cpp - cuSOLVER with plain loops: Cholesky factors and eigenvalues.
 *
 * Eigenvalues come from a Householder tridiagonalisation and the implicit QL
 * algorithm (Bowdler, Martin, Reinsch and Wilkinson 1968), in double for both types.
 */
#include <cusolverDn.h>

#include "emulate.h"

struct cusolverDnContext
{
	cudaStream_t stream;
};

/* Enters a call that needs a handle and a card. */
static cusolverStatus_t
enter(cusolverDnHandle_t handle)
{
	if (handle == NULL)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (gp_emulated_enter() != cudaSuccess)
		return CUSOLVER_STATUS_EXECUTION_FAILED;
	return gp_emulated_is_stream(handle->stream) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t
cusolverGetVersion(int *version)
{
	*version = 12000;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t
cusolverDnCreate(cusolverDnHandle_t *handle)
{
	*handle = NULL;
	if (gp_emulated_enter() != cudaSuccess)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	*handle = new cusolverDnContext();
	gp_emulated.objects++;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t
cusolverDnDestroy(cusolverDnHandle_t handle)
{
	if (handle == NULL)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	delete handle;
	gp_emulated.objects--;
	return gp_emulated_enter() == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

cusolverStatus_t
cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
	cusolverStatus_t status = enter(handle);

	if (status == CUSOLVER_STATUS_SUCCESS)
		handle->stream = stream;
	return status;
}

/* Checks what all factorisations take; w has the eigenvalues, or is NULL. */
template<class T>
static cusolverStatus_t
check(cusolverDnHandle_t handle, int n, const T *a, int lda, const T *w, const T *work, int lwork, int need,
	  const int *info)
{
	cusolverStatus_t status = enter(handle);

	if (status != CUSOLVER_STATUS_SUCCESS)
		return status;
	if (n < 0 || lda < max(1, n) || lwork < need)
		return CUSOLVER_STATUS_INVALID_VALUE;
	if (n == 0)
		return CUSOLVER_STATUS_SUCCESS;
	if (gp_emulated_covers(a, ((size_t) (n - 1) * (size_t) lda + (size_t) n) * sizeof(T)) &&
		(w == NULL || gp_emulated_covers(w, (size_t) n * sizeof(T))) &&
		gp_emulated_covers(work, (size_t) lwork * sizeof(T)) && gp_emulated_covers(info, sizeof(int)))
		return CUSOLVER_STATUS_SUCCESS;
	gp_emulated_complain("a factorisation of order %d (leading dimension %d): its matrix, workspace or info is not on the card",
						 n, lda);
	return CUSOLVER_STATUS_EXECUTION_FAILED;
}

/* The workspace that is asked for: not used, but to be there. */
static int
work_size(int n)
{
	return 3 * n + 64;
}

/* The lower Cholesky factor of a packed matrix; 0, or the first column that fails, from 1. */
template<class T>
static int
factor(T *l, int n)
{
	for (int k = 0; k < n; k++)
	{
		T		   *column = l + (size_t) k * (size_t) n;
		T			pivot = column[k];

		if (pivot <= 0)			/* what is not a number passes, as it does in cuSOLVER */
			return k + 1;
		pivot = sqrt(pivot);
		for (int i = k; i < n; i++)
			column[i] = i == k ? pivot : column[i] / pivot;
		for (int j = k + 1; j < n; j++)
		{
			T		   *__restrict other = l + (size_t) j * (size_t) n;
			T			f = column[j];

			for (int i = j; i < n; i++)
				other[i] -= f * column[i];
		}
	}
	return 0;
}

/* Element i, j of a symmetric matrix of which one triangle is stored, i >= j. */
template<class T>
static inline T *
stored(T *a, int lda, bool lower, int i, int j)
{
	return lower ? &a[(size_t) i + (size_t) j * (size_t) lda] : &a[(size_t) j + (size_t) i * (size_t) lda];
}

/* cusolverDn?potrf: only the triangle of uplo is read and written. */
template<class T>
static cusolverStatus_t
potrf(cusolverDnHandle_t handle, bool lower, int n, T *a, int lda, T *work, int lwork, int *info)
{
	cusolverStatus_t status = check(handle, n, a, lda, (const T *) NULL, work, lwork, work_size(n), info);

	if (status != CUSOLVER_STATUS_SUCCESS)
		return status;
	if (n == 0 && !gp_emulated_covers(info, sizeof(int)))
		return CUSOLVER_STATUS_EXECUTION_FAILED;
	gp_emulated_work<T>(handle->stream, (double) n * n * n / 3.0, [=]()
	{
		T		   *l = (T *) malloc(sizeof(T) * (size_t) n * (size_t) n + 1);

		for (int j = 0; j < n; j++)
			for (int i = j; i < n; i++)
				l[(size_t) i + (size_t) j * (size_t) n] = *stored(a, lda, lower, i, j);
		*info = factor(l, n);
		for (int j = 0; j < n; j++)
			for (int i = j; i < n; i++)
				*stored(a, lda, lower, i, j) = l[(size_t) i + (size_t) j * (size_t) n];
		free(l);
	});
	return CUSOLVER_STATUS_SUCCESS;
}

/* The inverse of the lower triangle of a packed matrix, in place, column by column. */
template<class T>
static void
invert(T *l, int n, bool unit)
{
	for (int j = 0; j < n; j++)
	{
		T		   *x = l + (size_t) j * (size_t) n;

		x[j] = unit ? 1 : 1 / x[j];
		for (int i = j + 1; i < n; i++)
			x[i] *= -x[j];
		for (int k = j + 1; k < n; k++)
		{
			const T    *column = l + (size_t) k * (size_t) n;

			x[k] /= unit ? 1 : column[k];
			for (int i = k + 1; i < n; i++)
				x[i] -= x[k] * column[i];
		}
	}
}

/* cusolverDnXtrtri for one type: only the triangle of uplo is read and written. */
template<class T>
static void
run_trtri(bool lower, bool unit, int n, T *a, int lda, int *info)
{
	T		   *l = (T *) malloc(sizeof(T) * (size_t) n * (size_t) n + 1);

	for (int j = 0; j < n; j++)
		for (int i = j; i < n; i++)
			l[(size_t) i + (size_t) j * (size_t) n] = *stored(a, lda, lower, i, j);
	invert(l, n, unit);
	for (int j = 0; j < n; j++)
		for (int i = j; i < n; i++)
			*stored(a, lda, lower, i, j) = l[(size_t) i + (size_t) j * (size_t) n];
	*info = 0;
	free(l);
}

/* What it works in, on the card and on the host. */
cusolverStatus_t
cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
							cudaDataType type, void *a, int64_t lda, size_t *card_bytes, size_t *host_bytes)
{
	*card_bytes = (size_t) work_size((int) n) * sizeof(double);
	*host_bytes = 16;
	return n < 0 || lda < max(INT64_C(1), n) ? CUSOLVER_STATUS_INVALID_VALUE : enter(handle);
}

cusolverStatus_t
cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
				 cudaDataType type, void *a, int64_t lda, void *card_work, size_t card_bytes, void *host_work,
				 size_t host_bytes, int *info)
{
	cusolverStatus_t status = enter(handle);
	size_t		size = type == CUDA_R_32F ? sizeof(float) : sizeof(double);
	bool		lower = uplo == CUBLAS_FILL_MODE_LOWER;
	bool		unit = diag == CUBLAS_DIAG_UNIT;

	if (status != CUSOLVER_STATUS_SUCCESS)
		return status;
	if (n < 0 || lda < max(INT64_C(1), n) || card_bytes < (size_t) work_size((int) n) * sizeof(double) ||
		host_bytes < 16 || host_work == NULL || gp_emulated_in_arena(host_work))
		return CUSOLVER_STATUS_INVALID_VALUE;
	if (n == 0)
		return CUSOLVER_STATUS_SUCCESS;
	if (!gp_emulated_covers(a, (size_t) ((n - 1) * lda + n) * size) || !gp_emulated_covers(card_work, card_bytes) ||
		!gp_emulated_covers(info, sizeof(int)))
		return CUSOLVER_STATUS_EXECUTION_FAILED;
	double		flops = (double) n * (double) n * (double) n / 3.0;

	if (type == CUDA_R_32F)
		gp_emulated_work<float>(handle->stream, flops, [=]()
								{
									memset(host_work, 0, host_bytes);
									run_trtri(lower, unit, (int) n, (float *) a, (int) lda, info);
								});
	else
		gp_emulated_work<double>(handle->stream, flops, [=]()
								 {
									 memset(host_work, 0, host_bytes);
									 run_trtri(lower, unit, (int) n, (double *) a, (int) lda, info);
								 });
	return CUSOLVER_STATUS_SUCCESS;
}

/* Reflects one row of a symmetric matrix into tridiagonal form; v is row major n x n. */
static void
reflect_row(double *v, double *d, double *e, int n, int i)
{
	double		scale = 0;
	double		h = 0;

	for (int k = 0; k < i; k++)
		scale += fabs(d[k]);
	if (scale == 0)
	{
		e[i] = d[i - 1];
		for (int j = 0; j < i; j++)
		{
			d[j] = v[(i - 1) * n + j];
			v[i * n + j] = v[j * n + i] = 0;
		}
		d[i] = 0;
		return;
	}
	for (int k = 0; k < i; k++)
	{
		d[k] /= scale;
		h += d[k] * d[k];
	}
	double		f = d[i - 1];
	double		g = f > 0 ? -sqrt(h) : sqrt(h);

	e[i] = scale * g;
	h -= f * g;
	d[i - 1] = f - g;
	for (int j = 0; j < i; j++)
		e[j] = 0;
	for (int j = 0; j < i; j++)
	{
		f = d[j];
		v[j * n + i] = f;
		g = e[j] + v[j * n + j] * f;
		for (int k = j + 1; k < i; k++)
		{
			g += v[k * n + j] * d[k];
			e[k] += v[k * n + j] * f;
		}
		e[j] = g;
	}
	f = 0;
	for (int j = 0; j < i; j++)
	{
		e[j] /= h;
		f += e[j] * d[j];
	}
	for (int j = 0; j < i; j++)
		e[j] -= f / (h + h) * d[j];
	for (int j = 0; j < i; j++)
	{
		for (int k = j; k < i; k++)
			v[k * n + j] -= d[j] * e[k] + e[j] * d[k];
		d[j] = v[(i - 1) * n + j];
		v[i * n + j] = 0;
	}
	d[i] = h;
}

/* Householder: v becomes the transformation, d the diagonal, e the subdiagonal. */
static void
tridiagonal(double *v, double *d, double *e, int n)
{
	for (int j = 0; j < n; j++)
		d[j] = v[(n - 1) * n + j];
	for (int i = n - 1; i > 0; i--)
		reflect_row(v, d, e, n, i);
	for (int i = 0; i < n - 1; i++)
	{
		v[(n - 1) * n + i] = v[i * n + i];
		v[i * n + i] = 1;
		if (d[i + 1] != 0)
		{
			for (int k = 0; k <= i; k++)
				d[k] = v[k * n + i + 1] / d[i + 1];
			for (int j = 0; j <= i; j++)
			{
				double		g = 0;

				for (int k = 0; k <= i; k++)
					g += v[k * n + i + 1] * v[k * n + j];
				for (int k = 0; k <= i; k++)
					v[k * n + j] -= g * d[k];
			}
		}
		for (int k = 0; k <= i; k++)
			v[k * n + i + 1] = 0;
	}
	for (int j = 0; j < n; j++)
	{
		d[j] = v[(n - 1) * n + j];
		v[(n - 1) * n + j] = 0;
	}
	v[n * n - 1] = 1;
	e[0] = 0;
}

/* One implicit QL step for eigenvalue l with the unreduced part up to m. */
static void
ql_step(double *v, double *d, double *e, int n, int l, int m, double *shift)
{
	double		g = d[l];
	double		p = (d[l + 1] - g) / (2 * e[l]);
	double		r = p < 0 ? -hypot(p, 1) : hypot(p, 1);
	double		c = 1, c2 = 1, c3 = 1, s = 0, s2 = 0;
	double		h, dl1, el1 = e[l + 1];

	d[l] = e[l] / (p + r);
	d[l + 1] = e[l] * (p + r);
	dl1 = d[l + 1];
	h = g - d[l];
	for (int i = l + 2; i < n; i++)
		d[i] -= h;
	*shift += h;
	p = d[m];
	for (int i = m - 1; i >= l; i--)
	{
		c3 = c2;
		c2 = c;
		s2 = s;
		g = c * e[i];
		h = c * p;
		r = hypot(p, e[i]);
		e[i + 1] = s * r;
		s = e[i] / r;
		c = p / r;
		p = c * d[i] - s * g;
		d[i + 1] = h + s * (c * g + s * d[i]);
		for (int k = 0; k < n; k++)
		{
			h = v[k * n + i + 1];
			v[k * n + i + 1] = s * v[k * n + i] + c * h;
			v[k * n + i] = c * v[k * n + i] - s * h;
		}
	}
	p = -s * s2 * c3 * el1 * e[l] / dl1;
	e[l] = s * p;
	d[l] = c * p;
}

/* Implicit QL: d becomes the eigenvalues, columns of v the eigenvectors; 0 when it converges. */
static int
ql(double *v, double *d, double *e, int n)
{
	double		shift = 0;
	double		size = 0;

	for (int i = 1; i < n; i++)
		e[i - 1] = e[i];
	e[n - 1] = 0;
	for (int l = 0; l < n; l++)
	{
		int			m = l;
		int			steps = 0;

		size = fmax(size, fabs(d[l]) + fabs(e[l]));
		while (m < n - 1 && fabs(e[m]) > 2.3e-16 * size)
			m++;
		while (m > l && (steps == 0 || fabs(e[l]) > 2.3e-16 * size))
		{
			if (steps++ == 60)
				return l + 1;
			ql_step(v, d, e, n, l, m, &shift);
		}
		d[l] += shift;
		e[l] = 0;
	}
	return 0;
}

/* Writes eigenvalues in ascending order, and their vectors as columns. */
template<class T>
static void
store_ascending(const double *v, double *d, int n, T *a, int lda, T *w, bool vectors)
{
	for (int j = 0; j < n; j++)
	{
		int			least = 0;

		for (int k = 1; k < n; k++)
			if (d[k] < d[least])
				least = k;
		w[j] = (T) d[least];
		for (int i = 0; vectors && i < n; i++)
			a[(size_t) i + (size_t) j * (size_t) lda] = (T) v[i * n + least];
		d[least] = INFINITY;
	}
}

/* cusolverDn?syevd: only the triangle of uplo is read; a is spoilt without vectors. */
template<class T>
static cusolverStatus_t
syevd(cusolverDnHandle_t handle, bool vectors, bool lower, int n, T *a, int lda, T *w, T *work, int lwork, int *info)
{
	cusolverStatus_t status = check(handle, n, a, lda, w, work, lwork, work_size(n), info);

	if (status != CUSOLVER_STATUS_SUCCESS || n == 0)
		return status;
	gp_emulated_later(handle->stream, [=]()
	{
		double	   *v = (double *) malloc(sizeof(double) * ((size_t) n * (size_t) n + 2 * (size_t) n));
		double	   *d = v + (size_t) n * (size_t) n;
		double	   *e = d + n;
		bool		finite = true;

		for (int j = 0; j < n; j++)
			for (int i = j; i < n; i++)
			{
				v[i * n + j] = v[j * n + i] = *stored(a, lda, lower, i, j);
				finite = finite && isfinite(v[i * n + j]);
			}
		*info = 1;
		if (finite)
		{
			tridiagonal(v, d, e, n);
			*info = ql(v, d, e, n);
			store_ascending(v, d, n, a, lda, w, vectors);
		}
		free(v);
	});
	return CUSOLVER_STATUS_SUCCESS;
}

/* The entries of both types. */
#define ENTRIES(T, potrf_name, syevd_name) \
cusolverStatus_t \
potrf_name##_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a, int lda, int *lwork) \
{ \
	*lwork = work_size(n); \
	return n < 0 || lda < max(1, n) ? CUSOLVER_STATUS_INVALID_VALUE : enter(handle); \
} \
cusolverStatus_t \
potrf_name(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a, int lda, T *work, int lwork, int *info) \
{ \
	return potrf(handle, uplo == CUBLAS_FILL_MODE_LOWER, n, a, lda, work, lwork, info); \
} \
cusolverStatus_t \
syevd_name##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, \
						const T *a, int lda, const T *w, int *lwork) \
{ \
	*lwork = work_size(n); \
	return n < 0 || lda < max(1, n) ? CUSOLVER_STATUS_INVALID_VALUE : enter(handle); \
} \
cusolverStatus_t \
syevd_name(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *a, int lda, T *w, \
		   T *work, int lwork, int *info) \
{ \
	return syevd(handle, jobz == CUSOLVER_EIG_MODE_VECTOR, uplo == CUBLAS_FILL_MODE_LOWER, n, a, lda, w, work, \
				 lwork, info); \
}
ENTRIES(float, cusolverDnSpotrf, cusolverDnSsyevd)
ENTRIES(double, cusolverDnDpotrf, cusolverDnDsyevd)
