/*
 * test_external_factor.c - a factor whose rows the host keeps: its pieces against the evaluators, and the
 * posterior that is asked of it against a fit's.
 */
#include "fit/fit_internal.h"
#include "fit/factor.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>
#include <string.h>

#define N 34
#define DIMS 5
#define PIECE 11				/* rows of a piece; the last one is shorter */

/* A factor that the callbacks have, in pieces. */
typedef struct held
{
	gp_device  *dev;
	const gp_problem *problem;
	gp_matrix	q;				/* N x rank float, packed */
	int			passes;			/* over all rows */
	double		kept[N * 3];	/* of the last pass */
	int64_t		width;
} held;

/* A small generator, so that every run sees the same numbers. */
static float
draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (float) ((double) (*seed >> 11) / 9007199254740992.0 - 0.4);
}

/* Features of all nodes. */
static gp_features
make_features(gp_env *env)
{
	uint64_t	seed = 5;
	float	   *x = gp_alloc_array(env, N * DIMS, sizeof(float));

	for (int k = 0; k < N * DIMS; k++)
		x[k] = draw(&seed);
	return (gp_features) {N, DIMS, NULL, x, GP_FLOAT};
}

/* The problem of the karate club with some labels. */
static gp_problem
make_problem(gp_env *env, const char *kernel, const gp_features *x, gp_task task)
{
	static const int32_t labelled[] = {0, 1, 2, 5, 8, 14, 20, 26, 30, 32, 33};
	static const int32_t label[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
	static const double target[] = {3.0, 1.0, 2.5, -1.0, 4.0, 0.5, 2.0, 2.25, 9.0, 1.5, 0.75};
	bool		classes = task == GP_TASK_CLASSES;

	return (gp_problem) {.graph = karate_graph(env, false, false),.features = x,
		.program = gp_kernel_program(env, gp_kernel_parse(env, kernel)),.task = task,.nlabelled = 11,
		.labelled = labelled,.label = classes ? label : NULL,.target = classes ? NULL : target,
		.nclasses = classes ? 2 : 0,.strategy = GP_STRATEGY_NYSTROM,.nlandmarks = 8,.nugget = NAN,.type = GP_FLOAT};
}

/* Sums over the labelled rows, a few at a time. */
static void
gram(void *state, const double *y, int32_t columns, gp_matrix g, gp_matrix b)
{
	held	   *h = state;
	int64_t		rank = h->q.cols;
	double	   *sums = gp_alloc_zero(h->dev->env, rank * rank, sizeof(double));
	double	   *right = gp_alloc_zero(h->dev->env, rank * columns, sizeof(double));
	gp_matrix	gram = gp_matrix_wrap(sums, rank, rank, GP_DOUBLE);
	gp_matrix	qty = gp_matrix_wrap(right, rank, columns, GP_DOUBLE);

	for (int64_t i = 0; i < h->problem->nlabelled; i++)
		gp_block_gram(h->dev, gp_matrix_rows(h->q, h->problem->labelled[i], 1),
					  gp_matrix_wrap((double *) y + i * columns, 1, columns, GP_DOUBLE), NULL, gram, qty);
	h->dev->upload(h->dev, g, gram);
	h->dev->upload(h->dev, b, qty);
	gp_free_all(h->dev->env, sums, right);
}

/* Some rows. */
static void
rows(void *state, const int32_t *node, int64_t n, gp_matrix out)
{
	held	   *h = state;

	for (int64_t i = 0; i < n; i++)
		h->dev->upload(h->dev, gp_matrix_rows(out, i, 1), gp_matrix_rows(h->q, node[i], 1));
}

/* Rows that are kept, read or written. */
static void
move(void *state, int64_t first, int64_t n, double *rows, bool write)
{
	held	   *h = state;
	double	   *at = h->kept + first * h->width;

	memcpy(write ? at : rows, write ? rows : at, n * h->width * sizeof(double));
}

/* The pass over all rows, in pieces. */
static gp_kept_rows
project_all(void *state, gp_matrix root, gp_matrix w, double *labelled)
{
	held	   *h = state;
	gp_env	   *env = h->dev->env;
	gp_matrix	both = gp_matrix_wrap(gp_alloc_array(env, root.rows * (root.cols + w.cols), sizeof(double)),
									  root.rows, root.cols + w.cols, GP_DOUBLE);
	gp_matrix	out = gp_matrix_wrap(gp_alloc_array(env, PIECE * both.cols, sizeof(double)), PIECE, both.cols, GP_DOUBLE);

	h->passes++;
	h->width = 1 + w.cols;
	h->dev->download(h->dev, gp_matrix_cols(both, 0, root.cols), root);
	if (w.cols > 0)
		h->dev->download(h->dev, gp_matrix_cols(both, root.cols, w.cols), w);
	for (gp_band band = gp_band_first(N, PIECE); band.count > 0; gp_band_next(&band))
	{
		gp_block_apply(h->dev, gp_matrix_rows(h->q, band.first, band.count), both, gp_matrix_rows(out, 0, band.count));
		for (int64_t i = 0; i < band.count; i++)
		{
			const double *row = (double *) out.data + i * both.cols;
			double	   *kept = h->kept + (band.first + i) * h->width;

			kept[0] = 0.0;
			for (int64_t j = 0; j < root.cols; j++)
				kept[0] += row[j] * row[j];
			memcpy(kept + 1, row + root.cols, w.cols * sizeof(double));
		}
	}
	gp_free_all(env, both.data, out.data);
	for (int64_t k = 0; k < h->problem->nlabelled && labelled; k++)
		move(h, h->problem->labelled[k], 1, labelled + k * h->width, false);
	return (gp_kept_rows) {h, move};
}

/* A dense factor of the kernel, packed, in the host's memory. */
static gp_matrix
host_factor(gp_device *dev, const gp_problem *problem)
{
	gp_matrix	q = gp_kernel_factor(dev, problem, 0);
	gp_matrix	host = gp_matrix_wrap(gp_alloc_array(dev->env, q.rows * q.cols, sizeof(float)), q.rows, q.cols, GP_FLOAT);

	dev->download(dev, host, q);
	dev->destroy(dev, &q);
	return host;
}

/* The posterior asked of pieces against that from the factor as it is. */
static void
check_posterior(gp_env *env, const char *kernel, gp_task task)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_features x = make_features(env);
	gp_problem	p = make_problem(env, kernel, &x, task);
	held		h = {.dev = dev,.problem = &p,.q = host_factor(dev, &p)};
	gp_external_factor external = {&h, h.q.cols, 1e-5, 1e-5, gram, rows, project_all};
	gp_posterior *a = gp_fit_factor(dev, &p, gp_kernel_factor(dev, &p, 0));
	gp_posterior *b = gp_fit_external(dev, &p, &external, N);
	double		mean = 0.0;
	double		variance = 0.0;
	double		loo = 0.0;
	char		name[200];

	for (int k = 0; k < N * a->columns; k++)
		mean = fmax(mean, fabs(a->mean[k] - h.kept[k / a->columns * h.width + 1 + k % a->columns]));
	for (int i = 0; i < N; i++)
		variance = fmax(variance, fabs(a->variance[i] - h.kept[i * h.width]) / a->variance[i]);
	for (int k = 0; k < a->loo.n * a->columns; k++)
		loo = fmax(loo, fabs(a->loo.mean[k] - b->loo.mean[k]));
	snprintf(name, sizeof(name), "%s, %s: the fit's means (%.1e), variances (%.1e), leave-one-out (%.1e) and nugget",
			 kernel, task == GP_TASK_CLASSES ? "classes" : "values", mean, variance, loo);
	ok(mean < 2e-5 && variance < 1e-4 && loo < 1e-4 && a->nugget == b->nugget && h.passes == 1 &&
	   fabs(a->log_marginal_likelihood - b->log_marginal_likelihood) < 1e-3, name);
}

