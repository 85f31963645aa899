/*
 * cuda_sparse.cu - sparse products on the card.
 *
 * cuSPARSE is not used: its products of row-major matrices do not promise the
 * same bits from run to run.  Here every element is one sum in a fixed order: a
 * warp adds up a row of s for 32, 64 or 128 columns at once, so that each row of
 * b is read in whole lines; all rows of s are done for some columns before the
 * next, so that these columns of b stay in the card's cache where they fit.
 */
#include "gp_cuda.h"

#define WARPS 8					/* of a block */
#define PARTIAL_BYTES 6.4e7		/* sums of segments held at a time, unless one row has more */
#define STAGED_COLS 128			/* columns staged at a time */
#define TAKE_CUT 16384			/* entries of a row that one warp walks along in a launch */
#define SCATTER_CUT 4096		/* the same where each is a row of another matrix */

/* V elements that are read at once. */
template <typename T, int V>
struct alignas(sizeof(T) * V) pack
{
	T			v[V];
};

/* The arrays of a sparse matrix for kernels. */
template <typename T>
struct csr_view
{
	const int64_t *start;
	const int32_t *col;
	const T    *value;
};

/* sum = the entries [first, end) of s times columns j to j + V of b; all lanes of a warp take part. */
template <typename T, int V>
__device__ static __forceinline__ pack<T, V>
row_times(csr_view<T> s, int64_t first, int64_t end, gp_matrix b, int64_t j, bool active)
{
	pack<T, V> sum;
	int			lane = threadIdx.x;

	for (int v = 0; v < V; v++)
		sum.v[v] = 0;
	for (int64_t e = first; e < end; e += 32)
	{
		int			left = (int) (end - e < 32 ? end - e : 32);
		int32_t		col = lane < left ? s.col[e + lane] : 0;
		T			value = lane < left ? s.value[e + lane] : (T) 0;

#pragma unroll 4
		for (int k = 0; k < left; k++)
		{
			int64_t		row = __shfl_sync(0xffffffffu, col, k);
			T			factor = __shfl_sync(0xffffffffu, value, k);

			if (active)
			{
				pack<T, V> x = *(const pack<T, V> *) &gp_at<T>(b, row, j);

				for (int v = 0; v < V; v++)
					sum.v[v] += factor * x.v[v];
			}
		}
	}
	return sum;
}

/* c = alpha sum + beta c for V columns. */
template <typename T, int V>
__device__ static __forceinline__ void
put_sum(T *c, const pack<T, V> &sum, T alpha, T beta)
{
	pack<T, V> out;

	if (beta != 0)
		out = *(const pack<T, V> *) c;
	for (int v = 0; v < V; v++)
		out.v[v] = beta == 0 ? alpha * sum.v[v] : alpha * sum.v[v] + beta * out.v[v];
	*(pack<T, V> *) c = out;
}

/* Rows [row0, end) of c = alpha s b + beta c, a warp for each; long rows are left out. */
template <typename T, int V>
__global__ void __launch_bounds__(32 * WARPS)
spmm_kernel(csr_view<T> s, gp_matrix b, gp_matrix c, T alpha, T beta, int64_t row0, int64_t end)
{
	int64_t		i = row0 + blockIdx.x * (int64_t) WARPS + threadIdx.y;

	if (i >= end || s.start[i + 1] - s.start[i] > GP_CUDA_SEGMENT)
		return;
	for (int64_t j0 = blockIdx.y * (int64_t) (32 * V); j0 < c.cols; j0 += gridDim.y * (int64_t) (32 * V))
	{
		int64_t		j = j0 + threadIdx.x * V;
		pack<T, V> sum = row_times<T, V>(s, s.start[i], s.start[i + 1], b, j, j < c.cols);

		if (j < c.cols)
			put_sum<T, V>(&gp_at<T>(c, i, j), sum, alpha, beta);
	}
}

