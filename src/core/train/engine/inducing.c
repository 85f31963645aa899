/*
 * inducing.c - Gaussian processes by inducing points, as training steps take them (Hensman, Matthews and
 * Ghahramani 2015).
 *
 *		k(x, z) = a^2 exp(-|x - z|^2 / 2), x and z over len;  C of rows and directions, LL' of directions,
 *		Phi = C L^-T,  F = Phi mean + sqrt(level + (Phi o Phi) (s^2 - 1)) o e
 *
 * with weights that are white a priori, so that the posterior starts as the prior.  The root and its derivative are in
 * double; rows go by in panels and are covered again for the derivatives.  The derivative
 * of a root is that of Murray (2016).
 */
#include "inducing.h"

#include <math.h>
#include <string.h>

#define JITTER 1e-6				/* of a variance, added to it */

static const gp_matrix none = {0};

/* Changes a matrix by one operation. */
void
gp_inducing_each(gp_trainer *t, gp_each_op op, double factor, gp_matrix y, gp_matrix a, gp_matrix b)
{
	t->dev->each(t->dev, &(gp_each) {.op = op,.factor = factor}, y, a, b, none);
}

/* ---- room ---- */

/* Every matrix of the room; returns how many. */
static int
list_room(gp_inducing_room *r, gp_matrix **out)
{
	gp_matrix  *all[] = {&r->wide, &r->ones, &r->ones_double, &r->kernel, &r->kernel_slope, &r->root, &r->lower,
		&r->square[0], &r->square[1], &r->part[0], &r->part[1], &r->part[2], &r->white, &r->white_slope, &r->less,
		&r->slope, &r->point_slope[0], &r->point_slope[1], &r->phi, &r->phi_square, &r->phi_slope, &r->cross, &r->level,
		&r->spread, &r->pick[0], &r->pick[1], &r->pick_double[0], &r->pick_double[1], &r->picked[0], &r->picked[1],
		&r->picked[2], &r->picked[3], &r->crossed[0], &r->crossed[1], &r->crossed[2], &r->crossed[3], &r->pick_room,
	&r->near};
	int			n = sizeof(all) / sizeof(all[0]);

	memcpy(out, all, sizeof(all));
	for (int k = 0; k < r->sides; k++)
	{
		gp_inducing_side *s = &r->side[k];
		gp_matrix  *own[] = {&s->wide, &s->exponent, &s->kernel, &s->slope, &s->change, &s->spare};

		memcpy(out + n, own, sizeof(own));
		n += sizeof(own) / sizeof(own[0]);
	}
	if (r->power > 1)
	{
		out[n++] = &r->covariance;
		out[n++] = &r->covariance_slope;
	}
	return n;
}

/* Makes what is of the points, and of the directions. */
static void
open_points(gp_trainer *t, gp_inducing *f, int64_t width, int64_t cols)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	int64_t		n = f->count;
	int64_t		m = f->span;
	double	   *host = gp_alloc_zero(t->env, m * m, sizeof(double));

	r->wide = dev->create(dev, n, width + 2, t->type);
	r->ones_double = dev->create(dev, n, width, GP_DOUBLE);
	dev->fill(dev, r->ones_double, 1.0);
	r->kernel = dev->create(dev, n, n, GP_DOUBLE);
	r->kernel_slope = dev->create(dev, n, n, GP_DOUBLE);
	r->covariance = r->power > 1 ? dev->create(dev, m, m, GP_DOUBLE) : r->kernel;
	r->covariance_slope = r->power > 1 ? dev->create(dev, m, m, GP_DOUBLE) : r->kernel_slope;
	r->root = dev->create(dev, m, m, GP_DOUBLE);
	r->lower = dev->create(dev, m, m, GP_DOUBLE);
	for (int64_t i = 0; i < m && !t->env->dry; i++)
		for (int64_t j = 0; j <= i; j++)
			host[i * m + j] = 1.0;
	dev->upload(dev, r->lower, gp_matrix_wrap(host, m, m, GP_DOUBLE));
	for (int k = 0; k < 2; k++)
		r->square[k] = dev->create(dev, m, m, GP_DOUBLE);
	for (int k = 0; k < 3; k++)
		r->part[k] = dev->create(dev, n, width, GP_DOUBLE);
	r->white = dev->create(dev, m, m, t->type);
	r->white_slope = dev->create(dev, m, m, t->type);
	r->less = dev->create(dev, m, cols, t->type);
	r->slope = dev->create(dev, m, cols, t->type);
	for (int k = 0; k < 2; k++)
		r->point_slope[k] = dev->create(dev, n, width, t->type);
	gp_free(t->env, host);
}

