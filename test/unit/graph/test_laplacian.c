/*
 * test_laplacian.c - Laplacian kernels of the input, from their text to a fit.
 *
 * Kernels of the club are held against reference values through each evaluator;
 * graphs of other kinds must give sound fits, the same bits for the same seed,
 * and an error where they do not fit.
 */
#include "golden_laplacian.h"
#include "graph/laplacian.h"
#include "fit/fit_internal.h"
#include "kernel/prepared.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

#define N 34

/* A ring of n nodes, each joined with the next few and with one far away. */
static gp_graph *
ring(gp_env *env, int n, int next)
{
	gp_edges   *edges = gp_edges_create(env, n, false, false);

	for (int32_t i = 0; i < n; i++)
	{
		int32_t		far = (int32_t) ((i * INT64_C(7919)) % n);

		for (int32_t k = 1; k <= next; k++)
		{
			int32_t		to = (i + k) % n;

			gp_edges_add(edges, 1, &i, &to, NULL);
		}
		gp_edges_add(edges, 1, &i, &far, NULL);
	}
	return gp_graph_build(edges);
}

static gp_program *
compile(gp_env *env, const char *text)
{
	return gp_kernel_program(env, gp_kernel_parse(env, text));
}

/* A matrix of the device as packed doubles. */
static double *
host_of(gp_device *dev, gp_matrix m)
{
	double	   *host = gp_alloc_array(dev->env, m.rows * m.cols, sizeof(double));

	dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
	dev->destroy(dev, &m);
	return host;
}

/* Columns and the whole kernel against the reference. */
static void
check_golden(gp_env *env, int d, gp_type type)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	int32_t		cols[3] = {laplacian_column[0], laplacian_column[1], laplacian_column[2]};
	double		worst[2] = {0.0, 0.0};
	double	   *column;
	gp_eval		ev;
	char		text[80];

	snprintf(text, sizeof(text), "laplacian(d=%d, sigma2=0.2)", d);
	gp_eval_open(&ev, dev, compile(env, text), karate_graph(env, false, false), NULL, 0, type);
	double	   *full = host_of(dev, gp_eval_full(&ev, ev.kernel->program->nsteps - 1));
	column = host_of(dev, gp_eval_columns(&ev, ev.kernel->program->nsteps - 1, cols, 3));
	for (int c = 0; c < 3; c++)
		for (int i = 0; i < N; i++)
		{
			double		want = karate_laplacian[d - 1][c][i];

			worst[0] = fmax(worst[0], fabs(full[i * N + cols[c]] - want));
			worst[1] = fmax(worst[1], fabs(column[i * 3 + c] - want));
		}
	gp_eval_close(&ev);
	snprintf(text, sizeof(text), "d = %d, %s: the kernel (%.2g) and its columns (%.2g)", d,
			 type == GP_FLOAT ? "float" : "double", worst[0], worst[1]);
	ok(fmax(worst[0], worst[1]) < (type == GP_FLOAT ? 1e-6 : 1e-9), text);
}

/* The features are of no consequence. */
static void
check_features(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_program *program = compile(env, "gcn(input=laplacian)");
	double	   *k[2];

	for (int f = 0; f < 2; f++)
	{
		gp_features *x = f ? gp_features_identity(env, N, GP_DOUBLE) : NULL;
		gp_eval		ev;

		gp_eval_open(&ev, dev, program, graph, x, 0, GP_DOUBLE);
		k[f] = host_of(dev, gp_eval_full(&ev, program->nsteps - 1));
		gp_eval_close(&ev);
	}
	ok(memcmp(k[0], k[1], N * N * sizeof(double)) == 0, "features are ignored");
}

/* A problem on a graph without features: the officer's friends and the instructor's. */
static gp_problem
make_problem(gp_env *env, const gp_graph *graph, const char *kernel, gp_strategy strategy)
{
	static const int32_t labelled[6] = {0, 1, 2, 31, 32, 33};
	static const int32_t label[6] = {0, 0, 0, 1, 1, 1};
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = compile(env, kernel);
	p.task = GP_TASK_CLASSES;
	p.labelled = labelled;
	p.label = label;
	p.nlabelled = 6;
	p.nclasses = 2;
	p.nugget = 0.01;
	p.strategy = strategy;
	p.nlandmarks = strategy == GP_STRATEGY_NYSTROM ? 20 : 0;
	p.type = GP_FLOAT;
	return p;
}

