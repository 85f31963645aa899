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

/* dst = src' for a square block, a vector of 32 bytes for each row of dst. */
#define TURN_SQUARE(T, ...) \
static inline ATTR void \
turn_square_##T(const T *s, int64_t lds, T *d, int64_t ldd) \
{ \
	typedef T	row __attribute__((vector_size(32))); \
 \
	UNROLL \
	for (int j = 0; j < 32 / (int) sizeof(T); j++) \
	{ \
		const T    *c = s + j; \
		row			r = {__VA_ARGS__}; \
 \
		memcpy(d + j * ldd, &r, sizeof(r)); \
	} \
}

TURN_SQUARE(float, c[0], c[lds], c[2 * lds], c[3 * lds], c[4 * lds], c[5 * lds], c[6 * lds],
			c[7 * lds])
TURN_SQUARE(double, c[0], c[lds], c[2 * lds], c[3 * lds])

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
