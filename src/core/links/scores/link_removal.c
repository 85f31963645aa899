/*
 * link_removal.c - products with a graph that lacks one link, a different one for
 * each column, and the products at both ends of a chain of products.
 *
 * S has the entries w_ij / sqrt(m_i m_j), m_i being the weights around i (and
 * 1 more for A, which has self-loops).  Without a link of weight w between i and
 * j, m_i and m_j are less by w: S' = R (S - w / sqrt(m_i m_j) (e_i e_j' + e_j e_i')) R
 * with R = I except R_ii = sqrt(m_i / (m_i - w)), and 0 where nothing is left.
 * The pattern has the entry 1 / rho of every link; without one it loses just that.
 *
 * Products inside a chain need every row and column.  The first ones begin at one
 * node each, and reach few others; of the last one only the pairs' entries are
 * read.  Where that is less work, just these are computed.
 */
#include "scores.h"

#define LINE_BYTES 64			/* what one access to a matrix moves */

/* sqrt(m / (m - w)), or 0 when (almost) nothing is left. */
static double
root_of(double mass, double weight)
{
	double		left = mass - weight;

	return left > 1e-12 * mass ? sqrt(mass / left) : 0.0;
}

/* In the entries of a cut's ends: (i, t) of all columns first, then (j, t). */
void
gp_link_cut_spmm(gp_link_context *f, const gp_csr *s, double alpha, gp_matrix b, double beta,
				 gp_matrix c, const gp_link_cut *cuts)
{
	gp_device  *dev = f->dev;
	double		self = s == f->adjacency ? 1.0 : 0.0;
	bool		scaled = s != &f->pattern;
	int64_t		n = b.cols;

	if (cuts == NULL)
	{
		dev->spmm(dev, alpha, s, b, beta, c);
		return;
	}
	int32_t    *row = gp_alloc_array(f->env, 4 * n, sizeof(int32_t));
	double	   *root = gp_alloc_zero(f->env, 11 * n, sizeof(double));	/* R_ii, R_jj */
	int32_t    *col = row + 2 * n;
	double	   *before = root + 2 * n;	/* b as it was */
	double	   *input = before + 2 * n;	/* R b */
	double	   *output = input + 2 * n;	/* c as it was */
	double	   *after = output + 2 * n;
	double	   *entry = after + 2 * n;	/* n: w / sqrt(m_i m_j) */
	for (int64_t t = 0; t < n; t++)
	{
		double		mi = self + f->strength[cuts[t].i];
		double		mj = self + f->strength[cuts[t].j];

		row[t] = cuts[t].i;
		row[n + t] = cuts[t].j;
		col[t] = col[n + t] = (int32_t) t;
		root[t] = scaled ? root_of(mi, cuts[t].weight) : 1.0;
		root[n + t] = scaled ? root_of(mj, cuts[t].weight) : 1.0;
		if (!scaled)
			entry[t] = cuts[t].edge ? 1.0 / f->radius : 0.0;
		else if (mi > 0.0 && mj > 0.0)
			entry[t] = cuts[t].weight / sqrt(mi) / sqrt(mj);
	}
	/* b = R b at the cut rows */
	dev->take(dev, b, 2 * n, row, col, before);
	for (int64_t e = 0; e < 2 * n; e++)
		input[e] = root[e] * before[e];
	dev->put(dev, b, 2 * n, row, col, input);
	if (beta != 0.0)
		dev->take(dev, c, 2 * n, row, col, output);
	dev->spmm(dev, alpha, s, b, beta, c);
	/* c = alpha R (S b - entry b_other) + beta c at the cut rows */
	dev->take(dev, c, 2 * n, row, col, after);
	for (int64_t e = 0; e < 2 * n; e++)
	{
		double		kept = beta != 0.0 ? beta * output[e] : 0.0;
		double		product = after[e] - kept - alpha * entry[e % n] * input[e < n ? e + n : e - n];

		after[e] = root[e] * product + kept;
	}
	dev->put(dev, c, 2 * n, row, col, after);
	dev->put(dev, b, 2 * n, row, col, before);
	gp_free_all(f->env, row, root);
}

void
gp_link_cut_columns(gp_link_context *f, const gp_csr *s, int32_t sources, const int32_t *source,
					gp_matrix scratch, gp_matrix dst, const gp_link_cut *cuts)
{
	int32_t		slot[2 * GP_LINK_BLOCK];
	double		one[2 * GP_LINK_BLOCK];

	if (cuts == NULL)
	{
		f->dev->csr_rows(f->dev, dst, s, source, sources);
		return;
	}
	for (int32_t t = 0; t < sources; t++)
	{
		slot[t] = t;
		one[t] = 1.0;
	}
	f->dev->fill(f->dev, scratch, 0.0);
	f->dev->put(f->dev, scratch, sources, source, slot, one);
	gp_link_cut_spmm(f, s, 1.0, scratch, 0.0, dst, cuts);
}

/* ---- the ends of a chain ---- */

/* The lines that a row of a matrix takes. */
static int64_t
lines_of(gp_matrix m)
{
	return (m.cols * (int64_t) gp_type_size(m.type) + LINE_BYTES - 1) / LINE_BYTES;
}

void
gp_link_first_product(gp_link_context *f, const gp_csr *a, const gp_csr *b, const gp_csr *turned,
					  const int32_t *source, gp_matrix rows, gp_matrix dst)
{
	gp_device  *dev = f->dev;
	int64_t		entries = 0;

	for (int64_t t = 0; t < dst.cols; t++)
		for (int64_t k = a->start[source[t]]; k < a->start[source[t] + 1]; k++)
			entries += b->start[a->col[k] + 1] - b->start[a->col[k]];
	if (entries < gp_csr_entries(turned) * lines_of(rows))
		dev->csr_product_rows(dev, dst, 1.0, a, b, source, dst.cols);
	else
	{
		dev->csr_rows(dev, rows, a, source, rows.cols);
		dev->spmm(dev, 1.0, turned, rows, 0.0, dst);
	}
}

void
gp_link_last_product(gp_link_context *f, const gp_link_block *block, const gp_csr *s, gp_matrix b,
					 double *out)
{
	gp_device  *dev = f->dev;
	int64_t		entries = 0;

	/* Each single entry reads a line for every entry of its row of s. */
	for (int64_t e = 0; e < block->n; e++)
		entries += s->start[block->dst[e] + 1] - s->start[block->dst[e]];
	if (entries < gp_csr_entries(s) * lines_of(b))
	{
		dev->spmm_take(dev, s, b, block->n, block->dst, block->slot, out);
		return;
	}
	gp_matrix	c = f->dev->create(f->dev, s->rows, b.cols, b.type);
	dev->spmm(dev, 1.0, s, b, 0.0, c);
	dev->take(dev, c, block->n, block->dst, block->slot, out);
	f->dev->destroy(f->dev, &c);
}
