/*
 * nystrom.c - the low-rank factor Q with K ~ QQ', layer by layer.
 *
 * Every activation C = g(K) is replaced by its Nystrom approximation on the
 * landmarks, C(:,a) C(a,a)^-1 C(a,:) (Niu et al. 2023, section 4).  The
 * triangular solve that turns the panel C(:,a) into a factor is put off until a
 * norm needs it: operators act on the panel, and the last layer's factor is
 * never formed.  Linear terms stay exact and sparse between the activations.
 */
#include "keep.h"
#include "prepared.h"

#include <math.h>
#include <string.h>

#define EXACT_WIDTH 1024		/* of linear terms, up to which they stay exact in the last layer */

typedef struct nystrom
{
	gp_eval    *ev;
	const int32_t *landmark;
	int64_t		na;
	int		   *uses;			/* takers left of each step's factor */
	int		   *hop;			/* how far from what is asked for the rows of each step lie; NULL: all are computed */
	gp_factor **kept;			/* NULL before it is computed, and for linear steps */
} nystrom;

/*
 * The Cholesky factor of a covariance of landmarks, with as little jitter as
 * works.  Both triangles are first made their mean, for rounding differs in them.
 */
void
gp_landmark_root(gp_eval *ev, gp_matrix c)
{
	gp_device  *dev = ev->dev;
	gp_matrix	saved = dev->create(dev, c.rows, c.rows, GP_DOUBLE);
	double		jitter = ev->jitter;
	double		mean;

	dev->transpose(dev, saved, c);
	dev->axpby(dev, 0.5, c, 0.5, saved);
	mean = gp_mean_diagonal(dev, saved);
	if (!isfinite(mean))
		gp_raise(ev->env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
				 "the kernel overflows");
	if (mean <= 0.0)
		mean = 1.0;
	for (;; jitter *= 10.0)
	{
		if (jitter > GP_MAX_JITTER * 1.0001 && !(ev->patient && jitter < 1e6))
			gp_raise(ev->env, GP_ERR_DATA, "Try fewer landmarks, or strategy => 'exact'.",
					 "the covariance of the landmarks is not positive definite");
		dev->copy(dev, c, saved);
		dev->shift(dev, gp_matrix_diagonal(c), jitter * mean);
		if (jitter > ev->max_jitter)
			ev->max_jitter = jitter;
		if (dev->potrf(dev, c) < 0)
			break;
	}
	dev->destroy(dev, &saved);
}

/* The landmarks' rows of a panel of covariances of a step, factorised. */
static gp_matrix
panel_root(nystrom *ny, int step, gp_matrix panel)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	rows;
	gp_matrix	root;

	rows = dev->create(dev, ny->na, ny->na, ev->type);
	root = dev->create(dev, ny->na, ny->na, GP_DOUBLE);
	dev->gather_rows(dev, rows, panel, ny->landmark);
	dev->copy(dev, root, rows);
	dev->destroy(dev, &rows);
	gp_landmark_root(ev, root);
	if (ev->keep)
		gp_keep_lower(dev, ev->keep, GP_PIECE_ROOT, step, 0, root);
	return root;
}

/* A factor without parts. */
gp_factor *
gp_factor_create(gp_env *env)
{
	return gp_alloc_zero(env, 1, sizeof(gp_factor));
}

/* Makes a factor of one panel of covariances of a step with the landmarks. */
static gp_factor *
factor_of_panel(nystrom *ny, int step, gp_matrix panel)
{
	gp_factor  *f = gp_factor_create(ny->ev->env);

	f->npanels = 1;
	f->panel[0].p = panel;
	f->panel[0].value = 1.0;
	if (ny->ev->live)
		f->panel[0].kept = gp_keep_need(ny->ev->env, ny->ev->live, GP_PIECE_ROOT, step, 0, ny->na * (ny->na + 1) / 2);
	else
		f->panel[0].root = panel_root(ny, step, panel);
	return f;
}

