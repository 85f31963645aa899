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

int32_t
gp_link_structure_width(bool directed)
{
	return STRUCTURE_SCORES + (directed ? ARC_SCORES : 0);
}

int32_t
gp_link_width(const gp_graph *graph, bool features)
{
	return gp_link_graph_width(graph) + (features ? GP_LINK_POWERS + GP_LINK_NEIGHBOUR_SCORES : 0);
}

int32_t
gp_link_graph_width(const gp_graph *graph)
{
	return gp_link_structure_width(graph->directed) + GP_LINK_LAPLACIAN_SCORES +
		GP_LINK_AUTOENCODER_SCORES + (graph->time ? GP_LINK_DECAY_SCORES : 0);
}

typedef struct structure
{
	gp_score_context *f;
	const gp_link_block *block;
	const gp_link_cut *cuts;
	int32_t    *source;			/* of each pair */
	double	   *two;			/* pairs x GP_WALK_LANES: walks of two steps */
	double	   *three;
} structure;

/* What an end of a pair loses with the link that is cut. */
static double
lost(const structure *s, int64_t e)
{
	return s->cuts && s->cuts[s->block->slot[e]].edge ? 1.0 : 0.0;
}

/* The scores of one pair. */
static void
write_pattern(structure *s, int64_t e, double *out)
{
	double		di = s->f->degree[s->source[e]] - lost(s, e);
	double		dj = s->f->degree[s->block->dst[e]] - lost(s, e);
	double		log_i = log1p(di);
	double		log_j = log1p(dj);
	double		mean = sqrt(fmax(di, 1.0) * fmax(dj, 1.0));
	const double *two = s->two + e * GP_WALK_LANES;
	const double *three = s->three + e * GP_WALK_LANES;

	out[DEGREE_SUM] = log_i + log_j;
	out[DEGREE_DIFFERENCE] = fabs(log_i - log_j);
	out[COMMON_NEIGHBOURS] = log1p(two[GP_LINK_COUNT]);
	out[RESOURCE_ALLOCATION] = log(two[GP_LINK_BY_DEGREE] + LEAST_ALLOCATION);
	out[SALTON] = two[GP_LINK_COUNT] / mean;
	out[PATHS_SALTON] = log1p(three[GP_LINK_COUNT] / mean);
	out[PATHS_FLOW] = log(three[GP_LINK_BY_DEGREE] + LEAST_FLOW);
}

/* The scores of direction: the pair is an arc from its source. */
static void
write_arcs(structure *s, int64_t e, const double *paths, const double *targets,
		   const double *sources, double *out)
{
	const gp_score_context *f = s->f;
	int32_t		i = s->source[e];
	int32_t		j = s->block->dst[e];
	double		cut = s->cuts ? 1.0 : 0.0;

	out[SRC_OUT] = log1p((double) (f->out.start[i + 1] - f->out.start[i]) - cut);
	out[SRC_IN] = log1p((double) (f->in->start[i + 1] - f->in->start[i]));
	out[DST_OUT] = log1p((double) (f->out.start[j + 1] - f->out.start[j]));
	out[DST_IN] = log1p((double) (f->in->start[j + 1] - f->in->start[j]) - cut);
	out[RECIPROCAL] = gp_link_exists(f->graph, j, i) ? 1.0 : 0.0;
	out[ARC_PATHS] = log1p(paths[e]);
	out[SHARED_TARGETS] = log1p(targets[e]);
	out[SHARED_SOURCES] = log1p(sources[e]);
}

/* Products with the arcs, and the scores of direction. */
static void
walk_arcs(structure *s, double *out)
{
	gp_score_context *f = s->f;
	gp_device  *dev = f->dev;
	int64_t		n = s->block->n;
	gp_matrix	x = f->dev->create(f->dev, f->n, s->block->sources, GP_FLOAT);
	double	   *paths = gp_alloc_array(f->env, n, sizeof(double));
	double	   *targets = gp_alloc_array(f->env, n, sizeof(double));
	double	   *sources = gp_alloc_array(f->env, n, sizeof(double));

	dev->csr_rows(dev, x, &f->out, s->block->source, s->block->sources);
	/* Takes the partner that is cut out of each source's column. */
	for (int32_t t = 0; s->cuts && t < s->block->sources; t++)
		dev->put(dev, x, 1, &s->cuts[t].j, &t, &(double) {0.0});
	gp_link_last_product(f, s->block, f->in, x, paths);
	gp_link_last_product(f, s->block, &f->out, x, targets);
	dev->csr_rows(dev, x, f->in, s->block->source, s->block->sources);
	gp_link_last_product(f, s->block, f->in, x, sources);
	GP_EACH(f->env, e, gp_items(f->env, n), e)
		write_arcs(s, e, paths, targets, sources, out + e * f->width + STRUCTURE_SCORES);
	gp_free_all(f->env, paths, targets, sources);
	f->dev->destroy(f->dev, &x);
}

void
gp_link_structure(gp_score_context *f, const gp_link_block *block, const gp_link_cut *cuts,
				  double *out)
{
	int64_t		entries = (int64_t) gp_size_mul(f->env, block->n, GP_WALK_LANES);
	bool	   *cut = cuts ? gp_alloc_array(f->env, block->n, sizeof(bool)) : NULL;
	structure	s = {f, block, cuts, gp_alloc_array(f->env, block->n, sizeof(int32_t)),
		gp_alloc_array(f->env, entries, sizeof(double)),
		gp_alloc_array(f->env, entries, sizeof(double))};

	GP_EACH(f->env, e, block->n, e)
	{
		s.source[e] = block->source[block->slot[e]];
		if (cuts)
			cut[e] = lost(&s, e) > 0.0;
	}
	f->dev->walks(f->dev, f->weights, f->middle, block->n, s.source, block->dst, cut, s.two,
				  s.three);
	gp_free(f->env, cut);
	GP_EACH(f->env, e, gp_items(f->env, block->n), e)
		write_pattern(&s, e, out + e * f->width);
	if (f->graph->directed)
		walk_arcs(&s, out);
	gp_free_all(f->env, s.source, s.two, s.three);
}
