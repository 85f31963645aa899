/*
 * cpu_copy.c - the tiles that threads share out; copies, transposes, sums of vectors and single
 * elements on the CPU.
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

#define TAKE_ENTRIES (INT64_C(1) << 14)	/* of a tile; most miss the cache */

gp_grid
gp_grid_make(int64_t rows, int64_t cols, int64_t tile_rows, int64_t tile_cols)
{
	gp_grid		grid = {rows, cols, gp_max64(tile_rows, 1), gp_max64(tile_cols, 1), 0, 0};

	if (rows > 0 && cols > 0)
	{
		grid.across = (cols - 1) / grid.tile_cols + 1;
		grid.tiles = grid.across * ((rows - 1) / grid.tile_rows + 1);
	}
	return grid;
}

gp_grid
gp_grid_elements(int64_t rows, int64_t cols, int64_t elements)
{
	return gp_grid_make(rows, cols, elements / gp_max64(cols, 1), gp_min64(cols, elements));
}

gp_tile_range
gp_grid_at(const gp_grid *grid, int64_t tile)
{
	gp_tile_range r;

	r.row = tile / grid->across * grid->tile_rows;
	r.col = tile % grid->across * grid->tile_cols;
	r.rows = gp_min64(grid->tile_rows, grid->rows - r.row);
	r.cols = gp_min64(grid->tile_cols, grid->cols - r.col);
	return r;
}

/* ---- row by row ---- */

typedef struct vector_job vector_job;

/* What is done to n elements of row i, from column j on. */
typedef void (*row_work) (const vector_job *job, int64_t i, int64_t j, int64_t n);

/* The arguments of an element-wise operation. */
struct vector_job
{
	gp_grid		grid;
	gp_matrix	x;
	gp_matrix	y;
	gp_matrix	out;			/* of row_dots */
	double		a;
	double		b;
	const int32_t *index;
	const gp_simd_ops *ops;
	row_work	row;
};

/* Views a matrix without gaps between its rows as one row. */
static gp_matrix
as_one_row(gp_matrix m)
{
	m.cols *= m.rows;
	m.ld = m.cols;
	m.rows = m.rows > 0 ? 1 : 0;
	return m;
}

static void
rows_tile(void *arg, int64_t tile, int worker)
{
	vector_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
		job->row(job, i, r.col, r.cols);
}

/* Does a work that is the same wherever an element stands: by one row where neither x nor y has
 * gaps. */
static void
run_rows(gp_device *dev, vector_job *job)
{
	job->ops = gp_cpu_ops(dev, job->y.type);
	if (job->x.ld == job->x.cols && job->y.ld == job->y.cols)
	{
		job->x = as_one_row(job->x);
		job->y = as_one_row(job->y);
	}
	job->grid = gp_grid_elements(job->y.rows, job->y.cols, TILE_ELEMENTS);
	gp_cpu_run(dev, rows_tile, job, job->grid.tiles);
}

/* Copies numbers, converting their type. */
static void
copy_row(const vector_job *job, int64_t i, int64_t col, int64_t n)
{
	void *restrict dst = gp_matrix_at(job->y, i, col);
	const void *restrict src = gp_matrix_at(job->x, i, col);

	if (job->y.type == job->x.type)
		memcpy(dst, src, (size_t) n * gp_type_size(job->y.type));
	else if (job->y.type == GP_FLOAT)
		for (int64_t j = 0; j < n; j++)
			((float *) dst)[j] = (float) ((const double *) src)[j];
	else
		for (int64_t j = 0; j < n; j++)
			((double *) dst)[j] = ((const float *) src)[j];
}

void
gp_cpu_copy(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	gp_cpu_require(dev, dst.rows == src.rows && dst.cols == src.cols);
	run_rows(dev, &(vector_job) {.x = src, .y = dst, .row = copy_row});
}

/* Zeros, which begin most products of few entries, are written the fastest way. */
static void
fill_row(const vector_job *job, int64_t i, int64_t col, int64_t n)
{
	void	   *row = gp_matrix_at(job->y, i, col);

	if (job->a == 0.0)
		memset(row, 0, (size_t) n * gp_type_size(job->y.type));
	else if (job->y.type == GP_FLOAT)
		for (int64_t j = 0; j < n; j++)
			((float *) row)[j] = (float) job->a;
	else
		for (int64_t j = 0; j < n; j++)
			((double *) row)[j] = job->a;
}

void
gp_cpu_fill(gp_device *dev, gp_matrix dst, double value)
{
	run_rows(dev, &(vector_job) {.x = dst, .y = dst, .a = value, .row = fill_row});
}

static void
axpby_row(const vector_job *job, int64_t i, int64_t col, int64_t n)
{
	job->ops->axpby(n, job->a, gp_matrix_at(job->x, i, col), job->b, gp_matrix_at(job->y, i, col));
}

void
gp_cpu_axpby(gp_device *dev, double a, gp_matrix x, double b, gp_matrix y)
{
	gp_cpu_require(dev, gp_matrix_alike(x, y));
	run_rows(dev, &(vector_job) {.x = x, .y = y, .a = a, .b = b, .row = axpby_row});
}

static void
shift_row(const vector_job *job, int64_t i, int64_t col, int64_t n)
{
	job->ops->affine(n, 1.0, job->a, gp_matrix_at(job->y, i, col));
}

void
gp_cpu_shift(gp_device *dev, gp_matrix x, double c)
{
	run_rows(dev, &(vector_job) {.x = x, .y = x, .a = c, .row = shift_row});
}

