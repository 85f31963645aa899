/*
 * cuda_copy.cu - copies, sums, transposes and single elements on the card.
 */
#include <algorithm>
#include <string.h>

#include "gp_cuda.h"

#define SIDE 32					/* of a tile that is turned in shared memory */

/* dst = src, converting the type. */
template <typename D, typename S>
struct convert_each
{
	gp_matrix	dst;
	gp_matrix	src;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		gp_at<D>(dst, i, j) = (D) gp_at<S>(src, i, j);
	}
};

/* The same for any pair of types; a kernel, for copies of narrow parts of rows are slow by the driver's. */
static void
convert(gp_cuda *c, gp_matrix dst, gp_matrix src)
{
	if (dst.type == GP_FLOAT && src.type == GP_FLOAT)
		gp_cuda_each(c, dst.rows, dst.cols, convert_each<float, float>{dst, src});
	else if (dst.type == GP_FLOAT)
		gp_cuda_each(c, dst.rows, dst.cols, convert_each<float, double>{dst, src});
	else if (src.type == GP_FLOAT)
		gp_cuda_each(c, dst.rows, dst.cols, convert_each<double, float>{dst, src});
	else
		gp_cuda_each(c, dst.rows, dst.cols, convert_each<double, double>{dst, src});
}

/* dst = src. */
void
gp_cuda_copy(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_flow		flow[2] = {{dst, GP_WRITE}, {src, GP_READ}};

	gp_cuda_require(c, dst.rows == src.rows && dst.cols == src.cols);
	gp_cuda_rows(c, flow, 2, false, [c](int64_t row, gp_matrix *part)
				 { convert(c, part[0], part[1]); });
	gp_cuda_pace(c);
}

/* dst = value. */
template <typename T>
struct fill_each
{
	gp_matrix	dst;
	T			value;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		gp_at<T>(dst, i, j) = value;
	}
};

/* The same for a matrix on the card. */
template <typename T>
static void
fill(gp_cuda *c, gp_matrix dst, double value)
{
	gp_cuda_each(c, dst.rows, dst.cols, fill_each<T>{dst, (T) value});
}

/* dst = value. */
void
gp_cuda_fill(gp_device *dev, gp_matrix dst, double value)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_flow		flow[1] = {{dst, GP_WRITE}};

	gp_cuda_rows(c, flow, 1, false, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(part[0].type, fill, c, part[0], value); });
	gp_cuda_pace(c);
}

/* y = a x + b y; b = 0 ignores y. */
template <typename T>
struct axpby_each
{
	gp_matrix	x;
	gp_matrix	y;
	T			a;
	T			b;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		T			v = a * gp_at<T>(x, i, j);

		gp_at<T>(y, i, j) = b == 0 ? v : v + b * gp_at<T>(y, i, j);
	}
};

/* The same for matrices on the card. */
template <typename T>
static void
axpby(gp_cuda *c, double a, gp_matrix x, double b, gp_matrix y)
{
	gp_cuda_each(c, y.rows, y.cols, axpby_each<T>{x, y, (T) a, (T) b});
}

/* y = a x + b y. */
void
gp_cuda_axpby(gp_device *dev, double a, gp_matrix x, double b, gp_matrix y)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_flow		flow[2] = {{y, b == 0 ? GP_WRITE : GP_BOTH}, {x, GP_READ}};

	gp_cuda_require(c, x.type == y.type && x.rows == y.rows && x.cols == y.cols);
	gp_cuda_rows(c, flow, 2, false, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(y.type, axpby, c, a, part[1], b, part[0]); });
	gp_cuda_pace(c);
}

/* x += value. */
template <typename T>
struct shift_each
{
	gp_matrix	x;
	T			value;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		gp_at<T>(x, i, j) += value;
	}
};

/* The same for a matrix on the card. */
template <typename T>
static void
shift(gp_cuda *c, gp_matrix x, double value)
{
	gp_cuda_each(c, x.rows, x.cols, shift_each<T>{x, (T) value});
}

/* x += value. */
void
gp_cuda_shift(gp_device *dev, gp_matrix x, double value)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_flow		flow[1] = {{x, GP_BOTH}};

	gp_cuda_rows(c, flow, 1, false, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(x.type, shift, c, part[0], value); });
	gp_cuda_pace(c);
}