/* Fits of the club are sound, and the two sides come out; the strategies agree. */
static void
check_fit(gp_env *env, const char *kernel, bool directed, bool weighted)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, directed, weighted);
	bool		sound = true;
	int			right[2] = {0, 0};
	char		name[200];

	for (int s = 0; s < 2; s++)
	{
		gp_problem	p = make_problem(env, graph, kernel,
									 s ? GP_STRATEGY_NYSTROM : GP_STRATEGY_EXACT);
		gp_posterior *out = gp_fit(dev, &p);

		for (int i = 0; i < N; i++)
		{
			const double *mean = out->mean + 2 * i;
			bool		officer = i == 9 || i == 14 || i == 15 || i == 18 || i == 20 || i >= 22;

			sound = sound && isfinite(mean[0]) && isfinite(out->variance[i]) &&
				out->variance[i] >= 0.0;
			right[s] += (mean[1] > mean[0]) == officer;
		}
	}
	snprintf(name, sizeof(name), "%s,%s%s: right on %d, low rank on %d of 34", kernel,
			 directed ? " directed" : " undirected", weighted ? ", weighted" : "", right[0],
			 right[1]);
	/* Edges of one direction tell less. */
	ok(sound && (directed || (right[0] >= 28 && right[1] >= 28)), name);
}

/* Walks depend on the seed alone. */
static void
check_seeds(gp_env *env)
{
	gp_graph   *graph = karate_graph(env, false, false);
	gp_posterior *out[3];

	for (int k = 0; k < 3; k++)
	{
		gp_problem	p = make_problem(env, graph, "gcn(input=laplacian(walks=5, dims=20))",
									 GP_STRATEGY_EXACT);

		p.seed = k == 2 ? 8 : 7;
		out[k] = gp_fit(gp_device_cpu(env, k + 1), &p);
	}
	ok(memcmp(out[0]->mean, out[1]->mean, 2 * N * sizeof(double)) == 0 &&
	   memcmp(out[0]->variance, out[1]->variance, N * sizeof(double)) == 0,
	   "one seed, the same bits with any number of threads");
	ok(memcmp(out[0]->mean, out[2]->mean, 2 * N * sizeof(double)) != 0, "another seed, others");
}

/* Larger graphs are walked; each way to choose and to trim comes near the exact kernel. */
static void
check_walked(gp_env *env, const char *options, double most)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	double	   *k[2];
	double		difference = 0.0;
	double		size = 0.0;
	char		text[160];

	for (int f = 0; f < 2; f++)
	{
		gp_eval		ev;

		snprintf(text, sizeof(text), "laplacian(%s)", f ? options : "d=2");
		gp_eval_open(&ev, dev, compile(env, text), graph, NULL, 3, GP_DOUBLE);
		k[f] = host_of(dev, gp_eval_full(&ev, ev.kernel->program->nsteps - 1));
		gp_eval_close(&ev);
	}
	for (int i = 0; i < N * N; i++)
	{
		difference += (k[1][i] - k[0][i]) * (k[1][i] - k[0][i]);
		size += k[0][i] * k[0][i];
	}
	snprintf(text, sizeof(text), "%s: %.2g off the exact kernel", options,
			 sqrt(difference / size));
	ok(sqrt(difference / size) < most, text);
}

/* A limit refuses walks, and the exact root gives way to them. */
static void
check_limit(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = ring(env, 1000, 2);
	gp_problem	p = make_problem(env, graph, "laplacian(walks=4, p_term=0.5)",
								 GP_STRATEGY_NYSTROM);
	size_t		base = env->used;

	env->limit = base + 3 * 1000 * 1000 * sizeof(double) - 1024;
	ok(gp_fit(dev, &p) != NULL && env->peak < base + 2 * 1000 * 1000 * sizeof(double),
	   "where the exact root does not fit, walks take its place");
	p.program = compile(env, "laplacian(walks=2000)");
	base = env->used;
	env->limit = base + 4 * 1024 * 1024;
	expect_error(env, GP_ERR_LIMIT, gp_fit(dev, &p));
	ok(strstr(test_state(env)->message, "gnngp.memory_limit allows") != NULL, "it names the limit");
	p.program = compile(env, "laplacian(dims=2147483647, trim=projection)");
	expect_error(env, GP_ERR_LIMIT, gp_fit(dev, &p));
	env->limit = env->used + 4 * 1024 * 1024;
	p.program = compile(env, "laplacian(walks=2000, dims=5)");
	ok(!test_catch(env, gp_fit(dev, &p)), "fewer dims fit");
	env->limit = 0;
}

