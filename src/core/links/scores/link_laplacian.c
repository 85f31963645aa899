/*
 * link_laplacian.c - a Laplacian kernel as a score of pairs.
 *
 * It is a series of Chebyshev polynomials of S = D^-1/2 W D^-1/2.
 *
 *   1 / (1 + s2 - s2 x) = sum_k c_k T_k(x),  c_k = 2 r^k / sqrt(b^2 - 1) / s2,
 *   b = (1 + s2) / s2, r = b - sqrt(b^2 - 1), c_0 halved
 */
#include "scores.h"

#define SCALE 10.0				/* s2 */
#define SMALLEST_ENTRY 1e-6		/* of the kernel: less is what float leaves of a difference */

/* The coefficients of the kernel for T_0 .. T_steps. */
static void
kernel_series(int32_t steps, double *c)
{
	double		b = (1.0 + SCALE) / SCALE;
	double		r = b - sqrt(b * b - 1.0);
	double		value = 2.0 / (sqrt(b * b - 1.0) * SCALE);

	for (int32_t k = 0; k <= steps; k++, value *= r)
		c[k] = k == 0 ? value / 2.0 : value;
}

/*
 * Adds up the kernel's entries at the block's pairs: T_(k+1) = 2 S T_k - T_(k-1) on the sources'
 * unit vectors.  Of two ends, T_0 has no entry.
 */
static void
sum_series(gp_score_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *kernel)
{
	gp_device  *dev = f->dev;
	gp_matrix	last = dev->create(dev, f->n, block->sources, GP_FLOAT);
	gp_matrix	next = dev->create(dev, f->n, block->sources, GP_FLOAT);
	double	   *entry = gp_alloc_array(f->env, block->n, sizeof(double));
	double		weight[GP_LINK_STEPS + 1];

	kernel_series(f->steps, weight);
	gp_link_cut_columns(f, &f->smooth, 0.0, block->sources, block->source, last, next, cuts);
	for (int32_t k = 1; k <= f->steps; k++)
	{
		gp_matrix	two_back = last;

		f->env->check_interrupts(f->env);
		if (k > 1)
		{
			gp_link_cut_spmm(f, &f->smooth, 0.0, 2.0, next, -1.0, last, cuts);
			last = next;
			next = two_back;
		}
		dev->take(dev, next, block->n, block->dst, block->slot, entry);
		for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
			kernel[e] += weight[k] * entry[e];
	}
	gp_free(f->env, entry);
	gp_destroy_all(dev, &last, &next);
}

void
gp_link_laplacian(gp_score_context *f, const gp_link_block *block, const gp_link_cut *cuts,
				  int32_t first, double *out)
{
	double	   *kernel = gp_alloc_zero(f->env, block->n, sizeof(double));

	sum_series(f, block, cuts, kernel);
	GP_EACH(f->env, e, gp_items(f->env, block->n), e)
		out[e * f->width + first] = log(fmax(kernel[e], SMALLEST_ENTRY));
	gp_free(f->env, kernel);
}
