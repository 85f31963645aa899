/*
 * count_exact.c - the cost of the exact strategies.
 *
 * The counts follow the evaluators step by step: a buffer that they hold is a
 * buffer counted here.
 */
#include "count.h"

#include <math.h>
#include <string.h>

#define MAP_FLOPS 20.0			/* of one pointwise stage */

/* The step at the bottom of a chain that holds its linear factor, and the stages above it. */
static int
chain_bottom(const gp_eval *ev, int step, int *stages)
{
	for (int below = step; below >= 0; below = gp_chain_below(ev, step))
	{
		step = below;
		if (!gp_step_is_linear(ev, step))
			*stages += ev->program->steps[step].kind != GP_STEP_SUM;
	}
	return step;
}

/* The products with a step's linear factor for some columns, all rows. */
void
gp_count_linear(gp_eval *ev, int step, double columns, gp_count *count)
{
	const gp_linear *z = gp_linear_of_step(ev, step);

	if (z->csr)
		gp_count_sparse(count, 2.0 * gp_csr_entries(z->csr) * columns);
	else
		gp_count_dense(count, 2.0 * ev->n * z->width * columns);
}

/* All rows of some columns of a chain. */
static void
chain_flops(gp_eval *ev, int step, double columns, gp_count *count)
{
	int			stages = 0;
	int			bottom = chain_bottom(ev, step, &stages);

	gp_count_linear(ev, bottom, columns, count);
	gp_count_dense(count, MAP_FLOPS * stages * ev->n * columns);
}

/* The width of a chain's factor. */
static double
chain_width(gp_eval *ev, int step)
{
	int			stages = 0;

	return (double) gp_linear_of_step(ev, chain_bottom(ev, step, &stages))->width;
}

/* The stages of a chain and the vectors of variances that they keep. */
static double
chain_bytes(gp_eval *ev, int step)
{
	int			stages = 0;

	chain_bottom(ev, step, &stages);
	return (stages + 2.0) * (gp_matrix_bytes(ev->n, 1, GP_DOUBLE) + sizeof(gp_stage));
}

/* Pairs of entries in the rows of a sparse matrix. */
static double
row_pairs(const gp_csr *s)
{
	double		pairs = 0.0;

	for (int64_t i = 0; i < s->rows; i++)
	{
		double		m = (double) (s->start[i + 1] - s->start[i]);

		pairs += 0.5 * m * (m + 1.0);
	}
	return pairs;
}

/* The pairs of neighbours of one operator over a chain; adds its bytes. */
static void
pair_flops(gp_eval *ev, const gp_step *s, gp_count *count)
{
	int			stages = 0;
	int			bottom = chain_bottom(ev, s->arg0, &stages);
	const gp_linear *z = gp_linear_of_step(ev, bottom);
	bool		owned;
	gp_csr	   *op = gp_operator_csr(ev, s->op, &owned);
	double		pairs = row_pairs(op);
	double		dense = 2.0 * pairs * z->width;
	double		sparse = z->csr ? 2.0 * pairs * gp_csr_entries(z->csr) / ev->n : INFINITY;

	if (sparse * GP_SPARSE_EFFORT < dense)
		gp_count_sparse(count, sparse);
	else
		gp_count_dense(count, dense);
	gp_count_dense(count, pairs * (4.0 + MAP_FLOPS * stages));
	count->bytes += chain_bytes(ev, s->arg0) + ev->dev->threads * (8.0 * z->width + 2.5e6);
	if (owned)
		gp_csr_free(ev->env, op);
}

/* A count that is added up during a pass. */
typedef struct pass_count
{
	gp_eval    *ev;
	const int32_t *cols;		/* of a pass that makes columns */
	int64_t		ncols;
	double		value;			/* bytes of the value of a step */
	gp_count	count;
} pass_count;

/* Adds a part that runs beside so many values. */
static void
add_beside(pass_count *p, int held, gp_count part)
{
	p->count.bytes = fmax(p->count.bytes, held * p->value + part.bytes);
	p->count.flops += part.flops;
	p->count.effort += part.effort;
}

