/*
 * fourier.c - random Fourier features with Gaussian weights, and the spectrum that they are drawn
 * from.
 *
 *		Phi = a sqrt(2/M) cos(U O' + b),  U = X diag(1/len)           (Rahimi and Recht 2007)
 *		F = X map + Phi (mean + draw o s), or drawn: X map + Phi mean + sqrt((Phi o Phi) s^2) o e
 *
 * No matrix of features is kept: the derivative makes them again, a panel of rows at a time.
 */
#include "engine.h"

/* The arguments, the features, their gradients, their squares. */
enum
{
	ARGUMENTS,
	FEATURES,
	GRADIENTS,
	SQUARES
};

/* Makes what the features need. */
static void
cosines_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t width)
{
	gp_cosines *f = &b->cosines;
	int64_t		panel = gp_min64(rows, GP_TRAIN_ROWS);

	gp_parameter_make(t, &f->mean, f->count, b->cols, b->groups, 0.0);
	gp_parameter_make(t, &f->log_s, f->count, b->cols, b->groups, 0.0);
	gp_parameter_make(t, &f->log_length, 1, width, f->log_length.groups, 0.0);
	gp_parameter_make(t, &f->log_a, 1, 1, f->log_a.groups, 0.0);
	f->phase = gp_trainer_matrix(t, 1, f->count, t->type);
	f->s = gp_trainer_matrix(t, f->count, b->cols, t->type);
	f->slope = gp_trainer_matrix(t, f->count, b->cols, t->type);
	if (f->sampled)
		f->noise = gp_trainer_matrix(t, rows, b->cols, t->type);
	else
	{
		f->draw = gp_trainer_matrix(t, f->count, b->cols, t->type);
		f->weight = gp_trainer_matrix(t, f->count, b->cols, t->type);
	}
	for (int k = 0; k < 4; k++)
		f->panel[k] = gp_trainer_matrix(t, panel, f->count, t->type);
	f->spread = gp_trainer_matrix(t, panel, b->cols, t->type);
	if (f->log_length.groups == 0)
		return;
	f->inverse = gp_trainer_matrix(t, 1, width, t->type);
	f->ones = gp_trainer_matrix(t, panel, 1, t->type);
	t->dev->fill(t->dev, f->ones, 1.0);
	for (int k = 0; k < 2; k++)
		f->scaled[k] = gp_trainer_matrix(t, panel, width, t->type);
}

/* Makes what follows from the parameters: s or s^2, A, 1 / len, a. */
static void
prepare(gp_trainer *t, gp_cosines *f)
{
	gp_device  *dev = t->dev;

	gp_trainer_each(t, GP_EACH_EXP, f->sampled ? 2.0 : 1.0, f->s, f->log_s.value, GP_NONE);
	if (!f->sampled)
	{
		dev->copy(dev, f->weight, f->mean.value);
		gp_trainer_each(t, GP_EACH_ADD, 1.0, f->weight, f->draw, f->s);
	}
	if (f->log_length.groups)
		gp_trainer_each(t, GP_EACH_EXP, -1.0, f->inverse, f->log_length.value, GP_NONE);
	if (f->log_a.groups)
		f->amplitude = exp(gp_parameter_number(t, &f->log_a));
}

/* A panel's rows of a buffer. */
static gp_matrix
rows_of(gp_matrix buffer, const gp_band *band)
{
	return gp_matrix_rows(buffer, 0, band->count);
}

/* What features cost: a sqrt(2/M). */
static double
scale_of(const gp_cosines *f)
{
	return f->amplitude * sqrt(2.0 / (double) f->count);
}

