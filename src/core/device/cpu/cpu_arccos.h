/*
 * cpu_arccos.h - the polynomials of the vectorised arc-cosine map.
 *
 * The GPU takes the same ones: GP_ARCCOS_SPACE then names where they lie.
 */
#ifndef GP_CPU_ARCCOS_H
#define GP_CPU_ARCCOS_H

#ifndef GP_ARCCOS_SPACE
#define GP_ARCCOS_SPACE
#endif

/*
 * Coefficients of the arc-cosine map: Chebyshev
 * interpolation on [0, 1] of (sin t - t cos t) / y^(3/2), y = 1 - cos t,
 * relative error 2e-9 and 1e-17.
 */
static GP_ARCCOS_SPACE const float arccos_float[] = {
	0.9428090402f, 0.04714062362f, 0.007572599366f, 0.001781222377f,
	0.0003857181742f, 0.0003532754955f, -0.0001546662861f, 0.0001121847524f
};

static GP_ARCCOS_SPACE const double arccos_double[] = {
	0.94280904158206336184, 0.047140452079105774582, 0.0075761440838619545885,
	0.0017537370683686700708, 0.000488256075393192801, 0.00015211419937221638691,
	0.000051094254514834673243, 0.000018349126840897055462, 5.8367286472422902664e-6,
	5.4657880681018367858e-6, -6.1128606173822411779e-6, 0.000013534533881674908218,
	-0.000017948915243682661189, 0.000018519148835413640817, -0.000013478121029305757226,
	6.7650531546790449182e-6, -2.0764150855087164778e-6, 3.0658986785827733913e-7
};

/* Before a short loop that should become straight code. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 20")
#endif

#endif							/* GP_CPU_ARCCOS_H */
