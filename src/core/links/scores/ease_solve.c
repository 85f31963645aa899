/*
 * ease_solve.c - the systems of the auto-encoders of users and items (ease.c).
 *
 * A column of A P, P = (A^2 + lambda I)^-1, is that of the system (A^2 + lambda I) x = A e_i.
 * Conjugate gradients solve all sources of a block at once, each with steps of its own: a column
 * that is done stands still.  One step for all, as in gp_conjugate, would let a score depend on the
 * pairs beside it.
 */
#include "scores.h"

#define CLOSE 1e-8				/* of a column's first residual */
#define MOST_STEPS 60
#define TYPICAL_STEPS 15		/* for a plan */

/*
 * The squares of each column, added up in an order that other columns have no part in; turned is c
 * x n.
 */
static void
column_squares(gp_device *dev, gp_matrix a, gp_matrix turned, double *out)
{
	gp_matrix	sum = dev->create(dev, a.cols, 1, GP_DOUBLE);

	memset(out, 0, a.cols * sizeof(double));
	dev->transpose(dev, turned, a);
	dev->row_dots(dev, sum, turned, turned);
	dev->download(dev, gp_matrix_wrap(out, a.cols, 1, GP_DOUBLE), sum);
	dev->destroy(dev, &sum);
}

/* y *= factor or y += sign factor x, a factor for each column. */
static void
change_columns(gp_device *dev, gp_elementwise e, const double *factor, gp_matrix x, gp_matrix y)
{
	gp_matrix	row = gp_upload(dev, gp_matrix_wrap((double *) factor, 1, y.cols, GP_DOUBLE),
								y.type);

	dev->elementwise(dev, &e, y, row, x, x);
	dev->destroy(dev, &row);
}

static void
add_columns(gp_device *dev, double sign, const double *factor, gp_matrix x, gp_matrix y)
{
	change_columns(dev, (gp_elementwise) {.op = GP_ELEMENT_ADD,.factor = sign}, factor, x, y);
}

void
gp_link_ease_solve(gp_link_context *f, gp_matrix residual, gp_matrix x)
{
	gp_device  *dev = f->dev;
	int32_t		c = (int32_t) x.cols;
	gp_matrix	direction = dev->create(dev, f->n, c, x.type);
	gp_matrix	product = dev->create(dev, f->n, c, x.type);
	gp_matrix	spare = dev->create(dev, f->n, c, x.type);
	gp_matrix	turned = dev->create(dev, c, f->n, x.type);
	double		first[GP_LINK_BLOCK];
	double		left[GP_LINK_BLOCK];
	double		length[GP_LINK_BLOCK];	/* of the direction, squared */
	double		squares[GP_LINK_BLOCK];
	double		factor[GP_LINK_BLOCK];
	bool		open = true;
	gp_count	before = f->env->dry ? gp_dry_count(dev) : (gp_count) {0};

	dev->fill(dev, x, 0.0);
	dev->copy(dev, direction, residual);
	column_squares(dev, residual, turned, left);
	memcpy(first, left, sizeof(first));
	memcpy(length, left, sizeof(length));
	/* A dry run ends with its first step, for its squares are 0. */
	for (int k = 0; k < MOST_STEPS && open; k++)
	{
		f->env->check_interrupts(f->env);
		open = false;
		dev->spmm(dev, 1.0, &f->pattern, direction, 0.0, product);
		column_squares(dev, product, turned, squares);
		for (int32_t t = 0; t < c; t++)
		{
			bool		on = left[t] > CLOSE * CLOSE * first[t];

			open |= on;
			factor[t] = on ? left[t] / (squares[t] + f->ridge * length[t]) : 0.0;
		}
		add_columns(dev, 1.0, factor, direction, x);
		dev->spmm(dev, 1.0, &f->pattern, product, 0.0, spare);
		dev->axpby(dev, f->ridge, direction, 1.0, spare);
		add_columns(dev, -1.0, factor, spare, residual);
		column_squares(dev, residual, turned, squares);
		for (int32_t t = 0; t < c; t++)
		{
			factor[t] = factor[t] > 0.0 ? squares[t] / left[t] : 0.0;
			if (factor[t] > 0.0)
			{
				left[t] = squares[t];
				length[t] = squares[t] + factor[t] * factor[t] * length[t];
			}
			else
				left[t] = 0.0;
		}
		change_columns(dev, (gp_elementwise) {.op = GP_ELEMENT_TIMES}, factor, direction,
					   direction);
		dev->axpby(dev, 1.0, residual, 1.0, direction);
	}
	if (f->env->dry)
		gp_dry_repeat(dev, &before, TYPICAL_STEPS - 1.0);
	gp_destroy_all(dev, &direction, &product, &spare, &turned);
}
