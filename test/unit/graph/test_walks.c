/*
 * test_walks.c - Laplacian kernels, exact and by random walks.
 *
 * Exact roots are held against reference values on the karate club; estimates
 * must be unbiased within three standard errors, and as close as they should be.
 */
#include "golden_laplacian.h"
#include "graph/laplacian.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

#define N 34

/* A random graph in which every pair is joined with probability p. */
static gp_graph *
erdos_renyi(gp_env *env, int n, double p)
{
	gp_edges   *edges = gp_edges_create(env, n, false, false);
	uint64_t	seed = 3;

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < i; j++)
		{
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			if ((double) (seed >> 33) * 0x1p-31 < p)
				gp_edges_add(edges, 1, &i, &j, NULL);
		}
	return gp_graph_build(edges);
}

/* The exact kernel, n x n in double. */
static double *
exact_kernel(gp_device *dev, const gp_graph *graph, const gp_laplacian *kernel)
{
	int64_t		n = graph->nodes;
	gp_features *root = gp_laplacian_root_features(dev, graph, kernel, GP_DOUBLE);
	gp_matrix	f = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, n, n, GP_DOUBLE);
	double	   *host = gp_alloc_array(dev->env, n * n, sizeof(double));

	dev->upload(dev, f, gp_matrix_wrap(root->dense, n, n, GP_DOUBLE));
	gp_features_free(dev->env, root);
	dev->syrk(dev, false, 1.0, f, 0.0, k);
	dev->download(dev, gp_matrix_wrap(host, n, n, GP_DOUBLE), k);
	gp_destroy_all(dev, &f, &k);
	return host;
}

/* A sparse factor as a dense matrix of double on the device. */
static gp_matrix
dense_factor(gp_device *dev, const gp_csr *s)
{
	double	   *host = gp_alloc_zero(dev->env, s->rows * s->cols, sizeof(double));
	gp_matrix	m = dev->create(dev, s->rows, s->cols, GP_DOUBLE);

	for (int64_t i = 0; i < s->rows; i++)
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			host[i * s->cols + s->col[k]] = ((const double *) s->value)[k];
	dev->upload(dev, m, gp_matrix_wrap(host, s->rows, s->cols, GP_DOUBLE));
	gp_free(dev->env, host);
	return m;
}

/* One estimate F F2', symmetrised: (F F2' + F2 F') / 2. */
static double *
estimate(gp_device *dev, const gp_graph *graph, const gp_laplacian *kernel, uint64_t seed)
{
	gp_env	   *env = dev->env;
	int64_t		n = graph->nodes;
	gp_csr	   *s[2];
	gp_matrix	f[2];
	gp_matrix	k = dev->create(dev, n, n, GP_DOUBLE);
	double	   *host = gp_alloc_array(env, n * n, sizeof(double));

	for (int c = 0; c < 2; c++)
	{
		s[c] = gp_walk_factor(env, NULL, graph, kernel, seed, c, GP_DOUBLE);
		f[c] = dense_factor(dev, s[c]);
		gp_csr_free(env, s[c]);
	}
	dev->gemm(dev, false, true, 0.5, f[0], f[1], 0.0, k);
	dev->gemm(dev, false, true, 0.5, f[1], f[0], 1.0, k);
	dev->download(dev, gp_matrix_wrap(host, n, n, GP_DOUBLE), k);
	for (int c = 0; c < 2; c++)
		dev->destroy(dev, &f[c]);
	dev->destroy(dev, &k);
	return host;
}

/* The relative Frobenius error in per cent. */
static double
frobenius(const double *got, const double *want, int64_t n)
{
	double		difference = 0.0;
	double		size = 0.0;

	for (int64_t k = 0; k < n * n; k++)
	{
		difference += (got[k] - want[k]) * (got[k] - want[k]);
		size += want[k] * want[k];
	}
	return 100.0 * sqrt(difference / size);
}

