/*
 * live_columns.c - columns of the posterior covariance C of many rows.
 *
 * With t_i as in live_answer.c, C_ij = k_ij - <t_i, t_j> (exact) or noise <t_i, t_j> (low rank, Q
 * B^-1 Q'). Neither C nor, for a low rank, t is ever held for all rows: columns come in blocks of
 * rows.
 */
#include "fit/landmarks.h"
#include "live_rows.h"

static int32_t *
all_rows(gp_env *env, int64_t n)
{
	int32_t    *row = gp_alloc_array(env, n, sizeof(int32_t));

	for (int64_t i = 0; i < n; i++)
		row[i] = (int32_t) i;
	return row;
}

/* What is left of each row's variance where it has no kernel: the prior's, as a fit has it. */
static void
set_left(gp_live_covariance *c, int64_t i, bool present, double left)
{
	const gp_live_figures *f = &c->r->f;

	c->own[i] = fmax(c->own[i], 0.0);
	c->left[i] = !present ? f->mean_diag + f->noise :
		fmax(left, 0.0) + (f->values ? f->noise : 0.0);
}

/* The half covariances with the labels, and the variances of an exact model. */
static void
open_exact(gp_live_covariance *c)
{
	gp_live_rows *r = c->r;
	gp_device  *dev = r->dev;
	int64_t		m = r->nlabelled;
	int32_t    *col = gp_alloc_array(r->env, m, sizeof(int32_t));
	int32_t    *row = all_rows(r->env, c->n);
	gp_matrix	l = gp_live_root(r, m);

	for (int64_t k = 0; k < m; k++)
		col[k] = gp_live_anchor(r, r->labelled[k]);
	gp_live_diagonal(r, row, c->n, c->left);
	gp_matrix	all = gp_live_columns(r, col, m);
	c->half = gp_copy(dev, gp_matrix_rows(all, 0, c->n), GP_DOUBLE);
	dev->destroy(dev, &all);
	dev->trsm(dev, false, true, l, c->half);
	double	   *dot = gp_row_products(dev, c->half, c->half);
	for (int64_t i = 0; i < c->n; i++)
	{
		c->own[i] = c->left[i] - dot[i];
		set_left(c, i, c->left[i] > 0.0, c->own[i]);
	}
	dev->destroy(dev, &l);
	gp_free_all(r->env, dot, row, col);
}

/* The factor and the variances of a low-rank model. */
static void
open_lowrank(gp_live_covariance *c)
{
	gp_live_rows *r = c->r;
	gp_device  *dev = r->dev;
	int32_t    *row;
	double	   *norm = NULL;

	c->factor = gp_live_factor(r);
	gp_factor_load_roots(dev, c->factor);
	gp_matrix	l = gp_live_root(r, gp_factor_rank(c->factor));
	gp_lowrank_variances(&r->ev, c->factor, l, r->f.noise, c->own);
	if (r->f.exact_diagonal)
	{
		row = all_rows(r->env, c->n);
		gp_live_diagonal(r, row, c->n, c->left);
		gp_free(r->env, row);
		/* |q_i|^2 of all rows. */
		int64_t		rank = gp_factor_rank(c->factor);
		gp_matrix	eye = gp_filled(dev, rank, rank, GP_DOUBLE, 0.0);
		norm = gp_alloc_array(c->r->env, c->n, sizeof(double));

		dev->shift(dev, gp_matrix_diagonal(eye), 1.0);
		gp_lowrank_variances(&c->r->ev, c->factor, eye, 1.0, norm);
	}
	for (int64_t i = 0; i < c->n; i++)
		set_left(c, i, norm ? c->left[i] > 0.0 : c->own[i] > 0.0,
				 c->own[i] + (norm ? c->left[i] - norm[i] : 0.0));
	gp_free(r->env, norm);
}

gp_live_covariance
gp_live_covariance_open(gp_live_rows *r)
{
	gp_live_covariance c = {.r = r,.n = r->ev.live_rows};

	c.own = gp_alloc_zero(r->env, c.n, sizeof(double));
	c.left = gp_alloc_zero(r->env, c.n, sizeof(double));
	if (r->f.exact)
		open_exact(&c);
	else
		open_lowrank(&c);
	return c;
}

static void
forget_columns(gp_live_covariance *c)
{
	gp_destroy_all(c->r->dev, &c->kernel, &c->rows, &c->right);
}

void
gp_live_covariance_close(gp_live_covariance *c)
{
	forget_columns(c);
	c->r->dev->destroy(c->r->dev, &c->half);
	if (c->factor)
		gp_factor_free(&c->r->ev, c->factor);
	gp_free_all(c->r->env, c->own, c->left);
}

void
gp_live_covariance_set_columns(gp_live_covariance *c, const int32_t *col, int64_t ncols)
{
	gp_device  *dev = c->r->dev;

	forget_columns(c);
	c->col = col;
	c->ncols = ncols;
	c->rows = dev->create(dev, ncols, c->factor ? gp_factor_rank(c->factor) : c->half.cols,
						  GP_DOUBLE);
	if (c->factor)
	{
		/* noise B^-1 Q(col)', solved with the factor's roots. */
		gp_live_rows *r = c->r;
		int64_t		rank = gp_factor_rank(c->factor);
		gp_matrix	l = gp_live_root(r, rank);

		gp_factor_rows(&r->ev, c->factor, c->col, c->ncols, c->rows);
		dev->trsm(dev, false, true, l, c->rows);
		gp_matrix	x = gp_transpose(dev, c->rows);
		dev->trsm(dev, true, true, l, x);
		dev->axpby(dev, r->f.noise, x, 0.0, x);
		gp_factor_solve(&r->ev, c->factor, x);
		c->right = gp_copy(dev, x, r->ev.type);
		gp_destroy_all(dev, &x, &l);
		return;
	}
	c->kernel = gp_live_columns(c->r, col, ncols);
	dev->gather_rows(dev, c->rows, c->half, col);
}

void
gp_live_covariance_block(gp_live_covariance *c, int64_t first, int64_t count, gp_matrix out)
{
	gp_device  *dev = c->r->dev;

	if (c->factor == NULL)
	{
		dev->copy(dev, out, gp_matrix_rows(c->kernel, first, count));
		dev->gemm(dev, false, true, -1.0, gp_matrix_rows(c->half, first, count), c->rows, 1.0, out);
		return;
	}
	gp_matrix	narrow = dev->create(dev, count, c->ncols, c->r->ev.type);
	gp_factor_times(&c->r->ev, c->factor, first, count, c->right, narrow);
	dev->copy(dev, out, narrow);
	dev->destroy(dev, &narrow);
}

void
gp_live_covariance_square(gp_live_covariance *c, gp_matrix out)
{
	gp_device  *dev = c->r->dev;

	if (c->factor)
	{
		dev->syrk(dev, false, c->r->f.noise, c->rows, 0.0, out);
		return;
	}
	gp_matrix	rows = gp_gather(dev, c->kernel, c->col, c->ncols);
	dev->copy(dev, out, rows);
	dev->destroy(dev, &rows);
	dev->gemm(dev, false, true, -1.0, c->rows, c->rows, 1.0, out);
}
