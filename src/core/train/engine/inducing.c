/*
 * inducing.c - Gaussian processes by inducing points, as training steps take them (Hensman,
 * Matthews and Ghahramani 2015).
 *
 *		k(x, z) = a^2 exp(-|x - z|^2 / 2), x and z over len;  C of rows and directions, LL' of
 *		directions,
 *		Phi = C L^-T,  F = Phi mean + sqrt(level + (Phi o Phi) (s^2 - 1)) o e
 *
 * with weights that are white a priori, so that the posterior starts as the prior.  A layer's
 * directions are its points (Salimbeni and Deisenroth 2017).  The published readout is a Gaussian
 * process of pairs of rows by pairs of points (Opolka and Lio 2022, equations 10 and 11):
 *
 *		r ~ GP(c, C),  C_(ij)(pq) = k_ip k_jq + k_iq k_jp,  C_(ij)(ij) = a^4 + k_ij^2
 *
 * All of it is in double, as the root and its derivative need.  Rows go by in panels, whose kernel
 * is computed again for the derivatives.
 */
#include "engine.h"

#define JITTER 1e-6				/* of a variance, added to it */

/* Rows that meet the points, GP_TRAIN_ROWS at most: those of a layer, or first or second ends. */
typedef struct side
{
	gp_matrix	augmented;			/* rows x (width + 2): x / len, -|x / len|^2 / 2, 1 */
	gp_matrix	exponent;		/* rows x count */
	gp_matrix	kernel;			/* rows x count */
	gp_matrix	slope;			/* rows x count: the gradient by it */
	gp_matrix	change;			/* rows x width: the gradient by x / len */
	gp_matrix	spare;			/* rows x width */
} side;

typedef struct gp_inducing_buffers
{
	int			power;			/* of a^2 in a covariance of directions: 1, or 2 of pairs */
	double		dlog_a;			/* half the gradient by log a, so far */
	gp_matrix	augmented;			/* count x (width + 2): z / len, 1, 2 log a - |z / len|^2 / 2 */
	gp_matrix	ones;			/* as many rows as there are points, or in a panel, x width */
	gp_matrix	kernel;			/* count x count: of the points */
	gp_matrix	kernel_slope;
	gp_matrix	covariance;		/* span x span: of the directions; the points' itself where they are
								 * these */
	gp_matrix	covariance_slope;
	gp_matrix	root;			/* span x span: L */
	gp_matrix	lower;			/* span x span: 1 in the lower triangle, else 0 */
	gp_matrix	square[2];		/* span x span */
	gp_matrix	white_slope;	/* span x span: the gradient by L^-1 */
	gp_matrix	point_slope[2];	/* count x width: what rows give to the points */
	gp_matrix	level;			/* rows x cols: variances of the prior */
	side		side[2];
	/* of pairs */
	gp_matrix	cross;			/* rows x span: covariances with the directions */
	gp_matrix	pick[2];		/* count x span: a column has a 1 where its point stands */
	gp_matrix	picked[4];		/* rows x span: of either end with either point */
	gp_matrix	crossed[4];		/* span x span: the same of the points */
	gp_matrix	pick_product;		/* count x span */
	gp_matrix	near;			/* rows x 1: the square of the ends' covariance */
} buffers;

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

static gp_matrix
first(gp_matrix m, int64_t rows)
{
	return gp_matrix_rows(m, 0, rows);
}

/* ---- buffers ---- */

/* Makes the parameters and the buffers; power is 2 for pairs, whose rows have two sides. */
static void
open_buffers(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width, int power)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	buffers    *r = f->buffers = gp_trainer_own(t, gp_alloc_zero(t->env, 1, sizeof(buffers)));
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
	{
		side	   *s = &r->side[k];

		s->augmented = gp_trainer_matrix(t, panel, width + 2, GP_DOUBLE);
		dev->fill(dev, s->augmented, 1.0);
		s->exponent = gp_trainer_matrix(t, panel, n, GP_DOUBLE);
		s->kernel = gp_trainer_matrix(t, panel, n, GP_DOUBLE);
		s->slope = gp_trainer_matrix(t, panel, n, GP_DOUBLE);
		s->change = gp_trainer_matrix(t, panel, width, GP_DOUBLE);
		s->spare = gp_trainer_matrix(t, panel, width, GP_DOUBLE);
	}
}

