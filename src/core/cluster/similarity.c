/*
 * similarity.c - the kernel between all nodes as something to multiply with.
 *
 * Kernel k-means needs products K m with few columns, and some columns of K.  A
 * linear kernel has an explicit factor, sparse or dense.  Other kernels have the
 * whole matrix, or the low-rank factor on the nodes of highest degree.
 */
#include "cluster.h"
#include "fit/factor.h"
#include "kernel/prepared.h"

static void
add_piece(gp_similarity *s, gp_linear z, double value)
{
	int			b = s->npieces++;

	s->piece[b] = z;
	s->piece[b].borrowed = true;
	s->value[b] = value;
	if (z.csr)
		s->transposed[b] = gp_csr_transpose(s->ev->env, z.csr);
	s->effort += z.csr ? 4.0 * GP_SPARSE_EFFORT * gp_csr_entries(z.csr) :
		4.0 * (double) s->ev->n * z.width;
}

/* The low-rank factor on these landmarks, with its roots applied. */
static void
lowrank_factor(gp_similarity *s, const gp_cluster_problem *problem, int root, int64_t landmarks)
{
	gp_eval    *ev = s->ev;
	gp_problem	fit = gp_cluster_fit(problem);
	int64_t		n;
	int32_t    *landmark = gp_landmarks_choose(ev, &fit, landmarks, false, &n);

	s->factor = gp_eval_nystrom(ev, root, landmark, n);
	gp_free(ev->env, landmark);
	for (int b = 0; b < s->factor->npanels; b++)
	{
		gp_panel   *panel = &s->factor->panel[b];

		gp_panel_whiten(ev, panel);
		add_piece(s, (gp_linear) {.width = panel->p.cols, .dense = panel->p, .made = true},
				  panel->value);
	}
}

static double *
variances(gp_similarity *s)
{
	gp_eval    *ev = s->ev;
	gp_device  *dev = ev->dev;
	double	   *diag = gp_alloc_zero(ev->env, ev->n, sizeof(double));
	double	   *part = gp_alloc_array(ev->env, ev->n, sizeof(double));
	gp_matrix	host = gp_matrix_wrap(part, ev->n, 1, GP_DOUBLE);

	if (s->full.data)
		dev->download(dev, gp_matrix_wrap(diag, ev->n, 1, GP_DOUBLE), gp_matrix_diagonal(s->full));
	for (int b = 0; b < s->npieces; b++)
	{
		gp_matrix	norm = dev->create(dev, ev->n, 1, GP_DOUBLE);
		gp_linear_norms(ev, &s->piece[b], norm);
		dev->download(dev, host, norm);
		dev->destroy(dev, &norm);
		for (int64_t i = 0; i < gp_items(ev->env, ev->n); i++)
			diag[i] += s->value[b] * part[i];
	}
	gp_free(ev->env, part);
	return diag;
}

gp_problem
gp_cluster_fit(const gp_cluster_problem *problem)
{
	return (gp_problem) {.graph = problem->graph, .features = problem->features,
		.program = problem->program, .task = GP_TASK_VALUES, .nugget = 1.0,
		.seed = problem->seed, .type = problem->type};
}

gp_similarity *
gp_similarity_open(gp_eval *ev, const gp_cluster_problem *problem, int64_t landmarks)
{
	gp_similarity *s = gp_alloc_zero(ev->env, 1, sizeof(gp_similarity));
	int			root = ev->kernel->program->nsteps - 1;

	s->ev = ev;
	ev->env->progress(ev->env, GP_PHASE_KERNEL, 0, ev->n);
	if (gp_step_is_linear(ev, root))
	{
		const gp_linear *z = gp_linear_of_step(ev, root);

		if (z->csr)
			add_piece(s, (gp_linear) {.width = z->csr->cols, .csr = z->csr, .made = true}, 1.0);
		if (z->dense.cols > 0)
			add_piece(s, (gp_linear) {.width = z->dense.cols, .dense = z->dense, .made = true},
					  1.0);
	}
	else if (landmarks > 0)
		lowrank_factor(s, problem, root, landmarks);
	else
	{
		s->full = gp_eval_full(ev, root);
		s->effort = 2.0 * (double) ev->n * ev->n;
	}
	/* What rows are multiplied with to have length one */
	double	   *diag = variances(s);
	GP_EACH(ev->env, i, gp_items(ev->env, ev->n), i)
	{
		gp_kernel_check_finite(ev->env, diag[i]);
		diag[i] = diag[i] > 0.0 ? 1.0 / sqrt(diag[i]) : 0.0;
	}
	s->shrink = diag;
	return s;
}

void
gp_similarity_close(gp_similarity *s)
{
	gp_env	   *env = s->ev->env;

	for (int b = 0; b < s->npieces; b++)
		gp_csr_free(env, s->transposed[b]);
	gp_factor_free(s->ev, s->factor);
	s->ev->dev->destroy(s->ev->dev, &s->full);
	gp_free_all(env, s->shrink, s);
}

void
gp_similarity_times(gp_similarity *s, gp_matrix m, gp_matrix out)
{
	gp_device  *dev = s->ev->dev;

	if (s->full.data)
	{
		dev->gemm(dev, false, false, 1.0, s->full, m, 0.0, out);
		return;
	}
	for (int b = 0; b < s->npieces; b++)
	{
		const gp_linear *z = &s->piece[b];
		gp_matrix	inner = dev->create(dev, z->width, m.cols, s->ev->type);

		if (z->csr)
			dev->spmm(dev, s->value[b], s->transposed[b], m, 0.0, inner);
		else
			dev->gemm(dev, true, false, s->value[b], z->dense, m, 0.0, inner);
		gp_linear_times(s->ev, z, 0, s->ev->n, inner, b == 0 ? 0.0 : 1.0, out);
		dev->destroy(dev, &inner);
	}
}

void
gp_similarity_columns(gp_similarity *s, const int32_t *index, int64_t count, gp_matrix out)
{
	gp_device  *dev = s->ev->dev;
	gp_matrix	right;

	if (s->full.data)
	{
		right = gp_gather(dev, s->full, index, count);
		dev->transpose(dev, gp_matrix_cols(out, 0, count), right);
		dev->destroy(dev, &right);
		return;
	}
	for (int b = 0; b < s->npieces; b++)
	{
		const gp_linear *z = &s->piece[b];

		right = gp_filled(dev, z->width, out.cols, s->ev->type, 0.0);
		gp_linear_rows(s->ev, z, index, count, gp_matrix_cols(right, 0, count));
		if (s->value[b] != 1.0)
			dev->axpby(dev, s->value[b], right, 0.0, right);
		gp_linear_times(s->ev, z, 0, s->ev->n, right, b == 0 ? 0.0 : 1.0, out);
		dev->destroy(dev, &right);
	}
}
