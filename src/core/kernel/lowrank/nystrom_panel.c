/*
 * nystrom_panel.c - panels of covariances with the landmarks, and the roots that make factors of
 * them.
 *
 * The panel of an activation on linear terms is made of these; the panel of one on panels, of
 * theirs, a block of rows at a time.  What has to be whitened for that is whitened here.
 */
#include "lowrank.h"

#define ANY_JITTER 1e5			/* the largest with accepts_any_jitter */

void
gp_landmark_root(gp_eval *ev, gp_matrix c)
{
	gp_device  *dev = ev->dev;
	gp_matrix	mean_of_both = gp_transpose(dev, c);
	double		most = ev->accepts_any_jitter ? ANY_JITTER : GP_MAX_JITTER;

	dev->axpby(dev, 0.5, c, 0.5, mean_of_both);
	double		mean = gp_mean_diagonal(dev, mean_of_both);
	gp_kernel_check_finite(ev->env, mean);
	double		jitter = gp_covariance_root(dev, mean_of_both, mean > 0.0 ? mean : 1.0, ev->jitter,
											most, c, "the landmarks",
											"Try fewer landmarks, or strategy => 'exact'.");
	ev->max_jitter = fmax(ev->max_jitter, jitter);
	dev->destroy(dev, &mean_of_both);
}

/* The landmarks' rows of a step's covariances, which are taken, factorised. */
static gp_matrix
landmarks_root(gp_nystrom *ny, int step, gp_matrix rows)
{
	gp_eval    *ev = ny->ev;
	gp_matrix	root = gp_copy(ev->dev, rows, GP_DOUBLE);

	ev->dev->destroy(ev->dev, &rows);
	gp_landmark_root(ev, root);
	if (ev->state)
		gp_state_lower(ev->dev, ev->state, GP_PIECE_ROOT, step, 0, root);
	return root;
}

gp_factor *
gp_nystrom_of_panel(gp_nystrom *ny, int step, gp_matrix panel)
{
	gp_factor  *f = gp_factor_create(ny->ev->env);

	f->npanels = 1;
	f->panel[0].p = panel;
	f->panel[0].value = 1.0;
	if (ny->ev->live)
		f->panel[0].stored_root = gp_state_need(ny->ev->env, ny->ev->live, GP_PIECE_ROOT, step, 0,
												ny->nlandmarks * (ny->nlandmarks + 1) / 2);
	else
		f->panel[0].root = landmarks_root(ny, step, gp_gather(ny->ev->dev, panel, ny->landmark,
															  ny->nlandmarks));
	return f;
}

gp_factor *
gp_nystrom_of_implicit(gp_nystrom *ny, int step, gp_implicit_panel *implicit)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_factor  *f = gp_factor_create(ev->env);
	gp_panel   *panel = &f->panel[0];
	gp_matrix	rows = dev->create(dev, ny->nlandmarks, ny->nlandmarks, ev->type);
	/* A dry run knows no landmarks: any do, for only their number counts. */
	int32_t    *some = gp_alloc_array(ev->env, ny->nlandmarks, sizeof(int32_t));

	for (int64_t j = 0; j < ny->nlandmarks; j++)
		some[j] = ev->env->dry ? (int32_t) j : ny->landmark[j];
	f->npanels = 1;
	*panel = (gp_panel) {.p = {NULL, ev->n, ny->nlandmarks, 0, ev->type},
						 .implicit = implicit,.value = 1.0};
	gp_panel_rows(ev, panel, some, ny->nlandmarks, rows);
	panel->root = landmarks_root(ny, step, rows);
	gp_free(ev->env, some);
	return f;
}

void
gp_panel_whiten(gp_eval *ev, gp_panel *panel)
{
	gp_device  *dev = ev->dev;

	gp_panel_load_root(dev, panel);
	if (panel->root.data == NULL)
		return;
	gp_matrix	root = gp_copy(dev, panel->root, ev->type);
	dev->trsm(dev, false, true, root, gp_matrix_rows(panel->p, 0, gp_eval_rows(ev)));
	gp_destroy_all(dev, &root, &panel->root);
}

static gp_matrix
create_panel(gp_nystrom *ny)
{
	gp_eval    *ev = ny->ev;

	return ev->dev->create(ev->dev, ev->live ? ev->live_rows : ev->n, ny->nlandmarks, ev->type);
}

gp_matrix
gp_nystrom_linear_panel(gp_nystrom *ny, int step, const gp_terms *terms, const gp_linear *z,
						bool relu)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_stage	stage = {.map = GP_MAP_RELU,.scale = 1.0};
	bool		by_terms = ev->live == NULL && ev->state == NULL && gp_terms_cheaper(ev, terms, z);
	gp_matrix	out = create_panel(ny);
	int64_t		rows = gp_eval_rows(ev);
	int64_t		width = gp_min64(ny->nlandmarks, GP_COLUMN_BLOCK);

	if (z->terms == NULL)
		width = gp_min64(width, gp_linear_rows_held(z));
	gp_matrix	right = dev->create(dev, z->width, z->terms ? ny->nlandmarks : width, ev->type);
	gp_matrix	work = {0};

	if (by_terms)
		work = dev->create(dev, ev->n, width, ev->type);
	if (relu)
	{
		stage.diag = dev->create(dev, ev->n, 1, GP_DOUBLE);
		if (z->terms == NULL)
			gp_linear_norms(ev, z, stage.diag);
	}
	if (z->terms)
		gp_terms_look(ev, z->terms, stage.diag, ny->landmark, right);
	for (gp_band band = gp_band_first(ny->nlandmarks, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	r = gp_matrix_cols(right, z->terms ? band.first : 0, band.count);
		gp_matrix	part = gp_matrix_part(out, 0, band.first, rows, band.count);

		if (z->terms == NULL)
			gp_linear_rows(ev, z, ny->landmark + band.first, band.count, r);
		if (by_terms)
			gp_terms_times(ev, terms, r, gp_matrix_cols(work, 0, band.count),
						   gp_matrix_cols(out, band.first, band.count));
		else
			gp_linear_times(ev, z, 0, rows, r, 0.0, part);
		if (relu)
			dev->map(dev, &stage, part, 0, ny->landmark + band.first);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ny->nlandmarks);
	}
	gp_destroy_all(dev, &right, &work, &stage.diag);
	return out;
}

