/*
 * cpu_sparse.c - products with sparse matrices on the CPU.
 */
#include "cpu_internal.h"

/* Numbers that a tile gathers: a few milliseconds when they come from memory. */
#define TILE_GATHER (INT64_C(1) << 24)

/* Fewer are not worth a tile of their own. */
#define TILE_LEAST (INT64_C(1) << 17)

/* Bytes of the gathered matrix that one block of columns should have. */
#define CACHE_BYTES (INT64_C(1) << 24)

/* Entries ahead of which a row of b is asked for, where b is larger than a core's own cache. */
#define FETCH_AHEAD 64
#define OWN_CACHE_BYTES (INT64_C(1) << 20)

/* The narrowest block of columns worth a pass over the entries, in bytes. */
#define BLOCK_BYTES 2048

/* Rows cut into chunks of about equal work (entries plus rows). */
typedef struct row_chunks
{
	const gp_csr *s;
	int64_t		weight;			/* of a chunk */
	int64_t		chunks;
} row_chunks;

/* The first row of a chunk; weights ascend with the rows. */
static int64_t
chunk_start(const row_chunks *c, int64_t chunk)
{
	int64_t		row = 0;

	if (chunk >= c->chunks)
		return c->s->rows;
	GP_BISECT(row, c->s->rows, at, c->s->start[at] + at < chunk * c->weight);
	return row;
}

static int64_t
longest_row(const gp_csr *s)
{
	int64_t		longest = 0;

	for (int64_t i = 0; i < s->rows; i++)
		longest = gp_max64(longest, s->start[i + 1] - s->start[i]);
	return longest;
}

/* A sparse product, c = alpha s b + beta c. */
typedef struct sparse_job
{
	const gp_csr *s;
	double		alpha;
	double		beta;
	gp_matrix	b;
	gp_matrix	c;
	row_chunks	chunks;
	int64_t		block;			/* columns of c in a tile */
	int64_t		ahead;
	const gp_simd_ops *ops;
} sparse_job;

/* A chunk of rows and a block of columns of c = alpha s b + beta c. */
static void
spmm_tile(void *arg, int64_t tile, int worker)
{
	const sparse_job *job = arg;
	const gp_csr *s = job->s;
	int64_t		chunk = tile % job->chunks.chunks;
	int64_t		col = tile / job->chunks.chunks * job->block;
	int64_t		cols = gp_min64(job->block, job->c.cols - col);
	int64_t		first = chunk_start(&job->chunks, chunk);

	job->ops->spmm(chunk_start(&job->chunks, chunk + 1) - first, s->start + first, s->col, s->value,
				   gp_matrix_at(job->b, 0, col), job->b.ld, cols, job->ahead, job->alpha,
				   job->beta, gp_matrix_at(job->c, first, col), job->c.ld);
}

void
gp_cpu_spmm(gp_device *dev, double alpha, const gp_csr *s, gp_matrix b, double beta, gp_matrix c)
{
	sparse_job	job = {.s = s, .alpha = alpha, .beta = beta, .b = b, .c = c,
	.ops = gp_cpu_ops(dev, c.type)};

	gp_cpu_require(dev, s->type == c.type && b.type == c.type && s->rows == c.rows &&
				   s->cols == b.rows && b.cols == c.cols);
	if (c.rows == 0 || c.cols == 0)
		return;
	/* The columns that a tile takes: all when b fits the cache, else as many as make their part of
	 * b fit, but not so few that reading the entries again for each block costs more. A long row
	 * takes fewer, to keep its tile short. */
	int64_t		size = (int64_t) gp_type_size(b.type);
	int64_t		unit = BLOCK_BYTES / size;
	int64_t		block = CACHE_BYTES / (gp_max64(b.rows, 1) * size) / unit * unit;

	block = gp_max64(block, unit);
	int64_t		most = TILE_GATHER / gp_min64(block, b.cols);	/* entries of a row */
	/* Where all rows together are no longer none is looked at: short products are many. */
	int64_t		longest = gp_csr_entries(s) > most ? longest_row(s) : 0;
	if (longest > most)
		block = gp_max64(16, TILE_GATHER / longest / 16 * 16);
	job.block = gp_min64(block, b.cols);
	job.ahead = b.rows * job.block * size > OWN_CACHE_BYTES ? FETCH_AHEAD : 0;
	int64_t		weight = gp_min64(TILE_GATHER / job.block,
								  gp_max64((gp_csr_entries(s) + s->rows) / 16,
										   TILE_LEAST / job.block));
	job.chunks = (row_chunks) {s, gp_max64(weight, 1), 0};
	job.chunks.chunks = (gp_csr_entries(s) + s->rows - 1) / job.chunks.weight + 1;
	int64_t		blocks = (c.cols + job.block - 1) / job.block;
	gp_cpu_run(dev, spmm_tile, &job, job.chunks.chunks * blocks);
}

