/*
 * inducing_pairs.c - a Gaussian process of pairs of rows by inducing pairs of points, the published readout
 * (Opolka and Lio 2022, equations 10 and 11):
 *
 *		r ~ GP(c, C),  C_(ij)(pq) = k_ip k_jq + k_iq k_jp,  C_(ij)(ij) = a^4 + k_ij^2
 *
 * Products with matrices of ones and zeros pick the columns of an inducing pair's points.
 */
#include "inducing.h"

#define JITTER 1e-6				/* of a^4 */

static const gp_matrix none = {0};

/* Which columns of picked and crossed are meant: an end's covariances with first or second points. */
enum
{
	FIRST_FIRST,
	SECOND_SECOND,
	FIRST_SECOND,
	SECOND_FIRST
};

static const int end_of[] = {0, 1, 0, 1};
static const int point_of[] = {0, 1, 1, 0};
static const int partner_of[] = {SECOND_SECOND, FIRST_FIRST, SECOND_FIRST, FIRST_SECOND};

/* ---- room ---- */

/* The matrices that pick points. */
static void
open_picks(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	double	   *host = gp_alloc_figures(t->env, f->count * f->span, sizeof(double));

	for (int side = 0; side < 2; side++)
	{
		for (int64_t k = 0; k < f->count * f->span && !t->env->dry; k++)
			host[k] = f->pair[side * f->span + k % f->span] == k / f->span ? 1.0 : 0.0;
		r->pick[side] = dev->create(dev, f->count, f->span, t->type);
		r->pick_double[side] = dev->create(dev, f->count, f->span, GP_DOUBLE);
		dev->upload(dev, r->pick[side], gp_matrix_wrap(host, f->count, f->span, GP_DOUBLE));
		dev->upload(dev, r->pick_double[side], gp_matrix_wrap(host, f->count, f->span, GP_DOUBLE));
	}
	gp_free(t->env, host);
}

/* Makes the parameters, the buffers, and room for the pairs of a step. */
static void
pairs_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t width)
{
	gp_inducing *f = &b->inducing;
	gp_device  *dev = t->dev;
	int64_t		panel = gp_min64(b->ends.most, GP_TRAIN_ROWS);
	gp_inducing_room *r;

	gp_ends_open(t, b, rows, width);
	for (int64_t k = 0; k < 2 * b->ends.most; k++)
		gp_number_put(b->ends.scatter.value, t->type, k, 1.0);
	gp_inducing_open(t, b, b->rows, width, 2, 2);
	gp_parameter_make(t, &f->offset, 1, 1, b->groups, 0.0);
	r = f->room;
	open_picks(t, f);
	for (int k = 0; k < 4; k++)
	{
		r->picked[k] = dev->create(dev, panel, f->span, t->type);
		r->crossed[k] = dev->create(dev, f->span, f->span, GP_DOUBLE);
	}
	r->cross = dev->create(dev, panel, f->span, t->type);
	r->pick_room = dev->create(dev, f->count, f->span, GP_DOUBLE);
	r->near = dev->create(dev, panel, 1, t->type);
}

/* Frees it. */
static void
pairs_close(gp_trainer *t, gp_block *b)
{
	gp_parameter_free(t, &b->inducing.offset);
	gp_inducing_close(t, b);
	gp_ends_close(t, b);
}

/* ---- the inducing pairs ---- */

/* Their covariance: with K of the points, of first and second ones, K_pp' o K_qq' + K_pq' o K_qp'. */
static void
cover_pairs(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;

	for (int k = 0; k < 4; k++)
	{
		dev->gemm(dev, false, false, 1.0, r->kernel, r->pick_double[point_of[k]], 0.0, r->pick_room);
		dev->gemm(dev, true, false, 1.0, r->pick_double[end_of[k]], r->pick_room, 0.0, r->crossed[k]);
	}
	dev->fill(dev, r->covariance, 0.0);
	gp_inducing_each(t, GP_EACH_ADD, 1.0, r->covariance, r->crossed[FIRST_FIRST], r->crossed[SECOND_SECOND]);
	gp_inducing_each(t, GP_EACH_ADD, 1.0, r->covariance, r->crossed[FIRST_SECOND], r->crossed[SECOND_FIRST]);
	dev->shift(dev, gp_matrix_diagonal(r->covariance), JITTER * f->amplitude * f->amplitude);
}

