/*
 * cpu_pairs.c - the diagonal of S f(Z Z') S' on the CPU, pair by pair.
 *
 * out_i is a sum over the pairs of neighbours of node i.  The neighbours of a
 * row are cut into blocks; a pair of blocks is one dense matrix of covariances,
 * so that even a hub of many thousand neighbours needs little memory.  Rows of
 * one block are taken together in tiles, the blocks of a hub are tiles of their
 * own whose sums are added in a fixed order.
 */

#include "cpu_internal.h"

/* The most neighbours in a block. */
#define MOST_NEIGHBOURS 512

/* Work of a tile, in elementary steps of about a nanosecond: a sixteenth of all, within bounds. */
#define TILE_WORK_MOST 5e6
#define TILE_WORK_LEAST 1e5

/* Some rows, or with block_row >= 0 one pair of blocks of one row. */
typedef struct pair_tile
{
	int64_t		row;
	int64_t		end;
	int32_t		block_row;
	int32_t		block_col;
	int32_t		block;			/* neighbours in a block */
	double		sum;			/* of a pair of blocks */
} pair_tile;

/* Where the entries of one column of a sparse Z stand in the index of a block. */
typedef struct cross_column
{
	int32_t		begin;			/* 0: no entry */
	int32_t		end;
} cross_column;

/* One entry: the row within the block, and its value. */
typedef struct cross_entry
{
	int32_t		row;
	double		value;
} cross_entry;

/* What one thread works in. */
typedef struct pair_space
{
	char	   *k;				/* covariances, block x block */
	char	   *columns;		/* for each stage two arrays of block numbers */
	/* of a sparse Z */
	cross_column *column;		/* for each column, zero between uses */
	cross_entry *entry;			/* one more than a block may have */
	double	   *sum;			/* for each row of a block */
	/* of a dense Z: gathered rows */
	void	   *left;
	void	   *right;
} pair_space;

typedef struct pair_job
{
	const gp_csr *s;
	const gp_csr *zs;
	const gp_matrix *zd;
	const gp_stage *stages;
	int			nstages;
	gp_matrix	out;
	gp_type		type;
	size_t		size;			/* of a number of that type */
	int64_t		largest;		/* block, of all rows */
	int64_t		entries;		/* of sparse z, that a block may have */
	int64_t    *longest;		/* sparse z: entries of a neighbour, for each row of s */
	double		tile_work;
	pair_tile  *tile;
	pair_space *space;			/* for each thread */
	const gp_simd_ops *ops;
} pair_job;

/* ---- covariances between two small sets of rows of Z ---- */

/*
 * k = z(row, :) z(col, :)' for lists of rows of a sparse z.  The second list is indexed by column,
 * so that a row of the first one meets only those entries that it shares a column with: most pairs
 * of rows share none.  With lower set the two lists are one, and only elements up to the diagonal
 * are sure to be set.
 */
static void
multiply_sparse(const gp_csr *z, const int32_t *row, const int32_t *col, bool lower,
				pair_space *space, gp_matrix k)
{
	double	   *sum = space->sum;

	/* Sorts the entries of the rows of k by column: a count, then a place for each. */
	cross_column *column = space->column;
	int32_t		place = 1;
	for (int64_t i = 0; i < k.cols; i++)
		for (int64_t e = z->start[col[i]]; e < z->start[col[i] + 1]; e++)
			column[z->col[e]].end++;
	for (int64_t i = 0; i < k.cols; i++)
		for (int64_t e = z->start[col[i]]; e < z->start[col[i] + 1]; e++)
		{
			cross_column *c = &column[z->col[e]];

			if (c->begin == 0)
			{
				int32_t		count = c->end;

				c->begin = c->end = place;
				place += count;
			}
			space->entry[c->end].row = (int32_t) i;
			space->entry[c->end++].value = gp_number_at(z->value, z->type, e);
		}
	for (int64_t i = 0; i < k.rows; i++)
	{
		int64_t		n = lower ? i + 1 : k.cols;

		memset(sum, 0, (size_t) n * sizeof(double));
		for (int64_t e = z->start[row[i]]; e < z->start[row[i] + 1]; e++)
		{
			cross_column c = space->column[z->col[e]];
			double		v = gp_number_at(z->value, z->type, e);

			for (int32_t at = c.begin; at < c.end && space->entry[at].row < n; at++)
				sum[space->entry[at].row] += v * space->entry[at].value;
		}
		for (int64_t j = 0; j < n; j++)
			gp_number_put(k.data, k.type, i * k.ld + j, sum[j]);
	}
	for (int64_t i = 0; i < k.cols; i++)
		for (int64_t e = z->start[col[i]]; e < z->start[col[i] + 1]; e++)
			space->column[z->col[e]] = (cross_column) {0, 0};
}

