/*
 * cpu_simd_portable.c - the vector loops in plain C, and the choice among variants.
 */

#include "device/cpu/cpu_arccos.h"
#include "cpu_simd.h"

#define ATTR

#define V T
#define W 1
#define SET1(x) ((T) (x))
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define FMA(a, b, c) ((a) * (b) + (c))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SQRT(v) _Generic((T) 0, float: sqrtf, double: sqrt) (v)
#define EXP(v) _Generic((T) 0, float: expf, double: exp) (v)
#define TURN(s, lds, d, ldd) (*(d) = *(s))
#define NTURN 1

#define VD double
#define WD 1
#define SETD(x) (x)
#define STORED(p, v) (*(p) = (v))
#define FMAD(a, b, c) ((a) * (b) + (c))
#define LOADD(p) ((double) *(p))

#define T float
#include "cpu_simd_kernels.h"
#define T double
#include "cpu_simd_kernels.h"

const gp_simd gp_simd_portable = {"plain C", GP_SIMD_OPS};

const gp_simd *
gp_simd_at(gp_simd_level level)
{
	if (level == GP_SIMD_PORTABLE)
		return &gp_simd_portable;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (level == GP_SIMD_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &gp_simd_avx2;
	if (level == GP_SIMD_AVX512 && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &gp_simd_avx512;
#endif
	return NULL;
}

const gp_simd *
gp_simd_choose(void)
{
	for (int level = GP_SIMD_AVX512; level > GP_SIMD_PORTABLE; level--)
	{
		const gp_simd *simd = gp_simd_at((gp_simd_level) level);

		if (simd != NULL)
			return simd;
	}
	return &gp_simd_portable;
}
