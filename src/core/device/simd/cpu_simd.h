/*
 * cpu_simd.h - loops over a row of numbers, in vector code chosen at run time.
 *
 * Every loop exists for float and double in each variant: plain C, AVX2 and
 * AVX-512.  All variants come from one template, cpu_simd_kernels.h.  Rows need
 * no alignment, and no row may overlap another unless it is the same.
 */
#ifndef GP_CPU_SIMD_H
#define GP_CPU_SIMD_H

#include "base/base.h"

typedef enum gp_simd_level
{
	GP_SIMD_PORTABLE,
	GP_SIMD_AVX2,
	GP_SIMD_AVX512
} gp_simd_level;

/* The loops for one type T. */
typedef struct gp_simd_ops
{
	/* y = a x + b y; b = 0 ignores y. */
	void		(*axpby) (int64_t n, double a, const void *x, double b, void *y);

	/* The sum of x_i y_i, in double. */
	double		(*dot) (int64_t n, const void *x, const void *y);

	/*
	 * Rows of c = alpha s b + beta c, n columns: row i has the entries start[i] to
	 * start[i + 1] of col and value.  beta = 0 ignores c.  The rows of b are asked for so many
	 * entries ahead (0: not), which serves where b is too large for the caches.
	 */
	void		(*spmm) (int64_t rows, const int64_t *start, const int32_t *col, const void *value,
						 const void *b, int64_t ldb, int64_t n, int64_t ahead, double alpha,
						 double beta, void *c, int64_t ldc);

	/* The sum of value[e] b[col[e] ldb], in double. */
	double		(*sparse_dot) (int64_t entries, const int32_t *col, const void *value,
							   const void *b, int64_t ldb);

	/* dst = src', src being rows x cols. */
	void		(*turn) (int64_t rows, int64_t cols, const void *src, int64_t lds, void *dst,
						 int64_t ldd);

	/*
	 * Solves a small triangular system for cols (a multiple of 16) right sides: x_j becomes
	 * (x_j + sum_{i<j} t_ji x_i) t_jj for j = 0 .. n - 1, row j of x being at
	 * x + j * step elements; step may be negative.
	 */
	void		(*solve) (int64_t n, const void *t, int64_t ldt, int64_t cols, void *x,
						  int64_t step);

	/* k = scale k + shift. */
	void		(*affine) (int64_t n, double scale, double shift, void *k);

	/*
	 * k = scale g(k) + shift, g the arc-cosine map.  root is the square root of
	 * the row's variance, roots those of the columns, inverses 1 / roots with 0
	 * for 1 / 0.
	 */
	void		(*relu) (int64_t n, double root, const void *roots, const void *inverses,
						 double scale, double shift, void *k);

	/* k = scale exp(-gamma (variance + variances - 2 k)) + shift. */
	void		(*rbf) (int64_t n, double variance, const void *variances, double gamma,
						double scale, double shift, void *k);

	/* k = scale (k + offset)^power + shift. */
	void		(*poly) (int64_t n, double offset, int64_t power, double scale, double shift,
						 void *k);

	/* x = scale cos(x + shift), or of the sine. */
	void		(*wave) (int64_t n, double scale, bool sine, const void *shift, void *x);
} gp_simd_ops;

/* A variant, its loops indexed by gp_type. */
typedef struct gp_simd
{
	const char *name;
	gp_simd_ops ops[2];
} gp_simd;

/* The loops of a variant, as cpu_simd_kernels.h names them. */
#define GP_SIMD_LOOPS(T) {axpby_##T, dot_##T, spmm_##T, sparse_dot_##T, turn_##T, solve_##T, \
	affine_##T, relu_##T, rbf_##T, poly_##T, wave_##T}
#define GP_SIMD_OPS {GP_SIMD_LOOPS(float), GP_SIMD_LOOPS(double)}

extern const gp_simd gp_simd_portable;
#if defined(__x86_64__)
extern const gp_simd gp_simd_avx2;
extern const gp_simd gp_simd_avx512;
#endif

/* The widest variant that this processor runs. */
extern const gp_simd *gp_simd_choose(void);

/* The variant of that level, or NULL where the processor cannot run it. */
extern const gp_simd *gp_simd_at(gp_simd_level level);

#endif							/* GP_CPU_SIMD_H */
