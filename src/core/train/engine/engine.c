/*
 * engine.c - parameters, their steps, and chains of blocks.
 */
#include "engine.h"

gp_trainer
gp_trainer_open(gp_device *dev, gp_type type, uint64_t seed)
{
	gp_trainer	t = {.dev = dev,.env = dev->env,.type = type,.seed = seed,.clip = INFINITY};

	dev->env->objective = NAN;
	t.dots = gp_trainer_matrix(&t, GP_TRAIN_ROWS, 1, GP_DOUBLE);
	t.host = gp_trainer_own(&t, gp_alloc_figures(dev->env, GP_TRAIN_ROWS, sizeof(double)));
	return t;
}

void
gp_trainer_close(gp_trainer *t)
{
	while (t->nmemories > 0)
		gp_free(t->env, t->memory[--t->nmemories]);
	while (t->nmatrices > 0)
		t->dev->destroy(t->dev, &t->matrix[--t->nmatrices]);
	gp_free_all(t->env, t->memory, t->matrix);
}

gp_matrix
gp_trainer_matrix(gp_trainer *t, int64_t rows, int64_t cols, gp_type type)
{
	t->matrix = gp_realloc_array(t->env, t->matrix, t->nmatrices + 1, sizeof(gp_matrix));
	return t->matrix[t->nmatrices++] = t->dev->create(t->dev, rows, cols, type);
}

void *
gp_trainer_own(gp_trainer *t, void *memory)
{
	t->memory = gp_realloc_array(t->env, t->memory, t->nmemories + 1, sizeof(void *));
	return t->memory[t->nmemories++] = memory;
}

gp_csr
gp_trainer_csr(gp_trainer *t, int64_t rows, int64_t cols, int64_t entries)
{
	gp_csr		s = {.rows = rows,.cols = cols,.type = t->type};

	s.start = gp_trainer_own(t, gp_alloc_zero(t->env, rows + 1, sizeof(int64_t)));
	s.col = gp_trainer_own(t, gp_alloc_array(t->env, entries, sizeof(int32_t)));
	s.value = gp_trainer_own(t, gp_alloc_array(t->env, entries, gp_type_size(t->type)));
	GP_EACH(t->env, k, entries, k)
	{
		s.col[k] = (int32_t) k;
		gp_number_put(s.value, t->type, k, 1.0);
	}
	return s;
}

void
gp_parameter_make(gp_trainer *t, gp_parameter *p, int64_t rows, int64_t cols, unsigned groups,
				  double decay)
{
	*p = (gp_parameter) {.decay = decay,.groups = groups};
	p->value = gp_trainer_matrix(t, rows, cols, t->type);
	t->dev->fill(t->dev, p->value, 0.0);
	if (groups == 0)
		return;
	p->gradient = gp_trainer_matrix(t, rows, cols, t->type);
	p->first = gp_trainer_matrix(t, rows, cols, t->type);
	p->second = gp_trainer_matrix(t, rows, cols, t->type);
	t->dev->fill(t->dev, p->gradient, 0.0);
	t->dev->fill(t->dev, p->first, 0.0);
	t->dev->fill(t->dev, p->second, 0.0);
	if (t->nparameters == GP_MOST_PARAMETERS)
		gp_raise(t->env, GP_ERR_INTERNAL, NULL, "a training has too many parameters");
	t->parameter[t->nparameters++] = p;
}

double
gp_parameter_number(gp_trainer *t, const gp_parameter *p)
{
	double		number = 0.0;

	t->dev->download(t->dev, gp_matrix_wrap(&number, 1, 1, GP_DOUBLE), p->value);
	return number;
}

void
gp_trainer_clear(gp_trainer *t)
{
	for (int k = 0; k < t->nparameters; k++)
		t->dev->fill(t->dev, t->parameter[k]->gradient, 0.0);
}

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

void
gp_trainer_each(gp_trainer *t, gp_each_op op, double factor, gp_matrix y, gp_matrix a, gp_matrix b)
{
	t->dev->each(t->dev, &(gp_each) {.op = op,.factor = factor}, y, a, b, GP_NONE);
}

double
gp_product_sum(gp_trainer *t, gp_matrix x, gp_matrix y)
{
	gp_device  *dev = t->dev;
	double		sum = 0.0;

	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	dots = gp_matrix_rows(t->dots, 0, band.count);

		dev->row_dots(dev, dots, gp_matrix_rows(x, band.first, band.count),
					  gp_matrix_rows(y, band.first, band.count));
		dev->download(dev, gp_matrix_wrap(t->host, band.count, 1, GP_DOUBLE), dots);
		for (int64_t i = 0; i < gp_items(t->env, band.count); i++)
			sum += t->host[i];
	}
	return sum;
}

