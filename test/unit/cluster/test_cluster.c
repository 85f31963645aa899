/*
 * test_cluster.c - kernel k-means: its inertia by brute force, groups that are
 * known, odd graphs, equal bits, the limit, cancels, and every allocation failing.
 */
#include "cluster/cluster.h"
#include "kernel/prepared.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

#define N 34

/* Whether a member went with the officer. */
static bool
officer(int i)
{
	return i == 9 || i == 14 || i == 15 || i == 18 || i == 20 || i >= 22;
}

/* A graph of groups of different sizes; each node has six links inside and may have one out. */
static gp_graph *
groups(gp_env *env, const int *size, int count, int32_t *group)
{
	uint64_t	state = 5;
	int			n = 0;
	int			first = 0;

	for (int g = 0; g < count; g++)
		n += size[g];
	gp_edges   *edges = gp_edges_create(env, n, false, false);
	for (int g = 0; g < count; g++)
	{
		for (int i = 0; i < size[g]; i++)
			for (int k = 0; k < 7; k++)
			{
				int32_t		src = first + i;

				state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
				int32_t		dst = first + (int32_t) ((state >> 33) % (uint64_t) size[g]);
				if (k == 6)
					dst = (int32_t) ((state >> 33) % (uint64_t) n);
				if (k < 6 || i % 3 == 0)
					gp_edges_add(edges, 1, &src, &dst, NULL);
				group[src] = g;
			}
		first += size[g];
	}
	return gp_graph_build(edges);
}

/* Features: some numbers, and none for every tenth node. */
static gp_features *
numbers(gp_env *env, int n, gp_type type)
{
	gp_features_builder *b = gp_features_create(env, n, 3, type);
	int32_t		node;
	int32_t		feature;

	for (int i = 0; i < n; i++)
	{
		double		x[3] = {i % 10 ? sin(i) : 0.0, i % 10 ? cos(0.7 * i) : 0.0, i % 10 ? 1.0 : 0.0};

		gp_features_add_row(b, i, x);
	}
	return gp_features_build(b, &node, &feature);
}

static gp_cluster_problem
make_problem(gp_env *env, const gp_graph *graph, const char *kernel, int32_t clusters)
{
	gp_cluster_problem p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = gp_kernel_program(env, gp_kernel_parse(env, kernel));
	p.clusters = clusters;
	p.seed = 1;
	p.type = GP_FLOAT;
	return p;
}

/* The kernel by the full recursion, in double. */
static double *
full_kernel(gp_device *dev, const gp_cluster_problem *p)
{
	gp_env	   *env = dev->env;
	int64_t		n = p->graph->nodes;
	double	   *k = gp_alloc_array(env, n * n, sizeof(double));
	gp_eval		ev;

	gp_eval_open(&ev, dev, p->program, p->graph, p->features, p->seed, p->type);
	gp_matrix	m = gp_eval_full(&ev, ev.kernel->program->nsteps - 1);
	dev->download(dev, gp_matrix_wrap(k, n, n, GP_DOUBLE), m);
	dev->destroy(dev, &m);
	gp_eval_close(&ev);
	return k;
}

/* The squared distances to the clusters' means, pair by pair; -1 for an odd numbering. */
static double
brute_inertia(const double *k, int n, int clusters, const int32_t *cluster)
{
	double		inertia = 0.0;
	int			last = n + 1;

	for (int c = 1; c <= clusters; c++)
	{
		double		within = 0.0;
		int			size = 0;

		for (int i = 0; i < n; i++)
		{
			if (cluster[i] != c)
				continue;
			size++;
			inertia += k[i * n + i] > 0.0 ? 1.0 : 0.0;
			for (int j = 0; j < n; j++)
				if (cluster[j] == c && k[i * n + i] > 0.0 && k[j * n + j] > 0.0)
					within += k[i * n + j] / sqrt(k[i * n + i] * k[j * n + j]);
		}
		if (size == 0 || size > last)
			return -1.0;
		last = size;
		inertia -= within / size;
	}
	return inertia;
}

