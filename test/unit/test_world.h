/*
 * test_world.h - a graph, what its nodes have, and what is known of them, for fits.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include "fit/fit.h"
#include "test_graphs.h"

#define WORLD_CLASSES 3

typedef struct world
{
	gp_graph   *graph;
	gp_features *features;		/* NULL: structure only */
	int64_t		nlabelled;
	int32_t    *labelled;
	int32_t    *label;
	double	   *target;
} world;

/* A world without a graph, and with room for the labels of n nodes. */
static inline world
world_open(gp_env *env, int64_t n)
{
	return (world) {.labelled = gp_alloc_array(env, n, sizeof(int32_t)),
		.label = gp_alloc_array(env, n, sizeof(int32_t)),.target = gp_alloc_array(env, n, sizeof(double))};
}

/* Labels the next node. */
static inline void
world_label(world *w, int32_t node, int32_t label, double target)
{
	w->labelled[w->nlabelled] = node;
	w->label[w->nlabelled] = label;
	w->target[w->nlabelled++] = target;
}

/* The problem of a world, its nugget to be chosen. */
static inline gp_problem
world_problem(gp_env *env, const world *w, const char *kernel, gp_task task, gp_type type)
{
	bool		classes = task == GP_TASK_CLASSES;

	return (gp_problem) {.graph = w->graph,.features = w->features,
		.program = gp_kernel_program(env, gp_kernel_parse(env, kernel)),.task = task,
		.nlabelled = w->nlabelled,.labelled = w->labelled,.label = classes ? w->label : NULL,
		.target = classes ? NULL : w->target,.nclasses = classes ? WORLD_CLASSES : 0,.nugget = NAN,.type = type};
}

#endif							/* TEST_WORLD_H */