gp_linear
gp_nystrom_terms(gp_nystrom *ny, int step, const gp_terms *terms, bool for_panel)
{
	gp_linear	z = for_panel ? gp_linear_of_terms(ny->ev, terms) : gp_linear_build(ny->ev, terms);

	gp_anchors_note(ny->ev, GP_PIECE_TERMS, step, &z, ny->landmark, ny->nlandmarks);
	gp_anchors_fill(ny->ev, GP_PIECE_TERMS, step, terms, &z);
	return z;
}

/* What the row blocks of a deep activation share. */
typedef struct deep_activation
{
	gp_matrix	qa[GP_MAX_PANELS];	/* landmarks' rows of each panel */
	gp_linear	z;
	gp_matrix	za;				/* landmarks' rows of the linear terms, as columns */
	gp_stage	stage;
} deep_activation;

/* The landmarks' rows of a whitened panel of a step, which are kept, or as they were. */
static gp_matrix
landmark_rows(gp_nystrom *ny, int step, int b, gp_matrix p)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	rows;

	if (ev->live)
	{
		rows = gp_state_load(dev, gp_state_need(ev->env, ev->live, GP_PIECE_ROWS, step, b,
												ny->nlandmarks), ev->type);
		if (rows.cols != p.cols)
			gp_state_refuse(ev->env);
		return rows;
	}
	rows = gp_gather(dev, p, ny->landmark, ny->nlandmarks);
	if (ev->state)
		gp_state_matrix(dev, ev->state, GP_PIECE_ROWS, step, b, rows);
	return rows;
}

/* Whitens the panels, takes the norms and the landmarks' rows. */
static void
deep_prepare(gp_nystrom *ny, int step, gp_factor *f, deep_activation *deep)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	int64_t		rows = gp_eval_rows(ev);
	gp_matrix	temp = dev->create(dev, ev->n, 1, GP_DOUBLE);
	gp_matrix	norm = gp_filled(dev, ev->n, 1, GP_DOUBLE, 0.0);

	memset(deep, 0, sizeof(*deep));
	for (int b = 0; b < f->npanels; b++)
	{
		gp_panel   *panel = &f->panel[b];

		gp_panel_whiten(ev, panel);
		deep->qa[b] = landmark_rows(ny, step, b, panel->p);
		/* the squared norms of its rows, and of the anchors' behind them */
		for (int behind = 0; behind < (ev->live ? 2 : 1); behind++)
		{
			gp_matrix	some = behind ? deep->qa[b] : gp_matrix_rows(panel->p, 0, rows);
			int64_t		first = behind ? ev->live_rows : 0;
			gp_matrix	square = gp_matrix_rows(temp, first, some.rows);

			dev->row_dots(dev, square, some, some);
			dev->axpby(dev, panel->value, square, 1.0, gp_matrix_rows(norm, first, some.rows));
		}
	}
	if (f->terms.n > 0)
	{
		deep->z = gp_nystrom_terms(ny, step, &f->terms, false);
		deep->za = dev->create(dev, deep->z.width, ny->nlandmarks, ev->type);
		gp_linear_rows(ev, &deep->z, ny->landmark, ny->nlandmarks, deep->za);
		gp_linear_norms(ev, &deep->z, temp);
		dev->axpby(dev, 1.0, temp, 1.0, norm);
	}
	dev->destroy(dev, &temp);
	deep->stage = (gp_stage) {.map = GP_MAP_RELU,.scale = 1.0,.diag = norm};
}

gp_matrix
gp_nystrom_deep_panel(gp_nystrom *ny, int step, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	deep_activation	deep;
	int64_t		height = gp_min64(gp_eval_rows(ev), dev->row_block);
	gp_matrix	block = dev->create(dev, height, ny->nlandmarks, ev->type);
	gp_matrix	out = f->panel[0].p;

	deep_prepare(ny, step, f, &deep);
	if (out.cols != ny->nlandmarks)
		out = create_panel(ny);
	for (gp_band band = gp_band_first(gp_eval_rows(ev), height); band.count > 0;
		 gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(block, 0, band.count);

		for (int b = 0; b < f->npanels; b++)
			dev->gemm(dev, false, true, f->panel[b].value,
					  gp_matrix_rows(f->panel[b].p, band.first, band.count), deep.qa[b],
					  b == 0 ? 0.0 : 1.0, part);
		if (f->terms.n > 0)
			gp_linear_times(ev, &deep.z, band.first, band.count, deep.za, 1.0, part);
		dev->map(dev, &deep.stage, part, band.first, ny->landmark);
		dev->copy(dev, gp_matrix_rows(out, band.first, band.count), part);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ev->n);
	}
	/* Frees what deep_prepare made */
	for (int b = 0; b < f->npanels; b++)
		ev->dev->destroy(ev->dev, &deep.qa[b]);
	gp_linear_free(ev, &deep.z);
	gp_destroy_all(ev->dev, &deep.za, &deep.stage.diag);
	dev->destroy(dev, &block);
	if (out.data == f->panel[0].p.data)
		f->panel[0].p.data = NULL;
	return out;
}