static void
layer_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width)
{
	op->inducing.span = op->inducing.count;
	open_buffers(t, op, rows, width, 1);
}

/* The same of pairs, with the matrices of ones and zeros that pick the columns of an inducing
 * pair's points. */
static void
pairs_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width)
{
	gp_inducing *f = &op->inducing;
	int64_t		panel = gp_min64(op->ends.most, GP_TRAIN_ROWS);
	int64_t		picks = f->count * f->span;
	double	   *host = gp_alloc_values(t->env, picks, sizeof(double));
	gp_matrix	wrapped = gp_matrix_wrap(host, f->count, f->span, GP_DOUBLE);

	gp_ends_open(t, op, rows, width);
	open_buffers(t, op, op->rows, width, 2);
	gp_parameter_make(t, &f->offset, 1, 1, op->groups, 0.0);
	buffers    *r = f->buffers;
	for (int point = 0; point < 2; point++)
	{
		for (int64_t k = 0; k < gp_items(t->env, picks); k++)
			host[k] = f->pair[point * f->span + k % f->span] == k / f->span ? 1.0 : 0.0;
		r->pick[point] = gp_trainer_matrix(t, f->count, f->span, GP_DOUBLE);
		t->dev->upload(t->dev, r->pick[point], wrapped);
	}
	gp_free(t->env, host);
	for (int k = 0; k < 4; k++)
	{
		r->picked[k] = gp_trainer_matrix(t, panel, f->span, GP_DOUBLE);
		r->crossed[k] = gp_trainer_matrix(t, f->span, f->span, GP_DOUBLE);
	}
	r->cross = gp_trainer_matrix(t, panel, f->span, GP_DOUBLE);
	r->pick_product = gp_trainer_matrix(t, f->count, f->span, GP_DOUBLE);
	r->near = gp_trainer_matrix(t, panel, 1, GP_DOUBLE);
}

/* ---- the kernel, and the root of the points ---- */

/* A column behind x / len: -|x / len|^2 / 2 + add. */
static void
write_lengths(gp_trainer *t, gp_matrix x, gp_matrix column, double add)
{
	t->dev->row_dots(t->dev, column, x, x);
	t->dev->axpby(t->dev, -0.5, column, 0.0, column);
	t->dev->shift(t->dev, column, add);
}

/* The covariances of rows with the points. */
static void
row_kernel(gp_trainer *t, gp_operation *op, side *s, gp_matrix x)
{
	gp_device  *dev = t->dev;
	gp_matrix	augmented = first(s->augmented, x.rows);
	gp_matrix	u = gp_matrix_cols(augmented, 0, x.cols);
	gp_matrix	exponent = first(s->exponent, x.rows);

	dev->copy(dev, u, x);
	gp_times(t, u, op->weights.inverse);
	write_lengths(t, u, gp_matrix_cols(augmented, x.cols, 1), 0.0);
	dev->gemm(dev, false, true, 1.0, augmented, op->inducing.buffers->augmented, 0.0, exponent);
	gp_exp(t, 1.0, first(s->kernel, x.rows), exponent);
}

