/*
 * mix.c - operations of a deep kernel: weights of neighbours that are learnt, rows of one length.
 *
 *		f <- l_q S f + (1 - l_q) f,  l_q = sigmoid(lam_q),  q = 1 .. K
 *
 * The columns lie in groups; those of group g, from 0, get the first g of the K sums, so that a
 * representation keeps what a node is beside what its neighbourhood is (Opolka and Lio 2022).
 */
#include "engine.h"

#define LEAST_SQUARE 1e-6		/* added to a row's squared length */

/* ---- weights of neighbours ---- */

/* The columns that sum q of K, from 0, acts on. */
static gp_matrix
columns_of(const gp_operation *op, gp_matrix m, int q)
{
	int64_t		first = op->mix.groups > 1 ? (q + 1) * op->cols / op->mix.groups : 0;

	return gp_matrix_cols(m, first, op->cols - first);
}

static void
mix_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols)
{
	gp_mix	   *m = &op->mix;

	gp_parameter_make(t, &m->logit, 1, m->sums, op->groups, 0.0);
	for (int q = 0; q < m->sums; q++)
		m->change[q] = gp_trainer_matrix(t, rows, columns_of(op, op[-1].value, q).cols, t->type);
}

/* The weights l. */
static void
read_weights(gp_trainer *t, const gp_mix *m, double *weight)
{
	double		logit[GP_MOST_SUMS] = {0};

	t->dev->download(t->dev, gp_matrix_wrap(logit, 1, m->sums, GP_DOUBLE), m->logit.value);
	for (int q = 0; q < m->sums; q++)
		weight[q] = 1.0 / (1.0 + exp(-logit[q]));
}

/* y <- y + l (S y - y), sum after sum. */
static void
mix_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_mix	   *m = &op->mix;
	gp_device  *dev = t->dev;
	double		weight[GP_MOST_SUMS];

	read_weights(t, m, weight);
	for (int q = 0; q < m->sums; q++)
	{
		gp_matrix	part = columns_of(op, y, q);

		dev->copy(dev, m->change[q], part);
		dev->spmm(dev, 1.0, m->matrix, part, -1.0, m->change[q]);
		dev->axpby(dev, weight[q], m->change[q], 1.0, part);
	}
}

/* dlam_q = l (1 - l) sum dy o (S f - f), and dy <- dy + l (S' dy - dy). */
static void
mix_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_mix	   *m = &op->mix;
	gp_device  *dev = t->dev;
	double		weight[GP_MOST_SUMS];

	read_weights(t, m, weight);
	for (int q = m->sums - 1; q >= 0; q--)
	{
		gp_matrix	part = columns_of(op, dy, q);
		double		slope = weight[q] * (1.0 - weight[q]) * gp_product_sum(t, part, m->change[q]);

		if (m->logit.groups)
			dev->shift(dev, gp_matrix_cols(m->logit.gradient, q, 1), slope);
		dev->copy(dev, m->change[q], part);
		dev->spmm(dev, 1.0, m->transposed, part, -1.0, m->change[q]);
		dev->axpby(dev, weight[q], m->change[q], 1.0, part);
	}
}

const gp_operation_class gp_operation_mix = {
	.in_place = true,.shape = mix_shape,.forward = mix_forward,.backward = mix_backward
};

/* ---- rows of one length ---- */

static void
unit_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols)
{
	gp_unit    *u = &op->unit;

	u->diagonal = gp_trainer_csr(t, rows, rows, rows);
	for (int64_t i = 0; i < rows; i++)
		u->diagonal.start[i + 1] = i + 1;
	u->inverse = gp_trainer_own(t, gp_alloc_values(t->env, rows, sizeof(double)));
	u->dot = gp_trainer_own(t, gp_alloc_values(t->env, rows, sizeof(double)));
	u->dots = gp_trainer_matrix(t, rows, 1, GP_DOUBLE);
}

/* y = diag(v) x + beta y; with w, diag(-v w) stands in place of diag(v). */
static void
scale_rows(gp_trainer *t, gp_unit *u, const double *v, const double *w, gp_matrix x, double beta,
		   gp_matrix y)
{
	GP_EACH(t->env, i, gp_items(t->env, u->diagonal.rows), i)
		gp_number_put(u->diagonal.value, t->type, i, w ? -v[i] * w[i] : v[i]);
	t->dev->spmm(t->dev, 1.0, &u->diagonal, x, beta, y);
}

/* The inner products of rows, on the host. */
static void
read_dots(gp_trainer *t, gp_unit *u, gp_matrix a, gp_matrix b, double *out)
{
	t->dev->row_dots(t->dev, u->dots, a, b);
	t->dev->download(t->dev, gp_matrix_wrap(out, a.rows, 1, GP_DOUBLE), u->dots);
}

/* y = x / sqrt(x.x), up to a little. */
static void
unit_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_unit    *u = &op->unit;

	read_dots(t, u, x, x, u->inverse);
	GP_EACH(t->env, i, gp_items(t->env, x.rows), i)
		u->inverse[i] = u->length / sqrt(u->inverse[i] + LEAST_SQUARE);
	scale_rows(t, u, u->inverse, NULL, x, 0.0, y);
}

/* dx = n (dy - y (dy . y)) for rows y of length 1. */
static void
unit_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_unit    *u = &op->unit;

	read_dots(t, u, dy, y, u->dot);
	GP_EACH(t->env, i, gp_items(t->env, x.rows), i)
		u->dot[i] /= u->length * u->length;
	scale_rows(t, u, u->inverse, NULL, dy, 0.0, dx);
	scale_rows(t, u, u->inverse, u->dot, y, 1.0, dx);
}

const gp_operation_class gp_operation_unit = {
	.shape = unit_shape,.forward = unit_forward,.backward = unit_backward
};
