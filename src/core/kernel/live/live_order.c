/*
 * live_order.c - the rows of a live evaluation: which nodes, in which order, and what A has for
 * them.
 *
 * Each node that was read has a row, the nearest to what is asked for first.
 */
#include "live_state.h"
#include "kernel/prepared.h"

/* How far each inner node is; what cannot be reached is as far as the farthest. */
static int *
find_distances(gp_env *env, const gp_asked *q, int hops)
{
	int		   *distance = gp_alloc_array(env, q->inner, sizeof(int));
	int32_t    *queue = gp_alloc_array(env, q->inner, sizeof(int32_t));
	int64_t		n = 0;

	for (int64_t i = 0; i < q->inner; i++)
		distance[i] = hops;
	for (int64_t k = 0; k < q->n; k++)
	{
		queue[n++] = q->node ? q->node[k] : (int32_t) k;
		distance[queue[k]] = 0;
	}
	GP_EACH(env, at, n, q->graph->start[queue[at]])
	{
		if (distance[queue[at]] + 1 >= hops)
			break;
		for (int64_t k = q->graph->start[queue[at]]; k < q->graph->start[queue[at] + 1]; k++)
		{
			int32_t		v = q->graph->col[k];

			if (v >= q->inner || distance[v] < hops)
				continue;
			distance[v] = distance[queue[at]] + 1;
			queue[n++] = v;
		}
	}
	gp_free(env, queue);
	return distance;
}

gp_order *
gp_order_make(gp_env *env, const gp_program *program, const gp_asked *asked)
{
	gp_order   *o = gp_alloc_zero(env, 1, sizeof(gp_order));
	int		   *distance;

	o->hops = gp_program_hops(env, program);
	o->near = gp_alloc_zero(env, o->hops + 1, sizeof(int64_t));
	o->place = gp_alloc_array(env, asked->inner, sizeof(int32_t));
	o->node = gp_alloc_array(env, asked->inner, sizeof(int32_t));
	distance = find_distances(env, asked, o->hops);
	for (int hop = 0; hop <= o->hops; hop++)
	{
		for (int64_t i = 0; i < asked->inner; i++)
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

int64_t
gp_order_fill(const gp_order *o, const gp_csr *a, const gp_asked *asked, int64_t row, gp_csr *out)
{
	int64_t		at = out->start[row];

	for (int64_t k = a->start[o->node[row]]; k < a->start[o->node[row] + 1]; k++)
	{
		if (a->col[k] >= asked->inner)
			continue;
		out->col[at] = o->place[a->col[k]];
		gp_number_put(out->value, out->type, at++, gp_number_at(a->value, a->type, k));
	}
	return at - out->start[row];
}
