/*
 * dual.c - the regression on K(t,t), in double.
 *
 * With S = K(t,t) + noise I everything is closed form: alpha = S^-1 y, the
 * leave-one-out residual alpha_i / [S^-1]_ii, its variance 1 / [S^-1]_ii
 * (Rasmussen and Williams 2006, section 5.4.2).
 */
#include "solution.h"

#define EIGEN_GRID 41			/* nuggets tried where one eigendecomposition serves all */
#define CHOLESKY_GRID 5			/* where each costs a factorisation */
#define CHOLESKY_REFINE 8		/* and so often more, at most */

typedef struct dual
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	int64_t		ncounted;
	int32_t    *counted;		/* labels that take part in leave-one-out */
	double		mean_diag;
	gp_matrix	k;				/* m x m */
	gp_matrix	work;			/* m x m: factor, inverse factor; or the eigenvectors */
	gp_matrix	y;				/* m x columns on the device */
	gp_matrix	alpha;			/* m x columns */
	gp_matrix	inverse_diag;	/* m x 1: [S^-1]_ii */
	/* of the eigendecomposition */
	gp_matrix	squares;		/* squared eigenvectors */
	gp_matrix	uty;			/* U' y */
	gp_matrix	scaled;			/* m x columns */
	gp_matrix	weights;		/* m x 1: 1 / (lambda + noise) */
	double	   *lambda;
} dual;

/* The leave-one-out error over the nodes that count. */
static double
loo_error(dual *d)
{
	gp_env	   *env = d->dev->env;
	int32_t		columns = d->targets->columns;
	double	   *mean = gp_download(d->dev, d->alpha);
	double	   *inverse = gp_download(d->dev, d->inverse_diag);
	double		error = 0.0;

	for (int64_t k = 0; k < d->targets->m * columns && !env->dry; k++)
		mean[k] = d->targets->y[k] - mean[k] / inverse[k / columns];
	if (!env->dry)
		error = gp_loo_error(d->problem, d->targets, mean, d->counted, d->ncounted, NULL);
	gp_free_all(env, mean, inverse);
	return error;
}

/* The error at one nugget from the eigendecomposition K = U diag(lambda) U'. */
static double
eigen_error(void *state, double nugget)
{
	dual	   *d = state;
	gp_device  *dev = d->dev;
	int64_t		m = d->targets->m;
	int32_t		columns = d->targets->columns;
	double	   *w = gp_alloc_array(dev->env, m, sizeof(double));
	double	   *b = gp_download(dev, d->uty);

	for (int64_t i = 0; i < m && !dev->env->dry; i++)
	{
		w[i] = 1.0 / (fmax(d->lambda[i], 0.0) + nugget * d->mean_diag);
		for (int32_t c = 0; c < columns; c++)
			b[i * columns + c] *= w[i];
	}
	dev->upload(dev, d->weights, gp_matrix_wrap(w, m, 1, GP_DOUBLE));
	dev->upload(dev, d->scaled, gp_matrix_wrap(b, m, columns, GP_DOUBLE));
	gp_free_all(dev->env, w, b);
	dev->gemm(dev, false, false, 1.0, d->work, d->scaled, 0.0, d->alpha);
	dev->gemm(dev, false, false, 1.0, d->squares, d->weights, 0.0, d->inverse_diag);
	return loo_error(d);
}

/*
 * Factorises K + noise I into work and, from the inverse factor, takes
 * inverse_diag and alpha.  keep, if not NULL, gets the factor itself.  Returns
 * log det S.
 */
static double
cholesky_solve(dual *d, double noise, gp_matrix *keep)
{
	gp_device  *dev = d->dev;
	gp_matrix	half = dev->create(dev, d->targets->m, d->targets->columns, GP_DOUBLE);

	dev->copy(dev, d->work, d->k);
	dev->shift(dev, gp_matrix_diagonal(d->work), noise);
	if (dev->potrf(dev, d->work) >= 0)
		gp_raise(dev->env, GP_ERR_DATA, "Give a larger nugget.",
				 "the covariance of the labelled nodes is not positive definite");
	double		log_det = gp_root_log_det(dev, d->work);
	if (keep)
		dev->copy(dev, *keep, d->work);
	dev->trtri(dev, d->work);
	dev->gemm(dev, false, false, 1.0, d->work, d->y, 0.0, half);
	dev->gemm(dev, true, false, 1.0, d->work, half, 0.0, d->alpha);
	dev->transpose_square(dev, d->work);
	dev->row_dots(dev, d->inverse_diag, d->work, d->work);
	dev->destroy(dev, &half);
	return log_det;
}

