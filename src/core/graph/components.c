/*
 * components.c - which nodes are joined by some path.
 *
 * A node stands for its component; edges join those of their ends, and the ways to them
 * are halved as they are gone (Tarjan and van Leeuwen 1984).
 */
#include "graph.h"

/* What stands for the component of a node so far. */
static int32_t
find_root(int32_t *parent, int32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

int32_t *
gp_graph_components(gp_env *env, int64_t n, const int64_t *start, const int32_t *col,
					const double *weight, bool directed)
{
	int32_t    *parent = gp_alloc_values(env, n, sizeof(int32_t));

	if (env->dry)
		return parent;
	GP_EACH(env, i, n, i)
		parent[i] = (int32_t) i;
	/* Joins what the edges of each row join */
	GP_EACH(env, i, n, start[i] + i)
	{
		for (int64_t k = start[i]; k < start[i + 1]; k++)
		{
			if (!directed && col[k] >= i)
				break;
			if (weight == NULL || weight[k] > 0.0)
				parent[find_root(parent, col[k])] = find_root(parent, (int32_t) i);
		}
	}
	GP_EACH(env, i, n, i)
		parent[i] = find_root(parent, (int32_t) i);
	return parent;
}
