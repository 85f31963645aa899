/*
 * inducing_points.c - inducing points: their kernel and that of rows with them, the root that makes
 * weights white, features, and the derivatives of these.
 */
#include "inducing.h"

/* ---- buffers ---- */

static void
open_side(gp_trainer *t, gp_inducing_side *s, int64_t panel, int64_t width, int64_t count)
{
	s->augmented = gp_trainer_matrix(t, panel, width + 2, GP_DOUBLE);
	t->dev->fill(t->dev, s->augmented, 1.0);
	s->exponent = gp_trainer_matrix(t, panel, count, GP_DOUBLE);
	s->kernel = gp_trainer_matrix(t, panel, count, GP_DOUBLE);
	s->slope = gp_trainer_matrix(t, panel, count, GP_DOUBLE);
	s->change = gp_trainer_matrix(t, panel, width, GP_DOUBLE);
	s->spare = gp_trainer_matrix(t, panel, width, GP_DOUBLE);
}

void
gp_inducing_open(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width, int power)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers =
		gp_trainer_own(t, gp_alloc_zero(t->env, 1, sizeof(gp_inducing_buffers)));
	int64_t		panel = gp_min64(rows, GP_TRAIN_ROWS);
	int64_t		n = f->count;
	int64_t		m = f->span;
	double	   *host = gp_alloc_zero(t->env, m * m, sizeof(double));

	r->power = power;
	gp_parameter_make(t, &f->point, n, width, op->groups, 0.0);
	op->weights.sampled = true;
	op->weights.log_length.groups = op->weights.log_a.groups = op->groups;
	gp_weights_open(t, op, rows, width, m);
	f->root_inverse = gp_trainer_matrix(t, m, m, GP_DOUBLE);
	/* of the points and the directions */
	r->augmented = gp_trainer_matrix(t, n, width + 2, GP_DOUBLE);
	f->scaled = gp_matrix_cols(r->augmented, 0, width);
	r->kernel = gp_trainer_matrix(t, n, n, GP_DOUBLE);
	r->kernel_slope = gp_trainer_matrix(t, n, n, GP_DOUBLE);
	r->covariance = power > 1 ? gp_trainer_matrix(t, m, m, GP_DOUBLE) : r->kernel;
	r->covariance_slope = power > 1 ? gp_trainer_matrix(t, m, m, GP_DOUBLE) : r->kernel_slope;
	r->root = gp_trainer_matrix(t, m, m, GP_DOUBLE);
	r->white_slope = gp_trainer_matrix(t, m, m, GP_DOUBLE);
	r->lower = gp_trainer_matrix(t, m, m, GP_DOUBLE);
	for (int64_t k = 0; k < gp_items(t->env, m * m); k++)
		host[k] = k % m <= k / m ? 1.0 : 0.0;
	dev->upload(dev, r->lower, gp_matrix_wrap(host, m, m, GP_DOUBLE));
	gp_free(t->env, host);
	for (int k = 0; k < 2; k++)
	{
		r->square[k] = gp_trainer_matrix(t, m, m, GP_DOUBLE);
		r->point_slope[k] = gp_trainer_matrix(t, n, width, GP_DOUBLE);
	}
	/* of a panel of rows, or of the points as such */
	r->level = gp_trainer_matrix(t, panel, op->cols, GP_DOUBLE);
	panel = gp_max64(panel, n);
	r->ones = gp_trainer_matrix(t, panel, width, GP_DOUBLE);
	dev->fill(dev, r->ones, 1.0);
	for (int k = 0; k < power; k++)
		open_side(t, &r->side[k], panel, width, n);
}

/* ---- the kernel, and the root of the directions ---- */

/* A column behind x / len: -|x / len|^2 / 2 + add. */
static void
write_lengths(gp_trainer *t, gp_matrix x, gp_matrix column, double add)
{
	t->dev->row_dots(t->dev, column, x, x);
	t->dev->axpby(t->dev, -0.5, column, 0.0, column);
	t->dev->shift(t->dev, column, add);
}

