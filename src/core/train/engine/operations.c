/*
 * operations.c - operations of a network: linear maps, sparse products, rectified units, what is
 * dropped.
 */
#include "engine.h"

static bool
drops(const gp_trainer *t, double rate)
{
	return t->training && rate > 0.0;
}

/* ---- linear ---- */

/* Arrays for the values of a sparse matrix of which elements are dropped; the pattern is shared. */
static gp_csr
without_values(gp_trainer *t, const gp_csr *s)
{
	gp_csr		out = *s;

	out.stamp = 0;
	out.value = gp_trainer_own(t, gp_alloc_values(t->env, gp_csr_entries(s),
												   gp_type_size(s->type)));
	return out;
}

/* Makes the weights, started uniformly (Glorot and Bengio 2010), and what stands for the
 * features. */
static void
linear_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols)
{
	gp_linear_map *l = &op->linear;

	gp_parameter_make(t, &l->weight, cols, op->cols, op->groups, op->decay);
	gp_fill_uniform(t, l->weight.value,
					gp_trainer_seed(t, GP_DRAW_LINEAR_WEIGHT + t->nparameters, false),
					sqrt(6.0 / (double) (cols + op->cols)));
	if (l->biased)
	{
		gp_parameter_make(t, &l->bias, 1, op->cols, op->groups, op->decay);
		l->ones = gp_trainer_matrix(t, rows, 1, t->type);
		t->dev->fill(t->dev, l->ones, 1.0);
	}
	if (l->x && l->x->csr && l->dropout > 0.0)
	{
		l->kept = without_values(t, l->x->csr);
		l->kept_transposed = without_values(t, l->transposed);
	}
	if (l->x == NULL || l->x->csr)
		return;
	l->dense = gp_trainer_matrix(t, rows, cols, t->type);
	t->dev->upload(t->dev, l->dense, gp_matrix_wrap(l->x->dense, rows, cols, l->x->type));
	if (l->dropout > 0.0)
		l->kept_dense = gp_trainer_matrix(t, rows, cols, t->type);
}

/* Copies the values of x, or of x', less what is dropped: by the place of an element in x. */
static void
drop_entries(gp_trainer *t, const gp_csr *s, bool transposed, double rate, uint64_t seed,
			 gp_csr *out)
{
	uint64_t	bound = gp_element_bound(rate);
	uint64_t	cols = (uint64_t) (transposed ? s->rows : s->cols);
	double		keep = 1.0 / (1.0 - rate);

	out->rows = s->rows;
	out->cols = s->cols;
	out->start = s->start;
	out->col = s->col;
	GP_EACH(t->env, i, gp_items(t->env, s->rows), s->start[i])
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
		{
			uint64_t	element = transposed ? (uint64_t) s->col[k] * cols + (uint64_t) i
				: (uint64_t) i * cols + (uint64_t) s->col[k];

			gp_number_put(out->value, s->type, k, gp_element_draw(seed, element) < bound ? 0.0
						  : keep * gp_number_at(s->value, s->type, k));
		}
}

static uint64_t
drop_seed(const gp_trainer *t, const gp_operation *op)
{
	return gp_trainer_seed(t, GP_DRAW_DROPOUT + op->number, true);
}

/* Drops elements of a matrix: the same ones whenever it is called in a step. */
static void
drop_matrix(gp_trainer *t, const gp_operation *op, double rate, gp_matrix m)
{
	gp_elementwise e = {.op = GP_ELEMENT_DROP,.rate = rate,.seed = drop_seed(t, op)};

	if (drops(t, rate))
		t->dev->elementwise(t->dev, &e, m, GP_NONE, GP_NONE, GP_NONE);
}

/* y = x W + 1 b'. */
static void
linear_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_linear_map *l = &op->linear;
	gp_device  *dev = t->dev;
	bool		dropping = drops(t, l->dropout);

	if (l->x && l->x->csr)
	{
		if (dropping)
			drop_entries(t, l->x->csr, false, l->dropout, drop_seed(t, op), &l->kept);
		dev->spmm(dev, 1.0, dropping ? &l->kept : l->x->csr, l->weight.value, 0.0, y);
	}
	else
	{
		if (l->x)
			x = l->dense;
		if (l->x && dropping)
		{
			dev->copy(dev, l->kept_dense, x);
			drop_matrix(t, op, l->dropout, l->kept_dense);
			x = l->kept_dense;
		}
		dev->gemm(dev, false, false, 1.0, x, l->weight.value, 0.0, y);
	}
	if (l->biased)
		dev->gemm(dev, false, false, 1.0, gp_matrix_rows(l->ones, 0, y.rows), l->bias.value, 1.0,
				  y);
}

/* dW += x' dy, db += 1' dy, dx = dy W'. */
static void
linear_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
				gp_matrix dx)
{
	gp_linear_map *l = &op->linear;
	gp_device  *dev = t->dev;
	bool		dropping = drops(t, l->dropout);

	if (l->x && l->x->csr)
	{
		if (dropping)
			drop_entries(t, l->transposed, true, l->dropout, drop_seed(t, op), &l->kept_transposed);
		dev->spmm(dev, 1.0, dropping ? &l->kept_transposed : l->transposed, dy, 1.0,
				  l->weight.gradient);
	}
	else
		dev->gemm(dev, true, false, 1.0, !l->x ? x : dropping ? l->kept_dense : l->dense, dy, 1.0,
				  l->weight.gradient);
	if (l->biased)
		dev->gemm(dev, true, false, 1.0, gp_matrix_rows(l->ones, 0, dy.rows), dy, 1.0,
				  l->bias.gradient);
	if (gp_is_wanted(dx))
		dev->gemm(dev, false, true, 1.0, dy, l->weight.value, 0.0, dx);
}

const gp_operation_class gp_operation_linear = {
	.shape = linear_shape,.forward = linear_forward,.backward = linear_backward
};

/* ---- sparse products ---- */

/* y = op x. */
static void
propagate_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	t->dev->spmm(t->dev, 1.0, op->propagate.matrix, x, 0.0, y);
}

/* dx = op' dy. */
static void
propagate_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
				   gp_matrix dx)
{
	t->dev->spmm(t->dev, 1.0, op->propagate.transposed, dy, 0.0, dx);
}

const gp_operation_class gp_operation_propagate = {
	.forward = propagate_forward,.backward = propagate_backward
};

/* ---- in place ---- */

/* y = max(y, 0). */
static void
relu_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_trainer_elementwise(t, GP_ELEMENT_RELU, 0.0, y, GP_NONE, GP_NONE);
}

/* dy stays where y > 0. */
static void
relu_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
			  gp_matrix dx)
{
	gp_trainer_elementwise(t, GP_ELEMENT_GATE, 0.0, dy, y, GP_NONE);
}

const gp_operation_class gp_operation_relu = {
	.in_place = true,.forward = relu_forward,.backward = relu_backward
};

/* y o keep / (1 - rate), and the same of the gradient. */
static void
dropout_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	drop_matrix(t, op, op->dropout, y);
}

static void
dropout_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
				 gp_matrix dx)
{
	drop_matrix(t, op, op->dropout, dy);
}

const gp_operation_class gp_operation_dropout = {
	.in_place = true,.forward = dropout_forward,.backward = dropout_backward
};
