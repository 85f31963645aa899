/*
 * lowrank.c - the posterior from a low-rank factor.
 *
 * The factor's panels P_b stay as they are: with R = blockdiag(R_b / sqrt(v_b)),
 * Q = P R^-T is formed for the labelled nodes only.  Means are P (R^-T w);
 * variances take one product or one triangular solve per block of rows.
 */
#include "fit_internal.h"
#include "landmarks.h"
#include "kernel/prepared.h"

#define RANK_JITTER 1e-10

typedef struct lowrank
{
	gp_eval    *ev;
	gp_factor  *f;
	int64_t		rank;
} lowrank;

/* x <- R x: the inverse of the transposed solve, for the combined root R L. */
static gp_matrix
combined_root(lowrank *lr, gp_matrix l)
{
	gp_device  *dev = lr->ev->dev;
	gp_matrix	product = dev->create(dev, lr->rank, lr->rank, GP_DOUBLE);
	int64_t		at = 0;

	for (int b = 0; b < lr->f->npanels; b++)
	{
		const gp_panel *panel = &lr->f->panel[b];
		gp_matrix	from = gp_matrix_rows(l, at, panel->p.cols);
		gp_matrix	to = gp_matrix_rows(product, at, panel->p.cols);
		double		factor = 1.0 / sqrt(panel->value);

		if (panel->root.data)
			dev->gemm(dev, false, false, factor, panel->root, from, 0.0, to);
		else
			dev->axpby(dev, factor, from, 0.0, to);
		at += panel->p.cols;
	}
	return product;
}

/* A copy in the large matrices' type. */
static gp_matrix
narrow(lowrank *lr, gp_matrix x)
{
	gp_matrix	out = lr->ev->dev->create(lr->ev->dev, x.rows, x.cols, lr->ev->type);

	lr->ev->dev->copy(lr->ev->dev, out, x);
	return out;
}

/* Rows of all panels side by side, in block. */
static void
collect_rows(lowrank *lr, int64_t row, gp_matrix block)
{
	int64_t		at = 0;

	for (int k = 0; k < lr->f->npanels; k++)
	{
		gp_matrix	p = lr->f->panel[k].p;

		lr->ev->dev->copy(lr->ev->dev, gp_matrix_cols(block, at, p.cols),
						  gp_matrix_rows(p, row, block.rows));
		at += p.cols;
	}
}

/*
 * Posterior means in double, a block of rows at a time: means that a few rows are to give again
 * cannot have the rounding of sums in single precision, which depends on how many rows there are.
 */
static void
means_in_double(lowrank *lr, gp_matrix solved, gp_posterior *out)
{
	gp_device  *dev = lr->ev->dev;
	int64_t		height = gp_min64(lr->ev->n, dev->row_block);
	gp_matrix	block = dev->create(dev, height, lr->rank, GP_DOUBLE);
	gp_matrix	mean = dev->create(dev, height, solved.cols, GP_DOUBLE);

	for (gp_band band = gp_band_first(lr->ev->n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);
		gp_matrix	m = gp_matrix_rows(mean, 0, band.count);

		collect_rows(lr, band.first, b);
		dev->gemm(dev, false, false, 1.0, b, solved, 0.0, m);
		dev->download(dev, gp_matrix_wrap(lr->ev->env->dry ? out->mean :
										  out->mean + band.first * solved.cols, band.count,
										  solved.cols, GP_DOUBLE), m);
	}
	gp_destroy_all(dev, &block, &mean);
}

/* Posterior means of all nodes from the weights w of the factor's columns. */
static void
means(lowrank *lr, gp_matrix w, gp_posterior *out)
{
	gp_device  *dev = lr->ev->dev;
	gp_matrix	solved = dev->create(dev, w.rows, w.cols, GP_DOUBLE);
	gp_matrix	mean;
	gp_matrix	x;

	dev->copy(dev, solved, w);
	gp_factor_solve(lr->ev, lr->f, solved);
	if (lr->ev->keep)
	{
		means_in_double(lr, solved, out);
		dev->destroy(dev, &solved);
		return;
	}
	mean = dev->create(dev, lr->ev->n, w.cols, lr->ev->type);
	x = narrow(lr, solved);
	gp_factor_times(lr->ev, lr->f, 0, lr->ev->n, x, mean);
	dev->download(dev, gp_matrix_wrap(out->mean, lr->ev->n, w.cols, GP_DOUBLE), mean);
	gp_destroy_all(dev, &solved, &x, &mean);
}

