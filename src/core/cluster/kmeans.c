/*
 * kmeans.c - kernel k-means over the nodes of a graph.
 *
 * With rows of length one in the kernel's space, the squared distance of node i
 * to the mean of cluster j is k_ii - 2 P_ij / n_j + t_j / n_j^2, P = K M with
 * the memberships M, t_j the sum of P_ij over the cluster (Dhillon, Guan and
 * Kulis 2004).  So a round costs one product of the kernel with a column for
 * each cluster, and no mean is ever formed.
 *
 * A node's own part in its cluster's mean is left out of the comparison
 * (Hartigan's criterion).  Kernels of graphs are nearly diagonal: with its own
 * part each node is nearest to where it is, and Lloyd's rounds end where they
 * began.
 */
#include "base/sort.h"
#include "cluster.h"
#include "fit/factor.h"
#include "kernel/prepared.h"

#define STARTS 10				/* of which the best is kept */
#define BUDGET 2e12				/* operations, weighted, that further starts may take */
#define TYPICAL_ROUNDS 20.0
#define MAX_ROUNDS 100			/* of one start */
#define GAIN 1e-6				/* a round must gain so much of what the means explain */
#define COARSE_GAIN 1e-3		/* the same while starts are compared on a large graph */
#define CANDIDATES_MOST 64
#define EXACT_NODES 4096		/* up to so many nodes the whole matrix is affordable */
#define FEWEST_LANDMARKS 64
#define MEGABYTE (1024.0 * 1024.0)

/* A clustering on its way. */
typedef struct kmeans
{
	gp_env	   *env;
	gp_device  *dev;
	gp_similarity *s;
	int64_t		n;
	int32_t		k;
	uint64_t	seed;
	int64_t		height;			/* rows that the host sees at once */
	int64_t		width;			/* k, and zeros up to whole vectors of a processor */
	double	   *block;			/* height x width */
	gp_matrix	member;			/* n x width */
	gp_matrix	product;		/* n x width: P */
	int32_t    *cluster;		/* of each node, from 0 */
	int32_t    *before;			/* the same, a round earlier */
	int32_t    *best;			/* the same, of the best so far */
	double	   *far;			/* of each node from the mean of its cluster, squared */
	double	   *size;			/* k */
	double	   *within;			/* k: t_j */
	double		explained;		/* sum of t_j / n_j */
	double		best_explained;
	int			rounds;
} kmeans;

/* A number in [0, 1) that depends on the seed and two counters alone. */
static double
uniform(const kmeans *km, int64_t start, int64_t draw)
{
	uint64_t	bits = gp_hash(km->seed ^ gp_hash(gp_hash((uint64_t) start) + (uint64_t) draw));

	return (double) (bits >> 11) * 0x1p-53;
}

/* The variance of a node: rows have length one, or none. */
static inline double
self(const kmeans *km, int64_t i)
{
	return km->s->shrink[i] > 0.0 ? 1.0 : 0.0;
}

/* The bands of rows that the host sees; a dry run has none. */
static gp_band
first_rows(const kmeans *km)
{
	return gp_band_first(gp_items(km->env, km->n), km->height);
}

/* A band of rows of the device as doubles of the host, in block. */
static const double *
rows_of(kmeans *km, gp_matrix m, const gp_band *band)
{
	km->env->check_interrupts(km->env);
	km->dev->download(km->dev, gp_matrix_wrap(km->block, band->count, m.cols, GP_DOUBLE),
					  gp_matrix_rows(m, band->first, band->count));
	return km->block;
}

/* ---- the first node of each cluster ---- */

/* A start: the squared distance of each node to the nearest first node. */
typedef struct seeding
{
	int64_t		start;
	int64_t		draws;
	double	   *nearest;
	double	   *sum;			/* running sums of nearest */
	bool	   *chosen;
	gp_matrix	column;			/* n x at least the candidates: K(:, candidates) */
} seeding;

