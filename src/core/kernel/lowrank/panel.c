/*
 * panel.c - rows of a low-rank factor, whose panels' roots are still to be applied.
 */
#include "kernel/prepared.h"

#define DIAG_SAMPLE 1024		/* rows that the mean of the low-rank diagonal is taken over */

int64_t
gp_factor_rank(const gp_factor *factor)
{
	int64_t		rank = 0;

	for (int b = 0; b < factor->npanels; b++)
		rank += factor->panel[b].p.cols;
	return rank;
}

void
gp_panel_take_root(gp_device *dev, gp_panel *panel)
{
	if (panel->kept)
		panel->root = gp_keep_take_lower(dev, panel->kept, panel->p.cols);
	panel->kept = NULL;
}

void
gp_factor_take_roots(gp_device *dev, gp_factor *f)
{
	for (int b = 0; b < f->npanels; b++)
		gp_panel_take_root(dev, &f->panel[b]);
}

void
gp_panel_apply_root(gp_device *dev, const gp_panel *panel, bool left, gp_matrix x)
{
	if (panel->kept && left)
		gp_raise(dev->env, GP_ERR_INTERNAL, NULL,
				 "a root that is kept solves from the right alone");
	if (panel->kept)
		gp_keep_solve(dev, panel->kept, true, x);
	else if (panel->root.data)
		dev->trsm(dev, left, true, panel->root, x);
	if (panel->value != 1.0)
		dev->axpby(dev, sqrt(panel->value), x, 0.0, x);
}

void
gp_factor_rows(gp_eval *ev, const gp_factor *f, const int32_t *index, int64_t n, gp_matrix out)
{
	gp_device  *dev = ev->dev;
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *panel = &f->panel[b];
		gp_matrix	part = gp_matrix_cols(out, at, panel->p.cols);
		gp_matrix	rows = dev->create(dev, n, panel->p.cols, panel->p.type);

		dev->gather_rows(dev, rows, panel->p, index);
		dev->copy(dev, part, rows);
		dev->destroy(dev, &rows);
		gp_panel_apply_root(dev, panel, false, part);
		at += panel->p.cols;
	}
}

void
gp_factor_solve(gp_eval *ev, const gp_factor *f, gp_matrix x)
{
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *panel = &f->panel[b];

		gp_panel_apply_root(ev->dev, panel, true, gp_matrix_rows(x, at, panel->p.cols));
		at += panel->p.cols;
	}
}

void
gp_factor_times(gp_eval *ev, const gp_factor *f, int64_t row, int64_t rows, gp_matrix x,
				gp_matrix out)
{
	gp_device  *dev = ev->dev;
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *panel = &f->panel[b];

		dev->gemm(dev, false, false, 1.0, gp_matrix_rows(panel->p, row, rows),
				  gp_matrix_rows(x, at, panel->p.cols), b == 0 ? 0.0 : 1.0, out);
		at += panel->p.cols;
	}
}

double
gp_factor_mean(gp_eval *ev, const gp_factor *f)
{
	gp_device  *dev = ev->dev;
	gp_env	   *env = ev->env;
	int64_t		count = gp_min64(ev->n, DIAG_SAMPLE);
	int64_t		height = gp_min64(count, dev->row_block);
	int32_t    *index = gp_alloc_array(env, height, sizeof(int32_t));
	double	   *host = gp_alloc_zero(env, height, sizeof(double));
	gp_matrix	block = dev->create(dev, height, gp_factor_rank(f), GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, height, 1, GP_DOUBLE);
	double		sum = 0.0;

	for (gp_band band = gp_band_first(count, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		for (int64_t i = 0; i < band.count; i++)
			index[i] = (int32_t) ((band.first + i) * ev->n / count);
		gp_factor_rows(ev, f, index, band.count, b);
		dev->row_dots(dev, gp_matrix_rows(norm, 0, band.count), b, b);
		dev->download(dev, gp_matrix_wrap(host, band.count, 1, GP_DOUBLE),
					  gp_matrix_rows(norm, 0, band.count));
		for (int64_t i = 0; i < band.count; i++)
			sum += host[i];
	}
	gp_destroy_all(dev, &block, &norm);
	gp_free_all(env, index, host);
	return sum / count;
}

double
gp_unit_scale(const gp_eval *ev, double mean_diag)
{
	if (!isfinite(mean_diag))
		gp_raise(ev->env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
				 "the kernel overflows");
	return mean_diag > 0.0 && !ev->env->dry ? 1.0 / mean_diag : 1.0;
}