/* The same backward: kernel_slope from covariance_slope. */
static void
uncover_pairs(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	slope = r->square[0];

	dev->fill(dev, r->kernel_slope, 0.0);
	for (int k = 0; k < 4; k++)
	{
		dev->copy(dev, slope, r->covariance_slope);
		gp_inducing_each(t, GP_EACH_TIMES, 1.0, slope, r->crossed[partner_of[k]], none);
		dev->gemm(dev, false, false, 1.0, r->pick_double[end_of[k]], slope, 0.0, r->pick_room);
		dev->gemm(dev, false, true, 1.0, r->pick_room, r->pick_double[point_of[k]], 1.0, r->kernel_slope);
	}
}

/* ---- pairs of rows ---- */

/* The rows of a panel's first or second ends. */
static gp_matrix
ends_of(const gp_block *b, const gp_band *band, int end)
{
	return gp_matrix_rows(b->ends.row, end * b->ends.n + band->first, band->count);
}

/* The difference of a panel's ends, over len. */
static gp_matrix
difference(gp_trainer *t, gp_inducing *f, int64_t rows)
{
	gp_inducing_room *r = f->room;
	int64_t		width = f->scaled.cols;
	gp_matrix	out = gp_matrix_rows(r->side[0].spare, 0, rows);

	t->dev->copy(t->dev, out, gp_matrix_part(r->side[0].wide, 0, 0, rows, width));
	t->dev->axpby(t->dev, -1.0, gp_matrix_part(r->side[1].wide, 0, 0, rows, width), 1.0, out);
	return out;
}

/* near = k_ij^2 and level = a^4 + k_ij^2 of a panel's pairs. */
static void
cover_ends(gp_trainer *t, gp_inducing *f, int64_t rows)
{
	gp_device  *dev = t->dev;
	gp_matrix	apart = difference(t, f, rows);
	gp_matrix	near = gp_matrix_rows(f->room->near, 0, rows);
	gp_matrix	level = gp_matrix_rows(f->room->level, 0, rows);
	gp_matrix	dots = gp_matrix_rows(t->dots, 0, rows);
	double		square = f->amplitude * f->amplitude;

	dev->row_dots(dev, dots, apart, apart);
	dev->copy(dev, level, dots);
	gp_inducing_each(t, GP_EACH_EXP, -1.0, near, level, none);
	dev->axpby(dev, square, near, 0.0, near);
	dev->copy(dev, level, near);
	dev->shift(dev, level, square);
}

/* A panel's covariances with the inducing pairs, from those of its ends with their points; and its features. */
static gp_matrix
cover_panel(gp_trainer *t, gp_block *b, const gp_band *band)
{
	gp_inducing *f = &b->inducing;
	gp_inducing_room *r = f->room;
	gp_matrix	cross = gp_matrix_rows(r->cross, 0, band->count);
	gp_matrix	picked[4];

	for (int end = 0; end < 2; end++)
		gp_inducing_cover(t, f, &r->side[end], ends_of(b, band, end));
	for (int k = 0; k < 4; k++)
	{
		picked[k] = gp_matrix_rows(r->picked[k], 0, band->count);
		t->dev->gemm(t->dev, false, false, 1.0, gp_matrix_rows(r->side[end_of[k]].kernel, 0, band->count),
					 r->pick[point_of[k]], 0.0, picked[k]);
	}
	t->dev->fill(t->dev, cross, 0.0);
	gp_inducing_each(t, GP_EACH_ADD, 1.0, cross, picked[FIRST_FIRST], picked[SECOND_SECOND]);
	gp_inducing_each(t, GP_EACH_ADD, 1.0, cross, picked[FIRST_SECOND], picked[SECOND_FIRST]);
	cover_ends(t, f, band->count);
	gp_inducing_features(t, f, cross);
	return cross;
}

/* What follows from the parameters. */
void
gp_inducing_pairs_ready(gp_trainer *t, gp_block *b)
{
	gp_inducing_points(t, &b->inducing);
	cover_pairs(t, &b->inducing);
	gp_inducing_whiten(t, &b->inducing);
}