/* Draws a node by its distance to those chosen; any other one when all distances are 0. */
static int32_t
draw_node(const kmeans *km, seeding *sd)
{
	double		total = sd->sum[km->n - 1];
	double		drawn = uniform(km, sd->start, sd->draws++) * total;
	int64_t		lo = 0;

	if (!(total > 0.0))
	{
		while (sd->chosen[lo])
			lo++;
		return (int32_t) lo;
	}
	GP_BISECT(lo, km->n - 1, at, !(sd->sum[at] > drawn));
	while (sd->chosen[lo])		/* where rounding led to one */
		lo = lo > 0 ? lo - 1 : km->n - 1;
	return (int32_t) lo;
}

/* The squared distance of two nodes, from an entry of the kernel. */
static inline double
distance(const kmeans *km, int64_t i, int32_t x, double k)
{
	double		d = self(km, i) + self(km, x) - 2.0 * km->s->shrink[i] * km->s->shrink[x] * k;

	return i == x || d < 0.0 ? 0.0 : d;
}

/* The candidate that leaves the least distance in all. */
static int
best_candidate(kmeans *km, const seeding *sd, const int32_t *candidate, int count)
{
	double		left[CANDIDATES_MOST] = {0.0};
	int			best = 0;

	for (gp_band band = first_rows(km); band.count > 0; gp_band_next(&band))
	{
		const double *k = rows_of(km, gp_matrix_cols(sd->column, 0, count), &band);

		for (int64_t i = 0; i < band.count; i++)
			for (int c = 0; c < count; c++)
				left[c] += fmin(sd->nearest[band.first + i],
								distance(km, band.first + i, candidate[c], k[i * count + c]));
	}
	for (int c = 1; c < count; c++)
		if (left[c] < left[best])
			best = c;
	return best;
}

/* Begins cluster j at a node; its column of the kernel is column. */
static void
begin_cluster(kmeans *km, seeding *sd, int32_t j, int32_t node, gp_matrix column)
{
	double		sum = 0.0;

	sd->chosen[node] = true;
	for (gp_band band = first_rows(km); band.count > 0; gp_band_next(&band))
	{
		const double *k = rows_of(km, column, &band);

		for (int64_t i = 0; i < band.count; i++)
		{
			int64_t		at = band.first + i;
			double		d = distance(km, at, node, k[i]);

			if (j == 0 || at == node || (d < sd->nearest[at] && !sd->chosen[at]))
			{
				sd->nearest[at] = d;
				km->cluster[at] = j;
			}
			sum += sd->nearest[at];
			sd->sum[at] = sum;
		}
	}
}

/* k-means++: each first node is drawn far from those before; the rest join the nearest. */
static void
choose_start(kmeans *km, int64_t start)
{
	gp_env	   *env = km->env;
	/* Candidates for each further cluster (Arthur and Vassilvitskii 2007) */
	int			count = 2 + (int) log((double) km->k);
	seeding		sd = {.start = start};
	int32_t		candidate[CANDIDATES_MOST];

	sd.nearest = gp_alloc_zero(env, km->n, sizeof(double));
	sd.sum = gp_alloc_array(env, km->n, sizeof(double));
	sd.chosen = gp_alloc_zero(env, km->n, sizeof(bool));
	sd.column = km->dev->create(km->dev, km->n, gp_cluster_width(count), km->s->ev->type);
	for (int32_t j = 0; j < (env->dry ? 1 : km->k); j++)
	{
		int			m = j == 0 || !(sd.sum[km->n - 1] > 0.0) ? 1 : count;
		int			best = 0;

		for (int c = 0; c < m; c++)
			candidate[c] = j == 0 ? (int32_t) (uniform(km, start, sd.draws++) * (double) km->n) :
				draw_node(km, &sd);
		gp_similarity_columns(km->s, candidate, m, sd.column);
		if (m > 1)
			best = best_candidate(km, &sd, candidate, m);
		begin_cluster(km, &sd, j, candidate[best], gp_matrix_cols(sd.column, best, 1));
	}
	km->dev->destroy(km->dev, &sd.column);
	gp_free_all(env, sd.nearest, sd.sum, sd.chosen);
}

