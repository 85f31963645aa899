/*
 * similarity.c - the kernel between all nodes as something to multiply with.
 *
 * Kernel k-means needs products K m with few columns, and some columns of K.  A
 * linear kernel has an explicit factor, sparse or dense.  Of other kernels the
 * whole matrix is taken where the graph is small and it fits, else the low-rank
 * factor on the nodes of highest degree.
 */
#include "cluster.h"
#include "fit/landmarks.h"
#include "kernel/prepared.h"

#define EXACT_NODES 4096		/* up to so many nodes the whole matrix is affordable */
#define FEWEST_LANDMARKS 64
#define MEGABYTE (1024.0 * 1024.0)

/* What k-means holds beside the kernel: memberships, products, and vectors of nodes. */
static double
working_bytes(const gp_eval *ev, const gp_cluster_problem *problem, double width)
{
	double		n = (double) ev->n;
	double		k = (double) gp_cluster_width(problem->clusters);
	double		candidates = (double) gp_cluster_width(gp_cluster_candidates(problem->clusters));
	double		rows = fmin(n, GP_ROW_BLOCK);
	double		rounds = 2.0 * gp_matrix_bytes(n, k, ev->type) + gp_matrix_bytes(width, k,
																				 ev->type) +
		rows * k * 8.0;
	double		start = 2.0 * gp_matrix_bytes(n, candidates, ev->type) +
		2.0 * gp_matrix_bytes(width, candidates, ev->type);

	return fmax(rounds, start) + n * (4.0 * 8.0 + 4.0 * 4.0) + k * 64.0;
}

/* Refuses what does not fit the limit. */
static void
check_limit(const gp_eval *ev, double needed)
{
	gp_env	   *env = ev->env;

	needed += (double) env->used;
	if (env->limit > 0 && needed > (double) gp_limit(env))
		gp_raise(env, GP_ERR_LIMIT, "Use fewer clusters, or raise gnngp.memory_limit.",
				 "the clustering needs %.1f MB, but gnngp.memory_limit allows %.1f MB",
				 needed / MEGABYTE, (double) gp_limit(env) / MEGABYTE);
}

static bool
fits(const gp_eval *ev, double bytes)
{
	return ev->env->limit == 0 || (double) ev->env->used + bytes <= (double) gp_limit(ev->env);
}

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

/* The whole matrix, in a dry run. */
static void
run_full(gp_eval *ev, void *arg)
{
	gp_matrix	full = gp_eval_full(ev, *(const int *) arg);

	ev->dev->destroy(ev->dev, &full);
}

/* Takes the whole matrix; false when the graph is too large for it. */
static bool
full_matrix(gp_similarity *s, const gp_cluster_problem *problem, int root)
{
	gp_eval    *ev = s->ev;
	double		square = gp_matrix_bytes(ev->n, ev->n, ev->type);
	int64_t		most = problem->exact_nodes > 0 ? problem->exact_nodes : EXACT_NODES;

	if (ev->n > most || !fits(ev, fmax(gp_eval_dry(ev, run_full, &root).bytes,
									   square + working_bytes(ev, problem, 0.0))))
		return false;
	s->full = gp_eval_full(ev, root);
	s->effort = 2.0 * (double) ev->n * ev->n;
	return true;
}

/* A factor that is tried. */
typedef struct trial
{
	const gp_problem *fit;
	int			root;
	int64_t		landmarks;
	double		rank;
	double		kept;			/* bytes that stay */
} trial;

/* The factor on these landmarks with its roots applied. */
static gp_factor *
make_factor(gp_eval *ev, const trial *t)
{
	int64_t		n;
	int32_t    *landmark = gp_landmarks_choose(ev, t->fit, t->landmarks, false, &n);
	gp_factor  *f = gp_eval_nystrom(ev, t->root, landmark, n);

	gp_free(ev->env, landmark);
	for (int b = 0; b < f->npanels; b++)
		gp_panel_whiten(ev, &f->panel[b]);
	return f;
}

