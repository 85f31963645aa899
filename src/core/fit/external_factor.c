/*
 * external_factor.c - the posterior from a factor whose rows are elsewhere.
 *
 * The regression is the primal one.  What it needs of the rows are sums over the labelled
 * ones, a sample, and at the end one pass over all rows, which makes what posteriors of nodes follow from and gives, of
 * the labelled ones, what leave-one-out takes.
 */
#include "fit_internal.h"

#include <math.h>

#define DIAG_SAMPLE 1024		/* rows that the mean of the low-rank diagonal is taken over */

/* A fit and what it knows of the rows. */
typedef struct outside_fit
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_outside *factor;
	gp_posterior *out;
	double	   *present;		/* nodes: 0 where a labelled one's row is zero, else 1 */
} outside_fit;

/* The sums over labelled rows. */
static void
gram_outside(void *state, const gp_targets *targets, gp_matrix gram, gp_matrix qty)
{
	outside_fit *fit = state;

	fit->factor->gram(fit->factor->state, targets->y, targets->columns, gram, qty);
}

/* The rows of some labels. */
static void
sample_outside(void *state, const int32_t *index, int64_t n, gp_matrix out)
{
	outside_fit *fit = state;
	int32_t    *node = gp_alloc_array(fit->dev->env, n, sizeof(int32_t));

	for (int64_t i = 0; i < n; i++)
		node[i] = fit->problem->labelled[index[i]];
	fit->factor->rows(fit->factor->state, node, n, out);
	gp_free(fit->dev->env, node);
}

/* The pass over all rows. */
static void
explain_outside(void *state, gp_matrix root, gp_matrix w, double *mean, double *leverage)
{
	outside_fit *fit = state;
	int64_t		m = fit->problem->nlabelled;
	double	   *present = gp_alloc_array(fit->dev->env, m, sizeof(double));

	fit->factor->predict(fit->factor->state, w, root, mean, leverage, present);
	for (int64_t i = 0; i < m; i++)
		fit->present[fit->problem->labelled[i]] = present[i];
	gp_free(fit->dev->env, present);
}

/* The mean of |q_i|^2 over evenly spread rows, the same as gp_factor_mean takes. */
static double
mean_outside(outside_fit *fit)
{
	gp_device  *dev = fit->dev;
	gp_env	   *env = dev->env;
	int64_t		n = fit->out->nodes;
	int64_t		count = gp_min64(n, DIAG_SAMPLE);
	int32_t    *node = gp_alloc_array(env, count, sizeof(int32_t));
	gp_matrix	rows = dev->create(dev, count, fit->factor->rank, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, count, 1, GP_DOUBLE);
	double		mean;

	for (int64_t i = 0; i < count; i++)
		node[i] = (int32_t) (i * n / count);
	fit->factor->rows(fit->factor->state, node, count, rows);
	dev->row_dots(dev, norm, rows, rows);
	mean = gp_mean_entry(dev, norm);
	dev->destroy(dev, &rows);
	dev->destroy(dev, &norm);
	gp_free(env, node);
	gp_check_mean_diagonal(env, GP_FLOAT, mean);
	return mean;
}

/* Regression; the variances of rows are their leverages times the noise (lowrank.c). */
static gp_solution
solve(outside_fit *fit, const gp_targets *targets)
{
	gp_env	   *env = fit->dev->env;
	gp_primal_rows rows = {fit, fit->factor->rank, GP_DOUBLE, gram_outside, sample_outside, explain_outside};
	gp_solution solution;

	fit->present = gp_alloc_array(env, fit->out->nodes, sizeof(double));
	for (int64_t i = 0; i < fit->out->nodes; i++)
		fit->present[i] = 1.0;
	solution = gp_primal_solve_rows(fit->dev, fit->problem, targets, &rows, mean_outside(fit));
	gp_posterior_finish(env, fit->problem, targets, &solution, fit->present, fit->out);
	fit->out->row.leverage = solution.noise;
	gp_free(env, fit->present);
	return solution;
}

/* The posterior from such a factor. */
gp_posterior *
gp_fit_outside(gp_device *dev, const gp_problem *problem, const gp_outside *factor, int64_t nodes)
{
	gp_env	   *env = dev->env;
	gp_graph	none = {.nodes = nodes};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = problem->strategy,.elsewhere = true};
	gp_eval		ev = {.dev = dev, .env = env, .n = nodes, .type = GP_FLOAT, .max_jitter = factor->jitter};
	outside_fit fit = {dev, &p, factor, NULL, NULL};
	gp_targets	targets;
	gp_solution solution;

	p.graph = &none;
	p.features = NULL;
	p.type = GP_FLOAT;
	gp_problem_check(env, &p);
	targets = gp_targets_make(env, &p);
	fit.out = gp_posterior_create(env, &p, &targets, &plan);
	solution = solve(&fit, &targets);
	gp_tell_lowrank(&ev, &plan, factor->first_jitter);
	gp_posterior_settle(&ev, &p, &targets, &solution, fit.out);
	gp_solution_free(dev, &solution);
	gp_targets_free(env, &targets);
	return fit.out;
}