/* ---- rounds ---- */

/* Computes P and what the means explain; keeps the best. */
static void
measure(kmeans *km)
{
	/* Brings the memberships to the device, shrunk as the kernel's columns are, and counts them */
	memset(km->size, 0, km->k * sizeof(double));
	for (gp_band band = first_rows(km); band.count > 0; gp_band_next(&band))
	{
		memset(km->block, 0, band.count * km->width * sizeof(double));
		for (int64_t i = 0; i < band.count; i++)
		{
			km->block[i * km->width + km->cluster[band.first + i]] = km->s->shrink[band.first + i];
			km->size[km->cluster[band.first + i]] += 1.0;
		}
		km->dev->upload(km->dev, gp_matrix_rows(km->member, band.first, band.count),
						gp_matrix_wrap(km->block, band.count, km->width, GP_DOUBLE));
	}
	gp_similarity_times(km->s, km->member, km->product);
	memset(km->within, 0, km->k * sizeof(double));
	for (gp_band band = first_rows(km); band.count > 0; gp_band_next(&band))
	{
		const double *p = rows_of(km, km->product, &band);

		for (int64_t i = 0; i < band.count; i++)
		{
			int32_t		j = km->cluster[band.first + i];

			km->within[j] += km->s->shrink[band.first + i] * p[i * km->width + j];
		}
	}
	km->explained = 0.0;
	for (int32_t j = 0; j < gp_items(km->env, km->k); j++)
		km->explained += km->within[j] / km->size[j];
	km->rounds++;
	gp_kernel_check_finite(km->env, km->explained);
	if (km->explained <= km->best_explained)
		return;
	km->best_explained = km->explained;
	memcpy(km->best, km->cluster, km->n * sizeof(int32_t));
}

/* The cluster that a node is nearest to; apart: compared without the node's own part. */
static int32_t
nearest_cluster(const kmeans *km, int64_t i, const double *p, bool apart, double *far)
{
	int32_t		own = km->cluster[i];
	double		factor = apart && km->size[own] > 1.0 ? km->size[own] / (km->size[own] - 1.0) : 1.0;
	int32_t		at = own;

#define FAR(j) (self(km, i) - 2.0 * km->s->shrink[i] * p[j] / km->size[j] + \
				km->within[j] / (km->size[j] * km->size[j]))
	*far = FAR(own);
	double		least = *far * factor;
	if (apart && km->size[own] <= 1.0)
		return own;
	for (int32_t j = 0; j < km->k; j++)
	{
		double		d = FAR(j) * (apart ? km->size[j] / (km->size[j] + 1.0) : 1.0);

		if (j != own && d < least)
		{
			least = d;
			at = j;
		}
	}
#undef FAR
	return at;
}

/* Moves every node to the nearest cluster; returns how many moved. */
static int64_t
reassign(kmeans *km, bool apart)
{
	int64_t		moved = 0;

	for (gp_band band = first_rows(km); band.count > 0; gp_band_next(&band))
	{
		const double *p = rows_of(km, km->product, &band);

		for (int64_t i = band.first; i < band.first + band.count; i++)
		{
			int32_t		j = nearest_cluster(km, i, p + (i - band.first) * km->width, apart,
											&km->far[i]);

			moved += j != km->cluster[i];
			km->cluster[i] = j;
		}
	}
	/* Gives clusters that lost all their nodes the one that is farthest from its mean */
	memset(km->size, 0, km->k * sizeof(double));
	for (int64_t i = 0; i < km->n; i++)
		km->size[km->cluster[i]] += 1.0;
	for (int32_t j = 0; j < km->k; j++)
	{
		int64_t		far = -1;

		if (km->size[j] > 0.0)
			continue;
		km->env->check_interrupts(km->env);
		for (int64_t i = 0; i < km->n; i++)
			if (km->size[km->cluster[i]] > 1.0 && (far < 0 || km->far[i] > km->far[far]))
				far = i;
		km->size[km->cluster[far]] -= 1.0;
		km->cluster[far] = j;
		km->size[j] = 1.0;
	}
	return moved;
}