void
gp_inducing_ready(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_device  *dev = t->dev;
	buffers    *r = f->buffers;

	f->amplitude = exp(2.0 * gp_parameter_number(t, &op->weights.log_a));
	gp_exp(t, -1.0, op->weights.inverse, op->weights.log_length.value);
	dev->fill(dev, r->augmented, 1.0);
	dev->copy(dev, f->scaled, f->point.value);
	gp_times(t, f->scaled, op->weights.inverse);
	write_lengths(t, f->scaled, gp_matrix_cols(r->augmented, f->scaled.cols + 1, 1),
				  log(f->amplitude));
	row_kernel(t, op, &r->side[0], f->point.value);
	dev->copy(dev, r->kernel, first(r->side[0].kernel, f->count));
	dev->shift(dev, gp_matrix_diagonal(r->kernel), JITTER * f->amplitude);
	gp_exp(t, 2.0, op->weights.variance_factor, op->weights.log_s.value);
	dev->shift(dev, op->weights.variance_factor, -1.0);
	if (r->power > 1)
	{
		/* The covariance of pairs: with K of the points, of first and second ones, K_pp' o K_qq' +
		 * K_pq' o K_qp' */
		for (int k = 0; k < 4; k++)
		{
			dev->gemm(dev, false, false, 1.0, r->kernel, r->pick[point_of[k]], 0.0,
					  r->pick_product);
			dev->gemm(dev, true, false, 1.0, r->pick[end_of[k]], r->pick_product, 0.0,
					  r->crossed[k]);
		}
		dev->fill(dev, r->covariance, 0.0);
		gp_add_product(t, 1.0, r->covariance, r->crossed[FIRST_FIRST], r->crossed[SECOND_SECOND]);
		gp_add_product(t, 1.0, r->covariance, r->crossed[FIRST_SECOND], r->crossed[SECOND_FIRST]);
		dev->shift(dev, gp_matrix_diagonal(r->covariance), JITTER * f->amplitude * f->amplitude);
	}
	else
		dev->fill(dev, r->level, f->amplitude);
	dev->copy(dev, r->root, r->covariance);
	if (dev->potrf(dev, r->root) >= 0)
		gp_raise(t->env, GP_ERR_RANGE,
				 "Use a lower rate, or scale the features to ordinary sizes.",
				 "the inducing points of method dgp are out of range at step %lld",
				 (long long) t->step + 1);
	dev->copy(dev, f->root_inverse, r->root);
	dev->trtri(dev, f->root_inverse);
}

/*
 * Through the root (Murray 2016): from dT of T = L^-1: dL = - tril(T' dT T'), and with P = tril(L'
 * dL), its diagonal halved, dcov = T' (P + P') T / 2.
 */
static void
root_backward(gp_trainer *t, gp_inducing *f)
{
	gp_device  *dev = t->dev;
	buffers    *r = f->buffers;
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
	if (r->power == 1)
		return;
	/* from pairs to the points' kernel */
	dev->fill(dev, r->kernel_slope, 0.0);
	for (int k = 0; k < 4; k++)
	{
		dev->copy(dev, a, r->covariance_slope);
		gp_times(t, a, r->crossed[partner_of[k]]);
		dev->gemm(dev, false, false, 1.0, r->pick[end_of[k]], a, 0.0, r->pick_product);
		dev->gemm(dev, false, true, 1.0, r->pick_product, r->pick[point_of[k]], 1.0,
				  r->kernel_slope);
	}
}

