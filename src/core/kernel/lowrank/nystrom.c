/*
 * nystrom.c - the low-rank factor Q with K ~ QQ', layer by layer.
 *
 * Every activation C = g(K) is replaced by its Nystrom approximation on the
 * landmarks, C(:,a) C(a,a)^-1 C(a,:) (Niu et al. 2023, section 4).  The
 * triangular solve that turns the panel C(:,a) into a factor is put off until a
 * norm needs it: operators act on the panel, and the last layer's factor is
 * never formed.  Linear terms stay exact and sparse between the activations.
 */
#include "lowrank.h"

#define EXACT_WIDTH 1024		/* of linear terms, up to which they stay exact in the last layer */

/* True where the panel of a step is a part of the last layer, and is too large to be stored. */
static bool
is_implicit(const gp_nystrom *ny, int step)
{
	const gp_eval *ev = ny->ev;

	return ev->stored_panel > 0 && ny->nlandmarks > ev->stored_panel / gp_max64(1, ev->n) &&
		ny->ops_above[step] >= 0 && ny->ops_above[step] <= GP_MAX_OPS;
}

/* The factor of an activation: a panel of covariances with the landmarks, and its root. */
static gp_factor *
relu_factor(gp_nystrom *ny, int step, int arg, gp_factor *child)
{
	gp_eval    *ev = ny->ev;
	gp_linear	own = {0};
	gp_implicit_panel *implicit = NULL;
	gp_matrix	panel = {0};

	if (child->npanels > 0)
		panel = gp_nystrom_deep_panel(ny, step, child);
	else
	{
		bool		linear = gp_step_is_linear(ev, arg);
		const gp_linear *z = &own;

		if (linear)
		{
			z = gp_linear_of_step(ev, arg);
			gp_anchors_note(ev, GP_PIECE_LINEAR, arg, z, ny->landmark, ny->nlandmarks);
		}
		else
			own = gp_nystrom_terms(ny, step, &child->terms, true);
		if (is_implicit(ny, step) && z->terms == NULL)
			implicit = gp_implicit_open(ny, step, &child->terms, linear ? NULL : &own);
		else
		{
			panel = gp_nystrom_linear_panel(ny, step, &child->terms, z, true);
			gp_linear_free(ev, &own);
		}
	}
	gp_factor_free(ev, child);
	return implicit ? gp_nystrom_of_implicit(ny, step, implicit) :
		gp_nystrom_of_panel(ny, step, panel);
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

static void
scale_factor(gp_factor *f, double value)
{
	for (int b = 0; b < f->npanels; b++)
		f->panel[b].value *= value;
	for (int t = 0; t < f->terms.n; t++)
		f->terms.term[t].value *= value;
}

/* The mean variance of a step: the exact one of a chain, else that of its factor. */
static double
step_mean(gp_nystrom *ny, int step, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	bool		chain = gp_step_is_chain(ev, step);
	double		mean = chain ? 0.0 : gp_factor_mean(ev, f);
	gp_matrix	diag;

	if (!chain && f->terms.n == 0)
		return mean;
	if (chain)
		diag = gp_eval_diagonal(ev, step);
	else
	{
		diag = dev->create(dev, ev->n, 1, GP_DOUBLE);
		gp_linear	z = gp_linear_of_terms(ev, &f->terms);
		gp_linear_diagonal(ev, &z, diag);
		gp_linear_free(ev, &z);
	}
	mean += gp_mean_entry(dev, diag);
	dev->destroy(dev, &diag);
	return mean;
}

/*
 * The factor of a step for one taker; the last one gets the original, others a copy, panels
 * included, of the rows that were computed.  Linear terms are collected again.
 */
static gp_factor *
take_factor(gp_nystrom *ny, int step)
{
	gp_eval    *ev = ny->ev;
	gp_device  *dev = ev->dev;
	gp_factor  *f = ny->factor[step];
	gp_factor  *out;
	int64_t		rows = ny->hop ? ev->near[ny->hop[step]] : ev->live ? ev->live_rows : ev->n;

	if (gp_step_is_linear(ev, step))
	{
		out = gp_factor_create(ev->env);
		gp_linear_collect(ev, step, &out->terms);
		return out;
	}
	if (--ny->uses[step] == 0)
		return f;
	out = gp_factor_create(ev->env);
	*out = *f;
	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *from = &f->panel[b];
		gp_panel   *to = &out->panel[b];

		to->kept_rows = (gp_matrix) {0};
		if (from->implicit)
			from->implicit->references++;
		else
		{
			to->p = dev->create(dev, from->p.rows, from->p.cols, from->p.type);
			dev->copy(dev, gp_matrix_rows(to->p, 0, rows), gp_matrix_rows(from->p, 0, rows));
		}
		if (from->root.data)
			to->root = gp_copy(dev, from->root, GP_DOUBLE);
	}
	return out;
}

/* Applies an operator to every part of a factor; gp_nystrom_check has seen that there is room. */
static void
operate_on_factor(gp_eval *ev, gp_factor *f, const gp_operator *op)
{
	gp_factor_drop_kept_rows(ev, f);
	for (int b = 0; b < f->npanels; b++)
	{
		gp_panel   *panel = &f->panel[b];

		if (panel->implicit == NULL)
		{
			gp_operator_apply(ev, op, panel->p);
			continue;
		}
		memmove(panel->op + 1, panel->op, panel->nops++ * sizeof(panel->op[0]));
		panel->op[0] = op;
	}
	for (int t = 0; t < f->terms.n; t++)
	{
		gp_linear_term *term = &f->terms.term[t];

		memmove(term->op + 1, term->op, term->nops * sizeof(term->op[0]));
		term->op[0] = op;
		term->nops++;
	}
}

