/*
 * kernel_nystrom.c - the low-rank factor Q with K ~ QQ', layer by layer.
 *
 * Every activation C = g(K) is replaced by its Nystrom approximation on the
 * landmarks, C(:,a) C(a,a)^-1 C(a,:) (Niu et al. 2023, section 4).  The
 * triangular solve that turns the panel C(:,a) into a factor is put off until a
 * norm needs it: operators act on the panel, and the last layer's factor is
 * never formed.  Linear terms stay exact and sparse between the activations.
 */
#include "kernel_eval.h"

#include <math.h>
#include <string.h>

#define MAX_JITTER 1e-3
#define EXACT_WIDTH 1024

typedef struct nystrom
{
	gp_eval    *ev;
	const int32_t *landmark;
	int64_t		na;
	int		   *uses;			/* takers left of each step's factor */
	gp_factor **kept;			/* NULL until computed */
} nystrom;

static void factor_step(nystrom *ny, int step, gp_factor *out);

/* The mean of the diagonal. */
static double
mean_diagonal(gp_device *dev, gp_matrix c)
{
	double	   *host = gp_alloc_array(dev->env, c.rows, sizeof(double));
	double		mean = 0.0;

	dev->download(dev, gp_matrix_wrap(host, c.rows, 1, GP_DOUBLE), gp_matrix_diagonal(c));
	for (int64_t i = 0; i < c.rows; i++)
		mean += host[i] / (double) c.rows;
	gp_free(dev->env, host);
	return mean;
}

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
	mean = mean_diagonal(dev, saved);
	if (!isfinite(mean))
		gp_raise(ev->env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
				 "the kernel overflows");
	if (mean <= 0.0)
		mean = 1.0;
	for (;; jitter *= 10.0)
	{
		if (jitter > MAX_JITTER * 1.0001)
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

/* The landmarks' rows of a panel of covariances, factorised. */
static gp_matrix
panel_root(nystrom *ny, gp_matrix panel)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	rows = dev->create(dev, ny->na, ny->na, ev->type);
	gp_matrix	root = dev->create(dev, ny->na, ny->na, GP_DOUBLE);

	dev->gather_rows(dev, rows, panel, ny->landmark);
	dev->copy(dev, root, rows);
	dev->destroy(dev, &rows);
	gp_landmark_root(ev, root);
	return root;
}

/* Makes a factor of one panel of covariances with the landmarks. */
static void
factor_of_panel(nystrom *ny, gp_matrix panel, gp_factor *out)
{
	memset(out, 0, sizeof(*out));
	out->npanels = 1;
	out->panel[0].p = panel;
	out->panel[0].root = panel_root(ny, panel);
	out->panel[0].value = 1.0;
}

/* panel <- panel R^-T: the solve that was put off. */
void
gp_panel_whiten(gp_eval *ev, gp_panel *panel)
{
	gp_device  *dev = ev->dev;
	gp_matrix	root;

	if (panel->root.data == NULL)
		return;
	root = dev->create(dev, panel->root.rows, panel->root.cols, ev->type);
	dev->copy(dev, root, panel->root);
	dev->trsm(dev, false, true, root, panel->p);
	dev->destroy(dev, &root);
	dev->destroy(dev, &panel->root);
}

/* norm += value |row|^2 for every row of a panel. */
static void
add_norms(gp_eval *ev, const gp_panel *panel, gp_matrix norm, gp_matrix temp)
{
	ev->dev->row_dots(ev->dev, temp, panel->p, panel->p);
	ev->dev->axpby(ev->dev, panel->value, temp, 1.0, norm);
}

/*
 * The covariances of a linear factor with the landmarks, all rows, a block of
 * landmarks at a time; with relu, C(:,a) of an activation on it.
 */