/* Covariances of pieces of rows with landmarks against columns of the exact kernel. */
static void
check_covariances(gp_env *env, const char *kernel)
{
	static const int32_t landmark[] = {1, 6, 12, 25, 33};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_features x = make_features(env);
	gp_problem	p = make_problem(env, kernel, &x, GP_TASK_CLASSES);
	gp_matrix	all = gp_matrix_wrap(x.dense, N, DIMS, GP_FLOAT);
	float		la[5 * DIMS];
	float		out[PIECE * 5];
	float		want[N * 5];
	gp_eval		ev;
	double		worst = 0.0;
	char		name[160];

	for (int j = 0; j < 5; j++)
		memcpy(la + j * DIMS, (float *) x.dense + landmark[j] * DIMS, sizeof(float) * DIMS);
	gp_eval_open(&ev, dev, p.program, p.graph, &x, 0, GP_FLOAT);
	gp_matrix	c = gp_eval_columns(&ev, p.program->nsteps - 1, landmark, 5);
	dev->download(dev, gp_matrix_wrap(want, N, 5, GP_FLOAT), c);
	for (gp_band band = gp_band_first(N, PIECE); band.count > 0; gp_band_next(&band))
	{
		int32_t		own[5];

		for (int j = 0; j < 5; j++)
			own[j] = landmark[j] >= band.first && landmark[j] < band.first + band.count ? landmark[j] - (int32_t) band.first : -1;
		gp_block_covariances(dev, p.program, gp_matrix_rows(all, band.first, band.count), NULL,
							 gp_matrix_wrap(la, 5, DIMS, GP_FLOAT), own, gp_matrix_wrap(out, band.count, 5, GP_FLOAT));
		for (int k = 0; k < band.count * 5; k++)
			worst = fmax(worst, fabs(out[k] - want[band.first * 5 + k]));
	}
	snprintf(name, sizeof(name), "%s: pieces of rows have the kernel's columns (%.1e)", kernel, worst);
	ok(worst < 1e-5, name);
}

