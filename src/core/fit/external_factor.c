/*
 * external_factor.c - the posterior from a factor whose rows the host keeps.
 *
 * The regression is the primal one.  It needs sums over the labelled rows, a sample of rows, and
 * at the end one pass over all rows.
 */
#include "fit_internal.h"

#define ROWS 4096				/* of all nodes, that are looked at together */

/* A fit on its way. */
typedef struct external_fit
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_external_factor *factor;
	gp_posterior *out;
} external_fit;

/* gram of gp_primal_rows */
static void
sum_rows(void *state, const gp_targets *targets, gp_matrix gram, gp_matrix qty)
{
	const gp_external_factor *f = ((external_fit *) state)->factor;

	f->gram(f->state, targets->y, targets->columns, gram, qty);
}

/* sample of gp_primal_rows */
static void
sample_rows(void *state, const int32_t *index, int64_t n, gp_matrix out)
{
	external_fit *fit = state;
	int32_t    *node = gp_alloc_array(fit->dev->env, n, sizeof(int32_t));

	for (int64_t i = 0; i < n; i++)
		node[i] = fit->problem->labelled[index[i]];
	fit->factor->rows(fit->factor->state, node, n, out);
	gp_free(fit->dev->env, node);
}

/* explain of gp_primal_rows: the pass over all rows, of which the labelled ones are asked for. */
static void
predict_rows(void *state, gp_matrix root, gp_matrix w, double *mean, double *leverage)
{
	external_fit *fit = state;
	gp_device  *dev = fit->dev;
	int32_t		columns = fit->out->columns;
	gp_matrix	l = gp_copy(dev, root, GP_DOUBLE);
	double	   *row = gp_alloc_array(dev->env, fit->problem->nlabelled * (1 + columns),
									 sizeof(double));

	dev->trtri(dev, l);
	dev->transpose_square(dev, l);
	fit->out->kept = fit->factor->explain(fit->factor->state, l, w, row);
	dev->destroy(dev, &l);
	for (int64_t k = 0; k < fit->problem->nlabelled; k++)
	{
		leverage[k] = row[k * (1 + columns)];
		memcpy(mean + k * columns, row + k * (1 + columns) + 1, columns * sizeof(double));
	}
	gp_free(dev->env, row);
}

/* The prior's variances where a value asks for them (lowrank.c); else none. */
static gp_kept_rows
keep_prior(const external_fit *fit, double *row)
{
	const gp_posterior *out = fit->out;
	int64_t		n = fit->problem->task == GP_TASK_VALUES ? out->nodes : 0;
	gp_kept_rows prior = {0};

	for (gp_band band = gp_band_first(n, ROWS); band.count > 0 && !prior.move; gp_band_next(&band))
	{
		bool		silent = false;

		out->kept.move(out->kept.state, band.first, band.count, row, false);
		for (int64_t i = 0; i < band.count; i++)
			silent = silent || gp_is_silent(row + 2 * i + 1, 1);
		if (silent)
		{
			gp_matrix	one = gp_identity(fit->dev, fit->factor->rank);

			prior = fit->factor->explain(fit->factor->state, one, (gp_matrix) {0}, NULL);
			fit->dev->destroy(fit->dev, &one);
		}
	}
	return prior;
}

/* Kept rows become those of the posterior. */
static void
finish_rows(const external_fit *fit, const gp_targets *targets, const gp_solution *solution)
{
	gp_posterior *out = fit->out;
	gp_env	   *env = fit->dev->env;
	int64_t		width = 1 + out->columns;
	size_t		bytes = out->columns * sizeof(double);
	double	   *row = gp_alloc_array(env, ROWS * width, sizeof(double));
	double	   *norm = gp_alloc_array(env, ROWS, sizeof(double));
	gp_posterior part = {.columns = out->columns,
						 .mean = gp_alloc_array(env, ROWS * out->columns, sizeof(double)),
						 .variance = gp_alloc_array(env, ROWS, sizeof(double))};
	gp_kept_rows prior = keep_prior(fit, row);

	for (gp_band band = gp_band_first(out->nodes, ROWS); band.count > 0; gp_band_next(&band))
	{
		part.nodes = band.count;
		out->kept.move(out->kept.state, band.first, band.count, row, false);
		if (prior.move)
			prior.move(prior.state, band.first, band.count, norm, false);
		/* What is left of a variance is its leverage times the noise (lowrank.c). */
		for (int64_t i = 0; i < band.count; i++)
		{
			part.variance[i] = solution->noise * row[i * width];
			memcpy(part.mean + i * part.columns, row + i * width + 1, bytes);
		}
		gp_posterior_finish(env, fit->problem, targets, solution,
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
	gp_graph	none = {.nodes = nodes};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = GP_STRATEGY_SQL};
	external_fit fit = {.dev = dev,.problem = &p,.factor = factor};
	gp_eval		ev = {.dev = dev,.env = dev->env,.n = nodes,.max_jitter = factor->jitter};
	gp_primal_rows rows = {&fit, factor->rank, GP_DOUBLE, sum_rows, sample_rows, predict_rows};
	gp_targets	targets;

	p.strategy = plan.strategy;
	p.graph = &none;
	p.features = NULL;
	p.type = GP_FLOAT;
	gp_problem_check(dev->env, &p);
	gp_posterior *out = gp_posterior_begin(dev->env, &p, &plan, &targets);
	double		mean = gp_rows_mean(&ev, factor->rank, factor->rows, factor->state);
	gp_check_mean_diagonal(dev->env, GP_FLOAT, mean);
	fit.out = out;
	gp_solution solution = gp_primal_solve_rows(dev, &p, &targets, &rows, mean);
	finish_rows(&fit, &targets, &solution);
	out->jitter = factor->jitter;
	gp_notice_no_kernel(dev->env, &p, out);
	gp_notice_lowrank(&ev, &out->plan, factor->first_jitter);
	gp_posterior_end(dev, &p, &targets, &solution, out);
	return out;
}