static gp_matrix
gather(gp_matrix z, const int32_t *row, int64_t n, void *to)
{
	gp_matrix	m = gp_matrix_wrap(to, n, z.cols, z.type);
	size_t		bytes = (size_t) z.cols * gp_type_size(z.type);

	for (int64_t i = 0; i < n; i++)
		memcpy(gp_matrix_at(m, i, 0), gp_matrix_at(z, row[i], 0), bytes);
	return m;
}

/* ---- tiles ---- */

/* The entries of the longest row of the sparse z among each row's neighbours; they decide on the
 * memory. */
static void
find_longest(gp_env *env, pair_job *job)
{
	const gp_csr *s = job->s;

	job->longest = gp_alloc_zero(env, s->rows, sizeof(int64_t));
	GP_EACH(env, i, s->rows, s->start[i])
		for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
		{
			const int64_t *start = job->zs->start + s->col[e];

			job->longest[i] = gp_max64(job->longest[i], start[1] - start[0]);
		}
}

/* Steps for one pair of neighbours: the product, and the stages. */
static double
pair_work(const pair_job *job, int64_t row)
{
	if (job->zd != NULL)
		return (double) job->zd->cols / 20 + 4 + 4 * job->nstages;
	return (double) job->longest[row] + 4 + 4 * job->nstages;
}

/* Cuts the rows into tiles; counts them, and stores them unless tile is NULL. */
static int64_t
cut_pairs(pair_job *job, pair_tile *tile)
{
	const gp_csr *s = job->s;
	int64_t		n = 0;
	double		open = job->tile_work;	/* work in the tile of whole rows that is open */

	for (int64_t i = 0; i < s->rows; i++)
	{
		int64_t		m = s->start[i + 1] - s->start[i];
		double		work = pair_work(job, i);
		int64_t		j = job->s->start[i + 1] - job->s->start[i];
		double		most = floor(fmin(MOST_NEIGHBOURS, fmax(1, sqrt(TILE_WORK_MOST / work))));
		int32_t		block = (int32_t) gp_max64(1, gp_min64(j, (int64_t) most));
		int32_t		blocks = (int32_t) ((m + block - 1) / block);

		job->largest = gp_max64(job->largest, block);
		if (job->zs != NULL)
			job->entries = gp_max64(job->entries, block * job->longest[i]);
		if (blocks > 1)
		{
			for (int32_t p = 0; p < blocks; p++)
				for (int32_t q = 0; q <= p; q++, n++)
					if (tile != NULL)
						tile[n] = (pair_tile) {i, i + 1, p, q, block, 0};
			open = job->tile_work;
			continue;
		}
		work = work * (double) m * (double) m + 50;
		if (open + work > job->tile_work)
		{
			if (tile != NULL)
				tile[n] = (pair_tile) {i, i, -1, -1, 0, 0};
			n++;
			open = 0;
		}
		open += work;
		if (tile != NULL)
			tile[n - 1].end = i + 1;
	}
	return n;
}

/* The arrays of a stage in a thread's space. */
static gp_stage_columns
stage_columns(const pair_job *job, pair_space *space, int stage)
{
	size_t		bytes = (size_t) job->largest * job->size;
	gp_stage_columns c;

	c.first = space->columns + 2 * (size_t) stage * bytes;
	c.second = (char *) c.first + bytes;
	return c;
}

/* The variance of a node before a stage that reads it. */
static double
stage_input(const gp_stage *stage, int32_t node)
{
	if (stage->map == GP_MAP_NONE || stage->map == GP_MAP_POLY)
		return 0;
	return *(const double *) gp_matrix_at(stage->diag, node, 0);
}

/* f(<z_j, z_j>) for a node, through the exact variances. */
static double
pair_variance(const pair_job *job, int32_t node, double variance)
{
	for (int i = 0; i < job->nstages; i++)
	{
		const gp_stage *stage = &job->stages[i];

		if (stage->map == GP_MAP_RELU || stage->map == GP_MAP_RBF)
			variance = stage_input(stage, node);
		variance = gp_stage_variance(stage, variance);
	}
	return variance;
}

/* The sum over a pair of blocks of a row's neighbours; pairs off the diagonal count twice. */
static double
sum_pair(const pair_job *job, int64_t row, int64_t p, int64_t q, int64_t block, pair_space *space)
{
	const gp_csr *s = job->s;
	int64_t		first = s->start[row] + p * block;
	int64_t		other = s->start[row] + q * block;
	int64_t		rows = gp_min64(block, s->start[row + 1] - first);
	int64_t		cols = gp_min64(block, s->start[row + 1] - other);
	const int32_t *left_node = s->col + first;
	const int32_t *right_node = s->col + other;
	const char *right_value = (const char *) s->value + (size_t) other * job->size;
	bool		same = p == q;	/* one block with itself: the lower triangle is enough */
	double		sum = 0;
	gp_matrix	cross = gp_matrix_wrap(space->k, rows, cols, job->type);
	gp_matrix	left = job->zd ? gather(*job->zd, left_node, rows, space->left) : (gp_matrix) {0};

	if (job->zd && same)
		gp_blas_syrk(false, 1.0, left, 0.0, cross);
	else if (job->zd)
		gp_blas_gemm(false, true, 1.0, left, gather(*job->zd, right_node, cols, space->right), 0.0,
					 cross);
	else
		multiply_sparse(job->zs, left_node, right_node, same, space, cross);
	for (int i = 0; i < job->nstages; i++)
		gp_stage_prepare(&job->stages[i], job->type, right_node, cols,
						 stage_columns(job, space, i));

	for (int64_t j = 0; j < rows; j++)
	{
		char	   *k = space->k + (size_t) (j * cols) * job->size;
		int64_t		n = same ? j : cols;
		double		own = gp_number_at(s->value, job->type, first + j);
		double		exact = same ? pair_variance(job, left_node[j], gp_number_at(k, job->type, j))
			: 0;

		for (int i = 0; i < job->nstages; i++)
			gp_stage_row(job->ops, &job->stages[i], stage_input(&job->stages[i], left_node[j]),
						 stage_columns(job, space, i), n, k);
		sum += own * (2 * job->ops->dot(n, right_value, k) + own * exact);
	}
	return sum;
}

