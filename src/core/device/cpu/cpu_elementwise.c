/*
 * cpu_elementwise.c - element-wise steps of a training on the CPU.
 *
 * What is dropped and what is cut off is as good as random, so that no loop branches: this file is
 * compiled for vectors (Makefile).
 */

#include "cpu_internal.h"

/* Elements of a tile: below 10 ms for the slowest step. */
#define TILE_ELEMENTS (INT64_C(1) << 17)

typedef struct elementwise_job
{
	const gp_elementwise *e;
	gp_matrix	y;
	gp_matrix	a;
	gp_matrix	b;
	gp_matrix	c;
	gp_grid		grid;
	const gp_simd_ops *ops;
} elementwise_job;

/* The loops of one type over part of a row. */
#define EACH_LOOPS(T, ROOT, EXPONENTIAL) \
static void \
plain_##T(const gp_elementwise *e, int64_t n, T *restrict y, const T *restrict a, \
		  const T *restrict b) \
{ \
	T			factor = (T) e->factor; \
 \
	if (e->op == GP_ELEMENT_RELU) \
		for (int64_t j = 0; j < n; j++) \
			y[j] = y[j] < 0 ? 0 : y[j]; \
	else if (e->op == GP_ELEMENT_GATE) \
		for (int64_t j = 0; j < n; j++) \
			y[j] = a[j] > 0 ? y[j] : 0; \
	else if (e->op == GP_ELEMENT_TIMES) \
		for (int64_t j = 0; j < n; j++) \
			y[j] *= a[j]; \
	else if (e->op == GP_ELEMENT_ADD) \
		for (int64_t j = 0; j < n; j++) \
			y[j] += factor * a[j] * b[j]; \
	else if (e->op == GP_ELEMENT_OVER) \
		for (int64_t j = 0; j < n; j++) \
			y[j] = y[j] == 0 ? 0 : factor * a[j] / y[j]; \
	else if (e->op == GP_ELEMENT_ROOT) \
		for (int64_t j = 0; j < n; j++) \
			y[j] = y[j] < 0 ? 0 : ROOT(y[j]); \
	else \
		for (int64_t j = 0; j < n; j++) \
			y[j] = EXPONENTIAL(factor * a[j]); \
} \
 \
static void \
drop_##T(const gp_elementwise *e, uint64_t element, int64_t n, T *y) \
{ \
	uint64_t	bound = gp_element_bound(e->rate); \
	T			factor[2] = {0, (T) (1.0 / (1.0 - e->rate))}; \
 \
	for (int64_t j = 0; j < n; j++) \
		y[j] *= factor[gp_element_draw(e->seed, element + (uint64_t) j) >= bound]; \
} \
 \
static void \
normal_##T(const gp_elementwise *e, uint64_t element, int64_t n, T *y) \
{ \
	for (int64_t j = 0; j < n; j++) \
		y[j] = (T) (e->factor * gp_element_normal(e->seed, element + (uint64_t) j)); \
} \
 \
static void \
adam_##T(const gp_adam *s, int64_t n, T *restrict y, const T *restrict a, T *restrict b, \
		 T *restrict c) \
{ \
	T			rate = (T) s->rate; \
	T			root = (T) s->root; \
	T			decay = (T) s->decay; \
	T			clip = (T) s->clip; \
 \
	for (int64_t j = 0; j < n; j++) \
	{ \
		T			g = (a[j] > clip ? clip : a[j] < -clip ? -clip : a[j]) + decay * y[j]; \
 \
		b[j] = (T) GP_ADAM_BETA1 * b[j] + (T) (1.0 - GP_ADAM_BETA1) * g; \
		c[j] = (T) GP_ADAM_BETA2 * c[j] + (T) (1.0 - GP_ADAM_BETA2) * g * g; \
		y[j] -= rate * b[j] / (ROOT(c[j]) * root + (T) GP_ADAM_EPSILON); \
	} \
} \
 \
static void \
row_##T(const elementwise_job *job, int64_t i, int64_t col, int64_t n) \
{ \
	const gp_elementwise *e = job->e; \
	uint64_t	element = (uint64_t) (i * job->y.cols + col); \
	T		   *y = gp_matrix_at(job->y, i, col); \
	T		   *a = job->a.data ? gp_matrix_at(job->a, job->a.rows == 1 ? 0 : i, col) : NULL; \
	T		   *b = job->b.data ? gp_matrix_at(job->b, i, col) : NULL; \
	T		   *c = job->c.data ? gp_matrix_at(job->c, i, col) : NULL; \
 \
	if (e->op == GP_ELEMENT_ADAM) \
		adam_##T(&e->adam, n, y, a, b, c); \
	else if (e->op == GP_ELEMENT_DROP) \
		drop_##T(e, element, n, y); \
	else if (e->op == GP_ELEMENT_NORMAL) \
		normal_##T(e, element, n, y); \
	else if (e->op == GP_ELEMENT_COS || e->op == GP_ELEMENT_SIN) \
		job->ops->wave(n, e->factor, e->op == GP_ELEMENT_SIN, a, y); \
	else \
		plain_##T(e, n, y, a, b); \
}

EACH_LOOPS(float, sqrtf, expf)
EACH_LOOPS(double, sqrt, exp)

static void
each_tile(void *arg, int64_t tile, int worker)
{
	const elementwise_job *job = arg;
	gp_tile_range r = gp_grid_at(&job->grid, tile);

	for (int64_t i = r.row; i < r.row + r.rows; i++)
		if (job->y.type == GP_FLOAT)
			row_float(job, i, r.col, r.cols);
		else
			row_double(job, i, r.col, r.cols);
}

void
gp_cpu_elementwise(gp_device *dev, const gp_elementwise *e, gp_matrix y, gp_matrix a, gp_matrix b,
				   gp_matrix c)
{
	elementwise_job job = {e, y, a, b, c, gp_grid_elements(y.rows, y.cols, TILE_ELEMENTS),
					   gp_cpu_ops(dev, y.type)};

	int			reads = gp_element_reads(e->op);

	gp_cpu_require(dev, (reads < 1 || (a.type == y.type && a.cols == y.cols &&
									   (a.rows == y.rows || (a.rows == 1 && reads < 3)))) &&
				   (reads < 2 || gp_matrix_alike(b, y)) && (reads < 3 || gp_matrix_alike(c, y)));
	gp_cpu_run(dev, each_tile, &job, job.grid.tiles);
}
