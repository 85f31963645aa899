/*
 * test_links.c - the link posterior as a whole: what it learns, what is kept of
 * it, what it refuses, and the best missing links of a node.
 */
#include "links/links_internal.h"
#include "links/scores/scores.h"
#include "test_env.h"
#include "test_rows.h"

#include <stdlib.h>

#define GROUPS 6
#define GROUP_NODES 16
#define FLOAT_SCORES 5e-4		/* cosines are sums in float, in an order that the processor and the columns at once decide */
#define NODES (GROUPS * GROUP_NODES)

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

/* Groups whose members are linked so often, and with others seldom; the last node has no link. */
static gp_graph *
groups(gp_env *env, bool directed, double within)
{
	gp_edges   *edges = gp_edges_create(env, NODES, directed, false);

	state = 42;
	for (int32_t i = 0; i < NODES - 1; i++)
		for (int32_t j = directed ? 0 : i + 1; j < NODES - 1; j++)
			if (i != j && draw_unit(&state) < (i / GROUP_NODES == j / GROUP_NODES ? within : 0.02))
				gp_edges_add(edges, 1, &i, &j, NULL);
	return gp_graph_build(edges);
}

/* Features that tell the groups apart, more or less. */
static gp_features *
group_features(gp_env *env)
{
	gp_features_builder *b = gp_features_create(env, NODES, 2 * GROUPS, GP_FLOAT);
	int32_t		node;
	int32_t		feature;
	double		one = 1.0;

	for (int32_t i = 0; i < NODES; i++)
		for (int32_t c = 0; c < 2 * GROUPS; c++)
			if (draw_unit(&state) < (c / 2 == i / GROUP_NODES ? 0.7 : 0.1))
				gp_features_add_entries(b, 1, &i, &c, &one);
	return gp_features_build(b, &node, &feature);
}

/* A problem with the usual kernel. */
static gp_link_problem
problem_of(gp_env *env, const gp_graph *graph, const gp_features *x, gp_link_method method)
{
	gp_link_problem p = {.graph = graph,.features = x,.method = method,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};

	return p;
}

/* The best links obey the rules; returns how many there are. */
static int
check_rows(const gp_graph *g, const rows *r, int k, const char *what)
{
	static bool told[NODES][NODES];
	int			of[NODES] = {0};
	bool		right = true;
	char		name[200];

	memset(told, 0, sizeof(told));
	for (int e = 0; e < r->n; e++)
	{
		const gp_link_row *row = &r->row[e];

		right = right && row->src != row->dst && !gp_link_exists(g, row->src, row->dst) &&
			!told[row->src][row->dst] && row->variance >= 0.0 && row->probability > 0.0 &&
			row->probability < 1.0 && isfinite(row->score) && ++of[row->src] <= k;
		if (e > 0 && r->row[e - 1].src == row->src)
			right = right && r->row[e - 1].score >= row->score;
		told[row->src][row->dst] = true;
		if (!g->directed)
			told[row->dst][row->src] = true;
	}
	snprintf(name, sizeof(name), "%s: missing, each once, best first, at most k", what);
	ok(right, name);
	return r->n;
}

/* With a least probability, what is kept is what was kept before and is as likely. */
static void
check_least(gp_links *l, const gp_link_kept *all)
{
	double		least = all->row[all->first[NODES] / 2].probability;
	gp_link_kept some = gp_links_keep(l, 5, least);
	int64_t		n = 0;
	bool		same = true;

	for (int64_t i = 0; i < NODES; i++)
	{
		for (int64_t e = all->first[i]; e < all->first[i + 1]; e++)
			if (all->row[e].probability >= least)
				same = same && memcmp(&all->row[e], &some.row[n++], sizeof(gp_link_row)) == 0;
		same = same && some.first[i + 1] == n;
	}
	ok(same && n > 0 && n < all->first[NODES], "with a least probability the likely ones are kept");
}