void
gp_inducing_row_kernel(gp_trainer *t, gp_operation *op, gp_inducing_side *s, gp_matrix x)
{
	gp_device  *dev = t->dev;
	gp_matrix	augmented = gp_first_rows(s->augmented, x.rows);
	gp_matrix	u = gp_matrix_cols(augmented, 0, x.cols);
	gp_matrix	exponent = gp_first_rows(s->exponent, x.rows);

	dev->copy(dev, u, x);
	gp_times(t, u, op->weights.inverse);
	write_lengths(t, u, gp_matrix_cols(augmented, x.cols, 1), 0.0);
	dev->gemm(dev, false, true, 1.0, augmented, op->inducing.buffers->augmented, 0.0, exponent);
	gp_exp(t, 1.0, gp_first_rows(s->kernel, x.rows), exponent);
}

void
gp_inducing_points_kernel(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;

	f->amplitude = exp(2.0 * gp_parameter_number(t, &op->weights.log_a));
	gp_exp(t, -1.0, op->weights.inverse, op->weights.log_length.value);
	dev->fill(dev, r->augmented, 1.0);
	dev->copy(dev, f->scaled, f->point.value);
	gp_times(t, f->scaled, op->weights.inverse);
	write_lengths(t, f->scaled, gp_matrix_cols(r->augmented, f->scaled.cols + 1, 1),
				  log(f->amplitude));
	gp_inducing_row_kernel(t, op, &r->side[0], f->point.value);
	dev->copy(dev, r->kernel, gp_first_rows(r->side[0].kernel, f->count));
	dev->shift(dev, gp_matrix_diagonal(r->kernel), GP_INDUCING_JITTER * f->amplitude);
	gp_exp(t, 2.0, op->weights.variance_factor, op->weights.log_s.value);
	dev->shift(dev, op->weights.variance_factor, -1.0);
}

void
gp_inducing_root(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;

	dev->copy(dev, r->root, r->covariance);
	if (dev->potrf(dev, r->root) >= 0)
		gp_raise(t->env, GP_ERR_RANGE,
				 "Use a lower rate, or scale the features to ordinary sizes.",
				 "the inducing points of method dgp are out of range at step %lld",
				 (long long) t->step + 1);
	dev->copy(dev, f->root_inverse, r->root);
	dev->trtri(dev, f->root_inverse);
}

/* ---- features of rows ---- */

void
gp_inducing_features(gp_trainer *t, gp_operation *op, gp_matrix cross)
{
	t->dev->gemm(t->dev, false, true, 1.0, cross, op->inducing.root_inverse, 0.0,
				 gp_first_rows(op->weights.phi, cross.rows));
}

void
gp_inducing_begin_backward(gp_trainer *t, gp_operation *op)
{
	gp_inducing_buffers *r = op->inducing.buffers;

	r->dlog_a = 0.0;
	t->dev->fill(t->dev, op->weights.slope, 0.0);
	t->dev->fill(t->dev, r->white_slope, 0.0);
	for (int k = 0; k < 2; k++)
		t->dev->fill(t->dev, r->point_slope[k], 0.0);
}

void
gp_inducing_features_backward(gp_trainer *t, gp_operation *op, const gp_band *band, gp_matrix cross,
							  gp_matrix df, gp_matrix dcross)
{
	gp_inducing_buffers *r = op->inducing.buffers;
	gp_matrix	dphi = gp_first_rows(op->weights.dphi, band->count);

	gp_weights_backward(t, &op->weights, band, r->level, df);
	r->dlog_a += r->power * gp_product_sum(t, gp_first_rows(op->weights.variance, band->count),
										   gp_first_rows(r->level, band->count));
	t->dev->gemm(t->dev, true, false, 1.0, dphi, cross, 1.0, r->white_slope);
	t->dev->gemm(t->dev, false, false, 1.0, dphi, op->inducing.root_inverse, 0.0, dcross);
}

