/*
 * cpu_simd_avx2.c - the vector loops for AVX2.
 */
#if defined(__x86_64__)

#define ATTR __attribute__((target("avx2,fma")))
#define BYTES 32
#define M(name) _mm256_##name
#define VF __m256
#define VD __m256d
#define HALF(p) _mm_loadu_ps(p)
#include "cpu_simd_wide.h"

const gp_simd gp_simd_avx2 = {"AVX2", GP_SIMD_OPS};

#endif							/* __x86_64__ */
