/*
 * conjugate.c - conjugate gradients (Hestenes and Stiefel 1952).
 */
#include "numeric.h"

#define LONG_ROW 64				/* rows of a few columns that are taken as one */
#define USUAL_STEPS 4			/* of a whole solution, in a dry run */

gp_long_dots
gp_long_dots_open(gp_device *dev, int64_t rows)
{
	return (gp_long_dots) {
		.dev = dev,
		.dots = dev->create(dev, rows, 1, GP_DOUBLE),
		.host = gp_alloc_values(dev->env, rows, sizeof(double))
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
gp_conjugate_open(gp_device *dev, int64_t rows, int64_t cols, gp_type type,
				  gp_conjugate_product *multiply, void *system)
{
	gp_conjugate g = {.dev = dev, .multiply = multiply, .system = system};

	g.residual = dev->create(dev, rows, cols, type);
	g.direction = dev->create(dev, rows, cols, type);
	g.product = dev->create(dev, rows, cols, type);
	g.dots = gp_long_dots_open(dev, rows);
	return g;
}

void
gp_conjugate_close(gp_conjugate *g)
{
	if (g->dev == NULL)
		return;
	gp_destroy_all(g->dev, &g->residual, &g->direction, &g->product);
	gp_long_dots_close(&g->dots);
	*g = (gp_conjugate) {0};
}

void
gp_conjugate_begin(gp_conjugate *g)
{
	g->dev->copy(g->dev, g->direction, g->residual);
	g->first = g->square = gp_long_dot(&g->dots, g->residual, g->residual);
}

double
gp_conjugate_step(gp_conjugate *g)
{
	gp_device  *dev = g->dev;
	double		before = g->square;

	g->multiply(g->system, g->direction, g->product);
	double		curvature = gp_long_dot(&g->dots, g->direction, g->product);
	if (!(curvature > 0.0 && isfinite(curvature)))
		return NAN;
	double		length = before / curvature;
	dev->axpby(dev, length, g->direction, 1.0, g->x);
	dev->axpby(dev, -length, g->product, 1.0, g->residual);
	g->square = gp_long_dot(&g->dots, g->residual, g->residual);
	dev->axpby(dev, 1.0, g->residual, g->square / before, g->direction);
	return length * before;
}

void
gp_conjugate_solve(gp_conjugate *g, double close, int most)
{
	bool		open = true;

	gp_conjugate_begin(g);
	if (g->dev->env->dry)
		most = most < USUAL_STEPS ? most : USUAL_STEPS;
	for (int k = 0; k < most && open && g->square > close * close * g->first; k++)
		open = !isnan(gp_conjugate_step(g));
}
