/*
 * cuda_pairs.cu - the diagonal of S f(Z Z') S' on the card, pair by pair.
 *
 * The neighbours of a row are cut into groups of 32; a block of threads takes a
 * pair of groups: their 32 x 32 covariances, the stages on them, and the weighted
 * sum.  A row's sums are then added in a fixed order.
 */
#include "cuda_map_math.h"

#define GROUP 32				/* neighbours */
#define ACROSS 8				/* threads over the rows of a tile: each has GROUP / ACROSS elements */
#define MOST_TILES (INT64_C(1) << 22)	/* sums held at a time, unless one row has more */
#define STEP_FLOPS 16.0			/* operations that take as long as an elementary step in shared memory */

/* What a kernel needs of the problem; z is dense (zd) or sparse. */
template <typename T>
struct pair_problem
{
	const int64_t *start;		/* of s */
	const int32_t *col;
	const T    *value;
	gp_matrix	zd;
	const int64_t *z_start;		/* NULL where z is dense */
	const int32_t *z_col;
	const T    *z_value;
	const gp_card_stage *stage;
	int			nstages;
	const int64_t *first_tile;	/* of each row from row0 on, one more at the end */
	int64_t		row0;
	int64_t		rows;
};

/* One pair of groups. */
struct tile_place
{
	int64_t		row_first;		/* entries of s */
	int64_t		col_first;
	int			rows;
	int			cols;
	bool		same;
};

/* Finds the row of a tile by bisection, and the pair of groups by its place in the triangle. */
template <typename T>
__device__ static tile_place
find_tile(const pair_problem<T> &p, int64_t tile)
{
	int64_t		low = 0;
	int64_t		high = p.rows - 1;
	int64_t		t;
	int64_t		a;
	int64_t		b;
	int64_t		end;
	tile_place	place;

	while (low < high)
	{
		int64_t		middle = low + (high - low + 1) / 2;

		if (p.first_tile[middle] <= tile)
			low = middle;
		else
			high = middle - 1;
	}
	t = tile - p.first_tile[low];
	a = (int64_t) ((sqrt(8.0 * (double) t + 1.0) - 1.0) / 2.0);
	while (a * (a + 1) / 2 > t)
		a--;
	while ((a + 1) * (a + 2) / 2 <= t)
		a++;
	b = t - a * (a + 1) / 2;
	end = p.start[p.row0 + low + 1];
	place.row_first = p.start[p.row0 + low] + a * GROUP;
	place.col_first = p.start[p.row0 + low] + b * GROUP;
	place.rows = (int) (end - place.row_first < GROUP ? end - place.row_first : GROUP);
	place.cols = (int) (end - place.col_first < GROUP ? end - place.col_first : GROUP);
	place.same = a == b;
	return place;
}

/* k[m] = <z_i, z_j> for the thread's elements, dense rows, GROUP columns of z at a time. */
template <typename T>
__device__ static void
dense_products(const pair_problem<T> &p, const tile_place &place, T *k)
{
	__shared__ T left[GROUP][GROUP + 1];
	__shared__ T right[GROUP][GROUP + 1];

	for (int64_t d0 = 0; d0 < p.zd.cols; d0 += GROUP)
	{
		int64_t		d = d0 + threadIdx.x;

		for (int i = threadIdx.y; i < GROUP; i += ACROSS)
		{
			left[i][threadIdx.x] = i < place.rows && d < p.zd.cols ?
				gp_at<T>(p.zd, p.col[place.row_first + i], d) : (T) 0;
			right[i][threadIdx.x] = i < place.cols && d < p.zd.cols ?
				gp_at<T>(p.zd, p.col[place.col_first + i], d) : (T) 0;
		}
		__syncthreads();
		for (int l = 0; l < GROUP; l++)
			for (int m = 0; m < GROUP / ACROSS; m++)
				k[m] += left[threadIdx.y + m * ACROSS][l] * right[threadIdx.x][l];
		__syncthreads();
	}
}