/* Q'Q + noise I of the labelled rows, factorised. */
static gp_matrix
gram_root(lowrank *lr, gp_matrix q, double noise)
{
	gp_device  *dev = lr->ev->dev;
	gp_matrix	b = dev->create(dev, lr->rank, lr->rank, GP_DOUBLE);

	dev->syrk(dev, true, 1.0, q, 0.0, b);
	dev->shift(dev, gp_matrix_diagonal(b), noise);
	if (dev->potrf(dev, b) >= 0)
		gp_raise(lr->ev->env, GP_ERR_DATA, "Give a larger nugget.",
				 "the factor's Gram matrix is not positive definite");
	return b;
}

/*
 * What is left of each variance when the prior's is the low-rank one:
 * noise q_i' B^-1 q_i (Niu et al. 2023, eq. 7).
 */
void
gp_lowrank_variances(gp_eval *ev, gp_factor *f, gp_matrix l, double noise, bool last,
					 double *variance)
{
	lowrank		lr = {ev, f, gp_factor_rank(f)};
	gp_device  *dev = ev->dev;
	gp_matrix	product = combined_root(&lr, l);
	gp_matrix	root = narrow(&lr, product);

	dev->destroy(dev, &product);
	/* out_i = |(R L)^-1 P_i'|^2 for every row: one triangular solve. Where it is the last use of
	 * the panels, a single one is solved in place. */
	int64_t		n = gp_eval_rows(lr.ev);
	bool		in_place = last && lr.f->npanels == 1;
	int64_t		height = gp_min64(n, 4 * dev->row_block);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	block = {0};

	if (!in_place)
		block = dev->create(dev, height, lr.rank, lr.ev->type);
	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = in_place ? gp_matrix_rows(lr.f->panel[0].p, band.first, band.count) :
			gp_matrix_rows(block, 0, band.count);

		if (!in_place)
			collect_rows(&lr, band.first, b);
		dev->trsm(dev, false, true, root, b);
		dev->row_dots(dev, gp_matrix_rows(norm, band.first, band.count), b, b);
		lr.ev->env->progress(lr.ev->env, GP_PHASE_POSTERIOR, band.first + band.count, n);
	}
	dev->download(dev, gp_matrix_wrap(variance, n, 1, GP_DOUBLE), norm);
	gp_destroy_all(dev, &block, &norm);
	for (int64_t i = 0; i < gp_eval_rows(ev) && !dev->env->dry; i++)
		variance[i] *= noise;
	dev->destroy(dev, &root);
}

/* What is left of the exact variances: k_ii - |F' q_i|^2. */
static void
exact_variances(lowrank *lr, gp_matrix f, const double *diag, gp_posterior *out)
{
	gp_device  *dev = lr->ev->dev;
	gp_matrix	x;

	gp_factor_solve(lr->ev, lr->f, f);
	x = narrow(lr, f);
	/* out_i = |P_i x|^2 for every node. */
	int64_t		n = lr->ev->n;
	int64_t		height = gp_min64(n, 4 * dev->row_block);
	gp_matrix	block = dev->create(dev, height, x.cols, lr->ev->type);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);

	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		gp_factor_times(lr->ev, lr->f, band.first, band.count, x, b);
		dev->row_dots(dev, gp_matrix_rows(norm, band.first, band.count), b, b);
		lr->ev->env->progress(lr->ev->env, GP_PHASE_POSTERIOR, band.first + band.count, n);
	}
	dev->download(dev, gp_matrix_wrap(out->variance, n, 1, GP_DOUBLE), norm);
	gp_destroy_all(dev, &block, &norm);
	for (int64_t i = 0; i < lr->ev->n && !dev->env->dry; i++)
		out->variance[i] = diag[i] - out->variance[i];
	dev->destroy(dev, &x);
}

/*
 * Keeps the weights and the root of B = Q'Q + noise I, which is made here where it is not at hand.
 */
