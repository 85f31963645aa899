/*
 * link_factor.c - the kernel of the nodes as one dense factor.
 *
 * What asks for covariances of arbitrary nodes, again and again, wants K = QQ'
 * with a short row of Q for each node.  The low-rank evaluator gives that in
 * panels with their roots still to be applied; here they become one matrix.
 */
#include "link_internal.h"

#include <math.h>
#include <string.h>

/* The landmarks: the nodes of highest degree, twins dropped. */
static int32_t *
landmarks(gp_eval *ev, const gp_link_problem *problem, int64_t count, int64_t *n)
{
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = problem->graph;
	p.features = problem->features;
	p.program = problem->program;
	p.task = GP_TASK_VALUES;
	p.seed = problem->seed;
	return gp_landmarks_choose(ev, &p, count, n);
}

/* block (double) = rows [row, row + block.rows) of one panel with its root applied. */
static void
whitened_rows(gp_device *dev, const gp_panel *panel, int64_t row, gp_matrix block)
{
	dev->copy(dev, block, gp_matrix_rows(panel->p, row, block.rows));
	if (panel->root.data)
		dev->trsm(dev, false, true, panel->root, block);
	if (panel->value != 1.0)
		dev->axpby(dev, sqrt(panel->value), block, 0.0, block);
}

/* All panels side by side, a block of rows at a time in double. */
static gp_matrix
dense_factor(gp_eval *ev, const gp_factor *f)
{
	gp_device  *dev = ev->dev;
	int64_t		height = ev->n < GP_ROW_BLOCK ? ev->n : GP_ROW_BLOCK;
	gp_matrix	q = dev->create(dev, ev->n, gp_factor_rank(f), GP_FLOAT);
	int64_t		at = 0;

	for (int b = 0; b < f->npanels; b++)
	{
		int64_t		cols = f->panel[b].p.cols;
		gp_matrix	block = dev->create(dev, height, cols, GP_DOUBLE);

		for (int64_t row = 0; row < ev->n; row += height)
		{
			int64_t		rows = ev->n - row < height ? ev->n - row : height;
			gp_matrix	part = gp_matrix_rows(block, 0, rows);

			whitened_rows(dev, &f->panel[b], row, part);
			dev->copy(dev, gp_matrix_part(q, row, at, rows, cols), part);
		}
		dev->destroy(dev, &block);
		at += cols;
	}
	return q;
}

/* A narrower factor of the same kernel on the landmarks: Q Q_a' R^-T with RR' = Q_a Q_a'. */
static gp_matrix
narrow_factor(gp_eval *ev, gp_matrix q, const int32_t *landmark, int64_t n)
{
	gp_device  *dev = ev->dev;
	gp_matrix	rows = dev->create(dev, n, q.cols, GP_FLOAT);
	gp_matrix	cross = dev->create(dev, n, n, GP_FLOAT);
	gp_matrix	panel = dev->create(dev, q.rows, n, GP_FLOAT);
	gp_factor	f;
	gp_matrix	out;

	memset(&f, 0, sizeof(f));
	dev->gather_rows(dev, rows, q, landmark);
	dev->gemm(dev, false, true, 1.0, q, rows, 0.0, panel);
	dev->gather_rows(dev, cross, panel, landmark);
	f.npanels = 1;
	f.panel[0].p = panel;
	f.panel[0].root = dev->create(dev, n, n, GP_DOUBLE);
	f.panel[0].value = 1.0;
	dev->copy(dev, f.panel[0].root, cross);
	dev->destroy(dev, &rows);
	dev->destroy(dev, &cross);
	dev->destroy(dev, &q);
	gp_landmark_root(ev, f.panel[0].root);
	out = dense_factor(ev, &f);
	gp_factor_free(ev, &f);
	return out;
}

/* The factor, nodes x at most max_rank float. */
gp_matrix
gp_link_factor(gp_device *dev, const gp_link_problem *problem, int64_t max_rank)
{
	gp_eval		ev;
	gp_factor	f;
	gp_matrix	q;
	int32_t    *landmark;
	int64_t		n;
	int64_t		count = problem->graph->nodes < max_rank ? problem->graph->nodes : max_rank;

	gp_eval_open(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
				 GP_FLOAT);
	landmark = landmarks(&ev, problem, count, &n);
	f = gp_eval_nystrom(&ev, problem->program->nsteps - 1, landmark, n);
	q = dense_factor(&ev, &f);
	gp_factor_free(&ev, &f);
	if (q.cols > max_rank)
		q = narrow_factor(&ev, q, landmark, n);
	gp_free(dev->env, landmark);
	gp_eval_close(&ev);
	return q;
}
