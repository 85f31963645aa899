/*
 * cpu_blas.h - OpenBLAS, reached through dlopen.
 *
 * The library is not linked: it starts threads the moment it is mapped, with
 * whatever signals are open then.  Loading it by hand lets us block signals and
 * keep it single-threaded; the threads are our own (cpu_pool.h).
 *
 * The wrappers take both types and row-major matrices.  Sizes and leading
 * dimensions must fit an int.
 */
#ifndef GP_CPU_BLAS_H
#define GP_CPU_BLAS_H

#include "base/base.h"

/* Loads the library once per process; raises GP_ERR_DEVICE when it cannot. */
extern void gp_blas_load(gp_env *env);

/* The name of the core that OpenBLAS chose. */
extern const char *gp_blas_core(void);

/* True when several threads may call OpenBLAS at once. */
extern bool gp_blas_shared(void);

/*
 * Makes sure that so many may call OpenBLAS at once, by buffers which it then keeps; returns how
 * many may, where the system has no memory for all, and raises GP_ERR_MEMORY where it has none.
 */
extern int	gp_blas_reserve(gp_env *env, int callers);

/* c = alpha op(a) op(b) + beta c, the inner size being that of a. */
extern void gp_blas_gemm(bool trans_a, bool trans_b, double alpha, gp_matrix a, gp_matrix b,
						 double beta, gp_matrix c);

/* The lower triangle of c = alpha a a' (trans: a' a) + beta c. */
extern void gp_blas_syrk(bool trans, double alpha, gp_matrix a, double beta, gp_matrix c);

/* The lower Cholesky factor in place; returns LAPACK's info. */
extern int	gp_blas_potrf(gp_matrix a);

/* The inverse of a lower triangle in place; returns LAPACK's info. */
extern int	gp_blas_trtri(gp_matrix l);

/* Elements of real workspace, and ints, that gp_blas_syevd needs for order n. */
extern int64_t gp_blas_syevd_work(int64_t n);
extern int64_t gp_blas_syevd_iwork(int64_t n);

/* The eigenvectors as rows of a, the ascending eigenvalues in w; returns LAPACK's info. */
extern int	gp_blas_syevd(gp_matrix a, void *w, void *work, int *iwork);

#endif							/* GP_CPU_BLAS_H */