/* r of each pair. */
static void
pairs_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_inducing *f = &b->inducing;
	double		offset = 0.0;

	t->dev->gather_rows(t->dev, gp_matrix_rows(b->ends.row, 0, 2 * b->ends.n), x, b->ends.end);
	gp_inducing_pairs_ready(t, b);
	for (gp_band band = gp_band_first(y.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		cover_panel(t, b, &band);
		gp_inducing_draw(t, f, gp_matrix_rows(f->noise, band.first, band.count),
						 gp_matrix_rows(y, band.first, band.count));
	}
	t->dev->download(t->dev, gp_matrix_wrap(&offset, 1, 1, GP_DOUBLE), f->offset.value);
	t->dev->shift(t->dev, y, offset);
}

/* What the covariances of a panel's ends with the points get of those of its pairs. */
static void
unpick(gp_trainer *t, gp_inducing *f, gp_matrix dcross)
{
	gp_inducing_room *r = f->room;

	for (int end = 0; end < 2; end++)
		t->dev->fill(t->dev, r->side[end].slope, 0.0);
	for (int k = 0; k < 4; k++)
	{
		gp_matrix	slope = gp_matrix_rows(r->phi, 0, dcross.rows);

		t->dev->copy(t->dev, slope, dcross);
		gp_inducing_each(t, GP_EACH_TIMES, 1.0, slope, gp_matrix_rows(r->picked[partner_of[k]], 0, dcross.rows), none);
		t->dev->gemm(t->dev, false, true, 1.0, slope, r->pick[point_of[k]], 1.0,
					 gp_matrix_rows(r->side[end_of[k]].slope, 0, dcross.rows));
	}
}

/* What the ends get of the variances' gradient, which stands in spread: d(x_i / len) -= 2 dv k_ij^2 (x_i - x_j) / len. */
static void
uncover_ends(gp_trainer *t, gp_inducing *f, int64_t rows)
{
	gp_device  *dev = t->dev;
	gp_inducing_room *r = f->room;
	gp_matrix	near = gp_matrix_rows(r->near, 0, rows);
	gp_matrix	push = gp_matrix_rows(r->side[1].spare, 0, rows);
	gp_matrix	apart = difference(t, f, rows);

	gp_inducing_each(t, GP_EACH_TIMES, 1.0, near, gp_matrix_rows(r->spread, 0, rows), none);
	dev->gemm(dev, false, false, 2.0, near, gp_matrix_rows(r->ones, 0, 1), 0.0, push);
	gp_inducing_each(t, GP_EACH_TIMES, 1.0, push, apart, none);
	dev->axpby(dev, -1.0, push, 1.0, gp_matrix_rows(r->side[0].change, 0, rows));
	dev->axpby(dev, 1.0, push, 1.0, gp_matrix_rows(r->side[1].change, 0, rows));
}

/* The derivatives of a panel; the gradient of an end's row takes the place of its partner's. */
static void
backward_panel(gp_trainer *t, gp_block *b, const gp_band *band, gp_matrix dy)
{
	gp_inducing *f = &b->inducing;
	gp_inducing_room *r = f->room;
	gp_matrix	cross = cover_panel(t, b, band);

	gp_inducing_undraw(t, f, cross, gp_matrix_rows(f->noise, band->first, band->count),
					   gp_matrix_rows(dy, band->first, band->count), cross);
	unpick(t, f, cross);
	for (int end = 0; end < 2; end++)
		gp_inducing_uncover(t, f, &r->side[end], band->count);
	uncover_ends(t, f, band->count);
	for (int end = 0; end < 2; end++)
		gp_inducing_rows(t, f, &r->side[end], band->count, ends_of(b, band, 1 - end));
}

/* The derivatives, panel by panel. */
static void
pairs_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_inducing *f = &b->inducing;

	gp_inducing_begin(t, f);
	for (gp_band band = gp_band_first(y.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(dy, band.first, band.count);

		backward_panel(t, b, &band, dy);
		t->dev->gemm(t->dev, true, false, 1.0, gp_matrix_part(f->room->ones, 0, 0, band.count, 1), part, 1.0,
					 f->offset.gradient);
	}
	gp_inducing_unwhiten(t, f);
	uncover_pairs(t, f);
	gp_inducing_finish(t, f);
	t->dev->spmm(t->dev, 1.0, &b->ends.scatter, gp_matrix_rows(b->ends.row, 0, 2 * b->ends.n), 0.0, dx);
}

const gp_block_class gp_block_inducing_pairs = {
	.name = "inducing pairs",.shape = pairs_shape,.forward = pairs_forward,.backward = pairs_backward,
	.prior = gp_inducing_prior,.close = pairs_close
};
