/*
 * live_rows.c - the kernel between a live question's rows and what the fit kept.
 */
#include "base/sort.h"
#include "live_rows.h"

gp_live_rows
gp_live_rows_open(gp_device *dev, const gp_live_question *question, bool all)
{
	const gp_live_question *q = question;
	gp_live_rows r = {.env = dev->env,.dev = dev,.q = q};
	int32_t    *node = gp_alloc_array(dev->env, q->asked + q->nlabels, sizeof(int32_t));
	gp_asked	asked = {.graph = q->graph,.features = q->features,.inner = q->inner,
	.fit_node = q->fit_node,
	.node = all ? NULL : node,.n = all ? q->inner : q->asked + q->nlabels};

	/* The nodes asked for, and those that get or lose a label. */
	for (int64_t i = 0; i < q->asked; i++)
		node[i] = q->node ? q->node[i] : (int32_t) i;
	for (int64_t k = 0; k < q->nlabels; k++)
		node[q->asked + k] = q->label[k].node;
	if (!gp_live_read(q->state, &r.f))
		gp_raise(dev->env, GP_ERR_INTERNAL, NULL, "the live state has no scalars");
	r.labelled = gp_live_labelled(q->state, &r.nlabelled);
	gp_eval_open_live(&r.ev, dev, q->program, &asked,
					  (gp_fit_size) {(int64_t) r.f.nodes, (int64_t) r.f.dims},
					  q->state, gp_live_type(&r.f));
	/* A fit has this of a kernel alone whose single columns can be evaluated. */
	if ((r.f.exact ? r.f.by_columns : r.f.exact_diagonal) &&
		gp_step_cheapness(&r.ev, r.ev.kernel->program->nsteps - 1) == GP_CHEAP_NONE)
		gp_state_refuse(dev->env);
	if (!r.f.exact)
		gp_live_near(&r.ev);
	gp_free(dev->env, node);
	return r;
}

void
gp_live_rows_close(gp_live_rows *r)
{
	r->dev->destroy(r->dev, &r->whole);
	gp_eval_close(&r->ev);
}

int32_t
gp_live_anchor(const gp_live_rows *r, int32_t node)
{
	const gp_piece *anchors = gp_state_find(r->q->state, GP_PIECE_ANCHORS, 0, 0);

	return (int32_t) (r->ev.live_rows + gp_sorted_find(anchors->dense, anchors->rows, node));
}

static int
root_step(const gp_live_rows *r)
{
	return r->ev.kernel->program->nsteps - 1;
}

static gp_matrix
whole_kernel(gp_live_rows *r)
{
	if (r->whole.data == NULL)
		r->whole = gp_eval_full(&r->ev, root_step(r));
	return r->whole;
}

void
gp_live_diagonal(gp_live_rows *r, const int32_t *row, int64_t n, double *out)
{
	gp_device  *dev = r->dev;
	bool		whole = r->f.exact && !r->f.by_columns;
	gp_matrix	diag = whole ? gp_matrix_diagonal(whole_kernel(r)) :
		gp_eval_diagonal(&r->ev, root_step(r));
	gp_matrix	rows = row ? gp_gather(dev, diag, row, n) : gp_matrix_rows(diag, 0, n);

	dev->download(dev, gp_matrix_wrap(out, n, 1, GP_DOUBLE), rows);
	if (row)
		dev->destroy(dev, &rows);
	if (!whole)
		dev->destroy(dev, &diag);
}

gp_matrix
gp_live_columns(gp_live_rows *r, const int32_t *col, int64_t ncols)
{
	if (r->f.by_columns)
		return gp_eval_columns(&r->ev, root_step(r), col, ncols);
	return gp_gather_columns(r->dev, whole_kernel(r), col, ncols);
}

gp_factor *
gp_live_factor(gp_live_rows *r)
{
	gp_eval    *ev = &r->ev;
	gp_device  *dev = r->dev;
	int64_t		anchors = gp_state_find(r->q->state, GP_PIECE_ANCHORS, 0, 0)->rows;
	const gp_piece *power = gp_state_find(r->q->state, GP_PIECE_POWER, 0, 0);
	int32_t    *landmark = gp_alloc_array(r->env, anchors, sizeof(int32_t));

	for (int64_t k = 0; k < anchors; k++)
		landmark[k] = (int32_t) (ev->live_rows + k);
	gp_factor  *f = gp_eval_nystrom(ev, root_step(r), landmark, anchors);
	gp_free(r->env, landmark);
	if (power == NULL)
		return f;
	gp_matrix	x = gp_state_load(dev, power, ev->type);
	gp_factor  *out = gp_factor_create(r->env);
	out->npanels = 1;
	out->panel[0].value = 1.0;
	out->panel[0].p = dev->create(dev, gp_eval_rows(ev), x.cols, ev->type);
	gp_factor_times(ev, f, 0, gp_eval_rows(ev), x, out->panel[0].p);
	dev->destroy(dev, &x);
	gp_factor_free(ev, f);
	return out;
}

gp_matrix
gp_live_root(gp_live_rows *r, int64_t rank)
{
	return gp_state_load_lower(r->dev, gp_state_need(r->env, r->q->state, GP_PIECE_POSTERIOR, 0, 0,
													 rank * (rank + 1) / 2), rank);
}

void
gp_live_solve(gp_live_rows *r, bool trans, gp_matrix x)
{
	gp_state_solve(r->dev, gp_state_need(r->env, r->q->state, GP_PIECE_POSTERIOR, 0, 0,
										 x.cols * (x.cols + 1) / 2), trans, x);
}
