/*
 * series.c - polynomials of a symmetric matrix by Chebyshev's recurrence.
 *
 * T_(k+1) = 2 S T_k - T_(k-1) on the sources' unit vectors; the eigenvalues of S lie within -1 and
 * 1.  Columns have no part in each other, and a series of known length has no sums over nodes.
 */
#include "scores.h"

/* T_2 of a matrix without cuts, from T_1, in place of T_0: the first products reach few nodes. */
static void
second_columns(gp_link_context *f, const gp_csr *s, const gp_link_block *block, gp_matrix first,
			   gp_matrix out)
{
	gp_device  *dev = f->dev;
	int32_t		slot[GP_LINK_BLOCK];
	double		own[GP_LINK_BLOCK];

	gp_link_first_product(f, s, s, s, block->source, first, out);
	dev->axpby(dev, 1.0, out, 1.0, out);
	for (int32_t t = 0; t < block->sources; t++)
		slot[t] = t;
	dev->take(dev, out, block->sources, block->source, slot, own);
	for (int32_t t = 0; t < block->sources; t++)
		own[t] -= 1.0;
	dev->put(dev, out, block->sources, block->source, slot, own);
}

void
gp_link_series(gp_link_context *f, const gp_csr *s, int32_t steps, const double *a,
			   const double *b, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	gp_device  *dev = f->dev;
	gp_matrix	last = dev->create(dev, f->n, block->sources, GP_FLOAT);
	gp_matrix	next = dev->create(dev, f->n, block->sources, GP_FLOAT);
	double	   *entry = gp_alloc_array(f->env, 2 * block->n, sizeof(double));
	double	   *before = entry + block->n;

	gp_link_cut_columns(f, s, block->sources, block->source, last, next, cuts);
	for (int32_t k = 1; k <= steps; k++)
	{
		gp_matrix	two_back = last;
		bool		end = k == steps && k > 2 && cuts == NULL;	/* entries of pairs alone */

		f->env->check_interrupts(f->env);
		if (end)
		{
			gp_link_last_product(f, block, s, next, entry);
			dev->take(dev, last, block->n, block->dst, block->slot, before);
		}
		else if (k > 1)
		{
			if (k == 2 && cuts == NULL)
				second_columns(f, s, block, next, last);
			else
				gp_link_cut_spmm(f, s, 2.0, next, -1.0, last, cuts);
			last = next;
			next = two_back;
		}
		if (a[k] == 0.0 && b[k] == 0.0)
			continue;
		if (!end)
			dev->take(dev, next, block->n, block->dst, block->slot, entry);
		for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
		{
			double		value = end ? 2.0 * entry[e] - before[e] : entry[e];

			out[e] += a[k] * value;
			out[block->n + e] += b[k] * value;
		}
	}
	gp_free(f->env, entry);
	gp_destroy_all(dev, &last, &next);
}
