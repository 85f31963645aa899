/*
 * cublas_v2.h - the part of cuBLAS that the GPU library uses, on the host.
 */
#ifndef GP_EMULATED_CUBLAS_V2_H
#define GP_EMULATED_CUBLAS_V2_H

#include <cuda_runtime.h>

typedef enum cublasStatus_t
{
	CUBLAS_STATUS_SUCCESS = 0,
	CUBLAS_STATUS_NOT_INITIALIZED = 1,
	CUBLAS_STATUS_ALLOC_FAILED = 3,
	CUBLAS_STATUS_INVALID_VALUE = 7,
	CUBLAS_STATUS_ARCH_MISMATCH = 8,
	CUBLAS_STATUS_MAPPING_ERROR = 11,
	CUBLAS_STATUS_EXECUTION_FAILED = 13,
	CUBLAS_STATUS_INTERNAL_ERROR = 14,
	CUBLAS_STATUS_NOT_SUPPORTED = 15,
	CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum cublasFillMode_t
{
	CUBLAS_FILL_MODE_LOWER = 0,
	CUBLAS_FILL_MODE_UPPER = 1
} cublasFillMode_t;

typedef enum cublasDiagType_t
{
	CUBLAS_DIAG_NON_UNIT = 0,
	CUBLAS_DIAG_UNIT = 1
} cublasDiagType_t;

typedef enum cublasSideMode_t
{
	CUBLAS_SIDE_LEFT = 0,
	CUBLAS_SIDE_RIGHT = 1
} cublasSideMode_t;

typedef enum cublasOperation_t
{
	CUBLAS_OP_N = 0,
	CUBLAS_OP_T = 1,
	CUBLAS_OP_C = 2
} cublasOperation_t;

typedef enum cublasMath_t
{
	CUBLAS_DEFAULT_MATH = 0,
	CUBLAS_PEDANTIC_MATH = 2,
	CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;

typedef struct cublasContext *cublasHandle_t;

extern cublasStatus_t cublasCreate(cublasHandle_t *handle);
extern cublasStatus_t cublasDestroy(cublasHandle_t handle);
extern cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
extern cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
extern cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
extern cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
extern const char *cublasGetStatusString(cublasStatus_t status);
extern const char *cublasGetStatusName(cublasStatus_t status);

/* One declaration for each of the two types. */
#define GP_EMULATED_BLAS(T, gemm, syrk, trsm) \
extern cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
						   int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, \
						   const T *beta, T *c, int ldc); \
extern cublasStatus_t syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, \
						   const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc); \
extern cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, \
						   cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha, \
						   const T *a, int lda, T *b, int ldb);
GP_EMULATED_BLAS(float, cublasSgemm, cublasSsyrk, cublasStrsm)
GP_EMULATED_BLAS(double, cublasDgemm, cublasDsyrk, cublasDtrsm)
#undef GP_EMULATED_BLAS

#endif							/* GP_EMULATED_CUBLAS_V2_H */
