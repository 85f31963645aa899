/*
 * columns.c - the exact kernel: its diagonal, some columns, the whole.
 *
 * For the labelled nodes t only the columns K(:, t) matter.  S C S' over a chain C
 * needs the columns of C in the field of t under S, one hop more; the
 * variances that an activation needs come from the diagonal, which costs the
 * pairs of neighbours of each node.
 *
 * For the whole every step works in place: S K S' is S applied to the columns of
 * K, a transposition, and S applied again, which is right for any S because K is
 * symmetric.  A kernel without sums of two deep terms needs one n x n matrix.
 */
#include "kernel/prepared.h"

/* The diagonal of S C S' over a chain C. */
static gp_matrix
diagonal_operator(gp_pass *pass, const gp_step *s)
{
	gp_eval    *ev = pass->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	out = dev->create(dev, ev->n, 1, GP_DOUBLE);
	gp_chain	chain = gp_chain_build(ev, s->arg0);
	const gp_csr *op = gp_operator_csr(ev, s->op);
	gp_matrix	all = {0};

	if (chain.z->csr && chain.z->dense.cols > 0)
		all = gp_linear_dense(ev, chain.z);
	else if (chain.z->csr == NULL)
		all = chain.z->dense;
	dev->pair_diag(dev, op, all.cols > 0 ? NULL : chain.z->csr, all.cols > 0 ? &all : NULL,
				   chain.stage, chain.nstages, out);
	if (chain.z->csr)
		dev->destroy(dev, &all);
	gp_chain_free(ev, &chain);
	return out;
}

static gp_matrix
diagonal_chain(gp_pass *pass, int step)
{
	gp_chain	chain = gp_chain_build(pass->ev, step);
	gp_matrix	diag = chain.diag;

	chain.diag.data = NULL;
	gp_chain_free(pass->ev, &chain);
	return diag;
}

gp_matrix
gp_eval_diagonal(gp_eval *ev, int step)
{
	gp_pass		pass = {.ev = ev, .chain = diagonal_chain, .gather = diagonal_operator};

	return gp_pass_run(&pass, step);
}

/* Writes the block columns of a chain's kernel to out, or adds them. */
static void
visit_chain(gp_pass *pass, int step, bool add, gp_matrix out)
{
	gp_eval    *ev = pass->ev;
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	int64_t		width = gp_min64(gp_min64(out.cols, GP_ROW_BLOCK), gp_linear_rows_held(chain.z));
	int64_t		block_rows = gp_min64(ev->n, GP_ROW_BLOCK);
	int64_t		height = ev->env->dry ? ev->n : block_rows;	/* n^2 blocks would take their time */
	int32_t    *some = gp_alloc_array(ev->env, width, sizeof(int32_t));
	gp_matrix	right = dev->create(dev, chain.z->width, width, ev->type);
	gp_matrix	temp = add ? dev->create(dev, block_rows, width, ev->type) : (gp_matrix) {0};

	for (gp_band band = gp_band_first(out.cols, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	r = gp_matrix_cols(right, 0, band.count);

		for (int64_t j = 0; j < band.count; j++)
			some[j] = ev->env->dry || pass->cols == NULL ? (int32_t) (band.first + j) :
				pass->cols[band.first + j];
		gp_linear_rows(ev, chain.z, some, band.count, r);
		for (gp_band down = gp_band_first(ev->n, height); down.count > 0; gp_band_next(&down))
		{
			gp_matrix	part = gp_matrix_part(out, down.first, band.first, down.count, band.count);
			gp_matrix	block = add ? gp_matrix_part(temp, 0, 0, down.count, band.count) : part;

			gp_chain_block(ev, &chain, down.first, down.count, some, r, block);
			if (add)
				dev->axpby(dev, 1.0, block, 1.0, part);
		}
		if (pass->cols == NULL)
			ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, out.cols);
	}
	gp_destroy_all(dev, &temp, &right);
	gp_free(ev->env, some);
	gp_chain_free(ev, &chain);
}

static void
add_chain(gp_pass *pass, int step, gp_matrix k)
{
	visit_chain(pass, step, true, k);
}

/* All rows of some columns of a chain. */
static gp_matrix
columns_chain(gp_pass *pass, int step)
{
	gp_device  *dev = pass->ev->dev;
	gp_matrix	out = dev->create(dev, pass->ev->n, pass->ncols, pass->ev->type);

	visit_chain(pass, step, false, out);
	return out;
}

