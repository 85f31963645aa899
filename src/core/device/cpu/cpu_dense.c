/*
 * cpu_dense.c - dense products on the CPU.
 *
 * Work is cut into tiles whose size depends on the shape of the operands alone.
 * Each tile is computed by single-threaded calls of OpenBLAS, short enough to
 * serve interrupts between them; so results do not depend on the number of
 * threads.
 */
#include <sched.h>

#include "cpu_internal.h"

/* Operations of a tile: 10 to 20 ms of one core, but a sixteenth of smaller problems. */
#define TILE_FLOPS_FLOAT 2e9
#define TILE_FLOPS_DOUBLE 1e9
#define TILE_FLOPS_LEAST 3e7

/* Elements of an operand that a tile may read. */
#define TILE_OPERAND (INT64_C(1) << 24)

/* Tiles take all columns when that leaves them so many rows. */
#define WIDE_ROWS 384

/* About the longest inner dimension of one call. */
#define INNER_CHUNK 1536

/* One product; with lower set, b is a and only tiles up to the diagonal are computed. */
typedef struct product_job
{
	bool		trans_a;
	bool		trans_b;
	bool		lower;
	double		alpha;
	double		beta;
	gp_matrix	a;
	gp_matrix	b;
	gp_matrix	c;
	int64_t		inner;
	int64_t		chunk;			/* of the inner dimension in one pass */
	gp_grid		grid;
	int64_t		tiles;			/* of c, in one pass */
	int		   *passes;			/* atomic: passes done for each tile; NULL if there is one */
} product_job;

double
gp_tile_flops(gp_type type, double total)
{
	double		most = type == GP_FLOAT ? TILE_FLOPS_FLOAT : TILE_FLOPS_DOUBLE;

	return fmin(most, fmax(TILE_FLOPS_LEAST, total / 16));
}

int64_t
gp_even_part(int64_t length, double size)
{
	if (size * 1.3 >= (double) length)
		return gp_max64(length, 1);
	int64_t		parts = (int64_t) ((double) length / fmax(size, 16) + 0.7);
	return ((length - 1) / parts + 16) / 16 * 16;
}

/* Rows (or columns, when transposed) of an operand within a chunk of the inner dimension. */
static gp_matrix
operand(gp_matrix m, bool trans, int64_t start, int64_t n, int64_t inner, int64_t ninner)
{
	return trans ? gp_matrix_part(m, inner, start, ninner, n)
		: gp_matrix_part(m, start, inner, n, ninner);
}

/*
 * One tile of c in one pass.  Tiles are handed out in order, so the pass before
 * is finished or in the hands of another thread, and waiting for it ends.
 */
static void
product_tile(void *arg, int64_t number, int worker)
{
	product_job *job = arg;
	int64_t		tile = number % job->tiles;
	int			pass = (int) (number / job->tiles);
	int64_t		at = tile;
	if (job->lower)
	{
		/* Tiles count along the rows up to the diagonal: row i begins with number i (i + 1) / 2. */
		int64_t		i = 0;

		while ((i + 1) * (i + 2) / 2 <= tile)
			i++;
		at = i * job->grid.across + (tile - i * (i + 1) / 2);
	}
	gp_tile_range r = gp_grid_at(&job->grid, at);
	gp_matrix	c = gp_grid_part(job->c, r);
	int64_t		inner = pass * job->chunk;
	int64_t		n = gp_min64(job->chunk, job->inner - inner);
	gp_matrix	a = operand(job->a, job->trans_a, r.row, r.rows, inner, n);
	double		beta = pass == 0 ? job->beta : 1.0;

	if (job->passes != NULL)
		while (__atomic_load_n(&job->passes[tile], __ATOMIC_ACQUIRE) < pass)
			sched_yield();

	if (job->lower && r.row == r.col)
		gp_blas_syrk(job->trans_a, job->alpha, a, beta, c);
	else
	{
		gp_matrix	b = operand(job->b, !job->trans_b, r.col, r.cols, inner, n);

		gp_blas_gemm(job->trans_a, job->trans_b, job->alpha, a, b, beta, c);
	}

	if (job->passes != NULL)
		__atomic_store_n(&job->passes[tile], pass + 1, __ATOMIC_RELEASE);
}

/* Computes a product, pass by pass along the inner dimension. */
static void
run_product(gp_device *dev, product_job *job)
{
	if (job->c.rows == 0 || job->c.cols == 0)
		return;
	/* Chooses the tiles of a product: as wide as c, or about square. */
	double		rows = (double) job->c.rows;
	double		cols = (double) job->c.cols;
	double		target = gp_tile_flops(job->c.type, 2.0 * rows * cols * (double) job->inner);

	job->chunk = gp_even_part(job->inner, INNER_CHUNK);
	double		area = target / (2.0 * (double) job->chunk);
	double		wide = fmin(cols, fmax(area / cols >= WIDE_ROWS ? cols : sqrt(area), area / rows));
	double		tall = fmin(rows, area / wide);
	if (job->lower)
		tall = wide = fmin(rows, sqrt(area));
	tall = fmin(tall, (double) (TILE_OPERAND / job->chunk));
	wide = fmin(wide, (double) (TILE_OPERAND / job->chunk));
	tall = fmin(tall, TILE_OPERAND / fmax(wide, 1));
	job->grid = gp_grid_make(job->c.rows, job->c.cols, gp_even_part(job->c.rows, tall),
							 gp_even_part(job->c.cols, wide));
	job->tiles = job->grid.tiles;
	if (job->lower)
		job->tiles = job->grid.across * (job->grid.across + 1) / 2;
	int64_t		passes = gp_max64(1, (job->inner + job->chunk - 1) / job->chunk);
	if (passes > 1)
		job->passes = gp_alloc_zero(dev->env, job->tiles, sizeof(int));
	gp_cpu_run_blas(dev, product_tile, job, job->tiles * passes);
	gp_free(dev->env, job->passes);
}

void
gp_cpu_gemm(gp_device *dev, bool trans_a, bool trans_b, double alpha, gp_matrix a,
			gp_matrix b, double beta, gp_matrix c)
{
	product_job job = {.trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta,
	.a = a, .b = b, .c = c, .inner = trans_a ? a.rows : a.cols};

	gp_cpu_require(dev, a.type == c.type && b.type == c.type &&
				   (trans_a ? a.cols : a.rows) == c.rows && (trans_b ? b.rows : b.cols) == c.cols &&
				   (trans_b ? b.cols : b.rows) == job.inner &&
				   a.ld <= INT32_MAX && b.ld <= INT32_MAX && c.ld <= INT32_MAX);
	run_product(dev, &job);
}

void
gp_cpu_syrk_lower(gp_device *dev, bool trans, double alpha, gp_matrix a, double beta, gp_matrix c)
{
	product_job job = {.trans_a = trans, .trans_b = !trans, .lower = true, .alpha = alpha,
	.beta = beta, .a = a, .b = a, .c = c, .inner = trans ? a.rows : a.cols};

	gp_cpu_require(dev, a.type == c.type && c.rows == c.cols &&
				   (trans ? a.cols : a.rows) == c.rows && a.ld <= INT32_MAX && c.ld <= INT32_MAX);
	run_product(dev, &job);
}

void
gp_cpu_syrk(gp_device *dev, bool trans, double alpha, gp_matrix a, double beta, gp_matrix c)
{
	gp_cpu_syrk_lower(dev, trans, alpha, a, beta, c);
	gp_cpu_mirror_lower(dev, c);
}
