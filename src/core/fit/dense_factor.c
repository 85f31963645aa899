/*
 * dense_factor.c - the kernel of the nodes as one dense factor.
 *
 * What asks for covariances of arbitrary nodes, again and again, wants K = QQ'
 * with a short row of Q for each node.  The low-rank evaluator gives that in
 * panels with their roots still to be applied; here they become one matrix.
 */
#include "fit_internal.h"
#include "landmarks.h"

gp_matrix
gp_factor_dense(gp_eval *ev, gp_factor *f)
{
	gp_matrix	q = ev->dev->create(ev->dev, ev->n, gp_factor_rank(f), GP_FLOAT);

	gp_factor_rows(ev, f, NULL, ev->n, q);
	return q;
}

gp_matrix
gp_kernel_factor(gp_device *dev, const gp_problem *problem)
{
	gp_eval		ev;
	gp_factor  *f;
	gp_matrix	q;
	int32_t    *landmark;
	int64_t		n;
	int64_t		count;

	gp_eval_open(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
				 GP_FLOAT);
	count = problem->program->power == 1.0 ? problem->graph->nodes : gp_power_landmarks(&ev);
	if (problem->nlandmarks > 0 && problem->nlandmarks < count)
		count = problem->nlandmarks;
	landmark = gp_landmarks_choose(&ev, problem, count, false, &n);
	f = gp_eval_nystrom(&ev, problem->program->nsteps - 1, landmark, n);
	f = gp_factor_of_power(&ev, f);
	q = gp_factor_dense(&ev, f);
	gp_factor_free(&ev, f);
	gp_free(dev->env, landmark);
	gp_eval_close(&ev);
	return q;
}
