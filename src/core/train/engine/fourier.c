/*
 * fourier.c - random Fourier features, and the spectrum that they are drawn from.
 *
 *		Phi = a sqrt(2/M) cos(U O' + b),  U = X diag(1/len)           (Rahimi and Recht 2007)
 *
 * No matrix of features is kept: the derivative makes them again, a panel of rows at a time.
 */
#include "engine.h"

static void
cosines_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width)
{
	gp_cosines *f = &op->cosines;
	int64_t		panel = gp_min64(rows, GP_TRAIN_ROWS);

	gp_weights_open(t, op, rows, width, f->count);
	f->phase = gp_trainer_matrix(t, 1, f->count, t->type);
	f->argument = gp_trainer_matrix(t, panel, f->count, t->type);
	if (!op->weights.sampled)
	{
		f->draw = gp_trainer_matrix(t, f->count, op->cols, t->type);
		f->weight = gp_trainer_matrix(t, f->count, op->cols, t->type);
	}
	for (int k = 0; k < 2 && op->weights.log_length.groups; k++)
		f->scaled[k] = gp_trainer_matrix(t, panel, width, t->type);
}

/* Makes what follows from the parameters: s or s^2, A, 1 / len, a. */
static void
prepare(gp_trainer *t, gp_operation *op)
{
	gp_cosines *f = &op->cosines;
	gp_weights *w = &op->weights;

	gp_exp(t, w->sampled ? 2.0 : 1.0, w->variance_factor, w->log_s.value);
	if (!w->sampled)
	{
		t->dev->copy(t->dev, f->weight, w->mean.value);
		gp_add_product(t, 1.0, f->weight, f->draw, w->variance_factor);
	}
	if (w->log_length.groups)
		gp_exp(t, -1.0, w->inverse, w->log_length.value);
	if (w->log_a.groups)
		f->amplitude = exp(gp_parameter_number(t, &w->log_a));
}

/* The features' scale: a sqrt(2/M). */
static double
scale_of(const gp_cosines *f)
{
	return f->amplitude * sqrt(2.0 / (double) f->count);
}

/* Makes a panel's arguments U O' and features; returns U. */
static gp_matrix
make_features(gp_trainer *t, gp_operation *op, gp_matrix x)
{
	gp_cosines *f = &op->cosines;
	gp_device  *dev = t->dev;
	gp_matrix	u = x;
	gp_matrix	z = gp_matrix_rows(f->argument, 0, x.rows);
	gp_matrix	phi = gp_matrix_rows(op->weights.phi, 0, x.rows);

	if (op->weights.log_length.groups)
	{
		u = gp_matrix_rows(f->scaled[0], 0, x.rows);
		dev->copy(dev, u, x);
		gp_times(t, u, op->weights.inverse);
	}
	dev->gemm(dev, false, true, 1.0, u, *f->frequency, 0.0, z);
	dev->copy(dev, phi, z);
	gp_trainer_elementwise(t, GP_ELEMENT_COS, scale_of(f), phi, f->phase, GP_NONE);
	return u;
}

/* Phi mean, or Phi A, and what the input gives. */
static void
make_means(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	t->dev->gemm(t->dev, false, false, 1.0, gp_matrix_rows(op->weights.phi, 0, x.rows),
				 op->weights.sampled ? op->weights.mean.value : op->cosines.weight, 0.0, y);
	gp_add_input(t, &op->weights, false, x, y);
}

static void
cosines_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	prepare(t, op);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	rows = gp_matrix_rows(x, band.first, band.count);
		gp_matrix	out = gp_matrix_rows(y, band.first, band.count);

		make_features(t, op, rows);
		if (op->weights.sampled)
			gp_weights_draw(t, &op->weights, &band, GP_NONE, rows, out);
		else
			make_means(t, op, rows, out);
	}
}

/* What O, len and X get of a panel's dZ = -a sqrt(2/M) sin(Z) o dPhi. */
static void
arguments_backward(gp_trainer *t, gp_operation *op, gp_matrix u, gp_matrix dx)
{
	gp_cosines *f = &op->cosines;
	gp_device  *dev = t->dev;
	bool		lengths = op->weights.log_length.groups != 0;
	gp_matrix	dz = gp_matrix_rows(f->argument, 0, u.rows);
	gp_matrix	du = lengths ? gp_matrix_rows(f->scaled[1], 0, u.rows) : dx;

	gp_trainer_elementwise(t, GP_ELEMENT_SIN, -scale_of(f), dz, f->phase, GP_NONE);
	gp_times(t, dz, gp_matrix_rows(op->weights.dphi, 0, u.rows));
	if (f->frequency_gradient)
		dev->gemm(dev, true, false, 1.0, dz, u, 1.0, *f->frequency_gradient);
	if (gp_is_wanted(du))
		dev->gemm(dev, false, false, 1.0, dz, *f->frequency, 0.0, du);
	if (lengths)
		gp_lengths_backward(t, &op->weights, u, du, dx);
}