/* An operator on columns against the explicit factor of the whole. */
static void
check_operator(gp_env *env, const char *kernel)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_features x = make_features(env);
	gp_problem	p = make_problem(env, kernel, &x, GP_TASK_CLASSES);
	float		column[N * DIMS];
	float		want[N * DIMS];
	gp_eval		ev;
	double		worst = 0.0;
	char		name[160];

	gp_eval_open(&ev, dev, p.program, p.graph, &x, 0, GP_FLOAT);
	const gp_linear *z = gp_linear_of_step(&ev, p.program->nsteps - 1);
	dev->download(dev, gp_matrix_wrap(want, N, DIMS, GP_FLOAT), z->dense);
	gp_csr	   *a = gp_graph_normalise(dev->env, p.graph, p.program->norm, GP_FLOAT);
	for (int j = 0; j < DIMS; j++)
	{
		for (int i = 0; i < N; i++)
			column[i] = ((float *) x.dense)[i * DIMS + j];
		gp_block_operate(dev, p.program, a, gp_matrix_wrap(column, N, 1, GP_FLOAT), NULL, 0);
		for (int i = 0; i < N; i++)
			worst = fmax(worst, fabs(column[i] - want[i * DIMS + j]));
	}
	snprintf(name, sizeof(name), "%s: columns one by one are those of all (%.1e)", kernel, worst);
	ok(worst < 1e-6, name);
}

/* What the faults are injected into. */
static void
small_fit(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_features x = make_features(env);
	gp_problem	p = make_problem(env, "gcn", &x, GP_TASK_CLASSES);
	held		h = {.dev = dev,.problem = &p,.q = host_factor(dev, &p)};
	gp_external_factor external = {&h, h.q.cols, 1e-5, 1e-5, gram, rows, project_all};

	gp_posterior_free(env, gp_fit_external(dev, &p, &external, N));
	dev->close(dev);
}

int
main(void)
{
	in_env(check_posterior(env, "gcn", GP_TASK_CLASSES));
	in_env(check_posterior(env, "gcn", GP_TASK_VALUES));
	in_env(check_posterior(env, "A*X0", GP_TASK_CLASSES));
	in_env(check_covariances(env, "relu(X0*W)"));
	in_env(check_covariances(env, "X0, input=rbf(gamma=0.3)"));
	in_env(check_covariances(env, "X0, input=poly(c=1, d=3)"));
	in_env(check_operator(env, "A*X0"));
	in_env(check_operator(env, "(0.7*A^2 + 0.3*I)*X0, norm=row"));
	in_env(check_operator(env, "P(0.2)*X0"));
	disturb("a fit of pieces", TEST_REFUSE, 1, 30, small_fit(env));
	in_env(expect_error(env, GP_ERR_UNSUPPORTED, check_operator(env, "relu(X0*W)")));
	in_env(expect_error(env, GP_ERR_UNSUPPORTED, check_covariances(env, "gcn")));
	return done_testing();
}
