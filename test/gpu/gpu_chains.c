/*
 * gpu_chains.c - random sequences of operations on the GPU and on the CPU.
 *
 * Nothing is looked at between the operations, so that each finds the work of
 * those before it under way: on the card, in matrices that are streamed from host
 * memory, and in views of both.  A lazy card shows a wait that is missing.
 */
#include <stdlib.h>

#include "device/test_device.h"
#include "gpu.h"

#define POOL 6					/* matrices of a chain */
#define STEPS 60

/* A chain's matrices on one device. */
typedef struct chain
{
	gp_device  *dev;
	gp_type		type;
	int64_t		n;
	gp_matrix	m[POOL];		/* n x n */
	gp_matrix	dots;			/* n x 1 double */
	gp_csr		s;
	int32_t    *index;
} chain;

/* Any matrix of the chain but those given. */
static gp_matrix
any(chain *c, int not_this, int nor_this, int *which)
{
	do
		*which = (int) random_below(POOL);
	while (*which == not_this || *which == nor_this);
	return c->m[*which];
}

/* The matrices of a chain, the same on every device. */
static void
chain_open(chain *c, gp_device *dev, gp_type type, int64_t n)
{
	double	   *host = gp_alloc_array(dev->env, n * n, sizeof(double));

	c->dev = dev;
	c->type = type;
	c->n = n;
	for (int k = 0; k < POOL; k++)
	{
		for (int64_t i = 0; i < n * n; i++)
			host[i] = random_unit();
		c->m[k] = dev->create(dev, n, n, type);
		dev->upload(dev, c->m[k], gp_matrix_wrap(host, n, n, GP_DOUBLE));
	}
	c->dots = dev->create(dev, n, 1, GP_DOUBLE);
	dev->fill(dev, c->dots, 0.0);
	c->s = random_csr(dev, n, n, 3, n / 2, type);
	c->index = gp_alloc_array(dev->env, n, sizeof(int32_t));
	for (int64_t i = 0; i < n; i++)
		c->index[i] = (int32_t) random_below(n);
	gp_free(dev->env, host);
}

/* Frees them. */
static void
chain_close(chain *c)
{
	for (int k = 0; k < POOL; k++)
		drop(c->dev, c->m[k]);
	drop(c->dev, c->dots);
	drop_csr(c->dev, c->s);
	gp_free(c->dev->env, c->index);
}

/* Solves with a Cholesky factor that it makes first: b = op(l)^-1 b or b op(l)^-1. */
static void
solve_step(chain *c, gp_matrix a, gp_matrix l, gp_matrix b)
{
	gp_device  *dev = c->dev;
	bool		left = random_below(2) == 0;
	bool		trans = random_below(2) == 0;

	dev->syrk(dev, random_below(2) == 0, 0.5 / (double) c->n, a, 0.0, l);
	dev->shift(dev, gp_matrix_diagonal(l), 2.0);
	(void) dev->potrf(dev, l);
	dev->trsm(dev, left, trans, l, b);
}

/* Single elements, read from one matrix and written to another. */
static void
element_step(chain *c, gp_matrix a, gp_matrix b)
{
	double		value[3];
	int32_t		row[3];
	int32_t		col[3];

	for (int e = 0; e < 3; e++)
	{
		row[e] = (int32_t) random_below(c->n);
		col[e] = (int32_t) random_below(c->n);
	}
	c->dev->take(c->dev, a, 3, row, col, value);
	c->dev->put(c->dev, b, 3, row, col, value);
}

/* A part of b from parts of a: views whose rows have gaps. */
static void
part_step(chain *c, gp_matrix a, gp_matrix b)
{
	int64_t		rows = 1 + random_below(c->n - 1);
	int64_t		cols = 1 + random_below(c->n - 1);
	int64_t		row = random_below(c->n - rows + 1);
	int64_t		col = random_below(c->n - cols + 1);
	gp_matrix	from = gp_matrix_part(a, row, col, rows, cols);
	gp_matrix	to = gp_matrix_part(b, c->n - rows - row, c->n - cols - col, rows, cols);

	if (random_below(2) == 0)
		c->dev->copy(c->dev, to, from);
	else
		c->dev->axpby(c->dev, 0.5, from, -0.5, to);
}

