/*
 * test_dgp.c - the deep Gaussian process of links: inputs, fits of small graphs, its pairs
 * against draws, equal bits, what is planned, and every allocation failing.
 */
#include "base/hash.h"
#include "links/dgp/dgp.h"
#include "links/links_internal.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

/* Options with few steps. */
static gp_dgp
quick(int steps)
{
	gp_dgp		o = gp_dgp_defaults;

	o.features = 16;
	o.steps = steps;
	return o;
}

/* The same in the published form, with so many inducing pairs. */
static gp_dgp
published(int steps, int pairs)
{
	gp_dgp		o = quick(steps);

	o.inducing = pairs;
	o.units = 9;
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

/* A fit within the environment's limit. */
static gp_link_model *
fit_within(gp_device *dev, const gp_graph *graph, const gp_features *x, const gp_dgp *options)
{
	gp_link_problem p = {.graph = graph,.features = x,.method = GP_LINK_DGP,.dgp = options,.seed = 3};

	return gp_link_fit(dev, &p);
}

/* A fit within an ample one, so that it is planned. */
static gp_link_model *
fit(gp_device *dev, const gp_graph *graph, const gp_features *x, const gp_dgp *options)
{
	dev->env->limit = (size_t) 1 << 30;
	return fit_within(dev, graph, x, options);
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
	gp_dgp		o = quick(30);
	uint64_t	first = 0;
	char		name[120];

	for (int threads = 1; threads <= 3; threads += 2)
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

/* ---- inputs ---- */

/* Reads a matrix back. */
static double *
read_back(gp_device *dev, gp_matrix m)
{
	double	   *host = gp_alloc_array(dev->env, m.rows * m.cols, sizeof(double));

	dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
	return host;
}

/* x less the mean of its rows. */
static void
centre(double *x, int n, int cols)
{
	for (int j = 0; j < cols; j++)
	{
		double		mean = 0.0;

		for (int i = 0; i < n; i++)
			mean += x[i * cols + j] / n;
		for (int i = 0; i < n; i++)
			x[i * cols + j] -= mean;
	}
}

/* sum_k x_ik y_jk */
static double
dot_rows(const double *x, const double *y, int i, int j, int cols)
{
	double		sum = 0.0;

	for (int k = 0; k < cols; k++)
		sum += x[i * cols + k] * y[j * cols + k];
	return sum;
}

/* All principal components keep the inner products of centred features; fewer keep the most of them. */
static void
check_components(gp_env *env, bool sparse)
{
	enum {n = 40, dims = 12};
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_features *x = group_features(env, n, dims);
	double	   *plain = gp_alloc_array(env, n * dims, sizeof(double));
	double		worst = 0.0;
	double		apart = 0.0;
	double		kept = 0.0;
	double		total = 0.0;

	memcpy(plain, x->dense, n * dims * sizeof(double));
	centre(plain, n, dims);
	if (sparse)
	{
		gp_features_builder *b = gp_features_create(env, n, dims, GP_DOUBLE);
		int32_t		repeated;

		for (int i = 0; i < n; i++)
			for (int32_t j = 0; j < dims; j++)
			{
				int32_t		node = i;

				gp_features_add_entries(b, 1, &node, &j, (double *) x->dense + i * dims + j);
			}
		x = gp_features_build(b, &repeated, &repeated);
	}
	double	   *all = read_back(dev, gp_inputs_of_features(dev, x, dims, 5));
	double	   *some = read_back(dev, gp_inputs_of_features(dev, x, 3, 5));
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			worst = fmax(worst, fabs(dot_rows(all, all, i, j, dims) - dot_rows(plain, plain, i, j, dims)));
	for (int i = 0; i < n; i++)
	{
		kept += dot_rows(some, some, i, i, 3);
		total += dot_rows(all, all, i, i, dims);
		for (int k = 0; k < 3; k++)
			apart = fmax(apart, fabs(fabs(some[i * 3 + k]) - fabs(all[i * dims + k])));
	}
	ok(worst < 1e-9, sparse ? "components of sparse features" : "components of dense features");
	ok(kept > 0.9 * total && kept < total && apart < 0.01, "the first ones have the most of them");
	dev->close(dev);
}

/* log(max(1, vol / 10 sum_{r=1..10} (D^-1/2 S^r D^-1/2))) by plain loops, centred. */
static void
plain_walks(const gp_graph *graph, int n, double *out)
{
	double	   *s = calloc(3 * n * n, sizeof(double));
	double	   *power = s + n * n;
	double	   *next = power + n * n;
	double		degree[64];

	for (int i = 0; i < n; i++)
		degree[i] = (double) (graph->start[i + 1] - graph->start[i]);
	for (int i = 0; i < n; i++)
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
			s[i * n + graph->col[k]] = 1.0 / sqrt(degree[i] * degree[graph->col[k]]);
	memcpy(power, s, n * n * sizeof(double));
	memset(out, 0, n * n * sizeof(double));
	for (int r = 0; r < 10; r++)
	{
		for (int i = 0; i < n * n; i++)
			out[i] += power[i];
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				next[i * n + j] = dot_rows(power, s, i, j, n);
		memcpy(power, next, n * n * sizeof(double));
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			out[i * n + j] = log(fmax(1.0, (double) graph->start[n] / 10.0 * out[i * n + j] / sqrt(degree[i] * degree[j])));
	free(s);
	centre(out, n, n);
}

/* The inputs Q of random walks have (QQ')^2 = MM' for the centred matrix M; turned, they find their way back. */
static void
check_walks(gp_env *env)
{
	enum {n = 34};
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_graph   *graph = karate_graph(env, false, false);
	double		plain[n * n];
	gp_matrix	q = gp_inputs_of_walks(dev, graph, n, 5);
	double	   *inputs = read_back(dev, q);
	double		square[n * n];
	double		turned[n * n];
	double		worst = 0.0;
	gp_matrix	other = dev->create(dev, n, n, GP_DOUBLE);

	plain_walks(graph, n, plain);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			square[i * n + j] = dot_rows(inputs, inputs, i, j, n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			worst = fmax(worst, fabs(dot_rows(square, square, i, j, n) - dot_rows(plain, plain, i, j, n)));
	ok(worst < 1e-3, "inputs of random walks");
	/* Columns turned by a quarter, two by two. */
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k += 2)
		{
			turned[i * n + k] = -inputs[i * n + k + 1];
			turned[i * n + k + 1] = inputs[i * n + k];
		}
	dev->upload(dev, other, gp_matrix_wrap(turned, n, n, GP_DOUBLE));
	other = gp_inputs_turn(dev, &other, q);
	inputs = read_back(dev, other);
	worst = 0.0;
	dev->download(dev, gp_matrix_wrap(turned, n, n, GP_DOUBLE), q);
	for (int k = 0; k < n * n; k++)
		worst = fmax(worst, fabs(inputs[k] - turned[k]));
	ok(worst < 1e-6, "turned inputs find their way back");
	dev->close(dev);
}

/* ---- pairs ---- */

/* The posterior of a pair against draws of its ends. */
static void
check_posterior(gp_env *env)
{
	float		row[6] = {0.5f, -1.0f, 2.0f, 1.5f, 0.25f, -0.5f};
	float		variance[6] = {0.1f, 0.5f, 0.0f, 0.3f, 0.2f, 1.0f};
	gp_graph	graph = {.nodes = 2};
	gp_link_model m = {.method = GP_LINK_DGP,.graph = &graph,.node = {3, row, variance},.dgp = {-0.3, 0.7},
	.curve = {0.1, 1.5}};
	gp_link_row out = {.src = 0,.dst = 1};
	gp_link_row back = {.src = 1,.dst = 0};
	double		sum = 0.0;
	double		square = 0.0;
	enum {draws = 100000};

	for (uint64_t k = 0; k < draws; k++)
	{
		double		r = m.dgp.offset;

		for (uint64_t d = 0; d < 3; d++)
			r += m.dgp.scale * (row[d] + sqrt(variance[d]) * gp_element_normal(1, 6 * k + d)) *
				(row[3 + d] + sqrt(variance[3 + d]) * gp_element_normal(1, 6 * k + 3 + d));
		sum += r;
		square += r * r;
	}
	double		mean = sum / draws;
	gp_link_dgp_posterior(env, &m, 1, &out);
	gp_link_dgp_posterior(env, &m, 1, &back);
	close_to(out.variance, square / draws - mean * mean, 0.02, "the variance of a pair");
	close_to(out.score, mean / sqrt(1.0 + M_PI * out.variance / 8.0), 0.01, "its score");
	close_to(out.probability, 1.0 / (1.0 + exp(-0.1 - 1.5 * out.score)), 1e-12, "its probability");
	ok(out.score == back.score && out.variance == back.variance, "a pair has no order");
}

/* A pair by inducing pairs against draws of its ends: k of rows over their lengths. */
static double
drawn_kernel(const double *x, const double *z, double scale)
{
	return scale * exp(-0.5 * ((x[0] - z[0]) * (x[0] - z[0]) + (x[1] - z[1]) * (x[1] - z[1])));
}

/* The mean is that of draws, the variance nearly; without variances of the ends it is exact. */
static void
check_inducing_posterior(gp_env *env, float spread, double tolerance)
{
	float		row[4] = {0.5f, -1.0f, 1.5f, 0.25f};
	float		variance[4] = {spread, 0.5f * spread, 0.2f * spread, spread};
	float		point[6] = {0.0f, 0.0f, 1.0f, -1.0f, 1.0f, 1.0f};
	int32_t		pair[6] = {0, 1, 0, 2, 1, 2};
	double		alpha[3] = {0.5, -0.3, 1.2};
	double		taken[9] = {0.3, 0.1, 0.0, 0.1, 0.4, -0.1, 0.0, -0.1, 0.2};
	gp_graph	graph = {.nodes = 3};
	gp_link_model m = {.method = GP_LINK_DGP,.graph = &graph,.node = {2, row, variance},.inducing = {3, pair},.alpha = alpha,
	.dgp = {-0.3, 0.7, 3, point, taken},.curve = {0.1, 1.5}};
	gp_link_row out = {.src = 0,.dst = 1};
	gp_link_row back = {.src = 1,.dst = 0};
	double		sum = 0.0;
	double		square = 0.0;
	double		within = 0.0;
	enum {draws = 50000};

	for (uint64_t k = 0; k < draws; k++)
	{
		double		g[4];
		double		c[3];
		double		r = m.dgp.offset;
		double		v = m.dgp.scale * m.dgp.scale;

		for (uint64_t d = 0; d < 4; d++)
			g[d] = row[d] + sqrt(variance[d]) * gp_element_normal(2, 4 * k + d);
		for (int e = 0; e < 3; e++)
		{
			double		p[2] = {point[2 * pair[2 * e]], point[2 * pair[2 * e] + 1]};
			double		q[2] = {point[2 * pair[2 * e + 1]], point[2 * pair[2 * e + 1] + 1]};

			c[e] = drawn_kernel(g, p, m.dgp.scale) * drawn_kernel(g + 2, q, m.dgp.scale) +
				drawn_kernel(g, q, m.dgp.scale) * drawn_kernel(g + 2, p, m.dgp.scale);
			r += alpha[e] * c[e];
		}
		v += pow(drawn_kernel(g, g + 2, m.dgp.scale), 2.0);
		for (int e = 0; e < 9; e++)
			v -= taken[e] * c[e / 3] * c[e % 3];
		sum += r;
		square += r * r;
		within += v;
	}
	double		mean = sum / draws;
	gp_link_dgp_posterior(env, &m, 1, &out);
	gp_link_dgp_posterior(env, &m, 1, &back);
	close_to(out.score * sqrt(1.0 + M_PI * out.variance / 8.0), mean, tolerance > 0.0 ? 3e-3 : 1e-9, "the mean of a pair by inducing pairs");
	close_to(out.variance, square / draws - mean * mean + within / draws, tolerance > 0.0 ? tolerance : 1e-7, "its variance");
	ok(fabs(out.score - back.score) < 1e-12 && fabs(out.variance - back.variance) < 1e-12, "which has no order");
}

/* ---- what goes wrong ---- */

/* What is planned is what is taken, and less is refused; nothing is held after an error but what the caller frees. */
static void
check_memory(gp_env *env, bool features, gp_dgp o)
{
	uint64_t	state = 3;
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_graph   *graph = random_hub_graph(env, &state, 160, 160, 3, 6, false);
	gp_features *x = features ? group_features(env, 160, 60) : NULL;
	gp_link_model *m = fit(dev, graph, x, &o);

	/* What threads need is there from the first fit on. */
	gp_link_model_free(env, m);
	size_t		before = env->peak = env->used;
	m = fit(dev, graph, x, &o);

	gp_link_model_free(env, m);
	is_int((long long) (env->used - before), 0, "nothing is held after the model is freed");
	size_t		taken = env->peak;
	env->limit = taken + taken / 8;
	m = fit_within(dev, graph, x, &o);
	ok(m != NULL, "an eighth more than it took is enough");
	gp_link_model_free(env, m);
	env->limit = taken - 1;
	expect_error(env, GP_ERR_LIMIT, fit_within(dev, graph, x, &o));
	ok(strncmp(test_state(env)->message, "the link model needs ", 21) == 0, "by the plan, before the first step");
}

/* Bad input. */
static void
check_refusals(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_edges   *edges = gp_edges_create(env, 3, false, false);
	int32_t		src[3] = {0, 0, 1};
	int32_t		dst[3] = {1, 2, 2};
	gp_dgp		o = quick(20);

	gp_edges_add(edges, 1, src, dst, NULL);
	expect_error(env, GP_ERR_DATA, fit(dev, gp_graph_build(edges), NULL, &o));
	edges = gp_edges_create(env, 3, false, false);
	gp_edges_add(edges, 3, src, dst, NULL);
	expect_error(env, GP_ERR_DATA, fit(dev, gp_graph_build(edges), NULL, &o));
	o.rate = 1e30;
	expect_error(env, GP_ERR_RANGE, fit(dev, graph, NULL, &o));
}

/* The smallest graphs that have an answer. */
static void
check_small(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_edges   *edges = gp_edges_create(env, 5, false, false);
	int32_t		src[2] = {0, 3};
	int32_t		dst[2] = {1, 1};
	gp_dgp		o = quick(20);

	gp_edges_add(edges, 2, src, dst, NULL);
	gp_link_model *m = fit(dev, gp_graph_build(edges), NULL, &o);
	ok(m->pairs == 2 && isfinite(m->curve.intercept) && isfinite(m->curve.slope), "two links among five nodes");
	is_str(test_state(env)->notice, "only 1 of the links could be hidden: auc and mrr are chance", "and what says how good they are");
	dev->close(dev);
}

/* A stored model that was tampered with. */
static void
check_damage(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_dgp		o = quick(10);
	gp_link_model *m = fit(dev, karate_graph(env, false, false), NULL, &o);
	double		scalars[GP_LINK_SCALARS];
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	int			n = gp_link_model_arrays(m, scalars, array);
	float		was = m->node.variance[7];

	m->node.variance[7] = -1.0f;
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	m->node.variance[7] = was;
	m->node.row[3] = NAN;
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	m->node.row[3] = 0.0f;
	for (volatile int k = 0; k < 4; k++)
	{
		double	   *number[] = {&m->dgp.offset, &m->dgp.scale, &m->curve.intercept, &m->curve.knee};
		double		kept = *number[k];

		*number[k] = NAN;
		gp_link_model_arrays(m, scalars, array);
		expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
		*number[k] = kept;
	}
	gp_link_model_arrays(m, scalars, array);
	for (volatile int k = 0; k < n; k++)
		if (array[k].data == m->node.row || array[k].data == m->node.variance)
		{
			array[k].count--;
			expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
			array[k].count++;
		}
	ok(gp_link_model_restore(env, array, n) != NULL, "undamaged it comes back");
	dev->close(dev);
}

/* The same of the published form's own pieces. */
static void
check_inducing_damage(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_dgp		o = published(10, 12);
	gp_link_model *m = fit(dev, karate_graph(env, false, false), NULL, &o);
	double		scalars[GP_LINK_SCALARS];
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	int			n = gp_link_model_arrays(m, scalars, array);
	int32_t		was = m->inducing.pair[3];
	double	   *number[] = {&m->alpha[2], &m->dgp.taken[5]};

	ok(m->inducing.n == 12 && m->dgp.points == 6 && gp_link_model_restore(env, array, n)->dgp.points == 6, "undamaged it comes back");
	for (volatile int k = -1; k < 7; k += 7)
	{
		m->inducing.pair[3] = k;
		expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	}
	m->inducing.pair[3] = was;
	for (volatile int k = 0; k < 2; k++)
	{
		double		kept = *number[k];

		*number[k] = INFINITY;
		expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
		*number[k] = kept;
	}
	m->dgp.point[4] = NAN;
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	m->dgp.point[4] = 0.0f;
	for (volatile int k = 0; k < n; k++)
		if (array[k].data == m->inducing.pair || array[k].data == m->alpha || array[k].data == m->dgp.taken || array[k].data == m->dgp.point)
		{
			gp_link_array kept = array[k];

			array[k].count--;
			expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
			array[k] = array[n - 1];
			expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n - 1));
			array[k] = kept;
		}
	dev->close(dev);
}

/* A fit by inducing pairs: it learns, whatever the threads, and tells pairs; so few nodes have fewer points. */
static void
check_published(gp_env *env, bool features)
{
	gp_graph   *graph = karate_graph(env, false, false);
	gp_features *x = features ? group_features(env, 34, 6) : NULL;
	gp_dgp		o = published(150, 20);
	gp_dgp		most = published(2, 200);
	uint64_t	first = 0;

	for (int threads = 1; threads <= 3; threads += 2)
	{
		gp_device  *dev = gp_device_cpu(env, threads);
		gp_link_model *m = fit(dev, graph, x, &o);
		gp_link_row row[2] = {{.src = 0,.dst = 1}, {.src = 0,.dst = 32}};

		gp_link_dgp_posterior(env, m, 2, row);
		if (threads == 1)
		{
			first = hash_of(m);
			ok(m->node.width == 9 && m->inducing.n == 20 && m->dgp.points == 10, "ten points, twenty pairs of them");
			ok(row[0].variance > 0.0 && row[0].probability > row[1].probability, "a link is likelier than none");
		}
		else
			ok(hash_of(m) == first, "the same bits with more threads");
		if (threads == 3 && !features)
		{
			m = fit(dev, graph, x, &most);
			ok(m->dgp.points == 34 && m->inducing.n == 200, "as many points as that many pairs need");
		}
		dev->close(dev);
	}
}

/* A whole fit, where an allocation fails or that is cancelled. */
static void
whole(gp_env *env, bool features, gp_dgp o)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_problem p = {.graph = karate_graph(env, false, false),.features = features ? group_features(env, 34, 5) : NULL,
	.method = GP_LINK_DGP,.dgp = &o,.seed = 3};

	env->limit = (size_t) 1 << 30;
	gp_link_fit(dev, &p);
	dev->close(dev);
}

