/*
 * primal.c - the regression in the columns of a factor: many labels.
 *
 * With B = Q'Q + noise I over the labelled rows of Q, the weights are
 * w = B^-1 Q'y, the leverage of a label is h_i = q_i' B^-1 q_i, and its
 * leave-one-out residual is e_i / (1 - h_i).  The Gram matrix is summed and
 * factorised in double, a block of rows at a time.
 */
#include "solution.h"

#define SAMPLE 1024				/* labels that the search for the nugget looks at */
#define GRID 5
#define REFINE 8				/* further nuggets, at most */
#define MOST_LEVERAGE (1.0 - 1e-12)

gp_primal
gp_primal_begin(gp_device *dev, const gp_problem *problem, const gp_targets *targets, int64_t rank,
				gp_type type, double mean_diag)
{
	gp_primal	p = {.dev = dev,.problem = problem,.targets = targets,.mean_diag = mean_diag,
		.gram = dev->create(dev, rank, rank, GP_DOUBLE),
		.qty = dev->create(dev, rank, targets->columns, GP_DOUBLE),
		.root = dev->create(dev, rank, rank, GP_DOUBLE),
		.w = dev->create(dev, rank, targets->columns, GP_DOUBLE)
	};

	p.sample = gp_loo_sample(dev->env, targets, SAMPLE, &p.nsample);
	p.sample_q = dev->create(dev, p.nsample, rank, type);
	return p;
}

/* Factorises gram + noise I and solves for the weights; returns log det. */
static double
factorise(gp_primal *p, double noise)
{
	p->dev->copy(p->dev, p->w, p->qty);
	return gp_gram_solve(p->dev, p->gram, noise, p->root, p->w);
}

/* The leave-one-out error of the sample, in the factor's own type. */
static double
primal_error(void *state, double nugget)
{
	gp_primal  *p = state;
	gp_device  *dev = p->dev;
	int32_t		columns = p->targets->columns;
	double		error = 0.0;

	factorise(p, nugget * p->mean_diag);
	dev->copy(dev, p->narrow_root, p->root);
	dev->copy(dev, p->narrow_w, p->w);
	dev->copy(dev, p->sample_rows, p->sample_q);
	double	   *fit = gp_alloc_values(dev->env, p->nsample * columns, sizeof(double));
	double	   *leverage = gp_alloc_values(dev->env, p->nsample, sizeof(double));
	gp_rows_predict(dev, p->sample_rows, p->narrow_root, p->narrow_w, fit, leverage);
	for (int64_t e = 0; e < gp_items(dev->env, p->nsample * columns); e++)
	{
		int64_t		at = (int64_t) p->sample[e / columns] * columns + e % columns;
		double		y = p->targets->y[at];

		p->left_out[at] = y - (y - fit[e]) / (1.0 - fmin(leverage[e / columns], MOST_LEVERAGE));
	}
	if (!dev->env->dry)
		error = gp_loo_error(p->problem, p->targets, p->left_out, p->sample, p->nsample, NULL);
	gp_free_all(dev->env, fit, leverage);
	return error;
}

void
gp_primal_weights(gp_primal *p)
{
	gp_device  *dev = p->dev;
	gp_env	   *env = dev->env;
	int64_t		rank = p->gram.rows;

	/* The nugget, by the sample of the labels. */
	p->left_out = gp_alloc_values(env, p->targets->m * p->targets->columns, sizeof(double));
	p->sample_rows = dev->create(dev, p->nsample, rank, p->sample_q.type);
	p->narrow_root = dev->create(dev, rank, rank, p->sample_q.type);
	p->narrow_w = dev->create(dev, rank, p->w.cols, p->sample_q.type);
	p->nugget = gp_nugget_choose(env, p->problem, p->targets, primal_error, p, GRID, REFINE);
	gp_destroy_all(dev, &p->sample_q, &p->sample_rows, &p->narrow_root, &p->narrow_w);
	gp_free_all(env, p->sample, p->left_out);

	double		noise = p->nugget * p->mean_diag;
	p->log_det = factorise(p, noise) + (double) (p->targets->m - rank) * log(noise);
	gp_destroy_all(dev, &p->gram, &p->qty);
}

