/*
 * product.c - products with a low-rank factor, and rows of it, its panels being stored or not.
 *
 * Of a panel P = S_1 S_2 ... C that is not stored a product is S_1 (S_2 ... (C x)): x is a few
 * columns wide where P is hundreds, so that these are summed over neighbours for all rows, and C
 * itself is there for a block of rows alone.  Each group of columns of x makes C again, once for
 * all panels that have the same one.
 */
#include "base/sort.h"
#include "lowrank.h"

#define COLUMNS_HELD INT64_C(167772160)	/* numbers of a product that stand for all rows at once */
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
	int			power;			/* the panel is coef A^power C; -1: of other operators */
	double		coef;
	bool		by_rows;		/* C is made a block of rows at a time, */
	int			maker;			/* by the first panel that has the same one, which holds: */
	gp_matrix	right;			/* the landmarks' rows of the explicit factor, as columns */
	gp_matrix	c;
	gp_matrix	room;			/* for the sums of a group of columns */
	gp_matrix	sum;			/* C x of all rows, all operators applied but perhaps the first; no
								 * data where it has been added to another panel's */
} panel_product;

/* The power of A that a panel's operators are, and its coefficient; -1 where they are others. */
static int
power_of_a(const gp_panel *panel, double *coef)
{
	int			power = 0;

	*coef = 1.0;
	for (int k = 0; k < panel->nops; k++)
	{
		const gp_operator *op = panel->op[k];

		if (op->nterms != 1 || op->np > 0)
			return -1;
		power += op->term[0].power_a;
		*coef *= op->term[0].coef;
	}
	return power;
}

/* True where an operator is left for the last moment, a block of rows at a time. */
static bool
last_by_rows(const gp_panel *panel)
{
	return panel->nops > 0 && gp_operator_is_a(panel->op[0]);
}