/* C(:, field) S(cols, field)' over a chain C, a block of rows at a time, which is turned. */
static gp_matrix
chain_times_rows(gp_eval *ev, int step, const int32_t *field, int64_t nfield, const gp_csr *s)
{
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	gp_matrix	right = dev->create(dev, chain.z->width, nfield, ev->type);
	gp_matrix	block = dev->create(dev, GP_ROW_BLOCK, nfield, ev->type);
	gp_matrix	turned = dev->create(dev, nfield, GP_ROW_BLOCK, ev->type);
	gp_matrix	sum = dev->create(dev, s->rows, GP_ROW_BLOCK, ev->type);
	gp_matrix	out = dev->create(dev, ev->n, s->rows, ev->type);

	gp_linear_rows(ev, chain.z, field, nfield, right);
	for (gp_band band = gp_band_first(ev->n, GP_ROW_BLOCK); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(block, 0, band.count);
		gp_matrix	columns = gp_matrix_cols(turned, 0, band.count);
		gp_matrix	sums = gp_matrix_cols(sum, 0, band.count);

		gp_chain_block(ev, &chain, band.first, band.count, field, right, part);
		dev->transpose(dev, columns, part);
		dev->spmm(dev, 1.0, s, columns, 0.0, sums);
		dev->transpose(dev, gp_matrix_rows(out, band.first, band.count), sums);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ev->n);
	}
	gp_destroy_all(dev, &right, &block, &turned, &sum);
	gp_chain_free(ev, &chain);
	return out;
}

/* Columns of S C S' over a chain C: in the field of the columns, summed from the right, then from
 * the left. */
static gp_matrix
columns_operator(gp_pass *pass, const gp_step *s)
{
	gp_eval    *ev = pass->ev;
	gp_device  *dev = ev->dev;
	gp_env	   *env = ev->env;
	const gp_csr *op = gp_operator_csr(ev, s->op);
	int64_t		nfield;
	int32_t    *field = gp_graph_field(env, op, pass->cols, pass->ncols, &nfield);
	int32_t    *place = gp_alloc_zero(env, ev->n, sizeof(int32_t));

	for (int64_t j = 0; j < nfield; j++)
		place[field[j]] = (int32_t) j;
	gp_csr	   *rows = gp_csr_select(env, op, pass->cols, pass->ncols, place, nfield);
	gp_matrix	half = chain_times_rows(ev, s->arg0, field, nfield, rows);
	gp_csr_free(env, rows);
	gp_free_all(env, place, field);
	/* In place: a second matrix of this size would be the largest of a fit. */
	int64_t		width = gp_min64(pass->ncols, GP_COLUMN_BLOCK);
	gp_matrix	room = dev->create(dev, ev->n, width, ev->type);
	for (gp_band band = gp_band_first(pass->ncols, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_cols(half, band.first, band.count);
		gp_matrix	sum = gp_matrix_cols(room, 0, band.count);

		dev->spmm(dev, 1.0, op, part, 0.0, sum);
		dev->copy(dev, part, sum);
	}
	dev->destroy(dev, &room);
	return half;
}

/* Columns have not enough of it. */
static gp_matrix
columns_diagonal(gp_pass *pass, int arg, gp_matrix columns)
{
	return gp_eval_diagonal(pass->ev, arg);
}

gp_matrix
gp_eval_columns(gp_eval *ev, int step, const int32_t *cols, int64_t ncols)
{
	gp_pass		pass = {.ev = ev, .chain = columns_chain, .gather = columns_operator,
	.diagonal = columns_diagonal, .add_chain = add_chain, .shifts = true, .cols = cols,
	.ncols = ncols};

	return gp_pass_run(&pass, step);
}

/* ---- the whole ---- */

static gp_matrix
full_chain(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;
	gp_matrix	k = ev->dev->create(ev->dev, ev->n, ev->n, ev->type);

	visit_chain(pass, step, false, k);
	return k;
}

/* S K S' in place of K. */
static gp_matrix
full_operator(gp_pass *pass, const gp_step *s)
{
	gp_device  *dev = pass->ev->dev;
	gp_matrix	k = gp_pass_value(pass, s->arg0);

	gp_operator_apply(pass->ev, s->op, k);
	dev->transpose_square(dev, k);
	gp_operator_apply(pass->ev, s->op, k);
	return k;
}

static gp_matrix
full_diagonal(gp_pass *pass, int arg, gp_matrix k)
{
	return gp_copy(pass->ev->dev, gp_matrix_diagonal(k), GP_DOUBLE);
}

gp_matrix
gp_eval_full(gp_eval *ev, int step)
{
	gp_pass		pass = {.ev = ev, .chain = full_chain, .gather = full_operator,
	.diagonal = full_diagonal, .add_chain = add_chain, .shifts = true};

	return gp_pass_run(&pass, step);
}