/* Makes a panel's arguments U O' and features; returns U. */
static gp_matrix
make_features(gp_trainer *t, gp_cosines *f, gp_matrix x, const gp_band *band)
{
	gp_device  *dev = t->dev;
	gp_matrix	u = gp_matrix_rows(x, band->first, band->count);
	gp_matrix	z = rows_of(f->panel[ARGUMENTS], band);
	gp_matrix	phi = rows_of(f->panel[FEATURES], band);

	if (f->log_length.groups)
	{
		dev->copy(dev, rows_of(f->scaled[0], band), u);
		u = rows_of(f->scaled[0], band);
		gp_trainer_each(t, GP_EACH_TIMES, 1.0, u, f->inverse, GP_NONE);
	}
	dev->gemm(dev, false, true, 1.0, u, *f->frequency, 0.0, z);
	dev->copy(dev, phi, z);
	gp_trainer_each(t, GP_EACH_COS, scale_of(f), phi, f->phase, GP_NONE);
	return u;
}

/* The squares of a panel's features times s2: variances, in spread. */
static gp_matrix
make_variances(gp_trainer *t, gp_cosines *f, gp_matrix s2, const gp_band *band)
{
	gp_device  *dev = t->dev;
	gp_matrix	phi = rows_of(f->panel[FEATURES], band);
	gp_matrix	square = rows_of(f->panel[SQUARES], band);
	gp_matrix	v = rows_of(f->spread, band);

	dev->copy(dev, square, phi);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, square, phi, GP_NONE);
	dev->gemm(dev, false, false, 1.0, square, s2, 0.0, v);
	return v;
}

void
gp_add_input(gp_trainer *t, const gp_matrix *map, bool carries, bool turned, gp_matrix x,
			 gp_matrix y)
{
	if (carries)
		t->dev->axpby(t->dev, 1.0, x, 1.0, y);
	else if (map)
		t->dev->gemm(t->dev, false, turned, 1.0, x, *map, 1.0, y);
}

/* F, panel by panel. */
static void
cosines_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_cosines *f = &b->cosines;
	gp_device  *dev = t->dev;

	prepare(t, f);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	out = gp_matrix_rows(y, band.first, band.count);
		gp_matrix	deviation;

		make_features(t, f, x, &band);
		dev->gemm(dev, false, false, 1.0, rows_of(f->panel[FEATURES], &band),
				  f->sampled ? f->mean.value : f->weight, 0.0, out);
		gp_add_input(t, f->map, f->carries, false, gp_matrix_rows(x, band.first, band.count), out);
		if (!f->sampled)
			continue;
		deviation = make_variances(t, f, f->s, &band);
		gp_trainer_each(t, GP_EACH_ROOT, 1.0, deviation, GP_NONE, GP_NONE);
		gp_trainer_each(t, GP_EACH_ADD, 1.0, out, deviation,
						gp_matrix_rows(f->noise, band.first, band.count));
	}
}

/* dPhi of a panel from dF, and what A or (mean, s^2) get of it. */
static void
weights_backward(gp_trainer *t, gp_cosines *f, gp_matrix df, const gp_band *band)
{
	gp_device  *dev = t->dev;
	gp_matrix	phi = rows_of(f->panel[FEATURES], band);
	gp_matrix	dphi = rows_of(f->panel[GRADIENTS], band);
	gp_matrix	square = rows_of(f->panel[SQUARES], band);
	gp_matrix	dv;

	if (!f->sampled)
	{
		dev->gemm(dev, true, false, 1.0, phi, df, 1.0, f->slope);
		dev->gemm(dev, false, true, 1.0, df, f->weight, 0.0, dphi);
		return;
	}
	dev->gemm(dev, true, false, 1.0, phi, df, 1.0, f->mean.gradient);
	dev->gemm(dev, false, true, 1.0, df, f->mean.value, 0.0, dphi);
	dv = make_variances(t, f, f->s, band);
	gp_trainer_each(t, GP_EACH_ROOT, 1.0, dv, GP_NONE, GP_NONE);
	gp_trainer_each(t, GP_EACH_OVER, 0.5, dv, gp_matrix_rows(f->noise, band->first, band->count),
					GP_NONE);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, dv, df, GP_NONE);
	dev->gemm(dev, true, false, 1.0, square, dv, 1.0, f->slope);
	dev->gemm(dev, false, true, 1.0, dv, f->s, 0.0, square);
	gp_trainer_each(t, GP_EACH_ADD, 2.0, dphi, phi, square);
}

