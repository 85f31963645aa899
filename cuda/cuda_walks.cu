/*
 * cuda_walks.cu - walks of two and three steps between the ends of pairs, on the card.
 *
 * A block of threads takes a pair: its warps take the neighbours of one end, look
 * them up among those of the other by bisection (two steps), and do the same for
 * their neighbours (three steps).  A walk and its reverse are one, so the end
 * with fewer neighbours comes first.  Sums are in double and in a fixed order.
 */
#include "gp_cuda.h"

#define WARPS 8					/* of a block */
#define PIECE_STEPS 2e9			/* look-ups of a launch */
#define MOST_PAIRS (INT64_C(1) << 20)	/* of a launch: the host counts their steps between two looks */

/* The arguments on the card. */
struct walk_problem
{
	const int64_t *start;
	const int32_t *col;
	gp_matrix	w;
	int64_t		n;
	const int32_t *src;
	const int32_t *dst;
	const bool *cut;
	double	   *two;
	double	   *three;
};

/* True when b is a neighbour of j. */
__device__ static bool
is_neighbour(const walk_problem &p, int32_t j, int32_t b)
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

/* Adds the walks whose first middle is a, the lanes of a warp sharing its neighbours; skip is no second middle. */
__device__ static void
walk_from(const walk_problem &p, int32_t a, int32_t j, int32_t skip, double *two, double *three)
{
	double		sum[GP_WALK_LANES] = {0};
	bool		near = threadIdx.x == 0 && is_neighbour(p, j, a);

	for (int64_t k = p.start[a] + threadIdx.x; k < p.start[a + 1]; k += 32)
	{
		int32_t		b = p.col[k];

		if (b != skip && is_neighbour(p, j, b))
			for (int q = 0; q < GP_WALK_LANES; q++)
				sum[q] += (double) gp_at<float>(p.w, b, q);
	}
	for (int q = 0; q < GP_WALK_LANES; q++)
	{
		double		weight = (double) gp_at<float>(p.w, a, q);

		three[q] += weight * sum[q];
		if (near)
			two[q] += weight;
	}
}

/* A pair for each block of threads: its warps share the neighbours of the end that has fewer. */
__global__ void __launch_bounds__(32 * WARPS)
walks_kernel(walk_problem p, int64_t first)
{
	__shared__ double part[2 * GP_WALK_LANES][WARPS];
	int64_t		e = first + blockIdx.x;
	double		two[GP_WALK_LANES] = {0};
	double		three[GP_WALK_LANES] = {0};
	bool		cut = p.cut != NULL && p.cut[e];
	int32_t		i = p.src[e];
	int32_t		j = p.dst[e];
	int			thread = threadIdx.y * 32 + threadIdx.x;

	if (p.start[i + 1] - p.start[i] > p.start[j + 1] - p.start[j])
	{
		int32_t		swap = i;

		i = j;
		j = swap;
	}
	for (int64_t k = p.start[i] + threadIdx.y; k < p.start[i + 1]; k += WARPS)
		if (!cut || p.col[k] != j)
			walk_from(p, p.col[k], j, cut ? i : -1, two, three);
	for (int q = 0; q < GP_WALK_LANES; q++)
	{
		double		sum2 = gp_warp_sum(two[q]);
		double		sum3 = gp_warp_sum(three[q]);

		if (threadIdx.x == 0)
		{
			part[q][threadIdx.y] = sum2;
			part[GP_WALK_LANES + q][threadIdx.y] = sum3;
		}
	}
	__syncthreads();
	if (thread < 2 * GP_WALK_LANES)
	{
		double		sum = 0;

		for (int warp = 0; warp < WARPS; warp++)
			sum += part[thread][warp];
		if (thread < GP_WALK_LANES)
			p.two[e * GP_WALK_LANES + thread] = sum;
		else
			p.three[e * GP_WALK_LANES + thread - GP_WALK_LANES] = sum;
	}
}

/* The look-ups of a pair, counted with those of the pair before where the source is the same. */
static double
pair_steps(gp_cuda *c, const gp_csr *s, const int32_t *src, int64_t e, double before)
{
	double		steps = 1;
	int64_t		next = 0;

	if (e > 0 && src[e] == src[e - 1] && before > 0)
		return before;
	for (int64_t k = s->start[src[e]]; k < s->start[src[e] + 1]; k++)
	{
		gp_look(c->env, k - s->start[src[e]], &next);
		steps += 20.0 * (double) (1 + s->start[s->col[k] + 1] - s->start[s->col[k]]);
	}
	return steps;
}

/* Launches the pairs in pieces. */
static void
walk_pieces(gp_cuda *c, const gp_csr *s, const int32_t *src, const walk_problem &p)
{
	double		steps = 0;
	int64_t		end;

	for (int64_t first = 0; first < p.n; first = end)
	{
		double		total = 0;

		for (end = first; end < p.n && end - first < MOST_PAIRS && (end == first || total + steps < PIECE_STEPS); end++)
		{
			steps = pair_steps(c, s, src, end, end > first ? steps : 0);
			total += steps;
		}
		gp_cuda_launch(c, dim3((unsigned) (end - first)), dim3(32, WARPS), walks_kernel, p, first);
		gp_cuda_pace(c);
	}
}

/* two and three of n pairs. */
void
gp_cuda_walks(gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n, const int32_t *src,
			  const int32_t *dst, const bool *cut, double *two, double *three)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_csr		pattern = *s;
	gp_cuda_csr *card;
	gp_staged	weights;
	walk_problem p;
	size_t		bytes;

	gp_cuda_require(c, s->rows == s->cols && w.rows == s->rows && w.cols == GP_WALK_LANES &&
					w.type == GP_FLOAT);
	if (n == 0)
		return;
	pattern.value = NULL;
	card = gp_cuda_csr_open(c, &pattern);
	weights = gp_cuda_stage(c, w, GP_READ);
	bytes = gp_size_mul(c->env, (size_t) n, GP_WALK_LANES * sizeof(double));
	p.start = card->start;
	p.col = card->col;
	p.w = weights.m;
	p.n = n;
	p.src = (int32_t *) gp_cuda_bring(c, src, n, sizeof(int32_t));
	p.dst = (int32_t *) gp_cuda_bring(c, dst, n, sizeof(int32_t));
	p.cut = cut ? (bool *) gp_cuda_bring(c, cut, n, sizeof(bool)) : NULL;
	p.two = (double *) gp_cuda_scratch(c, bytes);
	p.three = (double *) gp_cuda_scratch(c, bytes);
	walk_pieces(c, s, src, p);
	gp_cuda_fetch(c, two, p.two, n * GP_WALK_LANES, sizeof(double));
	gp_cuda_fetch(c, three, p.three, n * GP_WALK_LANES, sizeof(double));
	gp_cuda_scratch_free(c, (void *) p.src);
	gp_cuda_scratch_free(c, (void *) p.dst);
	gp_cuda_scratch_free(c, (void *) p.cut);
	gp_cuda_scratch_free(c, p.two);
	gp_cuda_scratch_free(c, p.three);
	gp_cuda_unstage(c, &weights);
	gp_cuda_csr_close(c, card);
}
