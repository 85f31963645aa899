/*
 * cpu_device.c - the CPU's table of operations: opening, closing, memory.
 */
#include <stdio.h>

#include "cpu_internal.h"

/* More threads than this are not started. */
#define MAX_THREADS 256

/* Rows of a factor that evaluators take at once: they stay in the cache. */
#define ROW_BLOCK 1024

static gp_matrix
create_matrix(gp_device *dev, int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = {NULL, rows, cols, 0, type};

	gp_cpu_require(dev, rows >= 0 && cols >= 0 && cols <= INT64_MAX - 16);
	m.ld = cols <= 1 ? cols : (cols + 15) / 16 * 16;
	size_t		row = gp_size_mul(dev->env, (size_t) m.ld, gp_type_size(type));
	m.data = gp_alloc_values(dev->env, rows, row);
	if (!dev->env->dry)
		gp_use_large_pages(m.data, (size_t) rows * row);
	return m;
}

static void
destroy_matrix(gp_device *dev, gp_matrix *m)
{
	gp_free(dev->env, m->data);
	m->data = NULL;
}

static void
close_device(gp_device *dev)
{
	gp_cpu	   *cpu = gp_cpu_of(dev);
	gp_env	   *env = dev->env;

	gp_pool_destroy(cpu->pool);
	gp_free_all(env, cpu->solve_room, cpu);
}

static void
describe_device(gp_cpu *cpu)
{
	snprintf(cpu->describe, sizeof(cpu->describe), "OpenBLAS %s, %s", gp_blas_core(),
			 cpu->simd->name);
}

const gp_device gp_cpu_table = {
	.name = "cpu",
	.create = create_matrix,
	.destroy = destroy_matrix,
	.upload = gp_cpu_copy,
	.download = gp_cpu_copy,
	.copy = gp_cpu_copy,
	.fill = gp_cpu_fill,
	.axpby = gp_cpu_axpby,
	.shift = gp_cpu_shift,
	.transpose = gp_cpu_transpose,
	.transpose_square = gp_cpu_transpose_square,
	.gather_rows = gp_cpu_gather_rows,
	.row_dots = gp_cpu_row_dots,
	.elementwise = gp_cpu_elementwise,
	.take = gp_cpu_take,
	.put = gp_cpu_put,
	.gemm = gp_cpu_gemm,
	.syrk = gp_cpu_syrk,
	.potrf = gp_cpu_potrf,
	.trtri = gp_cpu_trtri,
	.syev = gp_cpu_syev,
	.trsm = gp_cpu_trsm,
	.spmm = gp_cpu_spmm,
	.spmm_take = gp_cpu_spmm_take,
	.csr_rows = gp_cpu_csr_rows,
	.csr_product_rows = gp_cpu_csr_product_rows,
	.pair_paths = gp_cpu_pair_paths,
	.map = gp_cpu_map,
	.map_diag = gp_cpu_map_diag,
	.pair_diag = gp_cpu_pair_diag,
	.close = close_device
};

gp_device *
gp_device_cpu(gp_env *env, int threads)
{
	gp_blas_load(env);
	gp_cpu	   *cpu = gp_alloc_zero(env, 1, sizeof(gp_cpu));
	cpu->dev = gp_cpu_table;
	cpu->dev.env = env;
	cpu->dev.state = cpu;
	cpu->dev.row_block = ROW_BLOCK;
	cpu->simd = gp_simd_choose();
	if (!gp_blas_shared())
		threads = 1;
	cpu->pool = gp_pool_create(env, threads < MAX_THREADS ? threads : MAX_THREADS);
	cpu->dev.threads = gp_pool_threads(cpu->pool);
	cpu->solve_room = gp_alloc_array(env, cpu->dev.threads, gp_cpu_solve_bytes());
	describe_device(cpu);
	return &cpu->dev;
}

const char *
gp_device_cpu_describe(gp_device *dev)
{
	return gp_cpu_of(dev)->describe;
}

bool
gp_cpu_force_simd(gp_device *dev, gp_simd_level level)
{
	gp_cpu	   *cpu = gp_cpu_of(dev);
	const gp_simd *simd = gp_simd_at(level);

	if (simd == NULL)
		return false;
	cpu->simd = simd;
	describe_device(cpu);
	return true;
}
