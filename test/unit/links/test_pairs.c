/*
 * test_pairs.c - the nodes' factor, the regression on inducing inputs and the
 * pair kernel against plain loops in double.
 */
#include "regression/regression.h"
#include "links/links_internal.h"
#include "links/model/sparse.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

/* A problem on it. */
static gp_link_problem
problem_of(gp_env *env, const gp_graph *graph, const char *kernel)
{
	gp_link_problem p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = gp_kernel_compile(env, gp_kernel_parse(env, kernel));
	p.method = GP_LINK_PAIRS;
	p.seed = 3;
	return p;
}

/* x solves a x = b for a small matrix a (n x n), by elimination with pivots; a and b are spoilt. */
static void
solve(int n, double *a, double *b)
{
	for (int c = 0; c < n; c++)
	{
		int			best = c;

		for (int r = c + 1; r < n; r++)
			if (fabs(a[r * n + c]) > fabs(a[best * n + c]))
				best = r;
		for (int k = 0; k < n; k++)
		{
			double		swap = a[c * n + k];

			a[c * n + k] = a[best * n + k];
			a[best * n + k] = swap;
		}
		{
			double		swap = b[c];

			b[c] = b[best];
			b[best] = swap;
		}
		for (int r = 0; r < n; r++)
		{
			double		f = r == c ? 0.0 : a[r * n + c] / a[c * n + c];

			for (int k = c; f != 0.0 && k < n; k++)
				a[r * n + k] -= f * a[c * n + k];
			b[r] -= f * b[c];
		}
	}
	for (int c = 0; c < n; c++)
		b[c] /= a[c * n + c];
}

/* The factor's kernel against the exact one, and its width. */
static void
check_factor(gp_env *env, const char *kernel, int64_t rank, double tolerance)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_link_problem p = problem_of(env, graph, kernel);
	gp_matrix	q = gp_link_factor(dev, &p, rank);
	double	   *host = gp_alloc_array(env, 34 * q.cols, sizeof(double));
	double	   *full = gp_alloc_array(env, 34 * 34, sizeof(double));
	double		worst = 0.0;
	double		most = 0.0;
	gp_eval		ev;
	gp_matrix	k;
	char		name[200];

	gp_eval_open(&ev, dev, p.program, graph, NULL, p.seed, GP_DOUBLE);
	k = gp_eval_full(&ev, p.program->nsteps - 1);
	dev->download(dev, gp_matrix_wrap(full, 34, 34, GP_DOUBLE), k);
	dev->download(dev, gp_matrix_wrap(host, 34, q.cols, GP_DOUBLE), q);
	for (int i = 0; i < 34; i++)
		for (int j = 0; j < 34; j++)
		{
			double		sum = 0.0;

			for (int64_t c = 0; c < q.cols; c++)
				sum += host[i * q.cols + c] * host[j * q.cols + c];
			worst = fmax(worst, fabs(sum - full[i * 34 + j]));
			most = fmax(most, fabs(full[i * 34 + j]));
		}
	snprintf(name, sizeof(name), "the factor of %s at rank %d: error %.2g of %.2g", kernel,
			 (int) rank, worst, most);
	ok(worst <= tolerance * most, name);
	snprintf(name, sizeof(name), "the factor of %s is no wider than %d", kernel, (int) rank);
	ok(q.cols <= rank, name);
	dev->close(dev);
}

/* A small regression problem, and what it gives by dense algebra. */
typedef struct dense
{
	int			m;
	int			n;
	double	   *kuu;			/* m x m */
	double	   *kfu;			/* n x m */
	double	   *ku;				/* m: of a new point */
	double	   *y;				/* n */
	double		mean;			/* at the new point */
	double		taken;			/* off its variance */
	double		scale;
} dense;

/* exp(-8 |p - q|^2) in the plane. */
static double
rbf(const double *p, const double *q)
{
	return exp(-8.0 * (pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2)));
}

