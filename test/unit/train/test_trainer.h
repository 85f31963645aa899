/*
 * test_trainer.h - what tests of trainings have alike: filled matrices, golden gradients, derivatives against
 * differences, and bits that neither threads nor panels change.
 */
#ifndef TEST_TRAINER_H
#define TEST_TRAINER_H

#include "test_env.h"
#include "train/engine/engine.h"

#define MOST_FILLED 2000
#define MOST_HASHED 40000

/* A matrix of f(1 + i c + j) times a, and add; turned: of its transpose. */
static __attribute__((unused)) void
fill(gp_trainer *t, gp_matrix m, double (*f) (double), double a, double add, bool turned)
{
	double		host[MOST_FILLED];

	for (int64_t i = 0; i < m.rows; i++)
		for (int64_t j = 0; j < m.cols; j++)
			host[i * m.cols + j] = add + a * (turned ? f((double) (1 + j * m.rows + i)) : f((double) (1 + i * m.cols + j)));
	t->dev->upload(t->dev, m, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE));
}

/* A gradient of minus the ELBO, against the golden norm and first element of the ELBO's. */
static __attribute__((unused)) void
check_gradient(gp_trainer *t, gp_matrix m, double norm, double first, double tolerance, const char *name)
{
	double		host[MOST_FILLED];
	double		sum = 0.0;

	t->dev->download(t->dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
	for (int64_t k = 0; k < m.rows * m.cols; k++)
		sum += host[k] * host[k];
	close_to(sqrt(sum), norm, tolerance, name);
	close_to(-host[0], first, tolerance, "and its first element");
}

/* .7 times the log likelihood of links by the network's value, whose gradient is then carried back. */
static __attribute__((unused)) double
pairs_likelihood(gp_trainer *t, gp_network *network, const bool *linked)
{
	gp_matrix	value = gp_network_value(network);
	double	   *r = gp_alloc_array(t->env, value.rows, sizeof(double));
	gp_matrix	host = gp_matrix_wrap(r, value.rows, 1, GP_DOUBLE);

	gp_trainer_clear(t);
	gp_network_forward(t, network, network->n);
	t->dev->download(t->dev, host, value);
	double		ll = gp_logistic(t->env, value.rows, linked, 0.7, r);
	t->dev->upload(t->dev, gp_network_gradient(network), host);
	gp_network_backward(t, network);
	gp_free(t->env, r);
	return ll;
}

/* What is minimised, whose gradients are then set. */
typedef double (*training_loss) (void *training);

/* All derivatives of a training in double against central differences. */
static void
check_derivatives(gp_trainer *t, training_loss loss, void *training, const char *what)
{
	gp_device  *dev = t->dev;
	double		gradient[MOST_FILLED];
	double		worst = 0.0;
	double		largest = 0.0;
	const double h = 1e-6;
	char		name[200];

	for (int p = 0; p < t->nparameters; p++)
	{
		gp_matrix	m = t->parameter[p]->value;
		int64_t		size = m.rows * m.cols;

		loss(training);
		dev->download(dev, gp_matrix_wrap(gradient, m.rows, m.cols, GP_DOUBLE), t->parameter[p]->gradient);
		for (int64_t k = 0; k < size; k += 1 + size / 40)
		{
			double	   *at = (double *) m.data + k / m.cols * m.ld + k % m.cols;
			double		was = *at;

			*at = was + h;
			double		up = loss(training);
			*at = was - h;
			double		down = loss(training);
			*at = was;
			worst = fmax(worst, fabs((up - down) / (2.0 * h) - gradient[k]));
			largest = fmax(largest, fabs(gradient[k]));
		}
	}
	snprintf(name, sizeof(name), "%s: derivatives to %.2g of %.2g", what, worst, largest);
	ok(worst < 1e-5 * fmax(1.0, largest) && largest > 1e-3, name);
}

/* The bits of all parameters. */
static uint64_t
hash_parameters(gp_trainer *t)
{
	gp_device  *dev = t->dev;
	double	   *host = gp_alloc_array(dev->env, MOST_HASHED, sizeof(double));
	uint64_t	hash = 0;

	for (int p = 0; p < t->nparameters; p++)
	{
		gp_matrix	m = t->parameter[p]->value;

		dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
		for (int64_t k = 0; k < m.rows * m.cols; k++)
		{
			uint64_t	bits;

			memcpy(&bits, &host[k], sizeof(bits));
			hash = gp_mix64(hash ^ bits);
		}
	}
	gp_free(dev->env, host);
	return hash;
}

/* Some steps, and the bits that they leave. */
typedef uint64_t (*training_steps) (gp_device *dev, gp_type type);

/* A whole training, to be disturbed. */
static __attribute__((unused)) void
whole_training(gp_env *env, training_steps steps)
{
	gp_device  *dev = gp_device_cpu(env, 1);

	steps(dev, GP_FLOAT);
	dev->close(dev);
}

/* The same bits with any number of threads and any panels of the device. */
static void
check_bits(gp_env *env, gp_type type, training_steps steps)
{
	static const int threads[] = {1, 2, 3, 7, 1};
	uint64_t	first = 0;

	for (int k = 0; k < 5; k++)
	{
		gp_device  *dev = gp_device_cpu(env, threads[k]);

		dev->row_block = k == 4 ? 64 : 1024;
		uint64_t	hash = steps(dev, type);
		if (k == 0)
			first = hash;
		else
			ok(hash == first, type == GP_FLOAT ? "the same bits, float" : "the same bits, double");
		dev->close(dev);
	}
}

#endif							/* TEST_TRAINER_H */