/* panel <- panel R^-T: the solve that was put off. */
void
gp_panel_whiten(gp_eval *ev, gp_panel *panel)
{
	gp_device  *dev = ev->dev;
	gp_matrix	root;

	gp_panel_take_root(dev, panel);
	if (panel->root.data == NULL)
		return;
	root = dev->create(dev, panel->root.rows, panel->root.cols, ev->type);
	dev->copy(dev, root, panel->root);
	dev->trsm(dev, false, true, root, gp_matrix_rows(panel->p, 0, gp_eval_rows(ev)));
	dev->destroy(dev, &root);
	dev->destroy(dev, &panel->root);
}

/* A panel of all rows. */
static gp_matrix
create_panel(nystrom *ny)
{
	gp_eval    *ev = ny->ev;

	return ev->dev->create(ev->dev, ev->live ? ev->live_rows : ev->n, ny->na, ev->type);
}

/* Whether a panel is made term by term.  What is to be evaluated later is not: hubs alone need their factor, and sums run as they ran here. */
static bool
goes_by_terms(const gp_eval *ev, const gp_terms *terms, const gp_linear *z)
{
	return ev->live == NULL && ev->keep == NULL && gp_terms_cheaper(ev, terms, z);
}

/*
 * The covariances of a linear factor with the landmarks, all rows, a block of
 * landmarks at a time; with relu, C(:,a) of an activation on it.
 */
static gp_matrix
linear_panel(nystrom *ny, int step, const gp_terms *terms, const gp_linear *z, bool relu)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_stage	stage = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, {0}};
	bool		by_terms = goes_by_terms(ev, terms, z);
	gp_matrix	out = create_panel(ny);
	int64_t		rows = gp_eval_rows(ev);
	int64_t		width = gp_min64(ny->na, GP_COLUMN_BLOCK);
	gp_matrix	right = dev->create(dev, z->width, width, ev->type);
	gp_matrix	work = {0};

	if (by_terms)
		work = dev->create(dev, ev->n, width, ev->type);
	if (relu)
	{
		stage.diag = dev->create(dev, ev->n, 1, GP_DOUBLE);
		gp_linear_norms(ev, z, stage.diag);
	}
	for (gp_band band = gp_band_first(ny->na, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	r = gp_matrix_cols(right, 0, band.count);
		gp_matrix	part = gp_matrix_part(out, 0, band.first, rows, band.count);

		gp_linear_rows(ev, z, ny->landmark + band.first, band.count, r);
		if (by_terms)
			gp_terms_times(ev, terms, r, gp_matrix_cols(work, 0, band.count), gp_matrix_cols(out, band.first, band.count));
		else
			gp_linear_times(ev, z, 0, rows, r, 0.0, part);
		if (relu)
			dev->map(dev, &stage, part, 0, ny->landmark + band.first);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ny->na);
	}
	dev->destroy(dev, &right);
	dev->destroy(dev, &work);
	dev->destroy(dev, &stage.diag);
	return out;
}

/* The explicit factor of terms that a step joins. */
static gp_linear
build_terms(nystrom *ny, int step, const gp_terms *terms)
{
	gp_linear	z = gp_linear_build(ny->ev, terms);

	gp_anchors_note(ny->ev, GP_PIECE_TERMS, step, &z, ny->landmark, ny->na);
	gp_anchors_fill(ny->ev, GP_PIECE_TERMS, step, terms, &z);
	return z;
}

/* What the row blocks of a deep activation share. */
typedef struct deep_parts
{
	gp_matrix	qa[GP_MAX_LINEAR_TERMS];	/* landmarks' rows of each panel */
	gp_linear	z;
	gp_matrix	za;				/* landmarks' rows of the linear terms, as columns */
	gp_stage	stage;
} deep_parts;

/* The landmarks' rows of a whitened panel of a step, which are kept, or as they were. */
static gp_matrix
landmark_rows(nystrom *ny, int step, int b, gp_matrix p)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	rows;

	if (ev->live)
	{
		rows = gp_keep_take(dev, gp_keep_need(ev->env, ev->live, GP_PIECE_ROWS, step, b, ny->na), ev->type);
		if (rows.cols != p.cols)
			gp_raise(ev->env, GP_ERR_DATA, "Fit the model again.", "the live state does not fit its kernel");
		return rows;
	}
	rows = dev->create(dev, ny->na, p.cols, ev->type);
	dev->gather_rows(dev, rows, p, ny->landmark);
	if (ev->keep)
		gp_keep_matrix(dev, ev->keep, GP_PIECE_ROWS, step, b, rows);
	return rows;
}