/* Random points, the first m of which induce. */
static dense
make_dense(gp_env *env, int m, int n)
{
	dense		d = {.m = m, .n = n};
	double	   *x = gp_alloc_array(env, 2 * n, sizeof(double));
	const double at[2] = {0.3, 0.7};

	d.kuu = gp_alloc_array(env, m * m, sizeof(double));
	d.kfu = gp_alloc_array(env, n * m, sizeof(double));
	d.ku = gp_alloc_array(env, m, sizeof(double));
	d.y = gp_alloc_array(env, n, sizeof(double));
	for (int i = 0; i < n; i++)
	{
		x[2 * i] = draw_unit(&state);
		x[2 * i + 1] = draw_unit(&state);
		d.y[i] = sin(5.0 * x[2 * i]) + 0.1 * draw_unit(&state);
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			d.kfu[i * m + j] = rbf(x + 2 * i, x + 2 * j);
	memcpy(d.kuu, d.kfu, m * m * sizeof(double));
	for (int j = 0; j < m; j++)
		d.ku[j] = rbf(at, x + 2 * j);
	return d;
}

/* out (n) = K_fu (K_uu + 1e-6 I)^-1 k. */
static void
project(gp_env *env, const dense *d, const double *k, double *out)
{
	double	   *a = gp_alloc_array(env, d->m * d->m, sizeof(double));
	double	   *b = gp_alloc_array(env, d->m, sizeof(double));

	memcpy(a, d->kuu, d->m * d->m * sizeof(double));
	memcpy(b, k, d->m * sizeof(double));
	for (int i = 0; i < d->m; i++)
		a[i * d->m + i] += 1e-6;
	solve(d->m, a, b);
	for (int i = 0; i < d->n; i++)
	{
		out[i] = 0.0;
		for (int c = 0; c < d->m; c++)
			out[i] += d->kfu[i * d->m + c] * b[c];
	}
	gp_free(env, a);
	gp_free(env, b);
}

/* Mean, variance and scale from K_fu K_uu^-1 K_uf + noise I. */
static void
solve_dense(gp_env *env, dense *d, double noise)
{
	int			n = d->n;
	double	   *cov = gp_alloc_array(env, n * n, sizeof(double));
	double	   *work = gp_alloc_array(env, n * n, sizeof(double));
	double	   *cross = gp_alloc_array(env, n, sizeof(double));
	double	   *weight = gp_alloc_array(env, n, sizeof(double));

	for (int j = 0; j < n; j++)
	{
		project(env, d, d->kfu + j * d->m, cov + j * n);
		cov[j * n + j] += noise;
	}
	project(env, d, d->ku, cross);
	memcpy(work, cov, n * n * sizeof(double));
	memcpy(weight, d->y, n * sizeof(double));
	solve(n, work, weight);
	for (int i = 0; i < n; i++)
	{
		d->mean += cross[i] * weight[i];
		d->scale += d->y[i] * weight[i] / n;
	}
	memcpy(weight, cross, n * sizeof(double));
	solve(n, cov, weight);
	for (int i = 0; i < n; i++)
		d->taken += cross[i] * weight[i];
}

/* |M^-1 k|^2 for a packed lower triangle. */
static double
root_norm(gp_device *dev, float *root, int m, const double *k)
{
	gp_matrix	v = dev->create(dev, m, 1, GP_DOUBLE);
	double	   *host = malloc(m * sizeof(double));
	double		norm = 0.0;

	dev->upload(dev, v, gp_matrix_wrap((void *) k, m, 1, GP_DOUBLE));
	gp_link_root_solve(dev, gp_matrix_wrap(root, gp_link_root_size(m), 1, GP_FLOAT), v);
	dev->download(dev, gp_matrix_wrap(host, m, 1, GP_DOUBLE), v);
	for (int i = 0; i < m; i++)
		norm += host[i] * host[i];
	free(host);
	dev->destroy(dev, &v);
	return norm;
}

/* Inducing inputs against the dense formulas. */
static void
check_sparse(gp_env *env, int m, int n, double noise)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	dense		d = make_dense(env, m, n);
	double	   *alpha = gp_alloc_array(env, m, sizeof(double));
	gp_matrix	k = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	f = dev->create(dev, n, m, GP_DOUBLE);
	double		mean = 0.0;
	gp_sparse	s;

	solve_dense(env, &d, noise);
	dev->upload(dev, k, gp_matrix_wrap(d.kuu, m, m, GP_DOUBLE));
	dev->upload(dev, f, gp_matrix_wrap(d.kfu, n, m, GP_DOUBLE));
	s = gp_sparse_create(dev, k);
	gp_sparse_add(&s, gp_matrix_rows(f, 0, n / 3), d.y);
	gp_sparse_add(&s, gp_matrix_rows(f, n / 3, n - n / 3), d.y + n / 3);
	gp_sparse_ready(&s);
	gp_sparse_solve(&s, 10.0);
	gp_sparse_solve(&s, noise);
	dev->download(dev, gp_matrix_wrap(alpha, m, 1, GP_DOUBLE), s.alpha);
	for (int c = 0; c < m; c++)
		mean += d.ku[c] * alpha[c];
	close_to(mean, d.mean, 1e-6, "the mean by inducing inputs");
	close_to(s.scale, d.scale, 1e-6, "the scale by inducing inputs");
	close_to(root_norm(dev, gp_sparse_root(&s), m, d.ku), d.taken, 1e-3,
			 "what the observations take off the variance");
	gp_sparse_free(&s);
	dev->close(dev);
}

