/*
 * distinct_degrees.c - how many different nodes each of some nodes has an edge with.
 *
 * Edges come in any order, and some come again.  They are laid down as they come, then brought
 * together by their near ends, and sorted there: less jumping about in memory than a hash table
 * of all pairs makes.
 */
#include "base/sort.h"
#include "graph.h"

#define LEAST_ROOM 256

struct gp_tally
{
	gp_env	   *env;
	int64_t		n;
	int64_t		room;
	int32_t    *near;
	uint64_t   *far;
};

gp_tally *
gp_tally_open(gp_env *env)
{
	gp_tally   *t = gp_alloc_zero(env, 1, sizeof(gp_tally));

	t->env = env;
	return t;
}

void
gp_tally_add(gp_tally *t, int32_t near, uint64_t far)
{
	if (t->n == t->room)
	{
		t->room = gp_max64(2 * t->room, LEAST_ROOM);
		t->near = gp_realloc_array(t->env, t->near, t->room, sizeof(int32_t));
		t->far = gp_realloc_array(t->env, t->far, t->room, sizeof(uint64_t));
	}
	t->near[t->n] = near;
	t->far[t->n++] = far;
}

void
gp_tally_close(gp_tally *t, int64_t nodes, double *count)
{
	gp_env	   *env = t->env;
	uint64_t   *far = gp_alloc_array(env, t->n, sizeof(uint64_t));
	/* Brings the far ends together by their near ones: where those of each node begin. */
	int64_t    *start = gp_alloc_zero(t->env, nodes + 2, sizeof(int64_t));
	/* Two places on, so that filling moves each where the node itself begins. */
	for (int64_t k = 0; k < t->n; k++)
		start[t->near[k] + 2]++;
	for (int64_t i = 0; i < nodes; i++)
		start[i + 2] += start[i + 1];
	GP_EACH(t->env, k, t->n, k)
		far[start[t->near[k] + 1]++] = t->far[k];

	GP_EACH(env, i, nodes, start[i] + i)
	{
		gp_sort(env, far + start[i], start[i + 1] - start[i], sizeof(uint64_t), gp_compare_int64,
				NULL);
		count[i] = start[i + 1] > start[i];
		for (int64_t k = start[i] + 1; k < start[i + 1]; k++)
			count[i] += far[k] != far[k - 1];
	}
	gp_free_all(env, start, far, t->near, t->far, t);
}
