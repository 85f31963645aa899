/*
 * precision_variance.c - the posterior variance of all nodes.
 *
 * Small graphs have a right side for each node, and it is exact.  On larger ones colours are
 * shared, and a sample of nodes is probed apart to tell how good the others are.
 */
#include "precision_fit.h"

#define EXACT_NODES 4096		/* up to which every variance is exact */
#define FEWEST_COLOURS 14
#define SAMPLE 32				/* nodes whose variance is probed apart */
#define SAMPLE_COLUMNS 2		/* that they share: so few that they hardly meet */

/* Probes of all nodes, and of some of them apart. */
typedef struct probes
{
	int32_t		colours;
	int32_t    *colour;			/* of each node */
	int			nsample;
	int32_t		sample[SAMPLE];
	double		apart[SAMPLE];	/* their variance by a probe of hardly any others */
} probes;

/* Reads (H^-1)_ii of the nodes whose colours a solution holds, and what the sample's columns
 * say. */
static void
read_variances(gp_precision_fit *f, gp_matrix x, const gp_elements *b, probes *all,
			   double *variance)
{
	double	   *host = gp_alloc_values(f->env, b->n, sizeof(double));
	int			k = 0;

	if (!f->env->dry)
		f->dev->take(f->dev, x, b->n, b->row, b->col, host);
	GP_EACH(f->env, e, gp_items(f->env, b->n), e)
	{
		int32_t		node = b->row[e];
		double		value = host[e] * b->value[e];

		if (b->first + b->col[e] < all->colours)
		{
			double		least = gp_precision_variance_floor(f->p, f->sigma2, f->d, INFINITY, node);

			variance[node] = fmin(1.0, fmax(value, least));
			continue;
		}
		while (all->colours + k % SAMPLE_COLUMNS != b->first + b->col[e])
			k++;
		all->apart[k++] = value;
	}
	gp_free(f->env, host);
}

double
gp_precision_variances(gp_precision_fit *f, double *variance)
{
	int64_t		n = f->s->rows;
	bool		exact = n <= EXACT_NODES;
	double		tolerance = exact ? GP_TOLERANCE_VARIANCES :
		f->costly_products ? GP_TOLERANCE_PROBES_COSTLY : GP_TOLERANCE_PROBES;
	probes		all = {
		.colours = exact ? (int32_t) n : (int32_t) fmax(FEWEST_COLOURS, GP_PROBE_WORK / (double) n),
		.nsample = exact ? 0 : SAMPLE
	};
	int64_t		total = all.colours + (exact ? 0 : SAMPLE_COLUMNS);
	double		sum = 0.0;

	all.colour = gp_probe_colours(f->env, f->s, NULL, n, all.colours);
	for (int k = 0; k < all.nsample; k++)
		all.sample[k] = (int32_t) ((gp_hash(f->problem->seed) % (uint64_t) n
									+ (uint64_t) (n / SAMPLE) * k) % (uint64_t) n);
	for (gp_band band = gp_band_first(total, GP_PRECISION_BATCH); band.count > 0;
		 gp_band_next(&band))
	{
		/* A sign at each node, in the column of its colour, then the sample's own, in its order */
		uint64_t	seed = f->problem->seed;
		gp_elements b = gp_elements_make(f->env, n + all.nsample, band.first, band.count);
		gp_convergence reached;
		GP_EACH(f->env, k, gp_items(f->env, n), k)
			gp_elements_add(&b, (int32_t) k, all.colour[k], gp_probe_sign(seed, (int32_t) k));
		for (int k = 0; k < all.nsample && !f->env->dry; k++)
			gp_elements_add(&b, all.sample[k], all.colours + k % SAMPLE_COLUMNS,
							gp_probe_sign(seed, all.sample[k]));
		gp_matrix	x = gp_precision_solve(f->p, &b, 0.0, tolerance, GP_PRECISION_MOST, NULL,
										   &reached);

		read_variances(f, x, &b, &all, variance);
		gp_elements_free(f->env, &b);
		f->dev->destroy(f->dev, &x);
		f->env->progress(f->env, GP_PHASE_POSTERIOR, band.first + band.count, total);
	}
	gp_free(f->env, all.colour);
	/* The root mean square of the sample's relative errors. */
	for (int k = 0; k < all.nsample && !f->env->dry; k++)
		sum += pow(variance[all.sample[k]] / all.apart[k] - 1.0, 2.0) / SAMPLE;
	return sqrt(sum);
}