/* Makes what a panel of rows takes. */
static void
open_panel(gp_trainer *t, gp_inducing *f, int64_t panel, int64_t width, int64_t cols)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;

	r->ones = dev->create(dev, gp_max64(panel, f->count), width, t->type);
	dev->fill(dev, r->ones, 1.0);
	r->phi = dev->create(dev, panel, f->span, t->type);
	r->phi_square = dev->create(dev, panel, f->span, t->type);
	r->phi_slope = dev->create(dev, panel, f->span, t->type);
	r->level = dev->create(dev, panel, cols, t->type);
	r->spread = dev->create(dev, panel, cols, t->type);
	for (int k = 0; k < r->sides; k++)
	{
		gp_inducing_side *s = &r->side[k];

		s->wide = dev->create(dev, panel, width + 2, t->type);
		dev->fill(dev, s->wide, 1.0);
		s->exponent = dev->create(dev, panel, f->count, t->type);
		s->kernel = dev->create(dev, panel, f->count, t->type);
		s->slope = dev->create(dev, panel, f->count, t->type);
		s->change = dev->create(dev, panel, width, t->type);
		s->spare = dev->create(dev, panel, width, t->type);
	}
}

/* Makes the parameters and the buffers. */
void
gp_inducing_open(gp_trainer *t, gp_block *b, int64_t rows, int64_t width, int sides, int power)
{
	gp_inducing *f = &b->inducing;
	gp_device  *dev = t->dev;

	f->room = gp_alloc_zero(t->env, 1, sizeof(gp_inducing_room));
	f->room->sides = sides;
	f->room->power = power;
	gp_parameter_make(t, &f->point, f->count, width, b->groups, 0.0);
	gp_parameter_make(t, &f->log_length, 1, width, b->groups, 0.0);
	gp_parameter_make(t, &f->log_a, 1, 1, b->groups, 0.0);
	gp_parameter_make(t, &f->mean, f->span, b->cols, b->groups, 0.0);
	gp_parameter_make(t, &f->log_s, f->span, b->cols, b->groups, 0.0);
	f->noise = dev->create(dev, rows, b->cols, t->type);
	f->inverse = dev->create(dev, 1, width, t->type);
	f->scaled = dev->create(dev, f->count, width, GP_DOUBLE);
	f->turned = dev->create(dev, f->span, f->span, GP_DOUBLE);
	open_points(t, f, width, b->cols);
	open_panel(t, f, gp_min64(rows, GP_TRAIN_ROWS), width, b->cols);
}

/* Frees them. */
void
gp_inducing_close(gp_trainer *t, gp_block *b)
{
	gp_inducing *f = &b->inducing;
	gp_matrix  *all[64] = {&f->noise, &f->inverse, &f->scaled, &f->turned};
	int			n;

	if (f->room == NULL)
		return;
	n = 4 + list_room(f->room, all + 4);
	gp_parameter_free(t, &f->point);
	gp_parameter_free(t, &f->log_length);
	gp_parameter_free(t, &f->log_a);
	gp_parameter_free(t, &f->mean);
	gp_parameter_free(t, &f->log_s);
	for (int k = 0; k < n; k++)
		t->dev->destroy(t->dev, all[k]);
	gp_free(t->env, f->room);
	f->room = NULL;
}

/* ---- the kernel ---- */

/* Columns behind x / len: half its squared length, less; add goes to it. */
static void
write_lengths(gp_trainer *t, gp_matrix x, gp_matrix column, double add)
{
	gp_device  *dev = t->dev;

	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	dots = gp_matrix_rows(t->dots, 0, band.count);
		gp_matrix	rows = gp_matrix_rows(x, band.first, band.count);

		dev->row_dots(dev, dots, rows, rows);
		dev->copy(dev, gp_matrix_rows(column, band.first, band.count), dots);
	}
	dev->axpby(dev, -0.5, column, 0.0, column);
	dev->shift(dev, column, add);
}

