/*
 * structure.c - the scores of a pair's neighbourhood.
 *
 * Common neighbours are walks of two steps, resource allocation the same with the middles weighted;
 * walks of three steps follow.  A link that is to be ignored is not walked.
 */
#include "scores.h"

#define LEAST_ALLOCATION 1e-3	/* added before a logarithm: no path at all */
#define LEAST_FLOW 1e-4

enum structure_score
{
	DEGREE_SUM, DEGREE_DIFFERENCE, COMMON_NEIGHBOURS, RESOURCE_ALLOCATION, SALTON,
	PATHS_SALTON, PATHS_FLOW, STRUCTURE_SCORES
};

enum arc_score
{
	SRC_OUT, SRC_IN, DST_OUT, DST_IN, RECIPROCAL, ARC_PATHS, SHARED_TARGETS, SHARED_SOURCES,
	ARC_SCORES
};

/* Products with the arcs, and the scores of direction. */
static void
compute_arcs(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	gp_device  *dev = f->dev;
	int64_t		n = block->n;
	gp_matrix	x = dev->create(dev, f->n, block->sources, GP_FLOAT);
	double	   *paths = gp_alloc_array(f->env, n, sizeof(double));
	double	   *targets = gp_alloc_array(f->env, n, sizeof(double));
	double	   *sources = gp_alloc_array(f->env, n, sizeof(double));

	dev->csr_rows(dev, x, &f->out, block->source, block->sources);
	/* Takes the partner that is cut out of each source's column. */
	for (int32_t t = 0; cuts && t < block->sources; t++)
		dev->put(dev, x, 1, &cuts[t].j, &t, &(double) {0.0});
	gp_link_last_product(f, block, f->in, x, paths);
	gp_link_last_product(f, block, &f->out, x, targets);
	dev->csr_rows(dev, x, f->in, block->source, block->sources);
	gp_link_last_product(f, block, f->in, x, sources);
	GP_EACH(f->env, e, gp_items(f->env, n), e)
	{
		int32_t		i = block->source[block->slot[e]];
		int32_t		j = block->dst[e];
		double		cut = cuts ? 1.0 : 0.0; /* the arc i -> j */
		double	   *row = out + e * f->width;

		row[SRC_OUT] = log1p((double) (f->out.start[i + 1] - f->out.start[i]) - cut);
		row[SRC_IN] = log1p((double) (f->in->start[i + 1] - f->in->start[i]));
		row[DST_OUT] = log1p((double) (f->out.start[j + 1] - f->out.start[j]));
		row[DST_IN] = log1p((double) (f->in->start[j + 1] - f->in->start[j]) - cut);
		row[RECIPROCAL] = gp_link_exists(f->graph, j, i) ? 1.0 : 0.0;
		row[ARC_PATHS] = log1p(paths[e]);
		row[SHARED_TARGETS] = log1p(targets[e]);
		row[SHARED_SOURCES] = log1p(sources[e]);
	}
	gp_free_all(f->env, paths, targets, sources);
	dev->destroy(dev, &x);
}

const gp_link_score_family gp_link_arcs = {
	.width = ARC_SCORES,.needs_directions = true,.compute = compute_arcs
};

static void
compute_structure(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts,
				  double *out)
{
	int64_t		entries = (int64_t) gp_size_mul(f->env, block->n, GP_PATH_LANES);
	bool	   *cut = cuts ? gp_alloc_array(f->env, block->n, sizeof(bool)) : NULL;
	int32_t    *source = gp_alloc_array(f->env, block->n, sizeof(int32_t));
	double	   *two = gp_alloc_array(f->env, entries, sizeof(double));
	double	   *three = gp_alloc_array(f->env, entries, sizeof(double));

	GP_EACH(f->env, e, block->n, e)
	{
		source[e] = block->source[block->slot[e]];
		if (cuts)
			cut[e] = cuts[block->slot[e]].edge;
	}
	f->dev->pair_paths(f->dev, f->weights, f->middle, block->n, source, block->dst, cut, two,
					   three);
	GP_EACH(f->env, e, gp_items(f->env, block->n), e)
	{
		double		lost = cut && cut[e] ? 1.0 : 0.0;	/* of each end's degree */
		double		di = f->degree[source[e]] - lost;
		double		dj = f->degree[block->dst[e]] - lost;
		double		log_i = log1p(di);
		double		log_j = log1p(dj);
		double		mean = sqrt(fmax(di, 1.0) * fmax(dj, 1.0));
		const double *of_two = two + e * GP_PATH_LANES; /* steps */
		const double *of_three = three + e * GP_PATH_LANES;
		double	   *row = out + e * f->width;

		row[DEGREE_SUM] = log_i + log_j;
		row[DEGREE_DIFFERENCE] = fabs(log_i - log_j);
		row[COMMON_NEIGHBOURS] = log1p(of_two[GP_LINK_COUNT]);
		row[RESOURCE_ALLOCATION] = log(of_two[GP_LINK_BY_DEGREE] + LEAST_ALLOCATION);
		row[SALTON] = of_two[GP_LINK_COUNT] / mean;
		row[PATHS_SALTON] = log1p(of_three[GP_LINK_COUNT] / mean);
		row[PATHS_FLOW] = log(of_three[GP_LINK_BY_DEGREE] + LEAST_FLOW);
	}
	gp_free_all(f->env, cut, source, two, three);
}

const gp_link_score_family gp_link_structure = {
	.width = STRUCTURE_SCORES,.compute = compute_structure
};
