/*
 * readout.c - from rows of nodes to pairs of them, and the likelihood of links.
 *
 *		r_ij = c + e^gain / sqrt(D) sum_d w_d^2 x_id x_jd,  p(link) = sigmoid(r_ij)
 *
 * This is the pair kernel of a deep Gaussian process in its finite form (Opolka and Lio 2022,
 * equation 6): it needs no inducing pairs, and the search for the best pairs is one of inner products.
 */
#include "engine.h"

#include <math.h>
#include <string.h>

static const gp_matrix none = {0};

/* ---- ends ---- */

/* Makes room for the pairs of a step, whose values are one for each. */
void
gp_ends_open(gp_trainer *t, gp_block *b, int64_t rows, int64_t cols)
{
	gp_ends    *p = &b->ends;
	gp_csr	   *s = &p->scatter;

	b->rows = p->most;
	b->cols = 1;
	p->row = t->dev->create(t->dev, 2 * p->most, cols, t->type);
	*s = (gp_csr) {.rows = rows,.cols = 2 * p->most,.type = t->type};
	s->start = gp_alloc_array(t->env, rows + 1, sizeof(int64_t));
	s->col = gp_alloc_array(t->env, 2 * p->most, sizeof(int32_t));
	s->value = gp_alloc_array(t->env, 2 * p->most, gp_type_size(t->type));
	memset(s->start, 0, (rows + 1) * sizeof(int64_t));
	t->env->check_interrupts(t->env);
}

/* Frees it. */
void
gp_ends_close(gp_trainer *t, gp_block *b)
{
	t->dev->destroy(t->dev, &b->ends.row);
	gp_free(t->env, b->ends.scatter.start);
	gp_free(t->env, b->ends.scatter.col);
	gp_free(t->env, b->ends.scatter.value);
}

/* Where each pair's rows go back to: for each node its pairs as the second end, then as the first. */
static void
make_scatter(gp_trainer *t, gp_ends *p)
{
	gp_csr	   *s = &p->scatter;
	int64_t		next = 0;

	s->cols = 2 * p->n;
	memset(s->start, 0, (s->rows + 1) * sizeof(int64_t));
	if (t->env->dry)
	{
		for (int64_t i = 0; i < s->rows; i++)
			s->start[i + 1] = gp_min64(2 * (i + 1), 2 * p->n);
		s->start[s->rows] = 2 * p->n;
		return;
	}
	for (int64_t e = 0; e < 2 * p->n; e++)
		s->start[p->end[e] + 1]++;
	for (int64_t i = 0; i < s->rows; i++)
	{
		gp_poll(t->env, i, &next);
		s->start[i + 1] += s->start[i];
	}
	/* Each start is moved on by its entries, and the starts are those of the next row then. */
	for (int64_t k = 0; k < 2 * p->n; k++)
	{
		int64_t		e = k < p->n ? p->n + k : k - p->n;

		s->col[s->start[p->end[e]]++] = (int32_t) k;
	}
	memmove(s->start + 1, s->start, s->rows * sizeof(int64_t));
	s->start[0] = 0;
}

/* The pairs of this step, whose ends stand in end: first ones, then second ones. */
void
gp_pairs_set(gp_trainer *t, gp_block *b, int64_t n)
{
	b->ends.n = b->now = n;
	make_scatter(t, &b->ends);
}

/* ---- inner products ---- */

/* Makes the parameters, and room for the pairs of a step. */
static void
pairs_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t cols)
{
	gp_pairs   *p = &b->pairs;
	gp_device  *dev = t->dev;
	int64_t		most = b->ends.most;

	gp_parameter_make(t, &p->log_w, 1, cols, b->groups, 0.0);
	gp_parameter_make(t, &p->offset, 1, 1, b->groups, 0.0);
	gp_parameter_make(t, &p->gain, 1, 1, b->groups, 0.0);
	p->w = dev->create(dev, 1, cols, t->type);
	p->product = dev->create(dev, most, cols, t->type);
	p->slope = dev->create(dev, most, 1, t->type);
	p->dots = dev->create(dev, most, 1, GP_DOUBLE);
	p->dot = gp_alloc_figures(t->env, most, sizeof(double));
	p->by_pair = gp_alloc_figures(t->env, most, sizeof(double));
	gp_ends_open(t, b, rows, cols);
}

/* A number that is learnt. */
static double
read_number(gp_trainer *t, const gp_parameter *p)
{
	double		number = 0.0;

	t->dev->download(t->dev, gp_matrix_wrap(&number, 1, 1, GP_DOUBLE), p->value);
	return number;
}

