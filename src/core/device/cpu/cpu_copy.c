/*
 * cpu_copy.c - copies, transposes and sums of vectors on the CPU.
 *
 * Nothing here computes much; work is cut into tiles so that interrupts are
 * served, and because two threads read memory faster than one.
 */

#include "cpu_internal.h"

/* Elements of a tile: about a millisecond. */
#define TILE_ELEMENTS (INT64_C(1) << 18)

/* Side of the square blocks that a transposition handles at a time, and of its tiles. */
#define TRANSPOSE_BLOCK 16
#define TRANSPOSE_TILE 256

/* What is done to a block at or below the diagonal and its mirror image. */
typedef void (*block_pair) (const gp_simd_ops *ops, gp_matrix lower, gp_matrix upper);

/* The arguments of an element-wise operation. */
typedef struct vector_job
{
	gp_grid		grid;
	gp_matrix	x;
	gp_matrix	y;
	double		a;
	double		b;
	const int32_t *index;
	const gp_simd_ops *ops;
	block_pair	block;
} vector_job;

/* Views a matrix without gaps between its rows as one row. */
static gp_matrix
as_one_row(gp_matrix m)
{
	m.cols *= m.rows;
	m.ld = m.cols;
	m.rows = m.rows > 0 ? 1 : 0;
	return m;
}

/* Makes a job of x and y, as one row where neither has gaps. */
static vector_job
make_job(gp_device *dev, gp_matrix x, gp_matrix y)
{
	vector_job	job = {.x = x, .y = y, .ops = gp_cpu_ops(dev, y.type)};

	if (x.ld == x.cols && y.ld == y.cols)
	{
		job.x = as_one_row(x);
		job.y = as_one_row(y);
	}
	job.grid = gp_grid_elements(job.y.rows, job.y.cols, TILE_ELEMENTS);
	return job;
}

/* Copies a tile of x to y. */
static void
copy_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
	{
		/* Copies n numbers, converting their type */
		void *restrict dst = gp_matrix_at(job->y, i, r.col);
		const void *restrict src = gp_matrix_at(job->x, i, r.col);
		if (job->y.type == job->x.type)
			memcpy(dst, src, (size_t) r.cols * gp_type_size(job->y.type));
		else if (job->y.type == GP_FLOAT)
			for (int64_t j = 0; j < r.cols; j++)
				((float *) dst)[j] = (float) ((const double *) src)[j];
		else
			for (int64_t j = 0; j < r.cols; j++)
				((double *) dst)[j] = ((const float *) src)[j];
	}
}

void
gp_cpu_copy(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	vector_job	job;

	gp_cpu_require(dev, dst.rows == src.rows && dst.cols == src.cols);
	job = make_job(dev, src, dst);
	gp_cpu_run(dev, copy_tile, &job, job.grid.tiles);
}

/* Fills a tile of y with a; zeros, which begin most products of few entries, the fastest way. */
static void
fill_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
	{
		void	   *row = gp_matrix_at(job->y, i, r.col);

		if (job->a == 0.0)
			memset(row, 0, (size_t) r.cols * gp_type_size(job->y.type));
		else if (job->y.type == GP_FLOAT)
			for (int64_t j = 0; j < r.cols; j++)
				((float *) row)[j] = (float) job->a;
		else
			for (int64_t j = 0; j < r.cols; j++)
				((double *) row)[j] = job->a;
	}
}

void
gp_cpu_fill(gp_device *dev, gp_matrix dst, double value)
{
	vector_job	job = make_job(dev, dst, dst);

	job.a = value;
	gp_cpu_run(dev, fill_tile, &job, job.grid.tiles);
}

/* One tile of y = a x + b y. */
static void
axpby_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
		job->ops->axpby(r.cols, job->a, gp_matrix_at(job->x, i, r.col), job->b,
						gp_matrix_at(job->y, i, r.col));
}

void
gp_cpu_axpby(gp_device *dev, double a, gp_matrix x, double b, gp_matrix y)
{
	vector_job	job;

	gp_cpu_require(dev, gp_matrix_alike(x, y));
	job = make_job(dev, x, y);
	job.a = a;
	job.b = b;
	gp_cpu_run(dev, axpby_tile, &job, job.grid.tiles);
}

/* One tile of x += c. */
static void
shift_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
		job->ops->affine(r.cols, 1.0, job->a, gp_matrix_at(job->y, i, r.col));
}

void
gp_cpu_shift(gp_device *dev, gp_matrix x, double c)
{
	vector_job	job = make_job(dev, x, x);

	job.a = c;
	gp_cpu_run(dev, shift_tile, &job, job.grid.tiles);
}

/* dst = src' for a block that fits the first-level cache. */
static void
transpose_block(const gp_simd_ops *ops, gp_matrix dst, gp_matrix src)
{
	ops->turn(src.rows, src.cols, src.data, src.ld, dst.data, dst.ld);
}

/* dst = src' block by block. */
static void
transpose_blocks(const gp_simd_ops *ops, gp_matrix dst, gp_matrix src)
{
	gp_grid		grid = gp_grid_make(dst.rows, dst.cols, TRANSPOSE_BLOCK, TRANSPOSE_BLOCK);

	for (int64_t t = 0; t < grid.tiles; t++)
	{
		gp_tile_range r = gp_grid_at(&grid, t);

		transpose_block(ops, gp_grid_part(dst, r),
						gp_matrix_part(src, r.col, r.row, r.cols, r.rows));
	}
}

