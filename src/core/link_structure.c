/*
 * link_structure.c - the scores of a pair's neighbourhood.
 *
 * With x = W e_i (the neighbours of i as a column): common neighbours are W x,
 * Adamic-Adar and resource allocation the same with the middles scaled, paths of
 * length three W W x.  Without the link (i, j) the column x lacks j, and a path
 * i - a - i - j no longer exists: it is taken off.
 */
#include "link_scores.h"

#include <math.h>

#define LEAST_ALLOCATION 1e-3	/* added before a logarithm: no path at all */
#define LEAST_FLOW 1e-4

enum structure_score
{
	DEGREE_SUM, DEGREE_DIFFERENCE, COMMON_NEIGHBOURS, ADAMIC_ADAR, RESOURCE_ALLOCATION, SALTON,
	PATHS, PATHS_SALTON, PATHS_ROOT, PATHS_FLOW, STRUCTURE_SCORES
};

enum arc_score
{
	SRC_OUT, SRC_IN, DST_OUT, DST_IN, RECIPROCAL, ARC_PATHS, SHARED_TARGETS, SHARED_SOURCES,
	ARC_SCORES
};

static const char *const structure_names[] = {
	"degree sum", "degree difference", "common neighbours", "adamic-adar", "resource allocation",
	"salton", "paths of length 3", "paths of length 3, salton", "paths of length 3, by roots",
	"paths of length 3, by degrees"
};

static const char *const arc_names[] = {
	"out-degree of src", "in-degree of src", "out-degree of dst", "in-degree of dst", "reciprocal",
	"directed paths of length 2", "shared targets", "shared sources"
};

static const char *const other_names[] = {
	"laplacian 1", "laplacian 10", "laplacian 100", "normalised laplacian 1",
	"normalised laplacian 10", "normalised laplacian 100", "deepwalk",
	"cosine 0", "cosine 1", "cosine 2", "cosine 3", "cosine 4"
};

/* The scores that need no features and no powers of S. */
int32_t
gp_link_structure_width(bool directed)
{
	return STRUCTURE_SCORES + (directed ? ARC_SCORES : 0);
}

/* The scores of a pair. */
int32_t
gp_link_width(bool directed, bool features)
{
	return gp_link_structure_width(directed) + 2 * GP_LINK_SCALES + 1 +
		(features ? GP_LINK_POWERS : 0);
}

/* The name of a score. */
const char *
gp_link_score_name(bool directed, int32_t score)
{
	int32_t		own = gp_link_structure_width(directed);

	if (score < STRUCTURE_SCORES)
		return structure_names[score];
	return score < own ? arc_names[score - STRUCTURE_SCORES] : other_names[score - own];
}

/* The quantities of one block, an entry of each pair. */
typedef struct entries
{
	double	   *common;
	double	   *adamic;
	double	   *allocation;
	double	   *paths;
	double	   *root;
	double	   *flow;
	/* at the source itself, for what a cut takes off */
	double	   *root_at_source;
	double	   *flow_at_source;
} entries;

typedef struct structure
{
	gp_link_frame *f;
	const gp_link_block *block;
	const gp_link_cut *cuts;
	int32_t    *source;			/* of each pair */
	entries		at;
	double	   *scratch;		/* of all entries */
} structure;

/* Allocates for the pairs of a block. */
static structure
structure_open(gp_link_frame *f, const gp_link_block *block, const gp_link_cut *cuts)
{
	structure	s = {.f = f, .block = block, .cuts = cuts};
	double	  **part = (double **) &s.at;
	int			parts = sizeof(entries) / sizeof(double *);

	s.scratch = gp_alloc_zero(f->env, (int64_t) gp_size_mul(f->env, block->n, parts), sizeof(double));
	for (int k = 0; k < parts; k++)
		part[k] = s.scratch + k * block->n;
	s.source = gp_alloc_array(f->env, block->n, sizeof(int32_t));
	for (int64_t e = 0; e < block->n; e++)
		s.source[e] = block->source[block->slot[e]];
	return s;
}

/* The neighbours of each source as a column, without the partner that is cut. */
static void
first_step(structure *s, const gp_csr *m, bool edge, gp_matrix x)
{
	gp_device  *dev = s->f->dev;
	int32_t		row[GP_LINK_BLOCK];
	int32_t		col[GP_LINK_BLOCK];
	double		zero[GP_LINK_BLOCK] = {0.0};
	int64_t		n = 0;

	dev->csr_rows(dev, x, m, s->block->source, s->block->sources);
	for (int32_t t = 0; s->cuts != NULL && t < s->block->sources; t++)
		if (edge || s->cuts[t].edge)
		{
			row[n] = s->cuts[t].j;
			col[n++] = t;
		}
	dev->put(dev, x, n, row, col, zero);
}

/* y = m x, and its entries at the pairs. */
static void
step(structure *s, const gp_csr *m, gp_matrix x, gp_matrix y, double *out)
{
	gp_device  *dev = s->f->dev;

	dev->spmm(dev, 1.0, m, x, 0.0, y);
	dev->take(dev, y, s->block->n, s->block->dst, s->block->slot, out);
}

