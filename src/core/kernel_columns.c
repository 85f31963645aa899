/*
 * kernel_columns.c - exact columns of a kernel, without an n x n matrix.
 *
 * For the labelled nodes t only the columns K(:, t) matter.  S C S' needs the
 * columns of C in the field of t under S, one hop more for each layer; the
 * variances that an activation needs come from the diagonal, which costs the
 * pairs of neighbours of each node.
 */
#include "kernel_eval.h"

#include <string.h>

/* The diagonal of S C S' over a chain C. */
static gp_matrix
operator_diagonal(gp_eval *ev, const gp_step *s)
{
	gp_device  *dev = ev->dev;
	gp_matrix	out = dev->create(dev, ev->n, 1, GP_DOUBLE);
	gp_chain	chain = gp_chain_build(ev, s->arg0);
	bool		owned;
	gp_csr	   *op = gp_operator_csr(ev, s->op, &owned);

	dev->pair_diag(dev, op, chain.z->csr, chain.z->csr ? NULL : &chain.z->dense, chain.stage,
				   chain.nstages, out);
	if (owned)
		gp_csr_free(ev->env, op);
	gp_chain_free(ev, &chain);
	return out;
}

/* The diagonal of a chain. */
static gp_matrix
chain_diagonal(gp_eval *ev, int step)
{
	gp_chain	chain = gp_chain_build(ev, step);
	gp_matrix	diag = chain.diag;

	chain.diag.data = NULL;
	gp_chain_free(ev, &chain);
	return diag;
}

/* The diagonal of a step's covariance. */
gp_matrix
gp_eval_diagonal(gp_eval *ev, int step)
{
	const gp_step *s = &ev->program->steps[step];
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, {0}};
	gp_device  *dev = ev->dev;
	gp_matrix	diag;
	gp_matrix	other;

	if (gp_step_is_chain(ev, step))
		return chain_diagonal(ev, step);
	switch (s->kind)
	{
		case GP_STEP_OP:
			return operator_diagonal(ev, s);
		case GP_STEP_SCALE:
			diag = gp_eval_diagonal(ev, s->arg0);
			dev->axpby(dev, s->value, diag, 0.0, diag);
			return diag;
		case GP_STEP_RELU:
			diag = gp_eval_diagonal(ev, s->arg0);
			dev->map_diag(dev, &relu, diag);
			return diag;
		case GP_STEP_SUM:
			diag = gp_eval_diagonal(ev, s->arg0);
			other = gp_eval_diagonal(ev, s->arg1);
			dev->axpby(dev, 1.0, other, 1.0, diag);
			dev->destroy(dev, &other);
			return diag;
		default:
			gp_raise(ev->env, GP_ERR_INTERNAL, NULL, "step %d has no diagonal", step);
	}
}

/* All rows of some columns of a chain. */
static gp_matrix
chain_columns(gp_eval *ev, int step, const int32_t *cols, int64_t ncols)
{
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	gp_matrix	right = dev->create(dev, chain.z->width, ncols, ev->type);
	gp_matrix	out = dev->create(dev, ev->n, ncols, ev->type);

	gp_linear_rows(ev, chain.z, cols, ncols, right);
	for (int64_t row = 0; row < ev->n; row += GP_ROW_BLOCK)
	{
		int64_t		rows = ev->n - row < GP_ROW_BLOCK ? ev->n - row : GP_ROW_BLOCK;

		gp_chain_block(ev, &chain, row, rows, cols, right, gp_matrix_rows(out, row, rows));
	}
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
	for (int64_t row = 0; row < ev->n; row += GP_ROW_BLOCK)
	{
		int64_t		rows = ev->n - row < GP_ROW_BLOCK ? ev->n - row : GP_ROW_BLOCK;
		gp_matrix	part = gp_matrix_rows(block, 0, rows);

		gp_chain_block(ev, &chain, row, rows, field, right, part);
		dev->spmm_right(dev, 1.0, part, s, 0.0, gp_matrix_rows(out, row, rows));
		ev->env->progress(ev->env, GP_PHASE_KERNEL, row + rows, ev->n);
	}
	dev->destroy(dev, &right);
	dev->destroy(dev, &block);
	gp_chain_free(ev, &chain);
	return out;
}

