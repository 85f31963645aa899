/*
 * conjugate.c - conjugate gradients (Hestenes and Stiefel 1952).
 *
 * Columns that take the same lengths need no number for each; columns apart are added up by
 * themselves, in bands of rows, so that no other one has a part in their bits.
 */
#include "numeric.h"

#define BAND 1024				/* rows of columns apart that are turned at once */
#define LONG_ROW 64				/* rows of a few columns that are taken as one */

gp_long_dots
gp_long_dots_open(gp_device *dev, int64_t rows)
{
	return (gp_long_dots) {
		.dev = dev,
		.dots = dev->create(dev, rows, 1, GP_DOUBLE),
		.host = gp_alloc_figures(dev->env, rows, sizeof(double))
	};
}

void
gp_long_dots_close(gp_long_dots *l)
{
	if (l->dev == NULL)
		return;
	l->dev->destroy(l->dev, &l->dots);
	gp_free(l->dev->env, l->host);
	*l = (gp_long_dots) {0};
}

/* The first rows as longer ones, where they lie without gaps: a call for each short one would cost
 * more than its numbers. */
static gp_matrix
lengthen(gp_matrix a, int64_t times)
{
	return (gp_matrix) {a.data, a.rows / times, a.cols * times, a.ld * times, a.type};
}

double
gp_long_dot(gp_long_dots *l, gp_matrix a, gp_matrix b)
{
	gp_device  *dev = l->dev;
	gp_env	   *env = dev->env;
	int64_t		times = a.ld == a.cols && b.ld == b.cols ? LONG_ROW : 1;
	int64_t		body = a.rows / times;
	int64_t		rest = a.rows % times;
	double		sum = 0.0;

	dev->row_dots(dev, gp_matrix_rows(l->dots, 0, body), lengthen(a, times), lengthen(b, times));
	dev->row_dots(dev, gp_matrix_rows(l->dots, body, rest), gp_matrix_rows(a, a.rows - rest, rest),
				  gp_matrix_rows(b, a.rows - rest, rest));
	dev->download(dev, gp_matrix_wrap(l->host, body + rest, 1, GP_DOUBLE),
				  gp_matrix_rows(l->dots, 0, body + rest));
	GP_EACH(env, i, gp_items(env, body + rest), i)
		sum += l->host[i];
	return env->dry ? 1.0 : sum;
}

/* ---- the steps ---- */

gp_conjugate
gp_conjugate_open(gp_device *dev, int64_t rows, int64_t cols, gp_type type, bool apart,
				  gp_conjugate_product *multiply, void *system)
{
	int64_t		n = apart ? cols : 1;
	gp_conjugate g = {.dev = dev, .multiply = multiply, .system = system, .n = n, .apart = apart};

	g.residual = dev->create(dev, rows, cols, type);
	g.direction = dev->create(dev, rows, cols, type);
	g.product = dev->create(dev, rows, cols, type);
	if (!apart)
		g.dots = gp_long_dots_open(dev, rows);
	g.square = gp_alloc_array(dev->env, 4 * n, sizeof(double));
	g.first = g.square + n;
	g.length = g.square + 2 * n;
	g.left = g.square + 3 * n;
	return g;
}

void
gp_conjugate_close(gp_conjugate *g)
{
	if (g->dev == NULL)
		return;
	gp_destroy_all(g->dev, &g->residual, &g->direction, &g->product);
	gp_long_dots_close(&g->dots);
	gp_free(g->dev->env, g->square);
	*g = (gp_conjugate) {0};
}

/* The inner products of a and b; in a dry run 1. */
static void
inner_products(gp_conjugate *g, gp_matrix a, gp_matrix b, double *out)
{
	gp_device  *dev = g->dev;
	gp_matrix	sum;
	double	   *host;

	if (!g->apart)
	{
		*out = gp_long_dot(&g->dots, a, b);
		return;
	}
	for (int64_t t = 0; t < g->n; t++)
		out[t] = dev->env->dry ? 1.0 : 0.0;
	sum = dev->create(dev, g->n, 1, GP_DOUBLE);
	for (gp_band band = gp_band_first(a.rows, BAND); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	left = gp_transpose(dev, gp_matrix_rows(a, band.first, band.count));
		gp_matrix	right = gp_transpose(dev, gp_matrix_rows(b, band.first, band.count));

		dev->row_dots(dev, sum, left, right);
		host = gp_download(dev, sum);
		for (int64_t t = 0; t < gp_items(dev->env, g->n); t++)
			out[t] += host[t];
		gp_free(dev->env, host);
		gp_destroy_all(dev, &left, &right);
	}
	dev->destroy(dev, &sum);
}

/* y += sign factor x. */
static void
add(gp_conjugate *g, double sign, double *factor, gp_matrix x, gp_matrix y)
{
	gp_device  *dev = g->dev;
	gp_matrix	row;

	if (!g->apart)
	{
		dev->axpby(dev, sign * *factor, x, 1.0, y);
		return;
	}
	row = gp_upload(dev, gp_matrix_wrap(factor, 1, g->n, GP_DOUBLE), y.type);
	dev->each(dev, &(gp_each) {.op = GP_EACH_ADD,.factor = sign}, y, row, x, x);
	dev->destroy(dev, &row);
}

void
gp_conjugate_begin(gp_conjugate *g)
{
	g->dev->copy(g->dev, g->direction, g->residual);
	inner_products(g, g->residual, g->residual, g->square);
	memcpy(g->first, g->square, g->n * sizeof(double));
}

double
gp_conjugate_step(gp_conjugate *g, double close)
{
	gp_device  *dev = g->dev;
	double		gain = 0.0;

	g->multiply(g->system, g->direction, g->product);
	inner_products(g, g->direction, g->product, g->length);
	for (int64_t t = 0; t < g->n; t++)
	{
		bool		stands = g->square[t] <= close * close * g->first[t];

		if (!stands && !(g->length[t] > 0.0 && isfinite(g->length[t])))
			return NAN;
		g->length[t] = stands ? 0.0 : g->square[t] / g->length[t];
		gain += g->length[t] * g->square[t];
	}
	add(g, 1.0, g->length, g->direction, g->x);
	add(g, -1.0, g->length, g->product, g->residual);
	inner_products(g, g->residual, g->residual, g->left);
	for (int64_t t = 0; t < g->n; t++)
	{
		double		ratio = g->length[t] > 0.0 ? g->left[t] / g->square[t] : 0.0;

		g->square[t] = g->length[t] > 0.0 ? g->left[t] : 0.0;
		g->left[t] = ratio;
	}
	if (!g->apart)
		dev->axpby(dev, 1.0, g->residual, *g->left, g->direction);
	else
	{
		gp_matrix	row = gp_upload(dev, gp_matrix_wrap(g->left, 1, g->n, GP_DOUBLE),
									g->direction.type);

		dev->each(dev, &(gp_each) {.op = GP_EACH_TIMES}, g->direction, row, row, row);
		dev->axpby(dev, 1.0, g->residual, 1.0, g->direction);
		dev->destroy(dev, &row);
	}
	return gain;
}

void
gp_conjugate_solve(gp_conjugate *g, double close, int most)
{
	bool		open = true;

	gp_conjugate_begin(g);
	for (int k = 0; k < most && open; k++)
	{
		open = false;
		for (int64_t t = 0; t < g->n; t++)
			open |= g->square[t] > close * close * g->first[t];
		open = open && !isnan(gp_conjugate_step(g, close)) && !g->dev->env->dry;
	}
}
