/*
 * factor_blocks.c - a low-rank factor as one dense matrix, or some rows or columns at a time.
 *
 * Where all of a factor does not fit, steps between two operators are taken by blocks of rows
 * against the landmarks' rows, and operators by groups of whole columns.  Both are evaluations of a
 * kernel as any other: of a graph without edges, whose nodes are the rows and the landmarks,
 * and of the whole graph, whose features are the columns.  All matrices are the host's.
 */
#include "fit_internal.h"
#include "factor.h"

#define BAND 16					/* columns that an operator takes at once: a row of the device */

/* All panels side by side, nodes x rank float; owned by the caller. */
static gp_matrix
dense_factor(gp_eval *ev, gp_factor *f)
{
	gp_matrix	q = ev->dev->create(ev->dev, ev->n, gp_factor_rank(f), GP_FLOAT);

	gp_factor_rows(ev, f, NULL, ev->n, q);
	return q;
}

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
	gp_matrix	out = dense_factor(ev, f);
	gp_factor_free(ev, f);
	return out;
}

gp_matrix
gp_kernel_factor(gp_device *dev, const gp_problem *problem, int64_t most)
{
	gp_eval		ev;
	int64_t		n;
	int64_t		count;

	gp_eval_open(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
				 GP_FLOAT);
	count = problem->program->power == 1.0 ? problem->graph->nodes : gp_power_landmarks(&ev);
	if (problem->nlandmarks > 0)
		count = gp_min64(count, problem->nlandmarks);
	if (most > 0)
		count = gp_min64(count, most);
	int32_t    *landmark = gp_landmarks_choose(&ev, problem, count, false, &n);
	gp_factor  *f = gp_eval_nystrom(&ev, problem->program->nsteps - 1, landmark, n);
	f = gp_factor_of_power(&ev, f);
	gp_matrix	q = dense_factor(&ev, f);
	gp_factor_free(&ev, f);
	if (most > 0 && q.cols > most)
		q = narrow_factor(&ev, q, landmark, n);
	gp_free(dev->env, landmark);
	gp_eval_close(&ev);
	return q;
}

/* ---- some rows, or some columns ---- */

/* x <- x L^-T, with the root in x's type. */
static void
whiten(gp_device *dev, gp_matrix x, gp_matrix root)
{
	gp_matrix	l = gp_upload(dev, root, x.type);

	dev->trsm(dev, false, true, l, x);
	dev->destroy(dev, &l);
}

/* Refuses a kernel of another kind than a piece of work is for. */
static void
check_steps(gp_env *env, const gp_program *program, bool gathers)
{
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS || program->steps[i].kind == GP_STEP_UNIT ||
			(!gathers && gp_step_nature_of(&program->steps[i])->gathers) || program->power != 1.0)
			gp_raise(env, GP_ERR_UNSUPPORTED, gathers ? "An example is A*X0." : "An example is relu(X0*W).",
					 gathers ? "the kernel is not a linear operator" :
						 "the kernel is not that of two rows alone");
}

void
gp_block_covariances(gp_device *dev, const gp_program *program, gp_matrix rows,
					 const gp_matrix *root, gp_matrix landmarks, const int32_t *own, gp_matrix out)
{
	gp_env	   *env = dev->env;
	int64_t		n = rows.rows + landmarks.rows;
	gp_graph	none = {.nodes = n,.start = gp_alloc_zero(env, n + 1, sizeof(int64_t))};
	int32_t    *at = gp_alloc_array(env, landmarks.rows, sizeof(int32_t));
	gp_features x = {.rows = n,.dims = rows.cols,.type = GP_FLOAT};
	gp_eval		ev;

	check_steps(env, program, false);
	/* The rows, whitened, and the landmarks behind them, as features. */
	x.dense = gp_alloc_array(env, (int64_t) gp_size_mul(env, n, x.dims), sizeof(float));
	gp_matrix	host = gp_matrix_wrap(x.dense, n, x.dims, GP_FLOAT);
	gp_matrix	q = gp_upload(dev, rows, GP_FLOAT);
	if (root)
		whiten(dev, q, *root);
	dev->download(dev, gp_matrix_rows(host, 0, rows.rows), q);
	dev->destroy(dev, &q);
	q = gp_upload(dev, landmarks, GP_FLOAT);
	dev->download(dev, gp_matrix_rows(host, rows.rows, landmarks.rows), q);
	dev->destroy(dev, &q);
	for (int64_t j = 0; j < landmarks.rows; j++)
		at[j] = own[j] >= 0 ? own[j] : (int32_t) (rows.rows + j);
	gp_eval_open(&ev, dev, program, &none, &x, 0, GP_FLOAT);
	gp_matrix	k = gp_eval_columns(&ev, program->nsteps - 1, at, landmarks.rows);
	dev->download(dev, out, gp_matrix_rows(k, 0, rows.rows));
	dev->destroy(dev, &k);
	gp_eval_close(&ev);
	gp_free_all(env, x.dense, at, none.start);
}