static void
cosines_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
				 gp_matrix dx)
{
	gp_cosines *f = &op->cosines;
	gp_weights *w = &op->weights;
	gp_device  *dev = t->dev;
	bool		wanted = gp_is_wanted(dx);
	double		dlog_a = 0.0;

	dev->fill(dev, w->slope, 0.0);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	df = gp_matrix_rows(dy, band.first, band.count);
		gp_matrix	dpanel = wanted ? gp_matrix_rows(dx, band.first, band.count) : GP_NONE;
		gp_matrix	phi = gp_matrix_rows(w->phi, 0, band.count);
		gp_matrix	dphi = gp_matrix_rows(w->dphi, 0, band.count);
		gp_matrix	u = make_features(t, op, gp_matrix_rows(x, band.first, band.count));

		if (w->sampled)
			gp_weights_backward(t, w, &band, GP_NONE, df);
		else
		{
			dev->gemm(dev, true, false, 1.0, phi, df, 1.0, w->slope);
			dev->gemm(dev, false, true, 1.0, df, f->weight, 0.0, dphi);
		}
		if (w->log_a.groups)
			dlog_a += gp_product_sum(t, dphi, phi);
		arguments_backward(t, op, u, dpanel);
		if (wanted)
			gp_add_input(t, w, true, df, dpanel);
	}
	/* what mean and log s get of the gradient by A, or log s of that by s^2 */
	if (!w->sampled)
	{
		dev->axpby(dev, 1.0, w->slope, 1.0, w->mean.gradient);
		gp_times(t, w->slope, f->draw);
	}
	gp_add_product(t, w->sampled ? 2.0 : 1.0, w->log_s.gradient, w->slope, w->variance_factor);
	if (w->log_a.groups)
		dev->shift(dev, w->log_a.gradient, dlog_a);
}

void
gp_cosines_predict(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix mean, gp_matrix variance)
{
	gp_weights *w = &op->weights;

	prepare(t, op);
	gp_exp(t, 2.0, w->slope, w->log_s.value);
	for (gp_band band = gp_band_first(x.rows, w->variance.rows); band.count > 0;
		 gp_band_next(&band))
	{
		gp_matrix	rows = gp_matrix_rows(x, band.first, band.count);

		make_features(t, op, rows);
		make_means(t, op, rows, gp_matrix_rows(mean, band.first, band.count));
		if (gp_is_wanted(variance))
			t->dev->copy(t->dev, gp_matrix_rows(variance, band.first, band.count),
						 gp_weights_variances(t, w, band.count, w->slope, GP_NONE));
	}
}

const gp_operation_class gp_operation_cosines = {
	.shape = cosines_shape,.forward = cosines_forward,.backward = cosines_backward,
	.prior = gp_weights_prior
};

/* ---- the spectrum ---- */

/* Two halves become one. */
static void
spectrum_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols)
{
	op->cols = cols / 2;
	op->spectrum.draw = gp_trainer_matrix(t, rows, op->cols, t->type);
	gp_fill_normal(t, op->spectrum.draw, gp_trainer_seed(t, GP_DRAW_SPECTRUM + op->number, false),
				   1.0);
}

/* O = 2 pi (mu + exp(l) o u). */
static void
spectrum_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_exp(t, 1.0, y, gp_matrix_cols(x, op->cols, op->cols));
	gp_times(t, y, op->spectrum.draw);
	t->dev->axpby(t->dev, 2.0 * M_PI, gp_matrix_cols(x, 0, op->cols), 2.0 * M_PI, y);
}

/* dmu = 2 pi dO, dl = 2 pi dO o exp(l) o u. */
static void
spectrum_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
				  gp_matrix dx)
{
	gp_matrix	dmu = gp_matrix_cols(dx, 0, op->cols);
	gp_matrix	dl = gp_matrix_cols(dx, op->cols, op->cols);

	t->dev->axpby(t->dev, 2.0 * M_PI, dy, 0.0, dmu);
	gp_exp(t, 1.0, dl, gp_matrix_cols(x, op->cols, op->cols));
	gp_times(t, dl, op->spectrum.draw);
	gp_times(t, dl, dmu);
}

const gp_operation_class gp_operation_spectrum = {
	.shape = spectrum_shape,.forward = spectrum_forward,.backward = spectrum_backward
};
