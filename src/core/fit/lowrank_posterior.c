/*
 * lowrank_posterior.c - the posterior from a low-rank factor.
 *
 * With R = blockdiag(R_b / sqrt(v_b)) of the factor's panels P_b, Q = P R^-T is formed for the
 * labelled nodes only.  Means are P (R^-T w), variances squared lengths of P (R^-T F) for a
 * triangle F; both are products that need the panels a block of rows at a time.
 */
#include "fit_internal.h"
#include "factor.h"
#include "kernel/prepared.h"

#define RANK_JITTER 1e-10

/* What a product with a factor becomes. */
typedef struct product_out
{
	gp_device  *dev;
	int64_t		split;			/* columns whose squares are summed: before the means' */
	gp_matrix	norm;			/* n x 1 */
	gp_matrix	part;
	gp_matrix	mean;			/* n x columns, of the host */
} product_out;

static void
take_product(void *arg, int64_t row, int64_t col, gp_matrix block)
{
	product_out *out = arg;
	gp_device  *dev = out->dev;
	int64_t		before = gp_min64(block.cols, gp_max64(0, out->split - col));
	gp_matrix	squared = gp_matrix_cols(block, 0, before);
	gp_matrix	part = gp_matrix_rows(out->part, row, block.rows);

	if (before > 0)
	{
		dev->row_dots(dev, part, squared, squared);
		dev->axpby(dev, 1.0, part, col == 0 ? 0.0 : 1.0,
				   gp_matrix_rows(out->norm, row, block.rows));
	}
	if (before < block.cols)
		dev->download(dev, gp_matrix_part(out->mean, dev->env->dry ? 0 : row,
										  dev->env->dry ? 0 : col + before - out->split,
										  block.rows, block.cols - before),
					  gp_matrix_cols(block, before, block.cols - before));
}

/*
 * norm_i = |F' q_i|^2 of all rows for a root F, which is taken, and mean = Q w unless w has no
 * data, in one product: Q [F w] = P (R^-T [F w]).
 */
static void
project_rows(gp_eval *ev, gp_factor *f, gp_matrix root, bool triangular, gp_matrix w, double *norm,
			 double *mean)
{
	gp_device  *dev = ev->dev;
	int64_t		n = gp_eval_rows(ev);
	int64_t		columns = w.data ? w.cols : 0;
	gp_matrix	both = dev->create(dev, root.rows, root.cols + columns, GP_DOUBLE);
	product_out out = {dev, root.cols, dev->create(dev, n, 1, GP_DOUBLE),
		dev->create(dev, n, 1, GP_DOUBLE), gp_matrix_wrap(mean, n, columns, GP_DOUBLE)};

	dev->copy(dev, gp_matrix_cols(both, 0, root.cols), root);
	dev->destroy(dev, &root);
	if (columns > 0)
		dev->copy(dev, gp_matrix_cols(both, out.split, columns), w);
	gp_factor_solve(ev, f, both);
	gp_matrix	x = gp_copy(dev, both, ev->type);
	dev->destroy(dev, &both);
	gp_factor_product(ev, f, x, triangular, take_product, &out);
	dev->download(dev, gp_matrix_wrap(norm, n, 1, GP_DOUBLE), out.norm);
	gp_destroy_all(dev, &x, &out.norm, &out.part);
}

/* Q'Q + noise I of the labelled rows, factorised. */
static gp_matrix
make_gram_root(gp_device *dev, gp_matrix q, double noise)
{
	gp_matrix	b = dev->create(dev, q.cols, q.cols, GP_DOUBLE);

	dev->syrk(dev, true, 1.0, q, 0.0, b);
	gp_gram_root(dev, b, noise);
	return b;
}

/*
 * What is left of each variance when the prior's is the low-rank one,
 * noise q_i' B^-1 q_i (Niu et al. 2023, eq. 7), for the Cholesky factor l of B, which is taken; and
 * means as project_rows has them.
 */
static void
lowrank_posterior(gp_eval *ev, gp_factor *f, gp_matrix l, double noise, gp_matrix w, double *mean,
				  double *variance)
{
	gp_device  *dev = ev->dev;

	dev->trtri(dev, l);
	dev->transpose_square(dev, l);
	project_rows(ev, f, l, true, w, variance, mean);
	for (int64_t i = 0; i < gp_items(ev->env, gp_eval_rows(ev)); i++)
		variance[i] *= noise;
}

void
gp_lowrank_variances(gp_eval *ev, gp_factor *f, gp_matrix l, double noise, double *variance)
{
	lowrank_posterior(ev, f, l, noise, (gp_matrix) {0}, NULL, variance);
}

