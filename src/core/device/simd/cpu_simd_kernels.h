/*
 * cpu_simd_kernels.h - the template of all vector loops.
 *
 * A variant includes this file for T float and T double, after defining
 *   ATTR         the function attribute that enables the instructions
 *   V, W         the vector type and its length; operators work on V as on T
 *   SET1, LOAD, STORE, FMA (a b + c), MIN, MAX, SQRT, EXP on V; MIN and MAX give the second
 *                argument when one is not a number
 *   VI           the vector type of integers of T's size; not where V is no vector
 *   VD, WD, SETD, STORED, FMAD   vectors of double; LOADD converts from T
 *   TURN, NTURN  dst = src' for a square block, as TURN(src, lds, dst, ldd), and its side
 *
 * The arc-cosine map with cos t = c, y = 1 - |c| and T(y) = (sin t - t cos t) /
 * y^(3/2) for t = acos(1 - y) is
 *     sin t + (pi - t) cos t = y^(3/2) T(y) + pi max(c, 0),
 * because acos(-c) = pi - acos(c).  T is smooth on [0, 1], its next singularity
 * is at y = 2, so one polynomial and one square root give full accuracy at both
 * ends.
 *
 * No include guard: each inclusion makes the functions of one type, whose name is behind theirs.
 */
#define FN_PASTE(name, type) name##_##type
#define FN_OF(name, type) FN_PASTE(name, type)
#define FN(name) FN_OF(name, T)

/* y = a x + b y; b = 0 ignores y. */
static ATTR void
FN(axpby) (int64_t n, double a, const void *xx, double b, void *yy)
{
	const T    *x = xx;
	T		   *y = yy;
	V			va = SET1((T) a);
	V			vb = SET1((T) b);
	int64_t		i = 0;

	if (b == 0.0)
	{
		for (; i + W <= n; i += W)
			STORE(y + i, va * LOAD(x + i));
		for (; i < n; i++)
			y[i] = (T) a * x[i];
		return;
	}
	for (; i + W <= n; i += W)
		STORE(y + i, FMA(va, LOAD(x + i), vb * LOAD(y + i)));
	for (; i < n; i++)
		y[i] = (T) a * x[i] + (T) b * y[i];
}

/* The sum of x_i y_i in double, in four running sums. */
static ATTR double
FN(dot) (int64_t n, const void *xx, const void *yy)
{
	const T    *x = xx;
	const T    *y = yy;
	VD			s[4] = {SETD(0.0), SETD(0.0), SETD(0.0), SETD(0.0)};
	double		part[WD];
	double		sum = 0.0;
	int64_t		i = 0;

	for (; i + 4 * WD <= n; i += 4 * WD)
	{
		UNROLL
		for (int q = 0; q < 4; q++)
			s[q] = FMAD(LOADD(x + i + q * WD), LOADD(y + i + q * WD), s[q]);
	}
	STORED(part, (s[0] + s[1]) + (s[2] + s[3]));
	for (int j = 0; j < WD; j++)
		sum += part[j];
	for (; i < n; i++)
		sum += (double) x[i] * (double) y[i];
	return sum;
}

/* The sum of value[e] b[col[e] ldb], in double. */
static ATTR double
FN(sparse_dot) (int64_t entries, const int32_t *col, const void *value, const void *bb,
				int64_t ldb)
{
	const T    *v = value;
	const T    *b = bb;
	double		s0 = 0.0;
	double		s1 = 0.0;
	int64_t		e = 0;

	for (; e + 2 <= entries; e += 2)
	{
		s0 += (double) v[e] * (double) b[col[e] * ldb];
		s1 += (double) v[e + 1] * (double) b[col[e + 1] * ldb];
	}
	if (e < entries)
		s0 += (double) v[e] * (double) b[col[e] * ldb];
	return s0 + s1;
}

/* c = alpha sum + beta c for one vector; beta = 0 ignores c. */
static inline ATTR void
FN(finish) (T *c, V sum, T alpha, T beta)
{
	V			out = SET1(alpha) * sum;

	if (beta != 0)
		out = FMA(SET1(beta), LOAD(c), out);
	STORE(c, out);
}

