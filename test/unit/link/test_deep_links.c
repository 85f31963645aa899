/*
 * test_deep_links.c - the deep Gaussian process of links: inputs, fits of small graphs, its pairs
 * against draws, equal bits, what is planned, and every allocation failing.
 */
#include "link/deep_fit.h"
#include "link/link_internal.h"
#include "test_env.h"
#include "test_graphs.h"

/* Options with few steps. */
static gp_dgp
quick(int steps)
{
	gp_dgp		o = gp_dgp_defaults();

	o.features = 16;
	o.steps = steps;
	return o;
}

/* Features of n nodes in groups that are alike. */
static gp_features *
group_features(gp_env *env, int n, int dims)
{
	gp_features *x = gp_alloc_zero(env, 1, sizeof(*x));
	double	   *dense = gp_alloc_zero(env, n * dims, sizeof(double));
	uint64_t	state = 8;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < dims; j++)
			dense[i * dims + j] = (i % 3 == j % 3) + 0.3 * draw_unit(&state);
	*x = (gp_features) {.rows = n,.dims = dims,.dense = dense,.type = GP_DOUBLE};
	return x;
}

/* A fit. */
static gp_link_model *
fit(gp_device *dev, const gp_graph *graph, const gp_features *x, const gp_dgp *options)
{
	gp_link_problem p = {.graph = graph,.features = x,.method = GP_LINK_DEEP,.deep = options,.seed = 3};

	dev->env->limit = (size_t) 1 << 30;
	p.program = gp_kernel_compile(dev->env, gp_kernel_parse(dev->env, "gcn"));
	return gp_link_fit(dev, &p);
}

/* The bits of what a model stores. */
static uint64_t
hash_of(const gp_link_model *m)
{
	double		scalars[GP_LINK_SCALARS];
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	int			n = gp_link_model_arrays(m, scalars, array);
	uint64_t	hash = 0;

	for (int k = 0; k < n; k++)
		for (size_t b = 0; b < (size_t) array[k].count * gp_link_element_size(array[k].element); b++)
			hash = gp_mix64(hash ^ ((unsigned char *) array[k].data)[b]);
	return hash;
}

/* Fits of small graphs say what is linked, with the same bits whatever the threads, and come back from their arrays. */
static void
check_fit(gp_env *env, bool features, bool directed)
{
	gp_graph   *graph = karate_graph(env, directed, false);
	gp_features *x = features ? group_features(env, 34, 5) : NULL;
	gp_dgp		o = quick(60);
	uint64_t	first = 0;
	char		name[120];

	for (int threads = 1; threads <= 3; threads++)
	{
		gp_device  *dev = gp_device_cpu(env, threads);
		gp_link_model *m = fit(dev, graph, x, &o);
		uint64_t	hash = hash_of(m);

		if (threads == 1)
		{
			double		scalars[GP_LINK_SCALARS];
			gp_link_array array[GP_LINK_MAX_ARRAYS];
			int			n = gp_link_model_arrays(m, scalars, array);
			gp_link_model *back = gp_link_model_restore(env, array, n);

			first = hash;
			snprintf(name, sizeof(name), "%s, %s: AUC %.3f, %lld links", features ? "features" : "no features",
					 directed ? "directed" : "undirected", m->metric[GP_LINK_METRIC_AUC], (long long) m->pairs);
			ok(m->metric[GP_LINK_METRIC_AUC] > 0.3 && m->pairs == graph->edges, name);
			ok(m->held.n > 0 && m->held.folds == 1 && m->code != NULL, "pairs are held out, and there are codes");
			ok(hash_of(back) == hash, "the model comes back from its arrays");
		}
		else
			ok(hash == first, "the same bits with more threads");
		dev->close(dev);
	}
}

int
main(void)
{
	for (volatile int way = 0; way < 4; way++)
		in_env(check_fit(env, way & 1, way & 2));
	return done_testing();
}
