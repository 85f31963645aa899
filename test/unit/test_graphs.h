/*
 * test_graphs.h - graphs that several unit tests share.
 */
#ifndef TEST_GRAPHS_H
#define TEST_GRAPHS_H

#include "golden_karate.h"
#include "graph/graph.h"
#include "test_env.h"

/* The graph of the club; with directions, and weights of 1 to 3, when they are asked for. */
static inline gp_graph *
karate_graph(gp_env *env, bool directed, bool weighted)
{
	gp_edges   *edges = gp_edges_create(env, 34, directed, weighted);

	for (int i = 0; i < 78; i++)
	{
		int32_t		src = karate_edge[i][0];
		int32_t		dst = karate_edge[i][1];
		double		weight = 1.0 + i % 3;

		gp_edges_add(edges, 1, &src, &dst, weighted ? &weight : NULL);
	}
	return gp_graph_build(edges);
}

/* A random graph; the first few nodes get more links each than a hub has to. */
static inline gp_graph *
random_hub_graph(gp_env *env, uint64_t *state, int n, int m, int hubs, int links, bool directed)
{
	gp_edges   *edges = gp_edges_create(env, n, directed, false);

	for (int k = 0; k < m; k++)
	{
		int32_t		src = draw_below(state, n);
		int32_t		dst = draw_below(state, n);

		gp_edges_add(edges, 1, &src, &dst, NULL);
	}
	for (int32_t h = 0; h < hubs; h++)
		for (int k = 0; k < links * (h + 1); k++)
		{
			int32_t		dst = draw_below(state, n);

			gp_edges_add(edges, 1, &h, &dst, NULL);
		}
	return gp_graph_build(edges);
}

#endif							/* TEST_GRAPHS_H */