/* The derivatives by s, the points, len and a, when all panels are done. */
static void
points_backward(gp_trainer *t, gp_operation *op)
{
	gp_inducing *f = &op->inducing;
	gp_weights *w = &op->weights;
	gp_device  *dev = t->dev;
	buffers    *r = f->buffers;
	gp_matrix	g = r->kernel_slope;
	gp_matrix	change = r->point_slope[0];
	gp_matrix	over = r->point_slope[1];

	gp_add_product(t, 2.0, w->log_s.gradient, w->slope, w->variance_factor);
	dev->axpby(dev, 2.0, w->slope, 1.0, w->log_s.gradient);
	root_backward(t, f);
	/* Z / len's gradient: of rows, and 2 (G Z - (G 1) o Z) of the points' own kernel, G = dK o K */
	gp_times(t, g, r->kernel);
	dev->gemm(dev, false, false, 2.0, g, f->scaled, 1.0, change);
	dev->gemm(dev, false, false, 2.0, g, first(r->ones, f->count), 1.0, over);
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

/* ---- rows and points ---- */

/* x / len of a side's rows. */
static gp_matrix
scaled_rows(const side *s, int64_t rows)
{
	return gp_matrix_part(s->augmented, 0, 0, rows, s->augmented.cols - 2);
}

/* With G = dK o K: d(x / len) = G Z - (G 1) o x, and sums for dZ = G'x - (G'1) o Z. */
static void
kernel_backward(gp_trainer *t, gp_inducing *f, side *s, int64_t rows)
{
	gp_device  *dev = t->dev;
	buffers    *r = f->buffers;
	gp_matrix	u = scaled_rows(s, rows);
	gp_matrix	g = first(s->slope, rows);
	gp_matrix	change = first(s->change, rows);
	gp_matrix	spare = first(s->spare, rows);

	r->dlog_a += gp_product_sum(t, g, first(s->kernel, rows));
	gp_times(t, g, first(s->kernel, rows));
	dev->gemm(dev, false, false, 1.0, g, f->scaled, 0.0, change);
	dev->gemm(dev, false, false, 1.0, g, first(r->ones, f->count), 0.0, spare);
	gp_times(t, spare, u);
	dev->axpby(dev, -1.0, spare, 1.0, change);
	dev->gemm(dev, true, false, 1.0, g, u, 1.0, r->point_slope[0]);
	dev->gemm(dev, true, false, 1.0, g, first(r->ones, rows), 1.0, r->point_slope[1]);
}

/* ---- features and weights ---- */

/* The features of a panel, from its covariances with the directions. */
static void
make_features(gp_trainer *t, gp_operation *op, gp_matrix cross)
{
	t->dev->gemm(t->dev, false, true, 1.0, cross, op->inducing.root_inverse, 0.0,
				 first(op->weights.phi, cross.rows));
}

/* What the weights and L^-1 get of dF, and dcross, which may be cross; variance becomes
 * the variances' gradient. */
static void
features_backward(gp_trainer *t, gp_operation *op, const gp_band *band, gp_matrix cross,
				  gp_matrix df, gp_matrix dcross)
{
	buffers    *r = op->inducing.buffers;
	gp_matrix	dphi = first(op->weights.dphi, band->count);

	gp_weights_backward(t, &op->weights, band, r->level, df);
	r->dlog_a += r->power * gp_product_sum(t, first(op->weights.variance, band->count),
										   first(r->level, band->count));
	t->dev->gemm(t->dev, true, false, 1.0, dphi, cross, 1.0, r->white_slope);
	t->dev->gemm(t->dev, false, false, 1.0, dphi, op->inducing.root_inverse, 0.0, dcross);
}

/* Sums over panels begin. */
static void
begin_backward(gp_trainer *t, gp_operation *op)
{
	buffers    *r = op->inducing.buffers;

	r->dlog_a = 0.0;
	t->dev->fill(t->dev, op->weights.slope, 0.0);
	t->dev->fill(t->dev, r->white_slope, 0.0);
	for (int k = 0; k < 2; k++)
		t->dev->fill(t->dev, r->point_slope[k], 0.0);
}

/* ---- a layer ---- */

/* The features of a panel, whose covariances with the directions are those with the points; returns
 * these. */
static gp_matrix
layer_panel(gp_trainer *t, gp_operation *op, gp_matrix x)
{
	side	   *s = &op->inducing.buffers->side[0];

	row_kernel(t, op, s, x);
	make_features(t, op, first(s->kernel, x.rows));
	return first(s->kernel, x.rows);
}

static void
layer_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_inducing_ready(t, op);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	rows = gp_matrix_rows(x, band.first, band.count);

		layer_panel(t, op, rows);
		gp_weights_draw(t, &op->weights, &band, op->inducing.buffers->level, rows,
						gp_matrix_rows(y, band.first, band.count));
	}
}

static void
layer_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
			   gp_matrix dx)
{
	side	   *s = &op->inducing.buffers->side[0];

	begin_backward(t, op);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	df = gp_matrix_rows(dy, band.first, band.count);
		gp_matrix	dpanel = gp_is_wanted(dx) ? gp_matrix_rows(dx, band.first, band.count)
			: GP_NONE;
		gp_matrix	cross = layer_panel(t, op, gp_matrix_rows(x, band.first, band.count));

		features_backward(t, op, &band, cross, df, first(s->slope, band.count));
		kernel_backward(t, &op->inducing, s, band.count);
		gp_lengths_backward(t, &op->weights, scaled_rows(s, band.count),
							first(s->change, band.count), dpanel);
		if (gp_is_wanted(dx))
			gp_add_input(t, &op->weights, true, df, dpanel);
	}
	points_backward(t, op);
}