/* The sums of segments of long rows, a warp for each. */
template <typename T, int V>
__global__ void __launch_bounds__(32 * WARPS)
segment_kernel(csr_view<T> s, const int64_t *first, const int32_t *length, int64_t n, gp_matrix b,
			   gp_matrix partial)
{
	int64_t		k = blockIdx.x * (int64_t) WARPS + threadIdx.y;

	if (k >= n)
		return;
	for (int64_t j0 = blockIdx.y * (int64_t) (32 * V); j0 < b.cols; j0 += gridDim.y * (int64_t) (32 * V))
	{
		int64_t		j = j0 + threadIdx.x * V;
		pack<T, V> sum = row_times<T, V>(s, first[k], first[k] + length[k], b, j, j < b.cols);

		if (j < b.cols)
			*(pack<T, V> *) &gp_at<T>(partial, k, j) = sum;
	}
}

/* Adds up the segments of each long row, in order. */
template <typename T>
struct join_each
{
	gp_matrix	partial;
	gp_matrix	c;
	const int32_t *row;
	const int64_t *start;
	int64_t		row0;
	int64_t		segment0;
	T			alpha;
	T			beta;

	__device__ void operator() (int64_t k, int64_t j) const
	{
		T		   *to = &gp_at<T>(c, row[k] - row0, j);
		T			sum = 0;

		for (int64_t e = start[k]; e < start[k + 1]; e++)
			sum += gp_at<T>(partial, e - segment0, j);
		*to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;
	}
};

/* Few columns: a thread for each element. */
template <typename T>
struct narrow_each
{
	csr_view<T> s;
	gp_matrix	b;
	gp_matrix	c;
	T			alpha;
	T			beta;

	__device__ void operator() (int64_t at, int64_t) const
	{
		int64_t		i = at / c.cols;
		int64_t		j = at - i * c.cols;
		T		   *to = &gp_at<T>(c, i, j);
		T			sum = 0;

		if (s.start[i + 1] - s.start[i] > GP_CUDA_SEGMENT)
			return;
		for (int64_t e = s.start[i]; e < s.start[i + 1]; e++)
			sum += s.value[e] * gp_at<T>(b, s.col[e], j);
		*to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;
	}
};