int
main(void)
{
	for (volatile int way = 0; way < 4; way++)
		in_env(check_fit(env, way & 1, way & 2));
	in_env(check_components(env, false));
	in_env(check_components(env, true));
	in_env(check_walks(env));
	in_env(check_posterior(env));
	in_env(check_inducing_posterior(env, 0.0f, 0.0));
	in_env(check_inducing_posterior(env, 0.1f, 0.05));
	in_env(check_memory(env, false, quick(3)));
	in_env(check_memory(env, true, quick(3)));
	in_env(check_memory(env, false, published(3, 30)));
	in_env(check_refusals(env));
	in_env(check_small(env));
	in_env(check_damage(env));
	in_env(check_inducing_damage(env));
	in_env(check_published(env, false));
	in_env(check_published(env, true));
	disturb("a deep fit", TEST_REFUSE, 43, 20, whole(env, false, quick(10)));
	disturb("a deep fit", TEST_CANCEL, 29, 10, whole(env, false, quick(10)));
	disturb("a deep fit of features", TEST_REFUSE, 47, 10, whole(env, true, quick(10)));
	disturb("a deep fit of features", TEST_CANCEL, 37, 10, whole(env, true, quick(10)));
	disturb("a deep fit by inducing pairs", TEST_REFUSE, 67, 10, whole(env, false, published(10, 12)));
	disturb("a deep fit by inducing pairs", TEST_CANCEL, 67, 1, whole(env, false, published(10, 12)));
	return done_testing();
}