/* k of the points with themselves, in double. */
static void
cover_points(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	int64_t		width = f->scaled.cols;
	gp_matrix	left = dev->create(dev, f->count, width + 2, GP_DOUBLE);
	gp_matrix	right = dev->create(dev, f->count, width + 2, GP_DOUBLE);

	dev->fill(dev, left, 1.0);
	dev->fill(dev, right, 1.0);
	dev->copy(dev, gp_matrix_cols(left, 0, width), f->scaled);
	dev->copy(dev, gp_matrix_cols(right, 0, width), f->scaled);
	write_lengths(t, f->scaled, gp_matrix_cols(left, width, 1), log(f->amplitude));
	write_lengths(t, f->scaled, gp_matrix_cols(right, width + 1, 1), 0.0);
	dev->gemm(dev, false, true, 1.0, left, right, 0.0, r->kernel_slope);
	gp_inducing_each(t, GP_EACH_EXP, 1.0, r->kernel, r->kernel_slope, none);
	dev->shift(dev, gp_matrix_diagonal(r->kernel), JITTER * f->amplitude);
	dev->destroy(dev, &right);
	dev->destroy(dev, &left);
}

/* What follows from the parameters. */
void
gp_inducing_points(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	int64_t		width = f->scaled.cols;
	gp_matrix	z = gp_matrix_cols(r->wide, 0, width);
	double		log_a = 0.0;

	dev->download(dev, gp_matrix_wrap(&log_a, 1, 1, GP_DOUBLE), f->log_a.value);
	f->amplitude = exp(2.0 * log_a);
	gp_inducing_each(t, GP_EACH_EXP, -1.0, f->inverse, f->log_length.value, none);
	dev->fill(dev, r->wide, 1.0);
	dev->copy(dev, z, f->point.value);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, z, f->inverse, none);
	dev->copy(dev, f->scaled, z);
	write_lengths(t, z, gp_matrix_cols(r->wide, width + 1, 1), log(f->amplitude));
	cover_points(t, f);
	gp_inducing_each(t, GP_EACH_EXP, 2.0, r->less, f->log_s.value, none);
	dev->shift(dev, r->less, -1.0);
}

/* The covariances of rows with the points. */
void
gp_inducing_cover(gp_trainer *t, gp_inducing *f, gp_inducing_side *side, gp_matrix x)
{
	gp_device  *dev = t->dev;
	gp_matrix	wide = gp_matrix_rows(side->wide, 0, x.rows);
	gp_matrix	u = gp_matrix_cols(wide, 0, x.cols);
	gp_matrix	exponent = gp_matrix_rows(side->exponent, 0, x.rows);

	dev->copy(dev, u, x);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, u, f->inverse, none);
	write_lengths(t, u, gp_matrix_cols(wide, x.cols, 1), 0.0);
	dev->gemm(dev, false, true, 1.0, wide, f->room->wide, 0.0, exponent);
	gp_inducing_each(t, GP_EACH_EXP, 1.0, gp_matrix_rows(side->kernel, 0, x.rows), exponent, none);
}

/* With G = dK o K: d(x / len) = G Z - (G 1) o x, and sums for dZ = G'x - (G'1) o Z. */
void
gp_inducing_uncover(gp_trainer *t, gp_inducing *f, gp_inducing_side *side, int64_t rows)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	int64_t		width = f->scaled.cols;
	gp_matrix	u = gp_matrix_part(side->wide, 0, 0, rows, width);
	gp_matrix	g = gp_matrix_rows(side->slope, 0, rows);
	gp_matrix	kernel = gp_matrix_rows(side->kernel, 0, rows);
	gp_matrix	change = gp_matrix_rows(side->change, 0, rows);
	gp_matrix	spare = gp_matrix_rows(side->spare, 0, rows);

	r->grown += gp_product_sum(t, g, kernel);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, g, kernel, none);
	dev->gemm(dev, false, false, 1.0, g, gp_matrix_cols(r->wide, 0, width), 0.0, change);
	dev->gemm(dev, false, false, 1.0, g, gp_matrix_rows(r->ones, 0, f->count), 0.0, spare);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, spare, u, none);
	dev->axpby(dev, -1.0, spare, 1.0, change);
	dev->gemm(dev, true, false, 1.0, g, u, 1.0, r->point_slope[0]);
	dev->gemm(dev, true, false, 1.0, g, gp_matrix_rows(r->ones, 0, rows), 1.0, r->point_slope[1]);
}

