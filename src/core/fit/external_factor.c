/*
 * external_factor.c - the posterior from a factor whose rows the host keeps.
 *
 * The regression is the primal one.  It needs sums over the labelled rows, a sample of rows, and
 * at the end one pass over all rows.
 */
#include "fit_internal.h"

#define ROWS 4096				/* of all nodes, that are looked at together */

/* The prior's variances where a value asks for them (lowrank_posterior.c); else none. */
static gp_kept_rows
keep_prior(gp_device *dev, const gp_problem *problem, const gp_external_factor *factor,
		   const gp_posterior *out, double *row)
{
	int64_t		n = problem->task == GP_TASK_VALUES ? out->nodes : 0;
	gp_kept_rows prior = {0};

	for (gp_band band = gp_band_first(n, ROWS); band.count > 0 && !prior.move; gp_band_next(&band))
	{
		bool		silent = false;

		out->kept.move(out->kept.state, band.first, band.count, row, false);
		for (int64_t i = 0; i < band.count; i++)
			silent = silent || gp_is_silent(row + 2 * i + 1, 1);
		if (silent)
		{
			gp_matrix	one = gp_identity(dev, factor->rank);

			prior = factor->project_all(factor->state, one, (gp_matrix) {0}, NULL);
			dev->destroy(dev, &one);
		}
	}
	return prior;
}

/* Kept rows become those of the posterior. */
static void
finish_rows(gp_device *dev, const gp_problem *problem, const gp_external_factor *factor,
			const gp_targets *targets, const gp_solution *solution, gp_posterior *out)
{
	gp_env	   *env = dev->env;
	int64_t		width = 1 + out->columns;
	size_t		bytes = out->columns * sizeof(double);
	double	   *row = gp_alloc_array(env, ROWS * width, sizeof(double));
	double	   *norm = gp_alloc_array(env, ROWS, sizeof(double));
	gp_posterior part = {.columns = out->columns,
						 .mean = gp_alloc_array(env, ROWS * out->columns, sizeof(double)),
						 .variance = gp_alloc_array(env, ROWS, sizeof(double))};
	gp_kept_rows prior = keep_prior(dev, problem, factor, out, row);

	for (gp_band band = gp_band_first(out->nodes, ROWS); band.count > 0; gp_band_next(&band))
	{
		part.nodes = band.count;
		out->kept.move(out->kept.state, band.first, band.count, row, false);
		if (prior.move)
			prior.move(prior.state, band.first, band.count, norm, false);
		/* What is left of a variance is its leverage times the noise (lowrank_posterior.c). */
		for (int64_t i = 0; i < band.count; i++)
		{
			part.variance[i] = solution->noise * row[i * width];
			memcpy(part.mean + i * part.columns, row + i * width + 1, bytes);
		}
		gp_posterior_finish(env, problem, targets, solution,
							prior.move ? norm : part.variance, &part);
		for (int64_t i = 0; i < band.count; i++)
		{
			row[i * width] = part.variance[i];
			memcpy(row + i * width + 1, part.mean + i * part.columns, bytes);
		}
		out->kept.move(out->kept.state, band.first, band.count, row, true);
		if (part.is_prior && out->is_prior == NULL)
			out->is_prior = gp_alloc_zero(env, out->nodes, sizeof(bool));
		if (part.is_prior)
			memcpy(out->is_prior + band.first, part.is_prior, band.count);
		gp_free(env, part.is_prior);
		part.is_prior = NULL;
	}
	out->no_kernel = part.no_kernel;
	gp_free_all(env, row, norm, part.mean, part.variance);
}

gp_posterior *
gp_fit_external(gp_device *dev, const gp_problem *problem, const gp_external_factor *factor,
				int64_t nodes)
{
	gp_env	   *env = dev->env;
	gp_graph	none = {.nodes = nodes};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = GP_STRATEGY_SQL};
	gp_eval		ev = {.dev = dev,.env = env,.n = nodes,.max_jitter = factor->jitter};
	gp_targets	targets;

	p.strategy = plan.strategy;
	p.graph = &none;
	p.features = NULL;
	p.type = GP_FLOAT;
	gp_problem_check(env, &p);
	gp_posterior *out = gp_posterior_begin(env, &p, &plan, &targets);

	/* The weights, from sums over the labelled rows and a sample of them. */
	double		mean_diag = gp_rows_mean(&ev, factor->rank, factor->rows, factor->state);
	gp_check_mean_diagonal(env, GP_FLOAT, mean_diag);
	gp_primal	primal = gp_primal_begin(dev, &p, &targets, factor->rank, GP_DOUBLE, mean_diag);
	factor->gram(factor->state, targets.y, targets.columns, primal.gram, primal.qty);
	int32_t    *node = gp_alloc_array(env, primal.nsample, sizeof(int32_t));
	for (int64_t i = 0; i < primal.nsample; i++)
		node[i] = p.labelled[primal.sample[i]];
	factor->rows(factor->state, node, primal.nsample, primal.sample_q);
	gp_free(env, node);
	gp_primal_weights(&primal);

	/* One pass over all rows, of which the labelled ones end the regression. */
	int64_t		m = targets.m;
	int32_t		columns = out->columns;
	double	   *row = gp_alloc_array(env, m * (1 + columns), sizeof(double));
	double	   *fit = gp_alloc_array(env, m * columns, sizeof(double));
	double	   *leverage = gp_alloc_array(env, m, sizeof(double));
	gp_matrix	l = gp_copy(dev, primal.root, GP_DOUBLE);
	dev->trtri(dev, l);
	dev->transpose_square(dev, l);
	out->kept = factor->project_all(factor->state, l, primal.w, row);
	dev->destroy(dev, &l);
	for (int64_t k = 0; k < m; k++)
	{
		leverage[k] = row[k * (1 + columns)];
		memcpy(fit + k * columns, row + k * (1 + columns) + 1, columns * sizeof(double));
	}
	gp_free(env, row);
	gp_solution solution = gp_primal_end(&primal, fit, leverage);
	finish_rows(dev, &p, factor, &targets, &solution, out);
	out->jitter = factor->jitter;
	gp_notice_no_kernel(env, &p, out);
	gp_notice_lowrank(&ev, &out->plan, factor->first_jitter);
	gp_posterior_end(dev, &p, &targets, &solution, out);
	return out;
}