/* One tile of y = x'. */
static void
transpose_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	transpose_blocks(job->ops, gp_grid_part(job->y, r),
					 gp_matrix_part(job->x, r.col, r.row, r.cols, r.rows));
}

void
gp_cpu_transpose(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	vector_job	job = {.x = src, .y = dst, .ops = gp_cpu_ops(dev, dst.type)};

	gp_cpu_require(dev, dst.type == src.type && dst.rows == src.cols && dst.cols == src.rows);
	job.grid = gp_grid_make(dst.rows, dst.cols, TRANSPOSE_TILE, TRANSPOSE_TILE);
	gp_cpu_run(dev, transpose_tile, &job, job.grid.tiles);
}

/* Swaps a block with the transpose of its mirror image; on the diagonal, with itself. */
static void
swap_block(const gp_simd_ops *ops, gp_matrix lower, gp_matrix upper)
{
	union
	{
		float		f[TRANSPOSE_BLOCK * TRANSPOSE_BLOCK];
		double		d[TRANSPOSE_BLOCK * TRANSPOSE_BLOCK];
	}			buffer;
	gp_matrix	saved = gp_matrix_wrap(&buffer, lower.rows, lower.cols, lower.type);
	size_t		bytes = (size_t) lower.cols * gp_type_size(lower.type);

	for (int64_t i = 0; i < lower.rows; i++)
		memcpy(gp_matrix_at(saved, i, 0), gp_matrix_at(lower, i, 0), bytes);
	if (upper.data != lower.data)
		transpose_block(ops, lower, upper);
	transpose_block(ops, upper, saved);
}

/* Copies a block to its mirror image; on the diagonal, what is strictly below it. */
static void
mirror_block(const gp_simd_ops *ops, gp_matrix lower, gp_matrix upper)
{
	if (upper.data != lower.data)
	{
		transpose_block(ops, upper, lower);
		return;
	}
	for (int64_t i = 1; i < lower.rows; i++)
		for (int64_t j = 0; j < i; j++)
			memcpy(gp_matrix_at(lower, j, i), gp_matrix_at(lower, i, j), gp_type_size(lower.type));
}

/* A tile and its mirror image, block by block; tiles above the diagonal have nothing to do. */
static void
both_tiles(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);
	gp_grid		grid = gp_grid_make(r.rows, r.cols, TRANSPOSE_BLOCK, TRANSPOSE_BLOCK);

	if (r.col > r.row)
		return;
	for (int64_t t = 0; t < grid.tiles; t++)
	{
		gp_tile_range b = gp_grid_at(&grid, t);

		b.row += r.row;
		b.col += r.col;
		if (b.col <= b.row)
			job->block(job->ops, gp_grid_part(job->x, b),
					   gp_matrix_part(job->x, b.col, b.row, b.cols, b.rows));
	}
}

/* Does the same to every block of a lower triangle and its mirror image. */
static void
run_both(gp_device *dev, gp_matrix x, block_pair block)
{
	vector_job	job = {.x = x, .ops = gp_cpu_ops(dev, x.type), .block = block};

	job.grid = gp_grid_make(x.rows, x.cols, TRANSPOSE_TILE, TRANSPOSE_TILE);
	gp_cpu_run(dev, both_tiles, &job, job.grid.tiles);
}

void
gp_cpu_transpose_square(gp_device *dev, gp_matrix x)
{
	gp_cpu_require(dev, x.rows == x.cols);
	run_both(dev, x, swap_block);
}

void
gp_cpu_mirror_lower(gp_device *dev, gp_matrix x)
{
	run_both(dev, x, mirror_block);
}

/* One tile of gathered rows. */
static void
gather_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);
	size_t		bytes = (size_t) r.cols * gp_type_size(job->y.type);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
		memcpy(gp_matrix_at(job->y, i, r.col), gp_matrix_at(job->x, job->index[i], r.col), bytes);
}

void
gp_cpu_gather_rows(gp_device *dev, gp_matrix dst, gp_matrix src, const int32_t *index)
{
	vector_job	job = {.x = src, .y = dst, .index = index};

	gp_cpu_require(dev, dst.type == src.type && dst.cols == src.cols);
	job.grid = gp_grid_elements(dst.rows, dst.cols, TILE_ELEMENTS);
	gp_cpu_run(dev, gather_tile, &job, job.grid.tiles);
}

/* The operands of row_dots. */
typedef struct dots_job
{
	gp_matrix	out;
	gp_matrix	a;
	gp_matrix	b;
	int64_t		chunk;
	const gp_simd_ops *ops;
} dots_job;

/* The products of some rows. */
static void
dots_tile(void *arg, int64_t tile, int worker)
{
	dots_job   *job = arg;
	int64_t		end = gp_min64(job->a.rows, (tile + 1) * job->chunk);

	for (int64_t i = tile * job->chunk; i < end; i++)
		*(double *) gp_matrix_at(job->out, i, 0) =
			job->ops->dot(job->a.cols, gp_matrix_at(job->a, i, 0), gp_matrix_at(job->b, i, 0));
}

void
gp_cpu_row_dots(gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b)
{
	dots_job	job = {.out = out, .a = a, .b = b, .ops = gp_cpu_ops(dev, a.type)};

	gp_cpu_require(dev, gp_matrix_alike(a, b) && out.type == GP_DOUBLE && out.cols == 1 &&
				   out.rows == a.rows);
	job.chunk = gp_max64(1, TILE_ELEMENTS / gp_max64(a.cols, 1));
	gp_cpu_run(dev, dots_tile, &job, (a.rows + job.chunk - 1) / job.chunk);
}
