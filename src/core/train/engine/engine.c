/*
 * engine.c - parameters, their steps, and chains of blocks.
 */
#include "engine.h"

#include <math.h>

/* What all blocks share. */
gp_trainer
gp_trainer_open(gp_device *dev, gp_type type, uint64_t seed)
{
	gp_trainer	t = {.dev = dev,.env = dev->env,.type = type,.seed = seed,.clip = INFINITY};

	dev->env->objective = NAN;

	t.dots = dev->create(dev, GP_TRAIN_ROWS, 1, GP_DOUBLE);
	t.host = gp_alloc_figures(dev->env, GP_TRAIN_ROWS, sizeof(double));
	return t;
}

/* Frees it. */
void
gp_trainer_close(gp_trainer *t)
{
	t->dev->destroy(t->dev, &t->dots);
	gp_free(t->env, t->host);
}

/* Makes a parameter of zeros; one that is given has no moments. */
void
gp_parameter_make(gp_trainer *t, gp_parameter *p, int64_t rows, int64_t cols, unsigned groups, double decay)
{
	gp_device  *dev = t->dev;

	*p = (gp_parameter) {.decay = decay,.groups = groups};
	p->value = dev->create(dev, rows, cols, t->type);
	dev->fill(dev, p->value, 0.0);
	if (groups == 0)
		return;
	p->gradient = dev->create(dev, rows, cols, t->type);
	p->first = dev->create(dev, rows, cols, t->type);
	p->second = dev->create(dev, rows, cols, t->type);
	dev->fill(dev, p->gradient, 0.0);
	dev->fill(dev, p->first, 0.0);
	dev->fill(dev, p->second, 0.0);
	if (t->nparameters == GP_MOST_PARAMETERS)
		gp_raise(t->env, GP_ERR_INTERNAL, NULL, "a training has too many parameters");
	t->parameter[t->nparameters++] = p;
}

/* Frees a parameter. */
void
gp_parameter_free(gp_trainer *t, gp_parameter *p)
{
	gp_device  *dev = t->dev;

	dev->destroy(dev, &p->value);
	dev->destroy(dev, &p->gradient);
	dev->destroy(dev, &p->first);
	dev->destroy(dev, &p->second);
}

/* Sets all gradients to 0. */
void
gp_trainer_clear(gp_trainer *t)
{
	for (int k = 0; k < t->nparameters; k++)
		t->dev->fill(t->dev, t->parameter[k]->gradient, 0.0);
}

/* A step of Adam with the parameters of a group. */
void
gp_trainer_step(gp_trainer *t, int group, double rate)
{
	for (int k = 0; k < t->nparameters; k++)
	{
		gp_parameter *p = t->parameter[k];
		gp_each		e = {.op = GP_EACH_ADAM};

		if ((p->groups >> group & 1) == 0)
			continue;
		p->steps++;
		e.adam = (gp_adam) {rate / (1.0 - pow(GP_ADAM_BETA1, (double) p->steps)),
			1.0 / sqrt(1.0 - pow(GP_ADAM_BETA2, (double) p->steps)), p->decay, t->clip};
		t->dev->each(t->dev, &e, p->value, p->gradient, p->first, p->second);
	}
}

/* sum x_ij y_ij, row by row in double. */
double
gp_product_sum(gp_trainer *t, gp_matrix x, gp_matrix y)
{
	gp_device  *dev = t->dev;
	double		sum = 0.0;

	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	dots = gp_matrix_rows(t->dots, 0, band.count);

		dev->row_dots(dev, dots, gp_matrix_rows(x, band.first, band.count), gp_matrix_rows(y, band.first, band.count));
		dev->download(dev, gp_matrix_wrap(t->host, band.count, 1, GP_DOUBLE), dots);
		for (int64_t i = 0; i < band.count && !t->env->dry; i++)
			sum += t->host[i];
	}
	return sum;
}

/* The seed of what is drawn for a purpose. */
uint64_t
gp_trainer_seed(const gp_trainer *t, uint64_t purpose, bool of_step)
{
	uint64_t	seed = gp_hash(gp_hash(t->seed) ^ purpose);

	return of_step ? gp_hash(seed ^ (uint64_t) (t->step + 1)) : seed;
}