/* One step's diagonal. */
static void
visit_diagonal(void *context, int step, int held)
{
	pass_count *p = context;
	gp_count	part = {2.0 * p->value, 0.0, 0.0};

	if (gp_step_is_chain(p->ev, step))
		part.bytes += chain_bytes(p->ev, step);
	else if (p->ev->program->steps[step].kind == GP_STEP_OP)
		pair_flops(p->ev, &p->ev->program->steps[step], &part);
	add_beside(p, held, part);
}

/* The diagonal of a step by pairs of neighbours. */
gp_count
gp_count_diagonal(gp_eval *ev, int step)
{
	pass_count	p = {.ev = ev, .value = gp_matrix_bytes(ev->n, 1, GP_DOUBLE)};

	gp_pass_play(ev, step, false, visit_diagonal, &p);
	return p.count;
}

/* Columns of S C S' over a chain C. */
static gp_count
operator_columns(gp_eval *ev, const gp_step *s, const int32_t *cols, int64_t ncols)
{
	bool		owned;
	gp_csr	   *op = gp_operator_csr(ev, s->op, &owned);
	int64_t		nfield;
	int32_t    *field = gp_graph_field(ev->env, op, cols, ncols, &nfield);
	double		half = gp_matrix_bytes(ev->n, ncols, ev->type);
	double		rows = 0.0;
	gp_count	count = {0.0, 0.0, 0.0};

	for (int64_t j = 0; j < ncols; j++)
		rows += (double) (op->start[cols[j] + 1] - op->start[cols[j]]);
	chain_flops(ev, s->arg0, nfield, &count);
	count.bytes = half + chain_bytes(ev, s->arg0) +
		gp_matrix_bytes(chain_width(ev, s->arg0), nfield, ev->type) +
		gp_matrix_bytes(GP_ROW_BLOCK, nfield, ev->type);
	count.bytes = fmax(count.bytes, 2.0 * half);
	gp_count_sparse(&count, 2.0 * ev->n * rows);
	gp_count_sparse(&count, 2.0 * gp_csr_entries(op) * ncols);
	if (owned)
	{
		count.bytes += gp_csr_entries(op) * (4.0 + gp_type_size(ev->type));
		gp_csr_free(ev->env, op);
	}
	gp_free(ev->env, field);
	return count;
}

/* Columns of a chain. */
static gp_count
chain_columns(gp_eval *ev, int step, int64_t ncols)
{
	gp_count	count = {0.0, 0.0, 0.0};

	chain_flops(ev, step, ncols, &count);
	count.bytes = gp_matrix_bytes(ev->n, ncols, ev->type) + chain_bytes(ev, step) +
		gp_matrix_bytes(chain_width(ev, step), ncols, ev->type);
	return count;
}

/* One step's columns, as gp_eval_columns makes them. */
static void
visit_columns(void *context, int step, int held)
{
	pass_count *p = context;
	gp_eval    *ev = p->ev;
	const gp_step *s = &ev->program->steps[step];

	if (gp_step_is_chain(ev, step))
		add_beside(p, held, chain_columns(ev, step, p->ncols));
	else if (s->kind == GP_STEP_OP)
		add_beside(p, held, operator_columns(ev, s, p->cols, p->ncols));
	else if (s->kind == GP_STEP_RELU)
	{
		add_beside(p, held + 1, gp_count_diagonal(ev, s->arg0));
		gp_count_dense(&p->count, MAP_FLOPS * ev->n * p->ncols);
	}
	else
		add_beside(p, held + 1, (gp_count) {0.0, 0.0, 0.0});
}

/* The regression on m labels in dual form. */
gp_count
gp_count_dual(const gp_eval *ev, const gp_problem *problem)
{
	double		m = (double) problem->nlabelled;
	double		columns = problem->nclasses > 0 ? problem->nclasses : 1;
	double		square = gp_matrix_bytes(m, m, GP_DOUBLE);
	double		solves = isnan(problem->nugget) ? 10.0 : 1.0;
	gp_count	count = {0.0, 0.0, 0.0};

	if (m <= GP_SYEV_MAX && isnan(problem->nugget))
	{
		count.bytes = 4.0 * square + 4.0 * m * columns * 8.0;
		gp_count_dense(&count, 12.0 * m * m * m + 82.0 * m * m * (columns + 1.0) + 2.0 * m * m * m);
	}
	else
	{
		count.bytes = 2.0 * square + 5.0 * gp_matrix_bytes(m, columns, GP_DOUBLE);
		gp_count_dense(&count, solves * (m * m * m + 4.0 * m * m * columns));
	}
	return count;
}