void
gp_lowrank_norms(gp_eval *ev, gp_factor *f, double *norm)
{
	project_rows(ev, f, gp_identity(ev->dev, gp_factor_rank(f)), true, (gp_matrix) {0}, norm, NULL);
}

/* The same of the exact variances, k_ii - |F' q_i|^2; F is taken. */
static void
exact_posterior(gp_eval *ev, gp_factor *f, gp_matrix root, bool triangular, const double *diag,
				gp_matrix w, gp_posterior *out)
{
	project_rows(ev, f, root, triangular, w, out->variance, out->mean);
	for (int64_t i = 0; i < gp_items(ev->env, ev->n); i++)
		out->variance[i] = diag[i] - out->variance[i];
}

/* The rows of a square matrix, last to first, and its columns too. */
static void
turn_around(gp_device *dev, gp_matrix x)
{
	gp_matrix	copy = dev->create(dev, x.rows, x.cols, x.type);
	int32_t    *last = gp_alloc_array(dev->env, x.rows, sizeof(int32_t));

	for (int64_t i = 0; i < x.rows; i++)
		last[i] = (int32_t) (x.rows - 1 - i);
	for (int side = 0; side < 2; side++)
	{
		dev->gather_rows(dev, copy, x, last);
		dev->transpose(dev, x, copy);
	}
	dev->destroy(dev, &copy);
	gp_free(dev->env, last);
}

/*
 * A root F of V = I - noise B^-1 = Q'(QQ' + noise I)^-1 Q, so that the labels explain |F' q_i|^2 of
 * a variance, in place of the Cholesky factor of B; F is upper triangular, as the panels' roots are
 * when they are applied to it.
 */
static gp_matrix
explained_root(gp_device *dev, gp_matrix l, double noise)
{
	gp_matrix	v = dev->create(dev, l.rows, l.cols, GP_DOUBLE);

	dev->trtri(dev, l);
	dev->syrk(dev, true, -noise, l, 0.0, v);
	dev->shift(dev, gp_matrix_diagonal(v), 1.0);
	turn_around(dev, v);
	gp_covariance_root(dev, v, 1.0, RANK_JITTER, GP_MAX_JITTER, l, "what labels explain",
					   "Give a larger nugget.");
	turn_around(dev, l);
	dev->destroy(dev, &v);
	return l;
}

/*
 * Keeps the weights and the root of B = Q'Q + noise I, which is made here where it is not at hand.
 */
static void
keep_posterior(gp_eval *ev, gp_matrix w, const gp_matrix *root, gp_matrix q, double noise)
{
	gp_device  *dev = ev->dev;

	if (ev->state == NULL)
		return;
	gp_matrix	ones = gp_filled(dev, q.rows, 1, q.type, 1.0);
	gp_matrix	sum = dev->create(dev, q.cols, 1, q.type);
	dev->gemm(dev, true, false, 1.0, q, ones, 0.0, sum);
	gp_matrix	right = gp_copy(dev, sum, GP_DOUBLE);
	gp_matrix	l = root ? *root : make_gram_root(dev, q, noise);
	gp_live_keep_weights(ev, w, l, right);
	if (root == NULL)
		dev->destroy(dev, &l);
	gp_destroy_all(dev, &ones, &sum, &right);
}

/* Few labels: the dual form on Q_t Q_t', then means and variances by way of the panels; q is
 * taken. */
static gp_solution
solve_dual(gp_eval *ev, gp_factor *factor, const gp_problem *problem, const gp_targets *targets,
		   gp_matrix q, double mean_diag, const double *diag, gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	int64_t		m = q.rows;
	int64_t		rank = q.cols;
	gp_matrix	wide = gp_copy(dev, q, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, rank, targets->columns, GP_DOUBLE);

	dev->destroy(dev, &q);
	dev->syrk(dev, false, 1.0, wide, 0.0, k);
	gp_solution solution = gp_dual_solve(dev, problem, targets, k, mean_diag);
	if (problem->loo_only)
	{
		gp_destroy_all(dev, &w, &wide);
		return solution;
	}
	dev->gemm(dev, true, false, 1.0, wide, solution.weights, 0.0, w);
	keep_posterior(ev, w, NULL, wide, solution.noise);
	if (diag)
	{
		/* Q'(QQ' + noise I)^-1 Q = (Q' L^-T) (L^-1 Q) */
		dev->trsm(dev, true, false, solution.root, wide);
		gp_matrix	f = gp_transpose(dev, wide);
		dev->destroy(dev, &wide);
		exact_posterior(ev, factor, f, false, diag, w, out);
	}
	else
	{
		gp_matrix	l = make_gram_root(dev, wide, solution.noise);

		dev->destroy(dev, &wide);
		lowrank_posterior(ev, factor, l, solution.noise, w, out->mean, out->variance);
	}
	dev->destroy(dev, &w);
	return solution;
}

