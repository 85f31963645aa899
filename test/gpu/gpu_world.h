/*
 * gpu_world.h - graphs with features and labels that follow them, for fits.
 */
#ifndef GPU_WORLD_H
#define GPU_WORLD_H

#include "test_world.h"

/* Labels every step-th node. */
static inline void
label_world(world *w, int64_t n, int step, uint64_t *seed)
{
	for (int32_t i = 0; i < n; i += step)
		world_label(w, i, i % WORLD_CLASSES, 5.0 + i % WORLD_CLASSES + 0.01 * draw_below(seed, 100));
}

/* A random graph whose edges join equal classes mostly, with a hub, and features of 12 dimensions. */
static inline world
random_world(gp_env *env, int n, int step, gp_type type)
{
	enum {DIMS = 12};
	world		w = world_open(env, n);
	uint64_t	seed = 7;
	gp_edges   *edges = gp_edges_create(env, n, false, false);
	gp_features_builder *b = gp_features_create(env, n, DIMS, type);
	int32_t		r1;
	int32_t		r2;

	for (int32_t i = 0; i < n; i++)
	{
		double		x[DIMS] = {0};

		for (int k = 0; k < 3; k++)
		{
			int32_t		to = (i + 3 * (1 + draw_below(&seed, n / 3)) + (k == 2)) % n;

			gp_edges_add(edges, 1, &i, &to, NULL);
		}
		if (i % 5 == 0)
			gp_edges_add(edges, 1, &i, &(int32_t) {n / 2}, NULL);
		x[i % 3] = 1.0;
		x[3 + draw_below(&seed, DIMS - 3)] = 1.0;
		gp_features_add_row(b, i, x);
	}
	w.graph = gp_graph_build(edges);
	w.features = gp_features_build(b, &r1, &r2);
	label_world(&w, n, step, &seed);
	return w;
}

/* The club, structure only. */
static inline world
karate_world(gp_env *env)
{
	world		w = world_open(env, 34);
	uint64_t	seed = 7;

	w.graph = karate_graph(env, false, false);
	label_world(&w, w.graph->nodes, 4, &seed);
	return w;
}

/* The problem of a world, its nugget given. */
static inline gp_problem
gpu_problem(gp_env *env, const world *w, const char *kernel, gp_task task, gp_type type)
{
	gp_problem	p = world_problem(env, w, kernel, task, type);

	p.nugget = 0.05;
	p.seed = 1;
	return p;
}

#endif							/* GPU_WORLD_H */