/* Graphs without edges, of one node, and values at the end of their ranges. */
static void
check_odd(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	static const char *const kernels[] = {"laplacian", "laplacian(dims=3)",
		"laplacian(dims=1, trim=projection)", "laplacian(d=16, sigma2=10, p_term=0.999, walks=1)",
		"laplacian(d=16, sigma2=1e-300, dims=2)", "gcn(input=laplacian(dims=99))"};

	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		for (int n = 1; n <= 34; n += 33)
		{
			gp_graph   *graph = n == 1 ? gp_graph_build(gp_edges_create(env, 1, true, true)) :
				karate_graph(env, true, true);
			gp_problem	p = make_problem(env, graph, kernels[k], GP_STRATEGY_AUTO);
			bool		sound = true;
			char		name[120];

			p.nlabelled = n == 1 ? 1 : 6;
			gp_posterior *out = gp_fit(dev, &p);
			for (int i = 0; i < n; i++)
				sound = sound && isfinite(out->mean[2 * i]) && isfinite(out->variance[i]);
			snprintf(name, sizeof(name), "%s on %d nodes", kernels[k], n);
			ok(sound, name);
		}
	{
		gp_problem	p = make_problem(env, karate_graph(env, false, false), "laplacian(sigma2=1e30)",
									 GP_STRATEGY_AUTO);

		expect_error(env, GP_ERR_VALUE, gp_fit(dev, &p));
	}
}

/* A fit for the fault injection. */
static void
small_fit(gp_env *env, const char *kernel)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_problem	p = make_problem(env, graph, kernel, GP_STRATEGY_NYSTROM);

	gp_posterior_free(env, gp_fit(dev, &p));
	dev->close(dev);
}

/* Fails every allocation in turn. */
static void
check_faults(const char *kernel)
{
	disturb(kernel, TEST_REFUSE, 1, 30, small_fit(env, kernel));
}

/* Cancels at every tenth interrupt check. */
static void
check_cancels(const char *kernel)
{
	disturb(kernel, TEST_CANCEL, 10, 2, small_fit(env, kernel));
}

int
main(void)
{
	static const char *const kernels[] = {"laplacian(d=2)", "gcn(input=laplacian(d=2))",
		"appnp(input=laplacian)", "sage(input=laplacian(d=1, sigma2=1))",
		"gcnii(input=laplacian(walks=200, dims=30))"};

	for (volatile int d = 1; d <= 3; d++)
	{
		in_env(check_golden(env, d, GP_DOUBLE));
		in_env(check_golden(env, d, GP_FLOAT));
	}
	in_env(check_features(env));
	for (volatile size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
	{
		in_env(check_fit(env, kernels[k], false, false));
		in_env(check_fit(env, kernels[k], true, false));
		in_env(check_fit(env, kernels[k], false, true));
		in_env(check_fit(env, kernels[k], true, true));
	}
	in_env(check_seeds(env));
	in_env(check_walked(env, "walks=20000, dims=34", 0.01));
	in_env(check_walked(env, "walks=20000, dims=34, choice=weighted", 0.01));
	in_env(check_walked(env, "walks=2000, dims=34, choice=repelled", 0.05));
	in_env(check_walked(env, "walks=2000, dims=2000, trim=projection", 0.2));
	in_env(check_limit(env));
	in_env(check_odd(env));
	check_faults("laplacian(d=3)");
	check_faults("gcn(input=laplacian(walks=3, dims=8, trim=projection, choice=repelled))");
	check_faults("gcn(input=laplacian(walks=100, dims=30, choice=weighted))");
	check_cancels("gcn(input=laplacian(walks=300, dims=8, choice=weighted))");
	return done_testing();
}
