/*
 * cuda_random_walks.cu - the walks behind graph random features, on the card.
 *
 * A thread takes a walk.  Walks are walked twice: once to count the loads that
 * they leave, once to write them.  The loads of a node are then sorted by place
 * and by the order in which the host would have come to them, and those of one
 * place added in that order: the bits are the host's (walk_stream.h).
 */
#include <string.h>

#include "gp_cuda.h"

#define BLOCK_LOADS 4e6			/* that are held at a time */
#define SORT_THREADS 256

/* One load: where, when, how much. */
struct walk_load
{
	int64_t		order;			/* group, step, number in the group */
	double		load;
	int32_t		place;
};

/* The arguments of all kernels, on the card. */
struct walk_card
{
	const int64_t *start;		/* of u */
	const int32_t *col;
	const double *value;
	const double *cumulated;
	const int32_t *anchor;
	uint64_t	seed;
	int			copy;
	int			walks;
	int			d;
	int			first;
	double		p_term;
	int64_t		node0;			/* of the block */
	int32_t    *count;			/* of each walk of the block: its loads, then its first one */
	int64_t    *first_load;		/* of each node of the block, one more at the end */
	walk_load  *load;
};

/* One walk; writes its loads unless out is NULL, and returns how many there are. */
__device__ static int32_t
walk(const walk_card &w, int64_t node, int walk_number, walk_load *out)
{
	gp_stream	s = gp_stream_start(w.seed, w.copy, node, walk_number);
	int64_t		order = (int64_t) (walk_number / GP_WALKS_ABREAST) * GP_LONGEST_WALK;
	int32_t		at = (int32_t) node;
	int32_t		n = 0;
	double		load = 1.0;
	double		f = w.first ? 0.5 * w.d : 1.0;

	for (int k = w.first; k < GP_LONGEST_WALK; k++)
	{
		int64_t		begin = w.start[at];
		int64_t		end = w.start[at + 1];
		int32_t		place = w.anchor ? w.anchor[at] : at;
		int64_t		entry;
		double		probability;
		double		x;

		if (place >= 0)
		{
			if (out)
			{
				out[n].order = (order + k) * GP_WALKS_ABREAST + walk_number % GP_WALKS_ABREAST;
				out[n].load = load * f;
				out[n].place = place;
			}
			n++;
		}
		if (begin == end || gp_uniform(&s) < w.p_term)
			break;
		x = gp_uniform(&s);
		entry = w.cumulated ?
			gp_choose_weighted(w.value, w.cumulated, begin, end, x, &probability) :
			gp_choose_uniform(begin, end, x, &probability);
		load = gp_walk_load(load, w.value[entry], probability, w.p_term);
		f = gp_walk_next(f, k, w.d);
		at = w.col[entry];
	}
	return n;
}

/* Counts the loads of each walk. */
struct count_each
{
	walk_card	w;

	__device__ void operator() (int64_t at, int64_t) const
	{
		w.count[at] = walk(w, w.node0 + at / w.walks, (int) (at % w.walks), NULL);
	}
};

/* Turns the counts of a node's walks into their first places, and tells the sum. */
struct place_each
{
	walk_card	w;
	int32_t    *total;

	__device__ void operator() (int64_t i, int64_t) const
	{
		int32_t		sum = 0;

		for (int64_t k = i * w.walks; k < (i + 1) * w.walks; k++)
		{
			int32_t		n = w.count[k];

			w.count[k] = sum;
			sum += n;
		}
		total[i] = sum;
	}
};

/* Writes the loads of each walk. */
struct write_each
{
	walk_card	w;

	__device__ void operator() (int64_t at, int64_t) const
	{
		int64_t		i = at / w.walks;

		walk(w, w.node0 + i, (int) (at % w.walks), w.load + w.first_load[i] + w.count[at]);
	}
};

/* True when load a comes before b. */
__device__ static __forceinline__ bool
before(const walk_load &a, const walk_load &b)
{
	return a.place != b.place ? a.place < b.place : a.order < b.order;
}

