/*
 * columns.c - exact columns of a kernel, without an n x n matrix.
 *
 * For the labelled nodes t only the columns K(:, t) matter.  S C S' over a chain C
 * needs the columns of C in the field of t under S, one hop more; the
 * variances that an activation needs come from the diagonal, which costs the
 * pairs of neighbours of each node.
 */
#include "prepared.h"

#include <string.h>

/* The diagonal of S C S' over a chain C. */
static gp_matrix
diagonal_operator(gp_pass *pass, const gp_step *s)
{
	gp_eval    *ev = pass->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	out = dev->create(dev, ev->n, 1, GP_DOUBLE);
	gp_chain	chain = gp_chain_build(ev, s->arg0);
	const gp_csr *op = gp_operator_csr(ev, s->op);

	dev->pair_diag(dev, op, chain.z->csr, chain.z->csr ? NULL : &chain.z->dense, chain.stage,
				   chain.nstages, out);
	gp_chain_free(ev, &chain);
	return out;
}

/* The diagonal of a chain. */
static gp_matrix
diagonal_chain(gp_pass *pass, int step)
{
	gp_chain	chain = gp_chain_build(pass->ev, step);
	gp_matrix	diag = chain.diag;

	chain.diag.data = NULL;
	gp_chain_free(pass->ev, &chain);
	return diag;
}

/* The diagonal after an activation. */
static void
diagonal_relu(gp_pass *pass, int arg, gp_matrix diag)
{
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, {0}};

	pass->ev->dev->map_diag(pass->ev->dev, &relu, diag);
}

/* The diagonal of a step's covariance. */
gp_matrix
gp_eval_diagonal(gp_eval *ev, int step)
{
	gp_pass		pass = {.ev = ev, .chain = diagonal_chain, .gather = diagonal_operator,
	.relu = diagonal_relu};

	return gp_pass_run(&pass, step);
}

/* All rows of some columns of a chain. */
static gp_matrix
columns_chain(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	gp_matrix	right = dev->create(dev, chain.z->width, pass->ncols, ev->type);
	gp_matrix	out = dev->create(dev, ev->n, pass->ncols, ev->type);

	gp_linear_rows(ev, chain.z, pass->cols, pass->ncols, right);
	for (gp_band band = gp_band_first(ev->n, GP_ROW_BLOCK); band.count > 0; gp_band_next(&band))
		gp_chain_block(ev, &chain, band.first, band.count, pass->cols, right,
					   gp_matrix_rows(out, band.first, band.count));
	dev->destroy(dev, &right);
	gp_chain_free(ev, &chain);
	return out;
}

/* C(:, field) S(cols, field)' over a chain C, a block of rows at a time. */
static gp_matrix
chain_times_rows(gp_eval *ev, int step, const int32_t *field, int64_t nfield, const gp_csr *s)
{
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	gp_matrix	right = dev->create(dev, chain.z->width, nfield, ev->type);
	gp_matrix	block = dev->create(dev, GP_ROW_BLOCK, nfield, ev->type);
	gp_matrix	out = dev->create(dev, ev->n, s->rows, ev->type);

	gp_linear_rows(ev, chain.z, field, nfield, right);
	for (gp_band band = gp_band_first(ev->n, GP_ROW_BLOCK); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(block, 0, band.count);

		gp_chain_block(ev, &chain, band.first, band.count, field, right, part);
		dev->spmm_right(dev, 1.0, part, s, 0.0, gp_matrix_rows(out, band.first, band.count));
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ev->n);
	}
	dev->destroy(dev, &right);
	dev->destroy(dev, &block);
	gp_chain_free(ev, &chain);
	return out;
}

/* Columns of S C S' over a chain C: in the field of the columns, summed from the right, then from the left. */
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
	gp_csr	   *rows;
	gp_matrix	half;
	gp_matrix	out;

	for (int64_t j = 0; j < nfield; j++)
		place[field[j]] = (int32_t) j;
	rows = gp_csr_select(env, op, pass->cols, pass->ncols, place, nfield);
	half = chain_times_rows(ev, s->arg0, field, nfield, rows);
	gp_csr_free(env, rows);
	gp_free(env, place);
	gp_free(env, field);
	out = dev->create(dev, ev->n, pass->ncols, ev->type);
	dev->spmm(dev, 1.0, op, half, 0.0, out);
	dev->destroy(dev, &half);
	return out;
}

/* Columns <- g(columns): that needs the whole diagonal. */
static void
columns_relu(gp_pass *pass, int arg, gp_matrix columns)
{
	gp_eval    *ev = pass->ev;
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, gp_eval_diagonal(ev, arg)};

	ev->dev->map(ev->dev, &relu, columns, 0, pass->cols);
	ev->dev->destroy(ev->dev, &relu.diag);
}

/* Columns of the exact kernel of a step. */
gp_matrix
gp_eval_columns(gp_eval *ev, int step, const int32_t *cols, int64_t ncols)
{
	gp_pass		pass = {.ev = ev, .chain = columns_chain, .gather = columns_operator,
	.relu = columns_relu, .shifts = true, .cols = cols, .ncols = ncols};

	return gp_pass_run(&pass, step);
}