static gp_matrix
linear_panel(nystrom *ny, const gp_terms *terms, const gp_linear *z, bool relu)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_stage	stage = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, {0}};
	bool		by_terms = gp_terms_cheaper(ev, terms, z);
	gp_matrix	out = dev->create(dev, ev->n, ny->na, ev->type);
	int64_t		width = ny->na < GP_COLUMN_BLOCK ? ny->na : GP_COLUMN_BLOCK;
	gp_matrix	right = dev->create(dev, z->width, width, ev->type);
	gp_matrix	work = {0};

	if (by_terms)
		work = dev->create(dev, ev->n, width, ev->type);
	if (relu)
	{
		stage.diag = dev->create(dev, ev->n, 1, GP_DOUBLE);
		gp_linear_norms(ev, z, stage.diag);
	}
	for (int64_t c = 0; c < ny->na; c += width)
	{
		int64_t		cols = ny->na - c < width ? ny->na - c : width;
		gp_matrix	r = gp_matrix_cols(right, 0, cols);
		gp_matrix	part = gp_matrix_cols(out, c, cols);

		gp_linear_rows(ev, z, ny->landmark + c, cols, r);
		if (by_terms)
			gp_terms_times(ev, terms, r, gp_matrix_cols(work, 0, cols), part);
		else
			gp_linear_times(ev, z, 0, ev->n, r, 0.0, part);
		if (relu)
			dev->map(dev, &stage, part, 0, ny->landmark + c);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, c + cols, ny->na);
	}
	dev->destroy(dev, &right);
	dev->destroy(dev, &work);
	dev->destroy(dev, &stage.diag);
	return out;
}

/* What the row blocks of a deep activation share. */
typedef struct deep_parts
{
	gp_matrix	qa[GP_MAX_LINEAR_TERMS];	/* landmarks' rows of each panel */
	gp_linear	z;
	gp_matrix	za;				/* landmarks' rows of the linear terms, as columns */
	gp_stage	stage;
} deep_parts;

/* Whitens the panels, takes the norms and the landmarks' rows. */
static void
deep_prepare(nystrom *ny, gp_factor *f, deep_parts *parts)
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
		add_norms(ev, panel, norm, temp);
		parts->qa[b] = dev->create(dev, ny->na, panel->p.cols, ev->type);
		dev->gather_rows(dev, parts->qa[b], panel->p, ny->landmark);
	}
	if (f->terms.n > 0)
	{
		parts->z = gp_linear_build(ev, &f->terms);
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
deep_panel(nystrom *ny, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	deep_parts	parts;
	int64_t		height = ev->n < dev->row_block ? ev->n : dev->row_block;
	gp_matrix	block = dev->create(dev, height, ny->na, ev->type);
	gp_matrix	out = f->panel[0].p;

	deep_prepare(ny, f, &parts);
	if (out.cols != ny->na)
		out = dev->create(dev, ev->n, ny->na, ev->type);
	for (int64_t row = 0; row < ev->n; row += height)
	{
		int64_t		rows = ev->n - row < height ? ev->n - row : height;
		gp_matrix	part = gp_matrix_rows(block, 0, rows);

		for (int b = 0; b < f->npanels; b++)
			dev->gemm(dev, false, true, f->panel[b].value,
					  gp_matrix_rows(f->panel[b].p, row, rows), parts.qa[b],
					  b == 0 ? 0.0 : 1.0, part);
		if (f->terms.n > 0)
			gp_linear_times(ev, &parts.z, row, rows, parts.za, 1.0, part);
		dev->map(dev, &parts.stage, part, row, ny->landmark);
		dev->copy(dev, gp_matrix_rows(out, row, rows), part);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, row + rows, ev->n);
	}
	deep_free(ev, f, &parts);
	dev->destroy(dev, &block);
	if (out.data == f->panel[0].p.data)
		f->panel[0].p.data = NULL;
	return out;
}

