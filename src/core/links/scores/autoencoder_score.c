/*
 * autoencoder_score.c - the linear auto-encoder of the graph's rows (EASE; Steck 2019) as scores
 * of pairs.
 *
 * With A the symmetric pattern, d its degrees and P = (A^2 + lambda I)^-1, the auto-encoder that
 * predicts each row of A from its other entries scores a pair without a link by -(A P)_ij / P_jj.
 * P_jj is near 1 / (lambda + d_j): the regression weighs the two ends' scalings, and diagonals from
 * probes give no better ranks.
 *
 * A column of A P is that of the system (A^2 + lambda I) x = A e_i.  Conjugate gradients solve all
 * sources of a block at once, each with steps of its own: a column that is done stands
 * still.  One step for all, as in gp_conjugate, would let a score depend on the pairs beside it.
 */
#include "scores.h"

#define RIDGE 4.0				/* lambda, over the mean degree */
#define MOST_STEPS 60
#define TYPICAL_STEPS 15		/* for a plan */
#define CLOSE 1e-4				/* of the first residual */

/* lambda, of the graph without a link. */
static double
ridge_of(const gp_score_context *f, const gp_link_cut *cut)
{
	if (f->items)
		return f->ridge;
	double		entries = (double) gp_csr_entries(&f->pattern) - (cut && cut->edge ? 2.0 : 0.0);

	return RIDGE * fmax(entries, 1.0) / (double) f->n;
}

/* c = A b, in each column without the link that it ignores. */
static void
pattern_product(gp_score_context *f, gp_matrix b, gp_matrix c, const gp_link_cut *cuts)
{
	gp_device  *dev = f->dev;

	dev->spmm(dev, 1.0, &f->pattern, b, 0.0, c);
	for (int32_t t = 0; cuts && t < b.cols; t++)
	{
		int32_t		row[] = {cuts[t].i, cuts[t].j};
		int32_t		other[] = {cuts[t].j, cuts[t].i};
		int32_t		col[] = {t, t};
		double		own[2];
		double		lost[2];

		if (!cuts[t].edge)
			continue;
		dev->take(dev, c, 2, row, col, own);
		dev->take(dev, b, 2, other, col, lost);
		own[0] -= lost[0];
		own[1] -= lost[1];
		dev->put(dev, c, 2, row, col, own);
	}
}

/*
 * The squares of each column, added up in an order that other columns have no part in; turned is c
 * x n.
 */
static void
column_squares(gp_device *dev, gp_matrix a, gp_matrix turned, double *out)
{
	gp_matrix	sum = dev->create(dev, a.cols, 1, GP_DOUBLE);

	memset(out, 0, a.cols * sizeof(double));
	dev->transpose(dev, turned, a);
	dev->row_dots(dev, sum, turned, turned);
	dev->download(dev, gp_matrix_wrap(out, a.cols, 1, GP_DOUBLE), sum);
	dev->destroy(dev, &sum);
}

/* y *= factor or y += sign factor x, a factor for each column. */
static void
change_columns(gp_device *dev, gp_elementwise e, const double *factor, gp_matrix x, gp_matrix y)
{
	gp_matrix	row = gp_upload(dev, gp_matrix_wrap((double *) factor, 1, y.cols, GP_DOUBLE),
								y.type);

	dev->elementwise(dev, &e, y, row, x, x);
	dev->destroy(dev, &row);
}

static void
add_columns(gp_device *dev, double sign, const double *factor, gp_matrix x, gp_matrix y)
{
	change_columns(dev, (gp_elementwise) {.op = GP_ELEMENT_ADD,.factor = sign}, factor, x, y);
}