/* The error at one nugget from a factorisation of its own. */
static double
cholesky_error(void *state, double nugget)
{
	dual	   *d = state;

	cholesky_solve(d, nugget * d->mean_diag, NULL);
	return loo_error(d);
}

/* The nugget, by one eigendecomposition for all where the size allows it. */
static double
choose_nugget(dual *d, const gp_problem *problem)
{
	gp_device  *dev = d->dev;
	double		nugget;

	if (d->targets->m > GP_SYEV_MAX || !isnan(problem->nugget) || d->targets->few ||
		d->targets->flat)
		return gp_nugget_choose(dev->env, problem, d->targets, cholesky_error, d, CHOLESKY_GRID,
								CHOLESKY_REFINE);
	/* Decomposes K and keeps what every nugget needs. */
	int64_t		m = d->targets->m;
	gp_matrix	w = dev->create(dev, m, 1, GP_DOUBLE);

	dev->copy(dev, d->work, d->k);
	dev->syev(dev, d->work, w);
	d->lambda = gp_download(dev, w);
	dev->destroy(dev, &w);
	double	   *u = gp_download(dev, d->work);
	for (int64_t i = 0; i < m * m && !dev->env->dry; i++)
		u[i] *= u[i];
	d->squares = gp_upload(dev, gp_matrix_wrap(u, m, m, GP_DOUBLE), GP_DOUBLE);
	gp_free(dev->env, u);
	d->uty = dev->create(dev, m, d->targets->columns, GP_DOUBLE);
	d->scaled = dev->create(dev, m, d->targets->columns, GP_DOUBLE);
	d->weights = dev->create(dev, m, 1, GP_DOUBLE);
	dev->gemm(dev, true, false, 1.0, d->work, d->y, 0.0, d->uty);
	nugget = gp_nugget_choose(dev->env, problem, d->targets, eigen_error, d, EIGEN_GRID, 0);
	gp_destroy_all(dev, &d->squares, &d->uty, &d->scaled, &d->weights);
	gp_free(dev->env, d->lambda);
	return nugget;
}

gp_solution
gp_dual_solve(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
			  gp_matrix k, double mean_diag)
{
	gp_env	   *env = dev->env;
	int64_t		m = targets->m;
	int32_t		columns = targets->columns;
	dual		d = {.dev = dev,.problem = problem,.targets = targets,.mean_diag = mean_diag,
	.k = k};
	gp_solution out = {.mean_diag = mean_diag};
	double		quadratic = 0.0;

	d.counted = gp_loo_sample(env, targets, m, &d.ncounted);
	d.work = dev->create(dev, m, m, GP_DOUBLE);
	d.y = gp_upload(dev, gp_matrix_wrap(targets->y, m, columns, GP_DOUBLE), GP_DOUBLE);
	d.alpha = dev->create(dev, m, columns, GP_DOUBLE);
	d.inverse_diag = dev->create(dev, m, 1, GP_DOUBLE);
	out.nugget = choose_nugget(&d, problem);
	out.noise = out.nugget * mean_diag;
	gp_free(env, d.counted);
	double		log_det = cholesky_solve(&d, out.noise, &k);

	/* Leave-one-out and the scale. */
	double	   *alpha = gp_download(dev, d.alpha);
	double	   *inverse = gp_download(dev, d.inverse_diag);
	out.loo_mean = gp_alloc_values(env, m * columns, sizeof(double));
	out.loo_variance = gp_alloc_values(env, m, sizeof(double));
	for (int64_t e = 0; e < m * columns && !env->dry; e++)
	{
		quadratic += alpha[e] * targets->y[e];
		out.loo_mean[e] = targets->y[e] - alpha[e] / inverse[e / columns];
	}
	gp_solution_scale(env, targets, quadratic, log_det, &out);
	for (int64_t i = 0; i < m && !env->dry; i++)
		out.loo_variance[i] = out.scale / inverse[i];
	gp_solution_spread(env, problem, targets, NULL, m, &out);
	gp_free_all(env, alpha, inverse);
	out.weights = d.alpha;
	out.root = k;
	gp_destroy_all(dev, &d.work, &d.y, &d.inverse_diag);
	return out;
}
