/*
 * cuda_map.cu - pointwise steps of a kernel on the card.
 *
 * One pass over the block: what the rows and the columns contribute to a step is
 * computed for each of them once, and the map, its scaling by the roots of the
 * variances and the step's own scale and shift are one kernel, in which a thread
 * has four elements of a row where they lie right for being read at once.  Elements
 * of which row and column are one node are set after it.
 */
#include "cuda_map_math.h"

/* What each row or column of a block contributes. */
template <typename T>
struct parts_each
{
	gp_card_stage stage;
	gp_node_part<T> *part;
	const int32_t *node;		/* or NULL: first + i */
	int64_t		first;

	__device__ void operator() (int64_t i, int64_t) const
	{
		part[i] = gp_node_part_of<T>(stage, node ? (int64_t) node[i] : first + i);
	}
};

/* V elements, read and written at once. */
template <typename T, int V>
struct alignas(sizeof(T) * V) map_pack
{
	T			v[V];
};

/* The map of V neighbouring elements a thread, a warp going along a row; two nodes each. */
template <typename T, int V>
__global__ void __launch_bounds__(256)
map_kernel(gp_stage_constants<T> s, gp_matrix k, const gp_node_part<T> *row, const gp_node_part<T> *col)
{
	int64_t		j = (blockIdx.x * (int64_t) blockDim.x + threadIdx.x) * V;
	gp_node_part<T> there[V];

	if (j >= k.cols)
		return;
	for (int v = 0; v < V; v++)
		there[v] = col ? col[j + v] : gp_node_part<T>{0, 0};
	for (int64_t i = blockIdx.y * (int64_t) blockDim.y + threadIdx.y; i < k.rows;
		 i += (int64_t) gridDim.y * blockDim.y)
	{
		map_pack<T, V> *at = (map_pack<T, V> *) &gp_at<T>(k, i, j);
		map_pack<T, V> x = *at;
		gp_node_part<T> here = row ? row[i] : gp_node_part<T>{0, 0};

#pragma unroll
		for (int v = 0; v < V; v++)
			x.v[v] = gp_stage_value<T>(s, x.v[v], here, there[v]);
		*at = x;
	}
}

/* The variance where row and column are one node. */
template <typename T>
struct map_same_each
{
	gp_card_stage stage;
	gp_matrix	k;
	const int32_t *cols;
	int64_t		row0;

	__device__ void operator() (int64_t j, int64_t) const
	{
		int64_t		node = cols ? (int64_t) cols[j] : j;

		if (node >= row0 && node < row0 + k.rows)
			gp_at<T>(k, node - row0, j) = (T) gp_stage_variance(stage, gp_variance_at(stage, node));
	}
};

/* What a range of nodes contributes, in scratch memory. */
template <typename T>
static gp_node_part<T> *
make_parts(gp_cuda *c, const gp_card_stage &stage, const int32_t *node, int64_t first, int64_t n)
{
	gp_node_part<T> *part =
		(gp_node_part<T> *) gp_cuda_scratch(c, gp_size_mul(c->env, (size_t) n, sizeof(gp_node_part<T>)));

	gp_cuda_each(c, n, 1, parts_each<T>{stage, part, node, first});
	return part;
}

/* Launches the map with V elements a thread. */
template <typename T, int V>
static void
launch_map(gp_cuda *c, const gp_card_stage &stage, gp_matrix k, const gp_node_part<T> *row,
		   const gp_node_part<T> *col)
{
	gp_cuda_launch(c, dim3(gp_cuda_blocks(k.cols, 32 * V, GP_CUDA_MOST_X),
						   gp_cuda_blocks(k.rows, 8 * 4, GP_CUDA_MOST_Y)), dim3(32, 8),
				   map_kernel<T, V>, gp_stage_constants_of<T>(stage), k, row, col);
}

/* True when V elements of each row can be read at once. */
template <typename T>
static bool
lies_right(gp_matrix m, int v)
{
	return (uintptr_t) m.data % (sizeof(T) * v) == 0 && m.ld % v == 0 && m.cols % v == 0;
}

/* Applies a stage to a block on the card; cols, if any, is there, too. */
template <typename T>
static void
map_card(gp_cuda *c, const gp_card_stage &stage, bool reads, gp_matrix k, int64_t row0,
		 const int32_t *cols)
{
	const int	most = sizeof(T) == sizeof(float) ? 4 : 2;
	gp_node_part<T> *row = reads ? make_parts<T>(c, stage, NULL, row0, k.rows) : NULL;
	gp_node_part<T> *col = reads ? make_parts<T>(c, stage, cols, 0, k.cols) : NULL;

	if (lies_right<T>(k, most))
		launch_map<T, most>(c, stage, k, row, col);
	else
		launch_map<T, 1>(c, stage, k, row, col);
	if (reads)
		gp_cuda_each(c, k.cols, 1, map_same_each<T>{stage, k, cols, row0});
	gp_cuda_scratch_free(c, row);
	gp_cuda_scratch_free(c, col);
}

/* Applies one stage to a block of covariances in place. */
void
gp_cuda_map(gp_device *dev, const gp_stage *stage, gp_matrix k, int64_t row0, const int32_t *cols)
{
	gp_cuda    *c = gp_cuda_of(dev);
	bool		reads = gp_stage_reads(stage);
	gp_matrix	none = {NULL, 0, 0, 0, GP_DOUBLE};
	gp_flow		flow[1] = {{k, GP_BOTH}};
	gp_staged	diag;
	gp_card_stage card;
	int32_t    *nodes = NULL;

	if (k.rows == 0 || k.cols == 0)
		return;
	if (reads)
		gp_cuda_require(c, stage->diag.type == GP_DOUBLE && stage->diag.cols == 1 && row0 >= 0 &&
						row0 + k.rows <= stage->diag.rows);
	diag = gp_cuda_stage(c, reads ? stage->diag : none, GP_READ);
	card = gp_card_stage_of(stage, diag.m);
	if (cols)
		nodes = (int32_t *) gp_cuda_bring(c, cols, k.cols, sizeof(int32_t));
	gp_cuda_rows(c, flow, 1, false, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(k.type, map_card, c, card, reads, part[0], row0 + row, nodes); });
	gp_cuda_scratch_free(c, nodes);
	gp_cuda_unstage(c, &diag);
	gp_cuda_pace(c);
}

/* The variance after a stage. */
struct map_diag_each
{
	gp_card_stage stage;
	gp_matrix	diag;

	__device__ void operator() (int64_t i, int64_t) const
	{
		double	   *v = &gp_at<double>(diag, i, 0);

		*v = gp_stage_variance(stage, *v);
	}
};

/* diag becomes scale * map(diag) + shift. */
void
gp_cuda_map_diag(gp_device *dev, const gp_stage *stage, gp_matrix diag)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_matrix	none = {NULL, 0, 0, 0, GP_DOUBLE};
	gp_staged	s;

	gp_cuda_require(c, diag.type == GP_DOUBLE && diag.cols == 1);
	s = gp_cuda_stage(c, diag, GP_BOTH);
	gp_cuda_each(c, diag.rows, 1, map_diag_each{gp_card_stage_of(stage, none), s.m});
	gp_cuda_unstage(c, &s);
	gp_cuda_pace(c);
}