void
gp_link_autoencoder_solve_for(gp_score_context *f, const gp_link_cut *cuts, double close,
							  gp_matrix residual, gp_matrix x)
{
	gp_device  *dev = f->dev;
	int32_t		c = (int32_t) x.cols;
	gp_matrix	direction = dev->create(dev, f->n, c, x.type);
	gp_matrix	product = dev->create(dev, f->n, c, x.type);
	gp_matrix	spare = dev->create(dev, f->n, c, x.type);
	gp_matrix	turned = dev->create(dev, c, f->n, x.type);
	double		first[GP_LINK_BLOCK];
	double		left[GP_LINK_BLOCK];
	double		length[GP_LINK_BLOCK];	/* of the direction, squared */
	double		squares[GP_LINK_BLOCK];
	double		factor[GP_LINK_BLOCK];
	double		ridge[GP_LINK_BLOCK];
	bool		open = true;
	gp_count	before = f->env->dry ? gp_dry_count(dev) : (gp_count) {0};

	for (int32_t t = 0; t < c; t++)
		ridge[t] = ridge_of(f, cuts ? &cuts[t] : NULL);
	dev->fill(dev, x, 0.0);
	dev->copy(dev, direction, residual);
	column_squares(dev, residual, turned, left);
	memcpy(first, left, sizeof(first));
	memcpy(length, left, sizeof(length));
	/* A dry run ends with its first step, for its squares are 0. */
	for (int k = 0; k < MOST_STEPS && open; k++)
	{
		f->env->check_interrupts(f->env);
		open = false;
		pattern_product(f, direction, product, cuts);
		column_squares(dev, product, turned, squares);
		for (int32_t t = 0; t < c; t++)
		{
			bool		on = left[t] > close * close * first[t];

			open |= on;
			factor[t] = on ? left[t] / (squares[t] + ridge[t] * length[t]) : 0.0;
		}
		add_columns(dev, 1.0, factor, direction, x);
		pattern_product(f, product, spare, cuts);
		add_columns(dev, 1.0, ridge, direction, spare);
		add_columns(dev, -1.0, factor, spare, residual);
		column_squares(dev, residual, turned, squares);
		for (int32_t t = 0; t < c; t++)
		{
			factor[t] = factor[t] > 0.0 ? squares[t] / left[t] : 0.0;
			if (factor[t] > 0.0)
			{
				left[t] = squares[t];
				length[t] = squares[t] + factor[t] * factor[t] * length[t];
			}
			else
				left[t] = 0.0;
		}
		change_columns(dev, (gp_elementwise) {.op = GP_ELEMENT_TIMES}, factor, direction,
					   direction);
		dev->axpby(dev, 1.0, residual, 1.0, direction);
	}
	if (f->env->dry)
		gp_dry_repeat(dev, &before, TYPICAL_STEPS - 1.0);
	gp_destroy_all(dev, &direction, &product, &spare, &turned);
}

void
gp_link_autoencoder_solve(gp_score_context *f, const gp_link_block *block, const gp_link_cut *cuts,
						  double close, gp_matrix x)
{
	gp_device  *dev = f->dev;
	gp_matrix	right = dev->create(dev, f->n, block->sources, x.type);

	dev->csr_rows(dev, right, &f->pattern, block->source, block->sources);
	for (int32_t t = 0; cuts && t < block->sources; t++)
		if (cuts[t].edge)
			dev->put(dev, right, 1, &cuts[t].j, &t, &(double) {0.0});
	gp_link_autoencoder_solve_for(f, cuts, close, right, x);
	dev->destroy(dev, &right);
}

/* The score scaled by both ends, and by the one that it is larger for. */
static void
compute(gp_score_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
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
	gp_link_autoencoder_solve(f, block, cuts, CLOSE, x);
	f->dev->take(f->dev, x, block->n, block->dst, block->slot, entry);
	for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
	{
		double		lost = cuts && cuts[block->slot[e]].edge ? 1.0 : 0.0;
		double		ridge = ridge_of(f, cuts ? &cuts[block->slot[e]] : NULL);
		double		i = ridge + f->degree[block->source[block->slot[e]]] - lost;
		double		j = ridge + f->degree[block->dst[e]] - lost;

		gp_poll(f->env, e, &next);
		out[e * f->width] = -entry[e] * sqrt(i * j);
		out[e * f->width + 1] = -entry[e] * fmax(i, j);
	}
	gp_free(f->env, entry);
	f->dev->destroy(f->dev, &x);
}

const gp_link_score_family gp_link_autoencoder = {
	.width = 2,.compute = compute
};
