/*
 * cpu_paths.c - walks of two and three steps between the ends of pairs, on the CPU.
 *
 * What a source reaches in two steps is added up in one array of all nodes, or, where that is far
 * longer than what is reached, in a table of the nodes that are; the third step is taken backwards
 * from each target.  So the work is that of the walks themselves, not that of a product with the
 * whole graph, whatever the number of nodes.  It is too short to be shared out: each thread would
 * need an array of its own.
 */

#include "cpu_internal.h"

/* One number for each weight, at any address. */
typedef float lanes __attribute__((vector_size(sizeof(float) * GP_PATH_LANES), aligned(4)));

typedef struct paths_job
{
	const gp_csr *s;
	gp_matrix	w;
	const int32_t *src;
	const int32_t *dst;
	const bool *cut;
	double	   *two;
	double	   *three;
	const int64_t *first;		/* pairs of each group, which share what is reached */
	lanes	   *reached;		/* of each node, zero between groups; or of each place of the
								 * table */
	int32_t    *key;			/* of each place of the table its node, or -1; NULL: a node's place
								 * is its number */
	int			bits;			/* of a place of the table, for the group that is walked */
} paths_job;

/* an array so many times as long as what is reached is not worth being cleared, */
#define TABLE_SHARE 16
#define ARRAY_ROWS (INT64_C(1) << 18)	/* except a short one, which is read faster */
#define GROUP_ENTRIES (INT64_C(1) << 22)	/* walked back for a group: some ten milliseconds */

static inline lanes
weights_of(const paths_job *job, int32_t node)
{
	return *(const lanes *) gp_matrix_at(job->w, node, 0);
}

/* Where a node's sum stands: its number, or its place in the table, else the empty one where it
 * would be put. */
static inline int64_t
place_of(const paths_job *job, int32_t node)
{
	uint32_t	at;

	if (job->key == NULL)
		return node;
	for (at = (uint32_t) node * UINT32_C(2654435769) >> (32 - job->bits);
		 job->key[at] != node && job->key[at] >= 0;)
		at = (at + 1) & ((UINT32_C(1) << job->bits) - 1);
	return at;
}

/* The entries that two steps from a node go through. */
static int64_t
reach_entries(const gp_csr *s, int32_t i)
{
	int64_t		entries = 0;

	for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
		entries += s->start[s->col[k] + 1] - s->start[s->col[k]];
	return entries;
}

/* Makes what was reached zero again: the way it was filled, or all of it when that is shorter. */
static void
unreach(const paths_job *job, int32_t i, lanes *reached)
{
	const gp_csr *s = job->s;

	if (job->key)
	{
		memset(reached, 0, sizeof(lanes) << job->bits);
		memset(job->key, 0xff, sizeof(int32_t) << job->bits);
		return;
	}
	if (reach_entries(s, i) >= s->rows)
	{
		memset(reached, 0, (size_t) s->rows * sizeof(lanes));
		return;
	}
	for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
		for (int64_t e = s->start[s->col[k]]; e < s->start[s->col[k] + 1]; e++)
			memset(&reached[s->col[e]], 0, sizeof(lanes));
}

static inline void
put_lanes(double *out, int64_t e, lanes v)
{
	for (int q = 0; q < GP_PATH_LANES; q++)
		out[e * GP_PATH_LANES + q] = v[q];
}

/* The bits of a table's places that has room for so many nodes. */
static int
bits_for(int64_t nodes)
{
	int			bits = 1;

	while (INT64_C(1) << bits < 2 * nodes)
		bits++;
	return bits;
}

static void
follow_group(paths_job *job, int64_t group)
{
	const gp_csr *s = job->s;
	int64_t		first = job->first[group];
	int32_t		i = job->src[first];
	bool		cut = job->cut && job->cut[first];
	int32_t		skip = cut ? job->dst[first] : -1;
	lanes	   *reached = job->reached;

	job->bits = bits_for(reach_entries(s, i));
	/* reached_b = sum_a s_ia w_a s_ab, a being neighbours of i except skip. */
	for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
	{
		int32_t		a = s->col[k];
		lanes		w = weights_of(job, a);

		if (a == skip)
			continue;
		for (int64_t e = s->start[a]; e < s->start[a + 1]; e++)
		{
			int64_t		at = place_of(job, s->col[e]);

			if (job->key)
				job->key[at] = s->col[e];
			reached[at] += w;
		}
	}
	for (int64_t e = first; e < job->first[group + 1]; e++)
	{
		int32_t		j = job->dst[e];
		lanes		three = {0};

		for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
		{
			int32_t		b = s->col[k];

			if (!cut || b != i)
				three += weights_of(job, b) * reached[place_of(job, b)];
		}
		put_lanes(job->two, e, reached[place_of(job, j)]);
		put_lanes(job->three, e, three);
	}
	unreach(job, i, reached);
}

/*
 * The groups of pairs: those side by side with one source, but each with a cut
 * alone, and not so many that an interrupt would wait for them.
 */
static int64_t *
group_pairs(gp_device *dev, const paths_job *job, int64_t n, int64_t *groups)
{
	const gp_csr *s = job->s;
	int64_t    *first = gp_alloc_array(dev->env, n + 1, sizeof(int64_t));
	int64_t		left = 0;

	*groups = 0;
	GP_EACH(dev->env, e, n, e)
	{
		left -= s->start[job->dst[e] + 1] - s->start[job->dst[e]];
		if (e > 0 && left > 0 && job->src[e] == job->src[e - 1] &&
			!(job->cut && (job->cut[e] || job->cut[e - 1])))
			continue;
		first[(*groups)++] = e;
		left = gp_max64(GROUP_ENTRIES, reach_entries(s, job->src[e]));
	}
	first[*groups] = n;
	return first;
}

void
gp_cpu_pair_paths(gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n, const int32_t *src,
				  const int32_t *dst, const bool *cut, double *two, double *three)
{
	paths_job	job = {.s = s, .w = w, .src = src, .dst = dst, .cut = cut, .two = two,
					   .three = three};
	int64_t		groups;

	gp_cpu_require(dev, s->rows == s->cols && w.rows == s->rows && w.cols == GP_PATH_LANES &&
				   w.type == GP_FLOAT);
	int64_t    *first = group_pairs(dev, &job, n, &groups);
	job.first = first;
	/* Room for what a group reaches */
	int64_t		most = 0;

	for (int64_t g = 0; g < groups; g++)
		most = gp_max64(most, reach_entries(job.s, job.src[job.first[g]]));
	int64_t		places = job.s->rows;

	if (places > ARRAY_ROWS && most <= places / TABLE_SHARE)
	{
		places = INT64_C(1) << bits_for(most);
		job.key = gp_alloc_array(dev->env, places, sizeof(int32_t));
		memset(job.key, 0xff, places * sizeof(int32_t));
	}
	job.reached = gp_alloc_zero(dev->env, places, sizeof(lanes));
	for (int64_t group = 0; group < gp_items(dev->env, groups); group++)
	{
		dev->env->check_interrupts(dev->env);
		follow_group(&job, group);
	}
	gp_free_all(dev->env, job.reached, job.key, first);
}