/* What is kept of some nodes is what each gets alone; its first k are its k best. */
static void
check_kept(gp_links *l, rows *one)
{
	gp_link_kept kept = gp_links_keep(l, 5, 0.0);
	bool		same = kept.nodes == NODES;

	for (int32_t i = 0; i < NODES; i += 7)
		for (int k = 2; k <= 5; k += 3)
		{
			const gp_link_row *row = kept.row + kept.first[i];
			int			n = (int) gp_min64(k, kept.first[i + 1] - kept.first[i]);
			int			found = 0;

			one->n = 0;
			gp_links_best(l, 1, &i, k, GP_CANDIDATES_AUTO, keep, one);
			for (int e = 0; e < n; e++)
				for (int f = 0; f < one->n; f++)
					found += row[e].src == i && row[e].dst == one->row[f].dst &&
						fabs(row[e].score - one->row[f].score) < FLOAT_SCORES;
			same = same && one->n == n && found == n;
		}
	ok(same, "what is kept is what each node gets alone");
	check_least(l, &kept);
}

/* All pairs without a link that are looked at, scored one by one, are not better than the best. */
static void
check_best(gp_device *dev, const gp_link_model *model, const char *what)
{
	gp_env	   *env = dev->env;
	gp_links   *l = gp_links_open(dev, model);
	rows	   *all = rows_create(env, NODES * NODES);
	rows	   *one = rows_create(env, NODES * NODES);
	int32_t		node[NODES];
	int32_t		dst[NODES];
	int32_t		src[NODES];
	gp_link_row row[NODES];
	double		best = -1e9;
	int			n = 0;

	for (int i = 0; i < NODES; i++)
		node[i] = i;
	gp_links_best(l, NODES, node, 5, GP_CANDIDATES_ALL, keep, all);
	ok(check_rows(model->graph, all, 5, what) > NODES, "there are many of them");
	gp_links_best(l, 1, &node[7], NODES, GP_CANDIDATES_ALL, keep, one);
	for (int j = 0; j < NODES; j++)
		if (j != 7 && !gp_link_exists(model->graph, 7, j))
		{
			src[n] = 7;
			dst[n++] = j;
		}
	is_int(one->n, n, "all of one node's missing links");
	gp_links_score(l, n, src, dst, row);
	for (int e = 0; e < n; e++)
		best = fmax(best, row[e].score);
	close_to(one->row[0].score, best, FLOAT_SCORES, "the best is the best of all pairs");
	one->n = 0;
	gp_links_best(l, 1, &node[NODES - 1], 5, GP_CANDIDATES_AUTO, keep, one);
	ok(one->n <= 5, "a node without links is answered");
	check_kept(l, one);
	gp_links_close(l);
}

/* What a fit of the groups learns. */
static void
check_fit(gp_env *env, bool directed, bool features, gp_link_method method)
{
	gp_graph   *g = groups(env, directed, method == GP_LINK_PAIRS ? 0.25 : 0.4);
	gp_link_problem p = problem_of(env, g, features ? group_features(env) : NULL, method);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_method planned;
	gp_plan		plan = gp_link_plan_make(dev, &p, &planned);
	size_t		peak;
	char		name[120];

	env->peak = env->used;
	gp_link_model *model = gp_link_fit(dev, &p);
	peak = env->peak;
	snprintf(name, sizeof(name), "%s%s%s: auc %.3f, average precision %.3f, %d pairs",
			 directed ? "directed, " : "", features ? "features, " : "",
			 model->method == GP_LINK_PAIRS ? "pairs" : "scores", model->metric[GP_LINK_METRIC_AUC],
			 model->metric[GP_LINK_METRIC_PRECISION], (int) model->pairs);
	ok(model->metric[GP_LINK_METRIC_AUC] > 0.72 && model->metric[GP_LINK_METRIC_AUC] <= 1.0 && model->metric[GP_LINK_METRIC_PRECISION] > 0.65, name);
	ok(planned == model->method && plan.flops > 0.0, "and was planned so");
	snprintf(name, sizeof(name), "%.0f bytes were planned, and %zu taken", plan.bytes, peak);
	ok((double) peak <= plan.bytes && plan.bytes <= 1.1 * (double) peak, name);
	ok(model->curve.slope > 0.0, "higher scores are more probable");
	check_best(dev, model, name);
}