/* dx = d(x / len) / len, dlog len = - the sums of d(x / len) o x / len. */
void
gp_inducing_rows(gp_trainer *t, gp_inducing *f, gp_inducing_side *side, int64_t rows, gp_matrix dx)
{
	gp_device  *dev = t->dev;
	int64_t		width = f->scaled.cols;
	gp_matrix	u = gp_matrix_part(side->wide, 0, 0, rows, width);
	gp_matrix	change = gp_matrix_rows(side->change, 0, rows);

	if (dx.data || dx.rows)
	{
		dev->copy(dev, dx, change);
		gp_inducing_each(t, GP_EACH_TIMES, 1.0, dx, f->inverse, none);
	}
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, change, u, none);
	dev->gemm(dev, true, false, -1.0, gp_matrix_part(f->room->ones, 0, 0, rows, 1), change, 1.0,
			  f->log_length.gradient);
}

/* ---- the root ---- */

/* The root of the directions' covariance, and its inverse. */
void
gp_inducing_whiten(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;

	dev->copy(dev, r->root, r->covariance);
	if (dev->potrf(dev, r->root) >= 0)
		gp_raise(t->env, GP_ERR_RANGE, "Take a lower rate, or scale the features to ordinary sizes.",
				 "the inducing points of method dgp are out of range at step %lld", (long long) t->step + 1);
	dev->copy(dev, f->turned, r->root);
	dev->trtri(dev, f->turned);
	dev->copy(dev, r->white, f->turned);
}

/*
 * From dT of T = L^-1: dL = - tril(T' dT T'), and with P = tril(L' dL), its diagonal halved,
 * dcov = T' (P + P') T / 2.
 */
void
gp_inducing_unwhiten(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	a = r->square[0];
	gp_matrix	b = r->square[1];
	gp_matrix	diagonal = gp_matrix_diagonal(a);

	dev->copy(dev, b, r->white_slope);
	dev->gemm(dev, true, false, -1.0, f->turned, b, 0.0, a);
	dev->gemm(dev, false, true, 1.0, a, f->turned, 0.0, b);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, b, r->lower, none);
	dev->gemm(dev, true, false, 1.0, r->root, b, 0.0, a);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, a, r->lower, none);
	dev->axpby(dev, 0.5, diagonal, 0.0, diagonal);
	dev->transpose(dev, b, a);
	dev->axpby(dev, 0.5, b, 0.5, a);
	dev->gemm(dev, true, false, 1.0, f->turned, a, 0.0, b);
	dev->gemm(dev, false, false, 1.0, b, f->turned, 0.0, r->covariance_slope);
	r->grown += r->power * gp_product_sum(t, r->covariance_slope, r->covariance);
}

/* ---- the weights ---- */

/* The features of a panel, whose covariances with the directions are cross, their squares, and what the noise is multiplied with. */
void
gp_inducing_features(gp_trainer *t, gp_inducing *f, gp_matrix cross)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	phi = gp_matrix_rows(r->phi, 0, cross.rows);
	gp_matrix	square = gp_matrix_rows(r->phi_square, 0, cross.rows);
	gp_matrix	spread = gp_matrix_rows(r->spread, 0, cross.rows);

	dev->gemm(dev, false, true, 1.0, cross, r->white, 0.0, phi);
	dev->copy(dev, square, phi);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, square, phi, none);
	dev->copy(dev, spread, gp_matrix_rows(r->level, 0, cross.rows));
	dev->gemm(dev, false, false, 1.0, square, r->less, 1.0, spread);
	gp_inducing_each(t, GP_EACH_ROOT, 1.0, spread, none, none);
}

/* F of a panel whose features stand. */
void
gp_inducing_draw(gp_trainer *t, gp_inducing *f, gp_matrix noise, gp_matrix out)
{
	gp_inducing_room *r = f->room;

	t->dev->gemm(t->dev, false, false, 1.0, gp_matrix_rows(r->phi, 0, out.rows), f->mean.value, 0.0, out);
	gp_inducing_each(t, GP_EACH_ADD, 1.0, out, gp_matrix_rows(r->spread, 0, out.rows), noise);
}