/* Puts two loads in order; what is beyond the end counts as the largest of all. */
__device__ static __forceinline__ void
put_in_order(walk_load *load, int64_t n, int64_t i, int64_t j)
{
	if (j < n && before(load[j], load[i]))
	{
		walk_load	t = load[i];

		load[i] = load[j];
		load[j] = t;
	}
}

/* Sorts the loads of each node, a block of threads for each: a bitonic network whose comparisons all go upwards. */
__global__ void __launch_bounds__(SORT_THREADS)
sort_kernel(walk_card w, int64_t nodes)
{
	for (int64_t node = blockIdx.x; node < nodes; node += gridDim.x)
	{
		walk_load  *load = w.load + w.first_load[node];
		int64_t		n = w.first_load[node + 1] - w.first_load[node];

		for (int64_t side = 1; side < n; side *= 2)
		{
			int64_t		pairs = (n + 2 * side - 1) / (2 * side) * side;

			for (int64_t t = threadIdx.x; t < pairs; t += blockDim.x)
				put_in_order(load, n, t / side * 2 * side + t % side,
							 t / side * 2 * side + 2 * side - 1 - t % side);
			__syncthreads();
			for (int64_t gap = side / 2; gap > 0; gap /= 2)
			{
				for (int64_t t = threadIdx.x; t < pairs; t += blockDim.x)
					put_in_order(load, n, t / gap * 2 * gap + t % gap,
								 t / gap * 2 * gap + t % gap + gap);
				__syncthreads();
			}
		}
	}
}

/* Adds the loads of one place, in order, and moves the sums together; tells how many there are. */
struct add_each
{
	walk_card	w;
	int32_t    *total;
	double		factor;

	__device__ void operator() (int64_t i, int64_t) const
	{
		walk_load  *load = w.load + w.first_load[i];
		int64_t		n = w.first_load[i + 1] - w.first_load[i];
		int32_t		kept = 0;

		for (int64_t k = 0; k < n;)
		{
			int32_t		place = load[k].place;
			double		sum = 0.0;

			for (; k < n && load[k].place == place; k++)
				sum += load[k].load;
			load[kept].place = place;
			load[kept++].load = factor * sum;
		}
		total[i] = kept;
	}
};

/* Writes the sums of each node as a row of the result. */
struct pack_each
{
	walk_card	w;
	const int64_t *first;		/* of each row */
	int32_t    *col;
	double	   *value;

	__device__ void operator() (int64_t i, int64_t) const
	{
		const walk_load *load = w.load + w.first_load[i];

		for (int64_t k = 0; k < first[i + 1] - first[i]; k++)
		{
			col[first[i] + k] = load[k].place;
			value[first[i] + k] = load[k].load;
		}
	}
};

/* Sums of counts, from 0; the card's copy of them. */
static int64_t *
bring_offsets(gp_cuda *c, const int32_t *count, int64_t n, int64_t *offset)
{
	offset[0] = 0;
	for (int64_t i = 0; i < n; i++)
		offset[i + 1] = offset[i] + count[i];
	return (int64_t *) gp_cuda_bring(c, offset, n + 1, sizeof(int64_t));
}

/* What the host keeps between blocks of nodes. */
struct walk_host
{
	int32_t    *count;
	int64_t    *offset;
	int64_t		room;			/* entries that the result has memory for */
};

/* Appends the rows of a block, nodes [node0, node0 + nodes), to the result. */
static void
append_rows(gp_cuda *c, const walk_card &w, int64_t nodes, walk_host *h, gp_csr *out)
{
	int64_t    *first = bring_offsets(c, h->count, nodes, h->offset);
	int64_t		entries = h->offset[nodes];
	int64_t		at = out->start[w.node0];
	int32_t    *col = (int32_t *) gp_cuda_scratch(c, (size_t) entries * sizeof(int32_t));
	double	   *value = (double *) gp_cuda_scratch(c, (size_t) entries * sizeof(double));

	gp_cuda_each(c, nodes, 1, pack_each{w, first, col, value});
	if (at + entries > h->room)
	{
		h->room = (at + entries) * 3 / 2 + 1024;
		out->col = (int32_t *) gp_realloc_array(c->env, out->col, h->room, sizeof(int32_t));
		out->value = gp_realloc_array(c->env, out->value, h->room, sizeof(double));
	}
	gp_cuda_fetch(c, out->col + at, col, entries, sizeof(int32_t));
	gp_cuda_fetch(c, (double *) out->value + at, value, entries, sizeof(double));
	for (int64_t i = 0; i < nodes; i++)
		out->start[w.node0 + i + 1] = at + h->offset[i + 1];
	gp_cuda_scratch_free(c, first);
	gp_cuda_scratch_free(c, col);
	gp_cuda_scratch_free(c, value);
}