/* One operation of a chain. */
static void
chain_step(chain *c)
{
	gp_device  *dev = c->dev;
	gp_stage	stage = {GP_MAP_POLY, 0.5, 2.0, 0.5, -0.25, c->dots};
	double		small = 0.5 / (double) c->n;
	double		beta = random_below(2) == 0 ? 0.0 : 0.5;
	int64_t		kind = random_below(13);
	int			ia;
	int			ib;
	int			ic;
	gp_matrix	a = any(c, -1, -1, &ia);
	gp_matrix	b = any(c, ia, -1, &ib);
	gp_matrix	d = any(c, ia, ib, &ic);

	if (kind == 0)
		dev->copy(dev, b, a);
	else if (kind == 1)
		dev->axpby(dev, 0.5, a, -0.5, b);
	else if (kind == 2)
		dev->transpose(dev, b, a);
	else if (kind == 3)
		dev->transpose_square(dev, a);
	else if (kind == 4)
		dev->gather_rows(dev, b, a, c->index);
	else if (kind == 5)
		dev->gemm(dev, random_below(2), random_below(2), small, a, b, beta, d);
	else if (kind == 6)
		dev->spmm(dev, 0.2, &c->s, a, beta, b);
	else if (kind == 7)
		solve_step(c, a, b, d);
	else if (kind == 8)
		element_step(c, a, b);
	else if (kind == 9)
		part_step(c, a, b);
	else if (kind == 10)
		dev->row_dots(dev, c->dots, a, random_below(2) ? a : b);
	else if (kind == 11)
		dev->map(dev, &stage, a, c->n, NULL);
	else
		dev->csr_rows(dev, a, &c->s, c->index, c->n);
}

/* All steps of a chain; out gets its matrices and the last products of rows. */
static void
run_chain(gp_device *dev, gp_type type, uint64_t seed, double *out)
{
	chain		c;

	random_state = seed;
	int64_t		n = 20 + random_below(60);
	chain_open(&c, dev, type, n);
	for (int k = 0; k < STEPS; k++)
		chain_step(&c);
	for (int k = 0; k < POOL; k++)
		dev->download(dev, gp_matrix_wrap(out + k * n * n, n, n, GP_DOUBLE), c.m[k]);
	dev->download(dev, gp_matrix_wrap(out + POOL * n * n, n, 1, GP_DOUBLE), c.dots);
	chain_close(&c);
}

/* One chain on both devices; the largest difference. */
static double
compare_chain(gp_env *env, gp_type type, uint64_t seed, size_t memory)
{
	enum {MOST = POOL * 80 * 80 + 80};
	double	   *want = gp_alloc_zero(env, MOST, sizeof(double));
	double	   *got = gp_alloc_zero(env, MOST, sizeof(double));
	gp_device  *cpu = gp_device_cpu(env, 1);
	gp_device  *card = gpu_open(env, memory);
	case_result r = {0, 0};

	run_chain(cpu, type, seed, want);
	run_chain(card, type, seed, got);
	for (int64_t i = 0; i < MOST; i++)
		compare(&r, got[i], want[i]);
	card->close(card);
	cpu->close(cpu);
	gp_free_all(env, want, got);
	return r.error;
}

/* Chains with so much memory for matrices. */
static void
check_chains(gp_env *env, gp_type type, size_t memory, int lazy, bool reverse)
{
	double		worst = 0.0;
	uint64_t	at = 0;
	uint64_t	chains = getenv("GNNGP_LONG") != NULL || emulator.lazy == NULL ? 30 : 10;
	char		name[200];

	if (emulator.lazy != NULL)
	{
		emulator.lazy(lazy);
		emulator.reverse(reverse);
	}
	for (uint64_t seed = 1; seed <= chains; seed++)
	{
		double		error = compare_chain(env, type, seed, memory);

		if (error > worst)
			at = seed;
		worst = fmax(worst, error);
	}
	snprintf(name, sizeof(name), "%d chains of %d operations, %s, %zu bytes%s%s: error %.2g (chain %d)", (int) chains, STEPS,
			 type == GP_FLOAT ? "float" : "double", memory, lazy == 0 ? "" : lazy == 1 ? ", lazily" : ", in any order", reverse ? ", in reverse" : "",
			 worst, (int) at);
	ok(worst < (type == GP_FLOAT ? 1e-5 : 1e-13), name);
	ok(gpu_clean(), "nothing is left behind");
}

/* Chains on the card, streamed, and half of each; at once and lazily. */
void
gpu_chains(void)
{
	static const size_t memory[] = {0, 60000, 1};

	for (volatile int k = 0; k < 3; k++)
		for (volatile int lazy = 0; lazy < (emulator.lazy != NULL ? 3 : 1); lazy++)
		{
			in_env(check_chains(env, GP_DOUBLE, memory[k], lazy, lazy == 0));
			in_env(check_chains(env, GP_FLOAT, memory[k], lazy, lazy == 1));
		}
	if (emulator.lazy != NULL)
	{
		emulator.lazy(0);
		emulator.reverse(0);
	}
}
