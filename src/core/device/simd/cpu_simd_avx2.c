/*
 * cpu_simd_avx2.c - the vector loops for AVX2.
 */

#include "device/cpu/cpu_arccos.h"
#include "cpu_simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define ATTR __attribute__((target("avx2,fma")))

#include "cpu_simd_turn.h"

/* Vectors of integers, by which exp makes powers of two. */
typedef int32_t integers_float __attribute__((vector_size(32)));
typedef int64_t integers_double __attribute__((vector_size(32)));

/* Vectors of double, for both types. */
#define VD __m256d
#define WD 4
#define SETD(x) _mm256_set1_pd(x)
#define STORED(p, v) _mm256_storeu_pd(p, v)
#define FMAD(a, b, c) _mm256_fmadd_pd(a, b, c)

#define T float
#define V __m256
#define W 8
#define FN(name) f_##name
#define SET1(x) _mm256_set1_ps((float) (x))
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define MIN(a, b) _mm256_min_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define SQRT(v) _mm256_sqrt_ps(v)
#define VI integers_float
#define LOADD(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#define TURN turn_float
#define NTURN 8
#define ARCCOS arccos_float
#define NARCCOS 8
#include "cpu_simd_kernels.h"

#define T double
#define V __m256d
#define W 4
#define FN(name) d_##name
#define SET1(x) _mm256_set1_pd((double) (x))
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define MIN(a, b) _mm256_min_pd(a, b)
#define MAX(a, b) _mm256_max_pd(a, b)
#define SQRT(v) _mm256_sqrt_pd(v)
#define VI integers_double
#define LOADD(p) _mm256_loadu_pd(p)
#define TURN turn_double
#define NTURN 4
#define ARCCOS arccos_double
#define NARCCOS 18
#include "cpu_simd_kernels.h"

const gp_simd gp_simd_avx2 = {"AVX2", GP_SIMD_OPS};

#endif							/* __x86_64__ */
