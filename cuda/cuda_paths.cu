/*
 * cuda_paths.cu - walks of two and three steps between the ends of pairs, on the card.
 *
 * A block of threads takes a job, some first middles of a pair: its warps take
 * neighbours of one end, look them up among those of the other by bisection (two
 * steps), and do the same for their neighbours (three steps).  All warps share the
 * neighbours of a hub.  A walk and its reverse are one, so the end with fewer
 * neighbours comes first; a pair with much to look up is cut into many jobs, whose
 * sums are added in order.  Sums are in double.
 */
#include <math.h>

#include "gp_cuda.h"

#define WARPS 8					/* of a block */
#define SUMS (2 * GP_PATH_LANES)
#define HUB 1024				/* neighbours from which all warps of a block share them */
#ifndef GP_CUDA_EMULATED
#define JOB_STEPS 2e5			/* look-ups of a job, about */
#else
#define JOB_STEPS 50.0			/* so that tests cut small pairs */
#endif
#define MOST_JOBS (INT64_C(1) << 18)	/* of a launch, unless one pair has more */

/* Some first middles of a pair: so many neighbours, from that number on, of its end with fewer. */
struct path_job
{
	int64_t		pair;
	int64_t		first;
	int64_t		count;
};

/* The arguments on the card. */
struct path_problem
{
	const int64_t *start;
	const int32_t *col;
	gp_matrix	w;
	int64_t		n;
	const int32_t *src;
	const int32_t *dst;
	const bool *cut;
	const path_job *job;
	double	   *part;			/* SUMS of each job */
	double	   *two;
	double	   *three;
};

