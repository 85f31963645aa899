/*
 * cpu_simd_avx512.c - the vector loops for AVX-512.
 */
#if defined(__x86_64__)

#define ATTR __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define BYTES 64
#define M(name) _mm512_##name
#define VF __m512
#define VD __m512d
#define HALF(p) _mm256_loadu_ps(p)
#include "cpu_simd_wide.h"

const gp_simd gp_simd_avx512 = {"AVX-512", GP_SIMD_OPS};

#endif							/* __x86_64__ */