/* Uniform numbers, a band of rows at a time. */
void
gp_fill_uniform(gp_trainer *t, gp_matrix m, uint64_t seed, double factor)
{
	int64_t		most = gp_max64(1, GP_POLL_EVERY / gp_max64(m.cols, 1));
	double	   *host = gp_alloc_figures(t->env, gp_min64(most, m.rows), (size_t) m.cols * sizeof(double));

	for (gp_band band = gp_band_first(m.rows, most); band.count > 0; gp_band_next(&band))
	{
		for (int64_t k = 0; k < band.count * m.cols && !t->env->dry; k++)
			host[k] = factor * (2.0 * gp_each_uniform(seed, (uint64_t) (band.first * m.cols + k)) - 1.0);
		t->dev->upload(t->dev, gp_matrix_rows(m, band.first, band.count),
					   gp_matrix_wrap(host, band.count, m.cols, GP_DOUBLE));
		t->env->check_interrupts(t->env);
	}
	gp_free(t->env, host);
}

/* Normal numbers. */
void
gp_fill_normal(gp_trainer *t, gp_matrix m, uint64_t seed, double factor)
{
	t->dev->each(t->dev, &(gp_each) {.op = GP_EACH_NORMAL,.factor = factor,.seed = seed}, m, (gp_matrix) {0},
				 (gp_matrix) {0}, (gp_matrix) {0});
}

/* ---- chains ---- */

/* Adds a block. */
gp_block *
gp_network_add(gp_network *c, const gp_block_class *class)
{
	c->block[c->n].class = class;
	return &c->block[c->n++];
}

/* Makes the blocks' values, gradients and parameters. */
void
gp_network_open(gp_trainer *t, gp_network *c, int64_t rows, int64_t cols)
{
	gp_device  *dev = t->dev;

	for (int k = 0; k < c->n; k++)
	{
		gp_block   *b = &c->block[k];

		b->number = k;
		b->rows = rows;
		b->cols = b->width > 0 ? b->width : cols;
		if (b->class->shape)
			b->class->shape(t, b, rows, cols);
		b->now = rows = b->rows;
		cols = b->cols;
		if (b->class->in_place)
		{
			b->value = b[-1].value;
			b->gradient = b[-1].gradient;
			continue;
		}
		b->value = dev->create(dev, rows, cols, t->type);
		b->gradient = dev->create(dev, rows, cols, t->type);
	}
}

/* Frees them. */
void
gp_network_close(gp_trainer *t, gp_network *c)
{
	for (int k = 0; k < c->n; k++)
	{
		gp_block   *b = &c->block[k];

		if (b->class->close)
			b->class->close(t, b);
		if (b->class->in_place)
			continue;
		t->dev->destroy(t->dev, &b->value);
		t->dev->destroy(t->dev, &b->gradient);
	}
}

/* The rows of this step of a block's value or gradient. */
static gp_matrix
rows_now(const gp_block *b, gp_matrix m)
{
	return m.data || m.rows ? gp_matrix_rows(m, 0, b->now) : m;
}

/* What a block acts on. */
static gp_matrix
before(const gp_network *c, int k)
{
	return k > 0 ? rows_now(&c->block[k - 1], c->block[k - 1].value) : c->input;
}

/* Runs the first n blocks. */
void
gp_network_forward(gp_trainer *t, gp_network *c, int n)
{
	for (int k = 0; k < n; k++)
	{
		gp_block   *b = &c->block[k];

		b->class->forward(t, b, before(c, k), rows_now(b, b->value));
	}
}

/* The derivatives, from the last block's gradient on. */
void
gp_network_backward(gp_trainer *t, gp_network *c)
{
	gp_matrix	none = {0};

	for (int k = c->n - 1; k >= 0; k--)
	{
		gp_block   *b = &c->block[k];
		gp_matrix	dx = k > 0 ? rows_now(&b[-1], b[-1].gradient) : none;

		b->class->backward(t, b, before(c, k), rows_now(b, b->value), rows_now(b, b->gradient), dx);
	}
}

/* The value of the last block. */
gp_matrix
gp_network_value(const gp_network *c)
{
	return rows_now(&c->block[c->n - 1], c->block[c->n - 1].value);
}

/* Its gradient. */
gp_matrix
gp_network_gradient(const gp_network *c)
{
	return rows_now(&c->block[c->n - 1], c->block[c->n - 1].gradient);
}
