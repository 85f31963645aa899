/*
 * cusolverDn.h - the part of cuSOLVER that the GPU library uses, on the host.
 */
#ifndef GP_EMULATED_CUSOLVERDN_H
#define GP_EMULATED_CUSOLVERDN_H

#include <cublas_v2.h>

typedef enum cusolverStatus_t
{
	CUSOLVER_STATUS_SUCCESS = 0,
	CUSOLVER_STATUS_NOT_INITIALIZED = 1,
	CUSOLVER_STATUS_ALLOC_FAILED = 2,
	CUSOLVER_STATUS_INVALID_VALUE = 3,
	CUSOLVER_STATUS_ARCH_MISMATCH = 4,
	CUSOLVER_STATUS_MAPPING_ERROR = 5,
	CUSOLVER_STATUS_EXECUTION_FAILED = 6,
	CUSOLVER_STATUS_INTERNAL_ERROR = 7,
	CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
	CUSOLVER_STATUS_NOT_SUPPORTED = 9
} cusolverStatus_t;

typedef enum cusolverEigMode_t
{
	CUSOLVER_EIG_MODE_NOVECTOR = 0,
	CUSOLVER_EIG_MODE_VECTOR = 1
} cusolverEigMode_t;

typedef enum cudaDataType
{
	CUDA_R_32F = 0,
	CUDA_R_64F = 1
} cudaDataType;

typedef struct cusolverDnContext *cusolverDnHandle_t;

extern cusolverStatus_t cusolverGetVersion(int *version);
extern cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
extern cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
extern cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

extern cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
													cublasDiagType_t diag, int64_t n, cudaDataType type, void *a,
													int64_t lda, size_t *card_bytes, size_t *host_bytes);
extern cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
										 int64_t n, cudaDataType type, void *a, int64_t lda, void *card_work,
										 size_t card_bytes, void *host_work, size_t host_bytes, int *info);

/* One declaration for each of the two types. */
#define GP_EMULATED_SOLVER(T, potrf, syevd) \
extern cusolverStatus_t potrf##_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a, int lda, \
										   int *lwork); \
extern cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a, int lda, \
							  T *work, int lwork, int *info); \
extern cusolverStatus_t syevd##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz, \
										   cublasFillMode_t uplo, int n, const T *a, int lda, const T *w, \
										   int *lwork); \
extern cusolverStatus_t syevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, \
							  T *a, int lda, T *w, T *work, int lwork, int *info);
GP_EMULATED_SOLVER(float, cusolverDnSpotrf, cusolverDnSsyevd)
GP_EMULATED_SOLVER(double, cusolverDnDpotrf, cusolverDnDsyevd)
#undef GP_EMULATED_SOLVER

#endif							/* GP_EMULATED_CUSOLVERDN_H */
