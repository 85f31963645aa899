/*
 * autoencoder_score.c - the linear auto-encoder of the graph's rows (Steck 2019) as two of the
 * scores of pairs.  The method ease is in ease.c.
 *
 * With A the symmetric pattern, d its degrees and P = (A^2 + lambda I)^-1, the auto-encoder that
 * predicts each row of A from its other entries scores a pair without a link by -(A P)_ij / P_jj.
 * P_jj is near 1 / (lambda + d_j): the regression weighs the two ends' scalings, and diagonals from
 * probes give no better ranks.
 *
 * A P is a polynomial of A / rho, whose eigenvalues lie within -1 and 1.  With s^2 = lambda / rho^2
 *
 *		x / (x^2 + s^2) = sum_k c_k T_k(x),  k odd,
 *		c_k = 2 (-1)^((k - 1) / 2) r^k / sqrt(1 + s^2),  r = sqrt(1 + s^2) - s.
 */
#include "scores.h"

#define RIDGE 4.0				/* lambda, over the mean degree */
#define CLOSE 1e-4				/* of the first coefficient: smaller ones are left out */
#define MOST_STEPS 200
#define BOUND_ROUNDS 10

/*
 * An upper bound of the spectral radius rho of the weights' pattern: the largest of (A^2 v)_i / v_i
 * is one of rho^2 for every v > 0 (Collatz 1942), a close one after some products.
 */
static double
radius_of(gp_link_context *f)
{
	const gp_csr *w = f->weights;
	double	   *v = gp_alloc_array(f->env, 3 * f->n, sizeof(double));
	double		bound = 1.0;

	for (int64_t i = 0; i < f->n; i++)
		v[i] = 1.0;
	for (int round = 0; round < BOUND_ROUNDS; round++)
	{
		double		most = 1.0;

		for (int half = 0; half < 2; half++)
			GP_EACH(f->env, i, f->n, w->start[i])
			{
				double		sum = 0.0;

				for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
					sum += v[half * f->n + w->col[k]];
				v[(half + 1) * f->n + i] = sum;
			}
		for (int64_t i = 0; i < f->n; i++)
			most = v[i] > 0.0 ? fmax(most, v[2 * f->n + i] / v[i]) : most;
		for (int64_t i = 0; i < f->n; i++)
			v[i] = v[2 * f->n + i] / most;
		bound = most;
	}
	gp_free(f->env, v);
	return sqrt(bound);
}

void
gp_link_autoencoder_open(gp_link_context *f)
{
	float	   *value;

	if (f->n > GP_LINK_AUTOENCODER_NODES)
		return;
	f->radius = radius_of(f);
	f->pattern = *f->weights;
	f->pattern.type = GP_FLOAT;
	f->pattern.stamp = gp_csr_stamp();
	f->pattern.value = value = gp_alloc_array(f->env, gp_csr_entries(f->weights), sizeof(float));
	for (int64_t k = 0; k < gp_csr_entries(f->weights); k++)
		value[k] = (float) (1.0 / f->radius);
}

/* The coefficients of A P by a ridge; returns the last one's place. */
static int32_t
fill_series(double ridge, double radius, double *c)
{
	double		s = sqrt(ridge) / radius;
	double		r = 1.0 / (sqrt(1.0 + s * s) + s);
	double		power = r;
	int32_t		k;

	for (k = 1; k < MOST_STEPS && fabs(power) > CLOSE * r; k += 2, power *= -r * r)
		c[k] = 2.0 * power / (sqrt(1.0 + s * s) * radius);
	return k - 2;
}

/* The score scaled by both ends, and by the one that it is larger for. */
static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	double		entries = (double) gp_csr_entries(f->weights);
	double		c[2][MOST_STEPS + 1] = {{0.0}}; /* of the whole pattern, and without a link */
	double		ridge[2];
	int32_t		steps = 0;
	int64_t		next = 0;

	if (f->pattern.value == NULL)
	{
		for (int64_t e = 0; e < block->n; e++)
			out[e * f->width] = out[e * f->width + 1] = 0.0;
		return;
	}
	for (int lost = 0; lost < 2; lost++)
	{
		ridge[lost] = RIDGE * fmax(entries - 2.0 * lost, 1.0) / (double) f->n;
		/* A smaller ridge takes as many or more. */
		steps = fill_series(ridge[lost], f->radius, c[lost]);
	}
	double	   *entry = gp_alloc_zero(f->env, 2 * block->n, sizeof(double));
	gp_link_series(f, &f->pattern, steps, c[0], c[1], block, cuts, entry);
	for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
	{
		int			lost = cuts && cuts[block->slot[e]].edge;
		double		i = ridge[lost] + f->degree[block->source[block->slot[e]]] - lost;
		double		j = ridge[lost] + f->degree[block->dst[e]] - lost;
		double		z = entry[lost * block->n + e];

		gp_poll(f->env, e, &next);
		out[e * f->width] = -z * sqrt(i * j);
		out[e * f->width + 1] = -z * fmax(i, j);
	}
	gp_free(f->env, entry);
}

const gp_link_score_family gp_link_autoencoder = {.width = 2,.compute = compute};