/* One kernel: the inertia is that of the clusters, and no single move lowers it. */
static void
check_kernel(gp_env *env, const char *kernel, bool features, int clusters, int64_t exact_nodes,
			 double tolerance)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_cluster_problem p = make_problem(env, karate_graph(env, false, false), kernel, clusters);
	int			better = 0;
	char		name[200];

	if (features)
		p.features = numbers(env, N, p.type);
	p.exact_nodes = exact_nodes;
	gp_clustering *out = gp_cluster(dev, &p);
	double	   *k = full_kernel(dev, &p);
	double		inertia = brute_inertia(k, N, clusters, out->cluster);
	for (int i = 0; i < N; i++)
		for (int c = 1; c <= clusters; c++)
		{
			int32_t		own = out->cluster[i];

			out->cluster[i] = c;
			double		moved = brute_inertia(k, N, clusters, out->cluster);
			better += moved >= 0.0 && moved < inertia - 1e-4 - tolerance;
			out->cluster[i] = own;
		}
	snprintf(name, sizeof(name), "%s%s, %d clusters%s: inertia %.4f of %.4f, %d better moves, "
			 "%d rounds", kernel, features ? " with features" : "", clusters,
			 exact_nodes ? ", low rank" : "", out->inertia, inertia, better, out->rounds);
	ok(fabs(out->inertia - inertia) <= 1e-4 + tolerance && better <= 1, name);
	gp_clustering_free(env, out);
}

/* The club falls into its two factions. */
static void
check_factions(gp_env *env, const char *kernel, int least)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_cluster_problem p = make_problem(env, karate_graph(env, false, false), kernel, 2);
	gp_clustering *out = gp_cluster(dev, &p);
	int			right = 0;
	char		name[120];

	for (int i = 0; i < N; i++)
		right += (out->cluster[i] == out->cluster[33]) == officer(i);
	snprintf(name, sizeof(name), "%s: %d of 34 with their faction", kernel, right);
	ok(right >= least, name);
}

/* Pairs of members that walks and the exact kernel put together differently, as a share. */
static void
check_walks(gp_env *env, const char *exact, const char *walked, double most)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_clustering *out[2];
	int			wrong = 0;
	char		name[160];

	for (int k = 0; k < 2; k++)
	{
		gp_cluster_problem p = make_problem(env, graph, k ? walked : exact, 3);

		out[k] = gp_cluster(dev, &p);
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < i; j++)
			wrong += (out[0]->cluster[i] == out[0]->cluster[j]) !=
				(out[1]->cluster[i] == out[1]->cluster[j]);
	snprintf(name, sizeof(name), "%s: %.3f of the pairs differ from the exact kernel's", walked,
			 wrong / (N * (N - 1) / 2.0));
	ok(wrong <= most * (N * (N - 1) / 2.0), name);
}

/* Planted groups are found, by every kind of kernel, and numbered by size. */
static void
check_groups(gp_env *env, const char *kernel, int64_t exact_nodes)
{
	static const int size[4] = {70, 110, 40, 80};
	static const int number[4] = {3, 1, 4, 2};
	int32_t		group[300];
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_cluster_problem p = make_problem(env, groups(env, size, 4, group), kernel, 4);
	int			right = 0;
	char		name[160];

	p.exact_nodes = exact_nodes;
	gp_clustering *out = gp_cluster(dev, &p);
	for (int i = 0; i < 300; i++)
		right += out->cluster[i] == number[group[i]];
	snprintf(name, sizeof(name), "%s%s: %d of 300 in their group", kernel,
			 exact_nodes ? ", low rank" : "", right);
	ok(right >= 294, name);
}

/* The same bits with any number of threads; another seed may differ but is sound. */
static void
check_bits(gp_env *env, const char *kernel)
{
	gp_clustering *out[4];
	char		name[160];

	for (int t = 0; t < 4; t++)
	{
		gp_device  *dev = gp_device_cpu(env, t % 3 + 1);
		gp_cluster_problem p = make_problem(env, karate_graph(env, false, false), kernel, 5);

		p.seed = t == 3 ? 99 : 7;
		out[t] = gp_cluster(dev, &p);
		dev->close(dev);
	}
	snprintf(name, sizeof(name), "%s: the same with 1, 2 and 3 threads", kernel);
	ok(memcmp(out[0]->cluster, out[1]->cluster, N * sizeof(int32_t)) == 0 &&
	   memcmp(out[0]->cluster, out[2]->cluster, N * sizeof(int32_t)) == 0 &&
	   out[0]->inertia == out[1]->inertia && out[0]->inertia == out[2]->inertia, name);
	ok(out[3]->inertia > 0.0, "another seed");
}

