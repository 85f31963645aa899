/*
 * linear_blocks.c - the factor of linear terms without storing it.
 *
 * Wide, sparse features fill up when they are summed over two or three hops: the factor is then
 * hundreds of times as large as they are.  Its rows' norms and a few of its rows come from blocks
 * of its columns instead, dense ones, which the operators are applied to.
 */
#include "prepared.h"

#define FEW_ENTRIES 4e6			/* so many are never too many */
#define SPARSE_COST 32.0		/* an entry of a sparse product, in entries of a dense column */

/* The sparse matrix under a term's operators; NULL where it has none, or they reach every node. */
static const gp_csr *
summed_leaf(const gp_eval *ev, const gp_linear_term *term)
{
	for (int k = 0; k < term->nops; k++)
		if (gp_operator_is_global(term->op[k]))
			return NULL;
	return term->nops > 0 ? gp_term_csr(ev, term) : NULL;
}

static int
term_reach(const gp_linear_term *term)
{
	int			hops = 0;

	for (int k = 0; k < term->nops; k++)
		hops += gp_operator_reach(term->op[k]);
	return hops;
}

/* What the products of a sparse term cost, and at most the entries of its factor: by walks. */
static double
sparse_cost(gp_eval *ev, const gp_linear_term *term, const gp_csr *leaf, double *entries)
{
	const gp_csr *a = ev->kernel->a;
	double	   *walks = gp_alloc_array(ev->env, a->rows, sizeof(double));
	double		cost = 0.0;

	for (int64_t i = 0; i < a->rows; i++)
		walks[i] = (double) (leaf->start[i + 1] - leaf->start[i]);
	*entries = (double) gp_csr_entries(leaf);
	for (int hop = term_reach(term); hop > 0; hop--)
		cost += gp_walk_on(ev->env, a, &walks, (double) leaf->cols, entries);
	gp_free(ev->env, walks);
	return cost;
}

/* At most that cost, from the longest rows alone. */
static double
most_cost(gp_eval *ev, const gp_linear_term *term, const gp_csr *leaf)
{
	const gp_csr *a = ev->kernel->a;
	double		longest = (double) gp_csr_longest(ev->env, a, 1, false);
	double		walks = (double) gp_csr_longest(ev->env, leaf, 1, false);
	double		cost = 0.0;

	for (int hop = term_reach(term); hop > 0; hop--)
	{
		cost += walks * (double) gp_csr_entries(a);
		walks = fmin(walks * longest, (double) leaf->cols);
	}
	return cost;
}

bool
gp_terms_fill(gp_eval *ev, const gp_terms *terms)
{
	double		made = 0.0;
	double		most = 0.0;
	double		blocks = 0.0;
	double		all = 0.0;

	if (ev->live || ev->state)
		return false;
	for (int t = 0; t < terms->n; t++)
	{
		const gp_csr *leaf = summed_leaf(ev, &terms->term[t]);

		if (leaf == NULL)
			continue;
		most += most_cost(ev, &terms->term[t], leaf);
		for (int k = 0; k < terms->term[t].nops; k++)
			blocks += gp_operator_products(ev, terms->term[t].op[k]) * (double) leaf->cols *
				(double) gp_csr_entries(ev->kernel->a);
	}
	for (int t = 0; t < terms->n && blocks < SPARSE_COST * most; t++)
	{
		const gp_csr *leaf = summed_leaf(ev, &terms->term[t]);
		double		entries;

		if (leaf == NULL)
			continue;
		made += sparse_cost(ev, &terms->term[t], leaf, &entries);
		all += entries;
	}
	return all > FEW_ENTRIES && blocks < SPARSE_COST * made;
}