/* The scores of some pairs, linked and not. */
static void
some_scores(gp_device *dev, const gp_link_model *model, gp_link_row *out, int n)
{
	gp_links   *l = gp_links_open(dev, model);
	int32_t		src[100];
	int32_t		dst[100];

	for (int e = 0; e < n; e++)
	{
		src[e] = e * 7 % NODES;
		dst[e] = (src[e] + 1 + e % 30) % NODES;
	}
	gp_links_score(l, n, src, dst, out);
	gp_links_close(l);
}

/* True when two lists of rows have the same bits. */
static bool
same_bits(const gp_link_row *a, const gp_link_row *b, int n)
{
	for (int e = 0; e < n; e++)
		if (memcmp(&a[e].score, &b[e].score, sizeof(double)) != 0 ||
			memcmp(&a[e].variance, &b[e].variance, sizeof(double)) != 0 ||
			memcmp(&a[e].probability, &b[e].probability, sizeof(double)) != 0)
			return false;
	return true;
}

/* True when array k is missed an element of. */
static bool
refuses_short(gp_env *env, const gp_link_array *array, int n, int k)
{
	gp_link_array bad[GP_LINK_MAX_ARRAYS];

	memcpy(bad, array, n * sizeof(gp_link_array));
	bad[k].count--;
	return test_catch(env, gp_link_model_restore(env, bad, n)) &&
		test_state(env)->code == GP_ERR_DAMAGED;
}

/* A model comes back from its arrays; arrays that do not fit are refused. */
static void
check_arrays(gp_device *dev, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	double		scalars[GP_LINK_SCALARS];
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	gp_link_array bad[GP_LINK_MAX_ARRAYS];
	gp_link_row a[50];
	gp_link_row b[50];
	int			n = gp_link_model_arrays(model, scalars, array);
	int			refused = 0;

	some_scores(dev, model, a, 50);
	some_scores(dev, gp_link_model_restore(env, array, n), b, 50);
	ok(same_bits(a, b, 50), "a restored model says the same");
	for (int k = 0; k < n; k++)
		refused += refuses_short(env, array, n, k);
	is_int(refused, n, "a missing element of any array is noticed");
	memcpy(bad, array, n * sizeof(gp_link_array));
	for (int k = 0; k < n; k++)
		if (bad[k].element == GP_ARRAY_I32)
		{
			int32_t		old = *(int32_t *) bad[k].data;

			*(int32_t *) bad[k].data = INT32_MAX;
			expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, bad, n));
			*(int32_t *) bad[k].data = old;
		}
	scalars[1] = NODES + 1;
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	scalars[1] = NAN;
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	scalars[1] = NODES;
	if (model->method == GP_LINK_PAIRS)
		return;
	*model->scores.deviation = 0.0;
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
	*model->scores.deviation = 1.0;
	/* Features whose scores are left out. */
	model->scores.width = gp_link_width(model->graph, false);
	n = gp_link_model_arrays(model, scalars, array);
	expect_error(env, GP_ERR_DAMAGED, gp_link_model_restore(env, array, n));
}

/* (i, j) and (j, i) are one pair; the model comes back. */
static void
check_restored(gp_env *env, gp_link_method method)
{
	gp_graph   *g = groups(env, false, method == GP_LINK_PAIRS ? 0.08 : 0.4);
	gp_link_problem p = problem_of(env, g, group_features(env), method);
	int32_t		i[] = {3, 50};
	int32_t		j[] = {50, 3};
	gp_link_row turned[2];
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_model *model = gp_link_fit(dev, &p);
	gp_links   *l = gp_links_open(dev, model);

	gp_links_score(l, 2, i, j, turned);
	close_to(turned[0].score, turned[1].score, 1e-6, "an undirected pair has no order");
	gp_links_close(l);
	check_arrays(dev, model);
}

