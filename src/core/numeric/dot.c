/*
 * dot.c - matrices as one long vector each: their inner products.
 */
#include "numeric.h"

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
