/*
 * implicit_panel.c - columns and rows of a layer's covariance with the landmarks, made for each
 * use.
 *
 * The panel C(:,a) of a layer on explicit factors costs a short product and a map for each entry,
 * so that it need not be stored: what is summed over neighbours are products of it, and a few rows
 * need no more of it than these rows' neighbourhood.
 */
#include "lowrank.h"

#define NARROW 4				/* landmarks' columns are at most so small a part of all */

/*
 * Covariances with landmarks need no columns of a sparse factor but theirs, which are few of a
 * large graph's lists of neighbours: the chain then goes without the others.
 */
static void
narrow_columns(gp_eval *ev, gp_implicit_panel *implicit)
{
	const gp_linear *z = implicit->chain.z;
	const gp_csr *s = z->csr;
	int32_t		found = 0;
	int64_t		entries;

	if (s == NULL)
		return;
	/* Landmarks have at most so many columns, and these so many entries; a dry run, which knows no
	 * landmarks, goes by the same numbers. */
	int64_t		cols = gp_csr_longest(ev->env, s, implicit->nlandmarks, false);
	entries = gp_csr_longest(ev->env, s, cols, true);
	if (cols > s->cols / NARROW)
		return;
	int32_t    *place = gp_alloc_array(ev->env, s->cols, sizeof(int32_t));
	memset(place, 0xff, s->cols * sizeof(int32_t));
	for (int64_t j = 0; j < implicit->nlandmarks; j++)
	{
		int64_t		i = ev->env->dry ? j : implicit->landmark[j];

		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			if (place[s->col[k]] < 0)
				place[s->col[k]] = found++;
	}
	gp_csr	   *out = gp_csr_create(ev->env, s->rows, cols, entries, s->type);
	gp_csr_select_into(ev->env, s, NULL, place, out);
	gp_free(ev->env, place);
	implicit->narrow = (gp_linear) {.csr = out,.dense = z->dense,.width = cols + z->dense.cols};
	implicit->chain.z = &implicit->narrow;
	if (!implicit->own.borrowed)
		gp_csr_free(ev->env, implicit->own.csr);
	implicit->own.csr = NULL;
}

gp_implicit_panel *
gp_implicit_open(gp_nystrom *ny, int step, const gp_terms *terms, gp_linear *own)
{
	gp_eval    *ev = ny->ev;
	gp_implicit_panel *out = gp_alloc_zero(ev->env, 1, sizeof(gp_implicit_panel));

	out->references = 1;
	out->landmark = ny->landmark;
	out->nlandmarks = ny->nlandmarks;
	if (terms == NULL)
	{
		out->chain = gp_chain_build(ev, step);
		return out;
	}
	if (own)
		out->own = *own;
	out->chain.z = own ? &out->own : gp_linear_of_step(ev, ev->kernel->program->steps[step].arg0);
	if (ev->state == NULL && gp_terms_cheaper(ev, terms, out->chain.z))
	{
		out->terms = gp_alloc_array(ev->env, 1, sizeof(gp_terms));
		*out->terms = *terms;
	}
	out->chain.nstages = 1;
	out->chain.stage = gp_alloc_array(ev->env, 1, sizeof(gp_stage));
	out->chain.stage[0] = (gp_stage) {.map = GP_MAP_RELU,.scale = 1.0,
		.diag = ev->dev->create(ev->dev, ev->n, 1, GP_DOUBLE)};
	gp_linear_norms(ev, out->chain.z, out->chain.stage[0].diag);
	if (out->terms == NULL)
		narrow_columns(ev, out);
	return out;
}

void
gp_implicit_free(gp_eval *ev, gp_implicit_panel *implicit)
{
	if (implicit == NULL || --implicit->references > 0)
		return;
	gp_chain_free(ev, &implicit->chain);
	gp_linear_free(ev, &implicit->own);
	gp_csr_free(ev->env, implicit->narrow.csr);
	gp_free_all(ev->env, implicit->terms, implicit);
}

static gp_linear
some_of_linear(gp_eval *ev, const gp_linear *z, const int32_t *index, int64_t n)
{
	gp_linear	out = {.width = z->width};

	if (z->csr)
		out.csr = gp_csr_select(ev->env, z->csr, index, n, NULL, z->csr->cols);
	if (z->dense.cols > 0)
		out.dense = gp_gather(ev->dev, z->dense, index, n);
	return out;
}

/*
 * The rows that lie in reach of some nodes: their explicit factor, variances (those of the
 * landmarks behind them, where they are no rows themselves), and A among them.
 */