/* k(i, j) of a model. */
static double
node_kernel(const gp_link_model *model, int i, int j)
{
	double		sum = 0.0;

	for (int c = 0; c < model->width; c++)
		sum += (double) model->row[i * model->width + c] * model->row[j * model->width + c];
	return sum;
}

/* Score and variance of one pair by plain loops. */
static void
plain_score(gp_device *dev, const gp_link_model *model, int i, int j, double *score,
			double *variance)
{
	double	   *k = calloc(model->m, sizeof(double));
	bool		directed = model->graph->directed;

	*score = model->offset;
	*variance = node_kernel(model, i, i) * node_kernel(model, j, j) +
		(directed ? 0.0 : pow(node_kernel(model, i, j), 2));
	for (int c = 0; c < model->m; c++)
	{
		int			u = model->inducing[2 * c];
		int			v = model->inducing[2 * c + 1];

		k[c] = node_kernel(model, i, u) * node_kernel(model, j, v) +
			(directed ? 0.0 : node_kernel(model, i, v) * node_kernel(model, j, u));
		*score += k[c] * model->alpha[c];
	}
	*variance -= root_norm(dev, model->root, (int) model->m, k);
	*variance *= model->scale;
	free(k);
}

/* All pairs of a model: covariances against plain loops, sane scores and variances. */
static void
check_pairs(gp_device *dev, const gp_link_model *model, const char *what)
{
	gp_env	   *env = dev->env;
	int64_t		n = 34 * 33;
	int32_t    *src = gp_alloc_array(env, n, sizeof(int32_t));
	int32_t    *dst = gp_alloc_array(env, n, sizeof(int32_t));
	double	   *variance = gp_alloc_array(env, n, sizeof(double));
	double	   *score = gp_alloc_array(env, n, sizeof(double));
	double	   *host = gp_alloc_array(env, n * model->m, sizeof(double));
	bool	   *label = gp_alloc_array(env, n, sizeof(bool));
	gp_matrix	k = dev->create(dev, n, model->m, GP_DOUBLE);
	double		worst = 0.0;
	double		turned = 0.0;
	double		least = 1.0;
	double		auc;
	double		ap;
	char		name[200];

	n = 0;
	for (int i = 0; i < 34; i++)
		for (int j = 0; j < 34; j++)
			if (i != j)
			{
				src[n] = i;
				dst[n++] = j;
			}
	gp_link_pairs_kernel(dev, model, n, src, dst, k, variance);
	dev->download(dev, gp_matrix_wrap(host, n, model->m, GP_DOUBLE), k);
	for (int64_t r = 0; r < n; r++)
	{
		double		want;
		double		left;
		double		of_pair = node_kernel(model, src[r], src[r]) *
			node_kernel(model, dst[r], dst[r]) +
			(model->graph->directed ? 0.0 : pow(node_kernel(model, src[r], dst[r]), 2));

		score[r] = model->offset;
		for (int64_t c = 0; c < model->m; c++)
			score[r] += host[r * model->m + c] * model->alpha[c];
		plain_score(dev, model, src[r], dst[r], &want, &left);
		worst = fmax(worst, fabs(score[r] - want));
		worst = fmax(worst, fabs(variance[r] - of_pair));
		least = fmin(least, left / model->scale);
		plain_score(dev, model, dst[r], src[r], &want, &left);
		turned = fmax(turned, fabs(score[r] - want));
		label[r] = gp_link_exists(model->graph, src[r], dst[r]);
	}
	gp_ranking_metrics(env, n, score, label, &auc, &ap);
	snprintf(name, sizeof(name), "%s: scores as by plain loops, to %.2g", what, worst);
	ok(worst < 1e-3, name);
	if (!model->graph->directed)
	{
		snprintf(name, sizeof(name), "%s: no order in a pair, to %.2g", what, turned);
		ok(turned < 1e-3, name);
	}
	snprintf(name, sizeof(name), "%s: variances are at least %.2g", what, least);
	ok(least > -1e-3, name);
	snprintf(name, sizeof(name), "%s: links score above other pairs, AUC %.2f", what, auc);
	ok(auc > 0.75, name);
}