/* The factor of an activation: a panel of covariances with the landmarks, and its root. */
static void
relu_factor(nystrom *ny, const gp_step *s, gp_factor *out)
{
	gp_factor	child;
	gp_matrix	panel;

	factor_step(ny, s->arg0, &child);
	if (child.npanels == 0)
		panel = linear_panel(ny, &child.terms, gp_linear_of_step(ny->ev, s->arg0), true);
	else
		panel = deep_panel(ny, &child);
	gp_factor_free(ny->ev, &child);
	factor_of_panel(ny, panel, out);
}

/* Applies an operator to every part of a factor. */
static void
operator_factor(nystrom *ny, const gp_step *s, gp_factor *out)
{
	factor_step(ny, s->arg0, out);
	for (int b = 0; b < out->npanels; b++)
		gp_operator_apply(ny->ev, s->op, out->panel[b].p);
	for (int t = 0; t < out->terms.n; t++)
	{
		gp_linear_term *term = &out->terms.term[t];

		if (term->nops == GP_MAX_OPS)
			gp_raise(ny->ev->env, GP_ERR_UNSUPPORTED, "Use fewer layers.",
					 "the kernel has more than %d operators in a row", GP_MAX_OPS);
		memmove(term->op + 1, term->op, term->nops * sizeof(term->op[0]));
		term->op[0] = s->op;
		term->nops++;
	}
}

/* Puts two factors side by side: [Q1, Q2]. */
static void
append_factor(gp_eval *ev, gp_factor *f, const gp_factor *other)
{
	if (f->npanels + other->npanels > GP_MAX_LINEAR_TERMS ||
		f->terms.n + other->terms.n > GP_MAX_LINEAR_TERMS)
		gp_raise(ev->env, GP_ERR_UNSUPPORTED, "Use fewer terms or layers.",
				 "the kernel's factor has more than %d parts", GP_MAX_LINEAR_TERMS);
	for (int b = 0; b < other->npanels; b++)
		f->panel[f->npanels++] = other->panel[b];
	for (int t = 0; t < other->terms.n; t++)
		f->terms.term[f->terms.n++] = other->terms.term[t];
}

/* Multiplies the covariance of a factor; what a factor of 0 leaves is dropped. */
static void
scale_factor(gp_eval *ev, gp_factor *f, double value)
{
	if (value == 0.0)
	{
		gp_factor_free(ev, f);
		f->terms.n = 0;
	}
	for (int b = 0; b < f->npanels; b++)
		f->panel[b].value *= value;
	for (int t = 0; t < f->terms.n; t++)
		f->terms.term[t].value *= value;
}

/* Computes the factor of a step. */
static void
compute(nystrom *ny, int step, gp_factor *out)
{
	gp_eval    *ev = ny->ev;
	const gp_step *s = &ev->program->steps[step];
	gp_factor	other;

	memset(out, 0, sizeof(*out));
	if (gp_step_is_linear(ev, step))
	{
		gp_linear_collect(ev, step, &out->terms);
		return;
	}
	switch (s->kind)
	{
		case GP_STEP_INPUT:
			factor_of_panel(ny, gp_eval_columns(ev, step, ny->landmark, ny->na), out);
			break;
		case GP_STEP_SCALE:
			factor_step(ny, s->arg0, out);
			scale_factor(ev, out, s->value);
			break;
		case GP_STEP_OP:
			operator_factor(ny, s, out);
			break;
		case GP_STEP_RELU:
			relu_factor(ny, s, out);
			break;
		case GP_STEP_SUM:
			factor_step(ny, s->arg0, out);
			factor_step(ny, s->arg1, &other);
			append_factor(ev, out, &other);
			break;
		default:
			gp_raise(ev->env, GP_ERR_INTERNAL, NULL, "step %d has no factor", step);
	}
}

/* A copy of a factor, panels included. */
static void
copy_factor(gp_eval *ev, const gp_factor *f, gp_factor *out)
{
	gp_device  *dev = ev->dev;

	*out = *f;
	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *from = &f->panel[b];
		gp_panel   *to = &out->panel[b];

		to->p = dev->create(dev, from->p.rows, from->p.cols, from->p.type);
		dev->copy(dev, to->p, from->p);
		if (from->root.data)
		{
			to->root = dev->create(dev, from->root.rows, from->root.cols, GP_DOUBLE);
			dev->copy(dev, to->root, from->root);
		}
	}
}

