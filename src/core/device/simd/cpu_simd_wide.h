/*
 * cpu_simd_wide.h - what the loops of AVX2 and AVX-512 are made of (cpu_simd_kernels.h).
 *
 * A variant includes it after defining
 *   ATTR, BYTES     the function attribute, and the bytes of a vector
 *   M(name)         an intrinsic of that width
 *   VF, VD          vectors of float and double
 *   HALF(p)         as many floats as VD has numbers
 * I(name) is the intrinsic of the type at hand.
 */
#include "device/cpu/cpu_arccos.h"
#include "cpu_simd.h"

#include <immintrin.h>

/* dst = src' for 8 x 8 floats. */
static inline ATTR void
turn_square_float(const float *s, int64_t lds, float *d, int64_t ldd)
{
	__m256		a[8];
	__m256		b[8];

	UNROLL
	for (int i = 0; i < 4; i++)
	{
		__m256		even = _mm256_loadu_ps(s + 2 * i * lds);
		__m256		odd = _mm256_loadu_ps(s + (2 * i + 1) * lds);

		a[2 * i] = _mm256_unpacklo_ps(even, odd);
		a[2 * i + 1] = _mm256_unpackhi_ps(even, odd);
	}
	UNROLL
	for (int i = 0; i < 2; i++)
	{
		b[4 * i] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0x44);
		b[4 * i + 1] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0xee);
		b[4 * i + 2] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0x44);
		b[4 * i + 3] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0xee);
	}
	UNROLL
	for (int i = 0; i < 4; i++)
	{
		_mm256_storeu_ps(d + i * ldd, _mm256_permute2f128_ps(b[i], b[i + 4], 0x20));
		_mm256_storeu_ps(d + (i + 4) * ldd, _mm256_permute2f128_ps(b[i], b[i + 4], 0x31));
	}
}

/* dst = src' for 4 x 4 doubles. */
static inline ATTR void
turn_square_double(const double *s, int64_t lds, double *d, int64_t ldd)
{
	__m256d		r0 = _mm256_loadu_pd(s);
	__m256d		r1 = _mm256_loadu_pd(s + lds);
	__m256d		r2 = _mm256_loadu_pd(s + 2 * lds);
	__m256d		r3 = _mm256_loadu_pd(s + 3 * lds);
	__m256d		a0 = _mm256_unpacklo_pd(r0, r1);
	__m256d		a1 = _mm256_unpackhi_pd(r0, r1);
	__m256d		a2 = _mm256_unpacklo_pd(r2, r3);
	__m256d		a3 = _mm256_unpackhi_pd(r2, r3);

	_mm256_storeu_pd(d, _mm256_permute2f128_pd(a0, a2, 0x20));
	_mm256_storeu_pd(d + ldd, _mm256_permute2f128_pd(a1, a3, 0x20));
	_mm256_storeu_pd(d + 2 * ldd, _mm256_permute2f128_pd(a0, a2, 0x31));
	_mm256_storeu_pd(d + 3 * ldd, _mm256_permute2f128_pd(a1, a3, 0x31));
}

/* Vectors of integers, by which exp makes powers of two. */
typedef int32_t integers_float __attribute__((vector_size(BYTES)));
typedef int64_t integers_double __attribute__((vector_size(BYTES)));

#define W (BYTES / (int) sizeof(T))
#define SET1(x) I(set1) ((T) (x))
#define LOAD(p) I(loadu) (p)
#define STORE(p, v) I(storeu) (p, v)
#define FMA(a, b, c) I(fmadd) (a, b, c)
#define MIN(a, b) I(min) (a, b)
#define MAX(a, b) I(max) (a, b)
#define SQRT(v) I(sqrt) (v)
#define EXP(v) FN(exp_vector) (v)
#define TURN FN(turn_square)
#define NTURN (32 / (int) sizeof(T))

#define WD (BYTES / 8)
#define SETD(x) M(set1_pd) (x)
#define STORED(p, v) M(storeu_pd) (p, v)
#define FMAD(a, b, c) M(fmadd_pd) (a, b, c)

#define T float
#define V VF
#define VI integers_float
#define I(name) M(name##_ps)
#define LOADD(p) M(cvtps_pd) (HALF(p))
#include "cpu_simd_kernels.h"
#undef V
#undef I
#undef LOADD

#define T double
#define V VD
#define VI integers_double
#define I(name) M(name##_pd)
#define LOADD(p) M(loadu_pd) (p)
#include "cpu_simd_kernels.h"