/* The product of two sparse rows, merged. */
template <typename T>
__device__ static T
sparse_product(const pair_problem<T> &p, int32_t i, int32_t j)
{
	int64_t		a = p.z_start[i];
	int64_t		b = p.z_start[j];
	T			sum = 0;

	while (a < p.z_start[i + 1] && b < p.z_start[j + 1])
	{
		int32_t		ca = p.z_col[a];
		int32_t		cb = p.z_col[b];

		if (ca == cb)
			sum += p.z_value[a] * p.z_value[b];
		a += ca <= cb;
		b += cb <= ca;
	}
	return sum;
}

/* f(<z_j, z_j>), through the exact variances. */
template <typename T>
__device__ static double
own_variance(const pair_problem<T> &p, int32_t node, double v)
{
	for (int s = 0; s < p.nstages; s++)
	{
		const gp_card_stage &stage = p.stage[s];

		if (stage.map == GP_MAP_RELU || stage.map == GP_MAP_RBF)
			v = stage.diag[node * stage.ld];
		v = gp_stage_variance(stage, v);
	}
	return v;
}

/* Applies the stages to the thread's elements. */
template <typename T>
__device__ static void
apply_stages(const pair_problem<T> &p, const tile_place &place, T *k)
{
	__shared__ gp_node_part<T> row[GROUP];
	__shared__ gp_node_part<T> col[GROUP];

	for (int s = 0; s < p.nstages; s++)
	{
		const gp_card_stage &stage = p.stage[s];
		gp_stage_constants<T> constants = gp_stage_constants_of<T>(stage);

		__syncthreads();
		if (threadIdx.y == 0 && (int) threadIdx.x < place.rows)
			row[threadIdx.x] = gp_node_part_of<T>(stage, p.col[place.row_first + threadIdx.x]);
		if (threadIdx.y == 1 && (int) threadIdx.x < place.cols)
			col[threadIdx.x] = gp_node_part_of<T>(stage, p.col[place.col_first + threadIdx.x]);
		__syncthreads();
		for (int m = 0; m < GROUP / ACROSS; m++)
		{
			int			i = threadIdx.y + m * ACROSS;

			if (i < place.rows && (int) threadIdx.x < place.cols)
				k[m] = gp_stage_value<T>(constants, k[m], row[i], col[threadIdx.x]);
		}
	}
}

/* The thread's part of a tile's sum. */
template <typename T>
__device__ static double
weighted_sum(const pair_problem<T> &p, const tile_place &place, const T *k, const T *product)
{
	double		sum = 0;

	if ((int) threadIdx.x >= place.cols)
		return 0;
	for (int m = 0; m < GROUP / ACROSS; m++)
	{
		int			i = threadIdx.y + m * ACROSS;
		double		weight;
		double		f;

		if (i >= place.rows)
			continue;
		weight = (double) p.value[place.row_first + i] * (double) p.value[place.col_first + threadIdx.x];
		f = (double) k[m];
		if (place.same && i == (int) threadIdx.x)
			f = own_variance(p, p.col[place.row_first + i], (double) product[m]);
		sum += (place.same ? 1.0 : 2.0) * weight * f;
	}
	return sum;
}

