/*
 * readout.c - from rows of nodes to pairs of them, and the likelihood of links.
 *
 *		r_ij = c + e^gain / sqrt(D) sum_d w_d^2 x_id x_jd,  p(link) = sigmoid(r_ij)
 *
 * This is the pair kernel of a deep Gaussian process in its finite form (Opolka and Lio 2022,
 * equation 6): it needs no inducing pairs, and the search for the best pairs is one of inner
 * products.
 */
#include "engine.h"

/* ---- ends ---- */

void
gp_ends_open(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols)
{
	gp_ends    *p = &op->ends;

	op->rows = p->most;
	op->cols = 1;
	p->row = gp_trainer_matrix(t, 2 * p->most, cols, t->type);
	p->scatter = gp_trainer_csr(t, rows, 2 * p->most, 2 * p->most);
	t->env->check_interrupts(t->env);
}

void
gp_pairs_set(gp_trainer *t, gp_operation *op, int64_t n)
{
	gp_ends    *p = &op->ends;
	gp_csr	   *s = &p->scatter;

	p->n = op->now = n;
	s->cols = 2 * n;
	memset(s->start, 0, (s->rows + 1) * sizeof(int64_t));
	if (t->env->dry)
	{
		for (int64_t i = 0; i < s->rows; i++)
			s->start[i + 1] = gp_min64(2 * (i + 1), 2 * n);
		s->start[s->rows] = 2 * n;
		return;
	}
	for (int64_t e = 0; e < 2 * n; e++)
		s->start[p->end[e] + 1]++;
	gp_offsets_of_counts(s->start, s->rows);
	/* For each node its pairs as the second end, then as the first.  Each start is moved on by its
	 * entries, and the starts are those of the next row then. */
	for (int64_t k = 0; k < 2 * n; k++)
	{
		int64_t		e = k < n ? n + k : k - n;

		s->col[s->start[p->end[e]]++] = (int32_t) k;
	}
	memmove(s->start + 1, s->start, s->rows * sizeof(int64_t));
	s->start[0] = 0;
}

/* ---- inner products ---- */

static void
pairs_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols)
{
	gp_pairs   *p = &op->pairs;
	int64_t		most = op->ends.most;

	gp_parameter_make(t, &p->log_w, 1, cols, op->groups, 0.0);
	gp_parameter_make(t, &p->offset, 1, 1, op->groups, 0.0);
	gp_parameter_make(t, &p->gain, 1, 1, op->groups, 0.0);
	p->w = gp_trainer_matrix(t, 1, cols, t->type);
	p->product = gp_trainer_matrix(t, most, cols, t->type);
	p->slope = gp_trainer_matrix(t, most, 1, t->type);
	p->dots = gp_trainer_matrix(t, most, 1, GP_DOUBLE);
	p->dot = gp_trainer_own(t, gp_alloc_values(t->env, most, sizeof(double)));
	p->by_pair = gp_trainer_own(t, gp_alloc_values(t->env, most, sizeof(double)));
	gp_ends_open(t, op, rows, cols);
}

double
gp_pairs_scale(gp_trainer *t, const gp_pairs *p)
{
	return exp(gp_parameter_number(t, &p->gain)) / sqrt((double) p->w.cols);
}

gp_matrix
gp_pairs_weights(gp_trainer *t, const gp_pairs *p)
{
	gp_exp(t, 1.0, p->w, p->log_w.value);
	return p->w;
}

/* r of each pair. */
static void
pairs_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_pairs   *p = &op->pairs;
	gp_device  *dev = t->dev;
	int64_t		n = op->ends.n;
	gp_matrix	ends = gp_matrix_rows(op->ends.row, 0, 2 * n);
	gp_matrix	dots = gp_matrix_rows(p->dots, 0, n);
	double		scale = gp_pairs_scale(t, p);
	double		offset = gp_parameter_number(t, &p->offset);

	dev->gather_rows(dev, ends, x, op->ends.end);
	gp_times(t, ends, gp_pairs_weights(t, p));
	dev->row_dots(dev, dots, gp_matrix_rows(ends, 0, n), gp_matrix_rows(ends, n, n));
	dev->download(dev, gp_matrix_wrap(p->dot, n, 1, GP_DOUBLE), dots);
	for (int64_t e = 0; e < gp_items(t->env, n); e++)
	{
		p->dot[e] *= scale;
		p->by_pair[e] = offset + p->dot[e];
	}
	dev->upload(dev, y, gp_matrix_wrap(p->by_pair, n, 1, GP_DOUBLE));
}

/* dc, dgain; domega = 2 s' (w x_i o w x_j) and dx_i = w sum s w x_j with s = e^gain / sqrt(D)
 * dr. */
static void
pairs_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
			   gp_matrix dx)
{
	gp_pairs   *p = &op->pairs;
	gp_device  *dev = t->dev;
	int64_t		n = op->ends.n;
	gp_matrix	ends = gp_matrix_rows(op->ends.row, 0, 2 * n);
	gp_matrix	product = gp_matrix_rows(p->product, 0, n);
	gp_matrix	slope = gp_matrix_rows(p->slope, 0, n);
	double		scale = gp_pairs_scale(t, p);
	double		offset = 0.0;
	double		gain = 0.0;

	dev->download(dev, gp_matrix_wrap(p->by_pair, n, 1, GP_DOUBLE), dy);
	for (int64_t e = 0; e < gp_items(t->env, n); e++)
	{
		offset += p->by_pair[e];
		gain += p->by_pair[e] * p->dot[e];
		p->by_pair[e] *= scale;
	}
	dev->shift(dev, p->offset.gradient, offset);
	dev->shift(dev, p->gain.gradient, gain);
	dev->upload(dev, slope, gp_matrix_wrap(p->by_pair, n, 1, GP_DOUBLE));
	dev->copy(dev, product, gp_matrix_rows(ends, 0, n));
	gp_times(t, product, gp_matrix_rows(ends, n, n));
	dev->gemm(dev, true, false, 2.0, slope, product, 1.0, p->log_w.gradient);
	for (int64_t k = 0; k < gp_items(t->env, 2 * n); k++)
	{
		int64_t		e = op->ends.scatter.col[k];

		gp_number_put(op->ends.scatter.value, t->type, k, p->by_pair[e < n ? e : e - n]);
	}
	dev->spmm(dev, 1.0, &op->ends.scatter, ends, 0.0, dx);
	gp_times(t, dx, p->w);
}

const gp_operation_class gp_operation_pairs = {
	.shape = pairs_shape,.forward = pairs_forward,.backward = pairs_backward
};
