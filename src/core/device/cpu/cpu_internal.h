/*
 * cpu_internal.h - what the files of the CPU device share.
 *
 * Each gp_cpu_ function of an operation is the entry of that name in the table
 * (device.h says what it does).
 */
#ifndef GP_CPU_INTERNAL_H
#define GP_CPU_INTERNAL_H

#include "cpu_blas.h"
#include "device/threads/cpu_pool.h"
#include "device/simd/cpu_simd.h"
#include "device/device.h"

typedef struct gp_cpu
{
	gp_device	dev;
	gp_pool    *pool;
	const gp_simd *simd;
	void	   *solve_room;		/* gp_cpu_solve_bytes of each thread */
	char		describe[96];
} gp_cpu;

/* The CPU device behind a table. */
static inline gp_cpu *
gp_cpu_of(gp_device *dev)
{
	return (gp_cpu *) dev->state;
}

/* The vector loops for a type. */
static inline const gp_simd_ops *
gp_cpu_ops(gp_device *dev, gp_type type)
{
	return &gp_cpu_of(dev)->simd->ops[type];
}

/* Raises GP_ERR_INTERNAL for arguments that the calling operation cannot have. */
#define gp_cpu_require(dev, condition) \
	do { \
		if (!(condition)) \
			gp_raise((dev)->env, GP_ERR_INTERNAL, NULL, \
					 "operands of the device operation \"%s\" do not fit together", __func__); \
	} while (0)

/* Shares out tiles of work, serving interrupts; without a pool, in a dry run, nothing is done. */
static inline void
gp_cpu_run(gp_device *dev, gp_tile tile, void *job, int64_t tiles)
{
	gp_pool    *pool = gp_cpu_of(dev)->pool;

	if (pool != NULL)
		gp_pool_run(pool, tile, job, tiles, gp_pool_threads(pool));
}

/* The same for tiles that call OpenBLAS, by as many threads as it has buffers for. */
static inline void
gp_cpu_run_blas(gp_device *dev, gp_tile tile, void *job, int64_t tiles)
{
	gp_pool    *pool = gp_cpu_of(dev)->pool;

	if (pool != NULL && tiles > 0)
		gp_pool_run(pool, tile, job, tiles,
					gp_blas_reserve(dev->env, (int) gp_min64(tiles, gp_pool_threads(pool))));
}

/* A matrix cut into tiles, row by row of tiles. */
typedef struct gp_grid
{
	int64_t		rows;
	int64_t		cols;
	int64_t		tile_rows;
	int64_t		tile_cols;
	int64_t		across;			/* tiles side by side */
	int64_t		tiles;
} gp_grid;

typedef struct gp_tile_range
{
	int64_t		row;
	int64_t		col;
	int64_t		rows;
	int64_t		cols;
} gp_tile_range;

/* cpu_copy.c */
extern gp_grid gp_grid_make(int64_t rows, int64_t cols, int64_t tile_rows, int64_t tile_cols);
extern gp_tile_range gp_grid_at(const gp_grid *grid, int64_t tile);

/* Whole rows where that gives tiles of about so many elements, else parts of rows. */
extern gp_grid gp_grid_elements(int64_t rows, int64_t cols, int64_t elements);

/* The view of a tile. */
static inline gp_matrix
gp_grid_part(gp_matrix m, gp_tile_range r)
{
	return gp_matrix_part(m, r.row, r.col, r.rows, r.cols);
}

/* The address of an element. */
static inline void *
gp_matrix_at(gp_matrix m, int64_t row, int64_t col)
{
	return (char *) m.data + (row * m.ld + col) * (int64_t) gp_type_size(m.type);
}

/* True when two matrices have the same type and shape. */
static inline bool
gp_matrix_alike(gp_matrix a, gp_matrix b)
{
	return a.type == b.type && a.rows == b.rows && a.cols == b.cols;
}

/* cpu_device.c: the CPU's operations; env, threads and state are each device's own. */
extern const gp_device gp_cpu_table;

/* The operations, by the entries of the table that they are. */
#define GP_CPU_OPERATION(name) extern __typeof__(*((gp_device *) NULL)->name) gp_cpu_##name

/* cpu_copy.c */
GP_CPU_OPERATION(copy);
GP_CPU_OPERATION(fill);
GP_CPU_OPERATION(axpby);
GP_CPU_OPERATION(shift);
GP_CPU_OPERATION(transpose);
GP_CPU_OPERATION(transpose_square);
GP_CPU_OPERATION(gather_rows);
GP_CPU_OPERATION(row_dots);
GP_CPU_OPERATION(take);
GP_CPU_OPERATION(put);

/* What is below the diagonal is copied above it. */
extern void gp_cpu_mirror_lower(gp_device *dev, gp_matrix x);

/* cpu_elementwise.c, cpu_map.c, cpu_pairs.c */
GP_CPU_OPERATION(elementwise);
GP_CPU_OPERATION(map);
GP_CPU_OPERATION(map_diag);
GP_CPU_OPERATION(pair_diag);

/* cpu_dense.c; syrk_lower leaves what is above the diagonal alone. */
GP_CPU_OPERATION(gemm);
GP_CPU_OPERATION(syrk);
extern __typeof__(gp_cpu_syrk) gp_cpu_syrk_lower;

/* The operations that a tile should have, for a problem of so many. */
extern double gp_tile_flops(gp_type type, double total);

/* Cuts length into equal parts of size, or 0.8 to 1.3 times that; multiples of 16. */
extern int64_t gp_even_part(int64_t length, double size);

/* cpu_solve.c, cpu_factor.c */
extern size_t gp_cpu_solve_bytes(void);
GP_CPU_OPERATION(trsm);
GP_CPU_OPERATION(potrf);
GP_CPU_OPERATION(trtri);
GP_CPU_OPERATION(syev);

/* cpu_sparse.c, cpu_paths.c */
GP_CPU_OPERATION(spmm);
GP_CPU_OPERATION(spmm_take);
GP_CPU_OPERATION(csr_rows);
GP_CPU_OPERATION(csr_product_rows);
GP_CPU_OPERATION(pair_paths);

/* A variance after the stage: scale * map(k_ii) + shift. */
extern double gp_stage_variance(const gp_stage *stage, double variance);

/* What the columns of a block contribute to a stage, for gp_stage_row. */
typedef struct gp_stage_columns
{
	void	   *first;			/* roots (relu) or variances (rbf) */
	void	   *second;			/* inverse roots (relu) */
} gp_stage_columns;

/* Fills the columns' part for n columns, node node[j] or j; arrays have room for n. */
extern void gp_stage_prepare(const gp_stage *stage, gp_type type, const int32_t *node,
							 int64_t n, gp_stage_columns columns);

/* Applies a stage to part of a row whose own variance is given; the diagonal is not special. */
extern void gp_stage_row(const gp_simd_ops *ops, const gp_stage *stage, double variance,
						 gp_stage_columns columns, int64_t n, void *k);

/* Makes the device use another variant of the vector code; false when it cannot run.  For tests. */
extern bool gp_cpu_force_simd(gp_device *dev, gp_simd_level level);

#endif							/* GP_CPU_INTERNAL_H */