/* How many columns of x are summed at once: a sixth, or fewer on a large graph, but 16. */
static int64_t
columns_at_once(const gp_eval *ev, const gp_factor *f, int64_t cols)
{
	int64_t		held = gp_max64(FEWEST_COLUMNS, COLUMNS_HELD / gp_max64(1, ev->n) / 16 * 16);
	bool		stored = true;

	for (int b = 0; b < f->npanels; b++)
		stored = stored && f->panel[b].implicit == NULL;
	if (stored)
		return gp_min64(cols, 2 * GP_COLUMN_BLOCK);
	return gp_min64(cols, gp_min64(held, gp_max64(16, (cols / 6 + 15) / 16 * 16)));
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

/* True where a panel is summed for all rows first. */
static bool
is_summed(const whole_product *whole, const panel_product *part)
{
	return part->room.data && rows_of_x(whole, part).rows > 0;
}

/* Makes C of some rows at the first landmarks. */
static gp_matrix
make_rows(const whole_product *whole, const panel_product *maker, int64_t row, int64_t rows,
		  int64_t landmarks)
{
	gp_matrix	c = gp_matrix_part(maker->c, 0, 0, rows, landmarks);
	const gp_implicit_panel *implicit = maker->panel->implicit;

	gp_chain_block(whole->ev, &implicit->chain, row, rows, implicit->landmark,
				   gp_matrix_cols(maker->right, 0, landmarks), c);
	return c;
}

/* sum = C x of all rows, for the panels that have a maker's C. */
static void
sum_by_rows(const whole_product *whole, panel_product *part, int n, int maker)
{
	gp_eval    *ev = whole->ev;
	int64_t		height = gp_min64(ev->n, ev->dev->row_block);
	int64_t		landmarks = 0;

	for (int b = maker; b < n; b++)
		if (part[b].maker == maker && part[b].sum.data)
			landmarks = gp_max64(landmarks, rows_of_x(whole, &part[b]).rows);
	for (gp_band band = gp_band_first(landmarks > 0 ? ev->n : 0, height); band.count > 0;
		 gp_band_next(&band))
	{
		gp_matrix	c = make_rows(whole, &part[maker], band.first, band.count, landmarks);

		for (int b = maker; b < n; b++)
			if (part[b].maker == maker && part[b].sum.data)
			{
				gp_matrix	x = rows_of_x(whole, &part[b]);

				ev->dev->gemm(ev->dev, false, false, 1.0, gp_matrix_cols(c, 0, x.rows), x, 0.0,
							  gp_matrix_rows(part[b].sum, band.first, band.count));
			}
		ev->env->progress(ev->env, GP_PHASE_POSTERIOR, whole->cols.first, whole->x.cols);
	}
}

/* The same for a panel whose C is made some columns at a time. */
static void
sum_by_columns(const whole_product *whole, const panel_product *part)
{
	gp_device  *dev = whole->ev->dev;
	gp_matrix	x = rows_of_x(whole, part);
	int64_t		width = gp_min64(x.rows, gp_min64(x.cols, FEWEST_COLUMNS));
	gp_matrix	c = dev->create(dev, whole->ev->n, width, whole->ev->type);

	dev->fill(dev, part->sum, 0.0);
	for (gp_band band = gp_band_first(x.rows, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	block = gp_matrix_cols(c, 0, band.count);
		/* x is 0 in these rows at the columns before. */
		int64_t		first = whole->triangular ?
			gp_max64(0, part->first_row + band.first - whole->cols.first) : 0;

		gp_implicit_columns(whole->ev, part->panel->implicit, NULL, band, block);
		dev->gemm(dev, false, false, 1.0, block,
				  gp_matrix_part(x, band.first, first, band.count, x.cols - first),
				  1.0, gp_matrix_cols(part->sum, first, x.cols - first));
		whole->ev->env->progress(whole->ev->env, GP_PHASE_POSTERIOR, whole->cols.first,
								 whole->x.cols);
	}
	dev->destroy(dev, &c);
}

/* x <- A^power x. */
static void
apply_power(gp_eval *ev, int power, gp_matrix x)
{
	static const gp_operator a = {.nterms = 1,.term = {{.coef = 1.0,.power_a = 1}}};

	for (; power > 0; power--)
		gp_operator_apply(ev, &a, x);
}

/*
 * Applies operators to the sums.  Powers of A are nested as in Horner's scheme,
 * A C x + A^2 C y = A (C x + A C y); the first operator is left for the blocks of rows if it is A.
 */
static void
operate_on_sums(const whole_product *whole, panel_product *part, int n)
{
	gp_eval    *ev = whole->ev;
	gp_device  *dev = ev->dev;

	for (int b = 0; b < n; b++)
		if (part[b].sum.data && part[b].power < 1)
			for (int k = part[b].panel->nops - 1; k >= last_by_rows(part[b].panel); k--)
				gp_operator_apply(ev, part[b].panel->op[k], part[b].sum);
	for (;;)
	{
		panel_product *high = NULL;
		panel_product *low = NULL;

		for (panel_product *p = part; p < part + n; p++)
			if (p->sum.data && p->power >= 1)
			{
				if (high == NULL || p->power > high->power)
				{
					low = high;
					high = p;
				}
				else if (low == NULL || p->power > low->power)
					low = p;
			}
		if (low == NULL)
		{
			if (high)
				apply_power(ev, high->power - 1, high->sum);
			return;
		}
		double		coef = high->coef / low->coef;
		apply_power(ev, high->power - low->power - 1, high->sum);
		if (high->power > low->power)
			dev->spmm(dev, coef, ev->kernel->a, high->sum, 1.0, low->sum);
		else
			dev->axpby(dev, coef, high->sum, 1.0, low->sum);
		high->sum = (gp_matrix) {0};
	}
}

/* The sums for all rows at the columns of now. */
static void
make_sums(const whole_product *whole, panel_product *part, int n)
{
	for (int b = 0; b < n; b++)
	{
		part[b].sum = (gp_matrix) {0};
		if (is_summed(whole, &part[b]))
			part[b].sum = gp_matrix_cols(part[b].room, 0, whole->cols.count);
		if (part[b].sum.data && !part[b].by_rows)
			sum_by_columns(whole, &part[b]);
	}
	for (int b = 0; b < n; b++)
		if (part[b].by_rows && part[b].maker == b)
			sum_by_rows(whole, part, n, b);
	operate_on_sums(whole, part, n);
}

/* block += what a panel, and those whose sums were added to its own, have of some rows. */
static void
add_panel(const whole_product *whole, const panel_product *part, const panel_product *maker,
		  int64_t row, gp_matrix block)
{
	gp_device  *dev = whole->ev->dev;
	const gp_panel *panel = part->panel;
	gp_matrix	x = rows_of_x(whole, part);

	if (panel->implicit == NULL)
		dev->gemm(dev, false, false, 1.0,
				  gp_matrix_part(panel->p, row, 0, block.rows, x.rows), x, 1.0, block);
	else if (!is_summed(whole, part))
		dev->gemm(dev, false, false, 1.0, make_rows(whole, maker, row, block.rows, x.rows), x, 1.0,
				  block);
	else if (part->sum.data && (part->power >= 1 || last_by_rows(panel)))
	{
		gp_csr		a = *whole->ev->kernel->a;

		a.start += row;
		a.rows = block.rows;
		dev->spmm(dev, part->power >= 1 ? part->coef : panel->op[0]->term[0].coef, &a, part->sum,
				  1.0, block);
	}
	else if (part->sum.data)
		dev->axpby(dev, 1.0, gp_matrix_rows(part->sum, row, block.rows), 1.0, block);
}

/* Makes what panel b needs for any number of columns, at most width of them at once. */
static void
open_panel_product(gp_eval *ev, const gp_factor *f, int b, int64_t width, panel_product *part)
{
	gp_device  *dev = ev->dev;
	const gp_implicit_panel *s = f->panel[b].implicit;
	panel_product *own = &part[b];

	own->panel = &f->panel[b];
	own->first_row = b == 0 ? 0 : part[b - 1].first_row + f->panel[b - 1].p.cols;
	own->power = power_of_a(own->panel, &own->coef);
	own->maker = b;
	own->by_rows = s && s->terms == NULL &&
		(s->chain.z->width <= gp_max64(s->nlandmarks, WIDEST_FACTOR) ||
		 s->chain.z->width * s->nlandmarks <= ev->n * FEWEST_COLUMNS);
	if (s && !(own->by_rows && own->panel->nops == 0))
		own->room = dev->create(dev, ev->n, width, ev->type);
	if (!own->by_rows)
		return;
	for (int k = b - 1; k >= 0; k--)
		if (part[k].panel->implicit == s)
			own->maker = k;
	if (own->maker != b)
		return;
	own->right = dev->create(dev, s->chain.z->width, s->nlandmarks, ev->type);
	own->c = dev->create(dev, gp_min64(ev->n, dev->row_block), s->nlandmarks, ev->type);
	gp_linear_rows(ev, s->chain.z, s->landmark, s->nlandmarks, own->right);
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

	for (int b = 0; b < f->npanels; b++)
		open_panel_product(ev, f, b, width, part);
	for (whole.cols = gp_band_first(x.cols, width); whole.cols.count > 0; gp_band_next(&whole.cols))
	{
		make_sums(&whole, part, f->npanels);
		for (gp_band rows = gp_band_first(n, height); rows.count > 0; gp_band_next(&rows))
		{
			gp_matrix	block = gp_matrix_part(full, 0, 0, rows.count, whole.cols.count);

			dev->fill(dev, block, 0.0);
			for (int b = 0; b < f->npanels; b++)
				if (rows_of_x(&whole, &part[b]).rows > 0)
					add_panel(&whole, &part[b], &part[part[b].maker], rows.first, block);
			take(arg, rows.first, whole.cols.first, block);
			ev->env->progress(ev->env, GP_PHASE_POSTERIOR, whole.cols.first + whole.cols.count,
							  x.cols);
		}
	}
	for (int b = 0; b < f->npanels; b++)
		gp_destroy_all(dev, &part[b].right, &part[b].c, &part[b].room);
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
