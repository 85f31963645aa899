/*
 * test_folds.c - hidden links and missing pairs: what a fold may and must hold.
 */
#include "links/links_internal.h"
#include "test_env.h"

#include <stdlib.h>

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

/* A random graph with about m edges. */
static gp_graph *
random_graph(gp_env *env, int n, int m, bool directed, bool weighted)
{
	gp_edges   *edges = gp_edges_create(env, n, directed, weighted);

	for (int k = 0; k < m; k++)
	{
		int32_t		src = draw_below(&state, n);
		int32_t		dst = draw_below(&state, n);
		double		weight = 1.0 + draw_below(&state, 1000) / 7.0;

		gp_edges_add(edges, 1, &src, &dst, &weight);
	}
	return gp_graph_build(edges);
}

/* The complete graph without its first few pairs. */
static gp_graph *
dense_graph(gp_env *env, int n, int missing, bool directed)
{
	gp_edges   *edges = gp_edges_create(env, n, directed, false);

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = directed ? 0 : i + 1; j < n; j++)
			if (i != j && missing-- <= 0)
				gp_edges_add(edges, 1, &i, &j, NULL);
	return gp_graph_build(edges);
}

/* The weight of an entry, or 0. */
static double
weight_of(const gp_graph *graph, int i, int j)
{
	for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		if (graph->col[k] == j)
			return graph->weight ? graph->weight[k] : 1.0;
	return 0.0;
}

/* True when no pair comes twice, in any order if undirected, and none joins a node to itself. */
static bool
distinct(const gp_link_pairs *pairs, bool directed)
{
	for (int64_t a = 0; a < pairs->n; a++)
	{
		if (pairs->src[a] == pairs->dst[a])
			return false;
		for (int64_t b = 0; b < a; b++)
			if ((pairs->src[a] == pairs->src[b] && pairs->dst[a] == pairs->dst[b]) ||
				(!directed && pairs->src[a] == pairs->dst[b] && pairs->dst[a] == pairs->src[b]))
				return false;
	}
	return true;
}

/* True when the fold's graph lacks as many links as are hidden, its own among them. */
static bool
graph_fits(const gp_graph *graph, const gp_link_fold *fold, int64_t hidden)
{
	int64_t		gone = 0;

	for (int i = 0; i < graph->nodes; i++)
		for (int j = 0; j < graph->nodes; j++)
		{
			double		before = weight_of(graph, i, j);
			double		after = weight_of(fold->graph, i, j);

			if (after != 0.0 && after != before)
				return false;
			gone += before != 0.0 && after == 0.0;
		}
	for (int64_t k = 0; k < fold->links; k++)
		if (weight_of(fold->graph, fold->pairs.src[k], fold->pairs.dst[k]) != 0.0 ||
			(!graph->directed &&
			 weight_of(fold->graph, fold->pairs.dst[k], fold->pairs.src[k]) != 0.0))
			return false;
	return gone == hidden * (graph->directed ? 1 : 2) &&
		fold->graph->edges == graph->edges - hidden &&
		fold->graph->start[graph->nodes] == graph->start[graph->nodes] - gone;
}

