/*
 * test_codes.c - sign codes against angles in the exact kernel, twins, nodes
 * without a kernel, equal bits, odd graphs, faults and cancels.
 */
#include "links/search/candidates.h"
#include "test_env.h"
#include "test_graphs.h"
#include "test_codes.h"

#include <stdlib.h>

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

static gp_link_problem
make_problem(gp_env *env, const gp_graph *graph, const char *kernel)
{
	gp_link_problem p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = gp_kernel_program(env, gp_kernel_parse(env, kernel));
	p.seed = 3;
	return p;
}

/* Features: some numbers, the same for nodes 2k and 2k + 1, none for every tenth pair. */
static gp_features *
numbers(gp_env *env, int n, int dims)
{
	gp_features_builder *b = gp_features_create(env, n, dims, GP_FLOAT);
	int32_t		node;
	int32_t		feature;
	double		x[64];

	for (int i = 0; i < n; i++)
	{
		for (int k = 0; k < dims; k++)
			x[k] = i / 2 % 10 == 9 ? 0.0 : sin(1.0 + i / 2 * (k + 1) * 0.37) + 0.3;
		gp_features_add_row(b, i, x);
	}
	return gp_features_build(b, &node, &feature);
}

/* Shares of bits that differ against angles between centred rows of the exact kernel. */
static void
check_angles(gp_env *env, gp_graph *g, const char *kernel, int dims)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_link_problem p = make_problem(env, g, kernel);
	int64_t		n = g->nodes;
	double	   *k = gp_alloc_array(env, n * n, sizeof(double));
	double	   *mean = gp_alloc_zero(env, n + 1, sizeof(double));
	double		squares = 0.0;
	double		worst = 0.0;
	int64_t		pairs = 0;
	int64_t		unknown = 0;
	gp_eval		ev;
	char		name[200];

	if (dims)
		p.features = numbers(env, (int) n, dims);
	size_t		base = env->used;
	uint64_t   *code = gp_link_codes(dev, &p);
	gp_eval_open(&ev, dev, p.program, g, p.features, p.seed, GP_FLOAT);
	gp_matrix	m = gp_eval_full(&ev, p.program->nsteps - 1);
	dev->download(dev, gp_matrix_wrap(k, n, n, GP_DOUBLE), m);
	dev->destroy(dev, &m);
	gp_eval_close(&ev);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			mean[i] += k[i * n + j] / n;
	for (int64_t i = 0; i < n; i++)
		mean[n] += mean[i] / n;
	for (int64_t i = 0; i < n; i++)
		unknown += has_code(code, i) != (k[i * n + i] > 0.0);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < i; j++)
		{
			double		ii = k[i * n + i] - 2 * mean[i] + mean[n];
			double		jj = k[j * n + j] - 2 * mean[j] + mean[n];
			double		ij = k[i * n + j] - mean[i] - mean[j] + mean[n];
			double		cosine = fmax(-1.0, fmin(1.0, ij / sqrt(ii * jj)));
			double		off = distance(code, i, j) - 256.0 * acos(cosine) / M_PI;

			if (!has_code(code, i) || !has_code(code, j))
				continue;
			pairs++;
			squares += off * off;
			worst = fmax(worst, fabs(off));
		}
	snprintf(name, sizeof(name), "%s%s: bits against angles, %.1f off, %.1f at most", kernel,
			 dims ? " with features" : "", sqrt(squares / pairs), worst);
	ok(unknown == 0 && sqrt(squares / pairs) < 9.0 && worst < 50.0, name);
	gp_free(env, code);
	is_int((long long) (env->used - base), 0, "nothing else is held");
}

/* Nodes with equal rows have equal codes and find each other; nodes without a row have none. */
static void
check_twins(gp_env *env, const char *kernel, int n)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_edges   *edges = gp_edges_create(env, n, false, false);
	int32_t    *out;
	int			differ = 0;
	int			found = 0;
	int			zero = 0;
	char		name[160];

	gp_graph   *g = gp_graph_build(edges);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	gp_link_problem p = make_problem(env, g, kernel);
	p.features = numbers(env, n, 20);
	uint64_t   *code = gp_link_codes(dev, &p);
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	for (int i = 0; i + 1 < n; i += 2)
	{
		int64_t		count = gp_link_search_node(s, i, &out);
		bool		hit = false;

		differ += distance(code, i, i + 1) != 0;
		zero += has_code(code, i) != (i / 2 % 10 != 9);
		for (int64_t k = 0; k < count; k++)
			hit = hit || out[k] == i + 1;
		found += hit || !has_code(code, i);
		zero += !has_code(code, i) && count > 0;
	}
	snprintf(name, sizeof(name), "%s, %d nodes: twins have one code", kernel, n);
	ok(differ <= n / 100, name);	/* a landmark's own variance is exact, its twin's is rounded */
	is_int(found, n / 2, "and find each other");
	is_int(zero, 0, "a row of zeros has the code 0, and no neighbours");
}

