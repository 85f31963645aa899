/*
 * live_order.c - the rows of an evaluation of some nodes: which, and in which order.
 *
 * Each node that was read has a row, the nearest to what is asked for first.
 */
#include "kernel/prepared.h"

/* How far each inner node is; what cannot be reached is far. */
static int *
find_distances(gp_env *env, const int64_t *start, const int32_t *col, int64_t inner,
			   const int32_t *node, int64_t n, int far)
{
	int		   *distance = gp_alloc_array(env, inner, sizeof(int));
	int32_t    *queue = gp_alloc_array(env, inner + n, sizeof(int32_t));

	for (int64_t i = 0; i < inner; i++)
		distance[i] = far;
	for (int64_t k = 0; k < n; k++)
	{
		queue[k] = node ? node[k] : (int32_t) k;
		distance[queue[k]] = 0;
	}
	GP_EACH(env, at, n, start[queue[at]])
	{
		int			next = distance[queue[at]] + 1;

		if (next >= far)
			break;
		for (int64_t k = start[queue[at]]; k < start[queue[at] + 1]; k++)
		{
			int32_t		v = col[k];

			if (v >= inner || distance[v] < far)
				continue;
			distance[v] = next;
			queue[n++] = v;
		}
	}
	gp_free(env, queue);
	return distance;
}

gp_order *
gp_order_make(gp_env *env, const int64_t *start, const int32_t *col, int64_t inner,
			  const int32_t *node, int64_t n, int hops, bool within)
{
	gp_order   *o = gp_alloc_zero(env, 1, sizeof(gp_order));
	int		   *distance = find_distances(env, start, col, inner, node, n, hops + within);

	o->hops = hops;
	o->near = gp_alloc_zero(env, o->hops + 1, sizeof(int64_t));
	o->place = gp_alloc_array(env, inner, sizeof(int32_t));
	for (int64_t i = 0; i < inner; i++)
	{
		o->place[i] = -1;
		o->rows += distance[i] <= hops;
	}
	o->node = gp_alloc_array(env, o->rows, sizeof(int32_t));
	o->rows = 0;
	for (int hop = 0; hop <= o->hops; hop++)
	{
		GP_EACH(env, i, inner, i)
			if (distance[i] == hop)
			{
				o->place[i] = (int32_t) o->rows;
				o->node[o->rows++] = (int32_t) i;
			}
		o->near[hop] = o->rows;
	}
	gp_free(env, distance);
	return o;
}

void
gp_order_free(gp_env *env, gp_order *o)
{
	if (o != NULL)
		gp_free_all(env, o->node, o->near, o->place, o);
}