/* The posterior of all nodes from n x m columns. */
static void
add_posterior(const gp_eval *ev, const gp_problem *problem, gp_count *count)
{
	double		m = (double) problem->nlabelled;
	double		columns = problem->nclasses > 0 ? problem->nclasses : 1;
	gp_count	dual = gp_count_dual(ev, problem);
	double		kept = gp_matrix_bytes(ev->n, m, ev->type) + 2.0 * 8.0 * ev->n;
	double		after = gp_matrix_bytes(m, m, GP_DOUBLE) +
		gp_matrix_bytes(ev->n < GP_ROW_BLOCK ? ev->n : GP_ROW_BLOCK, m, GP_DOUBLE);

	after = fmax(after, gp_matrix_bytes(m, m, GP_DOUBLE) +
				 gp_matrix_bytes(ev->n, columns, ev->type));
	count->bytes = fmax(count->bytes + 2.0 * 8.0 * ev->n, kept + fmax(dual.bytes, after));
	count->flops += dual.flops;
	count->effort += dual.effort;
	gp_count_dense(count, ev->n * m * (m + 2.0 * columns));
}

/* Exact, by the receptive field of the labelled nodes. */
gp_count
gp_count_columns(gp_eval *ev, const gp_problem *problem)
{
	int			root = ev->program->nsteps - 1;
	gp_count	diag = gp_count_diagonal(ev, root);
	pass_count	p = {.ev = ev, .cols = problem->labelled, .ncols = problem->nlabelled,
	.value = gp_matrix_bytes(ev->n, problem->nlabelled, ev->type)};
	gp_count	count;

	gp_pass_play(ev, root, false, visit_columns, &p);
	count = p.count;
	count.bytes = fmax(count.bytes, diag.bytes);
	count.flops += diag.flops;
	count.effort += diag.effort;
	add_posterior(ev, problem, &count);
	return count;
}

/* The operations and the working memory of one step of the whole kernel. */
static void
full_flops(gp_eval *ev, int step, gp_count *count)
{
	const gp_step *s = &ev->program->steps[step];
	double		cells = (double) ev->n * ev->n;

	if (gp_step_is_chain(ev, step))
	{
		chain_flops(ev, step, ev->n, count);
		count->bytes = fmax(count->bytes, chain_bytes(ev, step) +
							gp_matrix_bytes(chain_width(ev, step), GP_ROW_BLOCK, ev->type) +
							gp_matrix_bytes(GP_ROW_BLOCK, GP_ROW_BLOCK, ev->type));
		return;
	}
	if (s->kind == GP_STEP_OP)
	{
		gp_count_sparse(count, 4.0 * gp_operator_products(ev, s->op) *
						gp_csr_entries(ev->a) * ev->n);
		count->bytes = fmax(count->bytes, (gp_operator_is_global(s->op) ? 3.0 : 1.0) *
							gp_matrix_bytes(ev->n, GP_COLUMN_BLOCK, ev->type) *
							(s->op->nterms > 1 ? 2.0 : 1.0));
	}
	gp_count_dense(count, cells * (s->kind == GP_STEP_RELU ? MAP_FLOPS : 2.0));
}

/* Exact, by the whole kernel: each step once. */
gp_count
gp_count_full(gp_eval *ev, const gp_problem *problem)
{
	int			root = ev->program->nsteps - 1;
	double		square = gp_matrix_bytes(ev->n, ev->n, ev->type);
	double		columns = gp_matrix_bytes(ev->n, problem->nlabelled, ev->type);
	int		   *uses = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(int));
	gp_count	count = {0.0, 0.0, 0.0};

	gp_step_uses(ev, root, ev->is_chain, uses);
	for (int i = 0; i <= root; i++)
		if (uses[i] > 0)
		{
			ev->env->check_interrupts(ev->env);
			full_flops(ev, i, &count);
		}
	gp_free(ev->env, uses);
	count.bytes += gp_eval_full_matrices(ev, root) * square;
	count.bytes = fmax(count.bytes, square + columns);
	count.bytes = fmax(count.bytes, 2.0 * columns);
	add_posterior(ev, problem, &count);
	return count;
}