const gp_operation_class gp_operation_inducing = {
	.shape = layer_shape,.forward = layer_forward,.backward = layer_backward,
	.prior = gp_weights_prior
};

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
	side	   *s = f->buffers->side;
	gp_matrix	out = first(s[0].spare, rows);

	t->dev->copy(t->dev, out, scaled_rows(&s[0], rows));
	t->dev->axpby(t->dev, -1.0, scaled_rows(&s[1], rows), 1.0, out);
	return out;
}

/* A panel's covariances with the inducing pairs, from those of its ends with their points; and its
 * features. */
static gp_matrix
pairs_panel(gp_trainer *t, gp_operation *op, const gp_band *band)
{
	gp_device  *dev = t->dev;
	gp_inducing *f = &op->inducing;
	buffers    *r = f->buffers;
	int64_t		rows = band->count;
	gp_matrix	cross = first(r->cross, rows);
	gp_matrix	near = first(r->near, rows);
	gp_matrix	level = first(r->level, rows);
	double		square = f->amplitude * f->amplitude;
	gp_matrix	picked[4];

	for (int end = 0; end < 2; end++)
		row_kernel(t, op, &r->side[end], ends_of(op, band, end));
	for (int k = 0; k < 4; k++)
	{
		picked[k] = first(r->picked[k], rows);
		dev->gemm(dev, false, false, 1.0, first(r->side[end_of[k]].kernel, rows),
				  r->pick[point_of[k]], 0.0, picked[k]);
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
	make_features(t, op, cross);
	return cross;
}

static void
pairs_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	t->dev->gather_rows(t->dev, first(op->ends.row, 2 * op->ends.n), x, op->ends.end);
	gp_inducing_ready(t, op);
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
	buffers    *r = f->buffers;
	int64_t		rows = band->count;
	gp_matrix	cross = pairs_panel(t, op, band);
	gp_matrix	slope = first(op->weights.phi, rows);
	gp_matrix	near = first(r->near, rows);
	gp_matrix	push = first(r->side[1].spare, rows);

	features_backward(t, op, band, cross, df, cross);
	/* the covariances of its ends with the points */
	for (int end = 0; end < 2; end++)
		dev->fill(dev, r->side[end].slope, 0.0);
	for (int k = 0; k < 4; k++)
	{
		dev->copy(dev, slope, cross);
		gp_times(t, slope, first(r->picked[partner_of[k]], rows));
		dev->gemm(dev, false, true, 1.0, slope, r->pick[point_of[k]], 1.0,
				  first(r->side[end_of[k]].slope, rows));
	}
	for (int end = 0; end < 2; end++)
		kernel_backward(t, f, &r->side[end], rows);
	/* the variances' gradient stands in variance: d(x_i / len) -= 2 dv k_ij^2 (x_i - x_j) / len */
	gp_matrix	apart = difference(t, f, rows);
	gp_times(t, near, first(op->weights.variance, rows));
	dev->gemm(dev, false, false, 2.0, near, first(r->ones, 1), 0.0, push);
	gp_times(t, push, apart);
	for (int end = 0; end < 2; end++)
	{
		dev->axpby(dev, end == 0 ? -1.0 : 1.0, push, 1.0, first(r->side[end].change, rows));
		gp_lengths_backward(t, &op->weights, scaled_rows(&r->side[end], rows),
							first(r->side[end].change, rows), ends_of(op, band, 1 - end));
	}
}

static void
pairs_backward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y, gp_matrix dy,
			   gp_matrix dx)
{
	begin_backward(t, op);
	for (gp_band band = gp_band_first(y.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	df = gp_matrix_rows(dy, band.first, band.count);

		panel_backward(t, op, &band, df);
		t->dev->gemm(t->dev, true, false, 1.0, gp_matrix_rows(op->weights.ones, 0, band.count), df,
					 1.0, op->inducing.offset.gradient);
	}
	points_backward(t, op);
	t->dev->spmm(t->dev, 1.0, &op->ends.scatter, first(op->ends.row, 2 * op->ends.n), 0.0, dx);
}

const gp_operation_class gp_operation_inducing_pairs = {
	.shape = pairs_shape,.forward = pairs_forward,.backward = pairs_backward,
	.prior = gp_weights_prior
};
