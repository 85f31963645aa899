/*
 * ends.c - the products at both ends of a chain of products.
 *
 * Those between need every row and column.  The first ones begin at one node
 * each, and reach few others; of the last one only the pairs' entries are read.
 * Where that is less work, just these are computed.
 */
#include "scores.h"

#define LINE_BYTES 64			/* what one access to a matrix moves */

/* The lines that a row of a matrix takes. */
static int64_t
lines_of(gp_matrix m)
{
	return (m.cols * (int64_t) gp_type_size(m.type) + LINE_BYTES - 1) / LINE_BYTES;
}

/* dst = alpha (a b)(source, :)', turned being b' and rows scratch. */
void
gp_link_first_product(gp_link_frame *f, double alpha, const gp_csr *a, const gp_csr *b,
					  const gp_csr *turned, const int32_t *source, gp_matrix rows, gp_matrix dst)
{
	gp_device  *dev = f->dev;
	int64_t		entries = 0;

	for (int64_t t = 0; t < dst.cols; t++)
		for (int64_t k = a->start[source[t]]; k < a->start[source[t] + 1]; k++)
			entries += b->start[a->col[k] + 1] - b->start[a->col[k]];
	if (entries < gp_csr_entries(turned) * lines_of(rows))
		dev->csr_product_rows(dev, dst, alpha, a, b, source, dst.cols);
	else
	{
		dev->csr_rows(dev, rows, a, source, rows.cols);
		dev->spmm(dev, alpha, turned, rows, 0.0, dst);
	}
}

/* Whether single entries cost less than the product: each reads a line for every entry of its row. */
static bool
single_entries(const gp_link_block *block, const gp_csr *s, gp_matrix b)
{
	int64_t		entries = 0;

	for (int64_t e = 0; e < block->n; e++)
		entries += s->start[block->dst[e] + 1] - s->start[block->dst[e]];
	return entries < gp_csr_entries(s) * lines_of(b);
}

/* The entries of s b at the block's pairs. */
void
gp_link_last_product(gp_link_frame *f, const gp_link_block *block, const gp_csr *s, gp_matrix b,
					 double *out)
{
	gp_device  *dev = f->dev;
	gp_matrix	c;

	if (single_entries(block, s, b))
	{
		dev->spmm_take(dev, s, b, block->n, block->dst, block->slot, out);
		return;
	}
	c = f->dev->create(f->dev, s->rows, b.cols, b.type);
	dev->spmm(dev, 1.0, s, b, 0.0, c);
	dev->take(dev, c, block->n, block->dst, block->slot, out);
	f->dev->destroy(f->dev, &c);
}