/* norm += the squared norms of a panel's rows, and of the anchors' behind them. */
static void
add_norms(gp_eval *ev, const gp_panel *panel, gp_matrix anchors, gp_matrix temp, gp_matrix norm)
{
	gp_device  *dev = ev->dev;
	int64_t		rows = gp_eval_rows(ev);
	gp_matrix	head = gp_matrix_rows(panel->p, 0, rows);

	dev->row_dots(dev, gp_matrix_rows(temp, 0, rows), head, head);
	dev->axpby(dev, panel->value, gp_matrix_rows(temp, 0, rows), 1.0, gp_matrix_rows(norm, 0, rows));
	if (ev->live == NULL)
		return;
	temp = gp_matrix_rows(temp, ev->live_rows, anchors.rows);
	dev->row_dots(dev, temp, anchors, anchors);
	dev->axpby(dev, panel->value, temp, 1.0, gp_matrix_rows(norm, ev->live_rows, anchors.rows));
}

/* Whitens the panels, takes the norms and the landmarks' rows. */
static void
deep_prepare(nystrom *ny, int step, gp_factor *f, deep_parts *parts)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	temp = dev->create(dev, ev->n, 1, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, ev->n, 1, GP_DOUBLE);

	memset(parts, 0, sizeof(*parts));
	dev->fill(dev, norm, 0.0);
	for (int b = 0; b < f->npanels; b++)
	{
		gp_panel   *panel = &f->panel[b];

		gp_panel_whiten(ev, panel);
		parts->qa[b] = landmark_rows(ny, step, b, panel->p);
		add_norms(ev, panel, parts->qa[b], temp, norm);
	}
	if (f->terms.n > 0)
	{
		parts->z = build_terms(ny, step, &f->terms);
		parts->za = dev->create(dev, parts->z.width, ny->na, ev->type);
		gp_linear_rows(ev, &parts->z, ny->landmark, ny->na, parts->za);
		gp_linear_norms(ev, &parts->z, temp);
		dev->axpby(dev, 1.0, temp, 1.0, norm);
	}
	dev->destroy(dev, &temp);
	parts->stage = (gp_stage) {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, norm};
}

/* Frees what deep_prepare made. */
static void
deep_free(gp_eval *ev, const gp_factor *f, deep_parts *parts)
{
	for (int b = 0; b < f->npanels; b++)
		ev->dev->destroy(ev->dev, &parts->qa[b]);
	gp_linear_free(ev, &parts->z);
	ev->dev->destroy(ev->dev, &parts->za);
	ev->dev->destroy(ev->dev, &parts->stage.diag);
}

/*
 * C(:,a) of a step with panels, a block of rows at a time.  A block depends on
 * the same rows of the panels alone, so the result overwrites the first panel
 * of its width.
 */
static gp_matrix
deep_panel(nystrom *ny, int step, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	deep_parts	parts;
	int64_t		height = gp_min64(gp_eval_rows(ev), dev->row_block);
	gp_matrix	block = dev->create(dev, height, ny->na, ev->type);
	gp_matrix	out = f->panel[0].p;

	deep_prepare(ny, step, f, &parts);
	if (out.cols != ny->na)
		out = create_panel(ny);
	for (gp_band band = gp_band_first(gp_eval_rows(ev), height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(block, 0, band.count);

		for (int b = 0; b < f->npanels; b++)
			dev->gemm(dev, false, true, f->panel[b].value,
					  gp_matrix_rows(f->panel[b].p, band.first, band.count), parts.qa[b],
					  b == 0 ? 0.0 : 1.0, part);
		if (f->terms.n > 0)
			gp_linear_times(ev, &parts.z, band.first, band.count, parts.za, 1.0, part);
		dev->map(dev, &parts.stage, part, band.first, ny->landmark);
		dev->copy(dev, gp_matrix_rows(out, band.first, band.count), part);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ev->n);
	}
	deep_free(ev, f, &parts);
	dev->destroy(dev, &block);
	if (out.data == f->panel[0].p.data)
		f->panel[0].p.data = NULL;
	return out;
}

