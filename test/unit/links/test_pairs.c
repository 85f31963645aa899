/*
 * test_pairs.c - the nodes' factor and the pair kernel against plain loops in double.
 */
#include "regression/regression.h"
#include "links/links_internal.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

/* A problem on it. */
static gp_link_problem
problem_of(gp_env *env, const gp_graph *graph, const char *kernel)
{
	gp_link_problem p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = gp_kernel_program(env, gp_kernel_parse(env, kernel));
	p.method = GP_LINK_PAIRS;
	p.seed = 3;
	return p;
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
	char		name[200];

	gp_eval_open(&ev, dev, p.program, graph, NULL, p.seed, GP_DOUBLE);
	gp_matrix	k = gp_eval_full(&ev, p.program->nsteps - 1);
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

/* k(i, j) of a model. */
static double
node_kernel(const gp_link_model *model, int i, int j)
{
	double		sum = 0.0;

	for (int c = 0; c < model->node.width; c++)
		sum += (double) model->node.row[i * model->node.width + c] * model->node.row[j * model->node.width + c];
	return sum;
}

/* The logit of one pair by plain loops. */
static double
plain_score(const gp_link_model *model, int i, int j)
{
	double		score = 0.0;
	bool		directed = model->graph->directed;

	for (int c = 0; c < model->inducing.n; c++)
	{
		int			u = model->inducing.pair[2 * c];
		int			v = model->inducing.pair[2 * c + 1];

		score += model->alpha[c] * (node_kernel(model, i, u) * node_kernel(model, j, v) +
									(directed ? 0.0 : node_kernel(model, i, v) * node_kernel(model, j, u)));
	}
	return score;
}

/* All pairs of a model: covariances against plain loops, sane scores and variances. */
static void
check_pairs(gp_device *dev, const gp_link_model *model, const char *what)
{
	gp_env	   *env = dev->env;
	int64_t		n = 34 * 33;
	int32_t    *src = gp_alloc_array(env, n, sizeof(int32_t));
	int32_t    *dst = gp_alloc_array(env, n, sizeof(int32_t));
	double	   *score = gp_alloc_array(env, n, sizeof(double));
	double	   *host = gp_alloc_array(env, n * model->inducing.n, sizeof(double));
	bool	   *label = gp_alloc_array(env, n, sizeof(bool));
	gp_matrix	k = dev->create(dev, n, model->inducing.n, GP_DOUBLE);
	double		worst = 0.0;
	double		turned = 0.0;
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
	gp_link_pairs_kernel(dev, model, n, src, dst, k);
	dev->download(dev, gp_matrix_wrap(host, n, model->inducing.n, GP_DOUBLE), k);
	for (int64_t r = 0; r < n; r++)
	{
		score[r] = 0.0;
		for (int64_t c = 0; c < model->inducing.n; c++)
			score[r] += host[r * model->inducing.n + c] * model->alpha[c];
		worst = fmax(worst, fabs(score[r] - plain_score(model, src[r], dst[r])));
		turned = fmax(turned, fabs(score[r] - plain_score(model, dst[r], src[r])));
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
	snprintf(name, sizeof(name), "%s: links score above other pairs, AUC %.2f", what, auc);
	ok(auc > 0.75, name);
}

/* A fit of the karate club. */
static void
check_fit(gp_env *env, const char *kernel, bool directed)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, directed, false);
	gp_link_problem p = problem_of(env, graph, kernel);
	gp_link_method method;
	double		bytes = gp_link_plan_make(dev, &p, &method).bytes;
	char		what[120];

	snprintf(what, sizeof(what), "%s, %s", kernel, directed ? "directed" : "undirected");
	env->peak = env->used;
	gp_link_model *model = gp_link_fit(dev, &p);
	ok((double) env->peak <= bytes && bytes <= 1.1 * (double) env->peak, "what is planned is taken");
	ok(model->metric[GP_LINK_METRIC_AUC] >= 0.0 && model->metric[GP_LINK_METRIC_AUC] <= 1.0 && model->metric[GP_LINK_METRIC_PRECISION] > 0.0 &&
	   model->metric[GP_LINK_METRIC_PRECISION] <= 1.0, "the figures are shares");
	is_int(model->pairs, 156, "all links and as many others are learnt from");
	is_int(model->inducing.n, 156, "and carry the regression");
	ok(model->curve.slope >= 0.0 && isfinite(model->curve.intercept), "a curve");
	check_pairs(dev, model, what);
	dev->close(dev);
}

/* A fit by one thread and by two. */
static void
check_threads(gp_env *env)
{
	gp_link_problem p = problem_of(env, karate_graph(env, false, false), "gcn");
	gp_link_model *one = gp_link_fit(gp_device_cpu(env, 1), &p);
	gp_link_model *two = gp_link_fit(gp_device_cpu(env, 2), &p);

	ok(memcmp(one->alpha, two->alpha, one->inducing.n * sizeof(double)) == 0 &&
	   memcmp(one->root, two->root, one->inducing.n * one->inducing.n * sizeof(float)) == 0 &&
	   memcmp(one->held.row, two->held.row, one->held.n * sizeof(gp_link_row)) == 0 &&
	   one->metric[GP_LINK_METRIC_AUC] == two->metric[GP_LINK_METRIC_AUC], "the threads do not show");
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

	gp_edges_add(path, 2, src, dst, NULL);
	p = problem_of(env, gp_graph_build(path), "gcn");
	gp_link_model *model = gp_link_fit(dev, &p);
	ok(model->inducing.n == 3 && model->pairs == 3 && isfinite(model->alpha[0]) && isfinite(model->root[8]),
	   "a path of three nodes");
	gp_edges_add(one, 1, src, dst, NULL);
	p = problem_of(env, gp_graph_build(one), "gcn");
	expect_error(env, GP_ERR_DATA, gp_link_fit(dev, &p));
	dev->close(dev);
}

/* All arcs from lower to higher numbers: the pairs are nearly dependent, and yet no variance is lost. */
static void
check_dependent(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 20, true, false);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_row row[19];
	int32_t		src[19];
	int32_t		dst[19];
	bool		above = true;

	for (int32_t i = 0; i < 20; i++)
		for (int32_t j = i + 1; j < 20; j++)
			gp_edges_add(edges, 1, &i, &j, NULL);
	gp_link_problem p = problem_of(env, gp_graph_build(edges), "gcn");
	gp_link_model *model = gp_link_fit(dev, &p);
	gp_links   *links = gp_links_open(dev, model);
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

int
main(void)
{
	in_env(check_factor(env, "gcn", 34, 1e-3));
	in_env(check_factor(env, "gcn", 20, 0.2));
	in_env(check_factor(env, "gcnii", 34, 1e-3));
	in_env(check_factor(env, "gcnii", 20, 0.5));
	in_env(check_factor(env, "laplacian(d=2, sigma2=1)", 34, 1e-3));
	in_env(check_factor(env, "laplacian(d=2, sigma2=1)", 16, 1.0));
	in_env(check_fit(env, "gcn", false));
	in_env(check_fit(env, "gcn", true));
	in_env(check_fit(env, "sage", false));
	in_env(check_fit(env, "laplacian(d=1, sigma2=10)", false));
	in_env(check_threads(env));
	in_env(check_small(env));
	in_env(check_dependent(env));
	return done_testing();
}
