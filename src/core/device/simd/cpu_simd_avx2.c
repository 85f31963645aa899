/*
 * cpu_simd_avx2.c - the vector loops for AVX2.
 */
#include <math.h>
#include <string.h>

#include "device/cpu/cpu_arccos.h"
#include "cpu_simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define ATTR __attribute__((target("avx2,fma")))

#include "cpu_simd_turn.h"

/*
 * exp of a vector: x = n ln 2 + r, exp(r) by its Taylor polynomial, relative
 * error 1e-7; 0 below the smallest normal number.
 */
static inline ATTR __m256
exp_float(__m256 x)
{
	__m256		n;
	__m256		r;
	__m256		p;
	__m256		keep = _mm256_cmp_ps(x, _mm256_set1_ps(-87.3f), _CMP_NLT_UQ);

	x = _mm256_min_ps(_mm256_set1_ps(88.0f), _mm256_max_ps(_mm256_set1_ps(-87.3f), x));
	n = _mm256_round_ps(x * _mm256_set1_ps(1.44269504f),
						_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0.693359375f), x);
	r = _mm256_fmadd_ps(n, _mm256_set1_ps(2.12194440e-4f), r);
	p = _mm256_set1_ps(1.0f / 5040);
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720));
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
	p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
	p = p * _mm256_castsi256_ps(_mm256_slli_epi32(
				_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
	return _mm256_and_ps(p, keep);
}

/* exp of a vector of doubles in the same way, relative error 1e-16. */
static inline ATTR __m256d
exp_double(__m256d x)
{
	static const double inverse[] = {
		1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
		1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0
	};
	__m256d		n;
	__m256d		r;
	__m256d		p = _mm256_set1_pd(inverse[0]);
	__m256d		keep = _mm256_cmp_pd(x, _mm256_set1_pd(-708.0), _CMP_NLT_UQ);
	__m256i		power;

	x = _mm256_min_pd(_mm256_set1_pd(709.0), _mm256_max_pd(_mm256_set1_pd(-708.0), x));
	n = _mm256_round_pd(x * _mm256_set1_pd(1.4426950408889634),
						_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	r = _mm256_fmadd_pd(n, _mm256_set1_pd(-6.93147180369123816490e-01), x);
	r = _mm256_fmadd_pd(n, _mm256_set1_pd(-1.90821492927058770002e-10), r);
	UNROLL
	for (int i = 1; i < 14; i++)
		p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(inverse[i]));
	power = _mm256_cvtepi32_epi64(_mm_add_epi32(_mm256_cvtpd_epi32(n), _mm_set1_epi32(1023)));
	p = p * _mm256_castsi256_pd(_mm256_slli_epi64(power, 52));
	return _mm256_and_pd(p, keep);
}

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
#define EXP(v) exp_float(v)
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
#define EXP(v) exp_double(v)
#define LOADD(p) _mm256_loadu_pd(p)
#define TURN turn_double
#define NTURN 4
#define ARCCOS arccos_double
#define NARCCOS 18
#include "cpu_simd_kernels.h"

const gp_simd gp_simd_avx2 = {"AVX2", GP_SIMD_OPS};

#endif							/* __x86_64__ */
