/*
 * link_laplacian.c - a Laplacian kernel and DeepWalk's matrix as scores of pairs.
 *
 * Both are polynomials of S = D^-1/2 W D^-1/2.  The entries (S^k)_ij of a pair
 * come from columns of one Chebyshev recurrence (series.c), which serves both.
 *
 *   1 / (1 + s2 - s2 x) = sum_k c_k T_k(x),  c_k = 2 r^k / sqrt(b^2 - 1) / s2,
 *   b = (1 + s2) / s2, r = b - sqrt(b^2 - 1), c_0 halved
 *
 * DeepWalk's matrix is log(vol / T sum_{r=1..T} (D^-1/2 S^r D^-1/2)_ij) (Qiu et al.
 * 2018, eq. 8, without the constant for negative samples).
 */
#include "scores.h"

#define SCALE 10.0				/* s2 */
#define SMALLEST_ENTRY 1e-6		/* of the kernel: less is what float leaves of a difference */
#define SMALLEST_WALK 1e-3		/* of DeepWalk's matrix */

/* The coefficients of x + x^2 + ... + x^length: x T_k = (T_(k+1) + T_(k-1)) / 2. */
static void
walk_series(int32_t length, double *c)
{
	double		power[GP_LINK_STEPS + 2] = {1.0};
	double		next[GP_LINK_STEPS + 2];

	for (int32_t r = 1; r <= length; r++)
	{
		memset(next, 0, sizeof(next));
		for (int32_t k = 0; k < r; k++)
		{
			next[k + 1] += k == 0 ? power[k] : power[k] / 2.0;
			if (k > 0)
				next[k - 1] += power[k] / 2.0;
		}
		memcpy(power, next, sizeof(power));
		for (int32_t k = 0; k <= r; k++)
			c[k] += power[k];
	}
}

/* The strength of an end without the link that is cut. */
static double
strength_of(const gp_link_context *f, int32_t node, const gp_link_cut *cut)
{
	return fmax(f->strength[node] - (cut ? cut->weight : 0.0), 0.0);
}

static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	double		of_kernel[GP_LINK_STEPS + 1] = {0.0};
	double		of_walk[GP_LINK_STEPS + 2] = {0.0};
	double	   *kernel = gp_alloc_zero(f->env, 2 * block->n, sizeof(double));
	double	   *walk = kernel + block->n;

	double		b = (1.0 + SCALE) / SCALE;
	double		r = b - sqrt(b * b - 1.0);
	double		coefficient = 2.0 / (sqrt(b * b - 1.0) * SCALE);

	for (int32_t k = 0; k <= f->steps; k++, coefficient *= r)
		of_kernel[k] = k == 0 ? coefficient / 2.0 : coefficient;
	walk_series(f->steps, of_walk);
	gp_link_series(f, &f->smooth, f->steps, of_kernel, of_walk, block, cuts, kernel);
	GP_EACH(f->env, e, gp_items(f->env, block->n), e)
	{
		const gp_link_cut *cut = cuts ? &cuts[block->slot[e]] : NULL;
		double		mass = sqrt(strength_of(f, block->source[block->slot[e]], cut)) *
			sqrt(strength_of(f, block->dst[e], cut));
		double		volume = f->volume - (cut ? 2.0 * cut->weight : 0.0);
		double		mean = mass > 0.0 ? walk[e] * volume / (f->steps * mass) : 0.0;

		out[e * f->width] = log(fmax(kernel[e], SMALLEST_ENTRY));
		out[e * f->width + 1] = log(fmax(mean, SMALLEST_WALK));
	}
	gp_free(f->env, kernel);
}

const gp_link_score_family gp_link_laplacian = {.width = 2,.compute = compute};