/* With G = dK o K: d(x / len) = G Z - (G 1) o x, and sums for dZ = G'x - (G'1) o Z. */
void
gp_inducing_row_kernel_backward(gp_trainer *t, gp_inducing *f, gp_inducing_side *s, int64_t rows)
{
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;
	gp_matrix	u = gp_inducing_scaled_rows(s, rows);
	gp_matrix	g = gp_first_rows(s->slope, rows);
	gp_matrix	change = gp_first_rows(s->change, rows);
	gp_matrix	spare = gp_first_rows(s->spare, rows);

	r->dlog_a += gp_product_sum(t, g, gp_first_rows(s->kernel, rows));
	gp_times(t, g, gp_first_rows(s->kernel, rows));
	dev->gemm(dev, false, false, 1.0, g, f->scaled, 0.0, change);
	dev->gemm(dev, false, false, 1.0, g, gp_first_rows(r->ones, f->count), 0.0, spare);
	gp_times(t, spare, u);
	dev->axpby(dev, -1.0, spare, 1.0, change);
	dev->gemm(dev, true, false, 1.0, g, u, 1.0, r->point_slope[0]);
	dev->gemm(dev, true, false, 1.0, g, gp_first_rows(r->ones, rows), 1.0, r->point_slope[1]);
}

/* ---- what the points get, when all panels are done ---- */

/*
 * Through the root (Murray 2016): from dT of T = L^-1: dL = - tril(T' dT T'), and with P = tril(L'
 * dL), its diagonal halved, dcov = T' (P + P') T / 2.
 */
void
gp_inducing_root_backward(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;
	gp_matrix	a = r->square[0];
	gp_matrix	b = r->square[1];
	gp_matrix	diagonal = gp_matrix_diagonal(a);

	dev->gemm(dev, true, false, -1.0, f->root_inverse, r->white_slope, 0.0, a);
	dev->gemm(dev, false, true, 1.0, a, f->root_inverse, 0.0, b);
	gp_times(t, b, r->lower);
	dev->gemm(dev, true, false, 1.0, r->root, b, 0.0, a);
	gp_times(t, a, r->lower);
	dev->axpby(dev, 0.5, diagonal, 0.0, diagonal);
	dev->transpose(dev, b, a);
	dev->axpby(dev, 0.5, b, 0.5, a);
	dev->gemm(dev, true, false, 1.0, f->root_inverse, a, 0.0, b);
	dev->gemm(dev, false, false, 1.0, b, f->root_inverse, 0.0, r->covariance_slope);
	r->dlog_a += r->power * gp_product_sum(t, r->covariance_slope, r->covariance);
}

void
gp_inducing_points_backward(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_weights *w = &op->weights;
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;
	gp_matrix	g = r->kernel_slope;
	gp_matrix	change = r->point_slope[0];
	gp_matrix	over = r->point_slope[1];

	gp_add_product(t, 2.0, w->log_s.gradient, w->slope, w->variance_factor);
	dev->axpby(dev, 2.0, w->slope, 1.0, w->log_s.gradient);
	/* Z / len's gradient: of rows, and 2 (G Z - (G 1) o Z) of the points' own kernel, G = dK o K */
	gp_times(t, g, r->kernel);
	dev->gemm(dev, false, false, 2.0, g, f->scaled, 1.0, change);
	dev->gemm(dev, false, false, 2.0, g, gp_first_rows(r->ones, f->count), 1.0, over);
	gp_times(t, over, f->scaled);
	dev->axpby(dev, -1.0, over, 1.0, change);
	dev->copy(dev, over, change);
	gp_times(t, over, w->inverse);
	dev->axpby(dev, 1.0, over, 1.0, f->point.gradient);
	gp_times(t, change, f->scaled);
	dev->gemm(dev, true, false, -1.0, gp_matrix_part(r->ones, 0, 0, f->count, 1), change, 1.0,
			  w->log_length.gradient);
	dev->shift(dev, w->log_a.gradient, 2.0 * r->dlog_a);
}