static void
gather_row(const vector_job *job, int64_t i, int64_t col, int64_t n)
{
	memcpy(gp_matrix_at(job->y, i, col), gp_matrix_at(job->x, job->index[i], col),
		   (size_t) n * gp_type_size(job->y.type));
}

void
gp_cpu_gather_rows(gp_device *dev, gp_matrix dst, gp_matrix src, const int32_t *index)
{
	vector_job	job = {.x = src, .y = dst, .index = index, .row = gather_row};

	gp_cpu_require(dev, dst.type == src.type && dst.cols == src.cols);
	job.grid = gp_grid_elements(dst.rows, dst.cols, TILE_ELEMENTS);
	gp_cpu_run(dev, rows_tile, &job, job.grid.tiles);
}

static void
dots_row(const vector_job *job, int64_t i, int64_t col, int64_t n)
{
	*(double *) gp_matrix_at(job->out, i, 0) =
		job->ops->dot(job->x.cols, gp_matrix_at(job->x, i, 0), gp_matrix_at(job->y, i, 0));
}

void
gp_cpu_row_dots(gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b)
{
	vector_job	job = {.x = a, .y = b, .out = out, .ops = gp_cpu_ops(dev, a.type), .row = dots_row};

	gp_cpu_require(dev, gp_matrix_alike(a, b) && out.type == GP_DOUBLE && out.cols == 1 &&
				   out.rows == a.rows);
	job.grid = gp_grid_make(a.rows, 1, TILE_ELEMENTS / gp_max64(a.cols, 1), 1);
	gp_cpu_run(dev, rows_tile, &job, job.grid.tiles);
}

/* ---- transposes ---- */

/* What is done to a block and its mirror image. */
typedef void (*block_work) (const gp_simd_ops *ops, gp_matrix block, gp_matrix mirrored);

typedef struct transpose_job
{
	gp_grid		grid;
	gp_matrix	block_of;
	gp_matrix	mirrored_of;
	bool		lower;			/* blocks above the diagonal have nothing to do */
	const gp_simd_ops *ops;
	block_work	work;
} transpose_job;

/* One tile and its mirror image, by blocks that fit the first-level cache. */
static void
transpose_tile(void *arg, int64_t tile, int worker)
{
	transpose_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);
	gp_grid		grid = gp_grid_make(r.rows, r.cols, TRANSPOSE_BLOCK, TRANSPOSE_BLOCK);

	if (job->lower && r.col > r.row)
		return;
	for (int64_t t = 0; t < grid.tiles; t++)
	{
		gp_tile_range b = gp_grid_at(&grid, t);

		b.row += r.row;
		b.col += r.col;
		if (!job->lower || b.col <= b.row)
			job->work(job->ops, gp_grid_part(job->block_of, b),
					  gp_matrix_part(job->mirrored_of, b.col, b.row, b.cols, b.rows));
	}
}

static void
run_blocks(gp_device *dev, gp_matrix block_of, gp_matrix mirrored_of, bool lower, block_work work)
{
	transpose_job job = {.block_of = block_of, .mirrored_of = mirrored_of, .lower = lower,
	.ops = gp_cpu_ops(dev, block_of.type), .work = work};

	job.grid = gp_grid_make(block_of.rows, block_of.cols, TRANSPOSE_TILE, TRANSPOSE_TILE);
	gp_cpu_run(dev, transpose_tile, &job, job.grid.tiles);
}

static void
transpose_block(const gp_simd_ops *ops, gp_matrix block, gp_matrix mirrored)
{
	ops->turn(mirrored.rows, mirrored.cols, mirrored.data, mirrored.ld, block.data, block.ld);
}

void
gp_cpu_transpose(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	gp_cpu_require(dev, dst.type == src.type && dst.rows == src.cols && dst.cols == src.rows);
	run_blocks(dev, dst, src, false, transpose_block);
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

void
gp_cpu_transpose_square(gp_device *dev, gp_matrix x)
{
	gp_cpu_require(dev, x.rows == x.cols);
	run_blocks(dev, x, x, true, swap_block);
}

void
gp_cpu_mirror_lower(gp_device *dev, gp_matrix x)
{
	run_blocks(dev, x, x, true, mirror_block);
}

/* ---- single elements ---- */

typedef struct take_job
{
	gp_matrix	m;
	int64_t		n;
	const int32_t *row;
	const int32_t *col;
	double	   *out;
} take_job;

static void
gather_tile(void *arg, int64_t tile, int worker)
{
	take_job   *job = arg;
	int64_t		end = gp_min64(job->n, (tile + 1) * TAKE_ENTRIES);

	if (job->m.type == GP_FLOAT)
		for (int64_t e = tile * TAKE_ENTRIES; e < end; e++)
			job->out[e] = ((const float *) job->m.data)[job->row[e] * job->m.ld + job->col[e]];
	else
		for (int64_t e = tile * TAKE_ENTRIES; e < end; e++)
			job->out[e] = ((const double *) job->m.data)[job->row[e] * job->m.ld + job->col[e]];
}

void
gp_cpu_take(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			double *out)
{
	take_job	job = {m, n, row, col, out};

	gp_cpu_run(dev, gather_tile, &job, (n + TAKE_ENTRIES - 1) / TAKE_ENTRIES);
}

void
gp_cpu_put(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
		   const double *value)
{
	GP_EACH(dev->env, e, n, e)
		gp_number_put(m.data, m.type, row[e] * m.ld + col[e], value[e]);
}