/* The factor of an activation: a panel of covariances with the landmarks, and its root. */
static gp_factor *
relu_factor(nystrom *ny, int step, int arg, gp_factor *child)
{
	const gp_linear *z;
	gp_linear	own = {0};
	gp_matrix	panel;

	if (child->npanels > 0)
		panel = deep_panel(ny, step, child);
	else if (gp_step_is_linear(ny->ev, arg))
	{
		z = gp_linear_of_step(ny->ev, arg);
		gp_anchors_note(ny->ev, GP_PIECE_LINEAR, arg, z, ny->landmark, ny->na);
		panel = linear_panel(ny, step, &child->terms, z, true);
	}
	else
	{
		own = build_terms(ny, step, &child->terms);
		panel = linear_panel(ny, step, &child->terms, &own, true);
		gp_linear_free(ny->ev, &own);
	}
	gp_factor_free(ny->ev, child);
	return factor_of_panel(ny, step, panel);
}

/* Applies an operator to every part of a factor; gp_nystrom_check has seen that there is room. */
static void
apply_operator(nystrom *ny, const gp_operator *op, gp_factor *f)
{
	for (int b = 0; b < f->npanels; b++)
		gp_operator_apply(ny->ev, op, f->panel[b].p);
	for (int t = 0; t < f->terms.n; t++)
	{
		gp_linear_term *term = &f->terms.term[t];

		memmove(term->op + 1, term->op, term->nops * sizeof(term->op[0]));
		term->op[0] = op;
		term->nops++;
	}
}

/* Puts two factors side by side, [Q1, Q2], in the first; the second goes. */
static void
append_factor(gp_eval *ev, gp_factor *f, gp_factor *other)
{
	for (int b = 0; b < other->npanels; b++)
		f->panel[f->npanels++] = other->panel[b];
	for (int t = 0; t < other->terms.n; t++)
		f->terms.term[f->terms.n++] = other->terms.term[t];
	gp_terms_order(&f->terms);
	gp_free(ev->env, other);
}

/* Multiplies the covariance of a factor. */
static void
scale_factor(gp_factor *f, double value)
{
	for (int b = 0; b < f->npanels; b++)
		f->panel[b].value *= value;
	for (int t = 0; t < f->terms.n; t++)
		f->terms.term[t].value *= value;
}

/* The mean variance of linear terms. */
static double
terms_mean(gp_eval *ev, const gp_terms *terms)
{
	gp_device  *dev = ev->dev;
	gp_matrix	norm = dev->create(dev, ev->n, 1, GP_DOUBLE);
	gp_linear	z = gp_linear_build(ev, terms);
	double		mean;

	gp_linear_norms(ev, &z, norm);
	mean = gp_mean_entry(dev, norm);
	gp_linear_free(ev, &z);
	dev->destroy(dev, &norm);
	return mean;
}

/* The mean variance of a step: the exact one of a chain, else that of its factor. */
static double
step_mean(nystrom *ny, int step, const gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	gp_matrix	diag;
	double		mean;

	if (!gp_step_is_chain(ev, step))
		return gp_factor_mean(ev, f) + (f->terms.n > 0 ? terms_mean(ev, &f->terms) : 0.0);
	diag = gp_eval_diagonal(ev, step);
	mean = gp_mean_entry(ev->dev, diag);
	ev->dev->destroy(ev->dev, &diag);
	return mean;
}

/* What scales a step to a mean variance of 1; f is the factor of its argument. */
static double
unit_scale(nystrom *ny, int step, int arg, const gp_factor *f)
{
	double		scale;

	if (gp_unit_kept(ny->ev, GP_UNIT_LOWRANK, step, &scale))
		return scale;
	return gp_unit_note(ny->ev, GP_UNIT_LOWRANK, step, gp_unit_scale(ny->ev, step_mean(ny, arg, f)));
}