/* All products with the symmetric pattern. */
static void
walk_pattern(structure *s)
{
	gp_link_frame *f = s->f;
	gp_device  *dev = f->dev;
	gp_matrix	x = gp_link_lend(f, f->n, s->block->sources, GP_FLOAT);
	gp_matrix	y = gp_link_lend(f, f->n, s->block->sources, GP_FLOAT);

	first_step(s, f->pattern, false, x);
	gp_link_last_product(f, s->block, &f->by_log, x, s->at.adamic);
	step(s, f->pattern, x, y, s->at.common);
	gp_link_last_product(f, s->block, f->pattern, y, s->at.paths);
	step(s, &f->by_degree, x, y, s->at.allocation);
	dev->take(dev, y, s->block->n, s->source, s->block->slot, s->at.flow_at_source);
	gp_link_last_product(f, s->block, &f->by_degree, y, s->at.flow);
	dev->spmm(dev, 1.0, &f->by_root, x, 0.0, y);
	dev->take(dev, y, s->block->n, s->source, s->block->slot, s->at.root_at_source);
	gp_link_last_product(f, s->block, &f->by_root, y, s->at.root);
	gp_link_give_back(f, &x);
	gp_link_give_back(f, &y);
}

/* The degree of an end without the link that is cut. */
static double
degree_of(const structure *s, int64_t e, int32_t node)
{
	const gp_link_cut *cut = s->cuts ? &s->cuts[s->block->slot[e]] : NULL;

	return s->f->degree[node] - (cut && cut->edge ? 1.0 : 0.0);
}

/* Takes off the paths i - a - i - j of a link (i, j) that is cut. */
static void
remove_returns(structure *s, int64_t e)
{
	const gp_link_cut *cut = s->cuts ? &s->cuts[s->block->slot[e]] : NULL;
	double		degree;

	if (cut == NULL || !cut->edge)
		return;
	degree = s->f->degree[cut->i];
	s->at.paths[e] -= degree - 1.0;
	s->at.root[e] -= s->at.root_at_source[e] / sqrt(degree);
	s->at.flow[e] -= s->at.flow_at_source[e] / degree;
}

/* The scores of one pair. */
static void
write_pattern(structure *s, int64_t e, double *out)
{
	double		di = degree_of(s, e, s->source[e]);
	double		dj = degree_of(s, e, s->block->dst[e]);
	double		mean = sqrt(fmax(di, 1.0) * fmax(dj, 1.0));

	remove_returns(s, e);
	out[DEGREE_SUM] = log1p(di) + log1p(dj);
	out[DEGREE_DIFFERENCE] = fabs(log1p(di) - log1p(dj));
	out[COMMON_NEIGHBOURS] = log1p(s->at.common[e]);
	out[ADAMIC_ADAR] = log1p(s->at.adamic[e]);
	out[RESOURCE_ALLOCATION] = log(s->at.allocation[e] + LEAST_ALLOCATION);
	out[SALTON] = s->at.common[e] / mean;
	out[PATHS] = log1p(fmax(s->at.paths[e], 0.0));
	out[PATHS_SALTON] = log1p(fmax(s->at.paths[e], 0.0) / mean);
	out[PATHS_ROOT] = log1p(fmax(s->at.root[e], 0.0));
	out[PATHS_FLOW] = log(fmax(s->at.flow[e], 0.0) + LEAST_FLOW);
}

/* The scores of direction: the pair is an arc from its source. */
static void
write_arcs(structure *s, int64_t e, const double *paths, const double *targets,
		   const double *sources, double *out)
{
	const gp_link_frame *f = s->f;
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
	gp_link_frame *f = s->f;
	gp_device  *dev = f->dev;
	int64_t		n = s->block->n;
	gp_matrix	x = gp_link_lend(f, f->n, s->block->sources, GP_FLOAT);
	double	   *paths = gp_alloc_array(f->env, n, sizeof(double));
	double	   *targets = gp_alloc_array(f->env, n, sizeof(double));
	double	   *sources = gp_alloc_array(f->env, n, sizeof(double));

	first_step(s, &f->out, true, x);
	gp_link_last_product(f, s->block, f->in, x, paths);
	gp_link_last_product(f, s->block, &f->out, x, targets);
	dev->csr_rows(dev, x, f->in, s->block->source, s->block->sources);
	gp_link_last_product(f, s->block, f->in, x, sources);
	for (int64_t e = 0; e < n; e++)
		write_arcs(s, e, paths, targets, sources, out + e * f->width + STRUCTURE_SCORES);
	gp_free(f->env, paths);
	gp_free(f->env, targets);
	gp_free(f->env, sources);
	gp_link_give_back(f, &x);
}

/* Fills the first columns of out. */
void
gp_link_structure(gp_link_frame *f, const gp_link_block *block, const gp_link_cut *cuts,
				  double *out)
{
	structure	s = structure_open(f, block, cuts);
	int64_t		next = 0;

	walk_pattern(&s);
	for (int64_t e = 0; e < block->n; e++)
	{
		gp_look(f->env, e, &next);
		write_pattern(&s, e, out + e * f->width);
	}
	if (f->graph->directed)
		walk_arcs(&s, out);
	gp_free(f->env, s.source);
	gp_free(f->env, s.scratch);
}