/* The same bits with one thread and with three; another seed gives other ones. */
static void
check_bits(gp_env *env, const char *kernel, int dims)
{
	gp_graph   *g = random_hub_graph(env, &state, 1200, 4300, 2, 60, false);
	uint64_t   *code[3];
	size_t		bytes = 1200 * WORDS * sizeof(uint64_t);
	char		name[160];

	for (int t = 0; t < 3; t++)
	{
		gp_device  *dev = gp_device_cpu(env, t == 1 ? 3 : 1);
		gp_link_problem p = make_problem(env, g, kernel);

		if (dims)
			p.features = numbers(env, 1200, dims);
		p.seed = t == 2 ? 99 : 3;
		code[t] = gp_link_codes(dev, &p);
		dev->close(dev);
	}
	snprintf(name, sizeof(name), "%s%s: the same with 1 and 3 threads", kernel,
			 dims ? " with features" : "");
	ok(memcmp(code[0], code[1], bytes) == 0, name);
	ok(memcmp(code[0], code[2], bytes) != 0, "another seed");
}

/* Graphs without nodes, with one, and without links; kernels that overflow. */
static void
check_odd(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	int32_t    *out;

	for (int n = 0; n < 4; n++)
	{
		gp_graph   *g = gp_graph_build(gp_edges_create(env, n, n % 2, false));
		gp_csr	   *a = gp_graph_symmetric(env, g);
		gp_link_problem p = make_problem(env, g, "gcn");
		uint64_t   *code = gp_link_codes(dev, &p);

		for (int mode = 0; mode < 4; mode++)
		{
			gp_link_search *s = gp_link_search_open(env, g, a, mode % 2 ? code : NULL, mode);
			int64_t		most = 0;

			for (int i = 0; i < n; i++)
			{
				int64_t		found = gp_link_search_node(s, i, &out);

				most = found > most ? found : most;
			}
			gp_link_search_close(s);
			ok(most <= n && (mode != GP_CANDIDATES_ALL || n == 0 || most == n - 1),
			   "a graph without links");
		}
	}
}

/* Codes and candidates, for the fault injection. */
static void
small_run(gp_env *env, const char *kernel, int n, int dims)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *g = random_hub_graph(env, &state, n, 3 * n, 2, 130, false);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	gp_link_problem p = make_problem(env, g, kernel);
	int32_t    *out;

	if (dims)
		p.features = numbers(env, n, dims);
	uint64_t   *code = gp_link_codes(dev, &p);
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	for (int i = 0; i < n; i += n / 50)
		gp_link_search_node(s, i, &out);
	gp_link_search_close(s);
	gp_free(env, code);
	dev->close(dev);
}

/* Fails every allocation in turn, from the first or by strides; each time the right error. */
static void
check_faults(const char *kernel, int n, int dims, int stride)
{
	disturb(kernel, TEST_REFUSE, stride, 20, small_run(env, kernel, n, dims));
}

/* Cancels at interrupt checks all over a run. */
static void
check_cancels(const char *kernel, int n, int dims, int stride)
{
	disturb(kernel, TEST_CANCEL, stride, 5, small_run(env, kernel, n, dims));
}

int
main(void)
{
	in_env(check_angles(env, karate_graph(env, false, false), "gcn", 0));
	in_env(check_angles(env, karate_graph(env, false, false), "laplacian(d=2, sigma2=10)", 0));
	in_env(check_angles(env, random_hub_graph(env, &state, 300, 500, 1, 150, true),
						"laplacian(d=3, sigma2=2)", 0));
	in_env(check_angles(env, random_hub_graph(env, &state, 300, 900, 0, 0, false), "laplacian(d=1)", 0));
	in_env(check_angles(env, random_hub_graph(env, &state, 300, 900, 0, 0, true), "sage", 5));
	in_env(check_angles(env, random_hub_graph(env, &state, 300, 900, 0, 0, false), "A^2*X0", 60));
	in_env(check_angles(env, random_hub_graph(env, &state, 300, 900, 0, 0, false), "gcn(layers=3)", 0));
	in_env(check_angles(env, random_hub_graph(env, &state, 300, 900, 0, 0, false), "rbf(gamma=0.5)", 5));
	in_env(check_twins(env, "gcn", 800));
	in_env(check_twins(env, "X0", 6000));
	in_env(check_bits(env, "gcn", 0));
	in_env(check_bits(env, "sage", 8));
	in_env(check_bits(env, "laplacian(d=2)", 0));
	in_env(check_bits(env, "A*X0, input=laplacian(walks=5, dims=100)", 0));
	in_env(check_bits(env, "appnp", 8));
	in_env(check_odd(env));
	check_faults("gcn", 600, 0, 1);
	check_faults("A*X0", 600, 8, 1);
	check_faults("A*X0", 4500, 8, 1);
	check_faults("laplacian(sigma2=5)", 600, 0, 1);
	check_cancels("sage", 600, 8, 3);
	check_cancels("A*X0", 4500, 8, 3);
	return done_testing();
}