/* Columns up to which a whole row of a product is computed for several of its elements. */
#define RUN_COLUMNS 128

/* Entries of rows in a tile of elements: a few milliseconds. */
#define TILE_ENTRIES (INT64_C(1) << 21)

/* Single elements of a sparse product. */
typedef struct elements_job
{
	const gp_csr *s;
	gp_matrix	b;
	int64_t		n;
	const int32_t *row;
	const int32_t *col;
	double	   *out;
	int64_t    *order;			/* of the elements, by row */
	int64_t		tile;			/* elements of a tile */
	const gp_simd_ops *ops;
} elements_job;

/* Elements first to end of the order, all of one row: each by itself, or the row once for many of
 * them. */
static void
elements_of_row(const elements_job *job, int64_t row, int64_t first, int64_t end)
{
	const gp_csr *s = job->s;
	int64_t		entries = s->start[row + 1] - s->start[row];
	int64_t		size = (int64_t) gp_type_size(s->type);
	int64_t		line = 64 / size;
	union
	{
		float		f[RUN_COLUMNS];
		double		d[RUN_COLUMNS];
	}			room;

	if ((end - first) * line <= job->b.cols || job->b.cols > RUN_COLUMNS)
	{
		for (int64_t k = first; k < end; k++)
		{
			int64_t		e = job->order[k];

			job->out[e] = job->ops->sparse_dot(entries, s->col + s->start[row],
											   (char *) s->value + s->start[row] * size,
											   gp_matrix_at(job->b, 0, job->col[e]), job->b.ld);
		}
		return;
	}
	job->ops->spmm(1, s->start + row, s->col, s->value, job->b.data, job->b.ld, job->b.cols, 0,
				   1.0, 0.0, &room, job->b.cols);
	for (int64_t k = first; k < end; k++)
		job->out[job->order[k]] = gp_number_at(&room, s->type, job->col[job->order[k]]);
}

static void
elements_tile(void *arg, int64_t tile, int worker)
{
	const elements_job *job = arg;
	int64_t		end = gp_min64(job->n, (tile + 1) * job->tile);

	for (int64_t first = tile * job->tile; first < end;)
	{
		int32_t		row = job->row[job->order[first]];
		int64_t		last = first + 1;

		while (last < end && job->row[job->order[last]] == row)
			last++;
		elements_of_row(job, row, first, last);
		first = last;
	}
}

