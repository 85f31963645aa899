/*
 * product.c - products with a low-rank factor, and rows of it, its panels being stored or not.
 *
 * Of a panel P = S_1 S_2 ... C that is not stored a product is S_1 (S_2 ... (C x)): x is a few
 * columns wide where P is hundreds, so that these are summed over neighbours for all rows, and C
 * itself is there for a block of rows alone.  Each group of columns of x makes C anew.
 */
#include "base/sort.h"
#include "lowrank.h"

#define COLUMNS_HELD INT64_C(134217728)	/* numbers of a product that stand for all rows at once */
#define FEWEST_COLUMNS 64		/* or so many */
#define WIDEST_FACTOR 1024		/* explicit factors whose landmarks' rows stand whole, else as few
								 * as there are landmarks */

/* A product on its way. */
typedef struct product
{
	gp_eval    *ev;
	gp_matrix	x;
	bool		triangular;
	gp_band		cols;			/* of x, now */
} product;

/* One panel of it. */
typedef struct panel_product
{
	const gp_panel *panel;
	int64_t		at;				/* its first row of x */
	bool		by_rows;		/* C is made a block of rows at a time, with: */
	gp_matrix	right;			/* the landmarks' rows of the explicit factor, as columns */
	gp_matrix	c;
	gp_matrix	sum;			/* C x of all rows, all operators applied but perhaps the first */
} panel_product;

/* True where an operator is left for the last moment, a block of rows at a time. */
static bool
last_by_rows(const gp_panel *panel)
{
	return panel->nops > 0 && gp_operator_is_a(panel->op[0]);
}

/* How many columns of x are summed at once: a third, or fewer on a large graph. */
static int64_t
columns_at_once(const gp_eval *ev, const gp_factor *f, int64_t cols)
{
	int64_t		held = gp_max64(FEWEST_COLUMNS, COLUMNS_HELD / gp_max64(1, ev->n) / 16 * 16);
	bool		stored = true;

	for (int b = 0; b < f->npanels; b++)
		stored = stored && f->panel[b].source == NULL;
	if (stored)
		return gp_min64(cols, 2 * GP_COLUMN_BLOCK);
	return gp_min64(cols, gp_min64(held, (cols / 3 + 15) / 16 * 16));
}

/* A panel's rows of x at the columns of now, without the last ones that have nothing there. */
static gp_matrix
rows_of_x(const product *p, const panel_product *t)
{
	int64_t		rows = t->panel->p.cols;

	if (p->triangular)
		rows = gp_max64(0, gp_min64(rows, p->cols.first + p->cols.count - t->at));
	return gp_matrix_part(p->x, t->at, p->cols.first, rows, p->cols.count);
}

/* block = C[row ..] x + beta block. */
static void
add_rows_of_source(const product *p, const panel_product *t, int64_t row, double beta,
				   gp_matrix block)
{
	gp_matrix	x = rows_of_x(p, t);
	gp_matrix	c = gp_matrix_part(t->c, 0, 0, block.rows, x.rows);

	gp_chain_block(p->ev, &t->panel->source->chain, row, block.rows, t->panel->source->landmark,
				   gp_matrix_cols(t->right, 0, x.rows), c);
	p->ev->dev->gemm(p->ev->dev, false, false, 1.0, c, x, beta, block);
}