static void
pairs_tile(void *arg, int64_t number, int worker)
{
	const pair_job *job = arg;
	pair_tile  *tile = &job->tile[number];
	pair_space *space = &job->space[worker];

	if (tile->block_row >= 0)
	{
		tile->sum = sum_pair(job, tile->row, tile->block_row, tile->block_col, tile->block, space);
		return;
	}
	for (int64_t i = tile->row; i < tile->end; i++)
		*(double *) gp_matrix_at(job->out, i, 0) =
			sum_pair(job, i, 0, 0, gp_max64(1, job->s->start[i + 1] - job->s->start[i]), space);
}

/* Memory for a thread, zero where that is needed. */
static void
open_space(gp_env *env, const pair_job *job, pair_space *space)
{
	int64_t		n = job->largest;

	space->k = gp_alloc_array(env, n * n, job->size);
	space->columns = gp_alloc_array(env, n * job->nstages, 2 * job->size);
	if (job->zs != NULL)
	{
		space->column = gp_alloc_zero(env, job->zs->cols, sizeof(cross_column));
		space->entry = gp_alloc_array(env, job->entries + 1, sizeof(cross_entry));
		space->sum = gp_alloc_array(env, n, sizeof(double));
		return;
	}
	space->left = gp_alloc_array(env, n, job->zd->cols * job->size);
	space->right = gp_alloc_array(env, n, job->zd->cols * job->size);
}

void
gp_cpu_pair_diag(gp_device *dev, const gp_csr *s, const gp_csr *zs, const gp_matrix *zd,
				 const gp_stage *stages, int nstages, gp_matrix out)
{
	pair_job	job = {.s = s, .zs = zs, .zd = zd, .stages = stages, .nstages = nstages,
	.out = out, .type = s->type, .size = gp_type_size(s->type),
	.ops = gp_cpu_ops(dev, s->type)};
	gp_env	   *env = dev->env;

	gp_cpu_require(dev, (zs == NULL) != (zd == NULL) && nstages >= 0 &&
				   (zs != NULL ? zs->type : zd->type) == s->type &&
				   (zs != NULL ? zs->rows : zd->rows) == s->cols &&
				   out.type == GP_DOUBLE && out.rows == s->rows && out.cols == 1);
	if (zs != NULL)
		find_longest(env, &job);
	/* Chooses the work of a tile by that of all rows */
	double		total = 0;

	for (int64_t i = 0; i < job.s->rows; i++)
	{
		double		m = (double) (job.s->start[i + 1] - job.s->start[i]);

		total += pair_work(&job, i) * m * m;
	}
	job.tile_work = fmin(TILE_WORK_MOST, fmax(TILE_WORK_LEAST, total / 16));
	int64_t		tiles = cut_pairs(&job, NULL);
	job.tile = gp_alloc_array(env, tiles, sizeof(pair_tile));
	cut_pairs(&job, job.tile);
	job.space = gp_alloc_zero(env, dev->threads, sizeof(pair_space));
	for (int i = 0; i < dev->threads; i++)
		open_space(env, &job, &job.space[i]);
	if (zd != NULL)
		gp_cpu_run_blas(dev, pairs_tile, &job, tiles);
	else
		gp_cpu_run(dev, pairs_tile, &job, tiles);
	/* Adds the sums of hubs' blocks, in the order of the tiles */
	for (pair_tile *tile = job.tile; tile < job.tile + gp_items(env, tiles); tile++)
	{
		double	   *sum = tile->block_row < 0 ? NULL : gp_matrix_at(out, tile->row, 0);

		if (sum)
			*sum = tile->block_row == 0 ? tile->sum : *sum + tile->sum;
	}
	for (int i = 0; i < dev->threads; i++)
	{
		pair_space *space = &job.space[i];

		gp_free_all(env, space->k, space->columns, space->column, space->entry, space->sum,
					space->left, space->right);
	}
	gp_free_all(env, job.space, job.tile, job.longest);
}
