/*
 * exact_posterior.c - the posterior from exact columns of the kernel.
 */
#include "fit_internal.h"
#include "kernel/prepared.h"

/*
 * Posterior variances: what the labels explain, |L^-1 k_i|^2, in double by blocks of rows;
 * explained has room for that.
 */
static void
variances(gp_eval *ev, gp_matrix columns, gp_matrix explained, gp_matrix root,
		  const double *diag, double *variance)
{
	gp_device  *dev = ev->dev;
	int64_t		height = gp_min64(ev->n, GP_ROW_BLOCK);
	gp_matrix	block = dev->create(dev, height, root.rows, GP_DOUBLE);

	for (gp_band band = gp_band_first(ev->n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(columns, band.first, band.count));
		dev->trsm(dev, false, true, root, b);
		dev->row_dots(dev, gp_matrix_rows(explained, band.first, band.count), b, b);
		ev->env->progress(ev->env, GP_PHASE_POSTERIOR, band.first + band.count, ev->n);
	}
	dev->destroy(dev, &block);
	dev->download(dev, gp_matrix_wrap(variance, ev->n, 1, GP_DOUBLE), explained);
	for (int64_t i = 0; i < gp_items(ev->env, ev->n); i++)
		variance[i] = diag[i] - variance[i];
}

gp_solution
gp_regress_exact(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
				 const gp_plan *plan, gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	gp_env	   *env = ev->env;
	int			root = ev->kernel->program->nsteps - 1;
	gp_matrix	columns;		/* of the labelled nodes: n x m */
	gp_matrix	diagonal;		/* n x 1, double */
	gp_matrix	rows;

	/* Evaluates the kernel: the columns and the diagonal alone, or both as parts of the whole. */
	if (plan->by_columns)
	{
		env->progress(env, GP_PHASE_DIAGONAL, 0, ev->n);
		diagonal = gp_eval_diagonal(ev, root);
		env->progress(env, GP_PHASE_KERNEL, 0, ev->n);
		columns = gp_eval_columns(ev, root, problem->labelled, problem->nlabelled);
	}
	else
	{
		gp_matrix	whole = gp_eval_full(ev, root);

		rows = gp_gather(dev, whole, problem->labelled, problem->nlabelled);
		diagonal = gp_copy(dev, gp_matrix_diagonal(whole), GP_DOUBLE);
		dev->destroy(dev, &whole);
		columns = gp_transpose(dev, rows);
		dev->destroy(dev, &rows);
	}
	double	   *diag = gp_download(dev, diagonal);
	double		mean_diag = gp_host_mean(env, diag, ev->n);
	gp_check_mean_diagonal(env, ev->type, mean_diag);

	/*
	 * The labelled nodes' own covariance, in double.  Where a labelled node meets itself the
	 * diagonal is taken, which is what the variances use.
	 */
	rows = gp_gather(dev, columns, problem->labelled, problem->nlabelled);
	gp_matrix	k = gp_copy(dev, rows, GP_DOUBLE);
	dev->destroy(dev, &rows);
	dev->gather_rows(dev, gp_matrix_diagonal(k), diagonal, problem->labelled);
	gp_solution solution = gp_dual_solve(dev, problem, targets, k, mean_diag);
	if (ev->state)
	{
		gp_anchors_note_exact(ev, problem->labelled, problem->nlabelled, !plan->by_columns);
		gp_matrix	ones = gp_filled(dev, problem->nlabelled, 1, GP_DOUBLE, 1.0);
		gp_live_keep_weights(ev, solution.weights, solution.root, ones);
		dev->destroy(dev, &ones);
	}

	/* Posterior means: K(:,t) alpha. */
	gp_matrix	weights = gp_copy(dev, solution.weights, ev->type);
	gp_matrix	mean = dev->create(dev, ev->n, weights.cols, ev->type);
	dev->gemm(dev, false, false, 1.0, columns, weights, 0.0, mean);
	dev->download(dev, gp_matrix_wrap(out->mean, ev->n, weights.cols, GP_DOUBLE), mean);
	gp_destroy_all(dev, &weights, &mean);
	variances(ev, columns, diagonal, solution.root, diag, out->variance);
	gp_destroy_all(dev, &columns, &diagonal);
	gp_posterior_finish(env, problem, targets, &solution, diag, out);
	gp_free(env, diag);
	return solution;
}