/* What mean and log s get of the gradient by A, or log s of that by s^2. */
static void
posterior_backward(gp_trainer *t, gp_cosines *f)
{
	if (f->sampled)
	{
		gp_trainer_each(t, GP_EACH_ADD, 2.0, f->log_s.gradient, f->slope, f->s);
		return;
	}
	t->dev->axpby(t->dev, 1.0, f->slope, 1.0, f->mean.gradient);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, f->slope, f->draw, GP_NONE);
	gp_trainer_each(t, GP_EACH_ADD, 1.0, f->log_s.gradient, f->slope, f->s);
}

/* What O, len and X get of a panel's dZ = -a sqrt(2/M) sin(Z) o dPhi. */
static void
arguments_backward(gp_trainer *t, gp_cosines *f, gp_matrix u, gp_matrix dx, const gp_band *band)
{
	gp_device  *dev = t->dev;
	gp_matrix	dz = rows_of(f->panel[ARGUMENTS], band);
	gp_matrix	du = f->log_length.groups ? rows_of(f->scaled[1], band) : dx;

	gp_trainer_each(t, GP_EACH_SIN, -scale_of(f), dz, f->phase, GP_NONE);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, dz, rows_of(f->panel[GRADIENTS], band), GP_NONE);
	if (f->frequency_gradient)
		dev->gemm(dev, true, false, 1.0, dz, u, 1.0, *f->frequency_gradient);
	if (!gp_is_wanted(du))
		return;
	dev->gemm(dev, false, false, 1.0, dz, *f->frequency, 0.0, du);
	if (f->log_length.groups == 0)
		return;
	if (gp_is_wanted(dx))
	{
		dev->copy(dev, dx, du);
		gp_trainer_each(t, GP_EACH_TIMES, 1.0, dx, f->inverse, GP_NONE);
	}
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, du, u, GP_NONE);
	dev->gemm(dev, true, false, -1.0, rows_of(f->ones, band), du, 1.0, f->log_length.gradient);
}

/* The derivatives, panel by panel. */
static void
cosines_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_cosines *f = &b->cosines;
	bool		wanted = gp_is_wanted(dx);
	double		grown = 0.0;

	t->dev->fill(t->dev, f->slope, 0.0);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	u = make_features(t, f, x, &band);

		weights_backward(t, f, gp_matrix_rows(dy, band.first, band.count), &band);
		if (f->log_a.groups)
			grown += gp_product_sum(t, rows_of(f->panel[GRADIENTS], &band),
									rows_of(f->panel[FEATURES], &band));
		arguments_backward(t, f, u, wanted ? gp_matrix_rows(dx, band.first, band.count) : GP_NONE,
						   &band);
		if (wanted)
			gp_add_input(t, f->map, f->carries, true, gp_matrix_rows(dy, band.first, band.count),
						 gp_matrix_rows(dx, band.first, band.count));
	}
	posterior_backward(t, f);
	if (f->log_a.groups)
		t->dev->shift(t->dev, f->log_a.gradient, grown);
}

void
gp_weights_prior(gp_trainer *t, gp_parameter *mean, gp_parameter *log_s, gp_matrix room,
				 double weight)
{
	t->dev->axpby(t->dev, weight, mean->value, 1.0, mean->gradient);
	gp_trainer_each(t, GP_EACH_EXP, 2.0, room, log_s->value, GP_NONE);
	t->dev->axpby(t->dev, weight, room, 1.0, log_s->gradient);
	t->dev->shift(t->dev, log_s->gradient, -weight);
}

