/*
 * panel.c - a low-rank factor and its panels, whose roots are still to be applied.
 */
#include "lowrank.h"

gp_factor *
gp_factor_create(gp_env *env)
{
	return gp_alloc_zero(env, 1, sizeof(gp_factor));
}

void
gp_factor_free(gp_eval *ev, gp_factor *factor)
{
	for (int b = 0; factor != NULL && b < factor->npanels; b++)
	{
		gp_destroy_all(ev->dev, &factor->panel[b].p, &factor->panel[b].root,
					   &factor->panel[b].kept_rows);
		gp_implicit_free(ev, factor->panel[b].implicit);
	}
	gp_free(ev->env, factor);
}

int64_t
gp_factor_rank(const gp_factor *factor)
{
	int64_t		rank = 0;

	for (int b = 0; b < factor->npanels; b++)
		rank += factor->panel[b].p.cols;
	return rank;
}

void
gp_panel_load_root(gp_device *dev, gp_panel *panel)
{
	if (panel->stored_root)
		panel->root = gp_state_load_lower(dev, panel->stored_root, panel->p.cols);
	panel->stored_root = NULL;
}

void
gp_factor_load_roots(gp_device *dev, gp_factor *f)
{
	for (int b = 0; b < f->npanels; b++)
		gp_panel_load_root(dev, &f->panel[b]);
}

void
gp_panel_solve(gp_device *dev, const gp_panel *panel, bool left, gp_matrix x)
{
	assert(panel->stored_root == NULL || !left);
	if (panel->stored_root)
		gp_state_solve(dev, panel->stored_root, true, x);
	else if (panel->root.data)
		dev->trsm(dev, left, true, panel->root, x);
	if (panel->value != 1.0)
		dev->axpby(dev, sqrt(panel->value), x, 0.0, x);
}

void
gp_factor_solve(gp_eval *ev, const gp_factor *f, gp_matrix x)
{
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *panel = &f->panel[b];

		gp_panel_solve(ev->dev, panel, true, gp_matrix_rows(x, at, panel->p.cols));
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