/* One tile for each block: partial[tile - tile0 of the rows]. */
template <typename T>
__global__ void __launch_bounds__(GROUP * ACROSS)
pairs_kernel(pair_problem<T> p, int64_t tile0, double *partial)
{
	__shared__ double part[ACROSS];
	int64_t		tile = tile0 + blockIdx.x;
	tile_place	place = find_tile(p, tile);
	T			k[GROUP / ACROSS];
	T			product[GROUP / ACROSS];
	double		sum;

	for (int m = 0; m < GROUP / ACROSS; m++)
		k[m] = 0;
	if (p.z_start == NULL)
		dense_products(p, place, k);
	else if ((int) threadIdx.x < place.cols)
		for (int m = 0; m < GROUP / ACROSS; m++)
			if ((int) threadIdx.y + m * ACROSS < place.rows)
				k[m] = sparse_product(p, p.col[place.row_first + threadIdx.y + m * ACROSS],
									  p.col[place.col_first + threadIdx.x]);
	for (int m = 0; m < GROUP / ACROSS; m++)
		product[m] = k[m];
	apply_stages(p, place, k);
	sum = gp_warp_sum(weighted_sum(p, place, k, product));
	if (threadIdx.x == 0)
		part[threadIdx.y] = sum;
	__syncthreads();
	if (threadIdx.x == 0 && threadIdx.y == 0)
	{
		sum = 0;
		for (int w = 0; w < ACROSS; w++)
			sum += part[w];
		partial[tile] = sum;
	}
}

/* out_i = the sum over the tiles of row i, a warp for each. */
__global__ void __launch_bounds__(256)
rows_kernel(gp_matrix out, int64_t row0, int64_t rows, const int64_t *first_tile,
			const double *partial)
{
	int64_t		i = blockIdx.x * (int64_t) blockDim.y + threadIdx.y;
	double		sum = 0;

	if (i >= rows)
		return;
	for (int64_t t = first_tile[i] + threadIdx.x; t < first_tile[i + 1]; t += 32)
		sum += partial[t];
	sum = gp_warp_sum(sum);
	if (threadIdx.x == 0)
		gp_at<double>(out, row0 + i, 0) = sum;
}

/* The tiles of a row. */
static int64_t
row_tiles(const gp_csr *s, int64_t row)
{
	int64_t		groups = (s->start[row + 1] - s->start[row] + GROUP - 1) / GROUP;

	return groups * (groups + 1) / 2;
}

/* The rows from row0 on whose tiles are done together; first gets the first tile of each. */
static int64_t
choose_rows(gp_cuda *c, const gp_csr *s, int64_t row0, int64_t *first)
{
	int64_t		tiles = 0;
	int64_t		rows = 0;
	int64_t		next = 0;

	first[0] = 0;
	while (row0 + rows < s->rows)
	{
		int64_t		more = row_tiles(s, row0 + rows);

		gp_poll(c->env, rows, &next);
		if (rows > 0 && tiles + more > MOST_TILES)
			break;
		tiles += more;
		first[++rows] = tiles;
	}
	return rows;
}

/* Elementary steps of a tile: products, and some twenty for each stage. */
static double
tile_steps(const gp_csr *zs, const gp_matrix *zd, int nstages)
{
	double		row = zd ? (double) zd->cols : 8.0 * (double) gp_csr_entries(zs) / (double) gp_max64(zs->rows, 1);

	return GROUP * (double) GROUP * (row + 20.0 * nstages + 20.0);
}

/* All rows, some at a time. */
template <typename T>
static void
pairs_card(gp_cuda *c, const gp_csr *s, pair_problem<T> p, double steps, gp_matrix out)
{
	int64_t    *first = (int64_t *) gp_alloc_array(c->env, s->rows + 1, sizeof(int64_t));
	double		most = p.z_start ? c->piece_steps : c->piece_flops[s->type] / STEP_FLOPS;
	int64_t		launch = gp_max64(1, gp_min64(MOST_TILES, (int64_t) (most / steps)));

	for (int64_t row = 0; row < s->rows; row += p.rows)
	{
		int64_t    *card_first;
		double	   *partial;
		int64_t		tiles;

		p.row0 = row;
		p.rows = choose_rows(c, s, row, first);
		tiles = first[p.rows];
		card_first = (int64_t *) gp_cuda_bring(c, first, p.rows + 1, sizeof(int64_t));
		partial = (double *) gp_cuda_scratch(c, gp_size_mul(c->env, (size_t) tiles, sizeof(double)));
		p.first_tile = card_first;
		for (int64_t tile = 0; tile < tiles; tile += launch)
		{
			gp_cuda_launch(c, dim3((unsigned) gp_min64(launch, tiles - tile)), dim3(GROUP, ACROSS),
						   pairs_kernel<T>, p, tile, partial);
			gp_cuda_pace(c);
		}
		gp_cuda_launch(c, dim3(gp_cuda_blocks(p.rows, 8, GP_CUDA_MOST_X)), dim3(32, 8), rows_kernel,
					   out, row, p.rows, card_first, partial);
		gp_cuda_scratch_free(c, partial);
		gp_cuda_scratch_free(c, card_first);
		gp_cuda_pace(c);
	}
	gp_free(c->env, first);
}

