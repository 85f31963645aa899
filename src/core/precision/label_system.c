/*
 * label_system.c - the labelled nodes' own part of a Laplacian posterior's precision.
 *
 * With R the labels' rows of S, all columns, B^2 among the labels is
 * (1 + s2)^2 I - 2 s2 (1 + s2) S_tt + s2^2 R R': nothing is multiplied out, for labels around a
 * hub meet in pairs.  The noise makes it well conditioned, so that conjugate gradients need no
 * preconditioner.
 */
#include "krylov.h"

#define SMALL 1e-6				/* of the right side, what may be left of it */
#define MOST_STEPS 100

/* The places of S's columns among those that the labels reach, or -1; counts them. */
static int32_t *
reached_columns(gp_env *env, const gp_csr *s, const int32_t *labelled, int64_t n, int64_t *count)
{
	int32_t    *place = gp_alloc_array(env, s->cols, sizeof(int32_t));

	*count = 0;
	for (int64_t j = 0; j < s->cols; j++)
		place[j] = -1;
	GP_EACH(env, k, n, s->start[labelled[k]])
	{
		for (int64_t e = s->start[labelled[k]]; e < s->start[labelled[k] + 1]; e++)
			if (place[s->col[e]] < 0)
				place[s->col[e]] = (int32_t) (*count)++;
	}
	return place;
}

gp_label_system
gp_label_system_open(gp_device *dev, const gp_csr *s, const int32_t *labelled, int64_t n)
{
	gp_env	   *env = dev->env;
	gp_label_system l = {.dev = dev, .n = n};
	int32_t    *place;
	int32_t    *label_at;
	int64_t		count;

	l.dots = gp_long_dots_open(dev, n);
	place = reached_columns(env, s, labelled, n, &count);
	l.rows = gp_csr_select(env, s, labelled, n, place, count);
	label_at = gp_alloc_array(env, count, sizeof(int32_t));
	for (int64_t j = 0; j < count; j++)
		label_at[j] = -1;
	/* Each row of S has its diagonal, so that labels reach themselves. */
	for (int64_t k = 0; k < n; k++)
		label_at[place[labelled[k]]] = (int32_t) k;
	/* The columns of some rows that are labels themselves, from the places of those */
	const double *from = l.rows->value;
	gp_csr	   *own = gp_csr_create(env, l.rows->rows, l.rows->rows, gp_csr_entries(l.rows),
									GP_DOUBLE);
	double	   *to = own->value;
	int64_t		at = 0;

	GP_EACH(env, k, l.rows->rows, l.rows->start[k])
	{
		for (int64_t e = l.rows->start[k]; e < l.rows->start[k + 1]; e++)
		{
			if (label_at[l.rows->col[e]] < 0)
				continue;
			own->col[at] = label_at[l.rows->col[e]];
			to[at++] = from[e];
		}
		own->start[k + 1] = at;
	}
	l.own = own;
	l.cols = gp_csr_transpose(env, l.rows);
	gp_free_all(env, label_at, place);
	return l;
}

void
gp_label_system_close(gp_label_system *l)
{
	gp_csr_free(l->dev->env, l->own);
	gp_csr_free(l->dev->env, l->rows);
	gp_csr_free(l->dev->env, l->cols);
	gp_long_dots_close(&l->dots);
}

/* to = (B^d + I / noise) x among the labels; reach has room for all that they reach. */
static void
apply(gp_label_system *l, double sigma2, int d, double noise, gp_matrix x, gp_matrix reach,
	  gp_matrix to)
{
	gp_device  *dev = l->dev;
	double		unit = 1.0 + sigma2;

	dev->axpby(dev, (d == 1 ? unit : unit * unit) + 1.0 / noise, x, 0.0, to);
	dev->spmm(dev, d == 1 ? -sigma2 : -2.0 * sigma2 * unit, l->own, x, 1.0, to);
	if (d == 1)
		return;
	dev->spmm(dev, 1.0, l->cols, x, 0.0, reach);
	dev->spmm(dev, sigma2 * sigma2, l->rows, reach, 1.0, to);
}

void
gp_label_system_solve(gp_label_system *l, double sigma2, int d, double noise, gp_matrix w,
					  gp_matrix z)
{
	gp_device  *dev = l->dev;
	gp_matrix	direction = dev->create(dev, l->n, w.cols, GP_DOUBLE);
	gp_matrix	product = dev->create(dev, l->n, w.cols, GP_DOUBLE);
	gp_matrix	reach = dev->create(dev, l->cols->rows, w.cols, GP_DOUBLE);
	double		first = gp_long_dot(&l->dots, w, w);
	double		square = first;

	dev->fill(dev, z, 0.0);
	dev->copy(dev, direction, w);
	for (int k = 0; k < MOST_STEPS && square > SMALL * SMALL * first; k++)
	{
		double		left;
		double		length;

		apply(l, sigma2, d, noise, direction, reach, product);
		length = square / gp_long_dot(&l->dots, direction, product);
		dev->axpby(dev, length, direction, 1.0, z);
		dev->axpby(dev, -length, product, 1.0, w);
		left = gp_long_dot(&l->dots, w, w);
		dev->axpby(dev, 1.0, w, left / square, direction);
		square = left;
		if (dev->env->dry)
			break;
	}
	gp_destroy_all(dev, &direction, &product, &reach);
}