/* The same of the block's weights. */
static void
cosines_prior(gp_trainer *t, gp_block *b, double weight)
{
	gp_weights_prior(t, &b->cosines.mean, &b->cosines.log_s, b->cosines.slope, weight);
}

double
gp_weights_divergence(gp_trainer *t, const gp_parameter *mean, const gp_parameter *log_s)
{
	int64_t		n = mean->value.rows;
	int64_t		cols = mean->value.cols;
	double	   *m = gp_alloc_figures(t->env, n * cols, 2 * sizeof(double));
	double	   *l = t->env->dry ? m : m + n * cols;
	double		sum = 0.0;

	t->dev->download(t->dev, gp_matrix_wrap(m, n, cols, GP_DOUBLE), mean->value);
	t->dev->download(t->dev, gp_matrix_wrap(l, n, cols, GP_DOUBLE), log_s->value);
	for (int64_t k = 0; k < gp_items(t->env, n * cols); k++)
		sum += 0.5 * (m[k] * m[k] + exp(2.0 * l[k]) - 2.0 * l[k] - 1.0);
	gp_free(t->env, m);
	return sum;
}

void
gp_cosines_predict(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix mean, gp_matrix variance)
{
	gp_cosines *f = &b->cosines;
	gp_device  *dev = t->dev;

	prepare(t, f);
	gp_trainer_each(t, GP_EACH_EXP, 2.0, f->slope, f->log_s.value, GP_NONE);
	for (gp_band band = gp_band_first(x.rows, f->spread.rows); band.count > 0; gp_band_next(&band))
	{
		make_features(t, f, x, &band);
		dev->gemm(dev, false, false, 1.0, rows_of(f->panel[FEATURES], &band),
				  f->sampled ? f->mean.value : f->weight, 0.0,
				  gp_matrix_rows(mean, band.first, band.count));
		gp_add_input(t, f->map, f->carries, false, gp_matrix_rows(x, band.first, band.count),
					 gp_matrix_rows(mean, band.first, band.count));
		if (gp_is_wanted(variance))
			dev->copy(dev, gp_matrix_rows(variance, band.first, band.count),
					  make_variances(t, f, f->slope, &band));
	}
}

const gp_block_class gp_block_cosines = {
	.shape = cosines_shape,.forward = cosines_forward,.backward = cosines_backward,
		.prior = cosines_prior
};

/* ---- the spectrum ---- */

/* Two halves become one. */
static void
spectrum_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t cols)
{
	b->cols = cols / 2;
	b->spectrum.draw = gp_trainer_matrix(t, rows, b->cols, t->type);
	gp_fill_normal(t, b->spectrum.draw, gp_trainer_seed(t, 300 + (uint64_t) b->number, false), 1.0);
}

/* O = 2 pi (mu + exp(l) o u). */
static void
spectrum_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_trainer_each(t, GP_EACH_EXP, 1.0, y, gp_matrix_cols(x, b->cols, b->cols), GP_NONE);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, y, b->spectrum.draw, GP_NONE);
	t->dev->axpby(t->dev, 2.0 * M_PI, gp_matrix_cols(x, 0, b->cols), 2.0 * M_PI, y);
}

/* dmu = 2 pi dO, dl = 2 pi dO o exp(l) o u. */
static void
spectrum_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_matrix	dmu = gp_matrix_cols(dx, 0, b->cols);
	gp_matrix	dl = gp_matrix_cols(dx, b->cols, b->cols);

	t->dev->axpby(t->dev, 2.0 * M_PI, dy, 0.0, dmu);
	gp_trainer_each(t, GP_EACH_EXP, 1.0, dl, gp_matrix_cols(x, b->cols, b->cols), GP_NONE);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, dl, b->spectrum.draw, GP_NONE);
	gp_trainer_each(t, GP_EACH_TIMES, 1.0, dl, dmu, GP_NONE);
}

const gp_block_class gp_block_spectrum = {
	.shape = spectrum_shape,.forward = spectrum_forward,.backward = spectrum_backward
};