/* The walks of a block of nodes. */
static void
walk_block(gp_cuda *c, walk_card w, int64_t nodes, double factor, walk_host *h, gp_csr *out)
{
	int32_t    *total = (int32_t *) gp_cuda_scratch(c, (size_t) nodes * sizeof(int32_t));

	w.count = (int32_t *) gp_cuda_scratch(c, (size_t) (nodes * w.walks) * sizeof(int32_t));
	gp_cuda_each(c, nodes * w.walks, 1, count_each{w});
	gp_cuda_each(c, nodes, 1, place_each{w, total});
	gp_cuda_fetch(c, h->count, total, nodes, sizeof(int32_t));
	w.first_load = bring_offsets(c, h->count, nodes, h->offset);
	w.load = (walk_load *) gp_cuda_scratch(c, gp_size_mul(c->env, (size_t) h->offset[nodes],
														  sizeof(walk_load)));
	gp_cuda_each(c, nodes * w.walks, 1, write_each{w});
	gp_cuda_launch(c, dim3(gp_cuda_blocks(nodes, 1, GP_CUDA_MOST_X)), dim3(SORT_THREADS),
				   sort_kernel, w, nodes);
	gp_cuda_each(c, nodes, 1, add_each{w, total, factor});
	gp_cuda_fetch(c, h->count, total, nodes, sizeof(int32_t));
	append_rows(c, w, nodes, h, out);
	gp_cuda_scratch_free(c, w.load);
	gp_cuda_scratch_free(c, w.first_load);
	gp_cuda_scratch_free(c, w.count);
	gp_cuda_scratch_free(c, total);
}

/* The task on the card. */
static walk_card
bring_task(gp_cuda *c, const gp_walk_task *task, const gp_cuda_csr *u)
{
	walk_card	w;

	memset(&w, 0, sizeof(w));
	w.start = u->start;
	w.col = u->col;
	w.value = (const double *) u->value;
	if (task->cumulated)
		w.cumulated = (double *) gp_cuda_bring(c, task->cumulated, u->entries, sizeof(double));
	if (task->anchor)
		w.anchor = (int32_t *) gp_cuda_bring(c, task->anchor, u->rows, sizeof(int32_t));
	w.seed = task->seed;
	w.copy = task->copy;
	w.walks = task->walks;
	w.d = task->d;
	w.first = task->first;
	w.p_term = task->p_term;
	return w;
}

/* The loads of all walks, times factor, as the rows of out. */
void
gp_cuda_random_walks(gp_device *dev, gp_walk_task task, double factor, gp_csr *out)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_cuda_csr *u;
	walk_card	w;
	walk_host	h;
	int64_t		n = task.u->rows;
	int64_t		height = gp_max64(1, gp_min64(n, (int64_t) (BLOCK_LOADS * task.p_term / task.walks)));

	gp_cuda_require(c, task.u->type == GP_DOUBLE && task.u->cols == n && out->rows == n);
	u = gp_cuda_csr_open(c, task.u);
	w = bring_task(c, &task, u);
	h.count = (int32_t *) gp_alloc_array(c->env, height, sizeof(int32_t));
	h.offset = (int64_t *) gp_alloc_array(c->env, height + 1, sizeof(int64_t));
	h.room = 0;
	for (int64_t node = 0; node < n; node += height)
	{
		w.node0 = node;
		walk_block(c, w, gp_min64(height, n - node), factor, &h, out);
	}
	gp_free(c->env, h.count);
	gp_free(c->env, h.offset);
	gp_cuda_scratch_free(c, (void *) w.cumulated);
	gp_cuda_scratch_free(c, (void *) w.anchor);
	gp_cuda_csr_close(c, u);
}
