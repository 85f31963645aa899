/*
 * infer_count_exact.c - the cost of the exact strategies.
 *
 * The counts follow the evaluators step by step: a buffer that they hold is a
 * buffer counted here.
 */
#include "infer_count.h"

#include <math.h>
#include <string.h>

#define MAP_FLOPS 20.0			/* of one pointwise stage */

/* The step at the bottom of a chain that holds its linear factor, and the stages above it. */
static int
chain_bottom(const gp_eval *ev, int step, int *stages)
{
	const gp_step *s = &ev->program->steps[step];

	if (gp_step_is_linear(ev, step))
		return step;
	*stages += s->kind != GP_STEP_SUM;
	switch (s->kind)
	{
		case GP_STEP_INPUT:
			return step;
		case GP_STEP_SUM:
			return chain_bottom(ev, ev->program->steps[s->arg1].kind == GP_STEP_BIAS ?
								s->arg0 : s->arg1, stages);
		default:
			return chain_bottom(ev, s->arg0, stages);
	}
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

/* The vectors of variances that a chain keeps. */
static double
chain_bytes(gp_eval *ev, int step)
{
	int			stages = 0;

	chain_bottom(ev, step, &stages);
	return (stages + 2.0) * gp_matrix_bytes(ev->n, 1, GP_DOUBLE);
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

/* The pairs of neighbours of one operator over a chain. */
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
	count->bytes = fmax(count->bytes, chain_bytes(ev, s->arg0) +
						ev->dev->threads * (8.0 * z->width + 2.5e6));
	if (owned)
		gp_csr_free(ev->env, op);
}

/* The diagonal of a step by pairs of neighbours. */
gp_count
gp_count_diagonal(gp_eval *ev, int step)
{
	const gp_step *s = &ev->program->steps[step];
	gp_count	count = {2.0 * gp_matrix_bytes(ev->n, 1, GP_DOUBLE), 0.0, 0.0};

	if (gp_step_is_chain(ev, step))
	{
		count.bytes += chain_bytes(ev, step);
		return count;
	}
	if (s->kind == GP_STEP_OP)
		pair_flops(ev, s, &count);
	for (int k = 0; k < 2 && s->kind != GP_STEP_OP; k++)
	{
		int			arg = k == 0 ? s->arg0 : s->arg1;
		gp_count	part;

		if (arg < 0)
			continue;
		part = gp_count_diagonal(ev, arg);
		count.bytes = fmax(count.bytes, part.bytes + gp_matrix_bytes(ev->n, 1, GP_DOUBLE));
		count.flops += part.flops;
		count.effort += part.effort;
	}
	return count;
}

static gp_count columns_of(gp_eval *ev, int step, const int32_t *cols, int64_t ncols);

/* Columns of S C S'. */
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
	if (gp_step_is_chain(ev, s->arg0))
	{
		chain_flops(ev, s->arg0, nfield, &count);
		count.bytes = half + chain_bytes(ev, s->arg0) +
			gp_matrix_bytes(chain_width(ev, s->arg0), nfield, ev->type) +
			gp_matrix_bytes(GP_ROW_BLOCK, nfield, ev->type);
	}
	else
	{
		count = columns_of(ev, s->arg0, field, nfield);
		count.bytes = fmax(count.bytes, half + gp_matrix_bytes(ev->n, nfield, ev->type));
	}
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

/* Columns of any step, as gp_eval_columns makes them. */
static gp_count
columns_of(gp_eval *ev, int step, const int32_t *cols, int64_t ncols)
{
	const gp_step *s = &ev->program->steps[step];
	double		out = gp_matrix_bytes(ev->n, ncols, ev->type);
	gp_count	count = {0.0, 0.0, 0.0};
	gp_count	other;

	if (gp_step_is_chain(ev, step))
	{
		chain_flops(ev, step, ncols, &count);
		count.bytes = out + chain_bytes(ev, step) +
			gp_matrix_bytes(chain_width(ev, step), ncols, ev->type);
		return count;
	}
	if (s->kind == GP_STEP_OP)
		return operator_columns(ev, s, cols, ncols);
	count = columns_of(ev, s->arg0, cols, ncols);
	if (s->kind == GP_STEP_SUM && ev->program->steps[s->arg1].kind != GP_STEP_BIAS)
	{
		other = columns_of(ev, s->arg1, cols, ncols);
		count.bytes = fmax(count.bytes, out + other.bytes);
		count.flops += other.flops;
		count.effort += other.effort;
	}
	if (s->kind == GP_STEP_RELU)
	{
		other = gp_count_diagonal(ev, s->arg0);
		count.bytes = fmax(count.bytes, out + other.bytes);
		count.flops += other.flops;
		count.effort += other.effort;
		gp_count_dense(&count, MAP_FLOPS * ev->n * ncols);
	}
	return count;
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
	gp_count	count = columns_of(ev, root, problem->labelled, problem->nlabelled);
	gp_count	diag = gp_count_diagonal(ev, root);

	count.bytes = fmax(count.bytes, diag.bytes);
	count.flops += diag.flops;
	count.effort += diag.effort;
	add_posterior(ev, problem, &count);
	return count;
}

/* The operations of the full recursion for a step and all it uses, each once. */
static void
full_flops(gp_eval *ev, int step, bool *seen, gp_count *count)
{
	const gp_step *s = &ev->program->steps[step];
	double		cells = (double) ev->n * ev->n;

	if (seen[step])
		return;
	seen[step] = true;
	if (gp_step_is_chain(ev, step))
	{
		chain_flops(ev, step, ev->n, count);
		count->bytes = fmax(count->bytes, chain_bytes(ev, step) +
							gp_matrix_bytes(chain_width(ev, step), GP_ROW_BLOCK, ev->type) +
							gp_matrix_bytes(GP_ROW_BLOCK, GP_ROW_BLOCK, ev->type));
		return;
	}
	if (s->arg0 >= 0)
		full_flops(ev, s->arg0, seen, count);
	if (s->arg1 >= 0)
		full_flops(ev, s->arg1, seen, count);
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

/* Exact, by the whole recursion. */
gp_count
gp_count_full(gp_eval *ev, const gp_problem *problem)
{
	int			root = ev->program->nsteps - 1;
	double		square = gp_matrix_bytes(ev->n, ev->n, ev->type);
	double		columns = gp_matrix_bytes(ev->n, problem->nlabelled, ev->type);
	bool	   *seen = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(bool));
	gp_count	count = {0.0, 0.0, 0.0};

	full_flops(ev, root, seen, &count);
	gp_free(ev->env, seen);
	count.bytes += gp_eval_full_matrices(ev, root) * square;
	count.bytes = fmax(count.bytes, square + columns);
	count.bytes = fmax(count.bytes, 2.0 * columns);
	add_posterior(ev, problem, &count);
	return count;
}