/* As many clusters as nodes, one cluster, nodes that are all alike, nodes without any kernel. */
static void
check_odd(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_graph   *alone = gp_graph_build(gp_edges_create(env, 20, false, false));
	gp_cluster_problem p = make_problem(env, graph, "laplacian(d=2)", N);
	gp_clustering *out = gp_cluster(dev, &p);
	bool		seen[N + 1] = {false};
	bool		each = true;
	double		zero[3] = {0.0, 0.0, 0.0};
	double		one[3] = {0.0, 2.0, 1.0};

	for (int i = 0; i < N; i++)
	{
		each = each && out->cluster[i] == i + 1 && !seen[out->cluster[i]];
		seen[out->cluster[i]] = true;
	}
	ok(each && fabs(out->inertia) < 1e-4, "as many clusters as nodes: each its own, in order");
	p.clusters = 1;
	out = gp_cluster(dev, &p);
	for (int i = 0; i < N; i++)
		each = each && out->cluster[i] == 1;
	ok(each && out->inertia > 0.0, "one cluster holds all");
	p = make_problem(env, alone, "laplacian(d=2)", 3);
	out = gp_cluster(dev, &p);
	ok(out->cluster[0] >= 1 && out->inertia > 0.0, "a graph without edges");
	for (int k = 0; k < 3; k++)
	{
		gp_features_builder *b = gp_features_create(env, 20, 3, GP_FLOAT);
		int			used[4] = {0};
		int32_t		node;
		int32_t		feature;

		for (int i = 0; i < 20; i++)
			gp_features_add_row(b, i, k == 0 || (k == 2 && i < 10) ? zero : one);
		p = make_problem(env, alone, "gcn", 3);
		p.features = gp_features_build(b, &node, &feature);
		out = gp_cluster(dev, &p);
		for (int i = 0; i < 20; i++)
			used[out->cluster[i]]++;
		ok(used[1] >= used[2] && used[2] >= used[3] && used[3] > 0 && fabs(out->inertia) < 1e-3,
		   k == 0 ? "no kernel anywhere: three clusters all the same" :
		   k == 1 ? "nodes that are all alike: three clusters all the same" :
		   "some nodes without a kernel: apart from the others");
	}
}

/* Numbers out of range, and a limit that is too small. */
static void
check_refusals(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	static const int size[2] = {1500, 1500};
	int32_t	   *group = gp_alloc_array(env, 3000, sizeof(int32_t));
	gp_cluster_problem p = make_problem(env, karate_graph(env, false, false), "laplacian", 0);

	expect_error(env, GP_ERR_VALUE, gp_cluster(dev, &p));
	p.clusters = 35;
	expect_error(env, GP_ERR_VALUE, gp_cluster(dev, &p));
	is_str(test_state(env)->message, "clusters must be between 1 and 34, not 35", "it names both");
	p = make_problem(env, groups(env, size, 2, group), "gcn", 4);
	size_t		base = env->used;
	env->limit = base + (5 << 18);
	expect_error(env, GP_ERR_LIMIT, gp_cluster(dev, &p));
	ok(strstr(test_state(env)->message, "the clustering needs") != NULL &&
	   env->peak < base + (5 << 18), "the limit refuses before anything large is made");
	env->limit = env->used + (20 << 20);
	gp_clustering *out = gp_cluster(dev, &p);
	ok(out->inertia > 0.0 && env->peak < env->limit, "fewer landmarks where the matrix does not fit");
	p = make_problem(env, p.graph, "laplacian(walks=5)", 3000);
	env->limit = env->used + (40 << 20);
	expect_error(env, GP_ERR_LIMIT, gp_cluster(dev, &p));
}