/* What an inner product is multiplied by: e^gain / sqrt(D). */
double
gp_pairs_scale(gp_trainer *t, const gp_pairs *p)
{
	return exp(read_number(t, &p->gain)) / sqrt((double) p->w.cols);
}

/* What is added. */
double
gp_pairs_offset(gp_trainer *t, const gp_pairs *p)
{
	return read_number(t, &p->offset);
}

/* w_d = e^(omega_d). */
gp_matrix
gp_pairs_weights(gp_trainer *t, const gp_pairs *p)
{
	t->dev->each(t->dev, &(gp_each) {.op = GP_EACH_EXP,.factor = 1.0}, p->w, p->log_w.value, none, none);
	return p->w;
}

/* r of each pair. */
static void
pairs_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_pairs   *p = &b->pairs;
	gp_device  *dev = t->dev;
	int64_t		n = b->ends.n;
	gp_matrix	ends = gp_matrix_rows(b->ends.row, 0, 2 * n);
	gp_matrix	dots = gp_matrix_rows(p->dots, 0, n);
	double		scale = gp_pairs_scale(t, p);
	double		offset = gp_pairs_offset(t, p);

	dev->gather_rows(dev, ends, x, b->ends.end);
	dev->each(dev, &(gp_each) {.op = GP_EACH_TIMES}, ends, gp_pairs_weights(t, p), none, none);
	dev->row_dots(dev, dots, gp_matrix_rows(ends, 0, n), gp_matrix_rows(ends, n, n));
	dev->download(dev, gp_matrix_wrap(p->dot, n, 1, GP_DOUBLE), dots);
	for (int64_t e = 0; e < n && !t->env->dry; e++)
	{
		p->dot[e] *= scale;
		p->by_pair[e] = offset + p->dot[e];
	}
	dev->upload(dev, y, gp_matrix_wrap(p->by_pair, n, 1, GP_DOUBLE));
}

/* dc, dgain; domega = 2 s' (w x_i o w x_j) and dx_i = w sum s w x_j with s = e^gain / sqrt(D) dr. */
static void
pairs_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_pairs   *p = &b->pairs;
	gp_device  *dev = t->dev;
	int64_t		n = b->ends.n;
	gp_matrix	ends = gp_matrix_rows(b->ends.row, 0, 2 * n);
	gp_matrix	product = gp_matrix_rows(p->product, 0, n);
	gp_matrix	slope = gp_matrix_rows(p->slope, 0, n);
	double		scale = gp_pairs_scale(t, p);
	double		offset = 0.0;
	double		gain = 0.0;

	dev->download(dev, gp_matrix_wrap(p->by_pair, n, 1, GP_DOUBLE), dy);
	for (int64_t e = 0; e < n && !t->env->dry; e++)
	{
		offset += p->by_pair[e];
		gain += p->by_pair[e] * p->dot[e];
		p->by_pair[e] *= scale;
	}
	dev->shift(dev, p->offset.gradient, offset);
	dev->shift(dev, p->gain.gradient, gain);
	dev->upload(dev, slope, gp_matrix_wrap(p->by_pair, n, 1, GP_DOUBLE));
	dev->copy(dev, product, gp_matrix_rows(ends, 0, n));
	dev->each(dev, &(gp_each) {.op = GP_EACH_TIMES}, product, gp_matrix_rows(ends, n, n), none, none);
	dev->gemm(dev, true, false, 2.0, slope, product, 1.0, p->log_w.gradient);
	for (int64_t k = 0; k < 2 * n && !t->env->dry; k++)
	{
		int64_t		e = b->ends.scatter.col[k];

		gp_number_put(b->ends.scatter.value, t->type, k, p->by_pair[e < n ? e : e - n]);
	}
	dev->spmm(dev, 1.0, &b->ends.scatter, ends, 0.0, dx);
	dev->each(dev, &(gp_each) {.op = GP_EACH_TIMES}, dx, p->w, none, none);
}

/* Frees it. */
static void
pairs_close(gp_trainer *t, gp_block *b)
{
	gp_pairs   *p = &b->pairs;
	gp_matrix  *own[] = {&p->w, &p->product, &p->slope, &p->dots};

	gp_parameter_free(t, &p->log_w);
	gp_parameter_free(t, &p->offset);
	gp_parameter_free(t, &p->gain);
	for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
		t->dev->destroy(t->dev, own[k]);
	gp_free(t->env, p->dot);
	gp_free(t->env, p->by_pair);
	gp_ends_close(t, b);
}

const gp_block_class gp_block_pairs = {
	.name = "pairs",.shape = pairs_shape,.forward = pairs_forward,.backward = pairs_backward,.close = pairs_close
};
