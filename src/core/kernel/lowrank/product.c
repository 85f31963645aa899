/*
 * product.c - products with a low-rank factor, and rows of it, its panels being stored or not.
 *
 * Of a panel P = S_1 S_2 ... C that is not stored a product is S_1 (S_2 ... (C x)): x is a few
 * columns wide where P is hundreds, so that these are summed over neighbours for all rows, and C
 * itself is there for a block of rows alone.  Each group of columns of x makes C again.
 */
#include "base/sort.h"
#include "lowrank.h"

#define COLUMNS_HELD INT64_C(134217728)	/* numbers of a product that stand for all rows at once */
#define FEWEST_COLUMNS 64		/* or so many */
#define WIDEST_FACTOR 1024		/* explicit factors whose landmarks' rows stand whole, else as few
								 * as there are landmarks */

/* A product on its way. */
typedef struct whole_product
{
	gp_eval    *ev;
	gp_matrix	x;
	bool		triangular;
	gp_band		cols;			/* of x, now */
} whole_product;

/* One panel of it. */
typedef struct panel_product
{
	const gp_panel *panel;
	int64_t		first_row;		/* of x */
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

/* How many columns of x are summed at once: a third, or fewer on a large graph, but 16. */
static int64_t
columns_at_once(const gp_eval *ev, const gp_factor *f, int64_t cols)
{
	int64_t		held = gp_max64(FEWEST_COLUMNS, COLUMNS_HELD / gp_max64(1, ev->n) / 16 * 16);
	bool		stored = true;

	for (int b = 0; b < f->npanels; b++)
		stored = stored && f->panel[b].implicit == NULL;
	if (stored)
		return gp_min64(cols, 2 * GP_COLUMN_BLOCK);
	return gp_min64(cols, gp_min64(held, gp_max64(16, (cols / 3 + 15) / 16 * 16)));
}

/* A panel's rows of x at the columns of now, without the last ones that have nothing there. */
static gp_matrix
rows_of_x(const whole_product *whole, const panel_product *part)
{
	int64_t		rows = part->panel->p.cols;

	if (whole->triangular)
		rows = gp_max64(0, gp_min64(rows, whole->cols.first + whole->cols.count - part->first_row));
	return gp_matrix_part(whole->x, part->first_row, whole->cols.first, rows, whole->cols.count);
}

/* block = C[row ..] x + beta block. */
static void
add_rows(const whole_product *whole, const panel_product *part, int64_t row, double beta,
		 gp_matrix block)
{
	gp_matrix	x = rows_of_x(whole, part);
	gp_matrix	c = gp_matrix_part(part->c, 0, 0, block.rows, x.rows);
	const gp_implicit_panel *implicit = part->panel->implicit;

	gp_chain_block(whole->ev, &implicit->chain, row, block.rows, implicit->landmark,
				   gp_matrix_cols(part->right, 0, x.rows), c);
	whole->ev->dev->gemm(whole->ev->dev, false, false, 1.0, c, x, beta, block);
}

/* The same of all rows, which are made some columns at a time. */
static void
add_columns(const whole_product *whole, const panel_product *part, gp_matrix sum)
{
	gp_device  *dev = whole->ev->dev;
	gp_matrix	x = rows_of_x(whole, part);
	int64_t		width = gp_min64(x.rows, gp_min64(x.cols, FEWEST_COLUMNS));
	gp_matrix	c = dev->create(dev, whole->ev->n, width, whole->ev->type);

	dev->fill(dev, sum, 0.0);
	for (gp_band band = gp_band_first(x.rows, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	block = gp_matrix_cols(c, 0, band.count);
		/* x is 0 in these rows at the columns before. */
		int64_t		first = whole->triangular ?
			gp_max64(0, part->first_row + band.first - whole->cols.first) : 0;

		gp_implicit_columns(whole->ev, part->panel->implicit, NULL, band, block);
		dev->gemm(dev, false, false, 1.0, block,
				  gp_matrix_part(x, band.first, first, band.count, x.cols - first),
				  1.0, gp_matrix_cols(sum, first, x.cols - first));
		whole->ev->env->progress(whole->ev->env, GP_PHASE_POSTERIOR, whole->cols.first,
								 whole->x.cols);
	}
	dev->destroy(dev, &c);
}

/* The sum of a panel for all rows, as far as it is not left for the last moment. */
static void
sum_over_rows(const whole_product *whole, panel_product *part)
{
	gp_eval    *ev = whole->ev;
	gp_device  *dev = ev->dev;
	const gp_panel *panel = part->panel;
	int64_t		height = gp_min64(ev->n, dev->row_block);

	if (panel->implicit == NULL || (part->by_rows && panel->nops == 0))
		return;
	part->sum = dev->create(dev, ev->n, whole->cols.count, ev->type);
	if (!part->by_rows)
		add_columns(whole, part, part->sum);
	else
		for (gp_band band = gp_band_first(ev->n, height); band.count > 0; gp_band_next(&band))
		{
			add_rows(whole, part, band.first, 0.0,
							   gp_matrix_rows(part->sum, band.first, band.count));
			ev->env->progress(ev->env, GP_PHASE_POSTERIOR, whole->cols.first, whole->x.cols);
		}
	for (int k = panel->nops - 1; k >= last_by_rows(panel); k--)
		gp_operator_apply(ev, panel->op[k], part->sum);
}

/* block += what a panel has of some rows. */
static void
add_panel(const whole_product *whole, const panel_product *part, int64_t row, gp_matrix block)
{
	gp_device  *dev = whole->ev->dev;
	const gp_panel *panel = part->panel;
	gp_matrix	x = rows_of_x(whole, part);

	if (panel->implicit == NULL)
		dev->gemm(dev, false, false, 1.0,
				  gp_matrix_part(panel->p, row, 0, block.rows, x.rows), x, 1.0, block);
	else if (part->sum.data == NULL)
		add_rows(whole, part, row, 1.0, block);
	else if (last_by_rows(panel))
	{
		gp_csr		a = *whole->ev->kernel->a;

		a.start += row;
		a.rows = block.rows;
		dev->spmm(dev, panel->op[0]->term[0].coef, &a, part->sum, 1.0, block);
	}
	else
		dev->axpby(dev, 1.0, gp_matrix_rows(part->sum, row, block.rows), 1.0, block);
}

/* Makes what a panel needs for any number of columns. */
static panel_product
open_panel_product(gp_eval *ev, const gp_panel *panel, int64_t first_row)
{
	gp_device  *dev = ev->dev;
	const gp_implicit_panel *s = panel->implicit;
	panel_product part = {.panel = panel, .first_row = first_row};

	part.by_rows = s && s->terms == NULL &&
		(s->chain.z->width <= gp_max64(s->nlandmarks, WIDEST_FACTOR) ||
		 s->chain.z->width * s->nlandmarks <= ev->n * FEWEST_COLUMNS);
	if (!part.by_rows)
		return part;
	part.right = dev->create(dev, s->chain.z->width, s->nlandmarks, ev->type);
	part.c = dev->create(dev, gp_min64(ev->n, dev->row_block), s->nlandmarks, ev->type);
	gp_linear_rows(ev, s->chain.z, s->landmark, s->nlandmarks, part.right);
	return part;
}

void
gp_factor_product(gp_eval *ev, const gp_factor *f, gp_matrix x, bool triangular,
				  gp_product_take take, void *arg)
{
	gp_device  *dev = ev->dev;
	whole_product whole = {.ev = ev,.x = x,.triangular = triangular};
	int64_t		n = gp_eval_rows(ev);
	int64_t		width = columns_at_once(ev, f, x.cols);
	int64_t		height = gp_min64(n, dev->row_block);
	gp_matrix	full = dev->create(dev, height, width, ev->type);
	panel_product *part = gp_alloc_zero(ev->env, gp_max64(1, f->npanels), sizeof(panel_product));
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; at += f->panel[b++].p.cols)
		part[b] = open_panel_product(ev, &f->panel[b], at);
	for (whole.cols = gp_band_first(x.cols, width); whole.cols.count > 0; gp_band_next(&whole.cols))
	{
		for (int b = 0; b < f->npanels; b++)
			if (rows_of_x(&whole, &part[b]).rows > 0)
				sum_over_rows(&whole, &part[b]);
		for (gp_band rows = gp_band_first(n, height); rows.count > 0; gp_band_next(&rows))
		{
			gp_matrix	block = gp_matrix_part(full, 0, 0, rows.count, whole.cols.count);

			dev->fill(dev, block, 0.0);
			for (int b = 0; b < f->npanels; b++)
				if (rows_of_x(&whole, &part[b]).rows > 0)
					add_panel(&whole, &part[b], rows.first, block);
			take(arg, rows.first, whole.cols.first, block);
			ev->env->progress(ev->env, GP_PHASE_POSTERIOR, whole.cols.first + whole.cols.count,
							  x.cols);
		}
		for (int b = 0; b < f->npanels; b++)
			dev->destroy(dev, &part[b].sum);
	}
	for (int b = 0; b < f->npanels; b++)
		gp_destroy_all(dev, &part[b].right, &part[b].c);
	dev->destroy(dev, &full);
	gp_free(ev->env, part);
}

void
gp_panel_rows(gp_eval *ev, const gp_panel *panel, const int32_t *index, int64_t n,
			  gp_matrix out)
{
	gp_device  *dev = ev->dev;
	gp_local_rows *local = gp_local_rows_open(ev, panel, index, n);
	int64_t		width = gp_min64(out.cols, GP_COLUMN_BLOCK);
	gp_matrix	work = dev->create(dev, local->ev.n, width, ev->type);
	gp_matrix	block = dev->create(dev, n, width, ev->type);

	for (gp_band band = gp_band_first(out.cols, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_cols(block, 0, band.count);

		gp_local_rows_columns(local, band, gp_matrix_cols(work, 0, band.count), b);
		dev->copy(dev, gp_matrix_cols(out, band.first, band.count), b);
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, out.cols);
	}
	gp_destroy_all(dev, &work, &block);
	gp_local_rows_close(ev, local);
}

/* The places among the rows wanted of some, which the panel then holds; NULL where not all are. */
static int32_t *
kept_places(gp_eval *ev, gp_panel *panel, const int32_t *index, int64_t n)
{
	if (ev->nkept_rows == 0)
		return NULL;
	int32_t    *place = gp_alloc_array(ev->env, n, sizeof(int32_t));
	for (int64_t i = 0; i < n; i++)
	{
		place[i] = (int32_t) gp_sorted_find(ev->kept_rows, ev->nkept_rows, index[i]);
		if (place[i] < 0)
		{
			gp_free(ev->env, place);
			return NULL;
		}
	}
	if (panel->kept_rows.data == NULL)
	{
		panel->kept_rows = ev->dev->create(ev->dev, ev->nkept_rows, panel->p.cols, ev->type);
		gp_panel_rows(ev, panel, ev->kept_rows, ev->nkept_rows, panel->kept_rows);
	}
	return place;
}

void
gp_factor_drop_kept_rows(gp_eval *ev, gp_factor *f)
{
	for (int b = 0; b < f->npanels; b++)
		ev->dev->destroy(ev->dev, &f->panel[b].kept_rows);
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
		int32_t    *place = panel->implicit ? kept_places(ev, panel, index, n) : NULL;
		bool		made = panel->implicit && place == NULL;
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
				dev->gather_rows(dev, some, place ? panel->kept_rows : panel->p, from + band.first);
			}
			dev->copy(dev, wide, some);
			gp_panel_solve(dev, panel, false, wide);
			dev->copy(dev, own, wide);
		}
		gp_destroy_all(dev, &full, &rows);
		gp_free(ev->env, place);
	}
}

double
gp_rows_mean(gp_eval *ev, int64_t rank, gp_rows_of rows, void *arg)
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
