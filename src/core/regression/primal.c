/*
 * primal.c - the regression in the columns of a factor: many labels.
 *
 * With B = Q'Q + noise I over the labelled rows of Q, the weights are
 * w = B^-1 Q'y, the leverage of a label is h_i = q_i' B^-1 q_i, and its
 * leave-one-out residual is e_i / (1 - h_i).  The Gram matrix is summed and
 * factorised in double, a block of rows at a time.
 */
#include "regression.h"

#define SAMPLE 1024				/* labels that the search for the nugget looks at */
#define GRID 5
#define REFINE 8				/* further nuggets, at most */

typedef struct primal
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	double		mean_diag;
	const gp_primal_rows *rows;	/* of the labels, m x rank */
	gp_matrix	gram;			/* r x r: Q'Q */
	gp_matrix	qty;			/* r x columns: Q'y */
	gp_matrix	root;			/* r x r: L of gram + noise I */
	gp_matrix	w;				/* r x columns */
	double	   *residual;		/* m x columns: e; in the search, the left-out predictions */
	double	   *leverage;		/* m: h */
	int64_t		nsample;
	int32_t    *sample;			/* labels searched, ascending */
	gp_matrix	sample_q;		/* their rows, of q's type; what follows is, too */
	gp_matrix	sample_rows;	/* a copy to solve in */
	gp_matrix	narrow_root;
	gp_matrix	narrow_w;
} primal;

/* Rows that are at hand. */
typedef struct rows_here
{
	gp_device  *dev;
	gp_matrix	q;
} rows_here;

/* Q'Q and Q'y, a block of rows at a time. */
static void
gram_here(void *state, const gp_targets *targets, gp_matrix gram, gp_matrix qty)
{
	rows_here  *here = state;
	gp_device  *dev = here->dev;
	int64_t		m = targets->m;
	int32_t		columns = targets->columns;
	int64_t		height = gp_min64(m, dev->row_block);
	gp_matrix	block = dev->create(dev, height, here->q.cols, GP_DOUBLE);
	gp_matrix	y = dev->create(dev, height, columns, GP_DOUBLE);

	for (gp_band band = gp_band_first(m, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);
		gp_matrix	yb = gp_matrix_rows(y, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(here->q, band.first, band.count));
		dev->upload(dev, yb, gp_matrix_wrap(targets->y + band.first * columns,
											band.count, columns, GP_DOUBLE));
		dev->syrk(dev, true, 1.0, b, band.first == 0 ? 0.0 : 1.0, gram);
		dev->gemm(dev, true, false, 1.0, b, yb, band.first == 0 ? 0.0 : 1.0, qty);
		dev->env->progress(dev->env, GP_PHASE_NUGGET, band.first + band.count, m);
	}
	gp_destroy_all(dev, &block, &y);
}

static void
sample_here(void *state, const int32_t *index, int64_t n, gp_matrix out)
{
	rows_here  *here = state;

	here->dev->gather_rows(here->dev, out, here->q, index);
}

/* Factorises gram + noise I and solves for the weights; returns log det. */
static double
factorise(primal *p, double noise)
{
	p->dev->copy(p->dev, p->w, p->qty);
	return gp_gram_solve(p->dev, p->gram, noise, p->root, p->w);
}

/* Residuals and leverages of n labels, whose numbers are index, or 0, 1, ... without. */
static void
set_residuals(primal *p, int64_t n, const int32_t *index, const double *fit, const double *leverage)
{
	int32_t		columns = p->targets->columns;

	for (int64_t i = 0; i < n && !p->dev->env->dry; i++)
	{
		int64_t		at = index ? index[i] : i;

		p->leverage[at] = fmin(leverage[i], 1.0 - 1e-12);
		for (int32_t c = 0; c < columns; c++)
			p->residual[at * columns + c] = p->targets->y[at * columns + c] - fit[i * columns + c];
	}
}

/* The leave-one-out error of the sample, in the factor's own type. */
static double
primal_error(void *state, double nugget)
{
	primal	   *p = state;
	gp_device  *dev = p->dev;
	int32_t		columns = p->targets->columns;
	double		total;

	factorise(p, nugget * p->mean_diag);
	dev->copy(dev, p->narrow_root, p->root);
	dev->copy(dev, p->narrow_w, p->w);
	dev->copy(dev, p->sample_rows, p->sample_q);
	double	   *fit = gp_alloc_figures(dev->env, p->nsample * columns, sizeof(double));
	double	   *leverage = gp_alloc_figures(dev->env, p->nsample, sizeof(double));
	gp_explain_rows(dev, p->sample_rows, p->narrow_root, p->narrow_w, fit, leverage);
	set_residuals(p, p->nsample, p->sample, fit, leverage);
	gp_free_all(dev->env, fit, leverage);
	if (dev->env->dry)
		return 0.0;
	for (int64_t k = 0; k < p->nsample; k++)
		for (int32_t c = 0; c < columns; c++)
		{
			int64_t		at = (int64_t) p->sample[k] * columns + c;

			p->residual[at] = p->targets->y[at] - p->residual[at] /
				(1.0 - p->leverage[p->sample[k]]);
		}
	return gp_loo_error(p->problem, p->targets, p->residual, p->sample, p->nsample, &total);
}

