/*
 * cpu_walks.c - walks of two and three steps between the ends of pairs, on the CPU.
 *
 * What a source reaches in two steps is added up in one array of all nodes; the
 * third step is taken backwards from each target.  So the work is that of the
 * walks themselves, not that of a product with the whole graph.
 */
#include <string.h>

#include "cpu_device.h"

/* One number for each weight, at any address. */
typedef float lanes __attribute__((vector_size(sizeof(float) * GP_WALK_LANES), aligned(4)));

typedef struct walks_job
{
	const gp_csr *s;
	gp_matrix	w;
	const int32_t *src;
	const int32_t *dst;
	const bool *cut;
	double	   *two;
	double	   *three;
	const int64_t *first;		/* pairs of each group, which share what is reached */
	lanes	   *reached;		/* threads x rows, zero between groups */
} walks_job;

/* The weights of a middle. */
static inline lanes
weights_of(const walks_job *job, int32_t node)
{
	return *(const lanes *) gp_matrix_at(job->w, node, 0);
}

/* reached_b = sum_a s_ia w_a s_ab, a being neighbours of i but for skip. */
static void
reach(const walks_job *job, int32_t i, int32_t skip, lanes *reached)
{
	const gp_csr *s = job->s;

	for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
	{
		int32_t		a = s->col[k];
		lanes		w = weights_of(job, a);

		if (a == skip)
			continue;
		for (int64_t e = s->start[a]; e < s->start[a + 1]; e++)
			reached[s->col[e]] += w;
	}
}

/* Makes what was reached zero again: the way it was filled, or all of it when that is shorter. */
static void
unreach(const walks_job *job, int32_t i, lanes *reached)
{
	const gp_csr *s = job->s;
	int64_t		work = 0;

	for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
		work += s->start[s->col[k] + 1] - s->start[s->col[k]];
	if (work >= s->rows)
	{
		memset(reached, 0, (size_t) s->rows * sizeof(lanes));
		return;
	}
	for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
		for (int64_t e = s->start[s->col[k]]; e < s->start[s->col[k] + 1]; e++)
			memset(&reached[s->col[e]], 0, sizeof(lanes));
}

/* Writes the lanes of a pair. */
static inline void
put_lanes(double *out, int64_t e, lanes v)
{
	for (int q = 0; q < GP_WALK_LANES; q++)
		out[e * GP_WALK_LANES + q] = v[q];
}

/* The pairs of one group. */
static void
walks_tile(void *arg, int64_t group, int worker)
{
	const walks_job *job = arg;
	const gp_csr *s = job->s;
	int64_t		first = job->first[group];
	int32_t		i = job->src[first];
	bool		cut = job->cut && job->cut[first];
	lanes	   *reached = job->reached + worker * s->rows;

	reach(job, i, cut ? job->dst[first] : -1, reached);
	for (int64_t e = first; e < job->first[group + 1]; e++)
	{
		int32_t		j = job->dst[e];
		lanes		three = {0};

		for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
		{
			int32_t		b = s->col[k];

			if (!cut || b != i)
				three += weights_of(job, b) * reached[b];
		}
		put_lanes(job->two, e, reached[j]);
		put_lanes(job->three, e, three);
	}
	unreach(job, i, reached);
}

/* The groups of pairs: those side by side with one source, but each with a cut alone. */
static int64_t *
group_pairs(gp_device *dev, const walks_job *job, int64_t n, int64_t *groups)
{
	int64_t    *first = gp_alloc_array(dev->env, n + 1, sizeof(int64_t));

	*groups = 0;
	for (int64_t e = 0; e < n; e++)
		if (e == 0 || job->src[e] != job->src[e - 1] ||
			(job->cut && (job->cut[e] || job->cut[e - 1])))
			first[(*groups)++] = e;
	first[*groups] = n;
	return first;
}

/* two and three of n pairs. */
void
gp_cpu_walks(gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n, const int32_t *src,
			 const int32_t *dst, const bool *cut, double *two, double *three)
{
	walks_job	job = {s, w, src, dst, cut, two, three, NULL, NULL};
	int64_t		groups;
	int64_t    *first;

	gp_cpu_require(dev, s->rows == s->cols && w.rows == s->rows && w.cols == GP_WALK_LANES &&
				   w.type == GP_FLOAT);
	first = group_pairs(dev, &job, n, &groups);
	job.first = first;
	job.reached = gp_alloc_zero(dev->env, (int64_t) gp_size_mul(dev->env, s->rows, dev->threads),
								sizeof(lanes));
	gp_cpu_run(dev, walks_tile, &job, groups);
	gp_free(dev->env, job.reached);
	gp_free(dev->env, first);
}