/* A fit of the karate club. */
static void
check_fit(gp_env *env, const char *kernel, bool directed)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_device  *two = gp_device_cpu(env, 2);
	gp_graph   *graph = karate_graph(env, directed, false);
	gp_link_problem p = problem_of(env, graph, kernel);
	gp_link_model model;
	gp_link_model again;
	double		bytes;
	double		flops;
	size_t		before = env->used;
	char		what[120];

	memset(&model, 0, sizeof(model));
	memset(&again, 0, sizeof(again));
	snprintf(what, sizeof(what), "%s, %s", kernel, directed ? "directed" : "undirected");
	gp_link_pairs_count(env, &p, &bytes, &flops);
	env->peak = before;
	gp_link_pairs_fit(dev, &p, &model);
	ok((double) (env->peak - before) <= bytes && flops > 0.0, "the memory is within its estimate");
	ok(model.metric[GP_LINK_METRIC_AUC] >= 0.0 && model.metric[GP_LINK_METRIC_AUC] <= 1.0 && model.metric[GP_LINK_METRIC_PRECISION] > 0.0 &&
	   model.metric[GP_LINK_METRIC_PRECISION] <= 1.0, "the figures are shares");
	is_int(model.pairs, 156, "all links and as many others are learnt from");
	is_int(model.m, 156, "and carry the regression");
	ok(model.scale > 0.0 && model.slope >= 0.0 && isfinite(model.intercept), "scale and curve");
	check_pairs(dev, &model, what);
	gp_link_pairs_fit(two, &p, &again);
	ok(memcmp(model.alpha, again.alpha, model.m * sizeof(double)) == 0 &&
	   memcmp(model.root, again.root, gp_link_root_size(model.m) * sizeof(float)) == 0 &&
	   model.metric[GP_LINK_METRIC_AUC] == again.metric[GP_LINK_METRIC_AUC], "the threads do not show");
	gp_free(env, again.row);
	gp_free(env, again.inducing);
	gp_free(env, again.alpha);
	gp_free(env, again.root);
	two->close(two);
	dev->close(dev);
}

/* The smallest graphs. */
static void
check_small(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	const int32_t src[] = {0, 1};
	const int32_t dst[] = {1, 2};
	gp_edges   *path = gp_edges_create(env, 3, false, false);
	gp_edges   *one = gp_edges_create(env, 3, false, false);
	gp_link_problem p;
	gp_link_model model;

	memset(&model, 0, sizeof(model));
	gp_edges_add(path, 2, src, dst, NULL);
	p = problem_of(env, gp_graph_build(path), "gcn");
	gp_link_pairs_fit(dev, &p, &model);
	ok(model.m == 3 && model.pairs == 3 && isfinite(model.alpha[0]) && isfinite(model.root[8]),
	   "a path of three nodes");
	gp_edges_add(one, 1, src, dst, NULL);
	p = problem_of(env, gp_graph_build(one), "gcn");
	expect_error(env, GP_ERR_DATA, gp_link_pairs_fit(dev, &p, &model));
	dev->close(dev);
}

