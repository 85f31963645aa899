/*
 * link_removal.c - products with a graph that lacks one link, a different one for
 * each column, and the products at both ends of a chain of products.
 *
 * S has the entries w_ij / sqrt(m_i m_j), m_i being the weights around i (and
 * 1 more for A, which has self-loops).  Without a link of weight w between i and
 * j, m_i and m_j are less by w: S' = R (S - w / sqrt(m_i m_j) (e_i e_j' + e_j e_i')) R
 * with R = I but for R_ii = sqrt(m_i / (m_i - w)), and 0 where nothing is left.
 *
 * Products inside a chain need every row and column.  The first ones begin at one
 * node each, and reach few others; of the last one only the pairs' entries are
 * read.  Where that is less work, just these are computed.
 */
#include "scores.h"

#define LINE_BYTES 64			/* what one access to a matrix moves */

/* The corrections of one block of columns: entries (i, t) first, then (j, t). */
typedef struct corrections
{
	int64_t		n;				/* cuts */
	int32_t    *row;			/* 2 n */
	int32_t    *col;			/* 2 n */
	double	   *root;			/* 2 n: R_ii, R_jj */
	double	   *entry;			/* n: w / sqrt(m_i m_j) */
	double	   *before;			/* 2 n: b as it was */
	double	   *b;				/* 2 n: R b */
	double	   *c;				/* 2 n: c as it was, then as it is */
} corrections;

/* sqrt(m / (m - w)), or 0 when (almost) nothing is left. */
static double
root_of(double mass, double weight)
{
	double		left = mass - weight;

	return left > 1e-12 * mass ? sqrt(mass / left) : 0.0;
}

/* Prepares the corrections of the columns that cut something. */
static corrections
prepare(gp_link_frame *f, const gp_csr *s, double self, int64_t columns, const gp_link_cut *cuts)
{
	gp_env	   *env = f->env;
	corrections k = {.n = columns};

	k.row = gp_alloc_array(env, 2 * columns, sizeof(int32_t));
	k.col = gp_alloc_array(env, 2 * columns, sizeof(int32_t));
	k.root = gp_alloc_array(env, 2 * columns, sizeof(double));
	k.entry = gp_alloc_array(env, columns, sizeof(double));
	k.before = gp_alloc_array(env, 2 * columns, sizeof(double));
	k.b = gp_alloc_array(env, 2 * columns, sizeof(double));
	k.c = gp_alloc_array(env, 2 * columns, sizeof(double));
	for (int64_t t = 0; t < columns; t++)
	{
		double		mi = self + f->strength[cuts[t].i];
		double		mj = self + f->strength[cuts[t].j];

		k.row[t] = cuts[t].i;
		k.row[columns + t] = cuts[t].j;
		k.col[t] = k.col[columns + t] = (int32_t) t;
		k.root[t] = root_of(mi, cuts[t].weight);
		k.root[columns + t] = root_of(mj, cuts[t].weight);
		k.entry[t] = mi > 0.0 && mj > 0.0 ? cuts[t].weight / sqrt(mi) / sqrt(mj) : 0.0;
	}
	return k;
}

/* Frees them. */
static void
release(gp_env *env, corrections *k)
{
	gp_free(env, k->row);
	gp_free(env, k->col);
	gp_free(env, k->root);
	gp_free(env, k->entry);
	gp_free(env, k->before);
	gp_free(env, k->b);
	gp_free(env, k->c);
}

/* b = R b at the cut rows, keeping what was there. */
static void
scale_input(gp_device *dev, corrections *k, gp_matrix b)
{
	dev->take(dev, b, 2 * k->n, k->row, k->col, k->before);
	for (int64_t e = 0; e < 2 * k->n; e++)
		k->b[e] = k->root[e] * k->before[e];
	dev->put(dev, b, 2 * k->n, k->row, k->col, k->b);
}

/*
 * c = alpha R (S b - entry b_other) + beta c at the cut rows, given c_after =
 * alpha S b + beta c_before.
 */
static void
correct_output(gp_device *dev, corrections *k, double alpha, double beta, gp_matrix c)
{
	int64_t		n = k->n;
	double	   *before = k->c;
	double	   *after = gp_alloc_array(dev->env, 2 * n, sizeof(double));

	dev->take(dev, c, 2 * n, k->row, k->col, after);
	for (int64_t e = 0; e < 2 * n; e++)
	{
		int64_t		other = e < n ? e + n : e - n;
		double		kept = beta != 0.0 ? beta * before[e] : 0.0;
		double		product = after[e] - kept - alpha * k->entry[e % n] * k->b[other];

		after[e] = k->root[e] * product + kept;
	}
	dev->put(dev, c, 2 * n, k->row, k->col, after);
	gp_free(dev->env, after);
}

void
gp_link_cut_spmm(gp_link_frame *f, const gp_csr *s, double self, double alpha, gp_matrix b,
				 double beta, gp_matrix c, const gp_link_cut *cuts)
{
	gp_device  *dev = f->dev;
	corrections k;

	if (cuts == NULL)
	{
		dev->spmm(dev, alpha, s, b, beta, c);
		return;
	}
	k = prepare(f, s, self, b.cols, cuts);
	scale_input(dev, &k, b);
	if (beta != 0.0)
		dev->take(dev, c, 2 * k.n, k.row, k.col, k.c);
	dev->spmm(dev, alpha, s, b, beta, c);
	correct_output(dev, &k, alpha, beta, c);
	dev->put(dev, b, 2 * k.n, k.row, k.col, k.before);
	release(f->env, &k);
}

void
gp_link_cut_columns(gp_link_frame *f, const gp_csr *s, double self, int32_t sources,
					const int32_t *source, gp_matrix scratch, gp_matrix dst,
					const gp_link_cut *cuts)
{
	int32_t		slot[2 * GP_LINK_BLOCK];
	double		one[2 * GP_LINK_BLOCK];

	for (int32_t t = 0; t < sources; t++)
	{
		slot[t] = t;
		one[t] = 1.0;
	}
	f->dev->fill(f->dev, scratch, 0.0);
	f->dev->put(f->dev, scratch, sources, source, slot, one);
	gp_link_cut_spmm(f, s, self, 1.0, scratch, 0.0, dst, cuts);
}

/* ---- the ends of a chain ---- */

/* The lines that a row of a matrix takes. */
static int64_t
lines_of(gp_matrix m)
{
	return (m.cols * (int64_t) gp_type_size(m.type) + LINE_BYTES - 1) / LINE_BYTES;
}

void
gp_link_first_product(gp_link_frame *f, const gp_csr *a, const gp_csr *b, const gp_csr *turned,
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

/*
 * Whether single entries cost less than the product: each reads a line for every entry of its row.
 */
static bool
single_entries(const gp_link_block *block, const gp_csr *s, gp_matrix b)
{
	int64_t		entries = 0;

	for (int64_t e = 0; e < block->n; e++)
		entries += s->start[block->dst[e] + 1] - s->start[block->dst[e]];
	return entries < gp_csr_entries(s) * lines_of(b);
}

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
