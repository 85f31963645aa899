/*
 * precision_share.c - a share of a fit by conjugate gradients: some bands of its right sides.
 *
 * Bands are cut as the fit in memory cuts them (precision_fit.c), because the columns of one take the
 * same steps: a share's numbers are those of memory, to the bit.  Only the first share searches, and one that
 * has a single band of labels goes on from what its search has solved.
 */
#include "precision_fit.h"

#include <math.h>
#include <string.h>

/* The columns of targets. */
static int32_t
target_columns(const gp_problem *problem)
{
	return problem->task == GP_TASK_CLASSES ? problem->nclasses : 1;
}

/* So many columns in bands. */
static int64_t
bands_of(int64_t columns)
{
	return (columns + GP_PRECISION_BATCH - 1) / GP_PRECISION_BATCH;
}

/* How many bands there are. */
gp_precision_bands
gp_precision_count_bands(const gp_problem *problem)
{
	int32_t		columns = target_columns(problem);
	int64_t		labels = (int64_t) columns + gp_precision_label_colours(problem, columns);
	int64_t		probes = gp_precision_probe_columns(problem->graph->nodes);

	return (gp_precision_bands) {
		.labels = bands_of(labels),
		.level = problem->task == GP_TASK_CLASSES ? 1 : 0,
		.variances = bands_of(probes),
		.width = gp_min64(GP_PRECISION_BATCH, gp_max64(labels, probes))
	};
}

/* The columns of means in some bands. */
int64_t
gp_precision_band_columns(const gp_problem *problem, int64_t first, int64_t last, int64_t *from)
{
	int64_t		columns = target_columns(problem);
	int64_t		labels = gp_precision_count_bands(problem).labels;
	int64_t		to = gp_min64(columns, gp_min64(last, labels) * GP_PRECISION_BATCH);

	*from = gp_min64(columns, first * GP_PRECISION_BATCH);
	return gp_max64(to - *from, 0);
}

/* Solves the label bands, and tells of the labels; without bands the system is made all the same. */
static void
solve_labels(gp_precision_fit *f, int64_t first, int64_t last, gp_precision_part *out)
{
	const gp_problem *problem = f->problem;
	int64_t		m = problem->nlabelled;
	gp_precision_means means;

	out->columns = gp_precision_band_columns(problem, first, last, &out->first);
	if (out->columns > 0)
		out->mean = gp_alloc_array(f->env, (int64_t) gp_size_mul(f->env, f->s->rows, out->columns), sizeof(double));
	means = (gp_precision_means) {out->mean, out->first, out->columns};
	f->error = 0.0;
	gp_precision_solve_bands(f, out->prior.nugget, out->prior.fine, first, last, &means);
	out->prior.error = f->error;
	if (first >= last)
		return;
	out->label = gp_alloc_array(f->env, m, GP_PRECISION_LABEL * sizeof(double));
	if (out->columns > 0)
		out->at = gp_alloc_array(f->env, m, out->columns * sizeof(double));
	for (int64_t k = 0; k < m; k++)
	{
		double	   *figure = out->label + k * GP_PRECISION_LABEL;

		figure[0] = f->variance[k];
		figure[1] = f->least[k];
		figure[2] = f->alone[k] ? 1.0 : 0.0;
		for (int64_t c = 0; c < out->columns; c++)
			out->at[k * out->columns + c] = f->at[k * f->columns + out->first + c];
	}
}

/* Solves the other bands. */
static void
solve_nodes(gp_precision_fit *f, const gp_precision_bands *bands, int64_t first, int64_t last, gp_precision_part *out)
{
	int64_t		before = bands->labels + bands->level;

	if (bands->level > 0 && first <= bands->labels && last > bands->labels)
	{
		out->level = gp_alloc_array(f->env, f->s->rows, sizeof(double));
		f->error = 0.0;
		gp_precision_solve_level(f, out->prior.fine, out->level);
		out->prior.error = fmax(out->prior.error, f->error);
	}
	if (last > before)
	{
		out->variance = gp_alloc_zero(f->env, f->s->rows, sizeof(double));
		gp_precision_probe_bands(f, gp_max64(first - before, 0), last - before, out->variance, out->apart);
	}
}

/* Settles what is open, or takes what is settled. */
static void
settle(gp_precision_fit *f, const gp_precision_prior *prior, gp_precision_part *out)
{
	if (isnan(prior->mean_diag))
	{
		/* Priors are compared one by one: a plan without products spans no space. */
		gp_plan		plan = {.strategy = GP_STRATEGY_PRECISION};

		out->prior.nugget = gp_precision_settle(f, &plan);
		out->prior.mean_diag = f->mean_diag;
	}
	else
	{
		f->sigma2 = prior->sigma2;
		f->d = prior->d;
		f->mean_diag = prior->mean_diag;
		gp_precision_set_targets(f, false);
	}
	out->prior.sigma2 = f->sigma2;
	out->prior.d = f->d;
	out->prior.fine = gp_precision_fine(f);
}

/* Solves a share. */
gp_precision_part
gp_precision_solve_share(gp_device *dev, const gp_problem *problem, const gp_precision_prior *prior, int64_t first, int64_t last)
{
	gp_env	   *env = dev->env;
	gp_precision_bands bands = gp_precision_count_bands(problem);
	gp_csr	   *s = gp_precision_matrix(env, problem->graph);
	gp_targets	targets = gp_targets_make(env, problem);
	gp_precision_part out = {.prior = *prior};
	gp_precision_fit f;

	gp_problem_check(env, problem);
	gp_precision_fit_open(&f, dev, problem, &targets, s);
	settle(&f, prior, &out);
	solve_labels(&f, first, gp_min64(last, bands.labels), &out);
	solve_nodes(&f, &bands, first, last, &out);
	gp_precision_fit_close(&f);
	gp_free(env, f.loo);
	gp_targets_free(env, &targets);
	gp_csr_free(env, s);
	return out;
}

/* What a share says of prior, nugget and the sample as a row. */
void
gp_precision_put_figures(const gp_precision_part *part, double *row)
{
	const gp_precision_prior *p = &part->prior;
	double		prior[] = {p->sigma2, p->d, p->nugget, p->mean_diag, p->error, p->fine, p->edge ? 1.0 : 0.0};

	memcpy(row, prior, sizeof(prior));
	memcpy(row + GP_PRECISION_FIGURES - GP_PRECISION_SAMPLE, part->apart, sizeof(part->apart));
}

/* And back. */
void
gp_precision_take_figures(gp_precision_part *part, const double *row)
{
	part->prior = (gp_precision_prior) {row[0], (int) row[1], row[2], row[3], row[4], row[5], row[6] > 0.0};
	memcpy(part->apart, row + GP_PRECISION_FIGURES - GP_PRECISION_SAMPLE, sizeof(part->apart));
}