/* True when b is a neighbour of j. */
__device__ static bool
is_neighbour(const path_problem &p, int32_t j, int32_t b)
{
	int64_t		low = p.start[j];
	int64_t		high = p.start[j + 1];

	while (low < high)
	{
		int64_t		middle = low + (high - low) / 2;

		if (p.col[middle] < b)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p.start[j + 1] && p.col[low] == b;
}

/*
 * Adds the walks whose first middle is a: a thread of so many takes its share of the
 * neighbours, the first of them a's own look-up.  skip is no second middle.
 */
__device__ static void
paths_from(const path_problem &p, int32_t a, int32_t j, int32_t skip, int thread, int threads,
		   double *two, double *three)
{
	double		sum[GP_PATH_LANES] = {0};
	bool		near = thread == 0 && is_neighbour(p, j, a);

	for (int64_t k = p.start[a] + thread; k < p.start[a + 1]; k += threads)
	{
		int32_t		b = p.col[k];

		if (b != skip && is_neighbour(p, j, b))
			for (int q = 0; q < GP_PATH_LANES; q++)
				sum[q] += (double) gp_at<float>(p.w, b, q);
	}
	for (int q = 0; q < GP_PATH_LANES; q++)
	{
		double		weight = (double) gp_at<float>(p.w, a, q);

		three[q] += weight * sum[q];
		if (near)
			two[q] += weight;
	}
}

/* A job for each block of threads: its warps share the first middles, and all threads the
 * neighbours of hubs. */
__global__ void __launch_bounds__(32 * WARPS)
paths_kernel(path_problem p)
{
	__shared__ double part[SUMS][WARPS];
	path_job	job = p.job[blockIdx.x];
	double		two[GP_PATH_LANES] = {0};
	double		three[GP_PATH_LANES] = {0};
	bool		cut = p.cut != NULL && p.cut[job.pair];
	int32_t		i = p.src[job.pair];
	int32_t		j = p.dst[job.pair];
	int			thread = threadIdx.y * 32 + threadIdx.x;

	if (p.start[i + 1] - p.start[i] > p.start[j + 1] - p.start[j])
	{
		int32_t		swap = i;

		i = j;
		j = swap;
	}
	for (int64_t k = 0; k < job.count; k++)
	{
		int32_t		a = p.col[p.start[i] + job.first + k];
		bool		hub = p.start[a + 1] - p.start[a] > HUB;

		if ((cut && a == j) || (!hub && k % WARPS != (int64_t) threadIdx.y))
			continue;
		paths_from(p, a, j, cut ? i : -1, hub ? thread : (int) threadIdx.x, hub ? 32 * WARPS : 32,
				   two, three);
	}
	for (int q = 0; q < GP_PATH_LANES; q++)
	{
		double		sum2 = gp_warp_sum(two[q]);
		double		sum3 = gp_warp_sum(three[q]);

		if (threadIdx.x == 0)
		{
			part[q][threadIdx.y] = sum2;
			part[GP_PATH_LANES + q][threadIdx.y] = sum3;
		}
	}
	__syncthreads();
	if (thread < SUMS)
	{
		double		sum = 0;

		for (int warp = 0; warp < WARPS; warp++)
			sum += part[thread][warp];
		p.part[blockIdx.x * (int64_t) SUMS + thread] = sum;
	}
}

/* Adds the sums of jobs to those of their pairs, in order; a pair may have had jobs before. */
struct join_jobs_each
{
	path_problem p;
	const int64_t *first_job;	/* of each pair from pair0 on, one more at the end */
	int64_t		pair0;
	bool		goes_on;		/* pair0 has */

	__device__ void operator() (int64_t k, int64_t q) const
	{
		double	   *to = q < GP_PATH_LANES ? &p.two[(pair0 + k) * GP_PATH_LANES + q] :
			&p.three[(pair0 + k) * GP_PATH_LANES + q - GP_PATH_LANES];
		double		sum = goes_on && k == 0 ? *to : 0.0;

		for (int64_t job = first_job[k]; job < first_job[k + 1]; job++)
			sum += p.part[job * SUMS + q];
		*to = sum;
	}
};

/* What the host counts, and the jobs of a launch. */
struct path_host
{
	const gp_csr *s;
	const int32_t *src;
	const int32_t *dst;
	double	   *reach;			/* neighbours of each node's neighbours; 0 = not counted yet */
	path_job   *job;
	int64_t    *first_job;
	int64_t		room;			/* for jobs */
	int64_t		njobs;
	int64_t		pair0;
	int64_t		npairs;
};

/* The neighbours of a node. */
static int64_t
degree(const gp_csr *s, int64_t node)
{
	return s->start[node + 1] - s->start[node];
}

/* The steps of one look-up among the neighbours of a node. */
static double
lookup_steps(const gp_csr *s, int32_t node)
{
	return 1.0 + log2(1.0 + (double) degree(s, node));
}

/* The neighbours that a node's neighbours have, themselves included; counted once. */
static double
reach_of(gp_cuda *c, path_host *h, int32_t node)
{
	const gp_csr *s = h->s;
	int64_t		next = 0;

	if (h->reach[node] > 0.0)
		return h->reach[node];
	h->reach[node] = 1.0;
	for (int64_t k = s->start[node]; k < s->start[node + 1]; k++)
	{
		gp_poll(c->env, k - s->start[node], &next);
		h->reach[node] += 1.0 + (double) degree(s, s->col[k]);
	}
	return h->reach[node];
}

/* Adds a job of the last pair. */
static void
add_job(path_host *h, int64_t first, int64_t count)
{
	h->job[h->njobs++] = path_job{h->pair0 + h->npairs - 1, first, count};
	h->first_job[h->npairs] = h->njobs;
}

/* Launches what there is, and adds it up. */
static void
launch_jobs(gp_cuda *c, path_host *h, path_problem p, bool goes_on)
{
	int64_t    *first_job;

	if (h->njobs == 0)
		return;
	p.job = (path_job *) gp_cuda_bring(c, h->job, h->njobs, sizeof(path_job));
	first_job = (int64_t *) gp_cuda_bring(c, h->first_job, h->npairs + 1, sizeof(int64_t));
	p.part = (double *) gp_cuda_scratch(c, (size_t) h->njobs * SUMS * sizeof(double));
	gp_cuda_launch(c, dim3((unsigned) h->njobs), dim3(32, WARPS), paths_kernel, p);
	gp_cuda_each(c, h->npairs, SUMS, join_jobs_each{p, first_job, h->pair0, goes_on});
	gp_cuda_scratch_free(c, (void *) p.job);
	gp_cuda_scratch_free(c, first_job);
	gp_cuda_scratch_free(c, p.part);
	gp_cuda_pace(c);
}

/*
 * Cuts all pairs into jobs and launches as many at a time as make a piece of work.
 * The look-ups are those of the end that the kernel starts from.
 */
static void
path_pieces(gp_cuda *c, path_host *h, const path_problem &p)
{
	const gp_csr *s = h->s;
	double		total = 0;
	bool		goes_on = false;

	for (int64_t e = 0; e < p.n; e++)
	{
		bool		swap = degree(s, h->src[e]) > degree(s, h->dst[e]);
		int32_t		i = swap ? h->dst[e] : h->src[e];
		double		lookup = lookup_steps(s, swap ? h->src[e] : h->dst[e]);
		int64_t		end = s->start[i + 1];
		bool		whole = reach_of(c, h, i) * lookup <= JOB_STEPS;

		h->npairs++;
		h->first_job[h->npairs] = h->njobs;
		for (int64_t first = s->start[i], k = first; k < end || k == s->start[i]; first = k)
		{
			double		steps = whole ? reach_of(c, h, i) * lookup : 0.0;

			for (k = whole ? end : k; k < end && steps < JOB_STEPS; k++)
				steps += (1.0 + (double) degree(s, s->col[k])) * lookup;
			add_job(h, first - s->start[i], k - first);
			total += steps;
			if (total >= c->piece_steps || h->njobs == h->room)
			{
				launch_jobs(c, h, p, goes_on);
				goes_on = k < end;
				h->pair0 = goes_on ? e : e + 1;
				h->npairs = goes_on ? 1 : 0;
				h->njobs = 0;
				h->first_job[0] = h->first_job[h->npairs] = 0;
				total = 0;
			}
			if (k >= end)
				break;
		}
	}
	launch_jobs(c, h, p, goes_on);
}

/* two and three of n pairs. */
void
gp_cuda_pair_paths(gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n, const int32_t *src,
				   const int32_t *dst, const bool *cut, double *two, double *three)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_csr		pattern = *s;
	gp_cuda_csr *card;
	gp_staged	weights;
	path_problem p;
	path_host	h = {s, src, dst};
	size_t		bytes;

	gp_cuda_require(c, s->rows == s->cols && w.rows == s->rows && w.cols == GP_PATH_LANES &&
					w.type == GP_FLOAT);
	if (n == 0)
		return;
	pattern.value = NULL;
	card = gp_cuda_csr_open(c, &pattern);
	weights = gp_cuda_stage(c, w, GP_READ);
	bytes = gp_size_mul(c->env, (size_t) n, GP_PATH_LANES * sizeof(double));
	p.start = card->start;
	p.col = card->col;
	p.w = weights.m;
	p.n = n;
	p.src = (int32_t *) gp_cuda_bring(c, src, n, sizeof(int32_t));
	p.dst = (int32_t *) gp_cuda_bring(c, dst, n, sizeof(int32_t));
	p.cut = cut ? (bool *) gp_cuda_bring(c, cut, n, sizeof(bool)) : NULL;
	p.two = (double *) gp_cuda_scratch(c, bytes);
	p.three = (double *) gp_cuda_scratch(c, bytes);
	h.reach = (double *) gp_alloc_zero(c->env, s->rows, sizeof(double));
	h.room = gp_min64(MOST_JOBS, 16 * gp_min64(n, MOST_JOBS) + 1024);
	h.job = (path_job *) gp_alloc_array(c->env, h.room, sizeof(path_job));
	h.first_job = (int64_t *) gp_alloc_zero(c->env, h.room + 2, sizeof(int64_t));
	path_pieces(c, &h, p);
	gp_free(c->env, h.reach);
	gp_free(c->env, h.job);
	gp_free(c->env, h.first_job);
	gp_cuda_fetch(c, two, p.two, n * GP_PATH_LANES, sizeof(double));
	gp_cuda_fetch(c, three, p.three, n * GP_PATH_LANES, sizeof(double));
	gp_cuda_scratch_free(c, (void *) p.src);
	gp_cuda_scratch_free(c, (void *) p.dst);
	gp_cuda_scratch_free(c, (void *) p.cut);
	gp_cuda_scratch_free(c, p.two);
	gp_cuda_scratch_free(c, p.three);
	gp_cuda_unstage(c, &weights);
	gp_cuda_csr_close(c, card);
}