/* dst = alpha src' + beta dst, a tile at a time through shared memory, so that both sides are read in rows. */
template <typename T>
__global__ void __launch_bounds__(256)
transpose_kernel(gp_matrix dst, gp_matrix src, T alpha, T beta)
{
	__shared__ T tile[SIDE][SIDE + 1];
	int64_t		col0 = (int64_t) blockIdx.x * SIDE;

	for (int64_t row0 = (int64_t) blockIdx.y * SIDE; row0 < src.rows;
		 row0 += (int64_t) gridDim.y * SIDE)
	{
		for (int k = threadIdx.y; k < SIDE; k += blockDim.y)
			if (row0 + k < src.rows && col0 + threadIdx.x < src.cols)
				tile[k][threadIdx.x] = gp_at<T>(src, row0 + k, col0 + threadIdx.x);
		__syncthreads();
		for (int k = threadIdx.y; k < SIDE; k += blockDim.y)
			if (col0 + k < src.cols && row0 + threadIdx.x < src.rows)
			{
				T		   *to = &gp_at<T>(dst, col0 + k, row0 + threadIdx.x);
				T			v = alpha * tile[threadIdx.x][k];

				*to = beta == 0 ? v : v + beta * *to;
			}
		__syncthreads();
	}
}

/* The same for matrices on the card. */
template <typename T>
static void
transpose_add(gp_cuda *c, double alpha, gp_matrix src, double beta, gp_matrix dst)
{
	if (src.rows > 0 && src.cols > 0)
		gp_cuda_launch(c, dim3(gp_cuda_blocks(src.cols, SIDE, GP_CUDA_MOST_X),
							   gp_cuda_blocks(src.rows, SIDE, GP_CUDA_MOST_Y)), dim3(SIDE, 8),
					   transpose_kernel<T>, dst, src, (T) alpha, (T) beta);
}

/* dst = alpha src' + beta dst, both on the card. */
void
gp_cuda_transpose_add(gp_cuda *c, double alpha, gp_matrix src, double beta, gp_matrix dst)
{
	gp_cuda_typed(src.type, transpose_add, c, alpha, src, beta, dst);
}

/* dst = src'. */
void
gp_cuda_transpose(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	from;
	gp_staged	to;

	gp_cuda_require(c, dst.type == src.type && dst.rows == src.cols && dst.cols == src.rows);
	from = gp_cuda_stage(c, src, GP_READ);
	to = gp_cuda_stage(c, dst, GP_WRITE);
	gp_cuda_transpose_add(c, 1.0, from.m, 0.0, to.m);
	gp_cuda_unstage(c, &to);
	gp_cuda_unstage(c, &from);
	gp_cuda_pace(c);
}

/* Swaps a tile below the diagonal with the one opposite, turning both. */
template <typename T>
__global__ void __launch_bounds__(256)
transpose_square_kernel(gp_matrix x)
{
	__shared__ T low[SIDE][SIDE + 1];
	__shared__ T high[SIDE][SIDE + 1];
	int64_t		col0 = (int64_t) blockIdx.x * SIDE;

	for (int64_t row0 = (int64_t) blockIdx.y * SIDE; row0 < x.rows;
		 row0 += (int64_t) gridDim.y * SIDE)
	{
		if (row0 < col0)
			continue;
		for (int k = threadIdx.y; k < SIDE; k += blockDim.y)
		{
			if (row0 + k < x.rows && col0 + threadIdx.x < x.rows)
				low[k][threadIdx.x] = gp_at<T>(x, row0 + k, col0 + threadIdx.x);
			if (col0 + k < x.rows && row0 + threadIdx.x < x.rows)
				high[k][threadIdx.x] = gp_at<T>(x, col0 + k, row0 + threadIdx.x);
		}
		__syncthreads();
		for (int k = threadIdx.y; k < SIDE; k += blockDim.y)
		{
			if (row0 + k < x.rows && col0 + threadIdx.x < x.rows)
				gp_at<T>(x, row0 + k, col0 + threadIdx.x) = high[threadIdx.x][k];
			if (row0 != col0 && col0 + k < x.rows && row0 + threadIdx.x < x.rows)
				gp_at<T>(x, col0 + k, row0 + threadIdx.x) = low[threadIdx.x][k];
		}
		__syncthreads();
	}
}

/* The same for a matrix on the card. */
template <typename T>
static void
transpose_square(gp_cuda *c, gp_matrix x)
{
	if (x.rows > 0)
		gp_cuda_launch(c, dim3(gp_cuda_blocks(x.rows, SIDE, GP_CUDA_MOST_X),
							   gp_cuda_blocks(x.rows, SIDE, GP_CUDA_MOST_Y)), dim3(SIDE, 8),
					   transpose_square_kernel<T>, x);
}