/* A copy of a factor, panels included, of the rows that were computed. */
static gp_factor *
copy_factor(gp_eval *ev, const gp_factor *f, int64_t rows)
{
	gp_device  *dev = ev->dev;
	gp_factor  *out = gp_factor_create(ev->env);

	*out = *f;
	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *from = &f->panel[b];
		gp_panel   *to = &out->panel[b];

		to->p = dev->create(dev, from->p.rows, from->p.cols, from->p.type);
		dev->copy(dev, gp_matrix_rows(to->p, 0, rows), gp_matrix_rows(from->p, 0, rows));
		if (from->root.data)
		{
			to->root = dev->create(dev, from->root.rows, from->root.cols, GP_DOUBLE);
			dev->copy(dev, to->root, from->root);
		}
	}
	return out;
}

/* The rows that a step was computed for. */
static int64_t
computed_rows(const nystrom *ny, int step)
{
	const gp_eval *ev = ny->ev;

	return ny->hop ? ev->near[ny->hop[step]] : ev->live ? ev->live_rows : ev->n;
}

/* The factor of a step for one taker; the last one gets the original, linear terms are collected anew. */
static gp_factor *
take_factor(nystrom *ny, int step)
{
	gp_factor  *f;

	if (gp_step_is_linear(ny->ev, step))
	{
		f = gp_factor_create(ny->ev->env);
		gp_linear_collect(ny->ev, step, &f->terms);
		return f;
	}
	f = ny->kept[step];
	return --ny->uses[step] > 0 ? copy_factor(ny->ev, f, computed_rows(ny, step)) : f;
}

/* Computes the factor of a step that is not linear, from those of its arguments. */
static gp_factor *
compute(nystrom *ny, int step)
{
	gp_eval    *ev = ny->ev;
	const gp_step *s = &ev->kernel->program->steps[step];
	gp_factor  *f;

	if (s->kind == GP_STEP_INPUT)
	{
		gp_anchors_note_input(ev, ny->landmark, ny->na);
		return factor_of_panel(ny, step, gp_eval_columns(ev, step, ny->landmark, ny->na));
	}
	f = take_factor(ny, s->arg0);
	switch (s->kind)
	{
		case GP_STEP_SCALE:
			scale_factor(f, s->value);
			break;
		case GP_STEP_OP:
			apply_operator(ny, s->op, f);
			break;
		case GP_STEP_RELU:
			return relu_factor(ny, step, s->arg0, f);
		case GP_STEP_UNIT:
			scale_factor(f, unit_scale(ny, step, s->arg0, f));
			break;
		case GP_STEP_SUM:
			append_factor(ev, f, take_factor(ny, s->arg1));
			break;
		default:
			gp_raise(ev->env, GP_ERR_INTERNAL, NULL, "step %d has no factor", step);
	}
	return f;
}

/* The dense form of a narrow linear factor. */
static gp_matrix
dense_of(gp_eval *ev, gp_linear *z)
{
	gp_device  *dev = ev->dev;
	gp_matrix	out = z->dense;
	gp_matrix	eye;

	if (z->csr == NULL)
	{
		z->dense = (gp_matrix) {0};
		return out;
	}
	out = dev->create(dev, gp_eval_rows(ev), z->width, ev->type);
	eye = dev->create(dev, z->width, z->width, ev->type);
	dev->fill(dev, eye, 0.0);
	dev->shift(dev, gp_matrix_diagonal(eye), 1.0);
	gp_linear_times(ev, z, 0, out.rows, eye, 0.0, out);
	dev->destroy(dev, &eye);
	return out;
}

/* Columns of a panel that the fit had, too: new nodes have no weights. */
static gp_matrix
columns_of_fit(gp_eval *ev, const gp_terms *terms, gp_matrix p)
{
	gp_device  *dev = ev->dev;
	int64_t		width = gp_anchors_width(ev, terms);
	int64_t		from = 0;
	int64_t		to = 0;
	gp_matrix	out;

	if (width == p.cols)
		return p;
	out = dev->create(dev, p.rows, width, p.type);
	for (int t = 0; t < terms->n; t++)
	{
		int64_t		then = gp_anchors_term_width(ev, &terms->term[t]);

		dev->copy(dev, gp_matrix_cols(out, to, then), gp_matrix_cols(p, from, then));
		from += gp_term_width(ev, &terms->term[t]);
		to += then;
	}
	dev->destroy(dev, &p);
	return out;
}