/*
 * A few vectors of columns of a sparse row times b, summed in registers.  vectors is a constant
 * where this is inlined, at most 8.
 */
static inline ATTR __attribute__((always_inline)) void
FN(spmm_vectors) (int vectors, int64_t entries, const int32_t *col, const T *value, const T *b,
				  int64_t ldb, T alpha, T beta, T *c)
{
	V			sum[8];

	UNROLL
	for (int q = 0; q < vectors; q++)
		sum[q] = SET1(0);
	for (int64_t e = 0; e < entries; e++)
	{
		const T    *row = b + col[e] * ldb;
		V			v = SET1(value[e]);

		UNROLL
		for (int q = 0; q < vectors; q++, row += W)
			sum[q] = FMA(v, LOAD(row), sum[q]);
	}
	UNROLL
	for (int q = 0; q < vectors; q++)
		FN(finish) (c + q * W, sum[q], alpha, beta);
}

/* A few columns, a power of two of them, of a sparse row times b: kept in one short vector. */
#define SPMM_SHORT(k) \
static inline ATTR void \
FN(spmm_short_##k) (int64_t entries, const int32_t *col, const T *value, const T *b, \
					int64_t ldb, T alpha, T beta, T *c) \
{ \
	typedef T	some __attribute__((vector_size(k * sizeof(T)))); \
	some		sum = {0}; \
	some		part; \
\
	for (int64_t e = 0; e < entries; e++) \
	{ \
		memcpy(&part, b + col[e] * ldb, sizeof(part)); \
		sum += value[e] * part; \
	} \
	if (beta != 0) \
	{ \
		memcpy(&part, c, sizeof(part)); \
		sum = alpha * sum + beta * part; \
	} \
	else \
		sum *= alpha; \
	memcpy(c, &sum, sizeof(sum)); \
}

SPMM_SHORT(8)
SPMM_SHORT(4)
SPMM_SHORT(2)
SPMM_SHORT(1)
#undef SPMM_SHORT

/* One vector of columns of a sparse row times b: two sums, for an addition waits for the one before
 * it. */
static inline ATTR void
FN(spmm_one) (int64_t entries, const int32_t *col, const T *value, const T *b,
			  int64_t ldb, T alpha, T beta, T *c)
{
	V			s0 = SET1(0);
	V			s1 = s0;
	int64_t		e = 0;

	for (; e + 2 <= entries; e += 2)
	{
		s0 = FMA(SET1(value[e]), LOAD(b + col[e] * ldb), s0);
		s1 = FMA(SET1(value[e + 1]), LOAD(b + col[e + 1] * ldb), s1);
	}
	if (e < entries)
		s0 = FMA(SET1(value[e]), LOAD(b + col[e] * ldb), s0);
	FN(finish) (c, s0 + s1, alpha, beta);
}

/* One sparse row times n columns of b. */
static inline ATTR void
FN(spmm_row) (int64_t entries, const int32_t *col, const T *value, const T *b,
			  int64_t ldb, int64_t n, T alpha, T beta, T *c)
{
	int64_t		j = 0;

	for (; j + 8 * W <= n; j += 8 * W)
		FN(spmm_vectors) (8, entries, col, value, b + j, ldb, alpha, beta, c + j);
	for (; j + 4 * W <= n; j += 4 * W)
		FN(spmm_vectors) (4, entries, col, value, b + j, ldb, alpha, beta, c + j);
	for (; j + 2 * W <= n; j += 2 * W)
		FN(spmm_vectors) (2, entries, col, value, b + j, ldb, alpha, beta, c + j);
	for (; j + W <= n; j += W)
		FN(spmm_one) (entries, col, value, b + j, ldb, alpha, beta, c + j);
	if (W > 8 && j + 8 <= n)
	{
		FN(spmm_short_8) (entries, col, value, b + j, ldb, alpha, beta, c + j);
		j += 8;
	}
	if (W > 4 && j + 4 <= n)
	{
		FN(spmm_short_4) (entries, col, value, b + j, ldb, alpha, beta, c + j);
		j += 4;
	}
	if (W > 2 && j + 2 <= n)
	{
		FN(spmm_short_2) (entries, col, value, b + j, ldb, alpha, beta, c + j);
		j += 2;
	}
	if (j < n)
		FN(spmm_short_1) (entries, col, value, b + j, ldb, alpha, beta, c + j);
}

