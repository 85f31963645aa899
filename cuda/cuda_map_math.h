/*
 * cuda_map_math.h - the pointwise steps of a kernel, for one covariance.
 *
 * The arc-cosine map takes the arc and the sine from the same clamped cosine by
 * the CPU's polynomial, so that errors near its ends cancel (cpu_simd_maps.h
 * has the formula).
 */
#ifndef GP_CUDA_MAP_MATH_H
#define GP_CUDA_MAP_MATH_H

#include <math.h>

#include "gp_cuda.h"

#define GP_ARCCOS_SPACE __constant__
extern "C"
{
#include "device/cpu/cpu_arccos.h"
}

/* A stage as the card takes it. */
typedef struct gp_card_stage
{
	gp_map		map;
	double		p1;
	double		p2;
	double		scale;
	double		shift;
	const double *diag;			/* variance of node i at diag[i * ld] */
	int64_t		ld;
} gp_card_stage;

/* True when a stage reads variances. */
static inline bool
gp_stage_reads(const gp_stage *stage)
{
	return stage->map == GP_MAP_RELU || stage->map == GP_MAP_RBF;
}

/* The stage with the variances where diag lies on the card. */
static inline gp_card_stage
gp_card_stage_of(const gp_stage *stage, gp_matrix diag)
{
	gp_card_stage s = {stage->map, stage->p1, stage->p2, stage->scale, stage->shift,
	(const double *) diag.data, diag.ld};

	return s;
}

/* Coefficient k of the arc-cosine polynomial. */
template <typename T>
__device__ static __forceinline__ T gp_arccos(int k);

template <>
__device__ __forceinline__ float
gp_arccos<float>(int k)
{
	return arccos_float[k];
}

template <>
__device__ __forceinline__ double
gp_arccos<double>(int k)
{
	return arccos_double[k];
}

/* sin t + (pi - t) cos t for cos t = c; what is not a number stays so. */
template <typename T>
__device__ static __forceinline__ T
gp_arccos_map(T c)
{
	const int	n = sizeof(T) == sizeof(float) ? 8 : 18;
	T			p = gp_arccos<T>(n - 1);

	c = c > 1 ? (T) 1 : c < -1 ? (T) -1 : c;
	T			y = (T) 1 - (c < 0 ? -c : c);
#pragma unroll
	for (int i = n - 2; i >= 0; i--)
		p = p * y + gp_arccos<T>(i);
	return p * (y * sqrt(y)) + (T) M_PI * (c > 0 ? c : (T) 0);
}

/* The variance of a node before a stage, rounding below zero undone. */
__device__ static __forceinline__ double
gp_variance_at(const gp_card_stage &s, int64_t node)
{
	double		v = s.diag[node * s.ld];

	return v < 0 ? 0 : v;
}

/* gp_whole_power on the card, in either precision. */
template <typename T>
__device__ static __forceinline__ T
gp_card_power(T x, int64_t power)
{
	T			out = 1;

	for (; power > 0; power >>= 1)
	{
		if (power & 1)
			out *= x;
		x *= x;
	}
	return out;
}

/* A variance after the stage: scale * map(k_ii) + shift. */
__device__ static __forceinline__ double
gp_stage_variance(const gp_card_stage &s, double v)
{
	switch (s.map)
	{
		case GP_MAP_NONE:
			break;
		case GP_MAP_RELU:
			v = v > 0 || isnan(v) ? v / 2 : 0;
			break;
		case GP_MAP_RBF:
			v = 1;
			break;
		case GP_MAP_POLY:
			v = gp_card_power(v + s.p1, (int64_t) s.p2);
			break;
	}
	return s.scale * v + s.shift;
}

/*
 * What a node contributes to a stage: for relu the root of its variance and the
 * root's inverse, for rbf the variance.
 */
template <typename T>
struct gp_node_part
{
	T			first;
	T			second;
};

template <typename T>
__device__ static __forceinline__ gp_node_part<T>
gp_node_part_of(const gp_card_stage &s, int64_t node)
{
	gp_node_part<T> part = {0, 0};

	if (s.map == GP_MAP_RELU)
	{
		double		root = sqrt(gp_variance_at(s, node));

		part.first = (T) root;
		part.second = (T) (root > 0 ? 1.0 / root : 0.0);
	}
	else if (s.map == GP_MAP_RBF)
		part.first = (T) gp_variance_at(s, node);
	return part;
}

/* What a step multiplies and adds, in the type of its elements. */
template <typename T>
struct gp_stage_constants
{
	gp_map		map;
	T			p1;
	int64_t		power;
	T			scale;			/* for relu with its 1 / (2 pi) */
	T			shift;
};

template <typename T>
GP_ON_CARD static inline gp_stage_constants<T>
gp_stage_constants_of(const gp_card_stage &s)
{
	gp_stage_constants<T> v = {s.map, (T) s.p1, (int64_t) s.p2,
	(T) (s.map == GP_MAP_RELU ? s.scale / (2.0 * M_PI) : s.scale), (T) s.shift};

	return v;
}

/* scale * map(k) + shift for two nodes that are not one. */
template <typename T>
__device__ static __forceinline__ T
gp_stage_value(const gp_stage_constants<T> &s, T k, gp_node_part<T> row, gp_node_part<T> col)
{
	T			d;

	switch (s.map)
	{
		case GP_MAP_NONE:
			return s.scale * k + s.shift;
		case GP_MAP_RELU:
			return gp_arccos_map((k * row.second) * col.second) *
				(s.scale * row.first * col.first) + s.shift;
		case GP_MAP_RBF:
			d = (row.first - k) + (col.first - k);
			return exp(-(s.p1 * (d < 0 ? (T) 0 : d))) * s.scale + s.shift;
		case GP_MAP_POLY:
			return gp_card_power(k + s.p1, s.power) * s.scale + s.shift;
	}
	return k;
}

#endif							/* GP_CUDA_MAP_MATH_H */