/* A clustering for the fault injection. */
static void
small_run(gp_env *env, const char *kernel, bool features, int64_t exact_nodes)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_cluster_problem p = make_problem(env, graph, kernel, 3);

	if (features)
		p.features = numbers(env, N, p.type);
	p.exact_nodes = exact_nodes;
	gp_clustering_free(env, gp_cluster(dev, &p));
	dev->close(dev);
}

/* Fails every allocation in turn; each time the right error, and nothing kept. */
static void
check_faults(const char *kernel, bool features, int64_t exact_nodes)
{
	disturb(kernel, TEST_REFUSE, 1, 30, small_run(env, kernel, features, exact_nodes));
}

/* What a clustering held is given back on the normal path. */
static void
check_leaks(gp_env *env, const char *kernel, int64_t exact_nodes)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_cluster_problem p = make_problem(env, karate_graph(env, false, false), kernel, 3);
	size_t		base = env->used;

	p.exact_nodes = exact_nodes;
	gp_clustering_free(env, gp_cluster(dev, &p));
	is_int((long long) (env->used - base), 0, "nothing is held afterwards");
}

/* Cancels at every seventh interrupt check. */
static void
check_cancels(void)
{
	disturb("walks", TEST_CANCEL, 7, 2, small_run(env, "laplacian(walks=20, dims=20)", false, 0));
}

int
main(void)
{
	in_env(check_kernel(env, "laplacian(d=2)", false, 2, 0, 0.0));
	in_env(check_kernel(env, "laplacian(d=1, sigma2=10)", false, 3, 0, 0.0));
	in_env(check_kernel(env, "laplacian(d=2, sigma2=5, walks=50, dims=34)", false, 4, 0, 0.0));
	in_env(check_kernel(env, "gcn", false, 3, 0, 0.0));
	in_env(check_kernel(env, "gcn", true, 5, 0, 0.0));
	in_env(check_kernel(env, "gcn", false, 3, 1, 0.02));
	in_env(check_kernel(env, "sage", true, 3, 1, 0.02));
	in_env(check_kernel(env, "rbf(gamma=0.5)", true, 4, 0, 0.0));
	in_env(check_kernel(env, "rbf(gamma=0.5)", true, 4, 1, 0.02));
	in_env(check_kernel(env, "A^2*X0", true, 4, 0, 0.0));
	in_env(check_kernel(env, "A*X0", false, 4, 0, 0.0));
	in_env(check_kernel(env, "gcn(input=laplacian(d=2, sigma2=2))", false, 2, 0, 0.0));
	in_env(check_factions(env, "laplacian(d=2, sigma2=1)", 31));
	in_env(check_factions(env, "laplacian(d=2, sigma2=10)", 31));
	in_env(check_factions(env, "laplacian(d=1, sigma2=10)", 31));
	/* Choromanski 2023, table 2: 0.11 and 0.032. */
	in_env(check_walks(env, "laplacian(d=1)", "laplacian(d=1, walks=40, dims=34)", 0.11));
	in_env(check_walks(env, "laplacian(d=2)", "laplacian(d=2, walks=40, dims=34)", 0.032));
	in_env(check_groups(env, "laplacian(d=2, sigma2=5)", 0));
	in_env(check_groups(env, "laplacian(d=2, sigma2=5, dims=300)", 0));
	in_env(check_groups(env, "laplacian(d=2, sigma2=5, walks=200, dims=150, trim=projection)", 0));
	in_env(check_groups(env, "appnp", 0));
	in_env(check_groups(env, "gcn(layers=3)", 1));
	in_env(check_bits(env, "laplacian(d=2)"));
	in_env(check_bits(env, "laplacian(d=2, sigma2=2, dims=34)"));
	in_env(check_bits(env, "gcn"));
	in_env(check_odd(env));
	in_env(check_refusals(env));
	in_env(check_leaks(env, "laplacian(d=2)", 0));
	in_env(check_leaks(env, "laplacian(dims=20, walks=5)", 0));
	in_env(check_leaks(env, "gcn", 0));
	in_env(check_leaks(env, "sage", 1));
	check_faults("laplacian(d=2)", false, 0);
	check_faults("laplacian(walks=5, dims=20)", false, 0);
	check_faults("gcn", false, 0);
	check_faults("gcn", true, 1);
	check_cancels();
	return done_testing();
}