/* Allocations fail, more and more of them apart. */
static void
check_faults(void)
{
	volatile bool raised = true;
	volatile int faults = 0;

	for (volatile int64_t at = 1; raised; at += 1 + at / 10)
	{
		gp_env	   *env = test_env();
		gp_device  *dev = gp_device_cpu(env, 1);
		gp_graph   *graph = karate_graph(env, false, false);
		gp_link_problem p = problem_of(env, graph, "gcn(layers=2)");
		gp_link_model model;

		memset(&model, 0, sizeof(model));
		test_state(env)->fail_at = test_state(env)->allocations + at;
		raised = test_catch(env, gp_link_pairs_fit(dev, &p, &model));
		faults += raised;
		if (raised && test_state(env)->code != GP_ERR_MEMORY)
			ok(false, test_state(env)->message);
		test_env_close(env);
	}
	ok(faults > 30, "allocations can fail");
}

/* All arcs from lower to higher numbers: the pairs are nearly dependent, and yet no variance is lost. */
static void
check_dependent(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 20, true, false);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_problem p;
	gp_link_model *model;
	gp_links   *links;
	gp_link_row row[19];
	int32_t		src[19];
	int32_t		dst[19];
	bool		above = true;

	for (int32_t i = 0; i < 20; i++)
		for (int32_t j = i + 1; j < 20; j++)
			gp_edges_add(edges, 1, &i, &j, NULL);
	p = problem_of(env, gp_graph_build(edges), "gcn");
	model = gp_link_fit(dev, &p);
	links = gp_links_open(dev, model);
	for (int k = 0; k < 19; k++)
	{
		src[k] = k + 1;
		dst[k] = k / 2;
	}
	gp_links_score(links, 19, src, dst, row);
	for (int k = 0; k < 19; k++)
		above = above && row[k].variance > 0.0;
	ok(above, "pairs that nearly depend on each other keep some variance");
}

/* A cancel ends a fit at every stage. */
static void
check_cancel(void)
{
	volatile bool raised = true;
	volatile int cancels = 0;

	for (volatile int64_t at = 1; raised; at += 1 + at / 4)
	{
		gp_env	   *env = test_env();
		gp_device  *dev = gp_device_cpu(env, 1);
		gp_graph   *graph = karate_graph(env, false, false);
		gp_link_problem p = problem_of(env, graph, "gcn");
		gp_link_model model;

		memset(&model, 0, sizeof(model));
		test_state(env)->cancel_at = test_state(env)->checks + at;
		raised = test_catch(env, gp_link_pairs_fit(dev, &p, &model));
		cancels += raised;
		test_env_close(env);
	}
	ok(cancels > 10, "a fit can be cancelled");
}

int
main(void)
{
	in_env(check_factor(env, "gcn", 34, 1e-3));
	in_env(check_factor(env, "gcn", 20, 0.2));
	in_env(check_factor(env, "gcnii", 34, 1e-3));
	in_env(check_factor(env, "gcnii", 20, 0.5));
	in_env(check_factor(env, "laplacian(d=2, sigma2=1)", 34, 1e-3));
	in_env(check_factor(env, "laplacian(d=2, sigma2=1)", 16, 1.0));
	in_env(check_sparse(env, 20, 90, 0.1));
	in_env(check_sparse(env, 50, 120, 0.01));
	in_env(check_fit(env, "gcn", false));
	in_env(check_fit(env, "gcn", true));
	in_env(check_fit(env, "sage", false));
	in_env(check_fit(env, "laplacian(d=1, sigma2=10)", false));
	in_env(check_small(env));
	in_env(check_dependent(env));
	check_faults();
	check_cancel();
	return done_testing();
}