/* What the weights and L^-1 get of dF, and dcross, which may be cross; spread becomes the variances' gradient. */
void
gp_inducing_undraw(gp_trainer *t, gp_inducing *f, gp_matrix cross, gp_matrix noise, gp_matrix df, gp_matrix dcross)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	phi = gp_matrix_rows(r->phi, 0, cross.rows);
	gp_matrix	square = gp_matrix_rows(r->phi_square, 0, cross.rows);
	gp_matrix	dphi = gp_matrix_rows(r->phi_slope, 0, cross.rows);
	gp_matrix	dv = gp_matrix_rows(r->spread, 0, cross.rows);

	dev->gemm(dev, true, false, 1.0, phi, df, 1.0, f->mean.gradient);
	dev->gemm(dev, false, true, 1.0, df, f->mean.value, 0.0, dphi);
	gp_inducing_each(t, GP_EACH_OVER, 0.5, dv, noise, none);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, dv, df, none);
	r->grown += r->power * gp_product_sum(t, dv, gp_matrix_rows(r->level, 0, cross.rows));
	dev->gemm(dev, true, false, 1.0, square, dv, 1.0, r->slope);
	dev->gemm(dev, false, true, 1.0, dv, r->less, 0.0, square);
	gp_inducing_each(t, GP_EACH_ADD, 2.0, dphi, phi, square);
	dev->gemm(dev, true, false, 1.0, dphi, cross, 1.0, r->white_slope);
	dev->gemm(dev, false, false, 1.0, dphi, r->white, 0.0, dcross);
}

/* Sums over panels begin. */
void
gp_inducing_begin(gp_trainer *t, gp_inducing *f)
{
	gp_inducing_room *r = f->room;

	r->grown = 0.0;
	t->dev->fill(t->dev, r->slope, 0.0);
	t->dev->fill(t->dev, r->white_slope, 0.0);
	for (int k = 0; k < 2; k++)
		t->dev->fill(t->dev, r->point_slope[k], 0.0);
}

/* Z / len's gradient of rows, and 2 (G Z - (G 1) o Z) of the points' own kernel, G = dK o K. */
static void
add_points(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	g = r->kernel_slope;

	gp_inducing_each(t, GP_EACH_TIMES, 1.0, g, r->kernel, none);
	dev->gemm(dev, false, false, 2.0, g, f->scaled, 0.0, r->part[0]);
	dev->gemm(dev, false, false, 2.0, g, r->ones_double, 0.0, r->part[1]);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, r->part[1], f->scaled, none);
	dev->axpby(dev, -1.0, r->part[1], 1.0, r->part[0]);
	dev->copy(dev, r->part[1], r->point_slope[1]);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, r->part[1], f->scaled, none);
	dev->copy(dev, r->part[2], r->point_slope[0]);
	dev->axpby(dev, -1.0, r->part[1], 1.0, r->part[2]);
	dev->axpby(dev, 1.0, r->part[0], 1.0, r->part[2]);
}

/* The derivatives by s, the points, len and a, when all panels are done and kernel_slope stands. */
void
gp_inducing_finish(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	change = r->point_slope[0];
	gp_matrix	over = r->point_slope[1];

	gp_inducing_each(t, GP_EACH_ADD, 2.0, f->log_s.gradient, r->slope, r->less);
	dev->axpby(dev, 2.0, r->slope, 1.0, f->log_s.gradient);
	add_points(t, f);
	dev->copy(dev, change, r->part[2]);
	dev->copy(dev, over, change);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, over, f->inverse, none);
	dev->axpby(dev, 1.0, over, 1.0, f->point.gradient);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, change, gp_matrix_cols(r->wide, 0, f->scaled.cols), none);
	dev->gemm(dev, true, false, -1.0, gp_matrix_part(r->ones, 0, 0, f->count, 1), change, 1.0, f->log_length.gradient);
	dev->shift(dev, f->log_a.gradient, 2.0 * r->grown);
}

/* The divergence's gradient. */
void
gp_inducing_prior(gp_trainer *t, gp_block *b, double weight)
{
	gp_weights_prior(t, &b->inducing.mean, &b->inducing.log_s, b->inducing.room->slope, weight);
}
