/*
 * exact_posterior.c - the posterior from exact columns of the kernel.
 */
#include "fit_internal.h"
#include "kernel/prepared.h"

/* The columns of the labelled nodes and the whole diagonal. */
typedef struct exact_kernel
{
	gp_matrix	columns;		/* n x m */
	gp_matrix	diag;			/* n x 1 double */
} exact_kernel;

/* Evaluates both alone. */
static exact_kernel
from_columns(gp_eval *ev, const gp_problem *problem)
{
	int			root = ev->kernel->program->nsteps - 1;
	exact_kernel out;

	ev->env->progress(ev->env, GP_PHASE_DIAGONAL, 0, ev->n);
	out.diag = gp_eval_diagonal(ev, root);
	ev->env->progress(ev->env, GP_PHASE_KERNEL, 0, ev->n);
	out.columns = gp_eval_columns(ev, root, problem->labelled, problem->nlabelled);
	return out;
}

/* Takes both from the whole kernel. */
static exact_kernel
from_full(gp_eval *ev, const gp_problem *problem)
{
	gp_device  *dev = ev->dev;
	gp_matrix	k = gp_eval_full(ev, ev->kernel->program->nsteps - 1);
	gp_matrix	rows = gp_gather(dev, k, problem->labelled, problem->nlabelled);
	exact_kernel out;

	out.diag = gp_copy(dev, gp_matrix_diagonal(k), GP_DOUBLE);
	dev->destroy(dev, &k);
	out.columns = gp_transpose(dev, rows);
	dev->destroy(dev, &rows);
	return out;
}

/*
 * The labelled nodes' own covariance, in double.  Where a labelled node meets
 * itself the diagonal is taken, which is what the variances use.
 */
static gp_matrix
labelled_block(gp_eval *ev, const gp_problem *problem, const exact_kernel *kernel)
{
	gp_device  *dev = ev->dev;
	gp_matrix	rows = gp_gather(dev, kernel->columns, problem->labelled, problem->nlabelled);
	gp_matrix	k = gp_copy(dev, rows, GP_DOUBLE);

	dev->destroy(dev, &rows);
	dev->gather_rows(dev, gp_matrix_diagonal(k), kernel->diag, problem->labelled);
	return k;
}

/* Posterior means: K(:,t) alpha. */
static void
means(gp_eval *ev, const exact_kernel *kernel, gp_matrix weights, gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	gp_matrix	w = gp_copy(dev, weights, ev->type);
	gp_matrix	mean = dev->create(dev, ev->n, weights.cols, ev->type);

	dev->gemm(dev, false, false, 1.0, kernel->columns, w, 0.0, mean);
	dev->download(dev, gp_matrix_wrap(out->mean, ev->n, weights.cols, GP_DOUBLE), mean);
	gp_destroy_all(dev, &w, &mean);
}

/* Keeps what columns are evaluated against, and the regression. */
static void
keep_posterior(gp_eval *ev, const gp_problem *problem, const gp_plan *plan,
			   const gp_solution *solution)
{
	if (ev->state == NULL)
		return;
	gp_anchors_note_exact(ev, problem->labelled, problem->nlabelled, !plan->by_columns);
	gp_matrix	ones = gp_filled(ev->dev, problem->nlabelled, 1, GP_DOUBLE, 1.0);
	gp_live_keep_weights(ev, solution->weights, solution->root, ones);
	ev->dev->destroy(ev->dev, &ones);
}

/* Posterior variances: what the labels explain, |L^-1 k_i|^2, in double by blocks of rows. */
static void
variances(gp_eval *ev, const exact_kernel *kernel, gp_matrix root, const double *diag,
		  double *variance)
{
	gp_device  *dev = ev->dev;
	int64_t		height = gp_min64(ev->n, GP_ROW_BLOCK);
	gp_matrix	block = dev->create(dev, height, root.rows, GP_DOUBLE);

	for (gp_band band = gp_band_first(ev->n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(kernel->columns, band.first, band.count));
		dev->trsm(dev, false, true, root, b);
		dev->row_dots(dev, gp_matrix_rows(kernel->diag, band.first, band.count), b, b);
		ev->env->progress(ev->env, GP_PHASE_POSTERIOR, band.first + band.count, ev->n);
	}
	dev->destroy(dev, &block);
	dev->download(dev, gp_matrix_wrap(variance, ev->n, 1, GP_DOUBLE), kernel->diag);
	for (int64_t i = 0; i < gp_items(ev->env, ev->n); i++)
		variance[i] = diag[i] - variance[i];
}

gp_solution
gp_regress_exact(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
				 const gp_plan *plan, gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	exact_kernel kernel = plan->by_columns ? from_columns(ev, problem) : from_full(ev, problem);
	double	   *diag = gp_download(dev, kernel.diag);
	double		mean_diag = gp_host_mean(ev->env, diag, ev->n);
	gp_solution solution;

	gp_check_mean_diagonal(ev->env, ev->type, mean_diag);
	solution = gp_dual_solve(dev, problem, targets, labelled_block(ev, problem, &kernel),
							 mean_diag);
	keep_posterior(ev, problem, plan, &solution);
	means(ev, &kernel, solution.weights, out);
	variances(ev, &kernel, solution.root, diag, out->variance);
	gp_destroy_all(dev, &kernel.columns, &kernel.diag);
	gp_posterior_finish(ev->env, problem, targets, &solution, diag, out);
	gp_free(ev->env, diag);
	return solution;
}