/* The same of all rows, which are made some columns at a time. */
static void
add_columns_of_source(const product *p, const panel_product *t, gp_matrix sum)
{
	gp_device  *dev = p->ev->dev;
	gp_matrix	x = rows_of_x(p, t);
	int64_t		width = gp_min64(x.rows, gp_min64(x.cols, FEWEST_COLUMNS));
	gp_matrix	c = dev->create(dev, p->ev->n, width, p->ev->type);

	dev->fill(dev, sum, 0.0);
	for (gp_band band = gp_band_first(x.rows, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	some = gp_matrix_cols(c, 0, band.count);
		/* x is 0 in these rows at the columns before. */
		int64_t		first = p->triangular ?
			gp_max64(0, t->at + band.first - p->cols.first) : 0;

		gp_source_columns(p->ev, t->panel->source, NULL, band, some);
		dev->gemm(dev, false, false, 1.0, some,
				  gp_matrix_part(x, band.first, first, band.count, x.cols - first),
				  1.0, gp_matrix_cols(sum, first, x.cols - first));
		p->ev->env->progress(p->ev->env, GP_PHASE_POSTERIOR, p->cols.first, p->x.cols);
	}
	dev->destroy(dev, &c);
}

/* The sum of a panel for all rows, as far as it is not left for the last moment. */
static void
sum_over_rows(const product *p, panel_product *t)
{
	gp_eval    *ev = p->ev;
	gp_device  *dev = ev->dev;
	const gp_panel *panel = t->panel;
	int64_t		height = gp_min64(ev->n, dev->row_block);

	if (panel->source == NULL || (t->by_rows && panel->nops == 0))
		return;
	t->sum = dev->create(dev, ev->n, p->cols.count, ev->type);
	if (!t->by_rows)
		add_columns_of_source(p, t, t->sum);
	else
		for (gp_band band = gp_band_first(ev->n, height); band.count > 0; gp_band_next(&band))
		{
			add_rows_of_source(p, t, band.first, 0.0,
							   gp_matrix_rows(t->sum, band.first, band.count));
			ev->env->progress(ev->env, GP_PHASE_POSTERIOR, p->cols.first, p->x.cols);
		}
	for (int k = panel->nops - 1; k >= last_by_rows(panel); k--)
		gp_operator_apply(ev, panel->op[k], t->sum);
}

/* block += what a panel has of some rows. */
static void
add_panel(const product *p, const panel_product *t, int64_t row, gp_matrix block)
{
	gp_device  *dev = p->ev->dev;
	const gp_panel *panel = t->panel;
	gp_matrix	x = rows_of_x(p, t);

	if (panel->source == NULL)
		dev->gemm(dev, false, false, 1.0,
				  gp_matrix_part(panel->p, row, 0, block.rows, x.rows), x, 1.0, block);
	else if (t->sum.data == NULL)
		add_rows_of_source(p, t, row, 1.0, block);
	else if (last_by_rows(panel))
	{
		gp_csr		part = *p->ev->kernel->a;

		part.start += row;
		part.rows = block.rows;
		dev->spmm(dev, panel->op[0]->term[0].coef, &part, t->sum, 1.0, block);
	}
	else
		dev->axpby(dev, 1.0, gp_matrix_rows(t->sum, row, block.rows), 1.0, block);
}

/* Makes what a panel needs for any number of columns. */
static panel_product
open_panel_product(gp_eval *ev, const gp_panel *panel, int64_t at)
{
	gp_device  *dev = ev->dev;
	const gp_source *s = panel->source;
	panel_product t = {.panel = panel,.at = at};

	t.by_rows = s && s->terms == NULL &&
		(s->chain.z->width <= gp_max64(s->na, WIDEST_FACTOR) ||
		 s->chain.z->width * s->na <= ev->n * FEWEST_COLUMNS);
	if (!t.by_rows)
		return t;
	t.right = dev->create(dev, s->chain.z->width, s->na, ev->type);
	t.c = dev->create(dev, gp_min64(ev->n, dev->row_block), s->na, ev->type);
	gp_linear_rows(ev, s->chain.z, s->landmark, s->na, t.right);
	return t;
}

void
gp_factor_product(gp_eval *ev, const gp_factor *f, gp_matrix x, bool triangular,
				  gp_product_take take, void *arg)
{
	gp_device  *dev = ev->dev;
	product		p = {.ev = ev,.x = x,.triangular = triangular};
	int64_t		n = gp_eval_rows(ev);
	int64_t		width = columns_at_once(ev, f, x.cols);
	int64_t		height = gp_min64(n, dev->row_block);
	gp_matrix	full = dev->create(dev, height, width, ev->type);
	panel_product *t = gp_alloc_zero(ev->env, gp_max64(1, f->npanels), sizeof(panel_product));
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; at += f->panel[b++].p.cols)
		t[b] = open_panel_product(ev, &f->panel[b], at);
	for (p.cols = gp_band_first(x.cols, width); p.cols.count > 0; gp_band_next(&p.cols))
	{
		for (int b = 0; b < f->npanels; b++)
			if (rows_of_x(&p, &t[b]).rows > 0)
				sum_over_rows(&p, &t[b]);
		for (gp_band rows = gp_band_first(n, height); rows.count > 0; gp_band_next(&rows))
		{
			gp_matrix	block = gp_matrix_part(full, 0, 0, rows.count, p.cols.count);

			dev->fill(dev, block, 0.0);
			for (int b = 0; b < f->npanels; b++)
				if (rows_of_x(&p, &t[b]).rows > 0)
					add_panel(&p, &t[b], rows.first, block);
			take(arg, rows.first, p.cols.first, block);
			ev->env->progress(ev->env, GP_PHASE_POSTERIOR, p.cols.first + p.cols.count, x.cols);
		}
		for (int b = 0; b < f->npanels; b++)
			dev->destroy(dev, &t[b].sum);
	}
	for (int b = 0; b < f->npanels; b++)
		gp_destroy_all(dev, &t[b].right, &t[b].c);
	dev->destroy(dev, &full);
	gp_free(ev->env, t);
}