uint64_t
gp_trainer_seed(const gp_trainer *t, uint64_t purpose, bool of_step)
{
	uint64_t	seed = gp_hash(gp_hash(t->seed) ^ purpose);

	return of_step ? gp_hash(seed ^ (uint64_t) (t->step + 1)) : seed;
}

void
gp_fill_uniform(gp_trainer *t, gp_matrix m, uint64_t seed, double factor)
{
	int64_t		most = gp_max64(1, GP_POLL_EVERY / gp_max64(m.cols, 1));
	double	   *host = gp_alloc_figures(t->env, gp_min64(most, m.rows),
										(size_t) m.cols * sizeof(double));

	for (gp_band band = gp_band_first(m.rows, most); band.count > 0; gp_band_next(&band))
	{
		for (int64_t k = 0; k < gp_items(t->env, band.count * m.cols); k++)
			host[k] = factor * (2.0 * gp_each_uniform(seed, (uint64_t) (band.first * m.cols + k))
								- 1.0);
		t->dev->upload(t->dev, gp_matrix_rows(m, band.first, band.count),
					   gp_matrix_wrap(host, band.count, m.cols, GP_DOUBLE));
		t->env->check_interrupts(t->env);
	}
	gp_free(t->env, host);
}

void
gp_fill_normal(gp_trainer *t, gp_matrix m, uint64_t seed, double factor)
{
	t->dev->each(t->dev, &(gp_each) {.op = GP_EACH_NORMAL,.factor = factor,.seed = seed}, m,
				 GP_NONE, GP_NONE, GP_NONE);
}

/* ---- chains ---- */

gp_layer_op *
gp_network_add(gp_network *c, const gp_block_class *class)
{
	c->block[c->n].class = class;
	return &c->block[c->n++];
}

void
gp_network_open(gp_trainer *t, gp_network *c, int64_t rows, int64_t cols)
{
	for (int k = 0; k < c->n; k++)
	{
		gp_layer_op   *b = &c->block[k];

		b->number = k;
		b->rows = rows;
		b->cols = b->width > 0 ? b->width : cols;
		if (b->class->shape)
			b->class->shape(t, b, rows, cols);
		b->now = rows = b->rows;
		cols = b->cols;
		b->value = b->class->in_place ? b[-1].value : gp_trainer_matrix(t, rows, cols, t->type);
		b->gradient = b->class->in_place ? b[-1].gradient
			: gp_trainer_matrix(t, rows, cols, t->type);
	}
}

/* The rows of this step of a block's value or gradient. */
static gp_matrix
rows_now(const gp_layer_op *b, gp_matrix m)
{
	return gp_is_wanted(m) ? gp_matrix_rows(m, 0, b->now) : m;
}

/* What a block acts on. */
static gp_matrix
before(const gp_network *c, int k)
{
	return k > 0 ? rows_now(&c->block[k - 1], c->block[k - 1].value) : c->input;
}

void
gp_network_forward(gp_trainer *t, gp_network *c, int n)
{
	for (int k = 0; k < n; k++)
	{
		gp_layer_op   *b = &c->block[k];

		b->class->forward(t, b, before(c, k), rows_now(b, b->value));
	}
}

void
gp_network_backward(gp_trainer *t, gp_network *c)
{
	for (int k = c->n - 1; k >= 0; k--)
	{
		gp_layer_op   *b = &c->block[k];
		gp_matrix	dx = k > 0 ? rows_now(&b[-1], b[-1].gradient) : GP_NONE;

		b->class->backward(t, b, before(c, k), rows_now(b, b->value), rows_now(b, b->gradient), dx);
	}
}

void
gp_network_prior(gp_trainer *t, gp_network *c, double weight)
{
	for (int k = 0; k < c->n; k++)
		if (c->block[k].class->prior)
			c->block[k].class->prior(t, &c->block[k], weight);
}

gp_matrix
gp_network_value(const gp_network *c)
{
	return rows_now(&c->block[c->n - 1], c->block[c->n - 1].value);
}

gp_matrix
gp_network_gradient(const gp_network *c)
{
	return rows_now(&c->block[c->n - 1], c->block[c->n - 1].gradient);
}
