/*
 * autoencoder_score.c - the linear auto-encoder of the graph's rows (Steck 2019) as two of the
 * scores of pairs.  The method ease is in ease.c.
 *
 * With A the symmetric pattern, d its degrees and P = (A^2 + lambda I)^-1, the auto-encoder that
 * predicts each row of A from its other entries scores a pair without a link by -(A P)_ij / P_jj.
 * P_jj is near 1 / (lambda + d_j): the regression weighs the two ends' scalings, and diagonals from
 * probes give no better ranks.
 */
#include "scores.h"

#define RIDGE 4.0				/* lambda, over the mean degree */
#define CLOSE 1e-4				/* of the first residual */

/* The score scaled by both ends, and by the one that it is larger for. */
static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	int64_t		next = 0;

	if (f->pattern.value == NULL)
	{
		for (int64_t e = 0; e < block->n; e++)
			out[e * f->width] = out[e * f->width + 1] = 0.0;
		return;
	}
	gp_matrix	x = f->dev->create(f->dev, f->n, block->sources, GP_FLOAT);
	double	   *entry = gp_alloc_array(f->env, block->n, sizeof(double));
	double		ridge[GP_LINK_BLOCK];

	for (int32_t t = 0; t < block->sources; t++)
	{
		double		entries = (double) gp_csr_entries(&f->pattern);

		entries -= cuts && cuts[t].edge ? 2.0 : 0.0;
		ridge[t] = RIDGE * fmax(entries, 1.0) / (double) f->n;
	}
	gp_link_autoencoder_solve(f, block, cuts, ridge, CLOSE, x);
	f->dev->take(f->dev, x, block->n, block->dst, block->slot, entry);
	for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
	{
		double		lost = cuts && cuts[block->slot[e]].edge ? 1.0 : 0.0;
		double		i = ridge[block->slot[e]] + f->degree[block->source[block->slot[e]]] - lost;
		double		j = ridge[block->slot[e]] + f->degree[block->dst[e]] - lost;

		gp_poll(f->env, e, &next);
		out[e * f->width] = -entry[e] * sqrt(i * j);
		out[e * f->width + 1] = -entry[e] * fmax(i, j);
	}
	gp_free(f->env, entry);
	f->dev->destroy(f->dev, &x);
}

const gp_link_score_family gp_link_autoencoder = {.width = 2,.compute = compute};
