/*
 * inducing_pairs.c - the published readout: a Gaussian process of pairs of rows by pairs of
 * inducing points (Opolka and Lio 2022, equations 10 and 11).
 *
 *		r ~ GP(c, C),  C_(ij)(pq) = k_ip k_jq + k_iq k_jp,  C_(ij)(ij) = a^4 + k_ij^2
 */
#include "inducing.h"

/* Which columns of picked and crossed are meant: an end's covariances with first or second
 * points. */
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

typedef struct gp_pair_buffers
{
	gp_matrix	cross;			/* rows x span: covariances with the directions */
	gp_matrix	pick[2];		/* count x span: a column has a 1 where its point stands */
	gp_matrix	picked[4];		/* rows x span: of either end with either point */
	gp_matrix	crossed[4];		/* span x span: the same of the points */
	gp_matrix	pick_product;	/* count x span */
	gp_matrix	near;			/* rows x 1: the square of the ends' covariance */
} gp_pair_buffers;

/* With the matrices of ones and zeros that pick the columns of an inducing pair's points. */
static void
pairs_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width)
{
	gp_inducing *f = &op->inducing;
	int64_t		panel = gp_min64(op->ends.most, GP_TRAIN_ROWS);
	int64_t		picks = f->count * f->span;
	double	   *host = gp_alloc_values(t->env, picks, sizeof(double));
	gp_matrix	wrapped = gp_matrix_wrap(host, f->count, f->span, GP_DOUBLE);

	gp_ends_open(t, op, rows, width);
	gp_inducing_open(t, op, op->rows, width, 2);
	gp_parameter_make(t, &f->offset, 1, 1, op->groups, 0.0);
	gp_pair_buffers *b = f->pair_buffers =
		gp_trainer_own(t, gp_alloc_zero(t->env, 1, sizeof(gp_pair_buffers)));
	for (int point = 0; point < 2; point++)
	{
		for (int64_t k = 0; k < gp_items(t->env, picks); k++)
			host[k] = f->pair[point * f->span + k % f->span] == k / f->span ? 1.0 : 0.0;
		b->pick[point] = gp_trainer_matrix(t, f->count, f->span, GP_DOUBLE);
		t->dev->upload(t->dev, b->pick[point], wrapped);
	}
	gp_free(t->env, host);
	for (int k = 0; k < 4; k++)
	{
		b->picked[k] = gp_trainer_matrix(t, panel, f->span, GP_DOUBLE);
		b->crossed[k] = gp_trainer_matrix(t, f->span, f->span, GP_DOUBLE);
	}
	b->cross = gp_trainer_matrix(t, panel, f->span, GP_DOUBLE);
	b->pick_product = gp_trainer_matrix(t, f->count, f->span, GP_DOUBLE);
	b->near = gp_trainer_matrix(t, panel, 1, GP_DOUBLE);
}

/* ---- the covariance of inducing pairs ---- */

void
gp_inducing_pairs_ready(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;
	gp_pair_buffers *b = f->pair_buffers;

	gp_inducing_points_kernel(t, op);
	/* with K of the points, of first and second ones: K_pp' o K_qq' + K_pq' o K_qp' */
	for (int k = 0; k < 4; k++)
	{
		dev->gemm(dev, false, false, 1.0, r->kernel, b->pick[point_of[k]], 0.0, b->pick_product);
		dev->gemm(dev, true, false, 1.0, b->pick[end_of[k]], b->pick_product, 0.0, b->crossed[k]);
	}
	dev->fill(dev, r->covariance, 0.0);
	gp_add_product(t, 1.0, r->covariance, b->crossed[FIRST_FIRST], b->crossed[SECOND_SECOND]);
	gp_add_product(t, 1.0, r->covariance, b->crossed[FIRST_SECOND], b->crossed[SECOND_FIRST]);
	dev->shift(dev, gp_matrix_diagonal(r->covariance),
			   GP_INDUCING_JITTER * f->amplitude * f->amplitude);
	gp_inducing_root(t, op);
}

/* The derivatives by the points and the parameters, when all panels are done. */
static void
covariance_backward(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	gp_inducing_buffers *r = f->buffers;
	gp_pair_buffers *b = f->pair_buffers;
	gp_matrix	slope = r->square[0];

	gp_inducing_root_backward(t, f);
	dev->fill(dev, r->kernel_slope, 0.0);
	for (int k = 0; k < 4; k++)
	{
		dev->copy(dev, slope, r->covariance_slope);
		gp_times(t, slope, b->crossed[partner_of[k]]);
		dev->gemm(dev, false, false, 1.0, b->pick[end_of[k]], slope, 0.0, b->pick_product);
		dev->gemm(dev, false, true, 1.0, b->pick_product, b->pick[point_of[k]], 1.0,
				  r->kernel_slope);
	}
	gp_inducing_points_backward(t, op);
}

/* ---- pairs of rows ---- */

/* The rows of a panel's first or second ends. */
static gp_matrix
ends_of(const gp_operation *op, const gp_band *band, int end)
{
	return gp_matrix_rows(op->ends.row, end * op->ends.n + band->first, band->count);
}

/* The difference of a panel's ends, over len. */
static gp_matrix
difference(gp_trainer *t, gp_inducing *f, int64_t rows)
{
	gp_inducing_side *s = f->buffers->side;
	gp_matrix	out = gp_first_rows(s[0].spare, rows);

	t->dev->copy(t->dev, out, gp_inducing_scaled_rows(&s[0], rows));
	t->dev->axpby(t->dev, -1.0, gp_inducing_scaled_rows(&s[1], rows), 1.0, out);
	return out;
}