/* The folds of one graph. */
static void
check_folds(gp_env *env, const gp_graph *graph, const char *what, int64_t want_missing)
{
	gp_link_fold fold[GP_LINK_FOLDS];
	gp_link_fold again[GP_LINK_FOLDS];
	int64_t		hidden = llround(GP_LINK_FOLD_SHARE * graph->edges);
	int			folds = gp_link_folds_make(env, graph, 5, fold);
	int64_t		both = 0;
	char		name[200];

	hidden = hidden > 1 ? hidden : 1;
	snprintf(name, sizeof(name), "%s: folds", what);
	ok(folds >= 2 && folds <= GP_LINK_FOLDS && folds * hidden <= graph->edges, name);
	gp_link_folds_make(env, graph, 5, again);
	for (int f = 0; f < folds; f++)
	{
		const gp_link_pairs *p = &fold[f].pairs;
		bool		right = true;

		for (int64_t k = 0; k < p->n; k++)
		{
			right = right && gp_link_exists(graph, p->src[k], p->dst[k]) == (k < fold[f].links);
			right = right && (graph->directed || k < fold[f].links || p->src[k] < p->dst[k]);
		}
		snprintf(name, sizeof(name), "%s: links come first, then non-links", what);
		ok(right, name);
		snprintf(name, sizeof(name), "%s: links of a fold", what);
		is_int(fold[f].links, hidden < GP_LINK_FOLD_PAIRS ? hidden : GP_LINK_FOLD_PAIRS, name);
		snprintf(name, sizeof(name), "%s: non-links of a fold", what);
		is_int(p->n - fold[f].links, want_missing < fold[f].links ? want_missing : fold[f].links,
			   name);
		snprintf(name, sizeof(name), "%s: no pair twice", what);
		ok(distinct(p, graph->directed), name);
		snprintf(name, sizeof(name), "%s: the fold's graph", what);
		ok(graph_fits(graph, &fold[f], hidden), name);
		snprintf(name, sizeof(name), "%s: the same seed gives the same fold", what);
		ok(again[f].pairs.n == p->n &&
		   memcmp(again[f].pairs.src, p->src, p->n * sizeof(int32_t)) == 0 &&
		   memcmp(again[f].pairs.dst, p->dst, p->n * sizeof(int32_t)) == 0, name);
	}
	for (int f = 1; f < folds; f++)
		for (int64_t a = 0; a < fold[f - 1].links; a++)
			for (int64_t b = 0; b < fold[f].links; b++)
				both += fold[f - 1].pairs.src[a] == fold[f].pairs.src[b] &&
					fold[f - 1].pairs.dst[a] == fold[f].pairs.dst[b];
	snprintf(name, sizeof(name), "%s: no link is hidden twice", what);
	is_int(both, 0, name);
	for (int f = 0; f < folds; f++)
	{
		gp_link_fold_free(env, &fold[f]);
		gp_link_fold_free(env, &again[f]);
	}
}

/* Graphs of many kinds. */
static void
check_random(gp_env *env, int n, int m, bool directed, bool weighted)
{
	gp_graph   *graph = random_graph(env, n, m, directed, weighted);
	char		name[120];

	snprintf(name, sizeof(name), "%s %s graph of %d nodes, %d edges",
			 directed ? "directed" : "undirected", weighted ? "weighted" : "plain", n,
			 (int) graph->edges);
	check_folds(env, graph, name, INT64_MAX);
	gp_graph_free(env, graph);
	is_int(test_state(env)->live, 0, "nothing is left behind");
}

/* Graphs that lack a few pairs only. */
static void
check_dense(gp_env *env, int n, int missing, bool directed)
{
	gp_graph   *graph = dense_graph(env, n, missing, directed);
	char		name[120];

	snprintf(name, sizeof(name), "%s graph of %d nodes without %d pairs",
			 directed ? "directed" : "undirected", n, missing);
	check_folds(env, graph, name, missing);
}

/* Graphs that cannot be learnt from. */
static void
check_refused(gp_env *env)
{
	gp_link_fold fold[GP_LINK_FOLDS];
	gp_graph   *none = random_graph(env, 5, 0, false, false);
	gp_graph   *empty = random_graph(env, 0, 0, false, false);
	gp_graph   *one = dense_graph(env, 2, 0, false);
	gp_graph   *full = dense_graph(env, 6, 0, false);
	gp_graph   *tournament = dense_graph(env, 3, 0, true);

	expect_error(env, GP_ERR_DATA, gp_link_folds_make(env, none, 1, fold));
	is_str(test_state(env)->message, "a graph with 0 links is too small to learn links from",
		   "the message");
	expect_error(env, GP_ERR_DATA, gp_link_folds_make(env, empty, 1, fold));
	expect_error(env, GP_ERR_DATA, gp_link_folds_make(env, one, 1, fold));
	expect_error(env, GP_ERR_DATA, gp_link_folds_make(env, full, 1, fold));
	is_str(test_state(env)->message, "every pair of nodes is linked already", "the message");
	expect_error(env, GP_ERR_DATA, gp_link_folds_make(env, tournament, 1, fold));
	is_int(gp_link_sample_unlinked(env, empty, 1, 10, NULL, NULL).n, 0, "no pairs without nodes");
}