/*
 * Rounds from the present clusters, while they gain.  All nodes move at once, so that leaving their
 * own parts out can overshoot; then the rounds go on from the better state as Lloyd's, which
 * cannot.
 */
static void
descend(kmeans *km, double gain)
{
	bool		apart = true;
	double		last = -INFINITY;

	for (int round = 0; round < MAX_ROUNDS; round++)
	{
		measure(km);
		if (km->env->dry)
			return;
		if (km->explained <= last + gain * fabs(last))
		{
			if (!apart)
				return;
			apart = false;
			last = -INFINITY;
			memcpy(km->cluster, km->before, km->n * sizeof(int32_t));
			continue;
		}
		last = km->explained;
		memcpy(km->before, km->cluster, km->n * sizeof(int32_t));
		if (reassign(km, apart) == 0)
			return;
	}
}

/* ---- the whole ---- */

static void
open_kmeans(kmeans *km, gp_similarity *s, const gp_cluster_problem *problem)
{
	gp_env	   *env = s->ev->env;

	*km = (kmeans) {.env = env, .dev = s->ev->dev, .s = s, .n = s->ev->n, .k = problem->clusters,
	.seed = problem->seed, .best_explained = -INFINITY};
	km->height = gp_min64(km->n, GP_ROW_BLOCK);
	km->width = gp_cluster_width(km->k);
	km->block = gp_alloc_array(env, (int64_t) gp_size_mul(env, km->height, km->width),
							   sizeof(double));
	km->cluster = gp_alloc_zero(env, km->n, sizeof(int32_t));
	km->before = gp_alloc_zero(env, km->n, sizeof(int32_t));
	km->best = gp_alloc_zero(env, km->n, sizeof(int32_t));
	km->far = gp_alloc_array(env, km->n, sizeof(double));
	km->size = gp_alloc_array(env, km->k, sizeof(double));
	km->within = gp_alloc_array(env, km->k, sizeof(double));
}

/* Rounds with the memory that they need; the start has none of it. */
static void
run_rounds(kmeans *km, double gain)
{
	km->member = km->dev->create(km->dev, km->n, km->width, km->s->ev->type);
	km->product = km->dev->create(km->dev, km->n, km->width, km->s->ev->type);
	descend(km, gain);
	gp_destroy_all(km->dev, &km->member, &km->product);
}

/* A clustering by so many landmarks, or by the whole matrix (0). */
typedef struct cluster_plan
{
	const gp_cluster_problem *problem;
	int64_t		landmarks;
} cluster_plan;

