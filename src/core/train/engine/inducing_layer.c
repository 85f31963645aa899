/*
 * inducing_layer.c - a layer of Gaussian processes by inducing points (Salimbeni and Deisenroth 2017), whose
 * output is drawn at each step: F = X map + Phi mean + sqrt(a^2 + (Phi o Phi) (s^2 - 1)) o e.
 */
#include "inducing.h"

static const gp_matrix none = {0};

/* Makes it: the directions are the points. */
static void
layer_shape(gp_trainer *t, gp_block *b, int64_t rows, int64_t width)
{
	b->inducing.span = b->inducing.count;
	gp_inducing_open(t, b, rows, width, 1, 1);
}

/* The features of a panel, which are the covariances with the points; returns these. */
static gp_matrix
make_features(gp_trainer *t, gp_inducing *f, gp_matrix x)
{
	gp_inducing_side *side = &f->room->side[0];
	gp_matrix	cross = gp_matrix_rows(side->kernel, 0, x.rows);

	gp_inducing_cover(t, f, side, x);
	gp_inducing_features(t, f, cross);
	return cross;
}

/* F, panel by panel. */
static void
layer_forward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y)
{
	gp_inducing *f = &b->inducing;

	gp_inducing_points(t, f);
	gp_inducing_whiten(t, f);
	t->dev->fill(t->dev, f->room->level, f->amplitude);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	rows = gp_matrix_rows(x, band.first, band.count);
		gp_matrix	out = gp_matrix_rows(y, band.first, band.count);

		make_features(t, f, rows);
		gp_inducing_draw(t, f, gp_matrix_rows(f->noise, band.first, band.count), out);
		gp_add_input(t, f->map, f->carries, false, rows, out);
	}
}

/* The derivatives, panel by panel. */
static void
layer_backward(gp_trainer *t, gp_block *b, gp_matrix x, gp_matrix y, gp_matrix dy, gp_matrix dx)
{
	gp_inducing *f = &b->inducing;
	gp_inducing_side *side = &f->room->side[0];
	bool		wanted = dx.data || dx.rows;

	gp_inducing_begin(t, f);
	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	df = gp_matrix_rows(dy, band.first, band.count);
		gp_matrix	dpanel = wanted ? gp_matrix_rows(dx, band.first, band.count) : none;

		gp_matrix	cross = make_features(t, f, gp_matrix_rows(x, band.first, band.count));

		gp_inducing_undraw(t, f, cross, gp_matrix_rows(f->noise, band.first, band.count), df,
						   gp_matrix_rows(side->slope, 0, band.count));
		gp_inducing_uncover(t, f, side, band.count);
		gp_inducing_rows(t, f, side, band.count, dpanel);
		if (wanted)
			gp_add_input(t, f->map, f->carries, true, df, dpanel);
	}
	gp_inducing_unwhiten(t, f);
	gp_inducing_finish(t, f);
}

const gp_block_class gp_block_inducing_layer = {
	.name = "inducing layer",.shape = layer_shape,.forward = layer_forward,.backward = layer_backward,
	.prior = gp_inducing_prior,.close = gp_inducing_close
};