static void
keep_posterior(lowrank *lr, gp_matrix w, const gp_matrix *root, gp_matrix q, double noise)
{
	gp_device  *dev = lr->ev->dev;
	gp_matrix	ones;
	gp_matrix	sum;
	gp_matrix	right;
	gp_matrix	l;

	if (lr->ev->keep == NULL)
		return;
	ones = dev->create(dev, q.rows, 1, q.type);
	sum = dev->create(dev, q.cols, 1, q.type);
	right = dev->create(dev, q.cols, 1, GP_DOUBLE);
	dev->fill(dev, ones, 1.0);
	dev->gemm(dev, true, false, 1.0, q, ones, 0.0, sum);
	dev->copy(dev, right, sum);
	l = root ? *root : gram_root(lr, q, noise);
	gp_live_keep_weights(lr->ev, w, l, right);
	if (root == NULL)
		dev->destroy(dev, &l);
	gp_destroy_all(dev, &ones, &sum, &right);
}

/* Few labels: the dual form on Q_t Q_t', then means and variances by way of the panels. */
static gp_solution
solve_dual(lowrank *lr, const gp_problem *problem, const gp_targets *targets, gp_matrix q,
		   double mean_diag, const double *diag, gp_posterior *out)
{
	gp_device  *dev = lr->ev->dev;
	gp_matrix	wide = dev->create(dev, q.rows, q.cols, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, q.rows, q.rows, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, q.cols, targets->columns, GP_DOUBLE);
	gp_solution solution;

	dev->copy(dev, wide, q);
	dev->syrk(dev, false, 1.0, wide, 0.0, k);
	solution = gp_dual_solve(dev, problem, targets, k, mean_diag);
	if (problem->loo_only)
	{
		gp_destroy_all(dev, &w, &wide);
		return solution;
	}
	dev->gemm(dev, true, false, 1.0, wide, solution.weights, 0.0, w);
	means(lr, w, out);
	keep_posterior(lr, w, NULL, wide, solution.noise);
	dev->destroy(dev, &w);
	if (diag)
	{
		gp_matrix	f = dev->create(dev, q.cols, q.rows, GP_DOUBLE);

		/* Q'(QQ' + noise I)^-1 Q = (Q' L^-T) (L^-1 Q) */
		dev->trsm(dev, true, false, solution.root, wide);
		dev->transpose(dev, f, wide);
		exact_variances(lr, f, diag, out);
		dev->destroy(dev, &f);
	}
	else
	{
		gp_matrix	l = gram_root(lr, wide, solution.noise);

		gp_lowrank_variances(lr->ev, lr->f, l, solution.noise, true, out->variance);
		dev->destroy(dev, &l);
	}
	dev->destroy(dev, &wide);
	return solution;
}

/* Many labels: the primal form on the factor's columns. */
static gp_solution
solve_primal(lowrank *lr, const gp_problem *problem, const gp_targets *targets, gp_matrix q,
			 double mean_diag, const double *diag, gp_posterior *out)
{
	gp_device  *dev = lr->ev->dev;
	gp_solution solution = gp_primal_solve(dev, problem, targets, q, mean_diag);

	if (problem->loo_only)
		return solution;
	means(lr, solution.weights, out);
	keep_posterior(lr, solution.weights, &solution.root, q, solution.noise);
	if (diag)
	{
		/* A root F of V = I - noise B^-1 = Q'(QQ' + noise I)^-1 Q, so that the labels explain
		 * |F' q_i|^2 of a variance; solution.root is the Cholesky factor of B. */
		gp_matrix	f = dev->create(dev, lr->rank, lr->rank, GP_DOUBLE);
		gp_matrix	v = dev->create(dev, lr->rank, lr->rank, GP_DOUBLE);
		dev->copy(dev, f, solution.root);
		dev->trtri(dev, f);
		dev->syrk(dev, true, -solution.noise, f, 0.0, v);
		dev->shift(dev, gp_matrix_diagonal(v), 1.0);
		if (isnan(gp_cholesky_jitter(dev, v, 1.0, RANK_JITTER, 1e-3, f)))
			gp_raise(lr->ev->env, GP_ERR_DATA, "Give a larger nugget.",
					 "the explained covariance is not positive definite");
		dev->destroy(dev, &v);

		exact_variances(lr, f, diag, out);
		dev->destroy(dev, &f);
	}
	else
		gp_lowrank_variances(lr->ev, lr->f, solution.root, solution.noise, true, out->variance);
	return solution;
}