/* The stages on the card; diag holds the variances that they read. */
static gp_card_stage *
bring_stages(gp_cuda *c, const gp_stage *stages, int nstages, gp_staged *diag)
{
	gp_matrix	none = {NULL, 0, 0, 0, GP_DOUBLE};
	gp_card_stage *host = (gp_card_stage *) gp_alloc_array(c->env, gp_max64(nstages, 1),
														   sizeof(gp_card_stage));
	gp_card_stage *card;

	for (int k = 0; k < nstages; k++)
	{
		diag[k] = gp_cuda_stage(c, gp_stage_reads(&stages[k]) ? stages[k].diag : none, GP_READ);
		host[k] = gp_card_stage_of(&stages[k], diag[k].m);
	}
	card = (gp_card_stage *) gp_cuda_bring(c, host, nstages, sizeof(gp_card_stage));
	gp_free(c->env, host);
	return card;
}

/* The problem of one type. */
template <typename T>
static void
pairs_typed(gp_cuda *c, const gp_csr *s, const gp_csr *zs, const gp_matrix *zd,
			const gp_card_stage *stage, int nstages, gp_matrix out)
{
	gp_cuda_csr *card = gp_cuda_csr_open(c, s);
	gp_cuda_csr *sparse = zs ? gp_cuda_csr_open(c, zs) : NULL;
	gp_matrix	none = {NULL, 0, 0, 0, s->type};
	gp_staged	dense = gp_cuda_stage(c, zd ? *zd : none, GP_READ);
	pair_problem<T> p = {card->start, card->col, (const T *) card->value, dense.m,
		sparse ? sparse->start : NULL, sparse ? sparse->col : NULL,
		sparse ? (const T *) sparse->value : NULL, stage, nstages, NULL, 0, 0};

	pairs_card<T>(c, s, p, tile_steps(zs, zd, nstages), out);
	gp_cuda_unstage(c, &dense);
	if (sparse)
		gp_cuda_csr_close(c, sparse);
	gp_cuda_csr_close(c, card);
}

/* out_i = sum over j, k in row i of s of s_ij s_ik f(<z_j, z_k>). */
void
gp_cuda_pair_diag(gp_device *dev, const gp_csr *s, const gp_csr *zs, const gp_matrix *zd,
				  const gp_stage *stages, int nstages, gp_matrix out)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged  *diag;
	gp_card_stage *card;
	gp_staged	sums;

	gp_cuda_require(c, (zs == NULL) != (zd == NULL) && out.type == GP_DOUBLE && out.cols == 1 &&
					out.rows == s->rows && (zs ? zs->rows : zd->rows) == s->cols &&
					(zs ? zs->type : zd->type) == s->type);
	diag = (gp_staged *) gp_alloc_array(c->env, gp_max64(nstages, 1), sizeof(gp_staged));
	card = bring_stages(c, stages, nstages, diag);
	sums = gp_cuda_stage(c, out, GP_WRITE);
	gp_cuda_typed(s->type, pairs_typed, c, s, zs, zd, card, nstages, sums.m);
	gp_cuda_unstage(c, &sums);
	gp_cuda_scratch_free(c, card);
	for (int k = 0; k < nstages; k++)
		gp_cuda_unstage(c, &diag[k]);
	gp_free(c->env, diag);
	gp_cuda_pace(c);
}