/* Samples leave out what they should, and change with the seed. */
static void
check_samples(gp_env *env)
{
	gp_graph   *graph = random_graph(env, 40, 200, false, false);
	gp_link_pairs some = gp_link_sample_unlinked(env, graph, 1, 100, NULL, NULL);
	gp_link_pairs rest = gp_link_sample_unlinked(env, graph, 2, 1000, &some, NULL);
	gp_link_pairs links = gp_link_sample_links(env, graph, 1, 1000);
	gp_link_pairs other = gp_link_sample_links(env, graph, 2, 1000);
	int64_t		same = 0;

	is_int(some.n + rest.n, 40 * 39 / 2 - graph->edges, "two samples make up all missing pairs");
	for (int64_t a = 0; a < some.n; a++)
		for (int64_t b = 0; b < rest.n; b++)
			same += some.src[a] == rest.src[b] && some.dst[a] == rest.dst[b];
	is_int(same, 0, "and share none");
	is_int(links.n, graph->edges, "all links");
	ok(distinct(&links, false), "each once");
	ok(memcmp(links.src, other.src, links.n * sizeof(int32_t)) != 0, "another seed, another order");
}

/* Draws are even over the ordered pairs without a link, of all nodes and of one. */
static void
check_draws(gp_env *env, int32_t node)
{
	gp_graph   *g = random_graph(env, 9, 20, true, false);
	gp_link_draws draws = gp_link_draws_open(env, g, 5, 40000, NULL);
	int			count[9][9] = {{0}};
	int			missing = 0;
	double		distance = 0.0;
	int32_t		src;
	int32_t		dst;

	draws.node = node;
	for (int k = 0; k < 40000 && gp_link_draw(&draws, &src, &dst); k++)
		count[src][dst]++;
	for (int i = 0; i < 9; i++)
		for (int j = 0; j < 9; j++)
			missing += i != j && !gp_link_exists(g, i, j) && (node < 0 || i == node);
	for (int i = 0; i < 9; i++)
		for (int j = 0; j < 9; j++)
		{
			bool		drawn = i != j && !gp_link_exists(g, i, j) && (node < 0 || i == node);
			double		off = count[i][j] - (drawn ? 40000.0 / missing : 0.0);

			distance += off * off / (40000.0 / missing);
		}
	ok(distance < missing + 4.0 * sqrt(2.0 * missing), "every pair without a link is drawn alike often");
}

/* What the faults are injected into. */
static void
small_folds(gp_env *env)
{
	gp_link_fold fold[GP_LINK_FOLDS];

	gp_link_folds_make(env, dense_graph(env, 20, 12, false), 3, fold);
}

/* Every allocation fails in turn. */
static void
check_faults(void)
{
	disturb("folds", TEST_REFUSE, 1, 20, small_folds(env));
}

int
main(void)
{
	in_env(check_random(env, 34, 200, false, false));
	in_env(check_random(env, 300, 9000, false, true));
	in_env(check_random(env, 50, 600, true, false));
	in_env(check_random(env, 120, 1000, true, true));
	in_env(check_random(env, 5, 4, false, false));
	in_env(check_dense(env, 30, 3, false));
	in_env(check_dense(env, 9, 1, true));
	in_env(check_dense(env, 3, 1, false));
	in_env(check_refused(env));
	in_env(check_samples(env));
	in_env(check_draws(env, -1));
	in_env(check_draws(env, 4));
	check_faults();
	return done_testing();
}