/* The exact diagonal where the plan affords it, else NULL. */
static double *
exact_diagonal(gp_eval *ev, const gp_plan *plan)
{
	double	   *host;
	gp_matrix	diag;

	if (!plan->exact_diagonal)
		return NULL;
	ev->env->progress(ev->env, GP_PHASE_DIAGONAL, 0, ev->n);
	host = gp_alloc_figures(ev->env, ev->n, sizeof(double));
	diag = gp_eval_diagonal(ev, ev->kernel->program->nsteps - 1);
	ev->dev->download(ev->dev, gp_matrix_wrap(host, ev->n, 1, GP_DOUBLE), diag);
	ev->dev->destroy(ev->dev, &diag);
	return host;
}

gp_solution
gp_infer_panels(gp_eval *ev, const gp_problem *problem, const gp_targets *targets, gp_factor *f,
				const double *diag, gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	lowrank		lr = {ev, f, gp_factor_rank(f)};
	gp_solution solution;
	double	   *present = NULL;
	/* The mean of the prior's variances that the nugget refers to. */
	double		mean_diag = 0.0;
	if (diag == NULL)
		mean_diag = gp_factor_mean(lr.ev, lr.f);
	else
		for (int64_t i = 0; i < lr.ev->n && !lr.ev->env->dry; i++)
			mean_diag += diag[i] / lr.ev->n;
	gp_check_mean_diagonal(lr.ev->env, lr.ev->type, mean_diag);
	/* Rows of Q of the labelled nodes, in the large matrices' type. */
	int64_t		m = problem->nlabelled;
	int64_t		height = gp_min64(m, dev->row_block);
	gp_matrix	q = dev->create(dev, m, lr.rank, lr.ev->type);
	gp_matrix	block = dev->create(dev, height, lr.rank, GP_DOUBLE);

	for (gp_band band = gp_band_first(m, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		gp_factor_rows(lr.ev, lr.f, problem->labelled + band.first, band.count, b);
		dev->copy(dev, gp_matrix_rows(q, band.first, band.count), b);
	}
	dev->destroy(dev, &block);

	/* Rows that are judged in blocks take no labels from each other later. */
	if (ev->keep && problem->block == NULL)
		gp_keep_matrix(dev, ev->keep, GP_PIECE_LABELLED_ROWS, 0, 0, q);
	if (diag == NULL && !problem->loo_only)
	{
		present = gp_alloc_figures(ev->env, ev->n, sizeof(double));
		/* Tells nodes whose factor rows are zero from others: the panels' squared norms. */
		int64_t		n = lr.ev->n;
		gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);
		gp_matrix	sum = dev->create(dev, n, 1, GP_DOUBLE);

		dev->fill(dev, sum, 0.0);
		for (int b = 0; b < lr.f->npanels; b++)
		{
			dev->row_dots(dev, norm, lr.f->panel[b].p, lr.f->panel[b].p);
			dev->axpby(dev, 1.0, norm, 1.0, sum);
		}
		dev->download(dev, gp_matrix_wrap(present, n, 1, GP_DOUBLE), sum);
		gp_destroy_all(dev, &norm, &sum);
	}
	if (problem->nlabelled <= lr.rank && problem->block == NULL)
		solution = solve_dual(&lr, problem, targets, q, mean_diag, diag, out);
	else
		solution = solve_primal(&lr, problem, targets, q, mean_diag, diag, out);
	dev->destroy(dev, &q);
	if (!problem->loo_only)
		gp_posterior_finish(ev->env, problem, targets, &solution, diag ? diag : present, out);
	gp_free(ev->env, present);
	return solution;
}

gp_solution
gp_infer_lowrank(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
				 const gp_plan *plan, gp_posterior *out)
{
	double	   *diag = exact_diagonal(ev, plan);
	gp_factor  *f;
	gp_solution solution;

	ev->env->progress(ev->env, GP_PHASE_KERNEL, 0, ev->n);
	f = gp_eval_nystrom(ev, ev->kernel->program->nsteps - 1, out->landmark, out->nlandmarks);
	f = gp_factor_of_power(ev, f);
	solution = gp_infer_panels(ev, problem, targets, f, diag, out);
	gp_factor_free(ev, f);
	gp_free(ev->env, diag);
	return solution;
}
