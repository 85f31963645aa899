/*
 * precision_moments.c - Chebyshev moments of a graph's S, and the mean of a prior's diagonal from
 * them.
 */
#include "precision.h"

#define MOMENT_COLUMNS 16		/* vectors of random signs, */
#define MOMENT_SIGNS (1 << 20)	/* or fewer where there are many nodes: together so many signs */
#define MOMENT_STEPS 10			/* products: moments up to twice as many */
#define ANGLES 512				/* where the prior's function is looked at for its expansion */

/* The mean over the vectors of z_j' y_j / n. */
static double
mean_product(gp_device *dev, gp_matrix z, gp_matrix y)
{
	double	   *dot = gp_row_products(dev, z, y);
	double		sum = 0.0;

	GP_EACH(dev->env, i, gp_items(dev->env, z.rows), i)
		sum += dot[i];
	gp_free(dev->env, dot);
	return sum / ((double) z.rows * z.cols);
}

double *
gp_prior_moments(gp_device *dev, const gp_csr *s, gp_type type, uint64_t seed)
{
	gp_env	   *env = dev->env;
	int64_t		n = s->rows;
	/* A vector of random signs in each column. */
	int64_t		cols = gp_max64(1, gp_min64(MOMENT_COLUMNS, MOMENT_SIGNS / n));
	gp_matrix	now = dev->create(dev, n, cols, type);
	gp_matrix	host = gp_matrix_wrap(NULL, n, cols, type);

	host.data = gp_alloc_values(env, n, cols * gp_type_size(type));
	GP_EACH(env, i, gp_items(env, n), i * cols)
	{
		uint64_t	bits = gp_hash(seed ^ gp_hash((uint64_t) i));

		for (int64_t j = 0; j < cols; j++)
			gp_number_put(host.data, type, i * cols + j, bits >> j & 1 ? 1.0 : -1.0);
	}
	dev->upload(dev, now, host);
	gp_free(env, host.data);
	gp_matrix	next = dev->create(dev, n, now.cols, type);
	double	   *moment = gp_alloc_array(env, 2 * MOMENT_STEPS, sizeof(double));
	gp_csr		of_type = gp_csr_as(env, s, type);

	dev->spmm(dev, 1.0, &of_type, now, 0.0, next);
	for (int k = 0; k < MOMENT_STEPS; k++)
	{
		gp_matrix	last = now;

		moment[2 * k] = k == 0 ? 1.0 : 2.0 * mean_product(dev, now, now) - 1.0;
		moment[2 * k + 1] = (k == 0 ? 1.0 : 2.0) * mean_product(dev, now, next) -
			(k == 0 ? 0.0 : moment[1]);
		if (k == MOMENT_STEPS - 1)
			break;
		dev->spmm(dev, 2.0, &of_type, next, -1.0, last);
		now = next;
		next = last;
	}
	gp_free(env, of_type.value);
	gp_destroy_all(dev, &now, &next);
	return moment;
}

/* Coefficient k of the prior's function (1 + s2 (1 - x))^-d in Chebyshev polynomials. */
static double
coefficient(double sigma2, int d, int k)
{
	double		sum = 0.0;

	for (int a = 0; a < ANGLES; a++)
	{
		double		angle = M_PI * (a + 0.5) / ANGLES;

		sum += pow(1.0 + sigma2 * (1.0 - cos(angle)), -d) * cos(k * angle);
	}
	return (k == 0 ? 1.0 : 2.0) * sum / ANGLES;
}

double
gp_prior_mean(const double *moment, double sigma2, int d)
{
	double		mean = 0.0;

	for (int k = 0; k < 2 * MOMENT_STEPS; k++)
		mean += coefficient(sigma2, d, k) * moment[k];
	/* Between its bounds whatever the moments' noise: the spectrum of S lies in [-1, 1]. */
	return fmin(1.0, fmax(mean, pow(1.0 + 2.0 * sigma2, -d)));
}