/* Many labels: the primal form on the factor's columns; q is taken. */
static gp_solution
solve_primal(gp_eval *ev, gp_factor *factor, const gp_problem *problem, const gp_targets *targets,
			 gp_matrix q, double mean_diag, const double *diag, gp_posterior *out)
{
	gp_solution solution = gp_primal_solve(ev->dev, problem, targets, q, mean_diag);

	if (!problem->loo_only)
		keep_posterior(ev, solution.weights, &solution.root, q, solution.noise);
	ev->dev->destroy(ev->dev, &q);
	if (problem->loo_only)
		return solution;
	if (diag)
		exact_posterior(ev, factor, explained_root(ev->dev, solution.root, solution.noise), true,
						diag, solution.weights, out);
	else
		lowrank_posterior(ev, factor, solution.root, solution.noise, solution.weights, out->mean,
						  out->variance);
	solution.root.data = NULL;
	return solution;
}

/* |q_i|^2, where a posterior of values asks for it. */
static double *
lowrank_prior(gp_eval *ev, gp_factor *f, const gp_problem *problem, const gp_posterior *out)
{
	bool		values = problem->task == GP_TASK_VALUES;
	bool		wanted = ev->env->dry;
	double	   *prior = NULL;

	for (int64_t i = 0; values && !wanted && i < out->nodes; i++)
		wanted = gp_is_silent(out->mean + i, 1);
	if (values && wanted)
	{
		prior = gp_alloc_values(ev->env, ev->n, sizeof(double));
		gp_lowrank_norms(ev, f, prior);
	}
	return prior;
}

/* The exact diagonal where the plan affords it, else NULL. */
static double *
exact_diagonal(gp_eval *ev, const gp_plan *plan)
{
	if (!plan->exact_diagonal)
		return NULL;
	ev->env->progress(ev->env, GP_PHASE_DIAGONAL, 0, ev->n);
	gp_matrix	diag = gp_eval_diagonal(ev, ev->kernel->program->nsteps - 1);
	double	   *host = gp_download(ev->dev, diag);
	ev->dev->destroy(ev->dev, &diag);
	return host;
}

gp_solution
gp_regress_panels(gp_eval *ev, const gp_problem *problem, const gp_targets *targets, gp_factor *f,
				  const double *diag, gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	int64_t		rank = gp_factor_rank(f);
	gp_solution solution;
	/* The mean of the prior's variances that the nugget refers to. */
	double		mean_diag = diag ? gp_host_mean(ev->env, diag, ev->n) : gp_factor_mean(ev, f);

	gp_check_mean_diagonal(ev->env, ev->type, mean_diag);
	/* Rows of Q of the labelled nodes, in the large matrices' type. */
	gp_matrix	q = dev->create(dev, problem->nlabelled, rank, ev->type);
	gp_factor_rows(ev, f, problem->labelled, problem->nlabelled, q);
	gp_factor_drop_kept_rows(ev, f);
	/* Rows that are judged in blocks take no labels from each other later. */
	if (ev->state && problem->block == NULL)
		gp_state_matrix(dev, ev->state, GP_PIECE_LABELLED_ROWS, 0, 0, q);
	if (problem->nlabelled <= rank && problem->block == NULL)
		solution = solve_dual(ev, f, problem, targets, q, mean_diag, diag, out);
	else
		solution = solve_primal(ev, f, problem, targets, q, mean_diag, diag, out);
	if (problem->loo_only)
		return solution;
	/* A variance of 0 by the low-rank prior is that of a node whose row is 0. */
	double	   *prior = diag ? NULL : lowrank_prior(ev, f, problem, out);

	gp_posterior_finish(ev->env, problem, targets, &solution,
						diag ? diag : prior ? prior : out->variance, out);
	gp_free(ev->env, prior);
	return solution;
}

gp_solution
gp_regress_lowrank(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
				   const gp_plan *plan, gp_posterior *out)
{
	double	   *diag = exact_diagonal(ev, plan);
	gp_factor  *f;

	ev->env->progress(ev->env, GP_PHASE_KERNEL, 0, ev->n);
	gp_eval_keep_rows(ev, problem->labelled, problem->nlabelled);
	f = gp_eval_nystrom(ev, ev->kernel->program->nsteps - 1, out->landmark, out->nlandmarks);
	f = gp_factor_of_power(ev, f);
	gp_solution solution = gp_regress_panels(ev, problem, targets, f, diag, out);
	gp_factor_free(ev, f);
	gp_free(ev->env, diag);
	return solution;
}