/* Exact roots against the reference. */
static void
check_exact(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);

	for (int d = 1; d <= 3; d++)
	{
		gp_laplacian kernel = {d, 0.2, 1, 0.1, GP_WALK_UNIFORM, GP_TRIM_ANCHORS, 0};
		double	   *k = exact_kernel(dev, graph, &kernel);
		double		worst = 0.0;
		char		name[80];

		for (int c = 0; c < 3; c++)
			for (int i = 0; i < N; i++)
				worst = fmax(worst, fabs(k[i * N + laplacian_column[c]] -
										 karate_laplacian[d - 1][c][i]));
		snprintf(name, sizeof(name), "d = %d: the exact kernel (%.2g)", d, worst);
		ok(worst < 1e-9, name);
	}
}

/* The mean of many estimates is the kernel, within three standard errors almost everywhere. */
static void
check_unbiased(gp_env *env, int d, gp_walk_choice choice, int64_t dims, int rounds,
			   const char *what)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_laplacian kernel = {d, 10.0, 4, 0.1, choice, GP_TRIM_ANCHORS, dims};
	double	   *want = exact_kernel(dev, graph, &kernel);
	double	   *sum = gp_alloc_zero(env, N * N, sizeof(double));
	double	   *squares = gp_alloc_zero(env, N * N, sizeof(double));
	int			outside = 0;
	double		z = 0.0;
	char		name[120];

	for (int r = 0; r < rounds; r++)
	{
		double	   *k = estimate(dev, graph, &kernel, r);

		for (int i = 0; i < N * N; i++)
		{
			sum[i] += k[i];
			squares[i] += k[i] * k[i];
		}
		gp_free(env, k);
	}
	for (int i = 0; i < N * N; i++)
	{
		double		mean = sum[i] / rounds;
		double		error = sqrt((squares[i] / rounds - mean * mean) / rounds);
		double		score = (mean - want[i]) / error;

		outside += fabs(score) > 3.0;
		z += score / (N * N);
	}
	/* 0.3% of 1,156 entries lie outside by chance; they are not independent. */
	snprintf(name, sizeof(name), "d = %d, %s: unbiased (%d of %d outside, mean score %.2f)", d, what,
			 outside, N * N, z);
	ok(outside <= 20 && fabs(z) < 0.5, name);
}

/* The errors that the construction reaches. */
static void
check_errors(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_graph   *graph = erdos_renyi(env, 1000, 0.1);
	gp_laplacian kernel = {2, 0.2, 1, 0.1, GP_WALK_UNIFORM, GP_TRIM_ANCHORS, 0};
	double	   *want = exact_kernel(dev, graph, &kernel);
	double		error = frobenius(estimate(dev, graph, &kernel, 1), want, 1000);
	char		name[120];

	snprintf(name, sizeof(name), "one walk: %.3f%% on a random graph of 1,000 nodes", error);
	ok(error <= 0.35, name);
	kernel.walks = 20;
	error = frobenius(estimate(dev, graph, &kernel, 1), want, 1000);
	snprintf(name, sizeof(name), "20 walks: %.3f%%", error);
	ok(error <= 0.1, name);
	graph = karate_graph(env, false, false);
	kernel = (gp_laplacian) {2, 10.0, 4, 0.1, GP_WALK_UNIFORM, GP_TRIM_ANCHORS, 0};
	want = exact_kernel(dev, graph, &kernel);
	error = 0.0;
	for (int r = 0; r < 50; r++)
		error += frobenius(estimate(dev, graph, &kernel, r), want, N) / 50;
	snprintf(name, sizeof(name), "4 walks on the club, sigma2 = 10: %.1f%%", error);
	ok(error <= 30.0, name);
}