void
gp_panel_rows(gp_eval *ev, const gp_panel *panel, const int32_t *index, int64_t n,
			  gp_matrix out)
{
	gp_device  *dev = ev->dev;
	gp_some_rows *some = gp_some_rows_open(ev, panel, index, n);
	int64_t		width = gp_min64(out.cols, GP_COLUMN_BLOCK);
	gp_matrix	work = dev->create(dev, some->ev.n, width, ev->type);
	gp_matrix	block = dev->create(dev, n, width, ev->type);

	for (gp_band band = gp_band_first(out.cols, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_cols(block, 0, band.count);

		gp_some_rows_columns(some, band, gp_matrix_cols(work, 0, band.count), b);
		dev->copy(dev, gp_matrix_cols(out, band.first, band.count), b);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, out.cols);
	}
	gp_destroy_all(dev, &work, &block);
	gp_some_rows_close(ev, some);
}

/* The places among the rows wanted of some, which the panel then holds; NULL where not all are. */
static int32_t *
places_wanted(gp_eval *ev, gp_panel *panel, const int32_t *index, int64_t n)
{
	if (ev->nwanted == 0)
		return NULL;
	int32_t    *place = gp_alloc_array(ev->env, n, sizeof(int32_t));
	for (int64_t i = 0; i < n; i++)
	{
		place[i] = (int32_t) gp_sorted_find(ev->wanted, ev->nwanted, index[i]);
		if (place[i] < 0)
		{
			gp_free(ev->env, place);
			return NULL;
		}
	}
	if (panel->wanted.data == NULL)
	{
		panel->wanted = ev->dev->create(ev->dev, ev->nwanted, panel->p.cols, ev->type);
		gp_panel_rows(ev, panel, ev->wanted, ev->nwanted, panel->wanted);
	}
	return place;
}

void
gp_factor_forget_wanted(gp_eval *ev, gp_factor *f)
{
	for (int b = 0; b < f->npanels; b++)
		ev->dev->destroy(ev->dev, &f->panel[b].wanted);
}

void
gp_factor_rows(gp_eval *ev, gp_factor *f, const int32_t *index, int64_t n, gp_matrix out)
{
	gp_device  *dev = ev->dev;
	int64_t		height = gp_min64(n, dev->row_block);
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; at += f->panel[b++].p.cols)
	{
		gp_panel   *panel = &f->panel[b];
		int32_t    *place = panel->source ? places_wanted(ev, panel, index, n) : NULL;
		bool		made = panel->source && place == NULL;
		const int32_t *from = place ? place : index;
		gp_matrix	part = gp_matrix_cols(out, at, panel->p.cols);
		gp_matrix	full = dev->create(dev, height, panel->p.cols, GP_DOUBLE);
		gp_matrix	rows = {0};

		if (made)
			gp_panel_rows(ev, panel, index, n, part);
		else if (index)
			rows = dev->create(dev, height, panel->p.cols, panel->p.type);
		for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
		{
			gp_matrix	own = gp_matrix_rows(part, band.first, band.count);
			gp_matrix	wide = gp_matrix_rows(full, 0, band.count);
			gp_matrix	some = own;

			if (index == NULL)
				some = gp_matrix_rows(panel->p, band.first, band.count);
			else if (!made)
			{
				some = gp_matrix_rows(rows, 0, band.count);
				dev->gather_rows(dev, some, place ? panel->wanted : panel->p, from + band.first);
			}
			dev->copy(dev, wide, some);
			gp_panel_apply_root(dev, panel, false, wide);
			dev->copy(dev, own, wide);
		}
		gp_destroy_all(dev, &full, &rows);
		gp_free(ev->env, place);
	}
}

double
gp_rows_mean(gp_eval *ev, int64_t rank, gp_some_rows_of rows, void *arg)
{
	gp_device  *dev = ev->dev;
	int64_t		count = gp_min64(ev->n, GP_FACTOR_SAMPLE);
	int32_t    *index = gp_eval_sample(ev, count);
	gp_matrix	some = dev->create(dev, count, rank, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, count, 1, GP_DOUBLE);

	rows(arg, index, count, some);
	dev->row_dots(dev, norm, some, some);
	double		mean = gp_mean_entry(dev, norm);
	gp_destroy_all(dev, &some, &norm);
	gp_free(dev->env, index);
	return mean;
}

/* A factor and its evaluation. */
typedef struct whole_factor
{
	gp_eval    *ev;
	gp_factor  *f;
} whole_factor;

static void
rows_of_factor(void *arg, const int32_t *index, int64_t n, gp_matrix out)
{
	whole_factor *w = arg;

	gp_factor_rows(w->ev, w->f, index, n, out);
}

double
gp_factor_mean(gp_eval *ev, gp_factor *f)
{
	return gp_rows_mean(ev, gp_factor_rank(f), rows_of_factor, &(whole_factor) {ev, f});
}