/* A panel's covariances with the inducing pairs, from those of its ends with their points; and its
 * features. */
static gp_matrix
pairs_panel(gp_trainer *t, gp_operation *op, const gp_band *band)
{
	gp_device  *dev = t->dev;
	gp_inducing *f = &op->inducing;
	gp_inducing_buffers *r = f->buffers;
	gp_pair_buffers *b = f->pair_buffers;
	int64_t		rows = band->count;
	gp_matrix	cross = gp_first_rows(b->cross, rows);
	gp_matrix	near = gp_first_rows(b->near, rows);
	gp_matrix	level = gp_first_rows(r->level, rows);
	double		square = f->amplitude * f->amplitude;
	gp_matrix	picked[4];

	for (int end = 0; end < 2; end++)
		gp_inducing_row_kernel(t, op, &r->side[end], ends_of(op, band, end));
	for (int k = 0; k < 4; k++)
	{
		picked[k] = gp_first_rows(b->picked[k], rows);
		dev->gemm(dev, false, false, 1.0, gp_first_rows(r->side[end_of[k]].kernel, rows),
				  b->pick[point_of[k]], 0.0, picked[k]);
	}
	dev->fill(dev, cross, 0.0);
	gp_add_product(t, 1.0, cross, picked[FIRST_FIRST], picked[SECOND_SECOND]);
	gp_add_product(t, 1.0, cross, picked[FIRST_SECOND], picked[SECOND_FIRST]);
	/* near = k_ij^2 and level = a^4 + k_ij^2 */
	gp_matrix	apart = difference(t, f, rows);
	dev->row_dots(dev, level, apart, apart);
	gp_exp(t, -1.0, near, level);
	dev->axpby(dev, square, near, 0.0, near);
	dev->copy(dev, level, near);
	dev->shift(dev, level, square);
	gp_inducing_features(t, op, cross);
	return cross;
}

static void
pairs_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	t->dev->gather_rows(t->dev, gp_first_rows(op->ends.row, 2 * op->ends.n), x, op->ends.end);
	gp_inducing_pairs_ready(t, op);
	for (gp_band band = gp_band_first(y.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		pairs_panel(t, op, &band);
		gp_weights_draw(t, &op->weights, &band, op->inducing.buffers->level, GP_NONE,
						gp_matrix_rows(y, band.first, band.count));
	}
	t->dev->shift(t->dev, y, gp_parameter_number(t, &op->inducing.offset));
}

/* The derivatives of a panel; the gradient of an end's row stands in place of its partner's. */
static void
panel_backward(gp_trainer *t, gp_operation *op, const gp_band *band, gp_matrix df)
{
	gp_device  *dev = t->dev;
	gp_inducing *f = &op->inducing;
	gp_inducing_buffers *r = f->buffers;
	gp_pair_buffers *b = f->pair_buffers;
	int64_t		rows = band->count;
	gp_matrix	cross = pairs_panel(t, op, band);
	gp_matrix	slope = gp_first_rows(op->weights.phi, rows);
	gp_matrix	near = gp_first_rows(b->near, rows);
	gp_matrix	push = gp_first_rows(r->side[1].spare, rows);

	gp_inducing_features_backward(t, op, band, cross, df, cross);
	/* the covariances of its ends with the points */
	for (int end = 0; end < 2; end++)
		dev->fill(dev, r->side[end].slope, 0.0);
	for (int k = 0; k < 4; k++)
	{
		dev->copy(dev, slope, cross);
		gp_times(t, slope, gp_first_rows(b->picked[partner_of[k]], rows));
		dev->gemm(dev, false, true, 1.0, slope, b->pick[point_of[k]], 1.0,
				  gp_first_rows(r->side[end_of[k]].slope, rows));
	}
	for (int end = 0; end < 2; end++)
		gp_inducing_row_kernel_backward(t, f, &r->side[end], rows);
	/* the variances' gradient stands in variance: d(x_i / len) -= 2 dv k_ij^2 (x_i - x_j) / len */
	gp_matrix	apart = difference(t, f, rows);
	gp_times(t, near, gp_first_rows(op->weights.variance, rows));
	dev->gemm(dev, false, false, 2.0, near, gp_first_rows(r->ones, 1), 0.0, push);
	gp_times(t, push, apart);
	for (int end = 0; end < 2; end++)
	{
		dev->axpby(dev, end == 0 ? -1.0 : 1.0, push, 1.0, gp_first_rows(r->side[end].change, rows));
		gp_lengths_backward(t, &op->weights, gp_inducing_scaled_rows(&r->side[end], rows),
							gp_first_rows(r->side[end].change, rows), ends_of(op, band, 1 - end));
	}
}

static void
pairs_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
			   gp_matrix dx)
{
	gp_inducing_begin_backward(t, op);
	for (gp_band band = gp_band_first(y.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	df = gp_matrix_rows(dy, band.first, band.count);

		panel_backward(t, op, &band, df);
		t->dev->gemm(t->dev, true, false, 1.0, gp_matrix_rows(op->weights.ones, 0, band.count), df,
					 1.0, op->inducing.offset.gradient);
	}
	covariance_backward(t, op);
	t->dev->spmm(t->dev, 1.0, &op->ends.scatter, gp_first_rows(op->ends.row, 2 * op->ends.n), 0.0,
				 dx);
}

const gp_operation_class gp_operation_inducing_pairs = {
	.shape = pairs_shape,.forward = pairs_forward,.backward = pairs_backward,
	.prior = gp_weights_prior
};
