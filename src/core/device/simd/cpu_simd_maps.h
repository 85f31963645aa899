/*
 * cpu_simd_maps.h - the vector loops of the pointwise maps, a part of cpu_simd_kernels.h.
 *
 * The arc-cosine map with cos t = c, y = 1 - |c| and T(y) = (sin t - t cos t) /
 * y^(3/2) for t = acos(1 - y) is
 *     sin t + (pi - t) cos t = y^(3/2) T(y) + pi max(c, 0),
 * because acos(-c) = pi - acos(c).  T is smooth on [0, 1], its next singularity
 * is at y = 2, so one polynomial and one square root give full accuracy at both
 * ends.
 */

/* The last numbers of a row, fewer than W, and zeros. */
static inline ATTR V
FN(load_last) (const T *x, int64_t n)
{
	T			room[W] = {0};

	memcpy(room, x, n * sizeof(T));
	return LOAD(room);
}

static inline ATTR void
FN(store_last) (T *x, int64_t n, V v)
{
	T			room[W];

	STORE(room, v);
	memcpy(x, room, n * sizeof(T));
}

/* factor roots (sin t + (pi - t) cos t) + shift for one vector. */
static inline ATTR V
FN(relu_vector) (V k, V inverse, V roots, V inverses, V factor, V shift)
{
	V			c = (k * inverse) * inverses;
	const int	last = sizeof(FN(arccos)) / sizeof(T) - 1;
	V			p = SET1(FN(arccos)[last]);

	c = MIN(SET1(1), MAX(SET1(-1), c));
	V			y = SET1(1) - MAX(-c, c);
	UNROLL
	for (int i = last - 1; i >= 0; i--)
		p = FMA(p, y, SET1(FN(arccos)[i]));
	p = FMA(p, y * SQRT(y), SET1((T) M_PI) * MAX(SET1(0), c));
	return FMA(p, factor * roots, shift);
}

/* k = scale g(k) + shift, g the arc-cosine map. */
static ATTR void
FN(relu) (int64_t n, double root, const void *roots, const void *inverses,
		  double scale, double shift, void *kk)
{
	T		   *k = kk;
	const T    *r = roots;
	const T    *s = inverses;
	V			inverse = SET1((T) (root > 0 ? 1.0 / root : 0.0));
	V			factor = SET1((T) (scale * root / (2.0 * M_PI)));
	V			add = SET1((T) shift);
	int64_t		i = 0;

	for (; i + W <= n; i += W)
		STORE(k + i, FN(relu_vector) (LOAD(k + i), inverse, LOAD(r + i), LOAD(s + i), factor, add));
	if (i < n)
		FN(store_last) (k + i, n - i, FN(relu_vector) (FN(load_last) (k + i, n - i), inverse,
													   FN(load_last) (r + i, n - i),
													   FN(load_last) (s + i, n - i), factor, add));
}

#ifdef VI
/*
 * exp of one vector: x = n ln 2 + r, and the Taylor polynomial of exp(r), relative error 1e-7 or
 * 1e-16; 0 below the smallest normal number.  The sum with round has n in its last bits.
 */
static inline ATTR V
FN(exp_vector) (V x)
{
	static const double inverse[] = {
		1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
		1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0
	};
	const bool	single = sizeof(T) == sizeof(float);
	const int	first = single ? 6 : 0;
	V			round = SET1(single ? 12582912.0 : 6755399441055744.0);	/* 1.5 times 2^23, 2^52 */
	V			low = SET1(single ? -87.3f : -708.0);
	VI			normal = ~(x < low);
	V			sum = MIN(SET1(single ? 88.0 : 709.0), MAX(low, x));
	V			p = SET1(inverse[first]);
	V			r = sum;

	sum = r * SET1(1.4426950408889634) + round;
	V			n = sum - round;
	r = FMA(n, SET1(single ? -0.693359375 : -6.93147180369123816490e-01), r);
	r = FMA(n, SET1(single ? 2.12194440e-4 : -1.90821492927058770002e-10), r);
	UNROLL
	for (int i = first + 1; i < 14; i++)
		p = FMA(p, r, SET1(inverse[i]));
	p = p * (V) (((VI) sum + (single ? 127 : 1023)) << (single ? 23 : 52));
	return (V) ((VI) p & normal);
}
#endif

/* scale exp(-gamma d) + shift for one vector, d >= 0 the squared distance. */
static inline ATTR V
FN(rbf_vector) (V k, V variance, V variances, V gamma, V scale, V shift)
{
	V			d = MAX(SET1(0), (variance - k) + (variances - k));

	return FMA(EXP(-(gamma * d)), scale, shift);
}

