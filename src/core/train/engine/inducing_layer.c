/*
 * inducing_layer.c - a layer whose directions are its inducing points (Salimbeni and Deisenroth
 * 2017).
 */
#include "inducing.h"

static void
layer_shape(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width)
{
	op->inducing.span = op->inducing.count;
	gp_inducing_open(t, op, rows, width, 1);
}

/* The features of a panel, whose covariances with the directions are those with the points; returns
 * these. */
static gp_matrix
layer_panel(gp_trainer *t, gp_operation *op, gp_matrix x)
{
	gp_inducing_side *s = &op->inducing.buffers->side[0];

	gp_inducing_row_kernel(t, op, s, x);
	gp_inducing_features(t, op, gp_first_rows(s->kernel, x.rows));
	return gp_first_rows(s->kernel, x.rows);
}

static void
layer_forward(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y)
{
	gp_inducing_points_kernel(t, op);
	t->dev->fill(t->dev, op->inducing.buffers->level, op->inducing.amplitude);
	gp_inducing_root(t, op);
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
	gp_inducing_side *s = &op->inducing.buffers->side[0];

	gp_inducing_begin_backward(t, op);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	df = gp_matrix_rows(dy, band.first, band.count);
		gp_matrix	dpanel = gp_is_wanted(dx) ? gp_matrix_rows(dx, band.first, band.count)
			: GP_NONE;
		gp_matrix	cross = layer_panel(t, op, gp_matrix_rows(x, band.first, band.count));

		gp_inducing_features_backward(t, op, &band, cross, df, gp_first_rows(s->slope, band.count));
		gp_inducing_row_kernel_backward(t, &op->inducing, s, band.count);
		gp_lengths_backward(t, &op->weights, gp_inducing_scaled_rows(s, band.count),
							gp_first_rows(s->change, band.count), dpanel);
		if (gp_is_wanted(dx))
			gp_add_input(t, &op->weights, true, df, dpanel);
	}
	gp_inducing_root_backward(t, &op->inducing);
	gp_inducing_points_backward(t, op);
}

const gp_operation_class gp_operation_inducing = {
	.shape = layer_shape,.forward = layer_forward,.backward = layer_backward,
	.prior = gp_weights_prior
};