void
gp_cpu_spmm_take(gp_device *dev, const gp_csr *s, gp_matrix b, int64_t n, const int32_t *row,
				 const int32_t *col, double *out)
{
	elements_job job = {s, b, n, row, col, out, NULL, 0, gp_cpu_ops(dev, s->type)};

	gp_cpu_require(dev, b.type == s->type && s->cols == b.rows);
	/* The elements by row, those of one row as they came. */
	int64_t    *place = gp_alloc_zero(dev->env, s->rows + 1, sizeof(int64_t));
	int64_t    *order = gp_alloc_array(dev->env, n, sizeof(int64_t));
	for (int64_t e = 0; e < n; e++)
		place[row[e] + 1]++;
	for (int64_t i = 0; i < s->rows; i++)
		place[i + 1] += place[i];
	GP_EACH(dev->env, e, n, e)
		order[place[row[e]]++] = e;
	gp_free(dev->env, place);
	job.order = order;
	job.tile = gp_max64(1, TILE_ENTRIES / gp_max64(16, longest_row(s)));
	gp_cpu_run(dev, elements_tile, &job, (n + job.tile - 1) / job.tile);
	gp_free(dev->env, job.order);
}

/* The operands of csr_rows and csr_product_rows. */
typedef struct rows_job
{
	gp_matrix	dst;
	const gp_csr *a;
	const gp_csr *b;			/* NULL for csr_rows */
	double		alpha;
	const int32_t *index;
	int64_t		columns;		/* of dst in a tile */
} rows_job;

/* Adds a multiple of a row of s to column t of dst, which is zero where nothing was added yet. */
static void
scatter_row(const rows_job *job, const gp_csr *s, int64_t row, double factor, int64_t t)
{
	for (int64_t e = s->start[row]; e < s->start[row + 1]; e++)
	{
		void	   *to = gp_matrix_at(job->dst, s->col[e], t);

		if (s->type == GP_FLOAT)
			*(float *) to += (float) factor * ((const float *) s->value)[e];
		else
			*(double *) to += factor * ((const double *) s->value)[e];
	}
}

/* Scatters some rows of a, or of a b, into columns of dst. */
static void
scatter_tile(void *arg, int64_t tile, int worker)
{
	const rows_job *job = arg;
	const gp_csr *a = job->a;
	int64_t		end = gp_min64(job->dst.cols, (tile + 1) * job->columns);

	for (int64_t t = tile * job->columns; t < end; t++)
	{
		int64_t		row = job->index[t];

		if (job->b == NULL)
		{
			scatter_row(job, a, row, 1.0, t);
			continue;
		}
		for (int64_t e = a->start[row]; e < a->start[row + 1]; e++)
			scatter_row(job, job->b, a->col[e], job->alpha * gp_number_at(a->value, a->type, e), t);
	}
}

/* Fills dst column by column, a tile being whole cache lines of about so much work a column. */
static void
scatter_rows(gp_device *dev, rows_job *job, int64_t work)
{
	gp_cpu_fill(dev, job->dst, 0.0);
	job->columns = work > TILE_LEAST ? 1 : 16 * gp_max64(1, TILE_LEAST / 16 / (work + 1));
	gp_cpu_run(dev, scatter_tile, job, (job->dst.cols + job->columns - 1) / job->columns);
}

void
gp_cpu_csr_rows(gp_device *dev, gp_matrix dst, const gp_csr *s, const int32_t *index, int64_t n)
{
	rows_job	job = {dst, s, NULL, 1.0, index, 0};

	gp_cpu_require(dev, s->type == dst.type && dst.rows == s->cols && dst.cols == n);
	if (n == 0 || s->cols == 0)
		return;
	scatter_rows(dev, &job, gp_csr_entries(s) / gp_max64(s->rows, 1));
}

void
gp_cpu_csr_product_rows(gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a,
						const gp_csr *b, const int32_t *index, int64_t n)
{
	rows_job	job = {dst, a, b, alpha, index, 0};
	int64_t		work = 0;

	gp_cpu_require(dev, a->type == dst.type && b->type == dst.type && a->cols == b->rows &&
				   dst.rows == b->cols && dst.cols == n);
	if (n == 0 || b->cols == 0)
		return;
	for (int64_t t = 0; t < n; t++)
		for (int64_t e = a->start[index[t]]; e < a->start[index[t] + 1]; e++)
			work += b->start[a->col[e] + 1] - b->start[a->col[e]];
	scatter_rows(dev, &job, work / n);
}
