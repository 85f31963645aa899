/*
 * live_rows.c - the kernel between a live question's rows and what the fit kept.
 */
#include "base/sort.h"
#include "live_rows.h"

/* The nodes whose rows are wanted: those asked for, and those that get or lose a label. */
static int32_t *
wanted_nodes(gp_env *env, const gp_live_question *q)
{
	int32_t    *node = gp_alloc_array(env, q->asked + q->nlabels, sizeof(int32_t));

	for (int64_t i = 0; i < q->asked; i++)
		node[i] = q->node ? q->node[i] : (int32_t) i;
	for (int64_t k = 0; k < q->nlabels; k++)
		node[q->asked + k] = q->label[k].node;
	return node;
}

/* Opens the evaluation. */
gp_live_rows
gp_live_rows_open(gp_device *dev, const gp_live_question *question, bool all)
{
	gp_live_rows r = {.env = dev->env,.dev = dev,.q = question};
	int32_t    *node = all ? NULL : wanted_nodes(dev->env, question);
	gp_asked	asked = {.graph = question->graph,.features = question->features,.inner = question->inner,
	.fit_node = question->fit_node,.node = node,.n = all ? question->inner : question->asked + question->nlabels,
	.ncuts = question->ncuts,.cut = question->cut};

	if (!gp_live_read(question->keep, &r.f))
		gp_raise(dev->env, GP_ERR_INTERNAL, NULL, "the live state has no figures");
	gp_eval_open_live(&r.ev, dev, question->program, &asked, (gp_fit_size) {(int64_t) r.f.nodes, (int64_t) r.f.dims},
					  question->keep, gp_live_type(&r.f));
	if (!r.f.exact)
		gp_live_near(&r.ev);
	gp_free(dev->env, node);
	return r;
}

/* Closes it. */
void
gp_live_rows_close(gp_live_rows *r)
{
	gp_live_forget(r);
	gp_eval_close(&r->ev);
}

/* The row of an anchor. */
int32_t
gp_live_anchor(const gp_live_rows *r, int32_t node)
{
	const gp_piece *anchors = gp_keep_find(r->q->keep, GP_PIECE_ANCHORS, 0, 0);

	return (int32_t) (r->ev.live_rows + gp_sorted_find(anchors->dense, anchors->rows, node));
}

/* The kernel's last step. */
static int
root_step(const gp_live_rows *r)
{
	return r->ev.kernel->program->nsteps - 1;
}

/* The whole exact kernel. */
static gp_matrix
whole_kernel(gp_live_rows *r)
{
	if (r->whole.data == NULL)
		r->whole = gp_eval_full(&r->ev, root_step(r));
	return r->whole;
}

/* Frees it. */
void
gp_live_forget(gp_live_rows *r)
{
	if (r->whole.data)
		r->dev->destroy(r->dev, &r->whole);
}

/* The diagonal at some rows. */
void
gp_live_diagonal(gp_live_rows *r, const int32_t *row, int64_t n, double *out)
{
	gp_device  *dev = r->dev;
	bool		whole = r->f.exact && !r->f.by_columns;
	gp_matrix	diag = whole ? gp_matrix_diagonal(whole_kernel(r)) : gp_eval_diagonal(&r->ev, root_step(r));
	gp_matrix	rows = dev->create(dev, n, 1, diag.type);

	dev->gather_rows(dev, rows, diag, row);
	dev->download(dev, gp_matrix_wrap(out, n, 1, GP_DOUBLE), rows);
	dev->destroy(dev, &rows);
	if (!whole)
		dev->destroy(dev, &diag);
}

/* Columns of the exact kernel. */
gp_matrix
gp_live_columns(gp_live_rows *r, const int32_t *col, int64_t ncols)
{
	gp_device  *dev = r->dev;
	gp_matrix	rows;
	gp_matrix	out;

	if (r->f.by_columns)
		return gp_eval_columns(&r->ev, root_step(r), col, ncols);
	rows = dev->create(dev, ncols, r->ev.n, r->ev.type);
	dev->gather_rows(dev, rows, whole_kernel(r), col);
	out = dev->create(dev, r->ev.n, ncols, r->ev.type);
	dev->transpose(dev, out, rows);
	dev->destroy(dev, &rows);
	return out;
}

/* The factor of all rows. */
gp_factor *
gp_live_factor(gp_live_rows *r)
{
	gp_eval    *ev = &r->ev;
	gp_device  *dev = r->dev;
	int64_t		anchors = gp_keep_find(r->q->keep, GP_PIECE_ANCHORS, 0, 0)->rows;
	const gp_piece *power = gp_keep_find(r->q->keep, GP_PIECE_POWER, 0, 0);
	int32_t    *landmark = gp_alloc_array(r->env, anchors, sizeof(int32_t));
	gp_factor  *f;
	gp_factor  *out;
	gp_matrix	x;

	for (int64_t k = 0; k < anchors; k++)
		landmark[k] = (int32_t) (ev->live_rows + k);
	f = gp_eval_nystrom(ev, root_step(r), landmark, anchors);
	gp_free(r->env, landmark);
	if (power == NULL)
		return f;
	x = gp_keep_take(dev, power, ev->type);
	out = gp_factor_create(r->env);
	out->npanels = 1;
	out->panel[0].value = 1.0;
	out->panel[0].p = dev->create(dev, gp_eval_rows(ev), x.cols, ev->type);
	gp_factor_times(ev, f, 0, gp_eval_rows(ev), x, out->panel[0].p);
	dev->destroy(dev, &x);
	gp_factor_free(ev, f);
	return out;
}

/* The root of the posterior's system as it is kept. */
static const gp_piece *
root_piece(gp_live_rows *r, int64_t rank)
{
	return gp_keep_need(r->env, r->q->keep, GP_PIECE_POSTERIOR, 0, 0, rank * (rank + 1) / 2);
}

/* The root of the posterior's system. */
gp_matrix
gp_live_root(gp_live_rows *r, int64_t rank)
{
	return gp_keep_take_lower(r->dev, root_piece(r, rank), rank);
}

/* Solves with it. */
void
gp_live_solve(gp_live_rows *r, bool trans, gp_matrix x)
{
	gp_keep_solve(r->dev, root_piece(r, x.cols), trans, x);
}