static void
open_within(gp_eval *ev, const gp_implicit_panel *s, gp_order *order, gp_local_rows *out)
{
	const gp_csr *a = ev->kernel->a;
	int			hops = order->hops;
	int32_t    *node = gp_alloc_array(ev->env, order->rows + s->nlandmarks, sizeof(int32_t));

	memcpy(node, order->node, order->rows * sizeof(int32_t));
	for (int64_t j = 0; j < gp_items(ev->env, s->nlandmarks); j++)
	{
		int32_t		place = order->place[s->landmark[j]];

		node[order->rows + j] = s->landmark[j];
		out->cols[j] = place >= 0 ? place : (int32_t) (order->rows + j);
	}
	out->kernel = *ev->kernel;
	out->kernel.a = hops > 0 ? gp_csr_select(ev->env, a, order->node, order->near[hops - 1],
											 order->place, order->rows) : NULL;
	out->ev.kernel = &out->kernel;
	out->ev.n = order->rows;
	out->ev.near = order->near;
	out->ev.hops = hops;
	out->z = some_of_linear(ev, s->chain.z, node, order->rows);
	out->chain = (gp_chain) {.z = &out->z,.nstages = s->chain.nstages};
	out->chain.stage = gp_alloc_array(ev->env, gp_max64(1, s->chain.nstages), sizeof(gp_stage));
	for (int k = 0; k < s->chain.nstages; k++)
	{
		out->chain.stage[k] = s->chain.stage[k];
		if (s->chain.stage[k].diag.data == NULL)
			continue;
		out->chain.stage[k].diag = gp_gather(ev->dev, s->chain.stage[k].diag, node,
											 order->rows + s->nlandmarks);
	}
	gp_free(ev->env, node);
}

gp_local_rows *
gp_local_rows_open(gp_eval *ev, const gp_panel *panel, const int32_t *index, int64_t n)
{
	const gp_implicit_panel *s = panel->implicit;
	const gp_csr *a = ev->kernel->a;
	gp_local_rows *out = gp_alloc_zero(ev->env, 1, sizeof(gp_local_rows));
	bool		global = false;
	int			hops = 0;

	out->panel = panel;
	out->ev = *ev;
	out->cols = gp_alloc_array(ev->env, s->nlandmarks, sizeof(int32_t));
	for (int k = 0; k < panel->nops; k++)
	{
		global = global || gp_operator_is_global(panel->op[k]);
		hops += gp_operator_reach(panel->op[k]);
	}
	if (!global)
		out->order = gp_order_make(ev->env, a->start, a->col, ev->n, index, n, hops, true);
	if (out->order && (2 * out->order->near[gp_max64(0, hops - 1)] > ev->n ||
					   (s->terms && gp_terms_cost(ev, s->terms) <
						gp_linear_cost(s->chain.z, out->order->rows, out->order->node))))
	{
		gp_order_free(ev->env, out->order);
		out->order = NULL;
	}
	if (out->order)
		open_within(ev, s, out->order, out);
	out->place = gp_alloc_array(ev->env, n, sizeof(int32_t));
	for (int64_t i = 0; i < n; i++)
		out->place[i] = out->order ? out->order->place[index[i]] : index[i];
	return out;
}

void
gp_local_rows_close(gp_eval *ev, gp_local_rows *local)
{
	if (local->order)
	{
		gp_chain_free(ev, &local->chain);
		gp_linear_free(ev, &local->z);
		gp_csr_free(ev->env, local->kernel.a);
		gp_order_free(ev->env, local->order);
	}
	gp_free_all(ev->env, local->cols, local->place, local);
}

void
gp_implicit_columns(gp_eval *ev, const gp_implicit_panel *s, gp_local_rows *local, gp_band band,
					gp_matrix out)
{
	gp_device  *dev = ev->dev;
	bool		all = local == NULL || local->order == NULL;
	const gp_chain *chain = all ? &s->chain : &local->chain;
	const int32_t *cols = all ? s->landmark : local->cols;
	gp_matrix	right = dev->create(dev, s->chain.z->width, band.count, ev->type);
	gp_matrix	work = {0};

	cols = ev->env->dry ? NULL : cols + band.first;
	gp_linear_rows(ev, s->chain.z, ev->env->dry ? NULL : s->landmark + band.first, band.count,
				   right);
	if (all && s->terms)
	{
		work = dev->create(dev, ev->n, band.count, ev->type);
		gp_terms_times(ev, s->terms, right, work, out);
		for (int k = 0; k < chain->nstages; k++)
			dev->map(dev, &chain->stage[k], out, 0, cols);
	}
	else
		for (gp_band rows = gp_band_first(out.rows, GP_ROW_BLOCK); rows.count > 0;
			 gp_band_next(&rows))
			gp_chain_block(ev, chain, rows.first, rows.count, cols, right,
						   gp_matrix_rows(out, rows.first, rows.count));
	gp_destroy_all(dev, &right, &work);
}

void
gp_local_rows_columns(gp_local_rows *local, gp_band band, gp_matrix work, gp_matrix out)
{
	gp_eval    *ev = &local->ev;
	const gp_panel *panel = local->panel;
	int			hop = local->order ? ev->hops : 0;

	gp_implicit_columns(ev, panel->implicit, local, band, work);
	for (int k = panel->nops - 1; k >= 0; k--)
	{
		hop -= local->order ? gp_operator_reach(panel->op[k]) : 0;
		ev->hop = hop;
		gp_operator_apply(ev, panel->op[k], work);
	}
	ev->dev->gather_rows(ev->dev, out, work, local->place);
}
