/*
 * engine.c - parameters, their steps, and networks of operations.
 */
#include "engine.h"

gp_trainer
gp_trainer_open(gp_device *dev, gp_type type, uint64_t seed)
{
	gp_trainer	t = {.dev = dev,.env = dev->env,.type = type,.seed = seed,.clip = INFINITY};

	dev->env->objective = NAN;
	t.products = gp_long_dots_open(dev, GP_TRAIN_ROWS);
	return t;
}

void
gp_trainer_close(gp_trainer *t)
{
	while (t->nmemories > 0)
		gp_free(t->env, t->memory[--t->nmemories]);
	while (t->nmatrices > 0)
		t->dev->destroy(t->dev, &t->matrix[--t->nmatrices]);
	gp_long_dots_close(&t->products);
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
	assert(t->nparameters < GP_MOST_PARAMETERS);
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
		gp_elementwise e = {.op = GP_ELEMENT_ADAM};

		if ((p->groups >> group & 1) == 0)
			continue;
		p->steps++;
		e.adam = (gp_adam) {rate / (1.0 - pow(GP_ADAM_BETA1, (double) p->steps)),
			1.0 / sqrt(1.0 - pow(GP_ADAM_BETA2, (double) p->steps)), p->decay, t->clip};
		t->dev->elementwise(t->dev, &e, p->value, p->gradient, p->first, p->second);
	}
}

void
gp_trainer_elementwise(gp_trainer *t, gp_element_op op, double factor, gp_matrix y, gp_matrix a,
					   gp_matrix b)
{
	t->dev->elementwise(t->dev, &(gp_elementwise) {.op = op,.factor = factor}, y, a, b, GP_NONE);
}

double
gp_product_sum(gp_trainer *t, gp_matrix x, gp_matrix y)
{
	double		sum = 0.0;

	for (gp_band band = gp_band_first(x.rows, GP_TRAIN_ROWS); band.count > 0; gp_band_next(&band))
		sum += gp_long_dot(&t->products, gp_matrix_rows(x, band.first, band.count),
						   gp_matrix_rows(y, band.first, band.count));
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
	double	   *host = gp_alloc_values(t->env, gp_min64(most, m.rows),
										(size_t) m.cols * sizeof(double));

	for (gp_band band = gp_band_first(m.rows, most); band.count > 0; gp_band_next(&band))
	{
		for (int64_t k = 0; k < gp_items(t->env, band.count * m.cols); k++)
			host[k] = factor * (2.0 * gp_element_uniform(seed, (uint64_t) (band.first * m.cols + k))
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
	gp_elementwise e = {.op = GP_ELEMENT_NORMAL,.factor = factor,.seed = seed};

	t->dev->elementwise(t->dev, &e, m, GP_NONE, GP_NONE, GP_NONE);
}

/* ---- networks ---- */

gp_operation *
gp_network_add(gp_trainer *t, gp_network *net, const gp_operation_class *class)
{
	assert(net->n < GP_MOST_OPERATIONS);
	net->operation[net->n].class = class;
	return &net->operation[net->n++];
}

void
gp_network_open(gp_trainer *t, gp_network *net, int64_t rows, int64_t cols)
{
	for (int k = 0; k < net->n; k++)
	{
		gp_operation *op = &net->operation[k];

		op->number = k;
		op->rows = rows;
		op->cols = op->width > 0 ? op->width : cols;
		if (op->class->shape)
			op->class->shape(t, op, rows, cols);
		op->now = rows = op->rows;
		cols = op->cols;
		op->value = op->class->in_place ? op[-1].value : gp_trainer_matrix(t, rows, cols, t->type);
		op->gradient = op->class->in_place ? op[-1].gradient
			: gp_trainer_matrix(t, rows, cols, t->type);
	}
}

/* The rows of this step of an operation's value or gradient. */
static gp_matrix
rows_now(const gp_operation *op, gp_matrix m)
{
	return gp_is_wanted(m) ? gp_matrix_rows(m, 0, op->now) : m;
}

/* What an operation acts on. */
static gp_matrix
before(const gp_network *net, int k)
{
	return k > 0 ? rows_now(&net->operation[k - 1], net->operation[k - 1].value) : net->input;
}

void
gp_network_rows(gp_network *net, int first, int last, int64_t rows)
{
	for (int k = first; k <= last; k++)
		net->operation[k].now = rows;
}

void
gp_network_forward(gp_trainer *t, gp_network *net, int n)
{
	for (int k = 0; k < n; k++)
	{
		gp_operation *op = &net->operation[k];

		op->class->forward(t, op, before(net, k), rows_now(op, op->value));
	}
}

void
gp_network_backward(gp_trainer *t, gp_network *net)
{
	for (int k = net->n - 1; k >= 0; k--)
	{
		gp_operation *op = &net->operation[k];
		gp_matrix	dx = k > 0 ? rows_now(&op[-1], op[-1].gradient) : GP_NONE;

		op->class->backward(t, op, before(net, k), rows_now(op, op->value),
							rows_now(op, op->gradient), dx);
	}
}

void
gp_network_prior(gp_trainer *t, gp_network *net, double weight)
{
	for (int k = 0; k < net->n; k++)
		if (net->operation[k].class->prior)
			net->operation[k].class->prior(t, &net->operation[k], weight);
}

gp_matrix
gp_network_value(const gp_network *net)
{
	return rows_now(&net->operation[net->n - 1], net->operation[net->n - 1].value);
}

gp_matrix
gp_network_gradient(const gp_network *net)
{
	return rows_now(&net->operation[net->n - 1], net->operation[net->n - 1].gradient);
}
