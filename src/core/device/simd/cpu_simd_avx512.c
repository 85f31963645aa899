/*
 * cpu_simd_avx512.c - the vector loops for AVX-512.
 */

#include "device/cpu/cpu_arccos.h"
#include "cpu_simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define ATTR __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))

#include "cpu_simd_turn.h"

/* Vectors of integers, by which exp makes powers of two. */
typedef int32_t integers_float __attribute__((vector_size(64)));
typedef int64_t integers_double __attribute__((vector_size(64)));

/* Vectors of double, for both types. */
#define VD __m512d
#define WD 8
#define SETD(x) _mm512_set1_pd(x)
#define STORED(p, v) _mm512_storeu_pd(p, v)
#define FMAD(a, b, c) _mm512_fmadd_pd(a, b, c)

#define T float
#define V __m512
#define W 16
#define FN(name) f_##name
#define SET1(x) _mm512_set1_ps((float) (x))
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define MIN(a, b) _mm512_min_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define SQRT(v) _mm512_sqrt_ps(v)
#define VI integers_float
#define LOADD(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define TURN turn_float
#define NTURN 8
#define ARCCOS arccos_float
#define NARCCOS 8
#include "cpu_simd_kernels.h"

#define T double
#define V __m512d
#define W 8
#define FN(name) d_##name
#define SET1(x) _mm512_set1_pd((double) (x))
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define MIN(a, b) _mm512_min_pd(a, b)
#define MAX(a, b) _mm512_max_pd(a, b)
#define SQRT(v) _mm512_sqrt_pd(v)
#define VI integers_double
#define LOADD(p) _mm512_loadu_pd(p)
#define TURN turn_double
#define NTURN 4
#define ARCCOS arccos_double
#define NARCCOS 18
#include "cpu_simd_kernels.h"

const gp_simd gp_simd_avx512 = {"AVX-512", GP_SIMD_OPS};

#endif							/* __x86_64__ */