/* Computes the factor of a step that is not linear, from those of its arguments. */
static gp_factor *
compute(gp_nystrom *ny, int step)
{
	gp_eval    *ev = ny->ev;
	const gp_step *s = &ev->kernel->program->steps[step];
	double		scale;

	if (s->kind == GP_STEP_INPUT)
	{
		gp_anchors_note_input(ev, ny->landmark, ny->nlandmarks);
		if (is_implicit(ny, step))
			return gp_nystrom_of_implicit(ny, step, gp_implicit_open(ny, step, NULL, NULL));
		return gp_nystrom_of_panel(ny, step,
								   gp_eval_columns(ev, step, ny->landmark, ny->nlandmarks));
	}
	gp_factor  *f = take_factor(ny, s->arg0);
	switch (s->kind)
	{
		case GP_STEP_SCALE:
			scale_factor(f, s->value);
			break;
		case GP_STEP_OP:
			operate_on_factor(ev, f, s->op);
			break;
		case GP_STEP_RELU:
			return relu_factor(ny, step, s->arg0, f);
		case GP_STEP_UNIT:
			if (!gp_unit_kept(ev, GP_UNIT_LOWRANK, step, &scale))
				scale = gp_unit_note(ev, GP_UNIT_LOWRANK, step, step_mean(ny, s->arg0, f));
			scale_factor(f, scale);
			break;
		case GP_STEP_SUM:
			append_factor(ev, f, take_factor(ny, s->arg1));
			break;
		default:
			assert(false);
	}
	return f;
}

/* Columns of a panel that the fit had, too: new nodes have no weights. */
static gp_matrix
columns_of_fit(gp_eval *ev, const gp_terms *terms, gp_matrix p)
{
	gp_device  *dev = ev->dev;
	int64_t		width = gp_anchors_width(ev, terms);
	int64_t		from = 0;
	int64_t		to = 0;

	if (width == p.cols)
		return p;
	gp_matrix	out = dev->create(dev, p.rows, width, p.type);
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

/* Turns the linear terms left in the last layer into a panel, exact when narrow. */
static void
terms_to_panel(gp_nystrom *ny, gp_factor *f)
{
	gp_eval    *ev = ny->ev;
	int			site = ev->kernel->program->nsteps;
	gp_factor  *linear;
	gp_linear	z;

	if (f->terms.n == 0)
		return;
	/* a live answer does what its fit did */
	if (ev->live ? gp_state_find(ev->live, GP_PIECE_ROOT, site, 0) == NULL :
		gp_terms_width(ev, &f->terms) <= gp_max64(ny->nlandmarks, EXACT_WIDTH))
	{
		z = gp_linear_build(ev, &f->terms);
		linear = gp_factor_create(ev->env);
		linear->npanels = 1;
		linear->panel[0].p = columns_of_fit(ev, &f->terms,
											z.csr ? gp_linear_dense(ev, &z) : z.dense);
		linear->panel[0].value = 1.0;
		if (z.csr == NULL)
			z.dense = (gp_matrix) {0};
	}
	else
	{
		z = gp_nystrom_terms(ny, site, &f->terms, true);
		linear = gp_nystrom_of_panel(ny, site,
									 gp_nystrom_linear_panel(ny, site, &f->terms, &z, false));
	}
	gp_linear_free(ev, &z);
	f->terms.n = 0;
	append_factor(ev, f, linear);
}

/* How many operators lie between each step and the last; -1 where an activation does, too. */
static int *
find_ops_above(gp_eval *ev, int step)
{
	int		   *ops = gp_alloc_zero(ev->env, step + 1, sizeof(int));

	for (int i = step; i >= 0; i--)
	{
		const gp_step *s = &ev->kernel->program->steps[i];
		int			more = ops[i] < 0 || s->kind == GP_STEP_RELU ? -1 :
			ops[i] + (s->kind == GP_STEP_OP);

		for (int k = 0; k < gp_step_nature_of(s)->arguments; k++)
		{
			int		   *arg = &ops[k == 0 ? s->arg0 : s->arg1];

			*arg = *arg < 0 || more < 0 ? -1 : *arg > more ? *arg : more;
		}
	}
	return ops;
}

gp_factor *
gp_eval_nystrom(gp_eval *ev, int step, const int32_t *landmark, int64_t n)
{
	gp_nystrom	ny = {.ev = ev,.landmark = landmark,.nlandmarks = n};

	gp_nystrom_check(ev, step);
	if (ev->near)
		ny.hop = gp_step_hops(ev->env, ev->kernel->program);
	ny.ops_above = find_ops_above(ev, step);
	ny.factor = gp_alloc_zero(ev->env, step + 1, sizeof(gp_factor *));
	ny.uses = gp_step_uses(ev, step, ev->kernel->is_linear);
	for (int i = 0; i <= step; i++)
	{
		if (ny.uses[i] == 0 || gp_step_is_linear(ev, i))
			continue;
		ev->env->check_interrupts(ev->env);
		ev->hop = ny.hop ? ny.hop[i] : ev->hop;
		ny.factor[i] = compute(&ny, i);
	}
	ev->hop = 0;
	gp_factor  *out = take_factor(&ny, step);
	terms_to_panel(&ny, out);
	gp_free_all(ev->env, ny.uses, ny.factor, ny.hop, ny.ops_above);
	return out;
}