/* The same, in a dry run. */
static void
run_factor(gp_eval *ev, void *arg)
{
	trial	   *t = arg;
	gp_factor  *f = make_factor(ev, t);

	t->rank = (double) gp_factor_rank(f);
	t->kept = (double) ev->env->used;
	gp_factor_free(ev, f);
}

/* Takes the low-rank factor, on as many landmarks as fit. */
static void
lowrank_factor(gp_similarity *s, const gp_cluster_problem *problem, const gp_problem *fit, int root)
{
	gp_eval    *ev = s->ev;
	trial		t = {.fit = fit, .root = root};

	for (t.landmarks = gp_landmarks_automatic(ev, fit);; t.landmarks /= 2)
	{
		gp_count	made = gp_eval_dry(ev, run_factor, &t);
		double		bytes = fmax(made.bytes, t.kept + working_bytes(ev, problem, t.rank));

		if (fits(ev, bytes))
			break;
		if (t.landmarks <= FEWEST_LANDMARKS)
			check_limit(ev, bytes);
	}
	s->factor = make_factor(ev, &t);
	for (int b = 0; b < s->factor->npanels; b++)
	{
		const gp_panel *panel = &s->factor->panel[b];

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
	gp_matrix	norm;

	if (s->full.data)
		dev->download(dev, gp_matrix_wrap(diag, ev->n, 1, GP_DOUBLE), gp_matrix_diagonal(s->full));
	for (int b = 0; b < s->npieces; b++)
	{
		norm = dev->create(dev, ev->n, 1, GP_DOUBLE);
		gp_linear_norms(ev, &s->piece[b], norm);
		dev->download(dev, host, norm);
		dev->destroy(dev, &norm);
		for (int64_t i = 0; i < ev->n; i++)
			diag[i] += s->value[b] * part[i];
	}
	gp_free(ev->env, part);
	return diag;
}

gp_similarity *
gp_similarity_open(gp_eval *ev, const gp_cluster_problem *problem)
{
	gp_similarity *s = gp_alloc_zero(ev->env, 1, sizeof(gp_similarity));
	int			root = ev->kernel->program->nsteps - 1;
	gp_problem	fit = {.graph = problem->graph, .features = problem->features,
		.program = problem->program, .task = GP_TASK_VALUES, .nugget = 1.0,
		.seed = problem->seed, .type = problem->type};

	ev->env->progress(ev->env, GP_PHASE_PLAN, 0, 0);
	s->ev = ev;
	gp_plan_check_factors(ev, ev->env->limit > 0 ? (double) gp_limit(ev->env) : INFINITY);
	ev->env->progress(ev->env, GP_PHASE_KERNEL, 0, ev->n);
	if (gp_step_is_linear(ev, root))
	{
		/* Takes the explicit factor of a linear kernel */
		const gp_linear *z = gp_linear_of_step(s->ev, root);
		double		turned = 0.0;

		if (z->csr)
			turned = gp_csr_entries(z->csr) * (4.0 + gp_type_size(s->ev->type)) +
				(z->width + 1) * 2.0 * sizeof(int64_t);
		check_limit(s->ev, turned + working_bytes(s->ev, problem, (double) z->width));
		if (z->csr)
			add_piece(s, (gp_linear) {.width = z->csr->cols, .csr = z->csr, .made = true}, 1.0);
		if (z->dense.cols > 0)
			add_piece(s, (gp_linear) {.width = z->dense.cols, .dense = z->dense, .made = true},
					  1.0);
	}
	else if (!full_matrix(s, problem, root))
		lowrank_factor(s, problem, &fit, root);
	/* What rows are multiplied with to have length one */
	double	   *diag = variances(s);

	GP_EACH(s->ev->env, i, s->ev->n, i)
	{
		if (!isfinite(diag[i]))
			gp_raise(s->ev->env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
					 "the kernel overflows");
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
