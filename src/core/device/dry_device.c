/*
 * dry_device.c - a device that computes nothing and accounts for everything.
 *
 * The planner runs an evaluator on it to learn what that would take, so that no
 * evaluator needs a second one that counts.  Where the CPU takes scratch memory, or
 * only moves numbers, its own code is run, without a pool that would do the work.
 */
#include "device/cpu/cpu_internal.h"

#define MAP_FLOPS 20.0			/* of one pointwise stage */
#define LARGE_ORDER 4096		/* of a triangle whose recursion is not followed any more */
#define LARGE_SCRATCH 65536		/* bytes that are enough for it instead */
#define LOOK_EVERY 64			/* operations between two looks at interrupts */

typedef struct dry_device
{
	gp_cpu		cpu;			/* without a pool */
	gp_env		env;
	gp_env	   *host;
	gp_count	count;
	int			operations;		/* since the last look at interrupts */
} dry_device;

static dry_device *
dry_of(gp_device *dev)
{
	return (dry_device *) dev->state;
}

void
gp_dry_add(gp_device *dev, const gp_count *more)
{
	dry_device *dry = dry_of(dev);

	dry->count.flops += more->flops;
	dry->count.effort += more->effort;
	dry->count.doubles += more->doubles;
	if (++dry->operations < LOOK_EVERY)
		return;
	dry->operations = 0;
	dev->env->check_interrupts(dev->env);
}

void
gp_dry_repeat(gp_device *dry, const gp_count *since, double times)
{
	gp_count	now = gp_dry_count(dry);

	gp_dry_add(dry, &(gp_count) {
		.flops = times * (now.flops - since->flops),
		.effort = times * (now.effort - since->effort),
		.doubles = times * (now.doubles - since->doubles)
	});
}

/* Adds the operations of one call, in a type. */
static void
add(gp_device *dev, gp_type type, double flops, double effort)
{
	gp_dry_add(dev, &(gp_count) {.flops = flops,.effort = effort,.doubles = type == GP_DOUBLE
								 ? flops : 0.0});
}

static void
add_dense(gp_device *dev, gp_type type, double flops)
{
	add(dev, type, flops, flops);
}

static void
add_sparse(gp_device *dev, gp_type type, double flops)
{
	add(dev, type, flops, GP_SPARSE_EFFORT * flops);
}

gp_count
gp_dry_count(gp_device *dev)
{
	gp_count	count = dry_of(dev)->count;

	count.bytes = (double) dev->env->peak;
	return count;
}

/* Takes memory for a moment. */
static void
touch(gp_device *dev, int64_t count, size_t size)
{
	gp_free(dev->env, gp_alloc_values(dev->env, count, size));
}

static double
elements(gp_matrix m)
{
	return (double) m.rows * m.cols;
}

static void
dry_axpby(gp_device *dev, double a, gp_matrix x, double b, gp_matrix y)
{
	add_dense(dev, x.type, 2.0 * elements(x));
}

static void
dry_row_dots(gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b)
{
	add_dense(dev, GP_DOUBLE, 2.0 * elements(a));
}

static void
dry_put(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
		const double *value)
{
}

static void
dry_elementwise(gp_device *dev, const gp_elementwise *e, gp_matrix y, gp_matrix a, gp_matrix b,
				gp_matrix c)
{
	bool		waves = e->op == GP_ELEMENT_COS || e->op == GP_ELEMENT_SIN ||
		e->op == GP_ELEMENT_EXP;

	add_dense(dev, y.type, (waves || e->op == GP_ELEMENT_ADAM ? MAP_FLOPS : 2.0) * elements(y));
}

static void
dry_gemm(gp_device *dev, bool trans_a, bool trans_b, double alpha, gp_matrix a, gp_matrix b,
		 double beta, gp_matrix c)
{
	add_dense(dev, c.type, 2.0 * elements(c) * (trans_a ? a.rows : a.cols));
	gp_cpu_gemm(dev, trans_a, trans_b, alpha, a, b, beta, c);
}

static void
dry_syrk(gp_device *dev, bool trans, double alpha, gp_matrix a, double beta, gp_matrix c)
{
	add_dense(dev, c.type, elements(c) * (trans ? a.rows : a.cols));
	gp_cpu_syrk(dev, trans, alpha, a, beta, c);
}

static int64_t
dry_potrf(gp_device *dev, gp_matrix a)
{
	add_dense(dev, a.type, elements(a) * a.rows / 3.0);
	if (a.rows <= LARGE_ORDER)
		return gp_cpu_potrf(dev, a);
	touch(dev, 1, LARGE_SCRATCH);
	return -1;
}

static void
dry_trtri(gp_device *dev, gp_matrix l)
{
	add_dense(dev, l.type, elements(l) * l.rows / 3.0);
	if (l.rows <= LARGE_ORDER)
		gp_cpu_trtri(dev, l);
	else
		touch(dev, 1, LARGE_SCRATCH);
}

static void
dry_syev(gp_device *dev, gp_matrix a, gp_matrix w)
{
	add_dense(dev, a.type, 12.0 * elements(a) * a.rows);
	gp_cpu_syev(dev, a, w);
}

static void
dry_trsm(gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b)
{
	add_dense(dev, b.type, elements(b) * l.rows);
	if (l.rows <= LARGE_ORDER)
		gp_cpu_trsm(dev, left, trans, l, b);
	else
		touch(dev, 1, LARGE_SCRATCH);
}

/* The entries of a sparse matrix or of some rows of it. */
static double
entries(const gp_csr *s)
{
	return (double) (s->start[s->rows] - s->start[0]);
}

