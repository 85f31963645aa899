/*
 * link_factor.c - the nodes' kernel as one dense factor of bounded rank.
 */
#include "links/links_internal.h"

/* A narrower factor of the same kernel on the landmarks: Q Q_a' R^-T with RR' = Q_a Q_a'. */
static gp_matrix
narrow_factor(gp_eval *ev, gp_matrix q, const int32_t *landmark, int64_t n)
{
	gp_device  *dev = ev->dev;
	gp_matrix	rows = gp_gather(dev, q, landmark, n);
	gp_matrix	panel = dev->create(dev, q.rows, n, GP_FLOAT);
	gp_factor  *f = gp_factor_create(ev->env);

	dev->gemm(dev, false, true, 1.0, q, rows, 0.0, panel);
	gp_matrix	cross = gp_gather(dev, panel, landmark, n);
	f->npanels = 1;
	f->panel[0].p = panel;
	f->panel[0].root = gp_copy(dev, cross, GP_DOUBLE);
	f->panel[0].value = 1.0;
	gp_destroy_all(dev, &rows, &cross, &q);
	gp_landmark_root(ev, f->panel[0].root);
	gp_matrix	out = gp_factor_dense(ev, f);
	gp_factor_free(ev, f);
	return out;
}

gp_matrix
gp_link_factor(gp_device *dev, const gp_link_problem *problem, int64_t max_rank)
{
	gp_eval		ev;
	int64_t		n;
	int64_t		count = gp_min64(problem->graph->nodes, max_rank);
	gp_problem	p = {.graph = problem->graph,.features = problem->features,
		.program = problem->program,.task = GP_TASK_VALUES,.seed = problem->seed};

	gp_eval_open(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
				 GP_FLOAT);
	int32_t    *landmark = gp_landmarks_choose(&ev, &p, count, false, &n);
	gp_factor  *f = gp_eval_nystrom(&ev, problem->program->nsteps - 1, landmark, n);
	gp_matrix	q = gp_factor_dense(&ev, f);
	gp_factor_free(&ev, f);
	if (q.cols > max_rank)
		q = narrow_factor(&ev, q, landmark, n);
	gp_free(dev->env, landmark);
	gp_eval_close(&ev);
	return q;
}