/* A matrix with some rows of another one, ascending, and no others. */
static gp_csr *
some_rows(gp_env *env, const gp_csr *a, const int32_t *node, int64_t n)
{
	int64_t		entries = 0;

	for (int64_t k = 0; k < n; k++)
		entries += a->start[node[k] + 1] - a->start[node[k]];
	gp_csr	   *out = gp_csr_create(env, a->rows, a->cols, entries, a->type);
	for (int64_t k = 0; k < n; k++)
		out->start[node[k] + 1] = a->start[node[k] + 1] - a->start[node[k]];
	gp_offsets_of_counts(out->start, a->rows);
	for (int64_t k = 0; k < n; k++)
	{
		int64_t		from = a->start[node[k]];
		int64_t		to = out->start[node[k]];
		size_t		count = a->start[node[k] + 1] - from;
		size_t		size = gp_type_size(a->type);

		memcpy(out->col + to, a->col + from, count * sizeof(int32_t));
		memcpy((char *) out->value + to * size, (const char *) a->value + from * size,
			   count * size);
	}
	return out;
}

void
gp_block_operate(gp_device *dev, const gp_program *program, gp_csr *a, gp_matrix columns,
				 const int32_t *node, int64_t n)
{
	gp_env	   *env = dev->env;
	gp_features x = {columns.rows, columns.cols, NULL, columns.data, GP_FLOAT};
	gp_graph	none = {.nodes = x.rows,.start = gp_alloc_zero(env, x.rows + 1, sizeof(int64_t))};
	gp_terms   *terms = gp_alloc_zero(env, 1, sizeof(gp_terms));
	int			last = program->nsteps - 1;
	bool		some = node && last == 1 && program->steps[last].kind == GP_STEP_OP &&
		gp_operator_is_a(program->steps[last].op);
	gp_eval		ev;

	check_steps(env, program, true);
	if (some)
		a = some_rows(env, a, node, n);
	gp_eval_open_with(&ev, dev, program, &none, &x, 0, GP_FLOAT, (gp_eval_options) {.a = a});
	if (gp_step_is_linear(&ev, last))
		gp_linear_collect(&ev, last, terms);
	if (terms->n != 1 || terms->term[0].leaf != GP_LEAF_INPUT)
		gp_raise(env, GP_ERR_UNSUPPORTED, "An example is A*X0.", "the kernel is not a linear operator");
	if (terms->term[0].value != 1.0)
		dev->axpby(dev, sqrt(terms->term[0].value), columns, 0.0, columns);
	/* The operator's own blocks, whose rows are padded, are no wider than a band. */
	for (gp_band band = gp_band_first(columns.cols, BAND); band.count > 0; gp_band_next(&band))
		for (int k = terms->term[0].nops - 1; k >= 0; k--)
			gp_operator_apply(&ev, terms->term[0].op[k],
							  gp_matrix_cols(columns, band.first, band.count));
	gp_eval_close(&ev);
	if (some)
		gp_csr_free(env, a);
	gp_free_all(env, terms, none.start);
}

void
gp_block_gram(gp_device *dev, gp_matrix rows, gp_matrix y, const gp_matrix *root, gp_matrix gram,
			  gp_matrix qty)
{
	gp_matrix	q = gp_upload(dev, rows, GP_DOUBLE);
	gp_matrix	t = gp_upload(dev, y, GP_DOUBLE);
	gp_matrix	g = gp_upload(dev, gram, GP_DOUBLE);
	gp_matrix	b = gp_upload(dev, qty, GP_DOUBLE);

	if (root)
		whiten(dev, q, *root);
	dev->syrk(dev, true, 1.0, q, 1.0, g);
	dev->gemm(dev, true, false, 1.0, q, t, 1.0, b);
	dev->download(dev, gram, g);
	dev->download(dev, qty, b);
	gp_destroy_all(dev, &q, &t, &g, &b);
}

void
gp_block_apply(gp_device *dev, gp_matrix rows, gp_matrix w, gp_matrix out)
{
	gp_matrix	q = gp_upload(dev, rows, w.type);
	gp_matrix	x = gp_upload(dev, w, w.type);
	gp_matrix	product = dev->create(dev, q.rows, w.cols, w.type);
	bool		constant = w.rows > q.cols;

	if (constant)
	{
		gp_matrix	ones = gp_filled(dev, q.rows, 1, w.type, 1.0);

		dev->gemm(dev, false, false, 1.0, ones, gp_matrix_rows(x, q.cols, 1), 0.0, product);
		dev->destroy(dev, &ones);
	}
	dev->gemm(dev, false, false, 1.0, q, gp_matrix_rows(x, 0, q.cols), constant ? 1.0 : 0.0,
			  product);
	dev->download(dev, out, product);
	gp_destroy_all(dev, &q, &x, &product);
}