/* The rows behind row0 whose entries make a piece of work. */
static int64_t
piece_end(gp_cuda *c, const gp_csr *s, int64_t row0, int64_t cols)
{
	double		bytes = (double) gp_max64(cols, 1) * (double) gp_type_size(s->type);
	int64_t		entries = gp_max64(1, (int64_t) (c->piece_bytes / bytes));
	int64_t		low = row0 + 1;
	int64_t		high = s->rows;

	while (low < high)
	{
		int64_t		middle = low + (high - low + 1) / 2;

		if (s->start[middle] - s->start[row0] + (middle - row0) <= entries)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Long rows [k0, k1) for some columns: their segments a piece at a time, then the sums of those. */
template <typename T, int V>
static void
join_rows(gp_cuda *c, const gp_cuda_csr *s, csr_view<T> view, gp_matrix b, gp_matrix x, T alpha, T beta,
		  int64_t k0, int64_t k1, gp_matrix partial)
{
	const int64_t *start = s->host_start + s->long0;
	int64_t		first = start[k0] - s->segment0;
	int64_t		segments = start[k1] - start[k0];
	int64_t		piece = gp_max64(1, (int64_t) (c->piece_bytes / ((double) GP_CUDA_SEGMENT * (double) x.cols *
																 sizeof(T))));

	for (int64_t k = 0; k < segments; k += piece)
	{
		int64_t		n = gp_min64(piece, segments - k);
		dim3		grid(gp_cuda_blocks(n, WARPS, GP_CUDA_MOST_X),
						 gp_cuda_blocks(x.cols, 32 * V, GP_CUDA_MOST_Y));

		gp_cuda_launch(c, grid, dim3(32, WARPS), segment_kernel<T, V>, view, s->segment_first + first + k,
					   s->segment_length + first + k, n, b, gp_matrix_rows(partial, k, n));
		gp_cuda_pace(c);
	}
	gp_cuda_each(c, k1 - k0, x.cols, join_each<T>{partial, x, s->long_row + k0, s->long_start + k0, s->row0,
				 s->segment0 + first, alpha, beta});
	gp_cuda_pace(c);
}

/* The long rows from k0 on whose segments are held at a time, so many at most. */
static int64_t
long_end(const gp_cuda_csr *s, int64_t k0, int64_t most)
{
	const int64_t *start = s->host_start + s->long0;
	int64_t		k = k0 + 1;

	while (k < s->nlong && start[k + 1] - start[k0] <= most)
		k++;
	return k;
}

/* The long rows, some columns and some rows at a time, so that their sums stay within bounds. */
template <typename T, int V>
static void
long_rows(gp_cuda *c, const gp_cuda_csr *s, csr_view<T> view, gp_matrix b, gp_matrix x, T alpha, T beta)
{
	double		column = (double) s->nsegments * (double) sizeof(T);
	int64_t		width = gp_max64(1, (int64_t) (PARTIAL_BYTES / column / (32 * V))) * 32 * V;
	int64_t		most;

	if (s->nlong == 0)
		return;
	width = gp_min64(width, x.cols);
	most = (int64_t) (PARTIAL_BYTES / ((double) width * (double) sizeof(T)));
	for (int64_t k = 0, end; k < s->nlong; k = end)
	{
		gp_matrix	partial;

		end = long_end(s, k, most);
		partial = gp_cuda_scratch_matrix(c, s->host_start[s->long0 + end] - s->host_start[s->long0 + k], width,
										 x.type);
		for (int64_t j = 0; j < x.cols; j += width)
		{
			int64_t		cols = gp_min64(width, x.cols - j);

			join_rows<T, V>(c, s, view, gp_matrix_cols(b, j, cols), gp_matrix_cols(x, j, cols), alpha, beta, k,
							end, gp_matrix_cols(partial, 0, cols));
		}
		gp_cuda_scratch_free(c, partial.data);
	}
}

/*
 * All rows, a piece at a time: for as many columns as one makes, so that the card's
 * cache holds them as long as it can, and only where that is too much for some rows.
 */
template <typename T, int V>
static void
spmm_wide(gp_cuda *c, const gp_csr *host, const gp_cuda_csr *s, csr_view<T> view, gp_matrix b,
		  gp_matrix x, T alpha, T beta)
{
	double		tile = ((double) s->entries + (double) x.rows) * 32.0 * V * sizeof(T);
	int64_t		width = gp_min64(x.cols, gp_max64(1, (int64_t) (c->piece_bytes / tile)) * 32 * V);

	for (int64_t j = 0; j < x.cols; j += width)
	{
		int64_t		cols = gp_min64(width, x.cols - j);
		unsigned	tiles = gp_cuda_blocks(cols, 32 * V, GP_CUDA_MOST_Y);

		for (int64_t row = 0, end; row < x.rows; row = end)
		{
			end = piece_end(c, host, row, cols);
			gp_cuda_launch(c, dim3(gp_cuda_blocks(end - row, WARPS, GP_CUDA_MOST_X), tiles),
						   dim3(32, WARPS), spmm_kernel<T, V>, view, gp_matrix_cols(b, j, cols),
						   gp_matrix_cols(x, j, cols), alpha, beta, row, end);
			gp_cuda_pace(c);
		}
	}
	long_rows<T, V>(c, s, view, b, x, alpha, beta);
}

/* True when V elements of each row can be read at once. */
template <typename T>
static bool
aligned(gp_matrix m, int v)
{
	return (uintptr_t) m.data % (sizeof(T) * v) == 0 && m.ld % v == 0 && m.cols % v == 0;
}

/*
 * The columns that a lane takes: as many as leave the tile of b in half of the
 * card's cache, the part near a processor, else as many as there can be.
 */
template <typename T>
static int
choose_width(gp_cuda *c, gp_matrix b, gp_matrix x)
{
	int			most = sizeof(T) == sizeof(float) ? 4 : 2;

	while (most > 1 && (!aligned<T>(b, most) || !aligned<T>(x, most) || x.cols <= 16 * most))
		most /= 2;
	for (int v = most; v >= 1; v /= 2)
		if ((double) b.rows * 32.0 * v * sizeof(T) <= (double) c->l2 / 2)
			return v;
	return most;
}

/* x = alpha s b + beta x, everything on the card. */
template <typename T>
static void
spmm_card(gp_cuda *c, double alpha, const gp_csr *host, const gp_cuda_csr *s, gp_matrix b,
		  double beta, gp_matrix x)
{
	csr_view<T> view = {s->start, s->col, (const T *) s->value};
	int			v = choose_width<T>(c, b, x);

	if (x.cols < 8)
	{
		gp_cuda_each(c, x.rows * x.cols, 1, narrow_each<T>{view, b, x, (T) alpha, (T) beta});
		long_rows<T, 1>(c, s, view, b, x, (T) alpha, (T) beta);
	}
	else if (v == 4)
		spmm_wide<T, 4>(c, host, s, view, b, x, (T) alpha, (T) beta);
	else if (v == 2)
		spmm_wide<T, 2>(c, host, s, view, b, x, (T) alpha, (T) beta);
	else
		spmm_wide<T, 1>(c, host, s, view, b, x, (T) alpha, (T) beta);
	gp_cuda_pace(c);
}

/* c = alpha s b + beta c; what is not on the card comes some columns at a time. */
void
gp_cuda_spmm(gp_device *dev, double alpha, const gp_csr *s, gp_matrix b, double beta, gp_matrix x)
{
	gp_cuda    *c = gp_cuda_of(dev);
	bool		resident = gp_cuda_resident(c, b) && gp_cuda_resident(c, x);
	int64_t		width = resident ? gp_max64(x.cols, 1) : STAGED_COLS;
	gp_cuda_csr *card;

	gp_cuda_require(c, s->type == x.type && b.type == x.type && s->rows == x.rows &&
					s->cols == b.rows && b.cols == x.cols);
	if (x.rows == 0 || x.cols == 0)
		return;
	card = gp_cuda_csr_open(c, s);
	for (int64_t j = 0; j < x.cols; j += width)
	{
		int64_t		cols = gp_min64(width, x.cols - j);
		gp_staged	from = gp_cuda_stage(c, gp_matrix_cols(b, j, cols), GP_READ);
		gp_staged	to = gp_cuda_stage(c, gp_matrix_cols(x, j, cols),
									   beta == 0 ? GP_WRITE : GP_BOTH);

		gp_cuda_typed(x.type, spmm_card, c, alpha, s, card, from.m, beta, to.m);
		gp_cuda_unstage(c, &to);
		gp_cuda_unstage(c, &from);
	}
	gp_cuda_csr_close(c, card);
}

/* out[e] = (s b)(row[e], col[e]) in double, a warp for each: the entries from so many on. */
template <typename T>
__global__ void __launch_bounds__(32 * WARPS)
take_kernel(csr_view<T> s, gp_matrix b, int64_t n, const int32_t *row, const int32_t *col,
			double *out, int64_t from)
{
	int64_t		e = blockIdx.x * (int64_t) WARPS + threadIdx.y;
	int64_t		begin;
	int64_t		end;
	double		sum = 0;

	if (e >= n)
		return;
	begin = s.start[row[e]] + from;
	end = s.start[row[e] + 1];
	if (from > 0 && begin >= end)
		return;
	end = end - begin < TAKE_CUT ? end : begin + TAKE_CUT;
	for (int64_t k = begin + threadIdx.x; k < end; k += 32)
		sum += (double) s.value[k] * (double) gp_at<T>(b, s.col[k], col[e]);
	sum = gp_warp_sum(sum);
	if (threadIdx.x == 0)
		out[e] = from > 0 ? out[e] + sum : sum;
}

/* The entries of a row. */
static int64_t
row_entries(const gp_csr *s, int64_t row)
{
	return s->start[row + 1] - s->start[row];
}

/* The same for arrays on the card: as many elements as make a piece, long rows in parts. */
template <typename T>
static void
take_card(gp_cuda *c, const gp_csr *host, const gp_cuda_csr *s, gp_matrix b, int64_t n, const int32_t *host_row,
		  const int32_t *row, const int32_t *col, double *out)
{
	csr_view<T> view = {s->start, s->col, (const T *) s->value};

	for (int64_t e = 0, end; e < n; e = end)
	{
		double		entries = 0;
		int64_t		longest = 1;

		for (end = e; end < n && (end == e || entries < c->piece_steps); end++)
		{
			entries += 1.0 + (double) row_entries(host, host_row[end]);
			longest = gp_max64(longest, row_entries(host, host_row[end]));
		}
		for (int64_t from = 0; from < longest; from += TAKE_CUT)
		{
			gp_cuda_launch(c, dim3(gp_cuda_blocks(end - e, WARPS, GP_CUDA_MOST_X)), dim3(32, WARPS),
						   take_kernel<T>, view, b, end - e, row + e, col + e, out + e, from);
			gp_cuda_pace(c);
		}
	}
}

/* out[e] = (s b)(row[e], col[e]). */
void
gp_cuda_spmm_take(gp_device *dev, const gp_csr *s, gp_matrix b, int64_t n, const int32_t *row,
				  const int32_t *col, double *out)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_cuda_csr *card;
	gp_staged	from;
	int32_t    *rows;
	int32_t    *cols;
	double	   *sums;

	gp_cuda_require(c, b.type == s->type && s->cols == b.rows);
	if (n == 0)
		return;
	card = gp_cuda_csr_open(c, s);
	from = gp_cuda_stage(c, b, GP_READ);
	rows = (int32_t *) gp_cuda_bring(c, row, n, sizeof(int32_t));
	cols = (int32_t *) gp_cuda_bring(c, col, n, sizeof(int32_t));
	sums = (double *) gp_cuda_scratch(c, gp_size_mul(c->env, (size_t) n, sizeof(double)));
	gp_cuda_typed(b.type, take_card, c, s, card, from.m, n, row, rows, cols, sums);
	gp_cuda_fetch(c, out, sums, n, sizeof(double));
	gp_cuda_scratch_free(c, rows);
	gp_cuda_scratch_free(c, cols);
	gp_cuda_scratch_free(c, sums);
	gp_cuda_unstage(c, &from);
	gp_cuda_csr_close(c, card);
}

/*
 * Column t of dst gets entries [from, to) of row index[t] of a, or of alpha a b, a
 * warp for each: the entries of a one after the other, those of a row of b side by
 * side, for they are in different rows of dst.
 */
template <typename T>
__global__ void __launch_bounds__(32 * WARPS)
scatter_kernel(gp_matrix dst, csr_view<T> a, csr_view<T> b, bool product, T alpha,
			   const int32_t *index, int64_t from, int64_t to)
{
	int64_t		t = blockIdx.x * (int64_t) WARPS + threadIdx.y;
	int64_t		begin;
	int64_t		end;

	if (t >= dst.cols)
		return;
	begin = a.start[index[t]] + from;
	end = a.start[index[t] + 1];
	end = end - begin < to - from ? end : begin + (to - from);
	if (!product)
	{
		for (int64_t e = begin + threadIdx.x; e < end; e += 32)
			gp_at<T>(dst, a.col[e], t) = a.value[e];
		return;
	}
	for (int64_t e = begin; e < end; e++)
	{
		T			factor = alpha * a.value[e];
		int64_t		middle = a.col[e];

		for (int64_t k = b.start[middle] + threadIdx.x; k < b.start[middle + 1]; k += 32)
			gp_at<T>(dst, b.col[k], t) += factor * b.value[k];
		__syncwarp();
	}
}

/* The entries of a row that one launch follows: those of a piece, as far as a hub can be told beforehand. */
static int64_t
scatter_cut(gp_cuda *c, const gp_csr *b, int64_t n)
{
	double		degree = b ? 1.0 + (double) gp_csr_entries(b) / (double) gp_max64(b->rows, 1) : 0.0;

	if (b == NULL)
		return TAKE_CUT;
	return gp_max64(32, gp_min64(SCATTER_CUT, (int64_t) (c->piece_steps / (degree * (double) n))));
}

/* The same for matrices on the card, long rows in parts; b is NULL for rows of a itself. */
template <typename T>
static void
scatter_card(gp_cuda *c, gp_matrix dst, const gp_cuda_csr *a, const gp_cuda_csr *b, double alpha,
			 const int32_t *index, int64_t longest, int64_t cut)
{
	csr_view<T> left = {a->start, a->col, (const T *) a->value};
	csr_view<T> right = left;

	if (b)
		right = csr_view<T>{b->start, b->col, (const T *) b->value};
	for (int64_t from = 0; from < longest; from += cut)
	{
		gp_cuda_launch(c, dim3(gp_cuda_blocks(dst.cols, WARPS, GP_CUDA_MOST_X)), dim3(32, WARPS),
					   scatter_kernel<T>, dst, left, right, b != NULL, (T) alpha, index, from, from + cut);
		gp_cuda_pace(c);
	}
}

/* Fills dst with rows of a, or of alpha a b. */
static void
scatter(gp_device *dev, gp_matrix dst, const gp_csr *a, const gp_csr *b, double alpha,
		const int32_t *index, int64_t n)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_cuda_csr *left;
	gp_cuda_csr *right;
	gp_staged	to;
	int32_t    *rows;
	int64_t		longest = 0;

	if (n == 0 || dst.rows == 0)
		return;
	for (int64_t t = 0; t < n; t++)
		longest = gp_max64(longest, row_entries(a, index[t]));
	left = gp_cuda_csr_open(c, a);
	right = b ? gp_cuda_csr_open(c, b) : NULL;
	to = gp_cuda_stage(c, dst, GP_WRITE);
	rows = (int32_t *) gp_cuda_bring(c, index, n, sizeof(int32_t));
	gp_cuda_fill(dev, to.m, 0.0);
	gp_cuda_typed(dst.type, scatter_card, c, to.m, left, right, alpha, rows, longest, scatter_cut(c, b, n));
	gp_cuda_scratch_free(c, rows);
	gp_cuda_unstage(c, &to);
	if (right)
		gp_cuda_csr_close(c, right);
	gp_cuda_csr_close(c, left);
	gp_cuda_pace(c);
}

/* dst = s(index, :)' as a dense matrix. */
void
gp_cuda_csr_rows(gp_device *dev, gp_matrix dst, const gp_csr *s, const int32_t *index, int64_t n)
{
	gp_cuda_require(gp_cuda_of(dev), s->type == dst.type && dst.rows == s->cols && dst.cols == n);
	scatter(dev, dst, s, NULL, 1.0, index, n);
}

/* dst = alpha (a b)(index, :)' as a dense matrix. */
void
gp_cuda_csr_product_rows(gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a,
						 const gp_csr *b, const int32_t *index, int64_t n)
{
	gp_cuda_require(gp_cuda_of(dev), a->type == dst.type && b->type == dst.type &&
					a->cols == b->rows && dst.rows == b->cols && dst.cols == n);
	scatter(dev, dst, a, b, alpha, index, n);
}