/* Several starts; the best is kept.  Where rounds are expensive only the best goes on. */
static gp_clustering *
cluster_by(gp_eval *ev, const cluster_plan *p)
{
	gp_env	   *env = ev->env;
	gp_similarity *s = gp_similarity_open(ev, p->problem, p->landmarks);
	gp_clustering *out = gp_alloc_zero(env, 1, sizeof(gp_clustering));
	kmeans		km;

	open_kmeans(&km, s, p->problem);
	double		round = s->effort * (double) km.width;	/* its operations */
	bool		dear = round * STARTS * MAX_ROUNDS > BUDGET;
	out->starts = (int) fmin(STARTS, fmax(1.0, BUDGET / (round * TYPICAL_ROUNDS)));
	for (int start = 0; start < (env->dry ? 1 : out->starts); start++)
	{
		env->progress(env, GP_PHASE_CLUSTERS, start, out->starts);
		choose_start(&km, start);
		run_rounds(&km, dear ? COARSE_GAIN : GAIN);
	}
	if (dear)
	{
		memcpy(km.cluster, km.best, km.n * sizeof(int32_t));
		run_rounds(&km, GAIN);
	}
	env->progress(env, GP_PHASE_CLUSTERS, out->starts, out->starts);
	out->nodes = km.n;
	out->cluster = km.best;
	out->rounds = km.rounds;
	out->inertia = -km.best_explained;
	for (int64_t i = 0; i < km.n; i++)
		out->inertia += self(&km, i);
	/* Numbers clusters from 1, larger ones first, then by the first node: -size 2^32 + first */
	int64_t    *rank = gp_alloc_zero(env, km.k, sizeof(int64_t));
	int32_t    *number = gp_alloc_array(env, km.k, sizeof(int32_t));
	for (int64_t i = km.n - 1; i >= 0; i--)
	{
		int64_t    *at = &rank[out->cluster[i]];

		*at = *at - (int64_t) (uint32_t) *at - (INT64_C(1) << 32) + i;
	}
	gp_sort(env, rank, km.k, sizeof(int64_t), gp_compare_int64, NULL);
	for (int32_t j = 0; j < km.k; j++)
		number[out->cluster[(uint32_t) rank[j]]] = j + 1;
	for (int64_t i = 0; i < km.n; i++)
		out->cluster[i] = number[out->cluster[i]];
	gp_free_all(env, rank, number);
	gp_free_all(env, km.block, km.cluster, km.before, km.far, km.size, km.within);
	gp_similarity_close(s);
	return out;
}

static void
try_plan(gp_eval *ev, void *arg)
{
	gp_clustering_free(ev->env, cluster_by(ev, arg));
}

/* The most exact plan that fits the limit; a linear kernel has one alone. */
static cluster_plan
choose_plan(gp_eval *ev, const gp_cluster_problem *problem)
{
	gp_env	   *env = ev->env;
	gp_problem	fit = gp_cluster_fit(problem);
	int64_t		most = problem->exact_nodes > 0 ? problem->exact_nodes : EXACT_NODES;
	bool		linear = gp_step_is_linear(ev, ev->kernel->program->nsteps - 1);
	cluster_plan p = {problem, 0};

	env->progress(env, GP_PHASE_PLAN, 0, 0);
	gp_plan_check_factors(ev, env->limit > 0 ? (double) gp_limit(env) : INFINITY);
	if (!linear && ev->n > most)
		p.landmarks = gp_landmarks_automatic(ev, &fit);
	while (env->limit > 0)
	{
		double		needed = (double) env->used + gp_eval_dry(ev, try_plan, &p).bytes;

		if (needed <= (double) gp_limit(env))
			break;
		if (linear || (p.landmarks > 0 && p.landmarks <= FEWEST_LANDMARKS))
			gp_raise(env, GP_ERR_LIMIT, "Use fewer clusters, or raise gnngp.memory_limit.",
					 "the clustering needs %.1f MB, but gnngp.memory_limit allows %.1f MB",
					 needed / MEGABYTE, (double) gp_limit(env) / MEGABYTE);
		p.landmarks = p.landmarks > 0 ? p.landmarks / 2 : gp_landmarks_automatic(ev, &fit);
	}
	return p;
}

gp_clustering *
gp_cluster(gp_device *dev, const gp_cluster_problem *problem)
{
	int64_t		n = problem->graph->nodes;
	gp_eval		ev;

	if (problem->clusters < 1 || problem->clusters > n)
		gp_raise(dev->env, GP_ERR_VALUE, "Use at most as many clusters as there are nodes.",
				 "clusters must be between 1 and %lld, not %d", (long long) n, problem->clusters);
	gp_power_refuse(dev->env, problem->program);
	gp_eval_open(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
				 problem->type);
	cluster_plan plan = choose_plan(&ev, problem);
	gp_clustering *out = cluster_by(&ev, &plan);
	gp_eval_close(&ev);
	return out;
}

void
gp_clustering_free(gp_env *env, gp_clustering *clustering)
{
	if (clustering == NULL)
		return;
	gp_free_all(env, clustering->cluster, clustering);
}