/* x = x', in place. */
void
gp_cuda_transpose_square(gp_device *dev, gp_matrix x)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	s;

	gp_cuda_require(c, x.rows == x.cols);
	s = gp_cuda_stage(c, x, GP_BOTH);
	gp_cuda_typed(x.type, transpose_square, c, s.m);
	gp_cuda_unstage(c, &s);
	gp_cuda_pace(c);
}

/* dst row i = src row index[i]. */
template <typename T>
struct gather_each
{
	gp_matrix	dst;
	gp_matrix	src;
	const int32_t *index;

	__device__ void operator() (int64_t i, int64_t j) const
	{
		gp_at<T>(dst, i, j) = gp_at<T>(src, index[i], j);
	}
};

/* The same on the card. */
template <typename T>
static void
gather(gp_cuda *c, gp_matrix dst, gp_matrix src, const int32_t *index)
{
	gp_cuda_each(c, dst.rows, dst.cols, gather_each<T>{dst, src, index});
}

/* Gathers rows that lie in host memory, a block at a time, and brings them to dst. */
static void
gather_from_host(gp_cuda *c, gp_matrix dst, gp_matrix src, const int32_t *index)
{
	size_t		size = gp_type_size(src.type);
	size_t		row = (size_t) src.cols * size;
	int64_t		height = gp_max64(1, gp_min64(dst.rows, (int64_t) (GP_CUDA_BUFFER / row)));
	gp_matrix	block = gp_matrix_wrap(gp_alloc_array(c->env, height, row), height, src.cols, src.type);

	for (int64_t at = 0; at < dst.rows; at += height)
	{
		int64_t		rows = gp_min64(height, dst.rows - at);
		int64_t		next = 0;

		for (int64_t i = 0; i < rows; i++)
		{
			gp_poll(c->env, i * src.cols, &next);
			memcpy((char *) block.data + (size_t) i * row,
				   (const char *) src.data + (size_t) (index[at + i] * src.ld) * size, row);
		}
		gp_cuda_upload(&c->dev, gp_matrix_rows(dst, at, rows), gp_matrix_rows(block, 0, rows));
	}
	gp_free(c->env, block.data);
}

/* dst row i = src row index[i]. */
void
gp_cuda_gather_rows(gp_device *dev, gp_matrix dst, gp_matrix src, const int32_t *index)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_staged	to;
	int32_t    *rows;

	gp_cuda_require(c, dst.type == src.type && dst.cols == src.cols);
	if (dst.rows == 0 || dst.cols == 0)
		return;
	if (!gp_cuda_resident(c, src))
	{
		gather_from_host(c, dst, src, index);
		return;
	}
	to = gp_cuda_stage(c, dst, GP_WRITE);
	rows = (int32_t *) gp_cuda_bring(c, index, dst.rows, sizeof(int32_t));
	gp_cuda_typed(src.type, gather, c, to.m, src, rows);
	gp_cuda_scratch_free(c, rows);
	gp_cuda_unstage(c, &to);
	gp_cuda_pace(c);
}

/* out_i = sum_j a_ij b_ij in double, a warp for each row. */
template <typename T>
__global__ void __launch_bounds__(256)
row_dots_kernel(gp_matrix out, gp_matrix a, gp_matrix b)
{
	int64_t		i = blockIdx.x * (int64_t) blockDim.y + threadIdx.y;
	double		sum = 0;

	if (i >= a.rows)
		return;
	for (int64_t j = threadIdx.x; j < a.cols; j += 32)
		sum += (double) gp_at<T>(a, i, j) * (double) gp_at<T>(b, i, j);
	sum = gp_warp_sum(sum);
	if (threadIdx.x == 0)
		gp_at<double>(out, i, 0) = sum;
}

/* The same for matrices on the card. */
template <typename T>
static void
row_dots(gp_cuda *c, gp_matrix out, gp_matrix a, gp_matrix b)
{
	gp_cuda_launch(c, dim3(gp_cuda_blocks(a.rows, 8, GP_CUDA_MOST_X)), dim3(32, 8),
				   row_dots_kernel<T>, out, a, b);
}

/* out_i = sum_j a_ij b_ij. */
void
gp_cuda_row_dots(gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_flow		flow[3] = {{out, GP_WRITE}, {a, GP_READ}, {b, GP_READ}};

	gp_cuda_require(c, a.type == b.type && a.rows == b.rows && a.cols == b.cols &&
					out.type == GP_DOUBLE && out.rows == a.rows && out.cols == 1);
	gp_cuda_rows(c, flow, 3, false, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(a.type, row_dots, c, part[0], part[1], part[2]); });
	gp_cuda_pace(c);
}