/*
 * The same of all rows at hand: leverages are positive sums, which the factor's own type holds
 * well.
 */
static void
explain_here(void *state, gp_matrix root, gp_matrix w, double *fit, double *leverage)
{
	rows_here  *here = state;
	gp_device  *dev = here->dev;
	int64_t		m = here->q.rows;
	int64_t		height = gp_min64(m, dev->row_block);
	gp_matrix	narrow_root = gp_copy(dev, root, here->q.type);
	gp_matrix	narrow_w = gp_copy(dev, w, here->q.type);
	gp_matrix	block = dev->create(dev, height, here->q.cols, here->q.type);

	for (gp_band band = gp_band_first(m, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(here->q, band.first, band.count));
		gp_explain_rows(dev, b, narrow_root, narrow_w,
						dev->env->dry ? fit : fit + band.first * w.cols,
						dev->env->dry ? leverage : leverage + band.first);
	}
	gp_destroy_all(dev, &block, &narrow_root, &narrow_w);
}

gp_solution
gp_primal_solve_rows(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
					 const gp_primal_rows *rows, double mean_diag)
{
	primal		p = {.dev = dev,.problem = problem,.targets = targets,.mean_diag = mean_diag,
	.rows = rows};
	gp_env	   *env = dev->env;
	int64_t		m = targets->m;
	int64_t		rank = rows->rank;
	int32_t		columns = targets->columns;
	gp_solution out = {.mean_diag = mean_diag};
	double		quadratic = 0.0;

	p.gram = dev->create(dev, rank, rank, GP_DOUBLE);
	p.qty = dev->create(dev, rank, columns, GP_DOUBLE);
	p.root = dev->create(dev, rank, rank, GP_DOUBLE);
	p.w = dev->create(dev, rank, columns, GP_DOUBLE);
	p.residual = gp_alloc_figures(env, m * columns, sizeof(double));
	p.leverage = gp_alloc_figures(env, m, sizeof(double));
	rows->gram(rows->state, targets, p.gram, p.qty);

	/* The nugget, by a sample of the labels. */
	p.sample = gp_loo_sample(env, targets, SAMPLE, &p.nsample);
	p.sample_q = dev->create(dev, p.nsample, rank, rows->type);
	rows->sample(rows->state, p.sample, p.nsample, p.sample_q);
	p.sample_rows = dev->create(dev, p.nsample, rank, rows->type);
	p.narrow_root = dev->create(dev, rank, rank, rows->type);
	p.narrow_w = dev->create(dev, rank, columns, rows->type);
	out.nugget = gp_nugget_choose(env, problem, targets, primal_error, &p, GRID, REFINE);
	out.noise = out.nugget * mean_diag;
	gp_destroy_all(dev, &p.sample_q, &p.sample_rows, &p.narrow_root, &p.narrow_w);
	gp_free(env, p.sample);

	/* Weights, residuals and leverages of all labels. */
	double		log_det = factorise(&p, out.noise) + (double) (m - rank) * log(out.noise);
	double	   *fit = gp_alloc_figures(env, m * columns, sizeof(double));
	double	   *leverage = gp_alloc_figures(env, m, sizeof(double));
	rows->explain(rows->state, p.root, p.w, fit, leverage);
	set_residuals(&p, m, NULL, fit, leverage);
	gp_free_all(env, fit, leverage);

	/* Leave-one-out and the scale. */
	out.loo_mean = gp_alloc_figures(env, m * columns, sizeof(double));
	out.loo_variance = gp_alloc_figures(env, m, sizeof(double));
	for (int64_t k = 0; k < m * columns && !env->dry; k++)
	{
		quadratic += targets->y[k] * p.residual[k] / out.noise;
		out.loo_mean[k] = targets->y[k] - p.residual[k] / (1.0 - p.leverage[k / columns]);
	}
	gp_solution_scale(env, targets, quadratic, log_det, &out);
	for (int64_t i = 0; i < m && !env->dry; i++)
		out.loo_variance[i] = out.scale * out.noise / (1.0 - p.leverage[i]);
	gp_solution_widen(env, problem, targets, &out);
	out.weights = p.w;
	out.root = p.root;
	gp_destroy_all(dev, &p.gram, &p.qty);
	gp_free_all(env, p.residual, p.leverage);
	return out;
}

gp_solution
gp_primal_solve(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
				gp_matrix q, double mean_diag)
{
	rows_here	here = {dev, q};
	gp_primal_rows rows = {&here, q.cols, q.type, gram_here, sample_here, explain_here};

	if (problem->block)
		return gp_blocks_solve(dev, problem, targets, q, mean_diag);
	return gp_primal_solve_rows(dev, problem, targets, &rows, mean_diag);
}
