/*
 * cpu_simd_avx512.c - the vector loops for AVX-512.
 */
#include <math.h>
#include <string.h>

#include "device/cpu/cpu_arccos.h"
#include "cpu_simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define ATTR __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))

#include "cpu_simd_turn.h"

/*
 * exp of a vector: x = n ln 2 + r, exp(r) by its Taylor polynomial, relative
 * error 1e-7; 0 below the smallest normal number.
 */
static inline ATTR __m512
exp_float(__m512 x)
{
	__m512		n;
	__m512		r;
	__m512		p;
	__mmask16	keep = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.3f), _CMP_NLT_UQ);

	x = _mm512_min_ps(_mm512_set1_ps(88.0f), x);
	n = _mm512_roundscale_ps(x * _mm512_set1_ps(1.44269504f), 0);
	r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0.693359375f), x);
	r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4f), r);
	p = _mm512_set1_ps(1.0f / 5040);
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 720));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
	return _mm512_maskz_scalef_ps(keep, p, n);
}

/* exp of a vector of doubles in the same way, relative error 1e-16. */
static inline ATTR __m512d
exp_double(__m512d x)
{
	static const double inverse[] = {
		1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
		1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0
	};
	__m512d		n;
	__m512d		r;
	__m512d		p = _mm512_set1_pd(inverse[0]);
	__mmask8	keep = _mm512_cmp_pd_mask(x, _mm512_set1_pd(-708.0), _CMP_NLT_UQ);

	x = _mm512_min_pd(_mm512_set1_pd(709.0), x);
	n = _mm512_roundscale_pd(x * _mm512_set1_pd(1.4426950408889634), 0);
	r = _mm512_fmadd_pd(n, _mm512_set1_pd(-6.93147180369123816490e-01), x);
	r = _mm512_fmadd_pd(n, _mm512_set1_pd(-1.90821492927058770002e-10), r);
	UNROLL
	for (int i = 1; i < 14; i++)
		p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(inverse[i]));
	return _mm512_maskz_scalef_pd(keep, p, n);
}

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
#define EXP(v) exp_float(v)
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
#define EXP(v) exp_double(v)
#define LOADD(p) _mm512_loadu_pd(p)
#define TURN turn_double
#define NTURN 4
#define ARCCOS arccos_double
#define NARCCOS 18
#include "cpu_simd_kernels.h"

const gp_simd gp_simd_avx512 = {"AVX-512", GP_SIMD_OPS};

#endif							/* __x86_64__ */