/* out[e] = m(row[e], col[e]), or the other way round. */
template <typename T>
struct take_each
{
	gp_matrix	m;
	const int32_t *row;
	const int32_t *col;
	double	   *value;
	bool		put;

	__device__ void operator() (int64_t e, int64_t) const
	{
		T		   *at = &gp_at<T>(m, row[e], col[e]);

		if (put)
			*at = (T) value[e];
		else
			value[e] = (double) *at;
	}
};

/* The same on the card; value is there, too. */
template <typename T>
static void
take(gp_cuda *c, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col, double *value,
	 bool put)
{
	gp_cuda_each(c, n, 1, take_each<T>{m, row, col, value, put});
}

/* Elements of a matrix in host memory. */
template <typename T>
static void
host_elements(gp_cuda *c, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			  const double *value, double *out)
{
	int64_t		next = 0;

	for (int64_t e = 0; e < n; e++)
	{
		T		   *at = (T *) m.data + row[e] * m.ld + col[e];

		gp_poll(c->env, e, &next);
		if (out)
			out[e] = (double) *at;
		else
			*at = (T) value[e];
	}
}

/* Reads or writes elements of a matrix on the card. */
static void
card_elements(gp_cuda *c, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			  double *out, const double *value)
{
	int32_t    *rows = (int32_t *) gp_cuda_bring(c, row, n, sizeof(int32_t));
	int32_t    *cols = (int32_t *) gp_cuda_bring(c, col, n, sizeof(int32_t));
	double	   *values = value ? (double *) gp_cuda_bring(c, value, n, sizeof(double)) :
		(double *) gp_cuda_scratch(c, (size_t) n * sizeof(double));

	gp_cuda_typed(m.type, take, c, m, n, rows, cols, values, value != NULL);
	if (out)
		gp_cuda_fetch(c, out, values, n, sizeof(double));
	gp_cuda_scratch_free(c, rows);
	gp_cuda_scratch_free(c, cols);
	gp_cuda_scratch_free(c, values);
	gp_cuda_pace(c);
}

/* out[e] = m(row[e], col[e]). */
void
gp_cuda_take(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			 double *out)
{
	gp_cuda    *c = gp_cuda_of(dev);

	if (n == 0)
		return;
	if (gp_cuda_resident(c, m))
		card_elements(c, m, n, row, col, out, NULL);
	else
		gp_cuda_typed(m.type, host_elements, c, m, n, row, col, NULL, out);
}

/*
 * The last value of each element, for threads write in no order: the elements
 * are sorted, later ones behind earlier ones, and the last of each is kept.
 */
static int64_t
last_values(gp_cuda *c, int64_t n, const int32_t *row, const int32_t *col, const double *value,
			int32_t *rows, int32_t *cols, double *values)
{
	int64_t    *order = (int64_t *) gp_alloc_array(c->env, n, sizeof(int64_t));
	int64_t		kept = 0;

	for (int64_t e = 0; e < n; e++)
		order[e] = e;
	std::sort(order, order + n, [=](int64_t a, int64_t b)
			  { return row[a] != row[b] ? row[a] < row[b] :
				  col[a] != col[b] ? col[a] < col[b] : a < b; });
	for (int64_t k = 0; k < n; k++)
	{
		int64_t		e = order[k];

		if (k + 1 < n && row[order[k + 1]] == row[e] && col[order[k + 1]] == col[e])
			continue;
		rows[kept] = row[e];
		cols[kept] = col[e];
		values[kept++] = value[e];
	}
	gp_free(c->env, order);
	return kept;
}

/* m(row[e], col[e]) = value[e], in order. */
void
gp_cuda_put(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			const double *value)
{
	gp_cuda    *c = gp_cuda_of(dev);
	int32_t    *rows;
	int32_t    *cols;
	double	   *values;
	int64_t		kept;

	if (n == 0)
		return;
	if (!gp_cuda_resident(c, m))
	{
		gp_cuda_typed(m.type, host_elements, c, m, n, row, col, value, NULL);
		return;
	}
	rows = (int32_t *) gp_alloc_array(c->env, n, sizeof(int32_t));
	cols = (int32_t *) gp_alloc_array(c->env, n, sizeof(int32_t));
	values = (double *) gp_alloc_array(c->env, n, sizeof(double));
	kept = last_values(c, n, row, col, value, rows, cols, values);
	card_elements(c, m, kept, rows, cols, NULL, values);
	gp_free(c->env, rows);
	gp_free(c->env, cols);
	gp_free(c->env, values);
}