/* A graph of a few links, all nodes in a row or all with all. */
static gp_graph *
small_graph(gp_env *env, int n, bool complete)
{
	gp_edges   *edges = gp_edges_create(env, n, false, false);

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = i + 1; j < n && (complete || j == i + 1); j++)
			gp_edges_add(edges, 1, &i, &j, NULL);
	return gp_graph_build(edges);
}

/* Graphs from which little or nothing can be learnt. */
static void
check_small(gp_env *env, gp_link_method method)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_problem p = problem_of(env, small_graph(env, 2, false), NULL, method);

	expect_error(env, GP_ERR_DATA, gp_link_fit(dev, &p));
	p.graph = small_graph(env, 6, true);
	expect_error(env, GP_ERR_DATA, gp_link_fit(dev, &p));
	for (int n = 3; n < 9; n++)
	{
		rows	   *r = rows_create(env, NODES);
		int32_t		node[] = {0, 1, 2};
		bool		right = true;

		p.graph = small_graph(env, n, false);
		gp_link_model *model = gp_link_fit(dev, &p);
		gp_links   *l = gp_links_open(dev, model);
		gp_links_best(l, 3, node, 2, GP_CANDIDATES_AUTO, keep, r);
		for (int e = 0; e < r->n; e++)
			right = right && isfinite(r->row[e].score) && r->row[e].variance >= 0.0;
		ok(right && r->n > 0, "a handful of nodes in a row gets an answer");
	}
}

/* One fit and one question, to be disturbed. */
static void
fit_and_ask(gp_env *env, gp_link_method method)
{
	gp_graph   *g = small_graph(env, 12, false);
	gp_link_problem p = problem_of(env, g, NULL, method);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_model *model = gp_link_fit(dev, &p);
	gp_links   *l = gp_links_open(dev, model);
	rows	   *r = rows_create(env, NODES);
	int32_t		node[] = {0, 5, 11};

	gp_links_best(l, 3, node, 3, GP_CANDIDATES_AUTO, keep, r);
	gp_links_keep(l, 3, 0.0);
	gp_links_close(l);
	gp_link_model_free(env, model);
}

/* The limit of memory is held before anything large is taken. */
static void
check_limit(gp_env *env)
{
	gp_graph   *g = groups(env, false, 0.4);
	gp_link_problem p = problem_of(env, g, NULL, GP_LINK_AUTO);
	gp_device  *dev = gp_device_cpu(env, 1);

	env->limit = env->used + 100000;
	expect_error(env, GP_ERR_LIMIT, gp_link_fit(dev, &p));
	ok(strstr(test_state(env)->message, "gnngp.memory_limit") != NULL, "and names both numbers");
	env->limit = 0;
}

int
main(void)
{
	in_env(check_fit(env, false, false, GP_LINK_AUTO));
	in_env(check_fit(env, false, true, GP_LINK_SCORES));
	in_env(check_fit(env, true, true, GP_LINK_SCORES));
	in_env(check_fit(env, false, true, GP_LINK_PAIRS));
	in_env(check_restored(env, GP_LINK_SCORES));
	in_env(check_restored(env, GP_LINK_PAIRS));
	in_env(check_small(env, GP_LINK_SCORES));
	in_env(check_small(env, GP_LINK_PAIRS));
	in_env(check_limit(env));
	for (volatile int method = GP_LINK_SCORES; method <= GP_LINK_PAIRS; method++)
	{
		disturb("a fit and a question", TEST_REFUSE, 13, 30, fit_and_ask(env, (gp_link_method) method));
		disturb("a fit and a question", TEST_CANCEL, 17, 5, fit_and_ask(env, (gp_link_method) method));
	}
	return done_testing();
}