/* Rows are taken to have the mean number of entries. */
static void
dry_csr_product_rows(gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a, const gp_csr *b,
					 const int32_t *index, int64_t n)
{
	double		taken = (double) n * entries(a) / (double) gp_max64(a->rows, 1);

	add_sparse(dev, dst.type, 2.0 * taken * entries(b) / (double) gp_max64(b->rows, 1));
}

static void
dry_spmm(gp_device *dev, double alpha, const gp_csr *s, gp_matrix b, double beta, gp_matrix c)
{
	add_sparse(dev, s->type, 2.0 * entries(s) * b.cols);
}

/* The entries of some rows of a sparse matrix. */
static double
entries_of(const gp_csr *s, int64_t n, const int32_t *row)
{
	double		sum = 0.0;

	for (int64_t e = 0; e < n; e++)
		sum += (double) (s->start[row[e] + 1] - s->start[row[e]]);
	return sum;
}

static void
dry_spmm_take(gp_device *dev, const gp_csr *s, gp_matrix b, int64_t n, const int32_t *row,
			  const int32_t *col, double *out)
{
	add_sparse(dev, s->type, 2.0 * entries_of(s, n, row));
	gp_cpu_spmm_take(dev, s, b, n, row, col, out);
}

/* Walks of two steps from each source, which the ends of its pairs are compared with. */
static void
dry_pair_paths(gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n, const int32_t *src,
			   const int32_t *dst, const bool *cut, double *two, double *three)
{
	double		walked = entries_of(s, n, dst);

	for (int64_t e = 0; e < n; e++)
		if (e == 0 || src[e] != src[e - 1])
			walked += entries_of(s, s->start[src[e] + 1] - s->start[src[e]],
								 s->col + s->start[src[e]]);
	add_sparse(dev, w.type, 2.0 * GP_PATH_LANES * walked);
	gp_cpu_pair_paths(dev, s, w, n, src, dst, cut, two, three);
}

static void
dry_map(gp_device *dev, const gp_stage *stage, gp_matrix k, int64_t row0, const int32_t *cols)
{
	add_dense(dev, k.type, MAP_FLOPS * elements(k));
	touch(dev, k.cols, 2 * gp_type_size(k.type));
}

static void
dry_map_diag(gp_device *dev, const gp_stage *stage, gp_matrix diag)
{
	add_dense(dev, diag.type, MAP_FLOPS * elements(diag));
}

static void
dry_pair_diag(gp_device *dev, const gp_csr *s, const gp_csr *zs, const gp_matrix *zd,
			  const gp_stage *stages, int nstages, gp_matrix out)
{
	/* Pairs of entries in the rows of a sparse matrix. */
	double		pairs = 0.0;
	GP_EACH(dev->env, i, s->rows, i)
	{
		double		m = (double) (s->start[i + 1] - s->start[i]);

		pairs += 0.5 * m * (m + 1.0);
	}

	if (zs)
		add_sparse(dev, s->type, 2.0 * pairs * entries(zs) / gp_max64(zs->rows, 1));
	else
		add_dense(dev, s->type, 2.0 * pairs * zd->cols);
	add_dense(dev, s->type, pairs * (4.0 + MAP_FLOPS * nstages));
	gp_cpu_pair_diag(dev, s, zs, zd, stages, nstages, out);
}

static void
dry_close(gp_device *dev)
{
	gp_free(dry_of(dev)->host, dry_of(dev));
}

static gp_device *
open_dry(gp_device *like)
{
	dry_device *dry = gp_alloc_zero(like->env, 1, sizeof(dry_device));

	dry->host = like->env;
	dry->env = gp_env_derive(like->env);
	dry->env.host_left = gp_left(like->env);
	dry->env.dry = true;
	dry->cpu.simd = gp_simd_choose();
	dry->cpu.dev = gp_cpu_table;
	dry->cpu.dev.name = "dry";
	dry->cpu.dev.env = &dry->env;
	dry->cpu.dev.threads = like->threads;
	dry->cpu.dev.row_block = like->row_block;
	dry->cpu.dev.room = like->room;
	dry->cpu.dev.state = dry;
	dry->cpu.dev.axpby = dry_axpby;
	dry->cpu.dev.row_dots = dry_row_dots;
	dry->cpu.dev.elementwise = dry_elementwise;
	dry->cpu.dev.put = dry_put;
	dry->cpu.dev.gemm = dry_gemm;
	dry->cpu.dev.syrk = dry_syrk;
	dry->cpu.dev.potrf = dry_potrf;
	dry->cpu.dev.trtri = dry_trtri;
	dry->cpu.dev.syev = dry_syev;
	dry->cpu.dev.trsm = dry_trsm;
	dry->cpu.dev.spmm = dry_spmm;
	dry->cpu.dev.spmm_take = dry_spmm_take;
	dry->cpu.dev.pair_paths = dry_pair_paths;
	dry->cpu.dev.csr_product_rows = dry_csr_product_rows;
	dry->cpu.dev.map = dry_map;
	dry->cpu.dev.map_diag = dry_map_diag;
	dry->cpu.dev.pair_diag = dry_pair_diag;
	dry->cpu.dev.close = dry_close;
	return &dry->cpu.dev;
}

gp_count
gp_dry_run(gp_device *like, gp_dry_work work, void *arg)
{
	gp_device  *dry = open_dry(like);

	work(dry, arg);
	gp_count	count = gp_dry_count(dry);
	dry->close(dry);
	return count;
}