/* Columns of S C S': C in the field of the columns, summed from the right, then from the left. */
static gp_matrix
operator_columns(gp_eval *ev, const gp_step *step, const int32_t *cols, int64_t ncols)
{
	gp_device  *dev = ev->dev;
	gp_env	   *env = ev->env;
	bool		owned;
	gp_csr	   *op = gp_operator_csr(ev, step->op, &owned);
	int64_t		nfield;
	int32_t    *field = gp_graph_field(env, op, cols, ncols, &nfield);
	int32_t    *place = gp_alloc_zero(env, ev->n, sizeof(int32_t));
	gp_csr	   *rows;
	gp_matrix	half;
	gp_matrix	out;

	for (int64_t j = 0; j < nfield; j++)
		place[field[j]] = (int32_t) j;
	rows = gp_csr_select(env, op, cols, ncols, place, nfield);
	if (gp_step_is_chain(ev, step->arg0))
		half = chain_times_rows(ev, step->arg0, field, nfield, rows);
	else
	{
		gp_matrix	inner = gp_eval_columns(ev, step->arg0, field, nfield);

		half = dev->create(dev, ev->n, ncols, ev->type);
		dev->spmm_right(dev, 1.0, inner, rows, 0.0, half);
		dev->destroy(dev, &inner);
	}
	gp_csr_free(env, rows);
	gp_free(env, place);
	gp_free(env, field);
	out = dev->create(dev, ev->n, ncols, ev->type);
	dev->spmm(dev, 1.0, op, half, 0.0, out);
	dev->destroy(dev, &half);
	if (owned)
		gp_csr_free(env, op);
	return out;
}

/* Columns of g(K): the columns of K and its whole diagonal. */
static gp_matrix
relu_columns(gp_eval *ev, const gp_step *step, const int32_t *cols, int64_t ncols)
{
	gp_device  *dev = ev->dev;
	gp_matrix	out = gp_eval_columns(ev, step->arg0, cols, ncols);
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, gp_eval_diagonal(ev, step->arg0)};

	dev->map(dev, &relu, out, 0, cols);
	dev->destroy(dev, &relu.diag);
	return out;
}

/* Columns of the exact kernel of a step. */
gp_matrix
gp_eval_columns(gp_eval *ev, int step, const int32_t *cols, int64_t ncols)
{
	const gp_step *s = &ev->program->steps[step];
	gp_device  *dev = ev->dev;
	gp_matrix	out;
	gp_matrix	other;

	if (gp_step_is_chain(ev, step))
		return chain_columns(ev, step, cols, ncols);
	switch (s->kind)
	{
		case GP_STEP_OP:
			return operator_columns(ev, s, cols, ncols);
		case GP_STEP_RELU:
			return relu_columns(ev, s, cols, ncols);
		case GP_STEP_SCALE:
			out = gp_eval_columns(ev, s->arg0, cols, ncols);
			dev->axpby(dev, s->value, out, 0.0, out);
			return out;
		case GP_STEP_SUM:
			out = gp_eval_columns(ev, s->arg0, cols, ncols);
			if (ev->program->steps[s->arg1].kind == GP_STEP_BIAS)
			{
				dev->shift(dev, out, ev->program->steps[s->arg1].value);
				return out;
			}
			other = gp_eval_columns(ev, s->arg1, cols, ncols);
			dev->axpby(dev, 1.0, other, 1.0, out);
			dev->destroy(dev, &other);
			return out;
		default:
			gp_raise(ev->env, GP_ERR_INTERNAL, NULL, "step %d has no columns", step);
	}
}