/*
 * Rows of c = alpha s b + beta c; the loop is here because rows are short and calls dear.  So are
 * the questions how many columns are left: a few vectors of them have loops of their own.
 */
static ATTR void
FN(spmm) (int64_t rows, const int64_t *start, const int32_t *col, const void *value,
		  const void *b, int64_t ldb, int64_t n, double alpha, double beta, void *c, int64_t ldc)
{
#define ROW start[i + 1] - start[i], col + start[i], (const T *) value + start[i], b, ldb
#define OUT (T) alpha, (T) beta, (T *) c + i * ldc

	if (n == W)
		for (int64_t i = 0; i < rows; i++)
			FN(spmm_one) (ROW, OUT);
	else if (n == 2 * W)
		for (int64_t i = 0; i < rows; i++)
			FN(spmm_vectors) (2, ROW, OUT);
	else if (n == 4 * W)
		for (int64_t i = 0; i < rows; i++)
			FN(spmm_vectors) (4, ROW, OUT);
	else
		for (int64_t i = 0; i < rows; i++)
			FN(spmm_row) (ROW, n, OUT);
#undef ROW
#undef OUT
}

/* dst = src', src being rows x cols. */
static ATTR void
FN(turn) (int64_t rows, int64_t cols, const void *src, int64_t lds, void *dst, int64_t ldd)
{
	const T    *s = src;
	T		   *d = dst;
	int64_t		i = 0;

	for (; i + NTURN <= rows; i += NTURN)
	{
		int64_t		j = 0;

		for (; j + NTURN <= cols; j += NTURN)
			TURN(s + i * lds + j, lds, d + j * ldd + i, ldd);
		for (; j < cols; j++)
			for (int64_t k = i; k < i + NTURN; k++)
				d[j * ldd + k] = s[k * lds + j];
	}
	for (; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			d[j * ldd + i] = s[i * lds + j];
}

/*
 * A few vectors of right sides of a triangular system, a constant: x_j += sum_{i<j} t_ji x_i, then
 * x_j *= t_jj, row after row.  Row j of x is at x + j * step.
 */
static inline ATTR __attribute__((always_inline)) void
FN(solve_vectors) (int vectors, int64_t n, const T *t, int64_t ldt, T *x, int64_t step)
{
	for (int64_t j = 0; j < n; j++)
	{
		T		   *to = x + j * step;
		const T    *tj = t + j * ldt;
		V			d = SET1(tj[j]);
		V			s[8];

		UNROLL
		for (int q = 0; q < vectors; q++)
			s[q] = LOAD(to + q * W);
		for (int64_t i = 0; i < j; i++)
		{
			const T    *from = x + i * step;
			V			f = SET1(tj[i]);

			UNROLL
			for (int q = 0; q < vectors; q++)
				s[q] = FMA(f, LOAD(from + q * W), s[q]);
		}
		UNROLL
		for (int q = 0; q < vectors; q++)
			STORE(to + q * W, s[q] * d);
	}
}

/* The same for any number of right sides, a multiple of 16. */
static ATTR void
FN(solve) (int64_t n, const void *t, int64_t ldt, int64_t cols, void *xx, int64_t step)
{
	T		   *x = xx;
	int64_t		c = 0;

	for (; c + 8 * W <= cols; c += 8 * W)
		FN(solve_vectors) (8, n, t, ldt, x + c, step);
	for (; c < cols; c += W)
		FN(solve_vectors) (1, n, t, ldt, x + c, step);
}

/* k = scale k + shift. */
static ATTR void
FN(affine) (int64_t n, double scale, double shift, void *kk)
{
	T		   *k = kk;
	int64_t		i = 0;

	for (; i + W <= n; i += W)
		STORE(k + i, FMA(SET1((T) scale), LOAD(k + i), SET1((T) shift)));
	for (; i < n; i++)
		k[i] = (T) scale * k[i] + (T) shift;
}

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

#undef T
#undef VI
#undef FN
#undef FN_OF
#undef FN_PASTE
