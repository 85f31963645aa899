/*
 * precision_variance.c - the posterior variance of all nodes.
 *
 * Small graphs have a right side for each node, and it is exact.  On larger ones colours are
 * shared, and a sample of nodes is probed apart to tell how good the others are.
 */
#include "precision_fit.h"

#include <math.h>

#define EXACT_NODES 4096		/* up to which every variance is exact */
#define WORK 4e6				/* nodes x colours that are cheap */
#define FEWEST_COLOURS 14
#define SAMPLE GP_PRECISION_SAMPLE	/* nodes whose variance is probed apart */
#define SAMPLE_COLUMNS 2		/* that they share: so few that they hardly meet */
#define EXACT 1e-3				/* the error of the solutions */
#define PROBE 3e-2				/* the same for probes, which are no better, */
#define PROBE_DEAR 1e-1			/* where each product counts: what probes miss is as much */

/* Probes of all nodes, and of some of them apart. */
typedef struct probes
{
	int32_t		colours;
	int32_t    *colour;			/* of each node */
	int			nsample;
	int32_t		sample[SAMPLE];
	double	   *apart;			/* their variance by a probe of hardly any others */
} probes;

/* The right sides of columns first to first + cols: a sign at each node, then the sample's own, in its order. */
static gp_elements
right_sides(const gp_precision_fit *f, const probes *all, int64_t first, int64_t cols)
{
	int64_t		n = f->s->rows;
	uint64_t	seed = f->problem->seed;
	gp_elements b = gp_elements_make(f->env, n + all->nsample);
	int64_t		next = 0;

	for (int64_t k = 0; k < n && !f->env->dry; k++)
	{
		gp_poll(f->env, k, &next);
		gp_elements_add(&b, (int32_t) k, all->colour[k], first, cols, gp_probe_sign(seed, (int32_t) k));
	}
	for (int k = 0; k < all->nsample && !f->env->dry; k++)
		gp_elements_add(&b, all->sample[k], all->colours + k % SAMPLE_COLUMNS, first, cols,
						gp_probe_sign(seed, all->sample[k]));
	return b;
}

/* Reads (H^-1)_ii of the nodes whose colours a solution holds, and what the sample's columns say. */
static void
take_variances(gp_precision_fit *f, gp_matrix x, const gp_elements *b, int64_t first, probes *all,
			   double *variance)
{
	double	   *host = gp_alloc_figures(f->env, b->n, sizeof(double));
	int64_t		next = 0;
	int			k = 0;

	if (!f->env->dry)
		f->dev->take(f->dev, x, b->n, b->row, b->col, host);
	for (int64_t e = 0; e < b->n && !f->env->dry; e++)
	{
		int32_t		node = b->row[e];
		double		value = host[e] * gp_precision_unscale(f->p, node) * b->value[e];

		gp_poll(f->env, e, &next);
		if (first + b->col[e] < all->colours)
		{
			variance[node] = fmin(1.0, fmax(value, gp_precision_least(f->p, node)));
			continue;
		}
		while (all->colours + k % SAMPLE_COLUMNS != first + b->col[e])
			k++;
		all->apart[k++] = value;
	}
	gp_free(f->env, host);
}

/* How many colours the nodes have; each its own where variances are exact. */
static int32_t
count_colours(int64_t n)
{
	return n <= EXACT_NODES ? (int32_t) n : (int32_t) fmax(FEWEST_COLOURS, WORK / (double) n);
}

/* The columns of probes. */
int64_t
gp_precision_probe_columns(int64_t nodes)
{
	return count_colours(nodes) + (nodes <= EXACT_NODES ? 0 : SAMPLE_COLUMNS);
}

/* Node k of the sample, which follows from the seed. */
static int32_t
sample_node(uint64_t seed, int64_t n, int k)
{
	return (int32_t) ((gp_hash(seed) % (uint64_t) n + (uint64_t) (n / SAMPLE) * k) % (uint64_t) n);
}

/* The sample. */
int
gp_precision_sample(const gp_problem *problem, int32_t *node)
{
	int64_t		n = problem->graph->nodes;

	for (int k = 0; k < SAMPLE && n > EXACT_NODES; k++)
		node[k] = sample_node(problem->seed, n, k);
	return n > EXACT_NODES ? SAMPLE : 0;
}

/* The root mean square of the sample's relative errors; 0 where variances are exact. */
double
gp_precision_probe_error(uint64_t seed, int64_t nodes, const double *variance, const double *apart)
{
	double		sum = 0.0;

	for (int k = 0; k < SAMPLE && nodes > EXACT_NODES; k++)
		sum += pow(variance[sample_node(seed, nodes, k)] / apart[k] - 1.0, 2.0) / SAMPLE;
	return sqrt(sum);
}

/* Colours the nodes, and draws a sample of them. */
static probes
make_probes(const gp_precision_fit *f, double *apart)
{
	int64_t		n = f->s->rows;
	probes		all = {
		.colours = count_colours(n),
		.nsample = n <= EXACT_NODES ? 0 : SAMPLE,
		.apart = apart
	};

	all.colour = gp_probe_colours(f->env, f->s, NULL, n, all.colours);
	for (int k = 0; k < all.nsample; k++)
		all.sample[k] = sample_node(f->problem->seed, n, k);
	return all;
}

/* Probes the posterior variance of the nodes whose colours lie in some bands. */
void
gp_precision_probe_bands(gp_precision_fit *f, int64_t first, int64_t last, double *variance, double *apart)
{
	bool		exact = f->s->rows <= EXACT_NODES;
	probes		all = make_probes(f, apart);
	int64_t		total = gp_precision_probe_columns(f->s->rows);
	double		fine = exact ? EXACT : f->dear ? PROBE_DEAR : PROBE;
	gp_band		band;
	int64_t		number = 0;

	for (band = gp_band_first(total, GP_PRECISION_BATCH); band.count > 0 && number < last; gp_band_next(&band))
	{
		gp_elements b;
		gp_matrix	x;

		if (number++ < first)
			continue;
		b = right_sides(f, &all, band.first, band.count);
		x = gp_precision_run(f, band.count, &b, 0.0, fine, NULL);
		take_variances(f, x, &b, band.first, &all, variance);
		gp_elements_free(f->env, &b);
		f->dev->destroy(f->dev, &x);
		f->env->progress(f->env, GP_PHASE_POSTERIOR, band.first + band.count, total);
	}
	gp_free(f->env, all.colour);
}

/* Probes the posterior variance of all nodes; returns the typical error, 0 where it is exact. */
double
gp_precision_variances(gp_precision_fit *f, double *variance)
{
	double		apart[SAMPLE];

	gp_precision_probe_bands(f, 0, INT64_MAX, variance, apart);
	return f->env->dry ? 0.0 : gp_precision_probe_error(f->problem->seed, f->s->rows, variance, apart);
}