/* One term whose leaf is summed, a block of columns at a time. */
static void
look_at_blocks(gp_eval *ev, const gp_linear_term *term, const gp_csr *leaf, gp_matrix norm,
			   const int32_t *index, gp_matrix rows)
{
	gp_device  *dev = ev->dev;
	gp_csr	   *turned = gp_csr_transpose(ev->env, leaf);
	gp_matrix	full = dev->create(dev, ev->n, gp_min64(leaf->cols, GP_COLUMN_BLOCK), ev->type);
	gp_matrix	part = dev->create(dev, ev->n, 1, GP_DOUBLE);
	int32_t		column[GP_COLUMN_BLOCK];

	for (gp_band band = gp_band_first(leaf->cols, full.cols); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	block = gp_matrix_cols(full, 0, band.count);

		for (int64_t j = 0; j < band.count; j++)
			column[j] = (int32_t) (band.first + j);
		dev->csr_rows(dev, block, turned, column, band.count);
		for (int k = term->nops - 1; k >= 0; k--)
			gp_operator_apply(ev, term->op[k], block);
		if (norm.data)
		{
			dev->row_dots(dev, part, block, block);
			dev->axpby(dev, term->value, part, 1.0, norm);
		}
		if (rows.data)
		{
			/* The rows that were asked for, as columns */
			gp_matrix	some = gp_gather(dev, block, index, rows.cols);
			gp_matrix	to = gp_matrix_rows(rows, band.first, band.count);

			dev->transpose(dev, to, some);
			dev->axpby(dev, sqrt(term->value), to, 0.0, to);
			dev->destroy(dev, &some);
		}
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, leaf->cols);
	}
	gp_destroy_all(dev, &full, &part);
	gp_csr_free(ev->env, turned);
}

/* One term whose factor is as large as its leaf. */
static void
look_at_factor(gp_eval *ev, const gp_linear_term *term, gp_matrix norm, const int32_t *index,
			   gp_matrix rows)
{
	gp_device  *dev = ev->dev;
	gp_terms   *one = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));

	one->n = 1;
	one->term[0] = *term;
	gp_linear	z = gp_linear_build(ev, one);
	if (norm.data)
	{
		gp_matrix	part = dev->create(dev, ev->n, 1, GP_DOUBLE);
		gp_linear_norms(ev, &z, part);
		dev->axpby(dev, 1.0, part, 1.0, norm);
		dev->destroy(dev, &part);
	}
	if (rows.data)
		gp_linear_rows(ev, &z, index, rows.cols, rows);
	gp_linear_free(ev, &z);
	gp_free(ev->env, one);
}

void
gp_terms_look(gp_eval *ev, const gp_terms *terms, gp_matrix norm, const int32_t *index,
			  gp_matrix rows)
{
	int64_t		at = 0;

	if (norm.data)
		ev->dev->fill(ev->dev, norm, 0.0);
	for (int t = 0; t < terms->n; t++)
	{
		const gp_linear_term *term = &terms->term[t];
		const gp_csr *leaf = summed_leaf(ev, term);
		int64_t		width = gp_term_width(ev, term);
		gp_matrix	mine = rows.data ? gp_matrix_rows(rows, at, width) : rows;

		if (leaf)
			look_at_blocks(ev, term, leaf, norm, index, mine);
		else
			look_at_factor(ev, term, norm, index, mine);
		at += width;
	}
}

bool
gp_eval_fills(gp_eval *ev)
{
	int			root = ev->kernel->program->nsteps - 1;
	int		   *uses = gp_step_uses(ev, root, ev->kernel->is_linear);
	gp_terms   *terms = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));
	bool		fills = false;

	for (int i = 0; i <= root && !fills; i++)
	{
		if (uses[i] == 0 || !gp_step_is_linear(ev, i))
			continue;
		gp_linear_collect(ev, i, terms);
		fills = gp_terms_fill(ev, terms);
	}
	gp_free_all(ev->env, uses, terms);
	return fills;
}

gp_linear
gp_linear_unmade(gp_eval *ev, const gp_terms *terms)
{
	gp_linear	z = {.width = gp_terms_width(ev, terms)};

	z.terms = gp_alloc_array(ev->env, 1, sizeof(gp_terms));
	*z.terms = *terms;
	return z;
}

gp_linear
gp_linear_of_terms(gp_eval *ev, const gp_terms *terms)
{
	return ev->implicit_terms && gp_terms_fill(ev, terms) ? gp_linear_unmade(ev, terms) :
		gp_linear_build(ev, terms);
}

void
gp_linear_diagonal(gp_eval *ev, const gp_linear *z, gp_matrix out)
{
	if (z->terms)
		gp_terms_look(ev, z->terms, out, NULL, (gp_matrix) {0});
	else
		gp_linear_norms(ev, z, out);
}