gp_solution
gp_primal_end(gp_primal *p, double *fit, double *leverage)
{
	gp_env	   *env = p->dev->env;
	int64_t		m = p->targets->m;
	int32_t		columns = p->targets->columns;
	gp_solution out = {.nugget = p->nugget,.noise = p->nugget * p->mean_diag,
		.mean_diag = p->mean_diag,.weights = p->w,.root = p->root,
		.loo_mean = fit,.loo_variance = leverage
	};
	double		quadratic = 0.0;

	for (int64_t i = 0; i < gp_items(env, m); i++)
		leverage[i] = fmin(leverage[i], MOST_LEVERAGE);
	for (int64_t k = 0; k < gp_items(env, m * columns); k++)
	{
		double		y = p->targets->y[k];
		double		residual = y - fit[k];

		quadratic += y * residual / out.noise;
		fit[k] = y - residual / (1.0 - leverage[k / columns]);
	}
	gp_solution_scale(env, p->targets, quadratic, p->log_det, &out);
	for (int64_t i = 0; i < gp_items(env, m); i++)
		leverage[i] = out.scale * out.noise / (1.0 - leverage[i]);
	gp_solution_spread(env, p->problem, p->targets, NULL, m, &out);
	return out;
}

/* Q'Q and Q'y, a block of rows at a time. */
static void
sum_gram(gp_primal *p, gp_matrix q)
{
	gp_device  *dev = p->dev;
	int32_t		columns = p->targets->columns;
	int64_t		height = gp_min64(q.rows, dev->row_block);
	gp_matrix	block = dev->create(dev, height, q.cols, GP_DOUBLE);
	gp_matrix	y = dev->create(dev, height, columns, GP_DOUBLE);

	for (gp_band band = gp_band_first(q.rows, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);
		gp_matrix	yb = gp_matrix_rows(y, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(q, band.first, band.count));
		dev->upload(dev, yb, gp_matrix_wrap(p->targets->y + band.first * columns,
											band.count, columns, GP_DOUBLE));
		dev->syrk(dev, true, 1.0, b, band.first == 0 ? 0.0 : 1.0, p->gram);
		dev->gemm(dev, true, false, 1.0, b, yb, band.first == 0 ? 0.0 : 1.0, p->qty);
		dev->env->progress(dev->env, GP_PHASE_NUGGET, band.first + band.count, q.rows);
	}
	gp_destroy_all(dev, &block, &y);
}

gp_solution
gp_primal_solve(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
				gp_matrix q, double mean_diag)
{
	if (problem->block)
		return gp_blocks_solve(dev, problem, targets, q, mean_diag);

	gp_primal	p = gp_primal_begin(dev, problem, targets, q.cols, q.type, mean_diag);
	sum_gram(&p, q);
	dev->gather_rows(dev, p.sample_q, q, p.sample);
	gp_primal_weights(&p);

	/* What the weights say of all labels; leverages are positive sums, which the factor's own type
	 * holds well. */
	int64_t		height = gp_min64(q.rows, dev->row_block);
	double	   *fit = gp_alloc_values(dev->env, q.rows * targets->columns, sizeof(double));
	double	   *leverage = gp_alloc_values(dev->env, q.rows, sizeof(double));
	gp_matrix	narrow_root = gp_copy(dev, p.root, q.type);
	gp_matrix	narrow_w = gp_copy(dev, p.w, q.type);
	gp_matrix	block = dev->create(dev, height, q.cols, q.type);
	for (gp_band band = gp_band_first(q.rows, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(q, band.first, band.count));
		gp_rows_predict(dev, b, narrow_root, narrow_w,
						dev->env->dry ? fit : fit + band.first * targets->columns,
						dev->env->dry ? leverage : leverage + band.first);
	}
	gp_destroy_all(dev, &block, &narrow_root, &narrow_w);
	return gp_primal_end(&p, fit, leverage);
}
