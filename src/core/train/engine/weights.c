/*
 * weights.c - Gaussian weights of features: what they draw, and what they get of its gradient.
 */
#include "engine.h"

void
gp_weights_open(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width, int64_t features)
{
	gp_weights *w = &op->weights;
	int64_t		panel = gp_min64(rows, GP_TRAIN_ROWS);

	gp_parameter_make(t, &w->mean, features, op->cols, op->groups, 0.0);
	gp_parameter_make(t, &w->log_s, features, op->cols, op->groups, 0.0);
	gp_parameter_make(t, &w->log_length, 1, width, w->log_length.groups, 0.0);
	gp_parameter_make(t, &w->log_a, 1, 1, w->log_a.groups, 0.0);
	if (w->sampled)
		w->noise = gp_trainer_matrix(t, rows, op->cols, t->type);
	w->variance_factor = gp_trainer_matrix(t, features, op->cols, t->type);
	w->slope = gp_trainer_matrix(t, features, op->cols, t->type);
	w->phi = gp_trainer_matrix(t, panel, features, t->type);
	w->square = gp_trainer_matrix(t, panel, features, t->type);
	w->dphi = gp_trainer_matrix(t, panel, features, t->type);
	w->variance = gp_trainer_matrix(t, panel, op->cols, t->type);
	if (w->log_length.groups == 0)
		return;
	w->inverse = gp_trainer_matrix(t, 1, width, t->type);
	w->ones = gp_trainer_matrix(t, panel, 1, t->type);
	t->dev->fill(t->dev, w->ones, 1.0);
}

gp_matrix
gp_weights_variances(gp_trainer *t, gp_weights *w, int64_t rows, gp_matrix factor, gp_matrix level)
{
	gp_matrix	phi = gp_matrix_rows(w->phi, 0, rows);
	gp_matrix	square = gp_matrix_rows(w->square, 0, rows);
	gp_matrix	v = gp_matrix_rows(w->variance, 0, rows);

	t->dev->copy(t->dev, square, phi);
	gp_times(t, square, phi);
	if (gp_is_wanted(level))
		t->dev->copy(t->dev, v, gp_matrix_rows(level, 0, rows));
	t->dev->gemm(t->dev, false, false, 1.0, square, factor, gp_is_wanted(level) ? 1.0 : 0.0, v);
	return v;
}

/* The roots of the variances of a panel. */
static gp_matrix
deviations(gp_trainer *t, gp_weights *w, int64_t rows, gp_matrix level)
{
	gp_matrix	v = gp_weights_variances(t, w, rows, w->variance_factor, level);

	gp_trainer_elementwise(t, GP_ELEMENT_ROOT, 1.0, v, GP_NONE, GP_NONE);
	return v;
}

void
gp_weights_draw(gp_trainer *t, gp_weights *w, const gp_band *band, gp_matrix level, gp_matrix x,
				gp_matrix f)
{
	t->dev->gemm(t->dev, false, false, 1.0, gp_matrix_rows(w->phi, 0, band->count), w->mean.value,
				 0.0, f);
	gp_add_input(t, w, false, x, f);
	gp_add_product(t, 1.0, f, deviations(t, w, band->count, level),
				   gp_matrix_rows(w->noise, band->first, band->count));
}

void
gp_weights_backward(gp_trainer *t, gp_weights *w, const gp_band *band, gp_matrix level,
					gp_matrix df)
{
	gp_device  *dev = t->dev;
	gp_matrix	phi = gp_matrix_rows(w->phi, 0, band->count);
	gp_matrix	dphi = gp_matrix_rows(w->dphi, 0, band->count);
	gp_matrix	square = gp_matrix_rows(w->square, 0, band->count);

	dev->gemm(dev, true, false, 1.0, phi, df, 1.0, w->mean.gradient);
	dev->gemm(dev, false, true, 1.0, df, w->mean.value, 0.0, dphi);
	gp_matrix	dv = deviations(t, w, band->count, level);
	gp_trainer_elementwise(t, GP_ELEMENT_OVER, 0.5, dv,
						   gp_matrix_rows(w->noise, band->first, band->count), GP_NONE);
	gp_times(t, dv, df);
	dev->gemm(dev, true, false, 1.0, square, dv, 1.0, w->slope);
	dev->gemm(dev, false, true, 1.0, dv, w->variance_factor, 0.0, square);
	gp_add_product(t, 2.0, dphi, phi, square);
}

void
gp_lengths_backward(gp_trainer *t, gp_weights *w, gp_matrix u, gp_matrix du, gp_matrix dx)
{
	if (gp_is_wanted(dx))
	{
		t->dev->copy(t->dev, dx, du);
		gp_times(t, dx, w->inverse);
	}
	gp_times(t, du, u);
	t->dev->gemm(t->dev, true, false, -1.0, gp_matrix_rows(w->ones, 0, u.rows), du, 1.0,
				 w->log_length.gradient);
}

void
gp_add_input(gp_trainer *t, const gp_weights *w, bool transposed, gp_matrix x, gp_matrix y)
{
	if (w->carries)
		t->dev->axpby(t->dev, 1.0, x, 1.0, y);
	else if (w->map)
		t->dev->gemm(t->dev, false, transposed, 1.0, x, *w->map, 1.0, y);
}

void
gp_weights_prior(gp_trainer *t, gp_operation *op, double weight)
{
	gp_weights *w = &op->weights;

	t->dev->axpby(t->dev, weight, w->mean.value, 1.0, w->mean.gradient);
	gp_exp(t, 2.0, w->slope, w->log_s.value);
	t->dev->axpby(t->dev, weight, w->slope, 1.0, w->log_s.gradient);
	t->dev->shift(t->dev, w->log_s.gradient, -weight);
}

double
gp_weights_divergence(gp_trainer *t, const gp_weights *w)
{
	double	   *m = gp_download(t->dev, w->mean.value);
	double	   *l = gp_download(t->dev, w->log_s.value);
	double		sum = 0.0;

	for (int64_t k = 0; k < gp_items(t->env, w->mean.value.rows * w->mean.value.cols); k++)
		sum += 0.5 * (m[k] * m[k] + exp(2.0 * l[k]) - 2.0 * l[k] - 1.0);
	gp_free_all(t->env, m, l);
	return sum;
}
