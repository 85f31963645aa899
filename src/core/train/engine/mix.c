/*
 * mix.c - blocks of a deep kernel: shares of neighbours that are learnt, rows of one length.
 *
 *		f <- l_q S f + (1 - l_q) f,  l_q = sigmoid(lam_q),  q = 1 .. K
 *
 * The columns lie in groups; those of group g, from 0, take the first g of the K sums, so that a representation keeps
 * what a node is beside what its neighbourhood is (Opolka and Lio 2022).
 */
#include "engine.h"

#include <math.h>

#define LEAST_SQUARE 1e-6		/* added to a row's squared length */

/* ---- shares of neighbours ---- */

/* The first column that sum q of K, from 0, acts on. */
static int64_t
first_column(const gp_block *b, int q)
{
	return b->mix.groups > 1 ? (q + 1) * b->cols / b->mix.groups : 0;
}

/* The columns that sum q acts on. */
static gp_matrix
columns_of(const gp_block *b, gp_matrix m, int q)
{
	int64_t		first = first_column(b, q);

	return gp_matrix_cols(m, first, m.cols - first);
}

/* Makes what is kept of each sum. */
static void
mix_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t cols)
{
	gp_mix	   *m = &b->mix;

	gp_parameter_make(t, &m->logit, 1, m->sums, b->groups, 0.0);
	for (int q = 0; q < m->sums; q++)
		m->change[q] = t->dev->create(t->dev, rows, cols - first_column(b, q), t->type);
}

/* The learnt shares. */
static void
read_shares(gp_trainer *t, const gp_mix *m, double *share)
{
	double		logit[GP_MOST_SUMS] = {0};

	t->dev->download(t->dev, gp_matrix_wrap(logit, 1, m->sums, GP_DOUBLE), m->logit.value);
	for (int q = 0; q < m->sums; q++)
		share[q] = 1.0 / (1.0 + exp(-logit[q]));
}

/* y <- y + l (S y - y), sum after sum. */
static void
mix_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_mix	   *m = &b->mix;
	gp_device  *dev = t->dev;
	double		share[GP_MOST_SUMS];

	read_shares(t, m, share);
	for (int q = 0; q < m->sums; q++)
	{
		gp_matrix	part = columns_of(b, y, q);

		dev->copy(dev, m->change[q], part);
		dev->spmm(dev, 1.0, m->op, part, -1.0, m->change[q]);
		dev->axpby(dev, share[q], m->change[q], 1.0, part);
	}
}

/* dlam_q = l (1 - l) sum dy o (S f - f), and dy <- dy + l (S' dy - dy). */
static void
mix_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_mix	   *m = &b->mix;
	gp_device  *dev = t->dev;
	double		share[GP_MOST_SUMS];

	read_shares(t, m, share);
	for (int q = m->sums - 1; q >= 0; q--)
	{
		gp_matrix	part = columns_of(b, dy, q);
		double		slope = share[q] * (1.0 - share[q]) * gp_product_sum(t, part, m->change[q]);

		if (m->logit.groups)
			dev->shift(dev, gp_matrix_cols(m->logit.gradient, q, 1), slope);
		dev->copy(dev, m->change[q], part);
		dev->spmm(dev, 1.0, m->turned, part, -1.0, m->change[q]);
		dev->axpby(dev, share[q], m->change[q], 1.0, part);
	}
}

/* Frees it. */
static void
mix_close(gp_trainer *t, gp_block *b)
{
	gp_parameter_free(t, &b->mix.logit);
	for (int q = 0; q < b->mix.sums; q++)
		t->dev->destroy(t->dev, &b->mix.change[q]);
}

const gp_block_class gp_block_mix = {
	.name = "mix",.in_place = true,.shape = mix_shape,.forward = mix_forward,.backward = mix_backward,
	.close = mix_close
};

/* ---- rows of one length ---- */

/* A diagonal matrix without values. */
static void
unit_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t cols)
{
	gp_csr	   *d = &b->unit.diagonal;
	int64_t		next = 0;

	*d = (gp_csr) {.rows = rows,.cols = rows,.type = t->type};
	d->start = gp_alloc_array(t->env, rows + 1, sizeof(int64_t));
	d->col = gp_alloc_array(t->env, rows, sizeof(int32_t));
	d->value = gp_alloc_array(t->env, rows, gp_type_size(t->type));
	b->unit.inverse = gp_alloc_figures(t->env, rows, sizeof(double));
	b->unit.dot = gp_alloc_figures(t->env, rows, sizeof(double));
	b->unit.dots = t->dev->create(t->dev, rows, 1, GP_DOUBLE);
	for (int64_t i = 0; i < rows; i++)
	{
		gp_poll(t->env, i, &next);
		d->start[i] = i;
		d->col[i] = (int32_t) i;
	}
	d->start[rows] = rows;
}

/* y = diag(v) x + beta y; with w, diag(-v w) takes the place of diag(v). */
static void
scale_rows(gp_trainer *t, gp_unit *u, const double *v, const double *w, gp_matrix x, double beta, gp_matrix y)
{
	int64_t		next = 0;

	for (int64_t i = 0; i < u->diagonal.rows && !t->env->dry; i++)
	{
		gp_poll(t->env, i, &next);
		gp_number_put(u->diagonal.value, t->type, i, w ? -v[i] * w[i] : v[i]);
	}
	t->dev->spmm(t->dev, 1.0, &u->diagonal, x, beta, y);
}

/* The inner products of rows, on the host. */
static void
read_dots(gp_trainer *t, gp_unit *u, gp_matrix a, gp_matrix b, double *out)
{
	t->dev->row_dots(t->dev, u->dots, a, b);
	t->dev->download(t->dev, gp_matrix_wrap(out, a.rows, 1, GP_DOUBLE), u->dots);
}

/* y = x / sqrt(x.x), but for a little. */
static void
unit_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_unit    *u = &b->unit;
	int64_t		next = 0;

	read_dots(t, u, x, x, u->inverse);
	for (int64_t i = 0; i < x.rows && !t->env->dry; i++)
	{
		gp_poll(t->env, i, &next);
		u->inverse[i] = u->length / sqrt(u->inverse[i] + LEAST_SQUARE);
	}
	scale_rows(t, u, u->inverse, NULL, x, 0.0, y);
}

/* dx = n (dy - y (dy . y)) for rows y of length 1. */
static void
unit_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_unit    *u = &b->unit;
	int64_t		next = 0;

	read_dots(t, u, dy, y, u->dot);
	for (int64_t i = 0; i < x.rows && !t->env->dry; i++)
	{
		gp_poll(t->env, i, &next);
		u->dot[i] /= u->length * u->length;
	}
	scale_rows(t, u, u->inverse, NULL, dy, 0.0, dx);
	scale_rows(t, u, u->inverse, u->dot, y, 1.0, dx);
}

/* Frees it. */
static void
unit_close(gp_trainer *t, gp_block *b)
{
	gp_unit    *u = &b->unit;

	gp_free(t->env, u->diagonal.start);
	gp_free(t->env, u->diagonal.col);
	gp_free(t->env, u->diagonal.value);
	gp_free(t->env, u->inverse);
	gp_free(t->env, u->dot);
	t->dev->destroy(t->dev, &u->dots);
}

const gp_block_class gp_block_unit = {
	.name = "unit",.shape = unit_shape,.forward = unit_forward,.backward = unit_backward,.close = unit_close
};