/* One copy as features is positive and near; a projection is near in the mean. */
static void
check_features(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = erdos_renyi(env, 500, 0.02);
	gp_laplacian kernel = {2, 0.2, 80, 0.1, GP_WALK_UNIFORM, GP_TRIM_PROJECTION, 450};
	double	   *want = exact_kernel(dev, graph, &kernel);
	gp_features *f = gp_laplacian_features(dev, graph, &kernel, 5, GP_DOUBLE, 0);
	gp_matrix	x = dev->create(dev, 500, 450, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, 500, 500, GP_DOUBLE);
	double	   *host = gp_alloc_array(env, 500 * 500, sizeof(double));
	double		trace = 0.0;
	double		exact = 0.0;

	dev->upload(dev, x, gp_matrix_wrap(f->dense, 500, 450, GP_DOUBLE));
	dev->syrk(dev, false, 1.0, x, 0.0, k);
	dev->download(dev, gp_matrix_wrap(host, 500, 500, GP_DOUBLE), k);
	for (int i = 0; i < 500; i++)
	{
		trace += host[i * 500 + i];
		exact += want[i * 500 + i];
	}
	is_int(f->dims, 450, "a projection has the columns that were asked for");
	ok(fabs(trace / exact - 1.0) < 0.02, "and keeps the diagonal in the mean");
}

/* Seeds, copies and isolated nodes. */
static void
check_odd(gp_env *env)
{
	gp_laplacian kernel = {2, 0.5, 7, 0.2, GP_WALK_REPELLED, GP_TRIM_ANCHORS, 0};
	gp_graph   *graph = karate_graph(env, false, false);
	gp_edges   *none = gp_edges_create(env, 3, false, false);
	gp_csr	   *a = gp_walk_factor(env, NULL, graph, &kernel, 1, 0, GP_FLOAT);
	gp_csr	   *b = gp_walk_factor(env, NULL, graph, &kernel, 1, 0, GP_FLOAT);
	gp_csr	   *c = gp_walk_factor(env, NULL, graph, &kernel, 2, 0, GP_FLOAT);
	int64_t		entries = gp_csr_entries(a);

	ok(entries == gp_csr_entries(b) &&
	   memcmp(a->value, b->value, entries * sizeof(float)) == 0, "one seed, one result");
	ok(entries != gp_csr_entries(c) ||
	   memcmp(a->value, c->value, entries * sizeof(float)) != 0, "another seed, another");
	a = gp_walk_factor(env, NULL, gp_graph_build(none), &kernel, 1, 0, GP_DOUBLE);
	close_to(((double *) a->value)[0], 1.0 / 1.5, 1e-12, "an isolated node keeps (1 + s2)^(-d/2)");
}

/* A factor for the fault injection. */
static void
small_factor(gp_env *env)
{
	gp_laplacian kernel = {2, 0.5, 2, 0.2, GP_WALK_WEIGHTED, GP_TRIM_ANCHORS, 10};

	gp_walk_factor(env, NULL, karate_graph(env, false, false), &kernel, 1, 0, GP_FLOAT);
}

/* Fails every allocation in turn. */
static void
check_faults(void)
{
	disturb("walks", TEST_REFUSE, 1, 15, small_factor(env));
}

int
main(void)
{
	in_env(check_exact(env));
	in_env(check_unbiased(env, 1, GP_WALK_UNIFORM, 0, 2000, "uniform"));
	in_env(check_unbiased(env, 2, GP_WALK_UNIFORM, 0, 2000, "uniform"));
	in_env(check_unbiased(env, 3, GP_WALK_UNIFORM, 0, 2000, "uniform"));
	in_env(check_unbiased(env, 2, GP_WALK_WEIGHTED, 0, 2000, "weighted"));
	in_env(check_unbiased(env, 2, GP_WALK_REPELLED, 0, 2000, "repelled"));
	in_env(check_unbiased(env, 2, GP_WALK_UNIFORM, 17, 2000, "17 anchors"));
	in_env(check_errors(env));
	in_env(check_features(env));
	in_env(check_odd(env));
	check_faults();
	return done_testing();
}