/* True when the linear terms left in the last layer stay exact: in a fit, when they are narrow. */
static bool
terms_stay_exact(nystrom *ny, const gp_terms *terms)
{
	gp_eval    *ev = ny->ev;

	if (ev->live)
		return gp_keep_find(ev->live, GP_PIECE_ROOT, ev->kernel->program->nsteps, 0) == NULL;
	return gp_terms_width(ev, terms) <= gp_max64(ny->na, EXACT_WIDTH);
}

/* Turns the linear terms left in the last layer into a panel, exact when narrow. */
static void
settle_terms(nystrom *ny, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	int			site = ev->kernel->program->nsteps;
	gp_factor  *linear;
	gp_linear	z;

	if (f->terms.n == 0)
		return;
	if (terms_stay_exact(ny, &f->terms))
	{
		z = gp_linear_build(ev, &f->terms);
		linear = gp_factor_create(ev->env);
		linear->npanels = 1;
		linear->panel[0].p = columns_of_fit(ev, &f->terms, dense_of(ev, &z));
		linear->panel[0].value = 1.0;
	}
	else
	{
		z = build_terms(ny, site, &f->terms);
		linear = factor_of_panel(ny, site, linear_panel(ny, site, &f->terms, &z, false));
	}
	gp_linear_free(ev, &z);
	f->terms.n = 0;
	append_factor(ev, f, linear);
}

/* How far from what is asked for rows of each step are needed: an operator's argument as much further as its power. */
static int *
find_hops(gp_eval *ev, int step)
{
	int		   *hop;

	if (ev->near == NULL)
		return NULL;
	hop = gp_alloc_zero(ev->env, step + 1, sizeof(int));
	for (int i = step; i >= 0; i--)
	{
		const gp_step *s = &ev->kernel->program->steps[i];
		int			need = s->kind == GP_STEP_OP ? hop[i] + gp_operator_reach(s->op) : hop[i];

		if (s->arg0 >= 0 && need > hop[s->arg0])
			hop[s->arg0] = need;
		if (s->arg1 >= 0 && need > hop[s->arg1])
			hop[s->arg1] = need;
	}
	return hop;
}

/* The factor of a step on these landmarks: of all steps it needs, arguments first. */
gp_factor *
gp_eval_nystrom(gp_eval *ev, int step, const int32_t *landmark, int64_t n)
{
	nystrom		ny = {.ev = ev,.landmark = landmark,.na = n,.hop = find_hops(ev, step)};
	gp_factor  *out;

	gp_nystrom_check(ev, step);
	ny.uses = gp_alloc_zero(ev->env, step + 1, sizeof(int));
	ny.kept = gp_alloc_zero(ev->env, step + 1, sizeof(gp_factor *));
	gp_step_uses(ev, step, ev->kernel->is_linear, ny.uses);
	for (int i = 0; i <= step; i++)
	{
		if (ny.uses[i] == 0 || gp_step_is_linear(ev, i))
			continue;
		ev->env->check_interrupts(ev->env);
		ev->hop = ny.hop ? ny.hop[i] : ev->hop;
		ny.kept[i] = compute(&ny, i);
	}
	ev->hop = 0;
	out = take_factor(&ny, step);
	settle_terms(&ny, out);
	gp_free(ev->env, ny.uses);
	gp_free(ev->env, ny.kept);
	gp_free(ev->env, ny.hop);
	return out;
}

/* Frees a factor and its panels; NULL is allowed. */
void
gp_factor_free(gp_eval *ev, gp_factor *factor)
{
	for (int b = 0; factor != NULL && b < factor->npanels; b++)
	{
		ev->dev->destroy(ev->dev, &factor->panel[b].p);
		ev->dev->destroy(ev->dev, &factor->panel[b].root);
	}
	gp_free(ev->env, factor);
}