/* The factor of a step for one taker; the last one gets the original. */
static void
factor_step(nystrom *ny, int step, gp_factor *out)
{
	if (ny->uses[step] == 1 && ny->kept[step] == NULL)
	{
		compute(ny, step, out);
		return;
	}
	if (ny->kept[step] == NULL)
	{
		ny->kept[step] = gp_alloc_zero(ny->ev->env, 1, sizeof(gp_factor));
		compute(ny, step, ny->kept[step]);
	}
	if (--ny->uses[step] > 0)
	{
		copy_factor(ny->ev, ny->kept[step], out);
		return;
	}
	*out = *ny->kept[step];
	gp_free(ny->ev->env, ny->kept[step]);
	ny->kept[step] = NULL;
}

/* Linear terms of at most this width stay exact in the last layer. */
int64_t
gp_nystrom_exact_width(int64_t nlandmarks)
{
	return nlandmarks > EXACT_WIDTH ? nlandmarks : EXACT_WIDTH;
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
		z->dense.data = NULL;
		return out;
	}
	out = dev->create(dev, ev->n, z->width, ev->type);
	eye = dev->create(dev, z->width, z->width, ev->type);
	dev->fill(dev, eye, 0.0);
	dev->shift(dev, gp_matrix_diagonal(eye), 1.0);
	gp_linear_times(ev, z, 0, ev->n, eye, 0.0, out);
	dev->destroy(dev, &eye);
	return out;
}

/* The columns of the terms' factor. */
static int64_t
terms_width(const gp_eval *ev, const gp_terms *terms)
{
	int64_t		width = 0;

	for (int t = 0; t < terms->n; t++)
		width += terms->term[t].bias ? 1 : ev->x->dims;
	return width;
}

/* Turns the linear terms left in the last layer into a panel, exact when narrow. */
static void
settle_terms(nystrom *ny, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	gp_factor	linear;
	gp_linear	z;

	if (f->terms.n == 0)
		return;
	memset(&linear, 0, sizeof(linear));
	z = gp_linear_build(ev, &f->terms);
	if (terms_width(ev, &f->terms) <= gp_nystrom_exact_width(ny->na))
	{
		linear.npanels = 1;
		linear.panel[0].p = dense_of(ev, &z);
		linear.panel[0].value = 1.0;
	}
	else
		factor_of_panel(ny, linear_panel(ny, &f->terms, &z, false), &linear);
	gp_linear_free(ev, &z);
	f->terms.n = 0;
	append_factor(ev, f, &linear);
}

/* The factor of a step on these landmarks. */
gp_factor
gp_eval_nystrom(gp_eval *ev, int step, const int32_t *landmark, int64_t n)
{
	nystrom		ny = {ev, landmark, n, NULL, NULL};
	gp_factor	out;

	ny.uses = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(int));
	ny.kept = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(gp_factor *));
	gp_step_uses(ev, step, ev->is_linear, ny.uses);
	factor_step(&ny, step, &out);
	settle_terms(&ny, &out);
	gp_free(ev->env, ny.uses);
	gp_free(ev->env, ny.kept);
	return out;
}

/* Frees a factor's panels. */
void
gp_factor_free(gp_eval *ev, gp_factor *factor)
{
	for (int b = 0; b < factor->npanels; b++)
	{
		ev->dev->destroy(ev->dev, &factor->panel[b].p);
		ev->dev->destroy(ev->dev, &factor->panel[b].root);
	}
	factor->npanels = 0;
}

/* The columns of all panels. */
int64_t
gp_factor_rank(const gp_factor *factor)
{
	int64_t		rank = 0;

	for (int b = 0; b < factor->npanels; b++)
		rank += factor->panel[b].p.cols;
	return rank;
}
