/*
 * cpu_simd_turn.h - transposes of small square blocks in registers, for AVX2 and more.
 *
 * Included by the variants after ATTR is defined.
 */

/* dst = src' for 8 x 8 floats. */
static inline ATTR void
turn_float(const float *s, int64_t lds, float *d, int64_t ldd)
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
turn_double(const double *s, int64_t lds, double *d, int64_t ldd)
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