/* k = scale exp(-gamma (variance + variances - 2 k)) + shift. */
static ATTR void
FN(rbf) (int64_t n, double variance, const void *variances, double gamma,
		 double scale, double shift, void *kk)
{
	T		   *k = kk;
	const T    *v = variances;
	V			own = SET1((T) variance);
	V			vgamma = SET1((T) gamma);
	V			vscale = SET1((T) scale);
	V			add = SET1((T) shift);
	int64_t		i = 0;

	for (; i + W <= n; i += W)
		STORE(k + i, FN(rbf_vector) (LOAD(k + i), own, LOAD(v + i), vgamma, vscale, add));
	if (i < n)
		FN(store_last) (k + i, n - i, FN(rbf_vector) (FN(load_last) (k + i, n - i), own,
													  FN(load_last) (v + i, n - i), vgamma, vscale,
													  add));
}

/* scale x^power + shift for one vector, by squaring. */
static inline ATTR V
FN(poly_vector) (V x, int64_t power, V scale, V shift)
{
	V			out = SET1(1);

	for (; power > 0; power >>= 1)
	{
		if (power & 1)
			out = out * x;
		x = x * x;
	}
	return FMA(out, scale, shift);
}

/* k = scale (k + offset)^power + shift. */
static ATTR void
FN(poly) (int64_t n, double offset, int64_t power, double scale, double shift, void *kk)
{
	T		   *k = kk;
	V			voffset = SET1((T) offset);
	V			vscale = SET1((T) scale);
	V			add = SET1((T) shift);
	int64_t		i = 0;

	for (; i + W <= n; i += W)
		STORE(k + i, FN(poly_vector) (LOAD(k + i) + voffset, power, vscale, add));
	if (i < n)
		FN(store_last) (k + i, n - i, FN(poly_vector) (FN(load_last) (k + i, n - i) + voffset,
													   power, vscale, add));
}

/*
 * cos or sin of one vector: x = n pi + r with |r| <= pi/2, pi in three parts, and the
 * Taylor polynomial of r, whose sign is that of n's parity.
 */
static inline ATTR V
FN(wave_vector) (V x, bool sine)
{
	static const double inverse[2][12] = {
		{1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
		-1.0 / 87178291200.0, 1.0 / 20922789888000.0, -1.0 / 6402373705728000.0,
		1.0 / 2432902008176640000.0, -1.0 / 1124000727777607680000.0},
		{1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
		-1.0 / 1307674368000.0, 1.0 / 355687428096000.0, -1.0 / 121645100408832000.0,
		1.0 / 51090942171709440000.0, -1.0 / 25852016738884976640000.0}
	};
	const bool	single = sizeof(T) == sizeof(float);
	V			round = SET1(single ? 12582912.0 : 6755399441055744.0);	/* 1.5 times 2^23, 2^52 */
	V			n = (x * SET1(0.31830988618379067) + round) - round;
	V			half = (n * SET1(0.5) + round) - round;
	V			odd = n - half - half;
	V			r = FMA(n, SET1(single ? -3.140625 : -3.14159250259399414062), x);
	int			k = single ? 7 : 11;

	r = FMA(n, SET1(single ? -9.67502593994140625e-4 : -1.509957883172319270672e-7), r);
	r = FMA(n, SET1(single ? -1.509957990978376432e-7 : -1.07806057163162381058e-14), r);
	r = MAX(SET1(-2.0), MIN(SET1(2.0), r));
	V			square = r * r;
	V			p = SET1(inverse[sine][k]);
	while (k-- > 0)
		p = FMA(p, square, SET1(inverse[sine][k]));
	if (sine)
		p = p * r;
	return p * (SET1(1.0) - SET1(2.0) * odd * odd);
}

/* x = scale cos(x + shift), or of the sine. */
static ATTR void
FN(wave) (int64_t n, double scale, bool sine, const void *ss, void *xx)
{
	const T    *s = ss;
	T		   *x = xx;
	V			vscale = SET1((T) scale);
	int64_t		i = 0;

	for (; i + W <= n; i += W)
		STORE(x + i, vscale * FN(wave_vector) (LOAD(x + i) + LOAD(s + i), sine));
	if (i < n)
		FN(store_last) (x + i, n - i, vscale * FN(wave_vector) (FN(load_last) (x + i, n - i) +
																FN(load_last) (s + i, n - i),
																sine));
}
